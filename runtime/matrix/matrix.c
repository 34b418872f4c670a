/* Sparse matrices on the host: making, changing, describing, reading and writing them. */
#include "runtime/matrix/matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "matrix/format.h"

/* ---- making ---------------------------------------------------------------------------------- */

typedef struct beginning {
    sg_context *context;
    int64_t rows, columns;
    sg_matrix *matrix;
} beginning;

static void need_size(job *j, int64_t size, const char *what) {
    if (size < 0 || size > MATRIX_MOST)
        context_refuse(j, "a matrix of %lld %s; there must be 0 to 2^61", (long long)size, what);
}

static void begin(job *j, void *argument) {
    beginning *b = argument;
    need_size(j, b->rows, "rows");
    need_size(j, b->columns, "columns");
    sg_matrix *m = job_alloc(j, sizeof *m);
    m->context = b->context;
    m->job = j;
    assembly_begin(&m->entries, job_allocator(j), b->rows, b->columns);
    pthread_mutex_init(&m->lock, NULL); /* nothing fails from here on */
    b->matrix = m;
}

sg_status matrix_make(sg_context *c, int64_t rows, int64_t columns,
                      void (*fill)(job *, void *making), const void *given, sg_matrix **out) {
    if (c == NULL || out == NULL)
        return SG_ERROR_USAGE;
    beginning b = {.context = c, .rows = rows, .columns = columns};
    sg_status status = context_make(c, begin, &b);
    if (status != SG_OK)
        return status;
    matrix_making making = {b.matrix, given};
    /* The memory of filling goes when it is done. */
    if (fill != NULL)
        status = context_run(c, fill, &making, NULL);
    if (status == SG_OK)
        *out = b.matrix;
    else
        sg_matrix_free(b.matrix);
    return status;
}

void sg_matrix_free(sg_matrix *m) {
    if (m == NULL)
        return;
    assembly_free(&m->entries);
    pthread_mutex_destroy(&m->lock);
    context_unmake(m->context, m->job);
}

sg_status sg_matrix_new(sg_context *c, int64_t rows, int64_t columns, sg_matrix **out) {
    return matrix_make(c, rows, columns, NULL, NULL, out);
}

typedef struct lists {
    int64_t entries;
    const int64_t *row, *column;
    const double *value;
} lists;

static void fill_from_lists(job *j, void *argument) {
    const matrix_making *making = argument;
    assembly *a = &making->matrix->entries;
    const lists *l = making->given;
    if (l->entries < 0)
        context_refuse(j, "a matrix of %lld entries", (long long)l->entries);
    if (l->entries > 0 && (l->row == NULL || l->column == NULL || l->value == NULL))
        context_refuse(j, "%lld entries, but no list of their %s", (long long)l->entries,
                       l->row == NULL      ? "rows"
                       : l->column == NULL ? "columns"
                                           : "values");
    for (int64_t i = 0; i < l->entries; i++) {
        const fault found = assembly_append(a, l->row[i], l->column[i], l->value[i]);
        if (found == FAULT_USAGE)
            context_refuse(j, "entry %lld is in row %lld, column %lld of a matrix of %lld x %lld",
                           (long long)i, (long long)l->row[i], (long long)l->column[i],
                           (long long)a->rows, (long long)a->columns);
        if (found != FAULT_NONE)
            job_fail(j, found, NULL, 0, "out of memory");
    }
    assembly_settle(j, a);
}

sg_status sg_matrix_from(sg_context *c, int64_t rows, int64_t columns, int64_t entries,
                         const int64_t *row, const int64_t *column, const double *value,
                         sg_matrix **out) {
    const lists given = {entries, row, column, value};
    return matrix_make(c, rows, columns, fill_from_lists, &given, out);
}

/* ---- single entries -------------------------------------------------------------------------- */

typedef struct change {
    const sg_matrix *matrix;
    int64_t row, column;
    fault found;
} change;

static void tell(job *j, void *argument) {
    const change *c = argument;
    if (c->matrix->there != NULL)
        context_refuse(j, "the matrix lies in device memory, where its owner can change it");
    if (c->found == FAULT_USAGE)
        context_refuse(j, "row %lld, column %lld is outside of a matrix of %lld x %lld",
                       (long long)c->row, (long long)c->column, (long long)c->matrix->entries.rows,
                       (long long)c->matrix->entries.columns);
    job_fail(j, c->found, NULL, 0, "out of memory");
}

/* No job is made if nothing is wrong: there may be millions of these calls. */
static sg_status outcome(const sg_matrix *m, int64_t row, int64_t column, fault found) {
    change c = {m, row, column, found};
    return found == FAULT_NONE ? SG_OK : context_run(m->context, tell, &c, NULL);
}

sg_status sg_matrix_set(sg_matrix *m, int64_t row, int64_t column, double value) {
    return m == NULL ? SG_ERROR_USAGE
                     : outcome(m, row, column,
                               m->there != NULL ? FAULT_USAGE
                                                : assembly_set(&m->entries, row, column, value));
}

sg_status sg_matrix_add(sg_matrix *m, int64_t row, int64_t column, double value) {
    return m == NULL ? SG_ERROR_USAGE
                     : outcome(m, row, column,
                               m->there != NULL ? FAULT_USAGE
                                                : assembly_add(&m->entries, row, column, value));
}

sg_status sg_matrix_get(const sg_matrix *given, int64_t row, int64_t column, double *out) {
    sg_matrix *m = (sg_matrix *)given; /* a lock is no content */
    if (m == NULL || out == NULL)
        return SG_ERROR_USAGE;
    if (m->there != NULL)
        return outcome(m, row, column, FAULT_USAGE);
    pthread_mutex_lock(&m->lock); /* another thread may settle it */
    const fault found = assembly_get(&m->entries, row, column, out);
    pthread_mutex_unlock(&m->lock);
    return outcome(m, row, column, found);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void settle(job *j, void *argument) {
    assembly_settle(j, argument);
}

/* The lists of a matrix in device memory, in memory of the job. */
static const matrix *download(job *j, const sg_matrix *m) {
    const device_csr *csr = &m->there->csr;
    device *d = context_device(j, m->context);
    const size_t rows = (size_t)csr->rows, entries = (size_t)csr->entries;
    packed_matrix p = {.storage = {.format = FORMAT_CSR,
                                   .index_bytes = m->there->index_bytes,
                                   .value_bytes = m->there->value_bytes},
                       .rows = csr->rows,
                       .columns = csr->columns,
                       .entries = csr->entries};
    const struct {
        const void *from;
        size_t count, element;
    } lists[] = {{csr->offset, rows + 1, p.storage.index_bytes},
                 {csr->column, entries, p.storage.index_bytes},
                 {csr->value, entries, p.storage.value_bytes}};
    for (int i = 0; i < 3; i++) {
        p.arrays[i].data = job_array(j, lists[i].count, lists[i].element);
        if (lists[i].count > 0 && lists[i].from != NULL)
            d->ops->download(d, j, p.arrays[i].data, lists[i].from,
                             lists[i].count * lists[i].element);
    }
    matrix *out = job_alloc(j, sizeof *out);
    format_unpack(j, &p, out);
    return out;
}

const matrix *matrix_settled(job *j, const sg_matrix *given) {
    sg_matrix *m = (sg_matrix *)given; /* its content stays what it was */
    if (m->there != NULL)
        return download(j, m);
    job *own;
    pthread_mutex_lock(&m->lock);
    const fault found = job_run(job_allocator(j), settle, &m->entries, &own);
    pthread_mutex_unlock(&m->lock);
    if (found != FAULT_NONE)
        job_fail_as(j, own);
    job_end(own);
    matrix *out = job_alloc(j, sizeof *out);
    *out = assembly_matrix(&m->entries);
    return out;
}

typedef struct copying {
    const sg_matrix *matrix;
    int64_t *row, *column;
    double *value;
} copying;

static void copy_list(void *to, const void *from, int64_t entries, size_t element) {
    if (to != NULL && entries > 0)
        memcpy(to, from, (size_t)entries * element);
}

static void copy_entries(job *j, void *argument) {
    const copying *c = argument;
    const matrix *m = matrix_settled(j, c->matrix);
    copy_list(c->row, m->row, m->entries, sizeof *c->row);
    copy_list(c->column, m->column, m->entries, sizeof *c->column);
    copy_list(c->value, m->value, m->entries, sizeof *c->value);
}

sg_status sg_matrix_entries(const sg_matrix *m, int64_t *row, int64_t *column, double *value) {
    copying c = {m, row, column, value};
    return m == NULL ? SG_ERROR_USAGE : context_run(m->context, copy_entries, &c, NULL);
}

typedef struct looking {
    const sg_matrix *matrix;
    sg_matrix_info *out;
} looking;

static void look(job *j, void *argument) {
    const looking *l = argument;
    context_expect(j, l->out, "sg_matrix_info");
    const matrix *m = matrix_view(j, l->matrix);
    const matrix_facts f = matrix_facts_of(j, l->matrix);
    const sg_matrix_info info = {
        .struct_size = sizeof info,
        .rows = m->rows,
        .columns = m->columns,
        .entries = m->entries,
        .shortest_row = f.shortest,
        .longest_row = f.longest,
        .empty_rows = f.empty,
        .mean_row = f.mean,
        .row_deviation = f.deviation,
        .diagonals = f.diagonals,
        .bandwidth = f.bandwidth,
        .symmetric = f.symmetric,
    };
    context_write(j, l->out, &info, sizeof info, "sg_matrix_info");
}

sg_status sg_matrix_facts(const sg_matrix *m, sg_matrix_info *out) {
    looking l = {m, out};
    return m == NULL || out == NULL ? SG_ERROR_USAGE : context_run(m->context, look, &l, NULL);
}

/* ---- formats --------------------------------------------------------------------------------- */

typedef struct listing {
    const sg_matrix *matrix;
    const sg_kernel *kernel; /* or NULL */
    int count;
    sg_format_info formats[FORMAT_COUNT];
} listing;

static void list_formats(job *j, void *argument) {
    listing *l = argument;
    const storage own =
        l->kernel != NULL ? device_matrix_storage(j, l->kernel) : (storage){.format = FORMAT_AUTO};
    const matrix *m = matrix_view(j, l->matrix);
    storage chosen = {
        .index_bytes = own.index_bytes, .value_bytes = own.value_bytes, .bfloat16 = own.bfloat16};
    const char *reason = format_choose(j, m, NULL, &chosen);
    for (int f = FORMAT_AUTO + 1; f < FORMAT_COUNT; f++) {
        /* The kernel's slices, blocks and packets for its own format, else the usual ones. */
        storage s = chosen;
        if (f == (int)own.format)
            s = own;
        else if (f != (int)chosen.format)
            s = (storage){.format = (format)f,
                          .index_bytes = chosen.index_bytes,
                          .value_bytes = chosen.value_bytes,
                          .bfloat16 = chosen.bfloat16};
        packed_matrix p;
        format_measure(j, m, &s, &p);
        l->formats[l->count++] = (sg_format_info){
            .struct_size = sizeof *l->formats,
            .format = format_words[f].name,
            .formula = format_words[f].formula,
            .numbers = p.numbers,
            .bytes = p.bytes,
            .refusal = format_refusal(j, m, &p, FORMAT_LIMIT),
            .chosen = f == (int)chosen.format,
            .reason = f == (int)chosen.format ? reason : NULL,
        };
    }
}

sg_status sg_matrix_formats(const sg_matrix *m, const sg_kernel *k,
                            void (*format)(void *user, const sg_format_info *), void *user) {
    if (m == NULL || format == NULL)
        return SG_ERROR_USAGE;
    listing l = {.matrix = m, .kernel = k};
    job *kept;
    const sg_status status = context_run(m->context, list_formats, &l, &kept);
    if (status != SG_OK)
        return status;
    for (int i = 0; i < l.count; i++)
        format(user, &l.formats[i]);
    job_end(kept);
    return SG_OK;
}

static void close_file(void *file) {
    fclose(file);
}

static FILE *open_file(job *j, const char *path) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (file != NULL)
        return file;
    const int error = errno;
    if (descriptor >= 0)
        close(descriptor);
    job_fail(j, error == ENOMEM ? FAULT_MEMORY : FAULT_IO, path, 0, "cannot read: %s",
             strerror(error));
}

static void read_file(job *j, void *argument) {
    const matrix_making *making = argument;
    const char *path = making->given;
    if (path == NULL)
        context_refuse(j, "no path was given to read a matrix from");
    FILE *file = open_file(j, path);
    job_defer(j, close_file, file);
    market_read(j, file, path, &making->matrix->entries);
    job_undo(j, file);
}

sg_status sg_matrix_read(sg_context *c, const char *path, sg_matrix **out) {
    return matrix_make(c, 0, 0, read_file, path, out);
}

typedef struct writing {
    const sg_matrix *matrix;
    const char *path;
} writing;

static void write_file(job *j, void *argument) {
    const writing *w = argument;
    if (w->path == NULL)
        context_refuse(j, "no path was given to write a matrix to");
    market_write(j, matrix_settled(j, w->matrix), w->path);
}

sg_status sg_matrix_write(const sg_matrix *m, const char *path) {
    writing w = {m, path};
    return m == NULL ? SG_ERROR_USAGE : context_run(m->context, write_file, &w, NULL);
}
