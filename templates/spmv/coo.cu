// coo: entries with their rows, sorted by row. y is set to beta·y, which leaves the rows without
// entries as they are to be; then every block adds its entries (entries.cuh), and a last launch
// what blocks carry over to the next.
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

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index row = thread_index();
    if (row < a.rows)
        store_sum(a, row, 0, 0);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    add_entries(a, a.row, a.column, a.value, a.entries);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    add_entry_carries(a, a.entries);
}
