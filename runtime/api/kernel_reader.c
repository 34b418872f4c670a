/* The reader of kernel_reader.h, and what every launch by a file relies on. */
#include "runtime/api/kernel_file.h"

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
    e->size[0] = reader_int(r, -1, p->size_count - 1, what);
    e->size[1] = reader_int(r, -1, p->size_count - 1, what);
    e->plus = reader_int(r, -MOST_FILE_NUMBER, MOST_FILE_NUMBER, what);
}

/* A call's sizes are found one after the other, each from an extent that it is once in. */
static void check_sizes(reader *r, const program *p) {
    for (int i = 0; i < p->size_count && !r->record.bad; i++) {
        const program_size *s = &p->sizes[i];
        if (s->array >= p->array_count) {
            reader_refuse(r, "a size's array is %d", s->array);
            return;
        }
        const int *in = p->arrays[s->array].extent[s->axis].size;
        reader_require(r, (in[0] == i && in[1] < i) || (in[1] == i && in[0] < i),
                       "a size cannot be found by its array");
    }
}

static void read_sizes(reader *r, program *p) {
    p->size_count = reader_int(r, 0, LAUNCH_SIZES, "the number of sizes");
    p->sizes = job_array(r->job, (size_t)p->size_count, sizeof *p->sizes);
    for (int i = 0; i < p->size_count; i++) {
        program_size *s = &p->sizes[i];
        s->name = reader_name(r, "a size's name");
        s->array = reader_int(r, 0, LAUNCH_ARRAYS - 1, "a size's array");
        s->axis = reader_int(r, 0, PROGRAM_AXES - 1, "a size's axis");
    }
}

static void read_temporaries(reader *r, program *p) {
    p->temporary_count = reader_int(r, 0, LAUNCH_TEMPORARIES, "the number of temporaries");
    p->temporaries = job_array(r->job, (size_t)p->temporary_count, sizeof *p->temporaries);
    for (int i = 0; i < p->temporary_count; i++) {
        program_temporary *t = &p->temporaries[i];
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
    reader_require(r, p->layer_count == 0 || program_own_launches(p) == p->layer_count + 1,
                   "there are too few launches for the layers, or too many");
    for (int i = 0; i < p->layer_count && !r->record.bad; i++) {
        const program_layer *a = &p->layers[i], *b = i + 1 < p->layer_count ? a + 1 : &none;
        for (int k = 0; k < PROGRAM_AXES; k++)
            reader_require(r, a->low[k] >= b->low[k] && a->high[k] >= b->high[k],
                           "a layer is smaller than the one after it");
    }
}

static void read_layers(reader *r, program *p) {
    p->layer_count = reader_int(r, 0, LAUNCH_TEMPORARIES, "the number of layers");
    p->layers = job_array(r->job, (size_t)p->layer_count, sizeof *p->layers);
    for (int i = 0; i < p->layer_count; i++) {
        program_layer *a = &p->layers[i];
        a->name = reader_name(r, "a layer's name");
        reader_axes(r, a->low, 0, MOST_REACH, "a layer's reach");
        reader_axes(r, a->high, 0, MOST_REACH, "a layer's reach");
    }
}

/* What a matrix is stored by; only programs of one have anything here. */
static void read_storage(reader *r, program *p) {
    for (int i = 0; i < PROGRAM_STORAGE; i++)
        p->storage[i] = reader_int(r, 0, i == STORAGE_FORMAT ? FORMAT_COUNT - 1 : MOST_FILE_NUMBER,
                                   "the storage of a matrix");
    const bool matrix = p->storage[STORAGE_FORMAT] != 0;
    for (int i = STORAGE_INDEX_BYTES; i <= STORAGE_VALUE_BYTES; i++)
        reader_require(r, !matrix || p->storage[i] == 4 || p->storage[i] == 8,
                       "the width of a matrix's numbers is odd");
}

/* A matrix is stored, and compared, by them. */
static void read_diagonals(reader *r, program *p) {
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
    p->tagged = reader_truth(r, "whether the arguments have a tag");
    read_extent(r, p, &p->points, "the number of a call's points");
    read_storage(r, p);
    read_diagonals(r, p);
}

/* ---- arrays -------------------------------------------------------------------------------- */

static dtype read_dtype(reader *r, const program *p, const char *what) {
    const dtype type = dtype_find(reader_text(r, what));
    if (type == DTYPE_COUNT ||
        (p->shape == PROGRAM_GRID && dtype_words[type].bytes != p->element_bytes))
        reader_refuse(r, "%s is none", what);
    return r->record.bad ? DTYPE_FLOAT : type;
}

static void read_array(reader *r, const program *p, program_array *a) {
    a->name = reader_name(r, "an array's name");
    a->field = reader_name(r, "a field's name");
    const dtype type = read_dtype(r, p, "an array's type");
    a->dtype = dtype_words[type].name;
    a->element_bytes = dtype_words[type].bytes;
    a->written = reader_truth(r, "whether an array is written");
    a->reads = reader_int(r, -1, p->array_count - 1, "an array's current one");
    a->previous = reader_int(r, -1, p->array_count - 1, "an array's previous one");
    reader_axes(r, a->low, 0, MOST_REACH, "an array's reach");
    reader_axes(r, a->high, 0, MOST_REACH, "an array's reach");
    for (int k = 0; p->shape == PROGRAM_LISTS && k < PROGRAM_AXES; k++)
        read_extent(r, p, &a->extent[k], "an array's extent");
    a->updated = reader_truth(r, "whether an array is updated");
    a->same_as = reader_int(r, -1, p->array_count - 1, "the array that another may be");
    const bool grid = p->shape == PROGRAM_GRID;
    reader_require(r, a->written || !a->updated, "an array is updated, but not written");
    reader_require(r, (a->written && !grid) || a->same_as < 0,
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
    const bool grid = p->shape == PROGRAM_GRID;
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        const int others[] = {a->reads, a->previous};
        written = written || a->written;
        reader_require(r, a->written || a->reads < 0, "an array is swapped, but not written");
        reader_require(r, grid || a->reads < 0, "a list is swapped");
        reader_require(r, a->reads >= 0 || a->previous < 0,
                       "an array has no current one, but a previous");
        for (int k = 0; k < 2 && !r->record.bad; k++) {
            if (others[k] < 0)
                continue;
            const program_array *other = &p->arrays[others[k]];
            reader_require(
                r, !other->written && !taken[others[k]] && strcmp(other->field, a->field) == 0,
                "an array cannot be swapped with the one it names");
            taken[others[k]] = true;
        }
    }
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

/* Kernels address x with the stride 1, and every axis of the grid is an axis of the kernel. */
static void check_launch(reader *r, const program *p, const program_launch *l) {
    const bool grid = p->shape == PROGRAM_GRID;
    int times[PROGRAM_AXES] = {0};
    int64_t threads = 1;
    for (int k = 0; k < PROGRAM_AXES; k++) {
        threads *= l->block[k];
        if (l->axes[k] >= 0)
            times[l->axes[k]]++;
    }
    for (int axis = 1; axis < PROGRAM_AXES; axis++)
        reader_require(r, !l->resident || is_one(&l->blocks[axis].items),
                       "a launch of resident blocks has more than one axis of them");
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        reader_require(r, !l->resident || l->blocks[axis].cluster <= 1,
                       "resident blocks come in clusters");
    for (int axis = 0; grid && axis < p->dims; axis++)
        reader_require(r, times[axis] == 1, "a launch has not each axis once");
    reader_require(r, !grid || l->axes[0] == 0, "a launch has another first axis than the grid");
    if (threads > MOST_THREADS)
        reader_refuse(r, "a block has %lld threads", (long long)threads);
}

static void read_blocks(reader *r, const program *p, program_launch *l, int axis) {
    read_extent(r, p, &l->blocks[axis].items, "the number of a launch's items");
    l->blocks[axis].least = reader_truth(r, "whether a launch has a block at least");
    l->blocks[axis].most = reader_int(r, 0, INT32_MAX, "the most blocks of a launch");
    l->blocks[axis].alone = reader_int(r, 0, MOST_FILE_NUMBER, "the items of a single block");
    l->blocks[axis].cluster = reader_int(r, 0, MOST_CLUSTER, "the blocks of a cluster");
    reader_require(r,
                   l->blocks[axis].most % (l->blocks[axis].cluster + !l->blocks[axis].cluster) == 0,
                   "the most blocks of a launch are no whole clusters");
}

/* What base/program.h promises of ways: fewer steps each, and the last can always be taken. */
static void check_ways(reader *r, const program *p) {
    int previous = 0;
    for (int i = 0; i < p->array_count; i++)
        previous += p->arrays[i].previous >= 0;
    reader_require(r,
                   !p->ways || (p->shape == PROGRAM_GRID && p->layer_count == 0 && previous == 0),
                   "the program has ways, which it cannot");
    for (int i = 0; i < program_own_launches(p) && !r->record.bad; i++) {
        const program_launch *l = &p->launches[i];
        const bool last = !p->ways || i + 1 == program_own_launches(p);
        const bool first = i == 0;
        reader_require(r, (l->steps == 1) == last, "a launch makes another number of steps");
        reader_require(r, first || !p->ways || l->steps < l[-1].steps,
                       "a way makes more steps than the one before it");
        reader_require(r, first || !l->cooperative || l[-1].cooperative,
                       "a way is cooperative, and the one before it is not");
        for (int k = 0; k < PROGRAM_AXES; k++)
            reader_require(r, !last || l->least[k] == 0, "not every grid can take the last way");
        reader_require(r, !last || !l->cooperative, "the last way is cooperative");
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
    reader_require(r, p->spare_count == 0 || p->shape == PROGRAM_GRID, "lists have spares");
    for (int i = 0; i < p->launch_count && !r->record.bad; i++) {
        const program_launch *l = &p->launches[i], *spare = &p->launches[l->spare];
        if (l->spare == 0)
            continue;
        reader_require(r, i < own && l->spare == own + spares++, "a spare is no spare");
        reader_require(r,
                       alike(l->axes, spare->axes) && alike(l->per_block, spare->per_block) &&
                           alike(l->block, spare->block) && l->shared_bytes == spare->shared_bytes,
                       "a spare is another launch");
    }
    reader_require(r, spares == p->spare_count, "there are more spares than launches take");
}

static void read_launches(reader *r, program *p) {
    p->launch_count = reader_int(r, 1, MOST_LAUNCHES, "the number of launches");
    p->ways = reader_truth(r, "whether the launches are ways");
    p->spare_count = reader_int(r, 0, p->launch_count / 2, "the number of spares");
    p->launches = job_array(r->job, (size_t)p->launch_count, sizeof *p->launches);
    for (int i = 0; i < p->launch_count && !r->record.bad; i++) {
        program_launch *l = &p->launches[i];
        l->entry = reader_name(r, "a kernel's name");
        reader_axes(r, l->axes, -1, p->dims - 1, "an axis");
        reader_axes(r, l->per_block, 1, MOST_PER_BLOCK, "the extent of a block");
        reader_axes(r, l->block, 1, MOST_THREADS, "the number of a block's threads along an axis");
        reader_axes(r, l->low, 0, MOST_REACH, "the reach of a block");
        reader_axes(r, l->high, 0, MOST_REACH, "the reach of a block");
        l->shared_bytes =
            (size_t)reader_int(r, 0, MOST_SHARED_BYTES, "the shared memory of a block");
        l->barriers = reader_truth(r, "whether a kernel has barriers");
        l->vector = reader_int(r, p->shape == PROGRAM_GRID, MOST_VECTOR, "the length of a vector");
        l->steps = reader_int(r, 1, MOST_STEPS, "the number of a launch's steps");
        for (int k = 0; k < PROGRAM_AXES; k++)
            l->least[k] = reader_int(r, 0, INT32_MAX, "the least extent of a grid");
        l->cooperative = reader_truth(r, "whether a launch is cooperative");
        l->spare = reader_int(r, 0, p->launch_count - 1, "a spare");
        if (l->spare > 0)
            read_needs(r, &l->needs);
        for (int k = 0; p->shape == PROGRAM_LISTS && k < PROGRAM_AXES; k++)
            read_blocks(r, p, l, k);
        if (p->shape == PROGRAM_LISTS) {
            l->resident = reader_truth(r, "whether the blocks of a launch are resident");
            l->early = reader_truth(r, "whether a launch begins early");
        }
        check_launch(r, p, l);
    }
    check_ways(r, p);
    check_spares(r, p);
}

/* ---- the program --------------------------------------------------------------------------- */

/* As base/program.h lays the struct out. */
static size_t arguments_bytes(const program *p) {
    const size_t parameters = (size_t)(p->parameter_count > 0 ? p->parameter_count : 1);
    if (p->shape == PROGRAM_LISTS)
        return 8 * ((size_t)(p->size_count + p->array_count + p->temporary_count + p->tagged) +
                    parameters);
    const size_t bytes = PROGRAM_OFFSET_GRIDS + PROGRAM_GRID_BYTES * (size_t)program_grid_count(p) +
                         parameters * p->element_bytes;
    return (bytes + 7) / 8 * 8;
}

/* The part of a source that another device replaces. */
static void read_arch(reader *r, const char *source, size_t *begin, size_t *end) {
    const size_t length = strlen(source);
    *begin = (size_t)reader_int(r, 0, INT32_MAX, "a place in the source");
    *end = (size_t)reader_int(r, 0, INT32_MAX, "a place in the source");
    reader_require(r, *begin <= *end && *end <= length, "a place in the source is none");
}

static void read_sources(reader *r, program *p) {
    read_arch(r, p->source, &p->arch_begin, &p->arch_end);
    const char *spare = reader_text(r, "a source");
    read_arch(r, spare, &p->spare_arch_begin, &p->spare_arch_end);
    p->spare_source = spare[0] != '\0' ? spare : NULL;
    reader_require(r, (p->spare_source != NULL) == (p->spare_count > 0),
                   "the spares have no source");
}

program *kernel_read_program(reader *r, const char *const *texts, sg_kind *kind) {
    program *p = job_alloc(r->job, sizeof *p);
    p->name = texts[SG_TEXT_NAME];
    p->source = texts[SG_TEXT_SOURCE];
    p->target = texts[SG_TEXT_ARCH];
    *kind = (sg_kind)reader_int(r, SG_KIND_GRID, SG_KIND_PRODUCT, "the kernel's kind");
    p->shape = *kind == SG_KIND_GRID ? PROGRAM_GRID : PROGRAM_LISTS;
    p->dims = reader_int(r, 1, PROGRAM_AXES, "the number of dimensions");
    p->element_bytes = (size_t)reader_int(r, 4, 8, "the size of an element");
    reader_require(r, p->element_bytes == 4 || p->element_bytes == 8,
                   "the size of an element is odd");
    if (p->shape == PROGRAM_LISTS)
        read_lists(r, p);
    else
        read_layers(r, p);
    read_arrays(r, p);
    check_roles(r, p);
    check_sizes(r, p);
    read_parameters(r, p);
    read_launches(r, p);
    check_layers(r, p);
    p->arguments_bytes = (size_t)reader_int(r, 0, LAUNCH_BYTES, "the size of the arguments");
    reader_require(r, p->arguments_bytes == arguments_bytes(p),
                   "the size of the arguments is not that of their parts");
    const size_t most = p->shape == PROGRAM_LISTS ? sizeof(double) : p->element_bytes;
    p->bytes_per_point =
        reader_double(r, 0, (double)p->array_count * (double)most, "the bytes of a point");
    read_sources(r, p);
    return p;
}
