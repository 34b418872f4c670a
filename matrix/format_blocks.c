/* Formats that store whole diagonals or blocks, zeros and all: DIA and BCSR. */
#include "matrix/layout.h"

/* ---- diagonals ------------------------------------------------------------------------------ */

static void free_assembly(void *a) {
    assembly_free(a);
}

/* Diagonals are numbered from 0, as rows of an assembly. */
int64_t *layout_diagonals(job *j, const matrix *m, int64_t *count) {
    assembly *found = job_alloc(j, sizeof *found);
    assembly_begin(found, job_allocator(j), m->rows + m->columns, 1);
    job_defer(j, free_assembly, found);
    for (int64_t i = 0; i < m->entries; i++)
        if (assembly_set(found, m->column[i] - m->row[i] + m->rows - 1, 0, 1) != FAULT_NONE)
            job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    assembly_settle(j, found);
    const matrix list = assembly_matrix(found);
    int64_t *sorted = job_array(j, (size_t)list.entries, sizeof *sorted);
    for (int64_t i = 0; i < list.entries; i++)
        sorted[i] = list.row[i] - (m->rows - 1);
    *count = list.entries;
    job_undo(j, found);
    return sorted;
}

/* ---- DIA: diagonal, value ------------------------------------------------------------------- */

static void measure_dia(job *j, const matrix *m, packed_matrix *p) {
    int64_t count;
    p->work = layout_diagonals(j, m, &count);
    layout_arrays(p, count, 0, 0, 0);
}

static void fill_dia(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    const int64_t *diagonal = p->work;
    const int64_t count = p->arrays[0].extent[0];
    for (int64_t d = 0; d < count; d++)
        layout_put(p, 0, d, diagonal[d]);
    layout_set(p, 1, 0);
    for (int64_t i = 0; i < m->entries; i++) {
        const int64_t wanted = m->column[i] - m->row[i];
        int64_t low = 0, high = count - 1;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (diagonal[middle] < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        layout_put_value(p, 1, low * m->rows + m->row[i], m->value[i]);
    }
}

static void unpack_dia(const packed_matrix *p, entry_list *out) {
    for (int64_t d = 0; d < p->arrays[0].extent[0]; d++)
        for (int64_t row = 0; row < p->rows; row++) {
            const double value = layout_value(p, 1, d * p->rows + row);
            if (value != 0) /* a NaN is an entry */
                layout_take(out, row, row + layout_index(p, 0, d), value);
        }
}

/* ---- BCSR: offset, column, value ------------------------------------------------------------ */

/* Walks the blocks of one block row in order. Rows are sorted, so the next block is at the least of
   their next entries. */
typedef struct block_walk {
    const matrix *m;
    int rows, cols;
    int64_t block_row;
    int64_t *at, *end; /* of each row of the block row */
} block_walk;

/* The block row of entry `first`; returns the entry after the block row. */
static int64_t walk_begin(block_walk *w, int64_t first) {
    const matrix *m = w->m;
    w->block_row = m->row[first] / w->rows;
    for (int r = 0; r < w->rows; r++)
        w->at[r] = w->end[r] = 0;
    while (first < m->entries && m->row[first] / w->rows == w->block_row) {
        const int r = (int)(m->row[first] % w->rows);
        w->at[r] = first;
        w->end[r] = layout_row_end(m, first);
        first = w->end[r];
    }
    return first;
}

/* The next block's column, or −1 after the last block. walk_take gives the block's entries. */
static int64_t walk_block(const block_walk *w) {
    int64_t least = -1;
    for (int r = 0; r < w->rows; r++)
        if (w->at[r] < w->end[r]) {
            const int64_t column = w->m->column[w->at[r]] / w->cols;
            least = least < 0 || column < least ? column : least;
        }
    return least;
}

/* The next entry of row r in the block; −1 after the last. */
static int64_t walk_take(block_walk *w, int64_t block, int r) {
    if (w->at[r] >= w->end[r] || w->m->column[w->at[r]] / w->cols != block)
        return -1;
    return w->at[r]++;
}

static block_walk walk_new(job *j, const matrix *m, const storage *s) {
    return (block_walk){.m = m,
                        .rows = s->block_rows,
                        .cols = s->block_cols,
                        .at = job_array(j, (size_t)s->block_rows, sizeof(int64_t)),
                        .end = job_array(j, (size_t)s->block_rows, sizeof(int64_t))};
}

static void measure_bcsr(job *j, const matrix *m, packed_matrix *p) {
    block_walk w = walk_new(j, m, &p->storage);
    int64_t blocks = 0;
    for (int64_t i = 0; i < m->entries;) {
        i = walk_begin(&w, i);
        for (int64_t block; (block = walk_block(&w)) >= 0; blocks++)
            for (int r = 0; r < w.rows; r++)
                while (walk_take(&w, block, r) >= 0)
                    ;
    }
    layout_arrays(p, layout_parts(m->rows, w.rows), blocks, 0, 0);
    layout_stores(p, blocks);
}

static void fill_bcsr(job *j, const matrix *m, packed_matrix *p) {
    block_walk w = walk_new(j, m, &p->storage);
    int64_t at = 0, next = 0;
    layout_set(p, 2, 0);
    for (int64_t i = 0; i < m->entries;) {
        i = walk_begin(&w, i);
        for (; next <= w.block_row; next++)
            layout_put(p, 0, next, at);
        for (int64_t block; (block = walk_block(&w)) >= 0; at++) {
            layout_put(p, 1, at, block);
            for (int r = 0; r < w.rows; r++)
                for (int64_t e; (e = walk_take(&w, block, r)) >= 0;)
                    layout_put_value(p, 2, (at * w.rows + r) * w.cols + m->column[e] % w.cols,
                                     m->value[e]);
        }
    }
    for (; next < p->arrays[0].extent[0]; next++)
        layout_put(p, 0, next, at);
}

static void unpack_bcsr(const packed_matrix *p, entry_list *out) {
    const int rows = p->storage.block_rows, cols = p->storage.block_cols;
    for (int64_t b = 0; b + 1 < p->arrays[0].extent[0]; b++)
        for (int64_t at = layout_index(p, 0, b); at < layout_index(p, 0, b + 1); at++)
            for (int place = 0; place < rows * cols; place++) {
                const double value = layout_value(p, 2, at * rows * cols + place);
                if (value != 0)
                    layout_take(out, b * rows + place / cols,
                                layout_index(p, 1, at) * cols + place % cols, value);
            }
}

const layout layout_dia = {measure_dia, fill_dia, unpack_dia};
const layout layout_bcsr = {measure_bcsr, fill_bcsr, unpack_bcsr};
