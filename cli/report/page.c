/* The page as a whole: its heading, its sections in order, the source of the best plan. */
#include "cli/report/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/words.h"

/* ---- words --------------------------------------------------------------------------------- */

void html_text(buffer *b, const char *text) {
    for (const char *at = text; *at != '\0'; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c == '&')
            buffer_add(b, "&amp;");
        else if (c == '<')
            buffer_add(b, "&lt;");
        else if (c == '>')
            buffer_add(b, "&gt;");
        else if (c == '"')
            buffer_add(b, "&quot;");
        else if (c == '\'')
            buffer_add(b, "&#39;");
        else if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
            buffer_add(b, "\xef\xbf\xbd");
        else
            buffer_add_bytes(b, at, 1);
    }
}

void page_add_size(buffer *b, const sg_result *r) {
    if (page_is_of_matrix(r)) {
        buffer_printf(b, "%" PRId64 "x%" PRId64 " with %" PRId64 " entries", r->size[0], r->size[1],
                      r->size[2]);
        return;
    }
    for (int i = 0; i < r->size_count; i++)
        buffer_printf(b, "%s%" PRId64, i > 0 ? "x" : "", r->size[i]);
}

void page_add_mark_title(buffer *b, const sg_result *r) {
    buffer_printf(b, "%s: ", r->plan);
    if (!page_is_right(r)) {
        buffer_printf(b, "%s%s%s", r->state, r->reason[0] != '\0' ? ", " : "", r->reason);
        return;
    }
    buffer_seconds(b, r->median);
    if (r->final_seconds > 0) {
        buffer_add(b, ", in the finals ");
        buffer_seconds(b, r->final_seconds);
    }
    if (isfinite(page_of_copy(r)))
        buffer_printf(b, ", %.3g of a copy", page_of_copy(r));
    if (r->registers >= 0)
        buffer_printf(b, ", %d registers", r->registers);
    if (r->local_bytes > 0)
        buffer_printf(b, ", %" PRId64 " bytes spilled", r->local_bytes);
    if (r->shared_bytes > 0)
        buffer_printf(b, ", %" PRId64 " bytes of shared memory", r->shared_bytes);
    if (isfinite(r->occupancy) && r->occupancy >= 0)
        buffer_printf(b, ", occupancy %.2g", r->occupancy);
}

/* ---- what is in it ------------------------------------------------------------------------- */

void page_look(page *p) {
    page_axes_find(&p->axes, p->count > 0 ? p->rows[0].kind : SG_KIND_LISTS, p->rows, p->count);
    p->best = p->usual_row = -1;
    for (int i = 0; i < p->count; i++) {
        const sg_result *r = &p->rows[i];
        if (page_is_right(r) && (p->best < 0 || page_is_faster(r, &p->rows[p->best])))
            p->best = i;
        if (p->usual != NULL && strcmp(r->plan, p->usual) == 0)
            p->usual_row = i;
    }
    page_kinds_find(p);
}

void page_look_free(page *p) {
    free(p->kinds);
    page_axes_free(&p->axes);
}

bool page_any_lost(const page *p) {
    for (int i = 0; i < p->count; i++)
        if (!page_is_right(&p->rows[i]))
            return true;
    return false;
}

static int count_state(const page *p, const char *state) {
    int count = 0;
    for (int i = 0; i < p->count; i++)
        count += strcmp(p->rows[i].state, state) == 0;
    return count;
}

/* ---- heading ------------------------------------------------------------------------------- */

static void add_fact(buffer *out, const char *name, const char *value) {
    if (value[0] == '\0')
        return;
    buffer_add(out, "<div><dt>");
    html_text(out, name);
    buffer_add(out, "</dt><dd>");
    html_text(out, value);
    buffer_add(out, "</dd></div>\n");
}

static void add_day(buffer *b, int64_t milliseconds) {
    const time_t seconds = (time_t)(milliseconds / 1000);
    struct tm utc;
    char text[sizeof "2026-11-21 12:34 UTC and more"];
    if (gmtime_r(&seconds, &utc) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc) > 0)
        buffer_add(b, text);
}

static void add_counts(const page *p, buffer *b) {
    static const char *const states[] = {"right",        "wrong",  "refused",
                                         "not compiled", "failed", "hung"};
    const char *before = "";
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        const int count = count_state(p, states[i]);
        if (count > 0) {
            buffer_printf(b, "%s%d %s", before, count, states[i]);
            before = ", ";
        }
    }
}

static void add_facts(const page *p, buffer *out) {
    const sg_result *r = &p->rows[0];
    const words *w = words_of_kind(r->kind);
    buffer device = {0}, size = {0}, counts = {0}, when = {0}, made = {0}, driver = {0};
    buffer_printf(&device, "%s, %s, %d %s", r->device_name, r->arch, r->multiprocessors,
                  strcmp(r->device, "cpu") == 0 ? "cores" : "multiprocessors");
    page_add_size(&size, r);
    if (!w->is_grid && !page_is_of_matrix(r))
        buffer_printf(&size, " %s", w->points);
    if (r->steps > 1)
        buffer_printf(&size, ", %" PRId64 " steps at a time", r->steps);
    add_counts(p, &counts);
    add_day(&when, p->rows[0].taken);
    if (p->rows[p->count - 1].taken / 60000 != r->taken / 60000) {
        buffer_add(&when, " to ");
        add_day(&when, p->rows[p->count - 1].taken);
    }
    if (r->driver > 0)
        buffer_printf(&driver, ", driver for CUDA %d.%d", r->driver / 1000, r->driver % 1000 / 10);
    buffer_printf(&made, "stencilgen %s%s%s%s", r->generator, r->compiler[0] != '\0' ? ", " : "",
                  r->compiler, buffer_text(&driver));
    buffer_add(out, "<dl class=\"facts\">\n");
    add_fact(out, "Spec", p->spec);
    add_fact(out, "Computes", p->shape);
    add_fact(out, "Type", p->dtype);
    add_fact(out, "Device", buffer_text(&device));
    add_fact(out, "Size", buffer_text(&size));
    add_fact(out, "Candidates", buffer_text(&counts));
    add_fact(out, "Measured", buffer_text(&when));
    add_fact(out, "With", buffer_text(&made));
    buffer_add(out, "</dl>\n");
    buffer *all[] = {&device, &size, &counts, &when, &made, &driver};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buffer_free(all[i]);
}

static void add_tile(buffer *out, const char *number, const char *name, const char *more) {
    buffer_add(out, "<div class=\"tile\"><b>");
    html_text(out, number);
    buffer_add(out, "</b><span>");
    html_text(out, name);
    buffer_add(out, "</span><small>");
    html_text(out, more);
    buffer_add(out, "</small></div>\n");
}

static void add_gain(const page *p, buffer *out) {
    const sg_result *best = &p->rows[p->best];
    const bool known = p->usual_row >= 0 && page_is_right(&p->rows[p->usual_row]);
    buffer gain = {0}, more = {0};
    buffer_add(&gain, known ? "" : "—");
    if (known)
        buffer_printf(&gain, "%.3g×", page_time(&p->rows[p->usual_row]) / page_time(best));
    if (p->usual == NULL)
        buffer_add(&more, "which plan is the default is not known");
    else if (known && p->usual_row == p->best)
        buffer_add(&more, "the default is the best plan");
    else
        buffer_printf(&more, "%s%s", p->usual, known ? ", " : ", which was not measured");
    if (known && p->usual_row != p->best)
        buffer_seconds(&more, page_time(&p->rows[p->usual_row]));
    add_tile(out, gain.data, "speed over the default plan", more.data);
    buffer_free(&gain);
    buffer_free(&more);
}

static int count_finals(const page *p) {
    int count = 0;
    for (int i = 0; i < p->count; i++)
        count += p->rows[i].final_seconds > 0 && p->rows[i].sweep == p->rows[p->best].sweep;
    return count;
}

static void add_tiles(const page *p, buffer *out) {
    const sg_result *best = &p->rows[p->best];
    const words *w = words_of_kind(best->kind);
    buffer time = {0}, spread = {0}, share = {0};
    buffer_seconds(&time, page_time(best));
    buffer_printf(&spread, "median of %d", best->repeats);
    if (isfinite(best->spread))
        buffer_printf(&spread, ", quartiles %.2g %% apart", 100 * best->spread);
    if (best->final_seconds > 0) {
        buffer_free(&spread);
        buffer_printf(&spread, "by the finals, in turns with the %d next; ", count_finals(p) - 1);
        buffer_seconds(&spread, best->median);
        buffer_add(&spread, " before");
    }
    buffer_add(out, "<div class=\"tiles\">\n");
    add_tile(out, time.data, best->steps > 1 ? "a run of all steps" : w->step, spread.data);
    add_gain(p, out);
    if (isfinite(page_of_copy(best))) {
        buffer_printf(&share, "%.3g", page_of_copy(best));
        add_tile(out, share.data, "of the speed of a copy", "the same bytes, in the same run");
    }
    buffer_add(out, "</div>\n");
    buffer_free(&time);
    buffer_free(&spread);
    buffer_free(&share);
}

static void add_heading(const page *p, buffer *out) {
    const int wrong = count_state(p, "wrong");
    buffer_add(out, "<header>\n<h1>");
    html_text(out, p->name);
    buffer_add(out, "</h1>\n");
    if (p->best >= 0) {
        buffer_add(out, "<p class=\"plan\"><code>");
        html_text(out, p->rows[p->best].plan);
        buffer_add(out, "</code></p>\n");
        add_tiles(p, out);
    } else {
        buffer_add(out, "<p class=\"bad\">No candidate was right and timed.</p>\n");
    }
    if (wrong > 0)
        buffer_printf(out,
                      "<p class=\"bad\">%d candidate%s computed wrong values: a defect to report; "
                      "see the table.</p>\n",
                      wrong, wrong == 1 ? "" : "s");
    add_facts(p, out);
    buffer_add(out, "</header>\n");
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void add_source(const page *p, buffer *out) {
    if (p->best < 0)
        return;
    buffer_add(out, "<section id=\"source\">\n<h2>The best plan</h2>\n");
    buffer_add(out, "<p class=\"plan\"><code>");
    html_text(out, p->rows[p->best].plan);
    buffer_add(out, "</code></p>\n");
    if (p->source != NULL) {
        buffer_add(out, "<details>\n<summary>Its source</summary>\n<pre><code>");
        html_text(out, p->source);
        buffer_add(out, "</code></pre>\n</details>\n");
    } else {
        buffer_add(out, "<p>Its source could not be made: ");
        html_text(out, p->source_trouble != NULL ? p->source_trouble : "unknown");
        buffer_add(out, "</p>\n");
    }
    buffer_add(out, "</section>\n");
}

void page_write(const page *p, buffer *out) {
    buffer title = {0};
    buffer_printf(&title, "%s, ", p->name);
    page_add_size(&title, &p->rows[0]);
    buffer_printf(&title, ", %s", p->rows[0].device_name);
    /* The policy says what is true: nothing is fetched from anywhere. */
    buffer_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    html_text(out, title.data);
    buffer_add(out, "</title>\n<style>\n");
    buffer_add(out, page_style);
    buffer_add(out, "</style>\n</head>\n<body>\n<main>\n");
    add_heading(p, out);
    buffer_add(out, "<div class=\"charts\">\n");
    page_write_roofline(p, out);
    page_write_progress(p, out);
    page_write_drift(p, out);
    page_write_scaling(p, out);
    buffer_add(out, "</div>\n");
    page_write_scatter(p, out);
    page_write_heat(p, out);
    add_source(p, out);
    page_write_table(p, out);
    buffer_add(out, "</main>\n<script>\n");
    buffer_add(out, page_script);
    buffer_add(out, "</script>\n</body>\n</html>\n");
    buffer_free(&title);
}
