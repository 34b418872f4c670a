/* sg_results: what a program learns of tuning results, which options and variables find them,
   and what is refused. */
#include "runtime/stencilgen.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/store/results_scene.h"

static scene s;

static int enter(void **state) {
    if (scratch_enter(state) != 0)
        return -1;
    scene_open(&s, "results.db");
    return 0;
}

static int leave(void **state) {
    scene_close(&s);
    return scratch_leave(state);
}

static sg_context *open_none(const char *database) {
    sg_context *c;
    const sg_options options = {
        .struct_size = sizeof options, .device = "none", .database = database};
    assert_int_equal(sg_open(&c, &options), SG_OK);
    return c;
}

typedef struct told {
    int count;
    double sum;
    sg_result last; /* its texts are gone */
    char plan[64], key[65];
} told;

static void tell(void *user, const sg_result *r) {
    told *t = user;
    t->count++;
    t->sum += isnan(r->median) ? 0 : r->median;
    t->last = *r;
    snprintf(t->plan, sizeof t->plan, "%s", r->plan);
    snprintf(t->key, sizeof t->key, "%s", r->key);
}

static void fill(void) {
    result_place p = place_of(20, 30, 40);
    assert_int_equal(put(&s, &p, "naive", 1), FAULT_NONE);
    p.steps = 8;
    const double seconds[] = {3, 1, 2};
    result r = results_blank("temporal time=8", RESULT_RIGHT, "");
    r.seconds = seconds, r.count = 3;
    r.registers = 128, r.clock_after = 1755, r.evaluation = 4;
    assert_int_equal(store(&s, &p, &r), FAULT_NONE);
    p.name = "wave", p.model = "another";
    r = results_blank("naive", RESULT_WRONG, "u.next at (1,2,3)");
    assert_int_equal(store(&s, &p, &r), FAULT_NONE);
}

static void test_what_is_told(void **state) {
    (void)state;
    fill();
    sg_context *c = open_none(s.path);
    told t = {0};
    assert_int_equal(sg_results(c, NULL, tell, &t), SG_OK);
    assert_int_equal(t.count, 3);
    assert_true(t.sum == 1 + 2);
    t = (told){0};
    assert_int_equal(sg_results(c, "heat", tell, &t), SG_OK);
    assert_int_equal(t.count, 2);
    const sg_result *r = &t.last;
    assert_int_equal(r->struct_size, sizeof *r);
    assert_string_equal(t.plan, "temporal time=8");
    assert_int_equal(strspn(t.key, "0123456789abcdef"), 64);
    assert_int_equal(r->steps, 8);
    assert_int_equal(r->size_count, 3);
    assert_int_equal(r->size[0], 20);
    assert_int_equal(r->size[2], 40);
    assert_int_equal(r->size[3], 0);
    assert_int_equal(r->repeats, 3);
    assert_true(r->median == 2 && r->spread == 0.5);
    assert_int_equal(r->registers, 128);
    assert_int_equal(r->local_bytes, -1);
    assert_true(r->clock_after == 1755 && isnan(r->clock_before));
    assert_int_equal(r->evaluation, 4);
    assert_int_equal(r->multiprocessors, 132);
    assert_true(isnan(r->final_seconds) && r->settled_seconds == 2);
    t = (told){0};
    assert_int_equal(sg_results(c, "nothing", tell, &t), SG_OK);
    assert_int_equal(t.count, 0);
    sg_close(c);
}

static void tell_drift(void *user, const sg_drift *d) {
    int *count = user;
    assert_int_equal(d->struct_size, sizeof *d);
    assert_string_equal(d->plan, "naive");
    assert_int_equal(d->evaluation, 8);
    assert_true(d->first_seconds == 1 && d->seconds == 1.5 && d->clock == 1700);
    assert_true(isnan(d->temperature) && d->taken > 0);
    ++*count;
}

static void drift_body(job *j, void *argument) {
    const errand *e = argument;
    const sg_drift d = {sizeof d, "naive", 8, 1, 1.5, 1700, NAN, 0};
    results_add_drift(j, e->scene->results, e->sweep, &d);
}

static void test_drifts(void **state) {
    (void)state;
    const result_place p = place_of(64, 64, 64);
    errand e = {.scene = &s, .sweep = sweep_of(&s, begin_body, &p, "all")};
    assert_int_equal(run_errand(drift_body, &e), FAULT_NONE);
    sg_context *c = open_none(s.path);
    int count = 0;
    assert_int_equal(sg_drifts(c, e.sweep, tell_drift, &count), SG_OK);
    assert_int_equal(count, 1);
    assert_int_equal(sg_drifts(c, e.sweep + 1, tell_drift, &count), SG_OK);
    assert_int_equal(count, 1);
    assert_int_equal(sg_drifts(c, e.sweep, NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_drifts(NULL, e.sweep, tell_drift, NULL), SG_ERROR_USAGE);
    sg_close(c);
}

static void test_where_it_is(void **state) {
    (void)state;
    fill();
    setenv("SG_DATABASE", s.path, 1);
    sg_context *c = open_none(NULL);
    told t = {0};
    assert_int_equal(sg_results(c, NULL, tell, &t), SG_OK);
    assert_int_equal(t.count, 3);
    sg_close(c);
    c = open_none("none");
    assert_int_equal(sg_results(c, NULL, tell, &t), SG_OK);
    assert_int_equal(t.count, 3);
    sg_close(c);
    unsetenv("SG_DATABASE");
}

static void test_refusals(void **state) {
    (void)state;
    told t = {0};
    assert_int_equal(sg_results(NULL, NULL, tell, &t), SG_ERROR_USAGE);
    sg_context *c = open_none(s.path);
    assert_int_equal(sg_results(c, NULL, NULL, &t), SG_ERROR_USAGE);
    write_content(s.path, "noise", 5);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sg_results(c, NULL, tell, &t), SG_ERROR_IO);
        assert_non_null(strstr(sg_error(c), "results.db: error: tuning results cannot be read: it "
                                            "is no database"));
    }
    assert_int_equal(t.count, 0);
    sg_close(c);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
static const struct CMUnitTest tests[] = {IN_FOLDER(test_what_is_told), IN_FOLDER(test_where_it_is),
                                          IN_FOLDER(test_refusals), IN_FOLDER(test_drifts)};

TEST_GROUP(results_calls, NULL, NULL)
