// What the kernels of the method chained ask of the rules beyond the ends.
template <int axis> constexpr bool is_ring = axis == 0   ? plan::ring_x
                                             : axis == 1 ? plan::ring_y
                                                         : plan::ring_z;

// Whether some source repeats cells of the end as a mirror does.
template <int axis, int side, int source = 0> __device__ constexpr bool has_mirror() {
    if constexpr (source < plan::sources)
        return Rule<source, axis, side>::kind == Boundary::mirror ||
               has_mirror<axis, side, source + 1>();
    else
        return false;
}

// The cell inside the grid whose values a cell has.
template <int axis> __device__ __forceinline__ Index cell_for(Index i, Index size) {
    if constexpr (is_ring<axis>) {
        while (i < 0)
            i += size;
        while (i >= size)
            i -= size;
        return i;
    }
    for (int turn = 0; turn < 64 && (i < 0 || i >= size); ++turn) {
        if (i < 0)
            i = has_mirror<axis, 0>() && size > 1 ? -i : 0;
        else
            i = has_mirror<axis, 1>() && size > 1 ? 2 * (size - 1) - i : size - 1;
    }
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

// What a column beyond an end of x or y has of a source, where the rule gives a value.
template <int source, int axis, int side> constexpr bool gives =
    Rule<source, axis, side>::kind == Boundary::zero ||
    Rule<source, axis, side>::kind == Boundary::constant;
