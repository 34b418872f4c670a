// pipeline: several steps of a linear update of a 2D grid in one pass (temporal blocking). A block
// walks y with a strip of rows, and its warps are the stages of a pipeline in time: each makes
// `levels` steps in registers and hands the row on. A row lies across a warp, `lane` neighbouring
// points a thread; neighbours of x in other lanes come by shuffle.
//
//      grid --> [ring] --> warp 0: steps 1 to 4 --> [ring] --> warp 1: steps 5 to 8 --> ... --> grid
//
// A step keeps no rows but the sums of those not yet complete: the row that arrives adds to each row
// that reads it, from `walk_high` before it to `walk_low` after it, and the first of these is then
// complete, the next level's.
// A wave's step reads its point in the level before, too. Rings then hold two rows for each, and the last
// level but one is stored besides the last.
// The strip is loaded with a halo of time · reach columns. What is wrong at its rim moves inwards by the
// reach with each step, and never arrives at the points that are stored.
//
// Cells that keep their value for ever bound the grid: of `fixed` sides its outermost cells, of
// zero and constant ones those just outside. Those just outside of `clamp` and `mirror` sides are
// images of others. What lies further out is anything at all.
// Streaming through registers and keeping old values outside of what is valid follow K. Matsumura et
// al., AN5D: Automated Stencil Framework for High-Degree Temporal Blocking on GPUs (CGO 2020).
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/async.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "grid.cuh"
#include "images.cuh"
#include "strips.cuh"
#include "row_copies.cuh"
#include "row_loads.cuh"

// ---- a row through the levels of a stage -----------------------------------------------------

// A thread's points of a row and the neighbours that the shape reads.
struct Line {
    Real element[plan::low_x + points + plan::high_x];
    __device__ __forceinline__ explicit Line(const Real (&own)[points]) {
#pragma unroll
        for (int i = 0; i < plan::low_x; ++i)
            element[i] = shuffle_up(own[points - plan::low_x + i], 1);
#pragma unroll
        for (int i = 0; i < plan::high_x; ++i)
            element[plan::low_x + points + i] = shuffle_down(own[i], 1);
#pragma unroll
        for (int i = 0; i < points; ++i)
            element[plan::low_x + i] = own[i];
    }
};
// `before`: of the level before the row's, `above` rows further on. What is left out is zero.
template <bool has_row = true, bool has_before = true> struct AtLine {
    const Line &line;
    int point;
    Real before;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        static_assert(dy == 0 && dz == 0, "sums are added row by row");
        if constexpr (array > 0)
            return has_before ? before : Real(0);
        else
            return has_row ? line.element[plan::low_x + point + dx] : Real(0);
    }
};

// What goes from step to step: a row of a level, and of a wave one of the level before.
using Values = Real[plan::carried][points];

using Sums = Real[held > 0 ? held : 1][points];

// One step: `row` of the level before comes in as value[0], row - below of this level goes out.
// `side` and `ends`: cells of the strip, or rows, may be kept. A wave reads its point in the level
// before that one, too, in value[1]: row + above, which is the row whose sum begins with this step. That
// is the row which the step before took, since the shape reaches as far above as below.
template <bool side, bool ends, Adds adds>
__device__ __forceinline__ void step(const Arguments &a, const Strip &s, const Place &me, Index row,
                                     Sums &sums, Values &value) {
    Line line(value[0]);
    if (plan::images && side && copies<0, 0>)
        copy_columns<0, places_low>(line.element, me.first_cell);
    if (plan::images && side && copies<0, 1>)
        copy_columns<1, places_high>(line.element, me.last_cell);
    bool kept_row[below + 1];
#pragma unroll
    for (int k = 0; k <= below; ++k)
        kept_row[k] =
            ends && !endless<2> &&
            ((row - below + k < s.kept_to && !(plan::images && copies<2, 0>)) ||
             (row - below + k >= s.kept_from && !(plan::images && copies<2, 1>)));
#pragma unroll
    for (int p = 0; p < points; ++p) {
        Real sum[1][held + 1];
#pragma unroll
        for (int k = 0; k < held; ++k)
            sum[0][k] = sums[k][p];
        sum[0][held] = 0;
        const Real taken = value[0][p], before = value[plan::carried - 1][p];
        const AtLine<> at = {line, p, before};
        if constexpr (adds == Adds::images_too)
            add_row_and_images<(plan::carried > 1)>(at, AtLine<true, false>{line, p, before}, a, row, sum);
        else if constexpr (adds == Adds::level_before)
            add_plane(AtLine<false>{line, p, before}, a, sum);
        else if constexpr (adds == Adds::itself)
            add_plane(at, a, sum);
        bool kept_column = false;
        if (side && !endless<0> && kept_low(p) >= 0)
            kept_column |= me.low_lane == kept_low(p);
        if (side && !endless<0> && kept_high(p) >= 0)
            kept_column |= me.high_lane == kept_high(p);
#pragma unroll
        for (int k = 0; k <= below; ++k)
            if (kept_column || kept_row[k])
                sum[0][k] = k < below ? sums[k][p] : taken;
        Outputs out = {sum[0][0]};
        finish_sums(a, out);
        value[0][p] = kept_column || kept_row[0] ? sum[0][0] : out[0];
        if (plan::carried > 1)
            value[plan::carried - 1][p] = taken;
#pragma unroll
        for (int k = 0; k < held; ++k)
            sums[k][p] = sum[0][k + 1];
    }
}

template <bool side, bool ends>
__device__ __forceinline__ void all_steps(const Arguments &a, const Strip &s, const Place &me,
                                          Index row, Sums (&sums)[levels], Values &value) {
#pragma unroll
    for (int l = 0; l < levels; ++l) {
        const Index at = row - l * below;
        if constexpr (plan::images && ends && (copies<2, 0> || copies<2, 1>)) {
            // Few rows stand for others, and to ask for each point whether its row does takes long.
            if (copies<2, 1> && at >= a.size[2])
                step<side, ends, Adds::nothing>(a, s, me, at, sums[l], value);
            else if (plan::carried > 1 && copies<2, 0> && at < 0)
                step<side, ends, Adds::level_before>(a, s, me, at, sums[l], value);
            else if (has_images<2>(at, a.size[2]))
                step<side, ends, Adds::images_too>(a, s, me, at, sums[l], value);
            else
                step<side, ends, Adds::itself>(a, s, me, at, sums[l], value);
        } else {
            step<side, ends, Adds::itself>(a, s, me, at, sums[l], value);
        }
    }
}

// ---- the walk ---------------------------------------------------------------------------------

__device__ __forceinline__ void take_rows(SharedAt<Real> own, int r, Values &value) {
    take(own + r * width, value[0]);
    if constexpr (plan::carried > 1)
        take(own + (rows + r) * width, value[plan::carried - 1]);
}
#if defined(PLAN_SHIFTED)
// The turn's row r of an array that is loaded, of which rows of later turns have been asked for.
template <int array>
__device__ __forceinline__ int loaded_place(const Arguments &a, const Walk &g, int r) {
    return place_in_pack(g.from[array] -
                         (input_slots * rows - r) * a.grid[Array<array>::grid].stride_z);
}
__device__ __forceinline__ void take_shifted_rows(const Arguments &a, const Walk &g,
                                                  SharedAt<Real> own, int r, Values &value) {
    take_shifted(own + r * slot_row, loaded_place<0>(a, g, r), value[0]);
    if constexpr (plan::carried > 1)
        take_shifted(own + (rows + r) * slot_row, loaded_place<plan::carried - 1>(a, g, r),
                     value[plan::carried - 1]);
}
// To where the next turn stores it from.
__device__ __forceinline__ void hand_on_shifted_rows(const Arguments &a, const Walk &g,
                                                     SharedAt<Real> next, int r,
                                                     const Values &value) {
    hand_on_shifted(next + r * width,
                    place_in_pack(g.to[0] + r * a.grid[Output<0>::grid].stride_z), value[0]);
    if constexpr (plan::carried > 1)
        hand_on_shifted(
            next + (rows + r) * width,
            place_in_pack(g.to[plan::carried - 1] + r * a.grid[plan::second].stride_z),
            value[plan::carried - 1]);
}
#endif

enum class Kind { idle, plain, careful };

// The turns until `end`, all of one kind.
template <bool side, Kind kind>
__device__ __forceinline__ void take_turns(const Arguments &a, const Strip &s, const Place &me,
                                           Walk &g, Sums (&sums)[levels], int end) {
    constexpr int slot_size = plan::carried * rows * width;
    for (; g.turn < end; ++g.turn) {
        const int odd = g.turn & 1;
        SharedAt<Real> from = g.in + (1 - odd) * slot_size;
#if defined(PLAN_NARROW)
        SharedAt<Stored<Array<0>>> cells = g.loaded;
#endif
        const SharedAt<Real> to = g.out + odd * slot_size, made = g.out + (1 - odd) * slot_size;
        if (g.first) {
            const int emptied = g.slot == 0 ? input_slots - 1 : g.slot - 1;
            await_rows(g);
#if defined(PLAN_NARROW)
            cells = g.loaded + g.slot * loaded_size;
#else
            from = g.in + g.slot * loaded_size;
#endif
            load_turn<kind == Kind::plain>(a, s, g, g.turn + input_slots - 1, emptied);
            g.slot = g.slot + 1 == input_slots ? 0 : g.slot + 1;
        }
        if (g.last && g.turn >= g.store - earlier)
            store_turn(a, s, g, made);
        if constexpr (kind != Kind::idle) {
            const SharedAt<Real> own = from + me.lane * points, next = to + me.lane * points;
            const Index row =
                kind == Kind::plain ? 0 : s.begin + Index(g.turn) * rows - g.number * lag;
            // Rows one after the other need fewer registers, and no value moves from one to the next;
            // where arithmetic takes longer, loading the next row meanwhile gains more than that. Few
            // turns are careful, and their code is large.
#pragma unroll(kind == Kind::plain ? plan::at_once : 1)
            for (int r = 0; r < rows; ++r) {
                Values value;
#if defined(PLAN_NARROW)
                if (g.first)
                    take(cells + me.lane * points + r * width, value[0]);
                else
                    take_rows(own, r, value);
#elif defined(PLAN_SHIFTED)
                if (g.first)
                    take_shifted_rows(a, g, own, r, value);
                else
                    take_rows(own, r, value);
#else
                take_rows(own, r, value);
#endif
                if (side && g.first)
                    set_virtual(me, value[0]);
                if constexpr (kind == Kind::plain)
                    all_steps<side, false>(a, s, me, 0, sums, value);
                else
                    all_steps<true, true>(a, s, me, row + r, sums, value);
#if defined(PLAN_SHIFTED)
                if (g.last) {
                    hand_on_shifted_rows(a, g, next, r, value);
                    continue;
                }
#endif
                hand_on(next + r * width, value[0]);
                if constexpr (plan::carried > 1)
                    hand_on(next + (rows + r) * width, value[plan::carried - 1]);
            }
        }
#if defined(PLAN_BULK)
        if (g.last)
            row_is_written();
#endif
        __syncthreads(); // the rows of this turn are there, and those of the turn before read
    }
}

template <bool side>
__device__ __forceinline__ void walk(const Arguments &a, const Strip &s, SharedAt<Real> shared) {
    Place me;
    me.lane = pinned(lane());
    me.low_lane = pinned(s.low ? lane() : -1);
    me.high_lane = pinned(s.high ? lane() : -1);
    if (plan::images && copies<0, 0>)
        me.first_cell = s.low ? place_bit(plan::low_x + halo - lane() * points) : 0;
    if (plan::images && copies<0, 1>)
        me.last_cell =
            s.high ? place_bit(plan::low_x + halo + plan::tile_x - 1 - lane() * points) : 0;
    const int stages = blockDim.z;
    const Grid &from = a.grid[Array<0>::grid], &to = a.grid[Output<0>::grid];
#if defined(PLAN_NARROW)
    const SharedAt<Stored<Array<0>>> ring(
        reinterpret_cast<Stored<Array<0>> *>(shared_bytes() + plan::strip_bytes));
    Walk g{0, false, false, 0, 0, 0, 0, {}, {}, shared, shared, ring, 0};
#elif defined(PLAN_BULK)
    const RowSlots<input_slots> slots(shared_bytes() + plan::barriers);
    Walk g{0,  false, false, 0, 0, 0, 0, {}, {}, shared, shared, 0, slots, 0,
           s.y1 - s.y0 + earlier * rows, s.y1 - s.y0, s.size};
#else
    Walk g{0, false, false, 0, 0, 0, 0, {}, {}, shared, shared, 0};
#endif
    g.number = shuffle(static_cast<int>((threadIdx.z + blockIdx.x + blockIdx.z) % stages), 0);
    g.first = g.number == 0;
    g.last = g.number + 1 == stages;
    const bool over = spare > 0 || (s.outside && !endless<0>); // reads the rows before and after
    g.easy = endless<0> && a.size[0] < width ? 1 << 30 : turn_of(over - s.begin);
    g.easy_end = turn_of(a.size[2] - over - (rows - 1) - (plan::carried - 1) * above - s.begin);
    g.store = 1 + turn_of(s.y0 - s.begin + (stages - 1) * lag + levels * below);
    g.from[0] = from.data + s.begin * from.stride_z + s.x;
#if defined(PLAN_BULK)
    g.to[0] = to.data + (s.y0 - Index(earlier) * rows) * to.stride_z + s.x;
#else
    g.to[0] = to.data + s.y0 * to.stride_z + s.x;
#endif
    if constexpr (plan::carried > 1) {
        const Grid &prev = a.grid[Array<plan::carried - 1>::grid], &second = a.grid[plan::second];
        g.from[plan::carried - 1] = prev.data + (s.begin + above) * prev.stride_z + s.x;
        g.to[plan::carried - 1] =
            second.data + (s.y0 + below - Index(earlier) * rows) * second.stride_z + s.x;
    }
#if defined(PLAN_NARROW)
    constexpr int smaller = sizeof(Real) / sizeof(Stored<Array<0>>); // cells than numbers
    const SharedAt<Real> rings = shared + input_slots * loaded_size / smaller;
#else
    const SharedAt<Real> rings = shared + input_slots * loaded_size;
#endif
    constexpr int ring_size = 2 * plan::carried * rows * width;
    g.in = g.first ? shared : rings + (g.number - 1) * ring_size;
    g.out = rings + g.number * ring_size;
    if (g.first)
        for (int t = 0; t + 1 < input_slots; ++t)
            load_turn<false>(a, s, g, t, t);
    Sums sums[levels];
#pragma unroll
    for (int l = 0; l < levels; ++l)
#pragma unroll
        for (int k = 0; k < held; ++k)
#pragma unroll
            for (int p = 0; p < points; ++p)
                sums[l][k][p] = 0;

    // Turns whose rows matter to what is stored, and those of them where no row is kept.
    const int turns = g.store + turn_of(s.y1 - s.y0), left = (stages - g.number) * levels;
    const Index before = g.number * lag - s.begin;
    const int active = min(turn_of(s.y0 - left * above - (rows - 1) + before), turns);
    const int end = min(turn_of(s.y1 + left * below + before), turns);
    int plain = max(active, min(end, turn_of(s.kept_to + levels * below + before)));
    int plain_end = max(plain, min(end, turn_of(s.kept_from - (rows - 1) + before)));
#if defined(PLAN_BULK)
    // Plain turns of the first stage ask for rows that find memory wherever they reach.
    if (g.first) {
        plain = min(end, max(plain, g.easy - (input_slots - 1)));
        plain_end = max(plain, min(plain_end, g.easy_end - (input_slots - 1)));
    }
#endif
    take_turns<side, Kind::idle>(a, s, me, g, sums, active);
    take_turns<side, Kind::careful>(a, s, me, g, sums, plain);
    take_turns<side, Kind::plain>(a, s, me, g, sums, plain_end);
    take_turns<side, Kind::careful>(a, s, me, g, sums, end);
    take_turns<side, Kind::idle>(a, s, me, g, sums, turns);
#if defined(PLAN_BULK)
    // What was asked for arrives before the block ends: then its shared memory may be another's.
#pragma unroll 1
    for (int t = 0; g.first && t + 1 < input_slots; ++t) {
        await_rows(g);
        g.slot = g.slot + 1 == input_slots ? 0 : g.slot + 1;
    }
    if (g.last && me.lane == 0)
        row_stores_wait();
#endif
}

extern "C" __global__ void
    __launch_bounds__(plan::threads, plan::blocks)
        STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    // The strip, then the rings.
    Strip &strip = *reinterpret_cast<Strip *>(shared_bytes());
    static_assert(sizeof(Strip) <= plan::barriers, "room for it, and for mbarriers");
    if (threadIdx.x == 0 && threadIdx.z == 0) {
        strip = strip_of(arguments, blockDim.z);
#if defined(PLAN_BULK)
        RowSlots<input_slots>(shared_bytes() + plan::barriers).begin();
#endif
    }
    __syncthreads();
    const SharedAt<Real> rings(reinterpret_cast<Real *>(shared_bytes() + plan::strip_bytes));
    // No strip of a periodic axis lies at an edge. Kernels of doubles have both walks all the same: with one,
    // compilers keep weights in registers of lanes, of which a multiply-add then reads three, in half
    // as many cycles more (docs/notebook.md).
    if ((!endless<0> || sizeof(Real) > 4) && (strip.low || strip.high))
        walk<true>(arguments, strip, rings);
    else
        walk<false>(arguments, strip, rings);
}
