/* The builder of charts. Places are written with one decimal, so that the same numbers make the
   same bytes. */
#include "cli/report/page.h"

#include <float.h>
#include <math.h>

/* ---- scales -------------------------------------------------------------------------------- */

static const double margin = 0.05;

/* Whatever the numbers are, a place is a number near the chart. */
double svg_at(const svg_scale *s, double number) {
    const double least = -1, most = 2;
    double part = s->logarithmic ? (log(number) - log(s->from)) / (log(s->to) - log(s->from))
                                 : (number - s->from) / (s->to - s->from);
    part = isnan(part) ? 0 : part;
    return s->low + fmin(fmax(part, least), most) * (s->high - s->low);
}

/* Logarithms, because a quotient of two doubles need not be one. */
static svg_scale log_scale(double least, double most) {
    const double low = log(least), high = log(most);
    const double more = high > low ? margin * (high - low) : log(1.5);
    return (svg_scale){.from = fmax(exp(low - more), DBL_MIN),
                       .to = fmin(exp(high + more), DBL_MAX),
                       .logarithmic = true};
}

static svg_scale linear_scale(double least, double most) {
    const double far = 1e300; /* so that differences are finite */
    least = fmin(fmax(least, -far), far);
    most = fmin(fmax(most, -far), far);
    const double more = most > least ? margin * (most - least) : fabs(most) + 1;
    return (svg_scale){.from = least - more, .to = most + more};
}

svg_scale svg_scale_of(double least, double most, bool logarithmic) {
    const double lowest = logarithmic ? DBL_MIN : -DBL_MAX;
    if (!(least >= lowest && least <= most && most <= DBL_MAX))
        least = most = 1;
    return logarithmic ? log_scale(least, most) : linear_scale(least, most);
}

/* The step of 1, 2 or 5 times a power of ten that makes at most `wanted` ticks. */
static double step_of(double range, int wanted) {
    const double least = range / wanted, ten = pow(10, floor(log10(least)));
    return least <= ten ? ten : least <= 2 * ten ? 2 * ten : least <= 5 * ten ? 5 * ten : 10 * ten;
}

enum { MOST_TICKS = 16 };

/* Numbers so large that adding a step changes nothing have one tick. */
static int linear_ticks(const svg_scale *s, int wanted, double *out) {
    const double step = step_of(s->to - s->from, wanted), first = ceil(s->from / step);
    int count = 0;
    for (int i = 0; i < MOST_TICKS; i++) {
        const double tick = (first + i) * step + 0.0; /* and no −0 */
        if (tick <= s->to && (count == 0 || tick > out[count - 1]))
            out[count++] = tick;
    }
    return count;
}

/* 1, 2 and 5 of each decade, or each decade, or every few decades. */
static int log_ticks(const svg_scale *s, int wanted, double *out) {
    static const double parts[] = {1, 2, 5};
    const double decades = log10(s->to) - log10(s->from);
    const int first = (int)floor(log10(s->from)), last = (int)floor(log10(s->to));
    const int each = 2 * decades <= wanted ? 3 : 1;
    const int apart = decades > wanted ? (int)ceil(decades / wanted) : 1;
    int count = 0;
    for (int d = first; d <= last; d += apart)
        for (int i = 0; i < each; i++) {
            const double tick = parts[i] * pow(10, d);
            if (tick >= s->from && tick <= s->to && count < MOST_TICKS)
                out[count++] = tick;
        }
    return count;
}

static int ticks(const svg_scale *s, int wanted, double out[MOST_TICKS]) {
    const int count = s->logarithmic ? log_ticks(s, wanted, out) : 0;
    return count >= 3 ? count : linear_ticks(s, wanted, out);
}

/* ---- numbers ------------------------------------------------------------------------------- */

const char *svg_plain(double number) {
    return phrase("%.6g", number);
}

const char *svg_rate(double number) {
    static const struct {
        double one;
        const char *name;
    } units[] = {{1e15, " P"}, {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (number >= units[i].one * 0.9995)
            return phrase("%.3g%s", number / units[i].one, units[i].name);
    return phrase("%.3g", number);
}

/* ---- charts -------------------------------------------------------------------------------- */

void svg_begin(svg *s, text *out, const char *caption, const char *about) {
    *s = (svg){.out = out,
               .best = new_text(),
               .left = 66,
               .right = CHART_WIDTH - 14,
               .top = 14,
               .bottom = CHART_HEIGHT - 46};
    html_add(out,
             "<figure>\n<figcaption>%s</figcaption>\n"
             "<svg viewBox=\"0 0 %s\" role=\"img\" aria-label=\"%s\">\n",
             caption, phrase("%d %d", CHART_WIDTH, CHART_HEIGHT), about);
}

void svg_end(svg *s) {
    text_add(s->out, s->best.data);
    text_add(s->out, "</svg>\n</figure>\n");
}

void svg_text(svg *s, double x, double y, const char *anchor, const char *class_name,
              const char *text) {
    text_printf(s->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y,
                anchor, class_name);
    html_add(s->out, "%s</text>\n", text);
}

void svg_line(svg *s, double x1, double y1, double x2, double y2, const char *class_name) {
    text_printf(s->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n",
                x1, y1, x2, y2, class_name);
}

/* `last` is where the number before stands, so that no two overlap. */
static void add_tick(svg *s, bool is_x, double tick, svg_label label, double *last) {
    enum { APART = 44 };
    if (is_x) {
        const double x = svg_at(&s->x, tick);
        svg_line(s, x, s->top, x, s->bottom, "grid");
        if (x - *last >= APART) {
            svg_text(s, x, s->bottom + 16, "middle", "tick", label(tick));
            *last = x;
        }
    } else {
        const double y = svg_at(&s->y, tick);
        svg_line(s, s->left, y, s->right, y, "grid");
        svg_text(s, s->left - 6, y + 4, "end", "tick", label(tick));
    }
}

void svg_frame(svg *s, svg_label x, svg_label y, const char *x_name, const char *y_name) {
    enum { X_TICKS = 5, Y_TICKS = 6 };
    double list[MOST_TICKS], last = -CHART_WIDTH;
    s->x.low = s->left, s->x.high = s->right;
    s->y.low = s->bottom, s->y.high = s->top;
    const int x_count = ticks(&s->x, X_TICKS, list);
    for (int i = 0; i < x_count; i++)
        add_tick(s, true, list[i], x, &last);
    const int y_count = ticks(&s->y, Y_TICKS, list);
    for (int i = 0; i < y_count; i++)
        add_tick(s, false, list[i], y, &last);
    text_printf(s->out, "<path d=\"M%.1f %.1fV%.1fH%.1f\" class=\"axis\"/>\n", s->left, s->top,
                s->bottom, s->right);
    svg_text(s, (s->left + s->right) / 2, s->bottom + 36, "middle", "name", x_name);
    text_printf(s->out,
                "<text transform=\"translate(13 %.1f) rotate(-90)\" text-anchor=\"middle\""
                " class=\"name\">",
                (s->top + s->bottom) / 2);
    html_add(s->out, "%s</text>\n", y_name);
}

/* ---- marks --------------------------------------------------------------------------------- */

/* Shapes tell kinds apart where colours do not. */
static void add_shape(text *out, double x, double y, int kind) {
    static const struct {
        const char *markup; /* from a corner, which lies left of and above the middle */
        double left, above;
    } shapes[CHART_LOST + 1] = {
        {"a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0z", 3.8, 0}, /* disc */
        {"h7v7h-7z", 3.5, 3.5},                                /* square */
        {"l4.5 8h-9z", 0, 4.8},                                /* triangle */
        {"l5 5l-5 5l-5-5z", 0, 5},                             /* diamond */
        {"h9l-4.5 8z", 4.5, 3.2},                              /* triangle on its tip */
        {"v2h7v-2z", 3.5, 1},                                  /* bar */
        {"l6 6m0-6l-6 6", 3, 3},                               /* cross */
    };
    text_printf(out, "<path d=\"M%.1f %.1f%s\"/>", x - shapes[kind].left, y - shapes[kind].above,
                shapes[kind].markup);
}

void svg_mark(svg *s, double x, double y, int kind, bool best, const char *title) {
    text *out = best ? &s->best : s->out;
    text_printf(out, "<g class=\"m k%d%s\"><title>", kind, best ? " best" : "");
    html_add(out, "%s</title>", title);
    if (best)
        text_printf(out, "<circle class=\"halo\" cx=\"%.1f\" cy=\"%.1f\" r=\"8\"/>", x, y);
    add_shape(out, x, y, kind);
    text_add(out, "</g>\n");
}

static void add_key(text *out, int kind, const char *name) {
    text_printf(out,
                "<span><svg class=\"key\" viewBox=\"0 0 14 14\" aria-hidden=\"true\">"
                "<g class=\"k%d\">",
                kind);
    add_shape(out, 7, 7, kind);
    html_add(out, "</g></svg> %s</span> ", name);
}

void svg_legend(text *out, const char *const *names, int count, bool lost) {
    text_add(out, "<p class=\"legend\">");
    for (int i = 0; i < count && i < CHART_KINDS; i++)
        add_key(out, i, names[i]);
    if (lost)
        add_key(out, CHART_LOST, "not right");
    text_add(out, "</p>\n");
}
