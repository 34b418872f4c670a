/* Checks of systems on the cpu device: the specs of the tree are right however their stages share
   launches, and what one launch spoils is found, also where a later stage reads it. */
#include "tests/unit/draw.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/check/spoiling.h"

#include <stdlib.h>

static sg_kernel *build_file(const char *name, const char *schedule) {
    const char *source = getenv("SOURCE"); /* set by CTest; else the working folder */
    char path[4096];
    snprintf(path, sizeof path, "%s/specs/%s.lua", source != NULL ? source : ".", name);
    const sg_build_options options = {
        .struct_size = sizeof options, .schedule = schedule, .size = {67, 41}};
    sg_kernel *k = NULL;
    expect_ok(sg_build(context, path, &options, &k));
    return k;
}

static sg_status check(sg_kernel *k, int64_t steps, sg_check_result *r) {
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {67, 41}, .steps = steps, .seed = 7};
    *r = (sg_check_result){.struct_size = sizeof *r};
    return sg_check(k, &options, r);
}

static void specs_are_right(void **state) {
    (void)state;
    static const struct {
        const char *name, *schedule;
    } cases[] = {{"acoustic", NULL},
                 {"acoustic", "1: tiled | 2: naive"},
                 {"maxwell2d", NULL},
                 {"shallow", "1: naive | 2: streamed"},
                 {"shallow", "1-2: naive"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sg_kernel *k = build_file(cases[i].name, cases[i].schedule);
        for (int64_t steps = 0; steps < 4; steps += 3) {
            sg_check_result r;
            expect_ok(check(k, steps, &r));
            assert_int_equal(r.judged, 67 * 41);
            assert_int_equal(r.wrong, 0);
            assert_true(r.of_bound > 0.001 && r.of_bound < 1);
        }
        sg_release(k);
    }
}

static void expect_wrong(sg_kernel *k, int64_t steps, int64_t least, const char *says) {
    sg_check_result r;
    assert_int_equal(check(k, steps, &r), SG_ERROR_CHECK);
    assert_true(r.wrong >= least);
    if (strstr(sg_error(context), says) == NULL)
        fail_msg("%s", sg_error(context));
}

/* One cell of the scratch field, which a stage wrote, is changed a little. */
static void a_spoilt_scratch_field_is_found(void **state) {
    (void)state;
    sg_kernel *k = build_file("acoustic", "1: naive | 2: naive");
    damage.array = 0; /* of the first stage lap, and of the second c, which is only read */
    damage.offset = 20 * 67 + 30;
    damage.value = 1000;
    expect_wrong(k, 0, 1, "is wrong in");
    expect_wrong(k, 3, 2, "is wrong in");
    sg_release(k);
}

static void a_spoilt_result_is_found(void **state) {
    (void)state;
    sg_kernel *k = build_file("maxwell2d", "1: naive | 2: naive");
    damage.array = 2; /* of the second stage ez.next, of the first hx */
    damage.offset = 66;
    damage.value = 0.5F;
    expect_wrong(k, 0, 1, "at (66,0): ");
    damage.no_launch = true;
    damage.array = -1;
    expect_wrong(k, 0, 2 * 67 * 41, "at (0,0): ");
    sg_release(k);
}

/* A cell that `fixed` leaves out of an out field stays alone; one of a scratch field is 0. */
static void kept_cells_are_judged(void **state) {
    (void)state;
    static const char text[] =
        "return system { name = 'edges', dims = 2, fields = { u = 'inout', e = 'out', s = "
        "'scratch' },\n"
        "  stages = { { update = function(f) return { s = f.u(2, 0), e = f.u(1, 0) } end },\n"
        "    { update = function(f) return { u = f.s(0, 0) + 0.5 * f.u(0, 0) } end } } }";
    sg_kernel *k = build(text, "1: naive | 2: naive");
    sg_check_result r;
    expect_ok(check(k, 0, &r));
    expect_ok(check(k, 4, &r));
    damage.array = 0; /* of the first stage e */
    damage.offset = 66;
    damage.value = 0;
    expect_wrong(k, 0, 1, "e at (66,0): 0 instead of being left alone");
    damage.array = 1; /* of the first stage s */
    damage.value = 1;
    expect_wrong(k, 0, 1, "u.next at (66,0)");
    sg_release(k);
}

/* A mirror along y that is read on one side alone folds at both where there are two rows. */
static void a_mirror_of_few_rows_is_folded(void **state) {
    (void)state;
    static const char text[] =
        "return system { name = 'fold', dims = 2, boundary = 'mirror',\n"
        "  fields = { u = 'inout', v = 'inout' },\n"
        "  stages = { { update = function(f) return { u = f.u(0, 2) - 0.5 * f.u(1, 0) } end },\n"
        "    { update = function(f) return { v = 0.5 * f.u(0, 0) } end } } }";
    sg_kernel *k = build(text, "1-2: naive");
    for (int rows = 1; rows < 4; rows++) {
        const sg_check_options options = {
            .struct_size = sizeof options, .size = {5, rows}, .steps = 3, .seed = 7};
        sg_check_result r = {.struct_size = sizeof r};
        expect_ok(sg_check(k, &options, &r));
        assert_int_equal(r.wrong, 0);
    }
    sg_release(k);
}

/* The first two stages together would store nothing. */
static void results_that_nobody_reads_are_made(void **state) {
    (void)state;
    static const char text[] =
        "return system { name = 'idle', dims = 2, boundary = 'mirror',\n"
        "  fields = { u = 'inout', s = 'scratch' },\n"
        "  stages = { { update = function(f) return { s = f.u(0, 0) } end },\n"
        "    { update = function(f) return { s = f.s(0, 0) + f.u(1, 0) } end },\n"
        "    { update = function(f) return { u = 0.5 * f.u(1, 0) } end } } }";
    sg_kernel *k = build(text, NULL);
    sg_check_result r;
    expect_ok(check(k, 3, &r));
    assert_int_equal(r.wrong, 0);
    sg_release(k);
    sg_build_options options = {.struct_size = sizeof options, .text = text};
    options.schedule = "1-2: naive | 3: naive";
    assert_int_equal(sg_build(context, "idle", &options, &k), SG_ERROR_PLAN);
    if (strstr(sg_error(context), "nothing that they write is read later") == NULL)
        fail_msg("%s", sg_error(context));
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    sg_kernel *k = build_file("maxwell2d", "1: naive | 2: naive");
    sg_grid grids[7];
    for (int i = 0; i < 7; i++)
        grids[i] = (sg_grid){.size = {8, 8}};
    const sg_arguments a = {
        .struct_size = sizeof a, .grids = grids, .grid_count = 7, .end = {4, 8}};
    assert_int_equal(sg_launch(k, &a, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context), "error: a step of 'maxwell2d' updates the whole grid, "
                                           "not a box: it is a system");
    sg_release(k);
    static const struct {
        const char *schedule;
        sg_status status;
        const char *says;
    } bad[] = {
        {"1: naive", SG_ERROR_USAGE, "does not fit 'maxwell2d' of 2 stages"},
        {"2: naive | 1: naive", SG_ERROR_USAGE, "names no stage, or one out of order"},
        {"1: naive | 2: naive | ", SG_ERROR_USAGE, "ends with '|'"},
        {"1: nave | 2: naive", SG_ERROR_USAGE, "nave"},
        {"1: naive time=3 | 2: naive", SG_ERROR_PLAN, "method "},
        {"naive time=3", SG_ERROR_PLAN, "method "},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const sg_build_options options = {.struct_size = sizeof options,
                                          .schedule = bad[i].schedule};
        char path[4096];
        const char *source = getenv("SOURCE");
        snprintf(path, sizeof path, "%s/specs/maxwell2d.lua", source != NULL ? source : ".");
        assert_int_equal(sg_build(context, path, &options, &k), bad[i].status);
        if (strstr(sg_error(context), bad[i].says) == NULL)
            fail_msg("%s", sg_error(context));
    }
}

#define TWO_STAGES(boundary, fields, first, second)                                                \
    "return system { name = 'two', dims = 2, boundary = " boundary ", fields = { " fields " },\n"  \
    "  stages = { " first ",\n    " second " } }"
#define UPDATE(table) "update = function(f) return { " table " } end }"

/* Two stages in one launch, on grids of some sizes, with the results of the stages alone. */
static void expect_groups(const char *text, const char *schedule) {
    sg_kernel *k = build(text, schedule);
    for (int nx = 1; nx < 12; nx += nx < 5 ? 1 : 6) {
        const sg_check_options options = {
            .struct_size = sizeof options, .size = {nx, 6}, .steps = 2, .seed = 7};
        sg_check_result r = {.struct_size = sizeof r};
        expect_ok(sg_check(k, &options, &r));
        assert_int_equal(r.wrong, 0);
    }
    sg_release(k);
}

static void expect_together(const char *text) {
    expect_groups(text, "1-2: naive");
}

static void expect_apart(const char *text, const char *says) {
    const sg_build_options options = {
        .struct_size = sizeof options, .text = text, .schedule = "1-2: naive"};
    sg_kernel *k;
    assert_int_equal(sg_build(context, "apart.lua", &options, &k), SG_ERROR_PLAN);
    if (strstr(sg_error(context), says) == NULL)
        fail_msg("%s", sg_error(context));
}

static void stages_with_other_boundaries_share_a_launch(void **state) {
    (void)state;
    /* Each field has a rule of its own, and one rule in both stages. */
    expect_together(TWO_STAGES(
        "'zero'", "u = { use = 'inout', boundary = 'clamp' }, c = 'in', v = 'inout', s = 'scratch'",
        "{ " UPDATE("s = f.u(1, 0) + f.c(-1, 0)"), "{ " UPDATE("u = f.u(0, -2), v = f.s(0, 0)")));
    /* Stages have other rules, and no field is read by both beyond an end. */
    expect_together(TWO_STAGES("'mirror'", "a = 'in', b = 'in', u = 'inout', s = 'scratch'",
                               "{ boundary = 'zero', " UPDATE("s = f.a(2, 0) + f.a(0, 0)"),
                               "{ " UPDATE("u = f.b(-3, 1) * f.s(0, 0) + f.a(0, 0)")));
    /* A result is read by the rule of what it is made of, and another field by another one. */
    expect_together(TWO_STAGES(
        "'zero'",
        "u = { use = 'inout', boundary = 'clamp' }, c = 'in', s = { use = 'scratch', boundary = "
        "'clamp' }",
        "{ " UPDATE("s = 2 * f.u(0, 0) + 1"), "{ " UPDATE("u = f.s(-2, 1) + f.c(1, 0)")));
}

/* What a result is made of at its own point is read beyond an end by the rule of the result. */
static void results_bring_their_boundaries(void **state) {
    (void)state;
    expect_together(TWO_STAGES("'mirror'",
                               "u = { use = 'inout', boundary = 'clamp' }, s = 'scratch'",
                               "{ " UPDATE("s = 2 * f.u(0, 0)"), "{ " UPDATE("u = f.s(-2, 1)")));
    expect_together(TWO_STAGES("'periodic'", "u = 'inout', c = 'in', s = 'scratch'",
                               "{ " UPDATE("s = 2 * f.u(0, 1) * f.c(0, 0)"),
                               "{ " UPDATE("u = f.s(-2, 1) + f.u(-1, 0)")));
}

static void repeated_stages_share_a_launch(void **state) {
    (void)state;
    expect_together(TWO_STAGES("'periodic'", "u = 'inout', v = 'inout'",
                               "{ times = 3, " UPDATE("u = 0.5 * f.u(1, 0) + 0.25 * f.u(0, -1)"),
                               "{ times = 2, " UPDATE("v = f.u(-1, 0) + 0.5 * f.v(0, 0)")));
    expect_apart(TWO_STAGES("'periodic'", "u = 'inout', v = 'inout'",
                            "{ times = 30, " UPDATE("u = 0.5 * f.u(0, 0)"),
                            "{ " UPDATE("v = f.u(0, 0)")),
                 "one is repeated too often");
}

static void stages_that_would_differ_at_an_edge_stay_apart(void **state) {
    (void)state;
    expect_apart(TWO_STAGES("'clamp'", "a = 'in', u = 'inout', s = 'scratch'",
                            "{ boundary = 'zero', " UPDATE("s = f.a(1, 0)"),
                            "{ " UPDATE("u = f.a(1, 0) + f.s(0, 0)")),
                 "their boundaries differ");
    expect_apart(TWO_STAGES("'mirror'", "u = { use = 'inout', boundary = 'clamp' }, s = 'scratch'",
                            "{ " UPDATE("s = 2 * f.u(0, 0)"),
                            "{ " UPDATE("u = f.s(-2, 1) + f.u(-1, 0)")),
                 "results beyond a mirror");
    /* In few columns the mirror leads beyond the other end, where the result reads as 0. */
    static const char few[] = TWO_STAGES(
        "{ x = { 'mirror', 'zero' }, y = 'clamp' }", "u = 'inout', v = 'inout', s = 'scratch'",
        "{ " UPDATE("s = f.u(0, 0) + 1, u = 0.5 * f.u(0, 0)"), "{ " UPDATE("v = f.s(-3, 0)"));
    expect_apart(few, "results beyond a mirror");
    expect_apart(TWO_STAGES("'fixed'", "a = 'in', e = 'out', u = 'inout'",
                            "{ " UPDATE("e = f.a(1, 0)"), "{ " UPDATE("u = f.a(0, 2)")),
                 "a field that is only written");
}

/* Expressions ask where they are evaluated: beyond an end they are what the boundary gives, and
   what `fixed` keeps stays. A run has a third of the pairs of rules, which is drawn. */
static void guards_serve_edges(void **state) {
    (void)state;
    static const char *const rules[] = {"'zero'",
                                        "'clamp'",
                                        "constant(0.5)",
                                        "{ x = { 'clamp', 'zero' }, y = { constant(2), 'fixed' } }",
                                        "{ x = 'fixed', y = 'periodic' }",
                                        "'fixed'"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
            char text[1024];
            if ((i == 4) != (k == 4) || !drawn(i + k, 3)) /* periodic for one alone */
                continue;
            snprintf(
                text, sizeof text,
                "return system { name = 'two', dims = 2, fields = { c = 'in', u = 'inout', v "
                "= 'inout', s = 'scratch' },\n stages = {\n"
                "{ boundary = %s, " UPDATE(
                    "u = f.u(0, 0) + f.c(2, 0) * f.c(0, -1)") ",\n"
                                                              "{ boundary = %s, update = "
                                                              "function(f, p, at)\n"
                                                              "  return { s = f.u(-1, 1) + at.x / "
                                                              "8, v = f.u(2, 0) * f.v(0, 0) } end "
                                                              "},\n"
                                                              "{ boundary = %s, " UPDATE(
                                                                  "v = f.v(0, 0) - f.s(1, -1)") " }"
                                                                                                " "
                                                                                                "}",
                rules[i], rules[k], rules[i]);
            expect_groups(text, "1-3: naive");
            if (i == k && i != 3) /* a source has one rule */
                expect_groups(text, "1-3: chained tile=16 coarsen=y4");
        }
}

/* A stage that reads no array is made as far around a block as a later one reads it. In a grid of
   one row a mirror leads to the value beyond the other end. */
static void chains_make_what_is_read(void **state) {
    (void)state;
    expect_groups("return system { name = 'two', dims = 2, boundary = 'periodic',\n"
                  "  fields = { u = 'inout', s = 'scratch' }, stages = {\n"
                  "    { update = function(f, p, at) return { s = at.x / 64 + at.y / 8 } end },\n"
                  "    { " UPDATE("u = 0.5 * f.u(0, 0) + f.s(1, -2)") " } }",
                  "1-2: chained tile=16 coarsen=y4");
    static const char folded[] =
        TWO_STAGES("{ x = 'zero', y = { 'zero', 'mirror' } }", "u = 'inout', s = 'scratch'",
                   "{ " UPDATE("s = 2 * f.u(0, 0)"), "{ " UPDATE("u = f.s(0, 2)"));
    const sg_build_options options = {
        .struct_size = sizeof options, .text = folded, .schedule = "1-2: chained"};
    sg_kernel *k;
    assert_int_equal(sg_build(context, "folded.lua", &options, &k), SG_ERROR_PLAN);
    if (strstr(sg_error(context), "their boundaries differ") == NULL)
        fail_msg("%s", sg_error(context));
}

/* Quotients and roots that a strip's points make together, on grids with and without rows of packs,
   of one step and of two in one launch; zeros, tiny and huge numbers among them. */
static void strips_divide(void **state) {
    (void)state;
    static const char text[] =
        "return system { name = 'divide', dtype = 'float', boundary = 'clamp',\n"
        "  fields = { a = { use = 'inout', values = { 1, 3, -7, 0.1, 2e-38, 5e-39, -2.5e38 } },\n"
        "    b = { use = 'inout', values = { 0, 1, 1e-39, 0.7, 3e-38 } }, q = 'out', s = 'scratch' "
        "},\n"
        "  stages = {\n"
        "    { update = function(f)\n"
        "        return { s = f.b(0, 1) / f.a(1, 0), q = sqrt(f.b(-1, 0)) } end },\n"
        "    { update = function(f)\n"
        "        return { a = min(f.a(0, 0), abs(f.s(0, -1)) + 1), b = min(1, f.b(0, 0)) } end } } "
        "}";
    static const struct {
        const char *schedule;
        int64_t steps;
    } ways[] = {{"1-2: chained coarsen=y9 vec=1 lane=2", 1},
                {"1-2: chained coarsen=y16 vec=1 lane=4", 1},
                {"chained coarsen=y12 vec=1 lane=2 time=2", 2}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const sg_build_options options = {.struct_size = sizeof options,
                                          .text = text,
                                          .schedule = ways[i].schedule,
                                          .steps = ways[i].steps};
        sg_kernel *k;
        expect_ok(sg_build(context, "divide.lua", &options, &k));
        if (strstr(sg_kernel_text(k, SG_TEXT_SOURCE), "at.quotient(") == NULL)
            fail_msg("its strips divide one by one");
        for (int64_t nx = 5; nx < 300; nx += 123) {
            const sg_check_options how = {
                .struct_size = sizeof how, .size = {nx, 37}, .steps = ways[i].steps, .seed = 7};
            sg_check_result r = {.struct_size = sizeof r};
            expect_ok(sg_check(k, &how, &r));
            assert_int_equal(r.wrong, 0);
            assert_true(r.undecidable < r.judged / 2);
        }
        sg_release(k);
    }
}

static const struct CMUnitTest tests[] = {
    undamaged(specs_are_right),
    undamaged(a_spoilt_scratch_field_is_found),
    undamaged(a_spoilt_result_is_found),
    undamaged(kept_cells_are_judged),
    undamaged(what_cannot_be_is_refused),
    undamaged(results_that_nobody_reads_are_made),
    undamaged(a_mirror_of_few_rows_is_folded),
    undamaged(stages_with_other_boundaries_share_a_launch),
    undamaged(results_bring_their_boundaries),
    undamaged(repeated_stages_share_a_launch),
    undamaged(stages_that_would_differ_at_an_edge_stay_apart),
    undamaged(guards_serve_edges),
    undamaged(chains_make_what_is_read),
    undamaged(strips_divide),
};

TEST_GROUP(system, open_spoiling, close_context)
