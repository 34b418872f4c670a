/* The errors of specs, by their text and line. */
#include "tests/unit/gen/spec/bad_specs.h"
#include "tests/unit/group.h"

#define NAME_RULE                                                                                  \
    "a name is letters, digits and single underscores, begins with a letter and has at most 63 "   \
    "characters"
#define RANGE "expected a whole number from 1 to 65536, got "

static void test_keys(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {STAR1("boundry = 'fixed'"), 1,
         "unknown key 'boundry' in stencil; did you mean 'boundary'?"},
        {STAR1("zzz = 1, qqq = 2"), 1,
         "unknown key 'qqq' in stencil; known: name, dims, shape, coefficients, update, fields, "
         "parameters, dtype, storage, boundary, points, monitors, schedule, tune"},
        {STAR1("7"), 1, "stencil: expected only named entries, got a key that is a number"},
        {STAR1("schedule = { tyle = { x = 3 } }"), 1,
         "unknown key 'tyle' in schedule; did you mean 'tile'?"},
        {STAR1("schedule = { coarsen = { w = 3 } }"), 1,
         "unknown key 'w' in schedule.coarsen; known: x, y, z"},
        {"return laplacian { dim = 2 }", 1, "unknown key 'dim' in laplacian; did you mean 'dims'?"},
        {"return derivative { axis = 'x', acuracy = 2 }", 1,
         "unknown key 'acuracy' in derivative; did you mean 'accuracy'?"},
        {UPDATE_FIELDS("u = { use = 'inout', level = 2 }", "1"), 1,
         "unknown key 'level' in fields.u; did you mean 'levels'?"},
        {UPDATE("u.last(0)"), 3, "unknown key 'last' of a field; known: prev"},
    };
    EXPECT_ALL(cases);
}

static void test_types(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {"return stencil(5)", 1,
         "stencil: expected a table: stencil { name = ... }, got the number 5"},
        {"return stencil()", 1, "stencil takes 1 argument, got 0"},
        {"return stencil { name = 5 }", 1, "name: expected a name, got the number 5"},
        {"return stencil { dims = 2 }", 1, "name: expected a name, got nothing"},
        {"return stencil { name = 'a', dims = '2' }", 1,
         "dims: expected a whole number from 1 to 3, got the string '2'"},
        {"return stencil { name = 'a', shape = 'star' }", 1,
         "shape: expected star(...), box(...) or points { ... }, got the string 'star'"},
        {"return stencil { name = 'a', shape = star(1, 1), coefficients = true }", 1,
         "coefficients: expected a list or a weight table, got true"},
        {"return stencil { name = 'a', shape = star(1, 1), coefficients = { 1, 2, '3' } }", 1,
         "coefficients: entry 3: expected a number or a parameter, got the string '3'"},
        {"return stencil { name = 'a', update = identity() }", 1,
         "update: expected a function, got a weight table"},
        {STAR1("dtype = 'flaot'"), 1,
         "dtype: expected one of float, double, got the string 'flaot'; did you mean 'float'?"},
        {STAR1("dtype = 3"), 1, "dtype: expected one of float, double, got the number 3"},
        {STAR1("schedule = 'register'"), 1,
         "schedule: expected a table, got the string 'register'"},
        {STAR1("schedule = { tile = 32 }"), 1,
         "schedule.tile: expected a table such as { x = 32, y = 8 }, got the number 32"},
        {STAR1("schedule = { method = 'registers' }"), 1,
         "schedule.method: expected one of auto, naive, tiled, coarsened, register, constant, "
         "cached-halo, streamed, bulk, chained, temporal, resident, rows, overlapped, got the "
         "string "
         "'registers'; did you "
         "mean "
         "'register'?"},
        {STAR1("fields = 3"), 1,
         "fields: expected a table such as { u = \"inout\", c = \"in\" }, got the number 3"},
        {STAR1("parameters = 'k'"), 1,
         "parameters: expected a table such as { k = 0.05 }, got the string 'k'"},
        {STAR1("parameters = { 'k' }"), 1,
         "parameters: give each by name, with its value or true: { k = 0.05, F = true }"},
        {STAR1("parameters = { k = '1' }"), 1,
         "parameters.k: expected a number, got the string '1'"},
        {STAR1("fields = { u = 'inot' }"), 1,
         "fields.u: expected one of in, out, inout, got the string 'inot'; did you mean 'inout'?"},
    };
    EXPECT_ALL(cases);
}

static void test_schedule_numbers(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {STAR1("schedule = { tile = { x = 0 } }"), 1, "schedule.tile.x: " RANGE "the number 0"},
        {STAR1("schedule = { tile = { x = -5 } }"), 1, "schedule.tile.x: " RANGE "the number -5"},
        {STAR1("schedule = { tile = { x = 2.5 } }"), 1, "schedule.tile.x: " RANGE "the number 2.5"},
        {STAR1("schedule = { tile = { x = 65537 } }"), 1,
         "schedule.tile.x: " RANGE "the number 65537"},
        {STAR1("schedule = { tile = { x = 1e300 } }"), 1,
         "schedule.tile.x: " RANGE "the number 1e+300"},
        {STAR1("schedule = { tile = { x = 0/0 } }"), 1, "schedule.tile.x: " RANGE "the number nan"},
        {STAR1("schedule = { tile = { x = '32' } }"), 1,
         "schedule.tile.x: " RANGE "the string '32'"},
        {STAR1("schedule = { vector = 2^40 }"), 1,
         "schedule.vector: " RANGE "the number 1099511627776"},
        {STAR1("schedule = { time = {} }"), 1, "schedule.time: " RANGE "a table"},
        {STAR1("schedule = { stages = 0 }"), 1, "schedule.stages: " RANGE "the number 0"},
        {STAR1("schedule = { lane = { y = 2 } }"), 1,
         "schedule.lane.y: the stencil has 1 dimension"},
        {STAR1("schedule = { lane = 4 }"), 1,
         "schedule.lane: expected a table such as { x = 32, y = 8 }, got the number 4"},
        {"return stencil { name = 'a', shape = star(3, 1), coefficients = { 1, 1, 1, 1, 1, 1, 1 "
         "}, schedule = { lane = { z = 2 } } }",
         1, "schedule.lane.z: only x and y are shared out so"},
        {STAR1("schedule = { tile = { y = 8 } }"), 1,
         "schedule.tile.y: the stencil has 1 dimension"},
    };
    EXPECT_ALL(cases);
}

static void test_shapes(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {"return star(1, 9)", 1,
         "star.radius: expected a whole number from 0 to 8, got the number 9"},
        {"return box(4, 1)", 1, "box.dims: expected a whole number from 1 to 3, got the number 4"},
        {"return star(2)", 1, "star takes 2 arguments, got 1"},
        {"return points { {0}, {1}, {0} }", 1, "points: point 3 is in the list twice"},
        {"return points { {0}, {1, 2} }", 1, "points: point 2 has 2 coordinates, point 1 has 1"},
        {"return points { {0, 9} }", 1,
         "points: a coordinate: expected a whole number from -8 to 8, got the number 9"},
        {"return points {}", 1, "points: the list is empty"},
        {"return points { {0}, x = {1} }", 1,
         "points: expected a list, got a table with other keys"},
        {"return stencil { name = 'a', shape = star(2, 1), coefficients = { 1, 2, 3 } }", 1,
         "coefficients: the shape has 5 points, the list has 3"},
        {"return stencil { name = 'a', shape = star(1, 1), coefficients = { 1, nil, 3 } }", 1,
         "coefficients: the list has holes (an entry is nil)"},
        {"return stencil { name = 'a', shape = star(2, 1) }", 1,
         "coefficients are missing: 5, in the order centre, then for r = 1 ... radius: x-r, x+r, "
         "y-r, y+r, z-r, z+r; or an update function"},
        {"return stencil { name = 'a', shape = box(2, 1) }", 1,
         "coefficients are missing: 9, in the order z slowest, x fastest, from -radius to radius; "
         "or an update function"},
        {"return stencil { name = 'a' }", 1, "coefficients are missing, or an update function"},
        {"return stencil { name = 'a', coefficients = { 1 } }", 1,
         "a list of coefficients needs a shape"},
        {STAR1("update = function() end"), 1, "update and coefficients exclude each other"},
        {STAR1("dims = 2"), 1, "dims is 2, but the shape has 1"},
        {STAR1("fields = { u = 'inout', v = 'in' }"), 1,
         "coefficients need one field that is read and one that is written, without earlier time "
         "levels; use update"},
    };
    EXPECT_ALL(cases);
}

static void test_weights(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {"return stencil { name = 'a', shape = star(2, 1),\n"
         "coefficients = laplacian { dims = 2, accuracy = 4 } }",
         1, "coefficients: the weight table has a weight at (0, -2, 0), which is not in the shape"},
        {"return stencil { name = 'a', shape = star(2, 1), coefficients = laplacian { dims = 3 } }",
         1, "coefficients: a weight table for 3 dimensions in a stencil of 2"},
        {"return laplacian { dims = 2, accuracy = 3 }", 1,
         "laplacian.accuracy: expected an even number, got the number 3"},
        {"return laplacian { dims = 2, spacing = 0 }", 1,
         "laplacian.spacing: expected a number above 0, got the number 0"},
        {"return laplacian { dims = 2, spacing = { z = 1 } }", 1,
         "laplacian.spacing.z: the laplacian has 2 dimensions"},
        {"return laplacian { dims = 2, spacing = 1e-200 }", 1,
         "laplacian: a weight is not finite; the spacing is too small"},
        {"return derivative { axis = 'x', order = 4, accuracy = 16 }", 1,
         "derivative: order 4 with accuracy 16 reaches 9 points; at most 8"},
        {"return derivative { axis = 'w' }", 1,
         "derivative.axis: expected one of x, y, z, got the string 'w'"},
        {"return derivative { axis = 'x', accuracy = 18, stagger = 0.5 }", 1,
         "derivative.accuracy: expected a whole number from 2 to 16, got the number 18"},
        {"return derivative { axis = 'x', order = 2, accuracy = 16, stagger = -0.5 }", 1,
         "derivative: order 2 with accuracy 16 reaches 9 points; at most 8"},
        {"return derivative { axis = 'x', stagger = 0.25 }", 1,
         "derivative.stagger: expected 0.5, -0.5 or 0, got the number 0.25"},
        {"return derivative {}", 1, "derivative.axis: expected one of x, y, z, got nothing"},
        {"return identity() * identity()", 1,
         "weight tables add to and subtract from each other, and are multiplied and divided by "
         "numbers and parameters; this is a weight table * a weight table"},
        {"return 2 / identity()", 1,
         "weight tables add to and subtract from each other, and are multiplied and divided by "
         "numbers and parameters; this is the number 2 / a weight table"},
        {"return identity() / 0", 1, "division by zero"},
        {UPDATE("apply(u(0) * identity(), u)"), 3,
         "weight tables add to and subtract from each other, and are multiplied and divided by "
         "numbers and parameters; this is an expression * a weight table"},
        {UPDATE("u(0) + apply(laplacian { dims = 2 }, u)"), 3,
         "a weight table for 2 dimensions is applied in a stencil of 1"},
        {"return apply(identity(), 3)", 1, "apply: expected a field second, got the number 3"},
    };
    EXPECT_ALL(cases);
}

static void test_numbers(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {"return stencil { name = 'a', shape = star(1, 0), coefficients = { 0/0 } }", 1,
         "a number in an expression is not a number (NaN)"},
        {"return stencil { name = 'a', shape = star(1, 0), coefficients = { 1/0 } }", 1,
         "a number in an expression is infinite"},
        {"return stencil { name = 'a', shape = star(1, 0), coefficients = { 1e300 } }", 1,
         "coefficient 1e+300 overflows float"},
        {UPDATE("u(0) + 3.5e38"), 1, "constant 3.5e+38 overflows float"},
        {UPDATE("u(0) / 0"), 3, "division by zero"},
        {UPDATE("u(0) * sqrt(-1)"), 3, "the result of 'sqrt' on these numbers is not finite"},
        {UPDATE("u(0) * exp(1000)"), 3, "the result of 'exp' on these numbers is not finite"},
        {UPDATE("u(0) * math.huge"), 3, "a number in an expression is infinite"},
        {STAR1("parameters = { k = 1e39 }"), 1, "parameter k: 1e+39 overflows float"},
        {STAR1("parameters = { k = 0/0 }"), 1,
         "parameters.k: expected a finite number, got the number nan"},
        {STAR1("boundary = constant(1e39)"), 1, "boundary: constant 1e+39 overflows float"},
        {"return constant(-1/0)", 1, "constant: expected a finite number, got the number -inf"},
    };
    EXPECT_ALL(cases);
    loaded l; /* what overflows float is good for double */
    load_model(&l, "return stencil { name = 'a', dtype = 'double', shape = star(1, 0),\n"
                   "coefficients = { 1e300 }, boundary = constant(1e308) }");
    job_end(l.job);
}

static void test_names(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {"return stencil { name = 'x; } evil(' }", 1,
         "name: 'x; } evil(' is not a name: " NAME_RULE},
        {"return stencil { name = 'a__b' }", 1, "name: 'a__b' is not a name: " NAME_RULE},
        {"return stencil { name = '_a' }", 1, "name: '_a' is not a name: " NAME_RULE},
        {"return stencil { name = '1a' }", 1, "name: '1a' is not a name: " NAME_RULE},
        {"return stencil { name = '' }", 1, "name: '' is not a name: " NAME_RULE},
        {"return stencil { name = 'a\\n#include' }", 1,
         "name: 'a?#include' is not a name: " NAME_RULE},
        {"return param 'k\\0'", 1, "param: 'k?' is not a name: " NAME_RULE},
        {UPDATE("u(0) * p['x; } evil(']"), 3, "parameter: 'x; } evil(' is not a name: " NAME_RULE},
        {STAR1("parameters = { ['a b'] = 1 }"), 1, "parameters: 'a b' is not a name: " NAME_RULE},
        {UPDATE_FIELDS("['x; } evil('] = 'inout'", "1"), 1,
         "fields: 'x; } evil(' is not a name: " NAME_RULE},
        {"return stencil { name = 'a123456789b123456789c123456789d123456789e123456789f123456789"
         "g123456789' }",
         1,
         "name: 'a123456789b123456789c123456789d123456789e123456789f123456789...' is not a "
         "name: " NAME_RULE},
        {"local s = stencil { name = 'a', coefficients = identity() }\n"
         "return { s, stencil { name = 'a', coefficients = identity() } }",
         2, "two specs of this file have the name 'a'"},
    };
    EXPECT_ALL(cases);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_keys),
    cmocka_unit_test(test_types),
    cmocka_unit_test(test_schedule_numbers),
    cmocka_unit_test(test_shapes),
    cmocka_unit_test(test_weights),
    cmocka_unit_test(test_numbers),
    cmocka_unit_test(test_names),
};

TEST_GROUP(errors, NULL, NULL)
