// shared: the tree in shared memory, so that global memory is read once and written once a block
// (Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., section 10.5).
//
//     global   x0 x1 x2 x3 x4 x5 x6 x7      each thread joins two on the way in
//     shared   04 15 26 37                  or 01 23 45 67 where the operator does not commute
//              0426 1537                    (tree.cuh)
//              all                          → partials[block]
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
    const Index first = base + (plan::ordered ? 2 * thread : thread);
    const Index other = first + (plan::ordered ? 1 : plan::threads);
    const Item mine =
        combine(arguments, item_or_none(arguments, first), item_or_none(arguments, other));
    const Item total = reduce_tree(arguments, mine);
    if (thread == 0)
        partials(arguments)[blockIdx.x] = total;
}
