/* bench on several ranks: the same steps on one rank alone and on all, speed-up and efficiency. Data
   follow from a cell's place in the whole grid, so that both compute the same; where one rank has the
   same grid, the results are compared. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "cli/commands/bench_team.h"

enum { SAMPLES = 9, MOST_ARRAYS = 64, USUAL_STEPS = 64 };

typedef struct work {
    const options *options;
    const char *spec;
    sg_build_options how; /* for the whole grid */
    sg_kernel *plan;
    sg_kernel_info info;
    double *parameters;
    int parameter_count;
    int64_t steps; /* of a sample */
    bench_team_result *result;
} work;

/* A rank's arrays, or those of the only one. */
typedef struct local {
    rank *rank;
    const work *work;
    sg_kernel *kernel;
    sg_team_part part;
    sg_grid grids[MOST_ARRAYS];
    sg_arguments arguments;
    unsigned char *host;
    size_t bytes;
} local;

/* ---- data ------------------------------------------------------------------------------------ */

/* In [−1, 1). */
static void fill(local *l, int array) {
    const sg_team_part *p = &l->part;
    const size_t element = l->work->info.element_size;
    memset(l->host, 0, l->bytes);
    for (int64_t z = p->begin[2]; z < p->end[2]; z++)
        for (int64_t y = p->begin[1]; y < p->end[1]; y++) {
            const uint64_t first = (uint64_t)((z * p->global[1] + y) * p->global[0] + p->begin[0]);
            unsigned char *to =
                l->host + (size_t)(((z - p->begin[2] + p->low[2]) * p->size[1] + y - p->begin[1] +
                                    p->low[1]) * p->size[0] + p->low[0]) * element;
            for (int64_t x = 0; x < p->end[0] - p->begin[0]; x++, to += element) {
                const double value =
                    (double)(random_mix(first + (uint64_t)x + ((uint64_t)array << 56)) >> 40) /
                        (1 << 23) - 1;
                const float single = (float)value;
                memcpy(to, element == 4 ? (const void *)&single : &value, element);
            }
        }
}

/* The sum over the rank's own cells of what mixes their places and bits: it does not depend on how
   the grid is divided. */
static uint64_t digest_cells(const local *l) {
    const sg_team_part *p = &l->part;
    const size_t element = l->work->info.element_size;
    uint64_t sum = 0;
    for (int64_t z = p->begin[2]; z < p->end[2]; z++)
        for (int64_t y = p->begin[1]; y < p->end[1]; y++) {
            const uint64_t first = (uint64_t)((z * p->global[1] + y) * p->global[0] + p->begin[0]);
            const unsigned char *at =
                l->host + (size_t)(((z - p->begin[2] + p->low[2]) * p->size[1] + y - p->begin[1] +
                                    p->low[1]) * p->size[0] + p->low[0]) * element;
            for (int64_t x = 0; x < p->end[0] - p->begin[0]; x++, at += element) {
                uint64_t bits = 0;
                memcpy(&bits, at, element);
                sum += random_mix(first + (uint64_t)x) * (bits | 1);
            }
        }
    return sum;
}

static void open_arrays(local *l) {
    rank *r = l->rank;
    const work *w = l->work;
    l->bytes = w->info.element_size;
    for (int axis = 0; axis < 3; axis++)
        l->bytes *= (size_t)l->part.size[axis];
    l->host = malloc(l->bytes);
    if (l->host == NULL)
        rank_fail(r, "out of memory");
    for (int i = 0; i < w->info.arrays && r->status == SG_OK; i++) {
        memcpy(l->grids[i].size, l->part.size, sizeof l->part.size);
        rank_good(r, sg_alloc(r->context, l->bytes, &l->grids[i].data));
    }
    l->arguments = (sg_arguments){.struct_size = sizeof l->arguments,
                                  .grids = l->grids,
                                  .grid_count = w->info.arrays,
                                  .parameters = w->parameters,
                                  .parameter_count = w->parameter_count};
    if (r->status == SG_OK)
        rank_good(r, sg_temporary_bytes(l->kernel, &l->arguments, &l->arguments.temporary_bytes));
    if (r->status == SG_OK && l->arguments.temporary_bytes > 0)
        rank_good(r,
                  sg_alloc(r->context, l->arguments.temporary_bytes, &l->arguments.temporary));
}

static void fill_arrays(local *l) {
    for (int i = 0; i < l->work->info.arrays && l->rank->status == SG_OK; i++) {
        fill(l, i);
        rank_good(l->rank, sg_upload(l->rank->context, l->grids[i].data, l->host, l->bytes));
    }
}

static void close_arrays(local *l) {
    for (int i = 0; i < l->work->info.arrays; i++)
        sg_free(l->rank->context, l->grids[i].data);
    sg_free(l->rank->context, l->arguments.temporary);
    free(l->host);
    sg_release(l->kernel);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Seconds of the steps; the arrays follow. */
static double run_once(local *l, bool alone) {
    rank *r = l->rank;
    int final[MOST_ARRAYS];
    sg_grid before[MOST_ARRAYS];
    const double begun = clock_seconds();
    if (alone)
        rank_good(r, sg_run(l->kernel, &l->arguments, l->work->steps, NULL, final)) &&
            rank_good(r, sg_synchronize(r->context, NULL));
    else
        rank_good(r, sg_team_run(r->team, l->kernel, &l->part, &l->arguments, l->work->steps, NULL,
                                 final)) &&
            rank_good(r, sg_team_wait(r->team, NULL));
    const double seconds = clock_seconds() - begun;
    memcpy(before, l->grids, sizeof before);
    for (int i = 0; i < l->work->info.arrays && r->status == SG_OK; i++)
        l->grids[i] = before[final[i]];
    return seconds;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The digest of all read arrays after the first run. */
static uint64_t digest_arrays(local *l) {
    uint64_t sum = 0;
    for (int i = 0; i < l->work->info.arrays && l->rank->status == SG_OK; i++) {
        sg_array_info about = {.struct_size = sizeof about};
        sg_kernel_array(l->kernel, i, &about);
        if (about.role == SG_READ &&
            rank_good(l->rank,
                      sg_download(l->rank->context, l->host, l->grids[i].data, l->bytes)))
            sum = sum * 31 + digest_cells(l);
    }
    return sum;
}

/* Rank 0 by itself: the grid of `how`. */
static void run_alone(rank *r, work *w, const sg_build_options *how) {
    bench_team_result *out = w->result;
    local l = {.rank = r, .work = w, .part = {.struct_size = sizeof l.part}};
    double samples[SAMPLES];
    for (int axis = 0; axis < 3; axis++) {
        const int64_t size = how->size[axis] > 0 ? how->size[axis] : 1;
        l.part.global[axis] = l.part.end[axis] = l.part.size[axis] = size;
        l.part.ranks[axis] = 1;
    }
    if (rank_good(r, sg_build(r->context, w->spec, how, &l.kernel)))
        open_arrays(&l);
    fill_arrays(&l);
    if (r->status == SG_OK)
        run_once(&l, true);
    out->alone_digest = digest_arrays(&l);
    for (int i = 0; i < SAMPLES && r->status == SG_OK; i++)
        samples[i] = run_once(&l, true);
    qsort(samples, SAMPLES, sizeof *samples, by_size);
    out->alone = samples[SAMPLES / 2] / (double)w->steps;
    if (l.kernel != NULL)
        out->alone_plan = strdup(sg_kernel_text(l.kernel, SG_TEXT_PLAN));
    close_arrays(&l);
}

static bool agreed(rank *r) {
    const sg_status own = r->status;
    const sg_status status = sg_team_agree(r->team, own != SG_OK ? r->error : NULL);
    if (own == SG_OK)
        rank_good(r, status);
    return r->status == SG_OK;
}

static void run_together(rank *r, work *w) {
    local l = {.rank = r, .work = w, .part = {.struct_size = sizeof l.part}};
    double samples[SAMPLES];
    sg_team_info before = {.struct_size = sizeof before}, after = before;
    const int *given = r->of->grid[0] > 0 ? r->of->grid : NULL;
    if (!rank_good(r, sg_team_build(r->team, w->spec, &w->how, given, &l.kernel)))
        return;
    for (int axis = 0; axis < 3; axis++)
        l.part.global[axis] = w->how.size[axis] > 0 ? w->how.size[axis] : 1;
    memcpy(l.part.ranks, r->of->grid, sizeof l.part.ranks);
    l.part.launches = (int)w->options->launches;
    if (rank_good(r, sg_team_arrange(r->team, l.kernel, &l.part)))
        open_arrays(&l);
    fill_arrays(&l);
    if (agreed(r))
        run_once(&l, false);
    uint64_t mine = digest_arrays(&l), all[1024] = {0};
    if (agreed(r))
        rank_good(r, sg_team_gather(r->team, &mine, sizeof mine, all));
    sg_team_facts(r->team, &before);
    for (int i = 0; i < SAMPLES && agreed(r); i++) {
        samples[i] = run_once(&l, false);
        rank_good(r, sg_team_reduce(r->team, SG_COMBINE_MAX, &samples[i], 1, &samples[i]));
    }
    sg_team_facts(r->team, &after);
    if (r->number == 0 && r->status == SG_OK) {
        bench_team_result *out = w->result;
        qsort(samples, SAMPLES, sizeof *samples, by_size);
        out->together = samples[SAMPLES / 2] / (double)w->steps;
        for (int i = 0; i < r->of->count; i++)
            out->team_digest += all[i];
        out->part = l.part;
        out->exchanges = (double)(after.exchanges - before.exchanges) / SAMPLES / (double)w->steps;
        out->bytes = (double)(after.bytes - before.bytes) / SAMPLES / (double)w->steps;
        out->plan = strdup(sg_kernel_text(l.kernel, SG_TEXT_PLAN));
    }
    close_arrays(&l);
}

static void be_rank(rank *r) {
    work *w = r->user;
    sg_build_options alone = w->how;
    if (w->options->weak)
        for (int axis = 0; axis < w->options->size_count; axis++)
            alone.size[axis] = w->options->size[axis];
    if (r->number == 0)
        run_alone(r, w, &alone);
    if (agreed(r))
        run_together(r, w);
}
