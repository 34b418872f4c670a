/* Inside matrices. A matrix of the host is an assembly, which is settled when it is first used
   after a change. It holds its context. */
#ifndef SG_RUNTIME_MATRIX_MATRIX_H
#define SG_RUNTIME_MATRIX_MATRIX_H

#include "gen/lists/spmv/spmv.h"
#include "matrix/format.h"
#include "runtime/launch/context.h"

/* CSR in device memory: rows in order, columns ascending and different within a row. */
typedef struct device_csr {
    int64_t rows, columns, entries;
    const void *offset, *column, *value; /* offset[rows + 1] */
} device_csr;

/* A caller's matrix in device memory, after all of it was checked. */
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
        lock; /* of settling: several threads may use a matrix that they do not change */
};

/* The sorted entries, valid until the matrix is changed. Those of a matrix in device memory are
   downloaded into the job. */
const matrix *matrix_settled(job *, const sg_matrix *);

/* The same for choosing a format or measuring one: a matrix in device memory stays there as a
   remote_matrix (matrix/format.h). */
const matrix *matrix_view(job *, const sg_matrix *);
matrix_facts matrix_facts_of(job *, const sg_matrix *);

/* A new matrix, filled by `fill` (may be NULL), which gets a matrix_making. If it fails there is
   none. */
typedef struct matrix_making {
    sg_matrix *matrix;
    const void *given;
} matrix_making;
sg_status matrix_make(sg_context *, int64_t rows, int64_t columns,
                      void (*fill)(job *, void *making), const void *given, sg_matrix **out);

/* A matrix on the device: the arrays of a kernel's format in device memory. */

struct sg_device_matrix {
    sg_context *context; /* held */
    job *job;            /* holds the struct */
    int storage[PROGRAM_STORAGE];
    diagonal diagonals[MOST_DIAGONALS]; /* that it is stored without */
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

/* sg_matrix_upload, failing through the job: FAULT_PLAN if the format cannot hold the matrix,
   FAULT_DATA if a value does not fit. */
sg_device_matrix *device_matrix_upload(job *, const sg_matrix *, const sg_kernel *);

/* How the kernel's matrix is stored; refuses a kernel without one. */
storage device_matrix_storage(job *, const sg_kernel *);

/* ---- conversions on the device --------------------------------------------------------------- */

/* Conversions of sparse matrices on the device: from CSR in device memory to the arrays of
   another format there, bit for bit those of format_pack (matrix/format.h). */
/* Whether kernels convert to this format and can count these sizes; else the host converts. */
bool convert_serves(const storage *, int64_t rows, int64_t columns, int64_t entries);

/* Allocations of a format's arrays: those written while measuring, and the others. */
enum { CONVERT_BLOCKS = 2 };

typedef struct conversion {
    sg_context *context;
    device *device;
    const loaded *kernels;
    packed_matrix packed; /* its data are in device memory, within `blocks` */
    void *blocks[CONVERT_BLOCKS];
    int block_count;
    convert_arguments arguments;
    void *temporary;
    int64_t totals[CONVERT_TOTALS];
    double compile_seconds; /* until the kernels were at hand */
} conversion;

/* A conversion in two parts, each a few launches on the default stream. The first finds the
   arrays' extents, as format_measure does, and reads them back once; the second makes the
   arrays. A failing job frees all device memory. Temporary memory, freed by convert_end: for dia
   a bit for each row and column; for sell 4 bytes a slice, for bcsr 4 a row of blocks (8 with
   wide indices); for stencil up to 4.4 bytes a row; and 1 % of that. */
conversion *convert_measure(job *, sg_context *, const device_csr *, const storage *);
void convert_fill(job *, conversion *);

/* Frees everything except blocks that the caller has taken over and set to NULL. */
void convert_end(job *, conversion *);

/* Its steps, also for looking at a matrix (matrix_device.c). */

/* Rows in a grid that goes through all of them. */
enum { CONVERT_MANY = 2048 * CONVERT_THREADS };

/* The pieces of temporary memory, one allocation, after the totals. */
typedef struct convert_pieces {
    size_t bytes[CONVERT_WORK];
    int64_t tiles; /* of the kernels that add up */
    int counters;
} convert_pieces;

conversion *convert_open(job *, sg_context *, const device_csr *, const storage *);
void convert_work(job *, conversion *, const convert_pieces *);
void convert_launch(job *, conversion *, int kernel, int64_t items, int64_t per_block);
void convert_set(job *, conversion *, void *to, int byte, size_t bytes); /* asynchronous */
void convert_read(job *, conversion *);                                  /* the totals */

#endif
