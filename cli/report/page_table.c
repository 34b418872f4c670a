/* Every candidate in a table, the fastest first. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli/report/page.h"

typedef struct place {
    const sg_result *result;
    int index;
} place;

static int compare(const void *left, const void *right) {
    const place *a = left, *b = right;
    const bool x = page_is_right(a->result), y = page_is_right(b->result);
    if (x != y)
        return x ? -1 : 1;
    if (x && page_is_faster(a->result, b->result))
        return -1;
    if (x && page_is_faster(b->result, a->result))
        return 1;
    return a->index < b->index ? -1 : 1;
}

int *page_order(const page *p) {
    place *places = new_array((size_t)p->count + 1, sizeof *places);
    int *order = new_array((size_t)p->count + 1, sizeof *order);
    for (int i = 0; i < p->count; i++)
        places[i] = (place){&p->rows[i], i};
    qsort(places, (size_t)p->count, sizeof *places, compare);
    for (int i = 0; i < p->count; i++)
        order[i] = places[i].index;
    return order;
}

/* A column: its name, and what stands in it; nothing where it is unknown. `data` is the number as
   the database has it, for programs and for copying. */
typedef struct column {
    const char *name, *data;
    double (*number)(const page *, const sg_result *);
    void (*write)(text *, double);
} column;

static double known(int64_t number) {
    return number >= 0 ? (double)number : (double)NAN;
}

static double time_of(const page *p, const sg_result *r) {
    (void)p;
    return r->median;
}

static double final(const page *p, const sg_result *r) {
    (void)p;
    return r->final_seconds > 0 ? r->final_seconds : (double)NAN;
}

static double slower(const page *p, const sg_result *r) {
    return p->best >= 0 ? page_time(r) / page_time(&p->rows[p->best]) : (double)NAN;
}

static double of_copy(const page *p, const sg_result *r) {
    (void)p;
    return page_of_copy(r);
}

static double estimate(const page *p, const sg_result *r) {
    (void)p;
    return r->estimated_seconds > 0 ? r->estimated_seconds : (double)NAN;
}

static double registers(const page *p, const sg_result *r) {
    (void)p;
    return known(r->registers);
}

static double local(const page *p, const sg_result *r) {
    (void)p;
    return known(r->local_bytes);
}

static double shared(const page *p, const sg_result *r) {
    (void)p;
    return known(r->shared_bytes);
}

static double occupancy(const page *p, const sg_result *r) {
    (void)p;
    return r->occupancy >= 0 ? r->occupancy : (double)NAN;
}

static double evaluation(const page *p, const sg_result *r) {
    (void)p;
    return r->evaluation > 0 ? r->evaluation : (double)NAN;
}

static void write_whole(text *b, double number) {
    text_printf(b, "%.0f", number);
}

static void write_ratio(text *b, double number) {
    text_printf(b, "%.3f", number);
}

static const column columns[] = {
    {"time", "seconds", time_of, add_seconds},
    {"in the finals", "final", final, add_seconds},
    {"of the best", NULL, slower, write_ratio},
    {"of a copy", NULL, of_copy, write_ratio},
    {"estimate", "estimate", estimate, add_seconds},
    {"registers", "registers", registers, write_whole},
    {"spilled, bytes", "local", local, write_whole},
    {"shared, bytes", "shared", shared, write_whole},
    {"occupancy", "occupancy", occupancy, write_ratio},
    {"evaluation", "evaluation", evaluation, write_whole},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static bool is_used(const page *p, const column *c) {
    for (int i = 0; i < p->count; i++)
        if (isfinite(c->number(p, &p->rows[i])))
            return true;
    return false;
}

static void add_number(const page *p, const column *c, const sg_result *r, text *out) {
    const double number = c->number(p, r);
    text_printf(out, "<td data-name=\"%s\"", c->name);
    if (isfinite(number) && c->data != NULL)
        text_printf(out, " data-%s=\"%.17g\"", c->data, number);
    text_add(out, ">");
    if (isfinite(number))
        c->write(out, number);
    else
        text_add(out, "—");
    text_add(out, "</td>");
}

static void add_row(const page *p, int row, const bool *used, text *out) {
    const sg_result *r = &p->rows[row];
    text_printf(out, "<tr%s><th scope=\"row\">",
                row == p->best     ? " class=\"best\""
                : page_is_right(r) ? ""
                                   : " class=\"lost\"");
    html_text(out, r->plan);
    text_add(out, row == p->usual_row ? " <em>default</em></th>" : "</th>");
    for (int i = 0; i < COLUMNS && page_is_right(r); i++)
        if (used[i])
            add_number(p, &columns[i], r, out);
    if (!page_is_right(r)) {
        int span = 0;
        for (int i = 0; i < COLUMNS; i++)
            span += used[i];
        text_printf(out, "<td colspan=\"%d\">", span > 0 ? span : 1);
        html_text(out, r->state);
        text_add(out, r->reason[0] != '\0' ? ": " : "");
        html_text(out, r->reason);
        text_add(out, "</td>");
    }
    text_add(out, "</tr>\n");
}

void page_write_table(const page *p, text *out) {
    bool used[COLUMNS];
    int *order = page_order(p);
    text_printf(out,
                "<section id=\"candidates\">\n<h2>Every candidate</h2>\n<details%s>"
                "\n<summary>%d candidate%s, the fastest first</summary>\n<table>\n<thead><tr>"
                "<th scope=\"col\">plan</th>",
                p->count <= 40 ? " open" : "", p->count, p->count == 1 ? "" : "s");
    for (int i = 0; i < COLUMNS; i++) {
        used[i] = is_used(p, &columns[i]);
        if (used[i])
            text_printf(out, "<th scope=\"col\">%s</th>", columns[i].name);
    }
    text_add(out, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < p->count; i++)
        add_row(p, order[i], used, out);
    text_add(out, "</tbody>\n</table>\n</details>\n</section>\n");
}
