/* Checks of several steps on the cpu device, of kernels that make one step a launch and of one
   that makes four. A device in between puts the latter together from single steps, and can do so
   wrongly. */
#include "tests/unit/runtime/api/api.h"

#include <math.h>

#include "runtime/check/check.h"
#include "runtime/launch/launch.h"
#include "tests/unit/group.h"

/* What goes wrong within a launch of several steps. */
static struct damage {
    bool too_few; /* one step is missing */
    int64_t cell; /* that the first of them changes, */
    float by;     /* relative to its value; 0: nothing is changed */
    int launches; /* out: of several steps */
} damage;

enum { FUSED = 4 };

static void set_data(unsigned char *arguments, int grid, void *data) {
    memcpy(arguments + PROGRAM_OFFSET_GRIDS + PROGRAM_GRID_BYTES * grid, &data, sizeof data);
}

static void *get_data(const void *arguments, int grid) {
    void *data;
    memcpy(&data, (const char *)arguments + PROGRAM_OFFSET_GRIDS + PROGRAM_GRID_BYTES * grid,
           sizeof data);
    return data;
}

static int64_t count_cells(const void *arguments) {
    int64_t size[3];
    memcpy(size, arguments, sizeof size);
    return size[0] * size[1] * size[2];
}

static const module *fused; /* of the last build_fused */

/* The module of a fused kernel has the single step alone, the program has it behind the way of
   several: u and u.next are the grids 0 and 1. */
static fault fusing_launch(device *d, const module *m, int launch, const int64_t grid[3],
                           const void *given, size_t bytes, void *stream, int *code) {
    unsigned char arguments[LAUNCH_BYTES];
    int32_t steps;
    memcpy(arguments, given, bytes);
    memcpy(&steps, arguments + PROGRAM_OFFSET_STEPS, sizeof steps);
    if (steps == 1)
        return device_cpu.launch(d, m, m == fused ? 0 : launch, grid, arguments, bytes, stream,
                                 code);
    assert_int_equal(launch, 0);
    damage.launches++;
    const size_t cells = (size_t)count_cells(given);
    float *between[2] = {malloc(cells * sizeof(float)), malloc(cells * sizeof(float))};
    const int made = steps - damage.too_few;
    fault f = FAULT_NONE;
    for (int step = 0; step < made && f == FAULT_NONE; step++) {
        set_data(arguments, 0, step == 0 ? get_data(given, 0) : between[1 - step % 2]);
        set_data(arguments, 1, step + 1 == made ? get_data(given, 1) : between[step % 2]);
        f = device_cpu.launch(d, m, 0, grid, arguments, bytes, stream, code);
        if (step == 0)
            between[0][damage.cell] *= 1 + damage.by;
    }
    free(between[0]);
    free(between[1]);
    return f;
}

static device_ops fusing_ops;

static device *fusing_open(job *j, const device_options *options, const char **why) {
    device *d = device_cpu.open(j, options, why);
    if (d != NULL)
        d->ops = &fusing_ops;
    return d;
}

static int open_fusing(void **state) {
    (void)state;
    const sg_options options = {.struct_size = sizeof options, .device = "cpu", .threads = 3};
    const device_ops *const kinds[] = {&fusing_ops};
    fusing_ops = device_cpu;
    fusing_ops.open = fusing_open;
    fusing_ops.launch = fusing_launch;
    if (context_open(&context, &options, kinds, 1) != SG_OK)
        print_error("%s\n", sg_error(context));
    return 0;
}

static int no_damage(void **state) {
    (void)state;
    damage = (struct damage){.by = 0};
    return 0;
}

/* HEAT7 as a kernel that makes four steps of grids with 8 cells along each axis. Each is a kernel
   of its own: `index` tells it from others. */
static sg_kernel *build_fused(void) {
    static int64_t size = 100;
    const sg_build_options options = {.struct_size = sizeof options,
                                      .text = HEAT7,
                                      .schedule = "naive vec=1", /* a kernel without a spare */
                                      .size = {size++, 512, 512}};
    sg_kernel *k = NULL;
    expect_ok(sg_build(context, "test.lua", &options, &k));
    program *p = (program *)(uintptr_t)k->program;
    program_launch *ways = job_array(k->job, 2, sizeof *ways);
    ways[0] = ways[1] = p->launches[0];
    ways[0].grid.steps = FUSED;
    for (int axis = 0; axis < 3; axis++)
        ways[0].grid.least[axis] = 8;
    p->launches = ways;
    p->launch_count = 2;
    p->grid.ways = true;
    fused = k->module;
    return k;
}

static check_data *kept; /* of a sweep's checks; NULL */

static sg_check_result check(sg_kernel *k, sg_status expected, int64_t steps, int64_t nx,
                             int64_t ny, int64_t nz) {
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {nx, ny, nz}, .seed = 42, .steps = steps};
    sg_check_result r = {.struct_size = sizeof r};
    const check_given on = {.kept = kept};
    const sg_status status =
        kept != NULL ? check_kernel(k, &on, &options, &r) : sg_check(k, &options, &r);
    if (status != expected)
        print_error("%s\n", sg_error(context));
    assert_int_equal(status, expected);
    return r;
}

static void expect_right(sg_kernel *k, int64_t steps, int64_t nx, int64_t ny, int64_t nz) {
    const sg_check_result r = check(k, SG_OK, steps, nx, ny, nz);
    assert_int_equal(r.judged, r.points);
    assert_int_equal(r.wrong, 0);
    assert_int_equal(r.undecidable, 0);
    assert_true(r.of_bound <= 1);
    if (steps > 0)
        assert_int_equal(r.steps, steps);
}

/* ---- right kernels ------------------------------------------------------------------------- */

static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 33};

/* Whatever the fields and the boundaries: two levels; an out field; float and double. */
static void steps_of_any_kernel_are_right(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int64_t size[3];
    } cases[] = {{HEAT7, {13, 9, 11}},  {HEAT7, {1, 2, 3}},   {BLUR2, {35, 17, 0}},
                 {BLUR2, {1, 1, 0}},    {WAVE2, {23, 14, 0}}, {SHIFT2, {40, 3, 0}},
                 {SLOPE1, {3000, 0, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sg_kernel *k = build(cases[i].spec, NULL);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            expect_right(k, counts[c], cases[i].size[0], cases[i].size[1], cases[i].size[2]);
        sg_release(k);
    }
}

/* Rounding grows no faster than with the number of steps where nothing else does. */
static void bounds_stay_tight(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, NULL);
    const sg_check_result one = check(k, SG_OK, 1, 24, 24, 24);
    const sg_check_result many = check(k, SG_OK, 50, 24, 24, 24);
    assert_true(one.of_bound > 0.02);
    assert_true(many.of_bound > one.of_bound / 50);
    assert_true(many.greatest_error < 1e-5);
    sg_release(k);
}

static void a_fused_kernel_is_right(void **state) {
    (void)state;
    sg_kernel *k = build_fused();
    const sg_check_result launched = check(k, SG_OK, 0, 19, 12, 8);
    assert_int_equal(launched.steps, FUSED);
    assert_int_equal(launched.judged, 19 * 12 * 8);
    assert_int_equal(damage.launches, 1);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        damage.launches = 0;
        expect_right(k, counts[c], 19, 12, 8);
        assert_int_equal(damage.launches, counts[c] / FUSED);
        expect_right(k, counts[c], 19, 12, 7); /* too small to fuse */
        expect_right(k, counts[c], 1, 1, 1);
        assert_int_equal(damage.launches, counts[c] / FUSED);
    }
    const sg_check_options small = {.struct_size = sizeof small, .size = {19, 12, 7}};
    sg_check_result r = {.struct_size = sizeof r};
    assert_int_equal(sg_check(k, &small, &r), SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(context), "at least 8 cells along z, not 7"));
    sg_release(k);
}

/* ---- wrong ones ---------------------------------------------------------------------------- */

static void a_missing_step_is_found(void **state) {
    (void)state;
    sg_kernel *k = build_fused();
    damage.too_few = true;
    for (int64_t steps = 0; steps <= 9; steps += 3) {
        if (steps == 3) {
            expect_right(k, steps, 19, 12, 9); /* without the damage */
            continue;
        }
        const sg_check_result r = check(k, SG_ERROR_CHECK, steps, 19, 12, 9);
        assert_true(r.wrong > 17 * 10 * 7 / 2);
    }
    sg_release(k);
}

/* What one of the fused steps gets slightly wrong at an edge reaches as far as the others carry it.
 */
static void a_wrong_boundary_is_found(void **state) {
    (void)state;
    sg_kernel *k = build_fused();
    damage.cell = 9 + 19 * 12 * 4; /* kept: y is 0 */
    damage.by = 1e-4f;
    for (int64_t steps = 0; steps <= 8; steps += 4) {
        const sg_check_result r = check(k, SG_ERROR_CHECK, steps, 19, 12, 9);
        assert_true(r.wrong >= 2 && r.wrong < 19 * 12 * 9 / 2);
        assert_true(r.of_bound > 2);
    }
    damage.by = 0;
    expect_right(k, 8, 19, 12, 9);
    sg_release(k);
}

/* ---- checks of one sweep ------------------------------------------------------------------- */

static bool is_kept(job *j, const sg_kernel *k, int64_t steps, const int64_t size[3]) {
    reference_array arrays[2 * MAX_FIELDS];
    double parameters[LAUNCH_PARAMETERS];
    kernel_parameters(j, k, NULL, 42, parameters);
    const guarded g = {.kernel = k, .size = {size[0], size[1], size[2]}};
    const digest what = check_data_march(j, &g, steps, 42, parameters);
    return check_data_marched(kept, &what, k->subject->model, arrays);
}

static void check_often(job *j, void *unused) {
    (void)unused;
    static const int64_t size[3] = {23, 14, 1};
    kept = check_data_new(j);
    for (int i = 0; i < 2; i++) {
        steps_of_any_kernel_are_right(NULL);
        a_missing_step_is_found(NULL);
        damage = (struct damage){.by = 0};
        a_wrong_boundary_is_found(NULL);
    }
    sg_kernel *k = build(WAVE2, NULL);
    for (int64_t steps = 1; steps <= 5; steps++) {
        const sg_check_result first = check(k, SG_OK, steps, 23, 14, 0);
        const sg_check_result again = check(k, SG_OK, steps, 23, 14, 0);
        assert_true(first.greatest_error == again.greatest_error);
        assert_true(first.of_bound == again.of_bound);
        /* of one step there is nothing, and after it the previous level is the check's own */
        assert_int_equal(is_kept(j, k, steps, size), steps > 2);
    }
    const int64_t other[3] = {23, 15, 1};
    assert_false(is_kept(j, k, 5, other));
    assert_false(is_kept(j, k, 6, size));
    sg_release(k);
    check_data_close(kept);
    kept = NULL;
}

/* What the reference made of the same steps serves all of them, and finds what it found. */
static void steps_are_followed_once(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, check_often, NULL, &j), FAULT_NONE);
    job_end(j);
}

/* ---- sizes --------------------------------------------------------------------------------- */

static void large_grids_are_checked_on_smaller_ones(void **state) {
    (void)state;
    sg_kernel *k = build_fused();
    sg_check_result r = check(k, SG_OK, 0, 0, 0, 0);
    assert_true(r.points <= 1 << 21 && r.points > 1 << 19);
    assert_int_equal(r.judged, r.points);
    sg_release(k);
}

static void numbers_of_steps_are_checked(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, NULL);
    const sg_check_options options = {.struct_size = sizeof options, .steps = -1};
    sg_check_result r = {.struct_size = sizeof r};
    assert_int_equal(sg_check(k, &options, &r), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context), "error: -1 steps cannot be run");
    sg_release(k);
}

#define TEST(function) cmocka_unit_test_setup(function, no_damage)

static const struct CMUnitTest tests[] = {
    TEST(steps_of_any_kernel_are_right), TEST(bounds_stay_tight),
    TEST(a_fused_kernel_is_right),       TEST(a_missing_step_is_found),
    TEST(a_wrong_boundary_is_found),     TEST(large_grids_are_checked_on_smaller_ones),
    TEST(numbers_of_steps_are_checked),  TEST(steps_are_followed_once),
};

TEST_GROUP(steps, open_fusing, close_context)
