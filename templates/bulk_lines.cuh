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

#if PLAN_GIVES && !PLAN_IMAGES
// Which columns before a thread's first point, and which rows around it, lie outside of the grid.
struct Outside {
    static constexpr int rows = PLAN_FLAT ? 0 : plan::low_y + plan::lane_y + plan::high_y;
    typename SetOf<(plan::low_x + rows > 32)>::type cells; // registers are dear

    __device__ __forceinline__ void begin(Index x, Index y, Index size_y) {
        cells = 0;
#pragma unroll
        for (int k = 1; k <= plan::low_x; ++k)
            if (x < k)
                cells |= decltype(cells)(1) << (k - 1);
#pragma unroll
        for (int j = 0; j < rows; ++j)
            if (y + j < plan::low_y || y + j - plan::low_y >= size_y)
                cells |= decltype(cells)(1) << (plan::low_x + j);
    }
    // So many columns before the first point; row y from its own.
    __device__ __forceinline__ bool column(int before) const { return (cells >> (before - 1) & 1) != 0; }
    __device__ __forceinline__ bool row(int y) const {
        return !PLAN_FLAT && (cells >> (plan::low_x + plan::low_y + y) & 1) != 0;
    }
};
#endif

// A thread's points of a tile: the first one's column. For each array, how far
// behind a whole pack the thread's first row begins, and how much further the next rows do.
struct Spread {
    int x;
#if PLAN_GIVES && !PLAN_IMAGES
    Outside outside;
#endif
    unsigned place[plan::summed], stride[plan::summed];
#if PLAN_IMAGES && !PLAN_FLAT
    int plane; // at hand
#endif

    // `z`: the first plane that is read.
    template <int array = 0>
    __device__ __forceinline__ void begin(const Arguments &a, const Point &origin, int first_x,
                                          Index y, Index z) {
        if constexpr (array < plan::summed) {
            const Grid &grid = a.grid[Array<array>::grid];
            x = first_x;
#if PLAN_GIVES && !PLAN_IMAGES
            outside.begin(origin.x + first_x, y, a.size[1]);
#endif
            stride[array] = unsigned(grid.stride_y);
            place[array] =
                first_place<array>(a) + unsigned(offset(grid, origin.x, y, asked_plane<array>(a, z)));
#if PLAN_IMAGES && !PLAN_FLAT
            plane = int(z);
#endif
            begin<array + 1>(a, origin, first_x, y, z);
        }
    }
    template <int array = 0> __device__ __forceinline__ void advance(const Arguments &a) {
        if constexpr (array < plan::summed) {
            const unsigned stride_z = unsigned(a.grid[Array<array>::grid].stride_z);
#if PLAN_IMAGES && !PLAN_FLAT
            place[array] += unsigned(asked_plane<array>(a, plane + 1) - asked_plane<array>(a, plane)) *
                            stride_z;
#else
            place[array] += stride_z;
#endif
            advance<array + 1>(a);
        }
#if PLAN_IMAGES && !PLAN_FLAT
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

#if PLAN_IMAGES && !PLAN_FLAT
// The same of a thread whose warp reads images, or cells before a row's first. `across`: rows too stand
// for others.
template <bool across> struct SpreadNearEdge {
    Spread points;
    NearEdge near;
    // How far the thread's first point is behind the grid's first column and before its last, 16 bits
    // each, as far as that matters.
    unsigned columns;
    static constexpr int far = 0x3fff;

    __device__ __forceinline__ SpreadNearEdge(const Spread &points, const NearEdge &near,
                                              const Arguments &a, const Point &p)
        : points(points), near(near),
          columns(unsigned(min(p.x, Index(far))) | unsigned(min(a.size[0] - 1 - p.x, Index(far))) << 16) {
    }
    __device__ __forceinline__ void advance(const Arguments &a) {
        points.advance(a);
        ++near.z;
        columns = opaque(columns); // else the columns of all cells would be kept in registers
    }
    template <int array> __device__ __forceinline__ int cell(int own, int y) const {
        return points.template cell<array>(own, y);
    }
    // The grid's columns, counted from the thread's first point; the last for point i, unless it lies
    // outside.
    __device__ __forceinline__ int first() const { return -int(columns & 0xffff); }
    __device__ __forceinline__ int last_of(int i) const {
        const int last = int(columns) >> 16;
        return i * spread <= last ? last : far;
    }
};

// Whether some lane's points reach beyond an end of their rows.
__device__ __forceinline__ bool reaches_ends(const Arguments &a, Index x) {
    bool reaches = x < plan::low_x;
#pragma unroll
    for (int i = 0; i < plan::vector; ++i)
        reaches = reaches || (x + i * spread < a.size[0] && x + i * spread + plan::high_x >= a.size[0]);
    return !lanes_agree(!reaches);
}
#endif

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
#if PLAN_GIVES && !PLAN_IMAGES
            // What lies before the first cell of x is another row's, and outside along y another
            // plane's; zeros stand there.
#pragma unroll
            for (int i = 0; i < plan::vector && i * spread < Asked::low; ++i)
#pragma unroll
                for (int k = 0; k + i * spread < Asked::low; ++k)
                    if (at.outside.column(Asked::low - k - i * spread))
                        element[i][k] = 0;
            if (at.outside.row(y))
#pragma unroll
                for (int i = 0; i < plan::vector; ++i)
#pragma unroll
                    for (int k = 0; k < cells; ++k)
                        element[i][k] = 0;
#endif
        }
    }
#if PLAN_IMAGES && !PLAN_FLAT
    // `own`: the thread's first row in the tile.
    template <bool across>
    __device__ __forceinline__ void read(const Cell *slot, const SpreadNearEdge<across> &at, int own) {
        if constexpr (any) {
            const RowNearEdge<array, y, Asked> row = {at.near};
            const Cell *from;
            Real value = 0;
            bool is_given = false;
            if constexpr (across) {
                from = slot + at.template cell<array>(own, row.template stands_for<true>());
                is_given = row.is_given(value);
            } else {
                from = slot + at.template cell<array>(own, y);
            }
            read_cells(from, row, at, is_given, value);
        }
    }
    template <int i = 0, int k = 0, class Row, class At>
    __device__ __forceinline__ void read_cells(const Cell *from, const Row &row, const At &at,
                                               bool is_given, Real value) {
        if constexpr (k < cells) {
            constexpr int dx = k - Asked::low, distance = i * spread + dx;
            const int first = at.first(), last = at.last_of(i);
            const Real cell = from[row.template column<dx>(distance, first, last)];
            element[i][k] = is_given ? value : cell;
            row.template give<dx>(element[i][k], distance, first, last);
            read_cells<i, k + 1>(from, row, at, is_given, value);
        } else if constexpr (i + 1 < plan::vector) {
            read_cells<i + 1>(from, row, at, is_given, value);
        }
    }
#endif
    template <int i, int dx> __device__ __forceinline__ Real at() const {
        return element[i][Asked::low + dx];
    }
};
#endif
