/* Sweeps whose trials run in a worker process, and calls that are refused. */
#include "runtime/files/sealed.h"
#include "runtime/tune/trial.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/tune/tune_scene.h"

#include <sys/stat.h>

static sg_context *open_without_database(void) {
    sg_context *c;
    const sg_options options = {.struct_size = sizeof options,
                                .device = "cpu",
                                .threads = 2,
                                .cache = kept,
                                .database = "none"};
    assert_int_equal(sg_open(&c, &options), SG_OK);
    return c;
}

static const char role[] = "SG_TEST_WORKER"; /* what this program is as a worker */

/* Answers every question with the same. */
static void answer(job *j, void *user) {
    (void)user;
    record r;
    text t = text_new(j);
    record_put_int(&t, WORKER_HOPELESS);
    record_put_text(&t, "somebody else has the device");
    while (worker_receive(j, STDIN_FILENO, -1, &r) == WORKER_GOT)
        if (record_small(&r, 0, WORKER_WORDS - 1) != WORKER_SETUP)
            worker_send(STDIN_FILENO, &t);
}

/* What the library starts. */
int test_role_tune_worker(char **words);
int test_role_tune_worker(char **words) {
    (void)words;
    job *j;
    if (strcmp(getenv(role), "real") == 0)
        return sg_tune_worker();
    if (strcmp(getenv(role), "ended") == 0)
        return 7;
    job_run(&allocator_libc, answer, NULL, &j);
    job_end(j);
    return 0;
}

static sg_status sweep_with(const char *worker, const char *as, sg_tuning **out) {
    sg_context *c = open_without_database();
    const sg_build_options build = {.struct_size = sizeof build, .text = heat, .size = {5000}};
    const sg_tune_options options = {
        .struct_size = sizeof options, .build = &build, .worker = worker, .evaluations = 2};
    setenv(role, as, 1);
    *out = NULL;
    const sg_status status = sg_tune(c, "spec", &options, out);
    sg_close(c);
    return status;
}

static void expect_state(const char *as, const char *state, const char *reason) {
    sg_tuning *t;
    assert_int_equal(sweep_with("/proc/self/exe", as, &t), SG_OK);
    assert_int_equal(t->evaluation_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(t->evaluations[i].state, state);
        assert_string_equal(t->evaluations[i].reason, reason);
        assert_int_equal(t->evaluations[i].seconds > 0, strcmp(state, "right") == 0);
    }
    sg_tuning_free(t);
}

static void test_workers(void **state) {
    (void)state;
    sg_tuning *t;
    expect_state("real", "right", "");
    expect_state("hopeless", "right", ""); /* made here */
    expect_state("ended", "failed", "its process ended with code 7");
    assert_int_equal(sweep_with("/nonexistent", "real", &t), SG_ERROR_USAGE);
    assert_null(t);
}

/* A matrix goes to the worker, and every format is checked on it; two vectors. */
static void test_workers_with_matrix(void **state) {
    (void)state;
    enum { ROWS = 300, ENTRIES = 3 * ROWS };
    static int64_t rows[ENTRIES], columns[ENTRIES];
    static double values[ENTRIES];
    for (int i = 0; i < ENTRIES; i++) {
        rows[i] = i / 3;
        columns[i] = (i / 3 + i % 3 * 7) % ROWS;
        values[i] = 1.0 / (1 + i);
    }
    sg_context *c = open_without_database();
    sg_matrix *m;
    assert_int_equal(sg_matrix_from(c, ROWS, ROWS, ENTRIES, rows, columns, values, &m), SG_OK);
    const sg_build_options build = {
        .struct_size = sizeof build,
        .text =
            "return spmv { name = 'a', vectors = 2, schedule = { threads = 128 }, tune = { format"
            " = { 'ell', 'sell', 'dia' }, passes = { 1 }, slice = { 32 }, sigma = { 64 }, cache = "
            "{ 1 } } }",
        .matrix = m};
    const sg_tune_options options = {.struct_size = sizeof options,
                                     .build = &build,
                                     .worker = "/proc/self/exe",
                                     .search = SG_SEARCH_EXHAUSTIVE};
    sg_tuning *t = NULL;
    setenv(role, "real", 1);
    if (sg_tune(c, "spec", &options, &t) != SG_OK)
        fail_msg("%s", sg_error(c));
    assert_true(t->evaluation_count >= 3);
    for (int i = 0; i < t->evaluation_count; i++)
        if (strcmp(t->evaluations[i].state, "right") != 0)
            fail_msg("%s: %s", t->evaluations[i].plan, t->evaluations[i].reason);
    sg_tuning_free(t);
    sg_matrix_free(m);
    sg_close(c);
}

/* A worker that is ended in the midst of a compilation takes the compiler and its files along. */
static void test_workers_that_compile(void **state) {
    (void)state;
    char folder[] = "/tmp/sg-test-tune-XXXXXX", path[64], text[512];
    assert_non_null(mkdtemp(folder));
    sprintf(path, "%s/slow", folder);
    sprintf(text,
            "#!/bin/sh\ncase \" $* \" in *\" -E \"*) exec c++ \"$@\" ;; esac\n"
            "tr '\\0' ' ' </proc/$PPID/cmdline | grep -q tune-worker || exec c++ \"$@\"\n"
            "echo >>%s/begun\nsleep 1234\necho >>%s/ended\n",
            folder, folder);
    FILE *script = fopen(path, "w");
    assert_true(script != NULL && fputs(text, script) >= 0 && fclose(script) == 0);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("SG_CXX", path, 1);
    setenv("TMPDIR", folder, 1);
    setenv(role, "real", 1);
    sg_context *c;
    const sg_options here = {
        .struct_size = sizeof here, .device = "cpu", .cache = "none", .database = "none"};
    assert_int_equal(sg_open(&c, &here), SG_OK);
    const sg_build_options build = {.struct_size = sizeof build, .text = heat, .size = {5000}};
    const sg_tune_options options = {.struct_size = sizeof options,
                                     .build = &build,
                                     .worker = "/proc/self/exe",
                                     .limit = 3,
                                     .evaluations = 1};
    sg_tuning *t = NULL;
    assert_int_equal(sg_tune(c, "spec", &options, &t), SG_OK);
    assert_string_equal(t->evaluations[0].state, "hung");
    sg_tuning_free(t);
    sg_close(c);
    unsetenv("SG_CXX");
    unsetenv("TMPDIR");
    sprintf(text, "%s/begun", folder);
    assert_int_equal(unlink(text), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left */
}

static void expect_refused(sg_context *c, const sg_tune_options *o, const char *says) {
    sg_tuning *t = NULL;
    assert_int_equal(sg_tune(c, "spec", o, &t), SG_ERROR_USAGE);
    assert_null(t);
    if (strstr(sg_error(c), says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", sg_error(c), says);
}

/* What a worker says that cannot be is not taken over. */
static void answers_body(job *j, void *argument) {
    (void)argument;
    static const double nonsense[] = {0, -1, 1e300, 5e-324, INFINITY, NAN};
    for (size_t i = 0; i < 2 * sizeof nonsense / sizeof *nonsense; i++) {
        const double value = nonsense[i / 2], good = 1e-3;
        trial said = {.plan = "naive", .steps = 1}, heard = said;
        said.result = heard.result = results_blank("naive", RESULT_RIGHT, "");
        said.result.count = 1;
        said.result.seconds = i % 2 == 0 ? &value : &good;
        said.result.clock_after = i % 2 == 0 ? 1700 : value;
        text t = text_new(j);
        worker_put_result(&t, &said);
        record r = record_of(t.data, t.length);
        assert_int_equal(record_small(&r, 0, WORKER_WORDS), WORKER_RESULT);
        const bool taken = worker_get_result(j, &r, &heard);
        assert_int_equal(taken, i % 2 == 1 && !(value < 0) && !(value > 1e6));
        assert_int_equal(heard.result.count, taken);
        assert_true(taken || isnan(heard.result.clock_after));
    }
}

static void test_what_a_worker_says(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, answers_body, NULL, &j), FAULT_NONE);
    job_end(j);
}

static void test_refusals(void **state) {
    (void)state;
    sg_context *c = open_without_database();
    sg_tuning *t = NULL;
    sg_tune_options o = {.struct_size = sizeof o, .evaluations = -1};
    expect_refused(c, &o, "error: evaluations of sg_tune_options is -1; it must be 0");
    o = (sg_tune_options){.struct_size = sizeof o, .search = (sg_search)7};
    expect_refused(c, &o, "error: search of sg_tune_options is 7; it must be one of sg_search");
    o = (sg_tune_options){.struct_size = sizeof o, .budget = NAN};
    expect_refused(c, &o, "error: budget of sg_tune_options is nan; it must be 0");
    o = (sg_tune_options){.struct_size = sizeof o, .limit = -2.5};
    expect_refused(c, &o, "error: limit of sg_tune_options is -2.5; it must be 0");
    sg_matrix *m;
    assert_int_equal(sg_matrix_new(c, 2, 2, &m), SG_OK);
    assert_int_equal(sg_matrix_set(m, 0, 0, 1), SG_OK);
    const sg_build_options of_matrix = {.struct_size = sizeof of_matrix, .text = heat, .matrix = m};
    o = (sg_tune_options){.struct_size = sizeof o, .build = &of_matrix};
    expect_refused(c, &o,
                   "matrix of sg_build_options is given, but 'heat' is of the family stencil");
    sg_space *space = NULL;
    assert_int_equal(sg_candidates(c, "spec", &of_matrix, &space), SG_ERROR_USAGE);
    sg_matrix_free(m);
    assert_int_equal(sg_tune(c, "/nonexistent.lua", NULL, &t), SG_ERROR_IO);
    assert_int_equal(sg_tune(NULL, "spec", NULL, &t), SG_ERROR_USAGE);
    sg_close(c);
    const sg_options options = {.struct_size = sizeof options, .device = "none"};
    const sg_build_options build = {.struct_size = sizeof build, .text = heat};
    o = (sg_tune_options){.struct_size = sizeof o, .build = &build};
    assert_int_equal(sg_open(&c, &options), SG_OK);
    assert_int_equal(sg_tune(c, "spec", &o, &t), SG_ERROR_USAGE);
    sg_close(c);
    sg_tuning_free(NULL);
    assert_null(t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_workers),
    cmocka_unit_test(test_workers_with_matrix),
    cmocka_unit_test(test_workers_that_compile),
    cmocka_unit_test(test_what_a_worker_says),
    cmocka_unit_test(test_refusals),
};

TEST_GROUP(workers, make_cache, remove_cache)
