constexpr int tile = plan::threads * plan::items;
constexpr int warps = plan::threads / 32;
constexpr int warp_items = 32 * plan::items;

// What comes before the thread in its tile; `all` becomes the sum of the tile. Adds up the thread's
// items, then the warp up to each thread, then the tile up to each warp.
__device__ __forceinline__ Real before_thread(const Arguments &arguments, Real (&sums)[warps],
                                              const Real (&item)[plan::items], Real &all) {
    Real through = item[0];
#pragma unroll
    for (int k = 1; k < plan::items; ++k)
        through = combine(arguments, through, item[k]);
#pragma unroll
    for (int distance = 1; distance < warp_size; distance *= 2) {
        const Real other = shuffle_up(through, distance);
        if (lane() >= distance)
            through = combine(arguments, other, through);
    }
    if (lane() == warp_size - 1)
        sums[warp()] = through;
    __syncthreads(); // the sums of all warps are there
    Real before_warp = identity();
    all = sums[0];
#pragma unroll
    for (int w = 1; w < warps; ++w) {
        if (w == warp())
            before_warp = all;
        all = combine(arguments, all, sums[w]);
    }
    const Real lower = shuffle_up(through, 1);
    return lane() == 0 ? before_warp : combine(arguments, before_warp, lower);
}
