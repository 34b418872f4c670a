/* Sparse matrices of many shapes, for tests. Takes: a job. Makes: sorted entries, the same each
   time; no value is 0, and all are floats. */
#ifndef TESTS_MATRICES_H
#define TESTS_MATRICES_H

#include "matrix/format.h"

typedef struct drawn {
    const char *name;
    int64_t rows, columns;
    bool (*entry)(int64_t rows, int64_t columns, int64_t row, int64_t column);
} drawn;

static inline uint64_t scramble(uint64_t a, uint64_t b) {
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b + 1;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline bool draw_none(int64_t m, int64_t n, int64_t r, int64_t c) {
    (void)m, (void)n, (void)r, (void)c;
    return false;
}
static inline bool draw_all(int64_t m, int64_t n, int64_t r, int64_t c) {
    (void)m, (void)n, (void)r, (void)c;
    return true;
}
static inline bool draw_diagonal(int64_t m, int64_t n, int64_t r, int64_t c) {
    (void)m, (void)n;
    return r == c;
}
static inline bool draw_band(int64_t m, int64_t n, int64_t r, int64_t c) {
    (void)m, (void)n;
    return c - r >= -2 && c - r <= 3;
}
static inline bool draw_power(int64_t m, int64_t n, int64_t r, int64_t c) {
    (void)m;
    const int64_t length = n / (1 + (int64_t)(scramble(1, (uint64_t)r) % 40));
    return (int64_t)(scramble(2 + (uint64_t)r, (uint64_t)c) % (uint64_t)n) < length / 4 + 1;
}
static inline bool draw_full_row(int64_t m, int64_t n, int64_t r, int64_t c) {
    (void)n;
    return r == m / 2 || r == c;
}
static inline bool draw_full_column(int64_t m, int64_t n, int64_t r, int64_t c) {
    (void)m;
    return c == n / 3 || r == c;
}
static inline bool draw_empty_rows(int64_t m, int64_t n, int64_t r, int64_t c) {
    (void)m, (void)n;
    return r % 17 == 5 && scramble((uint64_t)r, (uint64_t)c) % 5 == 0;
}
static inline bool draw_but_one(int64_t m, int64_t n, int64_t r, int64_t c) {
    (void)m, (void)n;
    return r != 4 && (r + c) % 2 == 0;
}
static inline bool draw_grid(int64_t m, int64_t n, int64_t r, int64_t c) { /* 5 points, 30 a line */
    (void)m, (void)n;
    const int64_t away = r > c ? r - c : c - r, least = r < c ? r : c;
    return away == 0 || away == 30 || (away == 1 && least % 30 != 29);
}
static inline bool draw_sparse(int64_t m, int64_t n, int64_t r, int64_t c) {
    (void)m, (void)n;
    return scramble((uint64_t)r + 7, (uint64_t)c) % 10 == 0;
}

static const drawn drawn_matrices[] = {
    {"0x0", 0, 0, draw_none},
    {"5x0", 5, 0, draw_none},
    {"0x5", 0, 5, draw_none},
    {"without entries", 70, 9, draw_none},
    {"1x1", 1, 1, draw_all},
    {"1x1 without entries", 1, 1, draw_none},
    {"diagonal", 67, 67, draw_diagonal},
    {"dense", 13, 13, draw_all},
    {"banded", 210, 210, draw_band},
    {"power law", 300, 300, draw_power},
    {"full row", 400, 400, draw_full_row},
    {"full column", 400, 400, draw_full_column},
    {"empty rows", 500, 120, draw_empty_rows},
    {"one empty row", 9, 12, draw_but_one},
    {"grid", 900, 900, draw_grid},
    {"tall", 300, 21, draw_sparse},
    {"wide", 21, 300, draw_sparse},
    {"one row", 1, 1000, draw_all},
    {"one column", 1000, 1, draw_all},
    {"two rows apart", 1025, 33, draw_full_row},
};
enum { DRAWN_MATRICES = sizeof drawn_matrices / sizeof drawn_matrices[0] };

static inline matrix matrix_draw(job *j, const drawn *d) {
    int64_t count = 0;
    for (int64_t r = 0; r < d->rows; r++)
        for (int64_t c = 0; c < d->columns; c++)
            count += d->entry(d->rows, d->columns, r, c);
    int64_t *row = job_array(j, (size_t)count, sizeof *row);
    int64_t *column = job_array(j, (size_t)count, sizeof *column);
    double *value = job_array(j, (size_t)count, sizeof *value);
    int64_t at = 0;
    for (int64_t r = 0; r < d->rows; r++)
        for (int64_t c = 0; c < d->columns; c++)
            if (d->entry(d->rows, d->columns, r, c)) {
                row[at] = r;
                column[at] = c;
                value[at++] = 1 + (float)(scramble((uint64_t)r, (uint64_t)c) % 1024) / 256;
            }
    return (matrix){d->rows, d->columns, count, row, column, value};
}

#endif
