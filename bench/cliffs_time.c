/* One problem of the search for cliffs on the device: its results, then its times. */
#include "cliffs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 4, SAMPLES = 9, MOST_LAUNCHES = 64 };
#define ENOUGH_SECONDS 1e-3 /* of a sample */

/* An entrant with its arrays. */
typedef struct run {
    search *search;
    const problem *problem;
    entrant *entrant;
    const void *data; /* what arrays are filled with */
    sg_grid grids[MOST_ARRAYS];
    sg_arguments arguments;
    int64_t steps;
    int final[MOST_ARRAYS];
    void *graph;
    sg_status status;
} run;

static void make_steps(void *argument) {
    run *r = argument;
    r->status = sg_run(r->entrant->kernel, &r->arguments, r->steps, bench_stream(r->search->device),
                       r->final);
}

static void sample(void *argument) {
    run *r = argument;
    if (r->graph != NULL)
        bench_replay(r->search->device, r->graph);
    else
        make_steps(r);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Arrays that are read are filled, others hold no numbers. */
static bool restart(run *r) {
    const size_t bytes = problem_bytes(r->problem);
    for (int i = 0; i < r->arguments.grid_count; i++) {
        sg_array_info info = {.struct_size = sizeof info};
        if (sg_kernel_array(r->entrant->kernel, i, &info) != SG_OK)
            return false;
        if (info.role == SG_WRITE)
            bench_fill(r->search->device, r->grids[i].data, 0xff, bytes);
        else if (sg_upload(r->search->context, r->grids[i].data, r->data, bytes) != SG_OK)
            return false;
    }
    bench_wait(r->search->device);
    return true;
}

static bool open_run(run *r) {
    sg_kernel_info info = {.struct_size = sizeof info};
    sg_arguments *a = &r->arguments;
    if (sg_kernel_facts(r->entrant->kernel, &info) != SG_OK || info.arrays > MOST_ARRAYS)
        return false;
    *a = (sg_arguments){.struct_size = sizeof *a, .grids = r->grids, .grid_count = info.arrays};
    for (int i = 0; i < info.arrays; i++) {
        memcpy(r->grids[i].size, r->problem->size, sizeof r->grids[i].size);
        if (sg_alloc(r->search->context, problem_bytes(r->problem), &r->grids[i].data) != SG_OK)
            return false;
    }
    return sg_temporary_bytes(r->entrant->kernel, a, &a->temporary_bytes) == SG_OK &&
           (a->temporary_bytes == 0 ||
            sg_alloc(r->search->context, a->temporary_bytes, &a->temporary) == SG_OK) &&
           restart(r);
}

static void close_run(run *r) {
    bench_forget(r->search->device, r->graph);
    for (int i = 0; i < MOST_ARRAYS; i++)
        sg_free(r->search->context, r->grids[i].data);
    sg_free(r->search->context, r->arguments.temporary);
}

/* ---- results --------------------------------------------------------------------------------- */

/* The field after so many steps, on the heap; NULL if a call failed. */
static void *result(run *r, int64_t steps) {
    const size_t bytes = problem_bytes(r->problem);
    const int field = sg_kernel_find_array(r->entrant->kernel, "u");
    void *out = must_have(malloc(bytes));
    r->steps = steps;
    make_steps(r);
    bench_wait(r->search->device);
    if (r->status == SG_OK && field >= 0 &&
        sg_download(r->search->context, out, r->grids[r->final[field]].data, bytes) == SG_OK)
        return out;
    free(out);
    return NULL;
}

static void compare(cliff *c, int entrant, const void *got, const void *wanted, int64_t steps) {
    const problem *p = &c->problem;
    const double allowed = problem_tolerance(p, steps);
    const size_t count = (size_t)problem_points(p);
    for (size_t i = 0; i < count; i++) {
        const double x = problem_value(p, got, i), y = problem_value(p, wanted, i);
        if (fabs(x - y) <= allowed * fmax(1, fabs(y))) /* false also for NaN */
            continue;
        char text[256];
        snprintf(text, sizeof text, "WRONG: after %lld steps cell %zu is %g where naive has %g: %s",
                 (long long)steps, i, x, y, c->of[entrant].plan);
        cliff_fail(c, text);
        return;
    }
}

/* More steps than a launch makes, with a rest. */
static int64_t steps_to_check(const entrant *e) {
    sg_kernel_info info = {.struct_size = sizeof info};
    sg_kernel_facts(e->kernel, &info);
    return info.steps > 1 ? 2 * info.steps + 1 : 3;
}

/* `auto`, single steps and the schedules. */
static void check(search *s, cliff *c, run runs[ENTRANTS]) {
    void *wanted = NULL;
    int64_t made = 0;
    for (int e = 0; e < ENTRANTS && c->error == NULL; e++) {
        if (runs[e].entrant == NULL || e == NAIVE || e == NEXT)
            continue;
        const int64_t steps = steps_to_check(&c->of[e]);
        if (steps != made) {
            free(wanted);
            wanted = restart(&runs[NAIVE]) ? result(&runs[NAIVE], steps) : NULL;
            made = steps;
        }
        void *got = wanted != NULL ? result(&runs[e], steps) : NULL;
        if (got != NULL)
            compare(c, e, got, wanted, steps);
        else
            cliff_fail(c, sg_error(s->context));
        free(got);
    }
    free(wanted);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Single steps are repeated until a sample is long enough. */
static void prepare(run *r) {
    bench_device *d = r->search->device;
    r->steps = r->problem->steps;
    make_steps(r);
    bench_wait(d);
    if (r->steps == 1) {
        const double once = bench_time(d, make_steps, r);
        r->steps = (int64_t)fmin(fmax(ENOUGH_SECONDS / once, 2), MOST_LAUNCHES);
    }
    r->graph = bench_capture(d, make_steps, r);
    sample(r);
    bench_wait(d);
}

static void take_samples(cliff *c, run runs[ENTRANTS]) {
    double times[ENTRANTS][SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        for (int e = 0; e < ENTRANTS; e++)
            if (runs[e].entrant != NULL)
                times[e][i] = bench_time(runs[e].search->device, sample, &runs[e]);
    for (int e = 0; e < ENTRANTS; e++)
        if (runs[e].entrant != NULL)
            c->of[e].seconds = median(times[e], SAMPLES) / (double)runs[e].steps;
}

void cliff_time(search *s, cliff *c, bool checks) {
    run runs[ENTRANTS] = {{0}};
    const problem *largest = c->has_next ? &c->next : &c->problem;
    void *data = must_have(malloc(problem_bytes(largest)));
    problem_fill(largest, data);
    for (int e = 0; e < ENTRANTS && c->error == NULL; e++) {
        if (c->of[e].kernel == NULL)
            continue;
        runs[e].search = s;
        runs[e].problem = e == NEXT ? &c->next : &c->problem;
        runs[e].entrant = &c->of[e];
        runs[e].data = data;
        if (!open_run(&runs[e]))
            cliff_fail(c, sg_error(s->context));
    }
    if (c->error == NULL && checks)
        check(s, c, runs);
    for (int e = 0; e < ENTRANTS && c->error == NULL; e++)
        if (runs[e].entrant != NULL)
            prepare(&runs[e]);
    if (c->error == NULL)
        take_samples(c, runs);
    for (int e = 0; e < ENTRANTS; e++) {
        if (c->error == NULL && runs[e].status != SG_OK)
            cliff_fail(c, sg_error(s->context));
        if (runs[e].search != NULL)
            close_run(&runs[e]);
    }
    free(data);
}

double cliff_rate(const cliff *c, int e) {
    const double seconds = c->of[e].seconds;
    return seconds > 0 ? problem_points(e == NEXT ? &c->next : &c->problem) / seconds : 0;
}
