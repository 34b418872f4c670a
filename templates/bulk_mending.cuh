// bulk in 3D, where rows begin anywhere: copies bring zeros, cells of other rows or of other planes from
// beyond an edge. Warps of their own put what belongs there into each plane that arrived, before others
// read it:
//
//      arrived    y z|a b c d e      mended    a a|a b c d e      here x is clamped
//                 e f|g h i j k                g g|g h i j k
//
// Where such cells lie, and what stands for them, is the same in all planes of a walk. So each lane finds
// its own once, and keeps them in shared memory.
#pragma once

#if defined(PLAN_MENDERS)
constexpr int mending_threads = PLAN_MENDERS * warp_size;

// A cell beyond an edge: its row and column in the box, and the cell of the grid that stands for it,
// counted from its plane's first; or, below 0, which side gives its value.
struct Mended {
    long long bits;
    static constexpr int row_bits = 9, column_bits = 9;
    __device__ __forceinline__ static Mended of(int row, int column, Index from) {
        return {from * (Index(1) << (row_bits + column_bits)) + (row << column_bits) + column};
    }
    __device__ __forceinline__ int column() const { return int(bits) & ((1 << column_bits) - 1); }
    __device__ __forceinline__ int row() const { return int(bits) >> column_bits & ((1 << row_bits) - 1); }
    __device__ __forceinline__ Index from() const { return bits >> (row_bits + column_bits); }
};

// Those that a block reads of an array.
template <int array> struct Mending {
    using A = Array<array>;
    using B = Box<array>;
    static constexpr int width = A::low_x + plan::tile_x + A::high_x;
    static constexpr int most = (A::low_x + A::high_x) * B::rows + (A::low_y + A::high_y) * width;
    static constexpr Index nobody = -1 - 4; // no side's number
    static_assert(B::rows <= 1 << Mended::row_bits && width <= 1 << Mended::column_bits, "they fit");

    const Index size_x, size_y, first_x, first_y; // of the grid; where the box begins
    const int left, right, below, above;          // columns and rows beyond the edges
    const int of_columns, count;                  // the first are of columns, the others of rows

    template <int axis, int side>
    static __device__ __forceinline__ int reach(Index cells, int most) {
        return kind_of<array, axis, side>() == Boundary::fixed
                   ? 0 // nobody reads them
                   : int(min(max(cells, Index(0)), Index(most)));
    }
    __device__ __forceinline__ Mending(const Arguments &a, const Point &origin)
        : size_x(a.size[0]), size_y(a.size[1]), first_x(origin.x - A::low_x), first_y(origin.y - A::low_y),
          left(reach<0, 0>(-first_x, A::low_x)),
          right(reach<0, 1>(first_x + width - size_x, A::high_x)),
          below(reach<1, 0>(-first_y, A::low_y)),
          above(reach<1, 1>(first_y + B::rows - size_y, A::high_y)), of_columns((left + right) * B::rows),
          count(of_columns + (below + above) * width) {
    }
    // What stands for coordinate i, which may lie beyond an edge; false: `from` is which side gives it.
    template <int axis>
    __device__ __forceinline__ bool stand_for(const Arguments &a, Index &i, Index &from) const {
        from = -1 - 2 * axis - (i < 0 ? 0 : 1);
        [[maybe_unused]] Real value = 0;
        return resolve_of<axis, array>(a, i, value);
    }
    // Number i of them.
    __device__ __forceinline__ Mended find(const Arguments &a, int i) const {
        const bool is_column = i < of_columns;
        const int each = is_column ? left + right : width, k = is_column ? i : i - of_columns;
        const int major = k / each, minor = k % each;
        Index x = is_column ? (minor < left ? minor - left : size_x + (minor - left)) : first_x + minor;
        Index y = !is_column ? (major < below ? major - below : size_y + (major - below)) : first_y + major;
        const Index column = x - first_x, row = y - first_y;
        const bool beyond_x = x < 0 || x >= size_x, beyond_y = y < 0 || y >= size_y;
        Index from = 0;
        if (column >= 0 && column < width && row >= 0 && row < B::rows && is_column != beyond_y &&
            (!beyond_x || is_column || plan::corners) && x >= -A::low_x && x < size_x + A::high_x &&
            y >= -A::low_y && y < size_y + A::high_y) {
            if (stand_for<0>(a, x, from) && stand_for<1>(a, y, from))
                from = y * a.grid[A::grid].stride_y + x;
            return Mended::of(int(row), int(column), from);
        }
        return Mended::of(0, 0, nobody);
    }
    // The value of side number `which`.
    template <int n = 0> __device__ __forceinline__ Cell given(const Arguments &a, int which) const {
        if constexpr (n < 4) {
            constexpr Boundary kind = kind_of<array, n / 2, n % 2>();
            if constexpr (kind == Boundary::constant)
                if (which == n)
#if defined(PLAN_OWN_EDGES)
                    return Edge<n / 2, n % 2, array>::beyond(a);
#else
                    return Edge<n / 2, n % 2>::beyond();
#endif
            return given<n + 1>(a, which);
        } else {
            return 0;
        }
    }
    // Puts them into a plane. `z`: the one that stands for it; −1: none does, and all its cells have a
    // value.
    __device__ __forceinline__ void put(const Arguments &a, const Mended *all, Cell *slot, const Spread &at,
                                        Index z, Cell value, int lane) const {
        constexpr int together = 4; // loads on their way
        const Grid &grid = a.grid[A::grid];
        for (int first = lane; first < count; first += together * mending_threads) {
            Cell cells[together];
            int places[together];
#pragma unroll
            for (int k = 0; k < together; ++k) {
                const int i = first + k * mending_threads;
                places[k] = -1;
                if (i >= count)
                    continue;
                const Mended cell = all[i];
                const Index from = cell.from();
                if (from == nobody)
                    continue;
                places[k] = at.template cell<array>(0, cell.row() - A::low_y) + cell.column() - A::low_x;
                if (from < 0)
                    cells[k] = given(a, int(-1 - from));
                else
                    cells[k] = z < 0 ? value : Cell(grid.data[z * grid.stride_z + from]);
            }
#pragma unroll
            for (int k = 0; k < together; ++k)
                if (places[k] >= 0)
                    slot[places[k]] = cells[k];
        }
    }
    // Puts that value into all others.
    __device__ __forceinline__ void fill(Cell *slot, const Spread &at, Cell value, int lane) const {
        for (int i = lane; i < B::rows * width; i += mending_threads) {
            const int row = i / width, column = i % width;
            const Index x = first_x + column, y = first_y + row;
            if (x >= 0 && x < size_x && y >= 0 && y < size_y)
                slot[at.template cell<array>(0, row - A::low_y) + column - A::low_x] = value;
        }
    }
};

// Whether the block's planes need it.
template <int array = 0>
__device__ __forceinline__ bool needs_mending(const Arguments &a, const Point &origin, Index first, Index end) {
    if constexpr (array < plan::summed)
        return Mending<array>(a, origin).count > 0 || needs_mending<array + 1>(a, origin, first, end);
    else
        return reaches_given(a, first, end);
}

template <int array> __device__ constexpr int first_mended() {
    if constexpr (array == 0)
        return 0;
    else
        return first_mended<array - 1>() + Mending<array - 1>::most;
}
template <int array = 0>
__device__ __forceinline__ void find_mended(const Arguments &a, const Point &origin, Mended *all, int lane) {
    if constexpr (array < plan::summed) {
        const Mending<array> mending(a, origin);
        for (int i = lane; i < mending.count; i += mending_threads)
            all[first_mended<array>() + i] = mending.find(a, i);
        find_mended<array + 1>(a, origin, all, lane);
    }
}
template <int array = 0>
__device__ __forceinline__ void mend_plane(const Arguments &a, const Point &origin, const Mended *all,
                                           Cell *shared, int slot, const Spread &at, Index z, int lane) {
    if constexpr (array < plan::summed) {
        using B = Box<array>;
        Cell *const to = shared + B::shared + slot * B::slot;
        const Mending<array> mending(a, origin);
        Real value = 0;
        Index from = z;
        if (!resolve_of<2, array>(a, from, value)) {
            from = -1;
            if constexpr (has_given_planes<array>)
                mending.fill(to, at, Cell(value), lane);
        }
        mending.put(a, all + first_mended<array>(), to, at, from, Cell(value), lane);
        mend_plane<array + 1>(a, origin, all, shared, slot, at, z, lane);
    }
}

// By the warps that mend: a block's planes. `all`: where they keep what they find.
template <class Planes>
__device__ __forceinline__ void mend(const Arguments &a, Cell *shared, Mended *all, Planes &slots,
                                     const Point &origin, int planes) {
    const int lane = int(threadIdx.x) - plan::readers - warp_size;
    find_mended(a, origin, all, lane);
    Spread at;
    at.begin(a, origin, 0, origin.y, origin.z - plan::low_z);
    for (int k = 0; k < planes; ++k) {
        slots.await_filled();
        mend_plane(a, origin, all, shared, slots.slot(), at, origin.z - plan::low_z + k, lane);
        slots.mended();
        slots.next();
        at.advance(a);
    }
}
#endif
