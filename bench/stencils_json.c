/* The table as JSON; docs/json.md has the keys. */
#include <math.h>
#include <string.h>

#include "stencils.h"

static void text(FILE *out, const char *key, const char *value) {
    fprintf(out, "\"%s\": ", key);
    if (value == NULL) {
        fputs("null, ", out);
        return;
    }
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)value; *c != '\0'; c++)
        if (*c < ' ')
            fprintf(out, "\\u%04x", *c);
        else
            fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputs("\", ", out);
}

static void number(FILE *out, const char *key, double value, bool known) {
    if (known && isfinite(value))
        fprintf(out, "\"%s\": %.9g, ", key, value);
    else
        fprintf(out, "\"%s\": null, ", key);
}

/* Of as many axes as there are; an extent of 0 is unknown. */
static void print_size(FILE *out, const int64_t size[AXES], int dims, const char *after) {
    if (size[0] == 0) {
        fprintf(out, "\"size\": null%s", after);
        return;
    }
    fprintf(out, "\"size\": [%lld", (long long)size[0]);
    for (int axis = 1; axis < dims; axis++)
        fprintf(out, ", %lld", (long long)size[axis]);
    fprintf(out, "]%s", after);
}

static void print_rival(FILE *out, const char *key, const row *r, const rival *other) {
    if (other == NULL) {
        fprintf(out, "\"%s\": null, ", key);
        return;
    }
    fprintf(out, "\"%s\": {", key);
    text(out, "system", other->system);
    number(out, "points", other->rate * 1e9, true);
    number(out, "ratio", row_rate(r) * 1e-9 / other->rate, r->timed);
    print_size(out, other->size, r->shape->dims, "}, ");
}

static const char *state_word(const row *r) {
    switch (r->state) {
    case ROW_WRONG:
        return "wrong";
    case ROW_FAILED:
        return "failed";
    case ROW_REFUSED:
        return "refused";
    default:
        return r->timed ? "right" : "left out";
    }
}

static void print_kernel(FILE *out, const row *r) {
    const bool built = r->kernel != NULL;
    text(out, "plan", r->plan);
    number(out, "launch_steps", r->info.steps, built);
    number(out, "threads", r->info.threads, built);
    number(out, "shared_bytes", (double)r->info.shared_bytes, built);
    number(out, "registers", r->info.registers, built && r->info.registers >= 0);
    number(out, "local_bytes", r->info.local_bytes, built && r->info.local_bytes >= 0);
    number(out, "blocks_resident", r->info.blocks_resident, built && r->info.blocks_resident >= 0);
    number(out, "compile_seconds", r->info.compile_seconds, built);
    number(out, "bytes_per_point", r->info.bytes_per_point, built);
    number(out, "estimated_seconds", r->estimate, r->estimate > 0);
}

static void print_row(FILE *out, const row *r, double best) {
    const bool many = r->part == PART_STEPS;
    fputs("    {", out);
    text(out, "part", part_words[r->part]);
    text(out, "shape", r->shape->name);
    text(out, "dtype", r->wide ? "double" : "float");
    print_size(out, r->size, r->shape->dims, ", ");
    text(out, "method", r->method);
    text(out, "schedule", r->schedule);
    number(out, "steps", (double)r->steps, true);
    print_kernel(out, r);
    number(out, "repeats", r->repeats, r->timed);
    number(out, "seconds", r->seconds, r->timed);
    number(out, "fastest", r->fastest, r->timed);
    number(out, "slowest", r->slowest, r->timed);
    number(out, "points", r->timed ? row_rate(r) : 0, r->timed);
    number(out, "copy_bytes", r->copy, r->timed);
    number(out, "of_copy", r->timed ? row_of_copy(r) : 0, r->timed);
    number(out, "of_best", r->timed ? best / r->seconds : 0, r->timed);
    number(out, "goal_of_copy", row_goal(r), row_goal(r) > 0);
    print_rival(out, "rival_best", r, many ? rival_best(r->shape, r->wide) : NULL);
    print_rival(out, "rival_here", r, many ? rival_here(r->shape, r->wide, r->size) : NULL);
    text(out, "error", r->error);
    fprintf(out, "\"state\": \"%s\"}", state_word(r));
}

bool report_json(const bench *b, FILE *out, int code) {
    fputs("{\n  ", out);
    text(out, "stencilgen", sg_version());
    text(out, "program", "stencils");
    text(out, "device", b->facts.name);
    text(out, "arch", b->facts.arch);
    text(out, "boundary", b->options.boundary);
    text(out, "weights", weights_words[b->options.weights]);
    fputs("\n  \"rows\": [\n", out);
    for (int first = 0, end; first < b->count; first = end) {
        for (end = first; end < b->count && rows_together(&b->rows[first], &b->rows[end]);)
            end++;
        const int fastest = rows_fastest(b, first, end);
        for (int i = first; i < end; i++) {
            print_row(out, &b->rows[i], fastest >= 0 ? b->rows[fastest].seconds : 0);
            fputs(i + 1 < b->count ? ",\n" : "\n", out);
        }
    }
    fprintf(out, "  ],\n  \"seconds\": %.3f, \"exit\": %d\n}\n", seconds_now() - b->begin, code);
    return !ferror(out);
}
