// A tile of a look-back: how large it is, and the sums within it.

constexpr int tile = plan::threads * plan::items;
constexpr int warps = plan::threads / warp_size;
constexpr int warp_items = warp_size * plan::items;

// Within a tile: the sums of a thread's items, of the warp up to each thread, of the tile up to each
// warp. `all` becomes the sum of the tile; gives what comes before the thread in it.
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
