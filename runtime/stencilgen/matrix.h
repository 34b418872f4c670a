/* Sparse matrices on the host and on the device, and their products with vectors. A part of
   stencilgen.h. */
#ifndef STENCILGEN_MATRIX_H
#define STENCILGEN_MATRIX_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix of doubles on the host. Its entries can be set and added to (a dictionary of keys), also
 * between uses. Rows and columns count from 0; there may be up to 2^61 of each. Several threads may
 * use a matrix at a time, but not while a thread changes it. */
SG_API sg_status sg_matrix_new(sg_context *, int64_t rows, int64_t columns, sg_matrix **out);
/* The same from lists of entries, which are copied. Entries at the same place are added. */
SG_API sg_status sg_matrix_from(sg_context *, int64_t rows, int64_t columns, int64_t entries,
                                const int64_t *row, const int64_t *column, const double *value,
                                sg_matrix **out);

/* A matrix in device memory, as compressed rows. */
typedef struct sg_csr {
    size_t struct_size;
    int64_t rows, columns, entries;
    const void *offsets; /* rows + 1: row r has the entries offsets[r] to offsets[r + 1] − 1 */
    const void *column;  /* of each entry; strictly ascending within a row */
    const void *value;
    const char *index; /* dtype of offsets and columns: "int32" (also NULL) or "int64" */
    const char *dtype; /* of values: "double" (also NULL) or "float" */
} sg_csr;
/* The same from lists in device memory. Nothing is copied: the lists stay the caller's, who must
 * not change them while the matrix is used. Single entries of such a matrix cannot be set or asked
 * for. Kernels check the lists: SG_ERROR_DATA, with a row, if they are not as sg_csr says. */
SG_API sg_status sg_matrix_from_device(sg_context *, const sg_csr *, sg_matrix **out);
/* From a Matrix Market file: coordinate or array; real, integer or pattern (each entry is 1);
 * general, symmetric, skew-symmetric or hermitian. SG_ERROR_DATA begins with file:line. */
SG_API sg_status sg_matrix_read(sg_context *, const char *path, sg_matrix **out);
/* Writes coordinate, real, general, with exact values. The file appears whole or not at all, as in
 * sg_save. */
SG_API sg_status sg_matrix_write(const sg_matrix *, const char *path);
SG_API void sg_matrix_free(sg_matrix *); /* NULL is allowed */

/* SG_ERROR_USAGE if the matrix has no such row or column. An entry may be 0. */
SG_API sg_status sg_matrix_set(sg_matrix *, int64_t row, int64_t column, double value);
SG_API sg_status sg_matrix_add(sg_matrix *, int64_t row, int64_t column, double value);
/* *out is 0 if there is no entry. */
SG_API sg_status sg_matrix_get(const sg_matrix *, int64_t row, int64_t column, double *out);
/* Copies every entry, by row and then by column, into lists as long as sg_matrix_facts says. A list
 * that is not wanted may be NULL. */
SG_API sg_status sg_matrix_entries(const sg_matrix *, int64_t *row, int64_t *column, double *value);

typedef struct sg_matrix_info {
    size_t struct_size;
    int64_t rows, columns, entries;
    int64_t shortest_row, longest_row, empty_rows;
    double mean_row, row_deviation; /* entries of a row */
    int64_t diagonals;              /* how many hold an entry */
    int64_t bandwidth; /* the largest |column − row| of an entry; 0 without entries */
    int symmetric;     /* a(i,j) = a(j,i) for all */
} sg_matrix_info;
SG_API sg_status sg_matrix_facts(const sg_matrix *, sg_matrix_info *out);

typedef struct sg_format_info {
    size_t struct_size;
    const char *format;  /* "csr" */
    const char *formula; /* the textbook's, in numbers stored: "2·nnz + M + 1" */
    double numbers;      /* its value for the matrix */
    int64_t bytes;       /* of the stored matrix; −1: more than an int64_t counts */
    const char *refusal; /* why the format cannot be used: too large, or it cannot hold the matrix;
                            NULL */
    int chosen;          /* `auto` picks this format */
    const char *reason;  /* why; NULL if it is not chosen */
} sg_format_info;
/* Calls `format` for every format, with the widths of the kernel, or of double values and 32-bit
 * indices if the kernel is NULL. The strings are valid during the call of `format`. */
SG_API sg_status sg_matrix_formats(const sg_matrix *, const sg_kernel *,
                                   void (*format)(void *user, const sg_format_info *), void *user);

/* Stores the matrix in device memory, in the format, dtype and index width of an spmv kernel of the
 * same context. All kernels with the same format, dtype and width can use it. SG_ERROR_PLAN, before
 * anything is allocated, if the format would need more than 1 GiB and more than 16 times the bytes
 * of CSR (the text has the bytes), or if 32 bits cannot hold an index; also if more than half of
 * the matrix's rows differ from the stencil that is compiled into the kernel. SG_ERROR_DATA if a
 * value is too large for a float. */
SG_API sg_status sg_matrix_upload(const sg_matrix *, const sg_kernel *, sg_device_matrix **out);
SG_API void sg_device_matrix_free(sg_device_matrix *); /* NULL is allowed */

/* How a matrix came to the device. Large matrices go there as csr, and kernels convert them to
 * stencil, dia, ell, sell and bcsr; the host converts the others. The kernels are compiled when
 * they are first needed; only compile_seconds counts that. */
typedef struct sg_conversion_info {
    size_t struct_size;
    const char *format;     /* "sell"; valid for ever */
    int64_t bytes;          /* of its arrays */
    int on_device;          /* converted by kernels */
    double upload_seconds;  /* of the host's arrays, with making them narrower if the kernel's are;
                               0:  the matrix was in device memory */
    double convert_seconds; /* from csr to the format, with allocating */
    double compile_seconds; /* of the kernels that convert; 0: they were compiled, or not needed */
} sg_conversion_info;
SG_API sg_status sg_conversion_facts(const sg_device_matrix *, sg_conversion_info *out);

/* y = alpha·A·x + beta·y. With beta = 0, y is not read. An element of x whose column has no entries
 * does not reach y, not even a NaN. If the kernel has alpha or beta compiled in, its own value
 * counts. */
typedef struct sg_spmv_arguments {
    size_t struct_size;
    const sg_device_matrix *matrix;
    const void *x;   /* the vectors one after another, with as many elements as A has columns */
    void *y;         /* the same with A's rows */
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
