/* The sg_kernel_… queries, the binaries of kernels, and sg_release. */

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/random.h"
#include "runtime/launch/context.h"

#define MOST_POINTS (INT64_C(1) << 48)

/* ---- queries --------------------------------------------------------------------------------- */

const char *sg_kernel_text(const sg_kernel *k, sg_text which) {
    const bool known = k != NULL && (int)which >= 0 && which <= SG_TEXT_POINTS;
    return known && k->texts[which] != NULL ? k->texts[which] : "";
}

void kernel_need_index(job *j, const kernel_query *q, int count, const char *noun, const char *of) {
    if (q->index < 0 || q->index >= count)
        context_refuse(j, "'%s' has %s%s; there is none of index %d", q->kernel->program->name,
                       text_count(j, count, noun), of, q->index);
}

static void write_facts(job *j, void *argument) {
    const kernel_query *q = argument;
    context_write(j, q->out, &q->kernel->info, sizeof q->kernel->info, "sg_kernel_info");
}

static void write_array(job *j, void *argument) {
    const kernel_query *q = argument;
    const program *p = q->kernel->program;
    kernel_need_index(j, q, p->array_count, "array", "");
    const program_array *a = &p->arrays[q->index];
    const bool grid = program_is_grid(p);
    sg_array_info info = {.name = a->name,
                          .field = grid ? a->grid.field : a->name,
                          .role = a->written ? SG_WRITE : SG_READ,
                          .reads = grid ? a->grid.reads : -1,
                          .previous = grid ? a->grid.previous : -1,
                          .dtype = a->dtype,
                          .element_size = a->element_bytes,
                          .updated = !grid && a->lists.updated,
                          .same_as = !grid              ? a->lists.same_as
                                     : a->grid.in_place ? program_oldest(a)
                                                        : -1};
    if (grid) {
        memcpy(info.low, a->grid.low, sizeof info.low);
        memcpy(info.high, a->grid.high, sizeof info.high);
    }
    context_write(j, q->out, &info, sizeof info, "sg_array_info");
}

static void write_parameter(job *j, void *argument) {
    const kernel_query *q = argument;
    const program *p = q->kernel->program;
    kernel_need_index(j, q, p->parameter_count, "parameter", "");
    const program_parameter *a = &p->parameters[q->index];
    const sg_parameter_info info = {
        .name = a->name, .has_default = a->has_value, .value = a->has_value ? a->value : 0};
    context_write(j, q->out, &info, sizeof info, "sg_parameter_info");
}

sg_status kernel_ask(const sg_kernel *k, void (*body)(job *, void *), int index, void *out) {
    kernel_query q = {k, index, out};
    return k == NULL ? SG_ERROR_USAGE : context_run(k->context, body, &q, NULL);
}

sg_status sg_kernel_facts(const sg_kernel *k, sg_kernel_info *out) {
    return kernel_ask(k, write_facts, 0, out);
}

sg_status sg_kernel_array(const sg_kernel *k, int index, sg_array_info *out) {
    return kernel_ask(k, write_array, index, out);
}

sg_status sg_kernel_parameter(const sg_kernel *k, int index, sg_parameter_info *out) {
    return kernel_ask(k, write_parameter, index, out);
}

int sg_kernel_find_array(const sg_kernel *k, const char *name) {
    int i = k != NULL && name != NULL ? k->program->array_count : 0;
    while (--i >= 0 && strcmp(k->program->arrays[i].name, name) != 0)
        continue;
    return i;
}

int sg_kernel_find_parameter(const sg_kernel *k, const char *name) {
    int i = k != NULL && name != NULL ? k->program->parameter_count : 0;
    while (--i >= 0 && strcmp(k->program->parameters[i].name, name) != 0)
        continue;
    return i;
}

/* ---- binaries -------------------------------------------------------------------------------- */

static sg_binary shown(const binary *b) {
    return (sg_binary){.data = b->data.data,
                       .size = b->data.size,
                       .registers = b->registers,
                       .shared_bytes = b->shared_bytes,
                       .local_bytes = b->local_bytes,
                       .seconds = b->seconds,
                       .compiler = b->compiler,
                       .origin = b->cached ? SG_FROM_CACHE : SG_COMPILED};
}

typedef struct compilation {
    sg_kernel *kernel;
    binary_kind kind;
    sg_binary result;
} compilation;

static void compile(job *j, void *argument) {
    compilation *c = argument;
    sg_context *context = c->kernel->context;
    const binary made =
        compile_program(j, context, context->nvrtc, c->kernel->program, c->kind, NULL);
    c->result = shown(&made);
}

typedef struct handing {
    const sg_binary *result;
    int kind;
    sg_binary *out;
} handing;

static void write_binary(job *j, void *argument) {
    const handing *h = argument;
    if (h->result == NULL)
        context_refuse(j, "there is no binary of kind %d", h->kind);
    context_write(j, h->out, h->result, sizeof *h->result, "sg_binary");
}

sg_status sg_kernel_binary(sg_kernel *k, sg_binary_kind kind, sg_binary *out) {
    if (k == NULL)
        return SG_ERROR_USAGE;
    handing h = {.kind = (int)kind, .out = out};
    if (kind != SG_BINARY_CUBIN && kind != SG_BINARY_PTX)
        return context_run(k->context, write_binary, &h, NULL);
    compilation c = {.kernel = k, .kind = kind == SG_BINARY_PTX ? BINARY_PTX : BINARY_CUBIN};
    if (k->loaded != NULL && k->loaded->binary.kind == c.kind) {
        c.result = shown(&k->loaded->binary);
        c.result.origin = k->info.origin;
        h.result = &c.result;
        return context_run(k->context, write_binary, &h, NULL);
    }
    kernel_binary *kept = &k->binaries[kind];
    sg_status status = SG_OK;
    pthread_mutex_lock(&k->lock);
    if (kept->job == NULL) {
        status = context_run(k->context, compile, &c, &kept->job);
        if (status == SG_OK)
            kept->result = c.result;
    }
    pthread_mutex_unlock(&k->lock);
    h.result = &kept->result;
    return status != SG_OK ? status : context_run(k->context, write_binary, &h, NULL);
}

static void let_go(void *kernel) {
    const sg_kernel *k = kernel;
    modules_let_go(k->context, k->loaded);
}

void kernel_take(job *j, sg_kernel *k, loaded *l) {
    k->loaded = l;
    job_defer(j, let_go, k);
    k->module = l->module;
    k->info.compile_seconds = l->binary.seconds;
    k->info.compiler = l->binary.compiler;
    if (k->module == NULL)
        return;
    k->info.launchable = 1;
    k->info.registers = l->facts.registers;
    k->info.local_bytes = l->facts.local_bytes;
    k->info.blocks_resident = l->facts.blocks_resident;
    k->info.occupancy = l->facts.occupancy;
}

void kernel_end(sg_kernel *k) {
    modules_let_go(k->context, k->loaded);
    for (int i = 0; i <= SG_BINARY_PTX; i++)
        job_end(k->binaries[i].job);
    pthread_mutex_destroy(&k->lock);
    job_end(k->job);
}

void sg_release(sg_kernel *k) {
    if (k != NULL)
        kernels_let_go(k);
}

/* ---- what checks and measurements share ------------------------------------------------------ */

void kernel_need_launchable(job *j, const sg_kernel *k) {
    if (k->module == NULL)
        context_refuse(j, "'%s' cannot be launched: %s", k->program->name, k->unlaunchable);
}

int64_t kernel_points(job *j, const int64_t size[3]) {
    int64_t points = 1;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        if (size[axis] > MOST_POINTS / points)
            context_refuse(j, "the grid has more than 2^48 points, which is too large");
        points *= size[axis];
    }
    return points;
}

void kernel_size(job *j, const sg_kernel *k, const int64_t wanted[3], int64_t size[3],
                 int64_t *points) {
    static const char letters[] = "xyz";
    const program *p = k->program;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const bool used = axis < p->dims;
        if (wanted[axis] < 0 || (!used && wanted[axis] > 1))
            context_refuse(j, "size %lld along %c does not fit '%s' of %d dimension%s",
                           (long long)wanted[axis], letters[axis], p->name, p->dims,
                           p->dims == 1 ? "" : "s");
        size[axis] = !used ? 1 : wanted[axis] > 0 ? wanted[axis] : k->info.size[axis];
    }
    *points = kernel_points(j, size);
}

/* False where it is too large. */
static bool round_to(dtype type, double value, double *out) {
    *out = value;
    if (dtype_words[type].epsilon == 0)
        return value >= dtype_words[type].least && value <= dtype_words[type].largest &&
               trunc(value) == value;
    if (type == DTYPE_DOUBLE || isnan(value) || isinf(value))
        return true;
    /* From half a unit of the last place above the largest float, rounding gives infinity. */
    if (fabs(value) >= (double)FLT_MAX + ldexp(1, FLT_MAX_EXP - FLT_MANT_DIG - 1))
        return false;
    *out = (float)value;
    return true;
}

static dtype type_of(const program *p, int parameter) {
    if (!program_is_grid(p))
        return dtype_find(p->parameters[parameter].dtype);
    return p->element_bytes == sizeof(double) ? DTYPE_DOUBLE : DTYPE_FLOAT;
}

bool kernel_parameter(job *j, const sg_kernel *k, int index, double value, double *out) {
    const program *p = k->program;
    const dtype type = type_of(p, index);
    if (round_to(type, value, out))
        return true;
    return context_refuse(j, "parameter '%s' of '%s' is %s %s", p->parameters[index].name, p->name,
                          dtype_words[type].epsilon == 0 ? "no number of the type"
                                                         : "too large for",
                          dtype_words[type].name);
}

void kernel_parameters(job *j, const sg_kernel *k, const double *given, uint64_t seed,
                       double *out) {
    const program *p = k->program;
    for (int i = 0; i < p->parameter_count; i++) {
        const program_parameter *about = &p->parameters[i];
        const bool whole = dtype_words[type_of(p, i)].epsilon == 0;
        const double unit = random_unit(seed, (uint64_t)i);
        const double drawn = whole ? 1 + floor(8 * unit) : 0.25 + 0.75 * unit;
        const double value = given != NULL ? given[i] : about->has_value ? about->value : drawn;
        kernel_parameter(j, k, i, value, &out[i]);
    }
}
