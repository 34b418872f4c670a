// Tiles in shared memory, in packs of 16 bytes. Each warp has its part of the tile: it copies packs that are
// neighbours, and each thread reads its own. Where a thread has an even number of packs, a place is left out
// after every 8, so that 8 lanes at a time meet all banks.
#if defined(PLAN_CELL)
using Cell = PLAN_CELL; // of 16 bits, converted when a thread reads it and when it has a result
#else
using Cell = Real;
#endif
constexpr int pack = 16 / static_cast<int>(sizeof(Cell)), packs = plan::items / pack;
static_assert(plan::items % pack == 0, "threads have whole packs");
constexpr bool skewed = packs % 2 == 0;
using Packed = Pack<Cell, pack>;
__device__ __forceinline__ constexpr int place_of(int p) { return skewed ? p + p / 8 : p; }

struct Shared {
    Packed staged[plan::stages][warps][place_of(warp_size * packs)];
    Real sums[warps], before;
#if PLAN_DRAW > 1
    int newest; // the tile that was drawn last
#endif
    __device__ __forceinline__ Packed *part(int stage) { return staged[stage][warp()]; }
};
static_assert(sizeof(Shared) <= plan::shared_bytes, "the host counts the same bytes");

// Where the warp's part of a tile begins in the list.
__device__ __forceinline__ Index part_of(Tile number) { return Index(number) * tile + warp() * warp_items; }

// Whether it is complete, and the list begins at a pack. Else its elements travel alone.
__device__ __forceinline__ bool in_packs(const Arguments &arguments, const Cell *list, Index base) {
    return reinterpret_cast<unsigned long long>(list) % sizeof(Packed) == 0 &&
           base + warp_items <= arguments.count;
}

// Begins the copies of a warp's part.
__device__ __forceinline__ void begin_loads(const Arguments &arguments, Packed *staged, Index base) {
    const Cell *const from = arguments.input + base;
    if (in_packs(arguments, arguments.input, base)) {
        const Packed *const packed = reinterpret_cast<const Packed *>(from) + lane();
#pragma unroll
        for (int k = 0; k < packs; ++k)
            copy_own_async(staged + place_of(lane()) + k * place_of(warp_size), packed + k * warp_size);
    } else {
#if defined(PLAN_CELL)
        // Asynchronous copies have at least 4 bytes. So the thread waits for its loads, a few at a time.
#pragma unroll 1
        for (int first = lane(); first < warp_items; first += pack * warp_size) {
            Cell some[pack];
#pragma unroll
            for (int k = 0; k < pack; ++k)
                if (base + first + k * warp_size < arguments.count)
                    some[k] = from[first + k * warp_size];
#pragma unroll
            for (int k = 0; k < pack; ++k)
                if (base + first + k * warp_size < arguments.count)
                    staged[place_of(first / pack + k * (warp_size / pack))].element[first % pack] = some[k];
        }
#else
#pragma unroll 1
        for (int i = lane(); i < warp_items && base + i < arguments.count; i += warp_size)
            copy_own_async(&staged[place_of(i / pack)].element[i % pack], from + i);
#endif
    }
}

__device__ __forceinline__ void read_items(const Arguments &arguments, const Packed *staged, Index base, Items &item) {
#pragma unroll
    for (int k = 0; k < packs; ++k) {
#if defined(PLAN_CELL)
        const Packed from = staged[place_of(lane() * packs + k)];
#pragma unroll
        for (int i = 0; i < pack; ++i)
            item[k * pack + i] = from.element[i];
#else
        memcpy(item + k * pack, staged + place_of(lane() * packs + k), sizeof(Packed));
#endif
    }
    const Index left = arguments.count - (base + lane() * plan::items);
#if PLAN_PREPARES
    if (base + warp_items <= arguments.count) {
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
            item[i] = prepared(arguments, item[i]);
    } else {
#else // elements are used as they are
    if (base + warp_items > arguments.count) {
#endif
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
#if PLAN_PREPARES
            item[i] = i < left ? prepared(arguments, item[i]) : identity();
#else
            item[i] = i < left ? item[i] : identity();
#endif
    }
}

__device__ __forceinline__ void store_items(const Arguments &arguments, Packed *staged, Index base,
                                            const Items &item) {
#pragma unroll
    for (int k = 0; k < packs; ++k) {
#if defined(PLAN_CELL)
        Packed to;
#pragma unroll
        for (int i = 0; i < pack; ++i)
            to.element[i] = item[k * pack + i];
        staged[place_of(lane() * packs + k)] = to;
#else
        memcpy(staged + place_of(lane() * packs + k), item + k * pack, sizeof(Packed));
#endif
    }
    warp_barrier(); // the warp's results are there before a lane stores what others made
    Cell *const to = arguments.output + base;
    if (in_packs(arguments, arguments.output, base)) {
        Packed *const packed = reinterpret_cast<Packed *>(to) + lane();
#pragma unroll
        for (int k = 0; k < packs; ++k)
            store_once(packed + k * warp_size, staged[place_of(k * warp_size + lane())]);
    } else {
#pragma unroll 1
        for (int i = lane(); i < warp_items && base + i < arguments.count; i += warp_size)
            store_once(to + i, staged[place_of(i / pack)].element[i % pack]);
    }
}
