/* The charts: how the search went, the roofline, and drift. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/page.h"

static void widen(double range[2], double x) {
    range[0] = fmin(range[0], x);
    range[1] = fmax(range[1], x);
}

/* "streamed tile=256x8 …: 378 us, 0.98 of a copy, 40 registers". */
static const char *title_of(const sg_result *r) {
    text b = new_text();
    if (!page_is_right(r))
        return phrase("%s: %s%s%s", r->plan, r->state, r->reason[0] != '\0' ? ", " : "", r->reason);
    text_printf(&b, "%s: %s", r->plan, in_seconds(r->median));
    if (r->final_seconds > 0)
        text_printf(&b, ", in the finals %s", in_seconds(r->final_seconds));
    if (isfinite(page_of_copy(r)))
        text_printf(&b, ", %.3g of a copy", page_of_copy(r));
    if (r->registers >= 0)
        text_printf(&b, ", %d registers", r->registers);
    if (r->local_bytes > 0)
        text_printf(&b, ", %" PRId64 " bytes spilled", r->local_bytes);
    if (r->shared_bytes > 0)
        text_printf(&b, ", %" PRId64 " bytes of shared memory", r->shared_bytes);
    if (isfinite(r->occupancy) && r->occupancy >= 0)
        text_printf(&b, ", occupancy %.2g", r->occupancy);
    return b.data;
}

static void add_row_mark(const page *p, svg *s, double x, double y, int row) {
    const bool right = page_is_right(&p->rows[row]);
    svg_mark(s, x, y, right ? p->kinds[row] : CHART_LOST, row == p->best, title_of(&p->rows[row]));
}

/* ---- progress ------------------------------------------------------------------------------ */

/* The fastest and the slowest time, and the time of a copy, NAN if unknown. */
static void times_of(const page *p, double range[2], double *copy) {
    const sg_result *best = &p->rows[p->best];
    *copy = page_time(best) * page_of_copy(best) / (double)(best->steps > 1 ? best->steps : 1);
    range[0] = INFINITY, range[1] = 0;
    for (int i = 0; i < p->count; i++)
        if (page_is_right(&p->rows[i])) {
            widen(range, page_time(&p->rows[i]));
            widen(range, p->rows[i].median);
        }
    widen(range, *copy); /* fmin and fmax pass over NAN */
}

/* The time of a copy, a line across the chart. */
static void add_copy_line(svg *s, double copy) {
    if (!isfinite(copy))
        return;
    svg_line(s, s->left, svg_at(&s->y, copy), s->right, svg_at(&s->y, copy), "roof");
    svg_text(s, s->right, svg_at(&s->y, copy) - 5, "end", "note", "copy");
}

/* The best so far, a staircase. */
static void add_best_so_far(const page *p, svg *s) {
    double best = INFINITY;
    for (int i = 0; i < p->count; i++) {
        const double x = svg_at(&s->x, i + 1);
        if (!page_is_right(&p->rows[i]) || p->rows[i].median >= best)
            continue;
        const bool first = isinf(best);
        best = p->rows[i].median;
        text_printf(s->out, first ? "<path class=\"line\" d=\"M%.1f %.1f" : "H%.1fV%.1f", x,
                    svg_at(&s->y, best));
    }
    text_printf(s->out, "H%.1f\"/>\n", svg_at(&s->x, p->count));
}

void page_write_progress(const page *p, text *out) {
    double times[2], copy;
    if (p->best < 0 || p->count < 2)
        return;
    times_of(p, times, &copy);
    text_add(out, "<section id=\"progress\">\n<h2>Search progress</h2>\n<p>Every evaluation in "
                  "the order taken. The solid line is the best time so far. The dashed line is a "
                  "copy of the bytes that a step must move, in the same run.</p>\n");
    svg s;
    svg_begin(&s, out, "Time by evaluation",
              "Marks: the time of each evaluation. Solid line: the best so far.");
    s.x = svg_scale_of(1, p->count, false);
    s.y = svg_scale_of(times[0], times[1], true);
    svg_frame(&s, svg_plain, in_seconds, "evaluation", "time");
    add_copy_line(&s, copy);
    add_best_so_far(p, &s);
    bool lost = false;
    for (int i = 0; i < p->count; i++) {
        const bool right = page_is_right(&p->rows[i]);
        lost |= !right;
        add_row_mark(p, &s, svg_at(&s.x, i + 1),
                     right ? svg_at(&s.y, p->rows[i].median) : s.top + 4, i);
    }
    svg_end(&s);
    page_write_kinds(p, lost, out);
    text_add(out, "</section>\n");
}

/* ---- roofline ------------------------------------------------------------------------------ */

/* Multiply-adds a clock and multiprocessor, of float and double: "Throughput of Native Arithmetic
   Instructions" of the CUDA C++ Programming Guide. */
static const struct {
    const char *arch;
    double lanes[2];
} arithmetic[] = {{"sm_75", {64, 2}},  {"sm_80", {64, 32}},  {"sm_86", {128, 2}},
                  {"sm_89", {128, 2}}, {"sm_90", {128, 64}}, {"sm_100", {128, 64}},
                  {"sm_120", {128, 2}}};

/* Operations a second at the measured clock; 0 if unknown. */
static double arithmetic_of(const page *p, const sg_result *r) {
    const bool is_double = strcmp(p->dtype, "double") == 0;
    if (!isfinite(r->clock_after) || (!is_double && strcmp(p->dtype, "float") != 0))
        return 0;
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
        if (strncmp(arithmetic[i].arch, r->arch, strlen(arithmetic[i].arch)) == 0)
            return 2 * arithmetic[i].lanes[is_double] * r->multiprocessors * r->clock_after * 1e6;
    return 0;
}

/* How many steps a launch makes between reading and writing the grid, by the plan's "time=". */
static double fused(const page *p, int row) {
    const char *time = strstr(p->rows[row].plan, " time=");
    const double steps = time != NULL ? strtod(time + strlen(" time="), NULL) : 1;
    return steps > 1 ? steps : 1;
}

typedef struct roofline {
    const page *page;
    double copy;       /* bytes a second */
    double arithmetic; /* operations a second; 0 */
    double intensity[2], rate[2];
} roofline;

static double intensity_of(const page *p, int row) {
    return p->operations * fused(p, row) / p->bytes;
}

static double rate_of(const page *p, int row) {
    const sg_result *r = &p->rows[row];
    return p->operations * result_points(r) / page_time(r);
}

static bool measure_roofline(const page *p, roofline *f) {
    if (p->best < 0 || !(p->operations > 0) || !(p->bytes > 0))
        return false;
    const sg_result *best = &p->rows[p->best];
    const double copy = p->bytes * result_points(best) / (page_time(best) * page_of_copy(best));
    if (!(copy > 0) || !isfinite(copy))
        return false;
    *f = (roofline){.page = p,
                    .copy = copy,
                    .arithmetic = arithmetic_of(p, best),
                    .intensity = {INFINITY, 0},
                    .rate = {INFINITY, 0}};
    for (int i = 0; i < p->count; i++)
        if (page_is_right(&p->rows[i])) {
            widen(f->intensity, intensity_of(p, i));
            widen(f->rate, rate_of(p, i));
        }
    widen(f->intensity, f->intensity[0] / 2);
    widen(f->intensity, f->intensity[1] * 2);
    widen(f->rate, f->copy * f->intensity[0]);
    if (f->arithmetic > 0) {
        widen(f->intensity, 1.5 * f->arithmetic / f->copy);
        widen(f->rate, f->arithmetic);
    } else {
        widen(f->rate, f->copy * f->intensity[1]);
    }
    return true;
}

static void add_roofs(const roofline *f, svg *s) {
    const double left = f->intensity[0];
    const double ridge = f->arithmetic > 0 ? f->arithmetic / f->copy : f->intensity[1];
    svg_line(s, svg_at(&s->x, left), svg_at(&s->y, left * f->copy), svg_at(&s->x, ridge),
             svg_at(&s->y, ridge * f->copy), "roof");
    const double middle = sqrt(left * ridge); /* of the line; left of it nothing can be */
    svg_text(s, svg_at(&s->x, middle) - 8, svg_at(&s->y, middle * f->copy) - 4, "end", "note",
             phrase("copy, %s/s", in_bytes(f->copy)));
    if (f->arithmetic > 0) {
        const double y = svg_at(&s->y, f->arithmetic);
        svg_line(s, svg_at(&s->x, ridge), y, svg_at(&s->x, f->intensity[1]), y, "roof");
        svg_text(s, svg_at(&s->x, f->intensity[1]), y - 5, "end", "note",
                 phrase("%sop/s", svg_rate(f->arithmetic)));
    }
}

static void add_roofline_text(const roofline *f, text *out) {
    const page *p = f->page;
    text_add(out, "<section id=\"roofline\">\n<h2>Roofline</h2>\n<p>");
    text_printf(out,
                "A point takes %g operations. Each launch moves at least %g bytes of device memory "
                "a point. The slanted line is a copy of as many bytes, in the same run.",
                p->operations, p->bytes);
    if (f->arithmetic > 0)
        text_printf(out, " The horizontal line is multiply-adds alone, at the %g MHz measured.",
                    p->rows[p->best].clock_after);
    text_add(out, " Candidates of the same intensity stand side by side. Williams, Waterman and "
                  "Patterson, CACM 52 (2009).</p>\n");
}

/* Most candidates move the same bytes. Side by side, more of them can be seen and pointed at. */
static double sideways(const page *p, int row) {
    const double width = 18;
    return p->count > 1 ? width * ((double)row / (p->count - 1) - 0.5) : 0;
}

void page_write_roofline(const page *p, text *out) {
    roofline f;
    if (!measure_roofline(p, &f))
        return;
    add_roofline_text(&f, out);
    svg s;
    svg_begin(&s, out, "Operations a second by operations a byte",
              "Each candidate below the line of a copy and the level of the arithmetic.");
    s.x = svg_scale_of(f.intensity[0], f.intensity[1], true);
    s.y = svg_scale_of(f.rate[0], f.rate[1], true);
    svg_frame(&s, svg_plain, svg_rate, "operations a byte", "operations a second");
    add_roofs(&f, &s);
    for (int i = 0; i < p->count; i++)
        if (page_is_right(&p->rows[i]))
            add_row_mark(p, &s, svg_at(&s.x, intensity_of(p, i)) + sideways(p, i),
                         svg_at(&s.y, rate_of(p, i)), i);
    svg_end(&s);
    page_write_kinds(p, false, out);
    text_add(out, "</section>\n");
}

/* ---- drift ---------------------------------------------------------------------------------- */

/* A kernel that was timed again and again shows what else changed times during the sweep. */

static double ratio(const sg_drift *d) {
    return d->seconds / d->first_seconds;
}

static const char *label_ratio(double number) {
    return phrase("%.4g", number);
}

static void add_drift_text(const page_drifts *all, const double range[2], text *out) {
    double clock[2] = {INFINITY, -INFINITY}, temperature[2] = {INFINITY, -INFINITY};
    for (int i = 0; i < all->count; i++) { /* fmin and fmax pass over NAN */
        widen(clock, all->list[i].clock);
        widen(temperature, all->list[i].temperature);
    }
    text_printf(out,
                "<section id=\"drift\">\n<h2>Drift</h2>\n<p>A right kernel was timed again "
                "%s during the sweep. It took %.3g to %.3g of its first time%s%s. Only the "
                "finals tell candidates apart that differ by less.</p>\n",
                counted(all->count, "time"), range[0], range[1],
                in_range(", the clock was at ", "MHz", clock[0], clock[1]),
                in_range(", the GPU at ", "°C", temperature[0], temperature[1]));
}

static const char *drift_title(const sg_drift *d) {
    return phrase("after evaluation %d: %s, %.4g of its first time; %s%s%s", d->evaluation,
                  in_seconds(d->seconds), ratio(d), in_range("", "MHz; ", d->clock, d->clock),
                  in_range("", "°C; ", d->temperature, d->temperature), d->plan);
}

void page_write_drift(const page *p, text *out) {
    const page_drifts *all = p->drifts;
    double range[2] = {INFINITY, -INFINITY};
    if (all == NULL || all->count == 0)
        return;
    for (int i = 0; i < all->count; i++)
        widen(range, ratio(&all->list[i]));
    add_drift_text(all, range, out);
    svg s;
    svg_begin(&s, out, "Drift", "The time of one kernel over its first time, in the order taken.");
    s.x = svg_scale_of(1, all->count > 1 ? all->count : 2, false);
    s.y = svg_scale_of(fmin(range[0], 1), fmax(range[1], 1), false);
    svg_frame(&s, svg_plain, label_ratio, "timing", "of its first time");
    svg_line(&s, s.left, svg_at(&s.y, 1), s.right, svg_at(&s.y, 1), "roof");
    for (int i = 0; i < all->count; i++)
        svg_mark(&s, svg_at(&s.x, i + 1), svg_at(&s.y, ratio(&all->list[i])), 0, false,
                 drift_title(&all->list[i]));
    svg_end(&s);
    text_add(out, "</section>\n");
}
