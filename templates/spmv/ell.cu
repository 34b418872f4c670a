// ell, a thread a row (ell.cuh), a launch a pass.
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "plan.h"
#include "spmv.cuh"
#include "places.cuh"
#include "ell.cuh"

#define ELL_PASS(kernel, pass)                                                                     \
    extern "C" __global__ void __launch_bounds__(plan::threads)                                    \
        kernel(const __grid_constant__ Arguments a) {                                              \
        ell_row<plan::items, plan::cache, plan::passes, pass>(a);                                  \
    }

ELL_PASS(PATTERN_KERNEL_0, 0)
#if defined(PATTERN_KERNEL_1)
ELL_PASS(PATTERN_KERNEL_1, 1)
#endif
#if defined(PATTERN_KERNEL_2)
ELL_PASS(PATTERN_KERNEL_2, 2)
#endif
#if defined(PATTERN_KERNEL_3)
ELL_PASS(PATTERN_KERNEL_3, 3)
#endif
