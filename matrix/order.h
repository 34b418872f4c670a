/* Putting things in order in linear time. Takes: keys that are not negative. Makes: permutations
   and sorted entries; equal keys keep their order. */
#ifndef SG_MATRIX_ORDER_H
#define SG_MATRIX_ORDER_H

#include "base/job.h"

/* The order in which the keys ascend: key[out[0]] ≤ key[out[1]] ≤ … In memory of the job. */
int64_t *order_of(job *, int64_t count, const int64_t *key);

/* Sorts entries by row, then column, in place; where that fails, nothing has moved. */
void order_entries(job *, int64_t count, int64_t *row, int64_t *column, double *value);

/* Adds up entries at one place, in their order, and returns how many places there are. */
int64_t order_merge(int64_t count, int64_t *row, int64_t *column, double *value);

#endif
