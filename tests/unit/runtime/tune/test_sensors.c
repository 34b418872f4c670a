/* A GPU's sensors, by a stand-in for the library that knows them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/tune/trial.h"
#include "tests/unit/group.h"

typedef struct asking {
    const char *bus;
    bool found;
    sensors_reading reading;
} asking;

static void ask(job *j, void *argument) {
    asking *a = argument;
    const sensors *s = sensors_open(j, a->bus);
    a->found = s != NULL;
    a->reading = sensors_read(s);
}

static asking ask_at(const char *library, const char *bus) {
    asking a = {.bus = bus};
    job *j;
    setenv("SG_NVML", library, 1);
    assert_int_equal(job_run(&allocator_libc, ask, &a, &j), FAULT_NONE);
    job_end(j);
    return a;
}

static void test_there(void **state) {
    (void)state;
    const asking a = ask_at(FAKE_NVML, "00000001:2a:03.0");
    assert_true(a.found);
    assert_true(a.reading.clock == 1755);
    assert_true(isnan(a.reading.temperature));
}

static void test_missing(void **state) {
    (void)state;
    assert_false(ask_at(FAKE_NVML, "00000000:00:00.0").found);
    assert_false(ask_at(FAKE_NVML, NULL).found);
    assert_false(ask_at("none", "00000001:2a:03.0").found);
    const asking a = ask_at("/nonexistent.so", "00000001:2a:03.0");
    assert_false(a.found);
    assert_true(isnan(a.reading.clock) && isnan(a.reading.temperature));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_there),
    cmocka_unit_test(test_missing),
};

TEST_GROUP(sensors, NULL, NULL)
