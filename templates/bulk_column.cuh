// bulk: where the points of a thread go, plane by plane, in cells of 32 and 64 bits.
#if !defined(PLAN_NARROW) || defined(PLAN_SHIFTED)
// Where the thread's points go, plane by plane.
struct Column {
    Cell *to[plan::outputs]; // the first point of the plane that is complete next
    int first, end; // of the planes that the boundary does not keep, counted from the block's first
    // The points of its rows, a bit each: those that are not kept, and those in the box.
    static constexpr int points = plan::lane_y * row_points;
    typename SetOf<(2 * points > 32)>::type sets; // in one register, if they fit
#if defined(PLAN_NARROW)
    bool whole; // all points of a warp, which has a row
#endif

    static constexpr unsigned all = (1u << row_points) - 1; // of a row
#if defined(PLAN_PLACED)
    // What the thread's points along x and its rows have at all planes, and its first point.
    AlongX along_x[row_points];
    AlongY along_y[plan::lane_y];
    Point place;
#if defined(PLAN_INTERIOR)
    // Rows whose points, of all lanes, lie away from the edges of x and y, a bit each; and planes
    // away from those of z, counted from the block's first.
    unsigned interior;
    int inside_first, inside_end;
#endif

    __device__ __forceinline__ void find_places(const Arguments &a, const Point &p) {
        place = p;
#pragma unroll
        for (int i = 0; i < row_points; ++i)
            along_x[i] = find_along_x(AtPosition{{p.x + i, p.y, p.z}}, a);
#pragma unroll
        for (int j = 0; j < plan::lane_y; ++j)
            along_y[j] = find_along_y(AtPosition{{p.x, p.y + j, p.z}}, a);
#if defined(PLAN_INTERIOR)
        bool along = true;
#pragma unroll
        for (int i = 0; i < row_points; ++i)
            along = along && interior_along<0>(a, p.x + i);
        interior = 0;
#pragma unroll
        for (int j = 0; j < plan::lane_y; ++j)
            interior |= unsigned(lanes_agree(along && interior_along<1>(a, p.y + j))) << j;
        long long first_z, end_z;
        interior_ends(a, first_z, end_z);
        interior = opaque(interior);
        inside_first = opaque(within(first_z - p.z));
        inside_end = opaque(within(end_z - p.z));
#endif
    }
    __device__ __forceinline__ bool is_interior(int plane, int j) const {
#if defined(PLAN_INTERIOR)
        return plane >= inside_first && plane < inside_end && (interior >> j & 1) != 0;
#else
        return false;
#endif
    }
#endif

    __device__ __forceinline__ static int within(Index i) {
        return int(min(max(i, Index(0)), Index(1) << 30));
    }
    template <int output = 0>
    __device__ __forceinline__ void point_at(const Arguments &a, const Point &p) {
        if constexpr (output < plan::outputs) {
            const Grid &grid = a.grid[Output<output>::grid];
            to[output] = grid.data + offset(grid, p.x, p.y, p.z);
            point_at<output + 1>(a, p);
        }
    }
    // `p`: the first point of the first plane.
    __device__ __forceinline__ void begin(const Arguments &a, const Point &p) {
        point_at(a, {p.x, p.y, p.z + 1 - depth});
        const bool below = Edge<2, 0>::kind == Boundary::fixed;
        const bool above = Edge<2, 1>::kind == Boundary::fixed;
        first = below ? within(plan::low_z - p.z) : 0;
        end = within(a.size[2] - (above ? plan::high_z : 0) - p.z);
#if defined(PLAN_PLACED)
        find_places(a, p);
#endif
        sets = 0;
#pragma unroll
        for (int j = 0; j < plan::lane_y; ++j)
#pragma unroll
            for (int i = 0; i < row_points; ++i) {
                const Index x = p.x + column_of(i), y = p.y + j;
                const decltype(sets) bit = decltype(sets)(1) << (j * row_points + i);
                if (x >= a.end[0] || y >= a.end[1] || is_before(a, y))
                    continue;
                sets |= bit << points;
                if (!keeps<0>(x, a.size[0], plan::low_x, plan::high_x) &&
                    !keeps<1>(y, a.size[1], plan::low_y, plan::high_y))
                    sets |= bit;
            }
#if defined(PLAN_SHIFTED)
        // Else compilers find them anew in each plane.
        sets = opaque(sets);
#if defined(PLAN_NARROW)
        constexpr auto every = decltype(sets)(~0ull >> (64 - 2 * points));
        whole = across == warp_size && every_lane(sets == every);
#endif
        if constexpr (points * plan::outputs * depth * sizeof(Real) <= 256) { // else registers are few
            first = opaque(first);
            end = opaque(end);
        }
#endif
    }
    template <int output, class T>
    __device__ __forceinline__ static void put(Cell *row, unsigned points, const RowOf<T> &out) {
#if !defined(PLAN_SHIFTED)
        Pack<Cell, row_points> pack;
#pragma unroll
        for (int i = 0; i < row_points; ++i)
            pack.element[i] = out[i][output];
        if (points == all) {
            store_pack_once(reinterpret_cast<Pack<Cell, row_points> *>(row), pack);
            return;
        }
#endif
#pragma unroll
        for (int i = 0; i < row_points; ++i)
            if ((points >> i & 1) != 0)
                row[column_of(i)] = out[i][output];
    }
    template <int output = 0>
    __device__ __forceinline__ void put_row(const Arguments &a, int j, const Results &out) const {
        if constexpr (output < plan::outputs) {
            Cell *const row = to[output] + j * a.grid[Output<output>::grid].stride_y;
#if defined(PLAN_NARROW)
            if (whole)
                put_words<output>(row, out);
            else
#endif
                put<output, Real>(row, unsigned(sets >> j * row_points) & all, out);
            put_row<output + 1>(a, j, out);
        }
    }
    __device__ __forceinline__ bool makes(int plane) const { return plane >= first && plane < end; }
#if PLAN_SCALED
#if defined(PLAN_LAYER_QUICK)
    template <class Numbers>
    __device__ __forceinline__ void finish_row_by(Numbers &numbers, const Arguments &a, int j,
                                                  const Sums &sum, const OwnPacks &own,
                                                  const Point &row, Results &out) const {
        const AlongZ along_z = find_along_z(AtPosition{row}, a);
#pragma unroll
        for (int i = 0; i < row_points; ++i)
            finish_layer(By<Numbers, AtSum>{{own, i, sum[j][i][0][0], row}, numbers}, a,
                         along_x[i], along_y[j], along_z, out[i]);
    }
#endif
#if defined(PLAN_PLACED)
    // Row j near the edges, whose first point is `row`.
    __device__ __forceinline__ void finish_row(const Arguments &a, int j, const Sums &sum,
                                               const OwnPacks &own, const Point &row,
                                               Results &out) const {
#if defined(PLAN_LAYER_QUICK)
        Quick quick;
        finish_row_by(quick, a, j, sum, own, row, out);
        if (quick.odd) {
            Exact exact;
            finish_row_by(exact, a, j, sum, own, row, out);
        }
#else
        const AlongZ along_z = find_along_z(AtPosition{row}, a);
#pragma unroll
        for (int i = 0; i < row_points; ++i)
            finish_layer(AtSum{own, i, sum[j][i][0][0], row}, a, along_x[i], along_y[j], along_z,
                         out[i]);
#endif
    }
#endif
    __device__ __forceinline__ void put_scaled(const Arguments &a, int plane, int j,
                                               const Sums &sum, const OwnPacks &own) const {
        Results out;
#if defined(PLAN_PLACED)
        const Point row = {place.x, place.y + j, place.z + plane};
#if defined(PLAN_INTERIOR)
        if (is_interior(plane, j)) {
#pragma unroll
            for (int i = 0; i < row_points; ++i)
                finish_inside(AtSum{own, i, sum[j][i][0][0], row}, a, out[i]);
        } else
#endif
        {
            finish_row(a, j, sum, own, row, out);
        }
#else
#pragma unroll
        for (int i = 0; i < row_points; ++i)
            finish_sums(AtSum{own, i, sum[j][i][0][0]}, a, out[i]);
#endif
        put_row(a, j, out);
    }
#else
    __device__ __forceinline__ void put_sums(const Arguments &a, int j, const Sums &sum) const {
        Results out;
#pragma unroll
        for (int i = 0; i < row_points; ++i) {
#pragma unroll
            for (int o = 0; o < plan::outputs; ++o)
                out[i][o] = sum[j][i][o][0];
            finish_sums(a, out[i]);
        }
        put_row(a, j, out);
    }
#endif
#if PLAN_KEEPS
    // Row j of the plane that has arrived, `plan::high_z` planes beyond the complete one. The kept
    // cells are in shared memory now, so that nobody waits for them.
    template <int output = 0>
    __device__ __forceinline__ void keep_row(const Arguments &a, int j, unsigned points,
                                             const Cell *shared, int slot, const Columns &x, int y) const {
        if constexpr (output < plan::outputs) {
            if constexpr (Output<output>::current >= 0) { // else they stay in their array
                constexpr int array = array_of<Output<output>::current>();
                static_assert(array < plan::summed, "it was fetched with its halo");
                const Cell *const own = shared + first_point<array>(slot, x, y, j);
                RowOf<Cell> out; // as they are
#pragma unroll
                for (int i = 0; i < row_points; ++i)
                    out[i][output] = own[column_of(i)];
                const Grid &grid = a.grid[Output<output>::grid];
                put<output, Cell>(to[output] + plan::high_z * grid.stride_z + j * grid.stride_y, points,
                            out);
            }
            keep_row<output + 1>(a, j, points, shared, slot, x, y);
        }
    }
    __device__ __forceinline__ void keep_rows(const Arguments &a, int plane, const Cell *shared,
                                              int slot, const Columns &x, int y) const {
        constexpr unsigned whole = points == 32 ? ~0u : (1u << points % 32) - 1;
        const unsigned inside = unsigned(sets >> points) & whole;
        const unsigned kept = plane < first || plane >= end ? inside : inside & ~unsigned(sets);
        if (kept == 0)
            return;
#pragma unroll
        for (int j = 0; j < plan::lane_y; ++j)
            keep_row(a, j, kept >> j * row_points & all, shared, slot, x, y);
    }
#endif
    template <int output = 0> __device__ __forceinline__ void advance(const Arguments &a) {
        if constexpr (output < plan::outputs) {
            to[output] += a.grid[Output<output>::grid].stride_z;
            advance<output + 1>(a);
        }
    }
};

// Stores the sums that are complete, if they are of points to be made.
struct Putting {
    const Column &column;
    const Arguments &a;
    bool puts;
#if PLAN_SCALED
    int step; // the plane that is complete, from the block's first
    const Cell *shared; // that plane, and where the thread reads it
    int plane;
    const Columns &x;
    int y;
    __device__ __forceinline__ void row(int j, const Sums &sum) const {
        if (!puts)
            return;
        OwnPacks own;
        own.read(shared, plane, x, y, j);
        column.put_scaled(a, step, j, sum, own);
    }
#else
    __device__ __forceinline__ void row(int j, const Sums &sum) const {
        if (puts)
            column.put_sums(a, j, sum);
    }
#endif
};

#endif
