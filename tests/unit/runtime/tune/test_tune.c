/* Sweeps on the cpu device: what they store, how they continue, how they report wrong
   candidates, and that later builds take their results. Kernels are compiled once for all tests. */
#include <signal.h>

#include "runtime/launch/context.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/tune/tune_scene.h"

/* ---- a device that spoils the results of some kernels ---------------------------------------- */

static int spoil_after = -1; /* launches; −1: none */
static device_ops spoiling_ops;

/* Times that go by a launch's blocks, and by how often it was timed. */
static bool fake_times;
static int64_t blocks, launches_of_79, drift_of_79 = 12;

static double faking_time(device *d, job *j, void (*body)(job *, void *), void *argument) {
    blocks = 0;
    const double seconds = device_cpu.time(d, j, body, argument);
    if (!fake_times)
        return seconds;
    if (blocks == 79) /* which was lucky at first */
        return launches_of_79++ < drift_of_79 ? 1 : 1.025;
    return blocks == 40 ? 1.01 : blocks == 20 ? 1.02 : 2;
}

static fault spoiling_launch(device *d, const module *m, int launch, const int64_t grid[3],
                             const void *arguments, size_t bytes, void *stream, int *code) {
    const fault f = device_cpu.launch(d, m, launch, grid, arguments, bytes, stream, code);
    blocks = grid[0];
    if (f == FAULT_NONE && spoil_after >= 0 && spoil_after-- == 0) {
        float *cells;
        memcpy(&cells, (const char *)arguments + PROGRAM_OFFSET_GRIDS + PROGRAM_GRID_BYTES,
               sizeof cells);
        cells[17] = 1234;
    }
    return f;
}

static device *spoiling_open(job *j, const device_options *options, const char **why) {
    device *d = device_cpu.open(j, options, why);
    if (d != NULL)
        d->ops = &spoiling_ops;
    return d;
}

static sg_context *open_at(const char *database) {
    sg_context *c;
    const sg_options options = {.struct_size = sizeof options,
                                .device = "cpu",
                                .threads = 2,
                                .cache = kept,
                                .database = database};
    const device_ops *const kinds[] = {&spoiling_ops};
    spoiling_ops = device_cpu;
    spoiling_ops.open = spoiling_open;
    spoiling_ops.launch = spoiling_launch;
    spoiling_ops.time = faking_time;
    if (context_open(&c, &options, kinds, 1) != SG_OK)
        abort();
    return c;
}

static void count(void *user, const sg_result *r) {
    int *counts = user;
    counts[0]++;
    counts[1] += strcmp(r->state, "right") == 0 && r->repeats >= 3 && r->median > 0 &&
                 r->copy_seconds > 0 && r->check_seconds > 0;
    counts[2] += strcmp(r->state, "wrong") == 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_rows_and_builds(void **state) {
    (void)state;
    char *path = scratch_path("results.db");
    sg_context *c = open_at(path);
    run r = {.text = heat, .size = 5000};
    expect_build(c, NULL, "by the model");
    sg_tuning *t = must_sweep(c, &r);
    assert_true(t->candidate_count >= 3);
    assert_int_equal(t->evaluation_count, t->candidate_count);
    assert_int_equal(r.built, t->candidate_count);
    assert_int_equal(r.ended, t->candidate_count);
    assert_int_equal(t->finished, 1);
    assert_int_equal(t->wrong, 0);
    assert_int_equal(t->resumed, 0);
    assert_int_equal(t->size[0], 5000);
    assert_string_equal(t->database, path);
    assert_in_range(t->best, 0, t->evaluation_count - 1);
    for (int i = 0; i < t->evaluation_count; i++) {
        assert_string_equal(t->evaluations[i].state, "right");
        assert_true(isnan(t->evaluations[i].estimated_seconds)); /* it would be of a GPU */
        if (t->finalists == 0)
            assert_true(t->evaluations[i].seconds >= t->evaluations[t->best].seconds);
    }
    int counts[3] = {0};
    assert_int_equal(sg_results(c, "heat", count, counts), SG_OK);
    assert_int_equal(counts[0], t->candidate_count);
    assert_int_equal(counts[1], t->candidate_count);
    expect_build(c, t->evaluations[t->best].plan, "measured at this size");
    sg_context *other = open_at(path);
    expect_build(other, t->evaluations[t->best].plan, "measured at this size");
    sg_close(other);
    sg_tuning_free(t);
    sg_close(c);
    free(path);
}

static void find_settled(void *user, const sg_result *r) {
    int *found = user;
    if (strstr(r->plan, "tile=64 ") == NULL || strstr(r->plan, "vec=1") == NULL)
        return;
    ++*found;
    if (r->median != 1 || r->final_seconds != 1.025 || r->settled_seconds != 1.025)
        fail_msg("%g, %g, %g", r->median, r->final_seconds, r->settled_seconds);
}

/* The fastest are timed against each other: who was lucky once is not taken. */
static void test_finals(void **state) {
    (void)state;
    char *path = scratch_path("results.db");
    sg_context *c = open_at(path);
    run r = {.text = heat, .schedule = "vec=1", .size = 5000};
    fake_times = true;
    launches_of_79 = 0;
    r.stop_in_finals = true;
    sg_tuning *t = must_sweep(c, &r);
    assert_int_equal(t->evaluation_count, 3);
    assert_true(t->finalists == 0 && t->finished == 0);
    assert_non_null(strstr(t->evaluations[t->best].plan, "tile=64 "));
    sg_tuning_free(t);
    r.stop_in_finals = false; /* the finals are made again */
    t = must_sweep(c, &r);
    fake_times = false;
    assert_int_equal(t->resumed, 3);
    assert_int_equal(t->evaluation_count, 3);
    assert_int_equal(t->finalists, 3);
    assert_int_equal(t->rounds, 5);
    const sg_evaluation *best = &t->evaluations[t->best];
    assert_non_null(strstr(best->plan, "tile=128 "));
    assert_true(best->seconds == 1.01 && best->final_seconds == 1.01);
    for (int i = 0; i < 3; i++)
        if (strstr(t->evaluations[i].plan, "tile=64 ") != NULL)
            assert_true(t->evaluations[i].seconds == 1 && t->evaluations[i].final_seconds == 1.025);
    assert_string_equal(t->taken, best->plan);
    assert_int_equal(t->drift_count, 2 + 5);
    assert_true(t->drift == 0);
    for (int i = 0; i < t->drift_count; i++) {
        assert_int_equal(t->drifts[i].evaluation, 3);
        assert_true(t->drifts[i].first_seconds == t->drifts[i].seconds);
    }
    expect_build(c, best->plan, "measured at this size");
    int found = 0;
    assert_int_equal(sg_results(c, "heat", find_settled, &found), SG_OK);
    assert_int_equal(found, 1);
    sg_tuning_free(t);
    sg_close(c);
    free(path);
}

static int die_in_sweep(void *argument) {
    sg_context *c = open_at(argument);
    run r = {.text = heat, .size = 5000, .stop_after = 2, .die = true};
    sg_tuning *t;
    sweep(c, &r, &t);
    return 0;
}

static void test_resumed(void **state) {
    (void)state;
    char *path = scratch_path("results.db");
    assert_int_equal(in_child(die_in_sweep, path), 128 + SIGKILL);
    sg_context *c = open_at(path);
    run r = {.text = heat, .size = 5000, .stop_after = 1};
    sg_tuning *t = must_sweep(c, &r);
    assert_int_equal(t->resumed, 2);
    assert_int_equal(t->finished, 0);
    assert_int_equal(t->evaluation_count, t->candidate_count < 3 ? t->candidate_count : 3);
    assert_int_equal(t->evaluations[0].resumed, 1);
    assert_int_equal(t->evaluations[2].resumed, 0);
    sg_tuning_free(t);
    r = (run){.text = heat, .size = 5000};
    t = must_sweep(c, &r);
    assert_int_equal(t->resumed, 3);
    assert_int_equal(t->finished, 1);
    sg_tuning_free(t);
    r = (run){.text = heat, .size = 5000, .evaluations = 1}; /* the last one ended */
    t = must_sweep(c, &r);
    assert_int_equal(t->resumed, 0);
    assert_int_equal(t->evaluation_count, 1);
    assert_int_equal(t->usual, 0);
    sg_tuning_free(t);
    sg_close(c);
    free(path);
}

static void test_wrong(void **state) {
    (void)state;
    char *path = scratch_path("results.db");
    sg_context *c = open_at(path);
    run r = {.text = heat, .size = 5000, .search = SG_SEARCH_EXHAUSTIVE};
    sg_tuning *t;
    spoil_after = 0; /* the first check's */
    assert_int_equal(sweep(c, &r, &t), SG_ERROR_CHECK);
    spoil_after = -1;
    assert_non_null(strstr(sg_error(c), "is a defect of stencilgen"));
    assert_non_null(t);
    assert_int_equal(t->wrong, 1);
    assert_int_equal(t->evaluation_count, t->candidate_count);
    assert_string_equal(t->evaluations[0].state, "wrong");
    assert_non_null(strstr(t->evaluations[0].reason, "1234 instead of"));
    assert_true(t->best > 0);
    int counts[3] = {0};
    assert_int_equal(sg_results(c, "heat", count, counts), SG_OK);
    assert_int_equal(counts[2], 1);
    expect_build(c, t->evaluations[t->best].plan, "measured at this size");
    sg_tuning_free(t);
    sg_close(c);
    free(path);
}

/* The plan that builds take is tried where `tune` leaves it out, and resumed too. */
static void test_usual_outside(void **state) {
    (void)state;
    static const char narrow[] =
        "return stencil { name = 'heat', shape = star(1, 1),"
        " coefficients = { 0.5, 0.25, 0.25 }, tune = { method = { 'naive' },"
        " tile = { { x = 64 } }, vector = { 1 } } }";
    char *path = scratch_path("results.db");
    sg_context *c = open_at(path);
    run r = {.text = narrow, .size = 5000, .stop_after = 1};
    sg_tuning *t = must_sweep(c, &r);
    assert_int_equal(t->usual, 0);
    assert_int_equal(t->candidate_count, 1);
    sg_tuning_free(t);
    r = (run){.text = narrow, .size = 5000};
    t = must_sweep(c, &r);
    assert_int_equal(t->usual, 0);
    assert_int_equal(t->resumed, 1);
    assert_int_equal(t->evaluation_count, 2);
    assert_int_equal(t->finished, 1);
    sg_tuning_free(t);
    sg_close(c);
    free(path);
}

static void find_row(void *user, const sg_result *r) {
    const char **plan = user;
    if (*plan != NULL && strcmp(r->plan, *plan) == 0 && r->repeats > 0)
        *plan = NULL;
}

/* A sweep under the caller's constraints does not make builds without them slower. */
static void test_constrained(void **state) {
    (void)state;
    char *path = scratch_path("results.db"), model[128];
    sg_context *c = open_at(path);
    const sg_build_options options = {
        .struct_size = sizeof options, .text = heat, .size = {5000}, .source_only = 1};
    sg_kernel *k;
    assert_int_equal(sg_build(c, "spec", &options, &k), SG_OK);
    snprintf(model, sizeof model, "%s", sg_kernel_text(k, SG_TEXT_PLAN));
    sg_release(k);
    run r = {.text = heat, .schedule = "naive tile=64 vec=1", .size = 5000};
    assert_null(strstr(model, "tile=64 vec=1"));
    sg_tuning *t = must_sweep(c, &r);
    assert_int_equal(t->evaluation_count, 1);
    assert_non_null(strstr(t->evaluations[0].plan, "tile=64 vec=1"));
    const char *wanted = model;
    assert_int_equal(sg_results(c, "heat", find_row, &wanted), SG_OK);
    assert_null(wanted);
    int counts[3] = {0};
    assert_int_equal(sg_results(c, "heat", count, counts), SG_OK);
    assert_int_equal(counts[1], 2);
    expect_build(c, NULL, "measured at this size");
    sg_tuning_free(t);
    sg_close(c);
    free(path);
}

static void test_no_database(void **state) {
    (void)state;
    sg_context *c = open_at("none");
    run r = {.text = heat, .size = 5000, .evaluations = 2, .search = SG_SEARCH_RANDOM};
    sg_tuning *t = must_sweep(c, &r);
    assert_string_equal(t->database, "");
    assert_int_equal(t->evaluation_count, 2);
    assert_int_equal(t->usual, 0);
    expect_build(c, NULL, "by the model");
    sg_tuning_free(t);
    sg_close(c);
}

static void test_damaged_database(void **state) {
    (void)state;
    char *path = scratch_path("results.db"), *aside = scratch_path("results.db.damaged-1");
    run r = {.text = heat, .size = 5000, .evaluations = 1};
    sg_context *c = open_at(path);
    sg_tuning_free(must_sweep(c, &r));
    sg_close(c);
    content all;
    read_content(path, &all);
    memset(all.bytes + 100, 0xff, all.size - 100);
    write_content(path, all.bytes, all.size);
    c = open_at(path);
    expect_build(c, NULL, "by the model");
    sg_tuning *t = must_sweep(c, &r);
    assert_int_equal(t->resumed, 0);
    assert_int_equal(access(aside, F_OK), 0);
    expect_build(c, t->evaluations[0].plan, "measured at this size");
    sg_tuning_free(t);
    sg_close(c);
    free(path);
    free(aside);
}

/* A file that never was one of ours is not written over; nothing is measured in vain. */
static void test_foreign_file(void **state) {
    (void)state;
    char *path = scratch_path("letters");
    write_content(path, "dear", 4);
    sg_context *c = open_at(path);
    run r = {.text = heat, .size = 5000};
    sg_tuning *t;
    assert_int_equal(sweep(c, &r, &t), SG_ERROR_IO);
    assert_int_equal(r.calls, 0);
    assert_null(t);
    sg_close(c);
    free(path);
}

static void test_families(void **state) {
    (void)state;
    static const run runs[] = {
        {.text = "return reduce { name = 'a' }", .size = 3001, .evaluations = 1},
        {.text = "return scan { name = 'a' }", .size = 3001, .evaluations = 1},
        {.text = "return merge { name = 'a', keys = 'int32' }", .size = 3001, .evaluations = 1},
        {.text = "return spmv { name = 'a' }", .size = 3001, .evaluations = 1},
        {.text = "return convolution { name = 'a', weights = { { 1, 2, 1 } } }",
         .size = 300,
         .evaluations = 1},
        {.text = heat, .size = 5000, .steps = 6, .evaluations = 1},
    };
    sg_context *c = open_at("none");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        run r = runs[i];
        sg_tuning *t = must_sweep(c, &r);
        if (t->best != 0)
            fail_msg("%s: %s", t->family, t->evaluations[0].reason);
        assert_true(t->evaluations[0].seconds > 0);
        sg_tuning_free(t);
    }
    sg_close(c);
}

static void test_matrix(void **state) {
    (void)state;
    char *path = scratch_path("results.db");
    sg_context *c = open_at(path);
    sg_matrix *m;
    const int64_t rows[] = {0, 0, 3, 3, 3}, columns[] = {0, 4, 0, 3, 4};
    const double values[] = {1, 2, 3, 4, 5};
    assert_int_equal(sg_matrix_from(c, 4, 5, 5, rows, columns, values, &m), SG_OK);
    run r = {.text = "return spmv { name = 'a', algorithm = 'thread', format = 'csr' }",
             .evaluations = 1,
             .matrix = m};
    sg_tuning *t = must_sweep(c, &r);
    if (t->best != 0)
        fail_msg("%s", t->evaluations[0].reason);
    int counts[3] = {0};
    assert_int_equal(sg_results(c, NULL, count, counts), SG_OK);
    assert_int_equal(counts[1], 1);
    sg_tuning_free(t);
    sg_matrix_free(m);
    sg_close(c);
    free(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_rows_and_builds, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(test_finals, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(test_resumed, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(test_wrong, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(test_usual_outside, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(test_constrained, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(test_no_database, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(test_damaged_database, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(test_foreign_file, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(test_families, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(test_matrix, scratch_enter, scratch_leave),
};

TEST_GROUP(tune, make_cache, remove_cache)
