// sell (SELL-C-sigma): slices of C rows, each an ell as wide as its own longest row; rows are
// sorted by length, within every sigma of them, so that those of a slice are alike. A thread a row
// of a slice.
//
//     C = 2     row     0 2 | 1 3        value  slice 0 [a b | c d | e −]   offset[0] = 0
//                                               slice 1 [f g | h −]         offset[1] = 6
//                                                                           offset[2] = 10
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "plan.h"
#include "spmv.cuh"
#include "places.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index i = thread_index();
    if (i >= a.rows)
        return;
    const Index slice = i / plan::slice;
    Sums sums;
    const Index end = load(a.offset + slice + 1);
    for (Index at = load(a.offset + slice) + i % plan::slice; at < end;
         at += plan::items * plan::slice)
        if (add_places<plan::items, plan::cache>(a, at, plan::slice,
                                                 (end - at + plan::slice - 1) / plan::slice,
                                                 sums) < 0)
            break;
    sums.store(a, load(a.row + i));
}
