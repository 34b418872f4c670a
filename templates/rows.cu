// rows: for processors. A block is one thread, which makes its tile row by row, each in runs of
// neighbouring points:
//
//      ghosts                                   ghosts
//        oo|..|..............................|..|oo
//          edge          runs             edge
//
// A run reads rows of the arrays, at x and as far from it as taps reach. Near the ends of x these
// rows are copies, with what the boundary says beyond the grid.
//
// The loop over a run has no test and no barrier, so a compiler makes vectors of it. Results go to
// a buffer that stays in the nearest cache, and from there to memory, where it pays past the
// caches.
#include "arch/memory.cuh"
#include "arch/rows.cuh"
#include "plan.h"
#include "grid.cuh"
#include "blocks.cuh"
#include "taps.cuh"
#include "point.cuh"
#include "row_runs.cuh"
#include "row_results.cuh"

// The points of a line of memory, and how many of them lie before a point, where results go.
constexpr int line = 64 / sizeof(Cell);
__device__ __forceinline__ int place_in_line(const Arguments &a, const Point &p) {
    const Grid &to = a.grid[Output<0>::grid];
    return static_cast<int>(
        reinterpret_cast<unsigned long long>(to.data + offset(to, p.x, p.y, p.z)) / sizeof(Cell) %
        line);
}

// The points from number `from` to `end` of a run. Not inlined: compilers make vectors of a loop
// that stands alone.
__device__ __noinline__ void make_points(const Arguments &a, const RowRun &of, const Point &first,
                                         Index from, Index end, Index before, Results &results) {
    const RowRun run = of;
    FOR_A_ROW
    for (Index i = from; i < end; ++i) {
        Outputs out;
        update_point(AtRun{run, first, i}, a, out);
        put_result(results, before + i, out);
    }
}

// `count` points from `first` on, in whole lines where that can be: points before the first whole
// line and behind the last one are made in a line that begins earlier or ends later, and some
// twice.
__device__ __forceinline__ void make_run(const Arguments &a, const RowRun &run, const Point &first,
                                         int count, Results &results, bool past) {
    const int before = place_in_line(a, first);
    for (int made = 0; made < count;) {
        int from = made, end, next;
        if ((before + made) % line != 0) {
            next = made + line - (before + made) % line;
            end = made + line;
        } else {
            next = end = made + (count - made) / line * line;
            if (next == made) {
                next = end = count;
                from = count < line ? made : count - line;
            }
        }
        end = end < count ? end : count;
        make_points(a, run, first, from, end, before, results);
        made = next;
    }
    store_results(a, first, results, before, count, past);
}

// Points from x to `end` whose taps reach over an end of the row.
__device__ __noinline__ void make_edge(const Arguments &a, const Beyond &beyond, Results &results,
                                       Index x, Index end, Index y, Index z, bool past) {
    Ghosts ghosts;
    RowRun run;
    for (; x < end; x += Ghosts::points) {
        const int count = static_cast<int>(end - x < Ghosts::points ? end - x : Ghosts::points);
        const Point first = {x, y, z};
        run.place(a, first, beyond);
        ghosts.fill(a, first, count, run);
        make_run(a, run, first, count, results, past);
    }
}

// Points from x to `end` whose taps do not.
__device__ __forceinline__ void make_inner(const Arguments &a, const Beyond &beyond,
                                           Results &results, Index x, Index end, Index y, Index z,
                                           bool past) {
    RowRun run;
    while (x < end) {
        const Point first = {x, y, z};
        const int room = plan::run - place_in_line(a, first); // the next run begins with a line
        const int count = static_cast<int>(end - x < room ? end - x : room);
        run.place(a, first, beyond);
        make_run(a, run, first, count, results, past);
        x += count;
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    const Arguments &a = arguments;
    const Point origin = block_origin(a, plan::tile_x, plan::tile_y, plan::tile_z);
    const Point end = {least(origin.x + plan::tile_x, a.end[0]),
                       least(origin.y + plan::tile_y, a.end[1]),
                       least(origin.z + plan::tile_z, a.end[2])};
    const Index cells = a.size[0] * a.size[1] * a.size[2];
    const bool past = past_caches((plan::arrays + plan::outputs) * cells * Index(sizeof(Cell)));
    // Along x: what changes, and of that what has all taps inside.
    Index change = origin.x, changed = end.x;
#if PLAN_KEEPS
    if (Edge<0, 0>::kind == Boundary::fixed)
        change = least(most(change, plan::low_x), end.x);
    if (Edge<0, 1>::kind == Boundary::fixed)
        changed = most(least(changed, a.size[0] - plan::high_x), change);
#endif
    const Index inner = least(most(change, plan::low_x), changed);
    const Index ended = most(least(changed, a.size[0] - plan::high_x), inner);
    Results results;
    Beyond beyond;
    beyond.fill();
    for (Index z = origin.z; z < end.z; ++z)
        for (Index y = origin.y; y < end.y; ++y) {
#if PLAN_KEEPS
            if (keeps<1>(y, a.size[1], plan::low_y, plan::high_y) ||
                keeps<2>(z, a.size[2], plan::low_z, plan::high_z)) {
                keep_row(a, origin.x, end.x, y, z);
                continue;
            }
            keep_row(a, origin.x, change, y, z);
            keep_row(a, changed, end.x, y, z);
#endif
#if defined(PLAN_OWN_EDGES)
#if PLAN_GIVES
            if (y < plan::low_y || y + plan::high_y >= a.size[1] || z < plan::low_z ||
                z + plan::high_z >= a.size[2]) {
                make_edge(a, beyond, results, change, changed, y, z, past);
                continue;
            }
#endif
#endif
            if constexpr (!plan::all_fixed)
                make_edge(a, beyond, results, change, inner, y, z, past);
            make_inner(a, beyond, results, inner, ended, y, z, past);
            if constexpr (!plan::all_fixed)
                make_edge(a, beyond, results, ended, changed, y, z, past);
        }
}
