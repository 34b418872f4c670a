// ell, a thread a row (ell.cuh).
#include "common.cuh"
#include "cooperation.cuh"
#include "plan.h"
#include "spmv.cuh"
#include "ell.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    ell_row(a);
}
