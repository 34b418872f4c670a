/* cuSPARSE's products as rivals: CSR with each algorithm, with and without the analysis before it
   (cusparseSpMV_preprocess), COO with each algorithm, and SELL with slices of 32 rows. Takes: a
   matrix by rows on the host. Makes: calls that are ready. */
#include <cuda_runtime.h>
#include <cusparse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rivals.h"

#define TEXT_OF(x) #x
#define VERSION(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char cusparse_name[] =
    "cuSPARSE " VERSION(CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH);

/* SELL is left out if its padded lists are so many times as long, because it must read all
   columns. */
enum { SLICE = 32, MOST_PADDING = 8, LEAST_ROWS = 1 << 12 };

typedef enum format { CSR, COO, SELL, FORMATS } format;

static const struct way {
    const char *name;
    format format;
    cusparseSpMVAlg_t algorithm;
    bool preprocessed;
} ways[] = {
    {"cuSPARSE CSR default", CSR, CUSPARSE_SPMV_ALG_DEFAULT, false},
    {"cuSPARSE CSR ALG1", CSR, CUSPARSE_SPMV_CSR_ALG1, false},
    {"cuSPARSE CSR ALG2", CSR, CUSPARSE_SPMV_CSR_ALG2, false},
    {"cuSPARSE CSR default, preprocessed", CSR, CUSPARSE_SPMV_ALG_DEFAULT, true},
    {"cuSPARSE CSR ALG1, preprocessed", CSR, CUSPARSE_SPMV_CSR_ALG1, true},
    {"cuSPARSE CSR ALG2, preprocessed", CSR, CUSPARSE_SPMV_CSR_ALG2, true},
    {"cuSPARSE COO ALG1", COO, CUSPARSE_SPMV_COO_ALG1, false},
    {"cuSPARSE COO ALG2", COO, CUSPARSE_SPMV_COO_ALG2, false},
    {"cuSPARSE SELL, slices of 32", SELL, CUSPARSE_SPMV_SELL_ALG1, false},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* The arrays of one format, for all ways that take it. */
typedef struct stored {
    int users;
    void *arrays[3]; /* offsets or rows; columns; values */
    bool own[3];     /* to be freed here */
    int64_t slots;   /* of SELL: entries with padding */
} stored;

typedef struct state {
    const struct way *way;
    stored *stored;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t x, y;
    cudaDataType type;
    void *work;
} state;

/* ---- arrays ---------------------------------------------------------------------------------- */

static void *memory(size_t bytes) {
    void *p = malloc(bytes > 0 ? bytes : 1);
    if (p == NULL) {
        fprintf(stderr, "primitives: out of memory\n");
        exit(4);
    }
    return p;
}

static bool upload(const void *from, size_t bytes, stored *s, int array) {
    s->own[array] = true;
    return cudaMalloc(&s->arrays[array], bytes > 0 ? bytes : 1) == cudaSuccess &&
           cudaMemcpy(s->arrays[array], from, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
}

/* While lists are made on the host. */
typedef struct making {
    const rival_matrix *matrix;
    const int32_t *offsets; /* of slices */
    int32_t *row, *column;
    void *value;
} making;

static void expand(void *argument, int64_t begin, int64_t end) {
    const making *m = argument;
    for (int64_t row = begin; row < end; row++)
        for (int32_t i = m->matrix->offsets[row]; i < m->matrix->offsets[row + 1]; i++)
            m->row[i] = (int32_t)row;
}

static bool store_lists(const rival_matrix *a, format f, stored *s) {
    making m = {.matrix = a};
    for (int i = 0; i < 3; i++)
        s->arrays[i] = a->there[i];
    if (f == CSR)
        return true;
    m.row = memory((size_t)a->entries * sizeof *m.row);
    a->in_parallel(a->pool, a->rows, LEAST_ROWS, expand, &m);
    const bool good = upload(m.row, (size_t)a->entries * sizeof *m.row, s, 0);
    free(m.row);
    return good;
}

static int64_t slice_width(const rival_matrix *a, int64_t slice) {
    int64_t width = 0;
    for (int64_t row = slice * SLICE; row < (slice + 1) * SLICE && row < a->rows; row++)
        if (a->offsets[row + 1] - a->offsets[row] > width)
            width = a->offsets[row + 1] - a->offsets[row];
    return width;
}

static void set_slot(const making *m, int64_t at, int32_t column, double value) {
    m->column[at] = column;
    if (m->matrix->wide)
        ((double *)m->value)[at] = value;
    else
        ((float *)m->value)[at] = (float)value;
}

/* Slices by columns; padding has the column -1. */
static void fill_slices(void *argument, int64_t begin, int64_t end) {
    const making *m = argument;
    const rival_matrix *a = m->matrix;
    for (int64_t slice = begin; slice < end; slice++) {
        for (int64_t at = m->offsets[slice]; at < m->offsets[slice + 1]; at++)
            set_slot(m, at, -1, 0);
        for (int64_t row = slice * SLICE; row < (slice + 1) * SLICE && row < a->rows; row++)
            for (int32_t i = a->offsets[row], at = m->offsets[slice] + (int32_t)(row % SLICE);
                 i < a->offsets[row + 1]; i++, at += SLICE)
                set_slot(m, at, a->column[i], a->value[i]);
    }
}

static bool store_slices(const rival_matrix *a, stored *s) {
    const int64_t slices = (a->rows + SLICE - 1) / SLICE;
    const size_t width = a->wide ? 8 : 4;
    int32_t *offsets = memory((size_t)(slices + 1) * sizeof *offsets);
    for (int64_t slice = 0; slice <= slices; slice++) {
        offsets[slice] = (int32_t)s->slots;
        s->slots += slice < slices ? SLICE * slice_width(a, slice) : 0;
        if (s->slots > INT32_MAX - SLICE || s->slots > MOST_PADDING * a->entries) {
            free(offsets);
            return false;
        }
    }
    const making m = {.matrix = a,
                      .offsets = offsets,
                      .column = memory((size_t)s->slots * sizeof *m.column),
                      .value = memory((size_t)s->slots * width)};
    a->in_parallel(a->pool, slices, LEAST_ROWS / SLICE, fill_slices, (void *)&m);
    const bool good = upload(offsets, (size_t)(slices + 1) * 4, s, 0) &&
                      upload(m.column, (size_t)s->slots * 4, s, 1) &&
                      upload(m.value, (size_t)s->slots * width, s, 2);
    free(m.value);
    free(m.column);
    free(offsets);
    return good;
}

static void release(stored *s) {
    if (--s->users > 0)
        return;
    for (int i = 0; i < 3; i++)
        if (s->own[i])
            cudaFree(s->arrays[i]);
    free(s);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int run(void *argument, void *stream) {
    static const float one = 1, none = 0;
    static const double wide_one = 1, wide_none = 0;
    const state *s = argument;
    const bool wide = s->type == CUDA_R_64F;
    cusparseStatus_t status = cusparseSetStream(s->handle, stream);
    if (status == CUSPARSE_STATUS_SUCCESS)
        status = cusparseSpMV(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                              wide ? (const void *)&wide_one : &one, s->matrix, s->x,
                              wide ? (const void *)&wide_none : &none, s->y, s->type,
                              s->way->algorithm, s->work);
    return status;
}

static void end(void *argument) {
    state *s = argument;
    cusparseDestroySpMat(s->matrix);
    cusparseDestroyDnVec(s->x);
    cusparseDestroyDnVec(s->y);
    cusparseDestroy(s->handle);
    cudaFree(s->work);
    release(s->stored);
    free(s);
}

static cusparseStatus_t describe(const rival_matrix *a, state *s) {
    void *const *p = s->stored->arrays;
    switch (s->way->format) {
    case CSR:
        return cusparseCreateCsr(&s->matrix, a->rows, a->columns, a->entries, p[0], p[1], p[2],
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                 s->type);
    case COO:
        return cusparseCreateCoo(&s->matrix, a->rows, a->columns, a->entries, p[0], p[1], p[2],
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s->type);
    default:
        return cusparseCreateSlicedEll(
            &s->matrix, a->rows, a->columns, a->entries, s->stored->slots, SLICE, p[0], p[1], p[2],
            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s->type);
    }
}

/* alpha and beta only tell cuSPARSE that they are on the host. */
static cusparseStatus_t prepare(const rival_matrix *a, state *s) {
    static const double one = 1, none = 0;
    static const float narrow_one = 1, narrow_none = 0;
    const void *alpha = a->wide ? (const void *)&one : &narrow_one;
    const void *beta = a->wide ? (const void *)&none : &narrow_none;
    const cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
    size_t bytes = 0;
    cusparseStatus_t status = cusparseCreate(&s->handle);
    if (status == CUSPARSE_STATUS_SUCCESS)
        status = cusparseCreateDnVec(&s->x, a->columns, (void *)a->x, s->type);
    if (status == CUSPARSE_STATUS_SUCCESS)
        status = cusparseCreateDnVec(&s->y, a->rows, a->y, s->type);
    if (status == CUSPARSE_STATUS_SUCCESS)
        status = describe(a, s);
    if (status == CUSPARSE_STATUS_SUCCESS)
        status = cusparseSpMV_bufferSize(s->handle, as_is, alpha, s->matrix, s->x, beta, s->y,
                                         s->type, s->way->algorithm, &bytes);
    if (status == CUSPARSE_STATUS_SUCCESS && bytes > 0 &&
        cudaMalloc(&s->work, bytes) != cudaSuccess)
        status = CUSPARSE_STATUS_ALLOC_FAILED;
    if (status == CUSPARSE_STATUS_SUCCESS && s->way->preprocessed)
        status = cusparseSpMV_preprocess(s->handle, as_is, alpha, s->matrix, s->x, beta, s->y,
                                         s->type, s->way->algorithm, s->work);
    return status;
}

static stored *store(const rival_matrix *a, format f) {
    stored *s = memory(sizeof *s);
    *s = (stored){.users = 1};
    if (f == SELL ? store_slices(a, s) : store_lists(a, f, s))
        return s;
    release(s);
    return NULL;
}

int cusparse_rivals(const rival_matrix *a, rival *out) {
    stored *kept[FORMATS] = {0};
    int count = 0;
    for (int f = 0; f < FORMATS; f++)
        kept[f] = store(a, (format)f);
    for (int w = 0; w < WAYS && count < MOST_RIVALS; w++) {
        if (kept[ways[w].format] == NULL)
            continue;
        state *s = memory(sizeof *s);
        *s = (state){.way = &ways[w],
                     .stored = kept[ways[w].format],
                     .type = a->wide ? CUDA_R_64F : CUDA_R_32F};
        s->stored->users++;
        const cusparseStatus_t status = prepare(a, s);
        if (status == CUSPARSE_STATUS_SUCCESS) {
            out[count++] = (rival){ways[w].name, run, end, s};
        } else {
            fprintf(stderr, "%s: %s\n", ways[w].name, cusparseGetErrorString(status));
            end(s);
        }
    }
    for (int f = 0; f < FORMATS; f++)
        if (kept[f] != NULL)
            release(kept[f]);
    return count;
}
