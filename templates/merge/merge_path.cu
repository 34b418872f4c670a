// merge-path: outputs are cut into tiles by their diagonals, and a tile into threads (O. Green,
// R. McColl, D. Bader, GPU Merge Path, ICS 2012). A first launch searches the diagonals of all
// tiles at once; then a block merges its tile in shared memory.
//
//     splits    a_0      a_1      a_2            how many of a come before each tile: found
//                                                between those of the ends of a block of the
//                                                first launch
//     a, b      [ a a a a a b b b ]              both parts of a tile, together as long as it
//     threads   [ 0 0 | 1 1 | 2 2 | 3 3 ]        plan::items outputs each, in registers
//     output    [ o o o o o o o o ]              through shared memory, so that consecutive
//                                                threads store consecutive outputs
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/streaming.cuh"
#include "arch/async.cuh"
#include "arch/launches.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "merge.cuh"
#include "tile.cuh"

static_assert(stage_bytes <= plan::shared_bytes, "the host counts the same bytes");

// The co-ranks of two diagonals among all of the lists, each by a warp of the block.
__device__ __forceinline__ void search_ends(const Arguments &arguments, Index first, Index last,
                                            int warps, Index ends[2]) {
    for (int k = warp(); k < 2; k += warps) {
        const Index rank =
            co_rank_together<warp_size>(arguments, k == 0 ? first : last);
        if (lane() == 0)
            ends[k] = rank;
    }
}

// A block's first and last diagonals are searched in all of the lists, and the others between them,
// by plan::lanes lanes each.
extern "C" __global__ void __launch_bounds__(plan::split)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    next_may_begin();
    constexpr int diagonals = plan::split / plan::lanes;
    Index *const ends = reinterpret_cast<Index *>(shared_bytes());
    const Index count = arguments.a_count + arguments.b_count;
    const Index begin = static_cast<Index>(blockIdx.x) * diagonals;
    const Index first = minimum<Index>(begin * tile, count);
    const Index last = minimum<Index>(first + static_cast<Index>(diagonals) * tile, count);
    search_ends(arguments, first, last, plan::split / warp_size, ends);
    __syncthreads(); // both are there
    const Index at = begin + static_cast<int>(threadIdx.x) / plan::lanes;
    const Index rank = co_rank_between<plan::lanes>(
        arguments, minimum<Index>(at * tile, count), first, ends[0], last, ends[1]);
    if (at <= (count + tile - 1) / tile && threadIdx.x % plan::lanes == 0)
        static_cast<Index *>(arguments.splits)[at] = rank;
}

// The first blocks do not wait for that, as many as run at once: each searches for its two diagonals,
// which takes less time than all of the first launch, and merges meanwhile.
//
// That these write outputs before the first launch has ended does no harm: it reads the lists, which
// the outputs do not overlap. But no block ends before it, so that what comes after this launch comes
// after both, and may write the lists and the splits.
extern "C" __global__ void
    __launch_bounds__(plan::threads, plan::blocks)
        PATTERN_KERNEL_1(const __grid_constant__ Arguments arguments) {
    const Index begin = static_cast<Index>(blockIdx.x) * tile;
    const Index end = minimum<Index>(begin + tile, arguments.a_count + arguments.b_count);
    const bool early = blockIdx.x < plan::early;
    Index *const ends = reinterpret_cast<Index *>(shared_bytes());
    if (early) {
        search_ends(arguments, begin, end, plan::threads / warp_size, ends);
        __syncthreads(); // both are there
    } else {
        await_launch_before();
    }
    const Index *const splits =
        early ? ends : static_cast<const Index *>(arguments.splits) + blockIdx.x;
    const Parts parts(begin, splits[0], end, splits[1]);
    if (early)
        __syncthreads(); // everyone has read them before they are loaded over
    const Tile t = stage_tile(arguments, parts, shared_begin());
    copies_commit();
    copies_wait<0>();
    __syncthreads(); // the tile is complete before anyone searches in it
    merge_tile<false>(arguments, t, begin);
    if (early)
        await_launch_before();
}
