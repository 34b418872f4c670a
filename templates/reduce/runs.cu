// runs: for processors. A block is one thread, which joins a run of neighbouring elements and leaves
// the result; a second launch of one thread joins the results. Which run an element is in depends
// on the length alone, so every run of the kernel gives the same bits.
//
//     input      x0 … | … | … | … x        a run for each block
//     partials     p0   p1  p2  p3
#include "arch/memory.cuh"
#include "arch/rows.cuh"
#include "numbers.cuh"
#include "arch/launches.cuh"
#include "plan.h"
#include "element.cuh"
#include "lanes.cuh"

struct Partials {
    static __device__ __forceinline__ Item at(const Arguments &arguments, Index i) {
        return static_cast<const Item *>(arguments.partials)[i];
    }
};

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const Index first = static_cast<Index>(blockIdx.x) * plan::run;
    static_cast<Item *>(arguments.partials)[blockIdx.x] =
        join_run<Inputs>(arguments, first, least(first + plan::run, arguments.count));
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments arguments) {
    const Index blocks = arguments.count == 0 ? 1 : (arguments.count - 1) / plan::run + 1;
#if PLAN_PLACES
    store_item(arguments, 0, join_few<Partials>(arguments, 0, blocks));
#else
    store_item(arguments, 0, join_run<Partials>(arguments, 0, blocks));
#endif
}
