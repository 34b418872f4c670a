/* Sparse matrices on the host and on the device, and their products with vectors. A part of
   stencilgen.h. */
#ifndef STENCILGEN_MATRIX_H
#define STENCILGEN_MATRIX_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix of doubles on the host, in which entries can be set and added to (a dictionary of keys),
 * also between uses. Rows and columns count from 0; there may be up to 2^61 of each. While a thread
 * changes a matrix, no other may use it; several may use it at a time. */
SG_API sg_status sg_matrix_new(sg_context *, int64_t rows, int64_t columns, sg_matrix **out);
/* The same from lists of entries, which are copied; those at one place are added up. */
SG_API sg_status sg_matrix_from(sg_context *, int64_t rows, int64_t columns, int64_t entries,
                                const int64_t *row, const int64_t *column, const double *value,
                                sg_matrix **out);

/* A matrix in device memory, as compressed rows. */
typedef struct sg_csr {
    size_t struct_size;
    int64_t rows, columns, entries;
    const void *offsets; /* rows + 1: row r has the entries offsets[r] to offsets[r + 1] − 1 */
    const void *column;  /* of each entry; ascending within a row, and none twice */
    const void *value;
    const char *index; /* dtype of offsets and columns: "int32" (also NULL) or "int64" */
    const char *dtype; /* of values: "double" (also NULL) or "float" */
} sg_csr;
/* The same of what lies in device memory already. Nothing is copied: the lists stay the caller's,
 * and as they are for as long as the matrix is used; entries of such a matrix cannot be set or
 * asked for one by one. Kernels look at all of it: SG_ERROR_DATA, with a row, where it is not what
 * sg_csr says. */
SG_API sg_status sg_matrix_from_device(sg_context *, const sg_csr *, sg_matrix **out);
/* From a Matrix Market file: coordinate or array; real, integer or pattern (each entry is 1);
 * general, symmetric, skew-symmetric or hermitian. SG_ERROR_DATA begins with file:line. */
SG_API sg_status sg_matrix_read(sg_context *, const char *path, sg_matrix **out);
/* Coordinate, real, general, exactly; the file appears whole or not at all, as that of sg_save. */
SG_API sg_status sg_matrix_write(const sg_matrix *, const char *path);
SG_API void sg_matrix_free(sg_matrix *); /* NULL is allowed */

/* SG_ERROR_USAGE where the matrix has no such row or column. An entry may be 0. */
SG_API sg_status sg_matrix_set(sg_matrix *, int64_t row, int64_t column, double value);
SG_API sg_status sg_matrix_add(sg_matrix *, int64_t row, int64_t column, double value);
/* 0 where there is no entry. */
SG_API sg_status sg_matrix_get(const sg_matrix *, int64_t row, int64_t column, double *out);
/* Every entry, by row and then by column, into lists as long as sg_matrix_facts says. A list may be
 * NULL where it is not wanted. */
SG_API sg_status sg_matrix_entries(const sg_matrix *, int64_t *row, int64_t *column, double *value);

typedef struct sg_matrix_info {
    size_t struct_size;
    int64_t rows, columns, entries;
    int64_t shortest_row, longest_row, empty_rows;
    double mean_row, row_deviation; /* entries of a row */
    int64_t diagonals;              /* that hold an entry */
    int64_t bandwidth; /* the largest |column − row| of an entry; 0 without entries */
    int symmetric;     /* a(i,j) = a(j,i) for all */
} sg_matrix_info;
SG_API sg_status sg_matrix_facts(const sg_matrix *, sg_matrix_info *out);

typedef struct sg_format_info {
    size_t struct_size;
    const char *format;  /* "csr" */
    const char *formula; /* the textbook's, in numbers stored: "2·nnz + M + 1" */
    double numbers;      /* its value for the matrix */
    int64_t bytes;       /* as it would be stored; −1 where it overflows */
    const char *refusal; /* why it is not offered: too large, or it cannot hold the matrix; NULL */
    int chosen;          /* the one that `auto` picks */
    const char *reason;  /* and why; NULL otherwise */
} sg_format_info;
/* Tells of every format with the kernel's widths, or with NULL for double values and 32-bit
 * indices. The strings are valid during the call of `format`. */
SG_API sg_status sg_matrix_formats(const sg_matrix *, const sg_kernel *,
                                   void (*format)(void *user, const sg_format_info *), void *user);

/* The matrix in the format, dtype and index width of an spmv kernel of the same context, in device
 * memory, for all kernels that store matrices alike. SG_ERROR_PLAN with the bytes in the text where
 * the format would need more than 16 times those of CSR and more than 1 GiB, and where 32 bits
 * cannot hold an index; nothing is allocated then; and where the kernel has a stencil compiled in
 * that more than half of the matrix's rows deviate from. SG_ERROR_DATA where a value is too large
 * for a float. */
SG_API sg_status sg_matrix_upload(const sg_matrix *, const sg_kernel *, sg_device_matrix **out);
SG_API void sg_device_matrix_free(sg_device_matrix *); /* NULL is allowed */

/* How a matrix came to the device. Large ones go there as csr and are converted there by kernels,
 * to stencil, dia, ell, sell and bcsr; others are converted by the host. The kernels are compiled
 * when they are first needed, which no other figure has in it. */
typedef struct sg_conversion_info {
    size_t struct_size;
    const char *format;    /* "sell"; valid for ever */
    int64_t bytes;         /* of its arrays */
    int on_device;         /* converted by kernels */
    double upload_seconds; /* of the host's arrays, made narrow where they are to be; 0: it lay
                              there */
    double
        convert_seconds; /* from csr to the format, both where it was converted; with allocating */
    double compile_seconds; /* until kernels were at hand; 0 where they were, or were not needed */
} sg_conversion_info;
SG_API sg_status sg_conversion_facts(const sg_device_matrix *, sg_conversion_info *out);

/* y = alpha·A·x + beta·y. With beta = 0 y is not read. What x holds in a column without entries
 * does not reach y, be it a NaN. A factor that the kernel has compiled in is the kernel's. */
typedef struct sg_spmv_arguments {
    size_t struct_size;
    const sg_device_matrix *matrix;
    const void *x;   /* columns of A, for each of the vectors; one after another */
    void *y;         /* rows of A, likewise */
    int64_t vectors; /* 0: 1 */
    double alpha, beta;
    void *temporary;
    size_t temporary_bytes;
} sg_spmv_arguments;
SG_API sg_status sg_spmv(const sg_kernel *, const sg_spmv_arguments *, sg_stream stream);
SG_API sg_status sg_spmv_bytes(const sg_kernel *, const sg_device_matrix *, int64_t vectors,
                               size_t *out);

#ifdef __cplusplus
}
#endif

#endif
