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
// Where rows begin anywhere (PLAN_SHIFTED), a plane comes by several copies (bulk_lines.cuh). Cells beyond
// an edge that are not zeros: bulk_images.cuh; where they come from the grid's other end: bulk_ends.cuh.
#include "arch/handing.cuh"
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

#include "bulk_boxes.cuh"

#include "row_sums.cuh"

#include "bulk_ends.cuh"

#include "bulk_images.cuh"

#include "bulk_near_edge.cuh"

#include "bulk_words.cuh"

#include "bulk_lines.cuh"

#include "bulk_mending.cuh"

#include "bulk_planes.cuh"

#include "sum_points.cuh"

#include "narrow_column.cuh"

#include "bulk_column.cuh"

#include "bulk_points.cuh"

// ---- the walk ---------------------------------------------------------------------------------

#if !defined(PLAN_SHIFTED) // else bulk_lines.cuh has it
// What a lane of the warp that asks for planes asks for: the first asks for all.
struct Asking {
    bool asks;

    __device__ __forceinline__ void begin(const Arguments &, const Point &, int lane) { asks = lane == 0; }

    // A box of every array, for the slot at hand: where sums read, its first plane is at z, and where
    // their points do, at `own`. Nothing of a plane of points before the block's first.
    template <int array = 0, class Filling>
    __device__ __forceinline__ void ask(const Arguments &a, const Filling &slots, Cell *shared,
                                        const Point &origin, Index z, Index own) const {
        if constexpr (array < plan::arrays) {
            using B = Box<array>;
            constexpr bool sums = array < plan::summed;
            const Index plane = sums ? asked_plane<array>(a, z) : own;
            if (asks && (sums || own >= origin.z))
                slots.copy(shared + B::shared + slots.slot() * B::slot, a.map[array],
                           int(origin.x) - B::before, int(origin.y) - B::A::low_y, int(plane), sums);
#if defined(PLAN_ENDS)
            if constexpr (sums)
                if (asks)
                    each_end<array>(a, origin, [&](int place, int, int map, int x, int y) {
                        slots.copy(shared + B::shared + slots.slot() * B::slot + place, a.map[map], x, y,
                                   int(plane), true);
                    });
#endif
            ask<array + 1>(a, slots, shared, origin, z, own);
        }
    }
};
#endif
template <int array = 0, int end = plan::summed>
__device__ constexpr int bytes_of_planes(int planes) {
    if constexpr (array < end)
        return Box<array>::arriving * planes * int(sizeof(Cell)) +
               bytes_of_planes<array + 1, end>(planes);
    else
        return 0;
}

#if (PLAN_PACKS || defined(PLAN_SHIFTED)) && PLAN_FLAT
// 2D: the rows of the tile, which come at once.
__device__ __forceinline__ void make_tile(const Arguments &a, Cell *shared) {
    Slots<1, 1> slots;
    slots.begin(shared + plan::barriers);
    const Point origin = block_origin(a, plan::tile_x, 1, plan::walk);
#if defined(PLAN_SHIFTED)
    static_assert(first_cell<plan::arrays>() <= plan::barriers, "they fit");
    constexpr int planes = 1; // a box has all rows
#else
    constexpr int planes = plan::planes;
#endif
    if (threadIdx.x < warp_size) {
        Asking asking;
        asking.begin(a, origin, threadIdx.x);
        if (threadIdx.x == 0)
#if PLAN_SCALED
            slots.expect(bytes_of_planes(planes) + bytes_of_planes<plan::summed, plan::arrays>(plan::walk));
#else
            slots.expect(bytes_of_planes(planes));
#endif
        asking.ask(a, slots, shared, origin, origin.z - plan::low_z, origin.z);
    }
    slots.sent();
    constexpr int rows = plan::walk / plan::groups;
    const int x = int(threadIdx.x) % across * adjacent;
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
#if PLAN_IMAGES
    put_images(a, shared, origin);
#endif
#pragma unroll 2
    for (int step = 1 - depth; step < made; ++step) {
        const int newest = row + step + depth - 1;
#if defined(PLAN_NARROW) && !defined(PLAN_SHIFTED)
        add(shared, newest, at, 0, a, sum, Waiting());
        if (step >= 0)
            column.put_rows(a, step, sum, shared, newest - plan::high_z, x, 0);
#else
#if PLAN_SCALED
        const Putting putting = {
            column, a, step >= 0 && column.makes(step), step, shared, row + step, at, 0};
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

#if defined(PLAN_SHIFTED)
constexpr int barriers = first_cell<plan::arrays>();
#else
constexpr int ring = plan::ring, barriers = plan::barriers;
#endif
#if defined(PLAN_MENDERS)
using Planes = Slots<ring, plan::readers / warp_size, PLAN_MENDERS>;
constexpr int shared_words = Planes::words + first_mended<plan::summed>(); // behind the planes
#else
using Planes = Slots<ring, plan::readers / warp_size>;
constexpr int shared_words = Planes::words;
#endif
static_assert(barriers * int(sizeof(Cell)) + 8 * shared_words <=
                  plan::barriers * int(sizeof(Cell)) + 16 * plan::ring,
              "they fit");

// The warp that asks for the planes.
__device__ __forceinline__ void fill(const Arguments &a, Cell *shared, Planes &slots,
                                     const Point &origin, int planes) {
    const bool first = threadIdx.x % warp_size == 0;
    Pace<plan::pace_waves, plan::pace_groups> pace = {};
    if (first)
        pace.begin(paces, (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x,
                   gridDim.x * gridDim.y * gridDim.z, plan::wave, int(a.end[2] - a.begin[2]));
    Asking asking;
    asking.begin(a, origin, threadIdx.x % warp_size);
#if defined(PLAN_ENDS)
    const int arriving = bytes_of_planes(1) + bytes_of_ends(a, origin);
#else
    constexpr int arriving = bytes_of_planes(1);
#endif
    for (int k = 0; k < planes; ++k) {
        if (first) {
            pace.plane(k);
            slots.await_free();
#if PLAN_SCALED // where it completes a plane, what its points read comes with it
            slots.expect(arriving + (k + 1 >= depth ? bytes_of_planes<plan::summed, plan::arrays>(1) : 0));
#else
            slots.expect(arriving);
#endif
        }
        __syncwarp(); // others ask when the slot is free
        asking.ask(a, slots, shared, origin, origin.z - plan::low_z + k, origin.z + k + 1 - depth);
        slots.sent();
        slots.next();
    }
    if (first)
        pace.end();
}

// Plane by plane. `at`: where the thread reads them.
template <class At>
__device__ __forceinline__ void walk(const Arguments &a, const Cell *shared, Planes &slots, At at,
                                     int x, int y, Column &column, int planes) {
    Sums sum = {};
#if defined(PLAN_SHIFTED)
    const Columns &columns = at;
#else
    const Columns columns = x;
#endif
#pragma unroll 1
    for (; slots.count < unsigned(planes); slots.next()) {
        const int step = int(slots.count) + 1 - depth;
        slots.await_filled();
#if defined(PLAN_NARROW) && !defined(PLAN_SHIFTED)
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
            column, a, step >= 0 && column.makes(step), step, shared, slots.slot(), columns, y};
#else
        const Putting putting = {column, a, step >= 0 && column.makes(step)};
#endif
        add(shared, slots.slot(), at, y, a, sum, putting);
#if PLAN_KEEPS
        if (step + plan::high_z >= 0 && step + plan::high_z < planes - depth + 1)
            column.keep_rows(a, step + plan::high_z, shared, slots.slot(), columns, y);
#endif
        slots.release(slots.slot());
#endif
        column.advance(a);
#if defined(PLAN_SHIFTED)
        at.advance(a);
#elif PLAN_IMAGES
        advance(at);
#endif
        shift(sum);
    }
}

__device__ __forceinline__ void make_column(const Arguments &a, Cell *shared) {
    Planes slots;
    slots.begin(shared + barriers);
    const Point origin = block_origin(a, plan::tile_x, plan::tile_y, plan::walk);
    const int planes = int(min(Index(plan::walk), a.end[2] - origin.z)) + depth - 1;
#if defined(PLAN_MENDERS)
    const bool mends = needs_mending(a, origin, origin.z - plan::low_z, origin.z - plan::low_z + planes);
    if (mends && threadIdx.x < plan::readers + warp_size)
        slots.others_mend(threadIdx.x < plan::readers);
#endif
    if (threadIdx.x >= plan::readers) {
#if defined(PLAN_HANDED)
        hand_registers_over<PLAN_KEPT>();
#endif
        if (threadIdx.x >= plan::readers + warp_size) {
#if defined(PLAN_MENDERS)
            if (mends)
                mend(a, shared, reinterpret_cast<Mended *>(shared + barriers) + Planes::words, slots,
                     origin, planes);
#endif
            return;
        }
        fill(a, shared, slots, origin, planes);
        return;
    }
#if defined(PLAN_HANDED)
    take_registers_over<PLAN_HANDED>();
#endif
    const int x = int(threadIdx.x) % across * adjacent;
    const int y = int(threadIdx.x) / across * plan::lane_y;
#if defined(PLAN_SHIFTED)
    Spread at;
    at.begin(a, origin, x, origin.y + y, origin.z - plan::low_z);
#else
    const int at = x;
#endif
    Column column;
    column.begin(a, {origin.x + x, origin.y + y, origin.z});
#if PLAN_IMAGES
    const Point first = {origin.x + x, origin.y + y, origin.z - plan::low_z};
    const NearEdge near(a, first, x);
    if (near.matters() || reaches_given(a, first.z, first.z + planes)) {
        walk(a, shared, slots, near, x, y, column, planes);
        return;
    }
#endif
    walk(a, shared, slots, at, x, y, column, planes);
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
#if defined(PLAN_NARROW) && !defined(PLAN_SHIFTED)
    make_column(a, reinterpret_cast<Cell *>(found_shared()));
#else
    make_column(a, reinterpret_cast<Cell *>(shared_bytes()));
#endif
#endif
}
