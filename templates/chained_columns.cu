// chained in 2D: stages of a system, one after the other in one pass. A block walks y; each thread has a
// column of the tile or of its halo. In each turn a row of every array arrives, and each stage makes the
// row that lies its lag behind. A thread keeps its own column's rows of all arrays and results:
//
//      turn n:   arrays --> [n n-1 n-2 ..] --> stage 0: row n - lag 0 --> [..] --> stage 1 ... --> grid
//                            registers                                    registers
//
// Neighbours along x come through shared memory: threads put there the rows that others read in this
// turn. There are two such places, which turns take in turn, so one barrier a turn is enough.
//
// A row beyond an end of the walk has the rule's value, or the last row's. A column beyond an end of x
// makes the same as the one that it repeats; a rule's value is put where others read it.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/streaming.cuh"
#include "plan.h"
#include "grid.cuh"
#include "chain_edges.cuh"
#include "chain_blocks.cuh"

// ---- columns --------------------------------------------------------------------------------

// Rows are counted from the first that arrives.
struct Walk {
    int zero, size; // the grid's first row, and its end
    int first, end; // those that are stored
};
__device__ __forceinline__ Walk place_walk(const Block &b) {
    constexpr Index far = 1 << 30;
    return {int(max(-b.begin, -far)), int(min(b.size_z - b.begin, far)), int(b.z - b.begin),
            int(b.end - b.begin)};
}
__device__ __forceinline__ bool in_grid(const Walk &w, int row) {
    return plan::ring_z || (row >= w.zero && row < w.size);
}

// `steady`: a turn in which all arrays have a next row, and all stages make a row that is stored, away
// from the ends of the walk. Several such turns are made at once, so that rows need not be moved.
constexpr int together = 4;

// The rows of a source in the thread's column: the newest first.
template <int source> struct Rows : Rows<source + 1> {
    Real row[Ring<source>::depth];
};
template <> struct Rows<plan::sources> {};
using AllRows = Rows<0>;

template <int source> __device__ __forceinline__ auto &rows_of(AllRows &all) {
    return static_cast<Rows<source> &>(all).row;
}
template <int source> __device__ __forceinline__ const auto &rows_of(const AllRows &all) {
    return static_cast<const Rows<source> &>(all).row;
}

// Before the walk: what lies below the grid, where a rule gives it.
template <int source = 0> __device__ __forceinline__ void begin_rows(const Arguments &a, AllRows &all) {
    if constexpr (source < plan::sources) {
#pragma unroll
        for (int k = 0; k < Ring<source>::depth; ++k)
            rows_of<source>(all)[k] = gives<source, 2, 0> ? Rule<source, 2, 0>::beyond(a) : Real(0);
        begin_rows<source + 1>(a, all);
    }
}

// The newest rows become older ones, and stay the newest until others take their places.
template <int source = 0> __device__ __forceinline__ void age_rows(AllRows &all) {
    if constexpr (source < plan::sources) {
#pragma unroll
        for (int k = Ring<source>::depth - 1; k > 0; --k)
            rows_of<source>(all)[k] = rows_of<source>(all)[k - 1];
        age_rows<source + 1>(all);
    }
}

// A row arrives, which may lie beyond an end of the walk.
template <int source, bool steady>
__device__ __forceinline__ void put_row(const Arguments &a, const Walk &w, AllRows &all, int row,
                                        Real value) {
    auto &rows = rows_of<source>(all);
    if (steady || in_grid(w, row))
        rows[0] = value;
    else if (gives<source, 2, 1> && row >= w.size)
        rows[0] = Rule<source, 2, 1>::beyond(a);
    if (!steady && Rule<source, 2, 0>::kind == Boundary::clamp && row == w.zero) {
#pragma unroll
        for (int k = 1; k < Ring<source>::depth; ++k)
            rows[k] = value;
    }
}

// ---- arrays ---------------------------------------------------------------------------------

// The rows of all arrays that arrive in the next turn, and where they lie.
struct Arriving {
    Real value[plan::arrays > 0 ? plan::arrays : 1];
    const Real *from[plan::arrays > 0 ? plan::arrays : 1];
};

// Loads the row that arrives in a turn.
template <bool steady, int array = 0>
__device__ __forceinline__ void load_rows(const Arguments &a, const Block &b, const Walk &w,
                                          const Column &c, Arriving &next, int turn) {
    if constexpr (array < plan::arrays) {
        const Grid &grid = a.grid[Array<array>::grid];
        const int row = turn - Ring<array>::lag, end = w.end + plan::behind;
        if constexpr (plan::ring_z) {
            if (steady || row < end)
                next.value[array] =
                    load(grid.data + offset(grid, c.x, c.y, cell_for<2>(b.begin + row, b.size_z)));
        } else if (steady || (row >= 0 && row < min(end, w.size))) {
            next.value[array] = load(next.from[array]);
            if (steady || row + plan::ahead < min(end, w.size))
                fetch(next.from[array] + plan::ahead * grid.stride_z);
            next.from[array] += grid.stride_z;
        }
        load_rows<steady, array + 1>(a, b, w, c, next, turn);
    }
}
template <int array = 0>
__device__ __forceinline__ void begin_loads(const Arguments &a, const Block &b, const Column &c,
                                            Arriving &next) {
    if constexpr (array < plan::arrays) {
        const Grid &grid = a.grid[Array<array>::grid];
        next.value[array] = 0;
        next.from[array] =
            grid.data + offset(grid, c.x, c.y, plan::ring_z ? Index(0) : b.begin);
        begin_loads<array + 1>(a, b, c, next);
    }
}
template <bool steady, int array = 0>
__device__ __forceinline__ void take_rows(const Arguments &a, const Walk &w, const Arriving &next,
                                          AllRows &all, int turn) {
    if constexpr (array < plan::arrays) {
        put_row<array, steady>(a, w, all, turn - Ring<array>::lag, next.value[array]);
        take_rows<steady, array + 1>(a, w, next, all, turn);
    }
}

// ---- what threads read of each other's columns ------------------------------------------------

__device__ __forceinline__ Real *shared_rows(int turn) {
    return reinterpret_cast<Real *>(shared_bytes()) + (turn & 1) * plan::exchanges * plan::threads;
}
template <int exchange = 0>
__device__ __forceinline__ void put_exchanges(const Arguments &a, const Block &b, const Column &c,
                                              const AllRows &all, Real *to) {
    if constexpr (exchange < plan::exchanges) {
        using E = Exchange<exchange>;
        Real value = rows_of<E::source>(all)[E::back];
        if (b.rim)
            value_beyond<E::source>(a, c, value);
        to[exchange * plan::threads + c.at] = value;
        put_exchanges<exchange + 1>(a, b, c, all, to);
    }
}

template <int stage> struct AtStage {
    const Arguments &a;
    const Column &c;
    const AllRows &all;
    const Real *shared; // of the column whose values this one makes
    Index z;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return axis == 0 ? c.x : axis == 1 ? c.y : is_ring<2> ? cell_for<2>(z, a.size[2]) : z;
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return of<source_of<stage, array>, dx, dz>();
    }
    template <int source, int dx, int dz> __device__ __forceinline__ Real of() const {
        constexpr int back = Stage<stage>::lag - Ring<source>::lag - dz;
        if constexpr (dx == 0)
            return rows_of<source>(all)[back];
        else
            return shared[exchange_of<source, back> * plan::threads + dx];
    }
};

// ---- a row of a stage -----------------------------------------------------------------------

// Where outputs are stored: in the row that the last stage's lag leads to.
struct Storing {
    Real *to[plan::outputs];
};
template <int stage = 0, int result = 0>
__device__ __forceinline__ void begin_stores(const Arguments &a, const Block &b, const Column &c,
                                             Storing &s) {
    if constexpr (stage < plan::stages) {
        if constexpr (result < Stage<stage>::results) {
            constexpr int output = Result<stage, result>::output;
            if constexpr (output >= 0) {
                const Grid &grid = a.grid[Output<output>::grid];
                s.to[output] = grid.data + offset(grid, c.x, c.y, b.z);
            }
            begin_stores<stage, result + 1>(a, b, c, s);
        } else {
            begin_stores<stage + 1, 0>(a, b, c, s);
        }
    }
}

template <bool steady, int stage, int result, class At, int count>
__device__ __forceinline__ void hand_on(const At &at, const Walk &w, Storing &s, int row, bool keeps,
                                        AllRows &all, const Real (&out)[count]) {
    if constexpr (result < count) {
        using R = Result<stage, result>;
        Real value = out[result];
        if (keeps) {
            if constexpr (R::old >= 0)
                value = at.template of<R::old, 0, 0>();
            else
                value = 0;
        }
        if constexpr (R::output >= 0)
            if (steady || (row >= w.first && row < w.end)) {
                if (at.c.stored)
                    store_once(s.to[R::output], value);
                s.to[R::output] += at.a.grid[Output<R::output>::grid].stride_z;
            }
        if constexpr (R::makes >= 0)
            put_row<R::makes, steady>(at.a, w, all, row, value);
        hand_on<steady, stage, result + 1>(at, w, s, row, keeps, all, out);
    }
}

// What lies beyond an end of the walk.
template <int stage, int result = 0>
__device__ __forceinline__ void pass_end(const Arguments &a, const Walk &w, AllRows &all, int row) {
    if constexpr (result < Stage<stage>::results) {
        if constexpr (Result<stage, result>::makes >= 0)
            put_row<Result<stage, result>::makes, false>(a, w, all, row, 0);
        pass_end<stage, result + 1>(a, w, all, row);
    }
}

template <bool steady, int stage = 0>
__device__ __forceinline__ void make_stages(const Arguments &a, const Block &b, const Walk &w,
                                            const Column &c, Storing &s, AllRows &all,
                                            const Real *shared, int turn) {
    if constexpr (stage < plan::stages) {
        using S = Stage<stage>;
        const int row = turn - S::lag;
        if (!steady && !in_grid(w, row)) {
            pass_end<stage>(a, w, all, row);
        } else if (steady || (row >= w.first - S::before && row < w.end + S::behind)) {
            constexpr bool keeps_some = S::keeps_low_x + S::keeps_high_x > 0;
            const bool keeps = (S::keeps_low_z > 0 && row < w.zero + S::keeps_low_z) ||
                               (S::keeps_high_z > 0 && row >= w.size - S::keeps_high_z) ||
                               (keeps_some && (c.kept >> stage & 1) != 0);
            if ((c.made >> stage & 1) != 0) {
                const AtStage<stage> at = {a, c, all, shared + place_made<stage>(b, c),
                                           b.begin + row};
                Real out[S::results];
                S::update(at, a, out);
                hand_on<steady, stage, 0>(at, w, s, row, keeps, all, out);
            }
        }
        make_stages<steady, stage + 1>(a, b, w, c, s, all, shared, turn);
    }
}

template <bool steady>
__device__ __forceinline__ void make_turn(const Arguments &a, const Block &b, const Walk &w,
                                          const Column &c, Arriving &next, Storing &s, AllRows &all,
                                          int turn) {
    age_rows(all);
    take_rows<steady>(a, w, next, all, turn);
    load_rows<steady>(a, b, w, c, next, turn + 1);
    Real *const shared = shared_rows(turn);
    put_exchanges(a, b, c, all, shared);
    __syncthreads(); // all columns of these rows are there, and turns before the last one are over
    make_stages<steady>(a, b, w, c, s, all, shared, turn);
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments a) {
    const Block b = place_block(a);
    const Walk w = place_walk(b);
    const Column c = place_column(a, b, int(threadIdx.x));
    AllRows all;
    begin_rows(a, all);
    Arriving next;
    begin_loads(a, b, c, next);
    load_rows<false>(a, b, w, c, next, 0);
    Storing s;
    begin_stores(a, b, c, s);
    const int turns = w.end + plan::turns;
    const int first = w.first + plan::turns + 1; // of the steady turns
    const int end = min(w.end, w.size) - plan::ahead - 1;
#pragma unroll 1
    for (int turn = 0; turn < turns;) {
        if (turn >= first && turn + together <= end) {
#pragma unroll
            for (int k = 0; k < together; ++k)
                make_turn<true>(a, b, w, c, next, s, all, turn + k);
            turn += together;
        } else {
            make_turn<false>(a, b, w, c, next, s, all, turn);
            ++turn;
        }
    }
}
