// tiled: a block merges plan::rounds tiles one after another, and reads each from shared memory
// (Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., section 12.6).
//
//     a   · · [ c c c c r r ] · ·     a tile of each list is loaded, because all outputs of a
//     b   · [ c c r r r r ] · · ·     round may come from one of them; what they consume (c) is
//                                     half of it, and the rest (r) is loaded again
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "merge.cuh"

constexpr int tile = plan::threads * plan::items;

struct Shared {
    Real a[tile], b[tile];
    Index ranks[2]; // co-ranks of the block's first output and of the one after its last
};
static_assert(sizeof(Shared) <= plan::shared_bytes, "the host counts the same bytes");

extern "C" __global__ void
    __launch_bounds__(plan::threads) PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes());
    const int thread = static_cast<int>(threadIdx.x);
    const Index count = arguments.a_count + arguments.b_count;
    const Index begin = static_cast<Index>(blockIdx.x) * tile * plan::rounds;
    const Index end = minimum<Index>(begin + tile * plan::rounds, count);
    if (thread < 2)
        shared.ranks[thread] = co_rank_of(arguments, thread == 0 ? begin : end);
    __syncthreads(); // the block knows its parts
    Parts parts(begin, shared.ranks[0], end, shared.ranks[1]);

    for (Index at = begin; at < end; at += tile) {
        const int a_count = static_cast<int>(minimum<Index>(tile, parts.a_end - parts.a_begin));
        const int b_count = static_cast<int>(minimum<Index>(tile, parts.b_end - parts.b_begin));
        for (int i = thread; i < a_count; i += plan::threads)
            shared.a[i] = arguments.a[parts.a_begin + i];
        for (int i = thread; i < b_count; i += plan::threads)
            shared.b[i] = arguments.b[parts.b_begin + i];
        __syncthreads(); // both tiles are complete before anyone searches in them

        const auto a = [&](int i) { return shared.a[i]; };
        const auto b = [&](int i) { return shared.b[i]; };
        const int outputs = static_cast<int>(minimum<Index>(tile, end - at));
        const int first = minimum(thread * plan::items, outputs);
        const int mine = minimum(plan::items, outputs - first);
        const int i = co_rank(arguments, first, a, a_count, b, b_count);
        merge_some<plan::items>(arguments, a, i, a_count, b, first - i, b_count, mine,
                                [&](int k, Real key, bool from_a, int where) {
                                    put_output(arguments, at + first + k, key, from_a,
                                               (from_a ? parts.a_begin : parts.b_begin) + where);
                                });
        const int consumed = co_rank(arguments, outputs, a, a_count, b, b_count);
        parts.a_begin += consumed;
        parts.b_begin += outputs - consumed;
        __syncthreads(); // everyone has done with the tiles before the next are loaded over them
    }
}
