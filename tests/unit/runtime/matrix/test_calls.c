/* sg_matrix_*: matrices made, changed, looked at, written and read, on a context without a device;
   what is refused, and memory that runs out. */
#include "tests/unit/scratch_folder.h"

#include <math.h>
#include <pthread.h>

#include "tests/unit/group.h"
#include "tests/unit/miser.h"
#include "tests/unit/runtime/api/api.h"

static int open_none(void **state) {
    const sg_options options = {.struct_size = sizeof options, .device = "none"};
    return scratch_enter(state) != 0 || sg_open(&context, &options) != SG_OK;
}

static int close_none(void **state) {
    sg_close(context);
    return scratch_leave(state);
}

static void expect_error(sg_status status, sg_status wanted, const char *part) {
    assert_int_equal(status, wanted);
    if (strstr(sg_error(context), part) == NULL)
        fail_msg("'%s' is not in '%s'", part, sg_error(context));
}

/* ---- making and changing --------------------------------------------------------------------- */

static void expect_entries(const sg_matrix *m, int count, const int64_t (*places)[2],
                           const double *values) {
    sg_matrix_info info = {.struct_size = sizeof info};
    int64_t row[16], column[16];
    double value[16];
    expect_ok(sg_matrix_facts(m, &info));
    assert_int_equal(info.entries, count);
    expect_ok(sg_matrix_entries(m, row, column, value));
    for (int i = 0; i < count; i++) {
        assert_int_equal(row[i], places[i][0]);
        assert_int_equal(column[i], places[i][1]);
        assert_true(value[i] == values[i]);
    }
}

static void matrices_are_changed(void **state) {
    (void)state;
    sg_matrix *m;
    double value;
    expect_ok(sg_matrix_new(context, 3, 5, &m));
    expect_entries(m, 0, NULL, NULL);
    expect_ok(sg_matrix_set(m, 2, 4, 1.5));
    expect_ok(sg_matrix_add(m, 0, 1, 2));
    expect_ok(sg_matrix_add(m, 2, 4, 0.25));
    expect_ok(sg_matrix_get(m, 2, 4, &value));
    assert_true(value == 1.75);
    expect_entries(m, 2, (const int64_t[][2]){{0, 1}, {2, 4}}, (const double[]){2, 1.75});
    expect_ok(sg_matrix_set(m, 0, 1, 0)); /* settled, and an entry still */
    expect_ok(sg_matrix_add(m, 1, 0, -3));
    expect_entries(m, 3, (const int64_t[][2]){{0, 1}, {1, 0}, {2, 4}},
                   (const double[]){0, -3, 1.75});
    expect_ok(sg_matrix_get(m, 1, 1, &value));
    assert_true(value == 0);
    expect_ok(sg_matrix_entries(m, NULL, NULL, NULL));
    expect_error(sg_matrix_set(m, 3, 0, 1), SG_ERROR_USAGE,
                 "row 3, column 0 is outside of a matrix of 3 x 5");
    expect_error(sg_matrix_add(m, 0, -1, 1), SG_ERROR_USAGE, "row 0, column -1 is outside");
    value = 7;
    expect_error(sg_matrix_get(m, 0, 5, &value), SG_ERROR_USAGE, "row 0, column 5 is outside");
    assert_true(value == 7);
    sg_matrix_free(m);
    sg_matrix_free(NULL);
}

static void lists_are_taken(void **state) {
    (void)state;
    static const int64_t row[] = {2, 0, 2, 1}, column[] = {1, 0, 1, 4};
    static const double value[] = {1, 2, 3, 4};
    sg_matrix *m = NULL;
    expect_ok(sg_matrix_from(context, 3, 5, 4, row, column, value, &m));
    expect_entries(m, 3, (const int64_t[][2]){{0, 0}, {1, 4}, {2, 1}}, (const double[]){2, 4, 4});
    sg_matrix_free(m);
    expect_ok(sg_matrix_from(context, 0, 0, 0, NULL, NULL, NULL, &m));
    expect_entries(m, 0, NULL, NULL);
    sg_matrix_free(m);
    sg_matrix *none = NULL;
    expect_error(sg_matrix_from(context, 2, 5, 4, row, column, value, &none), SG_ERROR_USAGE,
                 "entry 0 is in row 2, column 1 of a matrix of 2 x 5");
    expect_error(sg_matrix_from(context, 3, 5, 4, row, NULL, value, &none), SG_ERROR_USAGE,
                 "4 entries, but no list of their columns");
    expect_error(sg_matrix_from(context, 3, 5, -1, row, column, value, &none), SG_ERROR_USAGE,
                 "a matrix of -1 entries");
    expect_error(sg_matrix_new(context, -1, 5, &none), SG_ERROR_USAGE,
                 "a matrix of -1 rows; there must be 0 to 2^61");
    expect_error(sg_matrix_new(context, 5, INT64_MAX, &none), SG_ERROR_USAGE,
                 "a matrix of 9223372036854775807 columns");
    assert_null(none);
    assert_int_equal(sg_matrix_new(NULL, 1, 1, &none), SG_ERROR_USAGE);
    assert_int_equal(sg_matrix_new(context, 1, 1, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_matrix_set(NULL, 1, 1, 1), SG_ERROR_USAGE);
    assert_int_equal(sg_matrix_get(NULL, 1, 1, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_matrix_entries(NULL, NULL, NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_matrix_write(NULL, "x"), SG_ERROR_USAGE);
    assert_int_equal(sg_matrix_facts(NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_matrix_formats(NULL, NULL, NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_matrix_upload(NULL, NULL, NULL), SG_ERROR_USAGE);
    sg_device_matrix_free(NULL);
}

/* ---- looking --------------------------------------------------------------------------------- */

static void facts_are_told(void **state) {
    (void)state;
    static const int64_t row[] = {0, 0, 0, 2}, column[] = {0, 1, 3, 0};
    static const double value[] = {1, 2, 3, 4};
    sg_matrix *m;
    sg_matrix_info info = {.struct_size = sizeof info};
    expect_ok(sg_matrix_from(context, 4, 4, 4, row, column, value, &m));
    expect_ok(sg_matrix_facts(m, &info));
    assert_true(info.rows == 4 && info.columns == 4 && info.entries == 4);
    assert_true(info.shortest_row == 0 && info.longest_row == 3 && info.empty_rows == 2);
    assert_true(info.mean_row == 1 && fabs(info.row_deviation - sqrt(6. / 4)) < 1e-15);
    assert_true(info.diagonals == 4 && info.bandwidth == 3 && !info.symmetric);
    info.struct_size = 0;
    expect_error(sg_matrix_facts(m, &info), SG_ERROR_USAGE, "struct_size of sg_matrix_info is 0");
    sg_matrix_free(m);
}

typedef struct seen {
    const char *names[16];
    sg_format_info formats[16];
    char refusal[16][256], reason[256];
    int count, chosen;
} seen;

static void see(void *user, const sg_format_info *f) {
    seen *s = user;
    assert_true(f->struct_size == sizeof *f && s->count < 16);
    s->formats[s->count] = *f;
    snprintf(s->refusal[s->count], sizeof s->refusal[0], "%s",
             f->refusal != NULL ? f->refusal : "");
    assert_true((f->reason != NULL) == (f->chosen != 0));
    if (f->chosen) {
        s->chosen = s->count;
        snprintf(s->reason, sizeof s->reason, "%s", f->reason);
    }
    s->count++;
}

static void formats_are_told(void **state) {
    (void)state;
    static const char *const names[] = {"coo", "csr",  "csc", "ell",  "hyb",    "jds",
                                        "dia", "bcsr", "pkt", "sell", "stencil"};
    sg_matrix *m;
    seen s = {.chosen = -1};
    /* A row of 5000 entries in 20000 rows of one. */
    expect_ok(sg_matrix_new(context, 20000, 20000, &m));
    for (int i = 0; i < 20000; i++)
        expect_ok(sg_matrix_set(m, i, (i * 7919) % 20000, 1));
    for (int i = 0; i < 5000; i++)
        expect_ok(sg_matrix_set(m, 77, 3 * i, 2));
    expect_ok(sg_matrix_formats(m, NULL, see, &s));
    assert_int_equal(s.count, 11);
    for (int i = 0; i < 11; i++)
        assert_string_equal(s.formats[i].format, names[i]);
    sg_matrix_info info = {.struct_size = sizeof info};
    expect_ok(sg_matrix_facts(m, &info));
    const int64_t n = info.entries;
    assert_true(s.formats[0].bytes == 16 * n && s.formats[0].numbers == 3 * (double)n);
    assert_string_equal(s.formats[0].formula, "3·nnz");
    assert_true(s.formats[1].bytes == 12 * n + 80004);
    assert_true(s.formats[3].bytes == 12 * 20000 * info.longest_row);
    assert_string_equal(s.refusal[1], "");
    assert_non_null(strstr(s.refusal[3], "ell would need 1200"));
    assert_int_equal(s.chosen, 1);
    assert_non_null(strstr(s.reason, "csr: rows have up to 500"));
    sg_matrix_free(m);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void files_are_read_and_written(void **state) {
    (void)state;
    char *path = scratch_path("a.mtx"), *missing = scratch_path("b.mtx");
    sg_matrix *m = NULL, *again = NULL;
    expect_ok(sg_matrix_read(context, "tests/data/mtx/1138_bus.mtx", &m));
    expect_ok(sg_matrix_set(m, 5, 7, 0.1));
    expect_ok(sg_matrix_write(m, path));
    expect_ok(sg_matrix_read(context, path, &again));
    sg_matrix_info info = {.struct_size = sizeof info}, other = {.struct_size = sizeof other};
    expect_ok(sg_matrix_facts(m, &info));
    expect_ok(sg_matrix_facts(again, &other));
    assert_memory_equal(&info, &other, sizeof info);
    int64_t *places = calloc(4 * (size_t)info.entries, sizeof *places);
    double *values = calloc(2 * (size_t)info.entries, sizeof *values);
    const size_t n = (size_t)info.entries;
    expect_ok(sg_matrix_entries(m, places, places + n, values));
    expect_ok(sg_matrix_entries(again, places + 2 * n, places + 3 * n, values + n));
    assert_memory_equal(places, places + 2 * n, 2 * n * sizeof *places);
    assert_memory_equal(values, values + n, n * sizeof *values);
    free(places);
    free(values);
    sg_matrix_free(m);
    sg_matrix_free(again);
    m = NULL;
    expect_error(sg_matrix_read(context, missing, &m), SG_ERROR_IO,
                 "b.mtx: error: cannot read: No such file or directory");
    write_content(path, "%%MatrixMarket matrix coordinate real general\n1 1 1\n2 1 1\n", 59);
    expect_error(sg_matrix_read(context, path, &m), SG_ERROR_DATA,
                 "a.mtx:3: error: row 2 is not in 1 to 1");
    expect_error(sg_matrix_read(context, scratch_root, &m), SG_ERROR_IO, "Is a directory");
    expect_error(sg_matrix_read(context, NULL, &m), SG_ERROR_USAGE, "no path");
    assert_null(m);
    expect_ok(sg_matrix_new(context, 1, 1, &m));
    expect_error(sg_matrix_write(m, NULL), SG_ERROR_USAGE, "no path");
    expect_error(sg_matrix_write(m, scratch_root), SG_ERROR_IO, "it is no regular file");
    sg_matrix_free(m);
    free(path);
    free(missing);
}

static void matrices_outlive_their_contexts_hold(void **state) {
    (void)state;
    sg_context *own;
    sg_matrix *m;
    double value;
    const sg_options options = {.struct_size = sizeof options, .device = "none"};
    assert_int_equal(sg_open(&own, &options), SG_OK);
    assert_int_equal(sg_matrix_new(own, 2, 2, &m), SG_OK);
    sg_close(own);
    assert_int_equal(sg_matrix_set(m, 1, 1, 3), SG_OK);
    assert_int_equal(sg_matrix_get(m, 1, 1, &value), SG_OK);
    assert_true(value == 3);
    sg_matrix_free(m);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Looks at a matrix that each of the threads may be the first to settle. */
static void *use(void *argument) {
    const sg_matrix *m = argument;
    static const long wrong = 1;
    sg_matrix_info info = {.struct_size = sizeof info};
    double values[200], value;
    for (int i = 0; i < 50; i++)
        if (sg_matrix_get(m, i, 2 * i, &value) != SG_OK || value != i ||
            sg_matrix_facts(m, &info) != SG_OK || info.entries != 200 ||
            sg_matrix_entries(m, NULL, NULL, values) != SG_OK || values[i] != i)
            return (void *)(uintptr_t)&wrong;
    return NULL;
}

static void threads_share_a_matrix(void **state) {
    (void)state;
    pthread_t threads[4];
    void *wrong;
    for (int round = 0; round < 20; round++) {
        sg_matrix *m;
        expect_ok(sg_matrix_new(context, 200, 400, &m));
        for (int i = 0; i < 200; i++)
            expect_ok(sg_matrix_set(m, i, 2 * i, i));
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, use, m), 0);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(pthread_join(threads[i], &wrong), 0);
            assert_null(wrong);
        }
        sg_matrix_free(m);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static sg_status everything(sg_context *c, const char *path) {
    static const int64_t row[] = {2, 0, 2, 1}, column[] = {1, 0, 1, 4};
    static const double value[] = {1, 2, 3, 4};
    sg_matrix *a = NULL, *b = NULL;
    seen s = {.chosen = -1};
    sg_matrix_info info = {.struct_size = sizeof info};
    sg_status status = sg_matrix_from(c, 3, 5, 4, row, column, value, &a);
    assert_true((status == SG_OK) == (a != NULL));
    for (int i = 0; i < 15 && status == SG_OK; i++)
        status = sg_matrix_add(a, i / 5, i % 5, 1);
    status = status != SG_OK ? status : sg_matrix_facts(a, &info);
    status = status != SG_OK ? status : sg_matrix_formats(a, NULL, see, &s);
    status = status != SG_OK ? status : sg_matrix_write(a, path);
    if (status == SG_OK) {
        assert_true(info.entries == 15 && s.count == 11);
        status = sg_matrix_read(c, path, &b);
        assert_true((status == SG_OK) == (b != NULL));
    } else
        assert_true(s.count == 0 || s.count == 11);
    sg_matrix_free(a);
    sg_matrix_free(b);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    char *path = scratch_path("a.mtx");
    for (long refused = 1;; refused++) {
        miser pocket = {0};
        sg_context *c;
        const sg_options options = {.struct_size = sizeof options,
                                    .device = "none",
                                    .cache = "none",
                                    .resize = resize_miserly,
                                    .resize_user = &pocket};
        assert_int_equal(sg_open(&c, &options), SG_OK);
        pocket.count = 0;
        pocket.refused = refused;
        const sg_status status = everything(c, path);
        sg_close(c);
        assert_int_equal(pocket.held, 0);
        if (status == SG_OK)
            break;
        assert_int_equal(status, SG_ERROR_MEMORY);
        assert_true(refused < 1000);
    }
    assert_int_equal(count_files(scratch_root, "a.mtx."), 0);
    free(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(matrices_are_changed, open_none, close_none),
    cmocka_unit_test_setup_teardown(lists_are_taken, open_none, close_none),
    cmocka_unit_test_setup_teardown(facts_are_told, open_none, close_none),
    cmocka_unit_test_setup_teardown(formats_are_told, open_none, close_none),
    cmocka_unit_test_setup_teardown(files_are_read_and_written, open_none, close_none),
    cmocka_unit_test(matrices_outlive_their_contexts_hold),
    cmocka_unit_test_setup_teardown(threads_share_a_matrix, open_none, close_none),
    cmocka_unit_test_setup_teardown(memory_may_run_out, open_none, close_none),
};

TEST_GROUP(calls, NULL, NULL)
