/* sg_matrix_from_device: a matrix in device memory is checked completely, and formats for it are
   chosen without downloading it. */
#include <math.h>
#include <string.h>

#include "matrix/layout.h"
#include "runtime/matrix/matrix.h"

/* As templates/convert/look.cu has them. */
enum { BAD_ROW, LONGEST, SHORTEST, EMPTY_ROWS, SQUARES, BANDWIDTH, ASYMMETRIC };
enum { LOOK_ROWS, LOOK_ENTRIES, LOOK_SYMMETRY, LOOK_SAMPLE };
enum { WARPS = CONVERT_THREADS / 32 };

/* ---- looking --------------------------------------------------------------------------------- */

static conversion *open_look(job *j, sg_context *c, const matrix_there *t,
                             const convert_pieces *work) {
    const storage s = {
        .format = FORMAT_AUTO, .index_bytes = t->index_bytes, .value_bytes = t->value_bytes};
    conversion *look = convert_open(j, c, &t->csr, &s);
    convert_work(j, look, work);
    convert_set(j, look, look->arguments.totals, 0, sizeof look->totals);
    convert_set(j, look, look->arguments.totals, 0xff, sizeof look->totals[BAD_ROW]);
    return look;
}

static void visit_entries(job *j, conversion *look, int kernel) {
    convert_launch(j, look, kernel, look->arguments.entries, (int64_t)CONVERT_STRETCH * WARPS);
    convert_read(j, look);
}

static void visit_rows(job *j, conversion *look, matrix_facts *f) {
    const int64_t rows = look->arguments.rows, entries = look->arguments.entries;
    look->arguments.number[0] = entries / rows;
    convert_launch(j, look, LOOK_ROWS, rows < CONVERT_MANY ? rows : CONVERT_MANY, CONVERT_THREADS);
    convert_read(j, look);
    if (look->totals[BAD_ROW] >= 0)
        job_fail(j, FAULT_DATA, NULL, 0,
                 "row %lld of a matrix in device memory: offsets must begin with 0, end with %lld "
                 "and never decrease",
                 (long long)look->totals[BAD_ROW], (long long)entries);
    const double away = (double)entries / (double)rows - (double)(entries / rows);
    f->longest = look->totals[LONGEST];
    f->shortest = entries - look->totals[SHORTEST];
    f->empty = look->totals[EMPTY_ROWS];
    f->mean = (double)entries / (double)rows;
    /* The squares are of distances from the whole number below the mean. */
    const double variance = (double)look->totals[SQUARES] / (double)rows - away * away;
    f->deviation = variance > 0 ? sqrt(variance) : 0;
}

static matrix_facts look_at(job *j, sg_context *c, const matrix_there *t) {
    static const convert_pieces none;
    matrix_facts f = {.shortest = 0};
    if (t->csr.rows == 0)
        return f;
    conversion *look = open_look(j, c, t, &none);
    visit_rows(j, look, &f);
    if (t->csr.entries > 0)
        visit_entries(j, look, LOOK_ENTRIES);
    if (look->totals[BAD_ROW] >= 0)
        job_fail(j, FAULT_DATA, NULL, 0,
                 "row %lld of a matrix in device memory: columns must ascend from 0 to %lld, none "
                 "twice",
                 (long long)look->totals[BAD_ROW], (long long)t->csr.columns - 1);
    f.bandwidth = look->totals[BANDWIDTH];
    convert_end(j, look);
    return f;
}

/* ---- choosing -------------------------------------------------------------------------------- */

enum { MOST_SEEN = 16 };

/* What one build has seen of a matrix, because it asks several times for what costs a pass over
   all entries. */
typedef struct view {
    remote_matrix remote; /* first */
    int seen_count;
    packed_matrix seen[MOST_SEEN];
    int part_count;
    struct {
        int64_t first, end; /* rows */
        matrix entries;
    } parts[MOST_SEEN];
} view;

static const sg_matrix *owner_of(const remote_matrix *r) {
    return r->owner;
}

static const packed_matrix *find_seen(const view *v, const storage *s) {
    for (int i = 0; i < v->seen_count; i++)
        if (memcmp(&v->seen[i].storage, s, sizeof *s) == 0)
            return &v->seen[i];
    return NULL;
}

static const packed_matrix *count_anew(job *j, view *v, const storage *s) {
    const sg_matrix *m = owner_of(&v->remote);
    conversion *c = convert_measure(j, m->context, &m->there->csr, s);
    packed_matrix *to = &v->seen[v->seen_count < MOST_SEEN ? v->seen_count++ : MOST_SEEN - 1];
    *to = c->packed;
    for (int i = 0; i < to->array_count; i++)
        to->arrays[i].data = NULL;
    convert_end(j, c);
    return to;
}

static bool measure(job *j, const remote_matrix *r, packed_matrix *p) {
    view *v = (view *)r; /* which only remembers */
    const matrix_there *t = owner_of(r)->there;
    if (p->storage.index_bytes != t->index_bytes || p->storage.value_bytes != t->value_bytes ||
        !convert_serves(&p->storage, t->csr.rows, t->csr.columns, t->csr.entries))
        return false;
    const packed_matrix *found = find_seen(v, &p->storage);
    *p = found != NULL ? *found : *count_anew(j, v, &p->storage);
    return true;
}

static double value_of(int64_t bits, size_t there, dtype wanted) {
    double value;
    float low;
    memcpy(&value, &bits, sizeof value);
    if (there == sizeof low) {
        const uint32_t word = (uint32_t)bits;
        memcpy(&low, &word, sizeof low);
        value = low;
    }
    return dtype_round(wanted, value);
}

static int64_t sample(job *j, const remote_matrix *r, const int64_t *row, int64_t rows,
                      int64_t most, dtype values, diagonal *out) {
    const sg_matrix *m = owner_of(r);
    const size_t words = (size_t)(rows * (1 + 2 * most)), word = sizeof(int64_t);
    const convert_pieces work = {{(size_t)rows * word, words * word}, 0, 0};
    conversion *look = open_look(j, m->context, m->there, &work);
    device *d = look->device;
    int64_t *found = job_array(j, words, word), count = 0;
    d->ops->upload(d, j, look->arguments.work[0], row, (size_t)rows * word);
    look->arguments.number[1] = rows;
    look->arguments.number[2] = most;
    convert_launch(j, look, LOOK_SAMPLE, rows, CONVERT_THREADS);
    d->ops->download(d, j, found, look->arguments.work[1], words * word);
    convert_end(j, look);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t *of = found + i * (1 + 2 * most);
        for (int64_t k = 0; k < of[0]; k++) {
            const double value = value_of(of[2 + 2 * k], m->there->value_bytes, values);
            if (isfinite(value))
                out[count++] = (diagonal){of[1 + 2 * k], value};
        }
    }
    return count;
}

/* A list of indices, from the one at `first` on. */
static int64_t *read_indices(job *j, const sg_matrix *m, const void *list, int64_t first,
                             int64_t count) {
    const size_t width = m->there->index_bytes;
    device *d = context_device(j, m->context);
    int64_t *out = job_array(j, (size_t)count, sizeof *out);
    /* At the end of the list, so that each is read before it is overwritten. */
    unsigned char *from = (unsigned char *)(out + count) - (size_t)count * width;
    if (count > 0)
        d->ops->download(d, j, from, (const unsigned char *)list + (size_t)first * width,
                         (size_t)count * width);
    for (int64_t i = 0; i < count && width == sizeof(int32_t); i++) {
        int32_t narrow;
        memcpy(&narrow, from + (size_t)i * width, sizeof narrow);
        out[i] = narrow;
    }
    return out;
}

static matrix read_rows(job *j, const sg_matrix *m, int64_t first, int64_t end) {
    const device_csr *csr = &m->there->csr;
    const int64_t *offset = read_indices(j, m, csr->offset, first, end - first + 1);
    const int64_t entries = offset[end - first] - offset[0];
    int64_t *row = job_array(j, (size_t)entries, sizeof *row);
    double *value = job_array(j, (size_t)entries, sizeof *value);
    for (int64_t r = first; r < end; r++)
        for (int64_t e = offset[r - first]; e < offset[r - first + 1]; e++)
            row[e - offset[0]] = r;
    return (matrix){
        csr->rows, csr->columns, entries, row, read_indices(j, m, csr->column, offset[0], entries),
        value};
}

static const matrix *rows(job *j, const remote_matrix *r, int64_t first, int64_t end) {
    view *v = (view *)r; /* which only remembers */
    const sg_matrix *m = owner_of(r);
    end = end < m->there->csr.rows ? end : m->there->csr.rows;
    int i = 0;
    while (i < v->part_count && (v->parts[i].first != first || v->parts[i].end != end))
        i++;
    if (i == v->part_count) {
        i = i < MOST_SEEN ? v->part_count++ : MOST_SEEN - 1;
        v->parts[i].first = first;
        v->parts[i].end = end;
        v->parts[i].entries = read_rows(j, m, first, end);
    }
    return &v->parts[i].entries;
}

static const matrix *fetch(job *j, const remote_matrix *r) {
    return matrix_settled(j, owner_of(r));
}

const matrix *matrix_view(job *j, const sg_matrix *m) {
    if (m->there == NULL || m->there->csr.entries == 0)
        return matrix_settled(j, m);
    const device_csr *csr = &m->there->csr;
    view *v = job_alloc(j, sizeof *v);
    v->remote = (remote_matrix){.matrix = {csr->rows, csr->columns, csr->entries, NULL, NULL, NULL},
                                .owner = m,
                                .longest = m->there->facts.longest,
                                .measure = measure,
                                .sample = sample,
                                .rows = rows,
                                .fetch = fetch};
    return &v->remote.matrix;
}

matrix_facts matrix_facts_of(job *j, const sg_matrix *m) {
    static const convert_pieces none;
    if (m->there == NULL)
        return matrix_look(j, matrix_settled(j, m));
    const matrix_there *t = m->there;
    matrix_facts f = t->facts;
    const matrix *view = matrix_view(j, m);
    packed_matrix dia;
    format_measure(j, view,
                   &(storage){.format = FORMAT_DIA,
                              .index_bytes = t->index_bytes,
                              .value_bytes = t->value_bytes},
                   &dia);
    f.diagonals = dia.arrays[0].extent[0];
    f.symmetric = t->csr.rows == t->csr.columns;
    if (f.symmetric && t->csr.entries > 0) {
        conversion *look = open_look(j, m->context, t, &none);
        visit_entries(j, look, LOOK_SYMMETRY);
        f.symmetric = look->totals[ASYMMETRIC] == 0;
        convert_end(j, look);
    }
    return f;
}

/* ---- the call -------------------------------------------------------------------------------- */

static size_t width_of(job *j, const char *word, const char *narrow, const char *wide,
                       size_t otherwise, const char *what) {
    if (word == NULL)
        return otherwise;
    if (strcmp(word, narrow) == 0)
        return 4;
    if (strcmp(word, wide) == 0)
        return 8;
    context_refuse(j, "%s of a matrix are '%s'; there are %s and %s", what, word, narrow, wide);
    return 0;
}

static void take(job *j, void *argument) {
    const matrix_making *making = argument;
    sg_matrix *m = making->matrix;
    sg_csr given;
    context_read(j, &given, sizeof given, making->given, "sg_csr");
    if (given.entries < 0 || given.entries > MATRIX_MOST)
        context_refuse(j, "a matrix of %lld entries; there must be 0 to 2^61",
                       (long long)given.entries);
    if (given.entries > 0 && (given.rows == 0 || given.columns == 0))
        context_refuse(j, "%lld entries, but %lld rows and %lld columns", (long long)given.entries,
                       (long long)given.rows, (long long)given.columns);
    if ((given.rows > 0 && given.offsets == NULL) ||
        (given.entries > 0 && (given.column == NULL || given.value == NULL)))
        context_refuse(j,
                       "a matrix of %lld rows and %lld entries needs offsets, columns and values",
                       (long long)given.rows, (long long)given.entries);
    matrix_there *t = &m->lying;
    t->csr = (device_csr){given.rows,    given.columns, given.entries,
                          given.offsets, given.column,  given.value};
    t->index_bytes = width_of(j, given.index, "int32", "int64", 4, "indices");
    t->value_bytes = width_of(j, given.dtype, "float", "double", 8, "values");
    t->facts = look_at(j, m->context, t);
    m->there = t;
}

sg_status sg_matrix_from_device(sg_context *c, const sg_csr *given, sg_matrix **out) {
    sg_csr known;
    if (c == NULL || out == NULL || given == NULL)
        return SG_ERROR_USAGE;
    if (!context_read(NULL, &known, sizeof known, given, "sg_csr"))
        memset(&known, 0, sizeof known); /* refused by `take` */
    return matrix_make(c, known.rows, known.columns, take, given, out);
}
