/* The reader of kernel_reader.h, and what every launch by a file relies on. */
#include "runtime/api/kernel_reader.h"

#include <float.h>
#include <string.h>

#include "base/dtype.h"
#include "matrix/format.h"
#include "runtime/launch/launch.h"

/* ---- values -------------------------------------------------------------------------------- */

/* The first finding counts: those after it may be of what was read as zeros. */
void reader_refuse(reader *r, const char *format, ...) {
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

void reader_require(reader *r, bool holds, const char *what) {
    if (!holds)
        reader_refuse(r, "%s", what);
}

int reader_int(reader *r, int least, int most, const char *what) {
    const int64_t value = record_int(&r->record);
    if (value < least || value > most)
        reader_refuse(r, "%s is %lld", what, (long long)value);
    return r->record.bad ? least : (int)value;
}

void reader_axes(reader *r, int *out, int least, int most, const char *what) {
    for (int k = 0; k < PROGRAM_AXES; k++)
        out[k] = reader_int(r, least, most, what);
}

bool reader_truth(reader *r, const char *what) {
    return reader_int(r, 0, 1, what) != 0;
}

double reader_double(reader *r, double least, double most, const char *what) {
    const double value = record_double(&r->record);
    if (!(value >= least && value <= most)) /* a NaN neither */
        reader_refuse(r, "%s is out of range", what);
    return r->record.bad ? 0 : value;
}

const char *reader_text(reader *r, const char *what) {
    const char *value = record_text(&r->record, r->job);
    if (value == NULL)
        reader_refuse(r, "%s is missing", what);
    return r->record.bad ? "" : value;
}

/* Names go into messages, and to those who look kernels up in binaries. */
const char *reader_name(reader *r, const char *what) {
    const char *name = reader_text(r, what);
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    const size_t length = strlen(name);
    if (strspn(name, letters) == 0 || strspn(name, others) != length || length > MOST_NAME)
        reader_refuse(r, "%s is no name", what);
    return r->record.bad ? "" : name;
}

/* ---- extents ------------------------------------------------------------------------------- */

static void read_extent(reader *r, const program *p, program_extent *e, const char *what) {
    e->size[0] = reader_int(r, -1, p->lists.size_count - 1, what);
    e->size[1] = reader_int(r, -1, p->lists.size_count - 1, what);
    e->plus = reader_int(r, -MOST_FILE_NUMBER, MOST_FILE_NUMBER, what);
}

/* A call's sizes are found one after the other, each from an extent that it is once in. */
static void check_sizes(reader *r, const program *p) {
    for (int i = 0; i < p->lists.size_count && !r->record.bad; i++) {
        const program_size *s = &p->lists.sizes[i];
        if (s->array >= p->array_count) {
            reader_refuse(r, "a size's array is %d", s->array);
            return;
        }
        const int *in = p->arrays[s->array].lists.extent[s->axis].size;
        reader_require(r, (in[0] == i && in[1] < i) || (in[1] == i && in[0] < i),
                       "a size cannot be found by its array");
    }
}

static void read_sizes(reader *r, program *p) {
    p->lists.size_count = reader_int(r, 0, LAUNCH_SIZES, "the number of sizes");
    p->lists.sizes = job_array(r->job, (size_t)p->lists.size_count, sizeof *p->lists.sizes);
    for (int i = 0; i < p->lists.size_count; i++) {
        program_size *s = &p->lists.sizes[i];
        s->name = reader_name(r, "a size's name");
        s->array = reader_int(r, 0, LAUNCH_ARRAYS - 1, "a size's array");
        s->axis = reader_int(r, 0, PROGRAM_AXES - 1, "a size's axis");
    }
}

static void read_temporaries(reader *r, program *p) {
    p->lists.temporary_count = reader_int(r, 0, LAUNCH_TEMPORARIES, "the number of temporaries");
    p->lists.temporaries =
        job_array(r->job, (size_t)p->lists.temporary_count, sizeof *p->lists.temporaries);
    for (int i = 0; i < p->lists.temporary_count; i++) {
        program_temporary *t = &p->lists.temporaries[i];
        t->name = reader_name(r, "a temporary's name");
        read_extent(r, p, &t->items, "a temporary's extent");
        t->per = reader_int(r, 1, MOST_FILE_NUMBER, "a temporary's share");
        t->bytes = reader_int(r, 0, MOST_FILE_NUMBER, "the size of a temporary's item");
        t->fixed = reader_int(r, 0, MOST_FILE_NUMBER, "the size of a temporary");
        t->fill = reader_int(r, -1, 255, "the content of a temporary");
    }
}

/* Each layer holds what the launch after it reads and writes. */
static void check_layers(reader *r, const program *p) {
    static const program_layer none = {.name = ""};
    reader_require(r,
                   p->grid.layer_count == 0 || program_own_launches(p) == p->grid.layer_count + 1,
                   "there are too few launches for the layers, or too many");
    for (int i = 0; i < p->grid.layer_count && !r->record.bad; i++) {
        const program_layer *a = &p->grid.layers[i],
                            *b = i + 1 < p->grid.layer_count ? a + 1 : &none;
        for (int k = 0; k < PROGRAM_AXES; k++)
            reader_require(r, a->low[k] >= b->low[k] && a->high[k] >= b->high[k],
                           "a layer is smaller than the one after it");
    }
}

static void read_layers(reader *r, program *p) {
    p->grid.layer_count = reader_int(r, 0, LAUNCH_TEMPORARIES, "the number of layers");
    p->grid.layers = job_array(r->job, (size_t)p->grid.layer_count, sizeof *p->grid.layers);
    for (int i = 0; i < p->grid.layer_count; i++) {
        program_layer *a = &p->grid.layers[i];
        a->name = reader_name(r, "a layer's name");
        reader_axes(r, a->low, 0, MOST_REACH, "a layer's reach");
        reader_axes(r, a->high, 0, MOST_REACH, "a layer's reach");
    }
}

static void read_storage(reader *r, program_product *p) {
    for (int i = 0; i < PROGRAM_STORAGE; i++)
        p->storage[i] = i == STORAGE_FORMAT
                            ? reader_int(r, FORMAT_AUTO + 1, FORMAT_COUNT - 1, "a matrix's format")
                            : reader_int(r, 0, MOST_FILE_NUMBER, "the storage of a matrix");
    for (int i = STORAGE_INDEX_BYTES; i <= STORAGE_VALUE_BYTES; i++)
        reader_require(r, p->storage[i] == 4 || p->storage[i] == 8,
                       "the width of a matrix's numbers is odd");
}

/* A matrix is stored, and compared, by them. */
static void read_diagonals(reader *r, program_product *p) {
    const bool stencil = p->storage[STORAGE_FORMAT] == FORMAT_STENCIL;
    p->diagonal_count =
        reader_int(r, stencil, stencil ? MOST_DIAGONALS : 0, "the number of diagonals");
    diagonal *all = job_array(r->job, (size_t)p->diagonal_count, sizeof *all);
    for (int i = 0; i < p->diagonal_count; i++) {
        all[i].offset = record_int(&r->record);
        all[i].value = reader_double(r, -DBL_MAX, DBL_MAX, "the value of a diagonal");
        reader_require(r,
                       all[i].offset >= -MOST_DIAGONAL_OFFSET &&
                           all[i].offset <= MOST_DIAGONAL_OFFSET &&
                           (i == 0 || all[i].offset > all[i - 1].offset),
                       "the diagonals are not in order");
    }
    p->diagonals = all;
}

static void read_lists(reader *r, program *p) {
    read_sizes(r, p);
    read_temporaries(r, p);
    p->lists.tagged = reader_truth(r, "whether the arguments have a tag");
    read_extent(r, p, &p->lists.points, "the number of a call's points");
}

static void read_product(reader *r, program *p) {
    p->lists.product = job_alloc(r->job, sizeof *p->lists.product);
    read_storage(r, p->lists.product);
    read_diagonals(r, p->lists.product);
}

/* ---- arrays -------------------------------------------------------------------------------- */

static dtype read_dtype(reader *r, const program *p, const char *what) {
    const dtype type = dtype_find(reader_text(r, what));
    if (type == DTYPE_COUNT || (program_is_grid(p) && dtype_words[type].bytes != p->element_bytes))
        reader_refuse(r, "%s is none", what);
    return r->record.bad ? DTYPE_FLOAT : type;
}

static void read_array(reader *r, const program *p, program_array *a) {
    a->name = reader_name(r, "an array's name");
    const dtype type = read_dtype(r, p, "an array's type");
    a->dtype = dtype_words[type].name;
    a->element_bytes = dtype_words[type].bytes;
    a->written = reader_truth(r, "whether an array is written");
    if (program_is_grid(p)) {
        a->grid.field = reader_name(r, "a field's name");
        a->grid.reads = reader_int(r, -1, p->array_count - 1, "an array's current one");
        a->grid.previous = reader_int(r, -1, p->array_count - 1, "an array's previous one");
        reader_axes(r, a->grid.low, 0, MOST_REACH, "an array's reach");
        reader_axes(r, a->grid.high, 0, MOST_REACH, "an array's reach");
        return;
    }
    for (int k = 0; k < PROGRAM_AXES; k++)
        read_extent(r, p, &a->lists.extent[k], "an array's extent");
    a->lists.updated = reader_truth(r, "whether an array is updated");
    a->lists.same_as = reader_int(r, -1, p->array_count - 1, "the array that another may be");
    reader_require(r, a->written || !a->lists.updated, "an array is updated, but not written");
    reader_require(r, a->written || a->lists.same_as < 0,
                   "an array may be another's memory, but is not written");
}

static void read_arrays(reader *r, program *p) {
    p->array_count = reader_int(r, 1, LAUNCH_ARRAYS, "the number of arrays");
    p->arrays = job_array(r->job, (size_t)p->array_count, sizeof *p->arrays);
    for (int i = 0; i < p->array_count; i++)
        read_array(r, p, &p->arrays[i]);
}

/* Steps swap an array with those of its own field, and no array takes part in two such circles. */
static void check_roles(reader *r, const program *p) {
    bool taken[LAUNCH_ARRAYS] = {false};
    bool written = false;
    for (int i = 0; program_is_grid(p) && i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        const int others[] = {a->grid.reads, a->grid.previous};
        reader_require(r, a->written || a->grid.reads < 0, "an array is swapped, but not written");
        reader_require(r, a->grid.reads >= 0 || a->grid.previous < 0,
                       "an array has no current one, but a previous");
        for (int k = 0; k < 2 && !r->record.bad; k++) {
            if (others[k] < 0)
                continue;
            const program_array *other = &p->arrays[others[k]];
            reader_require(r,
                           !other->written && !taken[others[k]] &&
                               strcmp(other->grid.field, a->grid.field) == 0,
                           "an array cannot be swapped with the one it names");
            taken[others[k]] = true;
        }
    }
    for (int i = 0; i < p->array_count; i++)
        written = written || p->arrays[i].written;
    reader_require(r, written, "no array is written");
}

static void read_parameters(reader *r, program *p) {
    p->parameter_count = reader_int(r, 0, LAUNCH_PARAMETERS, "the number of parameters");
    p->parameters = job_array(r->job, (size_t)p->parameter_count, sizeof *p->parameters);
    for (int i = 0; i < p->parameter_count; i++) {
        program_parameter *a = &p->parameters[i];
        a->name = reader_name(r, "a parameter's name");
        a->dtype = dtype_words[read_dtype(r, p, "a parameter's type")].name;
        a->has_value = reader_truth(r, "whether a parameter has a default");
        a->value = reader_double(r, -DBL_MAX, DBL_MAX, "a parameter's default");
    }
}

/* ---- launches ------------------------------------------------------------------------------ */

static bool is_one(const program_extent *e) {
    return e->size[0] < 0 && e->size[1] < 0 && e->plus == 1;
}

static void check_threads(reader *r, const program_launch *l) {
    int64_t threads = 1;
    for (int k = 0; k < PROGRAM_AXES; k++)
        threads *= l->block[k];
    if (threads > MOST_THREADS)
        reader_refuse(r, "a block has %lld threads", (long long)threads);
}

/* Kernels address x with the stride 1, and every axis of the grid is an axis of the kernel. */
static void check_axes(reader *r, const program *p, const int axes[PROGRAM_AXES]) {
    int times[PROGRAM_AXES] = {0};
    for (int k = 0; k < PROGRAM_AXES; k++)
        if (axes[k] >= 0)
            times[axes[k]]++;
    for (int axis = 0; axis < p->dims; axis++)
        reader_require(r, times[axis] == 1, "a launch has not each axis once");
    reader_require(r, axes[0] == 0, "a launch has another first axis than the grid");
}

static void read_blocks(reader *r, const program *p, program_block_rule *rule) {
    read_extent(r, p, &rule->items, "the number of a launch's items");
    rule->least = reader_truth(r, "whether a launch has a block at least");
    rule->most = reader_int(r, 0, INT32_MAX, "the most blocks of a launch");
    rule->alone = reader_int(r, 0, MOST_FILE_NUMBER, "the items of a single block");
    rule->cluster = reader_int(r, 0, MOST_CLUSTER, "the blocks of a cluster");
    reader_require(r, rule->most % (rule->cluster + !rule->cluster) == 0,
                   "the most blocks of a launch are no whole clusters");
}

static void read_lists_launch(reader *r, const program *p, program_launch *l) {
    for (int k = 0; k < PROGRAM_AXES; k++)
        read_blocks(r, p, &l->lists.blocks[k]);
    l->lists.resident = reader_truth(r, "whether the blocks of a launch are resident");
    l->lists.early = reader_truth(r, "whether a launch begins early");
    for (int axis = 0; l->lists.resident && axis < PROGRAM_AXES; axis++) {
        reader_require(r, axis == 0 || is_one(&l->lists.blocks[axis].items),
                       "a launch of resident blocks has more than one axis of them");
        reader_require(r, l->lists.blocks[axis].cluster <= 1, "resident blocks come in clusters");
    }
}

/* What base/program.h promises of ways: fewer steps each, and the last can always be taken. */
static void check_ways(reader *r, const program *p) {
    const bool ways = p->grid.ways;
    int previous = 0;
    for (int i = 0; i < p->array_count; i++)
        previous += p->arrays[i].grid.previous >= 0;
    reader_require(r, !ways || (p->grid.layer_count == 0 && previous == 0),
                   "the program has ways, which it cannot");
    for (int i = 0; i < program_own_launches(p) && !r->record.bad; i++) {
        const program_launch *l = &p->launches[i];
        const bool last = !ways || i + 1 == program_own_launches(p);
        const bool first = i == 0;
        reader_require(r, (l->grid.steps == 1) == last, "a launch makes another number of steps");
        reader_require(r, first || !ways || l->grid.steps < l[-1].grid.steps,
                       "a way makes more steps than the one before it");
        reader_require(r, first || !l->grid.cooperative || l[-1].grid.cooperative,
                       "a way is cooperative, and the one before it is not");
        for (int k = 0; k < PROGRAM_AXES; k++)
            reader_require(r, !last || l->grid.least[k] == 0,
                           "not every grid can take the last way");
        reader_require(r, !last || !l->grid.cooperative, "the last way is cooperative");
    }
}

static void read_needs(reader *r, program_needs *n) {
    n->multiple = reader_int(r, 1, MOST_VECTOR, "what the end of a box is a multiple of");
    n->width = reader_int(r, 0, MOST_PER_BLOCK, "the least width of a box");
    n->rows = reader_truth(r, "whether rows lie close");
    reader_axes(r, n->low, -1, MOST_REACH, "the least length of a grid");
    reader_axes(r, n->high, -1, MOST_PER_BLOCK, "the least length of a grid");
}

static bool alike(const int a[PROGRAM_AXES], const int b[PROGRAM_AXES]) {
    return memcmp(a, b, PROGRAM_AXES * sizeof *a) == 0;
}

/* A spare is the same launch of another kernel. */
static void check_spares(reader *r, const program *p) {
    const int own = program_own_launches(p);
    int spares = 0;
    for (int i = 0; i < p->launch_count && !r->record.bad; i++) {
        const program_launch *l = &p->launches[i], *spare = &p->launches[l->grid.spare];
        if (l->grid.spare == 0)
            continue;
        reader_require(r, i < own && l->grid.spare == own + spares++, "a spare is no spare");
        reader_require(r,
                       alike(l->grid.axes, spare->grid.axes) &&
                           alike(l->per_block, spare->per_block) && alike(l->block, spare->block) &&
                           l->shared_bytes == spare->shared_bytes,
                       "a spare is another launch");
    }
    reader_require(r, spares == p->grid.spare_count, "there are more spares than launches take");
}

static void read_grid_launch(reader *r, const program *p, program_launch *l) {
    reader_axes(r, l->grid.axes, -1, p->dims - 1, "an axis");
    reader_axes(r, l->grid.low, 0, MOST_REACH, "the reach of a block");
    reader_axes(r, l->grid.high, 0, MOST_REACH, "the reach of a block");
    l->grid.vector = reader_int(r, 1, MOST_VECTOR, "the length of a vector");
    l->grid.steps = reader_int(r, 1, MOST_STEPS, "the number of a launch's steps");
    for (int k = 0; k < PROGRAM_AXES; k++)
        l->grid.least[k] = reader_int(r, 0, INT32_MAX, "the least extent of a grid");
    l->grid.cooperative = reader_truth(r, "whether a launch is cooperative");
    l->grid.spare = reader_int(r, 0, p->launch_count - 1, "a spare");
    if (l->grid.spare > 0)
        read_needs(r, &l->grid.needs);
    check_axes(r, p, l->grid.axes);
}

static void read_launches(reader *r, program *p) {
    p->launch_count = reader_int(r, 1, MOST_LAUNCHES, "the number of launches");
    if (program_is_grid(p)) {
        p->grid.ways = reader_truth(r, "whether the launches are ways");
        p->grid.spare_count = reader_int(r, 0, p->launch_count / 2, "the number of spares");
    }
    p->launches = job_array(r->job, (size_t)p->launch_count, sizeof *p->launches);
    for (int i = 0; i < p->launch_count && !r->record.bad; i++) {
        program_launch *l = &p->launches[i];
        l->entry = reader_name(r, "a kernel's name");
        reader_axes(r, l->per_block, 1, MOST_PER_BLOCK, "the extent of a block");
        reader_axes(r, l->block, 1, MOST_THREADS, "the number of a block's threads along an axis");
        l->shared_bytes =
            (size_t)reader_int(r, 0, MOST_SHARED_BYTES, "the shared memory of a block");
        l->barriers = reader_truth(r, "whether a kernel has barriers");
        check_threads(r, l);
        if (program_is_grid(p))
            read_grid_launch(r, p, l);
        else
            read_lists_launch(r, p, l);
    }
    if (program_is_grid(p)) {
        check_ways(r, p);
        check_spares(r, p);
        check_layers(r, p);
    }
}

/* ---- the program --------------------------------------------------------------------------- */

/* The part of a source that another device replaces. */
static void read_arch(reader *r, const char *source, size_t *begin, size_t *end) {
    const size_t length = strlen(source);
    *begin = (size_t)reader_int(r, 0, INT32_MAX, "a place in the source");
    *end = (size_t)reader_int(r, 0, INT32_MAX, "a place in the source");
    reader_require(r, *begin <= *end && *end <= length, "a place in the source is none");
}

static void read_sources(reader *r, program *p) {
    read_arch(r, p->source, &p->arch_begin, &p->arch_end);
    if (program_own_launches(p) == p->launch_count)
        return;
    p->grid.spare_source = reader_text(r, "a source");
    reader_require(r, p->grid.spare_source[0] != '\0', "the spares have no source");
    read_arch(r, p->grid.spare_source, &p->grid.spare_arch_begin, &p->grid.spare_arch_end);
}

program *kernel_read_program(reader *r, const char *const *texts) {
    program *p = job_alloc(r->job, sizeof *p);
    p->name = texts[SG_TEXT_NAME];
    p->source = texts[SG_TEXT_SOURCE];
    p->target = texts[SG_TEXT_ARCH];
    p->kind = (program_kind)reader_int(r, PROGRAM_GRID, PROGRAM_PRODUCT, "the kernel's kind");
    p->dims = reader_int(r, 1, PROGRAM_AXES, "the number of dimensions");
    p->element_bytes = (size_t)reader_int(r, 4, 8, "the size of an element");
    reader_require(r, p->element_bytes == 4 || p->element_bytes == 8,
                   "the size of an element is odd");
    if (program_is_grid(p))
        read_layers(r, p);
    else
        read_lists(r, p);
    if (p->kind == PROGRAM_PRODUCT)
        read_product(r, p);
    read_arrays(r, p);
    check_roles(r, p);
    if (program_is_grid(p))
        p->grid.bytes_per_point = reader_double(
            r, 0, (double)p->array_count * (double)p->element_bytes, "the bytes of a point");
    else
        check_sizes(r, p);
    read_parameters(r, p);
    read_launches(r, p);
    p->arguments_bytes = (size_t)reader_int(r, 0, LAUNCH_BYTES, "the size of the arguments");
    reader_require(r, p->arguments_bytes == program_arguments_bytes(p),
                   "the size of the arguments is not that of their parts");
    read_sources(r, p);
    return p;
}
