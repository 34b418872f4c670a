/* What taps read: the array's cells, and beyond the edges what the boundaries say.
   Takes: a model, its arrays, a place. Makes: a row's values. Internal to the reference. */
#ifndef SG_GEN_REFERENCE_TAPS_H
#define SG_GEN_REFERENCE_TAPS_H

#include "gen/reference/reference.h"
#include "gen/reference/rows.h"

typedef struct tap {
    int array;
    int d[AXES];
} tap;

/* Cells x … x+count−1 of the row (y, z); count is at most LANES, and lanes beyond it get 0. */
typedef struct stretch {
    const int64_t *size;
    int64_t x, y, z;
    int count;
} stretch;

void tap_read(const model *, const tap *, const reference_array *arrays, const stretch *, row *to);

/* The cell (x, y, z), which is inside, and the bound on it. */
double tap_cell(const model *, const reference_array *, int64_t x, int64_t y, int64_t z,
                double *bound);

#endif
