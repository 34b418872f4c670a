/* What plans differ in, read from their lines, and how much of their times it explains. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/page.h"
#include "cli/words.h"

enum { LETTERS = 3 };

static char *copy(const char *text, size_t length) {
    buffer b = {0};
    buffer_add_bytes(&b, text, length);
    buffer_add(&b, "");
    return b.data;
}

/* Numbers as such, piece by piece, and the rest as text: "32x8" before "128x2". */
static int compare(const void *left, const void *right) {
    const char *a = *(char *const *)left, *b = *(char *const *)right;
    while (*a != '\0' || *b != '\0') {
        char *end_a, *end_b;
        const bool digits = *a >= '0' && *a <= '9' && *b >= '0' && *b <= '9';
        const double x = digits ? strtod(a, &end_a) : (unsigned char)*a;
        const double y = digits ? strtod(b, &end_b) : (unsigned char)*b;
        if (x != y)
            return x < y ? -1 : 1;
        a = digits ? end_a : a + 1;
        b = digits ? end_b : b + 1;
    }
    return 0;
}

/* ---- values of a plan ---------------------------------------------------------------------- */

/* Keys whose values have a number for each axis of space: tile=32x8, coarsen=z16,y2. */
static bool has_parts(const char *key, size_t length) {
    static const char *const keys[] = {"tile", "coarsen", "lane"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0)
            return true;
    return false;
}

/* The number of an axis in "32x8" or "z16,y2", as text of *length bytes; "1" where it has none. */
static const char *part_of(const char *value, size_t all, int axis, size_t *length) {
    const char *end = value + all;
    for (int i = 0; value < end; i++) {
        const bool lettered = *value >= 'x' && *value <= 'z';
        const int which = lettered ? *value - 'x' : i;
        value += lettered;
        *length = strspn(value, "0123456789");
        if (*length == 0)
            break;
        if (which == axis)
            return value;
        value += *length + 1; /* and what stands between */
    }
    *length = 1;
    return "1";
}

static page_axis *find(page_axes *axes, const char *name) {
    for (int i = 0; i < axes->count; i++)
        if (strcmp(axes->list[i].name, name) == 0)
            return &axes->list[i];
    return NULL;
}

static void set_value(page_axes *axes, const char *name, bool whole, int rows, int row,
                      const char *value, size_t length) {
    page_axis *a = find(axes, name);
    if (a == NULL && axes->count == PAGE_AXES)
        return;
    if (a == NULL) {
        a = &axes->list[axes->count++];
        *a = (page_axis){.name = copy(name, strlen(name)), .whole = whole};
        a->values = must_alloc((size_t)rows, sizeof *a->values);
        a->of = must_alloc((size_t)rows, sizeof *a->of);
        for (int i = 0; i < rows; i++)
            a->of[i] = -1;
    }
    int v = 0;
    while (v < a->count && (strlen(a->values[v]) != length || memcmp(a->values[v], value, length)))
        v++;
    if (v == a->count)
        a->values[a->count++] = copy(value, length);
    a->of[row] = v;
}

static void read_word(page_axes *axes, const char *bare, const char *word, size_t length, int rows,
                      int row) {
    const char *equals = memchr(word, '=', length);
    if (equals == NULL) {
        set_value(axes, bare, false, rows, row, word, length);
        return;
    }
    const size_t key_length = (size_t)(equals - word), rest = length - key_length - 1;
    char *key = copy(word, key_length);
    const bool parts = has_parts(word, key_length);
    set_value(axes, key, parts, rows, row, equals + 1, rest);
    for (int axis = 0; axis < LETTERS && parts; axis++) {
        size_t part_length;
        const char *part = part_of(equals + 1, rest, axis, &part_length);
        buffer name = {0};
        buffer_printf(&name, "%s.%c", key, "xyz"[axis]);
        set_value(axes, name.data, false, rows, row, part, part_length);
        buffer_free(&name);
    }
    free(key);
}

static void read_plan(page_axes *axes, sg_kind kind, const char *plan, int rows, int row) {
    const char *const *bare = words_of_kind(kind)->way;
    int count = 0;
    for (const char *at = plan; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        const bool named = memchr(at, '=', length) != NULL;
        if (length > 0 && (named || count < 2))
            read_word(axes, bare[named ? 0 : count++], at, length, rows, row);
        at += length + (at[length] == ' ');
    }
}

/* ---- an axis as a whole -------------------------------------------------------------------- */

static void sort_values(page_axis *a, int rows) {
    char **sorted = must_alloc((size_t)a->count, sizeof *sorted);
    memcpy(sorted, a->values, (size_t)a->count * sizeof *sorted);
    qsort(sorted, (size_t)a->count, sizeof *sorted, compare);
    for (int i = 0; i < rows; i++)
        for (int v = 0; a->of[i] >= 0 && v < a->count; v++)
            if (sorted[v] == a->values[a->of[i]]) {
                a->of[i] = v;
                break;
            }
    free(a->values);
    a->values = sorted;
}

typedef struct group {
    double sum, squares;
    int count;
} group;

static void put(group *g, double x) {
    g->sum += x;
    g->squares += x * x;
    g->count++;
}

static double spread_of(const group *g) {
    const double s = g->count > 0 ? g->squares - g->sum * g->sum / g->count : 0;
    return s > 0 ? s : 0;
}

static void explain(page_axis *a, const sg_result *rows, int count) {
    group *groups = must_alloc((size_t)a->count, sizeof *groups), having = {0}, all = {0};
    for (int i = 0; i < count; i++) {
        if (!page_is_right(&rows[i]))
            continue;
        const double x = log(page_time(&rows[i]));
        put(&all, x);
        if (a->of[i] >= 0) {
            put(&having, x);
            put(&groups[a->of[i]], x);
        }
    }
    double within = 0;
    int used = 0;
    for (int v = 0; v < a->count; v++) {
        within += spread_of(&groups[v]);
        used += groups[v].count > 0;
    }
    const int freedom = having.count - used;
    const double chance = freedom > 0 ? (used - 1) * within / freedom : 0;
    const double between = spread_of(&having) - within - chance;
    a->rows = having.count;
    /* Groups of one each explain everything, and nothing. */
    a->explained =
        freedom > 0 && between > 0 && spread_of(&all) > 0 ? between / spread_of(&all) : 0;
    free(groups);
}

void page_axes_find(page_axes *axes, sg_kind kind, const sg_result *rows, int count) {
    *axes = (page_axes){0};
    for (int i = 0; i < count; i++)
        read_plan(axes, kind, rows[i].plan, count, i);
    for (int i = 0; i < axes->count; i++) {
        sort_values(&axes->list[i], count);
        explain(&axes->list[i], rows, count);
    }
}

void page_axes_free(page_axes *axes) {
    for (int i = 0; i < axes->count; i++) {
        page_axis *a = &axes->list[i];
        for (int v = 0; v < a->count; v++)
            free(a->values[v]);
        free(a->values);
        free(a->of);
        free(a->name);
    }
    *axes = (page_axes){0};
}

const page_axis *page_axis_named(const page_axes *axes, const char *name) {
    for (int i = 0; i < axes->count; i++)
        if (strcmp(axes->list[i].name, name) == 0)
            return &axes->list[i];
    return NULL;
}
