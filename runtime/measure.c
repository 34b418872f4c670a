/* Measurements. Takes: a kernel and a size. Makes: sg_measure, the time of an update beside that of
   a plain copy of as many bytes, taken in turns so that both meet the same clocks. */
#include <stdlib.h>
#include <string.h>

#include "runtime/guard.h"
#include "runtime/random.h"

enum { LEAST_REPEATS = 5, MOST_REPEATS = 100, WARM_UPS = 3, STAGE_ELEMENTS = 1 << 22 };
#define ENOUGH_SECONDS 0.5

typedef struct measurement {
    sg_kernel *kernel;
    const sg_speed_options *options;
    sg_speed *out;

    device *device;
    int64_t points;
    void *arrays[LAUNCH_ARRAYS];
    sg_grid grids[LAUNCH_ARRAYS];
    launch launch;
    void *from, *to; /* of the copy */
    size_t half;     /* the bytes it reads, and those it writes */
    void *stage;
    sg_speed result;
} measurement;

static void release(void *argument) {
    measurement *m = argument;
    device *d = m->device;
    for (int i = 0; i < m->kernel->program->array_count; i++)
        if (m->arrays[i] != NULL)
            d->ops->free(d, m->arrays[i]);
    if (m->from != NULL)
        d->ops->free(d, m->from);
    if (m->to != NULL)
        d->ops->free(d, m->to);
    guarded_memory_free(&m->kernel->context->memory, m->stage,
                        STAGE_ELEMENTS * m->kernel->program->element_bytes);
}

/* Random data: memory of zeros moves faster on some devices. */
static void fill_array(job *j, measurement *m, int which) {
    const size_t element = m->kernel->program->element_bytes;
    const uint64_t seed = random_stream(1, (uint64_t)which);
    workers *w = context_workers(j, m->kernel->context);
    for (int64_t at = 0; at < m->points; at += STAGE_ELEMENTS) {
        const int64_t left = m->points - at;
        const int64_t count = left < STAGE_ELEMENTS ? left : STAGE_ELEMENTS;
        random_fill(w, m->stage, element, at, count, seed);
        m->device->ops->upload(m->device, j, (char *)m->arrays[which] + (size_t)at * element,
                               m->stage, (size_t)count * element);
    }
}

static void prepare(job *j, measurement *m) {
    const program *p = m->kernel->program;
    device *d = m->device;
    m->stage = guarded_memory(j, STAGE_ELEMENTS * p->element_bytes);
    m->half = (size_t)(p->bytes_per_point * (double)m->points / 2);
    m->half = m->half > 0 ? m->half : 1;
    for (int i = 0; i < p->array_count; i++) {
        m->arrays[i] = d->ops->alloc(d, j, (size_t)m->points * p->element_bytes);
        fill_array(j, m, i);
        m->grids[i] = (sg_grid){.data = m->arrays[i]};
        memcpy(m->grids[i].size, m->result.size, sizeof m->result.size);
    }
    m->from = d->ops->alloc(d, j, m->half);
    m->to = d->ops->alloc(d, j, m->half);
    for (size_t at = 0; at < m->half; at += STAGE_ELEMENTS * p->element_bytes) {
        const size_t most = STAGE_ELEMENTS * p->element_bytes, left = m->half - at;
        d->ops->upload(d, j, (char *)m->from + at, m->stage, left < most ? left : most);
    }
    double parameters[LAUNCH_PARAMETERS];
    kernel_parameters(j, m->kernel, m->options->parameters, 1, parameters);
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .grids = m->grids,
                                    .grid_count = p->array_count,
                                    .parameters = parameters,
                                    .parameter_count = p->parameter_count};
    launch_check(j, m->kernel, &arguments, false, &m->launch);
}

static void update(job *j, void *argument) {
    const measurement *m = argument;
    int code = 0;
    if (launch_send(m->kernel, &m->launch, NULL, &code) != FAULT_NONE)
        launch_fail(j, m->kernel, code);
}

static void copy(job *j, void *argument) {
    const measurement *m = argument;
    const device_copy all = {.to = m->to, .from = m->from, .bytes = m->half, .rows = 1};
    m->device->ops->copy(m->device, j, &all, NULL);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *sorted, int count) {
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static void take_times(job *j, measurement *m) {
    const device_ops *ops = m->device->ops;
    double once = 0;
    for (int i = 0; i < WARM_UPS; i++) {
        once = ops->time(m->device, j, update, m);
        ops->time(m->device, j, copy, m);
    }
    int repeats = m->options->repeats;
    if (repeats == 0) {
        const double enough = ENOUGH_SECONDS / (once > 0 ? once : ENOUGH_SECONDS);
        repeats = enough > MOST_REPEATS ? MOST_REPEATS : (int)enough;
        repeats = repeats < LEAST_REPEATS ? LEAST_REPEATS : repeats;
    }
    double *updates = job_array(j, (size_t)repeats, sizeof *updates);
    double *copies = job_array(j, (size_t)repeats, sizeof *copies);
    for (int i = 0; i < repeats; i++) {
        updates[i] = ops->time(m->device, j, update, m);
        copies[i] = ops->time(m->device, j, copy, m);
    }
    qsort(updates, (size_t)repeats, sizeof *updates, by_size);
    qsort(copies, (size_t)repeats, sizeof *copies, by_size);
    sg_speed *r = &m->result;
    r->repeats = repeats;
    r->seconds = median(updates, repeats);
    r->fastest = updates[0];
    r->slowest = updates[repeats - 1];
    r->points = (double)m->points / r->seconds;
    r->bytes = r->points * m->kernel->program->bytes_per_point;
    r->copy_bytes = 2 * (double)m->half / median(copies, repeats);
    r->of_copy = r->bytes / r->copy_bytes;
}

static void measure(job *j, void *argument) {
    measurement *m = argument;
    sg_speed_options options;
    context_read(j, &options, sizeof options, m->options, "sg_speed_options");
    if (options.repeats < 0)
        context_refuse(j, "%d repeats cannot be made", options.repeats);
    kernel_need_launchable(j, m->kernel);
    m->options = &options;
    m->device = context_device(j, m->kernel->context);
    kernel_size(j, m->kernel, options.size, m->result.size, &m->points);
    job_defer(j, release, m);
    prepare(j, m);
    take_times(j, m);
    context_write(j, m->out, &m->result, sizeof m->result, "sg_speed");
    job_keep(j, m);
    release(m);
}

sg_status sg_measure(sg_kernel *kernel, const sg_speed_options *options, sg_speed *out) {
    if (kernel == NULL)
        return SG_ERROR_USAGE;
    measurement m = {.kernel = kernel, .options = options, .out = out};
    return context_run(kernel->context, measure, &m, NULL);
}
