/* The planner: what it chooses, what constraints do to it, what it refuses. */
#include "tests/unit/gen/stencil/planning.h"

#include "tests/unit/group.h"

static const char heat[] = "return stencil { name = 'heat', shape = star(3, 2), coefficients = "
                           "identity() + 0.05 * laplacian { dims = 3, accuracy = 4 } }";

static void refused(const loaded *l, const char *line, const char *text) {
    planning p = make(l, line, "sm_90");
    assert_true(job_failed(p.job));
    assert_non_null(strstr(job_error(p.job), text));
    assert_non_null(strstr(job_error(p.job), "test.lua:1: error: "));
    job_end(p.job);
}

static void a_plan_is_complete_and_parses_back(void **state) {
    (void)state;
    loaded l = the_spec(heat);
    for (int m = 0; m < METHODS; m++)
        for (int t = 0; gpu_at(t) != NULL && !methods[m]->chains; t++) {
            planning p = make(&l, methods[m]->name, gpu_at(t)->arch);
            if (job_failed(p.job) && strstr(job_error(p.job), "need sm_90") != NULL) {
                job_end(p.job);
                continue;
            }
            if (job_failed(p.job))
                fail_msg("%s on %s: %s", methods[m]->name, gpu_at(t)->arch, job_error(p.job));
            text line = text_new(p.job);
            schedule_print(&p.plan->schedule, 3, &line);
            planning again = make(&l, line.data, gpu_at(t)->arch);
            assert_memory_equal(&p.plan->schedule, &again.plan->schedule, sizeof(schedule));
            assert_string_equal(p.program->source, again.program->source);
            assert_true(plan_threads(p.plan) <= 1024 &&
                        p.plan->shared_bytes <= (size_t)gpu_at(t)->shared_per_block);
            assert_true(p.plan->estimate.seconds > 0 && p.plan->reason[0] != '\0');
            job_end(again.job);
            job_end(p.job);
        }
    job_end(l.job);
}

static void auto_is_no_worse_than_any_method(void **state) {
    (void)state;
    loaded l = the_spec(heat);
    planning best = make(&l, "", "sm_90");
    for (int m = 1; m < METHODS; m++) {
        if (methods[m]->chains) /* of systems */
            continue;
        planning p = make(&l, methods[m]->name, "sm_90");
        assert_true(best.plan->estimate.seconds <= p.plan->estimate.seconds);
        job_end(p.job);
    }
    job_end(best.job);
    job_end(l.job);
}

static void constraints_are_kept(void **state) {
    (void)state;
    loaded l = the_spec(heat);
    planning p = make(&l, "register tile=24x5 coarsen=z7", "sm_90");
    const schedule *s = &p.plan->schedule;
    assert_int_equal(s->method, method_find("register", 8));
    assert_int_equal(s->tile[0], 24);
    assert_int_equal(s->tile[1], 5);
    assert_int_equal(s->coarsen[2], 7);
    assert_int_equal(p.plan->per_block[2], 7);
    /* Planes of 28 by 9 floats, one at a time. */
    assert_int_equal(p.plan->shared_bytes, 28 * 9 * 4);
    job_end(p.job);
    job_end(l.job);
}

/* A 2D grid that is walked along y is (x, −, y) to its kernel. */
static void a_walked_axis_comes_last(void **state) {
    (void)state;
    loaded l = the_spec("return stencil { name = 's', shape = star(2, 1), "
                        "coefficients = { 1, 2, 3, 4, 5 } }");
    planning p = make(&l, "register tile=64 coarsen=y16", "sm_90");
    assert_int_equal(p.program->launches[0].grid.axes[1], -1);
    assert_int_equal(p.program->launches[0].grid.axes[2], 1);
    assert_int_equal(p.program->launches[0].per_block[2], 16);
    assert_int_equal(p.plan->low[1], 0);
    assert_int_equal(p.plan->high[2], 1);
    job_end(p.job);
    job_end(l.job);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    loaded l = the_spec(heat);
    refused(&l, "naive tile=65536x65536x65536", "method naive: a tile has at most 1048576 points");
    refused(&l, "tiled tile=100x100x50", "method tiled: it needs ");
    refused(&l, "coarsened tile=4x4 coarsen=z2,y3", "method coarsened: it coarsens along z alone");
    refused(&l, "register tile=512x512", "method register: a thread would need about ");
    refused(&l, "naive time=2", "method naive: it makes one time step a launch, not 2");
    refused(&l, "bulk tile=64x9 coarsen=z8,y2",
            "method bulk: tile: y=9 must be a multiple of coarsen=y2");
    refused(&l, "bulk tile=128x64 coarsen=z8", "method bulk: a block has at most 992 threads");
    refused(&l, "bulk tile=64x64 coarsen=z8,y32",
            "method bulk: a thread makes at most 32 points of a plane");
    job_end(l.job);
}

/* ---- several steps a launch ---------------------------------------------------------------- */

static const char plain[] = "return stencil { name = 's', shape = star(2, 1), dtype = 'float', "
                            "coefficients = { 1, 2, 3, 4, 5 } }";

static planning make_steps(const loaded *l, const char *line, int64_t steps) {
    planning p = {.schedule = line,
                  .arch = "sm_90",
                  .steps = steps,
                  .model = l->spec->subjects[0]->expressions};
    model_default_size(p.model->dims, true, p.size);
    job_run(&allocator_libc, plan_body, &p, &p.job);
    return p;
}

/* Strips of 32 lanes, of which eight steps leave 32·12 − 2·8; two stages of four steps each. */
static void fused_steps_have_ways(void **state) {
    (void)state;
    loaded l = the_spec(plain);
    planning p = make_steps(&l, "temporal time=8 lane=12 stages=2 coarsen=y64", 1);
    assert_false(job_failed(p.job));
    assert_int_equal(p.plan->schedule.tile[0], 32 * 12 - 2 * 8);
    assert_non_null(p.plan->single);
    assert_int_equal(p.plan->single->schedule.time, 1);
    assert_true(p.program->grid.ways);
    assert_int_equal(program_own_launches(p.program), 3);
    const program_launch *ways = p.program->launches;
    assert_int_equal(ways[0].grid.steps, 8);
    assert_int_equal(ways[0].block[2], 2);
    assert_int_equal(ways[1].grid.steps, 4);
    assert_int_equal(ways[1].block[2], 1);
    assert_true(ways[1].shared_bytes < ways[0].shared_bytes);
    assert_string_equal(ways[0].entry, ways[1].entry);
    assert_int_equal(ways[2].grid.steps, 1);
    assert_string_equal(ways[2].entry, "s_step");
    assert_true(ways[0].grid.least[0] > p.plan->tile[0]);
    assert_int_equal(ways[2].grid.least[0], 0);
    text line = text_new(p.job);
    schedule_print(&p.plan->schedule, 2, &line);
    planning again = make_steps(&l, line.data, 1);
    assert_string_equal(p.program->source, again.program->source);
    job_end(again.job);
    job_end(p.job);
    job_end(l.job);
}

static void steps_are_fused_where_there_are_several(void **state) {
    (void)state;
    loaded l = the_spec(plain);
    planning one = make_steps(&l, "", 1), five = make_steps(&l, "", 5),
             many = make_steps(&l, "", 1000), forced = make_steps(&l, "time=1", 1000);
    assert_int_equal(one.plan->schedule.time, 1);
    assert_null(one.plan->single);
    assert_false(one.program->grid.ways);
    assert_int_equal(forced.plan->schedule.time, 1);
    assert_in_range(five.plan->schedule.time, 2, 5);
    assert_int_equal(many.plan->schedule.method, method_find("temporal", 8));
    assert_true(many.plan->schedule.time > 5);
    job_end(one.job);
    job_end(five.job);
    job_end(many.job);
    job_end(forced.job);
    job_end(l.job);
}

#define KEYS(more) "return stencil { name = 's', shape = star(2, 1), " more " }"
#define COEFFICIENTS "coefficients = { 1, 2, 3, 4, 5 }"

static void what_cannot_be_fused_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *spec, *line, *text;
    } cases[] = {
        {"return stencil { name = 's', shape = points { {0,0}, {1,0} }, coefficients = { 1, 2 }, "
         "boundary = 'mirror' }",
         "temporal stages=2", "only for one field"},
        {"return stencil { name = 's', dims = 1, update = function(u) return max(u(1), u(0)) end }",
         "temporal", "in 1D it makes several steps of one field by a linear update"},
        {"return stencil { name = 's', dims = 2, fields = { u = 'inout', v = 'out' }, "
         "update = function(f) return { u = f.u(1,0), v = f.u(0,1) } end }",
         "temporal", "one is written alone"},
        {"return stencil { name = 's', dims = 2, storage = 'half', fields = { u = 'inout', v = "
         "'inout' }, update = function(f) return { u = f.v(1,0), v = f.u(0,1) } end }",
         "temporal time=3", "cells of half and bfloat16 are converted"},
        {"return stencil { name = 's', dims = 1, fields = { u = { use = 'inout', levels = 2 } }, "
         "update = function(f) return f.u(1) - f.u.prev(1) end }",
         "time=2",
         "no method serves: method naive: it makes one time step a launch, not 2; method tiled: "},
        {KEYS(COEFFICIENTS), "temporal time=64 lane=4",
         "the halo of 64 steps takes all 128 points along x"},
        {KEYS(COEFFICIENTS), "temporal time=7 stages=2", "time=7 must be a multiple of it"},
        {KEYS(COEFFICIENTS), "temporal time=1", "at least two steps"},
        {KEYS(COEFFICIENTS), "temporal time=4 lane=4x2 stages=2", "only in 3D"},
        {KEYS(COEFFICIENTS), "temporal time=4 lane=8 stages=2 tile=100", "leave 248 of the 256"},
        {KEYS(COEFFICIENTS), "temporal time=16 lane=24 stages=1", "registers each"},
        {KEYS(COEFFICIENTS), "naive stages=2", "the methods chained and temporal have"},
        {KEYS(COEFFICIENTS), "tiled lane=4", "the methods chained and temporal have"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        loaded l = the_spec(cases[i].spec);
        refused(&l, cases[i].line, cases[i].text);
        job_end(l.job);
    }
}

/* A side that the shape does not reach over may be as it likes. */
static void sides_that_nothing_reaches_do_not_matter(void **state) {
    (void)state;
    loaded l = the_spec("return stencil { name = 's', shape = points { {0,0}, {-1,0}, {0,-1} }, "
                        "coefficients = { 1, 2, 3 }, boundary = { x = { 'zero', 'clamp' }, "
                        "y = { 'fixed', 'mirror' } } }");
    planning p = make(&l, "temporal", "sm_90");
    assert_false(job_failed(p.job));
    job_end(p.job);
    job_end(l.job);
}

static void calls_are_limited(void **state) {
    (void)state;
    const char *format =
        "return stencil { name = 's', dims = 1, update = function(u) local x = u(0) "
        "for i = 1, %d do x = x + i * sin(i * u(1)) end return x end }";
    for (int calls = 200; calls <= 201; calls++) {
        char *text = malloc(strlen(format) + 16);
        assert_non_null(text);
        snprintf(text, strlen(format) + 16, format, calls);
        loaded l = the_spec(text);
        planning p = make(&l, "naive", "sm_90");
        assert_int_equal(job_failed(p.job), calls > 200);
        if (calls > 200)
            assert_non_null(strstr(job_error(p.job),
                                   "test.lua:1: error: the update calls exp, log, "
                                   "sin, cos, tanh and pow 201 times"));
        job_end(p.job);
        job_end(l.job);
        free(text);
    }
}

/* A team's parts are smaller than the grid, and their single steps have the bytes of one rank's. */
static void the_rest_is_made_point_by_point(void **state) {
    static const char *const specs[] = {
        "return stencil { name = 'a', shape = box(2, 1), boundary = 'zero', update = function(u) "
        "return u(0,0) / 2 + u(1,1) / 3 + u(-1,0) / 5 + u(0,-1) / 7 + u(-1,-1) / 9 end }",
        "return stencil { name = 'b', shape = box(3, 1), boundary = 'zero', update = function(u) "
        "return u(0,0,0) / 2 + u(1,1,1) / 3 + u(-1,0,0) / 5 + u(1,0,-1) / 7 end }"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        loaded l = the_spec(specs[i]);
        for (int64_t size = 16; size <= 4096; size *= i == 0 ? 16 : 5) {
            planning p = {.schedule = "temporal",
                          .arch = "sm_90",
                          .size = {size, size, i == 0 ? 1 : size},
                          .steps = 7,
                          .model = l.spec->subjects[0]->expressions};
            job_run(&allocator_libc, plan_body, &p, &p.job);
            assert_false(job_failed(p.job));
            assert_false(p.plan->single->form->sums || p.plan->single->form->constant);
            job_end(p.job);
        }
        job_end(l.job);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_plan_is_complete_and_parses_back),
    cmocka_unit_test(auto_is_no_worse_than_any_method),
    cmocka_unit_test(constraints_are_kept),
    cmocka_unit_test(a_walked_axis_comes_last),
    cmocka_unit_test(what_cannot_be_is_refused),
    cmocka_unit_test(fused_steps_have_ways),
    cmocka_unit_test(the_rest_is_made_point_by_point),
    cmocka_unit_test(steps_are_fused_where_there_are_several),
    cmocka_unit_test(what_cannot_be_fused_is_refused),
    cmocka_unit_test(sides_that_nothing_reaches_do_not_matter),
    cmocka_unit_test(calls_are_limited),
};

TEST_GROUP(plan, NULL, NULL)
