// csr, a warp a row, or where rows are short `lanes` threads of one: neighbouring lanes read
// neighbouring entries, and add their sums up at the end.
//
//     value  [a b c d e f g h i j | k l m …      lanes = 4:
//             0 1 2 3 0 1 2 3 0 1   0 1 2            the lane that takes each entry
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "spmv.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index row = thread_index() / plan::lanes;
    const int lane = threadIdx.x % plan::lanes;
    Sums sums;
    if (row < a.rows) {
        const Index end = load(a.offset + row + 1);
        for (Index k = static_cast<Index>(load(a.offset + row)) + lane; k < end; k += plan::lanes)
            sums.add(a, load(a.value + k), load(a.column + k));
    }
    // Every thread of the warp comes here, also those behind the last row.
#pragma unroll
    for (int v = 0; v < plan::vectors; ++v)
#pragma unroll
        for (int step = plan::lanes / 2; step > 0; step /= 2)
            sums.of[v] += shuffle_xor(sums.of[v], step);
    if (lane == 0 && row < a.rows)
        sums.store(a, row);
}
