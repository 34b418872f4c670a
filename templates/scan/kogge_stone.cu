// kogge-stone: every thread adds to its element the one a distance before it, and the distance
// doubles (Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., section 11.2).
//
//                 x0    x1    x2    x3    x4    x5    x6    x7
//     distance 1  0..0  0..1  1..2  2..3  3..4  4..5  5..6  6..7
//     distance 2  0..0  0..1  0..2  0..3  1..4  2..5  3..6  4..7
//     distance 4  0..0  0..1  0..2  0..3  0..4  0..5  0..6  0..7
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "plan.h"
#include "phases.cuh"

__device__ Real *scan_section(const Arguments &arguments, Real *shared) {
    const int i = static_cast<int>(threadIdx.x);
    Real sum = shared[i];
    for (int distance = 1; distance < section; distance *= 2) {
        if (i >= distance)
            sum = combine(arguments, shared[i - distance], sum);
        __syncthreads(); // everyone has read of this row before anyone writes the next over it
        shared[i] = sum;
        __syncthreads(); // the row is complete before anyone reads of it
    }
    return shared;
}
