/* The arrays of `run`: from files to device memory and back. */
#include "cli/arrays.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/output.h"

enum { PIECE = 4 << 20 };

/* ---- which file is which array -------------------------------------------------------------- */

static bool is_level(const array *a) {
    return strcmp(a->info.name, a->info.field) != 0; /* u.prev, u.next */
}

static int unknown_name(const arrays *a, const char *option, const char *name) {
    buffer known = {0};
    const bool reads = strcmp(option, "--input") == 0;
    for (int i = 0; i < a->info.arrays; i++) {
        const sg_array_info *info = &a->items[i].info;
        if ((info->role == SG_READ) == reads)
            buffer_printf(&known, "%s%s", known.length > 0 ? ", " : "",
                          reads ? info->name : info->field);
    }
    const int code =
        complain(EXIT_USAGE, a->spec, "%s '%s': %s %s %s", option, name, a->name,
                 reads ? "reads" : "writes", known.length > 0 ? known.data : "nothing");
    buffer_free(&known);
    return code;
}

/* The array that an input is for: the one it names, or the next field that has none. */
static int find_input(const arrays *a, const char *name) {
    for (int i = 0; i < a->info.arrays; i++) {
        const array *item = &a->items[i];
        if (item->info.role != SG_READ)
            continue;
        if (name != NULL ? strcmp(item->info.name, name) == 0
                         : item->input == NULL && !is_level(item))
            return i;
    }
    return -1;
}

static int match_inputs(arrays *a) {
    const bindings *inputs = &a->session->options->inputs;
    for (int named = 1; named >= 0; named--)
        for (int i = 0; i < inputs->count; i++) {
            const binding *b = &inputs->items[i];
            if ((b->name != NULL) != named)
                continue;
            const int at = find_input(a, b->name);
            if (at < 0 && named)
                return unknown_name(a, "--input", b->name);
            if (at < 0)
                return complain(EXIT_USAGE, a->spec, "--input %s is one more than %s reads",
                                b->value, a->name);
            if (a->items[at].input != NULL)
                return complain(EXIT_USAGE, a->spec, "--input %s is given twice", b->name);
            a->items[at].input = b->value;
        }
    return EXIT_DONE;
}

static int default_levels(arrays *a) {
    for (int i = 0; i < a->info.arrays; i++) {
        const sg_array_info *w = &a->items[i].info;
        if (w->role == SG_WRITE && w->previous >= 0 && a->items[w->previous].input == NULL)
            a->items[w->previous].same_as = w->reads;
    }
    for (int i = 0; i < a->info.arrays; i++) {
        const array *item = &a->items[i];
        if (item->info.role == SG_READ && item->input == NULL && item->same_as < 0)
            return complain(EXIT_USAGE, a->spec, "%s reads %s; give it with --input %s=FILE.npy",
                            a->name, item->info.name, item->info.name);
    }
    return EXIT_DONE;
}

/* After a run the newest values of an inout field are where its current ones were read. */
static int newest(const arrays *a, int written) {
    const int reads = a->items[written].info.reads;
    return reads >= 0 ? reads : written;
}

/* The array that an output shows: of a field, or of its previous level. */
static int find_output(const arrays *a, const char *name) {
    for (int i = 0; i < a->info.arrays; i++) {
        const sg_array_info *info = &a->items[i].info;
        if (info->role != SG_WRITE)
            continue;
        if (strcmp(info->field, name) == 0 || strcmp(info->name, name) == 0)
            return newest(a, i);
        if (info->previous >= 0 && strcmp(a->items[info->previous].info.name, name) == 0)
            return info->previous;
    }
    return -1;
}

static int next_written(const arrays *a, int from) {
    while (from < a->info.arrays && a->items[from].info.role != SG_WRITE)
        from++;
    return from;
}

/* Whether a file takes the place of what is there, unlike a device. */
static bool is_replaced(const char *path) {
    struct stat there;
    return stat(path, &there) != 0 || S_ISREG(there.st_mode);
}

/* Before the work, so that a slip of the pen does not cost it. */
static int match_outputs(const arrays *a) {
    const bindings *outputs = &a->session->options->outputs;
    int next = next_written(a, 0);
    for (int i = 0; i < outputs->count; i++) {
        const binding *b = &outputs->items[i];
        if (b->name != NULL && find_output(a, b->name) < 0)
            return unknown_name(a, "--output", b->name);
        if (b->name == NULL && next == a->info.arrays)
            return complain(EXIT_USAGE, a->spec, "--output %s is one more than %s writes", b->value,
                            a->name);
        if (b->name == NULL)
            next = next_written(a, next + 1);
        for (int other = 0; other < i; other++)
            if (strcmp(outputs->items[other].value, b->value) == 0 && is_replaced(b->value))
                return complain(EXIT_USAGE, b->value,
                                "two outputs go to this file, and would replace each other");
    }
    return EXIT_DONE;
}

/* A file that nobody named must not replace what is read. */
static int protect_inputs(const arrays *a) {
    int code = EXIT_DONE;
    for (int w = next_written(a, 0); w < a->info.arrays && code == EXIT_DONE;
         w = next_written(a, w + 1)) {
        const char *field = a->items[w].info.field;
        char *path = output_path(a->session->options->folder, field, ".npy");
        struct stat there, input;
        for (int i = 0; i < a->info.arrays && code == EXIT_DONE; i++)
            if (a->items[i].input != NULL && stat(path, &there) == 0 &&
                stat(a->items[i].input, &input) == 0 && there.st_dev == input.st_dev &&
                there.st_ino == input.st_ino)
                code = complain(EXIT_USAGE, path,
                                "the result would replace the input; name a file with --output "
                                "%s=FILE.npy",
                                field);
        free(path);
    }
    return code;
}

/* ---- the headers ----------------------------------------------------------------------------- */

static void add_shape(buffer *out, const int64_t size[3], int dims) {
    for (int axis = dims - 1; axis >= 0; axis--)
        buffer_printf(out, "%s%" PRId64, axis == dims - 1 ? "(" : ", ", size[axis]);
    buffer_add(out, dims == 1 ? ",)" : ")");
}

static int wrong_shape(const arrays *a, const array *item, const char *other) {
    buffer text = {0};
    add_shape(&text, item->header.size, item->header.dims);
    buffer_printf(&text, " is the shape, but %s is ", other);
    add_shape(&text, a->size, a->info.dims);
    const int code = complain(EXIT_DATA, item->input, "%s", text.data);
    buffer_free(&text);
    return code;
}

static int judge_header(arrays *a, const array *item, const char **first) {
    const npy *h = &item->header;
    if (h->dims != a->info.dims)
        return complain(EXIT_DATA, item->input, "the array has %d dimension%s, but %s has %d",
                        h->dims, h->dims == 1 ? "" : "s", a->name, a->info.dims);
    if (h->element_bytes != a->info.element_size)
        return complain(EXIT_DATA, item->input,
                        "the array is float%zu ('<f%zu'), but %s is %s "
                        "('<f%zu')",
                        8 * h->element_bytes, h->element_bytes, a->name, a->dtype,
                        a->info.element_size);
    if (*first == NULL && a->size[0] == 0)
        memcpy(a->size, h->size, sizeof a->size);
    if (memcmp(a->size, h->size, sizeof a->size) != 0)
        return wrong_shape(a, item, *first != NULL ? *first : "--size");
    *first = item->input;
    return EXIT_DONE;
}

static int open_input(arrays *a, array *item, const char **first) {
    item->file = fopen(item->input, "rbe"); /* the host compiler does not inherit it */
    if (item->file == NULL)
        return complain(EXIT_DATA, item->input, "cannot open: %s", strerror(errno));
    buffer error = {0};
    int code = EXIT_DONE;
    if (!npy_read_header(item->file, &item->header, &error))
        code = complain(EXIT_DATA, item->input, "%s", buffer_text(&error));
    buffer_free(&error);
    return code == EXIT_DONE ? judge_header(a, item, first) : code;
}

/* Where nothing is read, --size says it. */
static int find_size(arrays *a) {
    const options *o = a->session->options;
    for (int axis = 0; axis < 3 && o->size_count > 0; axis++)
        a->size[axis] = axis < o->size_count ? o->size[axis] : 1;
    const char *first = NULL;
    for (int i = 0; i < a->info.arrays; i++)
        if (a->items[i].input != NULL) {
            const int code = open_input(a, &a->items[i], &first);
            if (code != EXIT_DONE)
                return code;
        }
    if (a->size[0] == 0)
        return complain(EXIT_USAGE, a->spec, "%s reads no array; give its grid with --size",
                        a->name);
    return EXIT_DONE;
}

int arrays_open(arrays *a, session *s, const char *spec) {
    *a = (arrays){.session = s, .spec = spec, .info = {.struct_size = sizeof a->info}};
    sg_build_options how = session_build_options(s, 0);
    memset(how.size, 0, sizeof how.size);
    how.source_only = 1;
    int code = session_build(s, spec, &how, &a->plan);
    if (code == EXIT_DONE)
        code = session_judge_size(s, a->plan);
    if (code != EXIT_DONE)
        return code;
    sg_kernel_facts(a->plan, &a->info);
    a->name = sg_kernel_text(a->plan, SG_TEXT_NAME);
    a->dtype = sg_kernel_text(a->plan, SG_TEXT_DTYPE);
    a->items = must_alloc((size_t)a->info.arrays, sizeof *a->items);
    a->grids = must_alloc((size_t)a->info.arrays, sizeof *a->grids);
    for (int i = 0; i < a->info.arrays; i++) {
        a->items[i].info.struct_size = sizeof a->items[i].info;
        a->items[i].same_as = -1;
        const sg_status status = sg_kernel_array(a->plan, i, &a->items[i].info);
        if (status != SG_OK)
            return session_failed(s, status);
    }
    int found = match_inputs(a);
    if (found == EXIT_DONE)
        found = default_levels(a);
    if (found == EXIT_DONE)
        found = match_outputs(a);
    if (found == EXIT_DONE && s->options->outputs.count == 0)
        found = protect_inputs(a);
    return found == EXIT_DONE ? find_size(a) : found;
}

/* ---- loading --------------------------------------------------------------------------------- */

typedef struct loading {
    arrays *arrays;
    int index;
    sg_status status;
} loading;

/* One piece of a file goes to its array, and to the previous level that takes its values. */
static bool upload(void *user, uint64_t offset, const void *bytes, size_t count) {
    loading *l = user;
    arrays *a = l->arrays;
    for (int i = 0; i < a->info.arrays && l->status == SG_OK; i++)
        if (i == l->index || a->items[i].same_as == l->index)
            l->status =
                sg_upload(a->session->context, (char *)a->grids[i].data + offset, bytes, count);
    return l->status == SG_OK;
}

static int load_file(arrays *a, int index) {
    array *item = &a->items[index];
    loading l = {a, index, SG_OK};
    buffer error = {0};
    int code = EXIT_DONE;
    progress("reading %s", item->input);
    if (!npy_read_data(item->file, &item->header, upload, &l, &error))
        code = l.status != SG_OK ? session_failed(a->session, l.status)
                                 : complain(EXIT_DATA, item->input, "%s", buffer_text(&error));
    buffer_free(&error);
    fclose(item->file);
    item->file = NULL;
    return code;
}

static uint64_t array_bytes(const arrays *a) {
    uint64_t bytes = a->info.element_size;
    for (int axis = 0; axis < a->info.dims; axis++)
        bytes *= (uint64_t)a->size[axis];
    return bytes;
}

/* A field that is only written begins as zeros: cells that its boundary leaves alone keep them. */
static int clear(arrays *a, int index) {
    unsigned char *zeros = must_alloc(PIECE, 1);
    loading l = {a, index, SG_OK};
    const uint64_t bytes = array_bytes(a);
    for (uint64_t at = 0; at < bytes && l.status == SG_OK; at += PIECE)
        upload(&l, at, zeros, bytes - at < PIECE ? (size_t)(bytes - at) : PIECE);
    free(zeros);
    return l.status == SG_OK ? EXIT_DONE : session_failed(a->session, l.status);
}

int arrays_load(arrays *a) {
    int code = EXIT_DONE;
    const uint64_t bytes = array_bytes(a);
    for (int i = 0; i < a->info.arrays && code == EXIT_DONE; i++) {
        sg_grid *g = &a->grids[i];
        memcpy(g->size, a->size, sizeof g->size);
        const sg_status status = sg_alloc(a->session->context, (size_t)bytes, &g->data);
        if (status != SG_OK)
            code = session_failed(a->session, status);
    }
    for (int i = 0; i < a->info.arrays && code == EXIT_DONE; i++) {
        if (a->items[i].input != NULL)
            code = load_file(a, i);
        else if (a->items[i].info.role == SG_WRITE && a->items[i].info.reads < 0)
            code = clear(a, i);
    }
    return code;
}

/* ---- saving ---------------------------------------------------------------------------------- */

static int save(arrays *a, int index, const char *path) {
    output *out = output_begin(path);
    if (out == NULL)
        return EXIT_DATA;
    progress("writing %s", path);
    buffer header = {0};
    npy_header(&header, a->info.element_size, a->info.dims, a->size);
    int code = output_write(out, header.data, header.length) ? EXIT_DONE : EXIT_DATA;
    buffer_free(&header);
    unsigned char *piece = must_alloc(PIECE, 1);
    const uint64_t bytes = array_bytes(a);
    for (uint64_t at = 0; at < bytes && code == EXIT_DONE; at += PIECE) {
        const size_t count = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
        const sg_status status =
            sg_download(a->session->context, piece, (const char *)a->grids[index].data + at, count);
        if (status != SG_OK)
            code = session_failed(a->session, status);
        else if (!output_write(out, piece, count))
            code = EXIT_DATA;
    }
    free(piece);
    if (code == EXIT_DONE)
        return output_commit(out) ? EXIT_DONE : EXIT_DATA;
    output_drop(out);
    return code;
}

static int save_named(arrays *a, int index, const char *path, json *j, buffer *text) {
    const int code = save(a, index, path);
    if (code != EXIT_DONE)
        return code;
    const array *item = &a->items[index];
    json_string(j, item->info.name, path);
    buffer_printf(text, "  output   %s: %s\n", item->info.name, path);
    return EXIT_DONE;
}

static int save_default(arrays *a, int written, json *j, buffer *text) {
    char *path = output_path(a->session->options->folder, a->items[written].info.field, ".npy");
    const int code = save_named(a, newest(a, written), path, j, text);
    free(path);
    return code;
}

int arrays_save(arrays *a, json *j, buffer *text) {
    const bindings *outputs = &a->session->options->outputs;
    int code = EXIT_DONE, next = next_written(a, 0);
    for (int i = 0; i < outputs->count && code == EXIT_DONE; i++) {
        const binding *b = &outputs->items[i];
        const int index = b->name != NULL ? find_output(a, b->name) : newest(a, next);
        code = save_named(a, index, b->value, j, text);
        if (b->name == NULL)
            next = next_written(a, next + 1);
    }
    for (; outputs->count == 0 && next < a->info.arrays && code == EXIT_DONE;
         next = next_written(a, next + 1))
        code = save_default(a, next, j, text);
    return code;
}

void arrays_close(arrays *a) {
    for (int i = 0; a->items != NULL && i < a->info.arrays; i++) {
        if (a->items[i].file != NULL)
            fclose(a->items[i].file);
        sg_free(a->session->context, a->grids[i].data);
    }
    free(a->items);
    free(a->grids);
    sg_release(a->plan);
}
