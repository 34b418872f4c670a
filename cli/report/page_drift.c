/* What else changed times during the sweeps: a kernel that was timed again and again. */
#include <inttypes.h>
#include <math.h>

#include "cli/report/page.h"
#include "cli/report/page_svg.h"

static double ratio(const sg_drift *d) {
    return d->seconds / d->first_seconds;
}

static void label_ratio(text *out, double number) {
    text_printf(out, "%.4g", number);
}

/* "; its clock 1700 to 1755 MHz", where it is known. */
static void add_range(text *out, const char *before, const char *after, double least, double most) {
    if (isfinite(least) && least == most)
        text_printf(out, "%s%.0f %s", before, least, after);
    else if (isfinite(least))
        text_printf(out, "%s%.0f to %.0f %s", before, least, most, after);
}

static void add_text(const page_drifts *all, const double range[2], text *out) {
    double clock[2] = {INFINITY, -INFINITY}, temperature[2] = {INFINITY, -INFINITY};
    for (int i = 0; i < all->count; i++) { /* fmin and fmax pass over NAN */
        clock[0] = fmin(clock[0], all->list[i].clock);
        clock[1] = fmax(clock[1], all->list[i].clock);
        temperature[0] = fmin(temperature[0], all->list[i].temperature);
        temperature[1] = fmax(temperature[1], all->list[i].temperature);
    }
    text_printf(out,
                "<section id=\"drift\">\n<h2>Drift</h2>\n<p>A kernel that was right was timed "
                "again %d time%s during the sweep: it took %.3g to %.3g of its first time",
                all->count, all->count == 1 ? "" : "s", range[0], range[1]);
    add_range(out, ", the clock was at ", "MHz", clock[0], clock[1]);
    add_range(out, ", the GPU at ", "°C", temperature[0], temperature[1]);
    text_add(out, ". Candidates that differ by less than that are told apart by the finals "
                  "alone.</p>\n");
}

static void add_title(const sg_drift *d, text *title) {
    text_printf(title, "after evaluation %d: ", d->evaluation);
    add_seconds(title, d->seconds);
    text_printf(title, ", %.4g of its first time; ", ratio(d));
    add_range(title, "", "MHz; ", d->clock, d->clock);
    add_range(title, "", "°C; ", d->temperature, d->temperature);
    text_add(title, d->plan);
}

void page_write_drift(const page *p, text *out) {
    const page_drifts *all = p->drifts;
    double range[2] = {INFINITY, -INFINITY};
    if (all == NULL || all->count == 0)
        return;
    for (int i = 0; i < all->count; i++) {
        range[0] = fmin(range[0], ratio(&all->list[i]));
        range[1] = fmax(range[1], ratio(&all->list[i]));
    }
    add_text(all, range, out);
    svg s;
    svg_begin(&s, out, "Drift", "The time of one kernel over its first time, in the order taken.",
              CHART_HEIGHT);
    s.x = svg_scale_of(1, all->count > 1 ? all->count : 2, false);
    s.y = svg_scale_of(fmin(range[0], 1), fmax(range[1], 1), false);
    svg_frame(&s, svg_plain, label_ratio, "timing", "of its first time");
    svg_line(&s, s.left, svg_at(&s.y, 1), s.right, svg_at(&s.y, 1), "roof");
    for (int i = 0; i < all->count; i++) {
        text title = new_text();
        add_title(&all->list[i], &title);
        svg_mark(&s, svg_at(&s.x, i + 1), svg_at(&s.y, ratio(&all->list[i])), 0, false, title.data);
    }
    svg_end(&s);
    text_add(out, "</section>\n");
}
