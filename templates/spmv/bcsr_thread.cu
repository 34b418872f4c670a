// bcsr, a thread a row: csr of small dense blocks, whose size the compiler knows, so that one
// column index serves several entries.
//
//     2 × 2     offset  0   2 3        block row 0: [a b | e f]   at columns 0 and 2 of blocks
//               column  0 2 1                       [c d | g h]
//               value   a b c d e f g h …           0 where there is no entry
#include "common.cuh"
#include "cooperation.cuh"
#include "plan.h"
#include "spmv.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index row = thread_index();
    if (row >= a.rows)
        return;
    const Index block_row = row / plan::block_rows, within = row % plan::block_rows;
    Sums sums;
    const Index end = load(a.offset + block_row + 1);
    for (Index k = load(a.offset + block_row); k < end; ++k) {
        const Value *const value = a.value + (k * plan::block_rows + within) * plan::block_columns;
        const Index column = static_cast<Index>(load(a.column + k)) * plan::block_columns;
#pragma unroll
        for (int c = 0; c < plan::block_columns; ++c) {
            const Value element = load(value + c);
            if (element != 0) // else no entry: x may hold a NaN there, or end before
                sums.add(a, element, column + c);
        }
    }
    sums.store(a, row);
}
