// Items of the lanes of a warp, and of the warps of a block, into one, in order:
//
//     lanes        a b c d e f g h
//     distance 1   ab  cd  ef  gh      lane 0 takes from lane 1, lane 2 from lane 3 …
//     distance 2   abcd    efgh
//     distance 4   abcdefgh

constexpr int warps = plan::threads / warp_size;

// The result is lane 0's; the others hold what nobody needs. Lanes from `count` on, a power of two,
// give nothing: they hold Kind::none().
template <int count = warp_size>
__device__ __forceinline__ Item reduce_warp(const Arguments &arguments, Item mine) {
    constexpr bool at_once = can_join_lanes && plan::lanes != 0;
    if constexpr (at_once)
        mine = join_lanes<plan::lanes>(mine);
#pragma unroll
    for (int distance = 1; distance < count && !at_once; distance *= 2)
        mine = join(arguments, mine, shuffle_down(mine, distance));
    return mine;
}

// The result is thread 0's. `place` is shared memory for `warps` items that nobody uses meanwhile.
__device__ __forceinline__ Item reduce_block(const Arguments &arguments, Item mine, Item *place) {
    mine = reduce_warp(arguments, mine);
    if constexpr (warps > 1) {
        if (lane() == 0)
            place[warp()] = mine;
        __syncthreads(); // the items of all warps are there before the first warp reads them
        if (warp() == 0)
            mine = reduce_warp<warps>(arguments, lane() < warps ? place[lane()] : Kind::none());
    }
    return mine;
}
