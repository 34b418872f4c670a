// jds: rows sorted by length, the longest first; the k-th entries of the rows that have one stand
// together (a "jagged diagonal"), without padding. A thread a row: lanes read neighbours, and
// only the last warp of a diagonal has idle ones.
//
//     row     3 0 2 1        value  k=0 [a b c d]  offset[0] = 0
//                                   k=1 [e f g]    offset[1] = 4
//                                   k=2 [h]        offset[2] = 7, offset[3] = 8
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "plan.h"
#include "spmv.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index i = thread_index();
    if (i >= a.rows)
        return;
    Sums sums;
    Index begin = load(a.offset);
    for (Index k = 0; k < a.width; ++k) {
        const Index end = load(a.offset + k + 1);
        if (begin + i >= end)
            break; // this row is shorter
        sums.add(a, load(a.value + begin + i), load(a.column + begin + i));
        begin = end;
    }
    sums.store(a, load(a.row + i));
}
