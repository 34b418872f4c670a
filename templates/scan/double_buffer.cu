// double-buffer: Kogge and Stone's scan between two buffers that change places after each step, so
// that a step has one barrier instead of two (Hwu, Kirk, El Hajj: Programming Massively Parallel
// Processors, 4th ed., section 11.2).
//
//     first    x0    x1    x2    x3        0..0  0..1  0..2  0..3
//                \ |   \ |   \ |   ↓ distance 1     ↑ distance 2
//     second   0..0  0..1  1..2  2..3  ———————————→
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "plan.h"
#include "phases.cuh"

__device__ Real *scan_section(const Arguments &arguments, Real *shared) {
    const int i = static_cast<int>(threadIdx.x);
    Real *from = shared, *to = shared + section;
    for (int distance = 1; distance < section; distance *= 2) {
        to[i] = i >= distance ? combine(arguments, from[i - distance], from[i]) : from[i];
        // The row is complete before anyone reads of it, and everyone has read of the one before,
        // which the next step overwrites.
        __syncthreads();
        Real *const read = from;
        from = to;
        to = read;
    }
    return from;
}
