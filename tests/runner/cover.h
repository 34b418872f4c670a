/* Covering selections: rows of values such that every pair of values of two dimensions meets in
   some row. Takes: how many values each dimension has, and which rows are refused. Makes: rows,
   greedily, the same for the same seed. */
#ifndef TESTS_RUNNER_COVER_H
#define TESTS_RUNNER_COVER_H

#include "base/job.h"

enum { COVER_DIMENSIONS = 16, COVER_FREE = -1 };

typedef struct cover cover;

cover *cover_new(job *, const int *counts, int dimensions, uint64_t seed);

/* Chooses the entries of the row that are COVER_FREE, below `limit`, so that many pairs below
   `limit` are met that no row met before; and marks the row's pairs as met. */
void cover_fill(cover *, int *row, int limit);

/* Takes back what the last cover_fill has marked: nothing comes of its row. The pair that
   cover_missing has set for it is given up once several rows of it were refused. */
void cover_refuse(cover *);

/* The pair that cover_missing set last counts as met from now on. */
void cover_give_up(cover *);

/* Sets a pair that no row has met, and leaves the rest free; false where all below `limit` are met.
 */
bool cover_missing(cover *, int *row, int limit);

#endif
