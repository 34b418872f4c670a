// streamed: what the spare asks before it begins, and what it makes point by point.
#pragma once

// The kernel that takes the place of the one of packs (program_launch.spare) serves all rows, and
// boxes smaller than a thread's points, and grids smaller than its reach.
#if defined(PLAN_MIXED)
template <class Grid>
#endif
__device__ __forceinline__ bool is_short(const Grid &grid) {
    constexpr Index most = 0x40000000 / sizeof(Real);
    return grid.stride_y <= most && grid.stride_y >= -most;
}
template <int array = 0> __device__ __forceinline__ bool rows_are_short(const Arguments &a) {
    if constexpr (array < plan::arrays)
        return is_short(a.grid[Array<array>::grid]) && rows_are_short<array + 1>(a);
    else if constexpr (array < plan::arrays + plan::outputs)
        return is_short(a.grid[Output<array - plan::arrays>::grid]) && rows_are_short<array + 1>(a);
    else
        return true;
}

// Whether one rule leads into the grid from wherever the shape reaches: a grid shorter than that
// may take several where it repeats or is mirrored.
template <int axis, int low, int high> __device__ __forceinline__ bool is_long(const Arguments &a) {
#if defined(PLAN_SHORT)
    if constexpr (folds_often<axis>)
        return true;
#endif
    constexpr Boundary below = Edge<axis, 0>::kind, above = Edge<axis, 1>::kind;
    if constexpr (below == Boundary::mirror || below == Boundary::periodic ||
                  above == Boundary::mirror || above == Boundary::periodic)
        return low - min(a.begin[axis], Index(0)) < a.size[axis] &&
               high + max(a.end[axis], a.size[axis]) < 2 * a.size[axis];
    else
        return true;
}

// Whether the box has so many points along x as threads make at once; and the rules above hold; and
// all coordinates, and rows' lengths in bytes, are whole numbers of 32 bits. Along y and z the box
// of a pass may reach over the grid. The host asks the same of packs (program_needs).
__device__ __forceinline__ bool fits(const Arguments &a, int width) {
    bool good = a.end[0] - a.begin[0] >= width &&
                ((a.size[0] | a.size[1] | a.size[2]) & ~Index(0x3fffffff)) == 0;
    if constexpr (plan::wraps)
        good = good && is_long<0, plan::low_x, plan::high_x>(a) &&
               is_long<1, plan::low_y, plan::high_y + plan::lane_y - 1>(a) &&
               is_long<2, plan::low_z, plan::high_z>(a);
    if constexpr (plan::flat)
        return good;
    else
        return good && rows_are_short(a);
}

// Filters of many rows and columns.
constexpr bool has_many_taps =
    plan::flat && (plan::low_x + 1 + plan::high_x) * (plan::low_z + 1 + plan::high_z) > 25;

// A point by its whole update.
struct ByPoint {
    static __device__ __forceinline__ void make(const Arguments &a, const Point &p) {
        if constexpr (has_many_taps)
            update_by_calls<AtCalls>(a, p.x, p.y, p.z);
        else
            update_anywhere(a, p.x, p.y, p.z);
    }
};

// Boxes smaller than a thread's points, and grids smaller than its reach. A point has the bits that
// it has elsewhere: `By` adds its cells in the same order.
template <class By> __device__ __noinline__ void update_small(const Arguments &a) {
    const Point origin = first_point(a);
    const int x0 = threadIdx.x, y0 = threadIdx.y;
    for (int z = 0; z < plan::walk; ++z)
        for (int y = y0; y < plan::tile_y; y += plan::threads_y)
            for (int x = x0; x < plan::tile_x; x += plan::threads_x) {
                const Point p = {origin.x + x, origin.y + y, origin.z + z};
                if (in_box(a, p))
                    By::make(a, p);
            }
}
