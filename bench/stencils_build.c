/* Kernels of all rows, and their checks, by several threads, ahead of any timing. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "stencils.h"

enum { MOST_THREADS = 64 };
#define SHARE_TO_BUILD 0.6 /* of the time there is */

/* Larger than any tile, with remainders along every axis. */
static const int64_t checked[AXES][AXES] = {{300007, 1, 1}, {1531, 517, 1}, {163, 131, 83}};
static const int64_t checked_tiny[AXES][AXES] = {{5003, 1, 1}, {131, 73, 1}, {45, 35, 27}};

typedef struct work {
    bench *bench;
    void (*each)(bench *, row *);
    pthread_mutex_t mutex;
    int next;
} work;

void row_fail(row *r, state state, const char *text) {
    r->state = state;
    r->error = must_have(strdup(text));
}

static void *go(void *argument) {
    work *w = argument;
    for (;;) {
        pthread_mutex_lock(&w->mutex);
        const int i = w->next++;
        pthread_mutex_unlock(&w->mutex);
        if (i >= w->bench->count || time_is_up(w->bench, SHARE_TO_BUILD))
            return NULL;
        w->each(w->bench, &w->bench->rows[i]);
    }
}

static void for_all(bench *b, void (*each)(bench *, row *)) {
    pthread_t threads[MOST_THREADS];
    const int wanted = b->options.threads < MOST_THREADS ? (int)b->options.threads : MOST_THREADS;
    work w = {.bench = b, .each = each, .mutex = PTHREAD_MUTEX_INITIALIZER};
    int started = 0;
    while (started < wanted - 1 && pthread_create(&threads[started], NULL, go, &w) == 0)
        started++;
    go(&w);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* ---- building
 * ------------------------------------------------------------------------------------- */

/* What the model says of the plan that was made: the row of `explain` with the same plan. */
static double estimate(bench *b, const sg_build_options *o, const char *plan) {
    sg_explanation *e;
    double seconds = 0;
    if (sg_explain(b->context, "stencils.lua", o, &e) != SG_OK)
        return 0;
    for (int i = 0; i < e->row_count; i++)
        if (e->rows[i].plan != NULL && strcmp(e->rows[i].plan, plan) == 0)
            seconds = e->rows[i].estimated_seconds;
    sg_explanation_free(e);
    return seconds;
}

static void build(bench *b, row *r) {
    char *text = shape_spec(r->shape, r->wide, b->options.weights, b->options.boundary);
    sg_build_options o = {.struct_size = sizeof o, .text = text, .schedule = r->schedule};
    memcpy(o.size, r->size, sizeof o.size);
    o.steps = r->way == WAY_RUN ? r->steps : 1;
    const sg_status status = sg_build(b->context, "stencils.lua", &o, &r->kernel);
    if (status != SG_OK) {
        row_fail(r, status == SG_ERROR_PLAN ? ROW_REFUSED : ROW_FAILED, sg_error(b->context));
    } else {
        r->info.struct_size = sizeof r->info;
        sg_kernel_facts(r->kernel, &r->info);
        r->plan = sg_kernel_text(r->kernel, SG_TEXT_PLAN);
        r->estimate = estimate(b, &o, r->plan);
        if (r->way != WAY_RUN && r->info.steps > 1)
            row_fail(r, ROW_REFUSED, "a launch makes several steps");
    }
    free(text);
}

/* ---- checking
 * ------------------------------------------------------------------------------------- */

/* The first row with the same source is checked for all of them; small grids at their own size. */
static const row *first_alike(const bench *b, const row *r) {
    const char *source = sg_kernel_text(r->kernel, SG_TEXT_SOURCE);
    for (const row *o = b->rows; o < r; o++)
        if (o->kernel != NULL && o->shape == r->shape && o->wide == r->wide &&
            (o->part == PART_SMALL) == (r->part == PART_SMALL) && strcmp(o->plan, r->plan) == 0 &&
            strcmp(sg_kernel_text(o->kernel, SG_TEXT_SOURCE), source) == 0)
            return o;
    return r;
}

static void check_size(const bench *b, const row *r, int64_t size[AXES]) {
    const int64_t(*modest)[AXES] = b->options.tiny ? checked_tiny : checked;
    memcpy(size, r->part == PART_SMALL ? r->size : modest[r->shape->dims - 1], sizeof r->size);
}

/* Blocks that walk an axis are to meet: it is made longer than one of them goes, where the grid
   that is timed is that long. */
static void lengthen(const row *r, int64_t size[AXES]) {
    const char *walk = strstr(r->plan, "coarsen=");
    if (walk == NULL || r->part == PART_SMALL)
        return;
    const int axis = walk[8] - 'x';
    const int64_t further = strtoll(walk + 9, NULL, 10) * 5 / 4 + 7;
    const int64_t wanted = further < r->size[axis] ? further : r->size[axis];
    size[axis] = size[axis] > wanted ? size[axis] : wanted;
}

/* By the reference, and at more steps and a larger size beside the naive method. */
static void check(bench *b, row *r) {
    if (r->state != ROW_WAITS || r->kernel == NULL || first_alike(b, r) != r)
        return;
    sg_check_options o = {.struct_size = sizeof o, .seed = 1};
    sg_check_result result = {.struct_size = sizeof result};
    check_size(b, r, o.size);
    const sg_status status = sg_check(r->kernel, &o, &result);
    if (status == SG_ERROR_CHECK) {
        row_fail(r, ROW_WRONG, result.first_wrong);
    } else if (status != SG_OK) {
        row_fail(r, ROW_FAILED, sg_error(b->context));
    } else {
        lengthen(r, o.size);
        rows_check_steps(b, r, o.size, 2 * r->info.steps + 3);
    }
}

void rows_build(bench *b) {
    for_all(b, build);
    for_all(b, check);
    for (row *r = b->rows; r < b->rows + b->count; r++) {
        const row *first = r->kernel != NULL ? first_alike(b, r) : r;
        if (first == r || r->state != ROW_WAITS)
            continue;
        r->state = first->state;
        r->error = first->error != NULL ? must_have(strdup(first->error)) : NULL;
    }
}
