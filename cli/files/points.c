#include "cli/files/records.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

/* ---- matching -------------------------------------------------------------------------------- */

static int list_sets(point_files *p) {
    const int count = p->arrays->info.point_sets;
    const bool wide = p->arrays->info.element_size == sizeof(double); /* samples are no cells */
    p->files = new_array((size_t)count, sizeof *p->files);
    for (; p->count < count; p->count++) {
        sg_points_info info = {.struct_size = sizeof info};
        const sg_status status = sg_kernel_points(p->kernel, p->count, &info);
        if (status != SG_OK)
            return session_code(p->arrays->session, status);
        p->files[p->count] = (point_file){
            .name = info.name, .injects = info.injects, .type = wide ? DTYPE_DOUBLE : DTYPE_FLOAT};
    }
    return EXIT_DONE;
}

static int refuse_name(const point_files *p, const char *name) {
    text known = new_text();
    for (int i = 0; i < p->count; i++)
        text_printf(&known, "%s%s", i > 0 ? ", " : "", p->files[i].name);
    return complain(EXIT_USAGE, p->arrays->spec, "--points '%s': %s has %s%s", name,
                    p->arrays->name, p->count > 0 ? "the points " : "no points", known.data);
}

/* POSITIONS:FILE of a set. */
static int match(point_files *p, const binding *b) {
    int i = 0;
    while (i < p->count && strcmp(p->files[i].name, b->name) != 0)
        i++;
    if (i == p->count)
        return refuse_name(p, b->name);
    point_file *f = &p->files[i];
    if (f->path != NULL)
        return complain(EXIT_USAGE, p->arrays->spec, "--points %s is given twice", f->name);
    char *positions = new_copy(b->value), *colon = strrchr(positions, ':');
    *colon = '\0';
    f->positions_path = positions;
    f->path = f->injects ? colon + 1 : output_path(NULL, colon + 1, "");
    int code = datafile_judge_name(f->positions_path, true);
    if (code == EXIT_DONE)
        code = datafile_judge_name(f->path, f->injects);
    if (code == EXIT_DONE && datafile_kind_of(f->path) != DATAFILE_NPY)
        code = complain(EXIT_USAGE, f->path, "samples of points are no grid; give a .npy file");
    return code;
}

static int match_all(point_files *p) {
    const bindings *given = &p->arrays->session->options->points;
    for (int i = 0; i < given->count; i++) {
        const int code = match(p, &given->items[i]);
        if (code != EXIT_DONE)
            return code;
    }
    for (int i = 0; i < p->count; i++)
        if (p->files[i].path == NULL)
            return complain(EXIT_USAGE, p->arrays->spec,
                            "%s has the points %s; give them with --points %s=POSITIONS.npy:%s.npy",
                            p->arrays->name, p->files[i].name, p->files[i].name,
                            p->files[i].injects ? "SERIES" : "TRACES");
    return EXIT_DONE;
}

/* ---- positions ------------------------------------------------------------------------------- */

/* Numbers of a file as those of another type, which rounds them. */
static void convert(dtype from, const unsigned char *in, size_t count, dtype to,
                    unsigned char *out) {
    for (size_t i = 0; i < count; i++)
        dtype_store(to, out + i * dtype_words[to].bytes,
                    dtype_value(from, in + i * dtype_words[from].bytes));
}

typedef struct filling {
    double *to;
    dtype from;
} filling;

static bool fill(void *user, uint64_t offset, const void *bytes, size_t count) {
    const filling *f = user;
    const size_t element = dtype_words[f->from].bytes;
    convert(f->from, bytes, count / element, DTYPE_DOUBLE,
            (unsigned char *)(f->to + offset / element));
    return true;
}

/* Whether --convert makes numbers of this type of those in the file. */
static bool is_convertible(const datafile *d, dtype type) {
    return d->kind == DATAFILE_NPY && d->npy.type != type && d->npy.type < DTYPE_REALS;
}

static bool holds(const point_files *p, const datafile *d, dtype type) {
    return d->kind == DATAFILE_NPY &&
           (d->npy.type == type ||
            (p->arrays->session->options->convert && is_convertible(d, type)));
}

/* The cure, where the type is all that is wrong. */
static const char *cure(bool shape_is_right, const datafile *d, dtype type) {
    return shape_is_right && is_convertible(d, type) ? "; --convert rounds its numbers" : "";
}

/* "(7, 2) of float64": the shape of a .npy file, in NumPy's order. */
static const char *shape_of(const datafile *d) {
    text t = new_text();
    for (int axis = d->dims - 1; axis >= 0; axis--)
        text_printf(&t, "%s%" PRId64 "%s", axis == d->dims - 1 ? "(" : ", ", d->size[axis],
                    axis > 0       ? ""
                    : d->dims == 1 ? ",)"
                                   : ")");
    return d->kind == DATAFILE_NPY ? phrase("%s of %s", t.data, element_words[d->npy.type].numpy)
                                   : "an image";
}

static int read_positions(const point_files *p, point_file *f) {
    const int dims = p->arrays->info.dims, unused = EXIT_DONE;
    datafile d;
    int code = datafile_open(&d, f->positions_path);
    if (code != EXIT_DONE)
        return code;
    const bool shaped = d.dims == 2 && d.size[0] == dims;
    if (!shaped || !holds(p, &d, DTYPE_DOUBLE)) {
        datafile_close(&d);
        return complain(EXIT_DATA, f->positions_path,
                        "positions of %s are n x %d of float64, x first, not %s%s", f->name, dims,
                        shape_of(&d), cure(shaped, &d, DTYPE_DOUBLE));
    }
    const dtype from = d.npy.type;
    f->count = d.size[1];
    f->row = (size_t)f->count * dtype_words[f->type].bytes;
    f->positions = must_alloc((size_t)f->count * (size_t)dims + 1, sizeof *f->positions);
    return datafile_read(&d, from, fill, &(filling){f->positions, from}, &unused);
}

/* ---- series and traces ----------------------------------------------------------------------- */

static int open_series(const point_files *p, point_file *f) {
    const int64_t steps = p->arrays->session->options->steps;
    datafile *d = &f->series;
    const int code = datafile_open(d, f->path);
    if (code != EXIT_DONE)
        return code;
    const bool shaped = d->dims == 2 && d->size[0] == f->count && d->size[1] == steps;
    if (!shaped || !holds(p, d, f->type))
        return complain(EXIT_DATA, f->path,
                        "the series of %s is (%" PRId64 ", %" PRId64 ") of %s, steps x points, not "
                        "%s%s",
                        f->name, steps, f->count, element_words[f->type].numpy, shape_of(d),
                        cure(shaped, d, f->type));
    if (d->npy.fortran && f->count > 1 && steps > 1)
        return complain(EXIT_DATA, f->path, "the series is read by rows; save it in C order");
    return EXIT_DONE;
}

static int open_traces(const point_files *p, point_file *f) {
    const int64_t size[NPY_DIMS] = {f->count, p->arrays->session->options->steps, 1};
    const int code = output_begin(&f->traces, &p->arrays->output_set, f->path);
    text head = new_text();
    npy_header(&head, f->type, 2, size);
    f->head = head.length;
    if (code == EXIT_DONE && !output_write(f->traces, head.data, head.length))
        return EXIT_DATA;
    return code;
}

static bool read_at(const point_file *f, uint64_t offset, size_t left, unsigned char *to) {
    off_t at = (off_t)(f->series.npy.data_offset + offset);
    while (left > 0) {
        const ssize_t got = pread(fileno(f->series.file), to, left, at);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        to += got > 0 ? got : 0;
        at += got > 0 ? got : 0;
        left -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Several ranks may read one file at a time. */
static int read_rows(void *user, int64_t first, int64_t steps, void *samples) {
    const point_file *f = user;
    const dtype from = f->series.npy.type;
    const size_t row = (size_t)f->count * dtype_words[from].bytes, bytes = (size_t)steps * row;
    if (from == f->type)
        return !read_at(f, (uint64_t)first * row, bytes, samples);
    unsigned char *raw = malloc(bytes + 1);
    const bool good = raw != NULL && read_at(f, (uint64_t)first * row, bytes, raw);
    if (good)
        convert(from, raw, (size_t)(steps * f->count), f->type, samples);
    free(raw);
    return !good;
}

static int write_rows(void *user, int64_t first, int64_t steps, const void *samples) {
    point_file *f = user;
    (void)first;
    if (!output_write(f->traces, samples, (size_t)steps * f->row))
        f->code = EXIT_DATA;
    return f->code != EXIT_DONE;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int open_files(point_files *p, bool writes) {
    int code = EXIT_DONE;
    for (int i = 0; i < p->count && code == EXIT_DONE; i++) {
        code = output_keep(&p->arrays->output_set, p->files[i].positions_path);
        if (code == EXIT_DONE && p->files[i].injects)
            code = output_keep(&p->arrays->output_set, p->files[i].path);
        if (code == EXIT_DONE)
            code = read_positions(p, &p->files[i]);
    }
    for (int i = 0; i < p->count && code == EXIT_DONE; i++)
        if (p->files[i].injects || writes)
            code = (p->files[i].injects ? open_series : open_traces)(p, &p->files[i]);
    return code;
}

void points_sets(const point_files *p, sg_points *sets) {
    for (int i = 0; i < p->count; i++) {
        point_file *f = &p->files[i];
        sets[i] = (sg_points){.struct_size = sizeof sets[i],
                              .name = f->name,
                              .count = f->count,
                              .positions = f->positions,
                              .read = f->injects ? read_rows : NULL,
                              .write = f->injects ? NULL : write_rows,
                              .user = f};
    }
}

static int open_sets(point_files *p) {
    sg_points *sets = new_array((size_t)p->count, sizeof *sets);
    points_sets(p, sets);
    const int code = session_code(
        p->arrays->session, sg_points_open(p->kernel, p->arrays->size, sets, p->count, &p->sets));
    for (int i = 0; i < p->count; i++) {
        free(p->files[i].positions);
        p->files[i].positions = NULL;
    }
    return code;
}

int points_prepare(point_files *p, arrays *a, const sg_kernel *kernel, bool writes) {
    *p = (point_files){.arrays = a, .kernel = kernel};
    int code = list_sets(p);
    if (code == EXIT_DONE)
        code = match_all(p);
    return code == EXIT_DONE ? open_files(p, writes) : code;
}

int points_open(point_files *p, arrays *a, const sg_kernel *kernel) {
    const int code = points_prepare(p, a, kernel, true);
    return code == EXIT_DONE && p->count > 0 ? open_sets(p) : code;
}

void points_close(point_files *p) {
    sg_points_close(p->sets);
    for (int i = 0; i < p->count; i++) {
        free(p->files[i].positions);
        datafile_close(&p->files[i].series);
        output_drop(p->files[i].traces);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

int points_run(const point_files *p, const sg_arguments *arguments, int64_t steps, int *final) {
    const sg_status status = p->sets != NULL ? sg_run_points(p->sets, arguments, steps, NULL, final)
                                             : sg_run(p->kernel, arguments, steps, NULL, final);
    for (int i = 0; i < p->count && status != SG_OK; i++)
        if (p->files[i].code != EXIT_DONE)
            return p->files[i].code; /* printed already */
    return session_code(p->arrays->session, status);
}

/* Rows of NaN for steps that were not made. */
static bool write_missing(point_file *f, int64_t rows) {
    const size_t element = dtype_words[f->type].bytes;
    uint64_t left = (uint64_t)rows * (uint64_t)f->count;
    unsigned char *piece = must_alloc(PIECE, element);
    for (size_t i = 0; i < PIECE && left > 0; i++)
        dtype_store(f->type, piece + i * element, NAN);
    bool good = true;
    for (; left > 0 && good; left -= left < PIECE ? left : PIECE)
        good = output_write(f->traces, piece, (left < PIECE ? (size_t)left : PIECE) * element);
    free(piece);
    return good;
}

static int save(const point_files *p, point_file *f, int64_t made) {
    const bool good = write_missing(f, p->arrays->session->options->steps - made);
    output *file = f->traces;
    f->traces = NULL;
    if (good)
        return output_commit(file) ? EXIT_DONE : EXIT_DATA;
    output_drop(file);
    return EXIT_DATA;
}

int points_save(point_files *p, int64_t made, json *j, text *out) {
    int code = EXIT_DONE;
    json_add(j, "points {");
    for (int i = 0; i < p->count; i++) {
        point_file *f = &p->files[i];
        const int now = f->injects ? EXIT_DONE : save(p, f, made);
        code = first_failure(code, now);
        if (now != EXIT_DONE)
            continue;
        json_open(j, f->name, '{');
        json_add(j, "count %" PRId64 " positions %s", f->count, f->positions_path);
        json_string(j, f->injects ? "series" : "traces", f->path);
        json_add(j, "}");
        text_printf(out, "  points   %s: %" PRId64 " %s %s\n", f->name, f->count,
                    f->injects ? "driven by" : "recorded in", f->path);
    }
    json_add(j, "}");
    return code;
}
