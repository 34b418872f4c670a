/* The errors of updates and what they are made of: fields, boundaries, positions, components. */
#include "tests/unit/gen/spec/bad_specs.h"
#include "tests/unit/group.h"

static void test_updates(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {UPDATE("nil"), 1, "update returns nothing"},
        {UPDATE("u(0), u(1)"), 1,
         "update returns 2 values; several fields are returned as one table"},
        {UPDATE("u"), 1,
         "the value that update returns: expected an expression, got a field; read it as u(0, "
         "...)"},
        {UPDATE("'3'"), 1,
         "the value that update returns: expected an expression, got the string '3'"},
        {UPDATE("u(0) == 1"), 1,
         "the value that update returns: expected an expression, got false; == and ~= decide at "
         "once: write eq or ne, and where(condition, a, b)"},
        {UPDATE("lt(u(0), 1)"), 1,
         "the value that update returns: expected a number, got a condition; use where(condition, "
         "a, b)"},
        {UPDATE("u(0) + lt(u(0), 1)"), 3, "+: expected a number, got a condition"},
        {UPDATE("where(u(0), 1, 2)"), 3,
         "where: expected a condition such as lt(a, b), got a number"},
        {UPDATE("where(lt(u(0), 3), 1)"), 3, "where takes 3 arguments, got 2"},
        {UPDATE("min(u(0))"), 3, "min takes 2 or more arguments, got 1"},
        {UPDATE("sqrt('4')"), 3, "sqrt: expected a number or an expression, got the string '4'"},
        {UPDATE("u(9)"), 3, "u.x: expected a whole number from -8 to 8, got the number 9"},
        {UPDATE("u(0, 0.5)"), 3, "u.y: expected a whole number from -8 to 8, got the number 0.5"},
        {UPDATE("u(0, 0, 0, 0)"), 3, "u takes 1 to 3 offsets, got 4"},
        {UPDATE("u(0, 0) + u(0)"), 3, "u is read with 1 offset, but the stencil has 2 dimensions"},
        {UPDATE("1"), 1, "the update reads no field, so the stencil needs the key dims"},
        {UPDATE("u(0) < 1 and u(0) or 1"), 3,
         "expressions cannot be compared with ==, ~=, <, <=, > or >=, which decide at once; write "
         "eq, ne, lt, le, gt or ge, and where(condition, a, b)"},
        {UPDATE("u(0) == u(1) and 1 or 2"), 3,
         "expressions cannot be compared with ==, ~=, <, <=, > or >=, which decide at once; write "
         "eq, ne, lt, le, gt or ge, and where(condition, a, b)"},
        {UPDATE("stencil { name = 'b' }"), 3, "stencil cannot be called inside an update function"},
        {"local e\n"
         "local a = stencil { name = 'a', update = function(u) e = u(0) return e end }\n"
         "return stencil { name = 'b', update = function(u) return u(0) +\n e end }",
         3, "an expression belongs to an update function and cannot be used outside of it"},
        {"local e\n"
         "local a = stencil { name = 'a', update = function(u) e = u return u(0) end }\n"
         "return e(0)",
         3, "a field can only be read inside its update function"},
    };
    EXPECT_ALL(cases);
}

static void test_fields(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {UPDATE_FIELDS("u = 'inout', v = 'inout'", "{ u = f.u(0) }"), 1,
         "the table that update returns has no entry 'v'"},
        {UPDATE_FIELDS("u = 'inout', v = 'inout'", "{ u = 1, v = 2, w = f.u(0) }"), 1,
         "unknown key 'w' in the table that update returns; known: u, v"},
        {UPDATE_FIELDS("u = 'inout', v = 'in'", "{ v = f.u(0) }"), 1,
         "unknown key 'v' in the table that update returns; known: u"},
        {UPDATE_FIELDS("u = 'inout'", "{}"), 1, "the table that update returns has no entry 'u'"},
        {UPDATE_FIELDS("u = 'inout', v = 'inout'", "f.u(0)"), 1,
         "the value that update returns: expected a table with an expression for each of 2 written "
         "fields, got an expression"},
        {UPDATE_FIELDS("u = 'inout', v = 'out'", "{ u = f.u(0), v = f.v(0) }"), 3,
         "field 'v' is only written (out) and cannot be read"},
        {UPDATE_FIELDS("u = 'inout', vel = 'in'", "f.vell(0)"), 3,
         "unknown field 'vell'; did you mean 'vel'?"},
        {UPDATE_FIELDS("u = 'inout'", "f.u.prev(0)"), 3,
         "field 'u' keeps no earlier time level: declare it with levels = 2"},
        {UPDATE_FIELDS("u = { use = 'in', levels = 2 }", "f.u(0)"), 1,
         "fields.u: levels = 2 needs use = \"inout\""},
        {UPDATE_FIELDS("u = { use = 'inout', levels = 3 }", "f.u(0)"), 1,
         "fields.u.levels: expected a whole number from 1 to 2, got the number 3"},
        {UPDATE_FIELDS("u = { use = 'inout', value = { 1 } }", "f.u(0)"), 1,
         "unknown key 'value' in fields.u; did you mean 'values'?"},
        {UPDATE_FIELDS("u = { use = 'inout', values = { 1 }, range = { 0, 1 } }", "f.u(0)"), 1,
         "fields.u: values and range exclude each other"},
        {UPDATE_FIELDS("u = { use = 'inout', values = {} }", "f.u(0)"), 1,
         "fields.u.values: there must be 1 to 256 numbers"},
        {UPDATE_FIELDS("u = { use = 'inout', values = 3 }", "f.u(0)"), 1,
         "fields.u.values: expected a list, got the number 3"},
        {UPDATE_FIELDS("u = { use = 'inout', values = { 1, 'a' } }", "f.u(0)"), 1,
         "fields.u.values: expected a number, got the string 'a'"},
        {UPDATE_FIELDS("u = { use = 'inout', values = { 1e39 } }", "f.u(0)"), 1,
         "fields.u.values: 1e+39 overflows float"},
        {UPDATE_FIELDS("u = { use = 'inout', values = { 0 / 0 } }", "f.u(0)"), 1,
         "fields.u.values: expected a finite number, got the number nan"},
        {UPDATE_FIELDS("u = { use = 'inout', range = { 1 } }", "f.u(0)"), 1,
         "fields.u.range: expected { least, greatest }"},
        {UPDATE_FIELDS("u = { use = 'inout', range = { 2, 1 } }", "f.u(0)"), 1,
         "fields.u.range: expected { least, greatest }, but 2 is more than 1"},
        {UPDATE_FIELDS("u = 'inout', r = { use = 'out', range = { 1, 2 } }", "f.u(0)"), 1,
         "fields.r: range is for a field that is read: use = \"in\" or \"inout\""},
        {"local t = {}\nfor i = 1, 257 do t[i] = i end\n"
         "return stencil { name = 'a', fields = { u = { use = 'inout', values = t } } }",
         3, "fields.u.values: the list has more than 256 entries"},
        {UPDATE_FIELDS("u = 'in'", "f.u(0)"), 1,
         "fields: none is written; at least one is \"out\" or \"inout\""},
        {UPDATE_FIELDS("u = 'out'", "1"), 1,
         "fields: none is read; at least one is \"in\" or \"inout\""},
        {"return stencil { name = 'a', parameters = { diffusivity = 1 },\n"
         "update = function(u, p) return p.difusivity * u(0) end }",
         2, "unknown parameter 'difusivity'; did you mean 'diffusivity'?"},
        {"return stencil { name = 'a', parameters = {}, shape = star(1, 0),\n"
         "coefficients = { param 'k' } }",
         1, "unknown parameter 'k'"},
        {"local t = {}\nfor i = 1, 33 do t['u' .. i] = 'inout' end\n"
         "return stencil { name = 'a', fields = t }",
         3, "fields: more than 32"},
        {"local t = {}\nfor i = 1, 22 do t['u' .. i] = { use = 'inout', levels = 2 } end\n"
         "return stencil { name = 'a', fields = t }",
         3,
         "fields: current, previous and new values make 66 arrays; at most 64, so use in and "
         "out where inout is not needed"},
        {"local t = {}\nfor i = 1, 65 do t['u' .. i] = i end\n"
         "return stencil { name = 'a', parameters = t }",
         3, "parameters: more than 64"},
    };
    EXPECT_ALL(cases);
}

static void test_boundaries(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {STAR1("boundary = 'fixd'"), 1,
         "boundary: expected one of fixed, zero, constant, clamp, mirror, periodic, got the string "
         "'fixd'; did you mean 'fixed'?"},
        {STAR1("boundary = 'constant'"), 1,
         "boundary: constant needs a value: constant(v) instead of \"constant\""},
        {STAR1("boundary = { x = { 'periodic', 'zero' } }"), 1,
         "boundary.x: periodic must be on both sides"},
        {STAR1("boundary = { x = { 'zero' } }"), 1,
         "boundary.x: expected one boundary, or a list of two: { low, high }"},
        {STAR1("boundary = { y = 'zero' }"), 1, "boundary.y: the stencil has 1 dimension"},
        {STAR1("boundary = { 'zero', 'zero' }"), 1,
         "boundary: expected only named entries, got a key that is a number"},
        {STAR1("boundary = constant(2 * param 'U')"), 3,
         "constant: expected a number or a parameter alone, as in constant(param \"U\"): compute "
         "before the launch what it shall be"},
        {STAR1("boundary = constant(param 'U'), parameters = { V = 1 }"), 1,
         "unknown parameter 'U'; known: V"},
    };
    EXPECT_ALL(cases);
}

/* Fields a and b, of which an update writes what `writes` says; it reads cells next to both. */
#define OWN(a, b, boundary, writes)                                                                \
    "return stencil { name = 's', fields = { a = " a ", b = " b " }, boundary = " boundary ",\n"   \
    "  update = function(f) local v = f.a(1) + f.b(-1) return " writes " end }"

static void test_own_boundaries(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {OWN("{ use = 'inout', boundary = 'clmp' }", "'in'", "'zero'", "v"), 1,
         "fields.a.boundary: expected one of fixed, zero, constant, clamp, mirror, periodic, got "
         "the string 'clmp'; did you mean 'clamp'?"},
        {OWN("{ use = 'inout', boundary = { y = 'clamp' } }", "'in'", "'zero'", "v"), 1,
         "fields.a.boundary.y: the stencil has 1 dimension"},
        {OWN("{ use = 'inout', boundary = 'fixed' }", "'inout'", "'zero'", "{ a = v, b = v }"), 1,
         "boundary: 'a' is fixed at the low end of x, and 'b' is not, but one update writes both: "
         "write them in two stages of a system, or give both the same"},
        {OWN("{ use = 'inout', boundary = 'zero' }", "'in'", "'fixed'", "v"), 1,
         "boundary: 'b' is read beyond the low end of x, where it is fixed and has no values: give "
         "it a boundary of its own, or make what is written fixed there"},
        {OWN("{ use = 'inout', boundary = 'periodic' }", "'in'", "'clamp'", "v"), 1,
         "boundary: along x 'a' is periodic and 'b' is not: a grid is a ring for all fields that "
         "are read beyond its ends, or for none"},
    };
    EXPECT_ALL(cases);
}

static void test_results(void **state) {
    (void)state;
    static const bad_spec cases[] = {
        {"local a = 1\n", 2, "the spec returns nothing; it ends with return stencil { ... }"},
        {"return nil", 1, "the spec returns nothing; it ends with return stencil { ... }"},
        {"", 1, "the spec returns nothing; it ends with return stencil { ... }"},
        {"return 1, 2", 1,
         "the spec returns 2 values; several specs are returned as a list: return { a, b }"},
        {"return 5", 1,
         "the value that the spec returns: expected a spec such as stencil { ... }, got the number "
         "5"},
        {"return { star(1, 1) }", 1,
         "the value that the spec returns: expected a spec such as stencil { ... }, got a shape"},
        {"return {}", 1, "the spec returns an empty list"},
    };
    EXPECT_ALL(cases);
}

static void test_positions(void **state) {
    (void)state;
#define PLACED(lines) "return stencil { name = 'a',\n update = function(u, p, at)\n " lines " end }"
    static const bad_spec cases[] = {
        {PLACED("return u(0, 0) + at.w"), 3,
         "unknown key 'w' of at; known: x, y, z, nx, ny, nz, step"},
        {PLACED("return u(0, 0) + at.stepp"), 3, "unknown key 'stepp' of at; did you mean 'step'?"},
        {PLACED("local a = u(0, 0)\n return a + at.z"), 4,
         "at.z and at.nz are of an axis that the stencil, with 2 dimensions, does not have"},
        {PLACED("local a = at.ny\n return a + u(0)"), 4,
         "at.y and at.ny are of an axis that the stencil, with 1 dimension, does not have"},
        {PLACED("at.x = 3 return u(0)"), 3,
         "a position cannot be set: it is where the point lies, or the step"},
        {"local kept\nreturn { stencil { name = 'a', update = function(u, p, at)\n"
         "  kept = at return u(0) end },\n  stencil { name = 'b', shape = star(1, 1),\n"
         "  coefficients = { 1, kept.x, 2 } } }",
         5, "a position can only be read inside an update function"},
        {"return reduce { name = 'r',\n  map = function(x, p, at)\n    return x * at.x end }", 3,
         "the function map has no positions, which the cells of a grid have: give what depends on "
         "an element's place as a list of its own"},
        {"return scan { name = 's',\n  op = function(a, b, p, at)\n    return a + at.step * b end "
         "}",
         3,
         "the function op has no positions, which the cells of a grid have: give what depends on "
         "an element's place as a list of its own"},
    };
    EXPECT_ALL(cases);
}

static void test_components(void **state) {
    (void)state;
#define PAIR "g = { use = 'inout', components = 2 }"
    static const bad_spec cases[] = {
        {UPDATE_FIELDS("g = { use = 'inout', components = 1 }", "{ g = f.g(0) }"), 1,
         "fields.g.components: expected a whole number from 2 to 32, got the number 1"},
        {UPDATE_FIELDS("g = { use = 'in', components = 33 }, h = 'out'", "f.g[1](0)"), 1,
         "fields.g.components: expected a whole number from 2 to 32, got the number 33"},
        {UPDATE_FIELDS(PAIR, "{ g = { f.g(0), 0 } }"), 3,
         "a field of 2 components is read as f.NAME[i](dx, dy), with i from 1 to 2"},
        {UPDATE_FIELDS(PAIR, "{ g = { f.g[3](0), 0 } }"), 3,
         "a field of 2 components is read as f.NAME[i](dx, dy), with i from 1 to 2"},
        {UPDATE_FIELDS(PAIR, "{ g = { f.g[1](0) } }"), 1,
         "the value that update returns: expected a list of 2 expressions, one for each component "
         "of g"},
        {UPDATE_FIELDS(PAIR, "{ g = f.g[1](0) }"), 1,
         "the value that update returns: expected a list of 2 expressions, one for each component "
         "of g"},
        {UPDATE_FIELDS(PAIR, "{ h = 1 }"), 1,
         "unknown key 'h' in the table that update returns; known: g"},
    };
#undef PAIR
    EXPECT_ALL(cases);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_updates),    cmocka_unit_test(test_fields),
    cmocka_unit_test(test_boundaries), cmocka_unit_test(test_own_boundaries),
    cmocka_unit_test(test_components), cmocka_unit_test(test_results),
    cmocka_unit_test(test_positions),
};

TEST_GROUP(update_errors, NULL, NULL)
