/* Matrices while they are put together and changed: a dictionary of keys (DOK), which is a hash
   table of places, beside the sorted entries that it becomes when it is settled.
   Takes: places and values. Makes: sorted entries, one a place. */
#ifndef SG_MATRIX_ASSEMBLY_H
#define SG_MATRIX_ASSEMBLY_H

#include "matrix/format.h"

/* Of rows and of columns: what is added to a size, and the sum of both, still can be counted. */
#define MATRIX_MOST (INT64_C(1) << 61)

typedef struct assembly_slot {
    int64_t row, column; /* row −1: free */
    double value;
} assembly_slot;

typedef struct assembly {
    allocator memory;
    int64_t rows, columns;
    int64_t entries;  /* sorted, in the lists */
    int64_t appended; /* behind them, in any order */
    struct {
        void *data;
        size_t bytes;
    } lists[3];           /* row, column, value */
    assembly_slot *slots; /* places that are not in the lists; at most half are taken */
    int64_t taken, capacity;
} assembly;

/* An empty matrix; nothing is allocated. Sizes are 0 to MATRIX_MOST. */
void assembly_begin(assembly *, const allocator *, int64_t rows, int64_t columns);
void assembly_free(assembly *);

/* Of a settled matrix. FAULT_USAGE: the place is not in the matrix; FAULT_MEMORY: nothing has
   changed. They need no job, because they are called for single entries. */
fault assembly_set(assembly *, int64_t row, int64_t column, double value);
fault assembly_add(assembly *, int64_t row, int64_t column, double value);
fault assembly_get(const assembly *, int64_t row, int64_t column, double *out); /* 0: no entry */

/* Any number of entries before the matrix is settled: those at one place are added up then, in
   their order. */
fault assembly_append(assembly *, int64_t row, int64_t column, double value);

/* Everything into the sorted lists. Where it fails nothing has changed. */
void assembly_settle(job *, assembly *);

/* Of a settled matrix to which nothing was added since; valid until it is changed. */
matrix assembly_matrix(const assembly *);
bool assembly_is_settled(const assembly *);

#endif
