/* Finds the diagonals of a stencil in a matrix, and judges what was measured. */
#include "matrix/stencil.h"

#include "matrix/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding ------------------------------------------------------------------------------- */

enum { SAMPLED = 101, LONGEST = 2 * MOST_DIAGONALS };

static int compare(const void *a, const void *b) {
    const diagonal *p = a, *q = b;
    if (p->offset != q->offset)
        return p->offset < q->offset ? -1 : 1;
    return memcmp(&p->value, &q->value, sizeof p->value);
}

static uint64_t mix(uint64_t x) { /* the end of splitmix64: Steele, Lea, Flood, OOPSLA 2014 */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The row that a sample of this number takes. A small matrix is sampled whole. Of a large one each
   stretch gives one row, at no regular distance, because a grid's edges may be regular. */
static int64_t sampled_row(const matrix *m, int64_t number) {
    if (m->rows <= SAMPLED)
        return number;
    const int64_t stretch = m->rows / SAMPLED;
    return number * stretch + (int64_t)(mix((uint64_t)number + 1) % (uint64_t)stretch);
}

static int64_t take_row(const matrix *m, int64_t row, size_t value_bytes, diagonal *to) {
    int64_t count = 0;
    for (int64_t e = layout_first_of(m, row); e < m->entries && m->row[e] == row; e++) {
        if (count == LONGEST)
            return 0; /* more than a stencil has */
        const double value =
            value_bytes == sizeof(float) ? (double)(float)m->value[e] : m->value[e];
        if (isfinite(value))
            to[count++] = (diagonal){m->column[e] - row, value};
    }
    return count;
}

static int64_t take_rows(job *j, const matrix *m, int64_t rows, size_t value_bytes, diagonal *to) {
    int64_t row[SAMPLED], count = 0;
    for (int64_t i = 0; i < rows; i++)
        row[i] = sampled_row(m, i);
    if (matrix_remote(m) != NULL)
        return matrix_remote(m)->sample(j, matrix_remote(m), row, rows, LONGEST, value_bytes, to);
    for (int64_t i = 0; i < rows; i++)
        count += take_row(m, row[i], value_bytes, to + count);
    return count;
}

int stencil_find(job *j, const matrix *m, size_t value_bytes, const diagonal **out) {
    const int64_t rows = m->rows < SAMPLED ? m->rows : SAMPLED;
    diagonal *seen = job_array(j, (size_t)(rows * LONGEST), sizeof *seen);
    diagonal *found = job_array(j, MOST_DIAGONALS, sizeof *found);
    const int64_t count = take_rows(j, m, rows, value_bytes, seen);
    int taken = 0;
    if (count > 0)
        qsort(seen, (size_t)count, sizeof *seen, compare);
    for (int64_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && compare(&seen[i], &seen[end]) == 0;)
            end++;
        if (2 * (end - i) <= rows)
            continue;
        if (taken == MOST_DIAGONALS)
            return 0;
        found[taken++] = seen[i];
    }
    *out = found;
    return taken;
}

/* ---- judging ------------------------------------------------------------------------------- */

const char *stencil_refusal(job *j, const packed_matrix *p) {
    const stencil_rows rows = stencil_deviations(p);
    if (p->storage.diagonal_count == 0)
        return job_print(
            j,
            "the matrix is no stencil: of its diagonals 1 to %d must hold one value in "
            "more than half of the rows",
            MOST_DIAGONALS);
    if (rows.other > p->rows / 2)
        return job_print(j,
                         "%lld of the matrix's %lld rows have other entries than those of the "
                         "stencil, whose %d diagonal%s compiled in",
                         (long long)rows.other, (long long)p->rows, p->storage.diagonal_count,
                         p->storage.diagonal_count == 1 ? " is" : "s are");
    return NULL;
}
