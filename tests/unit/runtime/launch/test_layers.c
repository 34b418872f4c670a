/* Grids of temporary memory between the launches of a program: what they hold, what is refused,
   and which arguments each launch has. */
#include "tests/unit/runtime/api/api.h"

#include "runtime/launch/launch.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/specs.h"
#include "tests/unit/runtime/launch/fake_device.h"

enum { X = 40, Y = 30 };

/* Two passes: the first makes a row more below, the second reads it. */
static program_layer rows[] = {{.name = "pass_1", .low = {0, 1, 0}, .high = {0, 2, 0}}};
static program_array arrays[] = {{.name = "image",
                                  .grid.field = "image",
                                  .dtype = "float",
                                  .element_bytes = 4,
                                  .grid.reads = -1,
                                  .grid.previous = -1},
                                 {.name = "result",
                                  .grid.field = "result",
                                  .dtype = "float",
                                  .element_bytes = 4,
                                  .written = true,
                                  .grid.reads = -1,
                                  .grid.previous = -1}};
static program_launch launches[] = {{.entry = "a",
                                     .grid.axes = {0, 1, -1},
                                     .per_block = {16, 4, 1},
                                     .block = {16, 4, 1},
                                     .grid.low = {1, 0, 0},
                                     .grid.high = {1, 0, 0},
                                     .grid.vector = 1},
                                    {.entry = "b",
                                     .grid.axes = {0, 1, -1},
                                     .per_block = {16, 4, 1},
                                     .block = {16, 4, 1},
                                     .grid.low = {0, 1, 0},
                                     .grid.high = {0, 2, 0},
                                     .grid.vector = 1}};
static const program two_passes = {.name = "filter",
                                   .source = "",
                                   .target = "sm_90",
                                   .dims = 2,
                                   .element_bytes = 4,
                                   .arrays = arrays,
                                   .array_count = 2,
                                   .launches = launches,
                                   .launch_count = 2,
                                   .grid.layers = rows,
                                   .grid.layer_count = 1};

static unsigned char memory[1 << 16] __attribute__((aligned(256)));
static float image[X * Y], result[X * Y];

static sg_arguments arguments_of(sg_grid grids[2]) {
    grids[0] = (sg_grid){.data = image, .size = {X, Y}};
    grids[1] = (sg_grid){.data = result, .size = {X, Y}};
    return (sg_arguments){.struct_size = sizeof(sg_arguments),
                          .grids = grids,
                          .grid_count = 2,
                          .temporary = memory,
                          .temporary_bytes = sizeof memory};
}

static size_t bytes_of(const sg_kernel *k, const sg_arguments *a) {
    size_t bytes = 99;
    assert_int_equal(sg_temporary_bytes(k, a, &bytes), SG_OK);
    return bytes;
}

/* Rows are padded to 128 bytes, the whole to 256. */
static void sizes_follow_the_box(void **state) {
    (void)state;
    sg_kernel *k = fake_kernel(&two_passes);
    sg_grid grids[2];
    sg_arguments a = arguments_of(grids);
    assert_int_equal(bytes_of(k, &a), 64 * (Y + 3) * 4);
    a.begin[0] = 10, a.begin[1] = 5, a.end[0] = 20, a.end[1] = 9, a.end[2] = 1;
    assert_int_equal(bytes_of(k, &a), 32 * (4 + 3) * 4 + 128);
    a.end[1] = 5;
    assert_int_equal(bytes_of(k, &a), 0);
    a.temporary = NULL;
    assert_int_equal(sg_launch(k, &a, NULL), SG_OK);
    assert_int_equal(fake_of(k)->launch_count, 0);
    grids[0].data = grids[1].data = NULL; /* only sizes are looked at */
    a = arguments_of(grids);
    grids[0].data = grids[1].data = NULL;
    assert_int_equal(bytes_of(k, &a), 64 * (Y + 3) * 4);
    grids[0].size[0] = grids[1].size[0] = INT64_C(1) << 60;
    size_t bytes;
    assert_int_equal(sg_temporary_bytes(k, &a, &bytes), SG_ERROR_USAGE);
    fake_end(k);
}

/* Sizes to which nothing can be added: of a grid, and of a box of it. */
static void sizes_near_the_largest_are_refused(void **state) {
    (void)state;
    static const int64_t sizes[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX - 127, INT64_C(1) << 62,
                                    (INT64_C(1) << 61) + 1};
    sg_kernel *k = fake_kernel(&two_passes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int axis = 0; axis < 2; axis++)
            for (int box = 0; box < 2; box++) {
                sg_grid grids[2];
                sg_arguments a = arguments_of(grids);
                size_t bytes = 99;
                grids[0].size[1 - axis] = grids[1].size[1 - axis] = 1;
                grids[0].size[axis] = grids[1].size[axis] = sizes[i];
                a.begin[axis] = box * (sizes[i] - 1);
                a.end[0] = box * grids[0].size[0], a.end[1] = box * grids[0].size[1];
                assert_int_equal(sg_temporary_bytes(k, &a, &bytes), SG_ERROR_USAGE);
                assert_non_null(strstr(sg_error(k->context), "is out of range"));
                assert_int_equal(bytes, 99);
                assert_int_equal(sg_launch(k, &a, NULL), SG_ERROR_USAGE);
                assert_int_equal(fake_of(k)->launch_count, 0);
            }
    fake_end(k);
}

/* Layers of which each could be, but not all. */
static void sums_of_layers_are_refused(void **state) {
    (void)state;
    program_layer many[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"},
                            {.name = "e"}, {.name = "f"}, {.name = "g"}, {.name = "h"}};
    program_launch nine[9] = {launches[0], launches[0], launches[0], launches[0], launches[0],
                              launches[0], launches[0], launches[0], launches[1]};
    program p = two_passes;
    p.grid.layers = many, p.grid.layer_count = 8;
    p.launches = nine, p.launch_count = 9;
    sg_kernel *k = fake_kernel(&p);
    sg_grid grids[2];
    sg_arguments a = arguments_of(grids);
    size_t bytes = 99;
    grids[0].size[0] = grids[1].size[0] = INT64_C(1) << 59;
    grids[0].size[1] = grids[1].size[1] = 1;
    assert_int_equal(sg_temporary_bytes(k, &a, &bytes), SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(k->context), "temporary memory is out of range"));
    assert_int_equal(bytes, 99);
    fake_end(k);
}

static void refuse(const sg_kernel *k, const sg_arguments *a, const char *says) {
    assert_int_equal(sg_launch(k, a, NULL), SG_ERROR_USAGE);
    if (strstr(sg_error(k->context), says) == NULL)
        fail_msg("'%s' does not say '%s'", sg_error(k->context), says);
    assert_int_equal(fake_of(k)->launch_count, 0);
}

static void memory_that_does_not_do_is_refused(void **state) {
    (void)state;
    sg_kernel *k = fake_kernel(&two_passes);
    sg_grid grids[2];
    sg_arguments a = arguments_of(grids);
    a.temporary = NULL;
    refuse(k, &a, "'filter' needs 8448 bytes of temporary memory for these sizes, not 0");
    a = arguments_of(grids);
    a.temporary_bytes = 8447;
    refuse(k, &a, "'filter' needs 8448 bytes of temporary memory for these sizes, not 8447");
    a = arguments_of(grids);
    a.temporary = memory + 128;
    refuse(k, &a, "the temporary memory does not begin at a multiple of 256 bytes");
    a = arguments_of(grids);
    grids[0].data = memory + 4096;
    refuse(k, &a, "the temporary memory overlaps 'image'");
    fake_end(k);
}

typedef struct packed {
    int64_t size[3], begin[3], end[3];
    int32_t inner_first[3], inner_end[3], aligned, unused;
    struct {
        float *data;
        int64_t stride_y, stride_z;
    } grid[3];
} packed;

static packed argument(const sg_kernel *k, int launch) {
    packed out;
    memcpy(&out, fake_of(k)->launches[launch].arguments, sizeof out);
    return out;
}

/* So many floats from there, which may be outside of the array. */
static void expect_at(const void *actual, const void *base, int floats) {
    assert_int_equal((uintptr_t)actual, (uintptr_t)base + (uintptr_t)(4 * (int64_t)floats));
}

static void expect_box(const packed *a, int axis, int size, int begin, int end) {
    assert_int_equal(a->size[axis], size);
    assert_int_equal(a->begin[axis], begin);
    assert_int_equal(a->end[axis], end);
}

/* The first pass is in the image's coordinates, rows outside of it included; the second in the
   layer's. */
static void each_launch_has_its_own_grid(void **state) {
    (void)state;
    sg_kernel *k = fake_kernel(&two_passes);
    sg_grid grids[2];
    sg_arguments a = arguments_of(grids);
    float *const layer = (float *)memory;
    assert_int_equal(sg_launch(k, &a, NULL), SG_OK);
    assert_int_equal(fake_of(k)->launch_count, 2);
    packed first = argument(k, 0), second = argument(k, 1);
    expect_box(&first, 0, X, 0, X);
    expect_box(&first, 1, Y, -1, Y + 2);
    assert_ptr_equal(first.grid[0].data, image);
    assert_null(first.grid[1].data);
    assert_ptr_equal(first.grid[2].data, layer + 64);
    assert_int_equal(first.grid[2].stride_y, 64);
    assert_int_equal(first.inner_first[1], 1); /* rows 3 to 6 are the first inside */
    expect_box(&second, 1, Y + 3, 1, Y + 1);
    assert_null(second.grid[0].data);
    expect_at(second.grid[1].data, result, -X);
    assert_ptr_equal(second.grid[2].data, layer);
    assert_int_equal(second.inner_first[1], 0); /* nothing is outside of the layer */
    fake_end(k);

    k = fake_kernel(&two_passes);
    a.begin[0] = 10, a.begin[1] = 5, a.end[0] = 20, a.end[1] = 9, a.end[2] = 1;
    assert_int_equal(sg_launch(k, &a, NULL), SG_OK);
    first = argument(k, 0), second = argument(k, 1);
    expect_box(&first, 0, X, 10, 20);
    expect_box(&first, 1, Y, 4, 11);
    expect_at(first.grid[2].data, layer, -10 - 4 * 32);
    expect_box(&second, 0, 10, 0, 10);
    expect_box(&second, 1, 7, 1, 5);
    assert_ptr_equal(second.grid[1].data, result + 10 + 4 * X);
    fake_end(k);
}

/* A filter whose result is known, by a box, and without temporary memory. */
static void a_filter_in_passes(void **state) {
    (void)state;
    sg_kernel *k = build(FILTER2, NULL);
    assert_non_null(strstr(sg_kernel_text(k, SG_TEXT_PLAN), "passes=2"));
    sg_grid grids[2];
    sg_arguments a = arguments_of(grids);
    for (int i = 0; i < X * Y; i++)
        image[i] = 1;
    assert_int_equal(sg_run(k, &a, 3, NULL, NULL), SG_OK);
    for (int i = 0; i < X * Y; i++)
        assert_true(result[i] == 16);
    sg_release(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sizes_follow_the_box),
    cmocka_unit_test(sizes_near_the_largest_are_refused),
    cmocka_unit_test(sums_of_layers_are_refused),
    cmocka_unit_test(memory_that_does_not_do_is_refused),
    cmocka_unit_test(each_launch_has_its_own_grid),
    cmocka_unit_test_setup_teardown(a_filter_in_passes, open_cpu, close_context),
};

TEST_GROUP(layers, NULL, NULL)
