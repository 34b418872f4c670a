/* The key `tune` of specs: which candidates it leaves, the notes on values that no candidate takes,
   and the errors. */
#include "tests/unit/gen/space/made.h"
#include "tests/unit/group.h"

static void expect_plans(const char *text, const char *schedule, const char *const *plans) {
    made m = make_for(text, schedule, "sm_90", 512, 512, 1, 1);
    assert_int_equal(m.fault, FAULT_NONE);
    int count = 0;
    while (plans[count] != NULL)
        count++;
    for (int i = 0; i < m.space->count; i++)
        if (i >= count || strcmp(m.space->candidates[i].plan, plans[i]) != 0)
            print_error("%d: %s\n", i, m.space->candidates[i].plan);
    assert_int_equal(m.space->count, count);
    for (int i = 0; i < count; i++)
        assert_string_equal(m.space->candidates[i].plan, plans[i]);
    job_end(m.job);
}

static void test_narrowed(void **state) {
    (void)state;
    expect_plans(
        STAR(2, "tune = { method = { 'tiled', 'register' }, tile = { { x = 48, y = 4 }, "
                "{ x = 96 } }, coarsen = { y = { 1, 5 } } }"),
        NULL,
        (const char *const[]){"tiled tile=48x4 vec=1 time=1", "tiled tile=96x8 vec=1 time=1",
                              "tiled tile=96x32 vec=1 time=1", "tiled tile=96x16 vec=1 time=1",
                              "register tile=96 coarsen=y1 vec=1 time=1",
                              "register tile=96 coarsen=y5 vec=1 time=1", NULL});
    /* what the schedule or the caller fixes, stays so */
    expect_plans(STAR(2,
                      "schedule = { tile = { x = 96 } }, tune = { method = { 'tiled', 'register' "
                      "}, tile = { { x = 48, y = 4 }, { x = 96 } }, coarsen = { y = { 1, 5 } } }"),
                 "register",
                 (const char *const[]){"register tile=96 coarsen=y1 vec=1 time=1",
                                       "register tile=96 coarsen=y5 vec=1 time=1", NULL});
    expect_plans(
        "return scan { name = 's', tune = { algorithm = { 'persistent' }, threads = { 128, "
        "256 }, items = { 4, 20, 5 }, stages = { 2 }, blocks = { 3 }, ahead = { 2 }, draw = { 2 } "
        "} }",
        NULL,
        (const char *const[]){"persistent threads=128 items=4 stages=2 blocks=3 ahead=2 draw=2",
                              "persistent threads=256 items=4 stages=2 blocks=3 ahead=2 draw=2",
                              "persistent threads=128 items=20 stages=2 blocks=3 ahead=2 draw=2",
                              "persistent threads=256 items=20 stages=2 blocks=3 ahead=2 draw=2",
                              NULL});
}

/* Several steps a launch where `tune` lists them, also of a run of one step; the time of a step is
   compared. */
static void test_times(void **state) {
    (void)state;
    made m = make_for(STAR(3, "tune = { time = { 1, 3 }, lane = { { x = 4, y = 3 } } }"), NULL,
                      "sm_90", 256, 256, 256, 1);
    assert_int_equal(m.fault, FAULT_NONE);
    for (int i = 0; i < m.space->count; i++)
        assert_non_null(strstr(m.space->candidates[i].plan, "time=3 lane=4x3"));
    assert_int_equal(m.space->note_count, 1);
    assert_string_equal(m.space->notes[0].value, "time=1");
    assert_int_equal(m.space->usual_index, -1);
    job_end(m.job);
}

static void test_notes(void **state) {
    (void)state;
    made m =
        make_for(STAR(2, "tune = { method = { 'tiled' }, tile = { { x = 32, y = 8 }, { x = 1024, "
                         "y = 1024 } } }"),
                 NULL, "sm_90", 512, 512, 1, 1);
    assert_int_equal(m.fault, FAULT_NONE);
    assert_int_equal(m.space->count, 1);
    assert_int_equal(m.space->note_count, 1);
    assert_string_equal(m.space->notes[0].value, "tile=1024x1024");
    assert_non_null(strstr(m.space->notes[0].why, "shared memory"));
    job_end(m.job);
}

/* Of several methods each has the keys that it has; what is left out is so by its values. */
static void test_lacking(void **state) {
    (void)state;
    static const char mixed[] =
        STAR(2, "tune = { method = { 'tiled', 'register', 'naive' }, vector = { 2 }, "
                "tile = { { x = 64, y = 4 } }, coarsen = { y = { 4, 8 } } }");
    static const char formats[] = "return spmv { name = 'y', schedule = { threads = 128 }, tune = "
                                  "{ format = { 'jds', 'csr' }, lanes = { 4, 8 } } }";
    expect_plans(mixed, NULL,
                 (const char *const[]){"tiled tile=64x4 vec=1 time=1",
                                       "naive tile=64x4 vec=2 time=1", NULL});
    expect_plans(mixed, "tiled", (const char *const[]){"tiled tile=64x4 vec=1 time=1", NULL});
    expect_plans(formats, NULL,
                 (const char *const[]){"jds threads=128", "csr warp lanes=4 threads=128",
                                       "csr warp lanes=8 threads=128", NULL});
    made m = make_for(mixed, NULL, "sm_90", 512, 512, 1, 1);
    assert_int_equal(m.space->without_count, 2);
    assert_string_equal(m.space->without[0].name, "tiled");
    assert_string_equal(m.space->without[0].keys, "coarsen, vector");
    assert_string_equal(m.space->without[1].name, "naive");
    assert_string_equal(m.space->without[1].keys, "coarsen");
    assert_int_equal(m.space->note_count, 3); /* register, and coarsenings that nobody has */
    assert_string_equal(m.space->notes[0].value, "register");
    assert_non_null(strstr(m.space->notes[0].why, "it walks y"));
    job_end(m.job);
    m = make_for(formats, NULL, "sm_90", 512, 1, 1, 1);
    assert_int_equal(m.space->without_count, 1);
    assert_string_equal(m.space->without[0].name, "jds");
    assert_string_equal(m.space->without[0].keys, "lanes");
    job_end(m.job);
}

/* Of a list of 5000 elements all of these are one block. */
static void test_alike(void **state) {
    (void)state;
    made m =
        make_for("return reduce { name = 'r', schedule = { threads = 256, items = 16, blocks = 264 "
                 "}, tune = { algorithm = { 'one-pass' }, alone = { 8192, 16384 }, share = { 4, "
                 "8 } } }",
                 "cluster=1", "sm_90", 5000, 1, 1, 1);
    assert_int_equal(m.fault, FAULT_NONE);
    assert_int_equal(m.space->count, 1);
    assert_int_equal(m.space->note_count, 2);
    assert_string_equal(m.space->notes[0].why, "it comes to the same launch as another");
    job_end(m.job);
}

static void expect_none(const char *text, const char *schedule, const char *why) {
    made m = make_for(text, schedule, "sm_90", 512, 512, 1, 1);
    assert_int_equal(m.fault, FAULT_PLAN);
    if (strstr(job_error_text(m.job), why) == NULL)
        print_error("%s\n", job_error_text(m.job));
    assert_non_null(strstr(job_error_text(m.job), why));
    assert_string_equal(job_error_file(m.job), "test.lua");
    assert_int_equal(job_error_line(m.job), 1);
    job_end(m.job);
}

static void test_nothing_left(void **state) {
    (void)state;
    expect_none(STAR(2, "tune = { tile = { { x = 32 } } }"), "tile=64",
                "tune.tile has no value that agrees with the schedule");
    expect_none(STAR(2, "tune = { method = { 'tiled' }, coarsen = { y = { 4 } } }"), NULL,
                "no candidate is left to tune: method tiled: it has no coarsening");
    expect_none(STAR(2, "tune = { method = { 'temporal' }, passes = { 3 } }"), NULL,
                "it has no passes; convolutions have");
    expect_none("return reduce { name = 'r', tune = { algorithm = { 'shared' }, items = { 5 } } }",
                NULL, "no candidate is left to tune");
}

/* ---- what a spec may not say --------------------------------------------------------------- */

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *tune, *message;
    } wrong[] = {
        {"5", "tune: expected a table such as { time = { 1, 2, 4 } }, got the number 5"},
        {"{ tyle = {} }", "unknown key 'tyle' in tune; did you mean 'tile'?"},
        {"{ tile = 32 }", "tune.tile: expected a list of values, got the number 32"},
        {"{ tile = {} }",
         "tune.tile: a table without an axis; a value is, for example, { x = 32, y = 8 }"},
        {"{ tile = { 32, 8 } }",
         "tune.tile: expected a table such as { x = 32, y = 8 }, got the number 32"},
        {"{ tile = { { z = 4 } } }", "tune.tile.z: the stencil has 2 dimensions"},
        {"{ tile = { x = {} } }", "tune.tile.x: the list is empty"},
        {"{ tile = { x = { 8, 0 } } }",
         "tune.tile.x: expected a whole number from 1 to 65536, got the number 0"},
        {"{ coarsen = { { q = 1 } } }", "unknown key 'q' in tune.coarsen; known: x, y, z"},
        {"{ time = {} }",
         "tune.time: the list is empty; without the key the planner's own values are tried"},
        {"{ time = 4 }", "tune.time: expected a list of values, got the number 4"},
        {"{ time = { 4, 2, 4 } }", "tune.time: time=4 stands there twice"},
        {"{ time = { 1.5 } }",
         "tune.time: expected a whole number from 1 to 65536, got the number 1.5"},
        {"{ vector = { 3 } }", "tune.vector must be a power of two, not 3"},
        {"{ method = { 'auto' } }",
         "tune.method: expected one of naive, tiled, coarsened, register, constant, cached-halo, "
         "streamed, bulk, chained, temporal, resident, rows, overlapped, got the string 'auto'"},
        {"{ lane = { { x = 4 }, { x = 4 } } }", "tune.lane: lane=4 stands there twice"},
        {"{ tile = { x = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, y = { 1, 2, 3, 4, 5, 6, 7, 8 } } }",
         "tune.tile has more than 64 values"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "return stencil { name = 's', shape = star(2, 1),\n"
                 "coefficients = { 1, 1, 1, 1, 1 }, tune = %s }",
                 wrong[i].tune);
        expect_error(text, 1, wrong[i].message);
    }
    expect_error("return reduce { name = 'r', tune = { threads = { 48 } } }", 1,
                 "tune: threads must be a power of two, not 48");
    expect_error("return reduce { name = 'r', tune = { tile = { 48 } } }", 1,
                 "unknown key 'tile' in tune; known: algorithm, threads, items, blocks, share, "
                 "alone, cluster, run");
    expect_error("return spmv { name = 'r', tune = { format = { 'csf' } } }", 1,
                 "tune.format: expected one of coo, csr, csc, ell, hyb, jds, dia, bcsr, pkt, sell, "
                 "stencil, got the string 'csf'; did you mean 'csr'?");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_narrowed),     cmocka_unit_test(test_times),
    cmocka_unit_test(test_notes),        cmocka_unit_test(test_alike),
    cmocka_unit_test(test_nothing_left), cmocka_unit_test(test_errors),
    cmocka_unit_test(test_lacking),
};

TEST_GROUP(tune, NULL, NULL)
