/* From file to result on the cpu device: real matrices, in every format, times vectors that hold
   NaNs where the matrix has no entry, against sums in double. */
#include <math.h>
#include <stdbool.h>

#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

typedef struct problem {
    sg_matrix *matrix;
    sg_matrix_info info;
    int64_t *row, *column;
    double *value;
    int vectors;
    double *x, *y, *wanted, *bound; /* bound: the sum of magnitudes */
} problem;

static double draw(int64_t i) {
    return (double)((uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40) / (1 << 23) - 1;
}

static void solve(problem *p, double alpha, double beta) {
    const int64_t rows = p->info.rows, columns = p->info.columns;
    for (int v = 0; v < p->vectors; v++) {
        for (int64_t i = 0; i < columns; i++)
            p->x[v * columns + i] = NAN;
        for (int64_t e = 0; e < p->info.entries; e++)
            p->x[v * columns + p->column[e]] = (float)draw(v * columns + p->column[e]);
        for (int64_t r = 0; r < rows; r++) {
            p->y[v * rows + r] = beta == 0 ? NAN : (float)draw(-r - v);
            p->wanted[v * rows + r] = beta == 0 ? 0 : beta * p->y[v * rows + r];
            p->bound[v * rows + r] = fabs(p->wanted[v * rows + r]);
        }
        for (int64_t e = 0; e < p->info.entries; e++) {
            const double term = alpha * p->value[e] * p->x[v * columns + p->column[e]];
            p->wanted[v * rows + p->row[e]] += term;
            p->bound[v * rows + p->row[e]] += fabs(term);
        }
    }
}

static void open_problem(problem *p, const char *path) {
    *p = (problem){.info = {.struct_size = sizeof p->info}, .vectors = 2};
    expect_ok(sg_matrix_read(context, path, &p->matrix));
    expect_ok(sg_matrix_facts(p->matrix, &p->info));
    const size_t n = (size_t)p->info.entries, rows = 2 * (size_t)p->info.rows;
    p->row = calloc(n, sizeof *p->row);
    p->column = calloc(n, sizeof *p->column);
    p->value = calloc(n, sizeof *p->value);
    expect_ok(sg_matrix_entries(p->matrix, p->row, p->column, p->value));
    p->x = calloc(2 * (size_t)p->info.columns, sizeof *p->x);
    p->y = calloc(rows, sizeof *p->y);
    p->wanted = calloc(rows, sizeof *p->wanted);
    p->bound = calloc(rows, sizeof *p->bound);
}

static void close_problem(problem *p) {
    sg_matrix_free(p->matrix);
    void *lists[] = {p->row, p->column, p->value, p->x, p->y, p->wanted, p->bound};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        free(lists[i]);
}

/* On the cpu device, memory of the host will do. */
static void multiply(problem *p, const sg_kernel *k, const sg_device_matrix *m, double alpha,
                     double beta, double accuracy, const char *what) {
    sg_spmv_arguments a = {.struct_size = sizeof a,
                           .matrix = m,
                           .x = p->x,
                           .y = p->y,
                           .vectors = p->vectors,
                           .alpha = alpha,
                           .beta = beta};
    solve(p, alpha, beta);
    expect_ok(sg_spmv_bytes(k, m, p->vectors, &a.temporary_bytes));
    expect_ok(sg_alloc(context, a.temporary_bytes, &a.temporary));
    expect_ok(sg_spmv(k, &a, NULL));
    expect_ok(sg_synchronize(context, NULL));
    sg_free(context, a.temporary);
    for (int64_t i = 0; i < p->vectors * p->info.rows; i++)
        if (!(fabs(p->y[i] - p->wanted[i]) <= accuracy * p->bound[i]))
            fail_msg("%s: y[%lld] is %.17g instead of %.17g", what, (long long)i, p->y[i],
                     p->wanted[i]);
}

typedef struct way {
    const char *format, *options;
    int vectors;
    bool rounded; /* values to floats */
} way;

static const way ways[] = {
    {"coo", "", 1, false},
    {"csr", "", 1, false},
    {"csr", ", algorithm = \"thread\"", 1, false},
    {"csr", ", algorithm = \"warp\"", 1, false},
    {"csc", "", 1, false},
    {"ell", "", 1, false},
    {"hyb", "", 1, false},
    {"jds", "", 1, false},
    {"dia", "", 1, false},
    {"bcsr", "", 1, false},
    {"bcsr", ", algorithm = \"thread\"", 1, false},
    {"pkt", "", 1, false},
    {"sell", "", 1, false},
    {"csr", ", matrix = \"float\", index = \"int64\", vectors = 2", 2, true},
    {"sell", ", matrix = \"float\", index = \"int64\", vectors = 2", 2, true},
    {"auto", "", 1, false},
};

static const char *const files[] = {"tests/data/mtx/1138_bus.mtx", "tests/data/mtx/arrow.mtx",
                                    "tests/data/mtx/rajat01.mtx"};
enum { FILES = sizeof files / sizeof files[0] };

static bool is_large(const char *format, int file) {
    return file > 0 && (strcmp(format, "ell") == 0 || strcmp(format, "dia") == 0);
}

static void every_format_multiplies(void **state) {
    (void)state;
    problem problems[FILES];
    for (int f = 0; f < FILES; f++)
        open_problem(&problems[f], files[f]);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        char text[256];
        snprintf(text, sizeof text,
                 "return spmv { name = \"product\", dtype = \"double\", format = \"%s\"%s }",
                 ways[w].format, ways[w].options);
        sg_kernel *k = build(text, NULL);
        for (int f = 0; f < FILES; f++) {
            problem *p = &problems[f];
            sg_device_matrix *m = NULL;
            if (is_large(ways[w].format, f)) /* gigabytes, or tens of them */
                continue;
            p->vectors = ways[w].vectors;
            expect_ok(sg_matrix_upload(p->matrix, k, &m));
            const double accuracy = ways[w].rounded ? 1e-7 : 1e-13;
            multiply(p, k, m, 1, 0, accuracy, ways[w].format);
            multiply(p, k, m, -2.5, 0.5, accuracy, ways[w].format);
            multiply(p, k, m, 0, 3, accuracy, ways[w].format);
            sg_device_matrix_free(m);
        }
        sg_release(k);
    }
    for (int f = 0; f < FILES; f++)
        close_problem(&problems[f]);
}

/* `auto` chooses by the matrix that a kernel is built for, and the kernel serves others too. For a
   processor it is csr, also where a GPU's is dia. */
static void built_for_a_matrix(void **state) {
    (void)state;
    enum { N = 1000 };
    problem p;
    sg_matrix *band;
    open_problem(&p, files[0]);
    p.vectors = 1;
    expect_ok(sg_matrix_new(context, N, N, &band));
    for (int i = 0; i < 3 * N - 2; i++)
        expect_ok(sg_matrix_set(band, (i + 1) / 3, i / 3 + (i % 3 == 1), 1 + i));
    const struct {
        const sg_matrix *matrix;
        const char *arch, *plan;
    } cases[] = {{p.matrix, "sm_90", "csr g"}, {band, "sm_90", "dia t"}, {NULL, "sm_90", "csr b"},
                 {p.matrix, NULL, "csr runs"}, {band, NULL, "csr runs"}, {NULL, NULL, "csr runs"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sg_build_options options = {.struct_size = sizeof options,
                                          .text =
                                              "return spmv { name = \"p\", dtype = \"double\" }",
                                          .arch = cases[i].arch,
                                          .matrix = cases[i].matrix};
        sg_kernel *k = NULL;
        sg_device_matrix *m = NULL;
        expect_ok(sg_build(context, "p.lua", &options, &k));
        const char *plan = sg_kernel_text(k, SG_TEXT_PLAN);
        if (strncmp(plan, cases[i].plan, strlen(cases[i].plan)) != 0)
            fail_msg("'%s' for %s", plan, cases[i].plan);
        expect_ok(sg_matrix_upload(p.matrix, k, &m));
        multiply(&p, k, m, 1, 0, 1e-13, plan);
        sg_device_matrix_free(m);
        sg_release(k);
    }
    sg_matrix_free(band);
    close_problem(&p);
}

static void too_large_formats_are_refused(void **state) {
    (void)state;
    problem p;
    open_problem(&p, files[1]);
    sg_kernel *k = build("return spmv { name = \"p\", dtype = \"float\", format = \"ell\" }", NULL);
    sg_device_matrix *m = NULL;
    assert_int_equal(sg_matrix_upload(p.matrix, k, &m), SG_ERROR_PLAN);
    assert_non_null(strstr(sg_error(context), "ell would need 17298000000 bytes, more than 16"));
    assert_null(m);
    sg_release(k);
    close_problem(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_format_multiplies),
    cmocka_unit_test(built_for_a_matrix),
    cmocka_unit_test(too_large_formats_are_refused),
};

TEST_GROUP(products, open_cpu, close_context)
