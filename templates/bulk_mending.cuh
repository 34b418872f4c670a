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

// A cell beyond an edge, or the first of a row: its place in a slot, and what stands for it. A place is
// where a cell would lie if its row began with a pack, and how far further that row begins than the tile's
// first.
struct alignas(8) Mended {
    unsigned to, from; // places; `to` and a kind
    static constexpr int further_bits = 3, place_bits = 20;
    // Nobody reads it; side number `kind - given` gives its value; the place stands for it.
    static constexpr unsigned nobody = 0, given = 1, stands_for = 5;

    __device__ __forceinline__ unsigned place() const { return to & ((1u << place_bits) - 1); }
    __device__ __forceinline__ unsigned kind() const { return to >> place_bits; }
};

// Those that a block reads of an array: cells left and right of the grid's columns, one by one, and rows
// before its first and after its last.
template <int array> struct Mending {
    using A = Array<array>;
    using B = Box<array>;
    static constexpr int width = A::low_x + plan::tile_x + A::high_x;
    static constexpr int most_cells = (A::low_x + A::high_x) * B::rows, most_rows = A::low_y + A::high_y;
    static_assert(B::slot <= 1 << (Mended::place_bits - Mended::further_bits) && plan::vector <= 8, "they fit");
    // Where nobody reads beyond both axes: of the tile's rows and columns alone.
    static constexpr int first_row = plan::corners ? 0 : A::low_y, rows = plan::corners ? B::rows : plan::tile_y;
    static constexpr int first_column = plan::corners ? 0 : A::low_x,
                         columns = plan::corners ? width : plan::tile_x;

    const Index size_x, size_y, first_x, first_y; // of the grid; where the box begins
    const int left, right, below, above;          // columns and rows beyond the edges
    const int begin, end;                         // columns of the grid, as the box counts them

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
          above(reach<1, 1>(first_y + B::rows - size_y, A::high_y)),
          begin(int(max(-first_x, Index(first_column)))),
          end(int(min(size_x - first_x, Index(first_column + columns)))) {
    }
    __device__ __forceinline__ int cells() const { return (left + right) * rows; }

    // Makes a coordinate beyond an edge that of the cell that stands for it; false: a side gives the value,
    // and `kind` says which.
    template <int axis>
    __device__ __forceinline__ bool stand_for(const Arguments &a, Index &i, unsigned &kind) const {
        kind = Mended::given + 2 * axis + (i < 0 ? 0 : 1);
        [[maybe_unused]] Real value = 0;
        return resolve_of<axis, array>(a, i, value);
    }
    __device__ __forceinline__ Mended find(const Arguments &a, Index x, Index y) const {
        if (!lies_in_box(x, y) || y < -A::low_y || y >= size_y + A::high_y)
            return {0, 0};
        const unsigned place = place_of(a, x, y);
        unsigned kind, from = 0;
        if (stand_for<0>(a, x, kind) && stand_for<1>(a, y, kind)) {
            kind = Mended::stands_for;
            from = place_of(a, x, y);
        }
        return {kind << Mended::place_bits | place, from};
    }
    __device__ __forceinline__ Mended find_cell(const Arguments &a, int i) const {
        const int column = i % (left + right);
        return find(a, column < left ? column - left : size_x + (column - left),
                    first_y + first_row + i / (left + right));
    }
    __device__ __forceinline__ Mended find_row(const Arguments &a, int i) const {
        return find(a, first_x + begin, i < below ? i - below : size_y + (i - below));
    }
    __device__ __forceinline__ bool lies_in_box(Index x, Index y) const {
        return x >= first_x && x - first_x < width && y >= first_y && y - first_y < B::rows;
    }
    __device__ __forceinline__ unsigned place_of(const Arguments &a, Index x, Index y) const {
        const int row = int(y - first_y), column = int(x - first_x);
        const unsigned further = unsigned(row - A::low_y) * unsigned(a.grid[A::grid].stride_y);
        return unsigned(B::row(row) + column) << Mended::further_bits | further % plan::vector;
    }
    // Where that is in the slot of a plane.
    static __device__ __forceinline__ unsigned place_in(unsigned place, const Spread &at) {
        return (place >> Mended::further_bits) + (at.place[array] + place) % plan::vector;
    }
    // The value of side number `which`.
    template <int n = 0>
    static __device__ __forceinline__ Cell given(const Arguments &a, unsigned which) {
        if constexpr (n < 4) {
            constexpr Boundary kind = kind_of<array, n / 2, n % 2>();
            if constexpr (kind == Boundary::constant)
                if (which == n)
                    return beyond_of<array, n / 2, n % 2>(a);
            return given<n + 1>(a, which);
        } else {
            return 0;
        }
    }
    // Whether a cell of the plane stands for it. If a side gives its value, that becomes `value`, which was
    // that of all cells of a plane that none of the grid stands for (z < 0).
    static __device__ __forceinline__ bool has_source(const Arguments &a, const Mended &cell, int z,
                                                      Cell &value) {
        if (cell.kind() < Mended::stands_for)
            value = given(a, cell.kind() - Mended::given);
        return cell.kind() == Mended::stands_for && z >= 0;
    }
    static __device__ __forceinline__ void put_cells(const Arguments &a, const Mended *all, int count,
                                                     Cell *slot, const Spread &at, Cell value, int lane) {
        constexpr int together = 2;
#pragma unroll 1
        for (int first = lane; first < count; first += together * mending_threads) {
            Mended mended[together];
            Cell its[together];
#pragma unroll
            for (int k = 0; k < together; ++k) {
                const int i = first + k * mending_threads;
                mended[k] = i < count ? all[i] : Mended{0, 0};
                its[k] = value;
                if (has_source(a, mended[k], at.stands_for[array], its[k]))
                    its[k] = slot[place_in(mended[k].from, at)];
            }
#pragma unroll
            for (int k = 0; k < together; ++k)
                if (mended[k].kind() != Mended::nobody)
                    slot[place_in(mended[k].place(), at)] = its[k];
        }
    }
    // A row by each warp.
    static __device__ __forceinline__ void put_rows(const Arguments &a, const Mended *all, int count,
                                                    int length, Cell *slot, const Spread &at, Cell value,
                                                    int lane) {
        constexpr int together = 16 / int(sizeof(Real)); // of a lane, as registers are few
        const int its_lane = lane % warp_size;
#pragma unroll 1
        for (int i = lane / warp_size; i < count; i += PLAN_MENDERS) {
            const Mended row = all[i];
            if (row.kind() == Mended::nobody)
                continue;
            Cell *const to = slot + place_in(row.place(), at);
            const Cell *const from = slot + place_in(row.from, at);
            Cell its = value, cells[together];
            const bool has = has_source(a, row, at.stands_for[array], its);
#pragma unroll 1
            for (int first = its_lane; first < length; first += together * warp_size) {
#pragma unroll
                for (int k = 0; k < together; ++k)
                    cells[k] = has && first + k * warp_size < length ? from[first + k * warp_size] : its;
#pragma unroll
                for (int k = 0; k < together; ++k)
                    if (first + k * warp_size < length)
                        to[first + k * warp_size] = cells[k];
            }
        }
    }
    // Puts that value into all cells of a plane that lie between the edges of x and y.
    __device__ __forceinline__ void fill(const Arguments &a, Cell *slot, const Spread &at, Cell value,
                                         int lane) const {
        for (int i = lane; i < B::rows * width; i += mending_threads) {
            const Index x = first_x + i % width, y = first_y + i / width;
            if (x >= 0 && x < size_x && y >= 0 && y < size_y)
                slot[place_in(place_of(a, x, y), at)] = value;
        }
    }
};

// Whether the block's planes need it.
template <int array = 0>
__device__ __forceinline__ bool needs_mending(const Arguments &a, const Point &origin, Index first, Index end) {
    if constexpr (array < plan::summed) {
        const Mending<array> mending(a, origin);
        return mending.cells() + mending.below + mending.above > 0 ||
               needs_mending<array + 1>(a, origin, first, end);
    } else {
        return reaches_given(a, first, end);
    }
}

template <int array> __device__ constexpr int first_mended() {
    if constexpr (array == 0)
        return 0;
    else
        return first_mended<array - 1>() + Mending<array - 1>::most_cells + Mending<array - 1>::most_rows;
}

// What the lanes of a block found, and of each array how many there are, and the length of rows.
struct Found {
    Mended *all;
    int cells[plan::summed], rows[plan::summed], length[plan::summed];

    template <int array> __device__ __forceinline__ Mended *first_cell() const {
        return all + first_mended<array>();
    }
    template <int array> __device__ __forceinline__ Mended *first_row() const {
        return first_cell<array>() + Mending<array>::most_cells;
    }
    // Each lane finds what it puts, and each warp its rows.
    template <int array = 0>
    __device__ __forceinline__ void begin(const Arguments &a, const Point &origin, int lane) {
        if constexpr (array < plan::summed) {
            const Mending<array> mending(a, origin);
            cells[array] = mending.cells();
            rows[array] = mending.below + mending.above;
            length[array] = mending.end - mending.begin;
            for (int i = lane; i < cells[array]; i += mending_threads)
                first_cell<array>()[i] = mending.find_cell(a, i);
            for (int i = lane / warp_size; i < rows[array]; i += PLAN_MENDERS)
                if (lane % warp_size == 0)
                    first_row<array>()[i] = mending.find_row(a, i);
            begin<array + 1>(a, origin, lane);
        } else {
            __syncwarp();
        }
    }
    template <int array = 0>
    __device__ __forceinline__ void put(const Arguments &a, const Point &origin, Cell *shared, int slot,
                                        const Spread &at, int lane) const {
        if constexpr (array < plan::summed) {
            using M = Mending<array>;
            Cell *const to = shared + Box<array>::shared + slot * Box<array>::slot;
            Real value = 0;
            if constexpr (has_given_planes<array>)
                if (at.stands_for[array] < 0) {
                    Index z = at.plane;
                    resolve_of<2, array>(a, z, value);
                    M(a, origin).fill(a, to, at, Cell(value), lane);
                }
            M::put_cells(a, first_cell<array>(), cells[array], to, at, Cell(value), lane);
            M::put_rows(a, first_row<array>(), rows[array], length[array], to, at, Cell(value), lane);
            put<array + 1>(a, origin, shared, slot, at, lane);
        }
    }
};

// By the warps that mend: a block's planes. `all`: where they keep what they find.
template <class Planes>
__device__ __forceinline__ void mend(const Arguments &a, Cell *shared, Mended *all, Planes &slots,
                                     const Point &origin, int planes) {
    const int lane = int(threadIdx.x) - plan::readers - warp_size;
    Found found;
    found.all = all;
    found.begin(a, origin, lane);
    Spread at;
    at.begin(a, origin, 0, origin.y, origin.z - plan::low_z);
    for (int k = 0; k < planes; ++k) {
        slots.await_filled();
        found.put(a, origin, shared, slots.slot(), at, lane);
        slots.mended();
        slots.next();
        at.advance(a);
    }
}
#endif
