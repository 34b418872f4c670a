/* The written model of the method resident: docs/architecture.md explains each term.
   Takes: a plan that fits, a size. Makes: its estimate, of a launch of `time` steps. */
#include "gen/stencil/plan.h"

#include <math.h>

/* Fitted on an H100 to grids of 256² and 64³ with and without their exchanges: loads a tap, as the
   points of a column share them; cycles of an access to shared memory by a warp; instructions of a
   column beside its points; cycles of a step that do not depend on how many warps there are, and of
   each instruction of a thread; seconds of an exchange, and of an element of the halo, of a double
   so many times as long; and seconds from one launch to the next. */
static const struct costs {
    double loads, access, column, step, instruction, exchange, element, wide, launch;
} costs = {0.75, 0.9, 15, 150, 2.5, 0.75e-6, 0.3e-9, 1.5, 3e-6};

static const double schedulers = 4, warp = 32;

/* What the steps of a round take of a block, in cycles. */
typedef struct round_work {
    double busy;         /* of a multiprocessor, which blocks share */
    double latency;      /* of a block, during which others may be busy */
    double instructions; /* of all warps */
} round_work;

/* Columns with a cell that a step makes after which `left` follow in the round. */
static double touched(const plan *p, int left) {
    const int *halo = p->fused.round_halo;
    const double height = p->tile[1] + left * (double)(p->low[1] + p->high[1]);
    const double depth = p->tile[2] + left * (double)(p->low[2] + p->high[2]);
    const int deepest = p->tile[2] + 2 * halo[2] - p->low[2] - p->high[2];
    const double most = ceil((double)deepest / p->walk), mean = (depth - 1) / p->walk + 1;
    return (p->tile[0] + 2.0 * halo[0]) * height * (mean < most ? mean : most);
}

static round_work make_round(const plan *p) {
    const model *m = p->facts->model;
    const expr_count c = p->facts->emitted;
    const double words = (double)dtype_words[m->dtype].bytes / 4;
    const double more = c.additions > c.multiplications ? c.additions : c.multiplications;
    const double operations = more + 1 + 8 * c.others;
    const double accesses = p->facts->all_taps * costs.loads + m->output_count;
    const double each = p->walk * (operations * words + accesses) + costs.column;
    round_work w = {0};
    for (int left = 0; left < p->schedule.time; left++) {
        const double columns = touched(p, left), warps = columns / warp;
        const double shared = warps * p->walk * accesses * words * costs.access;
        const double issued = warps * each / schedulers;
        w.busy += shared > issued ? shared : issued;
        w.latency += costs.step + ceil(columns / plan_threads(p)) * each * costs.instruction;
        w.instructions += warps * each;
    }
    return w;
}

/* Where not all blocks are resident, each round is a launch, which loads and stores the tiles. */
void plan_cost_resident(plan *p, const int64_t size[AXES]) {
    const target *t = p->target;
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    const double bytes = (double)dtype_words[m->dtype].bytes, time = p->schedule.time;
    double box = 1, tile = 1, points = 1, blocks = 1;
    for (int k = 0; k < AXES; k++) {
        const double extent = p->axes[k] < 0 ? 1 : (double)size[p->axes[k]];
        box *= p->tile[k] + 2 * p->fused.round_halo[k];
        tile *= p->tile[k];
        points *= extent;
        blocks *= ceil(extent / p->per_block[k]);
    }
    e->blocks_resident = plan_resident(p);
    const double wave = (double)t->multiprocessors * e->blocks_resident;
    const double share = ceil(blocks / t->multiprocessors);
    const round_work w = make_round(p);
    const bool together = blocks <= wave;
    const double cycles = share * w.busy + ceil(blocks / wave) * w.latency;
    const double staged = blocks * p->array_count * box + points * m->output_count;
    const double element = bytes > 4 ? costs.element * costs.wide : costs.element;
    e->seconds = cycles / t->clock +
                 (together ? costs.exchange + share * m->output_count * (box - tile) * element
                           : costs.launch + staged * bytes / t->copy_rate);
    e->bytes_per_point = together ? 0 : staged * bytes / (points * time);
    e->loads_per_point = e->bytes_per_point / bytes;
    e->shared_per_point = (p->facts->all_taps * costs.loads + m->output_count) * box / tile;
    e->instructions_per_point = w.instructions * warp * blocks / (points * time);
    e->bound = share * w.busy / t->clock > e->seconds / 2 ? "instructions" : "waiting for others";
}
