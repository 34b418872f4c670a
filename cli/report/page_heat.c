/* Heat maps: the best time in each cell of two parameters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/page.h"
#include "cli/report/page_svg.h"

enum { MOST_MAPS = 6, SHADES = 7, CELL = 24, MOST_ROWS = 128, MOST_COLUMNS = 32, LABEL = 30 };

typedef struct heat_map {
    const page *page;
    const page_axis *down, *across; /* the one with more values goes down */
    int kind;                       /* of the axis `of` alone; −1: all */
    const page_axis *of;
    int *best; /* row of results in each cell; −1 */
    int rows[MOST_ROWS], columns[MOST_COLUMNS], row_count, column_count;
} heat_map;

static bool belongs(const heat_map *m, int row) {
    return page_is_right(&m->page->rows[row]) && m->down->of[row] >= 0 && m->across->of[row] >= 0 &&
           (m->kind < 0 || m->of->of[row] == m->kind);
}

/* The values that the map's candidates have, ascending. */
static int used_values(const heat_map *m, const page_axis *a, int most, int *out) {
    int count = 0;
    for (int v = 0; v < a->count && count < most; v++)
        for (int i = 0; i < m->page->count; i++)
            if (belongs(m, i) && a->of[i] == v) {
                out[count++] = v;
                break;
            }
    return count;
}

static int index_of(const int *list, int count, int value) {
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return i;
    return -1;
}

/* False where the map would be a single row or column. */
static bool fill(heat_map *m) {
    m->row_count = used_values(m, m->down, MOST_ROWS, m->rows);
    m->column_count = used_values(m, m->across, MOST_COLUMNS, m->columns);
    if (m->row_count < 2 || m->column_count < 2)
        return false;
    m->best = new_array((size_t)m->row_count * (size_t)m->column_count, sizeof *m->best);
    for (int c = 0; c < m->row_count * m->column_count; c++)
        m->best[c] = -1;
    for (int i = 0; i < m->page->count; i++) {
        const int r = belongs(m, i) ? index_of(m->rows, m->row_count, m->down->of[i]) : -1;
        const int c = r >= 0 ? index_of(m->columns, m->column_count, m->across->of[i]) : -1;
        int *best = c >= 0 ? &m->best[r * m->column_count + c] : NULL;
        if (best != NULL && (*best < 0 || page_is_faster(&m->page->rows[i], &m->page->rows[*best])))
            *best = i;
    }
    return true;
}

/* Half of the best speed and less is the darkest shade. */
static int shade_of(double share) {
    const double shade = floor((share - 0.5) / 0.5 * SHADES);
    return !(shade > 0) ? 0 : shade >= SHADES ? SHADES - 1 : (int)shade;
}

static void add_cell(const heat_map *m, svg *s, int r, int c, double width) {
    const int row = m->best[r * m->column_count + c];
    const double x = s->left + c * width, y = s->top + r * CELL;
    if (row < 0)
        return;
    const double share = page_time(&m->page->rows[m->page->best]) / page_time(&m->page->rows[row]);
    text title = new_text();
    page_add_mark_title(&title, &m->page->rows[row]);
    text_printf(s->out, "<g class=\"m h%d%s\"><title>", shade_of(share),
                row == m->page->best ? " best" : "");
    html_text(s->out, title.data);
    text_printf(s->out, "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>",
                x + 0.5, y + 0.5, width - 1, CELL - 1);
    if (width >= LABEL)
        text_printf(s->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.2f</text>",
                    x + width / 2, y + CELL / 2.0 + 4.5, share);
    text_add(s->out, "</g>\n");
}

static void add_map(const heat_map *m, text *out) {
    text caption = new_text();
    if (m->kind >= 0)
        text_printf(&caption, "%s: ", m->of->values[m->kind]);
    text_printf(&caption, "%s × %s", m->down->name, m->across->name);
    svg s;
    svg_begin(&s, out, caption.data,
              "The best time of each pair of values, as a share of the "
              "best speed of all.",
              14 + CELL * m->row_count + 46);
    s.left = 84;
    const double width = (s.right - s.left) / m->column_count;
    for (int r = 0; r < m->row_count; r++)
        svg_text(&s, s.left - 6, s.top + CELL * (r + 0.5) + 4, "end", "tick",
                 m->down->values[m->rows[r]]);
    for (int c = 0; c < m->column_count; c += (int)ceil(LABEL / width))
        svg_text(&s, s.left + width * (c + 0.5), s.bottom + 16, "middle", "tick",
                 m->across->values[m->columns[c]]);
    for (int r = 0; r < m->row_count; r++)
        for (int c = 0; c < m->column_count; c++)
            add_cell(m, &s, r, c, width);
    svg_text(&s, (s.left + s.right) / 2, s.bottom + 36, "middle", "name", m->across->name);
    text_printf(out,
                "<text transform=\"translate(13 %.1f) rotate(-90)\" text-anchor=\"middle\""
                " class=\"name\">",
                (s.top + s.bottom) / 2);
    html_text(out, m->down->name);
    text_add(out, "</text>\n");
    svg_end(&s);
}

/* One map, if it has two rows and columns; whether it was drawn. */
static bool draw(const page *p, const page_axis *a, const page_axis *b, const page_axis *of,
                 int kind, text *out) {
    const bool swap = b->count > a->count;
    heat_map m = {.page = p,
                  .down = swap ? b : a,
                  .across = swap ? a : b,
                  .of = of,
                  .kind = of != NULL ? kind : -1};
    if (!fill(&m))
        return false;
    add_map(&m, out);
    return true;
}

/* The two parameters that explain most, words aside. */
static int two_best(const page *p, const page_axis *out[2]) {
    int count = 0;
    for (int i = 0; i < p->axes.count; i++) {
        const page_axis *a = &p->axes.list[i];
        const bool number = a->count > 1 && a->values[0][0] >= '0' && a->values[0][0] <= '9';
        if (a->whole || !number)
            continue;
        if (count == 0 || a->explained > out[0]->explained) {
            out[1] = count > 0 ? out[0] : NULL;
            out[0] = a;
            count++;
        } else if (count == 1 || out[1] == NULL || a->explained > out[1]->explained) {
            out[1] = a;
            count++;
        }
    }
    return count;
}

/* Of stencils: the first that has a map. Several steps a launch know other numbers. */
static const char *const pairs[][2] = {{"tile", "coarsen"}, {"lane", "time"}, {"tile", "time"}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static bool draw_first(const page *p, const page_axis *of, int kind, text *out) {
    bool drawn = false;
    for (int i = 0; i < PAIRS && !drawn; i++) {
        const page_axis *a = page_axis_named(&p->axes, pairs[i][0]);
        const page_axis *b = page_axis_named(&p->axes, pairs[i][1]);
        drawn = a != NULL && b != NULL && draw(p, a, b, of, kind, out);
    }
    return drawn;
}

/* Of stencils tile × coarsening, a map for each method; of other families the two parameters that
   matter most, a map for each algorithm or format. */
static void add_maps(const page *p, text *out) {
    const page_axis *pair[2] = {NULL, NULL}, *of = page_way(p);
    int drawn = 0;
    for (int k = 0; of != NULL && k < of->count; k++)
        drawn += drawn < MOST_MAPS && draw_first(p, of, k, out);
    if (drawn > 0 || two_best(p, pair) < 2)
        return;
    for (int k = 0; of != NULL && k < of->count; k++)
        drawn += drawn < MOST_MAPS && draw(p, pair[0], pair[1], of, k, out);
}

void page_write_heat(const page *p, text *out) {
    text maps = new_text();
    if (p->best >= 0)
        add_maps(p, &maps);
    if (maps.length > 0) {
        text_add(out, "<section id=\"heat\">\n<h2>Heat maps</h2>\n<p>The best of "
                      "all candidates of a cell, whatever else they differ in, as a share of the "
                      "best speed: 1.00 is the best plan, an empty cell was not measured.</p>\n"
                      "<p class=\"legend\">");
        for (int i = 0; i < SHADES; i++)
            text_printf(out,
                        "<span><svg class=\"key\" viewBox=\"0 0 14 14\" aria-hidden=\"true\"><g "
                        "class=\"h%d\"><rect width=\"14\" height=\"14\"/></g></svg> %s%.2f</span> ",
                        i, i == 0 ? "below " : "from ", 0.5 + 0.5 * (i == 0 ? 1 : i) / SHADES);
        text_add(out, "</p>\n<div class=\"views\">\n");
        text_add(out, maps.data);
        text_add(out, "</div>\n</section>\n");
    }
}
