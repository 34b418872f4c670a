/* The report of one kernel, for people and as JSON, which docs/json.md describes. */
#include "cli/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 11, PLAN_WIDTH = 46 };

static int count_lines(const char *text) {
    int lines = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        lines++;
    return lines;
}

static const char *text_of(const report *r, sg_text which) {
    return sg_kernel_text(r->kernel, which);
}

static void add_files(const report *r, text *out) {
    for (int which = 0; which < EMIT_COUNT; which++) {
        if (!r->files[which].written)
            continue;
        text_printf(out, "  %-8s %s", emit_words[which], r->files[which].path);
        if (which == EMIT_SOURCE)
            text_printf(out, ", %d lines", count_lines(text_of(r, SG_TEXT_SOURCE)));
        text_add(out, "\n");
    }
}

static const char *const origin_words[] = {
    [SG_NOT_COMPILED] = NULL,    [SG_COMPILED] = "compiler", [SG_FROM_CACHE] = "cache",
    [SG_FROM_MEMORY] = "memory", [SG_FROM_FILE] = "file",
};

static const char *compilation(double seconds, sg_origin origin) {
    const bool found = origin != SG_COMPILED && origin_words[origin] != NULL;
    return phrase("%s%s%s", in_seconds(seconds), found ? ", from the " : "",
                  found ? origin_words[origin] : "");
}

static void add_compiled(const report *r, const session *s, text *out) {
    text_printf(out, "%*s%s, %s, %s\n", INDENT, "", s->device.name, r->info.compiler,
                compilation(r->info.compile_seconds, r->info.origin));
}

static void add_binary(const report *r, const session *s, text *out) {
    if (r->has_binary)
        text_printf(out, "  binary   %s cubin: %d registers, %zu bytes shared, %d local; %s, %s\n",
                    text_of(r, SG_TEXT_ARCH), r->binary.registers, r->info.shared_bytes,
                    r->binary.local_bytes, r->binary.compiler,
                    compilation(r->binary.seconds, r->binary.origin));
    else if (r->no_binary != NULL) /* NULL: the command was refused before */
        add_wrapped(out, "  binary   ", INDENT, phrase("no cubin: %s", r->no_binary));
    if (strcmp(s->device.device, "cpu") == 0 && r->info.launchable)
        add_compiled(r, s, out);
}

static void add_judged(const report *r, text *out) {
    const sg_check_result *c = &r->check;
    const words *w = words_of(r->kernel);
    if (!w->is_grid)
        text_printf(out, "%s, %s compared", points_text(w, c->points),
                    counted(c->judged, "number"));
    else if (c->judged == c->points)
        text_add(out, c->points == 1 ? "the point of "
                                     : phrase("all %" PRId64 " points of ", c->points));
    else
        text_printf(out, "shell and random sample, %" PRId64 " of %" PRId64 " points of ",
                    c->judged, c->points);
    if (w->is_grid)
        text_add(out, in_extents(c->size, r->info.dims));
    if (c->steps > 1)
        text_printf(out, " after %" PRId64 " steps", c->steps);
    if (c->undecidable > 0)
        text_printf(out, "; %" PRId64 " of them cannot be decided", c->undecidable);
    text_add(out, "\n");
}

/* The sides of conditions that the check hardly judged. */
static void add_unjudged(const sg_check_result *c, text *out) {
    enum { SHOWN = 6 };
    for (int i = 0; i < c->unjudged_count && i < SHOWN; i++) {
        const sg_unjudged *u = &c->unjudged[i];
        add_wrapped(out, NULL, INDENT,
                    phrase("'%s' was %s %" PRId64 " of %" PRId64 " times: that side was %sjudged",
                           u->condition, u->side ? "true" : "false", u->taken, u->of,
                           u->taken > 0 ? "hardly " : "not "));
    }
    if (c->unjudged_count > SHOWN)
        text_printf(out, "%*sand so with %d more sides of conditions\n", INDENT, "",
                    c->unjudged_count - SHOWN);
}

static void add_check(const report *r, text *out) {
    const sg_check_result *c = &r->check;
    const bool is_grid = words_of(r->kernel)->is_grid;
    if (!r->checked) {
        text_printf(out, "  check    not run: this device does not execute %s\n",
                    text_of(r, SG_TEXT_ARCH));
        return;
    }
    if (c->wrong > 0)
        add_wrapped(out, "  check    ", INDENT,
                    phrase("WRONG at %" PRId64 " %s: %s; seed %" PRIu64, c->wrong,
                           is_grid ? "points" : "places", c->first_wrong, c->seed));
    text_printf(out, c->wrong > 0 ? "%*s" : "  check    right: ", INDENT, "");
    if (c->greatest_error == 0 && !is_grid)
        text_add(out, "exact, ");
    else
        text_printf(out,
                    "greatest error %.2g of the largest value (%.2g of the rounding bound),\n%*s",
                    c->greatest_error, c->of_bound, INDENT, "");
    add_judged(r, out);
    add_unjudged(c, out);
}

/* "0.98", "0.0043": never 0.00 */
static const char *share(double of) {
    return phrase(of < 0.01 ? "%.2g" : "%.2f", of);
}

static void add_speed(const report *r, const session *s, text *out) {
    const sg_speed *v = &r->speed;
    const words *w = words_of(r->kernel);
    text_printf(out,
                "  speed    %s %s, %.4g billion %s/s, %s/s, %s of a copy%s\n"
                "%*s(median of %d on the %s device)\n",
                in_seconds(v->seconds),
                v->steps > 1 ? phrase("for %" PRId64 " steps", v->steps) : w->step, v->points / 1e9,
                w->points, in_bytes(v->bytes), share(v->of_copy), v->steps > 1 ? " a step" : "",
                INDENT, "", v->repeats, s->device.device);
}

/* `points`: the updates a second of the reported kernel. */
static void textbook_text(const textbook_row rows[TEXTBOOK_PLANS], double points, text *out) {
    for (int i = 0; i < TEXTBOOK_PLANS && rows[i].schedule != NULL; i++) {
        const textbook_row *r = &rows[i];
        text_printf(out, "%-*s%-*s ", INDENT, i == 0 ? "  textbook" : "", PLAN_WIDTH,
                    r->plan != NULL ? r->plan : r->schedule);
        if (r->measured)
            text_printf(out, "%s a step, %s of a copy; %.2f times as long\n",
                        in_seconds(r->speed.seconds), share(r->speed.of_copy),
                        points / r->speed.points);
        else
            text_printf(out, "%s\n", r->refusal != NULL ? r->refusal : "failed");
    }
}

/* Only grids have a boundary. */
static void add_head(const session *s, const report *r, text *out) {
    static const char planned[] = "by the "; /* model, or plans of a GPU */
    const char *boundary = text_of(r, SG_TEXT_BOUNDARY), *reason = text_of(r, SG_TEXT_REASON);
    const options *o = s->options;
    /* The cpu device runs plans for a GPU. */
    const bool elsewhere = strcmp(s->device.device, "cpu") == 0 &&
                           (r->here != NULL || o->arch != NULL || o->gpu != NULL) &&
                           strncmp(r->info.found, planned, sizeof planned - 1) == 0;
    text_printf(out, "%s: %s, %s%s%s%s\n", text_of(r, SG_TEXT_NAME), text_of(r, SG_TEXT_SHAPE),
                text_of(r, SG_TEXT_DTYPE), boundary[0] != '\0' ? ", " : "", boundary,
                boundary[0] != '\0' ? " boundary" : "");
    text_printf(out, "  plan     %s\n%*s%s\n", text_of(r, SG_TEXT_PLAN), INDENT, "", r->info.found);
    add_wrapped(out, NULL, INDENT,
                elsewhere ? phrase("on %s %s", text_of(r, SG_TEXT_ARCH), reason) : reason);
}

/* What runs in the place of a kernel for a GPU that is not there. */
static void add_here(const session *s, const report *r, text *out) {
    text_printf(out, "  here     %s\n%*s%s\n", text_of(r, SG_TEXT_PLAN), INDENT, "", r->info.found);
    add_wrapped(out, NULL, INDENT, text_of(r, SG_TEXT_REASON));
    if (r->built != NULL)
        add_compiled(r, s, out);
    report brief = *r;
    brief.check.unjudged_count = 0; /* the same conditions as those of the kernel for a GPU */
    if (r->checked)
        add_check(&brief, out);
    if (r->measured)
        add_speed(r, s, out);
}

/* The textbook has no count for updates that are not linear. */
static bool has_textbook(const report *r) {
    return !words_of(r->kernel)->is_grid || r->info.textbook_operations > 0;
}

static void add_work(const report *r, text *out) {
    const sg_kernel_info *i = &r->info;
    const char *point = words_of(r->kernel)->point;
    const double first = has_textbook(r) ? i->textbook_operations : i->emitted_operations;
    text_printf(out, "  work     %.10g operation%s %s ", first, first == 1 ? "" : "s", point);
    if (has_textbook(r))
        text_printf(out, "by the textbook, %.10g ", i->emitted_operations);
    text_add(out, "as emitted");
    if (i->bytes_per_point > 0)
        text_printf(out, "; %.10g bytes %s", i->bytes_per_point, point);
    text_add(out, "\n");
}

void report_text(const report *r, const session *s, text *out) {
    const bool builds = s->options->command == COMMAND_BUILD;
    add_head(s, r, out);
    add_work(r, out);
    add_files(r, out);
    if (builds)
        add_binary(r, s, out);
    if (r->checked || (builds && r->built != NULL && !r->info.launchable))
        add_check(r, out);
    if (r->measured) {
        add_speed(r, s, out);
        textbook_text(r->textbook, r->speed.points, out);
    }
    if (r->here != NULL)
        add_here(s, r->here, out);
}

static const char *unless_empty(const char *string) {
    return string[0] != '\0' ? string : NULL;
}

static void json_kernel(const report *r, json *j) {
    const sg_kernel_info *i = &r->info;
    json_add(j,
             "family %s name %s shape %s dims %d points %d radius %d dtype %s boundary %s plan %s "
             "found %s reason %s arch %s",
             text_of(r, SG_TEXT_FAMILY), text_of(r, SG_TEXT_NAME), text_of(r, SG_TEXT_SHAPE),
             i->dims, i->points, i->radius, text_of(r, SG_TEXT_DTYPE),
             unless_empty(text_of(r, SG_TEXT_BOUNDARY)), text_of(r, SG_TEXT_PLAN), i->found,
             text_of(r, SG_TEXT_REASON), text_of(r, SG_TEXT_ARCH));
    json_integers(j, "size", i->size, i->dims);
    json_add(j,
             "textbook_operations %g emitted_operations %g bytes_per_point %g source_lines %d "
             "launch { launchable %i steps %d threads %d shared_bytes %zu registers %+d "
             "local_bytes %+d blocks_resident %+d compile_seconds %g compiler %s binary_from %s }",
             has_textbook(r) ? i->textbook_operations : (double)NAN, i->emitted_operations,
             i->bytes_per_point, count_lines(text_of(r, SG_TEXT_SOURCE)), i->launchable, i->steps,
             i->threads, i->shared_bytes, i->registers, i->local_bytes, i->blocks_resident,
             r->built != NULL ? i->compile_seconds : (double)NAN, unless_empty(i->compiler),
             origin_words[i->origin]);
}

static void json_build(const report *r, json *j) {
    const sg_binary *b = &r->binary;
    json_add(j, "files {");
    for (int which = 0; which < EMIT_COUNT; which++)
        if (r->files[which].written)
            json_string(j, emit_words[which], r->files[which].path);
    json_add(j, "}");
    if (r->has_binary)
        json_add(j,
                 "cubin { compiler %s seconds %g binary_from %s bytes %zu registers %+d "
                 "shared_bytes %+d local_bytes %+d }",
                 b->compiler, b->seconds, origin_words[b->origin], b->size, b->registers,
                 b->shared_bytes, b->local_bytes);
    else
        json_string(j, "cubin", NULL);
    json_string(j, "no_cubin", r->has_binary ? NULL : r->no_binary);
}

static void json_check(const report *r, json *j) {
    const sg_check_result *c = &r->check;
    if (!r->checked) {
        json_string(j, "check", NULL);
        return;
    }
    json_add(j, "check { right %i points %" PRId64, c->wrong == 0, c->points);
    json_integers(j, "size", c->size, r->info.dims);
    /* A seed is up to 2^64: more than a JSON number holds. */
    json_add(j,
             "steps %" PRId64 " judged %" PRId64 " wrong %" PRId64 " undecidable %" PRId64
             " greatest_error %g of_bound %g seed %s first_wrong %s unjudged [",
             c->steps, c->judged, c->wrong, c->undecidable, c->greatest_error, c->of_bound,
             phrase("%" PRIu64, c->seed), c->wrong > 0 ? c->first_wrong : NULL);
    for (int i = 0; i < c->unjudged_count; i++)
        json_add(j, "{ condition %s side %i taken %" PRId64 " of %" PRId64 " }",
                 c->unjudged[i].condition, c->unjudged[i].side, c->unjudged[i].taken,
                 c->unjudged[i].of);
    json_add(j, "] }");
}

static void json_speed(const report *r, json *j) {
    const sg_speed *v = &r->speed;
    if (!r->measured) {
        json_string(j, "speed", NULL);
        return;
    }
    json_add(j, "speed {");
    json_integers(j, "size", v->size, r->info.dims);
    json_add(j,
             "repeats %d steps %" PRId64 " seconds %g fastest_seconds %g slowest_seconds %g "
             "points_per_second %g bytes_per_second %g copy_bytes_per_second %g of_copy %g }",
             v->repeats, v->steps, v->seconds, v->fastest, v->slowest, v->points, v->bytes,
             v->copy_bytes, v->of_copy);
}

static void json_here(const report *r, json *j) {
    if (r == NULL) {
        json_string(j, "here", NULL);
        return;
    }
    json_add(j, "here { plan %s found %s reason %s", text_of(r, SG_TEXT_PLAN), r->info.found,
             text_of(r, SG_TEXT_REASON));
    json_check(r, j);
    json_add(j, "}");
}

static void textbook_json(const textbook_row rows[TEXTBOOK_PLANS], json *j) {
    json_add(j, "beside [");
    for (int i = 0; i < TEXTBOOK_PLANS && rows[i].schedule != NULL; i++) {
        const textbook_row *r = &rows[i];
        const double known = r->measured ? 1 : (double)NAN;
        json_add(j,
                 "{ schedule %s plan %s refusal %s seconds %g points_per_second %g "
                 "copy_bytes_per_second %g of_copy %g }",
                 r->schedule, r->plan, r->refusal, known * r->speed.seconds,
                 known * r->speed.points, known * r->speed.copy_bytes, known * r->speed.of_copy);
    }
    json_add(j, "]");
}

void report_json(const report *r, const session *s, json *j) {
    if (r->kernel == NULL)
        return;
    json_kernel(r, j);
    session_parameters_json(s, r->kernel, j);
    if (s->options->command == COMMAND_BUILD)
        json_build(r, j);
    json_check(r, j);
    json_speed(r->here != NULL ? r->here : r, j);
    json_here(r->here, j);
    if (s->options->command == COMMAND_BENCH)
        textbook_json(r->textbook, j);
}

void report_keep_check(report *r) {
    sg_check_result *c = &r->check;
    sg_unjudged *kept = new_array((size_t)c->unjudged_count, sizeof *kept);
    for (int i = 0; i < c->unjudged_count; i++) {
        kept[i] = c->unjudged[i];
        kept[i].condition = new_copy(c->unjudged[i].condition);
    }
    c->unjudged = kept;
    if (c->first_wrong != NULL)
        c->first_wrong = new_copy(c->first_wrong);
}

void report_free(report *r) {
    if (r->here != NULL)
        report_free(r->here);
    free(r->here);
    for (int which = 0; which < EMIT_COUNT; which++)
        output_drop(r->files[which].open);
    sg_release(r->built);
    sg_release(r->kernel);
}
