// coarsened: each thread joins several elements by itself, without barriers and with every lane at
// work, before the tree in shared memory (Hwu, Kirk, El Hajj: Programming Massively Parallel
// Processors, 4th ed., section 10.7).
//
//     global   x0 x1 x2 x3 | x4 x5 x6 x7 | x8 x9 …     3 elements a thread, 4 threads
//     thread   0: x0 x4 x8   1: x1 x5 x9 …             neighbours read neighbours
//              0: x0 x1 x2   1: x3 x4 x5 …             where the operator does not commute
//     shared   the tree of tree.cuh                    → partials[block]
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/launches.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "element.cuh"
#include "block.cuh"
#include "partials.cuh"
#include "tree.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const int thread = static_cast<int>(threadIdx.x);
    const Index base = static_cast<Index>(blockIdx.x) * tile;
    const Index first = base + (plan::ordered ? plan::items * thread : thread);
    constexpr int stride = plan::ordered ? 1 : plan::threads;
    Item mine = item_or_none(arguments, first);
    for (int k = 1; k < plan::items; ++k)
        mine = combine(arguments, mine, item_or_none(arguments, first + k * stride));
    const Item total = reduce_tree(arguments, mine);
    if (thread == 0)
        partials(arguments)[blockIdx.x] = total;
}
