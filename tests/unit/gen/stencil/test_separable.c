/* Separable filters: which are recognised, their factors, and the models of their passes. */
#include <math.h>

#include "gen/reference/reference.h"
#include "gen/stencil/search.h"
#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

#define FILTER(keys) "return convolution { name = 'a', " keys " }"

static const separable *factors(loaded *l, const char *text) {
    const model *m = load_model(l, text);
    assert_non_null(m->separable);
    assert_true((m->separable->why == NULL) == (m->separable->count > 0));
    return m->separable;
}

static void expect_none(const char *text, const char *why) {
    loaded l;
    const separable *s = factors(&l, text);
    assert_int_equal(s->count, 0);
    assert_string_equal(s->why, why);
    job_end(l.job);
}

/* The largest weight is 8, in the last row and second column. */
static void test_factors(void **state) {
    (void)state;
    loaded l;
    const separable *s =
        factors(&l, FILTER("weights = { { 1, 4, -2 }, { 0, 0, 0 }, { -2, -8, 4 } }"));
    assert_int_equal(s->count, 2);
    assert_int_equal(s->axes[0], 0);
    assert_int_equal(s->axes[1], 1);
    assert_true(s->factor[0][0] == -2 && s->factor[0][1] == -8 && s->factor[0][2] == 4);
    assert_true(s->factor[1][0] == -0.5 && s->factor[1][1] == 0 && s->factor[1][2] == 1);
    assert_true(s->least == 0.5);
    job_end(l.job);
    s = factors(&l, FILTER("weights = { { { 1, 2 } }, { { 3, 6 } } }"));
    assert_int_equal(s->count, 2);
    assert_int_equal(s->axes[1], 2);
    assert_true(s->factor[0][0] == 3 && s->factor[1][0] == 1.0 / 3);
    job_end(l.job);
}

/* Of a Gaussian by its formula, as of one by its factors. */
static void test_gaussian(void **state) {
    (void)state;
    loaded l;
    const separable *s = factors(
        &l,
        "local w, sum = {}, 0\n"
        "for j = 1, 17 do w[j] = {} for i = 1, 17 do\n"
        "  w[j][i] = math.exp(-((i - 9) ^ 2 + (j - 9) ^ 2) / 7.3)\n  sum = sum + w[j][i] end end\n"
        "for j = 1, 17 do for i = 1, 17 do w[j][i] = w[j][i] / sum end end\n"
        "return convolution { name = 'a', weights = w, dtype = 'double' }");
    assert_int_equal(s->count, 2);
    for (int i = 0; i < 17; i++)
        assert_true(s->factor[1][i] > 0 && s->factor[1][i] <= 1);
    job_end(l.job);
}

static void test_none(void **state) {
    (void)state;
    const char *products = "the weights are not products of one factor an axis";
    const char *other = "some weights hold parameters, or are too small for the dtype";
    const char *line = "the weights lie along one axis";
    expect_none(FILTER("weights = { { 1, 2 }, { 3, 4 } }"), products);
    expect_none(FILTER("weights = { { 1, 1 }, { 1, 0 } }"), products);
    expect_none(FILTER("weights = { { 1, 1 }, { 1, 1e-300 } }"), other);
    expect_none(FILTER("weights = { { 1, 3 }, { 1 / 3, 1.0000000000001 } }"), products);
    expect_none(FILTER("weights = { { 0, 0 }, { 0, 0 } }"), products);
    expect_none(FILTER("weights = { { 1e-30, 1 }, { 1e-39 * 1e-30, 1e-39 } }"), other);
    expect_none(FILTER("weights = { 1, 2, 3 }"), line);
    expect_none(FILTER("weights = { { 1 }, { 2 } }"), line);
    expect_none(FILTER("weights = { { 5 } }"), line);
    expect_none(FILTER("weights = { { 1, 1 }, { 1, param 'k' } }"), other);
    loaded l;
    assert_null(
        load_model(&l, "return stencil { name = 'a', shape = box(2, 0), coefficients = { 1 } }")
            ->separable);
    job_end(l.job);
}

/* 1 and 1e-13 apart are apart; 1e-14 is within the tolerance. */
static void test_tolerance(void **state) {
    (void)state;
    loaded l;
    assert_int_equal(factors(&l, FILTER("weights = { { 2, 1 }, { 1, 0.5 + 2^-50 } }"))->count, 2);
    job_end(l.job);
    assert_int_equal(factors(&l, FILTER("weights = { { 2, 1 }, { 1, 0.5 + 2^-46 } }"))->count, 0);
    job_end(l.job);
}

/* A parameter that becomes a number makes a filter separable. */
static void test_constants(void **state) {
    (void)state;
    loaded l;
    const spec_assignment k = {"k", 4};
    const spec_constants constants = {&k, 1, 0, NULL};
    l = (loaded){.path = "test.lua",
                 .text = FILTER("weights = { { 1, 2 }, { 2, param 'k' } }"),
                 .constants = &constants};
    assert_int_equal(job_run(&allocator_libc, load_body, &l, &l.job), FAULT_NONE);
    assert_int_equal(l.spec->subjects[0]->expressions->separable->count, 2);
    job_end(l.job);
}

/* The passes of a plan, each with taps along its own axis. */
static void test_passes(void **state) {
    (void)state;
    loaded l;
    const model *m =
        load_model(&l, FILTER("boundary = 'clamp', weights =\n"
                              "{ { { 1, 2, 1 }, { 2, 4, 2 } }, { { 3, 6, 3 }, { 6, 12, 6 } } }"));
    job *j = m->pool->job;
    schedule wanted = {.passes = 3};
    const int64_t size[AXES] = {30, 20, 10};
    const plan *p = plan_make(j, m, &wanted, gpu_find("sm_90"), size, 1);
    assert_int_equal(p->pass_count, 3);
    assert_int_equal(p->schedule.passes, 3);
    assert_false(p->is_pass);
    double seconds = 0;
    for (int k = 0; k < 3; k++) {
        const model *pass = p->pass[k]->facts->model;
        assert_true(p->pass[k]->is_pass);
        assert_int_equal(pass->points, k == 0 ? 3 : 2);
        for (int axis = 0; axis < AXES; axis++) {
            assert_int_equal(pass->low[axis], axis == k);
            assert_int_equal(pass->sides[axis][0].kind, k == 0 ? BOUNDARY_CLAMP : BOUNDARY_FIXED);
        }
        seconds += p->pass[k]->estimate.seconds;
    }
    assert_true(fabs(p->estimate.seconds - seconds) < 1e-12 * seconds);
    text line = text_new(j);
    schedule_print(&p->schedule, 3, &line);
    assert_non_null(strstr(line.data, " passes=3"));
    job_end(l.job);
}

/* The reference's value and bound at the middle of a 3x3 image that is `middle` there, else 0. */
static double middle_of(const model *m, double middle, double *bound) {
    job *j = m->pool->job;
    const int64_t size[AXES] = {3, 3, 1};
    double cells[9] = {0}, value;
    float singles[9] = {0};
    cells[4] = middle;
    singles[4] = (float)middle;
    const bool is_float = m->dtype == DTYPE_FLOAT;
    const reference_array array = {is_float ? (const void *)singles : cells, {1, 3, 9}, NULL};
    const reference *r = reference_new(j, m, NULL);
    reference_row(r, &array, size, NULL, 1, 1, 0, 1, job_alloc(j, reference_scratch(r, 1)), &value,
                  bound, NULL);
    return value;
}

/* A weight at the edge of the tolerance: passes make 0.5 of it. */
static void test_bound(void **state) {
    (void)state;
    loaded l;
    double bound;
    const model *m = load_model(&l, FILTER("dtype = 'double',\n"
                                           "weights = { { 2, 1 }, { 1, 0.5 + 0.5 * 2^-47.1 } }"));
    assert_int_equal(m->separable->count, 2);
    assert_true(fabs(0.5 - middle_of(m, 1, &bound)) > 0x1p-49);
    assert_true(0x1p-48 <= bound && bound < 1e-13);
    job_end(l.job);
}

/* The first pass makes 1e36 · 1000, which float does not hold, before the second takes a thousandth
   of it; but one kernel would make 1e36. */
static void test_overflow(void **state) {
    (void)state;
    loaded l;
    double bound;
    const model *m = load_model(&l, FILTER("weights = { { 1000, 1000 }, { 1, 1 } }"));
    assert_int_equal(m->separable->count, 2);
    assert_true(m->separable->least == 0.001);
    middle_of(m, 1e31, &bound);
    assert_true(bound < INFINITY);
    assert_true(middle_of(m, 1e36, &bound) < 1.1e36);
    assert_true(bound == INFINITY);
    job_end(l.job);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_factors),   cmocka_unit_test(test_gaussian),
    cmocka_unit_test(test_none),      cmocka_unit_test(test_tolerance),
    cmocka_unit_test(test_constants), cmocka_unit_test(test_passes),
    cmocka_unit_test(test_bound),     cmocka_unit_test(test_overflow),
};

TEST_GROUP(separable, NULL, NULL)
