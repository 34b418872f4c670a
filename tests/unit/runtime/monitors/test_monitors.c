/* Monitors against plain loops: each op, maps that read neighbours, previous levels and positions,
   at every boundary; samples that wait; and that a run with samples is the run without. */
#include <math.h>

#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

enum { X = 19, Y = 7, CELLS = X * Y, GAP = 2, PADDED = (X + GAP) * Y, ARRAYS = 4, STEPS = 3 };

static const char wave[] =
    "return stencil { name = \"wave\", dtype = \"%s\", boundary = \"%s\",\n"
    "fields = { c = \"in\", u = { use = \"inout\", levels = 2 } },\n"
    "parameters = { k = 0.25, only_here = 3 },\n"
    "update = function(f, p) return f.u(0, 0) * 1.5 - 0.5 * f.u.prev(0, 0) + p.k * f.c(0, 0) *\n"
    "  (f.u(1, 0) + f.u(-1, 0) + f.u(0, 1) + f.u(0, -1) - 4 * f.u(0, 0)) end,\n"
    "monitors = {\n"
    "  change = { op = \"max\", map = function(f) return abs(f.u(0, 0) - f.u.prev(0, 0)) end },\n"
    "  slope = { op = \"sum\", map = function(f, p) return (f.u(2, 0) - f.u(0, -1)) *\n"
    "    p.only_here end },\n"
    "  low = { op = \"min\", map = function(f, p, at) return f.u(0, 0) + 0.001 * at.x +\n"
    "    0.01 * at.step + f.c(0, 0) end },\n"
    "  all_finite = { op = \"all\", map = function(f) return where(lt(abs(f.u(0, 0)), 1e30), 1,\n"
    "    0) end } } }";

enum { ALL, CHANGE, LOW, SLOPE, MONITORS }; /* by name */
static const char *const names[MONITORS] = {"all_finite", "change", "low", "slope"};
static const char *const ops[MONITORS] = {"all", "max", "min", "sum"};

typedef struct scene {
    bool wide;
    const char *boundary;
    char text[2048];
    sg_kernel *kernel, *maps[MONITORS];
    sg_monitor *monitors[MONITORS];
    sg_grid grids[ARRAYS]; /* c, u, u.prev, u.next */
    sg_arguments arguments;
} scene;

static const int64_t size[3] = {X, Y, 1};

static sg_kernel *build_map(const scene *s, const char *monitor) {
    sg_kernel *k = NULL;
    const sg_build_options how = {
        .struct_size = sizeof how, .text = s->text, .size = {X, Y}, .monitor = monitor};
    expect_ok(sg_build(context, "wave.lua", &how, &k));
    return k;
}

static void begin(scene *s, bool wide, const char *boundary) {
    *s = (scene){.wide = wide, .boundary = boundary};
    snprintf(s->text, sizeof s->text, wave, wide ? "double" : "float", boundary);
    s->kernel = build_map(s, NULL);
    for (int m = 0; m < MONITORS; m++) {
        s->maps[m] = build_map(s, names[m]);
        expect_ok(sg_monitor_open(s->kernel, s->maps[m], size, &s->monitors[m]));
    }
    for (int a = 0; a < ARRAYS; a++) {
        double host[PADDED];
        float *narrow = (float *)host;
        for (int i = 0; i < PADDED; i++) {
            const double value = (double)((i * 7919 + a * 104729) % 1009) / 1009 - 0.5;
            if (wide)
                host[i] = value;
            else
                narrow[i] = (float)value;
        }
        const size_t bytes = PADDED * (wide ? sizeof(double) : sizeof(float));
        s->grids[a] = (sg_grid){.size = {X, Y, 1}, .stride = {1, X + GAP, PADDED}};
        expect_ok(sg_alloc(context, bytes, &s->grids[a].data));
        expect_ok(sg_upload(context, s->grids[a].data, host, bytes));
    }
    s->arguments =
        (sg_arguments){.struct_size = sizeof s->arguments, .grids = s->grids, .grid_count = ARRAYS};
}

static void end(scene *s) {
    for (int m = 0; m < MONITORS; m++) {
        sg_monitor_close(s->monitors[m]);
        sg_release(s->maps[m]);
    }
    for (int a = 0; a < ARRAYS; a++)
        sg_free(context, s->grids[a].data);
    sg_release(s->kernel);
}

static void fetch(const scene *s, int array, double out[CELLS]) {
    double host[PADDED];
    const float *narrow = (const float *)host;
    expect_ok(sg_download(context, host, s->grids[array].data,
                          PADDED * (s->wide ? sizeof(double) : sizeof(float))));
    for (int y = 0; y < Y; y++)
        for (int x = 0; x < X; x++) {
            const int at = y * (X + GAP) + x;
            out[y * X + x] = s->wide ? host[at] : (double)narrow[at];
        }
}

/* A value outside of the grid; NAN: of a fixed boundary, which leaves the cell out. */
static double at(const scene *s, const double *u, int x, int y) {
    if (strcmp(s->boundary, "periodic") == 0)
        return u[(y + Y) % Y * X + (x + X) % X];
    if (x >= 0 && x < X && y >= 0 && y < Y)
        return u[y * X + x];
    return strcmp(s->boundary, "zero") == 0 ? 0 : NAN;
}

static double plain(const scene *s, int monitor, int64_t step) {
    double c[CELLS], u[CELLS], prev[CELLS];
    double result = monitor == ALL      ? 1
                    : monitor == CHANGE ? -INFINITY
                    : monitor == LOW    ? INFINITY
                                        : 0;
    fetch(s, 0, c);
    fetch(s, 1, u);
    fetch(s, 2, prev);
    for (int y = 0; y < Y; y++)
        for (int x = 0; x < X; x++) {
            const int i = y * X + x;
            const double slope = (at(s, u, x + 2, y) - at(s, u, x, y - 1)) * 3;
            if (monitor == ALL)
                result = result != 0 && fabs(u[i]) < 1e30;
            else if (monitor == CHANGE)
                result = fmax(result, fabs(u[i] - prev[i]));
            else if (monitor == LOW)
                result = fmin(result, u[i] + 0.001 * x + 0.01 * (double)step + c[i]);
            else if (!isnan(slope))
                result += slope;
        }
    return result;
}

static void as_plain_loops(void **state) {
    (void)state;
    static const char *const boundaries[] = {"zero", "fixed", "periodic"};
    scene s;
    for (int i = 0; i < 6; i++) {
        begin(&s, i % 2 != 0, boundaries[i / 2]);
        for (int step = 0; step < STEPS; step++) {
            int final[ARRAYS];
            sg_grid before[ARRAYS];
            s.arguments.step = step;
            for (int m = 0; m < MONITORS; m++) {
                int64_t steps[2];
                double values[2];
                int count;
                expect_ok(sg_monitor_sample(s.monitors[m], &s.arguments, NULL));
                expect_ok(sg_monitor_read(s.monitors[m], steps, values, 2, &count));
                const double wanted = plain(&s, m, step), bound = s.wide ? 1e-12 : 2e-5;
                assert_int_equal(count, 1);
                assert_int_equal(steps[0], step);
                if (!(fabs(values[0] - wanted) <= bound))
                    print_error("%s: %.17g instead of %.17g\n", names[m], values[0], wanted);
                assert_true(fabs(values[0] - wanted) <= bound);
            }
            expect_ok(sg_run(s.kernel, &s.arguments, 1, NULL, final));
            memcpy(before, s.grids, sizeof before);
            for (int a = 0; a < ARRAYS; a++)
                s.grids[a] = before[final[a]];
        }
        end(&s);
    }
}

static void samples_wait_and_keep_their_order(void **state) {
    (void)state;
    scene s;
    int64_t steps[SG_MONITOR_SAMPLES];
    double values[SG_MONITOR_SAMPLES], first[SG_MONITOR_SAMPLES];
    int count;
    begin(&s, true, "zero");
    for (int i = 0; i < 3; i++) { /* the ring is passed several times */
        for (int k = 0; k < SG_MONITOR_SAMPLES; k++) {
            s.arguments.step = 1000 * i + k;
            expect_ok(sg_monitor_sample(s.monitors[LOW], &s.arguments, NULL));
        }
        assert_int_equal(sg_monitor_sample(s.monitors[LOW], &s.arguments, NULL), SG_ERROR_USAGE);
        assert_non_null(strstr(sg_error(context), "64 samples of 'low' wait to be read"));
        for (int at = 0; at < SG_MONITOR_SAMPLES; at += count) {
            expect_ok(sg_monitor_read(s.monitors[LOW], steps, values, 7 + i, &count));
            for (int k = 0; k < count; k++) {
                assert_int_equal(steps[k], 1000 * i + at + k);
                first[at + k] = i == 0 ? values[k] : first[at + k];
                assert_true(fabs(values[k] - first[at + k] - 10.0 * i) < 1e-12);
            }
            assert_true(count > 0);
        }
        expect_ok(sg_monitor_read(s.monitors[LOW], steps, values, 7, &count));
        assert_int_equal(count, 0);
        expect_ok(sg_monitor_sample(s.monitors[LOW], &s.arguments, NULL));
        expect_ok(sg_monitor_read(s.monitors[LOW], steps, values, 7, &count));
        assert_int_equal(count, 1);
    }
    end(&s);
}

/* What a monitor is given as a constant, or as a parameter of the launch. */
static void parameters_are_those_of_the_spec(void **state) {
    (void)state;
    scene s;
    int64_t step;
    double usual, given, constant;
    int count;
    const double parameters[] = {0.25, 6}; /* k, only_here */
    const sg_constant put = {"only_here", 6};
    begin(&s, true, "zero");
    expect_ok(sg_monitor_sample(s.monitors[SLOPE], &s.arguments, NULL));
    expect_ok(sg_monitor_read(s.monitors[SLOPE], &step, &usual, 1, &count));
    s.arguments.parameters = parameters;
    s.arguments.parameter_count = 2;
    expect_ok(sg_monitor_sample(s.monitors[SLOPE], &s.arguments, NULL));
    expect_ok(sg_monitor_read(s.monitors[SLOPE], &step, &given, 1, &count));
    sg_build_options how = {.struct_size = sizeof how, .text = s.text, .constants = &put};
    sg_kernel *kernel = NULL, *map = NULL;
    sg_monitor *monitor = NULL;
    how.constant_count = 1;
    expect_ok(sg_build(context, "wave.lua", &how, &kernel));
    how.monitor = "slope";
    expect_ok(sg_build(context, "wave.lua", &how, &map));
    expect_ok(sg_monitor_open(kernel, map, size, &monitor));
    s.arguments.parameter_count = 1; /* k alone is left */
    expect_ok(sg_monitor_sample(monitor, &s.arguments, NULL));
    expect_ok(sg_monitor_read(monitor, &step, &constant, 1, &count));
    assert_true(usual != 0);
    assert_true(fabs(given - 2 * usual) < 1e-12);
    assert_true(fabs(constant - 2 * usual) < 1e-12);
    sg_monitor_close(monitor);
    sg_release(map);
    sg_release(kernel);
    end(&s);
}

static double sample_of(const char *text, double memory[4][12]) {
    const int64_t six[3] = {12, 1, 1};
    const sg_build_options how = {.struct_size = sizeof how, .text = text, .monitor = "m"};
    sg_kernel *kernel = build(text, NULL), *map = NULL;
    sg_monitor *monitor = NULL;
    sg_grid grids[2] = {{.data = memory[0], .size = {12}}, {.data = memory[1], .size = {12}}};
    const sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2};
    int64_t step;
    double value = NAN;
    int count;
    expect_ok(sg_build(context, "one.lua", &how, &map));
    expect_ok(sg_monitor_open(kernel, map, six, &monitor));
    expect_ok(sg_monitor_sample(monitor, &a, NULL));
    expect_ok(sg_monitor_read(monitor, &step, &value, 1, &count));
    sg_monitor_close(monitor);
    sg_release(map);
    sg_release(kernel);
    return value;
}

static void systems_have_monitors(void **state) {
    (void)state;
    static double memory[4][12];
    for (int i = 0; i < 12; i++)
        memory[0][i] = i * i;
    const double value = sample_of(
        "return system { name = \"one\", dtype = \"double\", boundary = \"zero\",\n"
        "fields = { u = \"inout\", s = \"scratch\" }, stages = {\n"
        "{ update = function(f) return { s = 0.5 * f.u(0) } end },\n"
        "{ update = function(f) return { u = f.s(1) } end } },\n"
        "monitors = { m = { op = \"max\", map = function(f, p) return p.only * (f.u(1) - f.u(0))\n"
        "end } }, parameters = { only = 3 } }",
        memory);
    assert_true(value == 3 * (121 - 100));
}

static void expect_refusal(sg_status status, const char *says) {
    if (strstr(sg_error(context), says) == NULL)
        print_error("%s\n", sg_error(context));
    assert_int_equal(status, SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(context), says));
}

static void mistakes_are_refused(void **state) {
    (void)state;
    scene s;
    sg_kernel *k = NULL;
    sg_monitor *monitor = NULL;
    begin(&s, false, "zero");
    const sg_build_options how = {.struct_size = sizeof how, .text = s.text, .monitor = "changes"};
    expect_refusal(sg_build(context, "wave.lua", &how, &k),
                   "'wave' has no monitor 'changes'; known: all_finite, change, low, slope");
    expect_refusal(sg_monitor_open(s.kernel, s.kernel, size, &monitor),
                   "'wave' is no map of a monitor");
    sg_kernel *other = build("return stencil { name = \"other\", update = function(f)\n"
                             "return f.v(0) end, fields = { v = \"inout\" } }",
                             NULL);
    expect_refusal(sg_monitor_open(other, s.maps[LOW], size, &monitor), "has no array 'c'");
    s.grids[1].size[0] = X - 1;
    expect_refusal(sg_monitor_sample(s.monitors[LOW], &s.arguments, NULL),
                   "size 18 along x, but its monitor one of 19");
    s.grids[1].size[0] = X;
    for (int m = 0; m < MONITORS; m++) {
        sg_monitor_info info = {.struct_size = sizeof info};
        expect_ok(sg_kernel_monitor(s.kernel, m, &info));
        assert_string_equal(info.name, names[m]);
        assert_string_equal(info.op, ops[m]);
        expect_refusal(sg_kernel_monitor(s.kernel, MONITORS, &info), "none of index 4");
    }
    assert_null(monitor);
    sg_monitor_close(NULL);
    sg_release(other);
    end(&s);
}

/* ---- watched runs ---------------------------------------------------------------------------- */

typedef struct seen {
    int64_t steps[32];
    double values[32];
    int count, ends_at; /* how many samples are enough; 0: all are wanted */
} seen;

static int note(void *user, int64_t step, double value) {
    seen *s = user;
    s->steps[s->count] = step;
    s->values[s->count++] = value;
    return s->ends_at > 0 && s->count >= s->ends_at;
}

/* The same steps and samples as by hand, also where the caller's first step is not 0. */
static void watched_runs_tell_of_samples(void **state) {
    (void)state;
    static scene s, t;
    seen low = {.count = 0}, slope = {.count = 0};
    int final[ARRAYS], order[ARRAYS];
    int64_t made = 0;
    begin(&s, true, "periodic");
    begin(&t, true, "periodic");
    s.arguments.step = t.arguments.step = 4;
    const sg_watch watches[] = {{sizeof(sg_watch), s.monitors[LOW], 3, note, &low},
                                {sizeof(sg_watch), s.monitors[SLOPE], 5, note, &slope}};
    expect_ok(sg_run_watched(s.kernel, NULL, watches, 2, &s.arguments, 26, NULL, final, &made));
    assert_int_equal(made, 26);
    assert_int_equal(low.count, 9); /* after steps 6, 9, ..., 30 */
    assert_int_equal(slope.count, 6);
    expect_ok(sg_run(t.kernel, &t.arguments, 2, NULL, order));
    sg_grid grids[ARRAYS];
    for (int i = 0; i < ARRAYS; i++)
        grids[i] = t.grids[order[i]];
    t.arguments.grids = grids;
    t.arguments.step = 6;
    expect_ok(sg_monitor_sample(t.monitors[LOW], &t.arguments, NULL));
    int64_t step;
    double value;
    int count;
    expect_ok(sg_monitor_read(t.monitors[LOW], &step, &value, 1, &count));
    assert_int_equal(low.steps[0], 6);
    assert_true(low.values[0] == value);
    expect_ok(sg_run(t.kernel, &t.arguments, 24, NULL, order));
    assert_memory_equal(s.grids[final[1]].data, grids[order[1]].data, PADDED * sizeof(double));
    assert_int_equal(slope.steps[5], 30);
    end(&s);
    end(&t);
}

static void a_watching_function_ends_the_run(void **state) {
    (void)state;
    static scene s;
    seen low = {.ends_at = 3};
    int final[ARRAYS];
    int64_t made = 0;
    begin(&s, false, "zero");
    sg_watch watch = {sizeof watch, s.monitors[LOW], 1, note, &low};
    expect_ok(sg_run_watched(s.kernel, NULL, &watch, 1, &s.arguments, 100, NULL, final, &made));
    assert_int_equal(made, 8); /* samples are read 8 at a time */
    assert_int_equal(low.count, 8);
    watch.every = 0;
    assert_int_equal(sg_run_watched(s.kernel, NULL, &watch, 1, &s.arguments, 1, NULL, final, &made),
                     SG_ERROR_USAGE);
    end(&s);
}

static void refuses(const scene *s, const sg_watch *watches, int count, int64_t steps,
                    const char *says) {
    int64_t made = -1;
    assert_int_equal(
        sg_run_watched(s->kernel, NULL, watches, count, &s->arguments, steps, NULL, NULL, &made),
        SG_ERROR_USAGE);
    assert_string_equal(sg_error(context), says);
    assert_int_equal(made, -1);
}

/* A function must not be told of samples of others. */
static void watches_have_monitors_of_their_own(void **state) {
    (void)state;
    static scene s;
    seen low = {.count = 0};
    int64_t step[2];
    double value[2];
    int count;
    begin(&s, false, "zero");
    const sg_watch watches[] = {{sizeof(sg_watch), s.monitors[LOW], 1, note, &low},
                                {sizeof(sg_watch), s.monitors[LOW], 2, note, &low}};
    refuses(&s, watches, 2, 4, "error: watches 0 and 1 have the same monitor: open one for each");
    expect_ok(sg_monitor_sample(s.monitors[LOW], &s.arguments, NULL));
    refuses(&s, watches, 1, 4, "error: samples of the monitor of watch 0 wait to be read");
    expect_ok(sg_monitor_read(s.monitors[LOW], step, value, 2, &count));
    assert_int_equal(count, 1);
    expect_ok(sg_run_watched(s.kernel, NULL, watches, 1, &s.arguments, 4, NULL, NULL, NULL));
    assert_int_equal(low.count, 4);
    refuses(&s, watches, 1, INT64_MAX, "error: 9223372036854775807 steps cannot be run");
    end(&s);
}

static void too_many_cells_are_refused(void **state) {
    (void)state;
    static scene s;
    sg_monitor *monitor = NULL;
    begin(&s, false, "zero");
    const int64_t large[][3] = {
        {INT64_C(1) << 32, INT64_C(1) << 32, 1}, {INT64_MAX, 3, 1}, {INT64_C(1) << 59, 1, 1}};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        assert_int_equal(sg_monitor_open(s.kernel, s.maps[LOW], large[i], &monitor),
                         SG_ERROR_USAGE);
        assert_string_equal(sg_error(context), "error: the grid has too many cells");
    }
    end(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(watches_have_monitors_of_their_own),
    cmocka_unit_test(too_many_cells_are_refused),
    cmocka_unit_test(watched_runs_tell_of_samples),
    cmocka_unit_test(a_watching_function_ends_the_run),
    cmocka_unit_test(as_plain_loops),
    cmocka_unit_test(samples_wait_and_keep_their_order),
    cmocka_unit_test(parameters_are_those_of_the_spec),
    cmocka_unit_test(systems_have_monitors),
    cmocka_unit_test(mistakes_are_refused),
};

TEST_GROUP(monitors, open_cpu, close_context)
