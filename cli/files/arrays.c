/* The arrays of `run`: what the kernel has, which file is which, and how they are loaded. */
#include "cli/files/arrays.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool arrays_is(const arrays *a, sg_kind kind) {
    return a->info.kind == kind;
}

int arrays_find(const arrays *a, const char *name) {
    int i = 0;
    while (i < a->count && strcmp(a->items[i].info.name, name) != 0)
        i++;
    return i < a->count ? i : -1;
}

/* ---- the kernel's arrays --------------------------------------------------------------------- */

static int list_arrays(arrays *a) {
    const size_t count = (size_t)a->info.arrays;
    a->items = new_array(count, sizeof *a->items);
    a->grids = new_array(count, sizeof *a->grids);
    for (int i = 0; i < a->info.arrays; i++) {
        array *item = &a->items[a->count];
        *item = (array){.info = {.struct_size = sizeof item->info}, .copies = -1};
        sg_kernel_array(a->plan, i, &item->info);
        const char *name = item->info.name;
        if (arrays_is(a, SG_KIND_PRODUCT) && strcmp(name, "x") != 0 && strcmp(name, "y") != 0)
            continue; /* made from the matrix, not read */
        item->type = dtype_find(item->info.dtype);
        if (item->type == DTYPE_COUNT)
            return complain(EXIT_USAGE, a->spec, "%s has arrays of %s, which no file holds",
                            a->name, item->info.dtype);
        item->is_values = arrays_is(a, SG_KIND_MERGE) && strstr(item->info.name, "_values") != NULL;
        if (!a->is_grid)
            item->info.reads = item->info.previous = -1;
        a->count++;
    }
    return EXIT_DONE;
}

/* Like session_build, but the spec may be an spmv whose matrix has not been read yet. A matrix with
   one entry stands in for it, because the format `stencil` needs one. The kernel tells which arrays
   the spec has. */
static int product_plan(session *s, const char *spec, sg_kernel **out) {
    sg_build_options any = session_plain_options(s, s->first);
    sg_matrix *one = NULL;
    sg_status status = sg_matrix_new(s->context, 1, 1, &one);
    if (status == SG_OK)
        status = sg_matrix_set(one, 0, 0, 1);
    any.matrix = one;
    int code = session_code(s, status);
    if (code == EXIT_DONE)
        code = session_build(s, spec, &any, out);
    sg_matrix_free(one);
    return code;
}

int arrays_open(arrays *a, session *s, const char *spec, bool with_outputs) {
    *a = (arrays){.session = s,
                  .spec = spec,
                  .output_set = {.specs = s->options->specs, .spec_count = s->options->spec_count},
                  .matrix_info = {.struct_size = sizeof a->matrix_info},
                  .maxval = 255};
    int code = product_plan(s, spec, &a->plan);
    if (code == EXIT_DONE)
        code = session_judge_size(s, a->plan);
    if (code != EXIT_DONE)
        return code;
    a->info = facts_of(a->plan);
    a->name = sg_kernel_text(a->plan, SG_TEXT_NAME);
    a->is_grid = words_of(a->plan)->is_grid;
    code = list_arrays(a);
    if (code == EXIT_DONE)
        code = session_judge_steps(s, spec, a->plan);
    if (code == EXIT_DONE)
        code = arrays_match(a);
    if (code == EXIT_DONE && arrays_is(a, SG_KIND_PRODUCT))
        code = arrays_read_matrix(a);
    if (code == EXIT_DONE)
        code = arrays_measure(a);
    return code == EXIT_DONE && with_outputs ? arrays_open_outputs(a) : code;
}

void grids_free(sg_context *context, const sg_grid *grids, int count) {
    for (int i = 0; i < count; i++) {
        int first = 0;
        while (grids[first].data != grids[i].data)
            first++;
        if (first == i)
            sg_free(context, grids[i].data);
    }
}

void arrays_close(arrays *a) {
    arrays_close_outputs(a);
    for (int i = 0; i < a->count; i++)
        datafile_close(&a->items[i].file);
    grids_free(a->session->context, a->grids, a->count);
    sg_matrix_free(a->matrix);
    sg_release(a->plan);
}

enum { PIECE = 4 << 20 };

/* ---- loading --------------------------------------------------------------------------------- */

typedef struct loading {
    arrays *arrays;
    int index;
    int code;
    bool is_offsets; /* offsets must not decrease, nor exceed `most` */
    int64_t last, most;
} loading;

static bool judge_offsets(loading *l, const void *bytes, size_t count) {
    const array *item = &l->arrays->items[l->index];
    const size_t step = dtype_words[item->type].bytes;
    for (size_t at = 0; at < count; at += step) {
        const double offset = dtype_value(item->type, (const char *)bytes + at);
        if (offset < (double)l->last || offset > (double)l->most) {
            l->code = complain(EXIT_DATA, item->input,
                               "offset %.0f after %" PRId64 "; offsets do not decrease, from 0 on, "
                               "up to the %" PRId64 " elements",
                               offset, l->last, l->most);
            return false;
        }
        l->last = (int64_t)offset;
    }
    return true;
}

/* Uploads one piece of a file to its array, and to the previous level that takes its values. */
static bool upload(void *user, uint64_t offset, const void *bytes, size_t count) {
    loading *l = user;
    arrays *a = l->arrays;
    if (l->is_offsets && !judge_offsets(l, bytes, count))
        return false;
    for (int i = 0; i < a->count && l->code == EXIT_DONE; i++)
        if (i == l->index || a->items[i].copies == l->index)
            l->code = session_code(
                a->session,
                sg_upload(a->session->context, (char *)a->grids[i].data + offset, bytes, count));
    return l->code == EXIT_DONE;
}

/* The same of a file whose numbers are of another type: they are rounded to the array's. */
static bool upload_converted(void *user, uint64_t offset, const void *bytes, size_t count) {
    const loading *l = user;
    const array *item = &l->arrays->items[l->index];
    const size_t from = dtype_words[item->file.npy.type].bytes, to = dtype_words[item->type].bytes;
    const size_t elements = count / from;
    unsigned char *converted = must_alloc(elements > 0 ? elements : 1, to);
    for (size_t i = 0; i < elements; i++)
        dtype_store(item->type, converted + i * to,
                    dtype_value(item->file.npy.type, (const char *)bytes + i * from));
    const bool good = upload(user, offset / from * to, converted, elements * to);
    free(converted);
    return good;
}

static int load_file(arrays *a, int index) {
    array *item = &a->items[index];
    loading l = {.arrays = a, .index = index};
    if (arrays_is(a, SG_KIND_REDUCE) && strcmp(item->info.name, "offsets") == 0) {
        l.is_offsets = true;
        l.most = a->size[0];
    }
    const bool same = datafile_holds(&item->file, item->type);
    return datafile_read(&item->file, item->type, same ? upload : upload_converted, &l, &l.code);
}

static uint64_t array_bytes(const arrays *a, int index) {
    uint64_t bytes = dtype_words[a->items[index].type].bytes;
    for (int axis = 0; axis < 3; axis++)
        bytes *= (uint64_t)a->grids[index].size[axis];
    return bytes;
}

/* Arrays that are only written begin as zeros, which cells that a boundary leaves alone keep. */
static int clear(arrays *a, int index) {
    unsigned char *zeros = must_alloc(PIECE, 1);
    loading l = {.arrays = a, .index = index};
    const uint64_t bytes = array_bytes(a, index);
    for (uint64_t at = 0; at < bytes && l.code == EXIT_DONE; at += PIECE)
        upload(&l, at, zeros, bytes - at < PIECE ? (size_t)(bytes - at) : PIECE);
    free(zeros);
    return l.code;
}

/* How an item begins, for initial_each; *name is for errors. */
static void arrays_describe_initial(const arrays *a, int index, initial *out) {
    *out = (initial){.name = phrase("--init %s", a->items[index].info.name),
                     .expression = a->items[index].init,
                     .type = a->items[index].type};
    memcpy(out->size, a->size, sizeof out->size);
    memcpy(out->end, a->size, sizeof out->end);
}

static bool upload_piece(void *user, const int64_t begin[3], const int64_t end[3],
                         const unsigned char *elements) {
    const loading *l = user;
    const arrays *a = l->arrays;
    const uint64_t bytes = dtype_words[a->items[l->index].type].bytes;
    uint64_t cells = 1, first = 0;
    for (int axis = 2; axis >= 0; axis--) {
        cells *= (uint64_t)(end[axis] - begin[axis]);
        first = first * (uint64_t)a->size[axis] + (uint64_t)begin[axis];
    }
    return upload(user, first * bytes, elements, (size_t)(cells * bytes));
}

static int begin_with(arrays *a, int index) {
    initial in;
    loading l = {.arrays = a, .index = index};
    arrays_describe_initial(a, index, &in);
    progress("%s", in.name);
    const sg_status status = initial_each(a->session->context, &in, upload_piece, &l);
    return status != SG_OK ? session_code(a->session, status) : l.code;
}

int arrays_place(const arrays *a, const sg_kernel *k, int index) {
    sg_array_info info = {.struct_size = sizeof info};
    return a->is_grid && sg_kernel_array(k, index, &info) == SG_OK && info.same_as >= 0
               ? info.same_as
               : index;
}

int arrays_load(arrays *a, const sg_kernel *kernel) {
    int code = EXIT_DONE;
    for (int i = 0; i < a->count && code == EXIT_DONE; i++) {
        const uint64_t bytes = array_bytes(a, i);
        if (arrays_place(a, kernel, i) == i)
            code = session_code(a->session, sg_alloc(a->session->context, bytes > 0 ? bytes : 1,
                                                     &a->grids[i].data));
    }
    for (int i = 0; i < a->count; i++)
        a->grids[i].data = a->grids[arrays_place(a, kernel, i)].data;
    for (int i = 0; i < a->count && code == EXIT_DONE; i++) {
        const array *item = &a->items[i];
        const bool is_next = array_is_written(item) && item->info.reads >= 0;
        if (item->input != NULL)
            code = load_file(a, i);
        else if (item->init != NULL)
            code = begin_with(a, i);
        else if (!is_next && item->copies < 0)
            code = clear(a, i);
    }
    return code;
}

/* ---- components ------------------------------------------------------------------------------ */

/* Fields of several components: their arrays are "f[1]", "f[2]", …, and a file "f" holds them all,
   one behind the other: its shape begins with their number. */

const char *components_name(const char *whole, int number) {
    const size_t head = strcspn(whole, ".");
    return phrase("%.*s[%d]%s", (int)head, whole, number, whole + head);
}

const char *components_title(const char *name, int *number) {
    const char *open = strchr(name, '['), *close = open != NULL ? strchr(open, ']') : NULL;
    if (close == NULL) {
        *number = 0;
        return name;
    }
    const char *title = phrase("%.*s%s", (int)(open - name), name, close + 1);
    *number = component_number(name, title);
    return title;
}

int components_cut(array *item, int dims) {
    datafile *f = &item->file;
    int number;
    const char *whole = components_title(item->info.name, &number);
    if (f->kind != DATAFILE_NPY)
        return complain(EXIT_DATA, f->path, "an image, but %s has %d components; give a .npy file",
                        whole, item->parts);
    if (f->dims != dims + 1 || f->size[dims] != item->parts)
        return complain(EXIT_DATA, f->path,
                        "%s, the first of %" PRId64 ", but %s has %d: its %d components and those "
                        "of the grid",
                        counted(f->dims, "dimension"), f->size[f->dims - 1], whole, dims + 1,
                        item->parts);
    if (f->npy.fortran)
        return complain(EXIT_DATA, f->path, "components are read in C order, and this is none");
    f->dims = f->npy.dims = dims;
    f->size[dims] = f->npy.size[dims] = 1;
    f->npy.data_bytes /= (uint64_t)item->parts;
    f->npy.data_offset += (uint64_t)(number - 1) * f->npy.data_bytes;
    f->npy.is_part = true;
    return fseeko(f->file, (off_t)f->npy.data_offset, SEEK_SET) == 0
               ? EXIT_DONE
               : complain(EXIT_DATA, f->path,
                          "components are read from a file, and this is a pipe or a device");
}

int components_download(const array_reading *r, uint64_t first, size_t count, void *out) {
    const arrays *a = r->arrays;
    const size_t bytes = dtype_words[a->items[r->item].type].bytes;
    uint64_t cells = 1;
    int code = EXIT_DONE;
    for (int axis = 0; axis < 3; axis++)
        cells *= (uint64_t)a->grids[r->item].size[axis];
    for (unsigned char *to = out; count > 0 && code == EXIT_DONE;) {
        const int item = arrays_find_output(a, components_name(r->whole, (int)(first / cells) + 1));
        const uint64_t left = cells - first % cells;
        const size_t now = count < left ? count : (size_t)left;
        code = arrays_download(&(array_reading){.arrays = a, .item = item}, first % cells, now, to);
        first += now;
        count -= now;
        to += now * bytes;
    }
    return code;
}

/* ---- initial fields from expressions --------------------------------------------------------- */

/* Evaluated in pieces, since a field may be larger than memory. */
enum { INITIAL_PIECE = 1 << 20 }; /* cells */

/* The piece at `at`: whole rows and planes as far as there is room. */
static int64_t find_piece(const initial *in, const int64_t at[3], int64_t end[3]) {
    int64_t room = INITIAL_PIECE, cells = 1;
    bool whole = true;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t left = in->end[axis] - at[axis];
        const int64_t along = !whole ? 1 : left < room ? left : room;
        whole = along == in->end[axis] - in->begin[axis];
        end[axis] = at[axis] + along;
        cells *= along;
        room /= along;
    }
    return cells;
}

/* Moves `at` behind a piece; false at the end. */
static bool advance(const initial *in, int64_t at[3], const int64_t end[3]) {
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = end[axis];
        if (at[axis] < in->end[axis])
            return true;
        at[axis] = in->begin[axis];
    }
    return false;
}

static sg_status each(sg_context *context, const initial *in, double *values,
                      unsigned char *elements, initial_take take, void *user) {
    const size_t bytes = dtype_words[in->type].bytes;
    int64_t at[3], end[3];
    memcpy(at, in->begin, sizeof at);
    do {
        const int64_t cells = find_piece(in, at, end);
        const sg_status status =
            sg_evaluate_field(context, in->name, in->expression, in->size, at, end, values);
        if (status != SG_OK)
            return status;
        for (int64_t i = 0; i < cells; i++)
            element_put(in->type, values[i], elements + (size_t)i * bytes);
        if (!take(user, at, end, elements))
            return SG_OK;
    } while (advance(in, at, end));
    return SG_OK;
}

sg_status initial_each(sg_context *context, const initial *in, initial_take take, void *user) {
    for (int axis = 0; axis < 3; axis++)
        if (in->begin[axis] >= in->end[axis])
            return SG_OK;
    double *values = malloc(INITIAL_PIECE * sizeof *values);
    unsigned char *elements = malloc(INITIAL_PIECE * sizeof(double));
    const sg_status status = values != NULL && elements != NULL
                                 ? each(context, in, values, elements, take, user)
                                 : SG_ERROR_MEMORY;
    free(values);
    free(elements);
    return status;
}
