/* How a matrix of bench/primitives is made: a function for the length of a row, and one that fills
 * a row. */
#ifndef BENCH_PRIMITIVES_KINDS_H
#define BENCH_PRIMITIVES_KINDS_H

#include "primitives_matrices.h"

enum { MATRIX_SEED = 7 };

typedef struct shape {
    int64_t side, rows, columns; /* side: of a grid or mesh */
    int64_t most;                /* entries of the longest row, or more */
} shape;

typedef struct kind {
    const char *name;
    shape (*shape)(int64_t scale);
    int64_t (*length)(const shape *, int64_t row);
    /* Columns in rising order; also values. */
    void (*fill)(const shape *, int64_t row, int64_t count, int32_t *column, double *value);
} kind;

/* A small odd number: sums of products with such numbers are exact in a float. */
double matrix_odd(uint64_t seed, int64_t place);

/* primitives_meshes.c: matrices that look like those of users. */
enum { USERS_KINDS = 6 };
extern const kind users_kinds[USERS_KINDS];

#endif
