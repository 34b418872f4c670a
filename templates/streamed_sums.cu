// streamed_sums: the streamed method for linear updates whose shape reaches along x in several
// planes, such as a box. Each plane adds what it gives to the points around it, and the registers
// hold the sums of the planes not yet finished: of the plane itself no more than one is held.
//
//        z+1   sum |r|         each of these gains the plane's taps at dz = -1, 0, 1;
//        z     sum |r|   <--   [a b c d] at z, and its neighbours along x
//        z-1   sum |r|         this one is then complete
#include "arch/memory.cuh"
#include "arch/registers.cuh"
#include "arch/streaming.cuh"

#include "plan.h"

#include "grid.cuh"

#include "cursors.cuh"
#include "taps.cuh"

#include "point.cuh"

#include "stream.cuh"

#include "lines.cuh"

#include "row_sums.cuh"

template <int j = 0, int i = 0>
__device__ __forceinline__ void add(const HeldLines &lines, const Arguments &a, Sums &sum) {
    if constexpr (i < plan::vector) {
        add_plane(AtLine<j, i>{lines}, a, sum[j][i]);
        add<j, i + 1>(lines, a, sum);
    } else if constexpr (j + 1 < plan::lane_y) {
        add<j + 1>(lines, a, sum);
    }
}

__device__ __forceinline__ void put_rows(const Arguments &a, const Thread &thread,
                                         const Stores &stores, int z, const Sums &sum) {
    const bool all = keeps<2>(z, int(a.size[2]), plan::low_z, plan::high_z);
#pragma unroll
    for (int j = 0; j < plan::lane_y; ++j) {
        Results out;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i) {
#pragma unroll
            for (int o = 0; o < plan::outputs; ++o)
                out[i][o] = sum[j][i][o][0];
            finish_sums(a, out[i]);
        }
        if (plan::flat || j < thread.rows)
            stores.put(a, thread, j, z, all ? all_points : thread.stay[j], out);
    }
}

__device__ __forceinline__ void walk(const Arguments &a, const Thread &thread) {
    const int begin = thread.z - plan::low_z, end = thread.z + thread.steps + plan::high_z;
    HeldLines lines;
    lines.begin(a, thread, begin, end);
    Stores stores;
    stores.begin(a, thread);
    Sums sum = {};
#pragma unroll 1
    for (int step = 0; step < plan::walk + depth - 1; ++step) {
        const int z = begin + step;
        if (z >= end)
            break;
        lines.arrive(a, thread, z, end);
        add(lines, a, sum);
        if (step >= depth - 1) { // the sums of a point that is to be made
            put_rows(a, thread, stores, z - plan::high_z, sum);
            stores.advance(a);
        }
        shift(sum);
    }
}

#if !PLAN_PACKS
// A point by its planes, in the order of a walk.
template <class At>
__device__ __forceinline__ void sum_planes(const Arguments &a, At at, const Point &p) {
    Real sum[plan::outputs][depth] = {};
#pragma unroll 1
    for (int plane = -plan::low_z; plane <= plan::high_z; ++plane) {
        at.place({p.x, p.y, p.z + plane});
        if (plane > -plan::low_z)
            for (int o = 0; o < plan::outputs; ++o) {
#pragma unroll
                for (int k = 0; k + 1 < depth; ++k)
                    sum[o][k] = sum[o][k + 1];
                sum[o][depth - 1] = 0;
            }
        add_plane(at, a, sum);
    }
    Outputs out;
    for (int o = 0; o < plan::outputs; ++o)
        out[o] = sum[o][0];
    finish_sums(a, out);
    put(a, p, out);
}

// As AtCalls: a plane may have many taps.
struct AtPlace : AtCalls {
    __device__ __forceinline__ void place(const Point &at) {
        p = at;
    }
};

__device__ __noinline__ void sum_anywhere(const Arguments &a, Index x, Index y, Index z) {
    const Point p = {x, y, z};
#if PLAN_KEEPS
    if (plan::all_fixed ? !shape_inside(a, p, p) : kept(a, p)) {
        keep(a, p);
        return;
    }
#endif
    if constexpr (!plan::all_fixed) {
        if (!shape_inside(a, p, p)) {
            sum_planes(a, AtPlace{{a, p}}, p);
            return;
        }
    }
    sum_planes(a, AtInner{a, {}}, p);
}

struct ByPlanes {
    static __device__ __forceinline__ void make(const Arguments &a, const Point &p) {
        sum_anywhere(a, p.x, p.y, p.z);
    }
};
#endif

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
#if !PLAN_PACKS
    if (!fits(arguments, warp_lanes * plan::vector)) {
        update_small<ByPlanes>(arguments);
        return;
    }
#endif
#if PLAN_NEEDS > 0
    if (arguments.steps < 0) // in no launch, which compilers do not know
        need_registers<PLAN_NEEDS>(reinterpret_cast<volatile unsigned *>(arguments.grid[0].data));
#endif
    Thread thread;
    if (thread.place(arguments))
        walk(arguments, thread);
}
