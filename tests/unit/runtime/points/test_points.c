/* Points against plain float64 loops: fields and traces, in 1D to 3D, in float and double; that
   recording is the transpose of injecting; and that parts of a run are the run. */
#include "tests/unit/runtime/points/scene.h"

#include "runtime/points/points.h"

static scene a, b;

static void expect_near(const scene *s, double is, double wanted) {
    const double bound = (s->wide ? 1e-12 : 2e-4) * fmax(1, fabs(wanted));
    if (!(fabs(is - wanted) <= bound))
        print_error("%.17g instead of %.17g\n", is, wanted);
    assert_true(fabs(is - wanted) <= bound);
}

static void run_scene(scene *s, int64_t steps) {
    int final[ARRAYS];
    sg_point_sets *points = NULL;
    expect_ok(sg_points_open(s->kernel, s->size, s->sets, SETS, &points));
    expect_ok(sg_run_points(points, &s->arguments, steps, NULL, final));
    sg_points_close(points);
    follow(s, final);
}

static void compare(scene *s, int64_t steps) {
    static double now[MOST_CELLS];
    const struct {
        int array;
        const double *wanted;
    } fields[] = {{ARRAY_U, s->u}, {ARRAY_PREV, s->prev}, {ARRAY_C, s->c}, {ARRAY_W, s->w}};
    run_scene(s, steps);
    for (int64_t step = 0; step < steps; step++) {
        plain_update(s);
        plain_points(s, step);
    }
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        fetch_cells(s, fields[f].array, now);
        for (int64_t i = 0; i < cells_of(s); i++)
            expect_near(s, now[i], fields[f].wanted[i]);
    }
    for (int set = SET_REC; set < SETS; set++) {
        for (int64_t i = 0; i < steps * s->count; i++)
            expect_near(s, fetch_one(s, s->samples[set], i), s->traces[set][i]);
        assert_true(fetch_one(s, s->samples[set], steps * s->count) == 555); /* no more */
    }
}

static void as_plain_loops(void **state) {
    (void)state;
    static const struct {
        int dims;
        int64_t size[3], count;
    } cases[] = {{1, {37, 1, 1}, 20}, {1, {1, 1, 1}, 5},  {2, {13, 7, 1}, 40}, {2, {1, 5, 1}, 9},
                 {2, {130, 3, 1}, 1}, {3, {9, 5, 7}, 60}, {3, {1, 1, 1}, 4},   {3, {4, 1, 6}, 17}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int wide = 0; wide < 2; wide++) {
            begin_scene(&a, cases[i].dims, wide, cases[i].size, cases[i].count, 7 * i + 1);
            compare(&a, i % 2 == 0 ? 5 : 2);
            end_scene(&a);
        }
}

static void no_points_are_a_plain_run(void **state) {
    (void)state;
    begin_scene(&a, 2, true, (const int64_t[]){11, 6, 1}, 0, 3);
    compare(&a, 3);
    end_scene(&a);
}

static void any_schedule_serves(void **state) {
    (void)state;
    static const char *const schedules[] = {"naive tile=32x4", "tiled tile=8x4"};
    for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++) {
        begin_scene(&a, 2, true, (const int64_t[]){29, 17, 1}, 12, 3);
        sg_release(a.kernel);
        a.kernel = build_scene(&a, schedules[i]);
        compare(&a, 3);
        end_scene(&a);
    }
}

#define SMOOTH                                                                                     \
    "return stencil { name = \"smooth\", shape = star(2, 1), coefficients = { 0.5, 0.125, 0.125, " \
    "0.125, 0.125 }, boundary = \"periodic\", points = {\n"                                        \
    "put = { field = \"u\", inject = function(s) return s end },\n"                                \
    "take = { field = \"u\", sample = true } } }"

#define SETS_OF_ONE                                                                                \
    "parameters = { k = 0.25, q = 2 }, points = {\n"                                               \
    "put = { field = \"u\", inject = function(s, f, p) return p.q * s end },\n"                    \
    "take = { field = \"u\", sample = true } }"

enum { EDGE = 64, SMOOTH_STEPS = 6 };

/* Runs a kernel from a field of zeros. */
static void smooth(const sg_build_options *options, int steps, float traces[SMOOTH_STEPS],
                   float field[EDGE * EDGE]) {
    static const double source[] = {20.25, 30.5}, receiver[] = {19, 30.125};
    static const float series[SMOOTH_STEPS] = {1, -2, 3, 0.5f, 0.25f, 1};
    const sg_points sets[] = {{sizeof(sg_points), "put", 1, source, .series = series},
                              {sizeof(sg_points), "take", 1, receiver, .traces = traces}};
    sg_kernel *k = NULL;
    sg_grid grids[2] = {{.size = {EDGE, EDGE, 1}}, {.size = {EDGE, EDGE, 1}}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    const size_t bytes = sizeof(float) * EDGE * EDGE;
    sg_kernel_info info = {.struct_size = sizeof info};
    sg_point_sets *points = NULL;
    int final[2];
    memset(field, 0, bytes);
    expect_ok(sg_build(context, "smooth.lua", options, &k));
    expect_ok(sg_kernel_facts(k, &info));
    assert_int_equal(info.steps, steps);
    for (int g = 0; g < 2; g++) {
        expect_ok(sg_alloc(context, bytes, &grids[g].data));
        expect_ok(sg_upload(context, grids[g].data, field, bytes));
    }
    expect_ok(sg_points_open(k, grids[0].size, sets, 2, &points));
    expect_ok(sg_run_points(points, &arguments, SMOOTH_STEPS, NULL, final));
    sg_points_close(points);
    expect_ok(sg_download(context, field, grids[final[0]].data, bytes));
    sg_free(context, grids[0].data);
    sg_free(context, grids[1].data);
    sg_release(k);
}

/* Whatever the steps of the build, points are planned for single ones; a kernel that fuses steps,
   because its schedule says so, makes single ones too. */
static void steps_are_single(void **state) {
    (void)state;
    static float fields[2][EDGE * EDGE], traces[2][SMOOTH_STEPS];
    sg_build_options options = {
        .struct_size = sizeof options, .text = SMOOTH, .size = {4096, 4096}, .steps = 64};
    smooth(&options, 1, traces[0], fields[0]);
    options.schedule = "temporal time=4";
    smooth(&options, 4, traces[1], fields[1]);
    assert_memory_equal(fields[0], fields[1], sizeof fields[0]);
    assert_memory_equal(traces[0], traces[1], sizeof traces[0]);
    assert_true(traces[0][5] != 0 && traces[0][5] != traces[0][4]);
}

/* A system of one stage is the stencil of its update, points included. */
static void systems_have_points(void **state) {
    (void)state;
    static float fields[2][EDGE * EDGE], traces[2][SMOOTH_STEPS];
    static const char *const texts[] = {
        "return stencil { name = \"one\", fields = { u = \"inout\" }, boundary = \"zero\",\n"
        "update = function(f, p) return 0.5 * f.u(0, 0) + p.k * f.u(1, 0) end,\n" SETS_OF_ONE "}",
        "return system { name = \"one\", fields = { u = \"inout\", s = \"scratch\" },\n"
        "boundary = \"zero\", stages = {\n"
        "{ update = function(f) return { s = 0.5 * f.u(0, 0) } end },\n"
        "{ update = function(f, p) return { u = f.s(0, 0) + p.k * f.u(1, 0) } end } "
        "},\n" SETS_OF_ONE "}"};
    for (int i = 0; i < 2; i++) {
        const sg_build_options options = {
            .struct_size = sizeof options, .text = texts[i], .size = {EDGE, EDGE}};
        smooth(&options, 1, traces[i], fields[i]);
    }
    assert_memory_equal(fields[0], fields[1], sizeof fields[0]);
    assert_memory_equal(traces[0], traces[1], sizeof traces[0]);
    assert_true(traces[0][5] != 0);
}

/* ---- the transpose --------------------------------------------------------------------------- */

/* <A s, v> = <s, A' v>: A injects samples, A' records. */
static void recording_is_the_transpose(void **state) {
    (void)state;
    enum { POINTS = 200, X = 23, Y = 9, Z = 5, CELLS = X * Y * Z };
    static double positions[3 * POINTS], samples[POINTS], none[POINTS], traces[2][POINTS];
    static double v[CELLS], zero[CELLS], field[CELLS];
    static const int64_t size[3] = {X, Y, Z};
    sg_kernel *k = build("return stencil { name = \"still\", dtype = \"double\",\n"
                         "update = function(u) return u(0, 0, 0) end, points = {\n"
                         "put = { field = \"u\", inject = function(s) return s end },\n"
                         "take = { field = \"u\", sample = true } } }",
                         NULL);
    a.seed = 11;
    for (int i = 0; i < POINTS; i++) {
        samples[i] = draw(&a) - 0.5;
        for (int axis = 0; axis < 3; axis++)
            positions[3 * i + axis] = draw(&a) * (double)(size[axis] - 1);
    }
    for (int i = 0; i < CELLS; i++)
        v[i] = draw(&a) - 0.5;
    for (int turn = 0; turn < 2; turn++) {
        const sg_points sets[] = {
            {sizeof(sg_points), "put", POINTS, positions, .series = turn == 0 ? samples : none},
            {sizeof(sg_points), "take", POINTS, positions, .traces = traces[turn]}};
        sg_grid grids[2] = {{.size = {X, Y, Z}}, {.size = {X, Y, Z}}};
        const sg_arguments arguments = {
            .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
        for (int g = 0; g < 2; g++) {
            expect_ok(sg_alloc(context, sizeof v, &grids[g].data));
            expect_ok(sg_upload(context, grids[g].data, turn == 0 ? zero : v, sizeof v));
        }
        int final[2];
        sg_point_sets *points = NULL;
        expect_ok(sg_points_open(k, size, sets, 2, &points));
        expect_ok(sg_run_points(points, &arguments, 1, NULL, final));
        sg_points_close(points);
        if (turn == 0)
            expect_ok(sg_download(context, field, grids[final[0]].data, sizeof field));
        sg_free(context, grids[0].data);
        sg_free(context, grids[1].data);
    }
    double left = 0, right = 0, size_of = 0;
    for (int i = 0; i < CELLS; i++)
        left += field[i] * v[i];
    for (int i = 0; i < POINTS; i++) {
        right += samples[i] * traces[1][i];
        size_of += fabs(samples[i] * traces[1][i]);
    }
    assert_true(size_of > 1);
    assert_true(fabs(left - right) <= 1e-14 * size_of);
    sg_release(k);
}

/* ---- parts and callbacks --------------------------------------------------------------------- */

static void parts_of_a_run_are_the_run(void **state) {
    (void)state;
    static const int64_t parts[] = {1, 0, 4, 2};
    static double of_a[MOST_CELLS], of_b[MOST_CELLS];
    file files[SETS];
    int final[ARRAYS];
    int64_t first = 0;
    sg_point_sets *points = NULL;
    begin_scene(&a, 2, false, (const int64_t[]){31, 8, 1}, 50, 5);
    begin_scene(&b, 2, false, (const int64_t[]){31, 8, 1}, 50, 5);
    run_scene(&a, 7);
    set_callbacks(&b, files);
    expect_ok(sg_points_open(b.kernel, b.size, b.sets, SETS, &points));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; first += parts[i++]) {
        b.arguments.step = first;
        expect_ok(sg_run_points(points, &b.arguments, parts[i], NULL, final));
        follow(&b, final);
    }
    sg_points_close(points);
    fetch_cells(&a, ARRAY_U, of_a);
    fetch_cells(&b, ARRAY_U, of_b);
    assert_memory_equal(of_a, of_b, (size_t)cells_of(&a) * sizeof *of_a);
    assert_memory_equal(a.samples, b.samples, sizeof a.samples);
    for (int set = 0; set < SETS; set++)
        assert_int_equal(files[set].next, 7);
    end_scene(&a);
    end_scene(&b);
}

/* Points of a row of 8 MiB: eight steps go to the device at a time. */
static void many_points_come_in_pieces(void **state) {
    (void)state;
    enum { POINTS = 1 << 20, STEPS = 11 };
    sg_kernel *k = build("return stencil { name = \"many\", dtype = \"double\",\n"
                         "update = function(u) return u(0) end, points = {\n"
                         "put = { field = \"u\", inject = function(s) return s end },\n"
                         "take = { field = \"u\", sample = true } } }",
                         NULL);
    double *positions = calloc(POINTS, sizeof *positions);
    double *series = malloc(sizeof(double) * POINTS * STEPS);
    double traces[STEPS], at = 2.5, start[6] = {0};
    for (int64_t i = 0; i < POINTS; i++)
        positions[i] = (double)(i % 11) / 2;
    for (int64_t i = 0; i < (int64_t)POINTS * STEPS; i++)
        series[i] = (double)(i / POINTS + 1); /* all sums are exact */
    file from = {(unsigned char *)series, sizeof(double) * POINTS, 0, 0, 0};
    const sg_points sets[] = {
        {sizeof(sg_points), "put", POINTS, positions, .read = read_file, .user = &from},
        {sizeof(sg_points), "take", 1, &at, .traces = traces}};
    sg_grid grids[2] = {{.size = {6, 1, 1}}, {.size = {6, 1, 1}}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    for (int g = 0; g < 2; g++) {
        expect_ok(sg_alloc(context, sizeof start, &grids[g].data));
        expect_ok(sg_upload(context, grids[g].data, start, sizeof start));
    }
    sg_point_sets *points = NULL;
    expect_ok(sg_points_open(k, (const int64_t[]){6, 1, 1}, sets, 2, &points));
    expect_ok(sg_run_points(points, &arguments, STEPS, NULL, NULL));
    sg_points_close(points);
    assert_int_equal(from.next, STEPS);
    assert_int_equal(from.calls, 2);
    double weight[6] = {0}, sum = 0;
    for (int64_t i = 0; i < POINTS; i++)
        for (int cell = 0; cell < 6; cell++)
            weight[cell] += fmax(0, 1 - fabs(positions[i] - cell));
    for (int step = 0; step < STEPS; step++) {
        sum += (step + 1) * (weight[2] + weight[3]) / 2;
        assert_true(traces[step] == sum);
    }
    sg_free(context, grids[0].data);
    sg_free(context, grids[1].data);
    free(positions);
    free(series);
    sg_release(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(as_plain_loops),
    cmocka_unit_test(no_points_are_a_plain_run),
    cmocka_unit_test(any_schedule_serves),
    cmocka_unit_test(steps_are_single),
    cmocka_unit_test(systems_have_points),
    cmocka_unit_test(recording_is_the_transpose),
    cmocka_unit_test(parts_of_a_run_are_the_run),
    cmocka_unit_test(many_points_come_in_pieces),
};

TEST_GROUP(points, open_cpu, close_context)
