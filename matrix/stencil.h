/* Matrices that are stencils: one value on each of few diagonals, but for some rows. Takes: sorted
   entries. Makes: the diagonals, how many rows deviate from them, and why a matrix is no stencil.
 */
#ifndef SG_MATRIX_STENCIL_H
#define SG_MATRIX_STENCIL_H

#include "matrix/format.h"

enum { STENCIL_GROUP = 32 };                          /* rows that a word stands for: a warp's */
#define STENCIL_OTHER (UINT32_C(1) << MOST_DIAGONALS) /* in place of a row's bits */

/* Each diagonal on which one finite value stands in more than half of the rows, and that value, by
   ascending offset; in memory of the job. Values are compared as `value_bytes` holds them. None
   where there are more than MOST_DIAGONALS. It looks at a hundred rows drawn by a fixed rule, so
   that it costs nothing to ask; whether all other rows agree is found by measuring. */
int stencil_find(job *, const matrix *, size_t value_bytes, const diagonal **out);

typedef struct stencil_rows {
    int64_t lacking;                 /* some of the diagonals have no entry; other entries none */
    int64_t other, entries, longest; /* rows with any other entry; what those have */
} stencil_rows;

/* Of a matrix measured as FORMAT_STENCIL, wherever that was: `work` begins with this struct. */
stencil_rows stencil_deviations(const packed_matrix *);
const char *stencil_refusal(job *, const packed_matrix *);

#endif
