// one-pass: a list of any length in one launch. Each block reduces its share, writes the result
// down and draws a ticket; the one that draws the last reduces the results in the order of the
// blocks (the pattern of threadFenceReduction in NVIDIA's CUDA samples). Shares and order depend on
// the length alone: every run gives the same bits. A single block needs no ticket.
//
//     blocks    0 1 2 3 0 1 2 3 0 1 …        packs to the threads of all blocks in turn,
//               0 0 0 1 1 1 2 2 2 …          or consecutive shares where the order counts
//     partials  p0 p1 p2 p3
//     ticket    2  0  3  1                   block 2 is last: p0 ∘ p1 ∘ p2 ∘ p3
#include "common.cuh"
#include "cooperation.cuh"
#include "plan.h"
#include "element.cuh"
#include "block.cuh"
#include "share.cuh"

struct Shared {
    Item place[warps];
    bool last;
};
static_assert(sizeof(Shared) <= plan::shared_bytes, "the host gives as much shared memory");

// In the order of blocks, a run for each thread. Thread 0 has the result.
__device__ __forceinline__ Item join_partials(const Arguments &arguments, const Item *partials,
                                              Item *place) {
    const int run = (static_cast<int>(gridDim.x) - 1) / plan::threads + 1;
    const int first = static_cast<int>(threadIdx.x) * run;
    Item mine = Kind::none();
    for (int i = first; i < first + run && i < static_cast<int>(gridDim.x); ++i)
        mine = join(arguments, mine, partials[i]);
    return reduce_block(arguments, mine, place);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes());
    const Index width = static_cast<Index>(gridDim.x) * plan::threads;
    const Index rank = static_cast<Index>(blockIdx.x) * plan::threads + threadIdx.x;
    const Item mine = is_aligned(arguments)
                          ? join_share<true>(arguments, 0, arguments.count, rank, width)
                          : join_share<false>(arguments, 0, arguments.count, rank, width);
    Item total = reduce_block(arguments, mine, shared.place);
    if (gridDim.x > 1) {
        Item *const partials = static_cast<Item *>(arguments.partials);
        if (threadIdx.x == 0) {
            partials[blockIdx.x] = total;
            __threadfence(); // whoever sees the ticket sees the partial
            const unsigned drawn = atomic_add(static_cast<unsigned *>(arguments.ticket), 1u);
            __threadfence(); // whoever has drawn the last ticket sees all partials
            shared.last = drawn == gridDim.x - 1;
        }
        __syncthreads(); // all threads know; and the places of the warps are free again
        if (!shared.last)
            return;
        total = join_partials(arguments, partials, shared.place);
    }
    if (threadIdx.x == 0)
        Kind::store(arguments, 0, total);
}
