/* Who goes on with a sweep: at most one at a time, of processes and of threads; and what a sweep
   believes of a database that somebody else has filled. */
#include "runtime/stencilgen.h"
#include "tests/unit/group.h"
#include "tests/unit/processes.h"
#include "tests/unit/runtime/tune/tune_scene.h"

static int warnings;
static char warning[512];

static void note_warning(void *user, sg_log_level level, const char *text) {
    (void)user;
    if (level != SG_LOG_WARNING || strstr(text, "is at sweep") == NULL)
        return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", text);
}

static sg_context *open_with(const char *database) {
    sg_context *c;
    const sg_options options = {.struct_size = sizeof options,
                                .device = "cpu",
                                .threads = 2,
                                .cache = kept,
                                .database = database,
                                .log = note_warning};
    if (sg_open(&c, &options) != SG_OK)
        abort();
    warnings = 0;
    return c;
}

static const run interrupted = {
    .text = heat, .size = 5000, .search = SG_SEARCH_EXHAUSTIVE, .stop_after = 1};
static const run whole = {.text = heat, .size = 5000, .search = SG_SEARCH_EXHAUSTIVE};

/* ---- two processes ------------------------------------------------------------------------- */

typedef struct pipes {
    const char *database;
    int says[2]; /* by the child: it has evaluated one candidate */
    sg_context *context;
    sg_tuning *inner;
} pipes;

/* After its first trial it stays where it is until it is killed. */
static int stay(void *user, const sg_tune_progress *p) {
    const pipes *w = user;
    if (p->last == NULL)
        return 0;
    if (write(w->says[1], "1", 1) != 1)
        abort();
    for (;;)
        pause();
}

static sg_status sweep_and(sg_context *c, int (*call)(void *, const sg_tune_progress *), void *user,
                           sg_tuning **out) {
    const sg_build_options build = {.struct_size = sizeof build, .text = heat, .size = {5000}};
    const sg_tune_options options = {.struct_size = sizeof options,
                                     .build = &build,
                                     .search = SG_SEARCH_EXHAUSTIVE,
                                     .progress = call,
                                     .user = user};
    *out = NULL;
    return sg_tune(c, "spec", &options, out);
}

/* Where the test fails, it ends all the same. */
static int be_at_it(void *argument) {
    alarm(120);
    pipes *w = argument;
    sg_tuning *t;
    sweep_and(open_with(w->database), stay, w, &t);
    return 1;
}

static void test_two_processes(void **state) {
    (void)state;
    char *path = scratch_path("results.db"), byte;
    pipes w = {.database = path};
    assert_int_equal(pipe(w.says), 0);
    const pid_t child = start_child(be_at_it, &w);
    assert_int_equal(read(w.says[0], &byte, 1), 1);
    /* The child is alive and in the midst of it: this is another sweep, and comes to its end. */
    sg_context *c = open_with(path);
    run r = whole;
    sg_tuning *t = must_sweep(c, &r);
    assert_int_equal(t->resumed, 0);
    assert_int_equal(t->evaluation_count, t->candidate_count);
    assert_int_equal(t->finished, 1);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(warning, "heat: another process is at sweep 1, which asks the same"));
    sg_tuning_free(t);
    /* The child is gone: its sweep, whose results the other has taken meanwhile, is free. */
    kill(child, SIGKILL);
    assert_int_equal(wait_for(child), 128 + SIGKILL);
    r = whole;
    t = must_sweep(c, &r);
    assert_int_equal(warnings, 1);
    assert_int_equal(t->finished, 1);
    sg_tuning_free(t);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM sweep"), 2);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM sweep WHERE ended IS NULL"), 0);
    sg_close(c);
    close(w.says[0]);
    close(w.says[1]);
    free(path);
}

/* Each of many has a sweep of its own, or one that another has left. */
static int sweep_once(void *argument) {
    const start *g = argument;
    char *path = scratch_path("results.db");
    wait_at_gate(g);
    sg_context *c = open_with(path);
    run r = whole;
    sg_tuning *t;
    CHECK(sweep(c, &r, &t) == SG_OK);
    CHECK(t->finished && t->resumed + r.ended == t->evaluation_count);
    sg_tuning_free(t);
    sg_close(c);
    free(path);
    return 0;
}

static void test_many_processes(void **state) {
    (void)state;
    char *path = scratch_path("results.db");
    run_processes(4, sweep_once, 0);
    assert_in_range(ask_sql(path, "SELECT count(*) FROM sweep"), 1, 4);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM sweep WHERE ended IS NULL"), 0);
    free(path);
}

/* ---- one process --------------------------------------------------------------------------- */

static int sweep_within(void *user, const sg_tune_progress *p) {
    pipes *w = user;
    if (p->last != NULL && w->inner == NULL) {
        run r = whole;
        w->inner = must_sweep(w->context, &r);
    }
    return 0;
}

static void test_one_process(void **state) {
    (void)state;
    char *path = scratch_path("results.db");
    sg_context *c = open_with(path);
    pipes w = {.context = c};
    sg_tuning *t;
    assert_int_equal(sweep_and(c, sweep_within, &w, &t), SG_OK);
    assert_non_null(w.inner);
    assert_int_equal(w.inner->resumed, 0);
    assert_int_equal(w.inner->evaluation_count, t->evaluation_count);
    assert_int_equal(t->finished, 1);
    sg_tuning_free(w.inner);
    sg_tuning_free(t);
    sg_close(c);
    free(path);
}

/* Where the file of the locks cannot be had, a sweep goes on as before. */
static void test_without_locks(void **state) {
    (void)state;
    char *path = scratch_path("results.db"), *locks = scratch_path("results.db-sweeps");
    assert_int_equal(mkdir(locks, 0700), 0);
    sg_context *c = open_with(path);
    run r = interrupted;
    sg_tuning_free(must_sweep(c, &r));
    r = whole;
    sg_tuning *t = must_sweep(c, &r);
    assert_int_equal(t->resumed, 1);
    sg_tuning_free(t);
    sg_close(c);
    free(path);
    free(locks);
}

/* ---- what a database says ------------------------------------------------------------------ */

/* Tables without their constraints hold a candidate as often as somebody likes. */
static const char many_rows[] =
    "CREATE TABLE loose AS SELECT * FROM result;"
    "DROP TABLE result;"
    "ALTER TABLE loose RENAME TO result;"
    "INSERT INTO result SELECT r.* FROM result r, (WITH RECURSIVE n(i) AS"
    " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n);";

static void test_more_rows_than_candidates(void **state) {
    (void)state;
    char *path = scratch_path("results.db");
    sg_context *c = open_with(path);
    run r = interrupted;
    sg_tuning_free(must_sweep(c, &r));
    sg_close(c);
    run_sql(path, many_rows);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM result"), 1001);
    c = open_with(path);
    r = whole;
    sg_tuning *t = must_sweep(c, &r);
    assert_int_equal(t->resumed, 1);
    assert_int_equal(t->evaluation_count, t->candidate_count);
    sg_tuning_free(t);
    sg_close(c);
    free(path);
}

/* Rows that are not valid, and those that were right but never timed, are measured again. */
static void test_rows_that_say_nothing(void **state) {
    (void)state;
    static const char *const changes[] = {
        "UPDATE result SET median = 1e300, settled = 1e300",
        "UPDATE result SET median = NULL, settled = NULL, seconds = x''",
        "UPDATE result SET plan = 'tiled tile=1'",
        "UPDATE result SET state = 'faster'",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *path = scratch_path("results.db");
        remove(path);
        sg_context *c = open_with(path);
        run r = interrupted;
        sg_tuning_free(must_sweep(c, &r));
        run_sql(path, changes[i]);
        r = whole;
        sg_tuning *t = must_sweep(c, &r);
        assert_int_equal(t->resumed, 0);
        assert_int_equal(t->evaluation_count, t->candidate_count);
        assert_true(t->evaluations[t->best].seconds < 1);
        sg_tuning_free(t);
        sg_close(c);
        free(path);
    }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_two_processes),         IN_FOLDER(test_many_processes),
    IN_FOLDER(test_one_process),           IN_FOLDER(test_without_locks),
    IN_FOLDER(test_rows_that_say_nothing), IN_FOLDER(test_more_rows_than_candidates),
};

TEST_GROUP(owner, make_cache, remove_cache)
