/* Numbers as text: short, as people write them, and the same when they are read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/job.h"
#include "base/text.h"
#include "tests/unit/group.h"

static void known_body(job *j, void *argument) {
    (void)argument;
    static const struct {
        double value;
        const char *shortest, *of_c;
    } cases[] = {
        {0, "0", "0.0"},
        {10, "10", "10.0"},
        {-300, "-300", "-300.0"},
        {0.1, "0.1", "0.1"},
        {999999, "999999", "999999.0"},
        {120000, "120000", "120000.0"},
        {1e6, "1e+06", "1e+06"},
        {1.5e-5, "1.5e-05", "1.5e-05"},
        {12.5, "12.5", "12.5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text shortest = text_new(j), of_c = text_new(j);
        text_shortest(&shortest, cases[i].value, false);
        text_double(&of_c, cases[i].value);
        assert_string_equal(shortest.data, cases[i].shortest);
        assert_string_equal(of_c.data, cases[i].of_c);
    }
}

static void round_trip_body(job *j, void *argument) {
    (void)argument;
    uint64_t bits = 88172645463325252u; /* xorshift: Marsaglia, Journal of Statistical Software 8 */
    for (int i = 0; i < 2000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        const double whole = (double)(int64_t)(bits % 4000000) - 2000000;
        const double values[] = {whole, whole / 1024, (double)(float)(whole / 3)};
        for (int k = 0; k < 3; k++) {
            text as_double = text_new(j), as_float = text_new(j);
            text_double(&as_double, values[k]);
            text_float(&as_float, (float)values[k]);
            assert_true(strtod(as_double.data, NULL) == values[k]);
            assert_true(strtof(as_float.data, NULL) == (float)values[k]);
        }
    }
}

static void run(void (*body)(job *, void *)) {
    job *j = NULL;
    job_run(&allocator_libc, body, NULL, &j);
    assert_false(job_failed(j));
    job_end(j);
}
static void test_known_numbers(void **state) {
    (void)state;
    run(known_body);
}
static void test_round_trips(void **state) {
    (void)state;
    run(round_trip_body);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_numbers),
                                          cmocka_unit_test(test_round_trips)};

TEST_GROUP(numbers, NULL, NULL)
