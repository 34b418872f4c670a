// bulk: one step of a linear update, on tiles that bulk copies bring to shared memory. A block
// walks the last axis. Each plane that it reads adds what it gives to the points around it, whose
// sums the registers hold until they are complete.
//
//      grid --> [z+5] [z+4] [z+3]                on their way, each to a slot of shared memory
//
//               h h  h h h h h h h h  h h
//               h h [a b c d|a b c d] h h  z+2   arrived: each thread reads the rows around its own
//               h h [a b c d|a b c d] h h        by packs; h: the halo
//               h h  h h h h h h h h  h h
//
//      sums of  z+4, z+3, z+2, z+1, z            of the thread's `vector` by `lane_y` points; each
//                               |                gains, and those of z are complete:
//                               +--> grid
//
// What a scaled sum is scaled by (PLAN_SCALED), and all else that an update reads at its own point
// alone, comes to shared memory with the plane that completes the sum.
//
// In 2D a plane is a row, and a block's rows come at once: groups of threads walk a part of them
// each.
//
// Where rows begin anywhere (PLAN_SHIFTED), each row is a copy of its own (bulk_lines.cuh).
#include "arch/memory.cuh"
#include "arch/quotients.cuh"
#include "arch/shared.cuh"

#include "arch/streaming.cuh"
#include "arch/warps.cuh"

#include "plan.h"

#include "grid.cuh"

#include "blocks.cuh"

#include "taps.cuh"

#include "point.cuh"

#include "row_sums.cuh"

#include "bulk_boxes.cuh"

#include "bulk_lines.cuh"

#include "bulk_planes.cuh"

#include "sum_points.cuh"

#include "narrow_column.cuh"

#if !defined(PLAN_NARROW)
template <bool wide> struct SetOf { using type = unsigned; };
template <> struct SetOf<true> { using type = unsigned long long; };

// Where the thread's points go, plane by plane.
struct Column {
    Cell *to[plan::outputs]; // the first point of the plane that is complete next
    int first, end; // of the planes that the boundary does not keep, counted from the block's first
    // The points of its rows, a bit each: those that are not kept, and those in the box.
    static constexpr int points = plan::lane_y * plan::vector;
    typename SetOf<(2 * points > 32)>::type sets; // in one register, if they fit

    static constexpr unsigned all = (1u << plan::vector) - 1; // of a row
#if defined(PLAN_PLACED)
    // What the thread's points along x and its rows have at all planes, and its first point.
    AlongX along_x[plan::vector];
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
        for (int i = 0; i < plan::vector; ++i)
            along_x[i] = find_along_x(AtPosition{{p.x + i, p.y, p.z}}, a);
#pragma unroll
        for (int j = 0; j < plan::lane_y; ++j)
            along_y[j] = find_along_y(AtPosition{{p.x, p.y + j, p.z}}, a);
#if defined(PLAN_INTERIOR)
        bool along = true;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
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
            for (int i = 0; i < plan::vector; ++i) {
                const Index x = p.x + i * spread, y = p.y + j;
                const decltype(sets) bit = decltype(sets)(1) << (j * plan::vector + i);
                if (x >= a.end[0] || y >= a.end[1] || is_before(a, y))
                    continue;
                sets |= bit << points;
                if (!keeps<0>(x, a.size[0], plan::low_x, plan::high_x) &&
                    !keeps<1>(y, a.size[1], plan::low_y, plan::high_y))
                    sets |= bit;
            }
    }
    template <int output, class T>
    __device__ __forceinline__ static void put(Cell *row, unsigned points, const RowOf<T> &out) {
        Pack<Cell, plan::vector> pack;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            pack.element[i] = out[i][output];
#if !defined(PLAN_SHIFTED)
        if (points == all) {
            store_pack_once(reinterpret_cast<Pack<Cell, plan::vector> *>(row), pack);
            return;
        }
#endif
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            if ((points >> i & 1) != 0)
                row[i * spread] = pack.element[i];
    }
    template <int output = 0>
    __device__ __forceinline__ void put_row(const Arguments &a, int j, const Results &out) const {
        if constexpr (output < plan::outputs) {
            put<output, Real>(to[output] + j * a.grid[Output<output>::grid].stride_y,
                        unsigned(sets >> j * plan::vector) & all, out);
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
        for (int i = 0; i < plan::vector; ++i)
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
        for (int i = 0; i < plan::vector; ++i)
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
            for (int i = 0; i < plan::vector; ++i)
                finish_inside(AtSum{own, i, sum[j][i][0][0], row}, a, out[i]);
        } else
#endif
        {
            finish_row(a, j, sum, own, row, out);
        }
#else
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            finish_sums(AtSum{own, i, sum[j][i][0][0]}, a, out[i]);
#endif
        put_row(a, j, out);
    }
#else
    __device__ __forceinline__ void put_sums(const Arguments &a, int j, const Sums &sum) const {
        Results out;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i) {
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
    template <int output = 0, class X>
    __device__ __forceinline__ void keep_row(const Arguments &a, int j, unsigned points,
                                             const Cell *shared, int slot, const X &x, int y) const {
        if constexpr (output < plan::outputs) {
            if constexpr (Output<output>::current >= 0) { // else they stay in their array
                constexpr int array = array_of<Output<output>::current>();
                static_assert(array < plan::summed, "it was fetched with its halo");
                using B = Box<array>;
#if defined(PLAN_SHIFTED)
                const int column = x.in_row(array, j);
#else
                const int column = x;
#endif
                const Cell *const own = shared + B::A::shared + slot * B::slot +
                                        (y + j + B::A::low_y) * B::width + B::before + column;
                RowOf<Cell> out; // as they are
#pragma unroll
                for (int i = 0; i < plan::vector; ++i)
                    out[i][output] = own[i * spread];
                const Grid &grid = a.grid[Output<output>::grid];
                put<output, Cell>(to[output] + plan::high_z * grid.stride_z + j * grid.stride_y, points,
                            out);
            }
            keep_row<output + 1>(a, j, points, shared, slot, x, y);
        }
    }
    template <class X>
    __device__ __forceinline__ void keep_rows(const Arguments &a, int plane, const Cell *shared,
                                              int slot, const X &x, int y) const {
        constexpr unsigned whole = points == 32 ? ~0u : (1u << points % 32) - 1;
        const unsigned inside = unsigned(sets >> points) & whole;
        const unsigned kept = plane < first || plane >= end ? inside : inside & ~unsigned(sets);
        if (kept == 0)
            return;
#pragma unroll
        for (int j = 0; j < plan::lane_y; ++j)
            keep_row(a, j, kept >> j * plan::vector & all, shared, slot, x, y);
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
    const Cell *shared; // that plane, and the thread's first point in it
    int plane, x, y;
    __device__ __forceinline__ void row(int j, const Sums &sum) const {
        if (!puts)
            return;
        OwnPacks own;
        own.read(shared, plane, x, y + j);
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

// ---- the walk ---------------------------------------------------------------------------------

// Asks for a box of every array that sums read, or of those from `array` to `end`, whose first plane
// is at z, for the slot at hand.
template <int array = 0, int end = plan::summed, class Filling>
__device__ __forceinline__ void ask(const Arguments &a, const Filling &slots, Cell *shared,
                                    const Point &origin, Index z) {
    if constexpr (array < end) {
        using B = Box<array>;
        slots.template copy<(array < plan::summed)>(
            shared + B::A::shared + slots.slot() * B::slot, a.map[array], int(origin.x) - B::before,
            int(origin.y) - B::A::low_y, int(z));
        ask<array + 1, end>(a, slots, shared, origin, z);
    }
}
template <int array = 0, int end = plan::summed>
__device__ constexpr int bytes_of_planes(int planes) {
    if constexpr (array < end)
        return Box<array>::arriving * planes * int(sizeof(Cell)) +
               bytes_of_planes<array + 1, end>(planes);
    else
        return 0;
}

#if !PLAN_PACKS
#if PLAN_SCALED
// A point, and its sum.
struct AtScaled {
    const AtInner &own;
    Real sum;
#if defined(PLAN_PLACED)
    template <int axis> __device__ __forceinline__ Index index() const {
        return own.template index<axis>();
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        if constexpr (array == plan::arrays)
            return sum;
        else
            return own.template tap<array, dx, dy, dz>();
    }
};
#endif
template <int j> struct ByRows {
    template <class At>
    static __device__ __forceinline__ void add(const At &at, const Arguments &a,
                                               Real (&sum)[plan::outputs][depth]) {
        add_rows<j>(at, a, sum);
    }
    static __device__ __forceinline__ void store(const Arguments &a, const Point &p,
                                               const Real (&sum)[plan::outputs][depth]) {
        Outputs out;
#if PLAN_SCALED
        AtInner own = {a, {}};
        own.place(p);
        finish_sums(AtScaled{own, sum[0][0]}, a, out);
#else
        for (int o = 0; o < plan::outputs; ++o)
            out[o] = sum[o][0];
        finish_sums(a, out);
#endif
        put(a, p, out);
    }
};

template <int j = 0>
__device__ __forceinline__ void make_point(const Arguments &a, const Point &p, int row) {
    if constexpr (j + 1 < plan::lane_y) {
        if (row != j) {
            make_point<j + 1>(a, p, row);
            return;
        }
    }
    sum_anywhere<ByRows<j>>(a, p.x, p.y, p.z);
}

// What a call that has no rows of packs takes: point by point.
__device__ __forceinline__ void make_points(const Arguments &a) {
    const Point origin = block_origin(a, plan::tile_x, plan::tile_y, plan::walk);
    constexpr int plane = plan::tile_x * plan::tile_y;
    for (int z = 0; z < plan::walk && origin.z + z < a.end[2]; ++z)
        for (int i = threadIdx.x; i < plane; i += plan::threads) {
            const Point p = {origin.x + i % plan::tile_x, origin.y + i / plan::tile_x,
                             origin.z + z};
            if (in_box(a, p) && !is_before(a, p.y))
                make_point(a, p, i / plan::tile_x % plan::lane_y);
        }
}
#endif

#if (PLAN_PACKS || defined(PLAN_SHIFTED)) && PLAN_FLAT
// 2D: the rows of the tile, which come at once.
__device__ __forceinline__ void make_tile(const Arguments &a, Cell *shared) {
    Slots<1, 1> slots;
    slots.begin(shared + plan::barriers);
    const Point origin = block_origin(a, plan::tile_x, 1, plan::walk);
#if defined(PLAN_SHIFTED)
    if (threadIdx.x == 0)
        slots.expect(bytes_of_planes(plan::planes));
    __syncthreads(); // all know how many bytes will come
    ask_rows(a, slots, shared, origin, origin.z - plan::low_z, plan::planes,
             lane() * (plan::threads / warp_size) + warp(), plan::threads); // shared by all warps
#else
    if (threadIdx.x == 0) {
#if PLAN_SCALED
        slots.expect(bytes_of_planes(plan::planes) +
                     bytes_of_planes<plan::summed, plan::arrays>(plan::walk));
        ask<plan::summed, plan::arrays>(a, slots, shared, origin, origin.z);
#else
        slots.expect(bytes_of_planes(plan::planes));
#endif
        ask(a, slots, shared, origin, origin.z - plan::low_z);
    }
#endif
    slots.sent();
    constexpr int across = plan::tile_x / plan::vector, rows = plan::walk / plan::groups;
    const int x = int(threadIdx.x) % across * (spread > 1 ? 1 : plan::vector);
    const int row = int(threadIdx.x) / across * rows; // the first that the thread makes
    const int made = int(min(Index(rows), a.end[2] - origin.z - row));
    Column column;
    column.begin(a, {origin.x + x, 0, origin.z + row});
    Sums sum = {};
#if defined(PLAN_SHIFTED)
    Spread at;
    at.begin(a, origin, x, 0, origin.z - plan::low_z + row);
#else
    const int at = x;
#endif
    slots.await_filled();
#pragma unroll 2
    for (int step = 1 - depth; step < made; ++step) {
        const int newest = row + step + depth - 1;
#if defined(PLAN_NARROW)
        add(shared, newest, at, 0, a, sum, Waiting());
        if (step >= 0)
            column.put_rows(a, step, sum, shared, newest - plan::high_z, x, 0);
#else
#if PLAN_SCALED
        const Putting putting = {
            column, a, step >= 0 && column.makes(step), step, shared, row + step, x, 0};
#else
        const Putting putting = {column, a, step >= 0 && column.makes(step)};
#endif
        add(shared, newest, at, 0, a, sum, putting);
#if PLAN_KEEPS
        if (step + plan::high_z >= 0 && step + plan::high_z < made)
            column.keep_rows(a, step + plan::high_z, shared, newest, at, 0);
#endif
#endif
        column.advance(a);
#if defined(PLAN_SHIFTED)
        at.advance(a);
#endif
        shift(sum);
    }
}
#endif
#if (PLAN_PACKS || defined(PLAN_SHIFTED)) && !PLAN_FLAT
static __device__ unsigned paces[plan::pace_waves * (plan::pace_groups + 1)];

using Planes = Slots<plan::ring, plan::readers / warp_size>;

// The warp that asks for the planes.
__device__ __forceinline__ void fill(const Arguments &a, Cell *shared, Planes &slots,
                                     const Point &origin, int planes) {
    const bool first = threadIdx.x % warp_size == 0;
    Pace<plan::pace_waves, plan::pace_groups> pace = {};
    if (first)
        pace.begin(paces, (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x,
                   gridDim.x * gridDim.y * gridDim.z, plan::wave, int(a.end[2] - a.begin[2]));
    for (int k = 0; k < planes; ++k) {
        if (first) {
            pace.plane(k);
            slots.await_free();
#if PLAN_SCALED
            const bool completes = k + 1 >= depth; // a plane: what its points read comes with it
            slots.expect(bytes_of_planes(1) +
                         (completes ? bytes_of_planes<plan::summed, plan::arrays>(1) : 0));
            if (completes)
                ask<plan::summed, plan::arrays>(a, slots, shared, origin, origin.z + k + 1 - depth);
#else
            slots.expect(bytes_of_planes(1));
#endif
#if !defined(PLAN_SHIFTED)
            ask(a, slots, shared, origin, origin.z - plan::low_z + k);
#endif
        }
#if defined(PLAN_SHIFTED)
        warp_barrier(); // the slot is free, and knows how many bytes will come
        ask_rows(a, slots, shared, origin, origin.z - plan::low_z + k, 1, lane(), warp_size);
#endif
        slots.sent();
        slots.next();
    }
    if (first)
        pace.end();
}

__device__ __forceinline__ void make_column(const Arguments &a, Cell *shared) {
    Planes slots;
    slots.begin(shared + plan::barriers);
    const Point origin = block_origin(a, plan::tile_x, plan::tile_y, plan::walk);
    const int planes = int(min(Index(plan::walk), a.end[2] - origin.z)) + depth - 1;
    if (threadIdx.x >= plan::readers) {
        fill(a, shared, slots, origin, planes);
        return;
    }
    constexpr int across = plan::tile_x / plan::vector;
    const int x = int(threadIdx.x) % across * (spread > 1 ? 1 : plan::vector);
    const int y = int(threadIdx.x) / across * plan::lane_y;
#if defined(PLAN_SHIFTED)
    Spread at;
    at.begin(a, origin, x, origin.y + y, origin.z - plan::low_z);
#else
    const int at = x;
#endif
    Column column;
    column.begin(a, {origin.x + x, origin.y + y, origin.z});
    Sums sum = {};
#pragma unroll 1
    for (; slots.count < unsigned(planes); slots.next()) {
        const int step = int(slots.count) + 1 - depth;
        slots.await_filled();
#if defined(PLAN_NARROW)
        add(shared, slots.slot(), at, y, a, sum, Waiting());
#if PLAN_KEEPS
        static_assert(plan::held == plan::high_z, "kept cells are there when their plane is complete");
        const int complete = slots.before(plan::held);
        if (step >= 0)
            column.put_rows(a, step, sum, shared, complete, x, y);
        if (step > plan::held - depth)
            slots.release(complete);
#else
        slots.release(slots.slot());
        if (step >= 0)
            column.put_rows(a, step, sum, shared, 0, x, y);
#endif
#else
#if PLAN_SCALED
        const Putting putting = {
            column, a, step >= 0 && column.makes(step), step, shared, slots.slot(), x, y};
#else
        const Putting putting = {column, a, step >= 0 && column.makes(step)};
#endif
        add(shared, slots.slot(), at, y, a, sum, putting);
#if PLAN_KEEPS
        if (step + plan::high_z >= 0 && step + plan::high_z < planes - depth + 1)
            column.keep_rows(a, step + plan::high_z, shared, slots.slot(), at, y);
#endif
        slots.release(slots.slot());
#endif
        column.advance(a);
#if defined(PLAN_SHIFTED)
        at.advance(a);
#endif
        shift(sum);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    const Arguments &a = arguments;
#if defined(PLAN_SHIFTED)
    if (!a.aligned) { // no map describes the grid
        make_points(a);
        return;
    }
#endif
#if !PLAN_PACKS && !defined(PLAN_SHIFTED)
    make_points(a);
#elif PLAN_FLAT
    make_tile(a, reinterpret_cast<Cell *>(shared_bytes()));
#else
#if defined(PLAN_NARROW)
    make_column(a, reinterpret_cast<Cell *>(found_shared()));
#else
    make_column(a, reinterpret_cast<Cell *>(shared_bytes()));
#endif
#endif
}
