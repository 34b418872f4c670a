/* Conversions of sparse matrices on the device: from CSR in device memory to the arrays of
   another format there, bit for bit those of format_pack (matrix/format.h). */
#ifndef SG_RUNTIME_MATRIX_CONVERT_H
#define SG_RUNTIME_MATRIX_CONVERT_H

#include "gen/lists/spmv/spmv.h"
#include "runtime/matrix/matrix.h"

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

/* ---- its steps, also for looking at a matrix (runtime/matrix/matrix_device.c)
 * -------------------------
 */

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
