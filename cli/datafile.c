/* Files of arrays. */
#include "cli/datafile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/vti.h"

enum { PIECE = 1 << 20 }; /* elements written at once */

static const char *const suffixes[] = {
    [DATAFILE_NPY] = ".npy", [DATAFILE_PGM] = ".pgm", [DATAFILE_VTI] = ".vti"};

datafile_kind datafile_kind_of(const char *path) {
    const size_t length = strlen(path);
    for (datafile_kind kind = DATAFILE_PGM; kind <= DATAFILE_VTI; kind++)
        if (length >= 4 && strcmp(path + length - 4, suffixes[kind]) == 0)
            return kind;
    return DATAFILE_NPY;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_header(datafile *f, buffer *error) {
    const int first = fgetc(f->file);
    if (first != EOF)
        ungetc(first, f->file);
    f->kind = first == 'P' ? DATAFILE_PGM : datafile_kind_of(f->path);
    if (f->kind == DATAFILE_VTI) {
        buffer_add(error, "a .vti file can be written, but not read; give a .npy file");
        return false;
    }
    if (f->kind == DATAFILE_PGM) {
        const bool good = pgm_read_header(f->file, &f->pgm, error);
        f->dims = 2;
        memcpy(f->size, (int64_t[3]){f->pgm.width, f->pgm.height, 1}, sizeof f->size);
        return good;
    }
    const bool good = npy_read_header(f->file, &f->npy, error);
    f->dims = f->npy.dims;
    memcpy(f->size, f->npy.size, sizeof f->size);
    return good;
}

int datafile_open(datafile *f, const char *path) {
    *f = (datafile){.path = path, .file = fopen(path, "rbe")}; /* compilers do not inherit it */
    if (f->file == NULL)
        return complain(EXIT_DATA, path, "cannot open: %s", strerror(errno));
    buffer error = {0};
    int code = EXIT_DONE;
    if (!read_header(f, &error))
        code = complain(EXIT_DATA, path, "%s", buffer_text(&error));
    buffer_free(&error);
    if (code != EXIT_DONE)
        datafile_close(f);
    return code;
}

bool datafile_holds(const datafile *f, element type) {
    return f->kind == DATAFILE_PGM || f->npy.type == type;
}

int datafile_read(datafile *f, element type, element_take take, void *user, const int *code) {
    buffer error = {0};
    int result = EXIT_DONE;
    progress("reading %s", f->path);
    if (!(f->kind == DATAFILE_PGM ? pgm_read_data(f->file, &f->pgm, type, take, user, &error)
                                  : npy_read_data(f->file, &f->npy, take, user, &error)))
        result =
            *code != EXIT_DONE ? *code : complain(EXIT_DATA, f->path, "%s", buffer_text(&error));
    buffer_free(&error);
    datafile_close(f);
    return result;
}

void datafile_close(datafile *f) {
    if (f->file != NULL)
        fclose(f->file);
    f->file = NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint64_t count_elements(const datafile_array *a) {
    uint64_t count = 1;
    for (int axis = 0; axis < 3; axis++)
        count *= axis < a->dims ? (uint64_t)a->size[axis] : 1;
    return count;
}

int datafile_suits(const char *path, const datafile_array *a) {
    const datafile_kind kind = datafile_kind_of(path);
    if (kind == DATAFILE_PGM && a->dims != 2)
        return complain(EXIT_USAGE, path,
                        "an image has 2 dimensions, but %s has %d; give a .npy file", a->name,
                        a->dims);
    if (kind != DATAFILE_NPY && count_elements(a) == 0)
        return complain(EXIT_USAGE, path, "%s has no elements; give a .npy file", a->name);
    return EXIT_DONE;
}

static void add_head(buffer *out, datafile_kind kind, const datafile_array *a) {
    if (kind == DATAFILE_NPY)
        npy_header(out, a->type, a->dims, a->size);
    else if (kind == DATAFILE_VTI)
        vti_head(out, a->name, a->type, a->size);
    else
        pgm_header(out, &(pgm){.width = a->size[0], .height = a->size[1], .maxval = a->maxval});
}

static int write_elements(output *out, datafile_kind kind, const datafile_array *a,
                          datafile_give give, void *user) {
    const size_t bytes = element_words[a->type].bytes;
    const uint64_t all = count_elements(a);
    unsigned char *piece = must_alloc(PIECE, bytes), *samples = must_alloc(PIECE, 2);
    int code = EXIT_DONE;
    for (uint64_t at = 0; at < all && code == EXIT_DONE; at += PIECE) {
        const size_t count = all - at < PIECE ? (size_t)(all - at) : PIECE;
        code = give(user, at, count, piece);
        if (code != EXIT_DONE)
            break;
        const bool is_image = kind == DATAFILE_PGM;
        const size_t length =
            is_image ? pgm_samples(a->type, piece, count, a->maxval, samples) : count * bytes;
        if (!output_write(out, is_image ? samples : piece, length))
            code = EXIT_DATA;
    }
    free(samples);
    free(piece);
    return code;
}

int datafile_write(const char *path, const datafile_array *a, datafile_give give, void *user) {
    const datafile_kind kind = datafile_kind_of(path);
    int code = datafile_suits(path, a);
    output *out = code == EXIT_DONE ? output_begin(path) : NULL;
    if (out == NULL)
        return code == EXIT_DONE ? EXIT_DATA : code;
    progress("writing %s", path);
    buffer head = {0}, tail = {0};
    add_head(&head, kind, a);
    if (kind == DATAFILE_VTI)
        vti_tail(&tail);
    code = output_write(out, buffer_text(&head), head.length) ? EXIT_DONE : EXIT_DATA;
    if (code == EXIT_DONE)
        code = write_elements(out, kind, a, give, user);
    if (code == EXIT_DONE && !output_write(out, buffer_text(&tail), tail.length))
        code = EXIT_DATA;
    buffer_free(&head);
    buffer_free(&tail);
    if (code == EXIT_DONE)
        return output_commit(out) ? EXIT_DONE : EXIT_DATA;
    output_drop(out);
    return code;
}
