/* The dictionary of keys against a plain list of what was done, and memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "matrix/format.h"
#include "tests/unit/group.h"
#include "tests/unit/matrix/matrices.h"
#include "tests/unit/miser.h"

enum { ROWS = 37, COLUMNS = 23, STEPS = 4000 };

static void settle(job *j, void *argument) {
    assembly_settle(j, argument);
}

static fault settle_alone(assembly *a) {
    job *j;
    const fault found = job_run(&a->memory, settle, a, &j);
    job_end(j);
    return found;
}

static void same_as_dense(const assembly *a, const double *dense, const bool *has) {
    const matrix m = assembly_matrix(a);
    int64_t at = 0;
    for (int64_t r = 0; r < ROWS; r++)
        for (int64_t c = 0; c < COLUMNS; c++) {
            double value;
            assert_int_equal(assembly_get(a, r, c, &value), FAULT_NONE);
            assert_true(value == dense[r * COLUMNS + c]);
            if (!has[r * COLUMNS + c])
                continue;
            assert_true(at < m.entries && m.row[at] == r && m.column[at] == c);
            assert_true(m.value[at] == dense[r * COLUMNS + c]);
            at++;
        }
    assert_int_equal(at, m.entries);
}

static void changes_are_those_of_a_dense_matrix(void **state) {
    (void)state;
    static double dense[ROWS * COLUMNS];
    static bool has[ROWS * COLUMNS];
    assembly a;
    assembly_begin(&a, &allocator_libc, ROWS, COLUMNS);
    for (uint64_t i = 0; i < STEPS; i++) {
        const int64_t r = (int64_t)(scramble(1, i) % ROWS), c = (int64_t)(scramble(2, i) % COLUMNS);
        const double value = (double)(scramble(3, i) % 64); /* zeros too, which are entries */
        const bool set = scramble(4, i) % 2 == 0;
        assert_int_equal((set ? assembly_set : assembly_add)(&a, r, c, value), FAULT_NONE);
        dense[r * COLUMNS + c] = set ? value : dense[r * COLUMNS + c] + value;
        has[r * COLUMNS + c] = true;
        double got;
        assert_int_equal(assembly_get(&a, r, c, &got), FAULT_NONE);
        assert_true(got == dense[r * COLUMNS + c]);
        if (scramble(5, i) % 100 == 0) {
            assert_int_equal(settle_alone(&a), FAULT_NONE);
            assert_true(assembly_is_settled(&a));
            same_as_dense(&a, dense, has);
        }
    }
    assert_int_equal(settle_alone(&a), FAULT_NONE);
    same_as_dense(&a, dense, has);
    assembly_free(&a);
}

static void lists_are_added_up_in_order(void **state) {
    (void)state;
    /* In another order these sums are others. */
    static const double values[] = {1e16, 1, -1e16, 1, 3};
    static const int64_t places[][2] = {{2, 1}, {2, 1}, {2, 1}, {2, 1}, {0, 2}};
    assembly a;
    assembly_begin(&a, &allocator_libc, 3, 3);
    for (int i = 0; i < 5; i++)
        assert_int_equal(assembly_append(&a, places[i][0], places[i][1], values[i]), FAULT_NONE);
    assert_false(assembly_is_settled(&a));
    assert_int_equal(settle_alone(&a), FAULT_NONE);
    const matrix m = assembly_matrix(&a);
    assert_int_equal(m.entries, 2);
    assert_true(m.row[0] == 0 && m.column[0] == 2 && m.value[0] == 3);
    assert_true(m.row[1] == 2 && m.column[1] == 1 && m.value[1] == 1);
    assembly_free(&a);
}

static void places_outside_are_refused(void **state) {
    (void)state;
    static const int64_t outside[][2] = {{-1, 0}, {0, -1}, {3, 0}, {0, 4}, {INT64_MAX, INT64_MIN}};
    assembly a, empty;
    double value = 7;
    assembly_begin(&a, &allocator_libc, 3, 4);
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        const int64_t r = outside[i][0], c = outside[i][1];
        assert_int_equal(assembly_set(&a, r, c, 1), FAULT_USAGE);
        assert_int_equal(assembly_add(&a, r, c, 1), FAULT_USAGE);
        assert_int_equal(assembly_append(&a, r, c, 1), FAULT_USAGE);
        assert_int_equal(assembly_get(&a, r, c, &value), FAULT_USAGE);
    }
    assert_true(value == 7 && assembly_is_settled(&a));
    assembly_begin(&empty, &allocator_libc, 0, 0);
    assert_int_equal(assembly_set(&empty, 0, 0, 1), FAULT_USAGE);
    assert_int_equal(settle_alone(&empty), FAULT_NONE);
    assert_int_equal(assembly_matrix(&empty).entries, 0);
    assembly_free(&a);
    assembly_free(&empty);
}

static void far_places_cost_no_more(void **state) {
    (void)state;
    assembly a;
    assembly_begin(&a, &allocator_libc, MATRIX_MOST, MATRIX_MOST);
    assert_int_equal(assembly_set(&a, MATRIX_MOST - 1, 0, 1), FAULT_NONE);
    assert_int_equal(assembly_set(&a, 0, MATRIX_MOST - 1, 2), FAULT_NONE);
    assert_int_equal(settle_alone(&a), FAULT_NONE);
    const matrix m = assembly_matrix(&a);
    assert_true(m.entries == 2 && m.value[0] == 2 && m.value[1] == 1);
    assert_true(m.row[1] == MATRIX_MOST - 1 && m.column[0] == MATRIX_MOST - 1);
    assembly_free(&a);
}

/* Goes on where a call fails, and compares at the end: nothing is lost, nothing is there twice. */
static void memory_may_run_out(void **state) {
    (void)state;
    for (long refused = 1, hit = 1; hit; refused++) {
        miser pocket = {.refused = refused};
        const allocator memory = {resize_miserly, &pocket};
        assembly a;
        assembly_begin(&a, &memory, 1000, 1000);
        hit = 0;
        for (int64_t i = 0; i < 300; i++) {
            for (fault found; (found = assembly_add(&a, i * 7 % 1000, i, (double)i)) != FAULT_NONE;
                 hit++)
                assert_int_equal(found, FAULT_MEMORY);
            if (i % 100 == 50)
                for (fault found; (found = settle_alone(&a)) != FAULT_NONE; hit++)
                    assert_int_equal(found, FAULT_MEMORY);
        }
        for (; settle_alone(&a) != FAULT_NONE; hit++)
            ;
        const matrix m = assembly_matrix(&a);
        assert_int_equal(m.entries, 300);
        for (int64_t k = 0; k < 300; k++)
            assert_true(m.row[k] == m.column[k] * 7 % 1000 && m.value[k] == (double)m.column[k]);
        assembly_free(&a);
        assert_int_equal(pocket.held, 0);
        assert_true(refused < 1000);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(changes_are_those_of_a_dense_matrix),
    cmocka_unit_test(lists_are_added_up_in_order),
    cmocka_unit_test(places_outside_are_refused),
    cmocka_unit_test(far_places_cost_no_more),
    cmocka_unit_test(memory_may_run_out),
};

TEST_GROUP(assembly, NULL, NULL)
