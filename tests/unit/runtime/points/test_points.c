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

typedef struct file {
    unsigned char *samples;
    size_t row;
    int64_t next; /* the step that is asked for next */
    int calls, fails_at;
} file;

static int read_file(void *user, int64_t first, int64_t steps, void *to) {
    file *f = user;
    assert_int_equal(first, f->next);
    f->next += steps;
    memcpy(to, f->samples + (size_t)first * f->row, (size_t)steps * f->row);
    return ++f->calls == f->fails_at;
}

static int write_file(void *user, int64_t first, int64_t steps, const void *from) {
    file *f = user;
    assert_int_equal(first, f->next);
    f->next += steps;
    memcpy(f->samples + (size_t)first * f->row, from, (size_t)steps * f->row);
    return ++f->calls == f->fails_at;
}

static void set_callbacks(scene *s, file files[SETS]) {
    for (int set = 0; set < SETS; set++) {
        files[set] = (file){.samples = s->samples[set], .row = (size_t)s->count * element_of(s)};
        s->sets[set].series = s->sets[set].traces = NULL;
        s->sets[set].user = &files[set];
        if (set <= SET_SHOT)
            s->sets[set].read = read_file;
        else
            s->sets[set].write = write_file;
    }
}

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

/* ---- refusals -------------------------------------------------------------------------------- */

static void expect_refusal(sg_status status, sg_status wanted, const char *says) {
    if (status != wanted || strstr(sg_error(context), says) == NULL)
        print_error("%s: %s\n", sg_status_name(status), sg_error(context));
    assert_int_equal(status, wanted);
    assert_non_null(strstr(sg_error(context), says));
}

static void expect_closed(sg_status wanted, const char *says, int count) {
    sg_point_sets *points = (sg_point_sets *)&a;
    expect_refusal(sg_points_open(a.kernel, a.size, a.sets, count, &points), wanted, says);
    assert_ptr_equal(points, &a);
}

static void wrong_sets_are_refused(void **state) {
    (void)state;
    begin_scene(&a, 2, false, (const int64_t[]){6, 5, 1}, 6, 5);
    a.positions[SET_REC][2 * 4 + 1] = 4.0000001;
    expect_closed(SG_ERROR_DATA, "point 4 of 'rec' (the first is 0) is at (", SETS);
    a.positions[SET_REC][2 * 4 + 1] = NAN;
    expect_closed(SG_ERROR_DATA, "point 4 of 'rec'", SETS);
    a.positions[SET_REC][2 * 4 + 1] = 4;
    a.positions[SET_SHOT][0] = -1e-9;
    expect_closed(SG_ERROR_DATA, "outside of the grid: 0 to 5 and 0 to 4", SETS);
    a.positions[SET_SHOT][0] = 0;
    expect_closed(SG_ERROR_USAGE, "points 'rec_out' of 'scene' are missing", SETS - 1);
    a.sets[SET_REC].name = "shot";
    expect_closed(SG_ERROR_USAGE, "points 'shot' are given twice", SETS);
    a.sets[SET_REC].name = "recs";
    expect_closed(SG_ERROR_USAGE, "no points 'recs'; known: eddy, rec, rec_in, rec_out, shot",
                  SETS);
    a.sets[SET_REC].name = "rec";
    a.sets[SET_REC].traces = NULL;
    expect_closed(SG_ERROR_USAGE, "points 'rec' record: give one of traces and write", SETS);
    a.sets[SET_REC].traces = a.samples[SET_REC];
    a.sets[SET_SHOT].read = read_file;
    expect_closed(SG_ERROR_USAGE, "points 'shot' inject: give one of series and read", SETS);
    a.sets[SET_SHOT].read = NULL;
    a.sets[SET_SHOT].count = -1;
    expect_closed(SG_ERROR_USAGE, "points 'shot': there are -1", SETS);
    end_scene(&a);
}

static void wrong_runs_are_refused(void **state) {
    (void)state;
    file files[SETS];
    sg_point_sets *points = NULL;
    begin_scene(&a, 2, false, (const int64_t[]){6, 5, 1}, 6, 5);
    expect_refusal(sg_run(a.kernel, &a.arguments, 1, NULL, NULL), SG_ERROR_USAGE,
                   "'scene' has points: sg_run_points runs it");
    expect_refusal(sg_save(a.kernel, "/dev/null", NULL), SG_ERROR_USAGE, "has points");
    set_callbacks(&a, files);
    expect_ok(sg_points_open(a.kernel, (const int64_t[]){6, 5, 1}, a.sets, SETS, &points));
    a.arguments.step = -1;
    expect_refusal(sg_run_points(points, &a.arguments, 1, NULL, NULL), SG_ERROR_USAGE, "step -1");
    a.arguments.step = 0;
    expect_refusal(sg_run_points(points, &a.arguments, -1, NULL, NULL), SG_ERROR_USAGE, "-1");
    a.arguments.end[0] = a.arguments.end[1] = a.arguments.end[2] = 1;
    expect_refusal(sg_run_points(points, &a.arguments, 1, NULL, NULL), SG_ERROR_USAGE,
                   "points need the whole grid");
    memset(a.arguments.end, 0, sizeof a.arguments.end);
    for (int g = 0; g < ARRAYS; g++)
        a.grids[g].size[1] = 4;
    expect_refusal(sg_run_points(points, &a.arguments, 1, NULL, NULL), SG_ERROR_USAGE,
                   "size 4 along y, but its points are of one of 5");
    for (int g = 0; g < ARRAYS; g++)
        a.grids[g].size[1] = 5;
    files[SET_SHOT].fails_at = 1;
    expect_refusal(sg_run_points(points, &a.arguments, 1, NULL, NULL), SG_ERROR_IO,
                   "the function that reads the series of 'shot' failed at step 0");
    sg_points_close(points);
    sg_points_close(NULL);
    end_scene(&a);
}

static void kernels_know_their_sets(void **state) {
    (void)state;
    static const char *const names[SETS] = {"eddy", "rec", "rec_in", "rec_out", "shot"};
    begin_scene(&a, 1, true, (const int64_t[]){6, 1, 1}, 1, 5);
    for (int i = 0; i < SETS; i++) {
        sg_points_info info = {.struct_size = sizeof info};
        expect_ok(sg_kernel_points(a.kernel, i, &info));
        assert_string_equal(info.name, names[i]);
        assert_int_equal(info.injects, i == 0 || i == 4);
        assert_string_equal(info.field, i == 2 ? "c" : i == 3 ? "w" : "u");
        expect_refusal(sg_kernel_points(a.kernel, SETS, &info), SG_ERROR_USAGE, "index 5");
    }
    assert_non_null(strstr(sg_kernel_text(a.kernel, SG_TEXT_POINTS), "scene_inject"));
    end_scene(&a);
}

static void compile_for_gpus(job *j, void *kernel) {
    const sg_kernel *k = kernel;
    compile_program(j, context, context->nvrtc, k->points->program, BINARY_CUBIN, NULL);
}

/* No GPU is needed to compile for one. */
static void gpus_compile_them(void **state) {
    (void)state;
    sg_binary unused = {.struct_size = sizeof unused};
    for (int dims = 1; dims <= 3; dims++) {
        begin_scene(&a, dims, dims != 2, (const int64_t[]){6, 1, 1}, 1, 5);
        const sg_status nvrtc = sg_kernel_binary(a.kernel, SG_BINARY_CUBIN, &unused);
        if (nvrtc == SG_OK)
            expect_ok(context_run(context, compile_for_gpus, a.kernel, NULL));
        end_scene(&a);
        if (nvrtc != SG_OK)
            skip(); /* there is no NVRTC */
    }
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
    cmocka_unit_test(wrong_sets_are_refused),
    cmocka_unit_test(wrong_runs_are_refused),
    cmocka_unit_test(gpus_compile_them),
    cmocka_unit_test(kernels_know_their_sets),
};

TEST_GROUP(points, open_cpu, close_context)
