/* Each parameter beside time, the one that explains most first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/page.h"
#include "cli/report/page_svg.h"

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
