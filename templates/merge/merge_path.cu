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
#include "cooperation.cuh"
#include "plan.h"
#include "merge.cuh"

constexpr int tile = plan::threads * plan::items;

struct Shared {
    Real keys[tile];
    int sources[plan::values ? tile : 1]; // where in the tile's parts an output was
};
static_assert(sizeof(Shared) <= plan::shared_bytes, "the host counts the same bytes");

extern "C" __global__ void
    __launch_bounds__(plan::threads) PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const Index count = arguments.a_count + arguments.b_count;
    const Index at = static_cast<Index>(blockIdx.x) * plan::threads + threadIdx.x;
    if (at <= (count + tile - 1) / tile)
        static_cast<Index *>(arguments.splits)[at] =
            co_rank_of(arguments, minimum<Index>(at * tile, count));
}

extern "C" __global__ void
    __launch_bounds__(plan::threads) PATTERN_KERNEL_1(const __grid_constant__ Arguments arguments) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes());
    const int thread = static_cast<int>(threadIdx.x);
    const Index *const splits = static_cast<const Index *>(arguments.splits) + blockIdx.x;
    const Index begin = static_cast<Index>(blockIdx.x) * tile;
    const Index end = minimum<Index>(begin + tile, arguments.a_count + arguments.b_count);
    const Parts parts(begin, splits[0], end, splits[1]);
    const int a_count = static_cast<int>(parts.a_end - parts.a_begin);
    const int outputs = static_cast<int>(end - begin), b_count = outputs - a_count;

#pragma unroll
    for (int k = 0; k < plan::items; ++k) {
        const int i = thread + k * plan::threads;
        if (i < outputs)
            shared.keys[i] = i < a_count ? arguments.a[parts.a_begin + i]
                                         : arguments.b[parts.b_begin + i - a_count];
    }
    __syncthreads(); // the tile is complete before anyone searches in it

    const auto a = [&](int i) { return shared.keys[i]; };
    const auto b = [&](int i) { return shared.keys[a_count + i]; };
    const int first = minimum(thread * plan::items, outputs);
    const int mine = minimum(plan::items, outputs - first);
    const int i = co_rank(arguments, first, a, a_count, b, b_count);
    Real keys[plan::items];
    int sources[plan::items];
    merge_some<plan::items>(arguments, a, i, a_count, b, first - i, b_count, mine,
                            [&](int k, Real key, bool from_a, int where) {
                                keys[k] = key;
                                sources[k] = from_a ? where : a_count + where;
                            });
    __syncthreads(); // everyone has read its keys before anyone writes outputs over them
#pragma unroll
    for (int k = 0; k < plan::items; ++k)
        if (k < mine) {
            shared.keys[first + k] = keys[k];
            if (plan::values)
                shared.sources[first + k] = sources[k];
        }
    __syncthreads(); // the outputs are complete before anyone stores what others made

#pragma unroll
    for (int k = 0; k < plan::items; ++k) {
        const int at = thread + k * plan::threads;
        if (at < outputs) {
            arguments.output[begin + at] = shared.keys[at];
            if constexpr (plan::values) {
                const int source = shared.sources[at];
                values_of_output(arguments)[begin + at] =
                    source < a_count ? values_of_a(arguments)[parts.a_begin + source]
                                     : values_of_b(arguments)[parts.b_begin + source - a_count];
            }
        }
    }
}
