/* Products with matrices whose diagonals are compiled in, on the cpu device: by the family's draws
   and verdicts, and the whole way, from a matrix to its kernel, with rows that deviate. */
#include "tests/unit/gen/lists/family_scene.h"

#include <math.h>
#include <unistd.h>

#include "gen/lists/spmv/spmv.h"
#include "tests/unit/group.h"
#include "tests/unit/matrix/stencils.h"

/* ---- draws ----------------------------------------------------------------------------------- */

typedef struct kernel {
    const char *keys, *schedule;
} kernel;

static const kernel kernels[] = {
    {"dtype = 'double', diagonals = { {0, 4}, {-1, -1}, {1, -1}, {-40, -1}, {40, -1} }", NULL},
    {"dtype = 'float', diagonals = { {0, 2}, {-1, -1}, {1, -0.3} }", "threads=32 items=1"},
    {"dtype = 'double', diagonals = { {5, 0.1} }", "stencil threads=64 items=3 ahead=2"},
    {"dtype = 'double', diagonals = { {-9, 1}, {-7, 2} }", "threads=96 items=7"},
    {"dtype = 'double', matrix = 'float', diagonals = { {-2, 0.1}, {0, 0.7} }", "threads=64"},
    {"dtype = 'float', index = 'int64', diagonals = { {0, 1}, {33, 1} }", "threads=64 items=2"},
    {"dtype = 'double', vectors = 3, diagonals = { {0, 1}, {-31, -1} }", "threads=64 items=2"},
    {"dtype = 'float', diagonals = { {0, 1}, {1000000, 2} }", "threads=64 items=2"},
    {"dtype = 'double', diagonals = { {0, 4}, {-1, -1}, {1, -1}, {-256, -1}, {256, -1} }", NULL},
    {"dtype = 'float', diagonals = { {0, 4}, {-1, -1}, {1, -1}, {-99, -1}, {99, -1} }",
     "apart=96 threads=64 items=2"},
    {"dtype = 'float', diagonals = { {0, 4}, {2, -1} }", "apart=64 threads=96 items=3"},
};

static const char *spmv_text(const char *more) {
    static char text[512];
    snprintf(text, sizeof text, "return spmv { name = 's', %s }", more);
    return text;
}

static void draws_are_right(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 3, 31, 33, 64, 257, 1000, 5000};
    uint64_t seed = 1;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        scene s;
        scene_open(&s, spmv_text(kernels[k].keys), kernels[k].schedule);
        assert_true(strncmp(s.made->plan, "stencil ", 8) == 0);
        for (int kind = 0; spmv_kinds[kind] != NULL; kind++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++, seed++) {
                const family_verdict v =
                    scene_draw(&s, sizes[i], 1, kind, (int)(seed % 3), false, seed);
                if (kind != SPMV_WILD)
                    assert_int_equal(v.undecidable, 0);
            }
        scene_draw(&s, 60000, 1, (int)k, 1, false, seed++);
        scene_close(&s);
    }
}

/* ---- the whole way --------------------------------------------------------------------------- */

static sg_matrix *matrix_of(job *j, const grid_matrix *g, matrix *entries) {
    sg_matrix *m = NULL;
    *entries = grid_draw(j, g);
    expect_ok(sg_matrix_from(context, entries->rows, entries->columns, entries->entries,
                             entries->row, entries->column, entries->value, &m));
    return m;
}

static sg_kernel *build_for(const sg_matrix *m, const char *keys) {
    char text[256];
    snprintf(text, sizeof text, "return spmv { name = 'p', dtype = 'double'%s }", keys);
    const sg_build_options options = {.struct_size = sizeof options, .text = text, .matrix = m};
    sg_kernel *k = NULL;
    expect_ok(sg_build(context, "p.lua", &options, &k));
    return k;
}

/* Whole numbers, so that sums are exact; NaN at every eleventh place. */
static double x_at(int64_t i) {
    return i % 11 == 4 ? (double)NAN : (double)(scramble(3, (uint64_t)i) % 64) - 32;
}

static sg_status multiply(const sg_kernel *k, const sg_device_matrix *d, const double *x, double *y,
                          double beta) {
    sg_spmv_arguments a = {
        .struct_size = sizeof a, .matrix = d, .x = x, .y = y, .alpha = 2, .beta = beta};
    sg_status status = sg_spmv_bytes(k, d, 1, &a.temporary_bytes);
    if (status != SG_OK)
        return status;
    expect_ok(sg_alloc(context, a.temporary_bytes, &a.temporary));
    status = sg_spmv(k, &a, NULL);
    if (status == SG_OK)
        status = sg_synchronize(context, NULL);
    sg_free(context, a.temporary);
    return status;
}

/* On the cpu device memory of the host will do. */
static void expect_product(const sg_kernel *k, const sg_device_matrix *d, const matrix *m,
                           double beta) {
    double *x = calloc((size_t)m->columns, sizeof *x), *y = calloc((size_t)m->rows, sizeof *y);
    double *wanted = calloc((size_t)m->rows, sizeof *wanted);
    for (int64_t i = 0; i < m->columns; i++)
        x[i] = x_at(i);
    for (int64_t i = 0; i < m->rows; i++)
        y[i] = beta == 0 ? (double)NAN : (double)(i % 5);
    for (int64_t e = 0; e < m->entries; e++)
        wanted[m->row[e]] += m->value[e] * x[m->column[e]];
    expect_ok(multiply(k, d, x, y, beta));
    for (int64_t i = 0; i < m->rows; i++) {
        const double sum = 2 * wanted[i] + (beta == 0 ? 0 : beta * (double)(i % 5));
        if (isnan(sum) ? !isnan(y[i]) : y[i] != sum)
            fail_msg("y[%d] is %g instead of %g, %s", (int)i, y[i], sum,
                     sg_kernel_text(k, SG_TEXT_PLAN));
    }
    free(x);
    free(y);
    free(wanted);
}

typedef struct grid_case {
    grid_matrix grid;
    const char *keys;
    const char *plan;
} grid_case;

static const grid_case cases[] = {
    {{.nx = 1, .ny = 1, .nz = 1}, ", format = 'stencil'", "stencil "},
    {{.nx = 3, .ny = 1, .nz = 1}, ", format = 'stencil'", "stencil "},
    {{.nx = 1001, .ny = 1, .nz = 1}, "", "stencil "},
    {{.nx = 63, .ny = 65, .nz = 1}, "", "stencil "},
    {{.nx = 61, .ny = 43, .nz = 1, .spoiled = 40}, "", "stencil "},
    {{.nx = 61, .ny = 43, .nz = 1, .spoiled = 40}, ", format = 'csr'", "csr "},
    {{.nx = 13, .ny = 17, .nz = 11}, "", "stencil "},
    {{.nx = 256, .ny = 40, .nz = 1, .spoiled = 50}, "", "stencil threads=128 items=4 apart=256"},
    {{.nx = 1031, .ny = 19, .nz = 1}, "", "stencil threads=128 items=4 apart=1024"},
    {{.nx = 13, .ny = 17, .nz = 11, .spoiled = 30}, "", "stencil "},
    {{.nx = 13, .ny = 17, .nz = 11, .spoiled = 4}, ", format = 'stencil'", "stencil "},
    {{.nx = 100, .ny = 31, .nz = 1, .periodic = true}, "", "stencil "},
};

static void multiply_grid(job *j, void *argument) {
    const grid_case *c = argument;
    matrix entries;
    sg_matrix *m = matrix_of(j, &c->grid, &entries);
    sg_kernel *k = build_for(m, c->keys);
    sg_device_matrix *d = NULL;
    if (strncmp(sg_kernel_text(k, SG_TEXT_PLAN), c->plan, strlen(c->plan)) != 0)
        fail_msg("%s instead of %s", sg_kernel_text(k, SG_TEXT_PLAN), c->plan);
    expect_ok(sg_matrix_upload(m, k, &d));
    expect_product(k, d, &entries, 0);
    expect_product(k, d, &entries, -1);
    sg_device_matrix_free(d);
    sg_release(k);
    sg_matrix_free(m);
}

static void run(void (*body)(job *, void *), void *argument) {
    job *j;
    if (job_run(&allocator_libc, body, argument, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

static void grids_are_multiplied(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        grid_case c = cases[i];
        run(multiply_grid, &c);
    }
}

/* ---- whose matrix it is ---------------------------------------------------------------------- */

/* A kernel takes matrices whose rows are mostly those that it has compiled in, and no others; what
   was brought for one kernel is refused by another with other diagonals. */
static void change_matrix(job *j, void *argument) {
    (void)argument;
    const grid_matrix g = {.nx = 40, .ny = 40, .nz = 1},
                      spoiled = {.nx = 40, .ny = 40, .nz = 1, .spoiled = 50};
    const grid_matrix wider = {.nx = 41, .ny = 40, .nz = 1};
    matrix entries, others, wide;
    sg_matrix *m = matrix_of(j, &g, &entries), *like = matrix_of(j, &spoiled, &others);
    sg_matrix *unlike = matrix_of(j, &wider, &wide);
    sg_kernel *k = build_for(m, ""), *second = build_for(unlike, "");
    sg_device_matrix *d = NULL, *none = NULL, *e = NULL;
    double x[41 * 40] = {0}, y[41 * 40];
    expect_ok(sg_matrix_upload(like, k, &d));
    expect_product(k, d, &others, 0);
    assert_int_equal(sg_matrix_upload(unlike, k, &none), SG_ERROR_PLAN);
    assert_null(none);
    assert_non_null(strstr(sg_error(context), "rows have other entries than those of the stencil"));
    expect_ok(sg_matrix_upload(unlike, second, &e));
    expect_product(second, e, &wide, 0);
    assert_int_equal(multiply(k, e, x, y, 0), SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(context), "other diagonals compiled in than 'p'"));
    for (int i = 0; i < 40 * 40; i++) /* another value everywhere on one diagonal */
        expect_ok(sg_matrix_set(m, i, i, 5.5));
    assert_int_equal(sg_matrix_upload(m, k, &none), SG_ERROR_PLAN);
    sg_kernel *third = build_for(m, "");
    sg_device_matrix_free(e);
    expect_ok(sg_matrix_upload(m, third, &e));
    assert_int_equal(multiply(k, e, x, y, 0), SG_ERROR_USAGE);
    sg_device_matrix_free(d);
    sg_device_matrix_free(e);
    sg_release(k);
    sg_release(second);
    sg_release(third);
    sg_matrix_free(m);
    sg_matrix_free(like);
    sg_matrix_free(unlike);
}

static void other_matrices_are_refused(void **state) {
    (void)state;
    run(change_matrix, NULL);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void save_and_load(job *j, void *argument) {
    (void)argument;
    const grid_matrix g = {.nx = 30, .ny = 30, .nz = 1, .spoiled = 60};
    const char *folder = getenv("TMPDIR");
    const char *path =
        job_print(j, "%s/stencil-%d.kernel", folder != NULL ? folder : "/tmp", (int)getpid());
    matrix entries;
    sg_matrix *m = matrix_of(j, &g, &entries);
    sg_kernel *k = build_for(m, ""), *again = NULL;
    expect_ok(sg_save(k, path, NULL));
    expect_ok(sg_load(context, path, &again));
    remove(path);
    sg_device_matrix *d = NULL;
    expect_ok(sg_matrix_upload(m, k, &d));
    expect_product(again, d, &entries, 0); /* the same diagonals */
    sg_device_matrix_free(d);
    expect_ok(sg_matrix_upload(m, again, &d));
    expect_product(k, d, &entries, 1);
    sg_device_matrix_free(d);
    sg_release(k);
    sg_release(again);
    sg_matrix_free(m);
}

static void files_keep_the_diagonals(void **state) {
    (void)state;
    run(save_and_load, NULL);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refuses(const char *keys, const char *schedule, sg_status status, const char *reason) {
    sg_kernel *k = NULL;
    const sg_build_options options = {
        .struct_size = sizeof options, .text = spmv_text(keys), .schedule = schedule};
    assert_int_equal(sg_build(context, "p.lua", &options, &k), status);
    if (strstr(sg_error(context), reason) == NULL)
        fail_msg("'%s' is not in '%s'", reason, sg_error(context));
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    refuses("format = 'stencil'", NULL, SG_ERROR_PLAN,
            "format stencil: what most rows have is compiled in: it is built for a matrix, or for "
            "the diagonals that a spec lists");
    refuses("diagonals = { {0, 1} }", "stencil warp", SG_ERROR_PLAN,
            "format stencil: the algorithm warp is for csr and bcsr");
    refuses("diagonals = {}", NULL, SG_ERROR_SPEC, "diagonals: there must be 1 to 31");
    refuses("diagonals = { {0} }", NULL, SG_ERROR_SPEC, "expected {column - row, value}");
    refuses("diagonals = { {0.5, 1} }", NULL, SG_ERROR_SPEC, "is a whole number of at most 2^53");
    refuses("diagonals = { {3, 1}, {0, 2}, {3, 4} }", NULL, SG_ERROR_SPEC,
            "there are two of column - row = 3");
    refuses("diagonals = { {0, 1e39} }", NULL, SG_ERROR_SPEC, "too large for a float");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(draws_are_right),
    cmocka_unit_test(grids_are_multiplied),
    cmocka_unit_test(other_matrices_are_refused),
    cmocka_unit_test(files_keep_the_diagonals),
    cmocka_unit_test(what_cannot_be_is_refused),
};

TEST_GROUP(spmv_stencil, open_cpu, close_context)
