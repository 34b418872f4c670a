/* Checks, measurements and explanations on the cpu device. That checks can fail is proved on a
   device that spoils one element of what each launch leaves behind. */
#include "tests/unit/runtime/api/api.h"

#include <math.h>

#include "gen/spec/spec.h"
#include "runtime/launch/kernel.h"
#include "tests/unit/group.h"

/* What goes wrong after a launch, or instead of it. */
static struct damage {
    bool no_launch;
    int array;      /* its place among the arguments; −1: nothing is spoilt */
    int64_t offset; /* in floats from cell (0,0,0) */
    float value;
} damage;

/* All cells are spoilt that lie along an axis at damage.offset modulo the period; 0: one is. */
static struct spread { int axis, period; } spread;

static void spoil_all(float *cells, const void *arguments) {
    int64_t size[3];
    memcpy(size, arguments, sizeof size);
    for (int64_t c = 0; c < size[0] * size[1] * size[2]; c++) {
        const int64_t at[] = {c % size[0], c / size[0] % size[1], c / size[0] / size[1]};
        if (at[spread.axis] % spread.period == damage.offset)
            cells[c] = damage.value;
    }
}

static fault spoiling_launch(device *d, const module *m, int launch, const int64_t grid[3],
                             const void *arguments, size_t bytes, void *stream, int *code) {
    fault f = FAULT_NONE;
    if (!damage.no_launch)
        f = device_cpu.launch(d, m, launch, grid, arguments, bytes, stream, code);
    if (f == FAULT_NONE && damage.array >= 0) {
        float *cells;
        memcpy(&cells,
               (const char *)arguments + PROGRAM_OFFSET_GRIDS + PROGRAM_GRID_BYTES * damage.array,
               sizeof cells);
        if (spread.period > 0)
            spoil_all(cells, arguments);
        else
            cells[damage.offset] = damage.value;
    }
    return f;
}

static device_ops spoiling_ops;

static device *spoiling_open(job *j, const device_options *options, const char **why) {
    device *d = device_cpu.open(j, options, why);
    if (d != NULL)
        d->ops = &spoiling_ops;
    return d;
}

static int open_spoiling(void **state) {
    (void)state;
    const sg_options options = {.struct_size = sizeof options, .device = "cpu", .threads = 3};
    const device_ops *const kinds[] = {&spoiling_ops};
    spoiling_ops = device_cpu;
    spoiling_ops.open = spoiling_open;
    spoiling_ops.launch = spoiling_launch;
    if (context_open(&context, &options, kinds, 1) != SG_OK)
        print_error("%s\n", sg_error(context));
    return 0;
}

static int no_damage(void **state) {
    (void)state;
    damage = (struct damage){.array = -1};
    spread = (struct spread){0};
    return 0;
}

/* ---- right kernels ------------------------------------------------------------------------- */

static void expect_right(sg_kernel *k, int64_t nx, int64_t ny, int64_t nz) {
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {nx, ny, nz}, .seed = 42};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    const int64_t points = nx * (ny > 0 ? ny : 1) * (nz > 0 ? nz : 1);
    assert_int_equal(r.points, points);
    assert_int_equal(r.judged, points);
    assert_int_equal(r.wrong, 0);
    assert_int_equal(r.undecidable, 0);
    assert_true(r.of_bound <= 1);
    assert_true(r.greatest_error < 1e-5);
    assert_int_equal(r.seed, 42);
    assert_string_equal(r.first_wrong, "");
}

static void every_method_is_right(void **state) {
    (void)state;
    static const char *const methods[] = {"auto", "naive", "tiled", "coarsened", "register"};
    for (int m = 0; m < 5; m++) {
        sg_kernel *k = build(HEAT7, methods[m]);
        expect_right(k, 45, 21, 13);
        expect_right(k, 1, 2, 3);
        sg_release(k);
        k = build(BLUR2, methods[m][0] == 'r' ? "auto" : methods[m]);
        expect_right(k, 67, 35, 0);
        sg_release(k);
    }
}

static void several_fields_are_right(void **state) {
    (void)state;
    sg_kernel *k = build(WAVE2, NULL);
    expect_right(k, 70, 40, 0);
    sg_release(k);
    k = build(SLOPE1, NULL);
    expect_right(k, 3000, 0, 0);
    expect_right(k, 2, 0, 0);
    sg_release(k);
}

static void seeds_decide_the_data(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, NULL);
    sg_check_options options = {.struct_size = sizeof options, .size = {20, 20, 20}, .seed = 1};
    sg_check_result a = {.struct_size = sizeof a}, b = a, c = a, d = a;
    expect_ok(sg_check(k, &options, &a));
    expect_ok(sg_check(k, &options, &b));
    assert_true(a.of_bound == b.of_bound && a.greatest_error == b.greatest_error);
    assert_true(a.greatest_error > 0);
    options.seed = 0;
    expect_ok(sg_check(k, &options, &c));
    expect_ok(sg_check(k, &options, &d));
    assert_true(c.seed != 0 && c.seed != d.seed);
    sg_release(k);
}

/* ---- wrong ones ---------------------------------------------------------------------------- */

enum { SX = 40, SY = 21, SZ = 10, CELLS = SX * SY * SZ };

static void expect_wrong(sg_kernel *k, int64_t most, int64_t wrong, const char *first) {
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {SX, SY, SZ}, .seed = 42, .most_points = most};
    sg_check_result r = {.struct_size = sizeof r};
    assert_int_equal(sg_check(k, &options, &r), SG_ERROR_CHECK);
    assert_int_equal(r.wrong, wrong);
    if (strncmp(r.first_wrong, first, strlen(first)) != 0)
        print_error("'%s' is not '%s'\n", r.first_wrong, first);
    assert_memory_equal(r.first_wrong, first, strlen(first));
    assert_non_null(strstr(sg_error(context), r.first_wrong));
    assert_non_null(strstr(sg_error(context), "(seed 42)"));
}

static void checks_find_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        struct damage damage;
        int64_t wrong;
        const char *first;
    } cases[] = {
        {{false, 1, 3 + SX * (5 + SY * 2), 1.5f}, 1, "u.next at (3,5,2): 1.5 instead of "},
        {{false, 1, 3 + SX * (5 + SY * 2), NAN}, 1, "u.next at (3,5,2): nan instead of "},
        {{false, 1, 3 + SX * (5 + SY * 2), INFINITY}, 1, "u.next at (3,5,2): inf instead of "},
        {{false, 1, CELLS - 1, 0.0f}, 1, "u.next at (39,20,9): 0 instead of "}, /* a kept cell */
        {{false, 1, -1, 0.0f}, 1, "u.next: the guard zone was written, 1 element before the first"},
        {{false, 1, -256, 0.0f}, 1, "u.next: the guard zone was written, 256 elements before"},
        {{false, 1, CELLS + 255, 0.0f},
         1,
         "u.next: the guard zone was written, 256 elements after the last cell"},
        {{false, 0, CELLS, 0.0f}, 1, "u: the guard zone was written, 1 element after"},
        {{false, 0, SX + 1, 7.0f}, 1, "u at (1,1,0), which is only read, became 7 instead of "},
        {{true, -1, 0, 0.0f}, CELLS, "u.next at (0,0,0): nan instead of "},
    };
    sg_kernel *k = build(HEAT7, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        damage = cases[i].damage;
        expect_wrong(k, 0, cases[i].wrong, cases[i].first);
    }
    sg_release(k);
}

/* An error of a few units in the last place is more than rounding explains. */
static void checks_are_sharp(void **state) {
    (void)state;
    sg_kernel *k = build("return stencil { name = 'one', shape = points { {0,0,0} },\n"
                         "  dtype = 'float', boundary = 'zero', coefficients = { 1 } }",
                         NULL);
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {SX, SY, SZ}, .seed = 42};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_true(r.greatest_error == 0);
    damage = (struct damage){.array = 1, .offset = 77, .value = 5.0f};
    assert_int_equal(sg_check(k, &options, &r), SG_ERROR_CHECK);
    const char *instead = strstr(r.first_wrong, "instead of ");
    assert_non_null(instead);
    float right = 0;
    assert_int_equal(sscanf(instead, "instead of %f", &right), 1);
    damage.value = right;
    expect_ok(sg_check(k, &options, &r));
    damage.value = right * (1 + 3 * 0x1p-23f);
    assert_int_equal(sg_check(k, &options, &r), SG_ERROR_CHECK);
    assert_int_equal(r.wrong, 1);
    assert_true(r.of_bound > 1);
    sg_release(k);
}

static void cells_of_an_out_field_that_are_kept_stay_unwritten(void **state) {
    (void)state;
    sg_kernel *k = build("return stencil { name = 'd', dims = 1, dtype = 'float',\n"
                         "  boundary = 'fixed', fields = { a = 'in', b = 'out' },\n"
                         "  update = function(f) return f.a(1) - f.a(-1) end }",
                         NULL);
    const sg_check_options options = {.struct_size = sizeof options, .size = {100}, .seed = 3};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    damage = (struct damage){.array = 1, .offset = 99, .value = 2};
    assert_int_equal(sg_check(k, &options, &r), SG_ERROR_CHECK);
    assert_string_equal(r.first_wrong, "b at (99): 2 instead of being left alone");
    sg_release(k);
}

static void large_grids_are_judged_in_part(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, "naive tile=8x4x1");
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {200, 60, 60}, .seed = 42, .most_points = 200000};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.points, 720000);
    assert_in_range(r.judged, 100000, 300000);
    /* The shell is judged whatever the seed. */
    static const int64_t corners[] = {0, 199, 200 * 59, 719999, 720000 / 2 - 1};
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
        damage = (struct damage){.array = 1, .offset = corners[i], .value = 3};
        assert_int_equal(sg_check(k, &options, &r), SG_ERROR_CHECK);
        assert_int_equal(r.wrong, 1);
    }
    /* Inside, a sample finds what is wrong everywhere. */
    damage = (struct damage){.no_launch = true, .array = -1};
    assert_int_equal(sg_check(k, &options, &r), SG_ERROR_CHECK);
    assert_int_equal(r.wrong, r.judged);
    sg_release(k);
}

static void expect_found(sg_kernel *k, const sg_check_options *options, int64_t least) {
    sg_check_result r = {.struct_size = sizeof r};
    assert_int_equal(sg_check(k, options, &r), SG_ERROR_CHECK);
    assert_true(r.wrong >= least);
    assert_true(r.judged < r.points);
}

/* Nothing is said of how many: the filter's work for a cell decides. */
static void costly_grids_are_judged_in_part_by_default(void **state) {
    (void)state;
    enum { NX = 1200, NY = 1000 };
    sg_kernel *k = build("local w = {} for i = 1, 15 * 15 do w[i] = 1 / (i + 3) end\n"
                         "return stencil { name = 'wide', shape = box(2, 7), dtype = 'float',\n"
                         "  boundary = 'clamp', coefficients = w }",
                         "tiled tile=32x8");
    const sg_check_options options = {.struct_size = sizeof options, .size = {NX, NY}, .seed = 42};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_in_range(r.judged, 400000, 900000);
    /* A cell of a face; and any cell that was left out, or made of what lies outside. */
    damage = (struct damage){.array = 1, .offset = NX * (NY / 2 + 1), .value = 99};
    expect_found(k, &options, 1);
    damage = (struct damage){.array = 1, .offset = NX * 789 + 345, .value = NAN};
    expect_found(k, &options, 1);
    sg_release(k);
}

/* One lane of a pack; one row or one plane of a tile. */
static void faults_that_come_back_are_found(void **state) {
    (void)state;
    static const int periods[] = {4, 8, 4};
    sg_kernel *k = build(HEAT7, "naive tile=8x8x4");
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {200, 60, 60}, .seed = 42, .most_points = 70000};
    for (int axis = 0; axis < 3; axis++)
        for (int lane = 0; lane < periods[axis]; lane++) {
            damage = (struct damage){.array = 1, .offset = lane, .value = 3};
            spread = (struct spread){axis, periods[axis]};
            expect_found(k, &options, 1000);
        }
    sg_release(k);
}

/* A spec whose own results are NaNs is judged as others are. */
static void nans_of_the_spec_are_right(void **state) {
    (void)state;
    sg_kernel *k = build("return stencil { name = 'root', dims = 2, boundary = 'zero',\n"
                         "  update = function(u) return sqrt(u(0,0)) + u(1,0) end }",
                         NULL);
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {900, 700}, .seed = 4, .most_points = 50000};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_in_range(r.judged, 50000, 150000);
    sg_release(k);
}

static void impossible_checks_are_refused(void **state) {
    (void)state;
    sg_kernel *k = build(SHIFT2, NULL);
    sg_check_result r = {.struct_size = sizeof r};
    sg_check_options options = {.struct_size = sizeof options, .size = {4, 4, 4}};
    assert_int_equal(sg_check(k, &options, &r), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context),
                        "error: size 4 along z does not fit 'shift' of 2 dimensions");
    options = (sg_check_options){.struct_size = sizeof options, .size = {1 << 30, 1 << 30, 0}};
    assert_int_equal(sg_check(k, &options, &r), SG_ERROR_USAGE);
    assert_int_equal(sg_check(k, NULL, NULL), SG_ERROR_USAGE);
    sg_release(k);
}

/* ---- branches ------------------------------------------------------------------------------ */

#define MASKED(factor)                                                                             \
    "return stencil { name = 'masked', fields = { u = 'inout', m = 'in' }, boundary = 'zero',\n"   \
    "  update = function(f) return where(eq(f.m(0), 1), " factor " * f.u(0), f.u(1)) end }"
#define MAPPED(value)                                                                              \
    "return reduce { name = 'mapped', op = 'sum', dtype = 'int32',\n"                              \
    "  map = function(a) return where(eq(a, 5), " value ", 0) end }"

typedef struct judged {
    const char *text;
    sg_kernel *kernel;
    sg_status status;
} judged;

static void judge_by(job *j, void *argument) {
    judged *g = argument;
    const sg_check_options options = {.struct_size = sizeof options, .size = {3000}, .seed = 5};
    sg_check_result r = {.struct_size = sizeof r};
    const subject *own = g->kernel->subject;
    g->kernel->subject = spec_load(j, "other.lua", g->text, NULL)->subjects[0];
    g->status = sg_check(g->kernel, &options, &r);
    g->kernel->subject = own;
}

/* A kernel that is wrong in a branch that random numbers alone would never take. */
static void branches_are_judged(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{MASKED("2"), MASKED("3")}, {MAPPED("2"), MAPPED("3")}};
    for (int i = 0; i < 2; i++)
        for (int other = 0; other < 2; other++) {
            judged g = {pairs[i][other], build(pairs[i][0], NULL), SG_OK};
            job *j;
            assert_int_equal(job_run(&allocator_libc, judge_by, &g, &j), FAULT_NONE);
            assert_int_equal(g.status, other == 0 ? SG_OK : SG_ERROR_CHECK);
            job_end(j);
            sg_release(g.kernel);
        }
}

static const char never[] =
    "return stencil { name = 'never', boundary = 'zero', parameters = { k = 1 },\n"
    "  fields = { u = 'inout', m = { use = 'in', values = { 0, 2 } } },\n"
    "  update = function(f, p) return where(eq(f.m(0), 1), 2 * f.u(1),\n"
    "    where(gt(p.k, 0), f.u(0), where(gt(f.u(0), 0.5), 1, 2))) end }";

/* Conditions come in no order that anybody promises. */
static void expect_side(const sg_check_result *r, const char *condition, int side) {
    for (int i = 0; i < r->unjudged_count; i++) {
        const sg_unjudged *u = &r->unjudged[i];
        if (strcmp(u->condition, condition) != 0 || u->side != side)
            continue;
        assert_int_equal(u->taken, 0);
        assert_int_equal(u->of, 4000);
        return;
    }
    fail_msg("'%s' is not named", condition);
}

static void sides_that_nothing_took_are_named(void **state) {
    (void)state;
    sg_kernel *k = build(never, NULL);
    sg_check_options options = {.struct_size = sizeof options, .size = {4000}, .seed = 5};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.unjudged_count, 2);
    expect_side(&r, "eq(m(0), 1)", 1);
    expect_side(&r, "gt(p.k, 0)", 0);
    const double negative = -1; /* the parameter's value in the check decides */
    options.parameters = &negative;
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.unjudged_count, 2);
    expect_side(&r, "gt(p.k, 0)", 1);
    /* An older caller's result ends before the list. */
    sg_check_result older = {.struct_size = offsetof(sg_check_result, unjudged_count)};
    expect_ok(sg_check(k, &options, &older));
    assert_null(older.unjudged);
    sg_release(k);
    k = build(MASKED("2"), NULL);
    options.parameters = NULL;
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.unjudged_count, 0);
    sg_release(k);
}

/* After a step nothing is above 3; at first a good part is. */
static void steps_are_all_counted(void **state) {
    (void)state;
    sg_kernel *k = build("return stencil { name = 'once', boundary = 'zero',\n"
                         "  update = function(u) return where(gt(u(0), 3), 0, min(u(0), 1)) end }",
                         NULL);
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {4000}, .seed = 5, .steps = 4};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.unjudged_count, 0);
    sg_release(k);
}

/* A merge of keys by the caller's parameter: the lists are sorted by it too. */
static void parameters_decide_what_is_drawn(void **state) {
    (void)state;
    sg_kernel *k = build("return merge { name = 'signed', keys = 'int32',\n"
                         "  order = function(a, b, p) return lt(p.sign * a, p.sign * b) end }",
                         NULL);
    const double sign = -1;
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {3000}, .seed = 5, .parameters = &sign};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.undecidable, 0);
    assert_int_equal(r.judged, 3000);
    sg_release(k);
}

/* ---- speed and explanations ---------------------------------------------------------------- */

static void speed_is_measured(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, NULL);
    const sg_speed_options options = {
        .struct_size = sizeof options, .size = {32, 32, 32}, .repeats = 4};
    sg_speed s = {.struct_size = sizeof s};
    expect_ok(sg_measure(k, &options, &s));
    assert_int_equal(s.repeats, 4);
    assert_int_equal(s.size[1], 32);
    assert_true(s.fastest > 0 && s.fastest <= s.seconds && s.seconds <= s.slowest);
    assert_true(fabs(s.points * s.seconds - 32768) < 1e-6 * 32768);
    assert_true(fabs(s.bytes - 8 * s.points) < 1e-6 * s.bytes);
    assert_true(s.copy_bytes > 0);
    assert_true(fabs(s.of_copy - s.bytes / s.copy_bytes) < 1e-9);
    assert_int_equal(s.steps, 1);
    sg_release(k);
}

static void runs_are_measured(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, NULL);
    sg_speed_options options = {
        .struct_size = sizeof options, .size = {32, 32, 32}, .repeats = 4, .steps = 7};
    sg_speed s = {.struct_size = sizeof s};
    expect_ok(sg_measure(k, &options, &s));
    assert_int_equal(s.steps, 7);
    assert_true(fabs(s.points * s.seconds - 7 * 32768) < 1e-6 * 7 * 32768);
    assert_true(fabs(s.bytes - 8 * s.points) < 1e-6 * s.bytes);
    options.steps = -1;
    assert_int_equal(sg_measure(k, &options, &s), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context), "error: -1 steps cannot be run");
    sg_release(k);
}

static bool is_about(double value, double expected) {
    return fabs(value - expected) < 0.005;
}

static void explanations_agree_with_the_textbook(void **state) {
    (void)state;
    sg_explanation *e;
    const sg_build_options options = {.struct_size = sizeof options, .text = HEAT7};
    expect_ok(sg_explain(context, "heat7.lua", &options, &e));
    assert_string_equal(e->name, "heat7");
    assert_string_equal(e->arch, "sm_90");
    assert_int_equal(e->row_count, 10);
    assert_true(e->textbook_operations == 13);
    assert_true(e->emitted_multiplications + e->emitted_additions + e->emitted_others ==
                e->emitted_operations);
    static const struct {
        const char *method;
        double tile, intensity, limit;
    } expected[] = {{"naive", 0, 0.46, 0.46},      {"tiled", 8, 1.37, 3.25},
                    {"coarsened", 32, 2.68, 3.25}, {"register", 32, 2.68, 3.25},
                    {"constant", 0, 0.46, 0.46},   {"cached-halo", 8, 1.37, 3.25}};
    int chosen = 0;
    for (int i = 0; i < (int)(sizeof expected / sizeof expected[0]); i++) {
        const sg_method_row *row = &e->rows[i];
        assert_string_equal(row->method, expected[i].method);
        assert_true(row->textbook_tile == expected[i].tile);
        assert_true(is_about(row->textbook_operations_per_byte, expected[i].intensity));
        assert_true(is_about(row->textbook_limit, expected[i].limit));
        assert_non_null(row->plan);
        assert_null(row->refusal);
        assert_true(row->threads > 0 && row->registers > 0 && row->estimated_seconds > 0);
        assert_true(row->loads_bytes_per_point > 0);
        assert_true((row->shared_bytes > 0) == (expected[i].tile > 0));
    }
    for (int i = 0; i < e->row_count; i++) {
        chosen += e->rows[i].chosen;
        assert_true((e->rows[i].plan == NULL) != (e->rows[i].refusal == NULL));
    }
    assert_int_equal(chosen, 1);
    sg_explanation_free(e);
    sg_explanation_free(NULL);
}

/* A shared plane serves a box only for linear updates. */
static void explanations_hold_refusals(void **state) {
    (void)state;
    sg_explanation *e;
    const sg_build_options options = {
        .struct_size = sizeof options,
        .text = "return stencil { name = 'm', dims = 3, dtype = 'float', boundary = 'zero',\n"
                "  update = function(u) return max(u(1,1,1), u(-1,-1,-1)) end }"};
    expect_ok(sg_explain(context, "max.lua", &options, &e));
    const sg_method_row *row = &e->rows[3];
    assert_string_equal(row->method, "register");
    assert_null(row->plan);
    assert_non_null(row->refusal);
    assert_memory_equal(row->refusal, "method register", 15);
    assert_int_equal(row->chosen, 0);
    sg_explanation_free(e);
    sg_explanation *const before = e;
    const sg_build_options broken = {.struct_size = sizeof broken, .text = "return {}"};
    assert_int_equal(sg_explain(context, "empty.lua", &broken, &e), SG_ERROR_SPEC);
    assert_ptr_equal(e, before);
}

#define damaged(test) cmocka_unit_test_setup(test, no_damage)

static const struct CMUnitTest tests[] = {
    damaged(every_method_is_right),
    damaged(several_fields_are_right),
    damaged(seeds_decide_the_data),
    damaged(checks_find_what_is_wrong),
    damaged(checks_are_sharp),
    damaged(cells_of_an_out_field_that_are_kept_stay_unwritten),
    damaged(large_grids_are_judged_in_part),
    damaged(costly_grids_are_judged_in_part_by_default),
    damaged(faults_that_come_back_are_found),
    damaged(nans_of_the_spec_are_right),
    damaged(impossible_checks_are_refused),
    damaged(branches_are_judged),
    damaged(sides_that_nothing_took_are_named),
    damaged(steps_are_all_counted),
    damaged(parameters_decide_what_is_drawn),
    damaged(speed_is_measured),
    damaged(runs_are_measured),
    damaged(explanations_agree_with_the_textbook),
    damaged(explanations_hold_refusals),
};

TEST_GROUP(check, open_spoiling, close_context)
