/* Launches on a device that only records: the argument struct byte by byte, grids cut to what a
   device allows, and every argument that is refused, with its text. */
#include "fake_device.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static program_array heat_arrays[] = {
    {.name = "u", .field = "u", .reads = -1, .previous = -1},
    {.name = "u.next", .field = "u", .written = true, .reads = 0, .previous = -1}};
static program_parameter heat_parameters[] = {{.name = "k", .has_value = true, .value = 0.1},
                                              {.name = "c"}};
static program_launch heat_launch = {
    .entry = "heat", .axes = {0, 1, 2}, .per_block = {32, 8, 4}, .block = {32, 8, 1}, .vector = 4};

static program heat(void) {
    return (program){.name = "heat",
                     .dims = 3,
                     .element_bytes = 4,
                     .arrays = heat_arrays,
                     .array_count = 2,
                     .parameters = heat_parameters,
                     .parameter_count = 2,
                     .launches = &heat_launch,
                     .launch_count = 1};
}

/* Addresses that are never followed; far enough apart for all sizes here. */
static void *const U = (void *)(uintptr_t)0x1000000, *const NEXT = (void *)(uintptr_t)0x9000000;

typedef struct call {
    sg_grid grids[4];
    double parameters[2];
    sg_arguments arguments;
} call;

static call *good_call(call *c) {
    *c = (call){
        .grids = {{.data = U, .size = {100, 20, 10}}, {.data = NEXT, .size = {100, 20, 10}}},
        .parameters = {0.25, 0.5},
        .arguments = {.struct_size = sizeof(sg_arguments), .grid_count = 2, .parameter_count = 2}};
    c->arguments.grids = c->grids;
    c->arguments.parameters = c->parameters;
    return c;
}

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
            all = all && point < end && point - p->low[axis] >= 0 && point + p->high[axis] < size;
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
                    program_launch launch = {.axes = {0, 1, 2},
                                             .per_block = {per_block, 7, 2},
                                             .low = {low, high, 0},
                                             .high = {high, low, 1},
                                             .vector = 1};
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
    program_launch walking = {.axes = {0, -1, 1}, .per_block = {32, 1, 7}, .vector = 1};
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
    program_launch single = {.axes = {0, 1, 2}, .per_block = {1, 1, 1}, .vector = 1};
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

/* ---- refusals ------------------------------------------------------------------------------ */

static void no_struct_size(call *c) {
    c->arguments.struct_size = 0;
}
static void few_grids(call *c) {
    c->arguments.grid_count = 1;
}
static void no_data(call *c) {
    c->grids[1].data = NULL;
}
static void unequal(call *c) {
    c->grids[1].size[1] = 21;
}
static void negative_size(call *c) {
    c->grids[0].size[2] = -1;
}
static void wide_stride(call *c) {
    c->grids[0].stride[0] = 2;
}
static void box_outside(call *c) {
    c->arguments.begin[1] = -1;
    c->arguments.end[1] = 2;
}
static void box_beyond(call *c) {
    c->arguments.end[2] = 11;
}
static void same_array(call *c) {
    c->grids[1].data = c->grids[0].data;
}
/* Four bytes into the last cell of u. */
static void overlapping(call *c) {
    c->grids[1].data = (char *)U + (100 * 20 * 10 - 1) * 4;
}
/* Rows go down from the first: the lowest one is in u. */
static void overlapping_backwards(call *c) {
    c->grids[1].data = (char *)U + (100 * 20 * 10 + 100 * 18) * 4;
    c->grids[1].stride[1] = -100;
    c->grids[1].stride[2] = 2000;
}
static void shared_cells(call *c) {
    c->grids[1].stride[1] = 99;
}
static void shared_planes(call *c) {
    c->grids[1].stride[2] = 1999;
}
static void odd_address(call *c) {
    c->grids[0].data = (char *)U + 2;
}
static void huge_extent(call *c) {
    c->grids[0].stride[2] = INT64_MAX / 4;
}
static void lowest_stride(call *c) {
    c->grids[0].stride[1] = INT64_MIN;
}
static void beyond_memory(call *c) {
    c->grids[0].stride[2] = -(INT64_C(1) << 50);
}
static void no_value(call *c) {
    c->arguments.parameters = NULL;
}
static void few_values(call *c) {
    c->arguments.parameter_count = 1;
}
static void too_large(call *c) {
    c->parameters[1] = -3.5e38;
}

static void refuses_with_a_text(void **state) {
    (void)state;
    static const struct {
        void (*spoil)(call *);
        const char *says;
    } cases[] = {
        {no_struct_size, "error: struct_size of sg_arguments is 0; set it to sizeof(sg_arguments)"},
        {few_grids, "error: 'heat' takes 2 grids, not 1"},
        {no_data, "error: 'u.next' has no data"},
        {unequal, "error: 'u.next' has size 21 along y, but 'u' has 20"},
        {negative_size, "error: 'u': size -1 along z is negative"},
        {wide_stride, "error: 'u': the stride along x is 2; it must be 1"},
        {box_outside, "error: the box from -1 to 2 along y is not inside the grid, which has 20 "
                      "cells there"},
        {box_beyond, "error: the box from 0 to 11 along z is not inside the grid, which has 10 "
                     "cells there"},
        {same_array, "error: 'u.next' is written and overlaps 'u' in memory"},
        {overlapping, "error: 'u.next' is written and overlaps 'u' in memory"},
        {overlapping_backwards, "error: 'u.next' is written and overlaps 'u' in memory"},
        {shared_cells, "error: 'u.next' is written, but its strides make cells share memory"},
        {shared_planes, "error: 'u.next' is written, but its strides make cells share memory"},
        {odd_address, "error: 'u': its address is not a multiple of its element's 4 bytes"},
        {huge_extent, "error: 'u': its extent along z is out of range"},
        {lowest_stride, "error: 'u': a stride of -9223372036854775808 elements is out of range"},
        {beyond_memory, "error: 'u': its strides lead out of the address space"},
        {no_value, "error: 'heat' needs a value for its parameter 'c'"},
        {few_values, "error: 'heat' takes 2 parameters, not 1"},
        {too_large, "error: parameter 'c' of 'heat' is too large for float"},
    };
    const program p = heat();
    sg_kernel *k = fake_kernel(&p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call c;
        cases[i].spoil(good_call(&c));
        assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_ERROR_USAGE);
        assert_string_equal(sg_error(k->context), cases[i].says);
    }
    assert_int_equal(sg_launch(k, NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_launch(NULL, NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(fake_of(k)->launch_count, 0);
    fake_end(k);
}

static void read_arrays_may_overlap_and_repeat(void **state) {
    (void)state;
    program_array arrays[] = {
        {.name = "a", .field = "a", .reads = -1, .previous = -1},
        {.name = "b", .field = "b", .reads = -1, .previous = -1},
        {.name = "o", .field = "o", .written = true, .reads = -1, .previous = -1}};
    program p = heat();
    p.arrays = arrays;
    p.array_count = 3;
    sg_kernel *k = fake_kernel(&p);
    call c;
    good_call(&c);
    c.grids[2] = c.grids[1];
    c.grids[1] = c.grids[0];
    c.grids[1].stride[1] = 1; /* every row begins one cell on */
    c.arguments.grid_count = 3;
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    fake_end(k);
}

static void a_float_that_rounds_into_range_is_taken(void **state) {
    (void)state;
    const program p = heat();
    sg_kernel *k = fake_kernel(&p);
    double out;
    assert_true(kernel_round(k, nextafter((double)FLT_MAX, INFINITY), &out));
    assert_true(out == (double)FLT_MAX);
    assert_false(kernel_round(k, (double)FLT_MAX * (1 + 0x1p-24), &out));
    assert_true(kernel_round(k, INFINITY, &out));
    fake_end(k);
}

static void a_failed_launch_names_the_code(void **state) {
    (void)state;
    const program p = heat();
    sg_kernel *k = fake_kernel(&p);
    call c;
    fake_of(k)->fail_with = 77;
    assert_int_equal(sg_launch(k, &good_call(&c)->arguments, NULL), SG_ERROR_DEVICE);
    assert_string_equal(sg_error(k->context), "error: launching 'heat' failed: FAKE_ERROR_77");
    fake_end(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_as_program_h_says),
        cmocka_unit_test(inner_blocks_read_nothing_outside),
        cmocka_unit_test(kernel_axes_are_not_grid_axes),
        cmocka_unit_test(alignment_wants_every_row),
        cmocka_unit_test(large_grids_take_several_launches),
        cmocka_unit_test(nothing_to_do_is_no_launch),
        cmocka_unit_test(defaults_fill_in_for_parameters),
        cmocka_unit_test(refuses_with_a_text),
        cmocka_unit_test(read_arrays_may_overlap_and_repeat),
        cmocka_unit_test(a_float_that_rounds_into_range_is_taken),
        cmocka_unit_test(a_failed_launch_names_the_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
