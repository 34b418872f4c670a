// brent-kung: sums of pairs up a tree, and from its inner nodes down to the elements between them:
// about 2 n operations in 2 log2(n) − 1 steps, where Kogge and Stone's scan takes n log2(n) in
// log2(n) (Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., section 11.3).
// Threads of a step are consecutive, so that whole warps have nothing to do.
//
//                 x0    x1    x2    x3    x4    x5    x6    x7
//     up       1        0..1        2..3        4..5        6..7
//              2                    0..3                    4..7
//              4                                            0..7
//     down     2                                0..5
//              1              0..2        0..4        0..6
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "plan.h"
#include "phases.cuh"

__device__ Real *scan_section(const Arguments &arguments, Real *shared) {
    const int thread = static_cast<int>(threadIdx.x);
    for (int distance = 1; distance < section; distance *= 2) {
        const int i = (thread + 1) * 2 * distance - 1;
        if (i < section)
            shared[i] = combine(arguments, shared[i - distance], shared[i]);
        __syncthreads(); // the sums of this distance are there before the next adds them
    }
    for (int distance = section / 4; distance > 0; distance /= 2) {
        const int i = (thread + 1) * 2 * distance - 1;
        if (i + distance < section)
            shared[i + distance] = combine(arguments, shared[i], shared[i + distance]);
        __syncthreads(); // the sums of this distance are there before the next adds them
    }
    return shared;
}
