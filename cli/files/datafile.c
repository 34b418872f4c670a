/* Elements: the words of files for the types of base/dtype.h, text, and their range. Files of
   arrays. */
#include "cli/files/datafile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are written as they lie");

const element_word element_words[DTYPE_COUNT] = {
    [DTYPE_FLOAT] = {"float32", "f4", "Float32"},
    [DTYPE_DOUBLE] = {"float64", "f8", "Float64"},
    [DTYPE_INT32] = {"int32", "i4", "Int32"},
    [DTYPE_INT64] = {"int64", "i8", "Int64"},
    [DTYPE_UINT32] = {"uint32", "u4", "UInt32"},
    [DTYPE_HALF] = {"float16", "f2", NULL},
    [DTYPE_BFLOAT16] = {"bfloat16 in uint16", "u2", NULL}, /* neither NumPy nor VTK has it */
};

void element_put(dtype type, double value, void *to) {
    const dtype_word *w = &dtype_words[type];
    if (w->epsilon == 0) /* whole */
        value = isnan(value) ? 0 : fmin(fmax(round(value), w->least), w->largest);
    dtype_store(type, to, value);
}

const char *element_text(dtype type, const void *from) {
    const double value = dtype_value(type, from);
    text out = new_text();
    if (!isfinite(value))
        return isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    if (dtype_words[type].epsilon == 0)
        dtype_print(type, from, &out);
    else
        text_shortest(&out, value, type != DTYPE_DOUBLE);
    if (strchr(out.data, 'e') != NULL && fabs(value) >= 1 && fabs(value) < 1e6) {
        out.length = 0; /* 100, which has fewer digits as 1e+02 */
        text_number(&out, value, 6);
    }
    return out.data;
}

void element_json(json *j, const char *key, dtype type, const void *from) {
    (isfinite(dtype_value(type, from)) ? json_literal : json_string)(j, key,
                                                                     element_text(type, from));
}

/* One loop for each type, because large grids have many elements. Integers are always finite. */
#define SCAN(name, type, judge)                                                                    \
    static void name(values *v, const unsigned char *from, size_t count) {                         \
        type least = 0, greatest = 0;                                                              \
        memcpy(&least, v->minimum, sizeof least);                                                  \
        memcpy(&greatest, v->maximum, sizeof greatest);                                            \
        for (size_t i = 0; i < count; i++) {                                                       \
            type now;                                                                              \
            memcpy(&now, from + i * sizeof now, sizeof now);                                       \
            judge;                                                                                 \
            if (!v->any || now < least)                                                            \
                least = now;                                                                       \
            if (!v->any || now > greatest)                                                         \
                greatest = now;                                                                    \
            v->any = true;                                                                         \
        }                                                                                          \
        memcpy(v->minimum, &least, sizeof least);                                                  \
        memcpy(v->maximum, &greatest, sizeof greatest);                                            \
    }

#define JUDGE_REAL                                                                                 \
    if (!isfinite(now)) {                                                                          \
        v->nan += isnan(now) != 0;                                                                 \
        v->infinite += isnan(now) == 0;                                                            \
        continue;                                                                                  \
    }

SCAN(scan_float, float, JUDGE_REAL)
SCAN(scan_double, double, JUDGE_REAL)
SCAN(scan_int32, int32_t, (void)0)
SCAN(scan_int64, int64_t, (void)0)
SCAN(scan_uint32, uint32_t, (void)0)

/* The patterns of 16 bits, by their numbers. */
static void scan_narrow(values *v, const unsigned char *from, size_t count) {
    const size_t bytes = dtype_words[v->type].bytes;
    for (size_t i = 0; i < count; i++) {
        const void *element = from + i * bytes;
        const double now = dtype_value(v->type, element);
        JUDGE_REAL
        if (!v->any || now < dtype_value(v->type, v->minimum))
            memcpy(v->minimum, element, bytes);
        if (!v->any || now > dtype_value(v->type, v->maximum))
            memcpy(v->maximum, element, bytes);
        v->any = true;
    }
}

void values_add(values *v, const void *elements, size_t count) {
    static void (*const scans[DTYPE_COUNT])(values *, const unsigned char *, size_t) = {
        [DTYPE_FLOAT] = scan_float,    [DTYPE_DOUBLE] = scan_double, [DTYPE_INT32] = scan_int32,
        [DTYPE_INT64] = scan_int64,    [DTYPE_UINT32] = scan_uint32, [DTYPE_HALF] = scan_narrow,
        [DTYPE_BFLOAT16] = scan_narrow};
    scans[v->type](v, elements, count);
}

const char *values_text(const values *v) {
    const char *range = "no finite value";
    if (v->any)
        range = phrase("minimum %s, maximum %s", element_text(v->type, v->minimum),
                       element_text(v->type, v->maximum));
    return phrase("%s, %" PRId64 " NaN, %" PRId64 " infinite", range, v->nan, v->infinite);
}

void values_json(const values *v, json *j) {
    if (v->any) {
        element_json(j, "minimum", v->type, v->minimum);
        element_json(j, "maximum", v->type, v->maximum);
    } else {
        json_string(j, "minimum", NULL);
        json_string(j, "maximum", NULL);
    }
    json_add(j, "nan %" PRId64 " infinite %" PRId64, v->nan, v->infinite);
}

/* ---- files ----------------------------------------------------------------------------------- */

enum { PIECE = 1 << 20 }; /* elements written at once */

static const char *const suffixes[] = {
    [DATAFILE_NPY] = ".npy",
    [DATAFILE_PGM] = ".pgm",
    [DATAFILE_VTI] = ".vti",
    [DATAFILE_PVTI] = ".pvti",
};

datafile_kind datafile_kind_of(const char *path) {
    const size_t length = strlen(path);
    for (datafile_kind kind = DATAFILE_PGM; kind <= DATAFILE_PVTI; kind++) {
        const size_t end = strlen(suffixes[kind]);
        if (length >= end && strcmp(path + length - end, suffixes[kind]) == 0)
            return kind;
    }
    return DATAFILE_NPY;
}

static const char *extension_of(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? dot : "";
}

int datafile_judge_name(const char *path, bool reads) {
    struct stat there;
    const char *extension = extension_of(path);
    bool known = extension[0] == '\0' || (reads && strcmp(extension, ".mtx") == 0);
    for (datafile_kind kind = DATAFILE_NPY; kind <= DATAFILE_PVTI && !known; kind++)
        known = strcmp(extension, suffixes[kind]) == 0;
    if (known || (stat(path, &there) == 0 && !S_ISREG(there.st_mode)))
        return EXIT_DONE;
    return complain(
        EXIT_USAGE, path, "'%s' is no kind of file that can be %s; %s", extension,
        reads ? "read" : "written",
        reads ? "arrays are read from .npy files, images, .pgm, and matrices, .mtx"
              : "arrays are written to .npy files, and grids also to .vti, .pvti and .pgm "
                "(.pgm:LOW..HIGH), those of --snapshot also to .png");
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_header(datafile *f, text *error) {
    const int first = fgetc(f->file);
    if (first != EOF)
        ungetc(first, f->file);
    f->kind = first == 'P' ? DATAFILE_PGM : datafile_kind_of(f->path);
    if (f->kind == DATAFILE_VTI || f->kind == DATAFILE_PVTI) {
        text_printf(error, "a %s file can be written, but not read; give a .npy file",
                    suffixes[f->kind]);
        return false;
    }
    if (f->kind == DATAFILE_PGM) {
        const bool good = pgm_read_header(f->file, &f->pgm, error);
        f->dims = 2;
        memcpy(f->size, (int64_t[NPY_DIMS]){f->pgm.width, f->pgm.height, 1, 1}, sizeof f->size);
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
    text error = new_text();
    if (read_header(f, &error))
        return EXIT_DONE;
    datafile_close(f);
    return complain(EXIT_DATA, path, "%s", error.data);
}

bool datafile_holds(const datafile *f, dtype type) {
    return f->kind == DATAFILE_PGM || f->npy.type == type;
}

int datafile_read(datafile *f, dtype type, element_take take, void *user, const int *code) {
    text error = new_text();
    int result = EXIT_DONE;
    progress("reading %s", f->path);
    if (!(f->kind == DATAFILE_PGM ? pgm_read_data(f->file, &f->pgm, type, take, user, &error)
                                  : npy_read_data(f->file, &f->npy, take, user, &error)))
        result = *code != EXIT_DONE ? *code : complain(EXIT_DATA, f->path, "%s", error.data);
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
    uint64_t count = a->parts > 0 ? (uint64_t)a->parts : 1;
    for (int axis = 0; axis < 3; axis++)
        count *= axis < a->dims ? (uint64_t)a->size[axis] : 1;
    return count;
}

uint64_t datafile_bytes(const datafile_array *a) {
    return count_elements(a) * dtype_words[a->type].bytes;
}

bool datafile_widens(const char *path, const datafile_array *a) {
    const datafile_kind kind = datafile_kind_of(path);
    return dtype_is_narrow(a->type) && (kind == DATAFILE_VTI || kind == DATAFILE_PVTI);
}

uint64_t datafile_file_bytes(const char *path, const datafile_array *a) {
    return datafile_widens(path, a) ? count_elements(a) * sizeof(float) : datafile_bytes(a);
}

void datafile_widen(dtype type, const void *elements, size_t count, float *out) {
    const uint16_t *bits = elements;
    for (size_t i = 0; i < count; i++)
        out[i] = (float)dtype_widen(type, bits[i]);
}

int datafile_suits(const char *path, const datafile_array *a) {
    const datafile_kind kind = datafile_kind_of(path);
    if (kind != DATAFILE_NPY && a->parts > 0)
        return complain(EXIT_USAGE, path,
                        "%s has %d components; give a .npy file, or a file for each", a->name,
                        a->parts);
    if (kind == DATAFILE_PGM && a->dims != 2)
        return complain(EXIT_USAGE, path,
                        "an image has 2 dimensions, but %s has %d; give a .npy file", a->name,
                        a->dims);
    if (kind != DATAFILE_NPY && count_elements(a) == 0)
        return complain(EXIT_USAGE, path, "%s has no elements; give a .npy file", a->name);
    return EXIT_DONE;
}

static void add_head(text *out, datafile_kind kind, const datafile_array *a) {
    int64_t size[NPY_DIMS] = {a->size[0], a->size[1], a->size[2], 1};
    size[a->dims] = a->parts;
    if (kind == DATAFILE_NPY)
        npy_header(out, a->type, a->dims + (a->parts > 0), size);
    else if (kind == DATAFILE_VTI)
        vti_head(out, a);
    else if (kind == DATAFILE_PGM)
        pgm_header(out, &(pgm){.width = a->size[0], .height = a->size[1], .maxval = a->maxval});
}

static const char *tail_of(datafile_kind kind) {
    return kind == DATAFILE_VTI ? vti_tail : "";
}

void datafile_frame(const char *path, const datafile_array *a, text *head, text *tail) {
    add_head(head, datafile_kind_of(path), a);
    text_add(tail, tail_of(datafile_kind_of(path)));
}

/* Hands the array on in pieces. */
typedef int (*take_piece)(void *user, const void *elements, size_t count);

static int each_piece(const datafile_array *a, datafile_give give, void *user, take_piece take,
                      void *taker) {
    const uint64_t all = count_elements(a);
    unsigned char *piece = must_alloc(PIECE, dtype_words[a->type].bytes);
    int code = EXIT_DONE;
    for (uint64_t at = 0; at < all && code == EXIT_DONE; at += PIECE) {
        const size_t count = all - at < PIECE ? (size_t)(all - at) : PIECE;
        code = give(user, at, count, piece);
        if (code == EXIT_DONE)
            code = take(taker, piece, count);
    }
    free(piece);
    return code;
}

static int look_at_piece(void *user, const void *elements, size_t count) {
    values_add(user, elements, count);
    return EXIT_DONE;
}

int datafile_look(const datafile_array *a, datafile_give give, void *user, values *v) {
    *v = (values){.type = a->type};
    return each_piece(a, give, user, look_at_piece, v);
}

typedef struct writing {
    output *out;
    datafile_kind kind;
    const datafile_array *array;
    datafile_written *about;
    unsigned char *samples; /* of an image */
    float *widened;         /* of numbers that the file does not hold; or NULL */
} writing;

static int write_piece(void *user, const void *elements, size_t count) {
    const writing *w = user;
    const datafile_array *a = w->array;
    const void *bytes = elements;
    size_t length = count * dtype_words[a->type].bytes;
    if (w->about->is_image) {
        length = pgm_samples(a->type, elements, count, a->maxval, &w->about->scale, w->samples);
        bytes = w->samples;
    } else {
        values_add(&w->about->values, elements, count);
    }
    if (w->widened != NULL) {
        datafile_widen(a->type, elements, count, w->widened);
        bytes = w->widened;
        length = count * sizeof *w->widened;
    }
    return output_write(w->out, bytes, length) ? EXIT_DONE : EXIT_DATA;
}

static int write_elements(writing *w, datafile_give give, void *user) {
    if (w->about->is_image)
        w->samples = must_alloc(PIECE, 2);
    if (w->kind == DATAFILE_VTI && dtype_is_narrow(w->array->type))
        w->widened = must_alloc(PIECE, sizeof *w->widened);
    const int code = each_piece(w->array, give, user, write_piece, w);
    free(w->samples);
    free(w->widened);
    return code;
}

/* The scale of an image may need all of its values first. */
static int prepare(const datafile_array *a, datafile_give give, void *user, datafile_written *w) {
    if (!w->is_image)
        return EXIT_DONE;
    const int code = datafile_look(a, give, user, &w->values);
    if (a->scale == DATAFILE_SCALE_IMAGE)
        w->scale = (pgm_scale){0, a->maxval};
    else if (a->scale == DATAFILE_SCALE_GIVEN)
        w->scale = a->given;
    else if (w->values.any)
        w->scale = (pgm_scale){dtype_value(a->type, w->values.minimum),
                               dtype_value(a->type, w->values.maximum)};
    return code;
}

int datafile_write(output *out, const char *path, const datafile_array *a, datafile_give give,
                   void *user, datafile_written *about) {
    const datafile_kind kind = datafile_kind_of(path);
    writing w = {.out = out, .kind = kind, .array = a, .about = about};
    *about = (datafile_written){.is_image = kind == DATAFILE_PGM, .values = {.type = a->type}};
    progress("writing %s", path);
    int code = prepare(a, give, user, about);
    const char *tail = tail_of(kind);
    text head = new_text();
    add_head(&head, kind, a);
    if (code == EXIT_DONE && !output_write(out, head.data, head.length))
        code = EXIT_DATA;
    if (code == EXIT_DONE)
        code = write_elements(&w, give, user);
    if (code == EXIT_DONE && !output_write(out, tail, strlen(tail)))
        code = EXIT_DATA;
    if (code == EXIT_DONE)
        return output_commit(out) ? EXIT_DONE : EXIT_DATA;
    output_drop(out);
    return code;
}
