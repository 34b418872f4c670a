/* Checks of grids that are too large to be judged whole: which cells are judged, and that faults
   which come back along an axis are found. */
#include <math.h>

#include "tests/unit/draw.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/check/spoiling.h"

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
#if !defined(SG_SANITIZE) /* each check is 150 million products again, and takes the same way */
    /* A cell of a face; or any cell that was left out, or made of what lies outside. */
    if (drawn(0, 2))
        damage = (struct damage){.array = 1, .offset = NX * (NY / 2 + 1), .value = 99};
    else
        damage = (struct damage){.array = 1, .offset = NX * 789 + 345, .value = NAN};
    expect_found(k, &options, 1);
#endif
    sg_release(k);
}

/* One lane of a pack; one row or one plane of a tile. A run has a drawn half of them. */
static void faults_that_come_back_are_found(void **state) {
    (void)state;
    static const int periods[] = {4, 8, 4};
    sg_kernel *k = build(HEAT7, "naive tile=8x8x4");
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {200, 60, 60}, .seed = 42, .most_points = 70000};
    for (int axis = 0; axis < 3; axis++)
        for (int lane = 0; lane < periods[axis]; lane++) {
            if (!drawn((uint64_t)(axis + lane), 2))
                continue;
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

static const struct CMUnitTest tests[] = {
    undamaged(large_grids_are_judged_in_part),
    undamaged(costly_grids_are_judged_in_part_by_default),
    undamaged(faults_that_come_back_are_found),
    undamaged(nans_of_the_spec_are_right),
};

TEST_GROUP(partial, open_spoiling, close_context)
