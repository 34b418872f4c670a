// chained in 2D, without barriers: stages of a system, one after the other in one pass. A warp has a
// strip of columns, `points` to a lane, and walks y. In each turn a row of every array arrives, and each
// stage makes the row that lies its lag behind. A lane keeps its columns' rows of all arrays and results:
//
//      turn n:   arrays --> [n n-1 n-2 ..] --> stage 0: row n - lag 0 --> [..] --> stage 1 ... --> grid
//                            registers                                    registers
//
// Neighbours along x come from other lanes, once for each row. Strips overlap by what all stages reach,
// so warps never wait for each other.
//
// A row beyond an end of the walk has the rule's value, or the last row's. A column beyond an end of x
// gets the rule's value, or that of the column which it repeats.
#include "arch/async.cuh"
#include "arch/memory.cuh"
#include "arch/quotients.cuh"
#include "arch/streaming.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "grid.cuh"
#include "chain_edges.cuh"
#include "walk_order.cuh"
#include "chain_strips.cuh"

// ---- arrays -----------------------------------------------------------------------------------

// Rows come through shared memory, where each lane keeps those that are on their way to it: its columns
// of all arrays, of `slots` turns. A lane waits for its own copies alone.
constexpr int slots = plan::ahead + 1;
constexpr int turn_elements = plan::arrays * columns; // of a warp

__device__ __forceinline__ SharedAt<Real> place_ring() {
    return SharedAt<Real>(reinterpret_cast<Real *>(shared_bytes()) + warp() * slots * turn_elements +
                          lane() * points);
}

// Begins to copy the row that arrives in a turn.
template <Path path, int array = 0>
__device__ __forceinline__ void copy_rows(const Arguments &a, const Strip &s, const Column &c,
                                          SharedAt<Real> slot, int turn) {
    if constexpr (array < plan::arrays) {
        const Grid &grid = a.grid[Array<array>::grid];
        const SharedAt<Real> to = slot + array * columns;
        const int row = turn - Ring<array>::lag;
        if (path == Path::edges) {
            if (row >= 0 && row < s.behind && in_grid(s, row)) {
                const Index z = plan::ring_z ? cell_for<2>(s.begin + row, a.size[2]) : s.begin + row;
#pragma unroll
                for (int k = 0; k < points; ++k)
                    PLAN_COPY<1>(to + k, grid.data + offset(grid, c.x[k], a.begin[1], z));
            }
        } else {
            const int from = max(min(row, s.behind - 1), 0);
            if (path == Path::packs)
                PLAN_COPY<points>(to, pack_of(grid.data, s, c, from)->element);
            else
#pragma unroll
                for (int k = 0; k < points; ++k)
                    PLAN_COPY<1>(to + k, grid.data + offset(grid, c.x[k], a.begin[1], s.begin + from));
        }
        copy_rows<path, array + 1>(a, s, c, slot, turn);
    } else {
        copies_commit();
    }
}
template <Path path, int array = 0>
__device__ __forceinline__ void take_rows(const Arguments &a, const Strip &s, const Column &c,
                                          SharedAt<Real> slot, AllRows &all, int turn) {
    if constexpr (array < plan::arrays) {
        if constexpr (array == 0)
            copies_wait<plan::ahead - 1>();
        const Pack<Real, points> pack = (slot + array * columns).template read<points>();
        put_row<array, path>(a, s, c, all, turn - Ring<array>::lag, pack.element);
        take_rows<path, array + 1>(a, s, c, slot, all, turn);
    }
}

// ---- a row of a stage -------------------------------------------------------------------------

// Parameters in registers, so that what an update computes of them alone is computed once.
struct Own {
    Real parameter[sizeof(Arguments::parameter) / sizeof(Real)];
#if defined(PLAN_POSITIONS)
    Index origin[3], global[3], step;
#endif
};
__device__ __forceinline__ Own copy_own(const Arguments &a) {
    Own own;
    copy_row(own.parameter, a.parameter);
#if defined(PLAN_POSITIONS)
    copy_row(own.origin, a.origin);
    copy_row(own.global, a.global);
    own.step = a.step;
#endif
    return own;
}

template <int stage, int point> struct AtStage {
    const Arguments &a;
    const Column &c;
    const AllRows &all;
    Index z;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return axis == 0 ? c.x[point] : axis == 1 ? Index(0) : is_ring<2> ? cell_for<2>(z, a.size[2]) : z;
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return of<source_of<stage, array>, dx, dz>();
    }
    template <int source, int dx, int dz> __device__ __forceinline__ Real of() const {
        constexpr int back = Stage<stage>::lag - Ring<source>::lag - dz;
        return rows_of<source>(all)[back][Ring<source>::low + point + dx];
    }
};

// Where row 0 of each output is stored.
struct Storing {
    Real *first[plan::outputs];
};
template <int output = 0>
__device__ __forceinline__ void begin_stores(const Arguments &a, const Strip &s, const Column &c,
                                             Storing &to) {
    if constexpr (output < plan::outputs) {
        const Grid &grid = a.grid[Output<output>::grid];
        to.first[output] = grid.data + offset(grid, s.x + c.at, a.begin[1], s.begin);
        begin_stores<output + 1>(a, s, c, to);
    }
}
template <Path path, int output>
__device__ __forceinline__ void store_row(const Arguments &a, const Strip &s, const Column &c,
                                          const Storing &to, int row, const Real (&value)[points]) {
    const bool stored = row >= s.first && row < s.end && c.at >= plan::halo_x;
    const Grid &grid = a.grid[Output<output>::grid];
    if (path == Path::packs) {
        if (stored && c.at < s.stored_end) {
            Pack<Real, points> pack;
#pragma unroll
            for (int k = 0; k < points; ++k)
                pack.element[k] = value[k];
            *pack_of(grid.data, s, c, row) = pack;
        }
    } else {
#pragma unroll
        for (int k = 0; k < points; ++k)
            if (stored && c.at + k < s.stored_end)
                store_once(to.first[output] + row * grid.stride_z + k, value[k]);
    }
}

#if PLAN_QUICK
template <int stage, int point = 0, class Numbers, int count>
__device__ __forceinline__ void make_points_by(Numbers &numbers, const Arguments &a, const Column &c,
                                               const Own &own, const AllRows &all, Index z,
                                               Real (&out)[points][count]) {
    if constexpr (point < points) {
        const By<Numbers, AtStage<stage, point>> at = {{a, c, all, z}, numbers};
        Stage<stage>::update(at, own, out[point]);
        make_points_by<stage, point + 1>(numbers, a, c, own, all, z, out);
    }
}
template <int stage, Path path, int count>
__device__ __forceinline__ void make_points(const Arguments &a, const Column &c, const Own &own,
                                            const AllRows &all, Index z, Real (&out)[points][count]) {
    Exact exact;
    if (path == Path::packs) {
        Quick quick;
        make_points_by<stage>(quick, a, c, own, all, z, out);
        if (!quick.odd)
            return;
    }
    make_points_by<stage>(exact, a, c, own, all, z, out);
}
#else
template <int stage, Path path, int point = 0, int count>
__device__ __forceinline__ void make_points(const Arguments &a, const Column &c, const Own &own,
                                            const AllRows &all, Index z, Real (&out)[points][count]) {
    if constexpr (point < points) {
        const AtStage<stage, point> at = {a, c, all, z};
        Stage<stage>::update(at, own, out[point]);
        make_points<stage, path, point + 1>(a, c, own, all, z, out);
    }
}
#endif

// What a fixed boundary keeps instead.
template <int stage, int result, int point = 0>
__device__ __forceinline__ void keep_points(const Arguments &a, const Column &c, const AllRows &all,
                                            bool keeps_row, Real (&value)[points]) {
    if constexpr (point < points) {
        using S = Stage<stage>;
        using R = Result<stage, result>;
        if (keeps_row || (S::keeps_low_x > 0 && c.x[point] < S::keeps_low_x) ||
            (S::keeps_high_x > 0 && c.x[point] >= a.size[0] - S::keeps_high_x)) {
            if constexpr (R::old >= 0)
                value[point] = AtStage<stage, point>{a, c, all, 0}.template of<R::old, 0, 0>();
            else
                value[point] = 0;
        }
        keep_points<stage, result, point + 1>(a, c, all, keeps_row, value);
    }
}

template <Path path, int stage, int result, int count>
__device__ __forceinline__ void hand_on(const Arguments &a, const Strip &s, const Column &c,
                                        const Storing &to, int row, AllRows &all,
                                        const Real (&out)[points][count]) {
    if constexpr (result < count) {
        using S = Stage<stage>;
        using R = Result<stage, result>;
        Real value[points];
#pragma unroll
        for (int k = 0; k < points; ++k)
            value[k] = out[k][result];
        if (path == Path::edges)
            keep_points<stage, result>(a, c, all,
                                       (S::keeps_low_z > 0 && row < s.zero + S::keeps_low_z) ||
                                           (S::keeps_high_z > 0 && row >= s.size - S::keeps_high_z),
                                       value);
        if constexpr (R::output >= 0)
            store_row<path, R::output>(a, s, c, to, row, value);
        if constexpr (R::makes >= 0)
            put_row<R::makes, path>(a, s, c, all, row, value);
        hand_on<path, stage, result + 1>(a, s, c, to, row, all, out);
    }
}

// A row that no stage makes: beyond an end of the walk, or too far from what is stored.
template <int stage, int result = 0>
__device__ __forceinline__ void pass_row(const Arguments &a, const Strip &s, const Column &c,
                                         AllRows &all, int row) {
    if constexpr (result < Stage<stage>::results) {
        const Real nothing[points] = {};
        if constexpr (Result<stage, result>::makes >= 0)
            put_row<Result<stage, result>::makes, Path::edges>(a, s, c, all, row, nothing);
        pass_row<stage, result + 1>(a, s, c, all, row);
    }
}

template <Path path, int stage = 0>
__device__ __forceinline__ void make_stages(const Arguments &a, const Strip &s, const Column &c,
                                            const Own &own, const Storing &to, AllRows &all,
                                            int turn) {
    if constexpr (stage < plan::stages) {
        using S = Stage<stage>;
        const int row = turn - S::lag;
        if (path == Path::edges && !in_grid(s, row)) {
            pass_row<stage>(a, s, c, all, row);
        } else {
            Real out[points][S::results];
            make_points<stage, path>(a, c, own, all, s.begin + row, out);
            hand_on<path, stage, 0>(a, s, c, to, row, all, out);
        }
        make_stages<path, stage + 1>(a, s, c, own, to, all, turn);
    }
}

// Turns are made a ring's slots at a time, so that rows need not be moved and slots are known.
template <Path path> constexpr int together = path == Path::packs ? slots : 1;

template <Path path>
__device__ __forceinline__ void walk(const Arguments &a, const Strip &s) {
    const Column c = place_columns(a, s);
    const SharedAt<Real> ring = place_ring();
    AllRows all;
    begin_rows(a, all);
#pragma unroll
    for (int turn = 0; turn < plan::ahead; ++turn)
        copy_rows<path>(a, s, c, ring + turn * turn_elements, turn);
    Storing to;
    begin_stores(a, s, c, to);
    const Own own = copy_own(a);
    const int turns = s.end + plan::turns;
#pragma unroll 1
    for (int begin = 0; begin < turns; begin += together<path>) {
#pragma unroll
        for (int k = 0; k < together<path>; ++k) {
            const int turn = begin + k, slot = together<path> == slots ? k : turn % slots;
            age_rows(all);
            take_rows<path>(a, s, c, ring + slot * turn_elements, all, turn);
            copy_rows<path>(a, s, c, ring + (slot + plan::ahead) % slots * turn_elements,
                            turn + plan::ahead);
            make_stages<path>(a, s, c, own, to, all, turn);
        }
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments a) {
    const Index number = Index(blockIdx.x) * (plan::threads / warp_size) + warp();
    const Strip s = place_strip(a, number);
    if (s.x + plan::halo_x >= a.end[0])
        return;
    if (!s.inside)
        walk<Path::edges>(a, s);
    else if (s.packed)
        walk<Path::packs>(a, s);
    else
        walk<Path::singles>(a, s);
}
