/* Specs changed at random, by a fixed seed: each loads or fails as a spec does, with a line.
   SPEC_FUZZ_RUNS in the environment sets how many; meant for a build with sanitizers. */
#include <stdlib.h>

#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

enum { RUNS = 20000, LONGEST = 4096, MOST_CHANGES = 2 };

static const char *const seeds[] = {
    "return stencil { name = 'a', dtype = 'double',\n"
    "  fields = { w = 'out', c = 'in', u = { use = 'inout', levels = 2 } },\n"
    "  parameters = { k = 1, q = true }, boundary = { x = 'periodic', y = { constant(2), 'zero' } "
    "},\n"
    "  schedule = { method = 'tiled', tile = { x = 3 }, coarsen = { y = 2 }, vector = 2 },\n"
    "  update = function(f, p)\n"
    "    local u, s = f.u, 0\n"
    "    for i, v in ipairs { 1, 2, 3 } do s = s + v * u(i, 0) end\n"
    "    for k, v in pairs { a = 1, b = 2 } do s = min(s, v, u.prev(0, 1)) end\n"
    "    return { u = where(all(lt(s, p.k), invert(ge(u(0, 0), 2))), s ^ 2, -s / p.q),\n"
    "      w = apply(laplacian { dims = 2, spacing = { x = 2 } } + p.k * identity(), f.c) }\n"
    "  end }",
    "local w = table.concat({ 'a', 1, select('#', 1, 2) })\n"
    "local t = {}\n"
    "table.insert(t, stencil { name = w, shape = points { {0, 0}, {1, -1} },\n"
    "  coefficients = { 1, param 'z' } })\n"
    "t[2] = stencil { name = 'b', dims = 3, shape = box(3, 1),\n"
    "  coefficients = identity() - tonumber('0.5') * laplacian { dims = 3 } / param 'h' }\n"
    "return t",
    "return { stencil { name = 'c', shape = star(2, 1), coefficients = { 1, 2, 3, 4, 5 },\n"
    "  tune = { method = { 'tiled', 'temporal' }, tile = { { x = 32, y = 8 }, { x = 64 } },\n"
    "    coarsen = { y = { 1, 4 } }, time = { 1, 4 }, lane = { x = 6 }, stages = { 2 } } },\n"
    "  reduce { name = 'd', tune = { algorithm = { 'one-pass' }, threads = { 128 } } } }",
};

static const char *const pieces[] = {
    "nil",    "1e308",     "0/0", "-1",     "u",          "p.k",    "{",          "}",
    "(",      ")",         "=",   ",",      "f.u",        "where",  "lt",         "star",
    "box",    "1/0",       "''",  "ipairs", "identity()", "update", "function()", "end",
    "return", "param 'k'", "..",  "2^53",   "pairs",      "true",   "math.huge",  "#",
};

/* Marsaglia's xorshift */
static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state * 2654435769u >> 8;
}

static size_t insert(char *text, size_t length, size_t at, const char *piece, size_t count) {
    if (length + count > LONGEST)
        return length;
    memmove(text + at + count, text + at, length - at);
    memcpy(text + at, piece, count);
    return length + count;
}

static size_t erase(char *text, size_t length, size_t at, size_t count) {
    if (at + count > length)
        count = length - at;
    memmove(text + at, text + at + count, length - at - count);
    return length - count;
}

static size_t change(char *text, size_t length, uint32_t *random) {
    const size_t at = next_random(random) % (length + 1);
    const char *piece = pieces[next_random(random) % (sizeof pieces / sizeof *pieces)];
    const char *other = seeds[next_random(random) % 2];
    switch (next_random(random) % 5) {
    case 0:
        return insert(text, length, at, piece, strlen(piece));
    case 1:
        return erase(text, length, at, next_random(random) % 20);
    case 2: /* a piece in place of another */
        length = erase(text, length, at, next_random(random) % 8);
        return insert(text, length, at, piece, strlen(piece));
    case 3: { /* part of a spec */
        const size_t from = next_random(random) % strlen(other);
        const size_t most = strlen(other) - from, count = next_random(random) % 60;
        return insert(text, length, at, other + from, count < most ? count : most);
    }
    default:
        if (at < length)
            text[at] = (char)(1 + next_random(random) % 126);
        return length;
    }
}

static void print_models(job *j, const spec *s) {
    for (int i = 0; i < s->count; i++) {
        text shown = text_new(j);
        model_print(s->subjects[i]->expressions, MODEL_ALL, &shown);
        assert_true(shown.length > 0);
    }
}

static void test_unchanged_specs(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        loaded l = load(seeds[i]);
        assert_string_equal(job_error(l.job), "");
        job_end(l.job);
    }
}

static void test_changed_specs(void **state) {
    (void)state;
    const char *wanted = getenv("SPEC_FUZZ_RUNS");
    const long runs = wanted != NULL ? atol(wanted) : RUNS;
    uint32_t random = 1;
    long good = 0;
    char *text = malloc(LONGEST + 1);
    for (long run = 0; run < runs; run++) {
        const char *seed = seeds[run % 2];
        size_t length = strlen(seed);
        memcpy(text, seed, length);
        for (uint32_t i = 1 + next_random(&random) % MOST_CHANGES; i > 0; i--)
            length = change(text, length, &random);
        text[length] = '\0';
        loaded l = load(text);
        const bool fine = l.fault == FAULT_NONE;
        if (!fine && (l.fault != FAULT_SPEC || (job_error_line(l.job) < 1 && text[0] != '\x1b')))
            print_error("%s\n%s\n", job_error(l.job), text);
        assert_true(fine || l.fault == FAULT_SPEC);
        assert_true(fine || job_error_line(l.job) >= 1 || text[0] == '\x1b');
        if (fine)
            print_models(l.job, l.spec);
        good += fine;
        job_end(l.job);
    }
    free(text);
    print_message("%ld of %ld load\n", good, runs);
    assert_true(good > runs / 1000 && good < runs);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_unchanged_specs),
                                          cmocka_unit_test(test_changed_specs)};

TEST_GROUP(fuzz, NULL, NULL)
