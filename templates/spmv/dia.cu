// dia: diagonals, each as long as A is high, by their distance from the main one. No column is
// stored. A thread a row: lanes read neighbours, of x as well.
//
//     diagonal  −1  0  2          value  d=0 [0 c f i]     row r of a diagonal: column r + diagonal
//                                        d=1 [a d g j]
//          a · b ·                       d=2 [b e 0 0]     0: outside of A, or no entry
//          c d · e
//          · f g ·
//          · · i j
#include "common.cuh"
#include "cooperation.cuh"
#include "plan.h"
#include "spmv.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index row = thread_index();
    if (row >= a.rows)
        return;
    Sums sums;
    for (Index at = row, d = 0; d < a.diagonals; ++d, at += a.rows) {
        const Index column = row + load(a.diagonal + d);
        const Value value = load(a.value + at);
        // 0 says that there is no entry: x has none to meet, or one that may be NaN.
        if (value != 0 && column >= 0 && column < a.columns)
            sums.add(a, value, column);
    }
    sums.store(a, row);
}
