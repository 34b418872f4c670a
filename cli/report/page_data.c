/* What a page is about: the results that belong together; what their plans differ in and how much
   of their times that explains; and which candidates look alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/page.h"
#include "cli/words.h"

/* ---- results -------------------------------------------------------------------------------- */

/* The texts of a result. */
static const size_t texts[] = {
    offsetof(sg_result, name),      offsetof(sg_result, family),   offsetof(sg_result, model),
    offsetof(sg_result, key),       offsetof(sg_result, device),   offsetof(sg_result, device_name),
    offsetof(sg_result, arch),      offsetof(sg_result, compiler), offsetof(sg_result, plan),
    offsetof(sg_result, generator), offsetof(sg_result, state),    offsetof(sg_result, reason),
};
enum { TEXTS = sizeof texts / sizeof *texts };

static char **text_of(sg_result *r, int i) {
    return (char **)((char *)r + texts[i]);
}

void page_keep(page_results *all, const sg_result *r) {
    all->list = longer_list(all->list, all->count, sizeof *all->list);
    sg_result *kept = &all->list[all->count++];
    *kept = *r;
    for (int i = 0; i < TEXTS; i++)
        *text_of(kept, i) = new_copy(*text_of(kept, i));
    kept->seconds = NULL;
    if (r->repeats > 0 && r->seconds != NULL) {
        double *seconds = new_array((size_t)r->repeats, sizeof *seconds);
        memcpy(seconds, r->seconds, (size_t)r->repeats * sizeof *seconds);
        kept->seconds = seconds;
    }
}

void page_keep_drift(page_drifts *all, const sg_drift *d) {
    all->list = longer_list(all->list, all->count, sizeof *all->list);
    all->list[all->count] = *d;
    all->list[all->count++].plan = new_copy(d->plan);
}

bool page_is_right(const sg_result *r) {
    return strcmp(r->state, "right") == 0 && isfinite(r->median) && r->median > 0;
}

double page_time(const sg_result *r) {
    return r->final_seconds > 0 ? r->final_seconds : r->median;
}

bool page_is_faster(const sg_result *a, const sg_result *b) {
    const double x = a->settled_seconds > 0 ? a->settled_seconds : a->median;
    const double y = b->settled_seconds > 0 ? b->settled_seconds : b->median;
    const bool final = a->final_seconds > 0, other_final = b->final_seconds > 0;
    if (x != y)
        return x < y;
    return final != other_final ? final : a->median < b->median;
}

bool page_same_kind(const sg_result *a, const sg_result *b) {
    return strcmp(a->key, b->key) == 0 && strcmp(a->generator, b->generator) == 0 &&
           strcmp(a->device, b->device) == 0 && strcmp(a->device_name, b->device_name) == 0 &&
           strcmp(a->arch, b->arch) == 0 && a->multiprocessors == b->multiprocessors &&
           a->memory >> 30 == b->memory >> 30 && a->steps == b->steps;
}

bool page_same_size(const sg_result *a, const sg_result *b) {
    return a->size_count == b->size_count &&
           memcmp(a->size, b->size, (size_t)a->size_count * sizeof *a->size) == 0;
}

bool page_same_place(const sg_result *a, const sg_result *b) {
    return page_same_kind(a, b) && page_same_size(a, b);
}

bool page_is_of_matrix(const sg_result *r) {
    enum { MATRIX = 6 };
    return r->size_count == MATRIX;
}

double page_points(const sg_result *r) {
    enum { ENTRIES = 2 };
    if (page_is_of_matrix(r))
        return (double)r->size[ENTRIES];
    double points = 1;
    for (int i = 0; i < r->size_count; i++)
        points *= (double)r->size[i];
    return points;
}

double page_of_copy(const sg_result *r) {
    if (!(r->copy_seconds > 0))
        return (double)NAN;
    /* A copy of what one step must move; all steps of a run are beside as many of them. */
    return (double)(r->steps > 1 ? r->steps : 1) * r->copy_seconds / page_time(r);
}

/* ---- parameters ----------------------------------------------------------------------------- */

enum { LETTERS = 3 };

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
        *a = (page_axis){.name = job_copy(command_memory(), name, strlen(name)), .whole = whole};
        a->values = new_array((size_t)rows, sizeof *a->values);
        a->of = new_array((size_t)rows, sizeof *a->of);
        for (int i = 0; i < rows; i++)
            a->of[i] = -1;
    }
    int v = 0;
    while (v < a->count && (strlen(a->values[v]) != length || memcmp(a->values[v], value, length)))
        v++;
    if (v == a->count)
        a->values[a->count++] = job_copy(command_memory(), value, length);
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
    char *key = job_copy(command_memory(), word, key_length);
    const bool parts = has_parts(word, key_length);
    set_value(axes, key, parts, rows, row, equals + 1, rest);
    for (int axis = 0; axis < LETTERS && parts; axis++) {
        size_t part_length;
        const char *part = part_of(equals + 1, rest, axis, &part_length);
        text name = new_text();
        text_printf(&name, "%s.%c", key, "xyz"[axis]);
        set_value(axes, name.data, false, rows, row, part, part_length);
    }
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
    char **sorted = new_array((size_t)a->count, sizeof *sorted);
    memcpy(sorted, a->values, (size_t)a->count * sizeof *sorted);
    qsort(sorted, (size_t)a->count, sizeof *sorted, compare);
    for (int i = 0; i < rows; i++)
        for (int v = 0; a->of[i] >= 0 && v < a->count; v++)
            if (sorted[v] == a->values[a->of[i]]) {
                a->of[i] = v;
                break;
            }
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
    group *groups = new_array((size_t)a->count, sizeof *groups), having = {0}, all = {0};
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

const page_axis *page_axis_named(const page_axes *axes, const char *name) {
    for (int i = 0; i < axes->count; i++)
        if (strcmp(axes->list[i].name, name) == 0)
            return &axes->list[i];
    return NULL;
}

/* ---- marks ---------------------------------------------------------------------------------- */

const page_axis *page_way(const page *p) {
    static const char *const names[] = {"method", "format", "algorithm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (page_axis_named(&p->axes, names[i]) != NULL)
            return page_axis_named(&p->axes, names[i]);
    return NULL;
}

static int count_of(const page *p, const page_axis *a, int value) {
    int count = 0;
    for (int i = 0; i < p->count; i++)
        count += a->of[i] == value;
    return count;
}

/* How many ways come before this one: the best plan's is the first, then those with more rows. */
static int place_of(const page *p, const page_axis *a, int value) {
    const int best = p->best >= 0 ? a->of[p->best] : -1, own = count_of(p, a, value);
    int before = 0;
    for (int v = 0; v < a->count; v++) {
        const int count = count_of(p, a, v);
        if (v != value && value != best &&
            (v == best || count > own || (count == own && v < value)))
            before++;
    }
    return before;
}

void page_kinds_find(page *p) {
    const page_axis *a = page_way(p);
    p->kinds = new_array((size_t)p->count + 1, sizeof *p->kinds);
    p->kind_count = 0;
    for (int v = 0; a != NULL && v < a->count; v++) {
        const int place = place_of(p, a, v);
        const int kind = place < CHART_KINDS ? place : CHART_KINDS - 1;
        for (int i = 0; i < p->count; i++)
            if (a->of[i] == v)
                p->kinds[i] = kind;
        p->kind_names[kind] = place >= CHART_KINDS ? "others" : a->values[v];
        p->kind_count = a->count < CHART_KINDS ? a->count : CHART_KINDS;
    }
    if (a != NULL && a->count > CHART_KINDS)
        p->kind_names[CHART_KINDS - 1] = "others";
}

void page_write_kinds(const page *p, bool lost, text *out) {
    if (p->kind_count > 1 || lost)
        svg_legend(out, p->kind_names, p->kind_count > 1 ? p->kind_count : 0, lost);
}
