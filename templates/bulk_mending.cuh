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

// A cell beyond an edge: its place in a slot, and what stands for it. A place is where a cell would lie if
// its row began with a pack, and how far further that row begins than the tile's first.
struct alignas(8) Mended {
    unsigned to;   // the place, and a kind
    unsigned from; // a place; or the low bits of a cell of the grid, counted from its plane's first
    static constexpr int further_bits = 3, place_bits = 20;
    // From these kinds on: nothing stands for it, side number `kind - given`, a place, a cell of the grid,
    // whose high bits it has.
    static constexpr unsigned nobody = 0, given = 1, in_slot = 5, in_grid = 6;

    __device__ __forceinline__ unsigned place() const { return to & ((1u << place_bits) - 1); }
    __device__ __forceinline__ unsigned kind() const { return to >> place_bits; }
    __device__ __forceinline__ Index offset() const { return Index(kind() - in_grid) << 32 | from; }
};

// Those that a block reads of an array.
template <int array> struct Mending {
    using A = Array<array>;
    using B = Box<array>;
    static constexpr int width = A::low_x + plan::tile_x + A::high_x;
    static constexpr int most = (A::low_x + A::high_x) * B::rows + (A::low_y + A::high_y) * width;
    static_assert(B::slot <= 1 << (Mended::place_bits - Mended::further_bits) && plan::vector <= 8, "they fit");

    // Where nobody reads beyond both axes: of the tile's rows and columns alone.
    static constexpr int skipped_rows = plan::corners ? 0 : A::low_y, rows = plan::corners ? B::rows : plan::tile_y;
    static constexpr int skipped_columns = plan::corners ? 0 : A::low_x,
                         columns = plan::corners ? width : plan::tile_x;

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
          above(reach<1, 1>(first_y + B::rows - size_y, A::high_y)), of_columns((left + right) * rows),
          count(of_columns + (below + above) * columns) {
    }
    // What stands for coordinate i, which may lie beyond an edge; false: a side gives the value.
    template <int axis>
    __device__ __forceinline__ bool stand_for(const Arguments &a, Index &i, unsigned &kind) const {
        kind = Mended::given + 2 * axis + (i < 0 ? 0 : 1);
        [[maybe_unused]] Real value = 0;
        return resolve_of<axis, array>(a, i, value);
    }
    // Number i of them.
    __device__ __forceinline__ Mended find(const Arguments &a, int i) const {
        const bool is_column = i < of_columns;
        const int each = is_column ? left + right : columns, k = is_column ? i : i - of_columns;
        const int major = k / each, minor = k % each;
        Index x = !is_column       ? first_x + skipped_columns + minor
                  : minor < left ? minor - left
                                 : size_x + (minor - left);
        Index y = is_column         ? first_y + skipped_rows + major
                  : major < below ? major - below
                                  : size_y + (major - below);
        const bool beyond_x = x < 0 || x >= size_x, beyond_y = y < 0 || y >= size_y;
        if (!lies_in_box(x, y) || is_column == beyond_y || (beyond_x && !is_column && !plan::corners) ||
            x < -A::low_x || x >= size_x + A::high_x || y < -A::low_y || y >= size_y + A::high_y)
            return {0, 0};
        const unsigned place = place_of(a, y, x);
        unsigned kind, from = 0;
        if (stand_for<0>(a, x, kind) && stand_for<1>(a, y, kind)) {
            const Index offset = y * a.grid[A::grid].stride_y + x;
            const bool is_near = lies_in_box(x, y);
            kind = is_near ? Mended::in_slot : Mended::in_grid + unsigned(offset >> 32);
            from = is_near ? place_of(a, y, x) : unsigned(offset);
        }
        return {kind << Mended::place_bits | place, from};
    }
    __device__ __forceinline__ bool lies_in_box(Index x, Index y) const {
        return x >= first_x && x - first_x < width && y >= first_y && y - first_y < B::rows;
    }
    __device__ __forceinline__ unsigned place_of(const Arguments &a, Index y, Index x) const {
        const int row = int(y - first_y), column = int(x - first_x);
        const unsigned further = unsigned(row - A::low_y) * unsigned(a.grid[A::grid].stride_y);
        return unsigned(B::row(row) + column) << Mended::further_bits | further % plan::vector;
    }
    // Where that is in the slot of a plane.
    static __device__ __forceinline__ unsigned cell(unsigned place, const Spread &at) {
        return (place >> Mended::further_bits) + (at.place[array] + place) % plan::vector;
    }
    // The value of side number `which`.
    template <int n = 0>
    static __device__ __forceinline__ Cell given(const Arguments &a, unsigned which) {
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
    // Puts `count` of them into a plane, for which at.stands_for stands. `value`: of planes for which none
    // does.
    static __device__ __forceinline__ void put(const Arguments &a, const Mended *all, int count, Cell *slot,
                                               const Spread &at, Cell value, int lane) {
        constexpr int together = 4; // loads on their way
        const Grid &grid = a.grid[A::grid];
        const int z = at.stands_for[array];
        for (int first = lane; first < count; first += together * mending_threads) {
            Cell cells[together];
            Mended mended[together];
#pragma unroll
            for (int k = 0; k < together; ++k) {
                const int i = first + k * mending_threads;
                mended[k] = i < count ? all[i] : Mended{0, 0};
                const unsigned kind = mended[k].kind();
                if (kind < Mended::in_slot)
                    cells[k] = given(a, kind - Mended::given);
                else if (z < 0)
                    cells[k] = value;
                else if (kind == Mended::in_slot)
                    cells[k] = slot[cell(mended[k].from, at)];
                else
                    cells[k] = grid.data[z * grid.stride_z + mended[k].offset()];
            }
#pragma unroll
            for (int k = 0; k < together; ++k)
                if (mended[k].kind() != Mended::nobody)
                    slot[cell(mended[k].place(), at)] = cells[k];
        }
    }
    // Puts that value into all others.
    __device__ __forceinline__ void fill(const Arguments &a, Cell *slot, const Spread &at, Cell value,
                                         int lane) const {
        for (int i = lane; i < B::rows * width; i += mending_threads) {
            const Index x = first_x + i % width, y = first_y + i / width;
            if (x >= 0 && x < size_x && y >= 0 && y < size_y)
                slot[cell(place_of(a, y, x), at)] = value;
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
// Finds a lane's own, and how many there are of each array.
template <int array = 0>
__device__ __forceinline__ void find_mended(const Arguments &a, const Point &origin, Mended *all, int lane,
                                            int (&counts)[plan::summed]) {
    if constexpr (array < plan::summed) {
        const Mending<array> mending(a, origin);
        counts[array] = mending.count;
        for (int i = lane; i < mending.count; i += mending_threads)
            all[first_mended<array>() + i] = mending.find(a, i);
        find_mended<array + 1>(a, origin, all, lane, counts);
    }
}
template <int array = 0>
__device__ __forceinline__ void mend_plane(const Arguments &a, const Point &origin, const Mended *all,
                                           const int (&counts)[plan::summed], Cell *shared, int slot,
                                           const Spread &at, int lane) {
    if constexpr (array < plan::summed) {
        using B = Box<array>;
        Cell *const to = shared + B::shared + slot * B::slot;
        Real value = 0;
        if constexpr (has_given_planes<array>)
            if (at.stands_for[array] < 0) {
                Index z = at.plane;
                resolve_of<2, array>(a, z, value);
                Mending<array>(a, origin).fill(a, to, at, Cell(value), lane);
            }
        Mending<array>::put(a, all + first_mended<array>(), counts[array], to, at, Cell(value), lane);
        mend_plane<array + 1>(a, origin, all, counts, shared, slot, at, lane);
    }
}

// By the warps that mend: a block's planes. `all`: where they keep what they find.
template <class Planes>
__device__ __forceinline__ void mend(const Arguments &a, Cell *shared, Mended *all, Planes &slots,
                                     const Point &origin, int planes) {
    const int lane = int(threadIdx.x) - plan::readers - warp_size;
    int counts[plan::summed];
    find_mended(a, origin, all, lane, counts);
    Spread at;
    at.begin(a, origin, 0, origin.y, origin.z - plan::low_z);
    for (int k = 0; k < planes; ++k) {
        slots.await_filled();
        mend_plane(a, origin, all, counts, shared, slots.slot(), at, lane);
        slots.mended();
        slots.next();
        at.advance(a);
    }
}
#endif
