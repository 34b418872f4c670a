/* The space of candidates: what `tune` says, what it leaves, and that all of it can be built. */
#include "tests/unit/gen/spec/load_spec.h"

#include <time.h>

#include "gen/families.h"
#include "gen/space/space.h"
#include "gen/stencil/method.h"
#include "gen/stencil/plan.h"
#include "gen/stencil/schedule.h"
#include "gen/stencil/stencil.h"
#include "matrix/format.h"
#include "runtime/tune/search.h"
#include "tests/unit/group.h"

typedef struct made {
    job *job;
    fault fault;
    const char *text, *schedule, *arch;
    int64_t size[AXES], steps;
    const matrix *matrix;
    const subject *subject;
    family_request request;
    space *space;
} made;

static void make_body(job *j, void *argument) {
    made *m = argument;
    m->subject = spec_load(j, "test.lua", m->text, NULL)->subjects[0];
    m->request = (family_request){
        .schedule = m->schedule, .gpu = gpu_find(m->arch), .steps = m->steps, .matrix = m->matrix};
    memcpy(m->request.size, m->size, sizeof m->size);
    m->space = space_make(j, m->subject, &m->request);
}

static made make_for(const char *text, const char *schedule, const char *arch, int64_t x, int64_t y,
                     int64_t z, int64_t steps) {
    made m = {.text = text, .schedule = schedule, .arch = arch, .size = {x, y, z}, .steps = steps};
    m.fault = job_run(&allocator_libc, make_body, &m, &m.job);
    if (m.fault != FAULT_NONE && m.fault != FAULT_PLAN)
        print_error("%s\n", job_error(m.job));
    return m;
}

/* ---- whole specs --------------------------------------------------------------------------- */

#define STAR(dims, more)                                                                           \
    "return stencil { name = 's', shape = star(" #dims                                             \
    ", 1), coefficients = identity() + 0.1 * laplacian { dims = " #dims ", accuracy = 2 }, " more  \
    " }"
#define UPDATE2                                                                                    \
    "return stencil { name = 'u', dims = 2, update = function(u)\n"                                \
    "  return sqrt(u(0,0) * u(1,0)) end }"
#define FILTER                                                                                     \
    "return convolution { name = 'f', weights = { { 1, 2, 1 }, { 2, 4, 2 }, { 1, 2, 1 } } }"
#define ROWS "return reduce { name = 'r', dtype = 'double', segmented = true }"
#define SUM "return reduce { name = 'r', dtype = 'double' }"
#define SCAN "return scan { name = 'p', dtype = 'float' }"
#define MERGE "return merge { name = 'm', keys = 'int32', values = 'double' }"
#define SPMV "return spmv { name = 'y', dtype = 'double' }"

static const struct {
    const char *text;
    int64_t size[AXES], steps;
    int least; /* candidates */
} wholes[] = {
    {STAR(1, ""), {1 << 20, 1, 1}, 1, 20},    {STAR(2, ""), {512, 512, 1}, 1, 50},
    {STAR(3, ""), {128, 128, 128}, 1, 100},   {STAR(1, ""), {1 << 20, 1, 1}, 64, 50},
    {STAR(2, ""), {1024, 1024, 1}, 64, 1000}, {STAR(3, ""), {128, 128, 128}, 64, 500},
    {STAR(2, ""), {8, 8, 1}, 64, 20},         {UPDATE2, {512, 512, 1}, 16, 50},
    {FILTER, {512, 512, 1}, 1, 50},           {ROWS, {1 << 20, 1, 1}, 1, 50},
    {SUM, {1 << 20, 1, 1}, 1, 150},           {SCAN, {1 << 20, 1, 1}, 1, 200},
    {MERGE, {1 << 20, 1, 1}, 1, 500},         {SPMV, {1 << 20, 1, 1}, 1, 50},
};

static const char *rebuilt(const made *m, const space_candidate *c) {
    family_request r = m->request;
    r.schedule = c->plan;
    if (m->subject->family != &families[FAMILY_STENCIL])
        return m->subject->family->build(m->job, m->subject, &r)->plan;
    const model *of = m->subject->model;
    text line = text_new(m->job);
    schedule_print(
        &plan_make(m->job, of, stencil_wanted(m->job, m->subject, c->plan), r.gpu, r.size, r.steps)
             ->schedule,
        of->dims, &line);
    return line.data;
}

typedef struct walking {
    made *made;
    int every;
} walking;

/* Each line makes the plan that it says, and no other candidate's. */
static void rebuild_body(job *j, void *argument) {
    const walking *w = argument;
    made m = *w->made;
    m.job = j;
    for (int i = 0; i < m.space->count; i += w->every) {
        const space_candidate *c = &m.space->candidates[i];
        assert_string_equal(rebuilt(&m, c), c->plan);
        assert_int_equal(space_find(m.space, c->plan), i);
    }
}

static void test_wholes(void **state) {
    (void)state;
    static const char *const arches[] = {"sm_75", "sm_90"};
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        for (int a = 0; a < 2; a++) {
            made m = make_for(wholes[i].text, NULL, arches[a], wholes[i].size[0], wholes[i].size[1],
                              wholes[i].size[2], wholes[i].steps);
            assert_int_equal(m.fault, FAULT_NONE);
            assert_true(m.space->count >= wholes[i].least);
            assert_true(m.space->usual_index >= 0);
            assert_int_equal(m.space->note_count, 0);
            job *j;
            walking w = {&m, 1 + m.space->count / 60};
            assert_int_equal(job_run(&allocator_libc, rebuild_body, &w, &j), FAULT_NONE);
            job_end(j);
            job_end(m.job);
        }
}

/* What is found out about a matrix once for all candidates is what each by itself would find. */
static void test_matrix(void **state) {
    (void)state;
    enum { HEIGHT = 3000, ENTRIES = 2 * HEIGHT };
    static int64_t rows[ENTRIES], columns[ENTRIES];
    static double values[ENTRIES];
    for (int i = 0; i < ENTRIES; i++) {
        rows[i] = i / 2;
        columns[i] = i % 2 == 0 ? i / 2 : HEIGHT + (i / 2) % 7;
        values[i] = i % 2 == 0 ? 4 : i;
    }
    const matrix a = {HEIGHT, HEIGHT + 7, ENTRIES, rows, columns, values};
    made m = {.text = SPMV, .arch = "sm_90", .size = {ENTRIES, 1, 1}, .steps = 1, .matrix = &a};
    m.fault = job_run(&allocator_libc, make_body, &m, &m.job);
    assert_int_equal(m.fault, FAULT_NONE);
    assert_true(m.space->count > 100);
    assert_true(m.space->usual_index >= 0);
    job *j;
    walking w = {&m, 1 + m.space->count / 60};
    assert_int_equal(job_run(&allocator_libc, rebuild_body, &w, &j), FAULT_NONE);
    job_end(j);
    job_end(m.job);
}

/* The values are those that the line says, and stencils have estimates. */
static void test_values(void **state) {
    (void)state;
    made m = make_for(STAR(3, ""), NULL, "sm_90", 128, 128, 128, 64);
    const space *s = m.space;
    for (int i = 0; i < s->count; i++) {
        schedule said = {.method = 0};
        schedule_parse(m.job, s->candidates[i].plan, "a plan", &said);
        assert_true(s->candidates[i].estimate > 0);
        assert_true(s->candidates[i].threads > 0);
        for (int a = 0; a < s->axis_count; a++) {
            const int value = s->candidates[i].values[a];
            if (strcmp(s->axes[a].name, "method") == 0)
                assert_int_equal(value, said.method);
            else if (strcmp(s->axes[a].name, "tile.y") == 0)
                assert_int_equal(value, said.tile[1]);
            else if (strcmp(s->axes[a].name, "lane.y") == 0)
                assert_int_equal(value, said.lane[1]);
            else if (strcmp(s->axes[a].name, "time") == 0)
                assert_int_equal(value, said.time);
        }
    }
    assert_string_equal(s->axes[0].name, "method");
    assert_string_equal(s->axes[0].words[method_find("temporal", 8)], "temporal");
    job_end(m.job);
}

/* A search over a space begins with the usual plan, and asks for all. */
static void search_body(job *j, void *argument) {
    const space *s = argument;
    const search_candidates *c = search_candidates_of(j, s);
    search *over = search_new(j, SEARCH_GUIDED, c, 0);
    int asked, all = 0;
    assert_int_equal(c->count, s->count);
    assert_true(c->named[0] && !c->named[1]);
    assert_int_equal(c->values[3 * c->axis_count + 1], s->candidates[3].values[1]);
    for (; search_ask(over, 1, &asked) == 1; all++) {
        if (all == 0)
            assert_int_equal(asked, s->usual_index);
        search_tell(over, asked, s->candidates[asked].threads);
    }
    assert_int_equal(all, s->count);
}

static void test_search(void **state) {
    (void)state;
    made grid = make_for(STAR(2, ""), NULL, "sm_90", 512, 512, 1, 1);
    made list = make_for(SCAN, "look-back", "sm_90", 1 << 20, 1, 1, 1);
    job *j;
    assert_int_equal(job_run(&allocator_libc, search_body, grid.space, &j), FAULT_NONE);
    job_end(j);
    assert_int_equal(job_run(&allocator_libc, search_body, list.space, &j), FAULT_NONE);
    job_end(j);
    job_end(grid.job);
    job_end(list.job);
}

static void test_twice(void **state) {
    (void)state;
    made a = make_for(STAR(2, ""), NULL, "sm_90", 500, 400, 1, 8);
    made b = make_for(STAR(2, ""), NULL, "sm_90", 500, 400, 1, 8);
    assert_int_equal(a.space->count, b.space->count);
    for (int i = 0; i < a.space->count; i++) {
        assert_string_equal(a.space->candidates[i].plan, b.space->candidates[i].plan);
        assert_true(a.space->candidates[i].estimate == b.space->candidates[i].estimate);
    }
    job_end(a.job);
    job_end(b.job);
}

/* ---- tune ---------------------------------------------------------------------------------- */

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
         "streamed, ring, temporal, resident, got the string 'auto'"},
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
                 "alone, cluster");
    expect_error("return spmv { name = 'r', tune = { format = { 'csf' } } }", 1,
                 "tune.format: expected one of coo, csr, csc, ell, hyb, jds, dia, bcsr, pkt, sell, "
                 "stencil, got the string 'csf'; did you mean 'csr'?");
}

/* An operator of thousands of operations: none of hundreds of candidates is written for the list.
 */
static void test_long_functions(void **state) {
    (void)state;
    enum { MOST_SECONDS = 20 };
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    made m = make_for("return scan { name = 's', identity = 0, op = function(a, b)\n"
                      "local s = a for i = 1, 9000 do s = s * b + a * i end return s end }",
                      NULL, "sm_90", 1 << 26, 1, 1, 1);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    assert_int_equal(m.fault, FAULT_NONE);
    assert_true(m.space->count > 100);
    assert_true(after.tv_sec - before.tv_sec < MOST_SECONDS);
    job_end(m.job);
}

static void every_family_fills_its_row(void **state) {
    (void)state;
    for (int i = 0; i < FAMILY_COUNT; i++) {
        const family *f = &families[i];
        assert_true(f->name != NULL && f->summary != NULL && f->dims != NULL && f->print != NULL);
        assert_true(f->wanted != NULL && f->plan != NULL && f->build != NULL && f->explain != NULL);
        assert_true(f->space_agrees != NULL && f->space_fill != NULL);
        assert_ptr_equal(family_named(f->name), f);
        if (f->kind == PROGRAM_GRID) {
            assert_non_null(f->grid.model);
            continue;
        }
        assert_true(f->lists.kinds != NULL && f->lists.draw != NULL && f->lists.judge != NULL);
        if (f->kind == PROGRAM_PRODUCT)
            assert_true(f->lists.draw_given != NULL && f->lists.judge_given != NULL);
    }
    assert_null(family_named("histogram"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_family_fills_its_row),
    cmocka_unit_test(test_wholes),
    cmocka_unit_test(test_values),
    cmocka_unit_test(test_twice),
    cmocka_unit_test(test_narrowed),
    cmocka_unit_test(test_times),
    cmocka_unit_test(test_notes),
    cmocka_unit_test(test_search),
    cmocka_unit_test(test_alike),
    cmocka_unit_test(test_nothing_left),
    cmocka_unit_test(test_errors),
    cmocka_unit_test(test_lacking),
    cmocka_unit_test(test_matrix),
    cmocka_unit_test(test_long_functions),
};

TEST_GROUP(space, NULL, NULL)
