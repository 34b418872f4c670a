/* Walks that take turns: each block's walk is one of its own, those of a part follow each other,
   and plans ask for it where a wave of blocks is more than the cache keeps. */
#include "tests/unit/gen/stencil/plan_h200.h"

#include "tests/unit/group.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#define __device__
#define __forceinline__ static inline
#define PLAN_WAVE 528
#include "templates/walk_order.cuh"

static void test_every_walk_once(void **state) {
    (void)state;
    static const unsigned alls[] = {1, 2, 3, 31, 32, 33, 100, 527, 529, 1024, 5000},
                          wides[] = {1, 2, 3, 16, 17, 132, 264, 265, 528, 529, 70000};
    for (size_t i = 0; i < sizeof alls / sizeof alls[0]; i++)
        for (size_t k = 0; k < sizeof wides / sizeof wides[0]; k++) {
            char *made = calloc(alls[i], 1);
            assert_non_null(made);
            for (unsigned place = 0; place < alls[i]; place++) {
                const unsigned walk = walk_in_turn(place, alls[i], wides[k]);
                assert_true(walk < alls[i]);
                assert_false(made[walk]);
                made[walk] = 1;
            }
            free(made);
        }
}

/* 528 blocks are 32 parts of 16 blocks, and 33 of 16 are not begun: a power of two. */
static void test_parts_take_turns(void **state) {
    (void)state;
    assert_int_equal(walk_in_turn(0, 1024, 16), 0);
    assert_int_equal(walk_in_turn(1, 1024, 16), 32);
    assert_int_equal(walk_in_turn(31, 1024, 16), 31 * 32);
    assert_int_equal(walk_in_turn(32, 1024, 16), 1);
    assert_int_equal(walk_in_turn(33, 1024, 16), 33);
    assert_int_equal(walk_in_turn(7, 1024, 600), 7); /* rows of more blocks than run at a time */
    assert_int_equal(walk_in_turn(1, 34, 16), 2);    /* the first parts have one walk more */
    assert_int_equal(walk_in_turn(32, 34, 16), 1);
    assert_int_equal(walk_in_turn(33, 34, 16), 3);
}

static void expect(const char *others, const char *updated, const char *schedule, bool turns) {
    char spec[400];
    loaded l;
    planning p = {.schedule = schedule, .size = FLAT(4096), .steps = 1};
    snprintf(spec, sizeof spec,
             "return stencil { name = 'two', boundary = 'clamp', fields = { u = 'inout', v = "
             "'inout' %s }, update = function(f) local u, v = f.u, f.v return { %s } end }",
             others, updated);
    p.model = load_model(&l, spec);
    job *j;
    if (job_run(&allocator_libc, planning_body, &p, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    text written = text_new(j);
    p.plan->form->macros(&written, p.plan, true, false);
    if ((strstr(written.data, "PLAN_WAVE") != NULL) != turns)
        fail_msg("%s, %s", updated, schedule);
    job_end(j);
    job_end(l.job);
}

/* Of an H200, whose cache has 63 MB. */
static void test_what_asks_for_turns(void **state) {
    (void)state;
    static const char two[] = "u = u(0, 0) * v(0, 1) + u(0, -1), v = v(0, -1) * u(0, 0) + v(0, 1)";
    expect("", two, "streamed tile=512 coarsen=y16 vec=4", true);
    expect("", two, "streamed tile=512 coarsen=y3 vec=4", false); /* a wave of 26 MB */
    /* No row that two walks read. */
    expect("", "u = u(1, 0) * v(0, 0), v = v(0, -1) * v(0, -1)",
           "streamed tile=512 coarsen=y16 vec=4", false);
    expect("", "u = u(0, 1) + u(0, -1), v = v(0, -1) + v(0, 1)",
           "streamed tile=512 coarsen=y16 vec=4", false); /* linear */
    /* Two of four arrays are read on several rows, and one. */
    expect(", a = 'in', b = 'in'",
           "u = u(0, 1) * u(0, -1) + f.a(0, 0) * f.b(0, 0), v = v(0, 1) * v(0, -1)",
           "streamed tile=512 coarsen=y16 vec=4", true);
    expect(", a = 'in', b = 'in'",
           "u = u(0, 1) * u(0, -1) + f.a(0, 0) * f.b(0, 0), v = v(0, 0) * v(0, 0)",
           "streamed tile=512 coarsen=y16 vec=4", false);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_walk_once),
    cmocka_unit_test(test_parts_take_turns),
    cmocka_unit_test(test_what_asks_for_turns),
};

TEST_GROUP(walk_order, NULL, NULL)
