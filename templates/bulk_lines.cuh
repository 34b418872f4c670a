// bulk, where rows begin anywhere: of `vector` rows, one after the other, each begins at another place in
// a pack of 16 bytes, and the next ones begin where these do. So copies bring every `vector`-th row.
//
//      memory    | . . a b | c d e f | g h i j | k l . . |     a row a … l, and packs of 16 bytes
//      shared    | . . a b | c d e f | g h i j | k l . . |     whole packs are copied
//      lanes           0 1   2 3 0 1   2 3 0 1   2 3           each reads single cells, its points
//                                                              being a part of the row apart
//
// So lanes that lie side by side read and store cells that do, wherever a row begins.
#pragma once

#if defined(PLAN_SHIFTED)

// Which rows a block asks for. Map r of an array has its rows r, r + vector …, as one grid of all
// planes. What lies outside of that is zeros, and so are planes outside of the grid. What lies outside
// along y is another plane's, and what lies before the first cell of a row is another row's.
struct Asking {
    Index next[plan::summed]; // for each array: how many rows further the next plane is

    template <int array = 0> __device__ __forceinline__ void begin(const Arguments &a) {
        if constexpr (array < plan::summed) {
            const Grid &grid = a.grid[Array<array>::grid];
            next[array] = PLAN_FLAT ? 1 : grid.stride_z / grid.stride_y;
            begin<array + 1>(a);
        }
    }
    // Asks for the plane at z of every array, for the slot at hand.
    template <int array = 0, class Filling>
    __device__ __forceinline__ void ask(const Arguments &a, const Filling &slots, Cell *shared,
                                        const Point &origin, Index z) {
        if constexpr (array < plan::summed) {
            using B = Box<array>;
            const Grid &grid = a.grid[B::A::grid];
            const Index plane = asked_plane<array>(a, z);
            const bool inside = PLAN_FLAT || (plane >= 0 && plane < a.size[2]);
            // The plane's first row, counted through all planes.
            const Index row = plane * next[array] + (origin.y - Array<array>::low_y);
            const unsigned lead = unsigned(line_lead(grid.data));
            const unsigned stride = unsigned(PLAN_FLAT ? grid.stride_z : grid.stride_y);
            Cell *const to = shared + B::shared + slots.slot() * B::slot;
#pragma unroll
            for (int k = 0; k < plan::vector; ++k) {
                const unsigned of = unsigned(row + k) % plan::vector;
                const int place = int((lead + of * stride) % plan::vector);
                slots.template copy<true>(
                    to + k * B::copied, a.map[array * plan::vector + int(of)],
                    inside ? (int(origin.x) - B::before + place) & -plan::vector : -B::width,
                    int((row + k - of) / plan::vector), 0);
            }
            ask<array + 1>(a, slots, shared, origin, z);
        }
    }
};

#if PLAN_GIVES && !PLAN_IMAGES && PLAN_FLAT
// Which columns before a thread's first point lie outside of the grid, a bit each.
struct Outside {
    unsigned cells;

    __device__ __forceinline__ void begin(Index x) {
        cells = 0;
#pragma unroll
        for (int k = 1; k <= plan::low_x; ++k)
            if (x < k)
                cells |= 1u << (k - 1);
    }
    // So many columns before the first point.
    __device__ __forceinline__ bool column(int before) const { return (cells >> (before - 1) & 1) != 0; }
};
#endif

// A thread's points of a tile: the first one's column. For each array, how far
// behind a whole pack the thread's first row begins, and how much further the next rows do.
struct Spread {
    int x;
#if PLAN_GIVES && !PLAN_IMAGES && PLAN_FLAT
    Outside outside;
#endif
    unsigned place[plan::summed], stride[plan::summed];
#if defined(PLAN_MENDERS)
    // The plane at hand, and for each array that of the grid that stands for it; −1: none does.
    int plane, stands_for[plan::summed];
#endif

    // `z`: the first plane that is read.
    template <int array = 0>
    __device__ __forceinline__ void begin(const Arguments &a, const Point &origin, int first_x,
                                          Index y, Index z) {
        if constexpr (array < plan::summed) {
            const Grid &grid = a.grid[Array<array>::grid];
            x = first_x;
#if PLAN_GIVES && !PLAN_IMAGES && PLAN_FLAT
            outside.begin(origin.x + first_x);
#endif
            stride[array] = unsigned(grid.stride_y);
            const Index from = asked_plane<array>(a, z);
            place[array] = first_place<array>(a) + unsigned(offset(grid, origin.x, y, from));
#if defined(PLAN_MENDERS)
            plane = int(z);
            stands_for[array] = int(from);
#endif
            begin<array + 1>(a, origin, first_x, y, z);
        }
    }
    template <int array = 0> __device__ __forceinline__ void advance(const Arguments &a) {
        if constexpr (array < plan::summed) {
            const unsigned stride_z = unsigned(a.grid[Array<array>::grid].stride_z);
#if defined(PLAN_MENDERS)
            const int from = int(asked_plane<array>(a, plane + 1));
            place[array] += unsigned(from - stands_for[array]) * stride_z;
            stands_for[array] = from;
#else
            place[array] += stride_z;
#endif
            advance<array + 1>(a);
        }
#if defined(PLAN_MENDERS)
        if constexpr (array == 0)
            ++plane;
#endif
    }
    // The thread's first point in row y, counted from the thread's first, which is row `own` of the
    // tile: from the slot's first cell on. Every `vector`-th row begins at the same place in a pack,
    // so that what depends on the thread is the same, too.
    template <int array> __device__ __forceinline__ int cell(int own, int y) const {
        using B = Box<array>;
        const int row = B::A::low_y + y, k = row % plan::vector;
        return B::row(own + k) +
               int((place[array] + unsigned(k - B::A::low_y) * stride[array]) % plan::vector) +
               (x + B::before + row / plan::vector * B::width);
    }
};

// Row y of an array, as far as the thread's points ask for it.
template <int array, int y> struct Line {
    using Asked = Asks<array, y>;
    static constexpr bool any = Asked::first <= Asked::last;
    static constexpr int cells = any ? Asked::low + 1 + Asked::high : 1;
    Real element[plan::vector][cells];

    // `own`: the thread's first point in the row.
    __device__ __forceinline__ void read(const Cell *own, const Spread &at) {
        if constexpr (any) {
#pragma unroll
            for (int i = 0; i < plan::vector; ++i)
#pragma unroll
                for (int k = 0; k < cells; ++k)
                    element[i][k] = own[i * spread + k - Asked::low];
#if PLAN_GIVES && !PLAN_IMAGES && PLAN_FLAT
            // What lies before the first cell of x is another row's; zeros stand there.
#pragma unroll
            for (int i = 0; i < plan::vector && i * spread < Asked::low; ++i)
#pragma unroll
                for (int k = 0; k + i * spread < Asked::low; ++k)
                    if (at.outside.column(Asked::low - k - i * spread))
                        element[i][k] = 0;
#endif
        }
    }
    template <int i, int dx> __device__ __forceinline__ Real at() const {
        return element[i][Asked::low + dx];
    }
};
#endif
