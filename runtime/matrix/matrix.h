/* Matrices inside. Takes: entries. Makes: what sg_matrix points to: an assembly, which is settled
   when it is first used after a change. It holds its context. */
#ifndef SG_RUNTIME_MATRIX_MATRIX_H
#define SG_RUNTIME_MATRIX_MATRIX_H

#include "matrix/format.h"
#include "runtime/launch/context.h"
#include "runtime/launch/kernel.h"

/* Rows in order, columns ascending and different within a row, in device memory. */
typedef struct device_csr {
    int64_t rows, columns, entries;
    const void *offset, *column, *value; /* offset[rows + 1] */
} device_csr;

/* A matrix of the caller's in device memory, which was looked at. */
typedef struct matrix_there {
    device_csr csr;
    size_t index_bytes, value_bytes;
    matrix_facts facts; /* but for diagonals and symmetry */
} matrix_there;

struct sg_matrix {
    sg_context *context;
    job *job;                  /* holds the struct */
    const matrix_there *there; /* `lying`, or NULL: the matrix is its entries */
    matrix_there lying;
    assembly entries;
    pthread_mutex_t
        lock; /* of settling: uses that change nothing for the caller are many at once */
};

/* The sorted entries, valid until the matrix is changed; the struct is the job's. Those of a matrix
   in device memory are brought here, and are the job's too. */
const matrix *matrix_settled(job *, const sg_matrix *);

/* The same for those who only choose a format, or ask what one would need: one that lies in device
   memory is a remote_matrix (matrix/format.h). */
const matrix *matrix_view(job *, const sg_matrix *);
matrix_facts matrix_facts_of(job *, const sg_matrix *);

/* A new matrix; `fill` (may be NULL) gets what it says beside the matrix, and where it fails there
   is none. */
typedef struct matrix_making {
    sg_matrix *matrix;
    const void *given;
} matrix_making;
sg_status matrix_make(sg_context *, int64_t rows, int64_t columns,
                      void (*fill)(job *, void *making), const void *given, sg_matrix **out);

/* Matrices on the device. Takes: kernels that multiply with one, and matrices of the host. Makes:
   what sg_device_matrix points to: the arrays of a format in device memory. */

struct sg_device_matrix {
    sg_context *context; /* held */
    job *job;            /* holds the struct */
    int storage[PROGRAM_STORAGE];
    diagonal diagonals[MOST_DIAGONALS]; /* that it is stored beside */
    int diagonal_count;
    int64_t rows, columns;
    int array_count;
    struct {
        const char *name;
        int64_t extent[2];
        void *data; /* never NULL */
        bool lent;  /* the caller's own, or of a block */
    } arrays[PACKED_ARRAYS];
    void *blocks[2]; /* that hold several arrays; NULL */
    sg_conversion_info info;
};

/* sg_matrix_upload, which fails through the job: with FAULT_PLAN where the format does not serve,
   FAULT_DATA where a value does not fit. */
sg_device_matrix *device_matrix_upload(job *, const sg_matrix *, const sg_kernel *);

/* How the kernel's matrix is stored; refuses where it has none. */
storage device_matrix_storage(job *, const sg_kernel *);

#endif
