/* What each storage format implements, and what the implementations share: the arrays of a packed
   matrix by number, entries by row, and a list that takes entries in any order. */
#ifndef SG_MATRIX_LAYOUT_H
#define SG_MATRIX_LAYOUT_H

#include "base/job.h"
#include "matrix/format.h"

/* Entries that are being read back from a format. */
typedef struct entry_list {
    int64_t count;
    int64_t *row, *column;
    double *value;
} entry_list;

typedef struct layout {
    /* Adds the arrays with layout_arrays, and says with layout_stores what else than rows and
       columns they store. */
    void (*measure)(job *, const matrix *, packed_matrix *);
    void (*fill)(job *, const matrix *, packed_matrix *);
    void (*unpack)(const packed_matrix *, entry_list *);
} layout;

extern const layout layout_coo, layout_csr, layout_csc, layout_ell, layout_hyb, layout_jds,
    layout_dia, layout_bcsr, layout_pkt, layout_sell, layout_stencil;

/* An extent that cannot be counted is INT64_MAX. */
void layout_array(packed_matrix *, const char *name, packed_kind, int64_t x, int64_t y);

/* All arrays of the storage's format, by its own sizes. */
void layout_arrays(packed_matrix *, int64_t a, int64_t b, int64_t c, int64_t d);

/* The arrays store such an index. */
static inline void layout_stores(packed_matrix *p, int64_t index) {
    p->largest_index = index > p->largest_index ? index : p->largest_index;
}

/* The bytes of an array, at most INT64_MAX; and `bytes` and `numbers` of all that were added. */
int64_t layout_bytes(const packed_matrix *, int array);
void layout_count(packed_matrix *);

/* max(0, a)·b and a + b, at most INT64_MAX. */
static inline int64_t layout_times(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
static inline int64_t layout_plus(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
static inline int64_t layout_parts(int64_t count, int64_t per) {
    return count / per + (count % per != 0);
}

/* The entry after the last one in the row of entry `first`. */
static inline int64_t layout_row_end(const matrix *m, int64_t first) {
    int64_t end = first + 1;
    while (end < m->entries && m->row[end] == m->row[first])
        end++;
    return end;
}

/* The entry at a place; where there is none, the first after it. */
static inline int64_t layout_find(const matrix *m, int64_t row, int64_t column) {
    int64_t low = 0, high = m->entries;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (m->row[middle] < row || (m->row[middle] == row && m->column[middle] < column))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The value at a place; NULL where there is no entry. */
static inline const double *layout_look_up(const matrix *m, int64_t row, int64_t column) {
    const int64_t at = layout_find(m, row, column);
    return at < m->entries && m->row[at] == row && m->column[at] == column ? &m->value[at] : NULL;
}

/* The first entry of a row or, where the row has none, of the rows after it. */
static inline int64_t layout_first_of(const matrix *m, int64_t row) {
    return layout_find(m, row, 0);
}

static inline void layout_put(const packed_matrix *p, int array, int64_t at, int64_t index) {
    if (p->storage.index_bytes == 4)
        ((int32_t *)p->arrays[array].data)[at] = (int32_t)index;
    else
        ((int64_t *)p->arrays[array].data)[at] = index;
}
static inline int64_t layout_index(const packed_matrix *p, int array, int64_t at) {
    return p->storage.index_bytes == 4 ? ((const int32_t *)p->arrays[array].data)[at]
                                       : ((const int64_t *)p->arrays[array].data)[at];
}

static inline void layout_put_value(const packed_matrix *p, int array, int64_t at, double value) {
    if (p->storage.value_bytes == 4)
        ((float *)p->arrays[array].data)[at] = (float)value;
    else if (p->storage.value_bytes == 8)
        ((double *)p->arrays[array].data)[at] = value;
    else
        ((uint16_t *)p->arrays[array].data)[at] = dtype_narrow(storage_dtype(&p->storage), value);
}
static inline double layout_value(const packed_matrix *p, int array, int64_t at) {
    const void *data = p->arrays[array].data;
    return p->storage.value_bytes == 4 ? (double)((const float *)data)[at]
           : p->storage.value_bytes == 8
               ? ((const double *)data)[at]
               : dtype_widen(storage_dtype(&p->storage), ((const uint16_t *)data)[at]);
}

/* Every byte of an array. */
void layout_set(const packed_matrix *, int array, int byte);

static inline void layout_take(entry_list *l, int64_t row, int64_t column, double value) {
    l->row[l->count] = row;
    l->column[l->count] = column;
    l->value[l->count++] = value;
}

/* An entry of three arrays, row, column and value, of which the first is given; and all entries
   that are stored so. */
static inline void layout_put_entry(const packed_matrix *p, int array, int64_t at, const matrix *m,
                                    int64_t entry) {
    layout_put(p, array, at, m->row[entry]);
    layout_put(p, array + 1, at, m->column[entry]);
    layout_put_value(p, array + 2, at, m->value[entry]);
}
static inline void layout_take_entries(const packed_matrix *p, int array, entry_list *out) {
    for (int64_t i = 0; i < p->arrays[array].extent[0]; i++)
        layout_take(out, layout_index(p, array, i), layout_index(p, array + 1, i),
                    layout_value(p, array + 2, i));
}

/* The length of the longest row. */
int64_t layout_longest(const matrix *);

/* The diagonals (column − row) that have an entry, ascending, and how many. */
int64_t *layout_diagonals(job *, const matrix *, int64_t *count);

/* ---- order ----------------------------------------------------------------------------------- */

/* The order in which the keys ascend: key[out[0]] ≤ key[out[1]] ≤ … In memory of the job. */
int64_t *order_of(job *, int64_t count, const int64_t *key);

/* Sorts entries by row, then column, in place; where that fails, nothing has moved. */
void order_entries(job *, int64_t count, int64_t *row, int64_t *column, double *value);

/* Adds up entries at one place, in their order, and returns how many places there are. */
int64_t order_merge(int64_t count, int64_t *row, int64_t *column, double *value);

/* ---- stencils -------------------------------------------------------------------------------- */

enum { STENCIL_GROUP = 32 };                          /* rows that a word stands for: a warp's */
#define STENCIL_OTHER (UINT32_C(1) << MOST_DIAGONALS) /* in place of a row's bits */

/* Each diagonal on which one finite value stands in more than half of the rows, with that value, by
   ascending offset; in memory of the job. Values are compared as the type holds them. None
   where there are more than MOST_DIAGONALS. The function looks at a hundred rows drawn by a fixed
   rule, so that asking costs nothing. Measuring finds whether all other rows agree. */
int stencil_find(job *, const matrix *, dtype values, const diagonal **out);

typedef struct stencil_rows {
    int64_t lacking; /* rows that lack some of the diagonals and have no other entries */
    int64_t other, entries, longest; /* rows with any other entry, and the entries of those rows */
} stencil_rows;

/* Both take a matrix that was measured as FORMAT_STENCIL, on the host or on a device. Its `work`
   begins with this struct. */
stencil_rows stencil_deviations(const packed_matrix *);
const char *stencil_refusal(job *, const packed_matrix *);

/* ---- packets --------------------------------------------------------------------------------- */

/* clang-format off */
/* The arrays, where P is the number of packets (0 without rows) and B is storage.packet:

     row[P+1], order[M]    packet p computes the rows order[row[p]] … order[row[p+1] − 1], at most B
                           of them and at least one. row[P] is M: every row is in one packet,
                           also a row without entries. Ascending within a packet.
     column[P+1], source[·]
                           it takes from x the columns source[column[p]] … source[column[p+1] − 1],
                           at most B, or none. A column is in one packet at most. Ascending within
                           a packet.
     offset[P+1]           its entries are place and value from offset[p] to offset[p+1] − 1, a
                           multiple of PACKET_LANES: entry k of lane l is the one at
                           offset[p] + k·PACKET_LANES + l.
     place[·], value[·]    place is local row · 65536 + local column: row order[row[p] + local row],
                           column source[column[p] + local column]. PACKET_NONE, and the value 0,
                           where a lane has no more entries; none follow then in that lane.
     tail_row[t], tail_column[t], tail_value[t]
                           all other entries, by row and then column, by the matrix's own numbers.

   All entries that a packet has of a row are in one lane, one behind the other, by column. A
   thread takes one lane or several: thread t of T takes the lanes t, t + T, … So it adds to its
   rows of y in shared memory without atomics and barriers. The threads of a warp load neighbours.

   A lane has at most 2·⌈entries/PACKET_LANES⌉ + PACKET_SLACK entries, so that padding is bounded:
   what a row has beyond ⌈entries/PACKET_LANES⌉ + PACKET_SLACK is in the tail. */
/* clang-format on */
enum {
    PACKET_LANES = 256,
    PACKET_SLACK = 16,
};
#define PACKET_NONE UINT32_C(0xffffffff)

#endif
