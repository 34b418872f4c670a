#if defined(PLAN_WAVE)
// Which walk along the last axis a block makes, and how it brings rows to the caches.
//
// The rows at the ends of a walk are read by the next one, too. In the order of blocks' numbers, a wave of
// PLAN_WAVE blocks makes walks that are next to each other, at the same time: by the time that a walk
// comes to its last rows, the cache has lost what the next one read first. So blocks that run at a time
// begin in as many parts of the axis as there is room for, and each part's walks take turns.
__device__ __forceinline__ unsigned walk_in_turn(unsigned place, unsigned all, unsigned wide) {
    int shift = 0; // of parts: powers of two ask for no division, which would take registers
#pragma unroll
    for (unsigned parts = 2, k = 1; parts <= PLAN_WAVE; parts *= 2, ++k)
        if (wide <= PLAN_WAVE / parts)
            shift = k;
    const unsigned turn = place >> shift, part = place - (turn << shift);
    const unsigned least = all >> shift, more = all - (least << shift); // of the walks of a part
    return part * least + (part < more ? part : more) + turn;
}
// Rows stay in the second-level cache until the next walk has read them.
#define PLAN_FETCH fetch_kept
#define PLAN_COPY copy_async_kept
#else
#define PLAN_FETCH fetch
#define PLAN_COPY copy_async
#endif
