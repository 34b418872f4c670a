/* Launches on a device that only records: the argument struct byte by byte, and grids cut to what a
   device allows. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/launch/heat_call.h"

static int64_t word(const fake_launch *l, size_t offset) {
    int64_t value;
    memcpy(&value, l->arguments + offset, sizeof value);
    return value;
}

static void expect_words(const fake_launch *l, size_t offset, int64_t x, int64_t y, int64_t z) {
    assert_int_equal(word(l, offset), x);
    assert_int_equal(word(l, offset + 8), y);
    assert_int_equal(word(l, offset + 16), z);
}

static int aligned(const fake_launch *l) {
    int32_t value;
    memcpy(&value, l->arguments + 96, sizeof value);
    return value;
}

/* The blocks that are told to be inner, end excluded, along one axis. */
static void inner_blocks(const fake_launch *l, int axis, int32_t out[2]) {
    memcpy(&out[0], l->arguments + 72 + 4 * axis, sizeof out[0]);
    memcpy(&out[1], l->arguments + 84 + 4 * axis, sizeof out[1]);
}

/* Block by block: one is inner exactly if all its points are in the box and all it reads is in the
   grid. */
static void expect_inner(const fake_launch *l, int axis, const program_launch *p) {
    const int64_t size = word(l, 8 * (size_t)axis), begin = word(l, 24 + 8 * (size_t)axis);
    const int64_t end = word(l, 48 + 8 * (size_t)axis);
    int32_t inner[2];
    inner_blocks(l, axis, inner);
    for (int32_t b = 0; b < l->grid[axis]; b++) {
        bool all = true;
        for (int64_t i = 0; i < p->per_block[axis]; i++) {
            const int64_t point = begin + b * (int64_t)p->per_block[axis] + i;
            all = all && point < end && point - p->grid.low[axis] >= 0 &&
                  point + p->grid.high[axis] < size;
        }
        assert_int_equal(b >= inner[0] && b < inner[1], all);
    }
}

static void inner_blocks_read_nothing_outside(void **state) {
    (void)state;
    const int64_t boxes[][2] = {{0, 100}, {1, 100}, {3, 97}, {40, 41}, {64, 100}, {95, 99}};
    for (int low = 0; low <= 9; low += 3)
        for (int high = 0; high <= 8; high += 2)
            for (int per_block = 1; per_block <= 128; per_block = per_block * 3 + 1)
                for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
                    program p = heat();
                    program_launch launch = {.grid.axes = {0, 1, 2},
                                             .per_block = {per_block, 7, 2},
                                             .grid.low = {low, high, 0},
                                             .grid.high = {high, low, 1},
                                             .grid.vector = 1};
                    p.launches = &launch;
                    sg_kernel *k = fake_kernel(&p);
                    call c;
                    good_call(&c);
                    memcpy(c.arguments.end, c.grids[0].size, sizeof c.arguments.end);
                    c.arguments.begin[0] = boxes[b][0];
                    c.arguments.end[0] = boxes[b][1];
                    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
                    for (int axis = 0; axis < 3; axis++)
                        expect_inner(&fake_of(k)->launches[0], axis, &launch);
                    fake_end(k);
                }
}

static void packs_as_program_h_says(void **state) {
    (void)state;
    const program p = heat();
    sg_kernel *k = fake_kernel(&p);
    call c;
    good_call(&c);
    c.grids[0].stride[1] = 104;
    c.grids[1].stride[2] = -3000;
    memcpy(c.arguments.begin, (int64_t[]){4, 2, 1}, sizeof c.arguments.begin);
    memcpy(c.arguments.end, (int64_t[]){100, 19, 10}, sizeof c.arguments.end);
    assert_int_equal(sg_launch(k, &c.arguments, (sg_stream)U), SG_OK);
    assert_int_equal(fake_of(k)->launch_count, 1);
    const fake_launch *l = &fake_of(k)->launches[0];
    assert_ptr_equal(l->stream, U);
    assert_int_equal(l->bytes, 104 + 2 * 24 + 2 * 4);
    assert_int_equal(l->grid[0], 3); /* ceil(96 / 32) */
    assert_int_equal(l->grid[1], 3); /* ceil(17 / 8) */
    assert_int_equal(l->grid[2], 3); /* ceil(9 / 4) */
    expect_words(l, 0, 100, 20, 10);
    expect_words(l, 24, 4, 2, 1);
    expect_words(l, 48, 100, 19, 10);
    for (int axis = 0; axis < 3; axis++)
        expect_inner(l, axis, p.launches);
    assert_int_equal(aligned(l), 1);
    expect_words(l, 104, (int64_t)(uintptr_t)U, 104, 2080);
    expect_words(l, 128, (int64_t)(uintptr_t)NEXT, 100, -3000);
    float parameters[2];
    memcpy(parameters, l->arguments + 152, sizeof parameters);
    assert_true(parameters[0] == 0.25f && parameters[1] == 0.5f);
    fake_end(k);
}

static void kernel_axes_are_not_grid_axes(void **state) {
    (void)state;
    program p = heat();
    program_launch walking = {.grid.axes = {0, -1, 1}, .per_block = {32, 1, 7}, .grid.vector = 1};
    p.dims = 2;
    p.element_bytes = 8;
    p.launches = &walking;
    sg_kernel *k = fake_kernel(&p);
    call c;
    good_call(&c);
    for (int i = 0; i < 2; i++)
        memcpy(c.grids[i].size, (int64_t[]){33, 20, i}, sizeof c.grids[i].size);
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    const fake_launch *l = &fake_of(k)->launches[0];
    assert_int_equal(l->bytes, 104 + 2 * 24 + 2 * 8);
    expect_words(l, 0, 33, 1, 20);
    expect_words(l, 24, 0, 0, 0);
    expect_words(l, 48, 33, 1, 20);
    expect_words(l, 104, (int64_t)(uintptr_t)U, 0, 33);
    assert_int_equal(l->grid[0], 2);
    assert_int_equal(l->grid[1], 1);
    assert_int_equal(l->grid[2], 3);
    assert_int_equal(aligned(l), 1);
    double parameters[2];
    memcpy(parameters, l->arguments + 152, sizeof parameters);
    assert_true(parameters[0] == 0.25 && parameters[1] == 0.5);
    fake_end(k);
}

static void alignment_wants_every_row(void **state) {
    (void)state;
    const program p = heat();
    sg_kernel *k = fake_kernel(&p);
    call c;
    const struct {
        int64_t pitch, plane, begin, offset;
        int aligned;
    } cases[] = {{104, 2080, 4, 0, 1}, {102, 2080, 4, 0, 0}, {104, 2081, 4, 0, 0},
                 {104, 2080, 3, 0, 0}, {104, 2080, 4, 4, 0}, {104, 2080, 0, 16, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        good_call(&c);
        c.grids[1].stride[1] = cases[i].pitch;
        c.grids[1].stride[2] = cases[i].plane;
        c.grids[1].data = (char *)NEXT + cases[i].offset;
        c.arguments.begin[0] = cases[i].begin;
        memcpy(c.arguments.end, c.grids[0].size, sizeof c.arguments.end);
        assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
        assert_int_equal(aligned(&fake_of(k)->launches[i]), cases[i].aligned);
    }
    /* An axis of extent 1 has no rows to start anywhere. */
    good_call(&c);
    for (int i = 0; i < 2; i++)
        c.grids[i].size[2] = 1, c.grids[i].stride[2] = 3001;
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    assert_int_equal(aligned(&fake_of(k)->launches[6]), 1);
    fake_end(k);
}

/* The launches must cover all blocks, each once: they do if they are boxes of blocks in order whose
   counts add up and none is beyond what CUDA allows. */
static void large_grids_take_several_launches(void **state) {
    (void)state;
    program p = heat();
    program_launch single = {.grid.axes = {0, 1, 2}, .per_block = {1, 1, 1}, .grid.vector = 1};
    p.launches = &single;
    const int64_t sizes[][3] = {{INT64_C(1) << 34, 1, 1}, {3, 200000, 1}, {2, 70000, 140000}};
    const int counts[] = {9, 4, 2 * 3};
    for (size_t i = 0; i < 3; i++) {
        sg_kernel *k = fake_kernel(&p);
        call c;
        good_call(&c);
        memcpy(c.grids[0].size, sizes[i], sizeof sizes[i]);
        memcpy(c.grids[1].size, sizes[i], sizeof sizes[i]);
        c.grids[1].data = (void *)(uintptr_t)(INT64_C(1) << 45);
        assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
        assert_int_equal(fake_of(k)->launch_count, counts[i]);
        int64_t blocks = 0;
        for (int n = 0; n < counts[i]; n++) {
            const fake_launch *l = &fake_of(k)->launches[n];
            blocks += l->grid[0] * l->grid[1] * l->grid[2];
            assert_true(l->grid[0] <= INT32_MAX && l->grid[1] <= 65535 && l->grid[2] <= 65535);
            assert_int_equal(word(l, 24) % INT32_MAX, 0);
            assert_int_equal(word(l, 32) % 65535, 0);
            assert_int_equal(word(l, 40) % 65535, 0);
            for (int axis = 0; axis < 3; axis++) { /* without a reach all blocks are inner */
                int32_t inner[2];
                inner_blocks(l, axis, inner);
                assert_true(inner[0] == 0 && inner[1] >= l->grid[axis]);
            }
            for (int m = 0; m < n; m++)
                assert_memory_not_equal(l->arguments + 24, fake_of(k)->launches[m].arguments + 24,
                                        24);
        }
        assert_int_equal(blocks, sizes[i][0] * sizes[i][1] * sizes[i][2]);
        fake_end(k);
    }
}

static void nothing_to_do_is_no_launch(void **state) {
    (void)state;
    const program p = heat();
    sg_kernel *k = fake_kernel(&p);
    call c;
    good_call(&c);
    c.grids[0] = c.grids[1] = (sg_grid){.size = {10, 0, 10}};
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    good_call(&c);
    c.arguments.begin[0] = 5;
    memcpy(c.arguments.end, (int64_t[]){5, 20, 10}, sizeof c.arguments.end);
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    assert_int_equal(fake_of(k)->launch_count, 0);
    assert_string_equal(sg_error(k->context), "");
    fake_end(k);
}

static void defaults_fill_in_for_parameters(void **state) {
    (void)state;
    program p = heat();
    p.parameter_count = 1;
    sg_kernel *k = fake_kernel(&p);
    call c;
    good_call(&c);
    c.arguments.parameters = NULL;
    c.arguments.parameter_count = 0;
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    float value;
    memcpy(&value, fake_of(k)->launches[0].arguments + 152, sizeof value);
    assert_true(value == 0.1f);
    fake_end(k);
}

static void a_failed_launch_names_the_code(void **state) {
    (void)state;
    const program p = heat();
    sg_kernel *k = fake_kernel(&p);
    call c;
    fake_of(k)->fail_with = 77;
    assert_int_equal(sg_launch(k, &good_call(&c)->arguments, NULL), SG_ERROR_DEVICE);
    assert_string_equal(sg_error(k->context), "error: launching 'heat' failed: FAKE_ERROR_77 (77)");
    fake_end(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(packs_as_program_h_says),
    cmocka_unit_test(inner_blocks_read_nothing_outside),
    cmocka_unit_test(kernel_axes_are_not_grid_axes),
    cmocka_unit_test(alignment_wants_every_row),
    cmocka_unit_test(large_grids_take_several_launches),
    cmocka_unit_test(nothing_to_do_is_no_launch),
    cmocka_unit_test(defaults_fill_in_for_parameters),
    cmocka_unit_test(a_failed_launch_names_the_code),
};

TEST_GROUP(launch, NULL, NULL)
