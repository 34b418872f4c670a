/* The planner's choice compared with measurements: it comes within 5 % of the best measured
   plan, for every shape, precision and size of the table. */
#include "tests/unit/gen/spec/load_spec.h"

#include <math.h>

#include "gen/model/plans.h"
#include "gen/stencil/method.h"
#include "gen/stencil/search.h"
#include "tests/unit/group.h"

/* A line of a stencil, by its numbers. */
typedef struct rate {
    const char *gpu;
    int dims, points, radius;
    bool narrow;   /* its cells are half */
    bool distinct; /* no two weights are alike */
    dtype dtype;
    const char *schedule;
    int64_t size[AXES];
    double rate;
} rate;
static rate *rates;
static int rate_count;
static job *rates_job;

static void read_board(job *j, const char *board) {
    const plans *all = plans_known(j, gpu_find(board));
    for (int i = 0; i < all->count; i++) {
        const plans_line *l = &all->list[i];
        rate r = {
            .gpu = board, .dtype = dtype_find(l->dtype), .schedule = l->plan, .rate = l->rate};
        char word[8];
        if (sscanf(l->class, "stencil %dD %d %7s radius %d", &r.dims, &r.points, word, &r.radius) !=
            4)
            continue;
        r.distinct = strcmp(word, "weights") == 0;
        r.narrow = strstr(l->class, " in 16 bits") != NULL;
        for (int axis = 0; axis < AXES; axis++)
            r.size[axis] = axis < r.dims ? l->size[axis] : 1;
        rates = job_grow(j, rates, (size_t)rate_count, sizeof *rates);
        rates[rate_count++] = r;
    }
}

static void read_rates(job *j, void *unused) {
    (void)unused;
    read_board(j, "H100");
    read_board(j, "H200");
}

static int enter(void **state) {
    (void)state;
    return job_run(&allocator_libc, read_rates, NULL, &rates_job) != FAULT_NONE;
}

static int leave(void **state) {
    (void)state;
    job_end(rates_job);
    return 0;
}

/* The spec of a row: the heat equation's stars, boxes of weights that fall with the distance or are
   all different, and the centre, faces and edges of a cube. */
static const char *spec_text(const rate *r) {
    static char text[512];
    const bool star = r->points == 2 * r->dims * r->radius + 1;
    const char *const dtype = r->narrow                 ? "float', storage = 'half"
                              : r->dtype == DTYPE_FLOAT ? "float"
                                                        : "double";
    if (star)
        snprintf(text, sizeof text,
                 "return stencil { name = 's', shape = star(%d, %d), dtype = '%s', coefficients = "
                 "identity() + 0.05 * laplacian { dims = %d, accuracy = %d } }",
                 r->dims, r->radius, dtype, r->dims, 2 * r->radius);
    else if (r->dims == 3 && r->points == 19 && r->radius == 1)
        snprintf(text, sizeof text,
                 "local p, w = {}, {}\n"
                 "for z = -1, 1 do for y = -1, 1 do for x = -1, 1 do\n"
                 "  if x * y * z == 0 then p[#p + 1] = { x, y, z }; w[#p] = #p / 190 end\n"
                 "end end end\n"
                 "return stencil { name = 's', shape = points(p), dtype = '%s', coefficients = w }",
                 dtype);
    else if (r->distinct)
        snprintf(text, sizeof text,
                 "local w = {}\n"
                 "for i = 1, %d do w[i] = i / 1000 end\n"
                 "return stencil { name = 's', shape = box(%d, %d), dtype = '%s', coefficients = w "
                 "}",
                 r->points, r->dims, r->radius, dtype);
    else
        snprintf(
            text, sizeof text,
            "local w = {}\n"
            "for i = 0, %d do w[i + 1] = (i %% 3 == 1 and 2 or 1) * (i // 3 %% 3 == 1 and 2 or "
            "1) * (i // 9 == 1 and 2 or 1) / 64 end\n"
            "return stencil { name = 's', shape = box(%d, %d), dtype = '%s', coefficients = w "
            "}",
            r->points - 1, r->dims, r->radius, dtype);
    return text;
}

typedef struct planning {
    const model *model;
    const rate *row;
    const char *gpu;
    int64_t steps;
    plan *plan;
    const char *line;
    plan_measured *measured;
    double factor;
} planning;

static void plan_body(job *j, void *argument) {
    planning *p = argument;
    const schedule wanted = {.method = 0};
    const gpu *t = gpu_find(p->gpu);
    p->plan = plan_make(j, p->model, &wanted, t, p->row->size, p->steps);
    text line = text_new(j);
    schedule_print(&p->plan->schedule, p->model->dims, &line);
    p->line = line.data;
    p->measured = plan_measured_new(j, p->plan->facts, t, p->row->size);
    p->factor = plan_measured_factor(p->measured, p->plan);
}

static job *make(planning *p) {
    job *j;
    const fault f = job_run(&allocator_libc, plan_body, p, &j);
    if (f != FAULT_NONE)
        print_error("%s\n", job_error(j));
    assert_int_equal(f, FAULT_NONE);
    return j;
}

/* Rows of one step a launch are compared with each other. */
static bool of_one_step(const rate *r) {
    return strncmp(r->schedule, "streamed ", 9) == 0 || strncmp(r->schedule, "bulk ", 5) == 0;
}

static bool same_case(const rate *a, const rate *b) {
    return a->gpu == b->gpu && of_one_step(a) == of_one_step(b) && a->dims == b->dims &&
           a->points == b->points && a->radius == b->radius && a->dtype == b->dtype &&
           a->narrow == b->narrow && a->distinct == b->distinct &&
           memcmp(a->size, b->size, sizeof a->size) == 0;
}

static double rate_of(const rate *of, const char *line) {
    double rate = 0;
    for (int i = 0; i < rate_count; i++)
        if (same_case(&rates[i], of) && (line == NULL || strcmp(rates[i].schedule, line) == 0))
            rate = fmax(rate, rates[i].rate);
    return rate;
}

/* By the table where it has the plan, else by what the planner expects of it. */
static void picks_are_near_the_best(void **state) {
    (void)state;
    for (int i = 0; i < rate_count; i++) {
        const rate *r = &rates[i];
        if (i > 0 && same_case(r, &rates[i - 1]))
            continue;
        loaded l;
        planning p = {.model = load_model(&l, spec_text(r)), .row = r, .gpu = r->gpu};
        p.steps = of_one_step(r) ? 1 : 1024;
        job *j = make(&p);
        assert_int_equal(p.model->points, r->points);
        const double best = rate_of(r, NULL), known = rate_of(r, p.line);
        const double updates = (double)(r->size[0] * r->size[1] * r->size[2]);
        const double expected = updates * p.plan->schedule.time / p.plan->estimate.seconds * 1e-9;
        if ((known > 0 ? known : expected) < 0.95 * best)
            fail_msg("%s %dD %d points %s %ldx%ldx%ld: %s, %.0f of %.0f", r->gpu, r->dims,
                     r->points, dtype_words[r->dtype].name, (long)r->size[0], (long)r->size[1],
                     (long)r->size[2], p.line, known > 0 ? known : expected, best);
        if (known > 0) /* one update of each point takes as long as it was measured to */
            assert_true(fabs(expected / known - 1) < 1e-6);
        job_end(j);
        job_end(l.job);
    }
}

/* Rates belong to one board. For all others, also those of its architecture, the model decides
   alone. */
static void other_boards_have_no_measurements(void **state) {
    (void)state;
    static const char *const others[] = {"A100", "B200", "L40S", NULL};
    loaded l;
    planning p = {.row = &rates[0], .steps = 1024};
    p.model = load_model(&l, spec_text(p.row));
    for (int i = 0; others[i] != NULL; i++) {
        p.gpu = others[i];
        job *j = make(&p);
        assert_int_equal(plan_measured_count(p.measured), 0);
        assert_true(p.factor == 1);
        assert_null(p.plan->board);
        job_end(j);
    }
    p.gpu = "H100";
    job *j = make(&p);
    assert_true(plan_measured_count(p.measured) > 0);
    assert_string_equal(p.plan->board, "H100");
    job_end(j);
    job_end(l.job);
}

/* A plan near a measured one is corrected as the measured one is; a plan with another tile is
   trusted less. */
static void what_was_not_measured_is_doubted(void **state) {
    (void)state;
    loaded l;
    planning p = {.row = &rates[0], .steps = 1024, .gpu = "H100"};
    p.model = load_model(&l, spec_text(p.row));
    job *j = make(&p);
    int64_t larger[AXES];
    memcpy(larger, p.row->size, sizeof larger);
    larger[0] += 512; /* whole packs, too */
    const plan_measured *of_larger = plan_measured_new(j, p.plan->facts, p.plan->gpu, larger);
    const double near = plan_measured_factor(of_larger, p.plan) / p.factor;
    assert_true(near > 1.01 && near < 1.2);
    plan other = *p.plan;
    other.schedule.tile[0] += 1;
    double logs = 0; /* of those of the same size, of which the first is one */
    int count = 0;
    for (int i = 0; i < rate_count; i++) {
        if (!same_case(&rates[i], p.row))
            continue;
        plan measured = *p.plan;
        measured.schedule = (schedule){.method = 0};
        schedule_parse(j, rates[i].schedule, NULL, &measured.schedule);
        logs += log(plan_measured_factor(p.measured, &measured));
        count++;
    }
    const double doubted = plan_measured_factor(p.measured, &other);
    assert_true(doubted > exp(logs / count) * 1.01 && doubted < exp(logs / count) * 1.3);
    other.schedule.method = method_find("naive", 5);
    assert_true(plan_measured_factor(p.measured, &other) == 1);
    job_end(j);
    job_end(l.job);
}

/* Nothing is left of a correction, nor of a doubt, where a grid has a tenth of the points. */
static void rates_say_nothing_of_distant_grids(void **state) {
    (void)state;
    loaded l;
    planning p = {.row = &rates[0], .steps = 1024, .gpu = "H100"};
    p.model = load_model(&l, spec_text(p.row));
    job *j = make(&p);
    assert_true(plan_method(p.plan)->fused);
    assert_true(p.factor != 1);
    int64_t small[AXES];
    memcpy(small, p.row->size, sizeof small);
    small[0] /= 16;
    assert_true(
        plan_measured_factor(plan_measured_new(j, p.plan->facts, p.plan->gpu, small), p.plan) == 1);
    job_end(j);
    job_end(l.job);
}

/* Rates are of fixed sides. What images cost is with the estimate, so they say as much of mirrors.
 */
static void rates_say_as_much_of_images(void **state) {
    (void)state;
    double factor[2];
    for (int mirrors = 0; mirrors < 2; mirrors++) {
        const rate row = {
            .dims = 3, .points = 7, .radius = 1, .dtype = DTYPE_FLOAT, .size = {512, 512, 512}};
        char text[256];
        snprintf(text, sizeof text,
                 "return stencil { name = 's', shape = star(3, 1), dtype = 'float', boundary = "
                 "'%s', coefficients = identity() + 0.05 * laplacian { dims = 3 } }",
                 mirrors ? "mirror" : "fixed");
        loaded l;
        planning p = {.row = &row, .steps = 1024, .gpu = "H200"};
        p.model = load_model(&l, text);
        job *j = make(&p);
        plan fused = *p.plan;
        fused.schedule = (schedule){.method = 0};
        for (int i = 0; i < rate_count; i++)
            if (strcmp(rates[i].gpu, "H200") == 0 && rates[i].dims == 3 && rates[i].points == 7 &&
                rates[i].dtype == DTYPE_FLOAT && !rates[i].narrow && !of_one_step(&rates[i]) &&
                rates[i].size[0] == 512)
                schedule_parse(j, rates[i].schedule, NULL, &fused.schedule);
        assert_true(plan_method(&fused)->fused);
        factor[mirrors] = plan_measured_factor(p.measured, &fused);
        assert_true(factor[mirrors] != 1);
        job_end(j);
        job_end(l.job);
    }
    assert_float_equal(factor[1], factor[0], 0.01 * factor[0]);
}

/* On an H200 streamed has rates of 19 points at 513x511x259 and 67x323x343 alone, where rows are no
   packs. */
static void rows_of_any_beginning_say_nothing_of_packs(void **state) {
    (void)state;
    const rate row = {
        .dims = 3, .points = 19, .radius = 3, .dtype = DTYPE_FLOAT, .size = {512, 512, 512}};
    loaded l;
    planning p = {.row = &row, .steps = 1, .gpu = "H200"};
    p.model = load_model(&l, spec_text(p.row));
    job *j = make(&p);
    plan streamed = *p.plan;
    streamed.schedule = (schedule){.method = 0};
    schedule_parse(j, "streamed tile=64x8 coarsen=z8,y2 vec=4 time=1", NULL, &streamed.schedule);
    assert_true(plan_measured_factor(p.measured, &streamed) == 1);
    job_end(j);
    job_end(l.job);
}

/* On an H200 streamed has rates of 9 points at 2048² alone, which the second-level cache keeps. */
static void grids_in_the_cache_say_nothing_of_others(void **state) {
    (void)state;
    const rate row = {
        .dims = 2, .points = 9, .radius = 2, .dtype = DTYPE_FLOAT, .size = {8192, 8192, 1}};
    static const int64_t small[AXES] = {2048, 2048, 1};
    loaded l;
    planning p = {.row = &row, .steps = 1, .gpu = "H200"};
    p.model = load_model(&l, spec_text(p.row));
    job *j = make(&p);
    plan streamed = *p.plan;
    streamed.schedule = (schedule){.method = 0};
    schedule_parse(j, "streamed tile=512 coarsen=y8 vec=4 time=1", NULL, &streamed.schedule);
    assert_true(plan_measured_factor(p.measured, &streamed) == 1);
    p.measured = plan_measured_new(j, p.plan->facts, p.plan->gpu, small);
    assert_true(plan_measured_factor(p.measured, &streamed) != 1);
    job_end(j);
    job_end(l.job);
}

/* On an H200 bulk has rates of 511³ beyond fixed sides, where it copies rows that are no packs.
   Beyond periodic ones it makes their points one by one. */
static void odd_rows_say_nothing_of_periodic_ones(void **state) {
    (void)state;
    static const int64_t sizes[][AXES] = {{511, 511, 511}, {306, 267, 189}};
    double factor[2][2];
    for (int wraps = 0; wraps < 2; wraps++) {
        const rate row = {
            .dims = 3, .points = 13, .radius = 2, .dtype = DTYPE_DOUBLE, .size = {511, 511, 511}};
        char text[256];
        snprintf(text, sizeof text,
                 "return stencil { name = 's', shape = star(3, 2), dtype = 'double', boundary = "
                 "'%s', coefficients = identity() + 0.05 * laplacian { dims = 3, accuracy = 4 } }",
                 wraps ? "periodic" : "fixed");
        loaded l;
        planning p = {.row = &row, .steps = 1, .gpu = "H200"};
        p.model = load_model(&l, text);
        job *j = make(&p);
        plan bulk = *p.plan;
        bulk.schedule = (schedule){.method = 0};
        schedule_parse(j, "bulk tile=64x32 coarsen=z256,y2 vec=2 time=1", NULL, &bulk.schedule);
        for (int i = 0; i < 2; i++) {
            p.measured = plan_measured_new(j, p.plan->facts, p.plan->gpu, sizes[i]);
            factor[wraps][i] = plan_measured_factor(p.measured, &bulk);
        }
        job_end(j);
        job_end(l.job);
    }
    assert_true(factor[0][0] != 1); /* they do say something of their own kind */
    assert_true(factor[1][0] == 1);
    /* Rows of packs of two, of which those of 512³ say something. */
    assert_true(factor[1][1] != 1 && factor[1][1] > 0.8 && factor[1][1] < 1.25);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(picks_are_near_the_best),
    cmocka_unit_test(other_boards_have_no_measurements),
    cmocka_unit_test(what_was_not_measured_is_doubted),
    cmocka_unit_test(rates_say_nothing_of_distant_grids),
    cmocka_unit_test(rates_say_as_much_of_images),
    cmocka_unit_test(rows_of_any_beginning_say_nothing_of_packs),
    cmocka_unit_test(grids_in_the_cache_say_nothing_of_others),
    cmocka_unit_test(odd_rows_say_nothing_of_periodic_ones),
};

TEST_GROUP(measured, enter, leave)
