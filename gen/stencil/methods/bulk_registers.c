/* The registers that the threads of the method bulk have. Takes: a plan whose blocks are laid.
   Makes: which threads hand registers over, and how many others have then. */
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

/* What all warps of a group have together, but for those that the group that asks keeps. */
int bulk_handed(const plan *p) {
    const int groups = bulk_readers(p) / GROUP;
    if (bulk_is_flat(p) || p->block[0] != bulk_readers(p) + GROUP)
        return 0;
    const int all = (groups + 1) * launched(p->block[0], p->blocks);
    return (all - KEPT_REGISTERS) / groups / REGISTER_STEP * REGISTER_STEP;
}

int bulk_registers(const plan *p) {
    const int handed = bulk_handed(p);
    return handed > 0 ? handed : launched(p->block[0], p->blocks);
}

/* A group of four warps asks for planes instead of one where threads that make points need
   registers that it can hand over; threads that find images do. Cubins of sm_90 alone are made so.
   25-point star, double, a block of 16 warps a multiprocessor: 112 instead of 96. */
void bulk_hand_over(plan *p, bool mends) {
    const int readers = bulk_readers(p), asking = p->block[0], has = bulk_registers(p);
    if (bulk_is_flat(p) || !gpu_same_arch("sm_90", p->gpu->arch) || p->blocks > 1 ||
        (has >= p->estimate.registers + REGISTER_STEP && !bulk_has_images(p) &&
         !mends) ||
        readers % GROUP != 0 || readers + GROUP > MAX_THREADS)
        return;
    p->block[0] = readers + GROUP;
    if (bulk_handed(p) < has + !mends) /* mends: two warps more do so */
        p->block[0] = asking;
}
