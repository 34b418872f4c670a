/* The matrices that products are measured with, made on the host in a second or two. Makes: rows of
   sorted columns, with offsets, and values that are small odd whole numbers (in the Poisson
   matrices -1 and the number of neighbours). Sums of products with small odd numbers are then exact
   in a float, in any order. */
#ifndef BENCH_PRIMITIVES_MATRICES_H
#define BENCH_PRIMITIVES_MATRICES_H

#include "primitives.h"

enum { MATRICES = 14 };
const char *matrix_word(int); /* "poisson2d", ... */

typedef struct host_matrix {
    const char *name;
    int64_t rows, columns, entries;
    int32_t *offsets, *column;
    double *value;
} host_matrix;

/* `scale`: so many times fewer rows. */
host_matrix host_matrix_make(const bench *, const char *name, int64_t scale);
void host_matrix_free(host_matrix *);

#endif
