/* STENCIL: rows that have some of the storage's diagonals by bits, all others as CSR. Equal
   patterns of 32 rows are stored once, of which a grid has few: one for each place where an edge
   can fall among 32 rows. So kernels find them in their caches. */
#include <string.h>

#include "matrix/layout.h"
#include "matrix/stencil.h"

enum { GROUP, PATTERN, ROW, OFFSET, COLUMN, VALUE };

/* ---- rows ------------------------------------------------------------------------------------ */

/* As they are stored: −0 is not 0, and no NaN is any number. */
static bool same_value(size_t bytes, double a, double b) {
    const float low_a = (float)a, low_b = (float)b;
    return bytes == sizeof(float) ? memcmp(&low_a, &low_b, sizeof low_a) == 0
                                  : memcmp(&a, &b, sizeof a) == 0;
}

/* Which of the diagonals the entries of a row are. */
static uint32_t bits_of(const matrix *m, const storage *s, int64_t first, int64_t end) {
    uint32_t bits = 0;
    int d = 0;
    for (int64_t e = first; e < end; e++) {
        const int64_t offset = m->column[e] - m->row[e];
        while (d < s->diagonal_count && s->diagonals[d].offset < offset)
            d++;
        if (d == s->diagonal_count || s->diagonals[d].offset != offset ||
            !same_value(s->value_bytes, m->value[e], s->diagonals[d].value))
            return STENCIL_OTHER;
        bits |= UINT32_C(1) << d++;
    }
    return bits;
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* Those that were met, once each: a hash table with open addresses, at most half full. */
typedef struct patterns {
    uint32_t (*words)[STENCIL_GROUP];
    int64_t count, room;
    uint32_t *slots;  /* a pattern's number and 1; 0: free */
    int64_t capacity; /* a power of two, twice the room */
    stencil_rows rows;
} patterns;

static uint64_t hash(const uint32_t *words) { /* FNV-1a over words, stirred */
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < STENCIL_GROUP; i++)
        h = (h ^ words[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static uint32_t *find_slot(const patterns *p, const uint32_t *words) {
    uint64_t at = hash(words) & (uint64_t)(p->capacity - 1);
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

/* The number that a group of such rows gets; 0: all rows have all diagonals. */
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

/* ---- walking --------------------------------------------------------------------------------- */

/* What a group without entries has: no bits; behind the last row of the matrix the bit of rows that
   are none of the pattern's business. */
static void empty_group(const matrix *m, int64_t group, uint32_t *words) {
    for (int i = 0; i < STENCIL_GROUP; i++)
        words[i] = m->rows - group * STENCIL_GROUP > i ? 0 : STENCIL_OTHER;
}

/* The bits of the rows of the group in which entry `first` is; returns the entry behind it. `rows`:
   what they add to the counts. */
static int64_t read_group(const matrix *m, const storage *s, int64_t first, uint32_t *words,
                          stencil_rows *rows) {
    const int64_t group = m->row[first] / STENCIL_GROUP;
    empty_group(m, group, words);
    while (first < m->entries && m->row[first] / STENCIL_GROUP == group) {
        const int64_t end = layout_row_end(m, first);
        uint32_t *bits = &words[m->row[first] % STENCIL_GROUP];
        *bits = bits_of(m, s, first, end);
        if (*bits == STENCIL_OTHER) {
            rows->other++;
            rows->entries += end - first;
            rows->longest = end - first > rows->longest ? end - first : rows->longest;
        }
        first = end;
    }
    return first;
}

static uint32_t full_bits(const storage *s) {
    return (UINT32_C(1) << s->diagonal_count) - 1;
}

static void measure(job *j, const matrix *m, packed_matrix *p) {
    enum { ROOM = 64 };
    const storage *s = &p->storage;
    const uint32_t full = full_bits(s);
    patterns *found = job_alloc(j, sizeof *found);
    stencil_rows rows = {0};
    uint32_t words[STENCIL_GROUP];
    const int64_t groups = layout_parts(m->rows, STENCIL_GROUP);
    int64_t visited = 0, complete = 0, last = -1;
    make_room(j, found, ROOM);
    for (int64_t e = 0; e < m->entries; visited++) {
        last = m->row[e] / STENCIL_GROUP;
        e = read_group(m, s, e, words, &rows);
        for (int i = 0; i < STENCIL_GROUP; i++)
            complete += words[i] == full && full != 0;
        number_of(j, found, words, full);
    }
    if (groups > 0 && last != groups - 1) { /* the last group, and one of the others, are empty */
        empty_group(m, groups - 1, words);
        number_of(j, found, words, full);
        visited++;
    }
    if (visited < groups) {
        memset(words, 0, sizeof words);
        number_of(j, found, words, full);
    }
    rows.lacking = m->rows - complete - rows.other;
    found->rows = rows;
    p->work = found;
    layout_array(p, "group", PACKED_WORD, groups, 1);
    layout_array(p, "pattern", PACKED_WORD, STENCIL_GROUP, found->count);
    layout_array(p, "row", PACKED_INDEX, rows.other, 1);
    layout_array(p, "offset", PACKED_INDEX, rows.other + 1, 1);
    layout_array(p, "column", PACKED_INDEX, rows.entries, 1);
    layout_array(p, "value", PACKED_VALUE, rows.entries, 1);
}

stencil_rows stencil_deviations(const packed_matrix *p) {
    return ((const patterns *)p->work)->rows;
}

/* ---- storing --------------------------------------------------------------------------------- */

/* The rows of a group that are stored by themselves; `row` and `entry` count what there is. */
static void put_others(packed_matrix *p, const matrix *m, int64_t first, int64_t end,
                       const uint32_t *words, int64_t *row, int64_t *entry) {
    for (int64_t e = first, after; e < end; e = after) {
        after = layout_row_end(m, e);
        if (words[m->row[e] % STENCIL_GROUP] != STENCIL_OTHER)
            continue;
        layout_put(p, ROW, *row, m->row[e]);
        layout_put(p, OFFSET, (*row)++, *entry);
        for (; e < after; e++, (*entry)++) {
            layout_put(p, COLUMN, *entry, m->column[e]);
            layout_put_value(p, VALUE, *entry, m->value[e]);
        }
    }
}

static void fill(job *j, const matrix *m, packed_matrix *p) {
    const storage *s = &p->storage;
    patterns *found = (patterns *)p->work; /* that of the measuring, whose patterns all are there */
    const uint32_t full = full_bits(s);
    const int64_t groups = p->arrays[GROUP].extent[0];
    uint32_t *group = p->arrays[GROUP].data, words[STENCIL_GROUP];
    stencil_rows counted = {0};
    int64_t row = 0, entry = 0, next = 0;
    memset(words, 0, sizeof words);
    /* Whether any group is empty is known only to the numbers: a pattern that measuring did not
       meet is not to be added now. */
    const uint32_t none = full == 0 ? 0 : *find_slot(found, words);
    for (int64_t e = 0; e < m->entries; next++) {
        const int64_t first = e, here = m->row[e] / STENCIL_GROUP;
        for (; next < here; next++)
            group[next] = none;
        e = read_group(m, s, e, words, &counted);
        group[here] = number_of(j, found, words, full);
        put_others(p, m, first, e, words, &row, &entry);
    }
    for (; next < groups; next++)
        group[next] = none;
    if (groups > 0 && (m->entries == 0 || m->row[m->entries - 1] / STENCIL_GROUP < groups - 1)) {
        empty_group(m, groups - 1, words);
        group[groups - 1] = number_of(j, found, words, full);
    }
    layout_put(p, OFFSET, row, entry);
    memcpy(p->arrays[PATTERN].data, found->words, (size_t)found->count * sizeof *found->words);
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
