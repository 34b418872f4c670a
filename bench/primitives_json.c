/* The table as JSON, an object for each entrant and way of timing; docs/json.md has the keys. */
#include "primitives.h"

static void print_size(FILE *out, const line *l) {
    fprintf(out, "\"size\": [%lld", (long long)l->size[0]);
    for (int axis = 1; axis < l->dims; axis++)
        fprintf(out, ", %lld", (long long)l->size[axis]);
    fputs("], ", out);
}

static void print_kernel(FILE *out, const entrant *e) {
    const bool built = e->kernel != NULL;
    json_text(out, "plan", e->plan);
    json_number(out, "threads", e->info.threads, built);
    json_number(out, "shared_bytes", (double)e->info.shared_bytes, built);
    json_number(out, "registers", e->info.registers, built && e->info.registers >= 0);
    json_number(out, "local_bytes", e->info.local_bytes, built && e->info.local_bytes >= 0);
    json_number(out, "blocks_resident", e->info.blocks_resident,
                built && e->info.blocks_resident >= 0);
    json_number(out, "compile_seconds", e->info.compile_seconds, built);
    json_number(out, "temporary_bytes", (double)e->temporary_bytes, built);
}

static void print_row(FILE *out, const bench *b, const line *l, const entrant *e, timing t) {
    const figure *f = &e->figures[t];
    const entrant *rival = line_best(l, t, false), *best = line_best(l, t, true);
    const double ratio = line_ratio(l, e, t), peak = line_of_peak(b, l, e, t);
    fputs("    {", out);
    json_text(out, "part", parts[l->part]->word);
    json_text(out, "kind", l->kind);
    json_text(out, "dtype", l->dtype);
    json_text(out, "data", l->data);
    print_size(out, l);
    json_text(out, "timing", timing_words[t]);
    json_text(out, "by", e->ours ? "stencilgen" : "rival");
    json_text(out, "method", e->name);
    json_text(out, "schedule", e->schedule);
    print_kernel(out, e);
    json_number(out, "repeats", f->repeats, f->timed);
    json_number(out, "seconds", f->seconds, f->timed);
    json_number(out, "fastest", f->fastest, f->timed);
    json_number(out, "slowest", f->slowest, f->timed);
    json_number(out, "bytes", l->bytes, true);
    json_number(out, "copy_bytes", l->bytes / l->copy[t], l->copy[t] > 0);
    json_text(out, "copied_by", l->copied_by[t]);
    json_number(out, "of_copy", line_of_copy(l, e, t), f->timed);
    json_number(out, "of_peak", peak, peak > 0);
    json_number(out, "of_best",
                f->timed && best != NULL ? best->figures[t].seconds / f->seconds : 0,
                f->timed && best != NULL);
    json_text(out, "rival", rival != NULL ? rival->name : NULL);
    json_number(out, "ratio", ratio, ratio > 0);
    json_number(out, "goal_ratio", line_goal(l), e == l->entrants);
    json_number(out, "conversion_seconds", e->conversion, e->conversion > 0);
    json_number(out, "conversion_products", f->timed ? e->conversion / f->seconds : 0,
                f->timed && e->conversion > 0);
    json_text(out, "conversion_by", e->conversion <= 0 ? NULL : e->by_kernels ? "kernels" : "host");
    json_number(out, "upload_seconds", e->upload, e->upload > 0);
    json_number(out, "clock", l->clock, l->clock > 0);
    json_text(out, "error", e->error);
    fprintf(out, "\"state\": \"%s\"}", state_word(e, f->timed));
}

/* A line that was left out has one row for each entrant, so that it shows. */
static bool has_row(const line *l, timing t) {
    bool none = true;
    for (int i = 0; i < TIMINGS; i++)
        none = none && l->copy[i] == 0;
    return l->copy[t] > 0 || (none && t == TIMING_GRAPH);
}

bool report_json(const bench *b, FILE *out, int code) {
    const char *between = "\n";
    fputs("{\n  ", out);
    json_text(out, "stencilgen", sg_version());
    json_text(out, "program", bench_program);
    json_text(out, "device", b->facts.name);
    json_text(out, "arch", b->facts.arch);
    json_text(out, "cub", bench_rivals.names[0]);
    json_text(out, "cusparse", bench_rivals.names[1]);
    json_text(out, "npp", bench_rivals.names[2]);
    json_number(out, "highest_clock", bench_clock_highest(b->device),
                bench_clock_highest(b->device) > 0);
    copies_json(b->copies, out);
    fputs("\n  \"rows\": [", out);
    for (const line *l = b->lines; l < b->lines + b->count; l++)
        for (int t = 0; t < TIMINGS; t++)
            for (int i = 0; i < l->count && has_row(l, (timing)t); i++) {
                fputs(between, out);
                print_row(out, b, l, &l->entrants[i], (timing)t);
                between = ",\n";
            }
    fprintf(out, "\n  ],\n  \"seconds\": %.3f, \"exit\": %d\n}\n", seconds_now() - b->begin, code);
    return !ferror(out);
}
