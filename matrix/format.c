/* The table of formats, and what all of them have in common: counting bytes, refusing, memory.
   Takes: sorted entries and a storage. Makes: packed matrices, and entries again. */
#include "matrix/format.h"

#include "matrix/layout.h"

#include <math.h>
#include <string.h>

const format_word format_words[FORMAT_COUNT] = {
    [FORMAT_AUTO] = {"auto", "M·N"},
    [FORMAT_COO] = {"coo", "3·nnz"},
    [FORMAT_CSR] = {"csr", "2·nnz + M + 1"},
    [FORMAT_CSC] = {"csc", "2·nnz + N + 1"},
    [FORMAT_ELL] = {"ell", "2·M·K"},
    [FORMAT_HYB] = {"hyb", "2·M·K + 3·t"},
    [FORMAT_JDS] = {"jds", "2·nnz + M + K + 1"},
    [FORMAT_DIA] = {"dia", "D·(M + 1)"},
    [FORMAT_BCSR] = {"bcsr", "B·(br·bc + 1) + ⌈M/br⌉ + 1"},
    [FORMAT_PKT] = {"pkt", "2·S + 3·(P + 1) + M + n + 3·t"},
    [FORMAT_SELL] = {"sell", "2·S + M + ⌈M/C⌉ + 1"},
    [FORMAT_STENCIL] = {"stencil", "⌈M/32⌉ + 32·P + 2·R + 1 + 2·t"},
};

#define INDEX(name, size, plus)                                                                    \
    { name, PACKED_INDEX, size, plus, EXTENT_ONE }
#define VALUE(name, size)                                                                          \
    { name, PACKED_VALUE, size, 0, EXTENT_ONE }
#define TAIL(size)                                                                                 \
    INDEX("tail_row", size, 0), INDEX("tail_column", size, 0), VALUE("tail_value", size)

/* M rows, N columns, and the sizes of the format in their order. */
enum { M = EXTENT_ROWS, N = EXTENT_COLUMNS, A = EXTENT_OWN, B, C, D };

const format_layout format_layouts[FORMAT_COUNT] = {
    [FORMAT_COO] = {{{"entries", 0, 0}},
                    {INDEX("row", A, 0), INDEX("column", A, 0), VALUE("value", A)},
                    A},
    [FORMAT_CSR] = {{{"entries", 1, 0}},
                    {INDEX("offset", M, 1), INDEX("column", A, 0), VALUE("value", A)},
                    A},
    [FORMAT_CSC] = {{{"entries", 1, 0}},
                    {INDEX("offset", N, 1), INDEX("row", A, 0), VALUE("value", A)},
                    A},
    [FORMAT_ELL] = {{{"width", 0, 1}},
                    {{"column", PACKED_INDEX, M, 0, A}, {"value", PACKED_VALUE, M, 0, A}},
                    M},
    [FORMAT_HYB] = {{{"width", 0, 1}, {"tail", 2, 0}},
                    {{"column", PACKED_INDEX, M, 0, A}, {"value", PACKED_VALUE, M, 0, A}, TAIL(B)},
                    M},
    [FORMAT_JDS] = {{{"width", 1, 0}, {"entries", 2, 0}},
                    {INDEX("row", M, 0), INDEX("offset", A, 1), INDEX("column", B, 0),
                     VALUE("value", B)},
                    B},
    [FORMAT_DIA] = {{{"diagonals", 0, 0}},
                    {INDEX("diagonal", A, 0), {"value", PACKED_VALUE, M, 0, A}},
                    M},
    [FORMAT_BCSR] = {{{"block_rows", 0, 0}, {"blocks", 1, 0}},
                     {INDEX("offset", A, 1),
                      INDEX("column", B, 0),
                      {"value", PACKED_VALUE, EXTENT_BLOCK, 0, B}},
                     B},
    [FORMAT_PKT] = {{{"packets", 0, 0}, {"sources", 2, 0}, {"stored", 4, 0}, {"tail", 6, 0}},
                    {INDEX("row", A, 1),
                     INDEX("column", A, 1),
                     INDEX("source", B, 0),
                     INDEX("offset", A, 1),
                     {"place", PACKED_WORD, C, 0, EXTENT_ONE},
                     VALUE("value", C),
                     TAIL(D),
                     INDEX("order", M, 0)},
                    C},
    [FORMAT_SELL] = {{{"slices", 0, 0}, {"stored", 2, 0}},
                     {INDEX("offset", A, 1), INDEX("row", M, 0), INDEX("column", B, 0),
                      VALUE("value", B)},
                     B},
    [FORMAT_STENCIL] = {{{"groups", 0, 0}, {"patterns", 1, 1}, {"others", 2, 0}, {"stored", 4, 0}},
                        {{"group", PACKED_WORD, A, 0, EXTENT_ONE},
                         {"pattern", PACKED_WORD, EXTENT_LANES, 0, B},
                         INDEX("row", C, 0),
                         INDEX("offset", C, 1),
                         INDEX("column", D, 0),
                         VALUE("value", D)},
                        M},
};

static const layout *const layouts[FORMAT_COUNT] = {
    [FORMAT_COO] = &layout_coo,   [FORMAT_CSR] = &layout_csr,         [FORMAT_CSC] = &layout_csc,
    [FORMAT_ELL] = &layout_ell,   [FORMAT_HYB] = &layout_hyb,         [FORMAT_JDS] = &layout_jds,
    [FORMAT_DIA] = &layout_dia,   [FORMAT_BCSR] = &layout_bcsr,       [FORMAT_PKT] = &layout_pkt,
    [FORMAT_SELL] = &layout_sell, [FORMAT_STENCIL] = &layout_stencil,
};

/* ---- sizes --------------------------------------------------------------------------------- */

static size_t element_bytes(const packed_matrix *p, packed_kind kind) {
    return kind == PACKED_INDEX   ? p->storage.index_bytes
           : kind == PACKED_VALUE ? p->storage.value_bytes
                                  : sizeof(uint32_t);
}

int64_t layout_bytes(const packed_matrix *p, int array) {
    const packed_array *a = &p->arrays[array];
    return layout_times(layout_times(a->extent[0], a->extent[1]),
                        (int64_t)element_bytes(p, a->kind));
}

void layout_array(packed_matrix *p, const char *name, packed_kind kind, int64_t x, int64_t y) {
    p->arrays[p->array_count++] = (packed_array){.name = name, .kind = kind, .extent = {x, y}};
}

static int64_t extent_of(const packed_matrix *p, int size, const int64_t own[FORMAT_SIZES]) {
    switch (size) {
    case EXTENT_ONE:
        return 1;
    case EXTENT_BLOCK:
        return (int64_t)p->storage.block_rows * p->storage.block_cols;
    case EXTENT_LANES:
        return STENCIL_GROUP;
    default:
        return size == EXTENT_ROWS      ? p->rows
               : size == EXTENT_COLUMNS ? p->columns
                                        : own[size - EXTENT_OWN];
    }
}

void layout_arrays(packed_matrix *p, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t own[FORMAT_SIZES] = {a, b, c, d};
    const format_array *of = format_layouts[p->storage.format].arrays;
    for (int i = 0; i < PACKED_ARRAYS && of[i].name != NULL; i++)
        layout_array(p, of[i].name, of[i].kind, extent_of(p, of[i].x, own) + of[i].plus,
                     extent_of(p, of[i].y, own));
}

void layout_count(packed_matrix *p) {
    p->bytes = 0;
    p->numbers = 0;
    for (int i = 0; i < p->array_count; i++) {
        p->bytes = layout_plus(p->bytes, layout_bytes(p, i));
        p->numbers += (double)p->arrays[i].extent[0] * (double)p->arrays[i].extent[1];
    }
    if (p->bytes == INT64_MAX)
        p->bytes = -1;
}

/* Refuses widths and numbers that no format can have. */
static void need_sound(job *j, const storage *s) {
    const bool widths = (s->index_bytes == 4 || s->index_bytes == 8) &&
                        (s->value_bytes == 2 || s->value_bytes == 4 || s->value_bytes == 8);
    if (s->format <= FORMAT_AUTO || s->format >= FORMAT_COUNT || !widths || s->slice < 1 ||
        s->sigma < 1 || s->block_rows < 1 || s->block_cols < 1 || s->packet < 1 ||
        s->packet > 65535)
        job_fail(j, FAULT_USAGE, NULL, 0,
                 "a matrix cannot be stored in format %d with indices of %zu bytes, values of %zu, "
                 "slices of %d rows, sigma %d, blocks of %d x %d and packets of %d",
                 (int)s->format, s->index_bytes, s->value_bytes, s->slice, s->sigma, s->block_rows,
                 s->block_cols, s->packet);
    if (s->sigma % s->slice != 0)
        job_fail(j, FAULT_USAGE, NULL, 0, "sigma is %d, which is no multiple of the slice of %d",
                 s->sigma, s->slice);
}

/* For these formats the sizes and the longest row are enough. */
static bool by_counts(format f) {
    return f == FORMAT_COO || f == FORMAT_CSR || f == FORMAT_CSC || f == FORMAT_ELL ||
           f == FORMAT_JDS;
}

static void measure(job *j, const matrix *m, packed_matrix *p) {
    const remote_matrix *remote = matrix_remote(m);
    if (remote != NULL && !by_counts(p->storage.format)) {
        if (remote->measure(j, remote, p))
            return;
        m = remote->fetch(j, remote);
    }
    layouts[p->storage.format]->measure(j, m, p);
}

void format_measure(job *j, const matrix *m, const storage *wanted, packed_matrix *out) {
    packed_matrix p = {.storage = *wanted,
                       .rows = m->rows,
                       .columns = m->columns,
                       .entries = m->entries,
                       .largest_index = (m->rows > m->columns ? m->rows : m->columns) - 1};
    format_choose(j, m, NULL, &p.storage);
    need_sound(j, &p.storage);
    measure(j, m, &p);
    layout_count(&p);
    *out = p;
}

static int64_t csr_bytes(const matrix *m, const storage *s) {
    return layout_plus(layout_times(m->entries, (int64_t)(s->index_bytes + s->value_bytes)),
                       layout_times(m->rows + 1, (int64_t)s->index_bytes));
}

const char *format_refusal(job *j, const matrix *m, const packed_matrix *p, int64_t limit) {
    const char *name = format_words[p->storage.format].name;
    const int64_t csr = csr_bytes(m, &p->storage);
    if (p->bytes < 0)
        return job_print(j, "%s would need more bytes than can be counted", name);
    if (p->bytes > limit && p->bytes / 16 >= csr && p->bytes > 16 * csr)
        return job_print(j,
                         "%s would need %lld bytes, more than 16 times the %lld of csr and more "
                         "than %lld",
                         name, (long long)p->bytes, (long long)csr, (long long)limit);
    if (p->storage.index_bytes == 4 && p->largest_index > INT32_MAX)
        return job_print(j, "indices of %s go up to %lld, which 32 bits cannot hold", name,
                         (long long)p->largest_index);
    if (p->storage.format == FORMAT_STENCIL && limit != INT64_MAX)
        return stencil_refusal(j, p);
    return NULL;
}

/* ---- memory -------------------------------------------------------------------------------- */

/* What the job frees when it fails. This is a copy, because the caller's struct is gone by then. */
struct packed_pieces {
    const allocator *memory;
    int count;
    void *piece[PACKED_ARRAYS];
    size_t size[PACKED_ARRAYS];
};

static void free_pieces(void *what) {
    struct packed_pieces *h = what;
    for (int i = 0; i < h->count; i++)
        h->memory->resize(h->memory->user, h->piece[i], h->size[i], 0);
    h->count = 0;
}

static void allocate(job *j, packed_matrix *p) {
    struct packed_pieces *h = job_alloc(j, sizeof *h);
    h->memory = job_allocator(j);
    job_defer(j, free_pieces, h);
    p->pieces = h;
    for (int i = 0; i < p->array_count; i++) {
        const int64_t bytes = layout_bytes(p, i);
        const size_t size = bytes > 0 ? (size_t)bytes : 1;
        void *piece = h->memory->resize(h->memory->user, NULL, 0, size);
        if (piece == NULL)
            job_fail(j, FAULT_MEMORY, NULL, 0,
                     "out of memory: the matrix as %s has arrays of %lld bytes",
                     format_words[p->storage.format].name, (long long)p->bytes);
        h->piece[h->count] = piece;
        h->size[h->count++] = size;
        p->arrays[i].data = piece;
    }
}

void format_free(job *j, packed_matrix *p) {
    (void)j;
    if (p->pieces != NULL)
        free_pieces(p->pieces);
    for (int i = 0; i < p->array_count; i++)
        p->arrays[i].data = NULL;
}

void layout_set(const packed_matrix *p, int array, int byte) {
    memset(p->arrays[array].data, byte, (size_t)layout_bytes(p, array));
}

/* ---- packing ------------------------------------------------------------------------------- */

static void need_small(job *j, const matrix *m, dtype type) {
    for (int64_t i = 0; i < m->entries; i++)
        if (isfinite(m->value[i]) && !isfinite(dtype_round(type, m->value[i])))
            job_fail(j, FAULT_DATA, NULL, 0,
                     "the entry in row %lld, column %lld (from 0) is too large for a %s",
                     (long long)m->row[i], (long long)m->column[i], dtype_words[type].name);
}

void format_fill(job *j, const matrix *m, packed_matrix *p) {
    const char *refusal = format_refusal(j, m, p, INT64_MAX);
    if (refusal != NULL)
        job_fail(j, FAULT_DATA, NULL, 0, "%s", refusal);
    if (p->storage.value_bytes < sizeof(double))
        need_small(j, m, storage_dtype(&p->storage));
    allocate(j, p);
    layouts[p->storage.format]->fill(j, m, p);
}

void format_pack(job *j, const matrix *m, const storage *wanted, packed_matrix *out) {
    format_measure(j, m, wanted, out);
    format_fill(j, m, out);
}

void format_unpack(job *j, const packed_matrix *p, matrix *out) {
    const size_t most = (size_t)p->entries;
    entry_list list = {.row = job_array(j, most, sizeof *list.row),
                       .column = job_array(j, most, sizeof *list.column),
                       .value = job_array(j, most, sizeof *list.value)};
    layouts[p->storage.format]->unpack(p, &list);
    order_entries(j, list.count, list.row, list.column, list.value);
    *out = (matrix){p->rows, p->columns, list.count, list.row, list.column, list.value};
}

/* ---- order ----------------------------------------------------------------------------------- */

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static int64_t largest(int64_t count, const int64_t *key) {
    int64_t most = 0;
    for (int64_t i = 0; i < count; i++)
        most = key[i] > most ? key[i] : most;
    return most;
}

/* One pass: `from` by a digit of the keys, into `to`. */
static void pass(int64_t count, const int64_t *key, int shift, const int64_t *from, int64_t *to) {
    int64_t begin[DIGITS + 1] = {0};
    for (int64_t i = 0; i < count; i++)
        begin[(key[i] >> shift & (DIGITS - 1)) + 1]++;
    for (int d = 0; d < DIGITS; d++)
        begin[d + 1] += begin[d];
    for (int64_t i = 0; i < count; i++)
        to[begin[key[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts *order by the keys; *other is scratch, and the two may change places. */
static void sort_by(int64_t count, const int64_t *key, int64_t **order, int64_t **other) {
    const int64_t most = largest(count, key);
    for (int shift = 0; shift < 63 && most >> shift > 0; shift += DIGIT_BITS) {
        pass(count, key, shift, *order, *other);
        int64_t *swap = *order;
        *order = *other;
        *other = swap;
    }
}

static int64_t *natural(job *j, int64_t count) {
    int64_t *order = job_array(j, (size_t)count, sizeof *order);
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    return order;
}

int64_t *order_of(job *j, int64_t count, const int64_t *key) {
    int64_t *order = natural(j, count);
    int64_t *other = job_array(j, (size_t)count, sizeof *other);
    sort_by(count, key, &order, &other);
    return order;
}

static bool is_sorted(int64_t count, const int64_t *row, const int64_t *column) {
    for (int64_t i = 1; i < count; i++)
        if (row[i] < row[i - 1] || (row[i] == row[i - 1] && column[i] < column[i - 1]))
            return false;
    return true;
}

static void permute(int64_t count, const int64_t *order, void *list, int64_t *scratch) {
    int64_t *words = list; /* elements of 8 bytes of any type */
    memcpy(scratch, words, (size_t)count * sizeof *words);
    for (int64_t i = 0; i < count; i++)
        memcpy(&words[i], &scratch[order[i]], sizeof *words);
}

void order_entries(job *j, int64_t count, int64_t *row, int64_t *column, double *value) {
    if (is_sorted(count, row, column))
        return;
    int64_t *order = natural(j, count);
    int64_t *other = job_array(j, (size_t)count, sizeof *other);
    sort_by(count, column, &order, &other);
    sort_by(count, row, &order, &other);
    permute(count, order, row, other);
    permute(count, order, column, other);
    permute(count, order, value, other);
}

int64_t order_merge(int64_t count, int64_t *row, int64_t *column, double *value) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (kept > 0 && row[kept - 1] == row[i] && column[kept - 1] == column[i]) {
            value[kept - 1] += value[i];
            continue;
        }
        row[kept] = row[i];
        column[kept] = column[i];
        value[kept++] = value[i];
    }
    return kept;
}
