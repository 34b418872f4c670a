/* Numbers of 16 bits: all patterns, and what lies between them. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "base/random.h"
#include "tests/unit/group.h"

enum { PATTERNS = 1 << 16, SIGN = 0x8000 };

static const dtype narrow[] = {DTYPE_HALF, DTYPE_BFLOAT16};

static int exponent_bits(dtype type) {
    return type == DTYPE_HALF ? 5 : 8;
}

static unsigned infinity_of(dtype type) {
    return type == DTYPE_HALF ? 0x7c00 : 0x7f80;
}

/* By the definition of the formats: sign, exponent and fraction. */
static double defined(dtype type, unsigned pattern) {
    const int width = exponent_bits(type), digits = 15 - width;
    const int field = (int)(pattern >> digits) & ((1 << width) - 1);
    const double fraction = (pattern & ((1U << digits) - 1)) / pow(2, digits);
    const double size = field == 0 ? fraction * pow(2, 2 - pow(2, width - 1))
                                   : (1 + fraction) * pow(2, field - (pow(2, width - 1) - 1));
    return pattern & SIGN ? -size : size;
}

static void test_every_pattern(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++)
        for (unsigned p = 0; p < PATTERNS; p++) {
            const double value = dtype_widen(narrow[t], (uint16_t)p);
            const unsigned size = p & ~(unsigned)SIGN;
            if (size > infinity_of(narrow[t])) {
                assert_true(isnan(value));
                assert_int_equal(dtype_narrow(narrow[t], value), 0x7fff);
                continue;
            }
            assert_true(size == infinity_of(narrow[t]) ? isinf(value)
                                                       : value == defined(narrow[t], p));
            assert_int_equal(signbit(value) != 0, p >= SIGN);
            assert_int_equal(dtype_narrow(narrow[t], value), p);
        }
}

/* The nearest of all patterns, found by comparing distances with both neighbours. */
static void test_between_neighbours(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++)
        for (unsigned p = 0; p < infinity_of(narrow[t]); p++) {
            const double low = defined(narrow[t], p), high = defined(narrow[t], p + 1);
            const double middle = low + (high - low) / 2; /* of the last, beyond the largest too */
            const unsigned even = p % 2 == 0 ? p : p + 1;
            assert_int_equal(dtype_narrow(narrow[t], middle), even);
            assert_int_equal(dtype_narrow(narrow[t], nextafter(middle, 0)), p);
            assert_int_equal(dtype_narrow(narrow[t], nextafter(middle, INFINITY)), p + 1);
            assert_int_equal(dtype_narrow(narrow[t], -middle), even | SIGN);
        }
}

static void test_ends(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++) {
        const dtype_word *w = &dtype_words[narrow[t]];
        assert_true(w->largest == defined(narrow[t], infinity_of(narrow[t]) - 1));
        assert_true(w->least == -w->largest);
        assert_true(w->smallest == defined(narrow[t], 1));
        assert_true(1 + 2 * w->epsilon == defined(narrow[t], dtype_narrow(narrow[t], 1) + 1U));
        assert_int_equal(dtype_narrow(narrow[t], INFINITY), infinity_of(narrow[t]));
        assert_int_equal(dtype_narrow(narrow[t], -DBL_MAX), infinity_of(narrow[t]) | SIGN);
        assert_int_equal(dtype_narrow(narrow[t], DBL_TRUE_MIN), 0);
        assert_int_equal(dtype_narrow(narrow[t], -DBL_TRUE_MIN), SIGN);
        assert_int_equal(dtype_narrow(narrow[t], -0.0), SIGN);
        assert_int_equal(dtype_narrow(narrow[t], NAN), 0x7fff);
    }
    assert_int_equal(dtype_narrow(DTYPE_HALF, 65519.99), 0x7bff);
    assert_int_equal(dtype_narrow(DTYPE_HALF, 65520), 0x7c00);
}

/* A float's upper half, rounded by adding to the whole word: another way to the same bits. */
static void test_bfloat16_of_floats(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 1 << 18; i++) {
        uint32_t bits = (uint32_t)random_stream(7, i);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isnan(value))
            continue;
        const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
        assert_int_equal(dtype_narrow(DTYPE_BFLOAT16, (double)value), rounded >> 16);
    }
}

static void test_elements(void **state) {
    (void)state;
    uint16_t cell[3] = {0x1111, 0x1111, 0x1111};
    dtype_store(DTYPE_HALF, &cell[1], 1.0 / 3);
    assert_int_equal(cell[1], 0x3555);
    assert_int_equal(cell[0], 0x1111);
    assert_int_equal(cell[2], 0x1111);
    assert_true(dtype_value(DTYPE_HALF, &cell[1]) == 0x5.55p-4);
    dtype_store(DTYPE_BFLOAT16, &cell[1], 1.0 / 3);
    assert_int_equal(cell[1], 0x3eab);
    assert_true(dtype_value(DTYPE_BFLOAT16, &cell[1]) == 0x1.56p-2);
    assert_true(dtype_round(DTYPE_BFLOAT16, 1.0 / 3) == 0x1.56p-2);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_pattern), cmocka_unit_test(test_between_neighbours),
    cmocka_unit_test(test_ends), cmocka_unit_test(test_bfloat16_of_floats),
    cmocka_unit_test(test_elements)};

TEST_GROUP(dtype, NULL, NULL)
