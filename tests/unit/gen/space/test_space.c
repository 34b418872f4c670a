/* The space of candidates: what it holds for whole specs, and that every candidate can be built. */
#include "tests/unit/gen/space/made.h"

#include <time.h>

#include "gen/stencil/method.h"
#include "gen/stencil/plan.h"
#include "runtime/tune/search.h"
#include "tests/unit/group.h"

#define UPDATE2                                                                                    \
    "return stencil { name = 'u', dims = 2, update = function(u)\n"                                \
    "  return sqrt(u(0,0) * u(1,0)) end }"
#define FILTER                                                                                     \
    "return convolution { name = 'f', weights = { { 1, 2, 1 }, { 2, 4, 2 }, { 1, 2, 1 } } }"
/* Stages that may share a launch, and one that may not. */
#define SYSTEM                                                                                     \
    "return system { name = 'y', boundary = 'periodic', fields = { u = 'inout', v = 'inout' },\n"  \
    "stages = { { update = function(f) return { u = f.u(1,0) + f.v(0,0) } end },\n"                \
    "{ update = function(f) return { v = f.u(0,0) + f.v(0,1) } end },\n"                           \
    "{ times = 2, update = function(f) return { u = f.u(0,0) / 2 + f.u(1,0) } end } } }"
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
    {SYSTEM, {512, 512, 1}, 1, 400},          {MERGE, {1 << 20, 1, 1}, 1, 500},
    {SPMV, {1 << 20, 1, 1}, 1, 50},
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

/* About so many lines of a space are made again, of so many GPUs. */
#if defined(SG_SANITIZE)
enum { REBUILT = 12, GPUS = 1 };
#else
enum { REBUILT = 60, GPUS = 2 };
#endif

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
        for (int a = 0; a < GPUS; a++) {
            made m = make_for(wholes[i].text, NULL, arches[(i + (size_t)a) % 2], wholes[i].size[0],
                              wholes[i].size[1], wholes[i].size[2], wholes[i].steps);
            assert_int_equal(m.fault, FAULT_NONE);
            assert_true(m.space->count >= wholes[i].least);
            assert_true(m.space->usual_index >= 0);
            assert_int_equal(m.space->note_count, 0);
            job *j;
            walking w = {&m, 1 + m.space->count / REBUILT};
            assert_int_equal(job_run(&allocator_libc, rebuild_body, &w, &j), FAULT_NONE);
            job_end(j);
            job_end(m.job);
        }
}

static int count_plans(const made *m, const char *words) {
    int count = 0;
    for (int i = 0; i < m->space->count; i++)
        count += strstr(m->space->candidates[i].plan, words) != NULL;
    return count;
}

/* Systems: groupings of stages, plans of each launch; what the caller asks for is kept. */
static void test_systems(void **state) {
    (void)state;
    made m = make_for(SYSTEM, NULL, "sm_90", 512, 512, 1, 1);
    assert_int_equal(m.fault, FAULT_NONE);
    assert_true(count_plans(&m, "1-3: streamed") > 10 && count_plans(&m, "1-3: tiled") > 0);
    assert_true(count_plans(&m, "1: streamed") > 10 && count_plans(&m, "| 2: naive") > 0);
    assert_string_equal(m.space->axes[0].name, "launches");
    assert_string_equal(m.space->axes[1].name, "method.1");
    job_end(m.job);
    m = make_for(SYSTEM, "naive", "sm_90", 512, 512, 1, 1);
    assert_true(m.space->count > 10);
    assert_int_equal(count_plans(&m, "tiled") + count_plans(&m, "streamed"), 0);
    job_end(m.job);
    m = make_for(SYSTEM, "1: tiled tile=32x8 | 2: naive | 3: streamed", "sm_90", 512, 512, 1, 1);
    assert_true(m.space->count > 10);
    assert_int_equal(count_plans(&m, "1: tiled tile=32x8 "), m.space->count);
    assert_int_equal(count_plans(&m, "| 3: streamed"), m.space->count);
    job_end(m.job);
}

static void processor_body(job *j, void *argument) {
    made *m = argument;
    const processor of = {4, 32, 1 << 20, 1 << 24, 2e9, 4e10};
    m->subject = spec_load(j, "test.lua", m->text, NULL)->subjects[0];
    m->request = (family_request){.schedule = m->schedule,
                                  .gpu = gpu_of_processor(j, "cpu", "sm_90", &of),
                                  .size = {1 << 24, 1, 1}};
    m->space = space_make(j, m->subject, &m->request);
}

/* A processor is offered what is made for processors, and what is asked for; a GPU is not. */
static void test_processors(void **state) {
    (void)state;
    static const char *const texts[] = {SUM, ROWS, SPMV, SCAN};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        made m = {.text = texts[i]};
        assert_int_equal(job_run(&allocator_libc, processor_body, &m, &m.job), FAULT_NONE);
        assert_true(m.space->count > 0 && m.space->usual_index >= 0);
        assert_int_equal(count_plans(&m, "runs"), m.space->count);
        job_end(m.job);
        m = make_for(texts[i], NULL, "sm_90", 1 << 24, 1, 1, 1);
        assert_int_equal(count_plans(&m, "runs"), 0);
        job_end(m.job);
    }
    made m = {.text = SUM, .schedule = "one-pass"};
    assert_int_equal(job_run(&allocator_libc, processor_body, &m, &m.job), FAULT_NONE);
    assert_int_equal(count_plans(&m, "one-pass"), m.space->count);
    job_end(m.job);
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
    walking w = {&m, 1 + m.space->count / REBUILT};
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

/* Scans of 16 bits are read in packs of 8, and the longest runs of a thread are 64 elements. */
static void test_packs_of_16_bits(void **state) {
    (void)state;
    made m = make_for("return scan { name = 's', dtype = 'half', algorithm = 'persistent' }", NULL,
                      "sm_90", 1 << 24, 1, 1, 1);
    int longest = 0;
    for (int i = 0; i < m.space->count; i++) {
        const char *at = strstr(m.space->candidates[i].plan, "items=");
        assert_non_null(at);
        const int items = atoi(at + strlen("items="));
        assert_int_equal(items % 8, 0);
        longest = items > longest ? items : longest;
    }
    assert_int_equal(longest, 64);
    job_end(m.job);
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
    cmocka_unit_test(test_packs_of_16_bits),
    cmocka_unit_test(test_twice),
    cmocka_unit_test(test_search),
    cmocka_unit_test(test_matrix),
    cmocka_unit_test(test_systems),
    cmocka_unit_test(test_processors),
    cmocka_unit_test(test_long_functions),
};

TEST_GROUP(space, NULL, NULL)
