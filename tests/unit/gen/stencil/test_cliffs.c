/* Problems on which `auto` was far behind a schedule that it might have taken, each with schedules
   that were measured on an H200 (bench/cliffs --seed 11): what the model expects of them, in the
   right order. */
#include "tests/unit/gen/spec/load_spec.h"

#include "gen/model/plans.h"
#include "gen/stencil/method.h"
#include "tests/unit/group.h"

typedef struct problem {
    const char *kind; /* "star", "box", "wave", "medium": as of bench/cliffs */
    int dims, radius;
    const char *dtype, *boundary;
    int64_t size[AXES], steps;
    /* With their rates, in billions of updates a second. */
    const char *slow, *fast;
    double slow_rate, fast_rate;
} problem;

static const problem problems[] = {
    /* Media of radius 2 beyond a mirror, whose columns are copied for each cell of the reach. */
    {"medium",
     2,
     2,
     "float",
     "mirror",
     {2048, 2577, 1},
     64,
     "temporal tile=112 coarsen=y25 vec=4 time=4 lane=4x1",
     "streamed tile=512 coarsen=y16 vec=4",
     221,
     282},
    /* Threads at an edge, whose taps wait one for another. */
    {"medium",
     2,
     1,
     "float",
     "zero",
     {3278, 10, 1},
     1,
     "naive tile=256x1 vec=4",
     "streamed tile=1024 coarsen=y3 vec=2",
     1.8,
     15.1},
    {"box",
     2,
     1,
     "float",
     "zero",
     {5835, 4, 1},
     1,
     "naive tile=256x1 vec=4",
     "streamed tile=512 coarsen=y3 vec=1",
     0.9,
     10.5},
    {"wave",
     3,
     2,
     "float",
     "zero",
     {195, 113, 1},
     1,
     "naive tile=98x1x1 vec=1",
     "streamed tile=64x4 coarsen=z4 vec=1",
     2.6,
     11.1},
    {"wave",
     3,
     1,
     "float",
     "mirror",
     {3, 115, 171},
     1,
     "naive tile=3x42x1 vec=1",
     "streamed tile=3x84 coarsen=z4 vec=1",
     8.1,
     22.8},
    {"medium",
     2,
     2,
     "float",
     "clamp",
     {34, 2744, 1},
     1,
     "naive tile=34x6 vec=1",
     "streamed tile=128 coarsen=y3 vec=1",
     10.0,
     41.1},
    /* Tiles at an edge. */
    {"star",
     3,
     4,
     "double",
     "clamp",
     {41, 64, 29},
     1,
     "tiled tile=8x8x8 vec=1",
     "streamed tile=64x4 coarsen=z4 vec=1",
     6.9,
     22.6},
    /* Lanes that keep a cell. */
    {"wave",
     3,
     4,
     "double",
     "fixed",
     {13, 168, 229},
     1,
     "streamed tile=13x72 coarsen=z4,y2 vec=1",
     "naive tile=13x9x1 vec=1",
     43.0,
     68.2},
    /* Blocks for half of the multiprocessors. */
    {"box",
     3,
     2,
     "double",
     "fixed",
     {16, 90, 129},
     1,
     "streamed tile=16x64 coarsen=z4 vec=2",
     "streamed tile=16x16 coarsen=z4 vec=1",
     11.0,
     16.2},
    /* Registers for what lies next to each point, where rows are no packs. */
    {"star",
     3,
     4,
     "float",
     "fixed",
     {511, 511, 67},
     1,
     "streamed tile=64x8 coarsen=z8,y2 vec=4",
     "streamed tile=128x8 coarsen=z8,y2 vec=2",
     150.9,
     212.8},
    /* Grids shorter than the shape, or than a tile. */
    {"wave",
     2,
     2,
     "double",
     "periodic",
     {406840, 1, 1},
     1,
     "bulk tile=192 coarsen=y16 vec=2",
     "coarsened tile=64 coarsen=y8 vec=1",
     13.8,
     20.9},
    {"box",
     3,
     2,
     "double",
     "zero",
     {82, 233, 10},
     1,
     "bulk tile=192x8 coarsen=z3,y2 vec=2",
     "streamed tile=82x3 coarsen=z4 vec=2",
     12.2,
     18.4},
    /* Whole levels. */
    {"medium",
     2,
     4,
     "float",
     "fixed",
     {5348, 1409, 1},
     64,
     "temporal tile=240 coarsen=y28 vec=4 time=2 lane=8x1",
     "streamed tile=512 coarsen=y8 vec=4",
     99.4,
     264},
    {"wave",
     3,
     1,
     "float",
     "fixed",
     {124, 61, 232},
     64,
     "temporal tile=48x22 coarsen=z17 vec=4 time=5 lane=4x2",
     "streamed tile=124x16 coarsen=z4 vec=4",
     129,
     260},
    {"medium",
     3,
     1,
     "double",
     "clamp",
     {184, 202, 189},
     64,
     "temporal tile=24x26 coarsen=z95 vec=2 time=3 lane=2x4",
     "bulk tile=64x32 coarsen=z32,y2 vec=2",
     93.3,
     149},
    /* Partial sums of waves by few warps. */
    {"wave",
     3,
     1,
     "double",
     "zero",
     {184, 202, 189},
     64,
     "temporal tile=24x40 coarsen=z63 vec=2 time=4 lane=2x2",
     "temporal tile=24x42 coarsen=z63 vec=2 time=3 lane=2x2",
     146,
     241},
    /* The same of few points. */
    {"wave",
     3,
     1,
     "float",
     "zero",
     {191, 280, 80},
     64,
     "streamed tile=64x8 coarsen=z8 vec=4",
     "temporal tile=24x40 coarsen=z20 vec=4 time=4 lane=4x2",
     203,
     244},
    {"wave",
     3,
     1,
     "double",
     "zero",
     {91, 201, 125},
     64,
     "streamed tile=91x8 coarsen=z6,y2 vec=1",
     "temporal tile=24x40 coarsen=z25 vec=2 time=4 lane=2x2",
     122,
     150},
    /* Odd rows of 16 bits by words. */
    {"star",
     3,
     4,
     "half",
     "clamp",
     {383, 293, 297},
     1,
     "streamed tile=128x8 coarsen=z16,y2 vec=2",
     "bulk tile=128x32 coarsen=z75,y2 vec=8",
     223,
     302},
    /* Cells from the other end. */
    {"star",
     3,
     4,
     "double",
     "periodic",
     {512, 512, 512},
     1,
     "streamed tile=128x8 coarsen=z64 vec=2",
     "bulk tile=96x24 coarsen=z512,y3 vec=2",
     149,
     259},
};

typedef struct planning {
    const problem *problem;
    const model *model;
    const char *schedule;
    plan *plan;
} planning;

static void plan_body(job *j, void *argument) {
    planning *p = argument;
    schedule wanted = {.method = 0};
    schedule_parse(j, p->schedule, NULL, &wanted);
    static const plans none;
    gpu *board = job_alloc(j, sizeof *board);
    *board = *gpu_find("H200");
    board->plans = &none;
    p->plan = plan_make(j, p->model, &wanted, board, p->problem->size, p->problem->steps);
}

/* As problem_spec of bench/cliffs_cases.c. */
static void write_spec(const problem *p, char *to, size_t room) {
    const char *const at = p->dims == 3 ? "0,0,0" : "0,0";
    char body[512], sum[64];
    int points = 1;
    for (int axis = 0; axis < p->dims; axis++)
        points *= 2 * p->radius + 1;
    snprintf(sum, sizeof sum, "laplacian { dims = %d, accuracy = %d }", p->dims, 2 * p->radius);
    if (strcmp(p->kind, "star") == 0)
        snprintf(body, sizeof body, "shape = star(%d, %d), coefficients = identity() + 0.1 * %s",
                 p->dims, p->radius, sum);
    else if (strcmp(p->kind, "box") == 0)
        snprintf(body, sizeof body, "shape = box(%d, %d), coefficients = w", p->dims, p->radius);
    else
        snprintf(body, sizeof body,
                 strcmp(p->kind, "wave") == 0
                     ? "fields = { u = { use = 'inout', levels = 2 } }, update = function(f) "
                       "return 2 * f.u(%s) - f.u.prev(%s) + 0.1 * apply(%s, f.u) end"
                     : "fields = { u = 'inout', c = 'in' }, update = function(f) return f.u(%s) + "
                       "0.1 * f.c(%s) * apply(%s, f.u) end",
                 at, at, sum);
    snprintf(to, room,
             "local w = {} for i = 1, %d do w[i] = i / %d end\n"
             "return stencil { name = 's', %s, dtype = '%s', boundary = '%s' }",
             points, points * (points + 1) / 2, body,
             strcmp(p->dtype, "half") == 0 ? "float', storage = 'half" : p->dtype, p->boundary);
}

static job *make(const problem *of, const char *schedule, loaded *l, plan **out) {
    char text[1024];
    planning p = {.problem = of, .schedule = schedule};
    write_spec(of, text, sizeof text);
    p.model = load_model(l, text);
    job *j;
    if (job_run(&allocator_libc, plan_body, &p, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    *out = p.plan;
    return j;
}

/* Seconds a step by the model. */
static double expected(const problem *of, const char *schedule) {
    loaded l;
    plan *p;
    job *j = make(of, schedule, &l, &p);
    const double seconds = p->estimate.seconds / (p->schedule.time > 1 ? p->schedule.time : 1);
    job_end(j);
    job_end(l.job);
    return seconds;
}

static void what_was_faster_is_expected_to_be(void **state) {
    (void)state;
    for (const problem *p = problems; p < problems + sizeof problems / sizeof *problems; p++) {
        const double slow = expected(p, p->slow), fast = expected(p, p->fast);
        if (slow <= fast)
            fail_msg("%s: %.3g s expected, where %s, which is %.1f times as fast, has %.3g",
                     p->slow, slow, p->fast, p->fast_rate / p->slow_rate, fast);
    }
}

/* What `auto` takes is not thought to take longer than either, and is not the slow one. */
static void the_slow_ones_are_not_taken(void **state) {
    (void)state;
    for (const problem *p = problems; p < problems + sizeof problems / sizeof *problems; p++) {
        loaded l;
        plan *chosen;
        job *j = make(p, "", &l, &chosen);
        text line = text_new(j);
        schedule_print(&chosen->schedule, p->dims, &line);
        if (strncmp(line.data, p->slow, strlen(p->slow)) == 0)
            fail_msg("auto takes %s", line.data);
        job_end(j);
        job_end(l.job);
    }
}

/* A grid shorter than a shape that wraps: `streamed` follows rows that lie beyond it several times,
   and `bulk` would place images of its rows one by one. */
static void short_grids_are_not_made_point_by_point(void **state) {
    (void)state;
    static const char *const boundaries[] = {"periodic", "mirror", "clamp"};
    for (int i = 0; i < 3; i++) {
        const problem p = {"box", 2, 2, "float", boundaries[i], {1184924, 1, 1}, 1, "", "", 0, 0};
        loaded l;
        plan *chosen;
        job *j = make(&p, "", &l, &chosen);
        assert_string_equal(plan_method(chosen)->name, "streamed");
        assert_int_equal(chosen->streamed.folds, strcmp(p.boundary, "clamp") != 0);
        job_end(j);
        job_end(l.job);
    }
}

/* The estimate of a launch at an edge: measured 17.8, 25.4, 8.5 and 9.4 µs. */
static void edges_take_their_time(void **state) {
    (void)state;
    static const int of[] = {0, 1, 2, 4};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const problem *p = &problems[of[i]];
        const double points = (double)(p->size[0] * p->size[1] * p->size[2]);
        const double ratio = expected(p, p->slow) * p->slow_rate * 1e9 / points;
        if (ratio < 0.6 || ratio > 1.5)
            fail_msg("%s %s: %.2f of what was measured", p->kind, p->slow, ratio);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_was_faster_is_expected_to_be),
    cmocka_unit_test(the_slow_ones_are_not_taken),
    cmocka_unit_test(short_grids_are_not_made_point_by_point),
    cmocka_unit_test(edges_take_their_time),
};

TEST_GROUP(cliffs, NULL, NULL)
