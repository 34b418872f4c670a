constexpr int tile = plan::threads * plan::items, warps = plan::threads / 32, warp_items = 32 * plan::items;
using Items = Real[plan::items]; // of a thread

#if PLAN_WHOLE // numbers: the same bits anyway
#define PATTERN_CHAIN combine
#else
#define PATTERN_CHAIN chain
#if defined(PATTERN_OWN_OPERATOR)
#define PATTERN_ONCE __noinline__ // the compiler might contract a spec's function differently
#else
#define PATTERN_ONCE SAME_BITS
#endif
// A step from one prefix to the next: the same operations at each place.
__device__ PATTERN_ONCE Real chain(const Arguments &arguments, Real before, Real value) {
    return combine(arguments, before, value);
}
#endif

// The values of a warp's lanes up to the thread's own.
__device__ __forceinline__ Real scan_warp(const Arguments &arguments, Real value) {
#pragma unroll
    for (int distance = 1; distance < warp_size; distance *= 2) {
        const Real other = shuffle_up(value, distance);
        if (lane() >= distance)
            value = combine(arguments, other, value);
    }
    return value;
}

// What comes before the thread in its tile, whose sum is `all`. Adds up its items, then the warp's, then the tile's.
__device__ __forceinline__ Real before_thread(const Arguments &arguments, Real *sums, const Items &item, Real &all) {
    Real through = item[0];
#pragma unroll
    for (int k = 1; k < plan::items; ++k)
        through = combine(arguments, through, item[k]);
    through = scan_warp(arguments, through);
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
