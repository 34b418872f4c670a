/* explain: what each method would cost. Takes: specs. Makes: a table for each kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/files/product.h"
#include "cli/report/formats.h"
#include "cli/words.h"

enum { WIDTH = 100, PLAN_INDENT = 14, NAME_WIDTH = 17 };

static void add_count(double count, const char *what, const char *after, buffer *out) {
    buffer_printf(out, "%.10g %s%s%s", count, what, count == 1 ? "" : "s", after);
}

static bool has_textbook(const sg_explanation *e, const words *w) {
    return !w->is_grid || e->textbook_operations > 0;
}

static void add_head(const sg_explanation *e, int dims, const words *w, buffer *out) {
    buffer_printf(out, "%s: %s, %s%s%s%s\n", e->name, e->shape, e->dtype,
                  e->boundary[0] != '\0' ? ", " : "", e->boundary,
                  e->boundary[0] != '\0' ? " boundary" : "");
    buffer_add(out, "  textbook ");
    if (has_textbook(e, w)) {
        add_count(e->textbook_operations, "operation", " ", out);
        buffer_add(out, w->point);
    } else {
        buffer_add(out, "no count of an update that is not linear");
    }
    if (e->bytes_per_point > 0)
        buffer_printf(out, "; %.10g bytes %s at least", e->bytes_per_point, w->point);
    if (e->bytes_per_point > 0 && has_textbook(e, w))
        buffer_printf(out, ": at most %.2f operations a byte",
                      e->textbook_operations / e->bytes_per_point);
    buffer_add(out, "\n  emitted  ");
    add_count(e->emitted_operations, "operation", " ", out);
    buffer_add(out, w->point);
    if (w->is_grid) {
        buffer_add(out, ": ");
        add_count(e->emitted_multiplications, "multiplication", ", ", out);
        add_count(e->emitted_additions, "addition", ", ", out);
        add_count(e->emitted_others, "other", "", out);
    }
    buffer_printf(out, "\n  planned  for %s (%s), ", e->gpu, e->arch);
    buffer_size(out, e->size, dims);
    if (!w->is_grid)
        buffer_printf(out, " %s", w->points);
    buffer_add(out, "\n\n");
}

/* The textbook's figure at its tile width T, and the limit as T grows. */
static void add_textbook(const sg_method_row *row, buffer *out) {
    buffer cell = {0};
    if (row->textbook_operations_per_byte > 0)
        buffer_printf(&cell, "%.2f", row->textbook_operations_per_byte);
    else
        buffer_add(&cell, "-");
    if (row->textbook_tile > 0)
        buffer_printf(&cell, " T=%.0f, to %.2f", row->textbook_tile, row->textbook_limit);
    buffer_printf(out, "%-21s", cell.data);
    buffer_free(&cell);
}

static void add_row(const sg_method_row *row, buffer *out) {
    buffer_printf(out, "%c %-11s ", row->chosen ? '*' : ' ', row->method);
    add_textbook(row, out);
    if (row->plan == NULL) {
        buffer_printf(out, "\n%*s", PLAN_INDENT, "");
        buffer_wrap(out, row->refusal, PLAN_INDENT, WIDTH);
        buffer_add(out, "\n");
        return;
    }
    if (row->operations_per_byte > 0)
        buffer_printf(out, "%9.2f", row->operations_per_byte);
    else
        buffer_printf(out, "%9s", "-");
    buffer_printf(out, " %9.4g %8zu %8d %6d  ", row->loads_bytes_per_point, row->shared_bytes,
                  row->threads, row->registers);
    buffer_seconds(out, row->estimated_seconds);
    buffer_printf(out, ", %s\n%*s%s\n", row->bound, PLAN_INDENT, "", row->plan);
}

/* Why the model chooses what it does, and what goes before it. */
static void add_reason(const sg_explanation *e, buffer *out) {
    buffer_add(out, "\n* ");
    buffer_wrap(out, e->reason, 2, WIDTH);
    buffer_add(out, "\n");
    if (e->tuned == NULL)
        return;
    buffer tuned = {0};
    buffer_printf(&tuned, "a build takes %s instead, %s", e->tuned, e->found);
    buffer_add(out, "  ");
    buffer_wrap(out, tuned.data, 2, WIDTH);
    buffer_add(out, "\n");
    buffer_free(&tuned);
}

static void add_table(const sg_explanation *e, buffer *out) {
    buffer_printf(out,
                  "              textbook's           this plan's    loaded   shared  threads "
                  "  regs  estimate for %s,\n"
                  "  method      operations a byte     op/byte  B/point   B/block   /block "
                  "/thread  limited by\n",
                  e->arch);
    for (int i = 0; i < e->row_count; i++)
        add_row(&e->rows[i], out);
    add_reason(e, out);
}

/* The algorithms of a family of lists: what they are and the textbook's count of their work. */
static void add_algorithm(const sg_method_row *row, buffer *out) {
    buffer_printf(out, "%c %-*s", row->chosen ? '*' : ' ', NAME_WIDTH, row->method);
    buffer plan = {0};
    if (row->plan != NULL)
        buffer_printf(&plan, "%s; %zu bytes shared", row->plan, row->shared_bytes);
    buffer_wrap(out, row->plan != NULL ? plan.data : row->refusal, NAME_WIDTH + 2, WIDTH);
    buffer_add(out, "\n");
    buffer_free(&plan);
    if (row->note == NULL)
        return;
    buffer_printf(out, "%*s", NAME_WIDTH + 2, "");
    buffer_wrap(out, row->note, NAME_WIDTH + 2, WIDTH);
    buffer_add(out, "\n");
}

static void add_algorithms(const sg_explanation *e, buffer *out) {
    buffer_printf(out, "  %-*s%s\n", NAME_WIDTH, "algorithm", "plan, and the textbook's work");
    for (int i = 0; i < e->row_count; i++)
        add_algorithm(&e->rows[i], out);
    add_reason(e, out);
}

static void json_row(const sg_method_row *row, json *j) {
    json_object(j, NULL);
    json_string(j, "method", row->method);
    json_bool(j, "chosen", row->chosen != 0);
    json_number(j, "textbook_tile", row->textbook_tile);
    json_number(j, "textbook_operations_per_byte", row->textbook_operations_per_byte);
    json_number(j, "textbook_limit", row->textbook_limit);
    json_string(j, "plan", row->plan);
    json_string(j, "refusal", row->refusal);
    json_string(j, "note", row->note);
    if (row->plan != NULL) {
        json_number(j, "operations_per_byte", row->operations_per_byte);
        json_number(j, "loads_bytes_per_point", row->loads_bytes_per_point);
        json_integer(j, "shared_bytes", (int64_t)row->shared_bytes);
        json_integer(j, "threads", row->threads);
        json_integer(j, "registers", row->registers);
        json_number(j, "estimated_seconds", row->estimated_seconds);
        json_string(j, "bound", row->bound);
    }
    json_end_object(j);
}

static void json_explanation(const sg_explanation *e, const char *spec, int index, int dims,
                             const words *w, const char *family, const formats *f, json *j) {
    json_object(j, NULL);
    json_string(j, "spec", spec);
    json_integer(j, "index", index);
    json_string(j, "family", family);
    json_string(j, "name", e->name);
    json_string(j, "shape", e->shape);
    json_string(j, "dtype", e->dtype);
    json_string(j, "boundary", e->boundary[0] != '\0' ? e->boundary : NULL);
    json_integer(j, "points", e->points);
    json_number(j, "textbook_operations", has_textbook(e, w) ? e->textbook_operations : NAN);
    json_number(j, "emitted_operations", e->emitted_operations);
    json_number(j, "emitted_multiplications", e->emitted_multiplications);
    json_number(j, "emitted_additions", e->emitted_additions);
    json_number(j, "emitted_others", e->emitted_others);
    json_number(j, "bytes_per_point", e->bytes_per_point);
    json_string(j, "arch", e->arch);
    json_string(j, "gpu", e->gpu);
    json_array(j, "size");
    for (int axis = 0; axis < dims; axis++)
        json_integer(j, NULL, e->size[axis]);
    json_end_array(j);
    json_string(j, "reason", e->reason);
    json_string(j, "tuned", e->tuned);
    json_string(j, "found", e->tuned != NULL ? e->found : NULL);
    json_array(j, "methods");
    for (int i = 0; i < e->row_count; i++)
        json_row(&e->rows[i], j);
    json_end_array(j);
    if (f->count > 0)
        formats_json(f, j);
    json_null(j, "error");
    json_integer(j, "exit", EXIT_DONE);
    json_end_object(j);
}

/* What is known of one spec before it is shown. */
typedef struct subject {
    sg_kernel *kernel; /* planned, not compiled */
    sg_kernel_info info;
    sg_matrix *matrix; /* of --input; NULL */
    formats formats;
    sg_explanation *explanation;
} subject;

/* Plans for the matrix that --input names. */
static int plan_for_matrix(session *s, const char *spec, sg_build_options *how, subject *u) {
    int code = session_matrix(s, spec, how, &u->matrix);
    if (code == EXIT_DONE)
        code = session_build(s, spec, how, &u->kernel);
    return code == EXIT_DONE ? formats_collect(s, s->options->inputs.items[0].value, u->matrix,
                                               u->kernel, &u->formats)
                             : code;
}

static int find_out(session *s, const char *spec, int index, subject *u) {
    sg_build_options how = session_build_options(s, index), plain = how;
    const bool has_matrix = s->options->inputs.count > 0;
    memset(plain.size, 0, sizeof plain.size);
    plain.source_only = 1;
    int code = has_matrix ? plan_for_matrix(s, spec, &plain, u)
                          : session_build(s, spec, &plain, &u->kernel);
    if (code == EXIT_DONE)
        code = session_judge_size(s, u->kernel);
    if (code != EXIT_DONE)
        return code;
    u->info.struct_size = sizeof u->info;
    sg_kernel_facts(u->kernel, &u->info);
    how.matrix = u->matrix;
    if (has_matrix)
        memcpy(how.size, plain.size, sizeof how.size);
    const sg_status status = sg_explain(s->context, spec, &how, &u->explanation);
    return status == SG_OK ? EXIT_DONE : session_failed(s, status);
}

static int show(session *s, const char *spec, int index, const subject *u, json *j) {
    const words *w = words_of(u->kernel);
    if (s->options->json) {
        json_explanation(u->explanation, spec, index, u->info.dims, w,
                         sg_kernel_text(u->kernel, SG_TEXT_FAMILY), &u->formats, j);
        return EXIT_DONE;
    }
    buffer text = {0};
    add_head(u->explanation, u->info.dims, w, &text);
    if (w->is_grid)
        add_table(u->explanation, &text);
    else
        add_algorithms(u->explanation, &text);
    if (u->formats.count > 0)
        formats_text(&u->formats, &text);
    const int code = say(&text);
    buffer_free(&text);
    return code;
}

static int explain_one(session *s, const char *spec, int index, json *j) {
    subject u = {0};
    int code = find_out(s, spec, index, &u);
    if (code == EXIT_DONE)
        code = show(s, spec, index, &u, j);
    formats_free(&u.formats);
    sg_explanation_free(u.explanation);
    sg_matrix_free(u.matrix);
    sg_release(u.kernel);
    return code;
}

int command_explain(const options *o) {
    return session_each(o, explain_one);
}
