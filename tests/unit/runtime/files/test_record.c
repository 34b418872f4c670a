/* Records: what is written reads back; what is cut off or cannot be is bad and harmless. */
#include <float.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/files/sealed.h"
#include "tests/unit/group.h"

static void run(void (*body)(job *, void *)) {
    job *j;
    assert_int_equal(job_run(&allocator_libc, body, NULL, &j), FAULT_NONE);
    job_end(j);
}

static const double doubles[] = {0.0, -0.0, 1.5, -DBL_MAX, DBL_MIN, 4.9e-324};
static const int64_t ints[] = {0, 1, -1, 255, 256, INT64_MAX, INT64_MIN, 0x0102030405060708};
static const char *const texts[] = {"", "heat13", NULL, "\xC3\xA4\n", ""};
enum { DOUBLES = 6, INTS = 8, TEXTS = 5 };

static text write_all_kinds(job *j) {
    text t = text_new(j);
    for (int i = 0; i < INTS; i++)
        record_put_int(&t, ints[i]);
    for (int i = 0; i < DOUBLES; i++)
        record_put_double(&t, doubles[i]);
    for (int i = 0; i < TEXTS; i++)
        record_put_text(&t, texts[i]);
    record_put_bytes(&t, NULL, 0);
    record_put_bytes(&t, "a\0b", 3);
    return t;
}

static void check_round_trip(job *j, void *unused) {
    (void)unused;
    const text t = write_all_kinds(j);
    record r = record_of(t.data, t.length);
    assert_int_equal(record_left(&r), t.length);
    for (int i = 0; i < INTS; i++)
        assert_true(record_int(&r) == ints[i]);
    for (int i = 0; i < DOUBLES; i++) {
        const double read = record_double(&r);
        assert_memory_equal(&read, &doubles[i], sizeof read);
    }
    for (int i = 0; i < TEXTS; i++) {
        const char *read = record_text(&r, j);
        assert_int_equal(read == NULL, texts[i] == NULL);
        if (read != NULL)
            assert_string_equal(read, texts[i]);
    }
    assert_int_equal(record_bytes(&r).size, 0);
    assert_false(record_done(&r));
    const blob b = record_bytes(&r);
    assert_int_equal(b.size, 3);
    assert_memory_equal(b.data, "a\0b", 3);
    assert_true(record_done(&r));
    assert_int_equal(record_left(&r), 0);
}

static void test_round_trip(void **state) {
    (void)state;
    run(check_round_trip);
}

static void check_bytes(job *j, void *unused) {
    (void)unused;
    text t = text_new(j);
    record_put_int(&t, 0x0102030405060708);
    record_put_text(&t, "ab");
    record_put_text(&t, NULL);
    static const unsigned char wanted[] = {8,    7,    6,    5,    4,    3,    2,    1,   2,
                                           0,    0,    0,    0,    0,    0,    0,    'a', 'b',
                                           0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    assert_int_equal(t.length, sizeof wanted);
    assert_memory_equal(t.data, wanted, sizeof wanted);
}

static void test_bytes_are_the_same_everywhere(void **state) {
    (void)state;
    run(check_bytes);
}

/* Reads what write_all_kinds wrote, from as many bytes of it. */
static bool read_all_kinds(job *j, const char *data, size_t size) {
    char *exact = malloc(size > 0 ? size : 1); /* so that a sanitizer sees a read beyond it */
    memcpy(exact, data, size);
    record r = record_of(exact, size);
    for (int i = 0; i < INTS; i++)
        record_int(&r);
    for (int i = 0; i < DOUBLES; i++)
        record_double(&r);
    for (int i = 0; i < TEXTS; i++) {
        const char *read = record_text(&r, j);
        assert_true(!r.bad || (read != NULL && read[0] == '\0'));
    }
    record_bytes(&r);
    const blob last = record_bytes(&r);
    assert_true(!r.bad || last.size == 0);
    const bool done = record_done(&r);
    free(exact);
    return done;
}

static void check_truncated(job *j, void *unused) {
    (void)unused;
    const text t = write_all_kinds(j);
    for (size_t size = 0; size < t.length; size++)
        assert_false(read_all_kinds(j, t.data, size));
    assert_true(read_all_kinds(j, t.data, t.length));
    record nothing = record_of(NULL, 0);
    assert_true(record_done(&nothing));
    assert_int_equal(record_int(&nothing), 0);
    assert_true(nothing.bad);
}

static void test_truncated(void **state) {
    (void)state;
    run(check_truncated);
}

/* A length followed by `count` bytes "xy\0z…". */
static record length_record(job *j, int64_t length, size_t count) {
    text t = text_new(j);
    record_put_int(&t, length);
    text_add_bytes(&t, "xy\0zzzzz", count);
    return record_of(t.data, t.length);
}

static void check_lengths(job *j, void *unused) {
    (void)unused;
    static const int64_t wrong[] = {-2, INT64_MIN, 3, INT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        record r = length_record(j, wrong[i], 2);
        assert_string_equal(record_text(&r, j), "");
        assert_true(r.bad);
        assert_int_equal(record_int(&r), 0); /* bad for good */
        r = length_record(j, wrong[i], 2);
        assert_int_equal(record_bytes(&r).size, 0);
        assert_true(r.bad);
    }
    record r = length_record(j, -2, 8);
    record_bytes(&r);
    assert_int_equal(record_int(&r), 0); /* also where there are bytes for it */
    assert_true(r.bad);
    r = length_record(j, -1, 0);
    assert_int_equal(record_bytes(&r).size, 0); /* bytes cannot be NULL */
    assert_true(r.bad);
    r = length_record(j, 2, 2);
    assert_string_equal(record_text(&r, j), "xy");
    assert_true(record_done(&r));
    r = length_record(j, 4, 4);
    assert_string_equal(record_text(&r, j), ""); /* a NUL inside */
    assert_true(r.bad);
    r = length_record(j, 4, 4);
    assert_int_equal(record_bytes(&r).size, 4);
    assert_true(record_done(&r));
}

static void test_lengths(void **state) {
    (void)state;
    run(check_lengths);
}

static void check_small(job *j, void *unused) {
    (void)unused;
    static const struct {
        int64_t value;
        int least, most;
        bool good;
    } cases[] = {
        {0, 0, 0, true},
        {-1, -1, 5, true},
        {5, -1, 5, true},
        {6, -1, 5, false},
        {-2, -1, 5, false},
        {INT_MAX, 0, INT_MAX, true},
        {1LL << 32, 0, 5, false},
        {INT64_MIN, INT_MIN, INT_MAX, false},
        {(1LL << 32) + 1, 0, 5, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text t = text_new(j);
        record_put_int(&t, cases[i].value);
        record r = record_of(t.data, t.length);
        const int read = record_small(&r, cases[i].least, cases[i].most);
        assert_int_equal(read, cases[i].good ? cases[i].value : 0);
        assert_int_equal(r.bad, !cases[i].good);
    }
    record r = record_of("", 0);
    assert_int_equal(record_small(&r, 0, 9), 0);
    assert_true(r.bad);
}

static void test_small_integers(void **state) {
    (void)state;
    run(check_small);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_bytes_are_the_same_everywhere),
    cmocka_unit_test(test_truncated),      cmocka_unit_test(test_lengths),
    cmocka_unit_test(test_small_integers),
};

TEST_GROUP(record, NULL, NULL)
