/* The planner's choice for filters compared with measurements: it is within 6 % of the best, and
   takes one pass where the filter is separable. Figures: bench/primitives --only convolution on
   an NVIDIA H100 80GB HBM3, of the method streamed; and of an H200, of all methods. Walks that fill
   the GPU once or twice were measured on the H200 alone: on the other board they must promise what
   the best took. */
#include "tests/unit/gen/spec/load_spec.h"

#include "gen/stencil/plan.h"
#include "tests/unit/group.h"

typedef struct figure {
    int weights, side; /* of a filter and a picture, along each axis */
    const char *schedule;
    double microseconds;
} figure;

/* The best of each filter and size first. */
static const figure general[] = {
    {7, 4096, "streamed tile=128 coarsen=y48 vec=4 time=1", 55.5},
    {7, 4096, "streamed tile=128 coarsen=y64 vec=4 time=1", 57.0},
    {7, 4096, "streamed tile=256 coarsen=y64 vec=4 time=1", 57.0},
    {7, 4096, "streamed tile=512 coarsen=y64 vec=4 time=1", 57.0},
    {7, 8192, "streamed tile=128 coarsen=y96 vec=4 time=1", 216.3},
    {7, 8192, "streamed tile=128 coarsen=y32 vec=4 time=1", 218.6},
    {7, 8192, "streamed tile=128 coarsen=y48 vec=4 time=1", 218.6},
    {7, 8192, "streamed tile=128 coarsen=y64 vec=4 time=1", 219.6},
    {11, 4096, "streamed tile=256 coarsen=y64 vec=4 time=1", 99.9},
    {11, 4096, "streamed tile=512 coarsen=y64 vec=4 time=1", 101.9},
    {11, 8192, "streamed tile=256 coarsen=y128 vec=4 time=1", 366.3},
    {11, 8192, "streamed tile=256 coarsen=y64 vec=4 time=1", 384.8},
    {15, 4096, "streamed tile=256 coarsen=y64 vec=4 time=1", 178.0},
    {15, 4096, "streamed tile=128 coarsen=y64 vec=4 time=1", 179.1},
    {15, 4096, "streamed tile=256 coarsen=y128 vec=4 time=1", 182.6},
    {15, 8192, "streamed tile=256 coarsen=y128 vec=4 time=1", 625.3},
    {15, 8192, "streamed tile=128 coarsen=y128 vec=4 time=1", 629.1},
};
static const figure separate[] = {
    {7, 4096, "streamed tile=128 coarsen=y48 vec=4 time=1 passes=1", 51.0},
    {7, 4096, "streamed tile=128 coarsen=y64 vec=4 time=1 passes=1", 53.7},
    {7, 4096, "streamed tile=256 coarsen=y64 vec=4 time=1 passes=1", 53.7},
    {7, 8192, "streamed tile=128 coarsen=y48 vec=4 time=1 passes=1", 208.3},
    {7, 8192, "streamed tile=128 coarsen=y64 vec=4 time=1 passes=1", 208.7},
    {7, 8192, "streamed tile=128 coarsen=y96 vec=4 time=1 passes=1", 209.0},
    {7, 8192, "streamed tile=128 coarsen=y32 vec=4 time=1 passes=1", 211.7},
    {11, 4096, "streamed tile=512 coarsen=y64 vec=4 time=1 passes=1", 53.2},
    {11, 4096, "streamed tile=256 coarsen=y64 vec=4 time=1 passes=1", 53.2},
};

static const figure of_h200[] = {
    {3, 4096, "bulk tile=128 coarsen=y32 vec=4 time=1", 40.9},
    {3, 4096, "streamed tile=512 coarsen=y8 vec=4 time=1", 45.5},
    {3, 8192, "bulk tile=192 coarsen=y32 vec=4 time=1", 136},
    {3, 8192, "streamed tile=512 coarsen=y8 vec=4 time=1", 154},
    {5, 4096, "bulk tile=128 coarsen=y32 vec=4 time=1", 43.3},
    {5, 4096, "streamed tile=512 coarsen=y8 vec=4 time=1", 46.1},
    {5, 8192, "bulk tile=192 coarsen=y32 vec=4 time=1", 138},
    {5, 8192, "streamed tile=512 coarsen=y8 vec=4 time=1", 154},
    {7, 4096, "streamed tile=256 coarsen=y36 vec=4 time=1", 50.3},
    {7, 4096, "streamed tile=256 coarsen=y64 vec=4 time=1", 55.5},
    {7, 4096, "bulk tile=128 coarsen=y64 vec=4 time=1", 58.6},
    {7, 8192, "streamed tile=256 coarsen=y144 vec=4 time=1", 162},
    {7, 8192, "streamed tile=512 coarsen=y144 vec=4 time=1", 160},
    {7, 8192, "streamed tile=128 coarsen=y72 vec=4 time=1", 164},
    {7, 8192, "streamed tile=128 coarsen=y96 vec=4 time=1", 180},
    {7, 8192, "bulk tile=128 coarsen=y32 vec=4 time=1", 188},
    {9, 4096, "streamed tile=512 coarsen=y50 vec=4 time=1", 72.9},
    {9, 4096, "streamed tile=256 coarsen=y64 vec=4 time=1", 76.1},
    {9, 4096, "bulk tile=128 coarsen=y64 vec=4 time=1", 84.8},
    {9, 8192, "streamed tile=512 coarsen=y200 vec=4 time=1", 246},
    {9, 8192, "streamed tile=512 coarsen=y128 vec=4 time=1", 304},
    {9, 8192, "bulk tile=64 coarsen=y32 vec=4 time=1", 307},
    {11, 4096, "streamed tile=256 coarsen=y50 vec=4 time=1", 101},
    {11, 8192, "streamed tile=256 coarsen=y200 vec=4 time=1", 341},
    {15, 4096, "streamed tile=512 coarsen=y63 vec=4 time=1", 172},
    {15, 8192, "streamed tile=512 coarsen=y249 vec=4 time=1", 574},
};
static const figure separate_of_h200[] = {
    {7, 4096, "bulk tile=128 coarsen=y64 vec=4 time=1 passes=1", 41.8},
    {7, 4096, "streamed tile=256 coarsen=y64 vec=4 time=1 passes=1", 50.4},
    {7, 8192, "bulk tile=192 coarsen=y32 vec=4 time=1 passes=1", 135},
    {7, 8192, "streamed tile=256 coarsen=y144 vec=4 time=1 passes=1", 148},
    {9, 4096, "bulk tile=128 coarsen=y64 vec=4 time=1 passes=1", 42.3},
    {9, 8192, "bulk tile=192 coarsen=y64 vec=4 time=1 passes=1", 139},
    {9, 8192, "streamed tile=512 coarsen=y200 vec=4 time=1 passes=1", 153},
    {11, 4096, "bulk tile=128 coarsen=y64 vec=4 time=1 passes=1", 47.3},
    {11, 8192, "bulk tile=192 coarsen=y64 vec=4 time=1 passes=1", 149},
    {11, 8192, "streamed tile=256 coarsen=y200 vec=4 time=1 passes=1", 158},
    {15, 8192, "streamed tile=512 coarsen=y249 vec=4 time=1 passes=1", 192},
    {15, 8192, "bulk tile=192 coarsen=y32 vec=4 time=1 passes=1", 200},
};

typedef struct planning {
    const model *model;
    const char *gpu, *method; /* `method`: "auto", or a method's name */
    int64_t size[AXES];
    const char *line;
    double operations, microseconds; /* as promised */
} planning;

static void plan_body(job *j, void *argument) {
    planning *p = argument;
    schedule wanted = {.method = 0};
    schedule_parse(j, p->method, "a plan", &wanted);
    const plan *made = plan_make(j, p->model, &wanted, gpu_find(p->gpu), p->size, 1);
    text line = text_new(j);
    schedule_print(&made->schedule, p->model->dims, &line);
    p->line = line.data;
    p->operations = made->facts->sum_operations;
    p->microseconds = made->estimate.seconds * 1e6;
}

/* Weights of which no two are alike, or products of a line that falls from its middle. */
static job *make(planning *p, loaded *l, int weights, int side, bool separable) {
    static char text[512];
    snprintf(text, sizeof text,
             "local w, n = {}, %d\n"
             "local function line(i) local d = 2 * i - n - 1 return 1 / (1 + d * d) end\n"
             "for j = 1, n do w[j] = {} for i = 1, n do w[j][i] = %s end end\n"
             "return convolution { name = 'f', dtype = 'float', boundary = 'clamp', weights = w }",
             weights, separable ? "line(j) * line(i)" : "1 + (j * n + i) * 8 % (n * n)");
    p->model = load_model(l, text);
    memcpy(p->size, (int64_t[AXES]){side, side, 1}, sizeof p->size);
    job *j;
    assert_int_equal(job_run(&allocator_libc, plan_body, p, &j), FAULT_NONE);
    return j;
}

static void expect_near_the_best(const figure *figures, size_t count, bool separable,
                                 const char *board, const char *method, bool all_measured) {
    for (size_t i = 0; i < count;) {
        const figure *best = &figures[i];
        loaded l;
        planning p = {.gpu = board, .method = method};
        job *j = make(&p, &l, best->weights, best->side, separable);
        double found = all_measured ? 0 : p.microseconds;
        for (; i < count && figures[i].weights == best->weights && figures[i].side == best->side;
             i++)
            if (strcmp(figures[i].schedule, p.line) == 0)
                found = figures[i].microseconds;
        if (!(found > 0 && found <= 1.06 * best->microseconds))
            fail_msg("%dx%d at %d: %s", best->weights, best->weights, best->side, p.line);
        job_end(j);
        job_end(l.job);
    }
}

static void test_general(void **state) {
    (void)state;
    expect_near_the_best(general, sizeof general / sizeof *general, false, "H100", "streamed",
                         false);
    expect_near_the_best(of_h200, sizeof of_h200 / sizeof *of_h200, false, "H200", "auto", true);
}

static void test_separable(void **state) {
    (void)state;
    expect_near_the_best(separate, sizeof separate / sizeof *separate, true, "H100", "streamed",
                         false);
    expect_near_the_best(separate_of_h200, sizeof separate_of_h200 / sizeof *separate_of_h200, true,
                         "H200", "auto", true);
}

/* A row's sum once, half of it shared by equal weights, and a multiply-add for each row; else one
   for each weight. */
static void test_operations(void **state) {
    (void)state;
    static const double wanted[2] = {225, 30};
    for (int separable = 0; separable < 2; separable++) {
        loaded l;
        planning p = {.gpu = "H100", .method = "auto"};
        job *j = make(&p, &l, 15, 4096, separable != 0);
        assert_true(p.operations == wanted[separable]);
        job_end(j);
        job_end(l.job);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_general),
    cmocka_unit_test(test_separable),
    cmocka_unit_test(test_operations),
};

TEST_GROUP(filters, NULL, NULL)
