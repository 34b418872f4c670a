// ell, a thread a row (ell.cuh), a launch a pass.
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "plan.h"
#include "spmv.cuh"
#include "places.cuh"
#include "ell.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    ell_row<plan::items, plan::cache, plan::passes, 0>(a);
}
#if defined(PATTERN_KERNEL_1)
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    ell_row<plan::items, plan::cache, plan::passes, 1>(a);
}
#endif
#if defined(PATTERN_KERNEL_2)
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    ell_row<plan::items, plan::cache, plan::passes, 2>(a);
}
#endif
#if defined(PATTERN_KERNEL_3)
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_3(const __grid_constant__ Arguments a) {
    ell_row<plan::items, plan::cache, plan::passes, 3>(a);
}
#endif
