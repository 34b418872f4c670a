/* STENCIL: bits say which of the storage's diagonals a row has; rows with other entries are stored
   as CSR. Equal patterns of 32 rows are stored once. A grid has few: one for each place where an
   edge can fall among 32 rows. So kernels find the patterns in their caches. */
#include "matrix/layout.h"

#include "base/hash.h"
#include "base/random.h"

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

/* The row that a sample of this number takes. A small matrix is sampled whole. Of a large one each
   stretch gives one row, at no regular distance, because a grid's edges may be regular. */
static int64_t sampled_row(const matrix *m, int64_t number) {
    if (m->rows <= SAMPLED)
        return number;
    const int64_t stretch = m->rows / SAMPLED;
    return number * stretch + (int64_t)(random_bits(0, (uint64_t)number) % (uint64_t)stretch);
}

static int64_t take_row(const matrix *m, int64_t row, dtype values, diagonal *to) {
    int64_t count = 0;
    for (int64_t e = layout_first_of(m, row); e < m->entries && m->row[e] == row; e++) {
        if (count == LONGEST)
            return 0; /* more than a stencil has */
        const double value = dtype_round(values, m->value[e]);
        if (isfinite(value))
            to[count++] = (diagonal){m->column[e] - row, value};
    }
    return count;
}

static int64_t take_rows(job *j, const matrix *m, int64_t rows, dtype values, diagonal *to) {
    int64_t row[SAMPLED], count = 0;
    for (int64_t i = 0; i < rows; i++)
        row[i] = sampled_row(m, i);
    if (matrix_remote(m) != NULL)
        return matrix_remote(m)->sample(j, matrix_remote(m), row, rows, LONGEST, values, to);
    for (int64_t i = 0; i < rows; i++)
        count += take_row(m, row[i], values, to + count);
    return count;
}

int stencil_find(job *j, const matrix *m, dtype values, const diagonal **out) {
    const int64_t rows = m->rows < SAMPLED ? m->rows : SAMPLED;
    diagonal *seen = job_array(j, (size_t)(rows * LONGEST), sizeof *seen);
    diagonal *found = job_array(j, MOST_DIAGONALS, sizeof *found);
    const int64_t count = take_rows(j, m, rows, values, seen);
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
                         "%lld of the matrix's %s %s other entries than those of the stencil, "
                         "whose %d diagonal%s compiled in",
                         (long long)rows.other, text_count(j, p->rows, "row"),
                         rows.other == 1 ? "has" : "have", p->storage.diagonal_count,
                         p->storage.diagonal_count == 1 ? " is" : "s are");
    return NULL;
}

enum { GROUP, PATTERN, ROW, OFFSET, COLUMN, VALUE };

/* ---- rows ------------------------------------------------------------------------------------ */

/* Compares values as they are stored: −0 is not 0, and no NaN equals any number. */
static bool same_value(dtype type, double a, double b) {
    const double stored_a = dtype_round(type, a), stored_b = dtype_round(type, b);
    return memcmp(&stored_a, &stored_b, sizeof stored_a) == 0;
}

/* Which of the diagonals the row of entry `first` has; `end` gets the entry after the row. */
static uint32_t read_row(const matrix *m, const storage *s, int64_t first, int64_t *end) {
    const int64_t row = m->row[first];
    uint32_t bits = 0;
    int64_t e = first;
    for (int d = 0; e < m->entries && m->row[e] == row; e++, d++) {
        const int64_t offset = m->column[e] - row;
        while (d < s->diagonal_count && s->diagonals[d].offset < offset)
            d++;
        if (d == s->diagonal_count || s->diagonals[d].offset != offset ||
            !same_value(storage_dtype(s), m->value[e], s->diagonals[d].value)) {
            *end = layout_row_end(m, e);
            return STENCIL_OTHER;
        }
        bits |= UINT32_C(1) << d;
    }
    *end = e;
    return bits;
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* The patterns that were met, once each: a hash table with open addresses, at most half full. */
typedef struct patterns {
    uint32_t (*words)[STENCIL_GROUP];
    int64_t count, room;
    uint32_t *slots;  /* a pattern's number plus 1; 0: free */
    int64_t capacity; /* a power of two, twice the room */
} patterns;

static uint32_t *find_slot(const patterns *p, const uint32_t *words) {
    uint64_t at = checksum_of(words, sizeof *p->words, 0) & (uint64_t)(p->capacity - 1);
    while (p->slots[at] != 0 && memcmp(p->words[p->slots[at] - 1], words, sizeof *p->words) != 0)
        at = (at + 1) & (uint64_t)(p->capacity - 1);
    return &p->slots[at];
}

static void make_room(job *j, patterns *p, int64_t room) {
    patterns larger = *p;
    larger.room = room;
    larger.capacity = 2 * room;
    larger.words = job_array(j, (size_t)room, sizeof *larger.words);
    larger.slots = job_array(j, (size_t)larger.capacity, sizeof *larger.slots);
    if (p->count > 0)
        memcpy(larger.words, p->words, (size_t)p->count * sizeof *p->words);
    for (int64_t i = 0; i < p->count; i++)
        *find_slot(&larger, larger.words[i]) = (uint32_t)(i + 1);
    *p = larger;
}

/* The number of a group with this pattern; 0: all its rows have all diagonals. */
static uint32_t number_of(job *j, patterns *p, const uint32_t *words, uint32_t full) {
    bool whole = true;
    for (int i = 0; i < STENCIL_GROUP; i++)
        whole = whole && words[i] == full;
    if (whole)
        return 0;
    uint32_t *slot = find_slot(p, words);
    if (*slot == 0) {
        if (p->count == INT32_MAX)
            job_fail(j, FAULT_DATA, NULL, 0, "there are too many patterns of rows for a stencil");
        if (p->count == p->room) {
            make_room(j, p, 2 * p->room);
            slot = find_slot(p, words);
        }
        memcpy(p->words[p->count++], words, sizeof *p->words);
        *slot = (uint32_t)p->count;
    }
    return *slot;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* What one pass over all entries leaves for storing: lists by groups that have an entry. All other
   groups are empty. */
typedef struct reading {
    stencil_rows rows; /* first, see stencil_deviations */
    patterns patterns;
    int64_t visited;
    int64_t *group; /* of each group that was visited, in order */
    uint32_t *number;
    int64_t *other; /* the first entry of each row that is stored */
    uint32_t empty; /* the number of a group without entries */
    uint32_t last;  /* and of the last group where that one has none */
} reading;

/* The pattern of a group without entries: no bits. Rows beyond the end of the matrix have the bit
   of rows that are stored elsewhere. */
static void empty_group(const matrix *m, int64_t group, uint32_t *words) {
    for (int i = 0; i < STENCIL_GROUP; i++)
        words[i] = m->rows - group * STENCIL_GROUP > i ? 0 : STENCIL_OTHER;
}

static void take_other(job *j, reading *r, int64_t first, int64_t end) {
    r->other = job_grow(j, r->other, (size_t)r->rows.other, sizeof *r->other);
    r->other[r->rows.other++] = first;
    r->rows.entries += end - first;
    r->rows.longest = end - first > r->rows.longest ? end - first : r->rows.longest;
}

static uint32_t full_bits(const storage *s) {
    return (UINT32_C(1) << s->diagonal_count) - 1;
}

/* The group that has entry `first`; returns the entry after the group. */
static int64_t read_group(job *j, const matrix *m, const storage *s, int64_t first, reading *r) {
    const int64_t group = m->row[first] / STENCIL_GROUP;
    uint32_t words[STENCIL_GROUP];
    int64_t end, complete = 0;
    empty_group(m, group, words);
    for (; first < m->entries && m->row[first] < (group + 1) * STENCIL_GROUP; first = end) {
        const uint32_t bits = read_row(m, s, first, &end);
        words[m->row[first] % STENCIL_GROUP] = bits;
        if (bits == STENCIL_OTHER)
            take_other(j, r, first, end);
        complete += bits == full_bits(s);
    }
    r->rows.lacking -= complete;
    r->group[r->visited] = group;
    r->number[r->visited++] = number_of(j, &r->patterns, words, full_bits(s));
    return first;
}

/* Numbers for groups without entries, if the matrix has such groups. */
static void read_empty(job *j, const matrix *m, const storage *s, int64_t groups, reading *r) {
    uint32_t words[STENCIL_GROUP];
    const bool last = groups > 0 && (r->visited == 0 || r->group[r->visited - 1] != groups - 1);
    empty_group(m, groups - 1, words);
    if (last)
        r->last = number_of(j, &r->patterns, words, full_bits(s));
    memset(words, 0, sizeof words);
    if (r->visited + last < groups)
        r->empty = number_of(j, &r->patterns, words, full_bits(s));
}

static void measure(job *j, const matrix *m, packed_matrix *p) {
    enum { ROOM = 64 };
    const int64_t groups = layout_parts(m->rows, STENCIL_GROUP);
    const size_t most = (size_t)(groups < m->entries ? groups : m->entries);
    reading *r = job_alloc(j, sizeof *r);
    *r = (reading){.group = job_array(j, most, sizeof *r->group),
                   .number = job_array(j, most, sizeof *r->number),
                   .rows.lacking = m->rows};
    make_room(j, &r->patterns, ROOM);
    for (int64_t e = 0; e < m->entries;)
        e = read_group(j, m, &p->storage, e, r);
    read_empty(j, m, &p->storage, groups, r);
    r->rows.lacking -= r->rows.other;
    p->work = r;
    layout_arrays(p, groups, r->patterns.count, r->rows.other, r->rows.entries);
}

stencil_rows stencil_deviations(const packed_matrix *p) {
    return *(const stencil_rows *)p->work;
}

/* ---- storing --------------------------------------------------------------------------------- */

static void fill_groups(const reading *r, int64_t groups, uint32_t *group) {
    int64_t next = 0;
    for (int64_t i = 0; i < r->visited; i++) {
        for (; next < r->group[i]; next++)
            group[next] = r->empty;
        group[next++] = r->number[i];
    }
    for (; next < groups; next++)
        group[next] = next == groups - 1 ? r->last : r->empty;
}

static void fill(job *j, const matrix *m, packed_matrix *p) {
    (void)j;
    const reading *r = p->work;
    int64_t entry = 0;
    fill_groups(r, p->arrays[GROUP].extent[0], p->arrays[GROUP].data);
    memcpy(p->arrays[PATTERN].data, r->patterns.words,
           (size_t)r->patterns.count * sizeof *r->patterns.words);
    for (int64_t i = 0; i < r->rows.other; i++) {
        const int64_t end = layout_row_end(m, r->other[i]);
        layout_put(p, ROW, i, m->row[r->other[i]]);
        layout_put(p, OFFSET, i, entry);
        for (int64_t e = r->other[i]; e < end; e++, entry++) {
            layout_put(p, COLUMN, entry, m->column[e]);
            layout_put_value(p, VALUE, entry, m->value[e]);
        }
    }
    layout_put(p, OFFSET, r->rows.other, entry);
}

/* ---- and back -------------------------------------------------------------------------------- */

static void unpack(const packed_matrix *p, entry_list *out) {
    const storage *s = &p->storage;
    const uint32_t *group = p->arrays[GROUP].data, *pattern = p->arrays[PATTERN].data;
    for (int64_t r = 0; r < p->rows; r++) {
        const uint32_t number = group[r / STENCIL_GROUP];
        const uint32_t bits =
            number == 0 ? full_bits(s)
                        : pattern[(int64_t)(number - 1) * STENCIL_GROUP + r % STENCIL_GROUP];
        for (int d = 0; d < s->diagonal_count && bits != STENCIL_OTHER; d++)
            if (bits >> d & 1)
                layout_take(out, r, r + s->diagonals[d].offset, s->diagonals[d].value);
    }
    for (int64_t i = 0; i < p->arrays[ROW].extent[0]; i++)
        for (int64_t k = layout_index(p, OFFSET, i); k < layout_index(p, OFFSET, i + 1); k++)
            layout_take(out, layout_index(p, ROW, i), layout_index(p, COLUMN, k),
                        layout_value(p, VALUE, k));
}

const layout layout_stencil = {measure, fill, unpack};
