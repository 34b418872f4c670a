// merge-path: outputs are cut into tiles by their diagonals, and a tile into threads (O. Green,
// R. McColl, D. Bader, GPU Merge Path, ICS 2012). A first launch searches the diagonals of all
// tiles at once; then a block merges its tile in shared memory.
//
//     splits    a_0      a_1      a_2            how many of a come before each tile
//     a, b      [ a a a a a b b b ]              both parts of a tile, together as long as it
//     threads   [ 0 0 | 1 1 | 2 2 | 3 3 ]        plan::items outputs each, in registers
//     output    [ o o o o o o o o ]              through shared memory, so that consecutive
//                                                threads store consecutive outputs
#include "common.cuh"
#include "async.cuh"
#include "cooperation.cuh"
#include "plan.h"
#include "merge.cuh"
#include "tile.cuh"

static_assert(stage_bytes <= plan::shared_bytes, "the host counts the same bytes");

extern "C" __global__ void
    __launch_bounds__(plan::threads) PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const Index count = arguments.a_count + arguments.b_count;
    const Index at =
        (static_cast<Index>(blockIdx.x) * plan::threads + threadIdx.x) / plan::lanes;
    const Index rank = co_rank_together<plan::lanes>(arguments, minimum<Index>(at * tile, count));
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
    merge_tile(arguments, t, begin);
}
