/* Formats of plain lists: COO, CSR, CSC. */
#include "matrix/layout.h"

/* ---- COO: row, column, value ---------------------------------------------------------------- */

static void measure_coo(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    layout_array(p, "row", PACKED_INDEX, m->entries, 1);
    layout_array(p, "column", PACKED_INDEX, m->entries, 1);
    layout_array(p, "value", PACKED_VALUE, m->entries, 1);
}

static void fill_coo(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    for (int64_t i = 0; i < m->entries; i++) {
        layout_put(p, 0, i, m->row[i]);
        layout_put(p, 1, i, m->column[i]);
        layout_put_value(p, 2, i, m->value[i]);
    }
}

static void unpack_coo(const packed_matrix *p, entry_list *out) {
    for (int64_t i = 0; i < p->entries; i++)
        layout_take(out, layout_index(p, 0, i), layout_index(p, 1, i), layout_value(p, 2, i));
}

/* ---- CSR: offset, column, value -------------------------------------------------------------- */

static void measure_compressed(const matrix *m, packed_matrix *p, int64_t lines,
                               const char *other) {
    layout_array(p, "offset", PACKED_INDEX, lines + 1, 1);
    layout_array(p, other, PACKED_INDEX, m->entries, 1);
    layout_array(p, "value", PACKED_VALUE, m->entries, 1);
    if (m->entries > p->largest_index)
        p->largest_index = m->entries;
}

static void measure_csr(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    measure_compressed(m, p, m->rows, "column");
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

static void measure_csc(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    measure_compressed(m, p, m->columns, "row");
}

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
const layout layout_csc = {measure_csc, fill_csc, unpack_csc};
