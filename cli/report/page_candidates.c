/* Every candidate: by each of its parameters, the one that explains most first; and in a table, the
   fastest first. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/page.h"

/* ---- parameters ----------------------------------------------------------------------------- */

enum { MOST_VIEWS = 9 };

/* Parameters with two values or more, the most important first; in the order of plans where they
   are equal. */
static int rank(const page *p, const page_axis *out[PAGE_AXES]) {
    int count = 0;
    for (int i = 0; i < p->axes.count; i++) {
        const page_axis *a = &p->axes.list[i];
        int at = count;
        if (a->whole || a->count < 2 || a->rows < 2)
            continue;
        for (; at > 0 && out[at - 1]->explained < a->explained; at--)
            out[at] = out[at - 1];
        out[at] = a;
        count++;
    }
    return count;
}

/* Whether names are too long to stand side by side. */
static bool are_slanted(const page_axis *a) {
    enum { LETTER = 7, ROOM = 320 };
    size_t longest = 0;
    for (int v = 0; v < a->count; v++)
        longest = strlen(a->values[v]) > longest ? strlen(a->values[v]) : longest;
    return !(a->values[0][0] >= '0' && a->values[0][0] <= '9') &&
           LETTER * (longest + 1) * (size_t)a->count > ROOM;
}

static void add_slanted(svg *s, double x, const char *name) {
    text_printf(s->out,
                "<text transform=\"translate(%.1f %.1f) rotate(-38)\" text-anchor=\"end\" "
                "class=\"tick\">",
                x + 4, s->bottom + 14);
    html_text(s->out, name);
    text_add(s->out, "</text>\n");
}

static void add_value_names(svg *s, const page_axis *a) {
    enum { NAMES = 9 };
    const bool slanted = are_slanted(a);
    const int apart = slanted ? 1 : (a->count + NAMES - 1) / NAMES;
    for (int v = 0; v < a->count; v += apart) {
        const double x = svg_at(&s->x, v);
        svg_line(s, x, s->top, x, s->bottom, "grid");
        if (slanted)
            add_slanted(s, x, a->values[v]);
        else
            svg_text(s, x, s->bottom + 16, "middle", "tick", a->values[v]);
    }
}

/* Marks of one value lie side by side by when they were taken, so that few hide others. */
static double beside(const svg *s, const page_axis *a, int row, int count) {
    const double width = 0.5 * (svg_at(&s->x, 1) - svg_at(&s->x, 0));
    return svg_at(&s->x, a->of[row]) + (count > 1 ? width * ((double)row / (count - 1) - 0.5) : 0);
}

static void add_view(const page *p, const page_axis *a, double least, double most, text *out) {
    text caption = new_text();
    text_printf(&caption, "%s: explains %.0f %% (%d candidates)", a->name, 100 * a->explained,
                a->rows);
    svg s;
    svg_begin(&s, out, caption.data, "The time of each candidate by its value of the parameter.",
              CHART_HEIGHT);
    if (are_slanted(a))
        s.bottom -= 24;
    s.x = (svg_scale){.from = -0.6, .to = a->count - 0.4, .low = s.left, .high = s.right};
    s.y = svg_scale_of(least, most, true);
    svg_frame(&s, NULL, add_seconds, are_slanted(a) ? "" : a->name, "time");
    add_value_names(&s, a);
    for (int i = 0; i < p->count; i++) {
        if (!page_is_right(&p->rows[i]) || a->of[i] < 0)
            continue;
        text title = new_text();
        page_add_mark_title(&title, &p->rows[i]);
        svg_mark(&s, beside(&s, a, i, p->count), svg_at(&s.y, page_time(&p->rows[i])), p->kinds[i],
                 i == p->best, title.data);
    }
    svg_end(&s);
}

static void add_ranking(const page_axis *const *list, int count, text *out) {
    text_add(out, "<ol class=\"bars\">\n");
    for (int i = 0; i < count; i++) {
        text_add(out, "<li><span>");
        html_text(out, list[i]->name);
        text_printf(out,
                    "</span> <svg class=\"bar\" viewBox=\"0 0 100 4\" "
                    "preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"rest\" "
                    "width=\"100\" height=\"4\"/><rect width=\"%.1f\" height=\"4\"/></svg> "
                    "<span>%.0f %%</span></li>\n",
                    100 * list[i]->explained, 100 * list[i]->explained);
    }
    text_add(out, "</ol>\n");
}

void page_write_scatter(const page *p, text *out) {
    const page_axis *list[PAGE_AXES];
    const int count = rank(p, list);
    if (p->best < 0 || count == 0)
        return;
    double least = INFINITY, most = 0;
    for (int i = 0; i < p->count; i++)
        if (page_is_right(&p->rows[i])) {
            least = fmin(least, page_time(&p->rows[i]));
            most = fmax(most, page_time(&p->rows[i]));
        }
    text_add(out,
             "<section id=\"parameters\">\n<h2>Which parameter matters</h2>\n"
             "<p>How much of the variance of the logarithm of time each parameter explains by "
             "itself, beyond chance (ε², Kelley 1935). Shares overlap where parameters depend on "
             "each other.</p>\n");
    add_ranking(list, count, out);
    page_write_kinds(p, false, out);
    text_add(out, "<div class=\"views\">\n");
    for (int i = 0; i < count && i < MOST_VIEWS; i++)
        add_view(p, list[i], least, most, out);
    text_add(out, "</div>\n</section>\n");
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

int *page_order(const page *p) {
    const sg_result **rows = new_array((size_t)p->count, sizeof *rows);
    int *order = new_array((size_t)p->count, sizeof *order);
    for (int i = 0; i < p->count; i++)
        rows[i] = &p->rows[i];
    qsort(rows, (size_t)p->count, sizeof *rows, compare);
    for (int i = 0; i < p->count; i++)
        order[i] = (int)(rows[i] - p->rows);
    return order;
}

static void write_whole(text *b, double number) {
    text_printf(b, "%.0f", number);
}

static void write_ratio(text *b, double number) {
    text_printf(b, "%.3f", number);
}

/* `data` is the number as the database has it, for programs and for copying. */
static const struct column {
    const char *name, *data;
    void (*write)(text *, double);
} columns[] = {
    {"time", "seconds", add_seconds},         {"in the finals", "final", add_seconds},
    {"of the best", NULL, write_ratio},       {"of a copy", NULL, write_ratio},
    {"estimate", "estimate", add_seconds},    {"registers", "registers", write_whole},
    {"spilled, bytes", "local", write_whole}, {"shared, bytes", "shared", write_whole},
    {"occupancy", "occupancy", write_ratio},  {"evaluation", "evaluation", write_whole},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static double known(double number) {
    return number >= 0 ? number : (double)NAN;
}

static double positive(double number) {
    return number > 0 ? number : (double)NAN;
}

/* What stands in the columns of a row; NAN where it is unknown. */
static void find_numbers(const page *p, const sg_result *r, double out[COLUMNS]) {
    const double best = p->best >= 0 ? page_time(&p->rows[p->best]) : (double)NAN;
    const double list[COLUMNS] = {r->median,
                                  positive(r->final_seconds),
                                  page_time(r) / best,
                                  page_of_copy(r),
                                  positive(r->estimated_seconds),
                                  known(r->registers),
                                  known((double)r->local_bytes),
                                  known((double)r->shared_bytes),
                                  known(r->occupancy),
                                  positive(r->evaluation)};
    memcpy(out, list, sizeof list);
}

static void add_number(const struct column *c, double number, text *out) {
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
    double numbers[COLUMNS];
    find_numbers(p, r, numbers);
    for (int i = 0; i < COLUMNS && page_is_right(r); i++)
        if (used[i])
            add_number(&columns[i], numbers[i], out);
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
    bool used[COLUMNS] = {false};
    int *order = page_order(p);
    for (int row = 0; row < p->count; row++) {
        double numbers[COLUMNS];
        find_numbers(p, &p->rows[row], numbers);
        for (int i = 0; i < COLUMNS; i++)
            used[i] |= isfinite(numbers[i]) != 0;
    }
    text_printf(out,
                "<section id=\"candidates\">\n<h2>Every candidate</h2>\n<details%s>"
                "\n<summary>%d candidate%s, the fastest first</summary>\n<table>\n<thead><tr>"
                "<th scope=\"col\">plan</th>",
                p->count <= 40 ? " open" : "", p->count, p->count == 1 ? "" : "s");
    for (int i = 0; i < COLUMNS; i++)
        if (used[i])
            text_printf(out, "<th scope=\"col\">%s</th>", columns[i].name);
    text_add(out, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < p->count; i++)
        add_row(p, order[i], used, out);
    text_add(out, "</tbody>\n</table>\n</details>\n</section>\n");
}
