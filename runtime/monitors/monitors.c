/* Monitors of a run. Takes: the kernel of a spec and the map of one of its monitors. Makes:
   samples, each a launch of the map into an array of its own and a reduction of that; and
   sg_run_watched, the steps of sg_run, or fewer, and functions that are told of samples. */
#include "base/dtype.h"
#include "runtime/launch/launch.h"

#include "runtime/points/points.h"

#include <string.h>

struct sg_monitor {
    job *job;
    const sg_kernel *kernel, *map;
    sg_kernel *reduce;
    int64_t cells;
    sg_grid grids[LAUNCH_ARRAYS]; /* of the map; those of the fields are set by each sample */
    int from[LAUNCH_ARRAYS];      /* which array of the kernel it is; −1: the monitor's own */
    void *own, *temporary, *reduce_temporary;
    size_t temporary_bytes, reduce_bytes;
    unsigned char *results; /* device memory, a ring */
    sg_stream stream;
    int64_t steps[SG_MONITOR_SAMPLES];
    int first, waiting;
};

/* ---- opening and closing --------------------------------------------------------------------- */

static void give_back(void *what) {
    sg_monitor *m = what;
    device *d = m->kernel->context->device;
    d->ops->free(d, m->own);
    d->ops->free(d, m->temporary);
    d->ops->free(d, m->reduce_temporary);
    d->ops->free(d, m->results);
    sg_release(m->reduce);
}

void sg_monitor_close(sg_monitor *m) {
    if (m == NULL)
        return;
    give_back(m);
    context_unmake(m->kernel->context, m->job);
}

typedef struct opening {
    const sg_kernel *kernel, *map;
    const int64_t *size;
    sg_monitor **out;
} opening;

static void judge(job *j, const opening *o) {
    kernel_need_launchable(j, o->kernel);
    kernel_need_launchable(j, o->map);
    if (o->map->maps_for == NULL)
        context_refuse(j,
                       "'%s' is no map of a monitor: it was built without monitor of "
                       "sg_build_options",
                       o->map->program->name);
    if (o->map->context != o->kernel->context)
        context_refuse(j, "'%s' and its monitor are of two contexts", o->kernel->program->name);
    if (o->size == NULL)
        context_refuse(j, "sg_monitor_open needs a size");
}

/* Where the map's arrays come from. */
static void connect(job *j, sg_monitor *m, const int64_t size[3]) {
    const program *p = m->map->program;
    m->cells = 1;
    for (int axis = 0; axis < p->dims; axis++) {
        if (size[axis] < 0)
            context_refuse(j, "a grid of %lld cells along %c", (long long)size[axis], "xyz"[axis]);
        if (m->cells > 0 && size[axis] > LAUNCH_MOST_BYTES / (int64_t)sizeof(double) / m->cells)
            context_refuse(j, "the grid has too many cells");
        m->cells *= size[axis];
    }
    for (int i = 0; i < p->array_count; i++) {
        m->from[i] = p->arrays[i].written ? -1 : sg_kernel_find_array(m->kernel, p->arrays[i].name);
        if (!p->arrays[i].written && m->from[i] < 0)
            context_refuse(j, "'%s' is no map of '%s', which has no array '%s'", p->name,
                           m->kernel->program->name, p->arrays[i].name);
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            m->grids[i].size[axis] = axis < p->dims ? size[axis] : 1;
    }
}

/* The array that the map writes holds the identity wherever it does not. */
static void fill(job *j, const sg_monitor *m, double identity) {
    enum { PIECE = 1 << 16 };
    const size_t element = m->map->program->element_bytes;
    device *d = m->kernel->context->device;
    unsigned char *piece = job_array(j, PIECE, element);
    for (int i = 0; i < PIECE; i++)
        dtype_store(element == sizeof(double) ? DTYPE_DOUBLE : DTYPE_FLOAT,
                    piece + (size_t)i * element, identity);
    for (int64_t at = 0; at < m->cells; at += PIECE) {
        const int64_t left = m->cells - at;
        d->ops->upload(d, j, (unsigned char *)m->own + (size_t)at * element, piece,
                       (size_t)(left < PIECE ? left : PIECE) * element);
    }
}

static void build_reduce(job *j, sg_monitor *m) {
    const sg_build_options how = {
        .struct_size = sizeof how,
        .text = job_print(j, "return reduce { name = \"%s\", op = \"%s\", dtype = \"%s\" }",
                          m->map->maps_for->name, m->map->maps_for->op,
                          sg_kernel_text(m->map, SG_TEXT_DTYPE)),
        .size = {m->cells > 0 ? m->cells : 1}};
    sg_context *c = m->kernel->context;
    context_must(j, c, sg_build(c, "monitor", &how, &m->reduce));
    context_must(j, c, sg_reduce_bytes(m->reduce, m->cells, 0, &m->reduce_bytes));
}

static void *allocate(job *j, const sg_monitor *m, size_t bytes) {
    device *d = m->kernel->context->device;
    return d->ops->alloc(d, j, bytes > 0 ? bytes : 1);
}

static void open_monitor(job *j, void *argument) {
    opening *o = argument;
    judge(j, o);
    sg_monitor *m = job_alloc(j, sizeof *m);
    *m = (sg_monitor){.job = j, .kernel = o->kernel, .map = o->map};
    const size_t element = o->map->program->element_bytes;
    job_defer(j, give_back, m);
    connect(j, m, o->size);
    build_reduce(j, m);
    m->own = allocate(j, m, (size_t)m->cells * element);
    m->results = allocate(j, m, SG_MONITOR_SAMPLES * element);
    m->reduce_temporary = allocate(j, m, m->reduce_bytes);
    fill(j, m, o->map->maps_for->identity);
    const sg_arguments a = {
        .struct_size = sizeof a, .grids = m->grids, .grid_count = o->map->program->array_count};
    context_must(j, m->kernel->context, sg_temporary_bytes(m->map, &a, &m->temporary_bytes));
    m->temporary = allocate(j, m, m->temporary_bytes);
    job_keep(j, m);
    *o->out = m;
}

sg_status sg_monitor_open(const sg_kernel *kernel, const sg_kernel *map, const int64_t size[3],
                          sg_monitor **out) {
    if (kernel == NULL || map == NULL || out == NULL)
        return SG_ERROR_USAGE;
    return context_make(kernel->context, open_monitor, &(opening){kernel, map, size, out});
}

/* ---- samples --------------------------------------------------------------------------------- */

typedef struct sampling {
    sg_monitor *monitor;
    const sg_arguments *given;
    sg_stream stream;
} sampling;

static void send_map(job *j, sg_monitor *m, const sg_arguments *given, sg_stream stream) {
    sg_arguments a = *given; /* in the order of the kernel, without names */
    a.arrays = NULL;
    a.values = NULL;
    for (int i = 0; i < m->map->program->array_count; i++) {
        if (m->from[i] < 0) {
            m->grids[i].data = m->own;
            continue;
        }
        for (int axis = 0; axis < m->map->program->dims; axis++)
            if (given->grids[m->from[i]].size[axis] != m->grids[i].size[axis])
                context_refuse(j, "the grid has size %lld along %c, but its monitor one of %lld",
                               (long long)given->grids[m->from[i]].size[axis], "xyz"[axis],
                               (long long)m -> grids[i].size[axis]);
        m->grids[i] = given->grids[m->from[i]];
    }
    a.grids = m->grids;
    a.grid_count = m->map->program->array_count;
    a.temporary = m->temporary;
    a.temporary_bytes = m->temporary_bytes;
    context_must(j, m->kernel->context, sg_launch(m->map, &a, stream));
}

static void sample(job *j, void *argument) {
    const sampling *s = argument;
    sg_monitor *m = s->monitor;
    sg_arguments given;
    if (m->waiting == SG_MONITOR_SAMPLES)
        context_refuse(j, "%d samples of '%s' wait to be read", m->waiting, m->map->maps_for->name);
    launch_names names;
    launch_read(j, m->kernel, s->given, &names, &given);
    send_map(j, m, &given, s->stream);
    const int slot = (m->first + m->waiting) % SG_MONITOR_SAMPLES;
    const sg_reduce_arguments r = {
        .struct_size = sizeof r,
        .input = m->own,
        .count = m->cells,
        .result = m->results + (size_t)slot * m->map->program->element_bytes,
        .temporary = m->reduce_temporary,
        .temporary_bytes = m->reduce_bytes,
    };
    context_must(j, m->kernel->context, sg_reduce(m->reduce, &r, s->stream));
    m->steps[slot] = given.step;
    m->stream = s->stream;
    m->waiting++;
}

sg_status sg_monitor_sample(sg_monitor *m, const sg_arguments *arguments, sg_stream stream) {
    if (m == NULL)
        return SG_ERROR_USAGE;
    sampling s = {m, arguments, stream};
    return context_run(m->kernel->context, sample, &s, NULL);
}

typedef struct reading {
    sg_monitor *monitor;
    int64_t *steps;
    double *values;
    int most, *count;
} reading;

static void read_samples(job *j, void *argument) {
    const reading *r = argument;
    sg_monitor *m = r->monitor;
    device *d = m->kernel->context->device;
    const size_t element = m->map->program->element_bytes;
    unsigned char results[SG_MONITOR_SAMPLES * sizeof(double)];
    if (r->most < 0 || r->count == NULL || (r->most > 0 && (!r->steps || !r->values)))
        context_refuse(j, "sg_monitor_read needs places for its results");
    const int count = r->most < m->waiting ? r->most : m->waiting;
    if (count > 0) {
        d->ops->synchronize(d, j, m->stream);
        d->ops->download(d, j, results, m->results, SG_MONITOR_SAMPLES * element);
    }
    for (int i = 0; i < count; i++) {
        const int slot = (m->first + i) % SG_MONITOR_SAMPLES;
        r->steps[i] = m->steps[slot];
        r->values[i] = dtype_value(element == sizeof(double) ? DTYPE_DOUBLE : DTYPE_FLOAT,
                                   results + (size_t)slot * element);
    }
    m->first = (m->first + count) % SG_MONITOR_SAMPLES;
    m->waiting -= count;
    *r->count = count;
}

sg_status sg_monitor_read(sg_monitor *m, int64_t *steps, double *values, int most, int *count) {
    if (m == NULL)
        return SG_ERROR_USAGE;
    reading r = {m, steps, values, most, count};
    return context_run(m->kernel->context, read_samples, &r, NULL);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void describe(job *j, void *argument) {
    const kernel_query *q = argument;
    kernel_need_index(j, q, q->kernel->info.monitors, "monitor", "");
    const kernel_monitor *m = &q->kernel->monitors[q->index];
    const sg_monitor_info info = {sizeof info, m->name, m->op};
    context_write(j, q->out, &info, sizeof info, "sg_monitor_info");
}

sg_status sg_kernel_monitor(const sg_kernel *kernel, int index, sg_monitor_info *out) {
    return kernel_ask(kernel, describe, index, out);
}

/* ---- sg_run_watched: steps, and samples that functions of the caller's are told of ----------- */

/* Samples are read so many at a time, so that the device is seldom waited for. */
enum { READ_TOGETHER = 8, MOST_WATCHES = 64 };

typedef struct watching {
    const sg_kernel *kernel;
    sg_point_sets *points; /* NULL: none */
    const sg_watch *given;
    int count;
    const sg_arguments *arguments;
    int64_t steps, *made;
    sg_stream stream;
    int *final;

    sg_watch watches[MOST_WATCHES];
    int waiting[MOST_WATCHES];
    sg_arguments now;
    sg_grid grids[LAUNCH_ARRAYS];
    int order[LAUNCH_ARRAYS];
    bool ends; /* a function said so */
} watching;

static void read_watches(job *j, watching *w) {
    const size_t step = w->count > 0 && w->given != NULL ? w->given->struct_size : 0;
    if (w->count < 0 || w->count > MOST_WATCHES || (w->count > 0 && w->given == NULL))
        context_refuse(j, "sg_run_watched takes 0 to %d watches", MOST_WATCHES);
    for (int i = 0; i < w->count; i++) {
        context_read(j, &w->watches[i], sizeof w->watches[i],
                     (const char *)w->given + step * (size_t)i, "sg_watch");
        if (w->watches[i].monitor == NULL || w->watches[i].seen == NULL || w->watches[i].every < 1)
            context_refuse(j, "watch %d needs a monitor, a function and after how many steps", i);
        /* Else functions would be told of samples that are not their own. */
        if (w->watches[i].monitor->waiting > 0)
            context_refuse(j, "samples of the monitor of watch %d wait to be read", i);
        for (int k = 0; k < i; k++)
            if (w->watches[k].monitor == w->watches[i].monitor)
                context_refuse(j, "watches %d and %d have the same monitor: open one for each", k,
                               i);
    }
}

/* Those samples of a monitor that wait, to the caller's function. */
static void tell(job *j, watching *w, int which) {
    const sg_watch *watch = &w->watches[which];
    int64_t steps[READ_TOGETHER];
    double values[READ_TOGETHER];
    int count = 0;
    context_must(j, w->kernel->context,
                 sg_monitor_read(watch->monitor, steps, values, w->waiting[which], &count));
    w->waiting[which] = 0;
    for (int i = 0; i < count; i++)
        w->ends = watch->seen(watch->user, steps[i], values[i]) != 0 || w->ends;
}

static int64_t until_due(const watching *w, int64_t left) {
    for (int i = 0; i < w->count; i++) {
        const int64_t n = w->watches[i].every, next = n - w->now.step % n;
        left = next < left ? next : left;
    }
    return left;
}

static void make_steps(job *j, watching *w, int64_t count) {
    const int arrays = w->kernel->program->array_count;
    int final[LAUNCH_ARRAYS], order[LAUNCH_ARRAYS];
    sg_grid grids[LAUNCH_ARRAYS];
    context_must(j, w->kernel->context,
                 w->points != NULL ? sg_run_points(w->points, &w->now, count, w->stream, final)
                                   : sg_run(w->kernel, &w->now, count, w->stream, final));
    memcpy(grids, w->grids, sizeof grids);
    memcpy(order, w->order, sizeof order);
    for (int i = 0; i < arrays; i++) {
        w->grids[i] = grids[final[i]];
        w->order[i] = order[final[i]];
    }
    w->now.step += count;
}

static void sample_due(job *j, watching *w) {
    for (int i = 0; i < w->count; i++) {
        if (w->now.step % w->watches[i].every != 0)
            continue;
        context_must(j, w->kernel->context,
                     sg_monitor_sample(w->watches[i].monitor, &w->now, w->stream));
        if (++w->waiting[i] == READ_TOGETHER)
            tell(j, w, i);
    }
}

static void run(job *j, void *argument) {
    watching *w = argument;
    const program *p = w->kernel->program;
    launch_names names;
    launch launch;
    read_watches(j, w);
    steps_allow(j, p, w->steps);
    launch_check(j, w->kernel, w->arguments, w->steps > 1 ? USE_STEPS : USE_STEP, &launch);
    launch_read(j, w->kernel, w->arguments, &names, &w->now);
    memcpy(w->grids, w->now.grids, (size_t)p->array_count * sizeof *w->grids);
    w->now.struct_size = sizeof w->now;
    w->now.arrays = NULL;
    w->now.values = NULL;
    w->now.grids = w->grids;
    w->now.grid_count = p->array_count;
    for (int i = 0; i < p->array_count; i++)
        w->order[i] = i;
    const int64_t first = w->now.step;
    while (w->now.step - first < w->steps && !w->ends) {
        make_steps(j, w, until_due(w, w->steps - (w->now.step - first)));
        sample_due(j, w);
    }
    for (int i = 0; i < w->count; i++)
        tell(j, w, i);
    if (w->made != NULL)
        *w->made = w->now.step - first;
    if (w->final != NULL)
        names_final(p, &launch, w->order, w->final);
}

sg_status sg_run_watched(const sg_kernel *kernel, sg_point_sets *points, const sg_watch *watches,
                         int count, const sg_arguments *arguments, int64_t steps, sg_stream stream,
                         int *final, int64_t *made) {
    if (kernel == NULL)
        return SG_ERROR_USAGE;
    watching w = {.kernel = kernel,
                  .points = points,
                  .given = watches,
                  .count = count,
                  .arguments = arguments,
                  .steps = steps,
                  .stream = stream,
                  .final = final,
                  .made = made};
    return context_run(kernel->context, run, &w, NULL);
}
