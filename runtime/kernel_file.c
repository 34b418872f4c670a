/* Kernel files to bytes and back. What every launch relies on is checked here, once: limits, which
   indices mean what, and that the argument struct is as long as its parts. */
#include "runtime/kernel_file.h"

#include <float.h>
#include <string.h>

#include "runtime/launch.h"
#include "runtime/record.h"

const sealed_kind kernel_file_kind = {
    .magic = {'s', 'g', 'k', 'e', 'r', 'n', 'e', 'l'},
    .version = 1,
    .title = "a kernel file of stencilgen",
};

/* More than any GPU has, or any schedule asks for. */
enum {
    MOST_NAME = 127,
    MOST_LAUNCHES = 64,
    MOST_THREADS = 1024,
    MOST_SHARED_BYTES = 1 << 20,
    MOST_PER_BLOCK = 1 << 28,
    MOST_REACH = 1 << 16,
    MOST_VECTOR = 64,
};

/* ---- writing ------------------------------------------------------------------------------- */

static void put_ints(text *t, const int *values) {
    for (int k = 0; k < PROGRAM_AXES; k++)
        record_put_int(t, values[k]);
}

/* The name, the source and the target are among the texts. */
static void put_program(text *t, const program *p) {
    record_put_int(t, p->dims);
    record_put_int(t, (int64_t)p->element_bytes);
    record_put_int(t, p->array_count);
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        record_put_text(t, a->name);
        record_put_text(t, a->field);
        record_put_int(t, a->written);
        record_put_int(t, a->reads);
        record_put_int(t, a->previous);
        put_ints(t, a->low);
        put_ints(t, a->high);
    }
    record_put_int(t, p->parameter_count);
    for (int i = 0; i < p->parameter_count; i++) {
        record_put_text(t, p->parameters[i].name);
        record_put_int(t, p->parameters[i].has_value);
        record_put_double(t, p->parameters[i].value);
    }
    record_put_int(t, p->launch_count);
    for (int i = 0; i < p->launch_count; i++) {
        const program_launch *l = &p->launches[i];
        record_put_text(t, l->entry);
        put_ints(t, l->axes);
        put_ints(t, l->per_block);
        put_ints(t, l->block);
        put_ints(t, l->low);
        put_ints(t, l->high);
        record_put_int(t, (int64_t)l->shared_bytes);
        record_put_int(t, l->barriers);
        record_put_int(t, l->vector);
    }
    record_put_int(t, (int64_t)p->arguments_bytes);
    record_put_double(t, p->bytes_per_point);
}

/* What the program and the binary say too is not said again. */
static void put_info(text *t, const sg_kernel_info *info) {
    record_put_int(t, info->points);
    record_put_int(t, info->radius);
    record_put_double(t, info->textbook_operations);
    record_put_double(t, info->emitted_operations);
    record_put_int(t, info->threads);
    record_put_int(t, (int64_t)info->shared_bytes);
    record_put_int(t, info->registers);
    record_put_int(t, info->local_bytes);
    record_put_int(t, info->blocks_resident);
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        record_put_int(t, info->size[axis]);
    record_put_double(t, info->occupancy);
}

static void put_binary(text *t, const binary *b) {
    record_put_int(t, b->kind);
    record_put_bytes(t, b->data.data, b->data.size);
    record_put_int(t, b->registers);
    record_put_int(t, b->shared_bytes);
    record_put_int(t, b->local_bytes);
    record_put_double(t, b->seconds);
    record_put_text(t, b->compiler);
}

blob kernel_file_write(job *j, const kernel_file *f) {
    text t = text_new(j);
    for (int i = 0; i <= SG_TEXT_FAMILY; i++)
        record_put_text(&t, f->texts[i]);
    put_program(&t, f->program);
    put_info(&t, &f->info);
    put_binary(&t, &f->binary);
    record_put_text(&t, f->machine);
    return (blob){t.data, t.length};
}

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct reader {
    job *job;
    record record;
    const char *why; /* what cannot be; NULL so far */
} reader;

/* The first finding counts: those after it may be of what was read as zeros. */
static void refuse(reader *r, const char *format, ...) SG_PRINTF(2, 3);
static void refuse(reader *r, const char *format, ...) {
    if (r->record.bad)
        return;
    text t = text_new(r->job);
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&t, format, arguments);
    va_end(arguments);
    r->why = t.data;
    r->record.bad = true;
}

static void require(reader *r, bool holds, const char *what) {
    if (!holds)
        refuse(r, "%s", what);
}

static int get(reader *r, int least, int most, const char *what) {
    const int64_t value = record_int(&r->record);
    if (value < least || value > most)
        refuse(r, "%s is %lld", what, (long long)value);
    return r->record.bad ? least : (int)value;
}

static void get_axes(reader *r, int *out, int least, int most, const char *what) {
    for (int k = 0; k < PROGRAM_AXES; k++)
        out[k] = get(r, least, most, what);
}

static bool get_truth(reader *r, const char *what) {
    return get(r, 0, 1, what) != 0;
}

static double get_double(reader *r, double least, double most, const char *what) {
    const double value = record_double(&r->record);
    if (!(value >= least && value <= most)) /* a NaN neither */
        refuse(r, "%s is out of range", what);
    return r->record.bad ? 0 : value;
}

static const char *get_text(reader *r, const char *what) {
    const char *value = record_text(&r->record, r->job);
    if (value == NULL)
        refuse(r, "%s is missing", what);
    return r->record.bad ? "" : value;
}

/* Names go into messages, and to those who look kernels up in binaries. */
static const char *get_name(reader *r, const char *what) {
    const char *name = get_text(r, what);
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    const size_t length = strlen(name);
    if (strspn(name, letters) == 0 || strspn(name, others) != length || length > MOST_NAME)
        refuse(r, "%s is no name", what);
    return r->record.bad ? "" : name;
}

/* ---- the program --------------------------------------------------------------------------- */

static void get_arrays(reader *r, program *p) {
    p->array_count = get(r, 1, LAUNCH_ARRAYS, "the number of arrays");
    p->arrays = job_array(r->job, (size_t)p->array_count, sizeof *p->arrays);
    for (int i = 0; i < p->array_count; i++) {
        program_array *a = &p->arrays[i];
        a->name = get_name(r, "an array's name");
        a->field = get_name(r, "a field's name");
        a->written = get_truth(r, "whether an array is written");
        a->reads = get(r, -1, p->array_count - 1, "an array's current one");
        a->previous = get(r, -1, p->array_count - 1, "an array's previous one");
        get_axes(r, a->low, 0, MOST_REACH, "an array's reach");
        get_axes(r, a->high, 0, MOST_REACH, "an array's reach");
    }
}

/* Steps swap an array with those of its own field, and no array takes part in two such circles. */
static void check_roles(reader *r, const program *p) {
    bool taken[LAUNCH_ARRAYS] = {false};
    bool written = false;
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        const int others[] = {a->reads, a->previous};
        written = written || a->written;
        require(r, a->written || a->reads < 0, "an array is swapped, but not written");
        require(r, a->reads >= 0 || a->previous < 0, "an array has no current one, but a previous");
        for (int k = 0; k < 2 && !r->record.bad; k++) {
            if (others[k] < 0)
                continue;
            const program_array *other = &p->arrays[others[k]];
            require(r, !other->written && !taken[others[k]] && strcmp(other->field, a->field) == 0,
                    "an array cannot be swapped with the one it names");
            taken[others[k]] = true;
        }
    }
    require(r, written, "no array is written");
}

static void get_parameters(reader *r, program *p) {
    p->parameter_count = get(r, 0, LAUNCH_PARAMETERS, "the number of parameters");
    p->parameters = job_array(r->job, (size_t)p->parameter_count, sizeof *p->parameters);
    for (int i = 0; i < p->parameter_count; i++) {
        program_parameter *a = &p->parameters[i];
        a->name = get_name(r, "a parameter's name");
        a->has_value = get_truth(r, "whether a parameter has a default");
        a->value = get_double(r, -DBL_MAX, DBL_MAX, "a parameter's default");
    }
}

/* Kernels address x with the stride 1, and every axis of the grid is an axis of the kernel. */
static void check_launch(reader *r, const program *p, const program_launch *l) {
    int times[PROGRAM_AXES] = {0};
    int64_t threads = 1;
    for (int k = 0; k < PROGRAM_AXES; k++) {
        threads *= l->block[k];
        if (l->axes[k] >= 0)
            times[l->axes[k]]++;
    }
    for (int axis = 0; axis < p->dims; axis++)
        require(r, times[axis] == 1, "a launch has not each axis once");
    require(r, l->axes[0] == 0, "a launch has another first axis than the grid");
    if (threads > MOST_THREADS)
        refuse(r, "a block has %lld threads", (long long)threads);
}

static void get_launches(reader *r, program *p) {
    p->launch_count = get(r, 1, MOST_LAUNCHES, "the number of launches");
    p->launches = job_array(r->job, (size_t)p->launch_count, sizeof *p->launches);
    for (int i = 0; i < p->launch_count && !r->record.bad; i++) {
        program_launch *l = &p->launches[i];
        l->entry = get_name(r, "a kernel's name");
        get_axes(r, l->axes, -1, p->dims - 1, "an axis");
        get_axes(r, l->per_block, 1, MOST_PER_BLOCK, "the extent of a block");
        get_axes(r, l->block, 1, MOST_THREADS, "the number of a block's threads along an axis");
        get_axes(r, l->low, 0, MOST_REACH, "the reach of a block");
        get_axes(r, l->high, 0, MOST_REACH, "the reach of a block");
        l->shared_bytes = (size_t)get(r, 0, MOST_SHARED_BYTES, "the shared memory of a block");
        l->barriers = get_truth(r, "whether a kernel has barriers");
        l->vector = get(r, 1, MOST_VECTOR, "the length of a vector");
        check_launch(r, p, l);
    }
}

/* As base/program.h lays the struct out. */
static size_t arguments_bytes(const program *p) {
    const int parameters = p->parameter_count > 0 ? p->parameter_count : 1;
    const size_t bytes = PROGRAM_OFFSET_GRIDS + PROGRAM_GRID_BYTES * (size_t)p->array_count +
                         (size_t)parameters * p->element_bytes;
    return (bytes + 7) / 8 * 8;
}

static void check_target(reader *r, const char *target) {
    const size_t digits = strncmp(target, "sm_", 3) == 0 ? strspn(target + 3, "0123456789") : 0;
    require(r, digits >= 2 && digits <= 3 && target[3 + digits] == '\0',
            "the architecture is none");
}

static void get_texts(reader *r, const char **texts) {
    for (int i = 0; i <= SG_TEXT_FAMILY; i++)
        texts[i] = i == SG_TEXT_NAME ? get_name(r, "the kernel's name") : get_text(r, "a text");
    check_target(r, texts[SG_TEXT_ARCH]);
}

static program *get_program(reader *r, const char *const *texts) {
    program *p = job_alloc(r->job, sizeof *p);
    p->name = texts[SG_TEXT_NAME];
    p->source = texts[SG_TEXT_SOURCE];
    p->target = texts[SG_TEXT_ARCH];
    p->dims = get(r, 1, PROGRAM_AXES, "the number of dimensions");
    p->element_bytes = (size_t)get(r, 4, 8, "the size of an element");
    require(r, p->element_bytes == 4 || p->element_bytes == 8, "the size of an element is odd");
    get_arrays(r, p);
    check_roles(r, p);
    get_parameters(r, p);
    get_launches(r, p);
    p->arguments_bytes = (size_t)get(r, 0, LAUNCH_BYTES, "the size of the arguments");
    require(r, p->arguments_bytes == arguments_bytes(p),
            "the size of the arguments is not that of their parts");
    p->bytes_per_point =
        get_double(r, 0, (double)p->array_count * (double)p->element_bytes, "the bytes of a point");
    return p;
}

/* ---- the rest ------------------------------------------------------------------------------ */

static void get_info(reader *r, const program *p, sg_kernel_info *info) {
    *info = (sg_kernel_info){
        .struct_size = sizeof *info,
        .dims = p->dims,
        .element_size = p->element_bytes,
        .arrays = p->array_count,
        .parameters = p->parameter_count,
        .bytes_per_point = p->bytes_per_point,
        .origin = SG_FROM_FILE,
    };
    info->points = get(r, 0, INT32_MAX, "the number of points");
    info->radius = get(r, 0, MOST_REACH, "the radius");
    info->textbook_operations = get_double(r, 0, 1e15, "the number of operations");
    info->emitted_operations = get_double(r, 0, 1e15, "the number of operations");
    info->threads = get(r, 1, MOST_THREADS, "the number of a block's threads");
    info->shared_bytes = (size_t)get(r, 0, MOST_SHARED_BYTES, "the shared memory of a block");
    info->registers = get(r, -1, INT32_MAX, "the number of registers");
    info->local_bytes = get(r, -1, INT32_MAX, "the local memory");
    info->blocks_resident = get(r, -1, INT32_MAX, "the number of resident blocks");
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        info->size[axis] = record_int(&r->record);
        require(r, axis < p->dims ? info->size[axis] >= 1 : info->size[axis] == 1,
                "a size planned for is none");
    }
    info->occupancy = get_double(r, -1, 1, "the occupancy");
}

static void get_binary(reader *r, binary *b) {
    *b = (binary){.kind = (binary_kind)get(r, 0, BINARY_KINDS - 1, "the kind of the binary")};
    require(r, b->kind == BINARY_CUBIN || b->kind == BINARY_HOST, "the binary is of no such kind");
    b->data = record_bytes(&r->record);
    require(r, b->data.size > 0, "there is no binary");
    b->registers = get(r, -1, INT32_MAX, "the number of registers");
    b->shared_bytes = get(r, -1, INT32_MAX, "the shared memory");
    b->local_bytes = get(r, -1, INT32_MAX, "the local memory");
    b->seconds = get_double(r, 0, 1e15, "the time of compiling");
    b->compiler = get_text(r, "the compiler");
}

bool kernel_file_read(job *j, blob payload, kernel_file *out, const char **why) {
    reader r = {.job = j, .record = record_of(payload.data, payload.size)};
    kernel_file f = {0};
    get_texts(&r, f.texts);
    f.program = get_program(&r, f.texts);
    get_info(&r, f.program, &f.info);
    get_binary(&r, &f.binary);
    f.info.compile_seconds = f.binary.seconds;
    f.info.compiler = f.binary.compiler;
    f.machine = get_text(&r, "the machine");
    require(&r, (f.binary.kind == BINARY_HOST) == (f.machine[0] != '\0'),
            "the machine and the binary do not fit");
    require(&r, record_left(&r.record) == 0, "there is more of it than there should be");
    if (r.record.bad) {
        const char *what = r.why != NULL ? r.why : "there is less of it than there should be";
        *why = job_print(j, "its content makes no sense: %s", what);
        return false;
    }
    *out = f;
    return true;
}
