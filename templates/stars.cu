// stars: many time steps a pass in 3D, of shapes that reach h points along the axes and nowhere
// else. A block walks z over a tile with a halo for all its steps. In each turn a plane arrives
// from memory, and falls through all levels of time:
//
//      z →        ring of planes from memory  →  level 1  →  level 2  …  →  level T  →  memory
//                 plane n                        n - h       n - 2 h        n - T h
//
// Of the plane below, a level takes in the same turn what its points need along z, which lies in
// their own column: the thread has just made it. What they need along x and y, of the level's own
// plane, it takes a turn later, when other threads' rows are there. So a sum begins below its
// point, goes on in the point's plane, and ends above it, and a level keeps 2 h values of a point:
//
//      sum[0 … 2 h - 2]   of the planes from h - 1 before the latest one below, on
//      newest             the latest plane below
//
// A thread holds a patch of points:
//
//        rows above the patch      shared memory: what threads above stored the turn before
//      l [ lane_x × lane_y ] r     registers; l, r: the neighbouring lanes, by shuffle
//        rows below the patch      shared memory
//
// Every sum takes its rows from above to below, wherever in its patch the point lies: a cell has
// the same bytes in all tiles. With PLAN_APART a warp waits for the planes and for the
// warps next to it alone, and sums its own rows before it waits (turns.cuh); else all threads copy
// planes and meet once a turn.
//
// Cells that a boundary keeps never change: they are selected, and shield what lies beyond them,
// which is garbage. So are the tile's outermost points, by h more with each level.
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

constexpr int reach = plan::high_z;  // h, to all sides
constexpr int held = 2 * reach - 1;  // sums of a point between turns
constexpr int own_plane = reach - 1; // the one of the plane that arrived before

using StarTurns = Turns<2>; // the plane before is read, too

struct State {
    Real sum[plan::time][plan::lane_y][plan::lane_x][held];
    Patch newest[plan::time]; // of the level below
};

// Where the rows of a level's plane lie that was made in a turn, levels from 1 on.
__device__ __forceinline__ int level_at(int first, int level, int turn) {
    return first + (2 * (level - 1) + (turn & 1)) * tile::level_plane * element;
}

// ---- sums ----------------------------------------------------------------------------------

__device__ __forceinline__ Real fused(Real a, Real b, Real sum) {
    if constexpr (sizeof(Real) == 4)
        return fmaf(a, b, sum);
    else
        return fma(a, b, sum);
}

template <int dx, int dy, int dz>
__device__ __forceinline__ void gain(const Arguments &a, Real &sum, Real value) {
    if constexpr (Tap<dx, dy, dz>::is)
        sum = fused(Tap<dx, dy, dz>::weight(a), value, sum);
}

// What a point gains of its row of the plane, from its left to its right.
template <int dx = -reach>
__device__ __forceinline__ void add_row(const Arguments &a, const Real (&row)[columns], int x,
                                        Real &sum) {
    gain<dx, 0, 0>(a, sum, row[reach + x + dx]);
    if constexpr (dx < reach)
        add_row<dx + 1>(a, row, x, sum);
}

// When a point gains what lies above and below its own row: of the rows that the thread has, before the
// others are there, as many as come first; then the rest. Where rows stand for others, all of it then.
enum class When { early, late, all_late, never };
template <Care care> constexpr When early_part = has_row_images<care> ? When::never : When::early;
template <Care care> constexpr When late_part = has_row_images<care> ? When::all_late : When::late;

// What a point of row y of the patch gains of the rows above and below its own.
template <When when, int dy = -reach>
__device__ __forceinline__ void add_column(const Arguments &a, const Rows &row, int x, int y,
                                           Real &sum) {
    const bool late = y < reach || y + dy >= plan::lane_y;
    if (dy != 0 && (when == When::all_late || when == (late ? When::late : When::early)))
        gain<0, dy, 0>(a, sum, row[reach + y + dy][reach + x]);
    if constexpr (dy < reach)
        add_column<when, dy + 1>(a, row, x, y, sum);
}

// A thread's own rows of the plane that the level below made in the turn before.
__device__ __forceinline__ void take_own(const Patch &own, Rows &row) {
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e)
            row[reach + r][reach + e] = own[r][e];
}

// A level's sums of that plane: of the thread's own rows.
template <int level, Care care>
__device__ __forceinline__ void add_own(const Arguments &a, State &s, const KeptBits &bits) {
    Rows row;
    take_own(s.newest[level - 1], row);
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
        Walk::extend(row[reach + r]);
    if (plan::images && care != Care::none)
        copy_beyond_x<care>(bits, row);
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e) {
            Real &sum = s.sum[level - 1][r][e][own_plane];
            add_row(a, row[reach + r], e, sum);
            add_column<early_part<care>>(a, row, e, r, sum);
        }
}

// And of the rows of others: of the ring's plane before, or of a level.
template <int level, Care care>
__device__ __forceinline__ void add_rims(const Walk &w, State &s, const KeptBits &bits, int turn) {
    constexpr int row_bytes = tile::width * element;
    int up, down;
    if constexpr (level == 1) {
        const int plane = slot_of(turn - 1) * tile::plane * element;
        up = w.ring.above + plane;
        down = w.ring.below + plane;
    } else {
        up = level_at(w.levels.above, level - 1, turn - 1);
        down = level_at(w.levels.below, level - 1, turn - 1);
    }
    Rows row;
    take_own(s.newest[level - 1], row);
#pragma unroll
    for (int r = 0; r < reach; ++r) {
        const int there = plan::lane_y - reach + r;
        Walk::read(up + (level == 1 ? there : tile::slot(there)) * row_bytes, row[r]);
        Walk::read(down + (level == 1 ? r : tile::slot(r)) * row_bytes,
                   row[reach + plan::lane_y + r]);
    }
    if (plan::images && care != Care::none)
        copy_beyond_y<care>(bits, row);
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e)
            add_column<late_part<care>>(w.a, row, e, r, s.sum[level - 1][r][e][own_plane]);
}

// What a point gains along z: of the plane that arrives, and of the one before, with which the sum
// of the plane reach - 1 after the one that arrives begins. sums[k] is of the plane reach - k
// before that.
template <int k = 0>
__device__ __forceinline__ void add_planes(const Arguments &a, Real arrived, Real before,
                                           Real (&sums)[held + 1]) {
    if constexpr (k < reach)
        gain<0, 0, reach - k>(a, sums[k], arrived);
    else if constexpr (k < held)
        gain<0, 0, reach - 1 - k>(a, sums[k], before);
    else if constexpr (Tap<0, 0, -reach>::is)
        sums[k] = Tap<0, 0, -reach>::weight(a) * before;
    else
        sums[k] = 0;
    if constexpr (k < held)
        add_planes<k + 1>(a, arrived, before, sums);
}

// Adds a plane of the level below, the one of number `arrived`, and completes the one `reach`
// before, which takes its place.
template <int level, Care care>
__device__ __forceinline__ void add_plane_above(const Walk &w, State &s, const KeptBits &bits,
                                                int arrived, Patch &plane) {
    using Kept = Where<care>;
    bool plane_kept[reach] = {}; // of the plane of each sum
    if constexpr (care == Care::all) {
#pragma unroll
        for (int k = 0; k < reach; ++k)
            plane_kept[k] =
                keeps_at<2>(w.origin.z + arrived - reach + k, w.a.size[2], reach, reach);
    }
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e) {
            Real(&sum)[held] = s.sum[level - 1][r][e];
            const Real before = s.newest[level - 1][r][e], newest = plane[r][e];
            Real sums[held + 1], kept[reach];
#pragma unroll
            for (int k = 0; k < held; ++k)
                sums[k] = sum[k];
#pragma unroll
            for (int k = 0; k < reach; ++k)
                kept[k] = k == own_plane ? before : sum[k];
            add_planes(w.a, newest, before, sums);
            Outputs result = {sums[0]};
            finish_sums(w.a, result);
            const bool by_column = (Kept::columns >> e & 1) != 0,
                       by_row = (Kept::rows >> r & 1) != 0;
            if (by_column || by_row) {
                const bool point = (by_column && (bits.columns >> e & 1) != 0) ||
                                   (by_row && (bits.rows >> r & 1) != 0);
#pragma unroll
                for (int k = 0; k < reach; ++k)
                    if (point || plane_kept[k])
                        (k == 0 ? result[0] : sums[k]) = kept[k];
            }
            plane[r][e] = result[0];
#pragma unroll
            for (int k = 0; k < held; ++k)
                sum[k] = sums[k + 1];
            s.newest[level - 1][r][e] = newest;
        }
}

// ---- planes that stand for others ----------------------------------------------------------

constexpr bool has_plane_images = plan::images && (copies<2, 0> || copies<2, 1>);

// What a point's column gains by an image, `k` planes beyond an end of it: sum[at] is that of the plane at
// the end, and the sums of planes further inside follow it (side 0) or come before it.
template <int side, int k, int at, int inside = 0>
__device__ __forceinline__ void gain_image(const Arguments &a, Real (&sum)[held], Real value) {
    if constexpr (k + inside <= reach) {
        constexpr int sign = side == 0 ? 1 : -1;
        gain<0, 0, -sign * (k + inside)>(a, sum[at + sign * inside], value);
        gain_image<side, k, at, inside + 1>(a, sum, value);
    }
}

// Adds the images of a plane, which lies so far inwards from its end. What a side of x or y keeps has its
// own value among the sums.
template <int side, int level, int k>
__device__ __forceinline__ void add_images_of(const Arguments &a, State &s, const KeptBits &bits,
                                              Index inwards, const Patch &plane) {
    if constexpr (k <= reach) {
        constexpr int at = side == 1 ? reach - 2 + k : mirrors<2, 0> ? reach - k : reach;
        if (inwards == (mirrors<2, side> ? k : 0)) {
#pragma unroll
            for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
                for (int e = 0; e < plan::lane_x; ++e)
                    if (!(bits.columns >> e & 1) && !(bits.rows >> r & 1))
                        gain_image<side, k, at>(a, s.sum[level - 1][r][e], plane[r][e]);
        }
        add_images_of<side, level, k + 1>(a, s, bits, inwards, plane);
    }
}

__device__ __forceinline__ void set_patch(Patch &to, const Patch &from, bool to_zero) {
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e)
            to[r][e] = to_zero ? Real(0) : from[r][e];
}

// As add_plane_above, near an end of z. Sums that began before the first plane begin anew with it. The
// plane next to a `clamp` side is the one that arrives, or has arrived, again; other images are added when
// the plane that they are images of arrives, and behind the last plane a turn later.
template <int level>
__device__ __forceinline__ void add_with_images(const Walk &w, State &s, const KeptBits &bits,
                                                int arrived, Patch &plane) {
    const Index z = w.origin.z + arrived, behind = w.a.size[2] - z;
    Patch &newest = s.newest[level - 1], before;
    if (copies<2, 0> && z == 0) {
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
            for (int e = 0; e < plan::lane_x; ++e)
#pragma unroll
                for (int k = 0; k < held; ++k)
                    s.sum[level - 1][r][e][k] = 0;
        set_patch(newest, plane, mirrors<2, 0>);
    }
    if constexpr (copies<2, 0>)
        add_images_of<0, level, mirrors<2, 0> ? 1 : 2>(w.a, s, bits, z, plane);
    if (copies<2, 1> && behind <= 0)
        set_patch(plane, newest, mirrors<2, 1>);
    set_patch(before, newest, false);
    add_plane_above<level, Care::all>(w, s, bits, arrived, plane);
    if constexpr (mirrors<2, 1>)
        add_images_of<1, level, 1>(w.a, s, bits, behind, before);
}

// ---- a turn --------------------------------------------------------------------------------

template <int level, Care care>
__device__ __forceinline__ void add_all_own(const Arguments &a, State &s, const KeptBits &bits) {
    add_own<level, care>(a, s, bits);
    if constexpr (level > 1)
        add_all_own<level - 1, care>(a, s, bits);
}
template <int level, Care care>
__device__ __forceinline__ void add_all_rims(const Walk &w, State &s, const KeptBits &bits,
                                             int turn) {
    if constexpr (level > 1) {
        add_rims<level, care>(w, s, bits, turn);
        add_all_rims<level - 1, care>(w, s, bits, turn);
    }
}

// Takes the plane through the levels, and stores of each the rows that neighbours read.
template <int level, Care care>
__device__ __forceinline__ void make_levels(const Walk &w, State &s, const KeptBits &bits, int turn,
                                            Patch &plane) {
    const int arrived = turn - (level - 1) * reach;
    if constexpr (has_plane_images && care == Care::all)
        add_with_images<level>(w, s, bits, arrived, plane);
    else
        add_plane_above<level, care>(w, s, bits, arrived, plane);
    if constexpr (level < plan::time) {
        Real *const to = shared_at(level_at(w.levels.own, level, turn));
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r)
            if (tile::stores(r))
                Walk::write<tile::lanes * tile::pack>(to + tile::slot(r) * tile::width, plane[r]);
        make_levels<level + 1, care>(w, s, bits, turn, plane);
    }
}

// Turns from `turn` to `until`. Warps of a block may be in different calls of this.
template <Care care>
__device__ __forceinline__ void make_planes(Walk &w, State &s, StarTurns &turns, int &turn,
                                            int until) {
    KeptBits bits = {};
    if constexpr (care != Care::none) {
        bits.columns = w.kept_columns();
        bits.rows = w.kept_rows();
        if (plan::images)
            w.place_images(bits);
    }
#pragma unroll 1
    while (turn < until) {
        add_all_own<plan::time, care>(w.a, s, bits);
        if (turn > 0) {
            add_rims<1, care>(w, s, bits, turn);
            turns.leave(turn - 1);
        }
        turns.await_plane(w, turn);
        turns.copy_ahead(w, turn, slot_of(turn));
        Patch plane;
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r) {
            Real row[columns];
            Walk::read(w.ring.own + (slot_of(turn) * tile::plane + r * tile::width) * element,
                       row);
#pragma unroll
            for (int e = 0; e < plan::lane_x; ++e)
                plane[r][e] = row[reach + e];
        }
        turns.await_neighbours(turn);
        add_all_rims<plan::time, care>(w, s, bits, turn);
        make_levels<1, care>(w, s, bits, turn, plane);
        turns.made(turn);
        if (turn >= 2 * tile::halo_z)
            w.template put<Output<0>::grid>(plane, w.to[0]);
        turns.end(w, turn);
        ++turn;
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    Walk w(arguments);
    StarTurns turns(w);
    State s = {};

    // From `first` to `end` no level meets a plane that is kept.
    const int count = w.loaded;
    const int first =
        wraps<2> ? 0 : int(min(Index(count), max(Index(0), reach - w.origin.z + plan::time * reach)));
    const int end =
        wraps<2> ? count : int(min(Index(count), max(Index(first), w.a.size[2] - reach - w.origin.z)));
    const Care care = w.care();
    int turn = 0;
    do {
        const bool middle = wraps<2> || (turn >= first && turn < end);
        const int until = turn < first ? first : middle ? end : count;
        if (middle && care == Care::none)
            make_planes<Care::none>(w, s, turns, turn, until);
        else if (middle && care == Care::left)
            make_planes<Care::left>(w, s, turns, turn, until);
        else if (middle && care == Care::right)
            make_planes<Care::right>(w, s, turns, turn, until);
        else if (middle && care == Care::rim)
            make_planes<Care::rim>(w, s, turns, turn, until);
        else
            make_planes<Care::all>(w, s, turns, turn, until);
    } while (turn < count);
}
