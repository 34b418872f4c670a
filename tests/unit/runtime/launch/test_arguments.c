/* Arguments of launches: every one that is refused, with its text, and what is just allowed. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/launch/heat_call.h"

#include <float.h>
#include <math.h>

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
static void forgotten_end(call *c) {
    c->arguments.end[0] = 100;
    c->arguments.end[1] = 20;
}
static void only_begin(call *c) {
    c->arguments.begin[0] = 1;
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

static void far_origin(call *c) {
    c->arguments.origin[1] = INT64_MIN;
}
static void negative_global(call *c) {
    c->arguments.global[2] = -1;
}
static void negative_step(call *c) {
    c->arguments.step = -1;
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
        {forgotten_end,
         "error: the box of 'heat' has no end along z: give end[2] too, 10 where it is "
         "that of the grid"},
        {only_begin,
         "error: the box of 'heat' has no end along x: give end[0] too, 100 where it is "
         "that of the grid"},
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
        {far_origin, "error: 'heat': an origin of -9223372036854775808 in a whole grid of 0 cells "
                     "along y is out of range"},
        {negative_global,
         "error: 'heat': an origin of 0 in a whole grid of -1 cells along z is out of range"},
        {negative_step, "error: 'heat': step -1 is out of range"},
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

/* ---- names ----------------------------------------------------------------------------------- */

/* The good call with its arrays and parameters by name. */
typedef struct named_call {
    call by_order;
    sg_array arrays[3];
    sg_constant values[3];
    sg_arguments arguments;
} named_call;

static void good_names(named_call *c) {
    good_call(&c->by_order);
    c->arrays[0] = (sg_array){"u.next", c->by_order.grids[1]};
    c->arrays[1] = (sg_array){"u", c->by_order.grids[0]};
    c->arrays[2] = c->arrays[1];
    c->values[0] = (sg_constant){"c", c->by_order.parameters[1]};
    c->values[1] = (sg_constant){"k", c->by_order.parameters[0]};
    c->values[2] = c->values[1];
    c->arguments = (sg_arguments){.struct_size = sizeof(sg_arguments),
                                  .arrays = c->arrays,
                                  .array_count = 2,
                                  .values = c->values,
                                  .value_count = 2};
}

static void names_give_the_launch_of_the_order(void **state) {
    (void)state;
    const program p = heat();
    sg_kernel *k = fake_kernel(&p);
    named_call c;
    size_t bytes = 1;
    good_names(&c);
    assert_int_equal(sg_temporary_bytes(k, &c.arguments, &bytes), SG_OK);
    assert_int_equal(bytes, 0);
    assert_int_equal(sg_launch(k, &c.by_order.arguments, NULL), SG_OK);
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    const fake_launch *launches = fake_of(k)->launches;
    assert_memory_equal(launches[0].arguments, launches[1].arguments, k->program->arguments_bytes);
    c.arguments.value_count = 1; /* k has a default, 0.1 */
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    assert_memory_not_equal(launches[0].arguments, launches[2].arguments,
                            k->program->arguments_bytes);
    c.by_order.parameters[0] = 0.1;
    assert_int_equal(sg_launch(k, &c.by_order.arguments, NULL), SG_OK);
    assert_memory_equal(launches[3].arguments, launches[2].arguments, k->program->arguments_bytes);
    fake_end(k);
}

static void unknown_array(named_call *c) {
    c->arrays[1].name = "v";
}
static void missing_array(named_call *c) {
    c->arguments.array_count = 1;
}
static void double_array(named_call *c) {
    c->arguments.array_count = 3;
}
static void nameless_array(named_call *c) {
    c->arrays[0].name = NULL;
}
static void unknown_value(named_call *c) {
    c->values[0].name = "K";
}
static void missing_value(named_call *c) {
    c->arguments.value_count = 0;
}
static void double_value(named_call *c) {
    c->arguments.value_count = 3;
}
static void both_arrays(named_call *c) {
    c->arguments.grids = c->by_order.grids;
}
static void both_values(named_call *c) {
    c->arguments.parameters = c->by_order.parameters;
}

static void refuses_names_with_those_that_exist(void **state) {
    (void)state;
    static const struct {
        void (*spoil)(named_call *);
        const char *says;
    } cases[] = {
        {unknown_array, "error: 'heat': the array 'v' is unknown; 'heat' has u, u.next"},
        {missing_array, "error: 'heat': the array 'u' is missing; 'heat' has u, u.next"},
        {double_array, "error: 'heat': the array 'u' is given twice; 'heat' has u, u.next"},
        {nameless_array, "error: 'heat': array 0 of the call has no name"},
        {unknown_value, "error: 'heat': the parameter 'K' is unknown; 'heat' has k, c"},
        {missing_value, "error: 'heat': the parameter 'c' has no value; 'heat' has k, c"},
        {double_value, "error: 'heat': the parameter 'k' is given twice; 'heat' has k, c"},
        {both_arrays, "error: 'heat': give grids or arrays, not both"},
        {both_values, "error: 'heat': give parameters or values, not both"},
    };
    const program p = heat();
    sg_kernel *k = fake_kernel(&p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        named_call c;
        good_names(&c);
        cases[i].spoil(&c);
        assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_ERROR_USAGE);
        assert_string_equal(sg_error(k->context), cases[i].says);
    }
    assert_int_equal(fake_of(k)->launch_count, 0);
    fake_end(k);
}

static void read_arrays_may_overlap_and_repeat(void **state) {
    (void)state;
    program_array arrays[] = {
        {.name = "a", .grid.field = "a", .grid.reads = -1, .grid.previous = -1},
        {.name = "b", .grid.field = "b", .grid.reads = -1, .grid.previous = -1},
        {.name = "o", .grid.field = "o", .written = true, .grid.reads = -1, .grid.previous = -1}};
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
    assert_true(kernel_parameter(NULL, k, 0, nextafter((double)FLT_MAX, INFINITY), &out));
    assert_true(out == (double)FLT_MAX);
    assert_false(kernel_parameter(NULL, k, 0, (double)FLT_MAX * (1 + 0x1p-24), &out));
    assert_true(kernel_parameter(NULL, k, 0, INFINITY, &out));
    fake_end(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refuses_with_a_text),
    cmocka_unit_test(names_give_the_launch_of_the_order),
    cmocka_unit_test(refuses_names_with_those_that_exist),
    cmocka_unit_test(read_arrays_may_overlap_and_repeat),
    cmocka_unit_test(a_float_that_rounds_into_range_is_taken),
};

TEST_GROUP(arguments, NULL, NULL)
