// bulk, where rows begin anywhere: copies of a grid that is seen as one row of all its cells, and what a
// thread reads of them.
//
//      memory    | . . a b | c d e f | g h i j | k l . . |     a row a … l, and packs of 16 bytes
//      shared    | . . a b | c d e f | g h i j | k l . . |     whole packs are copied
//      lanes           0 1   2 3 0 1   2 3 0 1   2 3           each reads single cells, its points
//                                                              being a quarter of the row apart
//
// So lanes that lie side by side read and store cells that do, wherever a row begins.
#pragma once

#if defined(PLAN_SHIFTED)

// Cells that a row of an array begins behind a whole pack with, as far as it is copied.
template <int array> __device__ __forceinline__ unsigned first_place(const Arguments &a) {
    return unsigned(line_lead(a.grid[Array<array>::grid].data) - Box<array>::before);
}

// Asks for a box of every array, row by row: for the rows `first`, `first` + `by` … of it, of `planes`
// planes from z on. What lies outside of the grid along y and z is asked for before its first cell,
// where all is zeros; what lies beside the ends of x is another row's.
template <int array = 0, class Filling>
__device__ __forceinline__ void ask_rows(const Arguments &a, const Filling &slots, Cell *shared,
                                         const Point &origin, Index z, int planes, int first,
                                         int by) {
    if constexpr (array < plan::summed) {
        using B = Box<array>;
        const Grid &grid = a.grid[B::A::grid];
        for (int r = first; r < B::height * planes; r += by) {
            const Index row = origin.y - B::A::low_y + (PLAN_FLAT ? 0 : r);
            const Index plane = z + (PLAN_FLAT ? r : 0);
            const bool inside = row >= 0 && row < a.size[1] && plane >= 0 && plane < a.size[2];
            const int at = int(first_place<array>(a)) + int(offset(grid, origin.x, row, plane));
            slots.template copy<true>(
                shared + B::A::shared + slots.slot() * B::slot + r * B::width, a.map[array],
                inside ? at & -plan::vector : -B::copied, 0, 0);
        }
        ask_rows<array + 1>(a, slots, shared, origin, z, planes, first, by);
    }
}

// A thread's points of a tile: the first one's column, and where it lies in the grid. For each array,
// how far behind a whole pack the thread's first row begins, and how much further the next rows do.
struct Spread {
    int x;
    Index column;
    unsigned place[plan::summed], stride[plan::summed];

    // `z`: the first plane that is read.
    template <int array = 0>
    __device__ __forceinline__ void begin(const Arguments &a, const Point &origin, int first_x,
                                          Index y, Index z) {
        if constexpr (array < plan::summed) {
            const Grid &grid = a.grid[Array<array>::grid];
            x = first_x;
            column = origin.x + first_x;
            stride[array] = unsigned(grid.stride_y);
            place[array] = first_place<array>(a) + unsigned(offset(grid, origin.x, y, z));
            begin<array + 1>(a, origin, first_x, y, z);
        }
    }
    template <int array = 0> __device__ __forceinline__ void advance(const Arguments &a) {
        if constexpr (array < plan::summed) {
            place[array] += unsigned(a.grid[Array<array>::grid].stride_z);
            advance<array + 1>(a);
        }
    }
    // Of row y, counted from the thread's first.
    __device__ __forceinline__ int in_row(int array, int y) const {
        return x + int((place[array] + unsigned(y) * stride[array]) % plan::vector);
    }
};

// Row y of an array, as far as the thread's points ask for it.
template <int array, int y> struct Line {
    using Asked = Asks<array, y>;
    static constexpr bool any = Asked::first <= Asked::last;
    static constexpr int cells = any ? Asked::low + 1 + Asked::high : 1;
    Real element[plan::vector][cells];

    // `own`: the thread's first point in the plane.
    __device__ __forceinline__ void read(const Cell *own, const Spread &at, Index size) {
        if constexpr (any) {
#pragma unroll
            for (int i = 0; i < plan::vector; ++i)
#pragma unroll
                for (int k = 0; k < cells; ++k)
                    element[i][k] = own[y * Box<array>::width + i * spread + k - Asked::low];
#if PLAN_GIVES
            // What lies beside the ends of x is another row's; zeros stand there.
            if (Asked::low + Asked::high > 0 &&
                (at.column < Asked::low ||
                 at.column + (plan::vector - 1) * spread + Asked::high >= size)) {
#pragma unroll
                for (int i = 0; i < plan::vector; ++i)
#pragma unroll
                    for (int k = 0; k < cells; ++k) {
                        const Index column = at.column + (i * spread + k - Asked::low);
                        element[i][k] = column >= 0 && column < size ? element[i][k] : Real(0);
                    }
            }
#endif
        }
    }
    template <int i, int dx> __device__ __forceinline__ Real at() const {
        return element[i][Asked::low + dx];
    }
};
#endif
