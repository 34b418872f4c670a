/* The hash table has open addresses, probed one after the other. A place is either in the table or
   in the sorted lists, so a settled entry is changed in the lists. */
#include "matrix/format.h"

#include "matrix/layout.h"

enum { ROW, COLUMN, VALUE, LISTS };
enum { WORD = 8, FIRST_SLOTS = 64, FIRST_WORDS = 64 };
_Static_assert(sizeof(double) == WORD && sizeof(int64_t) == WORD, "the lists are alike");

void assembly_begin(assembly *a, const allocator *memory, int64_t rows, int64_t columns) {
    *a = (assembly){.memory = *memory, .rows = rows, .columns = columns};
}

static void drop_slots(assembly *a) {
    if (a->slots != NULL)
        a->memory.resize(a->memory.user, a->slots, (size_t)a->capacity * sizeof *a->slots, 0);
    a->slots = NULL;
    a->taken = a->capacity = 0;
}

void assembly_free(assembly *a) {
    drop_slots(a);
    for (int i = 0; i < LISTS; i++)
        if (a->lists[i].data != NULL)
            a->memory.resize(a->memory.user, a->lists[i].data, a->lists[i].bytes, 0);
    *a = (assembly){.memory = a->memory};
}

/* ---- the sorted lists ------------------------------------------------------------------------ */

static int64_t *row_list(const assembly *a) {
    return a->lists[ROW].data;
}
static int64_t *column_list(const assembly *a) {
    return a->lists[COLUMN].data;
}
static double *value_list(const assembly *a) {
    return a->lists[VALUE].data;
}

/* Room for so many entries. */
static bool reserve(assembly *a, int64_t entries) {
    if ((uint64_t)entries > SIZE_MAX / WORD / 4)
        return false;
    const size_t least = (size_t)entries * WORD;
    for (int i = 0; i < LISTS; i++) {
        size_t bytes = a->lists[i].bytes;
        if (bytes >= least)
            continue;
        bytes = bytes == 0 ? FIRST_WORDS * WORD : bytes;
        while (bytes < least)
            bytes *= 2;
        void *data = a->memory.resize(a->memory.user, a->lists[i].data, a->lists[i].bytes, bytes);
        if (data == NULL)
            return false;
        a->lists[i].data = data;
        a->lists[i].bytes = bytes;
    }
    return true;
}

static void put(assembly *a, int64_t at, int64_t row, int64_t column, double value) {
    row_list(a)[at] = row;
    column_list(a)[at] = column;
    value_list(a)[at] = value;
}

/* The value of a place in the lists; NULL where the lists do not have the place. */
static double *find_sorted(const assembly *a, int64_t row, int64_t column) {
    const matrix m = assembly_matrix(a);
    const double *found = layout_look_up(&m, row, column);
    return found != NULL ? value_list(a) + (found - m.value) : NULL;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Mixes all bits of both (the finaliser of MurmurHash3, by A. Appleby). */
static uint64_t hash(int64_t row, int64_t column) {
    uint64_t x = (uint64_t)row * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)column;
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* The slot of a place, or the free slot where the place belongs. */
static assembly_slot *find_slot(const assembly *a, int64_t row, int64_t column) {
    const uint64_t mask = (uint64_t)a->capacity - 1;
    uint64_t at = hash(row, column) & mask;
    while (a->slots[at].row >= 0 && (a->slots[at].row != row || a->slots[at].column != column))
        at = (at + 1) & mask;
    return &a->slots[at];
}

static bool grow(assembly *a) {
    assembly larger = *a;
    larger.capacity = a->capacity > 0 ? 2 * a->capacity : FIRST_SLOTS;
    if ((uint64_t)larger.capacity > SIZE_MAX / sizeof *larger.slots / 4)
        return false;
    const size_t bytes = (size_t)larger.capacity * sizeof *larger.slots;
    larger.slots = a->memory.resize(a->memory.user, NULL, 0, bytes);
    if (larger.slots == NULL)
        return false;
    for (int64_t i = 0; i < larger.capacity; i++)
        larger.slots[i].row = -1;
    for (int64_t i = 0; i < a->capacity; i++)
        if (a->slots[i].row >= 0)
            *find_slot(&larger, a->slots[i].row, a->slots[i].column) = a->slots[i];
    drop_slots(a);
    *a = larger;
    return true;
}

static bool is_inside(const assembly *a, int64_t row, int64_t column) {
    return row >= 0 && row < a->rows && column >= 0 && column < a->columns;
}

/* The value of a place. A place without an entry gets an entry of 0. */
static fault find(assembly *a, int64_t row, int64_t column, double **out) {
    if (!is_inside(a, row, column))
        return FAULT_USAGE;
    *out = find_sorted(a, row, column);
    if (*out != NULL)
        return FAULT_NONE;
    assembly_slot *slot = a->capacity > 0 ? find_slot(a, row, column) : NULL;
    if (slot == NULL || (slot->row < 0 && 2 * (a->taken + 1) > a->capacity)) {
        if (!grow(a))
            return FAULT_MEMORY;
        slot = find_slot(a, row, column);
    }
    if (slot->row < 0) {
        *slot = (assembly_slot){row, column, 0};
        a->taken++;
    }
    *out = &slot->value;
    return FAULT_NONE;
}

fault assembly_set(assembly *a, int64_t row, int64_t column, double value) {
    double *place;
    const fault found = find(a, row, column, &place);
    if (found == FAULT_NONE)
        *place = value;
    return found;
}

fault assembly_add(assembly *a, int64_t row, int64_t column, double value) {
    double *place;
    const fault found = find(a, row, column, &place);
    if (found == FAULT_NONE)
        *place += value;
    return found;
}

fault assembly_get(const assembly *a, int64_t row, int64_t column, double *out) {
    if (!is_inside(a, row, column))
        return FAULT_USAGE;
    const double *sorted = find_sorted(a, row, column);
    const assembly_slot *slot = a->capacity > 0 ? find_slot(a, row, column) : NULL;
    *out = sorted != NULL ? *sorted : slot != NULL && slot->row >= 0 ? slot->value : 0;
    return FAULT_NONE;
}

/* ---- settling -------------------------------------------------------------------------------- */

fault assembly_append(assembly *a, int64_t row, int64_t column, double value) {
    if (!is_inside(a, row, column))
        return FAULT_USAGE;
    const int64_t at = a->entries + a->appended;
    if (!reserve(a, at + 1))
        return FAULT_MEMORY;
    put(a, at, row, column, value);
    a->appended++;
    return FAULT_NONE;
}

void assembly_settle(job *j, assembly *a) {
    if (assembly_is_settled(a))
        return;
    const int64_t before = a->entries + a->appended;
    if (!reserve(a, before + a->taken))
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    int64_t count = before;
    for (int64_t i = 0; i < a->capacity; i++)
        if (a->slots[i].row >= 0)
            put(a, count++, a->slots[i].row, a->slots[i].column, a->slots[i].value);
    order_entries(j, count, row_list(a), column_list(a),
                  value_list(a)); /* fails before anything has changed */
    a->entries = order_merge(count, row_list(a), column_list(a), value_list(a));
    a->appended = 0;
    drop_slots(a);
}

bool assembly_is_settled(const assembly *a) {
    return a->appended == 0 && a->taken == 0;
}

matrix assembly_matrix(const assembly *a) {
    return (matrix){a->rows, a->columns, a->entries, row_list(a), column_list(a), value_list(a)};
}
