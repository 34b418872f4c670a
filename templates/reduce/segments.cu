// one-pass on segments: a group of threads a segment, which is a block where segments are long by
// their mean length, else a warp. Groups take segments in turn; no result depends on another.
//
//     offsets   0     3 3        7   …      segment s is [offsets[s], offsets[s + 1])
//     groups    0     1 2        3   …
//
// Offsets that lead out of the input are cut to it: they can spoil results, nothing else.
#include "arch/compilers.cuh"
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/launches.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "element.cuh"
#include "block.cuh"
#include "share.cuh"

struct Range {
    Index first, end;
};

__device__ __forceinline__ Range range_of(const Arguments &arguments, Index segment) {
    const Index count = arguments.count;
    Index first = arguments.offsets[segment], end = arguments.offsets[segment + 1];
    first = first < 0 ? 0 : first > count ? count : first;
    end = end < first ? first : end > count ? count : end;
    return {first, end};
}

template <bool aligned> __device__ __forceinline__ void by_blocks(const Arguments &arguments) {
    Item *const place = reinterpret_cast<Item *>(shared_bytes());
    for (Index s = blockIdx.x; s < arguments.segments; s += gridDim.x) {
        const Range r = range_of(arguments, s);
        const Item mine =
            join_share<aligned, false>(arguments, r.first, r.end, threadIdx.x, plan::threads);
        const Item total = reduce_block(arguments, mine, place);
        if (threadIdx.x == 0)
            Kind::store(arguments, s, total);
        __syncthreads(); // the places of the warps are free for the next segment
    }
}

template <bool aligned> __device__ __forceinline__ void by_warps(const Arguments &arguments) {
    const Index width = static_cast<Index>(gridDim.x) * warps;
    for (Index s = static_cast<Index>(blockIdx.x) * warps + warp(); s < arguments.segments;
         s += width) { // the same for all lanes
        const Range r = range_of(arguments, s);
        const Item total = reduce_warp(
            arguments, join_share<aligned, false>(arguments, r.first, r.end, lane(), warp_size));
        if (lane() == 0)
            Kind::store(arguments, s, total);
    }
}

template <bool aligned>
__device__ __forceinline__ void reduce_segments(const Arguments &arguments) {
    if (arguments.count / arguments.segments >= plan::block_mean)
        by_blocks<aligned>(arguments);
    else
        by_warps<aligned>(arguments);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    await_launch_before();
    if (is_aligned(arguments))
        reduce_segments<true>(arguments);
    else
        reduce_segments<false>(arguments);
}
