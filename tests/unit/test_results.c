/* Tuning results: what is stored comes back, lookups from exact to nearest, what they must not
   find, sweeps that are taken up again, and older and newer databases. */
#include "tests/unit/results_scene.h"

static scene s;

static int enter(void **state) {
    if (scratch_enter(state) != 0)
        return -1;
    scene_open(&s, "data/stencilgen/results.db");
    return 0;
}

/* Every test ends with a quiet log, or has looked at it. */
static int leave(void **state) {
    scene_close(&s);
    return scratch_leave(state);
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

static void same_number(double a, double b) {
    assert_true(a == b || (isnan(a) && isnan(b)));
}

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

static void test_median(void **state) {
    (void)state;
    double spread, one[] = {3}, four[] = {4, 1, 3, 2}, five[] = {50, 10, 30, 20, 40};
    same_number(results_median(one, 1, &spread), 3);
    same_number(spread, 0);
    same_number(results_median(four, 4, &spread), 2.5);
    same_number(spread, (3.25 - 1.75) / 2.5);
    same_number(results_median(five, 5, &spread), 30);
    same_number(spread, 20.0 / 30);
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

/* ---- lookups ------------------------------------------------------------------------------- */

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
    const result_drift one = {"a", 8, 1, 1.1, 1700, 60, 0}, two = {"b", 16, 2, 2.2, NAN, NAN, 77};
    results_add_drift(j, e->scene->results, e->sweep, &one);
    results_add_drift(j, e->scene->results, e->sweep, &two);
    const result_drifts all = results_drifts(j, e->scene->results, e->sweep);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.list[0].plan, "a");
    assert_int_equal(all.list[0].evaluation, 8);
    assert_true(all.list[0].first == 1 && all.list[0].seconds == 1.1);
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

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_reading_makes_nothing),
        IN_FOLDER(test_switched_off),
        IN_FOLDER(test_all_comes_back),
        IN_FOLDER(test_every_state),
        IN_FOLDER(test_measured_again),
        IN_FOLDER(test_median),
        IN_FOLDER(test_who_may_read_it),
        IN_FOLDER(test_exact_and_nearest),
        IN_FOLDER(test_numbers_that_are_none),
        IN_FOLDER(test_steps),
        IN_FOLDER(test_plans_that_do_not_fit),
        IN_FOLDER(test_other_keys),
        IN_FOLDER(test_other_generators),
        IN_FOLDER(test_many_places),
        IN_FOLDER(test_sweeps),
        IN_FOLDER(test_finals),
        IN_FOLDER(test_drifts),
        IN_FOLDER(test_filters),
        IN_FOLDER(test_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
