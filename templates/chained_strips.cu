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
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "grid.cuh"
#include "chain_edges.cuh"

constexpr int points = plan::points; // of a lane
constexpr int columns = warp_size * points;

// ---- where a warp stands ----------------------------------------------------------------------

// Rows are counted from the first that arrives.
struct Strip {
    Index x, begin;         // its first column, halo included, and its first row
    int zero, size;         // the grid's first row, and its end
    int first, end, behind; // the rows that are stored, and the end of those that are loaded
    int stored_end;         // of the columns that are stored
    bool inside;            // no end of the grid concerns it
    bool packed;            // a lane's columns may be loaded and stored together ..
    int row_bytes;          // .. and then, from a row to the next
};

template <int stage = 0> __device__ constexpr int most_kept(int axis) {
    if constexpr (stage < plan::stages) {
        using S = Stage<stage>;
        const int low = axis == 0 ? S::keeps_low_x : S::keeps_low_z;
        const int high = axis == 0 ? S::keeps_high_x : S::keeps_high_z;
        const int own = low > high ? low : high, others = most_kept<stage + 1>(axis);
        return own > others ? own : others;
    } else {
        return 0;
    }
}

constexpr int grids = sizeof(Arguments::grid) / sizeof(Grid);

// Whether rows begin with whole packs, and lie equally far apart in all arrays.
template <int grid = 0> __device__ __forceinline__ bool has_packs(const Arguments &a) {
    if constexpr (grid < grids) {
        const auto address = reinterpret_cast<unsigned long long>(a.grid[grid].data);
        return address % (points * sizeof(Real)) == 0 &&
               a.grid[grid].stride_z == a.grid[0].stride_z && has_packs<grid + 1>(a);
    } else {
        const Index stride = a.grid[0].stride_z;
        return stride % points == 0 && stride < (1 << 28);
    }
}

__device__ __forceinline__ Strip place_strip(const Arguments &a, Index number) {
    constexpr Index far = 1 << 30;
    constexpr int kept_x = most_kept(0), kept_z = most_kept(2);
    Strip s;
    const Index z = a.begin[2] + Index(blockIdx.z) * plan::walk, end = min(z + plan::walk, a.end[2]);
    const Index size = a.size[2];
    s.x = a.begin[0] + number * plan::strip - plan::halo_x;
    s.begin = plan::ring_z ? z - plan::before : max(z - plan::before, Index(0));
    s.zero = int(max(-s.begin, -far));
    s.size = int(min(size - s.begin, far));
    s.first = int(z - s.begin);
    s.end = int(end - s.begin);
    s.behind = s.end + plan::behind;
    s.stored_end = int(min(a.end[0] - s.x, Index(plan::halo_x + plan::strip)));
    s.inside = s.x >= kept_x && s.x + columns + kept_x <= a.size[0] && z - plan::before >= kept_z &&
               end + plan::behind + kept_z <= size;
    s.row_bytes = int(a.grid[0].stride_z) * int(sizeof(Real));
    s.packed = s.x % points == 0 && s.stored_end % points == 0 && has_packs(a);
    return s;
}

// A lane's columns. Where no end of the grid concerns a strip, x says it all.
struct Column {
    int at;                         // the first one's place in the strip
    Index x[points];                // the cells that they stand for
    int from[points];               // the column of the strip where their values are made
    bool below[points], above[points]; // the grid
};
__device__ __forceinline__ Column place_columns(const Arguments &a, const Strip &s) {
    Column c;
    c.at = lane() * points;
#pragma unroll
    for (int k = 0; k < points; ++k) {
        const Index x = s.x + c.at + k;
        c.x[k] = s.inside ? x : cell_for<0>(x, a.size[0]);
        c.below[k] = x < 0;
        c.above[k] = x >= a.size[0];
        c.from[k] = plan::ring_x ? c.at + k : int(max(min(c.x[k] - s.x, Index(columns - 1)), Index(0)));
    }
    return c;
}

// ---- rows -------------------------------------------------------------------------------------

// The rows of a source, the newest first: of the lane's columns, and of their neighbours from the turn
// on in which a stage first reads them.
template <int source> struct Rows : Rows<source + 1> {
    Real row[Ring<source>::depth][Ring<source>::low + points + Ring<source>::high];
};
template <> struct Rows<plan::sources> {};
using AllRows = Rows<0>;

template <int source> __device__ __forceinline__ auto &rows_of(AllRows &all) {
    return static_cast<Rows<source> &>(all).row;
}
template <int source> __device__ __forceinline__ const auto &rows_of(const AllRows &all) {
    return static_cast<const Rows<source> &>(all).row;
}

template <class T, int count>
__device__ __forceinline__ void copy_row(T (&to)[count], const T (&from)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i)
        to[i] = from[i];
}

// Before the walk: what lies below the grid, where a rule gives it.
template <int source = 0> __device__ __forceinline__ void begin_rows(const Arguments &a, AllRows &all) {
    if constexpr (source < plan::sources) {
        constexpr int width = Ring<source>::low + points + Ring<source>::high;
        const Real value = gives<source, 2, 0> ? Rule<source, 2, 0>::beyond(a) : Real(0);
#pragma unroll
        for (int k = 0; k < Ring<source>::depth; ++k)
#pragma unroll
            for (int i = 0; i < width; ++i)
                rows_of<source>(all)[k][i] = value;
        begin_rows<source + 1>(a, all);
    }
}

// The newest rows become older ones, and stay the newest until others take their places.
template <int source = 0> __device__ __forceinline__ void age_rows(AllRows &all) {
    if constexpr (source < plan::sources) {
#pragma unroll
        for (int k = Ring<source>::depth - 1; k > 0; --k)
            copy_row(rows_of<source>(all)[k], rows_of<source>(all)[k - 1]);
        age_rows<source + 1>(all);
    }
}

// Fetches the neighbours of a row from the lanes that have them.
template <int source> __device__ __forceinline__ void widen_row(AllRows &all, int back) {
    constexpr int low = Ring<source>::low, high = Ring<source>::high;
    auto &row = rows_of<source>(all)[back];
#pragma unroll
    for (int i = 1; i <= low; ++i) {
        const int lanes = (i + points - 1) / points;
        row[low - i] = shuffle_up(row[low + lanes * points - i], lanes);
    }
#pragma unroll
    for (int i = 0; i < high; ++i)
        row[low + points + i] = shuffle_down(row[low + i % points], i / points + 1);
}

// The columns beyond an end of x: those that repeat others, and those that a rule gives.
template <int source>
__device__ __forceinline__ void mend_row(const Arguments &a, const Column &c, Real *row) {
    if constexpr (Rule<source, 0, 0>::kind == Boundary::clamp ||
                  Rule<source, 0, 1>::kind == Boundary::clamp) {
        Real made[points];
#pragma unroll
        for (int k = 0; k < points; ++k)
#pragma unroll
            for (int i = 0; i < points; ++i) {
                const Real value = shuffle(row[i], c.from[k] / points);
                if (i == 0 || c.from[k] % points == i)
                    made[k] = value;
            }
#pragma unroll
        for (int k = 0; k < points; ++k)
            row[k] = made[k];
    }
#pragma unroll
    for (int k = 0; k < points; ++k) {
        if (gives<source, 0, 0> && c.below[k])
            row[k] = Rule<source, 0, 0>::beyond(a);
        if (gives<source, 0, 1> && c.above[k])
            row[k] = Rule<source, 0, 1>::beyond(a);
    }
}

__device__ __forceinline__ bool in_grid(const Strip &s, int row) {
    return plan::ring_z || (row >= s.zero && row < s.size);
}

// Paths: away from all ends of the grid, with rows of packs or others; and any.
enum class Path { packs, singles, edges };

// A row arrives, which may lie beyond an end of the walk.
template <int source, Path path>
__device__ __forceinline__ void put_row(const Arguments &a, const Strip &s, const Column &c,
                                        AllRows &all, int row, const Real (&value)[points]) {
    auto &rows = rows_of<source>(all);
    constexpr int low = Ring<source>::low;
    if (path != Path::edges || in_grid(s, row)) {
#pragma unroll
        for (int k = 0; k < points; ++k)
            rows[0][low + k] = value[k];
        if (path == Path::edges)
            mend_row<source>(a, c, rows[0] + low);
    } else if (gives<source, 2, 1> && row >= s.size) {
#pragma unroll
        for (int k = 0; k < points; ++k)
            rows[0][low + k] = Rule<source, 2, 1>::beyond(a);
    }
    if (path == Path::edges && Rule<source, 2, 0>::kind == Boundary::clamp && row == s.zero) {
#pragma unroll
        for (int k = 1; k < Ring<source>::depth; ++k) {
            copy_row(rows[k], rows[0]);
            if (Ring<source>::widened >= 0 && k > Ring<source>::widened)
                widen_row<source>(all, k);
        }
    }
    if constexpr (Ring<source>::widened >= 0)
        widen_row<source>(all, Ring<source>::widened);
}

// ---- arrays -----------------------------------------------------------------------------------

// The rows of all arrays that arrive in the next turns, and where those of turn 0 lie.
struct Arriving {
    Real value[plan::ahead][plan::arrays > 0 ? plan::arrays : 1][points];
    const Real *first[plan::arrays > 0 ? plan::arrays : 1];
};

// Loads the row that arrives in a turn.
template <Path path, int array = 0>
__device__ __forceinline__ void load_rows(const Arguments &a, const Strip &s, const Column &c,
                                          Arriving &next, int turn) {
    if constexpr (array < plan::arrays) {
        const Grid &grid = a.grid[Array<array>::grid];
        const int row = turn - Ring<array>::lag;
        Real(&to)[points] = next.value[plan::ahead - 1][array];
        if (path == Path::edges) {
            if (row >= 0 && row < s.behind && in_grid(s, row)) {
                const Index z = plan::ring_z ? cell_for<2>(s.begin + row, a.size[2]) : s.begin + row;
#pragma unroll
                for (int k = 0; k < points; ++k)
                    to[k] = load(grid.data + offset(grid, c.x[k], a.begin[1], z));
            }
        } else if (row >= 0 && row < s.behind) {
            if (path == Path::packs) {
                const auto pack = load_pack(reinterpret_cast<const Pack<Real, points> *>(
                    multiply_add(turn, s.row_bytes, next.first[array])));
#pragma unroll
                for (int k = 0; k < points; ++k)
                    to[k] = pack.element[k];
            } else {
#pragma unroll
                for (int k = 0; k < points; ++k)
                    to[k] = load(next.first[array] + turn * grid.stride_z + k);
            }
        }
        load_rows<path, array + 1>(a, s, c, next, turn);
    }
}
template <Path path, int array = 0>
__device__ __forceinline__ void begin_loads(const Arguments &a, const Strip &s, const Column &c,
                                            Arriving &next) {
    if constexpr (array < plan::arrays) {
        const Grid &grid = a.grid[Array<array>::grid];
        next.first[array] = grid.data + offset(grid, c.x[0], a.begin[1], s.begin - Ring<array>::lag);
#pragma unroll
        for (int turn = 0; turn < plan::ahead; ++turn)
#pragma unroll
            for (int k = 0; k < points; ++k)
                next.value[turn][array][k] = 0;
        begin_loads<path, array + 1>(a, s, c, next);
    }
}
__device__ __forceinline__ void advance(Arriving &next) {
#pragma unroll
    for (int turn = 1; turn < plan::ahead; ++turn)
#pragma unroll
        for (int array = 0; array < plan::arrays; ++array)
            copy_row(next.value[turn - 1][array], next.value[turn][array]);
}
template <Path path, int array = 0>
__device__ __forceinline__ void take_rows(const Arguments &a, const Strip &s, const Column &c,
                                          const Arriving &next, AllRows &all, int turn) {
    if constexpr (array < plan::arrays) {
        put_row<array, path>(a, s, c, all, turn - Ring<array>::lag, next.value[0][array]);
        take_rows<path, array + 1>(a, s, c, next, all, turn);
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
            store_pack_once(reinterpret_cast<Pack<Real, points> *>(
                                multiply_add(row, s.row_bytes, to.first[output])),
                            pack);
        }
    } else {
#pragma unroll
        for (int k = 0; k < points; ++k)
            if (stored && c.at + k < s.stored_end)
                store_once(to.first[output] + row * grid.stride_z + k, value[k]);
    }
}

template <int stage, int point = 0, int count>
__device__ __forceinline__ void make_points(const Arguments &a, const Column &c, const Own &own,
                                            const AllRows &all, Index z, Real (&out)[points][count]) {
    if constexpr (point < points) {
        const AtStage<stage, point> at = {a, c, all, z};
        Stage<stage>::update(at, own, out[point]);
        make_points<stage, point + 1>(a, c, own, all, z, out);
    }
}

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
            make_points<stage>(a, c, own, all, s.begin + row, out);
            hand_on<path, stage, 0>(a, s, c, to, row, all, out);
        }
        make_stages<path, stage + 1>(a, s, c, own, to, all, turn);
    }
}

// Turns are made four at a time, so that rows need not be moved.
template <Path path> constexpr int together = path == Path::packs ? 4 : 1;

template <Path path>
__device__ __forceinline__ void walk(const Arguments &a, const Strip &s) {
    const Column c = place_columns(a, s);
    AllRows all;
    begin_rows(a, all);
    Arriving next;
    begin_loads<path>(a, s, c, next);
#pragma unroll
    for (int turn = 0; turn < plan::ahead; ++turn) {
        advance(next);
        load_rows<path>(a, s, c, next, turn);
    }
    Storing to;
    begin_stores(a, s, c, to);
    const Own own = copy_own(a);
    const int turns = s.end + plan::turns;
#pragma unroll 1
    for (int begin = 0; begin < turns; begin += together<path>) {
#pragma unroll
        for (int turn = begin; turn < begin + together<path>; ++turn) {
            age_rows(all);
            take_rows<path>(a, s, c, next, all, turn);
            advance(next);
            load_rows<path>(a, s, c, next, turn + plan::ahead);
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
