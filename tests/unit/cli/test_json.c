/* The JSON writer: structure, escapes, and numbers under a locale with another decimal point. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/command.h"
#include "tests/unit/group.h"

static void test_structure(void **state) {
    (void)state;
    text out = new_text();
    json j = {.out = &out};
    json_add(&j, "{ empty [ ] sizes [ %d %" PRId64 " %zu ] inner { yes %i none %+d", 3, INT64_MIN,
             SIZE_MAX / 2, true, -1);
    json_string(&j, "absent", NULL);
    json_add(&j, "some %+" PRId64 " } }", (int64_t)1);
    assert_string_equal(out.data, "{\n  \"empty\": [],\n  \"sizes\": [\n    3,\n"
                                  "    -9223372036854775808,\n    9223372036854775807\n  ],\n"
                                  "  \"inner\": {\n    \"yes\": true,\n    \"none\": null,\n"
                                  "    \"absent\": null,\n    \"some\": 1\n  }\n}\n");
}

static void expect_quoted(const char *value, const char *wanted) {
    text out = new_text();
    json j = {.out = &out};
    json_string(&j, NULL, value);
    assert_string_equal(out.data, wanted);
}

static void test_escapes(void **state) {
    (void)state;
    expect_quoted("", "\"\"");
    expect_quoted("a\"b\\c\nd\te\x01", "\"a\\\"b\\\\c\\nd\\te\\u0001\"");
    expect_quoted("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", /* é € and a face */
                  "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
}

/* Bytes that are no UTF-8, overlong forms and surrogates, also at the end of the text. */
static void test_replaces_what_is_not_utf8(void **state) {
    (void)state;
    expect_quoted("a\xFFz", "\"a\xEF\xBF\xBDz\"");
    expect_quoted("\xC3", "\"\xEF\xBF\xBD\"");
    expect_quoted("\xE2\x82", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
    expect_quoted("\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
    expect_quoted("\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

static void expect_digits(double value, const char *wanted) {
    text out = new_text();
    json j = {.out = &out};
    json_number(&j, NULL, value);
    assert_string_equal(out.data, wanted);
}

static void numbers(void) {
    expect_digits(0, "0");
    expect_digits(-0.5, "-0.5");
    expect_digits(0.1, "0.1");
    expect_digits(1.0 / 3, "0.3333333333333333");
    expect_digits(1e300, "1e+300");
    expect_digits(5e-324, "5e-324");
    expect_digits(-1.25e-10, "-1.25e-10");
    expect_digits(NAN, "null");
    expect_digits(-INFINITY, "null");
}

static void test_numbers(void **state) {
    (void)state;
    numbers();
}

static void test_numbers_of_another_locale(void **state) {
    (void)state;
    if (setlocale(LC_ALL, "comma") == NULL)
        skip(); /* localedef could not make it */
    assert_string_equal(localeconv()->decimal_point, ",");
    numbers();
    setlocale(LC_ALL, "C");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_structure),
    cmocka_unit_test(test_escapes),
    cmocka_unit_test(test_replaces_what_is_not_utf8),
    cmocka_unit_test(test_numbers),
    cmocka_unit_test(test_numbers_of_another_locale),
};

TEST_GROUP(json, NULL, NULL)
