// levels: many time steps a pass in 3D. A block walks z over a tile with a halo for all its steps,
// and between two barriers makes one plane of every time level:
//
//      z →        ring of planes from memory  →  level 1  →  level 2  …  →  level T  →  memory
//                 (copied ahead)                 plane i     i - 1 - h      i - (T-1)(1+h)
//
// Level l takes the plane that level l - 1 made between the two barriers before, adds it to the
// sums of the planes that are not complete yet, which stay in registers, and completes the one h
// planes before (h: how far the shape reaches up). A thread holds a patch of points:
//
//        rows above the patch      shared memory: what threads above stored between barriers before
//      l [ lane_x × lane_y ] r     registers; l, r: the neighbouring lanes, by shuffle
//        rows below the patch      shared memory
//
// A step of a wave reads its point in the level before that one, too, when the point's sum begins: the
// plane is the one that level l - 2 made two turns before, since the shape reaches as far above as
// below. Level 1 takes it from a ring of planes of the older array.
//
// Cells that a boundary keeps never change: they are selected, and shield what lies beyond them,
// which is garbage. So are the tile's outermost points, by `reach` more with each level.
//
// With PLAN_APART no barrier stops the whole block: a warp waits for the planes and the warps next to
// it (turns.cuh). The order is the same, and so are all bytes.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/async.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "grid.cuh"
#include "patches.cuh"
#include "images.cuh"
#include "kept.cuh"
#include "patch_tiles.cuh"
#include "patch_walk.cuh"
#include "patch_images.cuh"
#include "turns.cuh"

constexpr int depth = plan::low_z + 1 + plan::high_z;
constexpr int held = depth > 1 ? depth - 1 : 1; // sums of a point between planes
constexpr int lag = 1 + plan::high_z;           // planes that a level is behind the one below

using LevelTurns = Turns<plan::carried>; // a wave reads the plane before, too

struct State {
    // sum[l - 1][r][e][k] gathers the point of level l that is k - high_z planes from the latest
    // plane of the level below.
    Real sum[plan::time][plan::lane_y][plan::lane_x][held];
    // Level l's latest plane, which need not be read again where registers suffice.
    Patch newest[plan::keep ? plan::time : 1];
};

// Between two barriers: places in shared memory.
struct Iteration {
    int number, slot; // of the plane in the ring that level 1 takes
    __device__ __forceinline__ int ring() const {
        return slot * tile::plane * element;
    }
    // The plane that level 1 took before.
    __device__ __forceinline__ int ring_before() const {
        return (slot > 0 ? slot - 1 : plan::ring - 1) * tile::plane * element;
    }
    // The plane of a level, from 1 on, that was made before, and the one that is made now.
    template <int level> __device__ __forceinline__ int before() const {
        return ((number + 1) & 1) * tile::level_plane * element +
               2 * (level - 1) * tile::level_plane * element;
    }
    template <int level> __device__ __forceinline__ int now() const {
        return (number & 1) * tile::level_plane * element +
               2 * (level - 1) * tile::level_plane * element;
    }
};

// What is left out is zero.
template <bool has_row = true, bool has_older = true> struct AtRows {
    const Rows &row;
    const Patch &older; // of a wave
    int x, y;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        static_assert(dz == 0, "sums are added plane by plane");
        if constexpr (array > 0)
            return has_older ? older[y][x] : Real(0);
        else
            return has_row ? row[y + plan::low_y + dy][x + plan::low_x + dx] : Real(0);
    }
};

#if defined(PLAN_NARROW)
// The rows that the first level needs of a plane as memory has it.
__device__ __forceinline__ void read_loaded(const Walk &w, const Iteration &i, Rows &row) {
    constexpr int row_bytes = tile::width * cell_element;
#pragma unroll
    for (int r = 0; r < plan::low_y; ++r)
        Walk::read_cells(w.ring.above + i.ring() + (plan::lane_y - plan::low_y + r) * row_bytes,
                         row[r]);
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
        Walk::read_cells(w.ring.own + i.ring() + r * row_bytes, row[plan::low_y + r]);
#pragma unroll
    for (int r = 0; r < plan::high_y; ++r)
        Walk::read_cells(w.ring.below + i.ring() + r * row_bytes,
                         row[plan::low_y + plan::lane_y + r]);
#pragma unroll
    for (int r = 0; r < rows; ++r)
        if (plan::corners || (r >= plan::low_y && r < plan::low_y + plan::lane_y))
            Walk::extend(row[r]);
}
#endif

// The rows that a level needs of the latest plane of the level below.
template <int level>
__device__ __forceinline__ void read_rows(const Walk &w, const State &s, const Iteration &i,
                                          Rows &row) {
    constexpr bool first = level == 1;
    constexpr int row_bytes = tile::width * element;
    int above, own, below;
    if constexpr (first) {
        above = w.ring.above + i.ring();
        own = w.ring.own + i.ring();
        below = w.ring.below + i.ring();
    } else {
        above = w.levels.above + i.before<level - 1>();
        own = w.levels.own + i.before<level - 1>();
        below = w.levels.below + i.before<level - 1>();
    }
#pragma unroll
    for (int r = 0; r < plan::low_y; ++r) {
        const int there = plan::lane_y - plan::low_y + r;
        Walk::read(above + (first ? there : tile::slot(there)) * row_bytes, row[r]);
    }
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r) {
        if constexpr (!first && plan::keep) {
#pragma unroll
            for (int e = 0; e < plan::lane_x; ++e)
                row[plan::low_y + r][plan::low_x + e] = s.newest[level - 1][r][e];
        } else {
            Walk::read(own + r * row_bytes, row[plan::low_y + r]);
        }
    }
#pragma unroll
    for (int r = 0; r < plan::high_y; ++r)
        Walk::read(below + (first ? r : tile::slot(r)) * row_bytes,
                   row[plan::low_y + plan::lane_y + r]);
#pragma unroll
    for (int r = 0; r < rows; ++r)
        if (plan::corners || (r >= plan::low_y && r < plan::low_y + plan::lane_y))
            Walk::extend(row[r]);
}

// Of a wave: the patch in the level before the one below, in the plane that begins to be summed.
template <int level>
__device__ __forceinline__ void read_older(const Walk &w, const Iteration &i, Patch &older) {
    int own;
    if constexpr (level == 1)
        own = w.ring.own + i.ring() + tile::older * element;
    else if constexpr (level == 2)
        own = w.ring.own + i.ring_before();
    else
        own = w.levels.own + i.now<level - 2>(); // made two turns before; not yet overwritten
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r) {
        Real row[columns];
        Walk::read(own + r * tile::width * element, row);
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e)
            older[r][e] = row[plan::low_x + e];
    }
}

// Adds a plane of the level below, the one of number `arrived`, and completes the one high_z
// before.
template <int level, Care care, Adds adds>
__device__ __forceinline__ void add_level(const Walk &w, State &s, const KeptBits &bits,
                                          const Rows &row, const Patch &older, int arrived,
                                          Patch &out) {
    using Kept = Where<care>;
    bool plane_kept[depth] = {}; // of the plane of each sum
    if constexpr (care == Care::all) {
#pragma unroll
        for (int k = 0; k <= plan::high_z; ++k)
            plane_kept[k] = keeps_at<2>(w.origin.z + arrived - plan::high_z + k, w.a.size[2],
                                        plan::low_z, plan::high_z);
    }
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e) {
            Real(&before)[held] = s.sum[level - 1][r][e];
            Real sum[1][depth];
#pragma unroll
            for (int k = 0; k + 1 < depth; ++k)
                sum[0][k] = before[k];
            sum[0][depth - 1] = 0;
            const AtRows<> at = {row, older, e, r};
            if constexpr (adds == Adds::images_too)
                add_row_and_images<(plan::carried > 1)>(at, AtRows<true, false>{row, older, e, r}, w.a,
                                                        w.origin.z + arrived, sum);
            else if constexpr (adds == Adds::level_before)
                add_plane(AtRows<false>{row, older, e, r}, w.a, sum);
            else
                add_plane(at, w.a, sum);
            Outputs result = {sum[0][0]};
            finish_sums(w.a, result);
            const bool by_column = (Kept::columns >> e & 1) != 0,
                       by_row = (Kept::rows >> r & 1) != 0;
            if (by_column || by_row) {
                const Real own = row[plan::low_y + r][plan::low_x + e];
                const bool point = (by_column && (bits.columns >> e & 1) != 0) ||
                                   (by_row && (bits.rows >> r & 1) != 0);
#pragma unroll
                for (int k = 0; k <= plan::high_z; ++k)
                    if (point || plane_kept[k])
                        (k == 0 ? result[0] : sum[0][k]) = k == plan::high_z ? own : before[k];
            }
            out[r][e] = result[0];
#pragma unroll
            for (int k = 0; k + 1 < depth; ++k)
                before[k] = sum[0][k + 1];
        }
}

// What a level has made: for the next one, which takes it after the barrier, or for memory.
template <int level>
__device__ __forceinline__ void pass_on(Walk &w, State &s, const Iteration &i, int completed,
                                        const Patch &out) {
    if constexpr (level == plan::time) {
        if (completed >= tile::halo_z)
            w.template put<Output<0>::grid>(out, w.to[0]);
    } else {
        if constexpr (plan::carried > 1 && level + 1 == plan::time)
            if (completed >= tile::halo_z && completed < w.loaded - plan::time * plan::high_z)
                w.template put<plan::second>(out, w.to[plan::carried - 1]);
        Real *const plane = shared_at(w.levels.own + i.now<level>());
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r)
            if (tile::stores(r))
                Walk::write<tile::lanes * tile::pack>(plane + tile::slot(r) * tile::width, out[r]);
        if constexpr (plan::keep) {
#pragma unroll
            for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
                for (int e = 0; e < plan::lane_x; ++e)
                    s.newest[level][r][e] = out[r][e];
        }
    }
}

// What a level takes.
template <int level, Care care>
__device__ __forceinline__ void take_level(const Walk &w, const State &s, const LevelTurns &turns,
                                           const KeptBits &bits, const Iteration &i, Rows &row,
                                           Patch &older) {
#if defined(PLAN_NARROW)
    if constexpr (level == 1)
        read_loaded(w, i, row);
    else
        read_rows<level>(w, s, i, row);
#else
    read_rows<level>(w, s, i, row);
#endif
    if (plan::images && care != Care::none) {
        copy_beyond_x<care>(bits, row);
        copy_beyond_y<care>(bits, row);
    }
    if constexpr (plan::carried > 1)
        read_older<level>(w, i, older);
    constexpr int before = plan::carried - 1; // planes: a wave's second level has read the one before
    if (level == plan::carried && i.number >= before)
        turns.leave(i.number - before);
}

// Compilers move no load before a store, so what waits for shared memory waits one after the other.
// Where registers suffice, a level's rows are read before the level above it stores, and planes
// from memory are asked for behind the first of them. Of stars in float that costs spills.
constexpr bool read_ahead = plan::corners || sizeof(Real) > 4;

// Whether the sides of x have loops of their own. Five loops have more values in local memory than three:
// 27 points in float, 768³, make 582 billion updates a second instead of 653 on an H200. In double the
// choices that both sides ask for take longer than that.
constexpr bool each_side = !plan::corners || sizeof(Real) > 4;

// The last level first: it takes what the one below made before, and that one then makes anew.
template <int level, Care care>
__device__ __forceinline__ void make_levels(Walk &w, State &s, const LevelTurns &turns,
                                            const KeptBits &bits, const Iteration &i,
                                            const Rows &row, const Patch &older) {
    const int arrived = i.number - (level - 1) * lag;
    Patch out;
    if constexpr (plan::images && (copies<2, 0> || copies<2, 1>) && care == Care::all) {
        const Index z = w.origin.z + arrived;
        if (plan::carried > 1 && copies<2, 0> && z < 0)
            add_level<level, care, Adds::level_before>(w, s, bits, row, older, arrived, out);
        else if (has_images<2>(z, w.a.size[2]))
            add_level<level, care, Adds::images_too>(w, s, bits, row, older, arrived, out);
        else
            add_level<level, care, Adds::itself>(w, s, bits, row, older, arrived, out);
    } else {
        add_level<level, care, Adds::itself>(w, s, bits, row, older, arrived, out);
    }
    if constexpr (level > 1) {
        Rows next;
        Patch next_older;
        if constexpr (read_ahead)
            take_level<level - 1, care>(w, s, turns, bits, i, next, next_older);
        pass_on<level>(w, s, i, arrived - plan::high_z, out);
        if constexpr (!read_ahead)
            take_level<level - 1, care>(w, s, turns, bits, i, next, next_older);
        make_levels<level - 1, care>(w, s, turns, bits, i, next, next_older);
    } else {
        pass_on<level>(w, s, i, arrived - plan::high_z, out);
    }
}

// All levels, from iteration i.number on until `until`. Warps of a block may be in different calls
// of this: a barrier counts who arrives, wherever that is.
template <Care care>
__device__ __forceinline__ void make_planes(Walk &w, State &s, LevelTurns &turns,
                                            Iteration &i, int until) {
    KeptBits bits = {};
    if constexpr (care != Care::none) {
        bits.columns = w.kept_columns();
        bits.rows = w.kept_rows();
        if (plan::images)
            w.place_images(bits);
    }
    while (i.number < until) {
        turns.await_plane(w, i.number);
        turns.await_neighbours(i.number);
        Rows row;
        Patch older;
        if constexpr (read_ahead)
            take_level<plan::time, care>(w, s, turns, bits, i, row, older);
        turns.copy_ahead(w, i.number, i.slot);
        if constexpr (!read_ahead)
            take_level<plan::time, care>(w, s, turns, bits, i, row, older);
        make_levels<plan::time, care>(w, s, turns, bits, i, row, older);
        turns.made(i.number);
        turns.end(w, i.number);
        ++i.number;
        i.slot = i.slot + 1 < plan::ring ? i.slot + 1 : 0;
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    Walk w(arguments);
    LevelTurns turns(w);
    State s = {};

    // From `first` to `end` no level meets a plane that is kept.
    constexpr int reach = (plan::time - 1) * lag + plan::high_z; // of the levels' planes
    const int iterations = w.loaded + plan::time - 1;
    const int first =
        wraps<2> ? 0
                 : int(min(Index(iterations), max(Index(0), plan::low_z - w.origin.z + reach)));
    const int end =
        wraps<2>
            ? iterations
            : int(min(Index(iterations), max(Index(first), w.a.size[2] - plan::high_z - (plan::images && mirrors<2, 1>) -
                                                         w.origin.z)));
    const Care care = w.care();
    Iteration i = {0, 0};
    do {
        const bool middle = wraps<2> || (i.number >= first && i.number < end);
        const int until = i.number < first ? first : middle ? end : iterations;
        if (middle && care == Care::none)
            make_planes<Care::none>(w, s, turns, i, until);
        else if (middle && each_side && care == Care::left)
            make_planes<Care::left>(w, s, turns, i, until);
        else if (middle && each_side && care == Care::right)
            make_planes<Care::right>(w, s, turns, i, until);
        else if (middle && care != Care::all)
            make_planes<Care::rim>(w, s, turns, i, until);
        else
            make_planes<Care::all>(w, s, turns, i, until);
    } while (i.number < iterations);
}
