// The second launch of the textbook's algorithms. Their blocks leave a partial result each, and
// one block reduces those in the order of the blocks, so that any operator is served and every run
// gives the same bits; the textbook adds them with atomic operations, in any order.
//
//     partials   p0 p1 p2 | p3 p4 p5 | p6 p7        a run for each thread,
//     threads       t0    |    t1    |  t2          then the threads' items as in block.cuh

constexpr int tile = plan::threads * plan::items; // elements of a block of the first launch

__device__ __forceinline__ Item *partials(const Arguments &arguments) {
    return static_cast<Item *>(arguments.partials);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments arguments) {
    const Index count = arguments.count == 0 ? 1 : (arguments.count - 1) / tile + 1;
    const Index run = (count - 1) / plan::threads + 1;
    const Index first = threadIdx.x * run;
    const Index end = first + run < count ? first + run : count;
    Item mine = none();
    for (Index i = first; i < end; ++i)
        mine = combine(arguments, mine, partials(arguments)[i * plan::pitch]);
    mine = reduce_block(arguments, mine, reinterpret_cast<Item *>(shared_bytes()));
    if (threadIdx.x == 0)
        store_item(arguments, 0, mine);
}
