/* Builds and tuning results: which plan a build takes, and how it reports its choice. */
#include "base/clock.h"
#include "gen/model/family.h"
#include "runtime/api/build.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/store/results_scene.h"

static scene s;
static sg_context *context;

static int enter(void **state) {
    if (scratch_enter(state) != 0)
        return -1;
    scene_open(&s, "results.db");
    const sg_options options = {
        .struct_size = sizeof options, .device = "cpu", .threads = 1, .database = s.path};
    return sg_open(&context, &options) != SG_OK;
}

static int leave(void **state) {
    sg_close(context);
    scene_close(&s);
    return scratch_leave(state);
}

static const char heat[] = "return stencil { name = 'a', shape = star(2, 1),"
                           " coefficients = { 1, 2, 3, 4, 5 } }";
static const char fixed[] = "return stencil { name = 'a', shape = star(2, 1),"
                            " coefficients = { 1, 2, 3, 4, 5 }, schedule = { method = 'naive' } }";
static const char sum[] = "return reduce { name = 'a' }";

/* ---- results ------------------------------------------------------------------------------- */

typedef struct knowing {
    sg_build_options options;
    const char *plan;
    double seconds;
} knowing;

static void know(job *j, void *argument) {
    const knowing *k = argument;
    build_request r = {.context = context, .given = &k->options};
    result_place place;
    build_read(j, &r);
    if (!results_place_of(j, &r, &place) || put(&s, &place, k->plan, k->seconds) != FAULT_NONE)
        abort();
}

static void measured(const char *text, int64_t x, int64_t y, const char *plan, double seconds) {
    knowing k = {.options = {.struct_size = sizeof k.options, .text = text, .size = {x, y}},
                 .plan = plan,
                 .seconds = seconds};
    job *j;
    assert_int_equal(job_run(&allocator_libc, know, &k, &j), FAULT_NONE);
    job_end(j);
}

static sg_kernel *build(const char *text, int64_t x, int64_t y, const char *schedule) {
    const sg_build_options options = {.struct_size = sizeof options,
                                      .text = text,
                                      .size = {x, y},
                                      .schedule = schedule,
                                      .source_only = 1};
    sg_kernel *k;
    if (sg_build(context, "spec", &options, &k) != SG_OK)
        fail_msg("%s", sg_error(context));
    return k;
}

/* The plan NULL: any. */
static void expect(const char *text, int64_t x, int64_t y, const char *schedule, const char *plan,
                   const char *found) {
    sg_kernel *k = build(text, x, y, schedule);
    sg_kernel_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_kernel_facts(k, &info), SG_OK);
    if (plan != NULL)
        assert_string_equal(sg_kernel_text(k, SG_TEXT_PLAN), plan);
    assert_string_equal(info.found, found);
    sg_release(k);
}

static const char *own_line(const char *text, const char *schedule, char *out, size_t size) {
    sg_kernel *k = build(text, 640, 480, schedule);
    snprintf(out, size, "%s", sg_kernel_text(k, SG_TEXT_PLAN));
    sg_release(k);
    return out;
}

/* ---- tests --------------------------------------------------------------------------------- */

static void test_none(void **state) {
    (void)state;
    expect(heat, 640, 480, NULL, NULL, "by the model");
    assert_int_equal(access(s.path, F_OK), -1);
}

/* Plans of another version make other kernels. */
static void test_other_version(void **state) {
    (void)state;
    measured(heat, 640, 480, "naive tile=64x4", 2);
    run_sql(s.path, "UPDATE place SET generator = '0.0.9'");
    expect(heat, 640, 480, NULL, NULL, "by the model; results of stencilgen 0.0.9 are not used");
}

static void test_grids(void **state) {
    (void)state;
    char naive[128], tiled[128];
    own_line(heat, "naive tile=64x4", naive, sizeof naive);
    own_line(heat, "tiled tile=64x4", tiled, sizeof tiled);
    measured(heat, 640, 480, naive, 2);
    measured(heat, 640, 480, tiled, 1);
    measured(heat, 640, 480, "no plan at all", 0.5);
    expect(heat, 640, 480, "streamed", NULL, "by the model");
    expect(heat, 641, 480, NULL, tiled, "measured at 640x480, the nearest");
    expect(heat, 641, 480, "tile=64x4", tiled, "measured at 640x480, the nearest");
    expect(heat, 641, 480, "naive", naive, "measured at 640x480, the nearest");
    expect(fixed, 641, 480, NULL, naive, "measured at 640x480, the nearest");
    expect(heat, 641, 480, "naive tile=32x2", NULL, "by the model");
    expect(heat, 641, 480, tiled, tiled, "given by the schedule");
    expect(heat, 642, 480, naive, naive, "given by the schedule");
    /* Who asked before has it in memory. */
    expect(heat, 640, 480, "naive tile=64x4", naive, "by the model");
    atomic_fetch_add(&context->sweeps, 1);
    expect(heat, 640, 480, "tile=64x4", tiled, "measured at this size");
    expect(heat, 640, 480, NULL, tiled, "measured at this size");
}

static void test_lists(void **state) {
    (void)state;
    char shared[128];
    sg_kernel *k = build(sum, 5000, 0, "shared threads=128");
    snprintf(shared, sizeof shared, "%s", sg_kernel_text(k, SG_TEXT_PLAN));
    sg_release(k);
    measured(sum, 5000, 0, shared, 1);
    expect(sum, 5000, 0, NULL, shared, "measured at this size");
    expect(sum, 6000, 0, NULL, shared, "measured at 5000, the nearest");
    expect(sum, 5000, 0, "threads=256", NULL, "by the model");
}

/* A plan that cannot be had at another size. */
static void test_refused(void **state) {
    (void)state;
    measured(heat, 64, 48, "tiled tile=1x1", 1);
    expect(heat, 64, 48, NULL, NULL, "by the model");
}

static void test_damaged(void **state) {
    (void)state;
    write_content(s.path, "this is no database", 19);
    expect(heat, 640, 480, NULL, NULL, "by the model");
}

typedef struct timing {
    double seconds;
    const char *plan;
} timing;

static void ask(job *j, void *argument) {
    enum { TIMES = 50 };
    timing *t = argument;
    const sg_build_options options = {
        .struct_size = sizeof options, .text = heat, .size = {640, 480}};
    build_request r = {.context = context, .given = &options};
    const char *found;
    build_read(j, &r);
    t->plan = tuned_plan(j, &r, &found);
    const double begin = clock_seconds();
    for (int i = 0; i < TIMES; i++)
        tuned_plan(j, &r, &found);
    t->seconds = (clock_seconds() - begin) / TIMES;
}

static void test_time(void **state) {
    (void)state;
    char tiled[128];
    timing t;
    job *j;
    measured(heat, 640, 480, own_line(heat, "tiled tile=64x4", tiled, sizeof tiled), 1);
    assert_int_equal(job_run(&allocator_libc, ask, &t, &j), FAULT_NONE);
    assert_non_null(t.plan);
    job_end(j);
    print_message("a lookup takes %.1f us\n", 1e6 * t.seconds);
#if !defined(SG_SANITIZE) && defined(NDEBUG)
    assert_true(t.seconds < 1e-3); /* on a machine that others use too */
#endif
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_none, enter, leave),
    cmocka_unit_test_setup_teardown(test_other_version, enter, leave),
    cmocka_unit_test_setup_teardown(test_grids, enter, leave),
    cmocka_unit_test_setup_teardown(test_lists, enter, leave),
    cmocka_unit_test_setup_teardown(test_refused, enter, leave),
    cmocka_unit_test_setup_teardown(test_damaged, enter, leave),
    cmocka_unit_test_setup_teardown(test_time, enter, leave),
};

TEST_GROUP(tuned, NULL, NULL)
