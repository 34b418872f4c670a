/* Checks on the cpu device: right kernels pass, and a device that spoils one element of what a
   launch leaves behind is found out. */
#include <math.h>

#include "tests/unit/group.h"
#include "tests/unit/runtime/check/spoiling.h"

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

static const struct CMUnitTest tests[] = {
    undamaged(every_method_is_right),
    undamaged(several_fields_are_right),
    undamaged(seeds_decide_the_data),
    undamaged(checks_find_what_is_wrong),
    undamaged(checks_are_sharp),
    undamaged(cells_of_an_out_field_that_are_kept_stay_unwritten),
    undamaged(impossible_checks_are_refused),
};

TEST_GROUP(check, open_spoiling, close_context)
