/* The extents of all arrays of `run`, which follow from the files. */
#include <inttypes.h>
#include <string.h>

#include "cli/files/arrays.h"

static void add_shape(text *out, const int64_t size[3], int dims) {
    for (int axis = dims - 1; axis >= 0; axis--)
        text_printf(out, "%s%" PRId64, axis == dims - 1 ? "(" : ", ", size[axis]);
    text_add(out, dims == 1 ? ",)" : ")");
}

/* ---- grids ----------------------------------------------------------------------------------- */

static int wrong_shape(const arrays *a, const array *item, const char *other) {
    text out = new_text();
    add_shape(&out, item->file.size, item->file.dims);
    text_printf(&out, " is the shape, but %s is ", other);
    add_shape(&out, a->size, a->info.dims);
    return complain(EXIT_DATA, item->input, "%s", out.data);
}

static int judge_grid(arrays *a, const array *item, const char **first) {
    const datafile *f = &item->file;
    if (f->dims != a->info.dims)
        return complain(EXIT_DATA, item->input, "the array has %s, but %s has %d",
                        counted(f->dims, "dimension"), a->name, a->info.dims);
    if (f->size[0] == 0 || f->size[1] == 0 || f->size[2] == 0)
        return complain(EXIT_DATA, item->input, "a grid without elements");
    if (*first == NULL && a->size[0] == 0)
        memcpy(a->size, f->size, sizeof a->size);
    if (memcmp(a->size, f->size, sizeof a->size) != 0)
        return wrong_shape(a, item, *first != NULL ? *first : "--size");
    *first = item->input;
    return EXIT_DONE;
}

/* --size counts if the kernel reads nothing. */
static int measure_grid(arrays *a) {
    const options *o = a->session->options;
    for (int axis = 0; axis < 3 && o->size_count > 0; axis++)
        a->size[axis] = axis < o->size_count ? o->size[axis] : 1;
    const char *first = NULL;
    for (int i = 0; i < a->count; i++) {
        const int code =
            a->items[i].input != NULL ? judge_grid(a, &a->items[i], &first) : EXIT_DONE;
        if (code != EXIT_DONE)
            return code;
    }
    if (a->size[0] == 0)
        return complain(EXIT_USAGE, a->spec, "%s reads no array%s; give its grid with --size",
                        a->name, a->session->options->initials.count > 0 ? " from a file" : "");
    for (int i = 0; i < a->count; i++) {
        a->items[i].dims = a->info.dims;
        memcpy(a->grids[i].size, a->size, sizeof a->size);
    }
    return EXIT_DONE;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void set_extents(arrays *a, int i, int dims, int64_t x, int64_t y) {
    a->items[i].dims = dims;
    memcpy(a->grids[i].size, (int64_t[3]){x, y, 1}, sizeof a->grids[i].size);
}

static int64_t count_of(const arrays *a, const char *name) {
    const int i = arrays_find(a, name);
    return i >= 0 ? a->grids[i].size[0] : 0;
}

/* A reduction takes the elements of an array of any shape. */
static int measure_file(arrays *a, int i) {
    const datafile *f = &a->items[i].file;
    const bool any_shape =
        arrays_is(a, SG_KIND_REDUCE) && strcmp(a->items[i].info.name, "offsets") != 0;
    const int most = arrays_is(a, SG_KIND_PRODUCT) ? 2 : 1;
    if (f->dims > most && !any_shape)
        return complain(EXIT_DATA, f->path, "the array has %d dimensions, but %s takes a list",
                        f->dims, a->name);
    const bool is_list = f->dims == 1 || any_shape;
    set_extents(a, i, is_list ? 1 : 2,
                is_list ? f->size[0] * f->size[1] * f->size[2] * f->size[3] : f->size[0],
                is_list ? 1 : f->size[1]);
    return EXIT_DONE;
}

static int same_length(const arrays *a, const char *one, const char *other) {
    const int i = arrays_find(a, one), j = arrays_find(a, other);
    if (i < 0 || j < 0 || a->grids[i].size[0] == a->grids[j].size[0])
        return EXIT_DONE;
    return complain(EXIT_DATA, a->items[j].input,
                    "%s, but %s has %" PRId64 "; %s and %s are of one length",
                    counted(a->grids[j].size[0], "element"), a->items[i].input, a->grids[i].size[0],
                    one, other);
}

static int measure_reduce(arrays *a) {
    const int offsets = arrays_find(a, "offsets");
    const int64_t results = offsets >= 0 ? a->grids[offsets].size[0] - 1 : 1;
    if (results < 0)
        return complain(EXIT_DATA, a->items[offsets].input,
                        "no offsets; at least 1 is needed, and one more than segments");
    for (int i = 0; i < a->count; i++)
        if (array_is_written(&a->items[i]))
            set_extents(a, i, 1, results, 1);
    a->size[0] = count_of(a, "input");
    return same_length(a, "input", "second");
}

static int measure_scan(arrays *a) {
    a->size[0] = count_of(a, "input");
    set_extents(a, arrays_find(a, "output"), 1, a->size[0], 1);
    return EXIT_DONE;
}

static int measure_merge(arrays *a) {
    int64_t a_count = count_of(a, "a"), b_count = count_of(a, "b");
    int code = same_length(a, "a", "a_values");
    if (code == EXIT_DONE)
        code = same_length(a, "b", "b_values");
    a->size[0] = a_count + b_count; /* each below 2^61: files hold them */
    for (int i = 0; i < a->count; i++)
        if (array_is_written(&a->items[i]))
            set_extents(a, i, 1, a->size[0], 1);
    return code;
}

/* x may have several rows; each is a vector. */
static int measure_spmv(arrays *a) {
    const int x = arrays_find(a, "x"), y = arrays_find(a, "y");
    const sg_matrix_info *m = &a->matrix_info;
    const int64_t vectors = a->grids[x].size[1];
    if (a->grids[x].size[0] != m->columns)
        return complain(EXIT_DATA, a->items[x].input, "%s, but %s has %s",
                        counted(a->grids[x].size[0], "element"), a->matrix_path,
                        counted(m->columns, "column"));
    if (a->items[y].input != NULL &&
        (a->grids[y].size[0] != m->rows || a->grids[y].size[1] != vectors))
        return complain(EXIT_DATA, a->items[y].input, "%s, but %s has %s",
                        counted(a->grids[y].size[0], "element"), a->matrix_path,
                        counted(m->rows, "row"));
    set_extents(a, y, a->items[x].dims, m->rows, vectors);
    a->size[0] = m->entries;
    return EXIT_DONE;
}

/* The files decide the number of elements; --size may only agree. */
static int judge_count(const arrays *a) {
    const options *o = a->session->options;
    if (o->size_count == 0 || o->size[0] == a->size[0])
        return EXIT_DONE;
    return complain(EXIT_DATA, a->matrix_path != NULL ? a->matrix_path : a->items[0].input,
                    "%s %s in the files, but --size is %" PRId64,
                    points_text(words_of(a->plan), a->size[0]), a->size[0] == 1 ? "is" : "are",
                    o->size[0]);
}

static int measure_lists(arrays *a) {
    static const struct {
        sg_kind kind;
        int (*measure)(arrays *);
    } rules[] = {{SG_KIND_REDUCE, measure_reduce},
                 {SG_KIND_SCAN, measure_scan},
                 {SG_KIND_MERGE, measure_merge},
                 {SG_KIND_PRODUCT, measure_spmv}};
    a->size[1] = a->size[2] = 1;
    for (int i = 0; i < a->count; i++) {
        const int code = a->items[i].input != NULL ? measure_file(a, i) : EXIT_DONE;
        if (code != EXIT_DONE)
            return code;
    }
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++)
        if (arrays_is(a, rules[r].kind)) {
            const int code = rules[r].measure(a);
            return code == EXIT_DONE ? judge_count(a) : code;
        }
    return complain(EXIT_USAGE, a->spec, "%s cannot be run by this command", a->name);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Real numbers of another type are rounded to the array's. */
static bool can_convert(const array *item) {
    return item->file.npy.type < DTYPE_REALS && item->type < DTYPE_REALS;
}

static int wrong_type(const array *item) {
    const char *dtype = item->info.dtype, *numpy = element_words[item->type].numpy;
    const char *other = item->type == DTYPE_BFLOAT16 ? "float32" : numpy;
    const char *hint = "; --convert rounds its numbers";
    if (!can_convert(item))
        hint = phrase("; --convert makes reals of reals alone, NumPy's astype('%s') of any", other);
    else if (item->file.npy.type == DTYPE_BFLOAT16)
        hint = "; --convert rounds its numbers; uint16 that are no bits of bfloat16 need NumPy's "
               "astype('float32')";
    const bool same = strcmp(dtype, numpy) == 0;
    return complain(EXIT_DATA, item->input, "it holds %s, the kernel takes %s%s%s%s%s",
                    element_words[item->file.npy.type].numpy, dtype, same ? "" : " (",
                    same ? "" : numpy, same ? "" : ")", hint);
}

static int open_input(arrays *a, array *item) {
    const int code = datafile_open(&item->file, item->input);
    if (code != EXIT_DONE)
        return code;
    if (item->file.kind == DATAFILE_PGM && !a->is_grid)
        return complain(EXIT_DATA, item->input, "an image, but %s takes lists", a->name);
    if (datafile_holds(&item->file, item->type))
        return EXIT_DONE;
    const options *o = a->session->options;
    if (!o->convert || !can_convert(item))
        return wrong_type(item);
    const bool parts = o->ranks[0] != 0 || o->local_rank || o->checkpoint != NULL ||
                       o->restart != NULL; /* ranks read parts of files as they are */
    return parts ? complain(EXIT_USAGE, item->input,
                            "--convert is for runs without ranks, --checkpoint and --restart")
                 : EXIT_DONE;
}

int arrays_measure(arrays *a) {
    for (int i = a->count - 1; i >= 0; i--) {
        array *item = &a->items[i];
        int code = item->input != NULL ? open_input(a, item) : EXIT_DONE;
        if (code == EXIT_DONE && item->parts > 0)
            code = components_cut(item, a->info.dims);
        if (code != EXIT_DONE)
            return code;
        if (item->input != NULL && item->file.kind == DATAFILE_PGM)
            a->maxval = item->file.pgm.maxval;
        a->has_image |= item->input != NULL && item->file.kind == DATAFILE_PGM;
    }
    return a->is_grid ? measure_grid(a) : measure_lists(a);
}

int arrays_read_matrix(arrays *a) {
    session *s = a->session;
    progress("reading %s", a->matrix_path);
    sg_status status = sg_matrix_read(s->context, a->matrix_path, &a->matrix);
    if (status == SG_OK)
        status = sg_matrix_facts(a->matrix, &a->matrix_info);
    return session_code(s, status);
}
