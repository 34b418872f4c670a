// csr, a thread a row: the textbook's first kernel. Entries stand by row, and the lanes of a warp
// read far from each other; it serves where rows are short and alike.
//
//     offset  0     2        5 5 6         row r has the entries offset[r] … offset[r+1] − 1
//     column [1 4 | 0 2 3 |   | 4]
//     value  [a b | c d e |   | f]
//             t0    t1     t2  t3
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "plan.h"
#include "spmv.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index row = thread_index();
    if (row >= a.rows)
        return;
    Sums sums;
    const Index end = load(a.offset + row + 1);
    for (Index k = load(a.offset + row); k < end; ++k)
        sums.add(a, load(a.value + k), load(a.column + k));
    sums.store(a, row);
}
