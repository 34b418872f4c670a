// Items of the lanes of a warp, and of the warps of a block, into one, in order:
//
//     lanes        a b c d e f g h
//     distance 1   ab  cd  ef  gh      lane 0 takes from lane 1, lane 2 from lane 3 …
//     distance 2   abcd    efgh
//     distance 4   abcdefgh
constexpr int warps = plan::threads / 32;
constexpr bool at_once = can_join_lanes && plan::lanes != 0; // all lanes' by one instruction

// The result is lane 0's. Lanes from `count` on, a power of two, give nothing.
template <int count = warp_size>
__device__ __forceinline__ Item reduce_warp(const Arguments &arguments, Item mine) {
    if constexpr (at_once && count > 1)
        mine = join_lanes<plan::lanes>(mine);
#pragma unroll
    for (int distance = 1; distance < count && !at_once; distance *= 2)
        mine = combine(arguments, mine, shuffle_down(mine, distance));
    return mine;
}

// The items of as many neighbours to one, in order.
template <int count>
__device__ __forceinline__ Item join_neighbours(const Arguments &arguments, Item (&item)[count]) {
#pragma unroll
    for (int distance = 1; distance < count; distance *= 2)
#pragma unroll
        for (int k = 0; k + distance < count; k += 2 * distance)
            item[k] = combine(arguments, item[k], item[k + distance]);
    return item[0];
}

// The items of all warps. Each lane loads 64 bytes of them and joins these in registers, which takes
// about as long as one step by shuffles and saves up to four.
__device__ __forceinline__ Item join_warps(const Arguments &arguments, const Item *place) {
    if constexpr (at_once && warps > 8) {
        return reduce_warp<warps>(arguments, lane() < warps ? place[lane()] : none());
    } else {
        constexpr int most = 64 / sizeof(Item), run = warps < most ? warps : most;
        constexpr int wide = 16 / sizeof(Item), part = run < wide ? run : wide;
        using Part = Pack<Item, part>;
        const Part *const parts =
            reinterpret_cast<const Part *>(place) + lane() % (warps / run) * (run / part);
        Item item[run];
#pragma unroll
        for (int i = 0; i < run / part; ++i) {
            const Part some = parts[i];
#pragma unroll
            for (int k = 0; k < part; ++k)
                item[i * part + k] = some.element[k];
        }
        return reduce_warp<warps / run>(arguments, join_neighbours(arguments, item));
    }
}

// The result is thread 0's. `place` is shared memory for an item of each warp.
__device__ __forceinline__ Item reduce_block(const Arguments &arguments, Item mine, Item *place) {
    mine = reduce_warp(arguments, mine);
    if constexpr (warps > 1) {
        if (lane() == 0)
            place[warp()] = mine;
        __syncthreads(); // the items of all warps are there before the first warp reads them
        if (warp() == 0)
            mine = join_warps(arguments, place);
    }
    return mine;
}
