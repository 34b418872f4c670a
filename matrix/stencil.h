/* Matrices that are stencils: few diagonals, with one value on each, except in some rows. Takes:
   sorted entries. Makes: the diagonals, how many rows deviate from them, and why a matrix is no
   stencil. */
#ifndef SG_MATRIX_STENCIL_H
#define SG_MATRIX_STENCIL_H

#include "matrix/format.h"

enum { STENCIL_GROUP = 32 };                          /* rows that a word stands for: a warp's */
#define STENCIL_OTHER (UINT32_C(1) << MOST_DIAGONALS) /* in place of a row's bits */

/* Each diagonal on which one finite value stands in more than half of the rows, with that value, by
   ascending offset; in memory of the job. Values are compared as `value_bytes` holds them. None
   where there are more than MOST_DIAGONALS. The function looks at a hundred rows drawn by a fixed
   rule, so that asking costs nothing. Measuring finds whether all other rows agree. */
int stencil_find(job *, const matrix *, size_t value_bytes, const diagonal **out);

typedef struct stencil_rows {
    int64_t lacking; /* rows that lack some of the diagonals and have no other entries */
    int64_t other, entries, longest; /* rows with any other entry, and the entries of those rows */
} stencil_rows;

/* Both take a matrix that was measured as FORMAT_STENCIL, on the host or on a device. Its `work`
   begins with this struct. */
stencil_rows stencil_deviations(const packed_matrix *);
const char *stencil_refusal(job *, const packed_matrix *);

#endif
