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

/* `count` cells from `at` on, one after another along an axis; at most LANES. Lanes beyond the last
   get 0. */
typedef struct stretch {
    const int64_t *size;
    int64_t at[AXES];
    int along;
    int count;
} stretch;

void tap_read(const model *, const tap *, const reference_array *arrays, const stretch *, row *to);

/* A cell inside the grid, and the bound on it. */
double tap_cell(const model *, const reference_array *, const int64_t at[AXES], double *bound);

#endif
