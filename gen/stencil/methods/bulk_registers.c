/* The threads of the method bulk besides those that make points, and the registers that these have.
   Takes: a plan whose tile is laid. Makes: how many warps there are, which of them hand registers
   over, and how many others have then. */
#include "gen/stencil/methods/bulk.h"

#include "gen/stencil/search.h"

enum {
    REGISTER_STEP = 8,
    GROUP = 4 * WARP, /* threads that hand registers over together, and what they keep */
    KEPT_REGISTERS = 32
};

/* Registers of each of so many threads of a block, where a multiprocessor has so many blocks: its
   four parts have a fourth each. */
static int launched(int threads, int blocks) {
    const int warps = (threads / WARP * blocks + BULK_PARTS - 1) / BULK_PARTS;
    return REGISTERS_PER_MULTIPROCESSOR / BULK_PARTS / (warps * WARP) / REGISTER_STEP *
           REGISTER_STEP;
}

/* In 3D a warp asks for the planes. Others, if they are mended, put cells from beyond an edge into
   them: so many that each has few, as planes should be ready before others are with the one before.
 */
int bulk_threads(const plan *p, bool mends) {
    enum { EACH = 4 * WARP, MOST = 8 };
    const int readers = bulk_readers(p), warps = readers / WARP;
    int cells = 0, asking = 1;
    if (bulk_is_flat(p))
        return readers;
    for (int i = 0; i < p->array_count && mends; i++) {
        const plan_array *a = &p->arrays[i];
        cells +=
            larger(a->low[0], a->high[0]) * p->tile[1] + larger(a->low[1], a->high[1]) * p->tile[0];
    }
    if (mends)
        asking += larger(1, smaller((cells + EACH - 1) / EACH, MOST));
    while (mends && (warps + asking) % BULK_PARTS != 0)
        asking++;
    while (asking > BULK_PARTS + 1 &&
           (readers + asking * WARP > MAX_THREADS ||
            launched(readers + asking * WARP, 1) < p->estimate.registers))
        asking -= BULK_PARTS;
    return readers + (readers + asking * WARP > MAX_THREADS ? 1 : asking) * WARP;
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
    return (all - KEPT_REGISTERS) / groups / REGISTER_STEP * REGISTER_STEP;
}

int bulk_registers(const plan *p) {
    const int handed = bulk_handed(p);
    return handed > 0 ? handed : launched(p->block[0], p->blocks);
}

/* A group of four warps asks for planes instead of one where threads that make points need
   registers that it can hand over; threads that find images do. 25-point star, double, a block of
   16 warps a multiprocessor: 112 instead of 96. */
void bulk_hand_over(plan *p) {
    const int asking = p->block[0], has = bulk_registers(p);
    if (!can_hand_over(p) || (has >= p->estimate.registers + REGISTER_STEP && !bulk_has_images(p)))
        return;
    p->block[0] = bulk_readers(p) + GROUP;
    if (bulk_handed(p) <= has)
        p->block[0] = asking;
}
