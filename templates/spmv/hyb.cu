// hyb: the first entries of each row as ell, which few rows leave unused, and what longer rows have
// beyond them as a list (entries.cuh), added by a second launch.
//
//     row  a b c |           ell of width 3, and the tail: d e f g
//          a b c | d e f g
//          a − − |
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "arch/launches.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "spmv.cuh"
#include "segments.cuh"
#include "entries.cuh"
#include "places.cuh"
#include "ell.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    ell_row<4, 1, 1, 0>(a);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    add_entries(a, a.tail_row, a.tail_column, a.tail_value, a.tail);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    add_entry_carries(a, a.tail);
}
