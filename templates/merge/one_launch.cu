// one-launch: as merge-path, but a block searches the diagonals of its tiles itself, a warp for each,
// and merges several tiles one after another: an equal share of the outputs. There are as many blocks
// as run at once, or one for every plan::rounds tiles.
//
//     share     [ tile 0 | tile 1 | … | tile w−1 ][ tile w | … ]     w: the warps of a block
//                ^ searched in all of a and b      ^ up to w at once, no further from the first than
//                  (and where the share ends,        they can be
//                  if it is one tile)
//
// With two stages the copies of a tile are under way while the one before is merged. Blocks do not
// wait for each other.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/streaming.cuh"
#include "arch/async.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "merge.cuh"
#include "tile.cuh"

constexpr int warps = plan::threads / warp_size;
constexpr int ranks_at = (plan::stages * stage_bytes + 7) / 8 * 8;
static_assert(ranks_at + (warps + 1) * 8 <= plan::shared_bytes, "the host counts the same bytes");

// The share of a block, and the co-ranks in shared memory: ranks[0] is that of its first output,
// ranks[1 + r % warps] that of the one after tile r.
struct Share {
    const Arguments &arguments;
    Index *ranks;
    Index begin, end;
    int tiles;

    __device__ __forceinline__ Index begin_of(int r) const {
        return minimum<Index>(begin + static_cast<Index>(r) * tile, end);
    }
    // The first co-ranks, by the first warps.
    __device__ __forceinline__ void search_first() const {
        for (int k = warp(); k < (tiles == 1 ? 2 : 1); k += warps) {
            const Index rank = co_rank_together<warp_size>(arguments, k == 0 ? begin : end);
            if (lane() == 0)
                ranks[k] = rank;
        }
    }
    // Those after tile r and the next ones, a warp each; `rank` is that of the first of r.
    __device__ __forceinline__ void search_group(int r, Index rank) const {
        const int after = r + 1 + warp();
        if (after <= tiles) {
            const Index diagonal = begin_of(after), so_far = begin_of(r);
            const Index b_left = arguments.b_count - (so_far - rank);
            const Index low = maximum<Index>(0, diagonal - so_far - b_left);
            const Index high = minimum(diagonal - so_far, arguments.a_count - rank);
            const Index found =
                co_rank_together<warp_size>(arguments, diagonal, rank + low, high - low);
            if (lane() == 0)
                ranks[1 + warp()] = found;
        }
    }
};

extern "C" __global__ void
    __launch_bounds__(plan::threads, plan::blocks)
        PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const Index count = arguments.a_count + arguments.b_count;
    const Index packs = (count + slot_pack - 1) / slot_pack;
    const Index length = (packs + gridDim.x - 1) / gridDim.x * slot_pack;
    const Index begin = blockIdx.x * length, end = minimum<Index>(begin + length, count);
    if (begin >= end)
        return;
    const Share share = {arguments, reinterpret_cast<Index *>(shared_bytes() + ranks_at), begin, end,
                         static_cast<int>((end - begin + tile - 1) / tile)};
    share.search_first();
    __syncthreads(); // the block knows where it begins
    const int stages_begin = shared_begin();
    Index rank = share.ranks[0];
    Tile next;
    const auto start = [&](int r) {
        if (r % warps == 0 && share.tiles > 1) {
            share.search_group(r, rank); // since the ranks were read there was a barrier
            __syncthreads();             // they are there before anyone reads them
        }
        const Parts parts(share.begin_of(r), rank, share.begin_of(r + 1),
                          share.ranks[1 + r % warps]);
        rank = parts.a_end;
        next = stage_tile(arguments, parts, stages_begin + r % plan::stages * stage_bytes);
        copies_commit();
    };
    if (plan::stages > 1)
        start(0);
    for (int r = 0; r < share.tiles; ++r) {
        if (plan::stages == 1)
            start(r);
        copies_wait<0>();
        __syncthreads(); // the tile is complete, and everyone has stored the one before
        const Tile now = next;
        if (plan::stages > 1 && r + 1 < share.tiles)
            start(r + 1);
        merge_tile<true>(arguments, now, share.begin_of(r));
        if (plan::stages == 1)
            __syncthreads(); // everyone has stored what is loaded over
    }
}
