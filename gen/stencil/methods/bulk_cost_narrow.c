/* What launches of the method bulk cost with cells of 16 bits: in 3D, where instructions bind;
   where rows begin anywhere; and where the spare makes each point alone. */
#include "gen/stencil/methods/bulk.h"

#include "gen/stencil/method.h"

#include <math.h>

/* Instructions of a point of cells of 16 bits that the spare makes, and of each cell of each array
   around it; how many times that where some lie beyond the grid: zeros, images. Half, 2D, radius 1
   to 4, H200: 4 to 70 billion points a second. */
static const struct alone_costs {
    double point, cell, zeros, images;
} alone_costs = {350, 20, 2, 4};

double bulk_alone(const plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    double cells = p->summed;
    for (int k = 0; k < AXES; k++)
        cells *= p->low[k] + 1 + p->high[k];
    const double edges = bulk_has_images(p)   ? alone_costs.images
                         : model_all_fixed(m) ? 1
                                              : alone_costs.zeros;
    const double all = (alone_costs.point + alone_costs.cell * cells) * edges /
                       (BULK_LANES * p->gpu->clock * p->gpu->multiprocessors) *
                       model_grid_points(m, size);
    const double walk = fmin(p->walk, (double)size[p->axes[2]]);
    return fmax(all,
                edges_points(p, walk * ceil((double)p->tile[0] * p->tile[1] / plan_threads(p))));
}

/* ---- rows that begin anywhere ---------------------------------------------------------------- */

/* Instructions of a thread of words besides its sums and words: of each row that it reads and
   stores, and of a plane, in 3D and 2D (sm_90, machine code). The share of the issue slots that
   these and words fill, in 3D and 2D; how much longer they take where warps are few, and in 2D for
   each further array (80 figures of stars, boxes and waves, H200, a third of them of kernels with
   two cells a lane). */
static const struct word_costs {
    double read, stored, plane, flat_plane, issue, flat_issue, few, flat_more;
} word_costs = {8, 12, 50, 20, 0.65, 0.8, 0.6, 0.08};

bulk_words bulk_count_words(const plan *p) {
    const int adjacent = bulk_adjacent(p), points = bulk_row_points(p);
    const bool apart = p->tile[0] != WARP * points, flat = bulk_is_flat(p);
    int reads = 0, others = 0, rows = 0;
    for (int y = -p->low[1]; y < bulk_rows(p) + p->high[1]; y++)
        for (int array = 0, low, high; array < p->summed; array++)
            if (bulk_asks(p, array, y, &low, &high)) {
                const int words = (low + adjacent + high + 1) / 2;
                reads += points / adjacent * (words + 1);
                others += points / adjacent * 3 * words;
                rows++;
            }
    const double all = (double)points * bulk_rows(p);
    const double besides = word_costs.read * rows +
                           word_costs.stored * bulk_rows(p) * p->facts->model->output_count +
                           (flat ? word_costs.flat_plane : word_costs.plane);
    return (bulk_words){.turns = reads / all * (adjacent > 2 || apart ? 2 : 1),
                        .instructions = (reads + others + besides) / all /
                                        (flat ? word_costs.flat_issue : word_costs.issue),
                        .longer = flat ? 1 + word_costs.flat_more * (p->summed - 1) : 1};
}

double bulk_few_words(double warps) {
    enum { ENOUGH = 12 };
    return 1 + word_costs.few * fmax(ENOUGH / warps - 1, 0);
}

/* ---- rows of packs in 3D --------------------------------------------------------------------- */

/* From 66 figures of an H200 (768³, half, stars of radius 1 to 4 and a box): instructions of a
   thread's turn besides its points'; the share of issue slots that 12 warps fill, and how much less
   fewer of them do; how much longer it takes where a block's warps are no multiple of the
   multiprocessor's four parts, where the last wave leaves some idle (instructions, memory), and for
   each register that is missing; the share of the L2's rate that walks reach; how terms overlap. */
static const struct narrow_costs {
    double step, issue, few, lone, uneven, idle, idle_memory, missing, cache, overlap;
} narrow = {43, 0.8, 0.6, 0.1, 0.34, 1.08, 0.264, 0.05, 0.61, 3.3};

/* Seconds of a point if its instructions alone counted. */
static double issuing(const plan *p, const bulk_step *s, double idle) {
    enum { ENOUGH = 12, ROWS = 2 };
    const double machine = p->gpu->clock * p->gpu->multiprocessors;
    const double warps = s->readers / (double)WARP;
    const double uneven = ceil(warps / BULK_PARTS) * BULK_PARTS / warps - 1;
    const double resident = warps * p->estimate.blocks_resident;
    const double few = fmax(ENOUGH / resident - 1, 0);
    const double lone = fmax(ENOUGH * ROWS / (resident * s->rows) - 1, 0);
    return p->estimate.instructions_per_point / (BULK_LANES * machine * narrow.issue) *
           (1 + narrow.uneven * uneven) * (1 + narrow.idle * idle) * (1 + narrow.few * few) *
           (1 + narrow.lone * lone);
}

void bulk_narrow_cost(plan *p, const bulk_step *s, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    const gpu *g = p->gpu;
    plan_estimate *e = &p->estimate;
    const double points = (double)p->schedule.vector * s->rows;
    const double bytes = (double)model_cell_bytes(m);
    double covered = 1;
    for (int k = 0; k < 2; k++) {
        const double cells = (double)size[p->axes[k]];
        covered *= ceil(cells / p->per_block[k]) * p->per_block[k] / cells;
    }
    e->loads_per_point = (double)s->bytes / bytes / (p->tile[0] * p->tile[1]) * s->again;
    e->shared_per_point = e->loads_per_point + s->again * s->packs / points * p->schedule.vector;
    e->bytes_per_point = model_bytes_per_point(m);
    e->instructions_per_point =
        s->again * (p->facts->sum_operations * BULK_LANES / g->fma_lanes[m->dtype] +
                    (s->conversions + s->packs) / points) +
        narrow.step / points;
    const double idle = ceil(s->waves) / s->waves - 1, left = 1 + narrow.idle_memory * idle;
    const double issues = issuing(p, s, idle) * covered;
    const double device = e->bytes_per_point / gpu_copy_rate(g) * left * covered;
    const double cache =
        (e->loads_per_point + m->output_count) * bytes / (narrow.cache * gpu_l2_rate(g)) * left;
    e->bound = issues > device && issues > cache ? "instructions"
               : device > cache                  ? "device memory"
                                                 : "the second-level cache";
    const double sum =
        pow(issues, narrow.overlap) + pow(device, narrow.overlap) + pow(cache, narrow.overlap);
    e->seconds = pow(sum, 1 / narrow.overlap) * model_grid_points(m, size) *
                 (1 + narrow.missing * s->missing);
}
