/* The results of a page, the marks of their methods, and the table of every candidate, the fastest
   first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/page.h"

/* ---- results -------------------------------------------------------------------------------- */

/* The texts of a result. */
static const size_t texts[] = {
    offsetof(sg_result, name),      offsetof(sg_result, family),   offsetof(sg_result, model),
    offsetof(sg_result, key),       offsetof(sg_result, device),   offsetof(sg_result, device_name),
    offsetof(sg_result, arch),      offsetof(sg_result, compiler), offsetof(sg_result, plan),
    offsetof(sg_result, generator), offsetof(sg_result, state),    offsetof(sg_result, reason),
};

void page_keep(page_results *all, const sg_result *r) {
    all->list = longer_list(all->list, all->count, sizeof *all->list);
    sg_result *kept = &all->list[all->count++];
    *kept = *r;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char **text = (const char **)(void *)((char *)kept + texts[i]);
        *text = new_copy(*text);
    }
    kept->seconds = NULL; /* a page has no use for them */
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

bool page_same_place(const sg_result *a, const sg_result *b) {
    return strcmp(a->key, b->key) == 0 && strcmp(a->generator, b->generator) == 0 &&
           strcmp(a->device, b->device) == 0 && strcmp(a->device_name, b->device_name) == 0 &&
           strcmp(a->arch, b->arch) == 0 && a->multiprocessors == b->multiprocessors &&
           a->memory >> 30 == b->memory >> 30 && a->steps == b->steps &&
           a->size_count == b->size_count &&
           memcmp(a->size, b->size, (size_t)a->size_count * sizeof *a->size) == 0;
}

double page_of_copy(const sg_result *r) {
    if (!(r->copy_seconds > 0))
        return (double)NAN;
    /* `copy_seconds` is for one step; a run of several is compared with as many copies. */
    return (double)(r->steps > 1 ? r->steps : 1) * r->copy_seconds / page_time(r);
}

/* ---- marks ---------------------------------------------------------------------------------- */

/* The mark of a row's method, algorithm or format, which is the first word of its plan. Those
   beyond the marks share one. */
static int kind_of(page *p, const sg_result *r) {
    const char *name = phrase("%.*s", (int)strcspn(r->plan, " "), r->plan);
    int kind = 0;
    while (kind < p->kind_count && strcmp(p->kind_names[kind], name) != 0)
        kind++;
    if (kind < p->kind_count)
        return kind;
    if (kind < CHART_KINDS)
        p->kind_names[p->kind_count++] = name;
    else
        p->kind_names[kind = CHART_KINDS - 1] = "others";
    return kind;
}

/* The best plan's method has the first mark. */
void page_kinds_find(page *p) {
    p->kinds = new_array((size_t)p->count, sizeof *p->kinds);
    p->kind_count = 0;
    if (p->best >= 0)
        kind_of(p, &p->rows[p->best]);
    for (int i = 0; i < p->count; i++)
        p->kinds[i] = kind_of(p, &p->rows[i]);
}

void page_write_kinds(const page *p, bool lost, text *out) {
    if (p->kind_count > 1 || lost)
        svg_legend(out, p->kind_names, p->kind_count > 1 ? p->kind_count : 0, lost);
}

/* ---- table ---------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right) {
    const sg_result *a = *(const sg_result *const *)left, *b = *(const sg_result *const *)right;
    const bool x = page_is_right(a), y = page_is_right(b);
    if (x != y)
        return x ? -1 : 1;
    if (x && page_is_faster(a, b))
        return -1;
    if (x && page_is_faster(b, a))
        return 1;
    return a < b ? -1 : 1; /* of one array, in the order taken */
}

/* The rows' indices, the fastest first; those that are not right last. */
static int *order_of(const page *p) {
    const sg_result **rows = new_array((size_t)p->count, sizeof *rows);
    int *order = new_array((size_t)p->count, sizeof *order);
    for (int i = 0; i < p->count; i++)
        rows[i] = &p->rows[i];
    qsort(rows, (size_t)p->count, sizeof *rows, compare);
    for (int i = 0; i < p->count; i++)
        order[i] = (int)(rows[i] - p->rows);
    return order;
}

static const char *whole(double number) {
    return phrase("%.0f", number);
}

static const char *ratio(double number) {
    return phrase("%.3f", number);
}

/* `data` names an attribute with the database's number, for programs and for copying. */
static const struct column {
    const char *name, *data;
    const char *(*write)(double);
} columns[] = {
    {"time", "seconds", in_seconds},      {"in the finals", "final", in_seconds},
    {"of the best", NULL, ratio},         {"of a copy", NULL, ratio},
    {"estimate", "estimate", in_seconds}, {"registers", "registers", whole},
    {"spilled, bytes", "local", whole},   {"shared, bytes", "shared", whole},
    {"occupancy", "occupancy", ratio},    {"evaluation", "evaluation", whole},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static bool is_known(double number) {
    return number >= 0 && isfinite(number);
}

static double positive(double number) {
    return number > 0 ? number : -1;
}

/* The numbers of a row's columns; NAN or below 0 if unknown. */
static void find_numbers(const page *p, const sg_result *r, double out[COLUMNS]) {
    const double best = p->best >= 0 ? page_time(&p->rows[p->best]) : (double)NAN;
    const double list[COLUMNS] = {r->median,
                                  positive(r->final_seconds),
                                  page_time(r) / best,
                                  page_of_copy(r),
                                  positive(r->estimated_seconds),
                                  r->registers,
                                  (double)r->local_bytes,
                                  (double)r->shared_bytes,
                                  r->occupancy,
                                  positive(r->evaluation)};
    memcpy(out, list, sizeof list);
}

static void add_number(const struct column *c, double number, text *out) {
    text_printf(out, "<td data-name=\"%s\"", c->name);
    if (is_known(number) && c->data != NULL)
        text_printf(out, " data-%s=\"%.17g\"", c->data, number);
    text_printf(out, ">%s</td>", is_known(number) ? c->write(number) : "—");
}

static void add_row(const page *p, int row, const bool *used, text *out) {
    const sg_result *r = &p->rows[row];
    const bool right = page_is_right(r);
    double numbers[COLUMNS];
    int span = 0;
    text_add(out, row == p->best ? "<tr class=\"best\">" : right ? "<tr>" : "<tr class=\"lost\">");
    html_add(out, "<th scope=\"row\">%s", r->plan);
    text_add(out, row == p->usual_row ? " <em>default</em></th>" : "</th>");
    find_numbers(p, r, numbers);
    for (int i = 0; i < COLUMNS; i++) {
        span += used[i];
        if (used[i] && right)
            add_number(&columns[i], numbers[i], out);
    }
    if (!right)
        html_add(out, "<td colspan=\"%s\">%s%s%s</td>", phrase("%d", span > 0 ? span : 1), r->state,
                 r->reason[0] != '\0' ? ": " : "", r->reason);
    text_add(out, "</tr>\n");
}

void page_write_table(const page *p, text *out) {
    bool used[COLUMNS] = {false};
    int *order = order_of(p);
    for (int row = 0; row < p->count; row++) {
        double numbers[COLUMNS];
        find_numbers(p, &p->rows[row], numbers);
        for (int i = 0; i < COLUMNS; i++)
            used[i] |= is_known(numbers[i]);
    }
    text_printf(out,
                "<section id=\"candidates\">\n<h2>Every candidate</h2>\n<details%s>"
                "\n<summary>%s, the fastest first</summary>\n<table>\n<thead><tr>"
                "<th scope=\"col\">plan</th>",
                p->count <= 40 ? " open" : "", counted(p->count, "candidate"));
    for (int i = 0; i < COLUMNS; i++)
        if (used[i])
            text_printf(out, "<th scope=\"col\">%s</th>", columns[i].name);
    text_add(out, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < p->count; i++)
        add_row(p, order[i], used, out);
    text_add(out, "</tbody>\n</table>\n</details>\n</section>\n");
}
