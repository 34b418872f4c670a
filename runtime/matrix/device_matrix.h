/* Matrices on the device. Takes: kernels that multiply with one, and matrices of the host. Makes:
   what sg_device_matrix points to: the arrays of a format in device memory. */
#ifndef SG_RUNTIME_MATRIX_DEVICE_MATRIX_H
#define SG_RUNTIME_MATRIX_DEVICE_MATRIX_H

#include "matrix/format.h"
#include "runtime/launch/kernel.h"

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
