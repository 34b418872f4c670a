/* What is planned for reductions: schedules by type and size, and which launches begin early. */
#include "tests/unit/gen/lists/family_scene.h"
#include "tests/unit/group.h"

typedef struct planned {
    const char *dtype;
    int64_t size;
    const char *schedule, *plan;
} planned;

static void planned_body(job *j, void *argument) {
    const planned *c = argument;
    const char *text = job_print(j, "return reduce { name = 'r', dtype = '%s' }", c->dtype);
    const subject *s = spec_load(j, "test.lua", text, NULL)->subjects[0];
    const family_request r = {
        .schedule = c->schedule, .gpu = gpu_find("sm_90"), .size = {c->size, 1, 1}};
    assert_string_equal(s->family->build(j, s, &r)->plan, c->plan);
}

/* One block where it is fastest, then ever larger ones. */
static void test_planned_sizes(void **state) {
    (void)state;
    static planned cases[] = {
        {"int32", 4096, NULL, "one-pass threads=256 items=16 blocks=528 share=4 alone=4096"},
        {"float", 8192, NULL, "one-pass threads=512 items=16 blocks=264 share=4 alone=8192"},
        {"float", 8193, NULL, "one-pass threads=256 items=16 blocks=132 share=8 alone=4096"},
        {"int32", 1 << 16, NULL, "one-pass threads=128 items=16 blocks=132 share=4 alone=2048"},
        {"uint32", 1 << 18, NULL, "one-pass threads=256 items=8 blocks=132 share=4 alone=2048"},
        {"int32", 1 << 20, NULL, "one-pass threads=512 items=8 blocks=264 share=4 alone=4096"},
        {"float", 1 << 24, NULL, "one-pass threads=512 items=16 blocks=264 share=4 alone=8192"},
        {"float", 1 << 28, NULL, "one-pass threads=1024 items=16 blocks=132 share=4 alone=16384"},
        {"double", 4096, NULL, "one-pass threads=512 items=8 blocks=264 share=4 alone=4096"},
        {"double", 8192, NULL, "one-pass threads=512 items=16 blocks=264 share=4 alone=8192"},
        {"int64", 1 << 16, NULL, "one-pass threads=128 items=16 blocks=132 share=4 alone=2048"},
        {"double", 1 << 18, NULL, "one-pass threads=256 items=8 blocks=132 share=4 alone=2048"},
        {"double", 1 << 20, NULL, "one-pass threads=512 items=8 blocks=264 share=4 alone=4096"},
        {"double", 1 << 28, NULL, "one-pass threads=1024 items=16 blocks=132 share=4 alone=16384"},
        {"double", 1 << 16, "threads=512 blocks=7",
         "one-pass threads=512 items=16 blocks=7 share=4 alone=8192"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        job *j;
        assert_int_equal(job_run(&allocator_libc, planned_body, &cases[i], &j), FAULT_NONE);
        job_end(j);
    }
}

/* On a processor a thread a block, unless the schedule has what only others have, which are planned
   for the usual GPU. A run is as long as the cores have several of. */
static void processor_body(job *j, void *argument) {
    (void)argument;
    static const struct {
        const char *spec, *schedule, *plan;
        int64_t size;
    } cases[] = {
        {"", NULL, "runs run=4096", 1},
        {"", NULL, "runs run=4096", 1 << 18},
        {"", NULL, "runs run=65536", 1 << 26},
        {", dtype = 'double'", NULL, "runs run=2048", 1 << 16},
        {"", "run=1024", "runs run=1024", 1 << 26},
        {", segmented = true", NULL, "runs blocks=256", 1 << 20},
        {", segmented = true", "blocks=3", "runs blocks=3", 1 << 20},
        {"", "threads=512", "one-pass threads=512 items=16 blocks=264 share=4 alone=8192", 1 << 24},
        {"", "one-pass", "one-pass threads=512 items=16 blocks=264 share=4 alone=8192", 1 << 24},
        {", schedule = { items = 3 }", "coarsened", "coarsened threads=256 items=3", 1 << 24},
    };
    const processor of = {4, 32, 1 << 20, 1 << 24, 2e9, 4e10};
    const gpu *g = gpu_of_processor(j, "cpu", "sm_90", &of);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = job_print(j, "return reduce { name = 'r'%s }", cases[i].spec);
        const subject *s = spec_load(j, "test.lua", text, NULL)->subjects[0];
        const family_request r = {
            .schedule = cases[i].schedule, .gpu = g, .size = {cases[i].size, 1, 1}};
        const family_build *b = s->family->build(j, s, &r);
        const program_launch *l = &b->program->launches[0];
        const bool serial = strncmp(cases[i].plan, "runs", 4) == 0;
        assert_string_equal(b->plan, cases[i].plan);
        assert_int_equal(l->block[0] == 1 && !l->barriers, serial);
        assert_int_equal(strstr(b->reason, "4 cores, vectors of 32 bytes") != NULL, serial);
        assert_int_equal(strstr(b->program->source, "// target  a processor;") != NULL, serial);
    }
}

static void test_processors(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, processor_body, NULL, &j), FAULT_NONE);
    job_end(j);
}

/* Launches begin early where kernels can wait for the one ahead, and one-pass kernels do. */
static void early_body(job *j, void *argument) {
    static const struct {
        const char *arch, *schedule;
        bool early;
    } cases[] = {{"sm_75", "one-pass", false},
                 {"sm_89", "one-pass", false},
                 {"sm_90", "one-pass", true},
                 {"sm_120", "one-pass", true},
                 {"sm_90", "shared", false}};
    const subject *s = spec_load(j, "test.lua", argument, NULL)->subjects[0];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const family_request request = {
            .schedule = cases[i].schedule, .gpu = gpu_find(cases[i].arch), .size = {1 << 20, 1, 1}};
        const program *p = s->family->build(j, s, &request)->program;
        for (int l = 0; l < p->launch_count; l++)
            assert_int_equal(p->launches[l].early, cases[i].early);
    }
}

static void test_early_launches(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, early_body, "return reduce { name = 'r' }", &j),
                     FAULT_NONE);
    job_end(j);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_planned_sizes),
                                          cmocka_unit_test(test_processors),
                                          cmocka_unit_test(test_early_launches)};

TEST_GROUP(reduce_plan, NULL, NULL)
