// constant: a thread makes a point and reads its taps from global memory, as in naive; the weights
// lie in constant memory, where all threads of a warp read the same one at a time (PMPP, chapter 7).
// Rows of the shape are runs of neighbouring taps, so that only the weights are unlike each other.
//
//        w0 w1 w2        run 0: (dx, dy) of w0, three weights
//           w3           run 1: one weight
#include "arch/memory.cuh"
#include "plan.h"
#include "grid.cuh"
#include "cursors.cuh"
#include "blocks.cuh"
#include "taps.cuh"

// One function for all runs of an array: beyond an edge few threads come, and the code of a boundary
// in each run would take compilers minutes where many outputs read many arrays.
template <int array>
__device__ __noinline__ Real read_beyond(const Arguments &a, Index x, Index y, Index z) {
    return read_anywhere<array>(a, x, y, z);
}

// Adds the runs of one array and those after it. `inner` promises that all taps lie in the grid.
template <bool inner, int output, int array = 0>
__device__ __forceinline__ void add_runs(const Arguments &a, const Point &p, Real &sum) {
    if constexpr (array < plan::arrays) {
        using R = Runs<output, array>;
        if constexpr (inner) {
            const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
            for (int r = R::first; r < R::end; ++r) {
                const Run run = runs[r];
                const Stored<Array<array>> *const from =
                    grid.data + offset(grid, p.x + run.dx, p.y + run.dy, p.z + run.dz);
                for (int i = 0; i < run.count; ++i)
                    sum = fma(weights[run.first + i], load(from + i), sum);
            }
        } else {
#pragma unroll 1
            for (int r = R::first; r < R::end; ++r) {
                const Run run = runs[r];
#pragma unroll 1
                for (int i = 0; i < run.count; ++i)
                    sum = fma(weights[run.first + i],
                              read_beyond<array>(a, p.x + run.dx + i, p.y + run.dy, p.z + run.dz),
                              sum);
            }
        }
        add_runs<inner, output, array + 1>(a, p, sum);
    }
}

template <bool inner, int output = 0>
__device__ __forceinline__ void add_all(const Arguments &a, const Point &p, Outputs &out) {
    if constexpr (output < plan::outputs) {
        out[output] = 0;
        add_runs<inner, output>(a, p, out[output]);
        add_all<inner, output + 1>(a, p, out);
    }
}

__device__ __forceinline__ void make_inner(const Arguments &a, const Point &p) {
    Outputs out;
    add_all<true>(a, p, out);
    add_others(AtInner{a, p}, a, out);
    Target<true> target;
    target.place(a, p.x, p.y, p.z);
    target.put(a, out);
}

// Any point. Not inlined: few threads come here.
__device__ __noinline__ void make_anywhere(const Arguments &a, Index x, Index y, Index z) {
    const Point p = {x, y, z};
    if (kept(a, p)) {
        keep(a, p);
    } else if (plan::all_fixed || shape_inside(a, p, p)) {
        make_inner(a, p);
    } else {
        Outputs out;
        add_all<false>(a, p, out);
        add_others(AtEdge{a, p}, a, out);
        Target<true> target;
        target.place(a, x, y, z);
        target.put(a, out);
    }
}

extern "C" __global__ void
    __launch_bounds__(plan::threads, plan::blocks)
        STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    const Arguments &a = arguments;
    const Point origin = block_origin(a, plan::tile_x, plan::tile_y, plan::tile_z);
    const bool inner = block_inside(a);
    for_points<plan::tile_x, plan::tile_y, plan::tile_z>([&](int x, int y, int z) {
        const Point p = {origin.x + x, origin.y + y, origin.z + z};
        if (inner || (in_box(a, p) && shape_inside(a, p, p)))
            make_inner(a, p);
        else if (in_box(a, p))
            make_anywhere(a, p.x, p.y, p.z);
    });
}
