/* Formats whose rows stay in their order: plain lists (COO, CSR, CSC), and rows padded to a common
   length and stored across (ELL, and HYB with a tail), so that neighbouring threads load
   neighbouring places. */
#include "matrix/layout.h"

/* ---- COO: row, column, value ---------------------------------------------------------------- */

static void measure_coo(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    layout_arrays(p, m->entries, 0, 0, 0);
}

static void fill_coo(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    for (int64_t i = 0; i < m->entries; i++)
        layout_put_entry(p, 0, i, m, i);
}

static void unpack_coo(const packed_matrix *p, entry_list *out) {
    layout_take_entries(p, 0, out);
}

/* ---- CSR: offset, column, value -------------------------------------------------------------- */

/* Of CSC too. */
static void measure_csr(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    layout_arrays(p, m->entries, 0, 0, 0);
    layout_stores(p, m->entries);
}

static void fill_csr(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    int64_t next = 0; /* offsets before this one are written */
    for (int64_t i = 0; i < m->entries; i++) {
        for (; next <= m->row[i]; next++)
            layout_put(p, 0, next, i);
        layout_put(p, 1, i, m->column[i]);
        layout_put_value(p, 2, i, m->value[i]);
    }
    for (; next <= m->rows; next++)
        layout_put(p, 0, next, m->entries);
}

static void unpack_csr(const packed_matrix *p, entry_list *out) {
    for (int64_t row = 0; row < p->rows; row++)
        for (int64_t i = layout_index(p, 0, row); i < layout_index(p, 0, row + 1); i++)
            layout_take(out, row, layout_index(p, 1, i), layout_value(p, 2, i));
}

/* ---- CSC: offset, row, value ----------------------------------------------------------------- */

/* Counts per column, then where each column begins. These beginnings advance while columns fill.
   They start one place early, so that they end where they must stand and need not be moved back. */
static void fill_csc(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    layout_set(p, 0, 0);
    for (int64_t i = 0; i < m->entries; i++)
        if (m->column[i] + 2 <= m->columns)
            layout_put(p, 0, m->column[i] + 2, layout_index(p, 0, m->column[i] + 2) + 1);
    for (int64_t c = 2; c <= m->columns; c++)
        layout_put(p, 0, c, layout_index(p, 0, c) + layout_index(p, 0, c - 1));
    for (int64_t i = 0; i < m->entries; i++) {
        const int64_t at = layout_index(p, 0, m->column[i] + 1);
        layout_put(p, 0, m->column[i] + 1, at + 1);
        layout_put(p, 1, at, m->row[i]);
        layout_put_value(p, 2, at, m->value[i]);
    }
}

static void unpack_csc(const packed_matrix *p, entry_list *out) {
    for (int64_t column = 0; column < p->columns; column++)
        for (int64_t i = layout_index(p, 0, column); i < layout_index(p, 0, column + 1); i++)
            layout_take(out, layout_index(p, 1, i), column, layout_value(p, 2, i));
}

const layout layout_coo = {measure_coo, fill_coo, unpack_coo};
const layout layout_csr = {measure_csr, fill_csr, unpack_csr};
const layout layout_csc = {measure_csr, fill_csc, unpack_csc};

int64_t layout_longest(const matrix *m) {
    int64_t longest = 0;
    if (matrix_remote(m) != NULL)
        return matrix_remote(m)->longest;
    for (int64_t i = 0, end; i < m->entries; i = end) {
        end = layout_row_end(m, i);
        longest = end - i > longest ? end - i : longest;
    }
    return longest;
}

/* Stores the first entries of each row, and the others, which ELL has none of, in the tail. */
static void fill_width(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    const int64_t width = p->arrays[0].extent[1];
    layout_set(p, 0, 0xff);
    layout_set(p, 1, 0);
    int64_t rest = 0;
    for (int64_t i = 0, end; i < m->entries; i = end) {
        end = layout_row_end(m, i);
        for (int64_t k = 0; k < end - i; k++) {
            if (k >= width) {
                layout_put_entry(p, 2, rest++, m, i + k);
                continue;
            }
            layout_put(p, 0, k * p->rows + m->row[i], m->column[i + k]);
            layout_put_value(p, 1, k * p->rows + m->row[i], m->value[i + k]);
        }
    }
}

static void unpack_width(const packed_matrix *p, entry_list *out) {
    for (int64_t k = 0; k < p->arrays[0].extent[1]; k++)
        for (int64_t row = 0; row < p->rows; row++) {
            const int64_t column = layout_index(p, 0, k * p->rows + row);
            if (column >= 0)
                layout_take(out, row, column, layout_value(p, 1, k * p->rows + row));
        }
}

/* ---- ELL ------------------------------------------------------------------------------------ */

static void measure_ell(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    layout_arrays(p, layout_longest(m), 0, 0, 0);
}

/* ---- HYB ------------------------------------------------------------------------------------ */

/* The greatest K that a third of the rows have, and how many entries are beyond K. An entry in COO
   costs about three times what a place in ELL does (Bell and Garland). */
static int64_t find_width(job *j, const matrix *m, int64_t *tail) {
    const int64_t longest = layout_longest(m);
    int64_t *of_length = job_array(j, (size_t)longest + 2, sizeof *of_length);
    for (int64_t i = 0, end; i < m->entries; i = end) {
        end = layout_row_end(m, i);
        of_length[end - i]++;
    }
    /* From the longest length down: how many rows have at least this length, and how many entries
       they have beyond it. */
    int64_t width = longest, rows = 0;
    for (*tail = 0; width > 0; width--) {
        rows += of_length[width];
        if (rows >= layout_parts(m->rows, 3))
            break;
        *tail += rows;
    }
    return width;
}

static void measure_hyb(job *j, const matrix *m, packed_matrix *p) {
    int64_t tail;
    const int64_t width = find_width(j, m, &tail);
    layout_arrays(p, width, tail, 0, 0);
}

static void unpack_hyb(const packed_matrix *p, entry_list *out) {
    unpack_width(p, out);
    layout_take_entries(p, 2, out);
}

const layout layout_ell = {measure_ell, fill_width, unpack_width};
const layout layout_hyb = {measure_hyb, fill_width, unpack_hyb};
