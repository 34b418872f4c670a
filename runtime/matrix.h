/* Matrices inside. Takes: entries. Makes: what sg_matrix points to: an assembly, which is settled
   when it is first used after a change. It holds its context. */
#ifndef SG_RUNTIME_MATRIX_H
#define SG_RUNTIME_MATRIX_H

#include "matrix/assembly.h"
#include "runtime/context.h"

struct sg_matrix {
    sg_context *context;
    job *job; /* holds the struct */
    assembly entries;
    pthread_mutex_t
        lock; /* of settling: uses that change nothing for the caller are many at once */
};

/* The sorted entries, valid until the matrix is changed; the struct is the job's. */
const matrix *matrix_settled(job *, const sg_matrix *);

/* A new matrix; `fill` (may be NULL) gets what it says beside the matrix, and where it fails there
   is none. */
typedef struct matrix_making {
    sg_matrix *matrix;
    const void *given;
} matrix_making;
sg_status matrix_make(sg_context *, int64_t rows, int64_t columns,
                      void (*fill)(job *, void *making), const void *given, sg_matrix **out);

#endif
