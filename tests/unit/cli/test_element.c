/* Elements of arrays: conversion to numbers and back, and to text that reads back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/files/datafile.h"
#include "tests/unit/group.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static void expect_text(dtype type, const void *from, const char *wanted) {
    assert_string_equal(element_text(type, from), wanted);
}

static void test_prints_exactly(void **state) {
    (void)state;
    const float tenth = 0.1f, tiny = 1e-45f;
    const double third = 1.0 / 3, large = 1e300, zero = -0.0;
    const int64_t most = INT64_MAX, least = INT64_MIN, odd = ((int64_t)1 << 53) + 1;
    const int32_t minus = -1;
    const uint32_t all = UINT32_MAX;
    expect_text(DTYPE_FLOAT, &tenth, "0.1");
    expect_text(DTYPE_FLOAT, &tiny, "1e-45");
    static const struct {
        double value;
        const char *text;
    } round[] = {{100, "100"},         {-20, "-20"},       {150000, "150000"}, {1e6, "1e+06"},
                 {999999, "999999"},   {120000, "120000"}, {-1e5, "-100000"},  {10.5, "10.5"},
                 {2500000, "2.5e+06"}, {1e-5, "1e-05"},    {1e15, "1e+15"},    {10, "10"}};
    for (size_t i = 0; i < LENGTH(round); i++) {
        const float narrow = (float)round[i].value;
        expect_text(DTYPE_DOUBLE, &round[i].value, round[i].text);
        expect_text(DTYPE_FLOAT, &narrow, round[i].text);
    }
    expect_text(DTYPE_DOUBLE, &third, "0.3333333333333333");
    expect_text(DTYPE_DOUBLE, &large, "1e+300");
    expect_text(DTYPE_DOUBLE, &zero, "-0");
    expect_text(DTYPE_INT64, &most, "9223372036854775807");
    expect_text(DTYPE_INT64, &least, "-9223372036854775808");
    expect_text(DTYPE_INT64, &odd, "9007199254740993");
    expect_text(DTYPE_INT32, &minus, "-1");
    expect_text(DTYPE_UINT32, &all, "4294967295");
}

static void test_prints_what_is_no_number(void **state) {
    (void)state;
    const float values[] = {NAN, INFINITY, -INFINITY};
    static const char *const words[] = {"nan", "inf", "-inf"};
    for (size_t i = 0; i < LENGTH(values); i++) {
        const double wide = values[i];
        expect_text(DTYPE_FLOAT, &values[i], words[i]);
        expect_text(DTYPE_DOUBLE, &wide, words[i]);
    }
}

/* Every float of a spread of bits reads back from its text. */
static void test_text_reads_back(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x7F800000; bits += 999983) {
        float value;
        memcpy(&value, &bits, sizeof value);
        assert_true(strtof(element_text(DTYPE_FLOAT, &value), NULL) == value);
    }
}

static void test_puts_within_range(void **state) {
    (void)state;
    static const struct {
        dtype type;
        double value, wanted;
    } cases[] = {
        {DTYPE_INT32, 2.5, 3},
        {DTYPE_INT32, -2.4, -2},
        {DTYPE_INT32, 1e300, INT32_MAX},
        {DTYPE_INT32, 2147483647.0, INT32_MAX},
        {DTYPE_INT32, -INFINITY, INT32_MIN},
        {DTYPE_INT64, -1e300, (double)INT64_MIN},
        {DTYPE_INT64, 9007199254740993.0, 9007199254740992.0},
        {DTYPE_UINT32, -1, 0},
        {DTYPE_UINT32, 4294967295.0, UINT32_MAX},
        {DTYPE_UINT32, INFINITY, UINT32_MAX},
        {DTYPE_UINT32, NAN, 0},
        {DTYPE_FLOAT, 0.1, (double)0.1f},
        {DTYPE_DOUBLE, 0.1, 0.1},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        unsigned char place[9] = {0}; /* aligned for nothing */
        element_put(cases[i].type, cases[i].value, place + 1);
        assert_true(dtype_value(cases[i].type, place + 1) == cases[i].wanted);
    }
    int64_t most;
    element_put(DTYPE_INT64, INFINITY, &most);
    assert_true(most > INT64_MAX - 1024);
}

static void test_finds_dtypes(void **state) {
    (void)state;
    for (dtype type = 0; type < DTYPE_COUNT; type++)
        assert_int_equal(dtype_find(dtype_words[type].name), type);
    assert_int_equal(dtype_find("float32"), DTYPE_COUNT);
    assert_int_equal(dtype_find(""), DTYPE_COUNT);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_prints_exactly),  cmocka_unit_test(test_prints_what_is_no_number),
    cmocka_unit_test(test_text_reads_back), cmocka_unit_test(test_puts_within_range),
    cmocka_unit_test(test_finds_dtypes),
};

TEST_GROUP(element, NULL, NULL)
