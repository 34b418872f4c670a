/* Several threads build and check the kernels of all rows, before any timing. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "stencils.h"

enum { MOST_THREADS = 64 };
#define SHARE_TO_BUILD 0.6 /* of the budget */

/* Checks by the reference take a while, so their grids hold one tile and a bit. Checks by another
   kernel take several tiles, with remainders along every axis. */
static const int64_t judged[AXES][AXES] = {{60007, 1, 1}, {331, 101, 1}, {75, 61, 29}};
static const int64_t compared[AXES][AXES] = {{300007, 1, 1}, {1531, 517, 1}, {163, 131, 83}};
static const int64_t tiny[AXES][AXES] = {{5003, 1, 1}, {131, 73, 1}, {45, 35, 27}};

typedef struct work {
    bench *bench;
    pthread_mutex_t mutex;
    int next;
} work;

void row_fail(row *r, state state, const char *text) {
    r->state = state;
    r->error = must_have(strdup(text));
}

/* ---- building -------------------------------------------------------------------------------- */

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
        r->estimate = plan_estimate(b->context, "stencils.lua", &o, r->plan);
        if (r->way != WAY_RUN && r->info.steps > 1)
            row_fail(r, ROW_REFUSED, "a launch makes several steps");
    }
    free(text);
}

/* ---- checking -------------------------------------------------------------------------------- */

static bool alike(const row *a, const row *b) {
    return a->shape == b->shape && a->wide == b->wide &&
           (a->part == PART_SMALL) == (b->part == PART_SMALL) && strcmp(a->plan, b->plan) == 0 &&
           strcmp(sg_kernel_text(a->kernel, SG_TEXT_SOURCE),
                  sg_kernel_text(b->kernel, SG_TEXT_SOURCE)) == 0;
}

/* Of rows with the same kernel, the first that comes is checked for all. */
static bool is_first(work *w, row *r) {
    pthread_mutex_lock(&w->mutex);
    for (const row *o = w->bench->rows; o < w->bench->rows + w->bench->count && !r->alike; o++)
        if (o->checks && alike(o, r))
            r->alike = o;
    r->checks = r->alike == NULL;
    pthread_mutex_unlock(&w->mutex);
    return r->checks;
}

/* The tile "32x8" of the plan leaves room for another one and its halo; an axis that is walked has
   no tile. */
static void judged_size(const bench *b, const row *r, int64_t size[AXES]) {
    const int dims = r->shape->dims;
    const char *tile = strstr(r->plan, "tile=");
    memcpy(size, b->options.tiny ? tiny[dims - 1] : judged[dims - 1], sizeof r->size);
    if (r->part == PART_SMALL)
        memcpy(size, r->size, sizeof r->size);
    if (tile == NULL || r->part == PART_SMALL)
        return;
    char *at = (char *)tile + strlen("tile=");
    for (int axis = 0; axis < dims; axis++, at++) {
        const int64_t needed = strtoll(at, &at, 10) + 3 * r->info.steps * r->info.radius + 9;
        size[axis] = size[axis] > needed ? size[axis] : needed;
        if (*at != 'x')
            return;
    }
}

/* An axis that blocks walk is made longer than one block walks, so that blocks meet, if the timed
   grid is that long. */
static void compared_size(const bench *b, const row *r, int64_t size[AXES]) {
    const char *walk = strstr(r->plan, "coarsen=");
    if (r->part == PART_SMALL)
        return;
    if (!b->options.tiny)
        memcpy(size, compared[r->shape->dims - 1], sizeof r->size);
    if (walk == NULL)
        return;
    const int axis = walk[8] - 'x';
    const int64_t further = strtoll(walk + 9, NULL, 10) * 5 / 4 + 7;
    const int64_t wanted = further < r->size[axis] ? further : r->size[axis];
    size[axis] = size[axis] > wanted ? size[axis] : wanted;
}

/* One launch is checked by the reference; more steps and a larger size by the naive method. */
static void check(bench *b, row *r) {
    sg_check_options o = {.struct_size = sizeof o, .seed = 1};
    sg_check_result result = {.struct_size = sizeof result};
    judged_size(b, r, o.size);
    const sg_status status = sg_check(r->kernel, &o, &result);
    if (status == SG_ERROR_CHECK) {
        row_fail(r, ROW_WRONG, result.first_wrong);
    } else if (status != SG_OK) {
        row_fail(r, ROW_FAILED, sg_error(b->context));
    } else {
        compared_size(b, r, o.size);
        rows_check_steps(b, r, o.size, 2 * r->info.steps + 3);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *go(void *argument) {
    work *w = argument;
    for (;;) {
        pthread_mutex_lock(&w->mutex);
        const int i = w->next++;
        pthread_mutex_unlock(&w->mutex);
        if (i >= w->bench->count || time_is_up(w->bench, SHARE_TO_BUILD))
            return NULL;
        row *r = &w->bench->rows[i];
        build(w->bench, r);
        if (r->state == ROW_WAITS && is_first(w, r))
            check(w->bench, r);
    }
}

void rows_build(bench *b) {
    pthread_t threads[MOST_THREADS];
    const int wanted = b->options.threads < MOST_THREADS ? (int)b->options.threads : MOST_THREADS;
    work w = {.bench = b, .mutex = PTHREAD_MUTEX_INITIALIZER};
    int started = 0;
    while (started < wanted - 1 && pthread_create(&threads[started], NULL, go, &w) == 0)
        started++;
    go(&w);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (row *r = b->rows; r < b->rows + b->count; r++)
        if (r->alike != NULL) {
            r->state = r->alike->state;
            r->error = r->alike->error != NULL ? must_have(strdup(r->alike->error)) : NULL;
        }
}
