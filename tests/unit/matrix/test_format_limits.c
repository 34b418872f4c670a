/* Formats at their limits: matrices too large, numbers that cannot be, memory that runs out. */
#include "tests/unit/group.h"
#include "tests/unit/matrix/format_scene.h"
#include "tests/unit/miser.h"

static const int64_t far_row[] = {0, INT64_C(1) << 40}, far_column[] = {INT64_C(1) << 41, 5};
static const double far_value[] = {1, 1e300};
static const matrix far = {INT64_C(1) << 42, INT64_C(1) << 42, 2, far_row, far_column, far_value};

static void pack_far(job *j, void *argument) {
    packed_matrix p;
    format_pack(j, &far, argument, &p);
    matrix back;
    format_unpack(j, &p, &back);
    same_entries(&far, &back, "far");
    format_free(j, &p);
}

static void measure_far(job *j, void *argument) {
    packed_matrix p;
    (void)argument;
    for (format f = FORMAT_COO; f < FORMAT_COUNT; f++) {
        const storage s = {.format = f, .index_bytes = 8};
        format_measure(j, &far, &s, &p);
        const char *why = format_refusal(j, &far, &p, FORMAT_LIMIT);
        assert_true(p.bytes > 0);
        assert_true((why != NULL) == (f == FORMAT_STENCIL)); /* of most rows that lack all, none */
    }
    static const diagonal given = {-5, 2};
    const storage stencil = {
        .format = FORMAT_STENCIL, .index_bytes = 8, .diagonals = &given, .diagonal_count = 1};
    format_measure(j, &far, &stencil, &p);
    assert_null(format_refusal(j, &far, &p, FORMAT_LIMIT));
    matrix most = far;
    most.rows = most.columns = INT64_C(1) << 61;
    const storage s = {.format = FORMAT_ELL, .index_bytes = 8};
    format_measure(j, &most, &s, &p);
    assert_int_equal(p.bytes, -1);
    assert_non_null(strstr(format_refusal(j, &most, &p, FORMAT_LIMIT), "more bytes than can be"));
}

static void large_matrices_are_measured(void **state) {
    (void)state;
    run(measure_far, NULL);
    storage s = {.format = FORMAT_COO, .index_bytes = 8};
    run(pack_far, &s);
    s.value_bytes = 4;
    refuses(pack_far, &s, FAULT_DATA,
            "row 1099511627776, column 5 (from 0) is too large for a float");
    s.index_bytes = 4;
    refuses(pack_far, &s, FAULT_DATA, "indices of coo go up to 4398046511103, which 32 bits");
    s.format = FORMAT_CSR;
    s.index_bytes = 8;
    s.value_bytes = 8;
    refuses(pack_far, &s, FAULT_MEMORY, "out of memory");
}

static void measure_full_row(job *j, void *argument) {
    (void)argument;
    const drawn d = {"", 1200, 1200, draw_full_row};
    const matrix m = matrix_draw(j, &d);
    const storage s = {.format = FORMAT_ELL};
    packed_matrix p;
    format_measure(j, &m, &s, &p);
    assert_int_equal(p.bytes, 1200 * 1200 * 12);
    assert_null(format_refusal(j, &m, &p, FORMAT_LIMIT));
    assert_null(format_refusal(j, &m, &p, 1200 * 1200 * 12));
    const char *why = format_refusal(j, &m, &p, 1200 * 1200 * 12 - 1);
    assert_string_equal(why, "ell would need 17280000 bytes, more than 16 times the 33592 of csr "
                             "and more than 17279999");
    /* 12·n² bytes, and 28·n − 8 of csr: 15 times at 36 rows, 17 times at 40. */
    const drawn less = {"", 36, 36, draw_full_row}, more = {"", 40, 40, draw_full_row};
    const matrix small_one = matrix_draw(j, &less), large_one = matrix_draw(j, &more);
    format_measure(j, &small_one, &s, &p);
    assert_null(format_refusal(j, &small_one, &p, 1));
    format_measure(j, &large_one, &s, &p);
    assert_non_null(format_refusal(j, &large_one, &p, 1));
}

static void too_large_formats_are_refused(void **state) {
    (void)state;
    run(measure_full_row, NULL);
}

static void impossible_numbers_are_refused(void **state) {
    (void)state;
    static const storage bad[] = {
        {.format = FORMAT_COUNT},
        {.format = FORMAT_CSR, .index_bytes = 2},
        {.format = FORMAT_CSR, .value_bytes = 16},
        {.format = FORMAT_SELL, .slice = -1},
        {.format = FORMAT_SELL, .slice = INT32_MIN},
        {.format = FORMAT_SELL, .slice = 32, .sigma = -32},
        {.format = FORMAT_BCSR, .block_rows = -1},
        {.format = FORMAT_PKT, .packet = 65536},
        {.format = FORMAT_PKT, .packet = -5},
        {.format = FORMAT_PKT, .value_bytes = 65536},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        storage s = bad[i];
        refuses(pack_far, &s, FAULT_USAGE, "cannot be stored");
    }
    storage odd = {.format = FORMAT_SELL, .slice = 32, .sigma = 48};
    refuses(pack_far, &odd, FAULT_USAGE, "no multiple of the slice");
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void pack_one(job *j, void *argument) {
    const drawn d = {"", 900, 900, draw_grid};
    const matrix m = matrix_draw(j, &d);
    packed_matrix p;
    format_pack(j, &m, argument, &p);
    matrix back;
    format_unpack(j, &p, &back);
    format_free(j, &p);
}

static void memory_may_run_out(void **state) {
    (void)state;
    for (format f = FORMAT_AUTO; f < FORMAT_COUNT; f++)
        for (long refused = 1;; refused++) {
            miser pocket = {.refused = refused};
            storage s = {.format = f};
            const allocator memory = {resize_miserly, &pocket};
            job *j;
            const fault found = job_run(&memory, pack_one, &s, &j);
            job_end(j);
            assert_int_equal(pocket.held, 0);
            if (found == FAULT_NONE)
                break;
            assert_int_equal(found, FAULT_MEMORY);
            assert_true(refused < 1000);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(large_matrices_are_measured),
    cmocka_unit_test(too_large_formats_are_refused),
    cmocka_unit_test(impossible_numbers_are_refused),
    cmocka_unit_test(memory_may_run_out),
};

TEST_GROUP(format_limits, NULL, NULL)
