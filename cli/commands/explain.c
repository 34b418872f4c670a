/* explain: what each method would cost, and with a matrix what each format would store. Takes:
   specs. Makes: a table for each kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session.h"

enum { PLAN_INDENT = 14, NAME_WIDTH = 17 };

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
    const int code = session_code(s, sg_matrix_facts(matrix, &f->matrix));
    if (code != EXIT_DONE)
        return code;
    add_dense(f);
    return session_code(s, sg_matrix_formats(matrix, kernel, keep_row, f));
}

static void add_matrix(const formats *f, text *out) {
    const sg_matrix_info *m = &f->matrix;
    text_printf(out,
                "\n  matrix   %s: M = %s, N = %s, nnz = %s%s\n           rows of %" PRId64
                " to K = %s, %.3g on average (deviation %.3g), %" PRId64
                " empty; %s, bandwidth %" PRId64 "\n\n",
                f->path, counted(m->rows, "row"), counted(m->columns, "column"),
                counted(m->entries, "entry"), m->symmetric ? ", symmetric" : "", m->shortest_row,
                counted(m->longest_row, "entry"), m->mean_row, m->row_deviation, m->empty_rows,
                counted(m->diagonals, "diagonal"), m->bandwidth);
}

/* The formulas have letters of several bytes; printf would count bytes. */
static int padding(const char *string, int width) {
    for (const char *at = string; *at != '\0'; at++)
        width -= ((unsigned char)*at & 0xC0) != 0x80;
    return width > 0 ? width : 0;
}

static void formats_text(const formats *f, text *out) {
    add_matrix(f, out);
    text_printf(out, "  %-7s %-*s %12s  stored here\n", "format", FORMULA_WIDTH,
                "the textbook's numbers", "");
    for (int i = 0; i < f->count; i++) {
        const sg_format_info *row = &f->rows[i];
        text_printf(out, "%c %-7s %s%*s %12.10g  %s\n", row->chosen ? '*' : ' ', row->format,
                    row->formula, padding(row->formula, FORMULA_WIDTH), "", row->numbers,
                    row->bytes >= 0 ? in_bytes((double)row->bytes) : "beyond counting");
        if (row->refusal != NULL)
            add_wrapped(out, NULL, FORMAT_INDENT, row->refusal);
    }
    for (int i = 0; i < f->count; i++)
        if (f->rows[i].chosen && f->rows[i].reason != NULL)
            add_wrapped(out, "\n* ", 2, f->rows[i].reason);
}

static void formats_json(const formats *f, json *j) {
    const sg_matrix_info *m = &f->matrix;
    json_add(j,
             "matrix { file %s rows %" PRId64 " columns %" PRId64 " entries %" PRId64
             " shortest_row %" PRId64 " longest_row %" PRId64 " empty_rows %" PRId64
             " mean_row %g row_deviation %g diagonals %" PRId64 " bandwidth %" PRId64
             " symmetric %i } formats [",
             f->path, m->rows, m->columns, m->entries, m->shortest_row, m->longest_row,
             m->empty_rows, m->mean_row, m->row_deviation, m->diagonals, m->bandwidth,
             m->symmetric);
    for (int i = 0; i < f->count; i++) {
        const sg_format_info *row = &f->rows[i];
        json_add(j,
                 "{ format %s chosen %i formula %s numbers %g bytes %+" PRId64
                 " refusal %s reason %s }",
                 row->format, row->chosen, row->formula, row->numbers, row->bytes, row->refusal,
                 row->reason);
    }
    json_add(j, "]");
}

/* ---- methods -------------------------------------------------------------------------------- */

static const char *count_of(double count, const char *what) {
    return phrase("%.10g %s%s", count, what, count == 1 ? "" : "s");
}

static bool has_textbook(const sg_explanation *e, const words *w) {
    return !w->is_grid || e->textbook_operations > 0;
}

static void add_head(const sg_explanation *e, int dims, const words *w, text *out) {
    text_printf(out, "%s: %s, %s%s%s%s\n  textbook ", e->name, e->shape, e->dtype,
                e->boundary[0] != '\0' ? ", " : "", e->boundary,
                e->boundary[0] != '\0' ? " boundary" : "");
    if (has_textbook(e, w))
        text_printf(out, "%s %s", count_of(e->textbook_operations, "operation"), w->point);
    else
        text_add(out, "no count of an update that is not linear");
    if (e->bytes_per_point > 0)
        text_printf(out, "; %.10g bytes %s at least", e->bytes_per_point, w->point);
    if (e->bytes_per_point > 0 && has_textbook(e, w))
        text_printf(out, ": at most %.2f operations a byte",
                    e->textbook_operations / e->bytes_per_point);
    text_printf(out, "\n  emitted  %s %s", count_of(e->emitted_operations, "operation"), w->point);
    if (w->is_grid)
        text_printf(out, ": %s, %s, %s", count_of(e->emitted_multiplications, "multiplication"),
                    count_of(e->emitted_additions, "addition"),
                    count_of(e->emitted_others, "other"));
    text_printf(out, "\n  planned  for %s (%s), %s\n", e->gpu, e->arch,
                size_text(w, e->size, dims));
    if (e->memory != NULL)
        add_wrapped(out, "  memory   ", 11, e->memory);
    text_add(out, "\n");
}

/* A figure, or "-" where there is none. */
static const char *figure(double number) {
    return number > 0 ? phrase("%.2f", number) : "-";
}

static void add_row(const sg_method_row *row, text *out) {
    const char *cell = figure(row->textbook_operations_per_byte);
    /* The textbook's figure at its tile width T, and the limit as T grows. */
    if (row->textbook_tile > 0)
        cell = phrase("%s T=%.0f, to %.2f", cell, row->textbook_tile, row->textbook_limit);
    text_printf(out, "%c %-11s %-21s", row->chosen ? '*' : ' ', row->method, cell);
    if (row->plan == NULL)
        add_wrapped(out, phrase("\n%*s", PLAN_INDENT, ""), PLAN_INDENT, row->refusal);
    else
        text_printf(out, "%9s %9.4g %8zu %8d %6d  %s, %s\n%*s%s\n",
                    figure(row->operations_per_byte), row->loads_bytes_per_point, row->shared_bytes,
                    row->threads, row->registers, in_seconds(row->estimated_seconds), row->bound,
                    PLAN_INDENT, "", row->plan);
}

static void add_table(const sg_explanation *e, text *out) {
    text_printf(out,
                "              textbook's           this plan's    loaded   shared  threads "
                "  regs  estimate for %s,\n"
                "  method      operations a byte     op/byte  B/point   B/block   /block "
                "/thread  limited by\n",
                e->gpu);
    for (int i = 0; i < e->row_count; i++)
        add_row(&e->rows[i], out);
}

/* Algorithms of lists: the plan of each, and the textbook's count of its work. */
static void add_algorithms(const sg_explanation *e, text *out) {
    enum { INDENT = NAME_WIDTH + 2 };
    text_printf(out, "  %-*s%s\n", NAME_WIDTH, "algorithm", "plan, and the textbook's work");
    for (int i = 0; i < e->row_count; i++) {
        const sg_method_row *row = &e->rows[i];
        add_wrapped(
            out, phrase("%c %-*s", row->chosen ? '*' : ' ', NAME_WIDTH, row->method), INDENT,
            row->plan == NULL ? row->refusal
                              : phrase("%s; %zu bytes shared", row->plan, row->shared_bytes));
        if (row->note != NULL)
            add_wrapped(out, NULL, INDENT, row->note);
    }
}

static void json_explanation(const sg_explanation *e, int dims, const words *w, json *j) {
    json_add(j, "name %s shape %s dtype %s boundary %s points %d textbook_operations %g", e->name,
             e->shape, e->dtype, e->boundary[0] != '\0' ? e->boundary : NULL, e->points,
             has_textbook(e, w) ? e->textbook_operations : (double)NAN);
    json_add(j,
             "emitted_operations %g emitted_multiplications %g emitted_additions %g "
             "emitted_others %g bytes_per_point %g arch %s gpu %s",
             e->emitted_operations, e->emitted_multiplications, e->emitted_additions,
             e->emitted_others, e->bytes_per_point, e->arch, e->gpu);
    json_integers(j, "size", e->size, dims);
    json_add(j, "memory %s reason %s tuned %s found %s methods [", e->memory, e->reason, e->tuned,
             e->tuned != NULL ? e->found : NULL);
    for (int i = 0; i < e->row_count; i++) {
        const sg_method_row *row = &e->rows[i];
        json_add(j,
                 "{ method %s chosen %i textbook_tile %g textbook_operations_per_byte %g "
                 "textbook_limit %g plan %s refusal %s note %s",
                 row->method, row->chosen, row->textbook_tile, row->textbook_operations_per_byte,
                 row->textbook_limit, row->plan, row->refusal, row->note);
        if (row->plan != NULL)
            json_add(j,
                     "operations_per_byte %g loads_bytes_per_point %g shared_bytes %zu threads %d "
                     "registers %d estimated_seconds %g bound %s",
                     row->operations_per_byte, row->loads_bytes_per_point, row->shared_bytes,
                     row->threads, row->registers, row->estimated_seconds, row->bound);
        json_add(j, "}");
    }
    json_add(j, "]");
}

/* What explain finds out about one spec. */
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
    sg_build_options how = session_build_options(s, index);
    sg_build_options plain = session_plain_options(s, index);
    const bool has_matrix = s->options->inputs.count > 0;
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
    return session_code(s, sg_explain(s->context, spec, &how, &u->explanation));
}

/* The plan's options are those of find_out for a spec without a matrix. */
static int show_ranks(session *s, const char *spec, int index, const subject *u, json *j,
                      text *out) {
    const sg_build_options how = session_build_options(s, index);
    return s->options->rank_axes > 0 ? explain_team(s, spec, &how, u->info.dims, j, out)
                                     : EXIT_DONE;
}

static int show(session *s, const char *spec, int index, const subject *u, json *j) {
    const sg_explanation *e = u->explanation;
    const words *w = words_of(u->kernel);
    if (s->options->json) {
        json_add(j, "family %s", sg_kernel_text(u->kernel, SG_TEXT_FAMILY));
        json_explanation(e, u->info.dims, w, j);
        if (u->formats.count > 0)
            formats_json(&u->formats, j);
        return show_ranks(s, spec, index, u, j, NULL);
    }
    text out = new_text();
    add_head(e, u->info.dims, w, &out);
    if (w->is_grid)
        add_table(e, &out);
    else
        add_algorithms(e, &out);
    /* The model's reason, and the measured plan that builds prefer. */
    add_wrapped(&out, "\n* ", 2, e->reason);
    if (e->tuned != NULL)
        add_wrapped(&out, "  ", 2, phrase("a build takes %s instead, %s", e->tuned, e->found));
    if (u->formats.count > 0)
        formats_text(&u->formats, &out);
    const int code = show_ranks(s, spec, index, u, j, &out);
    return code == EXIT_DONE ? say(&out) : code;
}

static int explain_one(session *s, const char *spec, int index, json *j, void *unused) {
    (void)unused;
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
    return session_each(o, false, explain_one, NULL);
}
