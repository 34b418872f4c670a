/* Matrices of grids for tests: each cell's neighbours, with one value a direction, and some of them
   spoiled. Takes: a job and a grid. Makes: sorted entries, the same each time. */
#ifndef TESTS_STENCILS_H
#define TESTS_STENCILS_H

#include "matrix/layout.h"
#include "tests/unit/matrix/matrices.h"

enum { SPOIL_WAYS = 6 };

typedef struct grid_matrix {
    int64_t nx, ny, nz; /* 1: no neighbours along that axis */
    int64_t spoiled;    /* one row in so many is changed, each in one of SPOIL_WAYS; 0: none */
    bool periodic;      /* along x: cells at the ends are neighbours */
} grid_matrix;

typedef struct grid_entries {
    int64_t count, *row, *column;
    double *value;
} grid_entries;

static inline void grid_put(grid_entries *e, int64_t row, int64_t column, double value) {
    e->row[e->count] = row;
    e->column[e->count] = column;
    e->value[e->count++] = value;
}

static inline void grid_row(const grid_matrix *g, grid_entries *e, int64_t row) {
    const int64_t size[] = {g->nx, g->ny, g->nz}, stride[] = {1, g->nx, g->nx * g->ny};
    int dims = 0;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t at = row / stride[axis] % size[axis];
        dims += size[axis] > 1;
        if (at > 0)
            grid_put(e, row, row - stride[axis], -1);
        if (at + 1 < size[axis])
            grid_put(e, row, row + stride[axis], -1 - axis);
    }
    if (g->periodic && row % g->nx == 0 && g->nx > 2)
        grid_put(e, row, row + g->nx - 1, -1);
    grid_put(e, row, row, 2 * dims + 1);
}

/* Changes the last row that was put. */
static inline void grid_spoil(const grid_matrix *g, grid_entries *e, int64_t row, int64_t first) {
    const int64_t n = g->nx * g->ny * g->nz, far = (row + n / 2) % n;
    switch (scramble(2, (uint64_t)row) % SPOIL_WAYS) {
    case 0: /* another value */
        e->value[first] = 7;
        break;
    case 1: /* no entries */
        e->count = first;
        break;
    case 2: /* one fewer */
        e->count--;
        break;
    case 3: /* one more, of 0: it is an entry all the same */
        for (int64_t i = first; i < e->count; i++)
            if (e->column[i] == far)
                return;
        grid_put(e, row, far, 0);
        break;
    case 4: /* a single other one */
        e->count = first;
        grid_put(e, row, far, 3);
        break;
    default: /* the sign of a zero, where there is one; all are changed */
        for (int64_t i = first; i < e->count; i++)
            e->value[i] = 1 + (double)(i - first);
        break;
    }
}

static inline matrix grid_draw(job *j, const grid_matrix *g) {
    const int64_t n = g->nx * g->ny * g->nz;
    grid_entries e = {0, job_array(j, (size_t)(9 * n), sizeof(int64_t)),
                      job_array(j, (size_t)(9 * n), sizeof(int64_t)),
                      job_array(j, (size_t)(9 * n), sizeof(double))};
    for (int64_t row = 0; row < n; row++) {
        const int64_t first = e.count;
        grid_row(g, &e, row);
        if (g->spoiled > 0 && scramble(1, (uint64_t)row) % (uint64_t)g->spoiled == 0)
            grid_spoil(g, &e, row, first);
    }
    order_entries(j, e.count, e.row, e.column, e.value);
    return (matrix){n, n, e.count, e.row, e.column, e.value};
}

#endif
