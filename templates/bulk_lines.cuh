// bulk, where rows begin anywhere: of `vector` rows, one after the other, each begins at another place in
// a pack of 16 bytes, and the next ones begin where these do. So copies bring every `vector`-th row.
//
//      memory    | . . a b | c d e f | g h i j | k l . . |     a row a … l, and packs of 16 bytes
//      shared    | . . a b | c d e f | g h i j | k l . . |     whole packs are copied
//      lanes           0 1   2 3 0 1   2 3 0 1   2 3           each reads single cells, its points
//                                                              being a part of the row apart
//
// So lanes that lie side by side read and store cells that do, wherever a row begins. Cells of 16 bits are
// read and stored by words (bulk_words.cuh).
#pragma once

#if defined(PLAN_SHIFTED)

// What a lane of the warp that asks for planes asks for: one copy of an array, which brings every
// `vector`-th row. Map r of an array has its rows r, r + vector …, as one grid of all planes. What lies
// outside of that is zeros, and so are planes outside of the grid. What lies outside along y is another
// plane's, and what lies before the first cell of a row is another row's.
struct Asking {
    int its, copy; // array, and copy of it
    // Where the box begins in the grid, and its rows; where it goes, and how much further in the next slot.
    int x, y, width, to, slot;
    unsigned lead, stride; // where the grid's first row begins in a pack, and how far on the next ones do
    int next;              // how many rows further the next plane is

    static_assert(plan::arrays * plan::vector <= warp_size, "each copy has a lane");

    template <int array = 0>
    __device__ __forceinline__ void begin(const Arguments &a, const Point &origin, int lane) {
        if constexpr (array == 0) {
            its = lane / plan::vector;
            copy = lane % plan::vector;
        }
        if constexpr (array < plan::arrays) {
            if (its == array) {
                using B = Box<array>;
                const Grid &grid = a.grid[B::A::grid];
                x = int(origin.x) - B::before;
                y = int(origin.y) - B::A::low_y + copy;
                width = B::width;
                to = B::shared + copy * B::copied;
                slot = B::slot;
                lead = unsigned(line_lead(grid.data));
                stride = unsigned(PLAN_FLAT ? grid.stride_z : grid.stride_y);
                next = PLAN_FLAT ? 1 : int(grid.stride_z / grid.stride_y);
            }
            begin<array + 1>(a, origin, lane);
        }
    }
    // The plane that it asks for where sums read those at z, and their points those at `own`.
    template <int array = 0>
    __device__ __forceinline__ Index find_plane(const Arguments &a, Index z, Index own) const {
        if constexpr (array < plan::summed)
            return its == array ? asked_plane<array>(a, z) : find_plane<array + 1>(a, z, own);
        else
            return own;
    }
    // For the slot at hand; nothing of a plane of points before the block's first.
    template <class Filling>
    __device__ __forceinline__ void ask(const Arguments &a, const Filling &slots, Cell *shared,
                                        const Point &origin, Index z, Index own) const {
        if (its >= plan::arrays || (its >= plan::summed && own < origin.z))
            return;
        const Index plane = find_plane(a, z, own);
        const bool inside = PLAN_FLAT || (plane >= 0 && plane < a.size[2]);
        const int row = int(unsigned(plane) * unsigned(next)) + y; // counted through all planes
        const unsigned map = unsigned(row) % plan::vector;
        const int place = int((lead + map * stride) % plan::vector);
        slots.copy(shared + to + slots.slot() * slot, a.map[its * plan::vector + int(map)],
                   inside ? (x + place) & -plan::vector : -width, (row - int(map)) / plan::vector, 0,
                   its < plan::summed);
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
    unsigned place[plan::arrays], stride[plan::arrays];
#if defined(PLAN_MENDERS)
    // The plane at hand, and for each array that of the grid that stands for it; −1: none does.
    int plane, stands_for[plan::summed];
#endif

    // `z`: the first plane that is read. What is read at the point alone comes with the plane that
    // completes its sum.
    template <int array = 0>
    __device__ __forceinline__ void begin(const Arguments &a, const Point &origin, int first_x,
                                          Index y, Index z) {
        if constexpr (array < plan::arrays) {
            const Grid &grid = a.grid[Array<array>::grid];
            x = first_x;
#if PLAN_GIVES && !PLAN_IMAGES && PLAN_FLAT
            outside.begin(origin.x + first_x);
#endif
            stride[array] = unsigned(grid.stride_y);
            const Index from = array < plan::summed ? asked_plane<array>(a, z) : z - plan::high_z;
            place[array] = first_place<array>(a) + unsigned(offset(grid, origin.x, y, from));
#if defined(PLAN_MENDERS)
            plane = int(z);
            if constexpr (array < plan::summed)
                stands_for[array] = int(from);
#endif
            begin<array + 1>(a, origin, first_x, y, z);
        }
    }
    template <int array = 0> __device__ __forceinline__ void advance(const Arguments &a) {
        if constexpr (array < plan::arrays) {
            int planes = 1;
#if defined(PLAN_MENDERS)
            if constexpr (array < plan::summed) {
                const int from = int(asked_plane<array>(a, plane + 1));
                planes = from - stands_for[array];
                stands_for[array] = from;
            }
#endif
            place[array] += unsigned(planes) * unsigned(a.grid[Array<array>::grid].stride_z);
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
        const int near = plan::vector % plan::lane_y == 0 ? k / plan::lane_y * plan::lane_y : k;
        return B::row(own + near) + (k - near) * B::copied +
               int((place[array] + unsigned(k - B::A::low_y) * stride[array]) % plan::vector) +
               (x + B::before + row / plan::vector * B::width);
    }
};

// Row y of an array, as far as the thread's points ask for it.
template <int array, int y> struct Line {
    using Asked = Asks<array, y>;
    static constexpr bool any = Asked::first <= Asked::last;
    static constexpr int parts = row_points / adjacent, needed = Asked::low + adjacent + Asked::high;
    static constexpr int cells = !any ? 1 : adjacent == 1 ? needed : (needed + 1) / 2 * 2;
    Real element[parts][cells];

    // `own`: the thread's first point in the row.
    __device__ __forceinline__ void read(const Cell *shared, int own, const Spread &at) {
        if constexpr (any) {
            const unsigned first = unsigned(own - Asked::low);
#pragma unroll
            for (int i = 0; i < parts; ++i)
#if defined(PLAN_NARROW)
                read_words(shared + first / 2 * 2 + column_of(i * adjacent), first % 2 * 16, element[i]);
#else
#pragma unroll
                for (int k = 0; k < cells; ++k)
                    element[i][k] = shared[first + column_of(i) + k];
#endif
#if PLAN_GIVES && !PLAN_IMAGES && PLAN_FLAT
            // What lies before the first cell of x is another row's; zeros stand there.
#pragma unroll
            for (int i = 0; i < parts && column_of(i * adjacent) < Asked::low; ++i)
#pragma unroll
                for (int k = 0; k + column_of(i * adjacent) < Asked::low; ++k)
                    if (at.outside.column(Asked::low - k - column_of(i * adjacent)))
                        element[i][k] = 0;
#endif
        }
    }
    template <int i, int dx> __device__ __forceinline__ Real at() const {
        return element[i / adjacent][i % adjacent + Asked::low + dx];
    }
};
#endif
