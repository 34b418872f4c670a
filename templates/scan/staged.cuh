// Tiles in shared memory. Elements travel in packs of 16 bytes. Each warp has its part of the tile: it
// copies packs that are neighbours, and each thread reads its own. Where a thread has an even number
// of packs, a place is left out after every 8, so that 8 lanes at a time meet all banks.
constexpr int pack = 16 / static_cast<int>(sizeof(Real));
constexpr int packs = plan::items / pack;
static_assert(plan::items % pack == 0, "threads have whole packs");
constexpr int warp_packs = warp_size * packs;
constexpr int skew = packs % 2 == 0 ? 8 : 2 * warp_packs;
constexpr int pitch = warp_packs + warp_packs / skew;
using Packed = Pack<Real, pack>;

__device__ __forceinline__ int place_of(int p) {
    return p + p / skew;
}
__device__ __forceinline__ Real *place_of(Packed *staged, int i) {
    return &staged[place_of(i / pack)].element[i % pack];
}

struct Shared {
    Packed staged[plan::stages][warps][pitch];
    Real sums[warps];
    Real before;
#if PLAN_DRAW > 1
    int newest; // the tile that was drawn last
#endif
};
static_assert(sizeof(Shared) <= plan::shared_bytes, "the host counts the same bytes");

// Where the warp's part of a tile begins in it.
__device__ __forceinline__ Index part() {
    return warp() * static_cast<Index>(warp_items);
}

// Lists begin at any element; where one does not begin at a pack, its elements travel alone.
struct Lists {
    const Real *input;
    Real *output;
    Index count;
    bool packed_input, packed_output;
    __device__ __forceinline__ explicit Lists(const Arguments &arguments)
        : input(arguments.input), output(arguments.output), count(arguments.count),
          packed_input(reinterpret_cast<unsigned long long>(input) % sizeof(Packed) == 0),
          packed_output(reinterpret_cast<unsigned long long>(output) % sizeof(Packed) == 0) {
    }
    // Whether the warp's part of a tile, which begins at element `base`, is complete.
    __device__ __forceinline__ bool whole(Index base) const {
        return base + warp_items <= count;
    }
};

// Begins the copies of a warp's part.
__device__ __forceinline__ void begin_loads(const Lists &lists, Packed *staged, Index base) {
    const Real *const from = lists.input + base;
    if (lists.packed_input && lists.whole(base)) {
        const Packed *const packed = reinterpret_cast<const Packed *>(from) + lane();
        const SharedAt<Packed> to(&staged[place_of(lane())]);
#pragma unroll
        for (int k = 0; k < packs; ++k)
            copy_own_async(to + k * place_of(warp_size), packed + k * warp_size);
    } else {
#pragma unroll 1
        for (int i = lane(); i < warp_items; i += warp_size)
            if (base + i < lists.count)
                copy_own_async(SharedAt<Real>(place_of(staged, i)), from + i);
    }
}

__device__ __forceinline__ void read_items(const Arguments &arguments, const Lists &lists,
                                           const Packed *staged, Index base,
                                           Real (&item)[plan::items]) {
#pragma unroll
    for (int k = 0; k < packs; ++k) {
        const Packed from = staged[place_of(lane() * packs + k)];
#pragma unroll
        for (int e = 0; e < pack; ++e)
            item[k * pack + e] = from.element[e];
    }
    const Index left = lists.count - (base + lane() * plan::items);
    if (lists.whole(base)) {
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
            item[i] = element(arguments, item[i]);
    } else {
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
            item[i] = i < left ? element(arguments, item[i]) : identity();
    }
}

__device__ __forceinline__ void store_items(const Lists &lists, Packed *staged, Index base,
                                            const Real (&item)[plan::items]) {
    const int first = opaque(lane()) * packs; // so that places are not kept since they were read
#pragma unroll
    for (int k = 0; k < packs; ++k) {
        Packed to;
#pragma unroll
        for (int e = 0; e < pack; ++e)
            to.element[e] = item[k * pack + e];
        staged[place_of(first + k)] = to;
    }
    warp_barrier(); // the warp's results are there before a lane stores what others made
    Real *const to = lists.output + base;
    if (lists.packed_output && lists.whole(base)) {
        Packed *const packed = reinterpret_cast<Packed *>(to) + lane();
#pragma unroll
        for (int k = 0; k < packs; ++k)
            store_pack_once(packed + k * warp_size, staged[place_of(k * warp_size + lane())]);
    } else {
#pragma unroll 1
        for (int i = lane(); i < warp_items; i += warp_size)
            if (base + i < lists.count)
                store_once(to + i, *place_of(staged, i));
    }
}
