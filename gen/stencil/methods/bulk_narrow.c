/* What a launch of the method bulk costs with cells of 16 bits in 3D, where instructions bind, and
   conversions are many of them. Takes: a plan, and a turn of its blocks. Makes: its estimate. */
#include "gen/stencil/methods/bulk.h"

#include <math.h>

/* From 66 figures of an H200 (768³, half, stars of radius 1 to 4 and a box): instructions of a
   thread's turn besides its points'; the share of issue slots that 12 warps fill, and how much less
   fewer of them do; how much longer it takes where a block's warps are no multiple of the
   multiprocessor's four parts, where the last wave leaves some idle (instructions, memory), and for
   each register that is missing; the share of the L2's rate that walks reach; how terms overlap. */
static const struct costs {
    double step, issue, few, lone, uneven, idle, idle_memory, missing, cache, overlap;
} costs = {43, 0.8, 0.6, 0.1, 0.34, 1.08, 0.264, 0.05, 0.61, 3.3};

static const double lanes = 128;

/* Seconds of a point if its instructions alone counted. */
static double issuing(const plan *p, const bulk_step *s, double idle) {
    enum { PARTS = 4, ENOUGH = 12, ROWS = 2 };
    const double machine = p->gpu->clock * p->gpu->multiprocessors;
    const double warps = s->readers / (double)WARP;
    const double uneven = ceil(warps / PARTS) * PARTS / warps - 1;
    const double resident = warps * p->estimate.blocks_resident;
    const double few = fmax(ENOUGH / resident - 1, 0);
    const double lone = fmax(ENOUGH * ROWS / (resident * s->rows) - 1, 0);
    return p->estimate.instructions_per_point / (lanes * machine * costs.issue) *
           (1 + costs.uneven * uneven) * (1 + costs.idle * idle) * (1 + costs.few * few) *
           (1 + costs.lone * lone);
}

void bulk_narrow_cost(plan *p, const bulk_step *s, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    const gpu *g = p->gpu;
    plan_estimate *e = &p->estimate;
    const double points = (double)p->schedule.vector * s->rows;
    const double bytes = (double)model_cell_bytes(m);
    double covered = 1, all = 1;
    for (int k = 0; k < 2; k++) {
        const double cells = (double)size[p->axes[k]];
        covered *= ceil(cells / p->per_block[k]) * p->per_block[k] / cells;
    }
    for (int axis = 0; axis < m->dims; axis++)
        all *= (double)size[axis];
    e->loads_per_point = (double)s->bytes / bytes / (p->tile[0] * p->tile[1]) * s->again;
    e->shared_per_point = e->loads_per_point + s->again * s->packs / points * p->schedule.vector;
    e->bytes_per_point = model_bytes_per_point(m);
    e->instructions_per_point =
        s->again * (p->facts->sum_operations * lanes / g->fma_lanes[m->dtype] +
                    (s->conversions + s->packs) / points) +
        costs.step / points;
    const double idle = ceil(s->waves) / s->waves - 1, left = 1 + costs.idle_memory * idle;
    const double issues = issuing(p, s, idle) * covered;
    const double device = e->bytes_per_point / gpu_copy_rate(g) * left * covered;
    const double cache =
        (e->loads_per_point + m->output_count) * bytes / (costs.cache * gpu_l2_rate(g)) * left;
    e->bound = issues > device && issues > cache ? "instructions"
               : device > cache                  ? "device memory"
                                                 : "the second-level cache";
    const double sum =
        pow(issues, costs.overlap) + pow(device, costs.overlap) + pow(cache, costs.overlap);
    e->seconds = pow(sum, 1 / costs.overlap) * all * (1 + costs.missing * s->missing);
}
