// runs on segments: for processors. A block is one thread, which takes neighbouring segments one after
// the other; no result depends on another.
//
//     offsets   0     3 3        7   …      segment s is [offsets[s], offsets[s + 1])
//     blocks    0     0 0        1
#include "arch/memory.cuh"
#include "arch/rows.cuh"
#include "numbers.cuh"
#include "arch/launches.cuh"
#include "plan.h"
#include "element.cuh"
#include "lanes.cuh"

__device__ __forceinline__ Index most(Index a, Index b) {
    return a < b ? b : a;
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const Index segments = arguments.segments, blocks = gridDim.x, block = blockIdx.x;
    const Index share = segments / blocks, more = segments % blocks; // these have one more
    const Index begin = block * share + least(block, more);
    const Index end = begin + share + (block < more ? 1 : 0);
    for (Index s = begin; s < end; ++s) {
        // Offsets that lead out of the input are cut to it.
        const Index first = most(0, least(arguments.offsets[s], arguments.count));
        const Index last = most(first, least(arguments.offsets[s + 1], arguments.count));
        store_item(arguments, s,
                   last - first <= few ? join_few<Inputs>(arguments, first, last)
                                       : join_run<Inputs>(arguments, first, last));
    }
}
