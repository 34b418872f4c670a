/* Matrices that are being put together or changed: a dictionary of keys (DOK). New entries go into
   a hash table of places; settling moves them into the sorted entries. Takes: places and values.
   Makes: sorted entries, one a place. */
#ifndef SG_MATRIX_ASSEMBLY_H
#define SG_MATRIX_ASSEMBLY_H

#include "matrix/format.h"

/* The most rows and columns. A size plus a small number, and the sum of both sizes, can still be
   counted. */
#define MATRIX_MOST (INT64_C(1) << 61)

typedef struct assembly_slot {
    int64_t row, column; /* row −1: free */
    double value;
} assembly_slot;

typedef struct assembly {
    allocator memory;
    int64_t rows, columns;
    int64_t entries;  /* sorted, in the lists */
    int64_t appended; /* after the sorted entries, in any order */
    struct {
        void *data;
        size_t bytes;
    } lists[3]; /* row, column, value */
    assembly_slot
        *slots; /* places that the lists do not have; at most half of the slots are taken */
    int64_t taken, capacity;
} assembly;

/* An empty matrix; nothing is allocated. Sizes are 0 to MATRIX_MOST. */
void assembly_begin(assembly *, const allocator *, int64_t rows, int64_t columns);
void assembly_free(assembly *);

/* Single entries of a settled matrix. FAULT_USAGE: the place is not in the matrix; FAULT_MEMORY:
   nothing has changed. These functions take no job, because each call is for one entry. */
fault assembly_set(assembly *, int64_t row, int64_t column, double value);
fault assembly_add(assembly *, int64_t row, int64_t column, double value);
fault assembly_get(const assembly *, int64_t row, int64_t column, double *out); /* 0: no entry */

/* Any number of entries before the matrix is settled. Settling adds up entries at one place, in
   their order. */
fault assembly_append(assembly *, int64_t row, int64_t column, double value);

/* Moves everything into the sorted lists. Where that fails nothing has changed. */
void assembly_settle(job *, assembly *);

/* The matrix as entries, while nothing is added after settling; valid until the matrix is changed.
 */
matrix assembly_matrix(const assembly *);
bool assembly_is_settled(const assembly *);

#endif
