/* Conversions of sparse matrices on the device. Takes: csr in device memory. Makes: the arrays of
   another format there, to the bit those of format_pack (matrix/format.h). */
#ifndef SG_RUNTIME_MATRIX_CONVERT_H
#define SG_RUNTIME_MATRIX_CONVERT_H

#include "gen/lists/spmv/spmv.h"
#include "runtime/matrix/matrix.h"

/* Whether there are kernels for it, and sizes that they can count; else the host converts. */
bool convert_serves(const storage *, int64_t rows, int64_t columns, int64_t entries);

/* Allocations of a format's arrays: of what is written while it is measured, and of all else. */
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

/* In two parts, each a few launches on the default stream. The first finds the arrays' extents (as
   format_measure does) and reads them back, once; the second makes the arrays. Where the job fails
   all device memory is given back. Temporary memory, given back by convert_end: of dia a bit a row
   and column; of sell 4 bytes a slice, of bcsr 4 a row of blocks (8 with wide indices); of stencil
   up to 4.4 bytes a row; and 1 % of that. */
conversion *convert_measure(job *, sg_context *, const device_csr *, const storage *);
void convert_fill(job *, conversion *);

/* Gives all back but blocks that the caller has taken over, which are NULL by then. */
void convert_end(job *, conversion *);

/* ---- its steps, also for looking at a matrix (runtime/matrix/matrix_device.c)
 * -------------------------
 */

/* Rows in a grid that goes through all of them. */
enum { CONVERT_MANY = 2048 * CONVERT_THREADS };

/* The pieces of temporary memory, which are one allocation, behind the totals. */
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
