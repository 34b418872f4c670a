/* sg_run_points: single steps, each followed by the launches of the points. Samples go to and from
   the host once for many steps. */
#include "runtime/points/points.h"

#include <string.h>

typedef struct running {
    sg_point_sets *sets;
    const sg_arguments *arguments;
    int64_t count;
    void *stream;
    int *final;
    launch launch;
    int order[LAUNCH_ARRAYS];
} running;

/* ---- samples --------------------------------------------------------------------------------- */

static noreturn void stop(job *j, const point_set *s, const char *does, int64_t first) {
    job_fail(j, FAULT_IO, NULL, 0, "the function that %s '%s' failed at step %lld", does,
             s->about->name, (long long)first);
}

/* The samples of a part's points, out of whole rows. */
static const void *pick(const point_set *s, const unsigned char *rows, int64_t steps,
                        size_t element) {
    for (int64_t step = 0; step < steps; step++)
        for (int64_t i = 0; i < s->items; i++)
            memcpy(s->local + (size_t)step * s->row + (size_t)i * element,
                   rows + (size_t)step * s->given_row + (size_t)s->from[i] * element, element);
    return s->local;
}

void points_bring(job *j, const sg_point_sets *sets, int64_t first, int64_t steps) {
    device *d = sets->kernel->context->device;
    for (int i = 0; i < sets->count; i++) {
        const point_set *s = &sets->sets[i];
        if (s->about->injects < 0 || s->row == 0)
            continue;
        const void *from = s->staged;
        if (s->given.read == NULL)
            from = (const unsigned char *)s->given.series + (size_t)first * s->given_row;
        else if (s->given.read(s->given.user, first, steps, s->staged) != 0)
            stop(j, s, "reads the series of", first);
        if (sets->ground.is_part)
            from = pick(s, from, steps, sets->kernel->program->element_bytes);
        d->ops->upload(d, j, s->samples, from, (size_t)steps * s->row);
    }
}

unsigned char *points_traces(const point_set *s, int64_t first) {
    return s->given.write == NULL && s->given_row > 0
               ? (unsigned char *)s->given.traces + (size_t)first * s->given_row
               : s->staged;
}

void points_hand_on(job *j, const point_set *s, int64_t first, int64_t steps) {
    if (s->given.write != NULL &&
        s->given.write(s->given.user, first, steps, points_traces(s, first)) != 0)
        stop(j, s, "takes the traces of", first);
}

void points_take(job *j, const sg_point_sets *sets, int64_t steps) {
    device *d = sets->kernel->context->device;
    for (int i = 0; i < sets->count; i++) {
        const point_set *s = &sets->sets[i];
        if (s->about->injects < 0 && s->row > 0)
            d->ops->download(d, j, s->local, s->samples, (size_t)steps * s->row);
    }
}

static void fetch_traces(job *j, const running *r, int64_t first, int64_t steps) {
    device *d = r->sets->kernel->context->device;
    d->ops->synchronize(d, j, r->stream);
    for (int i = 0; i < r->sets->count; i++) {
        const point_set *s = &r->sets->sets[i];
        if (s->about->injects >= 0)
            continue;
        if (s->row > 0)
            d->ops->download(d, j, points_traces(s, first), s->samples, (size_t)steps * s->row);
        points_hand_on(j, s, first, steps);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

static unsigned char *put(unsigned char *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return to + bytes;
}

/* As gen/points/points.h lays it out. */
static void pack(const sg_point_sets *sets, const point_set *s, const launch *l, int64_t row,
                 unsigned char to[LAUNCH_BYTES]) {
    const sg_kernel *k = sets->kernel;
    points_arguments a = s->arguments;
    a.row = s->samples + (size_t)row * s->row;
    memset(to, 0, LAUNCH_BYTES);
    to = put(to, &a, sizeof a);
    for (int i = 0; i < k->points->program->array_count; i++) {
        const launch_grid *g = &l->grids[sets->array[i]];
        to = put(to, &g->data, sizeof g->data);
        to = put(to, &g->stride[1], 2 * sizeof g->stride[1]);
    }
    for (int i = 0; i < k->program->parameter_count; i++) {
        const float single = (float)l->parameters[i];
        const bool wide = k->program->element_bytes == sizeof(double);
        to = put(to, wide ? (const void *)&l->parameters[i] : &single, k->program->element_bytes);
    }
}

void points_send(job *j, const sg_point_sets *sets, const launch *l, int64_t row, void *stream) {
    const sg_kernel *k = sets->kernel;
    device *d = k->context->device;
    _Alignas(8) unsigned char arguments[LAUNCH_BYTES];
    for (int i = 0; i < sets->count; i++) {
        const point_set *s = &sets->sets[i];
        const int64_t blocks = (s->arguments.count + POINTS_THREADS - 1) / POINTS_THREADS;
        int code = 0;
        if (blocks == 0)
            continue;
        pack(sets, s, l, row, arguments);
        if (d->ops->launch(d, sets->loaded->module,
                           s->about->injects >= 0 ? POINTS_INJECT : POINTS_SAMPLE,
                           (const int64_t[]){blocks, 1, 1}, arguments,
                           k->points->program->arguments_bytes, stream, &code) != FAULT_NONE)
            launch_fail(j, k, code);
    }
}

static void make_steps(job *j, running *r, int64_t steps) {
    const sg_kernel *k = r->sets->kernel;
    const leap by = steps_single(k->program);
    for (int64_t step = 0; step < steps; step++) {
        int code = 0;
        if (steps_send(k, &r->launch, &by, r->stream, &code) != FAULT_NONE)
            launch_fail(j, k, code);
        steps_rotate(k->program, &r->launch, r->order);
        r->launch.step++;
        points_send(j, r->sets, &r->launch, step, r->stream);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static void check(job *j, running *r) {
    const sg_kernel *k = r->sets->kernel;
    steps_allow(j, k->program, r->count);
    launch_check(j, k, r->arguments, r->count > 1 ? USE_STEPS : USE_STEP, &r->launch);
    if (!r->launch.whole && !r->launch.empty)
        context_refuse(j, "points need the whole grid, without a box");
    for (int axis = 0; axis < k->program->dims; axis++)
        if (r->launch.size[axis] != r->sets->ground.size[axis])
            context_refuse(j, "the grid has size %lld along %c, but its points are of one of %lld",
                           (long long)r->launch.size[axis], "xyz"[axis],
                           (long long)r -> sets -> ground.size[axis]);
    for (int i = 0; i < k->program->array_count; i++)
        r->order[i] = i;
}

static void run(job *j, void *argument) {
    running *r = argument;
    if (r->sets->ground.is_part)
        context_refuse(j, "these points are a team's: run them by sg_team_run_points");
    check(j, r);
    const int64_t count = r->launch.empty ? 0 : r->count;
    for (int64_t done = 0; done < count;) {
        const int64_t left = count - done;
        const int64_t steps = left < r->sets->rows ? left : r->sets->rows;
        const int64_t first = r->launch.step;
        points_bring(j, r->sets, first, steps);
        make_steps(j, r, steps);
        fetch_traces(j, r, first, steps);
        done += steps;
    }
    if (r->final != NULL)
        names_final(r->sets->kernel->program, &r->launch, r->order, r->final);
}

sg_status sg_run_points(sg_point_sets *sets, const sg_arguments *arguments, int64_t steps,
                        sg_stream stream, int *final) {
    if (sets == NULL)
        return SG_ERROR_USAGE;
    running r = {.sets = sets, .arguments = arguments, .count = steps};
    r.stream = stream;
    r.final = final;
    return context_run(sets->kernel->context, run, &r, NULL);
}
