/* Formats that store rows. In their order: plain lists (COO, CSR, CSC), and rows padded to a common
   length and stored across (ELL, and HYB with a tail), so that neighbouring threads load
   neighbouring places. By their length: JDS sorts all rows and needs no padding; SELL-C-sigma sorts
   windows of sigma rows and pads slices of C rows. */
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

static void unpack_lines(const packed_matrix *p, bool columns, entry_list *out) {
    for (int64_t line = 0; line < (columns ? p->columns : p->rows); line++)
        for (int64_t i = layout_index(p, 0, line); i < layout_index(p, 0, line + 1); i++) {
            const int64_t other = layout_index(p, 1, i);
            layout_take(out, columns ? other : line, columns ? line : other, layout_value(p, 2, i));
        }
}

static void unpack_csr(const packed_matrix *p, entry_list *out) {
    unpack_lines(p, false, out);
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
    unpack_lines(p, true, out);
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

/* ---- JDS ------------------------------------------------------------------------------------ */

static void measure_jds(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    layout_arrays(p, layout_longest(m), m->entries, 0, 0);
    layout_stores(p, m->entries);
}

static void fill_jds(job *j, const matrix *m, packed_matrix *p) {
    const size_t rows = (size_t)m->rows;
    const int64_t longest = p->arrays[1].extent[0] - 1;
    int64_t *begin = job_array(j, rows, sizeof *begin);     /* of each row: its first entry */
    int64_t *shorter = job_array(j, rows, sizeof *shorter); /* longest less its length */
    for (int64_t r = 0; r < m->rows; r++)
        shorter[r] = longest;
    for (int64_t i = 0, end; i < m->entries; i = end) {
        end = layout_row_end(m, i);
        begin[m->row[i]] = i;
        shorter[m->row[i]] = longest - (end - i);
    }
    const int64_t *order = order_of(j, m->rows, shorter);
    for (int64_t i = 0; i < m->rows; i++)
        layout_put(p, 0, i, order[i]);
    int64_t at = 0;
    for (int64_t k = 0; k < longest; k++) {
        layout_put(p, 1, k, at);
        for (int64_t i = 0; i < m->rows && longest - shorter[order[i]] > k; i++, at++) {
            layout_put(p, 2, at, m->column[begin[order[i]] + k]);
            layout_put_value(p, 3, at, m->value[begin[order[i]] + k]);
        }
    }
    layout_put(p, 1, longest, at);
}

static void unpack_jds(const packed_matrix *p, entry_list *out) {
    for (int64_t k = 0; k + 1 < p->arrays[1].extent[0]; k++) {
        const int64_t first = layout_index(p, 1, k);
        for (int64_t at = first; at < layout_index(p, 1, k + 1); at++)
            layout_take(out, layout_index(p, 0, at - first), layout_index(p, 2, at),
                        layout_value(p, 3, at));
    }
}

/* ---- SELL ----------------------------------------------------------------------------------- */

/* The rows of one window that have entries, in the matrix's order. */
typedef struct window {
    job *job;
    int64_t first; /* its first row */
    int64_t count; /* rows with entries */
    int64_t *row;
    int64_t *begin; /* their first entries */
    int64_t *length;
    int64_t *shorter;     /* than the longest, by how much */
    const int64_t *order; /* which is the longest, the next, … */
} window;

static window window_new(job *j, const matrix *m, int sigma) {
    const size_t most = (size_t)(m->entries < sigma ? m->entries : sigma);
    return (window){.job = j,
                    .row = job_array(j, most, sizeof(int64_t)),
                    .begin = job_array(j, most, sizeof(int64_t)),
                    .length = job_array(j, most, sizeof(int64_t)),
                    .shorter = job_array(j, most, sizeof(int64_t))};
}

/* The window of the row of entry `first`; returns the entry after the window. */
static int64_t window_read(window *w, const matrix *m, int sigma, int64_t first) {
    int64_t longest = 0;
    w->first = m->row[first] - m->row[first] % sigma;
    for (w->count = 0; first < m->entries && m->row[first] - w->first < sigma; w->count++) {
        const int64_t end = layout_row_end(m, first);
        w->row[w->count] = m->row[first];
        w->begin[w->count] = first;
        w->length[w->count] = end - first;
        longest = end - first > longest ? end - first : longest;
        first = end;
    }
    for (int64_t i = 0; i < w->count; i++)
        w->shorter[i] = longest - w->length[i];
    w->order = order_of(w->job, w->count, w->shorter);
    return first;
}

static void measure_sell(job *j, const matrix *m, packed_matrix *p) {
    const int slice = p->storage.slice;
    window w = window_new(j, m, p->storage.sigma);
    int64_t longest = 0; /* the sum of every slice's longest row */
    for (int64_t i = 0; i < m->entries;) {
        i = window_read(&w, m, p->storage.sigma, i);
        for (int64_t k = 0; k < w.count; k += slice)
            longest += w.length[w.order[k]];
    }
    const int64_t places = layout_times(longest, slice);
    layout_arrays(p, layout_parts(m->rows, slice), places, 0, 0);
    layout_stores(p, places);
}

/* A slice of the window: its rows from number k on, at place `at`. */
static void fill_slice(const matrix *m, packed_matrix *p, const window *w, int64_t k, int64_t at) {
    const int slice = p->storage.slice;
    for (int64_t i = 0; i < slice && k + i < w->count; i++) {
        const int64_t row = w->order[k + i], begin = w->begin[row];
        for (int64_t e = 0; e < w->length[row]; e++) {
            layout_put(p, 2, at + e * slice + i, m->column[begin + e]);
            layout_put_value(p, 3, at + e * slice + i, m->value[begin + e]);
        }
    }
}

/* The window's rows by length, then its rows without entries in the matrix's order. */
static void write_rows(packed_matrix *p, const window *w) {
    int64_t at = w->first, seen = 0;
    for (int64_t i = 0; i < w->count; i++)
        layout_put(p, 1, at++, w->row[w->order[i]]);
    for (int64_t r = w->first; r < w->first + p->storage.sigma && r < p->rows; r++) {
        if (seen < w->count && w->row[seen] == r)
            seen++;
        else
            layout_put(p, 1, at++, r);
    }
}

static void fill_sell(job *j, const matrix *m, packed_matrix *p) {
    const int slice = p->storage.slice, sigma = p->storage.sigma;
    window w = window_new(j, m, sigma);
    layout_set(p, 2, 0xff);
    layout_set(p, 3, 0);
    int64_t at = 0, next = 0, row = 0; /* the next place, slice and row */
    for (int64_t i = 0; i < m->entries;) {
        i = window_read(&w, m, sigma, i);
        for (; row < w.first; row++)
            layout_put(p, 1, row, row);
        for (; next < w.first / slice; next++)
            layout_put(p, 0, next, at);
        write_rows(p, &w);
        row = w.first + sigma < m->rows ? w.first + sigma : m->rows;
        for (int64_t k = 0; k < w.count; k += slice) {
            layout_put(p, 0, next++, at);
            fill_slice(m, p, &w, k, at);
            at += w.length[w.order[k]] * slice;
        }
    }
    for (; row < m->rows; row++)
        layout_put(p, 1, row, row);
    for (; next < p->arrays[0].extent[0]; next++)
        layout_put(p, 0, next, at);
}

static void unpack_sell(const packed_matrix *p, entry_list *out) {
    const int slice = p->storage.slice;
    for (int64_t s = 0; s + 1 < p->arrays[0].extent[0]; s++) {
        const int64_t first = layout_index(p, 0, s);
        for (int64_t at = first; at < layout_index(p, 0, s + 1); at++)
            if (layout_index(p, 2, at) >= 0)
                layout_take(out, layout_index(p, 1, s * slice + (at - first) % slice),
                            layout_index(p, 2, at), layout_value(p, 3, at));
    }
}

const layout layout_jds = {measure_jds, fill_jds, unpack_jds};
const layout layout_sell = {measure_sell, fill_sell, unpack_sell};
