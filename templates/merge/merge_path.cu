// merge-path: outputs are cut into tiles by their diagonals, and a tile into threads (O. Green,
// R. McColl, D. Bader, GPU Merge Path, ICS 2012). A first launch searches the diagonals of all
// tiles at once; then a block merges its tile in shared memory.
//
//     splits    a_0      a_1      a_2            how many of a come before each tile: by as many
//                                                lanes together as plan::lanes, or by a thread
//                                                each, between the splits of its block's ends
//     a, b      [ a a a a a b b b ]              both parts of a tile, together as long as it
//     threads   [ 0 0 | 1 1 | 2 2 | 3 3 ]        plan::items outputs each, in registers
//     output    [ o o o o o o o o ]              through shared memory, so that consecutive
//                                                threads store consecutive outputs
#include "common.cuh"
#include "shared.cuh"
#include "numbers.cuh"
#include "streaming.cuh"
#include "async.cuh"
#include "warps.cuh"
#include "plan.h"
#include "merge.cuh"
#include "tile.cuh"

static_assert(stage_bytes <= plan::shared_bytes, "the host counts the same bytes");

// A diagonal a thread. The block's first and last are searched in all of the lists, a warp each, and
// the others between them.
__device__ __forceinline__ Index co_rank_of_thread(const Arguments &arguments, Index diagonal,
                                                   Index count) {
    constexpr int warps = plan::split_threads / warp_size;
    constexpr Index length = static_cast<Index>(plan::split_threads) * tile;
    Index *const ends = reinterpret_cast<Index *>(shared_bytes());
    const Index first = minimum<Index>(blockIdx.x * length, count);
    const Index last = minimum<Index>(first + length, count);
    for (int k = warp(); k < 2; k += warps) {
        const Index rank = co_rank_together<warp_size>(arguments, k == 0 ? first : last);
        if (lane() == 0)
            ends[k] = rank;
    }
    __syncthreads(); // both are there
    return co_rank_between(arguments, diagonal, first, ends[0], last, ends[1]);
}

extern "C" __global__ void __launch_bounds__(plan::split_threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const Index count = arguments.a_count + arguments.b_count;
    const Index at =
        (static_cast<Index>(blockIdx.x) * plan::split_threads + threadIdx.x) / plan::lanes;
    const Index diagonal = minimum<Index>(at * tile, count);
    Index rank;
    if constexpr (plan::lanes == 1)
        rank = co_rank_of_thread(arguments, diagonal, count);
    else
        rank = co_rank_together<plan::lanes>(arguments, diagonal);
    if (at <= (count + tile - 1) / tile && threadIdx.x % plan::lanes == 0)
        static_cast<Index *>(arguments.splits)[at] = rank;
}

extern "C" __global__ void
    __launch_bounds__(plan::threads, plan::blocks)
        PATTERN_KERNEL_1(const __grid_constant__ Arguments arguments) {
    const Index *const splits = static_cast<const Index *>(arguments.splits) + blockIdx.x;
    const Index begin = static_cast<Index>(blockIdx.x) * tile;
    const Index end = minimum<Index>(begin + tile, arguments.a_count + arguments.b_count);
    const Tile t = stage_tile(arguments, Parts(begin, splits[0], end, splits[1]),
                              shared_begin());
    copies_commit();
    copies_wait<0>();
    __syncthreads(); // the tile is complete before anyone searches in it
    merge_tile<false>(arguments, t, begin);
}
