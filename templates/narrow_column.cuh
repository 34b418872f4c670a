// bulk: where the points of a thread go, plane by plane, in cells of 16 bits. Two cells are a word,
// so that masks of words say which cells a boundary keeps:
//
//      results      [r r|r r|r r|r r]
//      mask         [0 0|1 1|1 1|1 1]     a grid begins here, and the shape reaches over two cells
//      stored       [k k|r r|r r|r r]     k: the cell's own value, still in shared memory
//
// Most threads have no such cells, and store whole packs.
#pragma once

#if defined(PLAN_NARROW) && !defined(PLAN_SHIFTED)
using Words = Pack<unsigned, plan::vector / 2>;

// Sums that are complete wait until the plane has been added.
struct Waiting {
    __device__ __forceinline__ void row(int, const Sums &) const {
    }
};

struct Column {
    Cell *to[plan::outputs]; // the first point of the plane that is complete next
    int first, end; // of the planes that the boundary does not keep, counted from the block's first
    unsigned inside;  // the points of its rows in the box, a bit each
    int care;         // 0: all of them are, and the boundary keeps none; 2: some are not inside
#if PLAN_KEEPS
    unsigned rows;                   // that the boundary does not keep, a bit each
    unsigned mask[plan::vector / 2]; // of a row, the points that it does not keep
#endif
    static constexpr unsigned all = (1u << plan::vector) - 1; // of a row

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
        first = opaque(below ? within(plan::low_z - p.z) : 0);
        end = opaque(within(a.size[2] - (above ? plan::high_z : 0) - p.z));
        unsigned in_row = 0, in_box = 0;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            in_row |= unsigned(p.x + i < a.end[0]) << i;
#pragma unroll
        for (int j = 0; j < plan::lane_y; ++j)
            in_box |= p.y + j < a.end[1] && !is_before(a, p.y + j) ? in_row << j * plan::vector : 0;
        constexpr unsigned every = ~0u >> (32 - plan::lane_y * plan::vector);
        bool plain = in_box == every;
        inside = opaque(in_box);
#if PLAN_KEEPS
        constexpr unsigned every_row = (1u << plan::lane_y) - 1;
        unsigned made = 0;
#pragma unroll
        for (int j = 0; j < plan::lane_y; ++j)
            made |= unsigned(!keeps<1>(p.y + j, a.size[1], plan::low_y, plan::high_y)) << j;
        plain = plain && made == every_row;
        rows = opaque(made);
#pragma unroll
        for (int i = 0; i < plan::vector; i += 2) {
            const bool low = keeps<0>(p.x + i, a.size[0], plan::low_x, plan::high_x);
            const bool high = keeps<0>(p.x + i + 1, a.size[0], plan::low_x, plan::high_x);
            plain = plain && !low && !high;
            mask[i / 2] = opaque((low ? 0 : 0xffffu) | (high ? 0 : 0xffff0000u));
        }
#endif
        care = opaque(plain ? 0 : in_box == every ? 1 : 2);
    }
    // A row, of which some points may lie outside of the box.
    __device__ __forceinline__ static void store(Cell *row, unsigned points, const Words &words) {
        if (points == all) {
            store_pack_once(reinterpret_cast<Words *>(row), words);
        } else {
#pragma unroll
            for (int i = 0; i < plan::vector; ++i)
                if ((points >> i & 1) != 0)
                    row[i].bits =
                        static_cast<unsigned short>(words.element[i / 2] >> (i % 2 == 0 ? 0 : 16));
        }
    }
#if PLAN_KEEPS
    // Puts the cells that the boundary keeps into row j. `slot`: where their plane lies.
    template <int array>
    __device__ __forceinline__ void keep(Words &words, int j, bool makes, const Cell *shared,
                                         int slot, int x, int y) const {
        static_assert(array < plan::arrays, "it was fetched");
        using B = Box<array>;
        const Pack<Cell, plan::vector> cells = *reinterpret_cast<const Pack<Cell, plan::vector> *>(
            shared + B::shared + slot * B::slot + (y + j + B::A::low_y) * B::width + B::before +
            x);
        Words own;
        memcpy(&own, &cells, sizeof own);
        const unsigned row = makes && (rows >> j & 1) != 0 ? ~0u : 0;
#pragma unroll
        for (int i = 0; i < plan::vector / 2; ++i)
            words.element[i] =
                (words.element[i] & (mask[i] & row)) | (own.element[i] & ~(mask[i] & row));
    }
    // The points of row j that the boundary does not keep, a bit each.
    __device__ __forceinline__ unsigned made_of(int j, bool makes) const {
        unsigned points = 0;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            points |= (mask[i / 2] >> (i % 2 == 0 ? 0 : 16) & 1) << i;
        return makes && (rows >> j & 1) != 0 ? points : 0;
    }
#endif
    // All threads of a warp convert and store together, and those at an edge choose words between.
    template <int output = 0>
    __device__ __forceinline__ void put(const Arguments &a, const Sums &sum, bool makes,
                                        const Cell *shared, int slot, int x, int y) const {
        if constexpr (output < plan::outputs) {
            Words words[plan::lane_y];
#pragma unroll
            for (int j = 0; j < plan::lane_y; ++j)
                words[j] = words_of<output>(a, sum, j);
            const auto stride = a.grid[Output<output>::grid].stride_y;
            constexpr bool stays = Output<output>::current < 0; // kept cells, in their array
#if PLAN_KEEPS
            if constexpr (!stays)
                if (care != 0 || !makes)
#pragma unroll
                    for (int j = 0; j < plan::lane_y; ++j)
                        keep<array_of<Output<output>::current>()>(words[j], j, makes, shared, slot,
                                                                  x, y);
#endif
            if (care == 2 || (stays && (care != 0 || !makes))) {
#pragma unroll
                for (int j = 0; j < plan::lane_y; ++j) {
                    unsigned points = inside >> j * plan::vector & all;
#if PLAN_KEEPS
                    if constexpr (stays)
                        points &= made_of(j, makes);
#endif
                    store(to[output] + j * stride, points, words[j]);
                }
            } else {
#pragma unroll
                for (int j = 0; j < plan::lane_y; ++j)
                    store_pack_once(reinterpret_cast<Words *>(to[output] + j * stride), words[j]);
            }
            put<output + 1>(a, sum, makes, shared, slot, x, y);
        }
    }
    // Row j of the sums that are complete.
    template <int output>
    __device__ __forceinline__ static Words words_of(const Arguments &a, const Sums &sum, int j) {
        Pack<Real, plan::vector> pack;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i) {
            Real out[plan::outputs];
#pragma unroll
            for (int o = 0; o < plan::outputs; ++o)
                out[o] = sum[j][i][o][0];
            finish_sums(a, out);
            pack.element[i] = out[output];
        }
        const auto bits = narrowed<Cell>(pack);
        Words words;
        memcpy(&words, &bits, sizeof words);
        return words;
    }
    // The sums of a plane are complete. The plane still lies in `slot` if a boundary keeps cells of
    // it; the cell (x, y) there is the thread's first point.
    __device__ __forceinline__ void put_rows(const Arguments &a, int plane, const Sums &sum,
                                             const Cell *shared, int slot, int x, int y) const {
        put(a, sum, plane >= first && plane < end, shared, slot, x, y);
    }
    template <int output = 0> __device__ __forceinline__ void advance(const Arguments &a) {
        if constexpr (output < plan::outputs) {
            to[output] += a.grid[Output<output>::grid].stride_z;
            advance<output + 1>(a);
        }
    }
};
#endif
