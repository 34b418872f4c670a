/* The registers of a thread of the method streamed. Takes: a plan whose threads are laid. Makes:
   their number, and how many blocks are resident with them. */
#include "gen/stencil/methods/streamed.h"

#include "gen/source/emit.h"

/* Registers for 100 that a thread holds. */
enum { HELD = 132 };

/* Those of quotients: without branches compilers compute all at once; else one point's values
   count. Set by the dam break. */
static int quotients(const plan *p) {
    const expr_count n = p->facts->inside;
    const int values = larger((int)(n.additions + n.multiplications) / 5 - 6, 0);
    if (p->streamed.carries) /* nothing is held for the second way */
        return 0;
    if (streamed_quick(p, true))
        return plan_words(p) * p->schedule.vector * p->facts->quotients * 11 / 10;
    return streamed_has_quotients(p) ? plan_words(p) * values : 0;
}

/* Those of what steps share, of which the points of a row have most in common. Set by shallow water
   (in float 128 registers with packs of four, in double 196 with packs of two), the dam break (128,
   166) and Cahn-Hilliard (72, 95). */
static int shared_registers(const plan *p) {
    static const double one = 0.8, two = 3.2; /* of a value, by its words */
    const carried *c = p->facts->carried;
    return p->streamed.carries ? (int)((plan_words(p) > 1 ? two : one) * p->streamed.lane_y *
                                       (c->rows * p->schedule.vector + c->count - c->rows))
                               : 0;
}

/* Whether it holds sums of floats that have no axis y: multiply-adds move them, so that nothing is
   held twice. */
static bool moves_sums(const plan *p) {
    return p->form->sums && p->axes[1] < 0 && plan_words(p) == 1;
}

/* Registers of a thread: a base for coordinates and the addresses of a few arrays, those of more,
   and what it holds, some of it twice while the next plane arrives; in double that is so much that
   addresses find room in it. Fitted to what the assembler needed before it spilled. */
int streamed_registers(job *j, plan *p) {
    enum { FEW = 8, ADDRESS = 2, SUMS = 34 };
    if (moves_sums(p))
        return SUMS + streamed_hold(j, p);
    const int words = plan_words(p), arrays = p->array_count + p->facts->model->output_count;
    const int more = words > 1 ? 0 : ADDRESS * larger(arrays - FEW, 0);
    const int base = more + (p->axes[1] < 0 ? 41 : 33); /* flat ones fill a multiprocessor anyway */
    const int held = base + words * streamed_hold(j, p) * HELD / 100;
    const int each =
        words > 1 ? 52 : 16; /* what of steps together spills costs more than warps do */
    const int least = p->streamed.together > 1 ? 64 + each * p->schedule.vector : 0;
    return larger(held, least) + quotients(p) + shared_registers(p);
}

int streamed_spare_registers(const plan *p, int need) {
    return need + plan_words(p) * p->streamed.beside * (p->schedule.vector - 1) * HELD / 100;
}

/* The most registers of a thread with which so many blocks are resident. Each of the
   multiprocessor's parts takes whole warps, and registers come by eights. */
static int registers_for(const plan *p, int blocks) {
    enum { PARTS = 4, STEP = 8 };
    const int warps = round_up(plan_threads(p), WARP) / WARP;
    const int of_a_part = (blocks * warps + PARTS - 1) / PARTS * WARP;
    return smaller(REGISTERS_PER_MULTIPROCESSOR / PARTS / of_a_part / STEP * STEP, MAX_REGISTERS);
}

bool streamed_has_registers(const plan *p) {
    return p->estimate.registers <= registers_for(p, p->blocks);
}

static bool have_threads(const plan *p, int blocks) {
    return blocks <= p->gpu->blocks_per_multiprocessor &&
           blocks * round_up(plan_threads(p), WARP) <= p->gpu->threads_per_multiprocessor;
}

/* Blocks of one, two, three or five warps leave parts uneven: 17 of one warp, for which all parts
   together have registers, ask one of them for five warps. The cavity in float spills 48 of its 96
   registers then, and takes 588 µs instead of 457 with 16 blocks. Of linear updates' blocks of one
   or two warps the count over all parts is what rates were fitted to. */
int streamed_resident(const plan *p, int need) {
    const int warps = round_up(plan_threads(p), WARP) / WARP;
    int blocks = 1;
    if (warps % 4 == 0 || (p->facts->linear && warps <= 2 && !moves_sums(p)))
        return plan_resident_by_registers(p);
    while (have_threads(p, blocks + 1) && registers_for(p, blocks + 1) >= need)
        blocks++;
    return blocks;
}

/* Registers by which as many blocks are resident as were planned, and no more. Kernels need fewer
   registers than were estimated, and more blocks are slower: H100, 16384², float, 9-point star 0.99
   of a copy with three blocks and 0.91 with four, 5-point star 1.01 with four and 0.98 with six.
   Where the second-level cache binds, as on an H200, more blocks are faster (0.91, 0.92; 0.90,
   0.92). */
int streamed_needs(const plan *p) {
    static const double cache_share =
        0.34;          /* an H100's memory has 0.28 of its rate, an H200's 0.40 */
    enum { LESS = 2 }; /* those of addresses come on top: 5 to 12 */
    if (!p->facts->linear || model_is_narrow(p->facts->model) || p->gpu->processor != NULL ||
        !have_threads(p, p->blocks + 1) ||
        gpu_copy_rate(p->gpu) > cache_share * gpu_l2_rate(p->gpu))
        return 0;
    const int too_few = registers_for(p, p->blocks + 1);
    return too_few < registers_for(p, p->blocks) ? too_few - LESS : 0;
}
