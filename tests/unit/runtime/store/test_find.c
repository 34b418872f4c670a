/* Lookups of tuning results, from exact to nearest, and what they must not find. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/store/results_scene.h"

static scene s;

static int enter(void **state) {
    return scene_enter(&s, state);
}

static int leave(void **state) {
    return scene_leave(&s, state);
}

static void test_exact_and_nearest(void **state) {
    (void)state;
    const result_place small = place_of(128, 128, 128), large = place_of(512, 512, 512);
    const result_place flat = place_of(4096, 4096, 0);
    put(&s, &small, "small", 1e-4);
    put(&s, &large, "large", 1e-2);
    put(&s, &large, "large, slower", 2e-2);
    put(&s, &flat, "flat", 1e-6);
    result_match m = find(&s, &large);
    assert_int_equal(m.how, RESULT_EXACT);
    assert_string_equal(m.plan, "large");
    assert_string_equal(m.found, "exact");
    same_number(m.distance, 0);
    same_number(m.median, 1e-2);
    const result_place between = place_of(300, 256, 256); /* nearer to 512³ by the first axis */
    m = find(&s, &between);
    assert_int_equal(m.how, RESULT_NEAREST);
    assert_string_equal(m.plan, "large");
    assert_string_equal(m.found, "nearest 512x512x512");
    assert_int_equal(m.size.number[2], 512);
    assert_true(fabs(m.distance - (log(512 / 300.) + 2 * log(2))) < 1e-12);
    const result_place tiny = place_of(1, 1, 1);
    assert_string_equal(find(&s, &tiny).found, "nearest 128x128x128");
    /* Sizes of another number of axes are of another kind. */
    const result_place line = place_of(4096, 0, 0);
    assert_true(finds(&s, &line, NULL));
    assert_int_equal(s.warnings, 0);
}

static void test_numbers_that_are_none(void **state) {
    (void)state;
    const result_size a = {3, {0, 100, 7}}, b = {3, {1, 100, 7}}, c = {3, {8, 50, 7}},
                      d = {2, {8, 50}};
    same_number(results_distance(&a, &b), 0);
    assert_true(fabs(results_distance(&a, &c) - log(16)) < 1e-12);
    same_number(results_distance(&c, &a), results_distance(&a, &c));
    assert_true(isinf(results_distance(&c, &d)));
    result_place p = place_of(100, 100, 0), q = p;
    p.size.number[1] = 0, q.size.number[1] = 1;
    put(&s, &p, "none", 1);
    assert_string_equal(find(&s, &q).plan, "none");
}

static void test_steps(void **state) {
    (void)state;
    result_place one = place_of(256, 256, 0), ten = one, hundred = one;
    ten.steps = 10;
    hundred.steps = 100;
    put(&s, &ten, "fused", 1);
    assert_true(finds(&s, &one, NULL));
    result_match m = find(&s, &hundred);
    assert_int_equal(m.how, RESULT_NEAREST);
    assert_string_equal(m.found, "nearest 256x256, 10 steps");
    assert_true(fabs(m.distance - log(10)) < 1e-12);
    put(&s, &one, "single", 1);
    assert_string_equal(find(&s, &one).plan, "single");
    assert_string_equal(find(&s, &ten).plan, "fused");
}

static bool fits_wide(void *user, const char *plan) {
    assert_ptr_equal(user, &s);
    return strstr(plan, "wide") != NULL;
}

static void test_plans_that_do_not_fit(void **state) {
    (void)state;
    const result_place a = place_of(64, 64, 0), b = place_of(80, 64, 0), c = place_of(512, 512, 0);
    put(&s, &a, "narrow", 1);
    put(&s, &b, "narrow", 1);
    put(&s, &b, "wide, slow", 3);
    put(&s, &b, "wide", 2);
    put(&s, &c, "wide too", 1);
    result_match m = find_fitting(&s, &a, fits_wide);
    assert_string_equal(m.plan, "wide");
    assert_string_equal(m.found, "nearest 80x64");
    result r = results_blank("wide", RESULT_FAILED, "it does not fit");
    store(&s, &b, &r);
    assert_string_equal(find_fitting(&s, &a, fits_wide).plan, "wide, slow");
}

/* Each of these is part of what a plan was measured for. */
static void test_other_keys(void **state) {
    (void)state;
    const result_place p = place_of(64, 64, 64);
    put(&s, &p, "plan", 1);
    result_place q = p;
    q.model = "u = u(0)\n";
    assert_true(finds(&s, &q, NULL));
    q = p, q.family = "scan";
    assert_true(finds(&s, &q, NULL));
    q = p, q.device.name = "Fake GPU 2";
    assert_true(finds(&s, &q, NULL));
    q = p, q.device.arch = "sm_80";
    assert_true(finds(&s, &q, NULL));
    q = p, q.device.kind = "cpu";
    assert_true(finds(&s, &q, NULL));
    q = p, q.device.multiprocessors = 114;
    assert_true(finds(&s, &q, NULL));
    q = p, q.device.memory = (int64_t)40 << 30;
    assert_true(finds(&s, &q, NULL));
    /* A name is what a person calls it, and a driver may keep a little memory more. */
    q = p, q.name = "warmth", q.device.memory -= 5 << 20;
    assert_true(finds(&s, &q, "plan"));
}

static void test_other_generators(void **state) {
    (void)state;
    result_place old = place_of(64, 64, 64), now = old;
    old.generator = "0.0.8";
    put(&s, &old, "plan", 1);
    old.generator = "0.0.9";
    put(&s, &old, "plan", 1);
    result_match m = find(&s, &now);
    assert_int_equal(m.how, RESULT_NONE);
    assert_string_equal(m.note, "results of stencilgen 0.0.8, 0.0.9 are not used");
    put(&s, &now, "new", 5);
    m = find(&s, &now);
    assert_string_equal(m.plan, "new");
    assert_null(m.note);
}

static void test_many_places(void **state) {
    (void)state;
    enum { SIZES = 60 };
    for (int i = 1; i <= SIZES; i++) {
        const result_place p = place_of(16 * i, 16, 0);
        char plan[32];
        sprintf(plan, "for %d", 16 * i);
        put(&s, &p, plan, 1);
    }
    for (int i = 1; i <= SIZES; i++) {
        const result_place p = place_of(16 * i + 3, 16, 0);
        char plan[32];
        sprintf(plan, "for %d", 16 * i);
        assert_true(finds(&s, &p, plan));
    }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_exact_and_nearest),
    IN_FOLDER(test_numbers_that_are_none),
    IN_FOLDER(test_steps),
    IN_FOLDER(test_plans_that_do_not_fit),
    IN_FOLDER(test_other_keys),
    IN_FOLDER(test_other_generators),
    IN_FOLDER(test_many_places),
};

TEST_GROUP(find, NULL, NULL)
