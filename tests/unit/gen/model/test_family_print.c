/* What tuning results are kept by: the same text for specs that mean the same, however they are
   written and whatever schedule they ask for, and another for those that do not. */
#include "tests/unit/gen/spec/load_spec.h"

#include "gen/model/family.h"
#include "tests/unit/group.h"

typedef struct printing {
    const subject *subject;
    char text[4096];
} printing;

static void print(job *j, void *argument) {
    printing *p = argument;
    text t = text_new(j);
    p->subject->family->print(p->subject, MODEL_MEANING, &t);
    snprintf(p->text, sizeof p->text, "%s", t.data);
}

static void print_spec(const char *text, char out[4096]) {
    loaded l = load(text);
    job *j;
    if (l.fault != FAULT_NONE)
        fail_msg("%s: %s", text, job_error(l.job));
    printing p = {.subject = l.spec->subjects[0]};
    assert_int_equal(job_run(&allocator_libc, print, &p, &j), FAULT_NONE);
    strcpy(out, p.text);
    job_end(j);
    job_end(l.job);
}

/* The first two mean the same, whatever they are called, the others each something else. */
enum { SPECS = 7 };
static const char *const groups[][SPECS] = {
    {"return stencil { name = 'a', shape = star(2, 1), coefficients = { 1, 2, 3, 4, 5 } }",
     "local c = {} for i = 1, 5 do c[i] = i end -- the same\n"
     "return stencil { coefficients = c, dtype = 'float',\n  shape = star(2, 1), name = 'b',\n"
     "  schedule = { method = 'tiled', tile = { x = 32, y = 4 } } }",
     "return stencil { name = 'a', shape = star(2, 1), coefficients = { 1, 2, 3, 4, 6 } }",
     "return stencil { name = 'a', shape = star(2, 1), coefficients = { 1, 2, 3, 4, 5 },\n"
     "  dtype = 'double' }",
     "return stencil { name = 'a', shape = star(2, 1), coefficients = { 1, 2, 3, 4, 5 },\n"
     "  boundary = 'periodic' }"},
    {"return stencil { name = 'a', dims = 1, parameters = { k = 0.5, m = 2 },\n"
     "  update = function(u, p) return p.k * u(0) + p.m * u(1) end }",
     "return stencil { name = 'b', dims = 1, parameters = { m = 1e-3, k = 1 / 3 },\n"
     "  update = function(u, p) return p.k * u(0) + p.m * u(1) end }",
     "return stencil { name = 'a', dims = 1, parameters = { k = 0.5, m = 2 },\n"
     "  update = function(u, p) return p.k * u(0) + p.m * u(2) end }"},
    {"return reduce { name = 'a', op = 'sum' }",
     "return reduce { op = 'sum', name = 'b', algorithm = 'shared', dtype = 'float' }",
     "return reduce { name = 'a', op = 'max' }",
     "return reduce { name = 'a', op = 'sum', dtype = 'double' }",
     "return reduce { name = 'a', op = 'sum', segmented = true }",
     "return reduce { name = 'a', op = 'sum', inputs = 2, map = function(x, y) return x*y end }",
     "return reduce { name = 'a', op = 'sum', inputs = 2, map = function(x, y) return x+y end "
     "}"},
    {"return scan { name = 'a', op = 'sum' }",
     "return scan { op = 'sum', name = 'b', algorithm = 'look-back' }",
     "return scan { name = 'a', op = 'sum', kind = 'exclusive' }",
     "return scan { name = 'a', op = 'sum', kind = 'exclusive', init = 5 }",
     "return scan { name = 'a', op = 'sum', dtype = 'double' }",
     "return scan { name = 'a', op = 'sum', dtype = 'float', deterministic = true }"},
    {"return merge { name = 'a' }", "return merge { name = 'b', algorithm = 'merge-path' }",
     "return merge { name = 'a', values = 'float' }",
     "return merge { name = 'a', keys = 'double' }",
     "return merge { name = 'a', order = 'descending' }"},
    {"return spmv { name = 'a' }", "return spmv { name = 'b', format = 'ell' }",
     "return spmv { name = 'a', dtype = 'double' }", "return spmv { name = 'a', vectors = 2 }",
     "return spmv { name = 'a', diagonals = { { 0, 2 } } }",
     "return spmv { name = 'a', index = 'int64' }"},
};

static void test_texts(void **state) {
    (void)state;
    static char texts[SPECS][4096];
    for (size_t f = 0; f < sizeof groups / sizeof *groups; f++) {
        int count = 0;
        for (; count < SPECS && groups[f][count] != NULL; count++)
            print_spec(groups[f][count], texts[count]);
        for (int a = 0; a < count; a++)
            for (int b = 0; b < a; b++)
                if ((strcmp(texts[a], texts[b]) == 0) != (a == 1 && b == 0))
                    fail_msg("%s\n%s\nare '%s' and\n'%s'", groups[f][b], groups[f][a], texts[b],
                             texts[a]);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts)};

TEST_GROUP(family_print, NULL, NULL)
