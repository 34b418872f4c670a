/* Operators of reduce and scan: identities, wrapping, NaN, and how values are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "gen/lists/pattern.h"
#include "tests/unit/group.h"

static pattern_value of_real(double v) {
    return (pattern_value){.real = v};
}

static pattern_value of_whole(int64_t v) {
    return (pattern_value){.whole = v};
}

static pattern_value combined(operator_id id, dtype type, pattern_value a, pattern_value b) {
    const pattern_operator o = {.id = id};
    return operator_combine(type, &o, NULL, a, b);
}

static int64_t whole(operator_id id, dtype type, int64_t a, int64_t b) {
    return combined(id, type, of_whole(a), of_whole(b)).whole;
}

static double real(operator_id id, dtype type, double a, double b) {
    return combined(id, type, of_real(a), of_real(b)).real;
}

static void test_identities(void **state) {
    (void)state;
    static const double reals[] = {0, -0.0, 1, -1.5, 3e38, -INFINITY, INFINITY};
    static const int64_t wholes[] = {0, 1, 7, INT32_MAX};
    for (int id = 0; id < OPERATOR_COUNT; id++)
        for (int type = 0; type < DTYPE_COUNT; type++) {
            const pattern_operator o = {.id = (operator_id)id};
            const dtype t = (dtype)type;
            if (dtype_is_narrow(t)) /* computes in float */
                continue;
            const pattern_value e = operator_identity(&o, t);
            if (type < DTYPE_REALS && operator_words[id].bits)
                continue;
            for (size_t i = 0; type < DTYPE_REALS && i < sizeof reals / sizeof *reals; i++) {
                const double a = operator_prepare(&o, t, of_real((float)reals[i])).real;
                assert_true(real(o.id, t, a, e.real) == a);
                assert_true(real(o.id, t, e.real, a) == a);
            }
            for (size_t i = 0; type >= DTYPE_REALS && i < sizeof wholes / sizeof *wholes; i++) {
                const int64_t a = operator_prepare(&o, t, of_whole(wholes[i])).whole;
                assert_int_equal(whole(o.id, t, a, e.whole), a);
                assert_int_equal(whole(o.id, t, e.whole, a), a);
            }
        }
}

static void test_whole_numbers_wrap(void **state) {
    (void)state;
    assert_int_equal(whole(OPERATOR_SUM, DTYPE_INT32, INT32_MAX, 1), INT32_MIN);
    assert_int_equal(whole(OPERATOR_SUM, DTYPE_INT32, INT32_MIN, -1), INT32_MAX);
    assert_int_equal(whole(OPERATOR_SUM, DTYPE_UINT32, UINT32_MAX, 2), 1);
    assert_int_equal(whole(OPERATOR_SUM, DTYPE_INT64, INT64_MAX, 1), INT64_MIN);
    assert_int_equal(whole(OPERATOR_PRODUCT, DTYPE_INT32, 65536, 65536), 0);
    assert_int_equal(whole(OPERATOR_PRODUCT, DTYPE_INT32, -3, 5), -15);
    assert_int_equal(whole(OPERATOR_PRODUCT, DTYPE_INT64, INT64_MIN, -1), INT64_MIN);
    assert_int_equal(whole(OPERATOR_XOR, DTYPE_INT32, -1, 1), -2);
    assert_int_equal(whole(OPERATOR_AND, DTYPE_INT64, -2, 7), 6);
    assert_int_equal(whole(OPERATOR_OR, DTYPE_UINT32, 0x80000000, 1), 0x80000001);
    assert_int_equal(whole(OPERATOR_MIN, DTYPE_INT32, -5, 3), -5);
    assert_int_equal(whole(OPERATOR_MAX, DTYPE_INT64, -5, 3), 3);
    assert_int_equal(whole(OPERATOR_ALL, DTYPE_INT32, 4, 2), 1);
    assert_int_equal(whole(OPERATOR_ANY, DTYPE_INT32, 0, 0), 0);
}

static void test_reals_round_and_keep_nan(void **state) {
    (void)state;
    assert_true(real(OPERATOR_SUM, DTYPE_FLOAT, 1, 0x1p-25) == 1);
    assert_true(real(OPERATOR_SUM, DTYPE_DOUBLE, 1, 0x1p-25) > 1);
    assert_true(isinf(real(OPERATOR_PRODUCT, DTYPE_FLOAT, 3e38, 10)));
    static const operator_id spread[] = {OPERATOR_SUM, OPERATOR_PRODUCT, OPERATOR_MIN,
                                         OPERATOR_MAX};
    for (int i = 0; i < 4; i++) {
        assert_true(isnan(real(spread[i], DTYPE_FLOAT, NAN, 1)));
        assert_true(isnan(real(spread[i], DTYPE_DOUBLE, 1, NAN)));
    }
    assert_true(
        operator_prepare(&(pattern_operator){.id = OPERATOR_ANY}, DTYPE_FLOAT, of_real(NAN)).real ==
        1);
    assert_false(operator_is_exact(&(pattern_operator){.id = OPERATOR_SUM}, DTYPE_FLOAT));
    assert_true(operator_is_exact(&(pattern_operator){.id = OPERATOR_SUM}, DTYPE_INT64));
    assert_true(operator_is_exact(&(pattern_operator){.id = OPERATOR_MIN}, DTYPE_DOUBLE));
}

static const char *written(job *j, dtype type, pattern_value v) {
    text t = text_new(j);
    operator_write_value(&t, type, v);
    return t.data;
}

static void body_values(job *j, void *unused) {
    (void)unused;
    assert_string_equal(written(j, DTYPE_INT32, of_whole(-7)), "-7");
    assert_string_equal(written(j, DTYPE_INT32, of_whole(INT32_MIN)), "(-2147483647 - 1)");
    assert_string_equal(written(j, DTYPE_INT64, of_whole(INT64_MAX)), "9223372036854775807LL");
    assert_string_equal(written(j, DTYPE_INT64, of_whole(INT64_MIN)),
                        "(-9223372036854775807LL - 1)");
    assert_string_equal(written(j, DTYPE_UINT32, of_whole(UINT32_MAX)), "4294967295u");
    assert_string_equal(written(j, DTYPE_UINT32, of_whole(0)), "0u");
    assert_string_equal(written(j, DTYPE_FLOAT, of_real(-INFINITY)), "-infinity<Real>()");
    assert_string_equal(written(j, DTYPE_FLOAT, of_real(0.5)), "0.5f");
    text t = text_new(j);
    operator_write(&t, NULL, DTYPE_INT32, &(pattern_operator){.id = OPERATOR_SUM}, "identity");
    assert_non_null(strstr(t.data, "Real(unsigned(a) + unsigned(b))"));
}

static void test_values(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, body_values, NULL, &j), FAULT_NONE);
    job_end(j);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_identities),
    cmocka_unit_test(test_whole_numbers_wrap),
    cmocka_unit_test(test_reals_round_and_keep_nan),
    cmocka_unit_test(test_values),
};

TEST_GROUP(operators, NULL, NULL)
