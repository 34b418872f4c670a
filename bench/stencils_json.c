/* The table as JSON; docs/json.md has the keys. */
#include "stencils.h"

/* The size along as many axes as there are; an extent of 0 is unknown. */
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
    json_text(out, "system", other->system);
    json_number(out, "points", other->rate * 1e9, true);
    json_number(out, "ratio", row_rate(r) * 1e-9 / other->rate, r->timed);
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
    json_text(out, "plan", r->plan);
    json_number(out, "launch_steps", r->info.steps, built);
    json_number(out, "threads", r->info.threads, built);
    json_number(out, "shared_bytes", (double)r->info.shared_bytes, built);
    json_number(out, "registers", r->info.registers, built && r->info.registers >= 0);
    json_number(out, "local_bytes", r->info.local_bytes, built && r->info.local_bytes >= 0);
    json_number(out, "blocks_resident", r->info.blocks_resident,
                built && r->info.blocks_resident >= 0);
    json_number(out, "compile_seconds", r->info.compile_seconds, built);
    json_number(out, "bytes_per_point", r->info.bytes_per_point, built);
    json_number(out, "estimated_seconds", r->estimate, r->estimate > 0);
}

static void print_row(FILE *out, const row *r, double best) {
    const bool many = r->part == PART_STEPS;
    fputs("    {", out);
    json_text(out, "part", part_words[r->part]);
    json_text(out, "shape", r->shape->name);
    json_text(out, "dtype", r->wide ? "double" : "float");
    print_size(out, r->size, r->shape->dims, ", ");
    json_text(out, "method", r->method);
    json_text(out, "schedule", r->schedule);
    json_number(out, "steps", (double)r->steps, true);
    print_kernel(out, r);
    json_number(out, "repeats", r->repeats, r->timed);
    json_number(out, "seconds", r->seconds, r->timed);
    json_number(out, "fastest", r->fastest, r->timed);
    json_number(out, "slowest", r->slowest, r->timed);
    json_number(out, "points", r->timed ? row_rate(r) : 0, r->timed);
    json_number(out, "copy_bytes", r->copy, r->timed);
    json_number(out, "clock", r->clock, r->timed && r->clock > 0);
    json_number(out, "of_copy", r->timed ? row_of_copy(r) : 0, r->timed);
    json_number(out, "of_best", r->timed ? best / r->seconds : 0, r->timed);
    json_number(out, "goal_of_copy", row_goal(r), row_goal(r) > 0);
    print_rival(out, "rival_best", r, many ? rival_best(r->shape, r->wide) : NULL);
    print_rival(out, "rival_here", r, many ? rival_here(r->shape, r->wide, r->size) : NULL);
    json_text(out, "error", r->error);
    fprintf(out, "\"state\": \"%s\"}", state_word(r));
}

bool report_json(const bench *b, FILE *out, int code) {
    double rate;
    fputs("{\n  ", out);
    json_text(out, "stencilgen", sg_version());
    json_text(out, "program", "stencils");
    json_text(out, "device", b->facts.name);
    json_text(out, "arch", b->facts.arch);
    json_text(out, "boundary", b->options.boundary);
    json_text(out, "weights", weights_words[b->options.weights]);
    copies_json(b->copies, out);
    json_text(out, "copied_by", copy_word(copies_fastest(b->copies, &rate)));
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
