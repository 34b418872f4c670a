// cascade: several steps of any update in one pass. A block walks the last axis with a tile of rows
// (2D) or planes (3D) and a halo for all its steps. Each plane that arrives falls through the levels of
// time, one step a level:
//
//      grid --> [ring of planes] --> level 1 --> level 2 ... --> level T --> grid
//               copied ahead         plane n - lag   n - 2 lag       n - T lag
//
// A thread holds a patch of points of the latest `window` planes of every level, in registers, which
// all that a step reads in its own column comes from. Neighbours of x are the warp's other lanes, and
// neighbours of y lie in shared memory, into which each level puts a plane before the next one needs
// it. Arrays that no step changes stay in the ring for as long as some level reads them.
//
// The tile's rim goes wrong by the reach with each level, and is not stored. Cells beyond the grid
// follow its rules after each step, or, where columns repeat others, before they are read; only blocks and
// planes at an edge (`edge`) look for them.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/async.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "grid.cuh"
#include "images.cuh"
#include "cascade.cuh"

// ---- state ----------------------------------------------------------------------------------

struct State {
    Patch value[plan::time][plan::outputs][window]; // of the levels before the last
    int array[plan::arrays];                        // where the ring's newest plane lies
    int level[plan::outputs];                       // and the plane that levels put
    const Real *from[plan::arrays];                 // the next plane to be loaded
    int turn;                                       // planes that have arrived before
};

// The place of the plane that is `back` planes before the newest one, in turns of this phase.
template <int phase, int back>
constexpr int held_at = ((phase - back) % window + window) % window;

// ---- what a step reads ----------------------------------------------------------------------

template <int array, int dy, int dz, int row = 0> __device__ constexpr int row_of() {
    if constexpr (Row<row>::array == array && Row<row>::dy == dy && Row<row>::dz == dz)
        return row;
    else
        return row_of<array, dy, dz, row + 1>();
}

using Line = Real[seen_low + plan::lane_x + seen_high];

struct AtLines {
    const Line (&line)[plan::rows];
    int point;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return line[row_of<array, dy, dz>()][seen_low + point + dx];
    }
};

// The place in shared memory of the plane of row `row` that a step of level `level` reads, and
// whether it lies there at all.
template <int level, int row> struct Taken {
    using From = Source<Row<row>::array>;
    static constexpr int state = From::still ? -1 : level - 1 - From::previous; // that has it; -1: its array
    static constexpr bool held = !From::still && state >= 0;
    // How many planes before the newest one of that state or array.
    static constexpr int back = (From::still  ? level * lag
                                 : held       ? (1 + From::previous) * lag
                                              : lag) - Row<row>::dz;
    static __device__ __forceinline__ int place(const State &s) {
        if constexpr (held && state > 0) {
            using L = Level<From::output>;
            return L::place + (state - 1) * L::slots * plane +
                   plane_back<L::slots>(s.level[From::output], back - L::back);
        } else {
            constexpr int array = held ? Level<From::output>::array : Row<row>::array;
            return Source<array>::place +
                   plane_back<Source<array>::slots>(s.array[array], back);
        }
    }
};

__device__ __forceinline__ void take_packs(const Real *from, Line &line) {
#pragma unroll
    for (int k = 0; k < packs; ++k) {
        const Packed p = *reinterpret_cast<const Packed *>(from + k * pack);
#pragma unroll
        for (int e = 0; e < pack; ++e)
            line[seen_low + k * pack + e] = p.element[e];
    }
}

// Row `row` of the patch's row y.
template <int level, int phase, bool edge, int row>
__device__ __forceinline__ void take_line(const Arguments &a, const Block &b, const State &s, int y,
                                          Line &line) {
    using T = Taken<level, row>;
    constexpr int dy = Row<row>::dy;
    const bool own = dy == 0 || (!edge && y + dy >= 0 && y + dy < plan::lane_y);
    if (T::held && own) {
        constexpr int state = T::held ? T::state : 0, output = T::held ? T::From::output : 0;
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e)
            line[seen_low + e] = s.value[state][output][held_at<phase, T::back>][y + dy][e];
    } else {
        const int at = own    ? b.own() + (y + dy) * width
                       : edge ? b.beside_edge(y + dy, a.size[1])
                              : b.beside(y + dy);
        take_packs(shared_at(T::place(s) + at), line);
    }
    // A mirror's images lie further inwards than the taps of a row may read.
    constexpr bool images = edge && (copies<0, 0> || copies<0, 1>);
    constexpr int low = images && mirrors<0, 1> && Row<row>::high > Row<row>::low ? Row<row>::high
                                                                                 : Row<row>::low;
    constexpr int high = images && mirrors<0, 0> && Row<row>::low > Row<row>::high ? Row<row>::low
                                                                                  : Row<row>::high;
#pragma unroll
    for (int d = 1; d <= low; ++d)
        line[seen_low - d] = shuffle_up(line[seen_low + plan::lane_x - d], 1);
#pragma unroll
    for (int d = 0; d < high; ++d)
        line[seen_low + plan::lane_x + d] = shuffle_down(line[seen_low + d], 1);
    if constexpr (images && low > 0 && copies<0, 0>)
        copy_columns<0, any_place<0>(plan::lane_x, seen_low, seen_high)>(line, b.first_column);
    if constexpr (images && high > 0 && copies<0, 1>)
        copy_columns<1, any_place<1>(plan::lane_x, seen_low, seen_high)>(line, b.last_column);
}
template <int level, int phase, bool edge, int row = 0>
__device__ __forceinline__ void take_lines(const Arguments &a, const Block &b, const State &s, int y,
                                           Line (&line)[plan::rows]) {
    if constexpr (row < plan::rows) {
        take_line<level, phase, edge, row>(a, b, s, y, line[row]);
        take_lines<level, phase, edge, row + 1>(a, b, s, y, line);
    }
}

// ---- the rules of the edges, after a step ---------------------------------------------------

__device__ __forceinline__ void copy_patch(const Patch &from, Patch &to) {
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e)
            to[r][e] = from[r][e];
}

// A plane near an end of the walk: what a fixed side keeps of it, and the value that a side gives beyond.
template <int output, int level, int phase>
__device__ __forceinline__ void apply_to_plane(const Arguments &a, const State &s, Index z,
                                               Patch &value) {
    const bool below = gives<2, 0> && z < 0, above = gives<2, 1> && z >= a.size[2];
    if (keeps<2>(z, a.size[2], plan::low_z, plan::high_z))
        copy_patch(s.value[level - 1][output][held_at<phase, lag>], value);
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e)
            if (below || above)
                value[r][e] = below ? Edge<2, 0>::beyond() : Edge<2, 1>::beyond();
}
// The same of columns and rows.
template <int output, int level, int phase>
__device__ __forceinline__ void apply_to_cells(const Block &b, const State &s, Patch &value) {
    const Patch &before = s.value[level - 1][output][held_at<phase, lag>];
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e) {
            if ((b.marks_x.kept >> e & 1) || (b.marks_y.kept >> r & 1))
                value[r][e] = before[r][e];
            const Beyond cell = beyond(b, r, e, false, 0);
            if (cell.any)
                value[r][e] = cell.value;
        }
}

// Planes beyond the grid that stand for others, among those of a level that are held: those after its
// end one by one, as they arrive, those before its beginning when the next level makes its first.
template <int state, int output, int phase, int k>
__device__ __forceinline__ void copy_plane_above(State &s, Index after) {
    if constexpr (copies<2, 1> && k <= plan::high_z) {
        constexpr int back = Edge<2, 1>::kind == Boundary::mirror ? 2 * k : k;
        if (after == k)
            copy_patch(s.value[state][output][held_at<phase, back>],
                       s.value[state][output][phase]);
        copy_plane_above<state, output, phase, k + 1>(s, after);
    }
}
template <int state, int output, int phase, int k>
__device__ __forceinline__ void copy_planes_below(State &s) {
    if constexpr (copies<2, 0> && k <= plan::low_z) {
        constexpr int back = lag - (Edge<2, 0>::kind == Boundary::mirror ? k : 0);
        copy_patch(s.value[state][output][held_at<phase, back>],
                   s.value[state][output][held_at<phase, lag + k>]);
        copy_planes_below<state, output, phase, k + 1>(s);
    }
}

// ---- a plane through the levels -------------------------------------------------------------

// What a step has made becomes the newest plane of its level, or goes to memory.
template <int level, int phase, bool edge, int output = 0>
__device__ __forceinline__ void hand_on(const Arguments &a, const Block &b, State &s,
                                        Patch (&made)[plan::outputs]) {
    if constexpr (output < plan::outputs) {
        const int at = s.turn - level * lag; // of the plane, from b.begin on
        const bool end = edge && b.at_end(at);
        if (end)
            apply_to_plane<output, level, phase>(a, s, b.begin + at, made[output]);
        if (edge)
            apply_to_cells<output, level, phase>(b, s, made[output]);
        if (at >= b.first && at < b.end) {
            if constexpr (level == plan::time)
                store_patch(a.grid[Output<output>::grid], b, b.begin + at, made[output]);
            else if constexpr (level + 1 == plan::time && Level<output>::second >= 0)
                store_patch(a.grid[Level<output>::second], b, b.begin + at, made[output]);
        }
        if constexpr (level < plan::time) {
            copy_patch(made[output], s.value[level][output][phase]);
            if (end) {
                copy_plane_above<level, output, phase, 1>(s, b.begin + at - a.size[2] + 1);
                if (b.begin + at == lag)
                    copy_planes_below<level, output, phase, 1>(s);
            }
        }
        hand_on<level, phase, edge, output + 1>(a, b, s, made);
    }
}

// Whether images lie in shared memory.
template <int output = 0> __device__ constexpr bool has_images() {
    if constexpr (output < plan::outputs)
        return Level<output>::images > 0 || has_images<output + 1>();
    else
        return false;
}

template <int level, int phase, bool edge>
__device__ __forceinline__ void make_levels(const Arguments &a, const Block &b, State &s) {
    if constexpr (level <= plan::time) {
        // Nobody reads what a level would make beyond a side with images; and the images that it would
        // read of shared memory are being put.
        if constexpr (edge && copies<2, 0> && has_images<>())
            if (b.begin + s.turn - level * lag < 0)
                return;
        Patch made[plan::outputs];
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r) {
            Line line[plan::rows];
            take_lines<level, phase, edge>(a, b, s, r, line);
#pragma unroll
            for (int e = 0; e < plan::lane_x; ++e) {
                Outputs out;
                update_point(AtLines{line, e}, a, out);
#pragma unroll
                for (int o = 0; o < plan::outputs; ++o)
                    made[o][r][e] = out[o];
            }
        }
        hand_on<level, phase, edge>(a, b, s, made);
        make_levels<level + 1, phase, edge>(a, b, s);
    }
}

// Of each array: the patch of the plane that has arrived, and the copy of one further on.
template <int phase, int output = 0>
__device__ __forceinline__ void take_newest(const Block &b, State &s) {
    if constexpr (output < plan::outputs) {
        constexpr int array = Level<output>::array;
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
            for (int k = 0; k < packs; ++k) {
                const Packed p = *reinterpret_cast<const Packed *>(shared_at(
                    Source<array>::place + s.array[array] + b.own() + r * width + k * pack));
#pragma unroll
                for (int e = 0; e < pack; ++e)
                    s.value[0][output][phase][r][k * pack + e] = p.element[e];
            }
        take_newest<phase, output + 1>(b, s);
    }
}
template <bool edge, int array = 0>
__device__ __forceinline__ void load_arrays(const Arguments &a, const Block &b, State &s, int number,
                                            int later) {
    if constexpr (array < plan::arrays) {
        constexpr int slots = Source<array>::slots;
        if (number < b.loaded) {
            const int at = s.array[array] + later * plane;
            Real *const to = shared_at(Source<array>::place +
                                       (at >= slots * plane ? at - slots * plane : at) + b.own());
            const Grid &grid = a.grid[Array<array>::grid];
            if constexpr (edge)
                load_edge(a, b, grid, b.begin + number, s.from[array], to);
            else if (b.packed)
                load_inside<pack>(grid, s.from[array], to);
            else
                load_inside<1>(grid, s.from[array], to);
        }
        s.from[array] += a.grid[Array<array>::grid].stride_z;
        load_arrays<edge, array + 1>(a, b, s, number, later);
    }
}

__device__ __forceinline__ void put_plane(const Patch &value, int place) {
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            Packed p;
#pragma unroll
            for (int e = 0; e < pack; ++e)
                p.element[e] = value[r][k * pack + e];
            *reinterpret_cast<Packed *>(shared_at(place + r * width + k * pack)) = p;
        }
}

// Each level's plane that the next levels' neighbours of y will need.
template <bool edge, int phase, int state, int output = 0>
__device__ __forceinline__ void put_planes(const Block &b, const State &s) {
    if constexpr (output < plan::outputs && state < plan::time) {
        using L = Level<output>;
        if constexpr (L::slots > 0) {
            const Patch &value = s.value[state][output][held_at<phase, L::back>];
            const int first = L::place + (state - 1) * L::slots * plane;
            put_plane(value, first + s.level[output] + b.own());
            if constexpr (edge && L::images > 0 && copies<2, 0>) {
                const Index z = b.begin + s.turn - state * lag - L::back;
                constexpr bool mirror = Edge<2, 0>::kind == Boundary::mirror;
#pragma unroll
                for (int k = 1; k <= L::images; ++k)
                    if (z == (mirror ? k : 0))
                        put_plane(value, first + b.own() +
                                             plane_back<L::slots>(s.level[output],
                                                                  mirror ? 2 * k : k));
            }
        }
        put_planes<edge, phase, state, output + 1>(b, s);
    } else if constexpr (state + 1 < plan::time) {
        put_planes<edge, phase, state + 1>(b, s);
    }
}

template <int array = 0> __device__ __forceinline__ void advance_arrays(State &s) {
    if constexpr (array < plan::arrays) {
        s.array[array] = next_plane<Source<array>::slots>(s.array[array]);
        advance_arrays<array + 1>(s);
    }
}
template <int output = 0> __device__ __forceinline__ void advance_levels(State &s) {
    if constexpr (output < plan::outputs) {
        if constexpr (Level<output>::slots > 0)
            s.level[output] = next_plane<Level<output>::slots>(s.level[output]);
        advance_levels<output + 1>(s);
    }
}

// As many turns as a window has planes, so that places in registers are known.
template <bool edge, int phase = 0>
__device__ __forceinline__ void make_turns(const Arguments &a, const Block &b, State &s) {
    if constexpr (phase < window) {
        copies_wait<ahead - 1>();
        __syncthreads(); // the newest planes are there, and what is overwritten has been read
        load_arrays<edge>(a, b, s, s.turn + ahead, ahead);
        copies_commit();
        take_newest<phase>(b, s);
        make_levels<1, phase, edge>(a, b, s);
        put_planes<edge, phase, 1>(b, s);
        advance_arrays(s);
        advance_levels(s);
        ++s.turn;
        make_turns<edge, phase + 1>(a, b, s);
    }
}

template <int array = 0>
__device__ __forceinline__ void begin_arrays(const Arguments &a, const Block &b, State &s) {
    if constexpr (array < plan::arrays) {
        const Grid &grid = a.grid[Array<array>::grid];
        s.array[array] = 0;
        s.from[array] = grid.data + offset(grid, b.x + b.column, b.y + b.row, b.begin);
        begin_arrays<array + 1>(a, b, s);
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments a) {
    Block b(a);
    State s = {};
    // Turns that meet no edge of the walk: all planes that they load or make lie inside, and so do
    // those that the rules copy.
    constexpr int before = plan::time * lag + 2 * lag + plan::low_z + 1;
    const int turns = b.end + plan::time * lag;
    const int easy = static_cast<int>(max(Index(0), before - b.begin));
    const int easy_end = static_cast<int>(
        min(Index(1 << 30), b.size_z - b.begin - ahead - window + 1));
    b.mark(a);
    begin_arrays(a, b, s);
#pragma unroll 1
    for (int k = 0; k < ahead; ++k) {
        load_arrays<true>(a, b, s, k, k);
        copies_commit();
    }
    while (s.turn < turns) {
        if (!b.rim && s.turn >= easy && s.turn < easy_end)
            make_turns<false>(a, b, s);
        else
            make_turns<true>(a, b, s);
    }
}
