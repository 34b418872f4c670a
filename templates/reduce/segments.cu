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

// Elements first … end − 1, of which the thread with this rank in its group takes its part.
//
//     | head |  pack  |  pack  |  pack  | … | tail |     packs to threads in turn
//               t0       t1       t2
template <bool aligned>
__device__ __forceinline__ Item join_packs(const Arguments &arguments, Index first, Index end,
                                           Index rank, Index width) {
    const Index low = (first + pack - 1) / pack, high = end / pack; // packs that lie inside
    Item sum[pack];
#pragma unroll
    for (int k = 0; k < pack; ++k)
        sum[k] = none();
    if (low >= high) { // a group has at least a warp, and here there are less than two packs
        if (first + rank < end)
            sum[1] = item_at(arguments, first + rank);
    } else {
        if (first + rank < low * pack)
            sum[0] = item_at(arguments, first + rank);
        if (high * pack + rank < end)
            sum[1] = item_at(arguments, high * pack + rank);
        Index p = low + rank;
        for (; p + (packs - 1) * width < high; p += packs * width) {
            Elements from[packs];
#pragma unroll
            for (int i = 0; i < packs; ++i)
                from[i] = read_elements<aligned>(arguments, p + i * width);
#pragma unroll
            for (int k = 0; k < pack; ++k) {
                Item item = sum[k];
#pragma unroll
                for (int i = 0; i < packs; ++i)
                    item = combine(arguments, item, item_of(arguments, from[i], p + i * width, k));
                sum[k] = item;
            }
        }
        for (; p < high; p += width) {
            const Elements from = read_elements<aligned>(arguments, p);
#pragma unroll
            for (int k = 0; k < pack; ++k)
                sum[k] = combine(arguments, sum[k], item_of(arguments, from, p, k));
        }
    }
    return join_halves(arguments, sum);
}

template <bool aligned>
__device__ __forceinline__ Item join_share(const Arguments &arguments, Index first, Index end,
                                           Index rank, Index width) {
    if constexpr (plan::ordered != 0)
        return join_runs<aligned>(arguments, first, end, rank, width);
    else
        return join_packs<aligned>(arguments, first, end, rank, width);
}

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
            join_share<aligned>(arguments, r.first, r.end, threadIdx.x, plan::threads);
        const Item total = reduce_block(arguments, mine, place);
        if (threadIdx.x == 0)
            store_item(arguments, s, total);
        __syncthreads(); // the places of the warps are free for the next segment
    }
}

template <bool aligned> __device__ __forceinline__ void by_warps(const Arguments &arguments) {
    const Index width = static_cast<Index>(gridDim.x) * warps;
    for (Index s = static_cast<Index>(blockIdx.x) * warps + warp(); s < arguments.segments;
         s += width) { // the same for all lanes
        const Range r = range_of(arguments, s);
        const Item total = reduce_warp(
            arguments, join_share<aligned>(arguments, r.first, r.end, lane(), warp_size));
        if (lane() == 0)
            store_item(arguments, s, total);
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
