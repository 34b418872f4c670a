/* Tuning results: where they are kept, that they read back as stored, sweeps that are continued,
   and lists. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/store/results_scene.h"

static scene s;

static int enter(void **state) {
    return scene_enter(&s, state);
}

static int leave(void **state) {
    return scene_leave(&s, state);
}

/* ---- where --------------------------------------------------------------------------------- */

static results_facts facts_at(const char *path) {
    scene other;
    scene_open_at(&other, path != NULL ? strdup(path) : NULL);
    const results_facts f = examine(&other);
    static char known[4][4096];
    snprintf(known[0], sizeof known[0], "%s", f.path);
    snprintf(known[1], sizeof known[1], "%s", f.reason);
    snprintf(known[2], sizeof known[2], "%s", f.trouble != NULL ? f.trouble : "");
    scene_close(&other);
    return (results_facts){.path = known[0], .reason = known[1], .trouble = known[2]};
}

static void test_where_it_is(void **state) {
    (void)state;
    unsetenv("SG_DATABASE");
    setenv("XDG_DATA_HOME", "/nowhere/xdg", 1);
    setenv("HOME", "/nowhere/home", 1);
    assert_string_equal(facts_at(NULL).path, "/nowhere/xdg/stencilgen/results.db");
    assert_string_equal(facts_at(NULL).reason, "in XDG_DATA_HOME");
    setenv("XDG_DATA_HOME", "not/absolute", 1);
    assert_string_equal(facts_at(NULL).path, "/nowhere/home/.local/share/stencilgen/results.db");
    setenv("SG_DATABASE", "/nowhere/other.db", 1);
    assert_string_equal(facts_at(NULL).path, "/nowhere/other.db");
    assert_string_equal(facts_at(NULL).reason, "given by SG_DATABASE");
    assert_string_equal(facts_at("/nowhere/own.db").path, "/nowhere/own.db");
    assert_string_equal(facts_at("/nowhere/own.db").reason, "given");
    assert_string_equal(facts_at("none").trouble, "it is switched off");
    setenv("SG_DATABASE", "none", 1);
    assert_string_equal(facts_at(NULL).trouble, "it is switched off by SG_DATABASE");
    unsetenv("SG_DATABASE");
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    assert_string_equal(facts_at(NULL).trouble,
                        "there is no home folder (HOME); SG_DATABASE names another place");
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    const results_facts f = facts_at("some.db");
    assert_int_equal(strncmp(f.path, here, strlen(here)), 0);
    assert_string_equal(f.path + strlen(here), "/some.db");
}

static void test_reading_makes_nothing(void **state) {
    (void)state;
    const result_place p = place_of(64, 64, 64);
    const result_match m = find(&s, &p);
    assert_int_equal(m.how, RESULT_NONE);
    assert_string_equal(m.found, "none");
    assert_null(m.plan);
    assert_null(m.note);
    assert_int_equal(count_rows(&s, (result_filter){0}), 0);
    const results_facts f = examine(&s);
    assert_false(f.exists);
    assert_null(f.trouble);
    assert_int_equal(count_files(scratch_root, ""), 0);
    assert_int_equal(s.warnings, 0);
}

static void test_switched_off(void **state) {
    (void)state;
    scene off;
    scene_open_at(&off, strdup("none"));
    const result_place p = place_of(64, 64, 64);
    assert_true(finds(&off, &p, NULL));
    assert_int_equal(count_rows(&off, (result_filter){0}), 0);
    assert_int_equal(off.warnings, 0);
    assert_int_equal(put(&off, &p, "naive", 1), FAULT_IO);
    expect_error(&off, "tuning results cannot be kept: it is switched off");
    scene_close(&off);
}

/* ---- storing ------------------------------------------------------------------------------- */

static void same_result(const result *a, const result *b) {
    assert_string_equal(a->plan, b->plan);
    assert_int_equal(a->state, b->state);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++)
        same_number(a->seconds[i], b->seconds[i]);
    same_number(a->estimate, b->estimate);
    same_number(a->compile_seconds, b->compile_seconds);
    same_number(a->check_seconds, b->check_seconds);
    assert_int_equal(a->driver, b->driver);
    assert_string_equal(a->compiler, b->compiler);
    assert_int_equal(a->registers, b->registers);
    assert_int_equal(a->shared_bytes, b->shared_bytes);
    assert_int_equal(a->local_bytes, b->local_bytes);
    same_number(a->occupancy, b->occupancy);
    same_number(a->clock_before, b->clock_before);
    same_number(a->clock_after, b->clock_after);
    same_number(a->temperature_before, b->temperature_before);
    same_number(a->temperature_after, b->temperature_after);
    same_number(a->copy_seconds, b->copy_seconds);
    assert_int_equal(a->sweep, b->sweep);
    assert_int_equal(a->evaluation, b->evaluation);
}

static const double timings[] = {0.25, 0x1.8p-10, 0.1, 1e-7, 0.3};
static const result full = {.plan = "register tile=32x8 coarsen=z16 vec=4 time=1",
                            .state = RESULT_RIGHT,
                            .reason = "",
                            .seconds = timings,
                            .count = 5,
                            .estimate = 0.11,
                            .compile_seconds = 0.5,
                            .check_seconds = 2.5,
                            .driver = 13000,
                            .compiler = "NVRTC 13.0",
                            .registers = 64,
                            .shared_bytes = 5000000000,
                            .local_bytes = 0,
                            .occupancy = 0.75,
                            .clock_before = 1980,
                            .clock_after = 1755,
                            .temperature_before = 41,
                            .temperature_after = 62.5,
                            .copy_seconds = 0.09,
                            .sweep = 0,
                            .evaluation = 7,
                            .taken = 1700000000123};

static void test_all_comes_back(void **state) {
    (void)state;
    const result_place p = place_of(100, 200, 300);
    result blank = results_blank("naive", RESULT_HUNG, "it ran for 10 s");
    assert_int_equal(store(&s, &p, &full), FAULT_NONE);
    assert_int_equal(store(&s, &p, &blank), FAULT_NONE);
    result_rows rows;
    assert_int_equal(list(&s, (result_filter){0}, &rows), FAULT_NONE);
    assert_int_equal(rows.count, 2);
    same_result(&rows.list[0].result, &full);
    same_number(rows.list[0].result.median, 0.1);
    same_number(rows.list[0].result.spread, (0.25 - 0x1.8p-10) / 0.1);
    assert_int_equal(rows.list[0].result.taken, full.taken);
    same_result(&rows.list[1].result, &blank);
    assert_true(rows.list[1].result.taken > 1700000000123);
    same_number(rows.list[1].result.median, NAN);
    const result_place *q = &rows.list[1].place;
    assert_string_equal(q->family, p.family);
    assert_string_equal(q->name, p.name);
    assert_string_equal(q->model, p.model);
    assert_string_equal(q->generator, p.generator);
    assert_string_equal(q->device.kind, "cuda");
    assert_string_equal(q->device.name, "Fake GPU");
    assert_string_equal(q->device.arch, "sm_90");
    assert_int_equal(q->device.multiprocessors, 132);
    assert_int_equal(q->device.memory, (int64_t)79 << 30);
    assert_int_equal(q->size.count, 3);
    assert_memory_equal(q->size.number, p.size.number, 3 * sizeof *p.size.number);
    assert_int_equal(q->steps, 1);
    const digest key = results_spec(p.family, p.model);
    assert_true(digest_equal(&key, &rows.list[1].spec));
    assert_int_equal(s.warnings, 0);
}

static void test_every_state(void **state) {
    (void)state;
    const result_place p = place_of(64, 64, 0);
    for (int i = 0; i < RESULT_STATES; i++) {
        char plan[32];
        sprintf(plan, "plan %d", i);
        result r = results_blank(plan, (result_state)i, i == RESULT_RIGHT ? "" : "because");
        assert_int_equal(store(&s, &p, &r), FAULT_NONE);
    }
    result_rows rows;
    assert_int_equal(list(&s, (result_filter){0}, &rows), FAULT_NONE);
    assert_int_equal(rows.count, RESULT_STATES);
    for (int i = 0; i < RESULT_STATES; i++)
        assert_int_equal(rows.list[i].result.state, i);
    assert_true(finds(&s, &p, NULL)); /* the right one was not timed */
}

static void test_measured_again(void **state) {
    (void)state;
    const result_place p = place_of(64, 64, 0);
    put(&s, &p, "a", 1);
    put(&s, &p, "b", 2);
    put(&s, &p, "a", 3);
    assert_int_equal(count_rows(&s, (result_filter){0}), 2);
    assert_true(finds(&s, &p, "b"));
    result wrong = results_blank("b", RESULT_WRONG, "u.next at (3): 1 instead of 2");
    assert_int_equal(store(&s, &p, &wrong), FAULT_NONE);
    assert_true(finds(&s, &p, "a"));
}

static void medians(job *j, void *unused) {
    static const double one[] = {3}, four[] = {4, 1, 3, 2}, five[] = {50, 10, 30, 20, 40};
    double spread;
    (void)unused;
    same_number(results_median(j, one, 1, &spread), 3);
    same_number(spread, 0);
    same_number(results_median(j, four, 4, &spread), 2.5);
    same_number(spread, (3.25 - 1.75) / 2.5);
    same_number(results_median(j, five, 5, &spread), 30);
    same_number(spread, 20.0 / 30);
    assert_true(isnan(results_median(j, NULL, 0, &spread)) && isnan(spread));
}

static void test_median(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, medians, NULL, &j), FAULT_NONE);
    job_end(j);
}

static void test_who_may_read_it(void **state) {
    (void)state;
    const result_place p = place_of(64, 0, 0);
    umask(0);
    assert_int_equal(put(&s, &p, "a", 1), FAULT_NONE);
    umask(022);
    struct stat facts;
    char *folder = scratch_path("data/stencilgen");
    assert_int_equal(stat(folder, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0700);
    assert_int_equal(stat(s.path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    free(folder);
    assert_int_equal(
        ask_sql(s.path, "SELECT 1 FROM pragma_journal_mode WHERE journal_mode = 'wal'"), 1);
}

/* ---- sweeps and lists ---------------------------------------------------------------------- */

static void test_sweeps(void **state) {
    (void)state;
    const result_place p = place_of(64, 64, 64), q = place_of(65, 64, 64);
    assert_int_equal(sweep_of(&s, unfinished_body, &p, "all"), 0);
    const int64_t first = sweep_of(&s, begin_body, &p, "all");
    assert_true(first > 0);
    result r = results_blank("a", RESULT_REFUSED, "too large");
    r.sweep = first;
    store(&s, &p, &r);
    put(&s, &p, "b", 1);
    /* Another process takes it up. */
    scene_close(&s);
    scene_open(&s, "data/stencilgen/results.db");
    assert_int_equal(sweep_of(&s, unfinished_body, &p, "all"), first);
    assert_int_equal(sweep_of(&s, unfinished_body, &p, "random"), 0);
    assert_int_equal(sweep_of(&s, unfinished_body, &q, "all"), 0);
    result_rows rows;
    assert_int_equal(list(&s, (result_filter){.sweep = first}, &rows), FAULT_NONE);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.list[0].result.plan, "a");
    const int64_t second = sweep_of(&s, begin_body, &p, "all");
    assert_int_not_equal(first, second);
    assert_int_equal(sweep_of(&s, unfinished_body, &p, "all"), second);
    errand e = {.scene = &s, .sweep = second};
    assert_int_equal(run_errand(end_body, &e), FAULT_NONE);
    assert_int_equal(sweep_of(&s, unfinished_body, &p, "all"), first);
}

static void finals_body(job *j, void *argument) {
    const errand *e = argument;
    const double a[] = {3, 1, 2}, b[] = {0.5};
    const result_final list[] = {{"b", 1.3, a, 3}, {"a", 1.2, b, 1}};
    results_finals(j, e->scene->results, e->sweep, list, e->sweep > 0 ? 2 : 0);
}

/* What the fastest took when they were compared counts before all that took no part. */
static void test_finals(void **state) {
    (void)state;
    const result_place p = place_of(64, 64, 64);
    const int64_t sweep = sweep_of(&s, begin_body, &p, "all");
    static const char *const plans[] = {"a", "b", "c", "d", "e"};
    const double seconds[] = {1.01, 1, 1.1, 2, 3};
    for (int i = 0; i < 5; i++) {
        result r = results_blank(plans[i], i < 4 ? RESULT_RIGHT : RESULT_HUNG, "");
        r.seconds = &seconds[i], r.count = i < 4, r.sweep = sweep;
        store(&s, &p, &r);
    }
    assert_true(finds(&s, &p, "b"));
    errand e = {.scene = &s, .sweep = sweep};
    assert_int_equal(run_errand(finals_body, &e), FAULT_NONE);
    assert_true(finds(&s, &p, "a")); /* not c, which took 1.1 before */
    assert_true(find(&s, &p).median == 1.2);
    result_rows rows;
    assert_int_equal(list(&s, (result_filter){0}, &rows), FAULT_NONE);
    const double settled[] = {1.2, 1.3, 1.3, 2};
    for (int i = 0; i < 4; i++) {
        const result *r = &rows.list[i].result;
        assert_string_equal(r->plan, plans[i]);
        assert_true(r->median == seconds[i] && r->settled == settled[i]);
        assert_int_equal(r->final_count, i == 0 ? 1 : i == 1 ? 3 : 0);
        assert_true(i < 2 ? r->final == settled[i] : isnan(r->final));
    }
    assert_true(rows.list[1].result.final_seconds[0] == 3);
    assert_true(isnan(rows.list[4].result.settled));
    put(&s, &p, "f", 1.25); /* by another sweep */
    assert_true(finds(&s, &p, "a"));
    put(&s, &p, "a", 1.3); /* measured again: it takes part no longer */
    assert_true(finds(&s, &p, "f"));
}

static void drifts_body(job *j, void *argument) {
    errand *e = argument;
    const sg_drift one = {0, "a", 8, 1, 1.1, 1700, 60, 0}, two = {0, "b", 16, 2, 2.2, NAN, NAN, 77};
    results_add_drift(j, e->scene->results, e->sweep, &one);
    results_add_drift(j, e->scene->results, e->sweep, &two);
    const result_drifts all = results_drifts(j, e->scene->results, e->sweep);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.list[0].plan, "a");
    assert_int_equal(all.list[0].evaluation, 8);
    assert_true(all.list[0].first_seconds == 1 && all.list[0].seconds == 1.1);
    assert_true(all.list[0].clock == 1700 && all.list[0].temperature == 60);
    assert_true(all.list[0].taken > 1700000000000);
    assert_true(isnan(all.list[1].clock) && isnan(all.list[1].temperature));
    assert_int_equal(all.list[1].taken, 77);
    assert_int_equal(results_drifts(j, e->scene->results, e->sweep + 1).count, 0);
}

static void test_drifts(void **state) {
    (void)state;
    const result_place p = place_of(64, 64, 64);
    errand e = {.scene = &s, .sweep = sweep_of(&s, begin_body, &p, "all")};
    assert_int_equal(run_errand(drifts_body, &e), FAULT_NONE);
}

static void test_filters(void **state) {
    (void)state;
    result_place p = place_of(64, 64, 64), q = place_of(128, 64, 64), other = p;
    other.name = "wave", other.model = "another";
    put(&s, &p, "a", 1), put(&s, &p, "b", 1), put(&s, &q, "a", 1), put(&s, &other, "a", 1);
    assert_int_equal(count_rows(&s, (result_filter){0}), 4);
    assert_int_equal(count_rows(&s, (result_filter){.name = "heat"}), 3);
    assert_int_equal(count_rows(&s, (result_filter){.place = &p}), 2);
    assert_int_equal(count_rows(&s, (result_filter){.place = &other, .name = "wave"}), 1);
    const result_place nowhere = place_of(1, 1, 1);
    assert_int_equal(count_rows(&s, (result_filter){.place = &nowhere}), 0);
    const results_facts f = examine(&s);
    assert_true(f.exists);
    assert_null(f.trouble);
    assert_int_equal(f.results, 4);
    assert_int_equal(f.specs, 2);
    assert_int_equal(f.devices, 1);
    assert_true(f.bytes >= 4096);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_reading_makes_nothing),
    IN_FOLDER(test_switched_off),
    IN_FOLDER(test_all_comes_back),
    IN_FOLDER(test_every_state),
    IN_FOLDER(test_measured_again),
    IN_FOLDER(test_median),
    IN_FOLDER(test_who_may_read_it),
    IN_FOLDER(test_sweeps),
    IN_FOLDER(test_finals),
    IN_FOLDER(test_drifts),
    IN_FOLDER(test_filters),
    IN_FOLDER(test_where_it_is),
};

TEST_GROUP(results, NULL, NULL)
