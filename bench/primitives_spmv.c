/* Products with sparse matrices, in every format. Sums of all numbers are exact in any order, so
   the result of each format must agree to the bit. */
#include <stdlib.h>
#include <string.h>

#include "primitives_matrices.h"

enum { SEED_X = 11, LEAST_ROWS = 1 << 12, FORMATS = 12, UNIT = 128 };

static const char *const dtypes[] = {"float", "double"};
/* Words of schedules; `auto` is always among the entrants. */
static const char *const formats[FORMATS] = {"csr",  "csr balanced", "coo",  "csc",
                                             "ell",  "hyb",          "jds",  "dia",
                                             "bcsr", "pkt",          "sell", "stencil"};

/* One matrix, kept from line to line. */
typedef struct held {
    host_matrix host;
    sg_matrix *matrix; /* NULL until a format is asked for that is made from the host's entries */
} held;

typedef struct product {
    const bench *bench;
    held *held;
    const host_matrix *matrix;
    const char *dtype;
    void *x, *values;
    double *wanted;
    int64_t *row, *column; /* while the library's matrix is made */
    sg_matrix *there;      /* on a GPU: the matrix in its memory, from which it is converted */
    double upload;         /* seconds that brought it there */
    const void *y;         /* that is judged */
    int64_t wrong;         /* a row, or -1 */
} product;

/* ---- the matrix ------------------------------------------------------------------------------ */

static void expand(void *argument, int64_t begin, int64_t end) {
    const product *p = argument;
    const host_matrix *a = p->matrix;
    for (int64_t row = begin; row < end; row++)
        for (int32_t i = a->offsets[row]; i < a->offsets[row + 1]; i++) {
            p->row[i] = row;
            p->column[i] = a->column[i];
        }
}

void products_forget(bench *b) {
    held *h = b->matrix;
    if (h == NULL)
        return;
    sg_matrix_free(h->matrix);
    host_matrix_free(&h->host);
    free(h);
    b->matrix = NULL;
}

static held *hold(bench *b, const line *l) {
    if (b->matrix == NULL) {
        held *h = b->matrix = must_have(calloc(1, sizeof *h));
        h->host = host_matrix_make(b, l->data, b->options.scale);
    }
    return b->matrix;
}

static void must_be_made(const bench *b, sg_status status) {
    if (status == SG_OK)
        return;
    fprintf(stderr, "%s: %s\n", bench_program, sg_error(b->context));
    exit(4);
}

/* The library's matrix of the host's entries. The library sorts 10^8 entries, which takes much
   longer than all figures of a line, so the matrix is made only where it is needed. */
static const sg_matrix *matrix_here(bench *b, held *h) {
    const host_matrix *a = &h->host;
    if (h->matrix != NULL)
        return h->matrix;
    product p = {.matrix = a};
    p.row = must_have(malloc((size_t)a->entries * sizeof *p.row));
    p.column = must_have(malloc((size_t)a->entries * sizeof *p.column));
    in_parallel(b, a->rows, LEAST_ROWS, expand, &p);
    must_be_made(b, sg_matrix_from(b->context, a->rows, a->columns, a->entries, p.row, p.column,
                                   a->value, &h->matrix));
    free(p.row);
    free(p.column);
    return h->matrix;
}

/* ---- data ------------------------------------------------------------------------------------ */

static double x_at(int64_t at) {
    return (double)drawn_odd(SEED_X, at) / UNIT;
}

static void fill_x(void *argument, int64_t begin, int64_t end) {
    const product *p = argument;
    for (int64_t i = begin; i < end; i++)
        element_set(p->dtype, p->x, i, x_at(i));
}

static void multiply(void *argument, int64_t begin, int64_t end) {
    const product *p = argument;
    const host_matrix *a = p->matrix;
    for (int64_t row = begin; row < end; row++) {
        double sum = 0;
        for (int32_t i = a->offsets[row]; i < a->offsets[row + 1]; i++)
            sum += a->value[i] * element_get(p->dtype, p->x, a->column[i]);
        p->wanted[row] = sum;
    }
}

static void fill_values(void *argument, int64_t begin, int64_t end) {
    const product *p = argument;
    for (int64_t i = begin; i < end; i++)
        element_set(p->dtype, p->values, i, p->matrix->value[i]);
}

/* The matrix of a solver that assembles on the device. The lists are the line's inputs after
   x. */
static void place(bench *b, line *l, product *p) {
    const host_matrix *a = p->matrix;
    const size_t width = dtype_bytes(l->dtype);
    p->values = must_have(malloc((size_t)a->entries * width));
    in_parallel(b, a->entries, LEAST_ROWS, fill_values, p);
    l->inputs[1] = array_new(b, (size_t)(a->rows + 1) * sizeof *a->offsets);
    l->inputs[2] = array_new(b, (size_t)a->entries * sizeof *a->column);
    l->inputs[3] = array_new(b, (size_t)a->entries * width);
    const double begin = seconds_now();
    array_upload(b, l->inputs[1], a->offsets);
    array_upload(b, l->inputs[2], a->column);
    array_upload(b, l->inputs[3], p->values);
    p->upload = seconds_now() - begin;
    const sg_csr lists = {.struct_size = sizeof lists,
                          .rows = a->rows,
                          .columns = a->columns,
                          .entries = a->entries,
                          .offsets = l->inputs[1].data,
                          .column = l->inputs[2].data,
                          .value = l->inputs[3].data,
                          .dtype = l->dtype};
    must_be_made(b, sg_matrix_from_device(b->context, &lists, &p->there));
    free(p->values);
    p->values = NULL;
}

static void open_product(bench *b, line *l) {
    held *h = hold(b, l);
    const host_matrix *a = &h->host;
    const size_t width = dtype_bytes(l->dtype);
    product *p = must_have(calloc(1, sizeof *p));
    *p = (product){.bench = b, .held = h, .matrix = a, .dtype = l->dtype};
    l->own = p;
    l->size[0] = a->rows;
    l->size[1] = a->columns;
    l->size[2] = a->entries;
    /* For every format the bytes that CSR must move, with every element of x once. */
    l->bytes = (double)a->entries * (double)(width + 4) + 4.0 * (double)(a->rows + 1) +
               (double)(a->rows + a->columns) * (double)width;
    l->operations = 2 * (double)a->entries;
    p->x = host_memory(b, HOST_A, (size_t)a->columns * width);
    p->wanted = must_have(malloc((size_t)a->rows * sizeof *p->wanted));
    in_parallel(b, a->columns, LEAST_ROWS, fill_x, p);
    in_parallel(b, a->rows, 64, multiply, p);
    l->inputs[0] = array_new(b, (size_t)a->columns * width);
    array_upload(b, l->inputs[0], p->x);
    l->outputs[0] = array_new(b, (size_t)a->rows * width);
    if (strcmp(b->facts.device, "cuda") == 0)
        place(b, l, p);
    l->matrix = p->there != NULL ? p->there : matrix_here(b, h);
}

static void close_product(bench *b, line *l) {
    product *p = l->own;
    const line *next = l + 1 < b->lines + b->count ? l + 1 : NULL;
    sg_matrix_free(p->there);
    free(p->wanted);
    free(p);
    if (next == NULL || next->part != PART_SPMV || strcmp(next->data, l->data) != 0)
        products_forget(b);
}

/* ---- judging --------------------------------------------------------------------------------- */

static void judge_rows(void *argument, int64_t begin, int64_t end) {
    product *p = argument;
    for (int64_t row = begin; row < end; row++)
        if (!(element_get(p->dtype, p->y, row) == p->wanted[row])) {
            __atomic_store_n(&p->wrong, row, __ATOMIC_RELAXED); /* any wrong row will do */
            return;
        }
}

static char *judge(bench *b, line *l) {
    product *p = l->own;
    char text[160] = "";
    p->y = array_download(b, l->outputs[0], HOST_RESULT);
    p->wrong = -1;
    in_parallel(b, l->size[0], LEAST_ROWS, judge_rows, p);
    if (p->wrong >= 0)
        snprintf(text, sizeof text, "row %lld of %lld: %.17g instead of %.17g", (long long)p->wrong,
                 (long long)l->size[0], element_get(l->dtype, p->y, p->wrong), p->wanted[p->wrong]);
    return text[0] != '\0' ? must_have(strdup(text)) : NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static char *spec(const line *l, const entrant *e) {
    char text[160];
    (void)e;
    snprintf(text, sizeof text, "return spmv { name = 'p', dtype = '%s', format = 'auto' }",
             l->dtype);
    return must_have(strdup(text));
}

static int by_seconds(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Formats that the host makes, from its entries. */
static bool made_here(const entrant *e) {
    static const char *const words[] = {"coo ", "csc ", "hyb ", "jds ", "pkt "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(e->plan, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* The median of some conversions, without compiling the kernels that convert. */
static sg_status prepare(bench *b, line *l, entrant *e) {
    enum { TIMES = 3 };
    const product *p = l->own;
    const bool there = p->there != NULL && !made_here(e);
    const sg_matrix *const from = there ? p->there : matrix_here(b, p->held);
    const int times = from == p->there ? TIMES : 1;
    double seconds[TIMES];
    sg_conversion_info info = {.struct_size = sizeof info};
    sg_status status = SG_OK;
    for (int i = 0; i < times && status == SG_OK; i++) {
        sg_device_matrix_free(e->matrix);
        e->matrix = NULL;
        status = sg_matrix_upload(from, e->kernel, &e->matrix);
        if (status == SG_OK)
            status = sg_conversion_facts(e->matrix, &info);
        seconds[i] = info.convert_seconds;
    }
    if (status != SG_OK)
        return status;
    qsort(seconds, (size_t)times, sizeof *seconds, by_seconds);
    e->conversion = seconds[times / 2];
    e->upload = from == p->there ? p->upload : info.upload_seconds;
    e->by_kernels = info.on_device;
    return sg_spmv_bytes(e->kernel, e->matrix, 1, &e->temporary_bytes);
}

static sg_status call(const line *l, const entrant *e, sg_stream stream) {
    const sg_spmv_arguments a = {.struct_size = sizeof a,
                                 .matrix = e->matrix,
                                 .x = l->inputs[0].data,
                                 .y = l->outputs[0].data,
                                 .alpha = 1,
                                 .temporary = e->temporary,
                                 .temporary_bytes = e->temporary_bytes};
    return sg_spmv(e->kernel, &a, stream);
}

static void share_out(const void *pool, int64_t count, int64_t least,
                      void (*work)(void *argument, int64_t begin, int64_t end), void *argument) {
    in_parallel(pool, count, least, work, argument);
}

static int find_rivals(line *l, rival out[MOST_RIVALS]) {
    const product *p = l->own;
    const host_matrix *a = p->matrix;
    const rival_matrix r = {.wide = dtype_bytes(l->dtype) == 8,
                            .rows = a->rows,
                            .columns = a->columns,
                            .entries = a->entries,
                            .offsets = a->offsets,
                            .column = a->column,
                            .value = a->value,
                            .there = {l->inputs[1].data, l->inputs[2].data, l->inputs[3].data},
                            .in_parallel = share_out,
                            .pool = p->bench,
                            .x = l->inputs[0].data,
                            .y = l->outputs[0].data};
    return bench_rivals.matrix != NULL ? bench_rivals.matrix(&r, out) : 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void list(bench *b) {
    for (int m = 0; m < MATRICES; m++)
        for (int d = 0; d < 2; d++) {
            const line l = {.part = PART_SPMV,
                            .kind = "product",
                            .dtype = dtypes[d],
                            .data = matrix_word(m),
                            .dims = 3};
            if (!line_wanted(b, PART_SPMV, l.kind, l.dtype, l.data))
                continue;
            line *added = line_add(b, &l);
            for (int f = 0; f < FORMATS && b->schedules.count == 0; f++)
                if (listed(b->options.formats, formats[f]))
                    entrant_add(added, formats[f], formats[f]);
        }
}

const part_functions primitives_spmv = {"spmv", list,        spec,  open_product, prepare,
                                        call,   find_rivals, judge, close_product};
