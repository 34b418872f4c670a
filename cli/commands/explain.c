/* explain: what each method would cost, and with a matrix what each format would store. Takes:
   specs. Makes: a table for each kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/files/arrays.h"
#include "cli/session.h"
#include "cli/words.h"

enum { WIDTH = 100, PLAN_INDENT = 14, NAME_WIDTH = 17 };

/* ---- formats -------------------------------------------------------------------------------- */

/* What each storage format would take for the matrix of --input, and the textbook's count. */
enum { FORMULA_WIDTH = 36, FORMAT_INDENT = 10 };

typedef struct formats {
    const char *path;
    sg_matrix_info matrix;
    size_t value_bytes;
    sg_format_info *rows;
    int count;
} formats;

static void keep_row(void *user, const sg_format_info *row) {
    formats *f = user;
    f->rows = longer_list(f->rows, f->count, sizeof *f->rows);
    sg_format_info *kept = &f->rows[f->count++];
    *kept = *row;
    kept->format = new_copy(row->format);
    kept->formula = new_copy(row->formula);
    kept->refusal = new_copy(row->refusal);
    kept->reason = new_copy(row->reason);
}

/* The dense matrix is no format, but what formats are compared with. */
static void add_dense(formats *f) {
    const double numbers = (double)f->matrix.rows * (double)f->matrix.columns;
    const double bytes = numbers * (double)f->value_bytes;
    keep_row(f, &(sg_format_info){.format = "dense",
                                  .formula = "M·N",
                                  .refusal = "no sparse format; for comparison",
                                  .numbers = numbers,
                                  .bytes = bytes < 9.2e18 ? (int64_t)bytes : -1});
}

static int formats_collect(session *s, const char *path, const sg_matrix *matrix,
                           const sg_kernel *kernel, formats *f) {
    *f = (formats){.path = path, .matrix = {.struct_size = sizeof f->matrix}};
    f->value_bytes = strcmp(sg_kernel_text(kernel, SG_TEXT_DTYPE), "float") == 0 ? 4 : 8;
    sg_status status = sg_matrix_facts(matrix, &f->matrix);
    if (status == SG_OK) {
        add_dense(f);
        status = sg_matrix_formats(matrix, kernel, keep_row, f);
    }
    return status == SG_OK ? EXIT_DONE : session_failed(s, status);
}

static void add_matrix(const formats *f, text *out) {
    const sg_matrix_info *m = &f->matrix;
    text_printf(out,
                "\n  matrix   %s: M = %" PRId64 " rows, N = %" PRId64 " columns, nnz = %" PRId64
                " entries%s\n           rows of %" PRId64 " to K = %" PRId64
                " entries, %.3g on average (deviation %.3g), %" PRId64 " empty; %" PRId64
                " diagonals, bandwidth %" PRId64 "\n\n",
                f->path, m->rows, m->columns, m->entries, m->symmetric ? ", symmetric" : "",
                m->shortest_row, m->longest_row, m->mean_row, m->row_deviation, m->empty_rows,
                m->diagonals, m->bandwidth);
}

/* The formulas have letters of several bytes, of which printf would count each. */
static void add_padded(text *out, const char *string, int width) {
    text_add(out, string);
    for (const char *at = string; *at != '\0'; at++)
        width -= ((unsigned char)*at & 0xC0) != 0x80;
    text_printf(out, "%*s", width > 0 ? width : 0, "");
}

static void add_format(const sg_format_info *row, text *out) {
    text_printf(out, "%c %-7s ", row->chosen ? '*' : ' ', row->format);
    add_padded(out, row->formula, FORMULA_WIDTH);
    text_printf(out, " %12.10g  ", row->numbers);
    if (row->bytes >= 0)
        add_bytes(out, (double)row->bytes);
    else
        text_add(out, "beyond counting");
    text_add(out, "\n");
    if (row->refusal != NULL) {
        text_printf(out, "%*s", FORMAT_INDENT, "");
        add_wrapped(out, row->refusal, FORMAT_INDENT, WIDTH);
        text_add(out, "\n");
    }
}

static void formats_text(const formats *f, text *out) {
    add_matrix(f, out);
    text_printf(out, "  %-7s %-*s %12s  stored here\n", "format", FORMULA_WIDTH,
                "the textbook's numbers", "");
    for (int i = 0; i < f->count; i++)
        add_format(&f->rows[i], out);
    for (int i = 0; i < f->count; i++)
        if (f->rows[i].chosen && f->rows[i].reason != NULL) {
            text_add(out, "\n* ");
            add_wrapped(out, f->rows[i].reason, 2, WIDTH);
            text_add(out, "\n");
        }
}

static void json_format(const sg_format_info *row, json *j) {
    json_object(j, NULL);
    json_string(j, "format", row->format);
    json_bool(j, "chosen", row->chosen != 0);
    json_string(j, "formula", row->formula);
    json_number(j, "numbers", row->numbers);
    json_known(j, "bytes", row->bytes);
    json_string(j, "refusal", row->refusal);
    json_string(j, "reason", row->reason);
    json_end_object(j);
}

static void formats_json(const formats *f, json *j) {
    const sg_matrix_info *m = &f->matrix;
    json_object(j, "matrix");
    json_string(j, "file", f->path);
    json_integer(j, "rows", m->rows);
    json_integer(j, "columns", m->columns);
    json_integer(j, "entries", m->entries);
    json_integer(j, "shortest_row", m->shortest_row);
    json_integer(j, "longest_row", m->longest_row);
    json_integer(j, "empty_rows", m->empty_rows);
    json_number(j, "mean_row", m->mean_row);
    json_number(j, "row_deviation", m->row_deviation);
    json_integer(j, "diagonals", m->diagonals);
    json_integer(j, "bandwidth", m->bandwidth);
    json_bool(j, "symmetric", m->symmetric != 0);
    json_end_object(j);
    json_array(j, "formats");
    for (int i = 0; i < f->count; i++)
        json_format(&f->rows[i], j);
    json_end_array(j);
}

/* ---- methods -------------------------------------------------------------------------------- */

static void add_count(double count, const char *what, const char *after, text *out) {
    text_printf(out, "%.10g %s%s%s", count, what, count == 1 ? "" : "s", after);
}

static bool has_textbook(const sg_explanation *e, const words *w) {
    return !w->is_grid || e->textbook_operations > 0;
}

static void add_head(const sg_explanation *e, int dims, const words *w, text *out) {
    text_printf(out, "%s: %s, %s%s%s%s\n", e->name, e->shape, e->dtype,
                e->boundary[0] != '\0' ? ", " : "", e->boundary,
                e->boundary[0] != '\0' ? " boundary" : "");
    text_add(out, "  textbook ");
    if (has_textbook(e, w)) {
        add_count(e->textbook_operations, "operation", " ", out);
        text_add(out, w->point);
    } else {
        text_add(out, "no count of an update that is not linear");
    }
    if (e->bytes_per_point > 0)
        text_printf(out, "; %.10g bytes %s at least", e->bytes_per_point, w->point);
    if (e->bytes_per_point > 0 && has_textbook(e, w))
        text_printf(out, ": at most %.2f operations a byte",
                    e->textbook_operations / e->bytes_per_point);
    text_add(out, "\n  emitted  ");
    add_count(e->emitted_operations, "operation", " ", out);
    text_add(out, w->point);
    if (w->is_grid) {
        text_add(out, ": ");
        add_count(e->emitted_multiplications, "multiplication", ", ", out);
        add_count(e->emitted_additions, "addition", ", ", out);
        add_count(e->emitted_others, "other", "", out);
    }
    text_printf(out, "\n  planned  for %s (%s), ", e->gpu, e->arch);
    add_extents(out, e->size, dims);
    if (!w->is_grid)
        text_printf(out, " %s", w->points);
    text_add(out, "\n\n");
}

/* The textbook's figure at its tile width T, and the limit as T grows. */
static void add_textbook(const sg_method_row *row, text *out) {
    text cell = new_text();
    if (row->textbook_operations_per_byte > 0)
        text_printf(&cell, "%.2f", row->textbook_operations_per_byte);
    else
        text_add(&cell, "-");
    if (row->textbook_tile > 0)
        text_printf(&cell, " T=%.0f, to %.2f", row->textbook_tile, row->textbook_limit);
    text_printf(out, "%-21s", cell.data);
}

static void add_row(const sg_method_row *row, text *out) {
    text_printf(out, "%c %-11s ", row->chosen ? '*' : ' ', row->method);
    add_textbook(row, out);
    if (row->plan == NULL) {
        text_printf(out, "\n%*s", PLAN_INDENT, "");
        add_wrapped(out, row->refusal, PLAN_INDENT, WIDTH);
        text_add(out, "\n");
        return;
    }
    if (row->operations_per_byte > 0)
        text_printf(out, "%9.2f", row->operations_per_byte);
    else
        text_printf(out, "%9s", "-");
    text_printf(out, " %9.4g %8zu %8d %6d  ", row->loads_bytes_per_point, row->shared_bytes,
                row->threads, row->registers);
    add_seconds(out, row->estimated_seconds);
    text_printf(out, ", %s\n%*s%s\n", row->bound, PLAN_INDENT, "", row->plan);
}

/* Why the model chooses what it does, and what goes before it. */
static void add_reason(const sg_explanation *e, text *out) {
    text_add(out, "\n* ");
    add_wrapped(out, e->reason, 2, WIDTH);
    text_add(out, "\n");
    if (e->tuned == NULL)
        return;
    text tuned = new_text();
    text_printf(&tuned, "a build takes %s instead, %s", e->tuned, e->found);
    text_add(out, "  ");
    add_wrapped(out, tuned.data, 2, WIDTH);
    text_add(out, "\n");
}

static void add_table(const sg_explanation *e, text *out) {
    text_printf(out,
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
static void add_algorithm(const sg_method_row *row, text *out) {
    text_printf(out, "%c %-*s", row->chosen ? '*' : ' ', NAME_WIDTH, row->method);
    text plan = new_text();
    if (row->plan != NULL)
        text_printf(&plan, "%s; %zu bytes shared", row->plan, row->shared_bytes);
    add_wrapped(out, row->plan != NULL ? plan.data : row->refusal, NAME_WIDTH + 2, WIDTH);
    text_add(out, "\n");
    if (row->note == NULL)
        return;
    text_printf(out, "%*s", NAME_WIDTH + 2, "");
    add_wrapped(out, row->note, NAME_WIDTH + 2, WIDTH);
    text_add(out, "\n");
}

static void add_algorithms(const sg_explanation *e, text *out) {
    text_printf(out, "  %-*s%s\n", NAME_WIDTH, "algorithm", "plan, and the textbook's work");
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
    json_integers(j, "size", e->size, dims);
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
    u->info = facts_of(u->kernel);
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
    text out = new_text();
    add_head(u->explanation, u->info.dims, w, &out);
    if (w->is_grid)
        add_table(u->explanation, &out);
    else
        add_algorithms(u->explanation, &out);
    if (u->formats.count > 0)
        formats_text(&u->formats, &out);
    const int code = say(&out);
    return code;
}

static int explain_one(session *s, const char *spec, int index, json *j) {
    subject u = {0};
    int code = find_out(s, spec, index, &u);
    if (code == EXIT_DONE)
        code = show(s, spec, index, &u, j);
    sg_explanation_free(u.explanation);
    sg_matrix_free(u.matrix);
    sg_release(u.kernel);
    return code;
}

int command_explain(const options *o) {
    return session_each(o, explain_one);
}
