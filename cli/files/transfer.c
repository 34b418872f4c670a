/* The arrays of `run` from files to device memory and back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/arrays.h"

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
    if (arrays_is(a, SG_KIND_REDUCE) && strcmp(item->info.name, "offsets") == 0) {
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

/* ---- from the device
 * ---------------------------------------------------------------------------------- */

int arrays_download(void *reading, uint64_t first, size_t count, void *out) {
    const array_reading *r = reading;
    const arrays *a = r->arrays;
    const size_t bytes = element_words[a->items[r->item].type].bytes;
    const sg_status status =
        sg_download(a->session->context, out, (const char *)a->grids[r->item].data + first * bytes,
                    count * bytes);
    return status == SG_OK ? EXIT_DONE : session_failed(a->session, status);
}

void arrays_describe(const arrays *a, int index, datafile_array *out) {
    const array *item = &a->items[index];
    *out = (datafile_array){
        .name = item->info.field, .type = item->type, .dims = item->dims, .maxval = a->maxval};
    memcpy(out->size, a->grids[index].size, sizeof out->size);
}

int arrays_find_nan(const arrays *a, bool began, int *item) {
    *item = -1;
    for (int i = 0; i < a->count && *item < 0; i++) {
        const sg_array_info *info = &a->items[i].info;
        const int at = info->reads >= 0 ? info->reads : i;
        if (info->role != SG_WRITE || (!began && info->reads < 0))
            continue;
        datafile_array about;
        values found;
        arrays_describe(a, at, &about);
        const int code = datafile_look(&about, arrays_download, &(array_reading){a, at}, &found);
        if (code != EXIT_DONE)
            return code;
        if (found.nan > 0 || found.infinite > 0)
            *item = i;
    }
    return EXIT_DONE;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* A lone result is a number in JSON, and segments' are a list. */
static int print(arrays *a, int index, bool is_lone, json *j, buffer *text) {
    const array *item = &a->items[index];
    const uint64_t count = (uint64_t)a->grids[index].size[0];
    const size_t bytes = element_words[item->type].bytes;
    unsigned char *elements = must_alloc((size_t)count, bytes);
    const int code = count > 0
                         ? arrays_download(&(array_reading){a, index}, 0, (size_t)count, elements)
                         : EXIT_DONE;
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
        if (a->items[i].info.role == SG_WRITE && !arrays_is_shown(a, i))
            code = print(a, i, arrays_find(a, "offsets") < 0, j, text);
    return code;
}
