/* The arrays of `run` from files to device memory and back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arrays.h"
#include "cli/output.h"

enum { PIECE = 4 << 20 };

/* ---- loading --------------------------------------------------------------------------------- */

typedef struct loading {
    arrays *arrays;
    int index;
    int code;
    bool is_offsets; /* which are not decreasing and not beyond `most` */
    int64_t last, most;
} loading;

static bool judge_offsets(loading *l, const void *bytes, size_t count) {
    const array *item = &l->arrays->items[l->index];
    const size_t step = element_words[item->type].bytes;
    for (size_t at = 0; at < count; at += step) {
        const double offset = element_get(item->type, (const char *)bytes + at);
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

/* One piece of a file goes to its array, and to the previous level that takes its values. */
static bool upload(void *user, uint64_t offset, const void *bytes, size_t count) {
    loading *l = user;
    arrays *a = l->arrays;
    if (l->is_offsets && !judge_offsets(l, bytes, count))
        return false;
    for (int i = 0; i < a->count && l->code == EXIT_DONE; i++)
        if (i == l->index || a->items[i].copies == l->index) {
            const sg_status status =
                sg_upload(a->session->context, (char *)a->grids[i].data + offset, bytes, count);
            if (status != SG_OK)
                l->code = session_failed(a->session, status);
        }
    return l->code == EXIT_DONE;
}

static int load_file(arrays *a, int index) {
    array *item = &a->items[index];
    loading l = {.arrays = a, .index = index};
    if (arrays_is(a, "reduce") && strcmp(item->info.name, "offsets") == 0) {
        l.is_offsets = true;
        l.most = a->size[0];
    }
    return datafile_read(&item->file, item->type, upload, &l, &l.code);
}

static uint64_t array_bytes(const arrays *a, int index) {
    uint64_t bytes = element_words[a->items[index].type].bytes;
    for (int axis = 0; axis < 3; axis++)
        bytes *= (uint64_t)a->grids[index].size[axis];
    return bytes;
}

/* What is only written begins as zeros: cells that a boundary leaves alone keep them. */
static int clear(arrays *a, int index) {
    unsigned char *zeros = must_alloc(PIECE, 1);
    loading l = {.arrays = a, .index = index};
    const uint64_t bytes = array_bytes(a, index);
    for (uint64_t at = 0; at < bytes && l.code == EXIT_DONE; at += PIECE)
        upload(&l, at, zeros, bytes - at < PIECE ? (size_t)(bytes - at) : PIECE);
    free(zeros);
    return l.code;
}

int arrays_load(arrays *a) {
    int code = EXIT_DONE;
    for (int i = 0; i < a->count && code == EXIT_DONE; i++) {
        const uint64_t bytes = array_bytes(a, i);
        const sg_status status =
            sg_alloc(a->session->context, bytes > 0 ? (size_t)bytes : 1, &a->grids[i].data);
        if (status != SG_OK)
            code = session_failed(a->session, status);
    }
    for (int i = 0; i < a->count && code == EXIT_DONE; i++) {
        if (a->items[i].input != NULL)
            code = load_file(a, i);
        else if (a->items[i].info.role == SG_WRITE && a->items[i].info.reads < 0)
            code = clear(a, i);
    }
    return code;
}

/* ---- saving ---------------------------------------------------------------------------------- */

typedef struct saving {
    const arrays *arrays;
    int index;
} saving;

static int download(void *user, uint64_t first, size_t count, void *out) {
    const saving *s = user;
    const arrays *a = s->arrays;
    const size_t bytes = element_words[a->items[s->index].type].bytes;
    const sg_status status =
        sg_download(a->session->context, out, (const char *)a->grids[s->index].data + first * bytes,
                    count * bytes);
    return status == SG_OK ? EXIT_DONE : session_failed(a->session, status);
}

void arrays_describe(const arrays *a, int index, datafile_array *out) {
    const array *item = &a->items[index];
    *out = (datafile_array){
        .name = item->info.field, .type = item->type, .dims = item->dims, .maxval = a->maxval};
    memcpy(out->size, a->grids[index].size, sizeof out->size);
}

static int save(arrays *a, int index, const char *path, json *j, buffer *text) {
    const array *item = &a->items[index];
    datafile_array about;
    arrays_describe(a, index, &about);
    const int code = datafile_write(path, &about, download, &(saving){a, index});
    if (code != EXIT_DONE)
        return code;
    json_string(j, item->info.name, path);
    buffer_printf(text, "  output   %s: %s\n", item->info.name, path);
    return EXIT_DONE;
}

static int save_default(arrays *a, int written, json *j, buffer *text) {
    const int reads = a->items[written].info.reads;
    char *path = output_path(a->session->options->folder, a->items[written].info.field, ".npy");
    const int code = save(a, reads >= 0 ? reads : written, path, j, text);
    free(path);
    return code;
}

int arrays_save(arrays *a, json *j, buffer *text) {
    const bindings *outputs = &a->session->options->outputs;
    int code = EXIT_DONE;
    for (int i = 0; i < outputs->count && code == EXIT_DONE; i++)
        code = save(a, a->shown[i], outputs->items[i].value, j, text);
    for (int i = 0;
         outputs->count == 0 && !arrays_is(a, "reduce") && i < a->count && code == EXIT_DONE; i++)
        if (a->items[i].info.role == SG_WRITE)
            code = save_default(a, i, j, text);
    return code;
}

/* ---- printing -------------------------------------------------------------------------------- */

static bool is_shown(const arrays *a, int index) {
    for (int i = 0; i < a->session->options->outputs.count; i++)
        if (a->shown[i] == index)
            return true;
    return false;
}

/* A lone result is a number in JSON, and segments' are a list. */
static int print(arrays *a, int index, bool is_lone, json *j, buffer *text) {
    const array *item = &a->items[index];
    const uint64_t count = (uint64_t)a->grids[index].size[0];
    const size_t bytes = element_words[item->type].bytes;
    unsigned char *elements = must_alloc((size_t)count, bytes);
    const int code =
        count > 0 ? download(&(saving){a, index}, 0, (size_t)count, elements) : EXIT_DONE;
    if (!is_lone)
        json_array(j, item->info.name);
    for (uint64_t i = 0; i < count && code == EXIT_DONE; i++) {
        buffer_printf(text, "  %-8s ", i == 0 ? item->info.name : "");
        element_print(text, item->type, elements + i * bytes);
        buffer_add(text, "\n");
        element_json(j, is_lone ? item->info.name : NULL, item->type, elements + i * bytes);
    }
    if (!is_lone)
        json_end_array(j);
    free(elements);
    return code;
}

int arrays_print(arrays *a, json *j, buffer *text) {
    int code = EXIT_DONE;
    for (int i = 0; i < a->count && code == EXIT_DONE; i++)
        if (a->items[i].info.role == SG_WRITE && !is_shown(a, i))
            code = print(a, i, arrays_find(a, "offsets") < 0, j, text);
    return code;
}
