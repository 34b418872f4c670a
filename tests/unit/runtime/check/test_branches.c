/* Checks of specs with branches: the data make kernels take both sides of a condition, and the
   report names a side that nothing took. */
#include "gen/spec/spec.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/check/spoiling.h"

#define MASKED(factor)                                                                             \
    "return stencil { name = 'masked', fields = { u = 'inout', m = 'in' }, boundary = 'zero',\n"   \
    "  update = function(f) return where(eq(f.m(0), 1), " factor " * f.u(0), f.u(1)) end }"
#define MAPPED(value)                                                                              \
    "return reduce { name = 'mapped', op = 'sum', dtype = 'int32',\n"                              \
    "  map = function(a) return where(eq(a, 5), " value ", 0) end }"

typedef struct judged {
    const char *text;
    sg_kernel *kernel;
    sg_status status;
} judged;

static void judge_by(job *j, void *argument) {
    judged *g = argument;
    const sg_check_options options = {.struct_size = sizeof options, .size = {3000}, .seed = 5};
    sg_check_result r = {.struct_size = sizeof r};
    const subject *own = g->kernel->subject;
    g->kernel->subject = spec_load(j, "other.lua", g->text, NULL)->subjects[0];
    g->status = sg_check(g->kernel, &options, &r);
    g->kernel->subject = own;
}

/* A kernel that is wrong in a branch that random numbers alone would never take. */
static void branches_are_judged(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{MASKED("2"), MASKED("3")}, {MAPPED("2"), MAPPED("3")}};
    for (int i = 0; i < 2; i++)
        for (int other = 0; other < 2; other++) {
            judged g = {pairs[i][other], build(pairs[i][0], NULL), SG_OK};
            job *j;
            assert_int_equal(job_run(&allocator_libc, judge_by, &g, &j), FAULT_NONE);
            assert_int_equal(g.status, other == 0 ? SG_OK : SG_ERROR_CHECK);
            job_end(j);
            sg_release(g.kernel);
        }
}

static const char never[] =
    "return stencil { name = 'never', boundary = 'zero', parameters = { k = 1 },\n"
    "  fields = { u = 'inout', m = { use = 'in', values = { 0, 2 } } },\n"
    "  update = function(f, p) return where(eq(f.m(0), 1), 2 * f.u(1),\n"
    "    where(gt(p.k, 0), f.u(0), where(gt(f.u(0), 0.5), 1, 2))) end }";

/* Conditions come in no order that anybody promises. */
static void expect_side(const sg_check_result *r, const char *condition, int side) {
    for (int i = 0; i < r->unjudged_count; i++) {
        const sg_unjudged *u = &r->unjudged[i];
        if (strcmp(u->condition, condition) != 0 || u->side != side)
            continue;
        assert_int_equal(u->taken, 0);
        assert_int_equal(u->of, 4000);
        return;
    }
    fail_msg("'%s' is not named", condition);
}

static void sides_that_nothing_took_are_named(void **state) {
    (void)state;
    sg_kernel *k = build(never, NULL);
    sg_check_options options = {.struct_size = sizeof options, .size = {4000}, .seed = 5};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.unjudged_count, 2);
    expect_side(&r, "eq(m(0), 1)", 1);
    expect_side(&r, "gt(p.k, 0)", 0);
    const double negative = -1; /* the parameter's value in the check decides */
    options.parameters = &negative;
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.unjudged_count, 2);
    expect_side(&r, "gt(p.k, 0)", 1);
    /* An older caller's result ends before the list. */
    sg_check_result older = {.struct_size = offsetof(sg_check_result, unjudged_count)};
    expect_ok(sg_check(k, &options, &older));
    assert_null(older.unjudged);
    sg_release(k);
    k = build(MASKED("2"), NULL);
    options.parameters = NULL;
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.unjudged_count, 0);
    sg_release(k);
}

/* After a step nothing is above 3; at first a good part is. */
static void steps_are_all_counted(void **state) {
    (void)state;
    sg_kernel *k = build("return stencil { name = 'once', boundary = 'zero',\n"
                         "  update = function(u) return where(gt(u(0), 3), 0, min(u(0), 1)) end }",
                         NULL);
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {4000}, .seed = 5, .steps = 4};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.unjudged_count, 0);
    sg_release(k);
}

/* A merge of keys by the caller's parameter: the lists are sorted by it too. */
static void parameters_decide_what_is_drawn(void **state) {
    (void)state;
    sg_kernel *k = build("return merge { name = 'signed', keys = 'int32',\n"
                         "  order = function(a, b, p) return lt(p.sign * a, p.sign * b) end }",
                         NULL);
    const double sign = -1;
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {3000}, .seed = 5, .parameters = &sign};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.undecidable, 0);
    assert_int_equal(r.judged, 3000);
    sg_release(k);
}

static const struct CMUnitTest tests[] = {
    undamaged(branches_are_judged),
    undamaged(sides_that_nothing_took_are_named),
    undamaged(steps_are_all_counted),
    undamaged(parameters_decide_what_is_drawn),
};

TEST_GROUP(branches, open_spoiling, close_context)
