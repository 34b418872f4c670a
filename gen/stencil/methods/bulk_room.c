/* What blocks of the method bulk have of a multiprocessor: threads besides those that make points,
   registers, and shared memory. Takes: a plan whose tile is laid. Makes: how many blocks and warps
   there are, which hand registers over, how many others have then, and how many planes are in
   shared memory. */
#include "gen/stencil/methods/bulk.h"

#include "gen/stencil/method.h"
#include "gen/stencil/search.h"

#include <math.h>

enum {
    REGISTER_STEP = 8,
    GROUP = 4 * WARP, /* threads that hand registers over together */
    MOST_SLOTS = 4,
    MOST_NARROW_SLOTS = 6 /* of 16 bits: more planes are on their way, as each is shorter */
};

/* Registers of each of so many threads of a block, where a multiprocessor has so many blocks: its
   four parts have a fourth each. */
static int launched(int threads, int blocks) {
    const int warps = (threads / WARP * blocks + BULK_PARTS - 1) / BULK_PARTS;
    return REGISTERS_PER_MULTIPROCESSOR / BULK_PARTS / (warps * WARP) / REGISTER_STEP *
           REGISTER_STEP;
}

/* Warps that ask for planes and mend them: so many that each has few cells, as a plane should be
   ready before others are with the one before, and a block's warps are whole groups of four; fewer
   where registers or threads bind. One, which only asks: there are no threads for another. */
static int count_mending(const plan *p) {
    enum { EACH = 4 * WARP, MOST = 8 };
    const int readers = bulk_readers(p);
    int cells = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        cells +=
            larger(a->low[0], a->high[0]) * p->tile[1] + larger(a->low[1], a->high[1]) * p->tile[0];
    }
    int warps = 1 + larger(1, smaller((cells + EACH - 1) / EACH, MOST));
    warps = round_up(readers / WARP + warps, BULK_PARTS) - readers / WARP;
    while (warps > BULK_PARTS + 1 && (readers + warps * WARP > MAX_THREADS ||
                                      launched(readers + warps * WARP, 1) < p->estimate.registers))
        warps -= BULK_PARTS;
    return readers + warps * WARP > MAX_THREADS ? 1 : warps;
}

int bulk_threads(const plan *p, bool mends) {
    return bulk_readers(p) + (bulk_is_flat(p) ? 0 : mends ? count_mending(p) : 1) * WARP;
}

/* Cubins of sm_90 alone are made so. */
static bool can_hand_over(const plan *p) {
    const int readers = bulk_readers(p);
    return !bulk_is_flat(p) && gpu_same_arch("sm_90", p->gpu->arch) && p->blocks == 1 &&
           readers % GROUP == 0 && readers + GROUP <= MAX_THREADS;
}

/* What all warps of a group have together, but for those that the group that asks keeps. */
int bulk_handed(const plan *p) {
    const int groups = bulk_readers(p) / GROUP;
    if (!can_hand_over(p) || p->block[0] != bulk_readers(p) + GROUP)
        return 0;
    const int all = (groups + 1) * launched(p->block[0], p->blocks);
    return (all - BULK_KEPT) / groups / REGISTER_STEP * REGISTER_STEP;
}

int bulk_registers(const plan *p) {
    const int handed = bulk_handed(p);
    return handed > 0 ? handed : launched(p->block[0], p->blocks);
}

/* A group of four warps asks for planes instead of one where threads that make points need
   registers that it can hand over; threads that find images do. 25-point star, double, a block of
   16 warps a multiprocessor: 112 instead of 96. */
static void hand_over(plan *p) {
    const int asking = p->block[0], has = bulk_registers(p);
    if (!can_hand_over(p) || (has >= p->estimate.registers + REGISTER_STEP && !bulk_has_images(p)))
        return;
    p->block[0] = bulk_readers(p) + GROUP;
    if (bulk_handed(p) <= has)
        p->block[0] = asking;
}

/* ---- shared memory --------------------------------------------------------------------------- */

int bulk_slots(const plan *p) {
    const int most = bulk_is_narrow(p) ? MOST_NARROW_SLOTS + bulk_held(p) : MOST_SLOTS;
    int slots = bulk_is_flat(p) ? 1 : most;
    while (slots > BULK_LEAST_SLOTS + bulk_held(p) &&
           slots * (bulk_slot_bytes(p) + BULK_SLOT_BYTES) > gpu_shared_room(p->gpu, p->blocks))
        slots--;
    return slots;
}

/* The arrays' slots, then the barriers, then tables of images. Returns the bytes. */
static int64_t lay_shared(plan *p, int slots) {
    int64_t first = 0;
    for (int i = 0; i < p->array_count; i++) {
        plan_array *a = &p->arrays[i];
        a->shared = first < INT32_MAX ? (int)(first / bulk_cell_bytes(p)) : 0;
        first += slots * (bulk_array_bytes(p, a) + bulk_ends_bytes(p, a));
    }
    /* Of 16 bits, a tile whose rows begin anywhere may take more. */
    if (bulk_is_flat(p) && p->array_count == p->summed && bulk_shifted_bytes(p) > first)
        first = bulk_shifted_bytes(p);
    return first + slots * BULK_SLOT_BYTES;
}

int64_t bulk_take_room(plan *p, int64_t most, bool mends) {
    p->block[0] = bulk_threads(p, mends);
    p->blocks = (int)block_least(plan_resident_by_registers(p), most);
    while (p->blocks > 1 &&
           p->blocks * ((BULK_LEAST_SLOTS + bulk_held(p)) * bulk_slot_bytes(p) + BULK_SLOT_BYTES) >
               p->gpu->shared_per_multiprocessor)
        p->blocks--;
    if (!mends)
        hand_over(p);
    return lay_shared(p, bulk_slots(p));
}

/* Makes it a plan of rows that begin anywhere, which have as many planes on their way as there is
   room for. */
static void take_rows(plan *p, int64_t most) {
    const int64_t bytes = bulk_take_room(p, most, bulk_mends(p));
    const int64_t rows = bulk_shifted_room(p, gpu_shared_room(p->gpu, p->blocks));
    p->shared_bytes = (size_t)(rows > bytes ? rows : bytes);
}

void bulk_take_size(plan *p, const int64_t size[AXES]) {
    if (bulk_is_flat(p))
        return;
    double covered;
    const double blocks = plan_blocks(p, size, &covered);
    const int64_t most = (int64_t)ceil(blocks / p->gpu->multiprocessors);
    if (plan_takes_spare(p, size))
        take_rows(p, most);
    else
        p->shared_bytes = (size_t)bulk_take_room(p, most, false);
}

/* A warp for each row of the tile: where half of it reads a row and half another, both read the
   same banks of shared memory. Threads have fewer points of a row then, and in 3D more rows; in 2D
   there are more threads. Of cells of 16 bits, which are added to a sum in one order, whatever rows
   a thread has. */
void bulk_widen_rows(plan *p) {
    const int vector = p->schedule.vector, points = p->tile[0] / WARP;
    if (!bulk_is_narrow(p) || p->tile[0] % (2 * WARP) != 0 || points >= vector)
        return;
    plan wide = *p;
    wide.schedule.lane[0] = points;
    if (bulk_is_flat(p)) {
        wide.block[0] = bulk_threads(&wide, false);
        wide.blocks = smaller(p->blocks, plan_resident_by_registers(&wide));
    } else {
        const int rows = bulk_rows(p) * vector / points;
        wide.schedule.coarsen[1] = rows;
        if (bulk_readers(&wide) != bulk_readers(p) || p->tile[1] % rows != 0)
            return;
    }
    *p = wide;
}

void bulk_make_spare(plan *p) {
    bulk_widen_rows(p);
    if (!bulk_is_flat(p))
        take_rows(p, p->blocks);
}
