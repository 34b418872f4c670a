// coalesced: a tree at halving strides, in global memory. The threads that still have work are the
// first ones, so that whole warps drop out and those that work read neighbouring elements (Hwu,
// Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., section 10.4). An element
// meets another far away, so that operators must commute.
//
//                x0   x1   x2   x3 | x4 x5 x6 x7
//     load       04   15   26   37                 thread t takes elements t and t + threads
//     stride 2   0426 1537                         threads 0 and 1 work
//     stride 1   all                               thread 0 works
//
// The textbook overwrites its input; here a row of temporary memory for each block takes its place.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/launches.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "element.cuh"
#include "block.cuh"
#include "partials.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const int thread = static_cast<int>(threadIdx.x);
    const Index at = static_cast<Index>(blockIdx.x) * tile + thread;
    Item *const row = partials(arguments) + static_cast<Index>(blockIdx.x) * plan::pitch;
    row[thread] =
        combine(arguments, item_or_none(arguments, at), item_or_none(arguments, at + plan::threads));
    for (int stride = plan::threads / 2; stride > 0; stride /= 2) {
        __syncthreads(); // the results of the stride before are there
        if (thread < stride)
            row[thread] = combine(arguments, row[thread], row[thread + stride]);
    }
}
