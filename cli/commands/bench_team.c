/* bench on several ranks: the same steps on one rank alone and on all, speed-up and efficiency.
   Data follow from a cell's place in the whole grid, so that both compute the same; where one rank
   has the same grid, the results are compared. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/random.h"
#include "base/workers.h"
#include "cli/ranks.h"

enum { SAMPLES = 9, MOST_ARRAYS = 64, USUAL_STEPS = 64, MOST_RUNS = 64 };

/* A sample takes about so long, where --steps leaves it open: runs have costs of their own. */
static const double sample_seconds = 0.04;

/* What rank 0 leaves. */
typedef struct result {
    double alone, together; /* seconds a step: medians */
    uint64_t alone_digest, team_digest;
    sg_team_part part;
    double exchanges, bytes; /* of rank 0, a step */
    double waited, hidden; /* seconds a step in exchanges: computing waited for them, or went on */
    char alone_plan[512], plan[512];
} result;

typedef struct work {
    const options *options;
    const char *spec;
    workers *workers;     /* that fill arrays and add up their digests */
    sg_build_options how; /* for the whole grid */
    sg_kernel_info info;
    double *parameters;
    int parameter_count;
    int64_t steps; /* of the first run, whose results are compared */
    int64_t sample_steps;
    int64_t alone[3]; /* the grid of one rank by itself */
    result result;
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
    dtype types[MOST_ARRAYS];
    size_t cells; /* of an array */
} local;

static size_t local_bytes(const local *l, int array) {
    return l->cells * dtype_words[l->types[array]].bytes;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* A row of the rank's own cells: where it is in its host memory, and the place of its first cell in
   the whole grid. */
typedef struct cells {
    const local *local;
    int array;
    _Atomic uint64_t digest;
} cells;

static unsigned char *find_row(const cells *c, int64_t row, uint64_t *first) {
    const local *l = c->local;
    const sg_team_part *p = &l->part;
    const int64_t rows = part_own(p, 1), y = row % rows, z = row / rows;
    *first = part_row_of_whole(p, y, z);
    return l->host + part_row(p, y, z) * dtype_words[l->types[c->array]].bytes;
}

static void fill_row(void *argument, int64_t row, int worker) {
    const cells *c = argument;
    const dtype type = c->local->types[c->array];
    uint64_t first;
    unsigned char *to = find_row(c, row, &first);
    (void)worker;
    for (int64_t x = 0; x < part_own(&c->local->part, 0); x++, to += dtype_words[type].bytes)
        dtype_store(
            type, to,
            sample_real(&sample_plain, random_bits((uint64_t)c->array, first + (uint64_t)x)));
}

/* The sum over the rank's own cells of what mixes their places and bits: it does not depend on how
   the grid is divided. */
static void digest_row(void *argument, int64_t row, int worker) {
    cells *c = argument;
    const size_t element = dtype_words[c->local->types[c->array]].bytes;
    uint64_t first, sum = 0;
    const unsigned char *at = find_row(c, row, &first);
    (void)worker;
    for (int64_t x = 0; x < part_own(&c->local->part, 0); x++, at += element) {
        uint64_t bits = 0;
        memcpy(&bits, at, element);
        sum += random_bits(99, first + (uint64_t)x) * (bits | 1);
    }
    c->digest += sum;
}

static uint64_t visit_rows(const local *l, int array, void (*visit)(void *, int64_t, int)) {
    const sg_team_part *p = &l->part;
    cells c = {.local = l, .array = array};
    workers_run(l->work->workers, part_own(p, 1) * part_own(p, 2), visit, &c);
    return c.digest;
}

static void open_arrays(local *l) {
    rank *r = l->rank;
    const work *w = l->work;
    l->cells = 1;
    for (int axis = 0; axis < 3; axis++)
        l->cells *= (size_t)l->part.size[axis];
    l->host = malloc(l->cells * w->info.element_size);
    if (l->host == NULL)
        rank_fail(r, "out of memory");
    for (int i = 0; i < w->info.arrays && r->status == SG_OK; i++) {
        sg_array_info about = {.struct_size = sizeof about};
        if (rank_good(r, sg_kernel_array(l->kernel, i, &about)))
            l->types[i] = dtype_find(about.dtype);
        memcpy(l->grids[i].size, l->part.size, sizeof l->part.size);
        rank_good(r, sg_alloc(r->context, local_bytes(l, i), &l->grids[i].data));
    }
    l->arguments = (sg_arguments){.struct_size = sizeof l->arguments,
                                  .grids = l->grids,
                                  .grid_count = w->info.arrays,
                                  .parameters = w->parameters,
                                  .parameter_count = w->parameter_count};
    if (r->status == SG_OK)
        rank_good(r, sg_temporary_bytes(l->kernel, &l->arguments, &l->arguments.temporary_bytes));
    if (r->status == SG_OK && l->arguments.temporary_bytes > 0)
        rank_good(r, sg_alloc(r->context, l->arguments.temporary_bytes, &l->arguments.temporary));
}

static void fill_arrays(local *l) {
    for (int i = 0; i < l->work->info.arrays && l->rank->status == SG_OK; i++) {
        memset(l->host, 0, local_bytes(l, i));
        visit_rows(l, i, fill_row);
        rank_good(l->rank,
                  sg_upload(l->rank->context, l->grids[i].data, l->host, local_bytes(l, i)));
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
static double run_steps(local *l, int64_t steps, bool alone) {
    rank *r = l->rank;
    int final[MOST_ARRAYS];
    sg_grid before[MOST_ARRAYS];
    const double begun = clock_seconds();
    const sg_status sent =
        alone ? sg_run(l->kernel, &l->arguments, steps, NULL, final)
              : sg_team_run(r->team, l->kernel, &l->part, &l->arguments, steps, NULL, final);
    if (rank_good(r, sent))
        rank_good(r, alone ? sg_synchronize(r->context, NULL) : sg_team_wait(r->team, NULL));
    const double seconds = clock_seconds() - begun;
    memcpy(before, l->grids, sizeof before);
    for (int i = 0; i < l->work->info.arrays && r->status == SG_OK; i++)
        l->grids[i] = before[final[i]];
    return seconds;
}

/* The digest of all read arrays after the first run. */
static uint64_t digest_arrays(local *l) {
    uint64_t sum = 0;
    for (int i = 0; i < l->work->info.arrays && l->rank->status == SG_OK; i++) {
        sg_array_info about = {.struct_size = sizeof about};
        sg_kernel_array(l->kernel, i, &about);
        if (about.role == SG_READ &&
            rank_good(l->rank,
                      sg_download(l->rank->context, l->host, l->grids[i].data, local_bytes(l, i))))
            sum = sum * 31 + visit_rows(l, i, digest_row);
    }
    return sum;
}

/* Longer samples than a run that took so many seconds. */
static void lengthen(work *w, double seconds) {
    int64_t runs = seconds > 0 ? (int64_t)(sample_seconds / seconds) + 1 : 1;
    w->sample_steps = w->steps * (runs < MOST_RUNS ? runs : MOST_RUNS);
}

/* Rank 0 by itself: the grid of `how`. */
static void run_alone(rank *r, work *w, const sg_build_options *how) {
    result *out = &w->result;
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
    const double first = r->status == SG_OK ? run_steps(&l, w->steps, true) : 0;
    out->alone_digest = digest_arrays(&l);
    if (!w->options->steps_given)
        lengthen(w, first);
    for (int i = 0; i < SAMPLES && r->status == SG_OK; i++)
        samples[i] = run_steps(&l, w->sample_steps, true);
    qsort(samples, SAMPLES, sizeof *samples, dtype_compare);
    out->alone = samples[SAMPLES / 2] / (double)w->sample_steps;
    if (l.kernel != NULL)
        snprintf(out->alone_plan, sizeof out->alone_plan, "%s",
                 sg_kernel_text(l.kernel, SG_TEXT_PLAN));
    close_arrays(&l);
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
    double steps = (double)w->sample_steps; /* which rank 0 knows */
    if (rank_agreed(r))
        run_steps(&l, w->steps, false);
    if (r->number != 0)
        steps = 0;
    if (rank_agreed(r))
        rank_good(r, sg_team_reduce(r->team, SG_COMBINE_MAX, &steps, 1, &steps));
    uint64_t mine = digest_arrays(&l), *all = calloc((size_t)r->of->count, sizeof *all);
    if (all == NULL)
        rank_fail(r, "out of memory");
    if (rank_agreed(r))
        rank_good(r, sg_team_gather(r->team, &mine, sizeof mine, all));
    sg_team_facts(r->team, &before);
    for (int i = 0; i < SAMPLES && rank_agreed(r); i++) {
        samples[i] = run_steps(&l, (int64_t)steps, false);
        rank_good(r, sg_team_reduce(r->team, SG_COMBINE_MAX, &samples[i], 1, &samples[i]));
    }
    sg_team_facts(r->team, &after);
    if (r->number == 0 && r->status == SG_OK) {
        result *out = &w->result;
        qsort(samples, SAMPLES, sizeof *samples, dtype_compare);
        out->together = samples[SAMPLES / 2] / steps;
        for (int i = 0; i < r->of->count; i++)
            out->team_digest += all[i];
        out->part = l.part;
        out->exchanges = (double)(after.exchanges - before.exchanges) / SAMPLES / steps;
        out->bytes = (double)(after.bytes - before.bytes) / SAMPLES / steps;
        out->waited = (after.exchange_seconds - before.exchange_seconds) / SAMPLES / steps;
        out->hidden = (after.hidden_seconds - before.hidden_seconds) / SAMPLES / steps;
        snprintf(out->plan, sizeof out->plan, "%s", sg_kernel_text(l.kernel, SG_TEXT_PLAN));
    }
    free(all);
    close_arrays(&l);
}

static void be_rank(rank *r) {
    work *w = r->user;
    sg_build_options alone = w->how;
    memcpy(alone.size, w->alone, sizeof alone.size);
    if (r->number == 0)
        run_alone(r, w, &alone);
    if (rank_agreed(r))
        run_together(r, w);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The whole grid: that of --size, or with --weak as many parts of it as ranks. */
static int find_size(work *w, session *s, const ranks *r) {
    const options *o = s->options;
    sg_kernel *plan = NULL;
    sg_build_options how = session_build_options(s, s->first);
    how.source_only = 1;
    int code = session_build(s, w->spec, &how, &plan);
    if (code == EXIT_DONE)
        code = session_judge_size(s, plan);
    w->info.struct_size = sizeof w->info;
    if (code == EXIT_DONE)
        code = session_code(s, sg_kernel_facts(plan, &w->info));
    if (code == EXIT_DONE && w->info.kind != SG_KIND_GRID)
        code = complain(EXIT_USAGE, w->spec, "it is no stencil, of which alone ranks run parts");
    if (code == EXIT_DONE && w->info.point_sets > 0)
        code = complain(EXIT_USAGE, w->spec,
                        "bench on ranks measures no spec with points; run says how long its steps "
                        "take");
    if (code == EXIT_DONE && w->info.arrays > MOST_ARRAYS)
        code = complain(EXIT_USAGE, w->spec, "it has too many arrays");
    if (code == EXIT_DONE)
        code = session_parameters(s, w->spec, plan, VALUES_SPREAD, &w->parameters,
                                  &w->parameter_count);
    for (int axis = 0; axis < 3; axis++)
        w->alone[axis] = w->how.size[axis] = w->info.size[axis];
    for (int axis = 0; axis < w->info.dims && o->weak; axis++)
        w->how.size[axis] *= r->grid[0] > 0             ? r->grid[axis]
                             : axis == w->info.dims - 1 ? r->count
                                                        : 1;
    sg_release(plan);
    return code;
}

static void report(const work *w, const session *s, const ranks *r, json *j, text *out) {
    const result *b = &w->result;
    const int dims = w->info.dims;
    const int64_t grid[3] = {b->part.ranks[0], b->part.ranks[1], b->part.ranks[2]};
    const bool weak = w->options->weak, same = b->alone_digest == b->team_digest;
    const double speedup = b->alone / b->together * (weak ? r->count : 1);
    text_printf(out, "%s: %s on %d ranks (%s), %s, %s device\n", w->spec,
                in_extents(w->how.size, dims), r->count, in_extents(grid, dims), ranks_engine,
                s->device.device);
    text_printf(out, "  plan     %s\n", b->plan);
    if (strcmp(b->plan, b->alone_plan) != 0)
        text_printf(out, "           alone %s\n", b->alone_plan);
    text_printf(out, "  alone    %s a step of %s\n", in_seconds(b->alone),
                in_extents(w->alone, dims));
    text_printf(out, "  ranks    %s a step: %.3f times as fast, efficiency %.3f\n",
                in_seconds(b->together), speedup, speedup / r->count);
    text_printf(
        out, "  halos    %.3g exchanges a step, %.3g bytes sent by rank 0; %s a step in them, %s\n",
        b->exchanges, b->bytes, in_seconds(b->waited + b->hidden),
        ranks_unhidden(b->waited, b->hidden));
    if (!weak)
        text_printf(out, "  check    %s\n",
                    same ? "the same bytes as alone" : "other bytes than alone");
    json_add(j, "{ spec %s plan %s alone_plan %s ranks { count %d grid %s engine %s } weak %i",
             w->spec, b->plan, b->alone_plan, r->count, in_extents(grid, dims), ranks_engine, weak);
    json_integers(j, "size", w->how.size, dims);
    json_integers(j, "alone_size", w->alone, dims);
    json_add(j,
             "steps %" PRId64 " alone_seconds %g seconds %g speedup %g efficiency %g exchanges %g "
             "bytes %g exchange_seconds %g hidden_seconds %g",
             w->sample_steps, b->alone, b->together, speedup, speedup / r->count, b->exchanges,
             b->bytes, b->waited, b->hidden);
    if (weak)
        json_string(j, "same", NULL);
    else
        json_add(j, "same %i", same);
    json_add(j, "}");
}

static int bench_spec(session *s, const char *spec, ranks *r, json *j, text *out) {
    work w = {.options = s->options, .spec = spec};
    int count = 0, code = session_count(s, spec, &count);
    if (code == EXIT_DONE && count != 1)
        code = complain(
            EXIT_USAGE, spec,
            "bench on ranks takes one spec, but the file returns %d; choose one with --spec NAME",
            count);
    if (code != EXIT_DONE)
        return code;
    w.how = session_build_options(s, s->first);
    w.steps = s->options->steps_given ? s->options->steps : USUAL_STEPS;
    w.sample_steps = w.steps;
    code = find_size(&w, s, r);
    w.workers = workers_open(&allocator_libc, 0);
    if (w.workers == NULL)
        code = complain(EXIT_DEVICE, NULL, "out of memory");
    if (code == EXIT_DONE)
        code = ranks_run(r, s, be_rank, &w);
    workers_close(w.workers);
    if (code == EXIT_DONE && r->speaks)
        report(&w, s, r, j, out);
    /* Different plans make different sums, which is no fault. */
    if (code == EXIT_DONE && !s->options->weak && w.result.alone_digest != w.result.team_digest &&
        strcmp(w.result.plan, w.result.alone_plan) == 0 && r->speaks)
        code = complain(EXIT_WRONG, spec, "the ranks' result is not that of one rank");
    return code;
}

static int bench_on(const options *o, ranks *r, const char **complaint) {
    session s;
    int code = session_open(&s, o);
    text line = new_text(), json_text = new_text();
    json j = {.out = &json_text};
    if (code == EXIT_DONE) {
        json_begin(&j, o);
        session_json(&s, &j);
        json_open(&j, "kernels", '[');
        if (o->spec_count != 1)
            code = complain(EXIT_USAGE, NULL, "bench on ranks takes one spec");
        else
            code = bench_spec(&s, o->specs[0], r, &j, &line);
        json_add(&j, "]");
    }
    *complaint = complaint_take();
    if (s.context != NULL && r->speaks)
        code = json_finish(&j, o, code, &line);
    session_close(&s);
    return code;
}

int command_bench_team(const options *o) {
    return ranks_call(bench_on, o);
}
