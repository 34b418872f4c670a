/* What tests of launches share: a program of one array read and one written, and a launch of it
   that nothing is wrong with, for each test to change. Takes and makes nothing else. */
#ifndef TESTS_HEAT_CALL_H
#define TESTS_HEAT_CALL_H

#include "tests/unit/runtime/launch/fake_device.h"

static program_array heat_arrays[] = {
    {.name = "u", .grid.field = "u", .grid.reads = -1, .grid.previous = -1},
    {.name = "u.next", .grid.field = "u", .written = true, .grid.reads = 0, .grid.previous = -1}};
static program_parameter heat_parameters[] = {{.name = "k", .has_value = true, .value = 0.1},
                                              {.name = "c"}};
static program_launch heat_launch = {.entry = "heat",
                                     .grid.axes = {0, 1, 2},
                                     .per_block = {32, 8, 4},
                                     .block = {32, 8, 1},
                                     .grid.vector = 4,
                                     .grid.steps = 1};

static inline program heat(void) {
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

static inline call *good_call(call *c) {
    *c = (call){
        .grids = {{.data = U, .size = {100, 20, 10}}, {.data = NEXT, .size = {100, 20, 10}}},
        .parameters = {0.25, 0.5},
        .arguments = {.struct_size = sizeof(sg_arguments), .grid_count = 2, .parameter_count = 2}};
    c->arguments.grids = c->grids;
    c->arguments.parameters = c->parameters;
    return c;
}

#endif
