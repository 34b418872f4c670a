/* Formats that put rows of similar length together. JDS sorts all rows and needs no padding.
   SELL-C-sigma sorts windows of sigma rows and pads slices of C rows. */
#include <string.h>

#include "matrix/layout.h"

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

/* The rows of one window that have entries, the longest first. */
typedef struct window {
    int64_t first;  /* its first row */
    int64_t count;  /* rows with entries */
    int64_t *row;   /* lengths, the longest first */
    int64_t *begin; /* their first entries */
    int64_t *length;
    int64_t *found; /* in the matrix's order: rows, beginnings, lengths; three lists */
    int64_t *bucket;
    int64_t most; /* rows a window, and the places of each list */
} window;

static window window_new(job *j, const matrix *m, int sigma) {
    window w = {.most = m->entries < sigma ? m->entries : sigma};
    const size_t most = (size_t)w.most;
    w.row = job_array(j, most, sizeof *w.row);
    w.begin = job_array(j, most, sizeof *w.begin);
    w.length = job_array(j, most, sizeof *w.length);
    w.found = job_array(j, 4 * most, sizeof *w.found);
    w.bucket = w.found + 3 * most;
    return w;
}

/* Merge sort of `order` by descending length; stable. */
static void sort_window(const int64_t *length, int64_t count, int64_t *order, int64_t *scratch) {
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    for (int64_t run = 1; run < count; run *= 2) {
        for (int64_t low = 0; low < count; low += 2 * run) {
            const int64_t middle = low + run < count ? low + run : count;
            const int64_t high = middle + run < count ? middle + run : count;
            int64_t a = low, b = middle;
            for (int64_t at = low; at < high; at++) {
                const bool first =
                    a < middle && (b >= high || length[order[a]] >= length[order[b]]);
                scratch[at] = first ? order[a++] : order[b++];
            }
        }
        memcpy(order, scratch, (size_t)count * sizeof *order);
    }
}

/* The window of the row of entry `first`; returns the entry after the window. */
static int64_t window_read(window *w, const matrix *m, int sigma, int64_t first) {
    int64_t *row = w->found, *begin = row + w->most, *length = begin + w->most;
    w->first = m->row[first] - m->row[first] % sigma;
    w->count = 0;
    while (first < m->entries && m->row[first] - w->first < sigma) {
        const int64_t end = layout_row_end(m, first);
        row[w->count] = m->row[first];
        begin[w->count] = first;
        length[w->count++] = end - first;
        first = end;
    }
    sort_window(length, w->count, w->bucket, w->row);
    for (int64_t i = 0; i < w->count; i++) {
        w->row[i] = row[w->bucket[i]];
        w->begin[i] = begin[w->bucket[i]];
        w->length[i] = length[w->bucket[i]];
    }
    return first;
}

static void measure_sell(job *j, const matrix *m, packed_matrix *p) {
    const int slice = p->storage.slice;
    window w = window_new(j, m, p->storage.sigma);
    int64_t longest = 0; /* the sum of every slice's longest row */
    for (int64_t i = 0; i < m->entries;) {
        i = window_read(&w, m, p->storage.sigma, i);
        for (int64_t k = 0; k < w.count; k += slice)
            longest += w.length[k];
    }
    const int64_t places = layout_times(longest, slice);
    layout_arrays(p, layout_parts(m->rows, slice), places, 0, 0);
    layout_stores(p, places);
}

/* A slice of the window: its rows from number k on, at place `at`. */
static void fill_slice(const matrix *m, packed_matrix *p, const window *w, int64_t k, int64_t at) {
    const int slice = p->storage.slice;
    for (int64_t i = 0; i < slice && k + i < w->count; i++)
        for (int64_t e = 0; e < w->length[k + i]; e++) {
            layout_put(p, 2, at + e * slice + i, m->column[w->begin[k + i] + e]);
            layout_put_value(p, 3, at + e * slice + i, m->value[w->begin[k + i] + e]);
        }
}

/* The window's rows by length, then its rows without entries in the matrix's order. */
static void write_rows(packed_matrix *p, const window *w) {
    int64_t at = w->first, seen = 0;
    for (int64_t i = 0; i < w->count; i++)
        layout_put(p, 1, at++, w->row[i]);
    for (int64_t r = w->first; r < w->first + p->storage.sigma && r < p->rows; r++) {
        if (seen < w->count && w->found[seen] == r)
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
            at += w.length[k] * slice;
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
