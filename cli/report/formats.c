/* The storage formats of a sparse matrix. */
#include "cli/report/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, FORMULA_WIDTH = 36, INDENT = 10 };

/* ---- collecting ------------------------------------------------------------------------------ */

static format_row *add_row(formats *f) {
    format_row *rows = new_array((size_t)f->count + 1, sizeof *rows);
    if (f->count > 0)
        memcpy(rows, f->rows, (size_t)f->count * sizeof *rows);
    f->rows = rows;
    return &rows[f->count++];
}

static void collect(void *user, const sg_format_info *info) {
    *add_row(user) = (format_row){.format = new_copy(info->format),
                                  .formula = new_copy(info->formula),
                                  .refusal = new_copy(info->refusal),
                                  .reason = new_copy(info->reason),
                                  .numbers = info->numbers,
                                  .bytes = info->bytes,
                                  .chosen = info->chosen != 0};
}

/* What all formats save: not one of them, but what they are compared with. */
static void add_dense(formats *f) {
    const double numbers = (double)f->matrix.rows * (double)f->matrix.columns;
    const double bytes = numbers * (double)f->value_bytes;
    *add_row(f) = (format_row){.format = new_copy("dense"),
                               .formula = new_copy("M·N"),
                               .refusal = new_copy("no sparse format; for comparison"),
                               .numbers = numbers,
                               .bytes = bytes < 9.2e18 ? (int64_t)bytes : -1};
}

int formats_collect(session *s, const char *path, const sg_matrix *matrix, const sg_kernel *kernel,
                    formats *f) {
    *f = (formats){.path = path, .matrix = {.struct_size = sizeof f->matrix}};
    f->value_bytes = strcmp(sg_kernel_text(kernel, SG_TEXT_DTYPE), "float") == 0 ? 4 : 8;
    sg_status status = sg_matrix_facts(matrix, &f->matrix);
    if (status == SG_OK) {
        add_dense(f);
        status = sg_matrix_formats(matrix, kernel, collect, f);
    }
    return status == SG_OK ? EXIT_DONE : session_failed(s, status);
}

/* ---- text ------------------------------------------------------------------------------------ */

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

static void add_format(const format_row *row, text *out) {
    text_printf(out, "%c %-7s ", row->chosen ? '*' : ' ', row->format);
    add_padded(out, row->formula, FORMULA_WIDTH);
    text_printf(out, " %12.10g  ", row->numbers);
    if (row->bytes >= 0)
        add_bytes(out, (double)row->bytes);
    else
        text_add(out, "beyond counting");
    text_add(out, "\n");
    if (row->refusal != NULL) {
        text_printf(out, "%*s", INDENT, "");
        add_wrapped(out, row->refusal, INDENT, WIDTH);
        text_add(out, "\n");
    }
}

void formats_text(const formats *f, text *out) {
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

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_format(const format_row *row, json *j) {
    json_object(j, NULL);
    json_string(j, "format", row->format);
    json_bool(j, "chosen", row->chosen);
    json_string(j, "formula", row->formula);
    json_number(j, "numbers", row->numbers);
    if (row->bytes >= 0)
        json_integer(j, "bytes", row->bytes);
    else
        json_null(j, "bytes");
    json_string(j, "refusal", row->refusal);
    json_string(j, "reason", row->reason);
    json_end_object(j);
}

void formats_json(const formats *f, json *j) {
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
