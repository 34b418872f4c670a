// interleaved: a tree of neighbours at doubling strides, in global memory. The threads that still
// have work lie further and further apart, so that all warps stay busy with few lanes each: control
// divergence (Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed.,
// section 10.3). The order of the elements is kept.
//
//                x0 x1   x2 x3   x4 x5   x6 x7
//     load       0..1    2..3    4..5    6..7      thread t takes elements 2 t and 2 t + 1
//     stride 1   0..3            4..7              threads 0 and 2 work
//     stride 2   0..7                              thread 0 works
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
    const Index at = static_cast<Index>(blockIdx.x) * tile + 2 * thread;
    Item *const row = partials(arguments) + static_cast<Index>(blockIdx.x) * plan::pitch;
    row[thread] = combine(arguments, item_or_none(arguments, at), item_or_none(arguments, at + 1));
    for (int stride = 1; stride < plan::threads; stride *= 2) {
        __syncthreads(); // the results of the stride before are there
        if (thread % (2 * stride) == 0)
            row[thread] = combine(arguments, row[thread], row[thread + stride]);
    }
}
