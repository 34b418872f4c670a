// co-rank: every thread finds by its co-rank where its outputs begin in a and b, and merges them
// from global memory (Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed.,
// section 12.5).
//
//     a       | · · · | · | · · · · |         parts of unequal length
//     b       | · | · · · |                   (one may be empty)
//     output  | t t t t | t t t t | t t t     but plan::items outputs a thread
#include "arch/memory.cuh"
#include "numbers.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "merge.cuh"

extern "C" __global__ void
    __launch_bounds__(plan::threads) PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const Index count = arguments.a_count + arguments.b_count;
    const Index begin =
        (static_cast<Index>(blockIdx.x) * plan::threads + threadIdx.x) * plan::items;
    if (begin >= count)
        return;
    const int mine = static_cast<int>(minimum<Index>(plan::items, count - begin));
    const Index i = co_rank_of(arguments, begin);
    merge_some<plan::items>(
        arguments, [&](Index at) { return arguments.a[at]; }, i, arguments.a_count,
        [&](Index at) { return arguments.b[at]; }, begin - i, arguments.b_count, mine,
        [&](int k, Real key, bool from_a, Index where) {
            put_output(arguments, begin + k, key, from_a, where);
        });
}
