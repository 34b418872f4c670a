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

// A cell beyond an edge, in one word: its place in a slot, and what stands for it: a place; a cell of the
// grid, counted from its plane's first; or, below 0, which side gives its value. A place is where a cell
// would lie if its row began with a pack, and how far further that row begins than the tile's first.
struct Mended {
    long long word;
    static constexpr int further_bits = 3, place_bits = 20;
    static constexpr int nobody = -1, given = -2; // less the side's number

    static __device__ __forceinline__ Mended of(int place, Index from) {
        return {from * (Index(1) << place_bits) + place};
    }
    static __device__ __forceinline__ Index in_slot(int place) { return 2 * Index(place); }
    static __device__ __forceinline__ Index in_grid(Index offset) { return 2 * offset + 1; }

    __device__ __forceinline__ int place() const { return int(word) & ((1 << place_bits) - 1); }
    __device__ __forceinline__ Index from() const { return word >> place_bits; }
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
    __device__ __forceinline__ bool stand_for(const Arguments &a, Index &i, Index &from) const {
        from = Mended::given - 2 * axis - (i < 0 ? 0 : 1);
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
            return Mended::of(0, Mended::nobody);
        const int place = place_of(a, y, x);
        Index from;
        if (stand_for<0>(a, x, from) && stand_for<1>(a, y, from))
            from = lies_in_box(x, y) ? Mended::in_slot(place_of(a, y, x))
                                     : Mended::in_grid(y * a.grid[A::grid].stride_y + x);
        return Mended::of(place, from);
    }
    __device__ __forceinline__ bool lies_in_box(Index x, Index y) const {
        return x >= first_x && x - first_x < width && y >= first_y && y - first_y < B::rows;
    }
    __device__ __forceinline__ int place_of(const Arguments &a, Index y, Index x) const {
        const int row = int(y - first_y), column = int(x - first_x);
        const unsigned further = unsigned(row - A::low_y) * unsigned(a.grid[A::grid].stride_y);
        return (B::row(row) + column) << Mended::further_bits | int(further % plan::vector);
    }
    // Where that is in the slot of a plane.
    static __device__ __forceinline__ int cell(int place, const Spread &at) {
        return (place >> Mended::further_bits) + int((at.place[array] + unsigned(place)) % plan::vector);
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
                const Mended mended = all[i];
                const Index from = mended.from();
                if (from == Mended::nobody)
                    continue;
                places[k] = cell(mended.place(), at);
                if (from < 0)
                    cells[k] = given(a, int(Mended::given - from));
                else if (z < 0)
                    cells[k] = value;
                else if (from % 2 == 0)
                    cells[k] = slot[cell(int(from / 2), at)];
                else
                    cells[k] = grid.data[z * grid.stride_z + from / 2];
            }
#pragma unroll
            for (int k = 0; k < together; ++k)
                if (places[k] >= 0)
                    slot[places[k]] = cells[k];
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
                mending.fill(a, to, at, Cell(value), lane);
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
