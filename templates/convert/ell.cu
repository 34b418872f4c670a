// csr to ell: all rows padded to the longest, stored across.
//
//     out     column[rows, K] value[rows, K]
//     totals  K, the longest row's entries; 0 before
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/warps.cuh"
#include "arch/cooperation.cuh"
#include "plan.h"
#include "convert.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index stride = static_cast<Index>(gridDim.x) * plan::threads;
    Index longest = 0;
    for (Index row = global_thread(); row < a.rows; row += stride)
        longest = maximum<Index>(longest, load(a.offset + row + 1) - load(a.offset + row));
#pragma unroll
    for (int away = warp_lanes / 2; away > 0; away /= 2)
        longest = maximum(longest, shuffle_xor(longest, away));
    if (threadIdx.x % warp_lanes == 0 && load_relaxed(a.totals) < longest)
        atomicMax(a.totals, longest);
}

// A thread a row: lanes write neighbours.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    const Index row = global_thread(), width = a.totals[0];
    if (row >= a.rows)
        return;
    const Index begin = load(a.offset + row), length = load(a.offset + row + 1) - begin;
    Integer *column = static_cast<Integer *>(a.out[0]) + row;
    Word *value = static_cast<Word *>(a.out[1]) + row;
#pragma unroll 4
    for (Index k = 0; k < width; ++k, column += a.rows, value += a.rows) {
        *column = k < length ? load(a.column + begin + k) : Integer(-1);
        *value = k < length ? load(a.value + begin + k) : Word(0);
    }
}
