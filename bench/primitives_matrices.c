/* See primitives_matrices.h. Several threads make the rows, each row from its own number alone. */
#include "primitives_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROWS = 1 << 12, MOST_ODD = 15 };

double matrix_odd(uint64_t seed, int64_t place) {
    return (double)((int)(drawn(seed, place) % (MOST_ODD + 1)) * 2 - MOST_ODD);
}

static int64_t atleast(int64_t n, int64_t least) {
    return n > least ? n : least;
}

/* ---- Poisson --------------------------------------------------------------------------------- */

static shape poisson2d(int64_t scale) {
    const int64_t side = atleast((int64_t)(4096 / sqrt((double)scale)), 3);
    return (shape){side, side * side, side * side, 5};
}

static shape poisson3d(int64_t scale) {
    const int64_t side = atleast((int64_t)(256 / cbrt((double)scale)), 3);
    return (shape){side, side * side * side, side * side * side, 7};
}

/* Neighbours in the grid, in the order of their numbers. Returns the count; with lists, also writes
   their entries. */
static int64_t neighbours(const shape *s, int64_t row, int32_t *column, double *value) {
    const int axes = s->most == 5 ? 2 : 3;
    int64_t step[3], place[3], count = 0;
    for (int axis = 0, n = 1; axis < axes; axis++, n *= (int)s->side) {
        step[axis] = n;
        place[axis] = row / n % s->side;
    }
    for (int k = -axes; k <= axes; k++) {
        const int axis = abs(k) - 1;
        if ((k < 0 && place[axis] == 0) || (k > 0 && place[axis] == s->side - 1))
            continue;
        if (column != NULL) {
            column[count] = (int32_t)(row + (k < 0 ? -step[axis] : k > 0 ? step[axis] : 0));
            value[count] = k == 0 ? 2 * axes : -1;
        }
        count++;
    }
    return count;
}

static int64_t poisson_length(const shape *s, int64_t row) {
    return neighbours(s, row, NULL, NULL);
}

static void poisson_fill(const shape *s, int64_t row, int64_t count, int32_t *column,
                         double *value) {
    (void)count;
    neighbours(s, row, column, value);
}

/* ---- drawn columns --------------------------------------------------------------------------- */

/* Cuts the columns into `count` equal parts and draws a place in each: all different, and in order.
 */
static void spread(const shape *s, int64_t row, int64_t count, int32_t *column, double *value) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t low = i * s->columns / count, high = (i + 1) * s->columns / count;
        const uint64_t r = drawn(MATRIX_SEED + 1, row * s->most + i);
        column[i] = (int32_t)(low + (int64_t)(r % (uint64_t)(high > low ? high - low : 1)));
        value[i] = matrix_odd(MATRIX_SEED + 2, row * s->most + i);
    }
}

static int64_t always_most(const shape *s, int64_t row) {
    (void)row;
    return s->most;
}

static shape square(int64_t rows, int64_t most) {
    return (shape){0, atleast(rows, most), atleast(rows, most), most};
}

static shape random16(int64_t scale) {
    return square((INT64_C(1) << 22) / scale, 16);
}

static shape two(int64_t scale) {
    return square((INT64_C(1) << 24) / scale, 2);
}

/* Few long rows over as many columns as vectors often have. */
static shape few_long(int64_t scale) {
    shape s = square((INT64_C(1) << 22) / scale, atleast(65536 / scale, 64));
    s.rows = 1024 / (scale > 64 ? 64 : scale);
    return s;
}

/* A row's rank is drawn. The row's length is the longest over the rank to a power, at least 1: on
   average 15.6, of 2.1 M rows with a longest row of 100 000. */
static shape zipf(int64_t scale) {
    return square((INT64_C(1) << 21) / scale, atleast(100000 / scale, 64));
}

static int64_t zipf_length(const shape *s, int64_t row) {
    /* The factor is a prime, so that each rank comes once. */
    const int64_t rank = (int64_t)((uint64_t)row * UINT64_C(0x9E3779B1) % (uint64_t)s->rows);
    const double length = (double)s->most / pow((double)(rank + 1), 0.677);
    return length < 1 ? 1 : (int64_t)length;
}

/* ---- bands and blocks ------------------------------------------------------------------------ */

enum { BAND = 7, BLOCK = 4, BLOCKS = 6 };

static shape banded(int64_t scale) {
    return square((INT64_C(1) << 22) / scale, 2 * BAND + 1);
}

static int64_t band_length(const shape *s, int64_t row) {
    const int64_t low = row < BAND ? row : BAND;
    const int64_t high = s->rows - 1 - row < BAND ? s->rows - 1 - row : BAND;
    return low + 1 + high;
}

static void band_fill(const shape *s, int64_t row, int64_t count, int32_t *column, double *value) {
    const int64_t first = row < BAND ? 0 : row - BAND;
    for (int64_t i = 0; i < count; i++) {
        column[i] = (int32_t)(first + i);
        value[i] = matrix_odd(MATRIX_SEED + 2, row * s->most + i);
    }
}

/* Dense blocks of 4x4, at drawn places of each row of blocks. */
static shape blocked(int64_t scale) {
    const int64_t rows = atleast((INT64_C(1) << 22) / scale, BLOCK * BLOCKS);
    return square(rows / BLOCK * BLOCK, BLOCK * BLOCKS);
}

static void block_fill(const shape *s, int64_t row, int64_t count, int32_t *column, double *value) {
    const shape blocks = {0, s->rows / BLOCK, s->columns / BLOCK, BLOCKS};
    int32_t places[BLOCKS];
    double unused[BLOCKS];
    spread(&blocks, row / BLOCK, BLOCKS, places, unused);
    for (int64_t i = 0; i < count; i++) {
        column[i] = places[i / BLOCK] * BLOCK + (int32_t)(i % BLOCK);
        value[i] = matrix_odd(MATRIX_SEED + 2, row * s->most + i);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const kind kinds[] = {
    {"poisson2d", poisson2d, poisson_length, poisson_fill},
    {"poisson3d", poisson3d, poisson_length, poisson_fill},
    {"random16", random16, always_most, spread},
    {"zipf", zipf, zipf_length, spread},
    {"banded", banded, band_length, band_fill},
    {"blocked", blocked, always_most, block_fill},
    {"short", two, always_most, spread},
    {"long", few_long, always_most, spread},
};
enum { OTHER_KINDS = sizeof kinds / sizeof *kinds };
_Static_assert(OTHER_KINDS + USERS_KINDS == MATRICES, "matrix_word has them all");

static const kind *kind_at(int i) {
    return i < OTHER_KINDS ? &kinds[i] : &users_kinds[i - OTHER_KINDS];
}

const char *matrix_word(int i) {
    return kind_at(i)->name;
}

typedef struct making {
    const kind *kind;
    shape shape;
    host_matrix *matrix;
} making;

static void make_lengths(void *argument, int64_t begin, int64_t end) {
    const making *m = argument;
    for (int64_t row = begin; row < end; row++)
        m->matrix->offsets[row] = (int32_t)m->kind->length(&m->shape, row);
}

static void make_rows(void *argument, int64_t begin, int64_t end) {
    const making *m = argument;
    const host_matrix *a = m->matrix;
    for (int64_t row = begin; row < end; row++) {
        const int32_t first = a->offsets[row];
        m->kind->fill(&m->shape, row, a->offsets[row + 1] - first, a->column + first,
                      a->value + first);
    }
}

host_matrix host_matrix_make(const bench *b, const char *name, int64_t scale) {
    int k = 0;
    while (strcmp(matrix_word(k), name) != 0)
        k++;
    host_matrix a = {.name = name};
    making m = {.kind = kind_at(k), .shape = kind_at(k)->shape(scale), .matrix = &a};
    a.rows = m.shape.rows;
    a.columns = m.shape.columns;
    a.offsets = must_have(malloc((size_t)(a.rows + 1) * sizeof *a.offsets));
    in_parallel(b, a.rows, LEAST_ROWS, make_lengths, &m);
    for (int64_t row = 0; row <= a.rows; row++) {
        const int64_t length = row < a.rows ? a.offsets[row] : 0;
        a.offsets[row] = (int32_t)a.entries;
        a.entries += length;
    }
    a.column = must_have(malloc((size_t)a.entries * sizeof *a.column));
    a.value = must_have(malloc((size_t)a.entries * sizeof *a.value));
    in_parallel(b, a.rows, 1, make_rows, &m);
    return a;
}

void host_matrix_free(host_matrix *a) {
    free(a->offsets);
    free(a->column);
    free(a->value);
    *a = (host_matrix){0};
}
