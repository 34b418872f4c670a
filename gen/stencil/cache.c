/* What the second-level cache keeps: from one launch to the next, and between walks of one. Takes:
   a plan. Makes: the share of what is read; whether walks take turns (templates/walk_order.cuh). */
#include "gen/stencil/method.h"

#include <math.h>

/* A launch moves all of its arrays between a write and the read of it in the next launch. Shares of
   the cache that hold them all, and none: 7 points in float, H200 (60 MB), ask memory for nothing
   at 128x128x128 and 2048x2048 (17 and 34 MB), and for everything at 192x192x192 (57 MB). */
double plan_in_cache(const plan *p, const int64_t size[AXES]) {
    static const double all = 0.6, none = 0.9;
    const model *m = p->facts->model;
    const double bytes = model_bytes_per_point(m) * model_grid_points(m, size);
    return fmin(fmax((none - bytes / p->gpu->l2_bytes) / (none - all), 0), 1);
}

/* ---- the order of walks ---------------------------------------------------------------------- */

/* An acoustic wave reads one of its four arrays so, and takes 1.03 to 1.13 times as long on an H100
   if walks take turns. A lattice's populations are each read on one side alone. */
bool plan_shares_rows(const model *m) {
    const int axis = m->dims - 1;
    int used = 0, shared = 0;
    for (const model_array *a = m->arrays; a < m->arrays + m->array_count; a++) {
        used += a->used;
        shared += a->used && a->low[axis] + a->high[axis] > 1;
    }
    return 2 * shared >= used;
}

/* What a wave of blocks reads and writes stays in the second-level cache if it is so small, and
   then another order only costs: Cahn-Hilliard in double, walks of 8 rows, 17 of an H200's 63
   MB, 1.04 times the time; of 16 rows, 35 MB, 0.98. */
int plan_ordered_wave(const plan *p) {
    static const double share = 0.5;
    const int blocks = p->blocks * p->gpu->multiprocessors;
    const double wave =
        (double)blocks * p->tile[0] * p->walk * model_bytes_per_point(p->facts->model);
    return wave > share * p->gpu->l2_bytes && plan_shares_rows(p->facts->model) ? blocks : 0;
}

void write_walk_order(text *t, int blocks) {
    if (blocks > 0)
        text_printf(t,
                    "#define PLAN_WAVE %d // blocks that run at a time; their walks take turns\n",
                    blocks);
}
