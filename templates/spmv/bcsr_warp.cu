// bcsr, a warp a block row: as many blocks at a time as the warp has lanes for, a lane an element,
// so that lanes read neighbours. A lane keeps its place within the blocks.
//
//     2 × 2     value  [a b c d | e f g h | …     lanes 0 1 2 3 | 4 5 6 7 | … 31
//                                                  row   0 0 1 1 | 0 0 1 1 | …
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "spmv.cuh"

constexpr int elements = plan::block_rows * plan::block_columns;
constexpr int at_once = 32 / elements; // blocks
static_assert(at_once > 0, "a block has as many elements as a warp has lanes at most");

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index block_row = thread_index() / 32;
    const int lane = threadIdx.x % 32;
    Real sum = 0;
    if (block_row * plan::block_rows < a.rows && lane < at_once * elements) {
        const Index end = load(a.offset + block_row + 1);
        for (Index k = load(a.offset + block_row) + lane / elements; k < end; k += at_once) {
            const Value element = load(a.value + k * elements + lane % elements);
            if (element != 0) // else no entry: x may hold a NaN there, or end before
                sum += static_cast<Real>(element) *
                       x_at(a,
                            static_cast<Index>(load(a.column + k)) * plan::block_columns +
                                lane % plan::block_columns,
                            0);
        }
    }
    // Lane r adds up the sums of row r, wherever they are; all lanes take part in every shuffle.
    Real total = 0;
#pragma unroll
    for (int block = 0; block < at_once; ++block)
#pragma unroll
        for (int c = 0; c < plan::block_columns; ++c) {
            const int place = (lane % plan::block_rows) * plan::block_columns + c;
            total += shuffle(sum, block * elements + place);
        }
    const Index row = block_row * plan::block_rows + lane;
    if (lane < plan::block_rows && row < a.rows)
        store_sum(a, row, 0, total);
}
