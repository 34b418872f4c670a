// dia: diagonals, each as long as A is high, by their distance from the main one. No column is
// stored. A thread a row: lanes read neighbours, of x as well.
//
//     diagonal  −1  0  2          value  d=0 [0 c f i]     row r of a diagonal: column r + diagonal
//                                        d=1 [a d g j]
//          a · b ·                       d=2 [b e 0 0]     0: outside of A, or no entry
//          c d · e
//          · f g ·
//          · · i j
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "plan.h"
#include "spmv.cuh"

// One diagonal: x is read where the row has an entry.
__device__ __forceinline__ void add_diagonal(const Arguments &a, Index row, Index d, Sums &sums) {
    const Index column = row + load(a.diagonal + d);
    const Value value = load(a.value + d * a.rows + row);
    // 0 says that there is no entry: x has none to meet, or one that may be NaN.
    if (value != 0 && column >= 0 && column < a.columns)
        sums.add(a, value, column);
}

// `items` diagonals, of which all reads are on their way at once: x is read before it is known whether
// the row has an entry there.
__device__ __forceinline__ void add_diagonals(const Arguments &a, Index row, Index first,
                                              Sums &sums) {
    Index column[plan::items];
    Value value[plan::items];
    Real x[plan::items][plan::vectors];
#pragma unroll
    for (int k = 0; k < plan::items; ++k) {
        column[k] = row + load(a.diagonal + first + k);
        value[k] = load(a.value + (first + k) * a.rows + row);
    }
#pragma unroll
    for (int k = 0; k < plan::items; ++k)
#pragma unroll
        for (int v = 0; v < plan::vectors; ++v)
            x[k][v] = column[k] >= 0 && column[k] < a.columns ? x_at(a, column[k], v) : Real(0);
#pragma unroll
    for (int k = 0; k < plan::items; ++k)
#pragma unroll
        for (int v = 0; v < plan::vectors; ++v)
            if (value[k] != 0)
                sums.of[v] += static_cast<Real>(value[k]) * x[k][v];
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index row = thread_index();
    if (row >= a.rows)
        return;
    Sums sums;
    Index d = 0;
    if (plan::items > 1)
#pragma unroll 1
        for (; d + plan::items <= a.diagonals; d += plan::items)
            add_diagonals(a, row, d, sums);
    for (; d < a.diagonals; ++d)
        add_diagonal(a, row, d, sums);
    sums.store(a, row);
}
