/* The report of one kernel, for people and for programs. docs/json.md describes the latter. */
#include "cli/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/words.h"

enum { INDENT = 11, WIDTH = 100, PLAN_WIDTH = 46 };

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

static void add_compilation(text *out, double seconds, sg_origin origin) {
    add_seconds(out, seconds);
    if (origin != SG_COMPILED && origin_words[origin] != NULL)
        text_printf(out, ", from the %s", origin_words[origin]);
}

static void add_binary(const report *r, const session *s, text *out) {
    text_add(out, "  binary   ");
    if (r->has_binary) {
        text_printf(out, "%s cubin: %d registers, %zu bytes shared, %d local; %s, ",
                    text_of(r, SG_TEXT_ARCH), r->binary.registers, r->info.shared_bytes,
                    r->binary.local_bytes, r->binary.compiler);
        add_compilation(out, r->binary.seconds, r->binary.origin);
    } else {
        text line = new_text();
        text_printf(&line, "no cubin: %s", r->no_binary);
        add_wrapped(out, line.data, INDENT, WIDTH);
    }
    if (strcmp(s->device.device, "cpu") == 0 && r->info.launchable) {
        text_printf(out, "\n%*s%s, %s, ", INDENT, "", s->device.name, r->info.compiler);
        add_compilation(out, r->info.compile_seconds, r->info.origin);
    }
    text_add(out, "\n");
}

static void add_judged(const report *r, text *out) {
    const sg_check_result *c = &r->check;
    const words *w = words_of(r->kernel);
    if (!w->is_grid)
        text_printf(out, "%" PRId64 " %s, %" PRId64 " number%s compared", c->points, w->points,
                    c->judged, c->judged == 1 ? "" : "s");
    else if (c->judged == c->points)
        text_printf(out, "all %" PRId64 " points of ", c->points);
    else
        text_printf(out, "shell and random sample, %" PRId64 " of %" PRId64 " points of ",
                    c->judged, c->points);
    if (w->is_grid)
        add_extents(out, c->size, r->info.dims);
    if (c->steps > 1)
        text_printf(out, " after %" PRId64 " steps", c->steps);
    if (c->undecidable > 0)
        text_printf(out, "; %" PRId64 " of them cannot be decided", c->undecidable);
}

/* What the check says nothing about. */
static void add_unjudged(const report *r, text *out) {
    enum { SHOWN = 6 };
    const sg_check_result *c = &r->check;
    for (int i = 0; i < c->unjudged_count && i < SHOWN; i++) {
        const sg_unjudged *u = &c->unjudged[i];
        text line = new_text();
        text_printf(&line, "'%s' was %s %" PRId64 " of %" PRId64 " times: that side was %sjudged",
                    u->condition, u->side ? "true" : "false", u->taken, u->of,
                    u->taken > 0 ? "hardly " : "not ");
        text_printf(out, "%*s", INDENT, "");
        add_wrapped(out, line.data, INDENT, WIDTH);
        text_add(out, "\n");
    }
    if (c->unjudged_count > SHOWN)
        text_printf(out, "%*sand so with %d more sides of conditions\n", INDENT, "",
                    c->unjudged_count - SHOWN);
}

static void add_check(const report *r, text *out) {
    const sg_check_result *c = &r->check;
    text_add(out, "  check    ");
    if (!r->checked) {
        text_printf(out, "not run: this device does not execute %s\n", text_of(r, SG_TEXT_ARCH));
        return;
    }
    if (c->wrong > 0) {
        text line = new_text();
        text_printf(&line, "WRONG at %" PRId64 " %s: %s; seed %" PRIu64, c->wrong,
                    words_of(r->kernel)->is_grid ? "points" : "places", c->first_wrong, c->seed);
        add_wrapped(out, line.data, INDENT, WIDTH);
        text_printf(out, "\n%*s", INDENT, "");
    } else {
        text_add(out, "right: ");
    }
    if (c->greatest_error == 0 && !words_of(r->kernel)->is_grid)
        text_add(out, "exact, ");
    else
        text_printf(out,
                    "greatest error %.2g of the largest value (%.2g of the rounding bound),\n%*s",
                    c->greatest_error, c->of_bound, INDENT, "");
    add_judged(r, out);
    text_add(out, "\n");
    add_unjudged(r, out);
}

static void add_speed(const report *r, const session *s, text *out) {
    const sg_speed *v = &r->speed;
    text_add(out, "  speed    ");
    add_seconds(out, v->seconds);
    const words *w = words_of(r->kernel);
    if (v->steps > 1)
        text_printf(out, " for %" PRId64 " steps, ", v->steps);
    else
        text_printf(out, " %s, ", w->step);
    text_printf(out, "%.4g billion %s/s, ", v->points / 1e9, w->points);
    add_bytes(out, v->bytes);
    text_printf(out, "/s, %.2f of a copy%s\n%*s(median of %d on the %s device)\n", v->of_copy,
                v->steps > 1 ? " a step" : "", INDENT, "", v->repeats, s->device.device);
}

/* `points`: what the reported kernel updates a second. */
static void textbook_text(const textbook_row rows[TEXTBOOK_PLANS], double points, text *out) {
    for (int i = 0; i < TEXTBOOK_PLANS && rows[i].schedule != NULL; i++) {
        const textbook_row *r = &rows[i];
        text_printf(out, "%-*s%-*s ", INDENT, i == 0 ? "  textbook" : "", PLAN_WIDTH,
                    r->plan != NULL ? r->plan : r->schedule);
        if (r->measured) {
            add_seconds(out, r->speed.seconds);
            text_printf(out, " a step, %.2f of a copy; %.2f times as long\n", r->speed.of_copy,
                        points / r->speed.points);
        } else {
            text_printf(out, "%s\n", r->refusal != NULL ? r->refusal : "failed");
        }
    }
}

/* A boundary is a grid's. */
static void add_head(const session *s, const report *r, text *out) {
    static const char planned[] = "by the "; /* model, or plans of a GPU */
    const char *boundary = text_of(r, SG_TEXT_BOUNDARY);
    /* The cpu device runs what is planned for a GPU. */
    const bool elsewhere = strcmp(s->device.device, "cpu") == 0 && words_of(r->kernel)->is_grid &&
                           strncmp(r->info.found, planned, sizeof planned - 1) == 0;
    text reason = new_text();
    text_printf(&reason, "%s%s%s%s", elsewhere ? "on " : "",
                elsewhere ? text_of(r, SG_TEXT_ARCH) : "", elsewhere ? " " : "",
                text_of(r, SG_TEXT_REASON));
    text_printf(out, "%s: %s, %s%s%s%s\n", text_of(r, SG_TEXT_NAME), text_of(r, SG_TEXT_SHAPE),
                text_of(r, SG_TEXT_DTYPE), boundary[0] != '\0' ? ", " : "", boundary,
                boundary[0] != '\0' ? " boundary" : "");
    text_printf(out, "  plan     %s\n%*s%s\n%*s", text_of(r, SG_TEXT_PLAN), INDENT, "",
                r->info.found, INDENT, "");
    add_wrapped(out, reason.data, INDENT, WIDTH);
}

/* No textbook counts an update that is not linear. */
static bool has_textbook(const report *r) {
    return !words_of(r->kernel)->is_grid || r->info.textbook_operations > 0;
}

static void add_work(const report *r, text *out) {
    const sg_kernel_info *i = &r->info;
    const char *point = words_of(r->kernel)->point;
    text_add(out, "\n  work     ");
    if (has_textbook(r))
        text_printf(out, "%.10g operation%s %s by the textbook, %.10g as emitted",
                    i->textbook_operations, i->textbook_operations == 1 ? "" : "s", point,
                    i->emitted_operations);
    else
        text_printf(out, "%.10g operation%s %s as emitted", i->emitted_operations,
                    i->emitted_operations == 1 ? "" : "s", point);
    if (i->bytes_per_point > 0)
        text_printf(out, "; %.10g bytes %s", i->bytes_per_point, point);
    text_add(out, "\n");
}

void report_text(const report *r, const session *s, text *out) {
    add_head(s, r, out);
    add_work(r, out);
    add_files(r, out);
    if (s->options->command == COMMAND_BUILD) {
        add_binary(r, s, out);
        if (r->checked || (r->built != NULL && !r->info.launchable))
            add_check(r, out);
    } else if (r->checked) {
        add_check(r, out);
    }
    if (r->measured)
        add_speed(r, s, out);
    if (r->measured)
        textbook_text(r->textbook, r->speed.points, out);
}

static void json_kernel(const report *r, json *j) {
    const char *boundary = text_of(r, SG_TEXT_BOUNDARY);
    json_string(j, "family", text_of(r, SG_TEXT_FAMILY));
    json_string(j, "name", text_of(r, SG_TEXT_NAME));
    json_string(j, "shape", text_of(r, SG_TEXT_SHAPE));
    json_integer(j, "dims", r->info.dims);
    json_integer(j, "points", r->info.points);
    json_integer(j, "radius", r->info.radius);
    json_string(j, "dtype", text_of(r, SG_TEXT_DTYPE));
    json_string(j, "boundary", boundary[0] != '\0' ? boundary : NULL);
    json_string(j, "plan", text_of(r, SG_TEXT_PLAN));
    json_string(j, "found", r->info.found);
    json_string(j, "reason", text_of(r, SG_TEXT_REASON));
    json_string(j, "arch", text_of(r, SG_TEXT_ARCH));
    json_integers(j, "size", r->info.size, r->info.dims);
    json_number(j, "textbook_operations", has_textbook(r) ? r->info.textbook_operations : NAN);
    json_number(j, "emitted_operations", r->info.emitted_operations);
    json_number(j, "bytes_per_point", r->info.bytes_per_point);
    json_integer(j, "source_lines", count_lines(text_of(r, SG_TEXT_SOURCE)));
    json_object(j, "launch");
    json_bool(j, "launchable", r->info.launchable != 0);
    json_integer(j, "steps", r->info.steps);
    json_integer(j, "threads", r->info.threads);
    json_integer(j, "shared_bytes", (int64_t)r->info.shared_bytes);
    json_known(j, "registers", r->info.registers);
    json_known(j, "local_bytes", r->info.local_bytes);
    json_known(j, "blocks_resident", r->info.blocks_resident);
    json_number(j, "compile_seconds", r->built != NULL ? r->info.compile_seconds : NAN);
    json_string(j, "compiler", r->info.compiler[0] != '\0' ? r->info.compiler : NULL);
    json_string(j, "binary_from", origin_words[r->info.origin]);
    json_end_object(j);
}

static void json_files(const report *r, json *j) {
    json_object(j, "files");
    for (int which = 0; which < EMIT_COUNT; which++)
        if (r->files[which].written)
            json_string(j, emit_words[which], r->files[which].path);
    json_end_object(j);
}

static void json_binary(const report *r, json *j) {
    if (!r->has_binary) {
        json_null(j, "cubin");
        json_string(j, "no_cubin", r->no_binary);
        return;
    }
    json_object(j, "cubin");
    json_string(j, "compiler", r->binary.compiler);
    json_number(j, "seconds", r->binary.seconds);
    json_string(j, "binary_from", origin_words[r->binary.origin]);
    json_integer(j, "bytes", (int64_t)r->binary.size);
    json_known(j, "registers", r->binary.registers);
    json_known(j, "shared_bytes", r->binary.shared_bytes);
    json_known(j, "local_bytes", r->binary.local_bytes);
    json_end_object(j);
    json_null(j, "no_cubin");
}

static void json_unjudged(const sg_check_result *c, json *j) {
    json_array(j, "unjudged");
    for (int i = 0; i < c->unjudged_count; i++) {
        json_object(j, NULL);
        json_string(j, "condition", c->unjudged[i].condition);
        json_bool(j, "side", c->unjudged[i].side != 0);
        json_integer(j, "taken", c->unjudged[i].taken);
        json_integer(j, "of", c->unjudged[i].of);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_check(const report *r, json *j) {
    const sg_check_result *c = &r->check;
    if (!r->checked) {
        json_null(j, "check");
        return;
    }
    text seed = new_text();
    text_printf(&seed, "%" PRIu64, c->seed);
    json_object(j, "check");
    json_bool(j, "right", c->wrong == 0);
    json_integer(j, "points", c->points);
    json_integers(j, "size", c->size, r->info.dims);
    json_integer(j, "steps", c->steps);
    json_integer(j, "judged", c->judged);
    json_integer(j, "wrong", c->wrong);
    json_integer(j, "undecidable", c->undecidable);
    json_number(j, "greatest_error", c->greatest_error);
    json_number(j, "of_bound", c->of_bound);
    json_string(j, "seed", seed.data); /* up to 2^64: more than a JSON number holds */
    json_string(j, "first_wrong", c->wrong > 0 ? c->first_wrong : NULL);
    json_unjudged(c, j);
    json_end_object(j);
}

static void json_speed(const report *r, json *j) {
    const sg_speed *v = &r->speed;
    if (!r->measured) {
        json_null(j, "speed");
        return;
    }
    json_object(j, "speed");
    json_integers(j, "size", v->size, r->info.dims);
    json_integer(j, "repeats", v->repeats);
    json_integer(j, "steps", v->steps);
    json_number(j, "seconds", v->seconds);
    json_number(j, "fastest_seconds", v->fastest);
    json_number(j, "slowest_seconds", v->slowest);
    json_number(j, "points_per_second", v->points);
    json_number(j, "bytes_per_second", v->bytes);
    json_number(j, "copy_bytes_per_second", v->copy_bytes);
    json_number(j, "of_copy", v->of_copy);
    json_end_object(j);
}

static void textbook_json(const textbook_row rows[TEXTBOOK_PLANS], json *j) {
    json_array(j, "beside");
    for (int i = 0; i < TEXTBOOK_PLANS && rows[i].schedule != NULL; i++) {
        const textbook_row *r = &rows[i];
        json_object(j, NULL);
        json_string(j, "schedule", r->schedule);
        json_string(j, "plan", r->plan);
        json_string(j, "refusal", r->refusal);
        json_number(j, "seconds", r->measured ? r->speed.seconds : NAN);
        json_number(j, "points_per_second", r->measured ? r->speed.points : NAN);
        json_number(j, "copy_bytes_per_second", r->measured ? r->speed.copy_bytes : NAN);
        json_number(j, "of_copy", r->measured ? r->speed.of_copy : NAN);
        json_end_object(j);
    }
    json_end_array(j);
}

void report_json(const report *r, const session *s, json *j) {
    json_object(j, NULL);
    json_string(j, "spec", r->spec);
    json_integer(j, "index", r->index);
    if (r->kernel != NULL) {
        json_kernel(r, j);
        session_parameters_json(s, r->kernel, j);
        if (s->options->command == COMMAND_BUILD) {
            json_files(r, j);
            json_binary(r, j);
        }
        json_check(r, j);
        json_speed(r, j);
        if (s->options->command == COMMAND_BENCH)
            textbook_json(r->textbook, j);
    }
    json_string(j, "error", r->error);
    json_integer(j, "exit", r->code);
    json_end_object(j);
}

void report_keep_check(report *r) {
    sg_check_result *c = &r->check;
    sg_unjudged *kept = new_array((size_t)c->unjudged_count, sizeof *kept);
    for (int i = 0; i < c->unjudged_count; i++) {
        kept[i] = c->unjudged[i];
        kept[i].condition = new_copy(c->unjudged[i].condition);
    }
    c->unjudged = kept;
}

void report_free(report *r) {
    for (int which = 0; which < EMIT_COUNT; which++)
        output_drop(r->files[which].open);
    sg_release(r->built);
    sg_release(r->kernel);
}
