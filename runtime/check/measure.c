/* sg_measure and the timings of tuning. A launch and a copy of as many bytes are timed in turns,
   so that both meet the same clocks. */
#include "runtime/check/check.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "runtime/check/guard.h"
#include "runtime/launch/launch.h"
#include "runtime/matrix/matrix.h"
#include "runtime/store/results.h"

enum {
    LEAST_REPEATS = 5,
    MOST_REPEATS = 100,
    FEWEST = 3, /* of which there is a median */
    WARM_UPS = 3,
    STAGE_BYTES = 1 << 24
};
#define ENOUGH_SECONDS 0.5

typedef struct measurement {
    sg_kernel *kernel;
    const sg_speed_options *options;
    sg_speed *out;

    device *device;
    int64_t points;
    double bytes; /* that must cross device memory */
    void *arrays[LAUNCH_ARRAYS];
    sg_grid grids[LAUNCH_ARRAYS];
    void *temporary;
    launch launch;
    bool runs;       /* sg_run makes the steps, not sg_launch */
    void *from, *to; /* of the copy */
    size_t half;     /* the bytes it reads, and those it writes */
    void *stage;
    check_data *kept;           /* NULL */
    const sg_matrix *matrix;    /* to be multiplied with; NULL */
    sg_device_matrix *uploaded; /* the same in the kernel's format */
    void *wash;                 /* memory that is written to fill L2; NULL: none */
    size_t wash_bytes;
    sg_speed result;
} measurement;

static void release(void *argument) {
    measurement *m = argument;
    device *d = m->device;
    for (int i = 0; i < m->kernel->program->array_count; i++)
        d->ops->free(d, m->arrays[i]);
    d->ops->free(d, m->temporary);
    d->ops->free(d, m->from);
    d->ops->free(d, m->to);
    d->ops->free(d, m->wash);
    sg_device_matrix_free(m->uploaded);
    guarded_memory_free(&m->kernel->context->memory, m->stage, STAGE_BYTES);
}

/* Random data, because zeros move faster on some devices. Data that is on the device already is
   repeated there, which takes almost no time. */
static void fill_bytes(job *j, measurement *m, void *to, size_t bytes, dtype type, const sample *of,
                       uint64_t seed) {
    const size_t element = dtype_words[type].bytes;
    device *d = m->device;
    size_t done = STAGE_BYTES;
    done = done < bytes ? done : bytes;
    random_fill_sampled(context_workers(j, m->kernel->context), m->stage, type, 0,
                        (int64_t)((done + element - 1) / element), seed, of);
    d->ops->upload(d, j, to, m->stage, done);
    while (done < bytes) {
        const size_t next = done < bytes - done ? done : bytes - done;
        const device_copy again = {.to = (char *)to + done, .from = to, .bytes = next, .rows = 1};
        d->ops->copy(d, j, &again, NULL);
        done += next;
    }
}

sample measure_sample(const sg_kernel *k, int which) {
    const program_array *a = &k->program->arrays[which];
    sample out = sample_plain;
    if (k->subject == NULL || !program_is_grid(k->program))
        return out;
    const model *m = check_model(k);
    for (int f = 0; f < m->field_count; f++) {
        const model_content *c = &m->fields[f].content;
        if (c->values == NULL || strcmp(m->fields[f].name, a->grid.field) != 0)
            continue;
        if (c->is_range) {
            out.low = c->values[0];
            out.high = c->values[1];
        } else {
            out.values = c->values;
            out.count = c->count;
            out.of_values = SAMPLE_PARTS;
        }
    }
    return out;
}

static void fill_array(job *j, measurement *m, int which) {
    const program_array *a = &m->kernel->program->arrays[which];
    const sample of = measure_sample(m->kernel, which);
    fill_bytes(j, m, m->arrays[which], (size_t)m->points * a->element_bytes, dtype_find(a->dtype),
               &of, random_stream(1, (uint64_t)which));
}

/* The copy reads half of the bytes and writes half. */
static void prepare_copy(job *j, measurement *m) {
    device *d = m->device;
    m->half = (size_t)(m->bytes / 2);
    m->half = m->half > 0 ? m->half : 1;
    m->from = d->ops->alloc(d, j, m->half);
    m->to = d->ops->alloc(d, j, m->half);
    fill_bytes(j, m, m->from, m->half, DTYPE_FLOAT, &sample_plain, 1);
}

static void prepare_launch(job *j, measurement *m, const double *parameters, size_t temporary) {
    const program *p = m->kernel->program;
    if (temporary > 0)
        m->temporary = m->device->ops->alloc(m->device, j, temporary);
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .grids = m->grids,
                                    .grid_count = p->array_count,
                                    .parameters = parameters,
                                    .parameter_count = p->parameter_count,
                                    .temporary = m->temporary,
                                    .temporary_bytes = temporary};
    m->runs = m->options->steps > 0 || program_has_seconds(p);
    launch_check(j, m->kernel, &arguments, m->runs ? USE_STEPS : USE_LAUNCH, &m->launch);
}

static void prepare_grid(job *j, measurement *m) {
    const program *p = m->kernel->program;
    m->bytes = p->grid.bytes_per_point * (double)m->points;
    for (int i = 0; i < p->array_count; i++) {
        m->arrays[i] =
            m->device->ops->alloc(m->device, j, (size_t)m->points * p->arrays[i].element_bytes);
        fill_array(j, m, i);
        m->grids[i] = (sg_grid){.data = m->arrays[i]};
        memcpy(m->grids[i].size, m->result.size, sizeof m->result.size);
    }
    double parameters[LAUNCH_PARAMETERS];
    kernel_parameters(j, m->kernel, m->options->parameters, 1, parameters);
    prepare_launch(j, m, parameters, steps_bytes(j, m->kernel, m->result.size));
}

/* Once all arrays are there. */
static void prepare_call(job *j, measurement *m, const double *parameters) {
    const program *p = m->kernel->program;
    size_t temporary;
    lists_measure(j, p, m->grids, &m->launch, &temporary);
    m->points = lists_extent(&p->lists.points, m->launch.sizes);
    prepare_launch(j, m, parameters, temporary);
}

static void prepare_list(job *j, measurement *m, int which, const family_call *call) {
    device *d = m->device;
    const program_array *a = &m->kernel->program->arrays[which];
    const size_t bytes = (size_t)lists_elements(a, call->sizes) * a->element_bytes;
    m->arrays[which] = d->ops->alloc(d, j, bytes);
    if (call->arrays[which] != NULL)
        d->ops->upload(d, j, m->arrays[which], call->arrays[which], bytes);
    else
        d->ops->fill(d, j, m->arrays[which], 0, bytes);
    m->grids[which] = (sg_grid){.data = m->arrays[which]};
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        m->grids[which].size[axis] = lists_extent(&a->lists.extent[axis], call->sizes);
    m->bytes += (double)bytes;
}

static void prepare_lists(job *j, measurement *m) {
    const program *p = m->kernel->program;
    family_call call;
    lists_draw(j, m->kernel, m->kept, m->result.size, m->options->parameters, 1, &call);
    for (int i = 0; i < p->array_count; i++)
        prepare_list(j, m, i, &call);
    prepare_call(j, m, call.parameters);
}

/* The vectors x and y: the matrix gives their length, the spec their number. */
static void prepare_vector(job *j, measurement *m, int which, int64_t length) {
    const size_t element = m->kernel->program->arrays[which].element_bytes;
    const int64_t points = m->points,
                  vectors = m->kernel->program->arrays[which].lists.extent[1].plus;
    if (length > LAUNCH_MOST_BYTES / (int64_t)element / vectors)
        context_refuse(j, "'%s': vectors of %lld elements are out of range",
                       m->kernel->program->name, (long long)length);
    const int64_t elements = length * vectors;
    m->arrays[which] =
        m->device->ops->alloc(m->device, j, (size_t)(elements > 0 ? elements : 1) * element);
    m->points = elements;
    fill_array(j, m, which);
    m->points = points;
    m->grids[which] = (sg_grid){.data = m->arrays[which], .size = {length, vectors, 0}};
    m->bytes += (double)elements * (double)element;
}

/* A product with the caller's matrix: the matrix's arrays come first, then x and y. */
static void prepare_product(job *j, measurement *m) {
    const program *p = m->kernel->program;
    const sg_device_matrix *a = m->uploaded = device_matrix_upload(j, m->matrix, m->kernel);
    if (p->array_count != a->array_count + 2)
        context_refuse(j, "'%s' takes other arrays than a matrix, x and y", p->name);
    m->bytes = (double)a->info.bytes;
    for (int i = 0; i < a->array_count; i++)
        m->grids[i] = (sg_grid){.data = a->arrays[i].data,
                                .size = {a->arrays[i].extent[0], a->arrays[i].extent[1]}};
    prepare_vector(j, m, a->array_count, a->columns);
    prepare_vector(j, m, a->array_count + 1, a->rows);
    double parameters[LAUNCH_PARAMETERS];
    kernel_parameters(j, m->kernel, m->options->parameters, 1, parameters);
    prepare_call(j, m, parameters);
}

static void prepare(job *j, measurement *m) {
    m->stage = guarded_memory(j, STAGE_BYTES);
    if (m->matrix != NULL)
        prepare_product(j, m);
    else if (!program_is_grid(m->kernel->program))
        prepare_lists(j, m);
    else
        prepare_grid(j, m);
    prepare_copy(j, m);
}

static void update(job *j, void *argument) {
    const measurement *m = argument;
    int code = 0;
    if (m->runs) {
        launch l = m->launch;
        int final[LAUNCH_ARRAYS];
        steps_make(j, m->kernel, &l, m->result.steps, NULL, final);
        return;
    }
    if (launch_send(m->kernel, &m->launch, NULL, &code) != FAULT_NONE)
        launch_fail(j, m->kernel, code);
}

static void copy(job *j, void *argument) {
    const measurement *m = argument;
    const device_copy all = {.to = m->to, .from = m->from, .bytes = m->half, .rows = 1};
    m->device->ops->copy(m->device, j, &all, NULL);
}

/* The seconds of the last update. A kernel that takes longer than `enough` is warm after one. */
static double warm_up(job *j, measurement *m, double enough) {
    double once = 0;
    for (int i = 0; i < WARM_UPS && once <= enough; i++) {
        once = m->device->ops->time(m->device, j, update, m);
        m->device->ops->time(m->device, j, copy, m);
    }
    return once;
}

static void wash(job *j, const measurement *m) {
    if (m->wash != NULL)
        m->device->ops->fill(m->device, j, m->wash, 1, m->wash_bytes);
}

/* Times updates and copies in turns. */
static void take_times(job *j, measurement *m, const measure_wanted *w, measure_found *out) {
    const device_ops *ops = m->device->ops;
    double *copies = job_array(j, (size_t)w->most, sizeof *copies), taken = 0, spread;
    out->seconds = job_array(j, (size_t)w->most, sizeof *out->seconds);
    out->steps = m->result.steps;
    out->count = 0;
    while (out->count < w->most) {
        wash(j, m);
        const double now = ops->time(m->device, j, update, m);
        copies[out->count] = ops->time(m->device, j, copy, m);
        out->seconds[out->count++] = now;
        taken += now;
        if (out->count >= FEWEST && taken > w->seconds)
            break;
        if (out->count >= w->least)
            results_median(j, out->seconds, out->count, &spread);
        if (out->count >= w->least && spread <= w->spread)
            break;
    }
    out->copy_seconds = results_median(j, copies, out->count, NULL);
}

static int choose_repeats(const measurement *m, double once) {
    const double enough = ENOUGH_SECONDS / (once > 0 ? once : ENOUGH_SECONDS);
    if (m->options->repeats > 0)
        return m->options->repeats;
    return enough > MOST_REPEATS    ? MOST_REPEATS
           : enough < LEAST_REPEATS ? LEAST_REPEATS
                                    : (int)enough;
}

static void write_speed(job *j, const measurement *m, const measure_found *f, sg_speed *r) {
    r->repeats = f->count;
    r->seconds = results_median(j, f->seconds, f->count, NULL);
    r->fastest = r->slowest = r->seconds;
    for (int i = 0; i < f->count; i++) {
        r->fastest = fmin(r->fastest, f->seconds[i]);
        r->slowest = fmax(r->slowest, f->seconds[i]);
    }
    r->points = (double)m->points * (double)r->steps / r->seconds;
    r->bytes = m->bytes * (double)r->steps / r->seconds;
    r->copy_bytes = 2 * (double)m->half / f->copy_seconds;
    r->of_copy = r->bytes / r->copy_bytes;
}

/* Reads the options into the caller's struct and opens what must be released. */
static void begin(job *j, measurement *m, sg_speed_options *options) {
    context_read(j, options, sizeof *options, m->options, "sg_speed_options");
    if (options->repeats < 0)
        context_refuse(j, "%d repeats cannot be made", options->repeats);
    if (options->steps != 0)
        steps_allow(j, m->kernel->program, options->steps);
    kernel_need_launchable(j, m->kernel);
    m->result.steps = options->steps > 0 ? options->steps : program_steps(m->kernel->program);
    m->options = options;
    m->device = context_device(j, m->kernel->context);
    kernel_size(j, m->kernel, options->size, m->result.size, &m->points);
    job_defer(j, release, m);
    prepare(j, m);
}

static void measure(job *j, void *argument) {
    measurement *m = argument;
    sg_speed_options options;
    measure_found found;
    begin(j, m, &options);
    const int repeats = choose_repeats(m, warm_up(j, m, INFINITY));
    const measure_wanted w = {
        .least = repeats, .most = repeats, .spread = INFINITY, .seconds = INFINITY};
    take_times(j, m, &w, &found);
    write_speed(j, m, &found, &m->result);
    context_write(j, m->out, &m->result, sizeof m->result, "sg_speed");
    job_undo(j, m);
}

sg_status sg_measure(sg_kernel *kernel, const sg_speed_options *options, sg_speed *out) {
    if (kernel == NULL)
        return SG_ERROR_USAGE;
    measurement m = {.kernel = kernel, .options = options, .out = out};
    return context_run(kernel->context, measure, &m, NULL);
}

/* ---- for tuning ------------------------------------------------------------------------------ */

/* Writing twice the size of L2 leaves nothing else in it. If its size is unknown nothing is
   written. */
static void prepare_wash(job *j, measurement *m) {
    const device_facts *f = m->device->ops->facts(m->device);
    if (f->l2_cache <= 0)
        return;
    m->wash_bytes = 2 * (size_t)f->l2_cache;
    m->wash = m->device->ops->alloc(m->device, j, m->wash_bytes);
}

void measure_kernel(job *j, sg_kernel *kernel, const measure_wanted *w, measure_found *out) {
    sg_speed_options options = w->speed, read;
    measurement *m = job_alloc(j, sizeof *m);
    options.struct_size = sizeof options;
    *m = (measurement){.kernel = kernel, .options = &options, .kept = w->kept, .matrix = w->matrix};
    begin(j, m, &read);
    if (w->cold)
        prepare_wash(j, m);
    warm_up(j, m, w->seconds);
    take_times(j, m, w, out);
    job_undo(j, m);
}
