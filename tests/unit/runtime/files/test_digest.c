/* Digests: SHA-256 of pieces and their lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "tests/unit/group.h"

static void expect(const blob *pieces, int count, const char *wanted) {
    const digest d = digest_of(pieces, count);
    char hex[DIGEST_TEXT];
    digest_print(&d, hex);
    assert_string_equal(hex, wanted);
}

/* As `printf '\2\0\0\0\0\0\0\0ab\1\0\0\0\0\0\0\0c' | sha256sum` has it, and so on. */
static void test_known_digests(void **state) {
    (void)state;
    expect(NULL, 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    const blob ab_c[] = {digest_piece("ab"), digest_piece("c")};
    expect(ab_c, 2, "43ee655579de01ca739b3f95c1c2d3f46d353b2c0df818064ea594506cdb2617");
    const blob a_bc[] = {digest_piece("a"), digest_piece("bc")};
    expect(a_bc, 2, "9a8acca1b6c6c0befd3fbc756aed625da998c998f7252e738c4ef061906b9b21");
    const blob nothing[] = {{NULL, 0}}, empty[] = {digest_piece("")};
    expect(nothing, 1, "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc");
    expect(empty, 1, "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc");
}

static void test_equality(void **state) {
    (void)state;
    const blob one = digest_piece("one"), two = digest_piece("two");
    const digest a = digest_of(&one, 1), b = digest_of(&one, 1), c = digest_of(&two, 1);
    assert_true(digest_equal(&a, &b));
    assert_false(digest_equal(&a, &c));
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_digests),
                                          cmocka_unit_test(test_equality)};

TEST_GROUP(digest, NULL, NULL)
