/* cuSPARSE's products as rivals: CSR with each algorithm, with and without the analysis ahead of it
   (cusparseSpMV_preprocess), COO with each, and SELL with slices of 32 rows.
   Takes: a matrix by rows on the host. Makes: calls that are ready. */
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

enum { SLICE = 32, MOST_PADDING = 96 }; /* SELL is left out where it holds so many times as much */

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

static bool upload(const void *from, size_t bytes, void **to) {
    return cudaMalloc(to, bytes > 0 ? bytes : 1) == cudaSuccess &&
           cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
}

static void *values_of(bool wide, const double *from, int64_t count) {
    void *values = memory((size_t)count * (wide ? 8 : 4));
    for (int64_t i = 0; i < count; i++)
        if (wide)
            ((double *)values)[i] = from[i];
        else
            ((float *)values)[i] = (float)from[i];
    return values;
}

static bool store_lists(const rival_matrix *a, format f, stored *s) {
    void *values = values_of(a->wide, a->value, a->entries);
    int32_t *rows = NULL;
    bool good = upload(a->column, (size_t)a->entries * 4, &s->arrays[1]) &&
                upload(values, (size_t)a->entries * (a->wide ? 8 : 4), &s->arrays[2]);
    if (f == COO) {
        rows = memory((size_t)a->entries * sizeof *rows);
        for (int64_t row = 0; row < a->rows; row++)
            for (int32_t i = a->offsets[row]; i < a->offsets[row + 1]; i++)
                rows[i] = (int32_t)row;
        good = good && upload(rows, (size_t)a->entries * 4, &s->arrays[0]);
    } else {
        good = good && upload(a->offsets, (size_t)(a->rows + 1) * 4, &s->arrays[0]);
    }
    free(rows);
    free(values);
    return good;
}

static int64_t slice_width(const rival_matrix *a, int64_t slice) {
    int64_t width = 0;
    for (int64_t row = slice * SLICE; row < (slice + 1) * SLICE && row < a->rows; row++)
        if (a->offsets[row + 1] - a->offsets[row] > width)
            width = a->offsets[row + 1] - a->offsets[row];
    return width;
}

/* Slices by columns; what pads has the column -1. */
static void fill_slices(const rival_matrix *a, const int32_t *offsets, int32_t *columns,
                        double *values) {
    const int64_t slices = (a->rows + SLICE - 1) / SLICE;
    for (int64_t at = 0; at < offsets[slices]; at++) {
        columns[at] = -1;
        values[at] = 0;
    }
    for (int64_t row = 0; row < a->rows; row++)
        for (int32_t i = a->offsets[row]; i < a->offsets[row + 1]; i++) {
            const int64_t at =
                offsets[row / SLICE] + (int64_t)(i - a->offsets[row]) * SLICE + row % SLICE;
            columns[at] = a->column[i];
            values[at] = a->value[i];
        }
}

static bool store_slices(const rival_matrix *a, stored *s) {
    const int64_t slices = (a->rows + SLICE - 1) / SLICE;
    int32_t *offsets = memory((size_t)(slices + 1) * sizeof *offsets);
    for (int64_t slice = 0; slice <= slices; slice++) {
        offsets[slice] = (int32_t)s->slots;
        s->slots += slice < slices ? SLICE * slice_width(a, slice) : 0;
        if (s->slots > INT32_MAX || s->slots > MOST_PADDING * a->entries) {
            free(offsets);
            return false;
        }
    }
    int32_t *columns = memory((size_t)s->slots * sizeof *columns);
    double *values = memory((size_t)s->slots * sizeof *values);
    fill_slices(a, offsets, columns, values);
    void *own = values_of(a->wide, values, s->slots);
    free(values);
    const bool good = upload(offsets, (size_t)(slices + 1) * 4, &s->arrays[0]) &&
                      upload(columns, (size_t)s->slots * 4, &s->arrays[1]) &&
                      upload(own, (size_t)s->slots * (a->wide ? 8 : 4), &s->arrays[2]);
    free(own);
    free(columns);
    free(offsets);
    return good;
}

static void release(stored *s) {
    if (--s->users > 0)
        return;
    for (int i = 0; i < 3; i++)
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

/* alpha and beta only tell that they lie on the host. */
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
