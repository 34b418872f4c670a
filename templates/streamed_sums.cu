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

#include "arch/launches.cuh"
#include "walk_order.cuh"
#include "stream.cuh"
#include "stream_any.cuh"

#include "lines.cuh"

#include "row_sums.cuh"

#include "sum_points.cuh"

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
        stores.put(a, thread, j, z, thread.stays(a, j, z), out);
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
struct ByPlanes {
    template <class At>
    static __device__ __forceinline__ void add(const At &at, const Arguments &a,
                                               Real (&sum)[plan::outputs][depth]) {
        add_plane(at, a, sum);
    }
    static __device__ __forceinline__ void store(const Arguments &a, const Point &p,
                                               const Real (&sum)[plan::outputs][depth]) {
        Outputs out;
        for (int o = 0; o < plan::outputs; ++o)
            out[o] = sum[o][0];
        finish_sums(a, out);
        put(a, p, out);
    }
    static __device__ __forceinline__ void make(const Arguments &a, const Point &p) {
        sum_anywhere<ByPlanes>(a, p.x, p.y, p.z);
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
#if defined(PLAN_MIXED)
        need_registers<PLAN_NEEDS>(reinterpret_cast<volatile unsigned *>(arguments.grid[At<0>()].data));
#else
        need_registers<PLAN_NEEDS>(reinterpret_cast<volatile unsigned *>(arguments.grid[0].data));
#endif
#endif
    Thread thread;
    if (thread.place(arguments))
        walk(arguments, thread);
}
