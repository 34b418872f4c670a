/* What Lua itself refuses, in the words of specs: what is wrong, and what to write instead. */
#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

typedef struct said {
    const char *text;
    const char *message;
} said;

static void expect_all(const said *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        expect_error(cases[i].text, 2, cases[i].message);
}

#define EXPECT_ALL(cases) expect_all(cases, sizeof(cases) / sizeof *(cases))
#define UPDATE(body) "return stencil { name = 'a', update = function(u, p)\n" body "\nend }"
#define COMPARED                                                                                   \
    "expressions cannot be compared with ==, ~=, <, <=, > or >=, which decide at once; write eq, " \
    "ne, lt, le, gt or ge, and where(condition, a, b)"
#define NO_ENTRIES "an expression is one value and has no entries; u(dx, dy) reads another point"
#define NO_CALL                                                                                    \
    "an expression is one value and cannot be called; all offsets of a point stand in one call "   \
    "of its field, u(dx, dy)"
#define FIELD "; u(dx, dy) is the value of a point of field u, u(0, 0) that of the point itself"
#define WEIGHTS "; weight tables are added, subtracted, scaled and applied"
#define BITS ": the operators & | ~ << >> are for whole numbers"
#define NO_NUMBER " and cannot be calculated with: expected a number or an expression"

static void test_expressions(void **state) {
    (void)state;
    static const said cases[] = {
        {UPDATE("return u(0)(1)"), NO_CALL},
        {UPDATE("for x in u(0) do end"), NO_CALL},
        {UPDATE("return u(0).x"), NO_ENTRIES},
        {UPDATE("local e = u(0) e.x = 1"), NO_ENTRIES},
        {UPDATE("return u(0) < u(1)"), COMPARED},
        {UPDATE("return 1 >= u(1)"), COMPARED},
        {UPDATE("return u(0) == u(1)"), COMPARED},
        {UPDATE("return u(0) % 2"), "expressions have no operator %; write a - b * floor(a / b)"},
        {UPDATE("return 2 // u(0)"), "expressions have no operator //; write floor(a / b)"},
        {UPDATE("return u(0) & 1"), "an expression has no operator &"},
        {UPDATE("return ~u(0)"), "an expression has no operator ~"},
        {UPDATE("return 'a' .. u(0)"), "an expression cannot be joined with .. to anything"},
        {UPDATE("return #u(0)"), "an expression has no length"},
        {UPDATE("for i = 1, u(0) do end"),
         "the limit of a for loop: expected a number, got an expression"},
        {UPDATE("return math.sqrt(u(0))"),
         "math.sqrt: argument 1: expected a number, got an expression; of the functions of math, "
         "abs, cos, exp, floor, log, max, min, sin and sqrt take expressions when they are "
         "written without math."},
        {UPDATE("return math.exp(u(0))"),
         "math.exp: expected a number, got an expression: write exp without math."},
        {UPDATE("return math.tan(u(0))"), "math.tan: expected a number, got an expression"},
    };
    EXPECT_ALL(cases);
}

static void test_other_types(void **state) {
    (void)state;
    static const said cases[] = {
        {UPDATE("return u + 1"), "a field has no operator +" FIELD},
        {UPDATE("return -u"), "a field has no operator -" FIELD},
        {UPDATE("return u < 1"), "a field cannot be compared with <, <=, > or >=" FIELD},
        {UPDATE("return u[0]"),
         "a field's points are read as u(dx, dy), not with [ ]; got the number 0"},
        {UPDATE("p.k = 1"), "a parameter cannot be set in a function: its value is given at "
                            "launch, or in the key parameters"},
        {"\nreturn star(2, 1) + 1", "a shape has no operator +"},
        {"\nreturn star(2, 1) <= box(2, 1)", "a shape cannot be compared with <, <=, > or >="},
        {"\nreturn star(2, 1).radius", "a shape has no entries to read"},
        {"\nreturn identity()[1]", "a weight table has no entries to read" WEIGHTS},
        {"\nreturn #identity()", "a weight table has no length" WEIGHTS},
        {"\nreturn identity()(0)", "a weight table is no function and cannot be called" WEIGHTS},
        {"\nreturn constant(1) // 2", "a boundary has no operator //"},
        {"\nlocal r = reduce { name = 'r' } r.name = 'x'", "a spec has no entries to set"},
    };
    EXPECT_ALL(cases);
}

static void test_values(void **state) {
    (void)state;
    static const said cases[] = {
        {"local t = {}\nreturn 2 * t.dt",
         "there is no 'dt' to calculate with, it is nil; a parameter is p.dt in an update "
         "function and param \"dt\" elsewhere"},
        {"\nreturn -{}", "this is a table" NO_NUMBER},
        {"local t = true\nreturn t + 1", "'t' is a boolean" NO_NUMBER},
        {"\nreturn 'a' + 1", "'a' is a string" NO_NUMBER},
        {"local t = {}\nt.a.b = 1", "'a' is nil and has no entries: it was never given a value"},
        {"\nreturn stencil.x", "'stencil' is a function and has no entries"},
        {"local t = {}\nt:f()", "'f' is nil and cannot be called: expected a function"},
        {"local t = {}\nfor i, v in t do end",
         "for ... in walks ipairs(list) or pairs(table), not a table"},
        {"local t = {}\nreturn 'a' .. t.k",
         "'k' is nil and cannot be joined with ..: expected a string or a number"},
        {"local t = {}\nreturn #t.k", "'k' is nil and has no length: # is for lists and strings"},
        {"\nreturn {} | 1", "this is a table" BITS},
        {"\nreturn 1.5 | 1", "the operators & | ~ << >> are for whole numbers, and this is none"},
        {"\nreturn nil < 1", "nil and a number cannot be compared with <, <=, > or >="},
        {"\nreturn {} < {}", "a table and a table cannot be compared with <, <=, > or >="},
        {"local t = {}\nt[nil] = 1", "nil cannot be the key of an entry of a table"},
        {"local t = {}\nt[0 / 0] = 1", "NaN cannot be the key of an entry of a table"},
        {"\nreturn 1 // 0", "a whole number is divided by 0 with //"},
        {"\nreturn 1 % 0", "a whole number is divided by 0 with %"},
        {"\nfor i = 1, 2, 0 do end", "the step of a for loop is 0, so that the loop would not end"},
        {"\nfor i = {}, 2 do end",
         "the initial value of a for loop: expected a number, got a table"},
        {"\nreturn math.abs()", "math.abs: argument 1: expected a number, got nothing"},
        {"\nreturn math.max()", "math.max: argument 1: expected a number, got nothing"},
        {"\nreturn math.fmod(1, 0)",
         "math.fmod: argument 2: expected a number other than 0, got 0"},
    };
    EXPECT_ALL(cases);
}

/* Lua's words, but for its names of tokens, and advice for slips. */
static void test_syntax(void **state) {
    (void)state;
    static const said cases[] = {
        {"local x = 1\nif x != 2 then end",
         "'then' expected near '!'; not equal is written ~=, and not for conditions is written "
         "not"},
        {"local x = 1\nx += 1", "syntax error near '+'; Lua has no += and ++: write x = x + 1"},
        {"local x = 1\nif x && x then end", "unexpected symbol near '&'; Lua writes and"},
        {"return {\n1, 2", "'}' expected (to close '{' at line 1) near the end of the file"},
        {"local x <const> = 1\nx = 2", "attempt to assign to const variable 'x'"},
        {"\nreturn 3d", "malformed number near '3d'"},
    };
    EXPECT_ALL(cases);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_expressions),
    cmocka_unit_test(test_other_types),
    cmocka_unit_test(test_values),
    cmocka_unit_test(test_syntax),
};

TEST_GROUP(lua, NULL, NULL)
