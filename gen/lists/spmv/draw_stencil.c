/* Matrices for checks of kernels that have diagonals compiled in. Takes: the diagonals, a kind, a
   size, a seed. Makes: rows that have them all, and among those rows that lack entries, have other
   values or other entries, by the kind. */
#include "gen/lists/draw.h"
#include "gen/lists/spmv/spmv.h"
#include "matrix/layout.h"

typedef struct drawing {
    job *job;
    const storage *storage;
    uint64_t state;
    int kind;
    int64_t size; /* entries asked for */
    int64_t rows, columns, entries;
    int64_t *row, *column;
    double *value;
} drawing;

/* Never a diagonal's own value, nor 0. */
static double other_value(drawing *d) {
    double value = draw_real(&d->state);
    for (int i = 0; i < d->storage->diagonal_count; i++)
        if ((float)value == (float)d->storage->diagonals[i].value)
            return other_value(d);
    value += value < 0 ? -2 : 2;
    return d->storage->value_bytes == sizeof(float) ? (double)(float)value : value;
}

static void put(drawing *d, int64_t row, int64_t column, double value) {
    d->row[d->entries] = row;
    d->column[d->entries] = column;
    d->value[d->entries++] = value;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* `count` columns, one from each of as many stretches. */
static void put_other_row(drawing *d, int64_t row, int64_t count) {
    count = count < d->columns ? count : d->columns;
    for (int64_t k = 0; k < count; k++) {
        const int64_t begin = d->columns / count * k;
        const int64_t end = k == count - 1 ? d->columns : begin + d->columns / count;
        put(d, row, begin + draw_below(&d->state, end - begin), other_value(d));
    }
}

/* The diagonals of `bits` that meet A; that of number `changed` has another value. */
static void put_stencil_row(drawing *d, int64_t row, uint64_t bits, int changed) {
    const storage *s = d->storage;
    for (int i = 0; i < s->diagonal_count; i++) {
        const int64_t column = row + s->diagonals[i].offset;
        if ((bits >> i & 1) != 0 && column >= 0 && column < d->columns)
            put(d, row, column, i == changed ? other_value(d) : s->diagonals[i].value);
    }
}

static bool is_on_diagonal(const storage *s, int64_t offset) {
    for (int i = 0; i < s->diagonal_count; i++)
        if (s->diagonals[i].offset == offset)
            return true;
    return false;
}

static void put_with_another(drawing *d, int64_t row) {
    put_stencil_row(d, row, ~UINT64_C(0), -1);
    const int64_t column = d->columns > 0 ? draw_below(&d->state, d->columns) : 0;
    if (d->columns > 0 && !is_on_diagonal(d->storage, column - row))
        put(d, row, column, other_value(d));
}

static void put_row(drawing *d, int64_t row) {
    enum { LINE = 7 }; /* of a grid, whose ends lack their neighbours */
    const int count = d->storage->diagonal_count;
    const int64_t chance = draw_below(&d->state, 64);
    const uint64_t all = ~UINT64_C(0), some = random_next(&d->state);
    switch (d->kind) {
    case SPMV_EMPTY:
        return;
    case SPMV_DIAGONAL:
        return put_stencil_row(d, row, all, -1);
    case SPMV_DENSE: /* of other rows as many as are offered */
        return row % 2 == 1 ? put_other_row(d, row, draw_below(&d->state, 40))
                            : put_stencil_row(d, row, all, -1);
    case SPMV_BANDED:
        return put_stencil_row(d, row, row % LINE == 0 ? all - 1 : all, -1);
    case SPMV_POWER_LAW:
        return row == d->rows / 3 ? put_other_row(d, row, d->size / 16)
               : chance < 8       ? put_other_row(d, row, 64 / (chance + 1))
                                  : put_stencil_row(d, row, all, -1);
    case SPMV_FULL_ROW:
        return row == d->rows / 2 ? put_other_row(d, row, d->columns)
                                  : put_stencil_row(d, row, all, -1);
    case SPMV_EMPTY_ROWS:
        return put_stencil_row(d, row, chance < 4 ? some : 0, -1);
    default:
        break;
    }
    if (chance < 2)
        put_with_another(d, row);
    else if (chance < 4)
        put_stencil_row(d, row, all, (int)draw_below(&d->state, count));
    else if (chance < 5)
        put_other_row(d, row, chance);
    else
        put_stencil_row(d, row, chance < 9 ? some : chance < 10 ? 0 : all, -1);
}

/* ---- matrices ------------------------------------------------------------------------------ */

static void set_shape(drawing *d) {
    const int64_t side = d->size < 8 ? d->size : d->size / d->storage->diagonal_count + 1;
    d->rows = d->kind == SPMV_TALL ? 2 * side : d->kind == SPMV_WIDE ? side / 2 : side;
    d->columns = d->kind == SPMV_TALL ? side / 2 : d->kind == SPMV_WIDE ? 2 * side : side;
    if (d->kind == SPMV_EMPTY_ROWS)
        d->rows = d->columns = 8 * side;
}

/* What all rows together have at most. */
static size_t most_entries(const drawing *d) {
    enum { OTHER = 64 }; /* of a row; and one that is full */
    return (size_t)(d->rows * OTHER + d->columns);
}

matrix spmv_draw_stencil(job *j, const storage *s, int kind, int64_t n, uint64_t seed) {
    drawing d = {.job = j, .storage = s, .state = seed, .kind = kind, .size = n};
    set_shape(&d);
    const size_t most = most_entries(&d);
    d.row = job_array(j, most, sizeof *d.row);
    d.column = job_array(j, most, sizeof *d.column);
    d.value = job_array(j, most, sizeof *d.value);
    for (int64_t row = 0; row < d.rows; row++)
        put_row(&d, row);
    order_entries(j, d.entries, d.row, d.column, d.value);
    return (matrix){d.rows, d.columns, d.entries, d.row, d.column, d.value};
}
