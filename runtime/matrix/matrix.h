/* Matrices inside. Takes: entries. Makes: what sg_matrix points to: an assembly, which is settled
   when it is first used after a change. It holds its context. */
#ifndef SG_RUNTIME_MATRIX_MATRIX_H
#define SG_RUNTIME_MATRIX_MATRIX_H

#include "matrix/format.h"
#include "runtime/launch/context.h"

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

#endif
