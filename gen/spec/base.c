/* The general functions of specs: Lua's own under their names, without what a spec must not have.
   Takes and makes Lua values. Nothing here loops for long, shows an address, or shows Lua's random
   order of keys. Numbers become text exactly. */
#include "gen/spec/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMERAL = 100 };

static void check_table(lua_State *L, const char *function) {
    if (!lua_istable(L, 1))
        spec_fail_expected(L, function, NULL, "a table", 1);
}

/* A spec may call this too, with any argument. */
static int next_index(lua_State *L) {
    check_table(L, "ipairs");
    const lua_Integer i = (lua_Integer)((lua_Unsigned)lua_tointeger(L, 2) + 1);
    lua_pushinteger(L, i);
    return lua_rawgeti(L, 1, i) == LUA_TNIL ? 1 : 2;
}

static int base_ipairs(lua_State *L) {
    check_table(L, "ipairs");
    lua_pushcfunction(L, next_index);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

/* A key of a table that pairs visits: numbers first, then strings by their bytes. */
typedef struct sort_key {
    const char *string; /* NULL for a number; the table keeps it alive */
    size_t length;
    double number;
    lua_Integer whole; /* where is_whole: the number exactly */
    bool is_whole;
    int index; /* in the list of keys */
} sort_key;

/* No float key equals an integer key, but 2^63 equals the largest integer after rounding. */
static int compare_numbers(const sort_key *x, const sort_key *y) {
    if (x->is_whole && y->is_whole)
        return x->whole < y->whole ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->is_whole ? -1 : 1;
}

static int compare_keys(const void *a, const void *b) {
    const sort_key *x = a, *y = b;
    if ((x->string == NULL) != (y->string == NULL))
        return x->string == NULL ? -1 : 1;
    if (x->string == NULL)
        return compare_numbers(x, y);
    const int order = memcmp(x->string, y->string, x->length < y->length ? x->length : y->length);
    return order != 0 ? order : x->length < y->length ? -1 : x->length > y->length;
}

static int next_pair(lua_State *L) {
    const lua_Integer count = (lua_Integer)lua_rawlen(L, lua_upvalueindex(2));
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));
    lua_settop(L, 0);
    for (; i < count; i++) {
        spec_charge(L, 1);
        lua_rawgeti(L, lua_upvalueindex(2), i + 1);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
            lua_pushinteger(L, i + 1);
            lua_replace(L, lua_upvalueindex(3));
            return 2;
        }
        lua_settop(L, 0);
    }
    return 0;
}

static int base_pairs(lua_State *L) {
    check_table(L, "pairs");
    lua_settop(L, 1);
    lua_Integer count = 0;
    lua_newtable(L); /* 2: the keys, as Lua has them */
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        spec_charge(L, 4);
        if (lua_type(L, -2) != LUA_TNUMBER && lua_type(L, -2) != LUA_TSTRING)
            spec_fail(L, "pairs: keys must be numbers or strings, got %s", spec_describe(L, -2));
        lua_pushvalue(L, -2);
        lua_rawseti(L, 2, ++count);
    }
    sort_key *keys = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *keys, 0); /* 3 */
    for (lua_Integer i = 0; i < count; i++, lua_pop(L, 1)) {
        keys[i] = (sort_key){.index = (int)i + 1};
        if (lua_rawgeti(L, 2, i + 1) == LUA_TSTRING)
            keys[i].string = lua_tolstring(L, -1, &keys[i].length);
        keys[i].is_whole = lua_isinteger(L, -1);
        keys[i].whole = keys[i].is_whole ? lua_tointeger(L, -1) : 0;
        keys[i].number = keys[i].string == NULL ? lua_tonumber(L, -1) : 0;
    }
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    lua_pushvalue(L, 1);
    lua_createtable(L, (int)count, 0); /* the keys in order */
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, 2, keys[i].index);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_pair, 3);
    return 1;
}

static int base_type(lua_State *L) {
    if (lua_isnone(L, 1))
        spec_fail(L, "type takes 1 argument, got 0");
    if (lua_type(L, 1) == LUA_TUSERDATA)
        luaL_getmetafield(L, 1, "__name");
    else
        lua_pushstring(L, luaL_typename(L, 1));
    return 1;
}

/* The fewest digits that read back exactly; Lua's own conversion keeps only 14. */
static void push_number(lua_State *L, int index) {
    if (lua_isinteger(L, index)) {
        lua_pushfstring(L, "%I", (LUAI_UACINT)lua_tointeger(L, index));
        return;
    }
    const double value = lua_tonumber(L, index);
    text *digits = &spec_of(L)->digits;
    digits->length = 0;
    if (isfinite(value))
        text_double(digits, value);
    else
        text_number(digits, value, 1);
    lua_pushlstring(L, digits->data, digits->length);
}

static int base_tostring(lua_State *L) {
    switch (lua_type(L, 1)) {
    case LUA_TNONE:
        spec_fail(L, "tostring takes 1 argument, got 0");
    case LUA_TNIL:
        lua_pushstring(L, "nil");
        return 1;
    case LUA_TBOOLEAN:
        lua_pushstring(L, lua_toboolean(L, 1) ? "true" : "false");
        return 1;
    case LUA_TNUMBER:
        push_number(L, 1);
        return 1;
    case LUA_TSTRING:
        lua_settop(L, 1);
        return 1;
    default:
        return base_type(L);
    }
}

static int base_tonumber(lua_State *L) {
    spec_check_count(L, "tonumber", 1);
    if (lua_type(L, 1) == LUA_TNUMBER)
        return 1;
    size_t length = 0;
    const char *text = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &length) : NULL;
    if (text == NULL || length > LONGEST_NUMERAL || lua_stringtonumber(L, text) != length + 1)
        lua_pushnil(L);
    return 1;
}

static int base_select(lua_State *L) {
    const int count = lua_gettop(L) - 1;
    if (lua_type(L, 1) == LUA_TSTRING && strcmp(lua_tostring(L, 1), "#") == 0) {
        lua_pushinteger(L, count);
        return 1;
    }
    int exact = 0;
    const lua_Integer n = lua_type(L, 1) == LUA_TNUMBER ? lua_tointegerx(L, 1, &exact) : 0;
    if (!exact || n == 0 || n < -count)
        spec_fail_expected(L, "select", NULL, "'#' or the number of an argument", 1);
    if (n > count)
        return 0;
    return n < 0 ? (int)-n : count - (int)n + 1;
}

static noreturn void fail_with(lua_State *L, const char *function, int index) {
    size_t length;
    if (lua_type(L, index) != LUA_TSTRING && lua_type(L, index) != LUA_TNUMBER)
        spec_fail(L, "%s with %s instead of a message", function, spec_describe(L, index));
    const char *text = lua_tolstring(L, index, &length);
    spec_fail(L, "%s", spec_clean(spec_of(L)->job, text, length));
}

static int base_error(lua_State *L) {
    fail_with(L, "error", 1);
}

static int base_assert(lua_State *L) {
    if (lua_isnone(L, 1))
        spec_fail(L, "assert takes a condition and a message");
    if (lua_toboolean(L, 1))
        return lua_gettop(L);
    if (lua_isnoneornil(L, 2))
        spec_fail(L, "assertion failed");
    fail_with(L, "assert", 2);
}

static int table_insert(lua_State *L) {
    check_table(L, "table.insert");
    if (lua_gettop(L) != 2)
        spec_fail(L, "table.insert only appends: table.insert(list, value)");
    lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
    return 0;
}

static int table_concat(lua_State *L) {
    check_table(L, "table.concat");
    lua_settop(L, 2);
    size_t separator_length = 0;
    const char *separator = "";
    if (lua_type(L, 2) == LUA_TSTRING)
        separator = lua_tolstring(L, 2, &separator_length);
    else if (!lua_isnil(L, 2))
        spec_fail_expected(L, "table.concat", "separator", "a string", 2);
    const lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
    luaL_Buffer all;
    luaL_buffinit(L, &all);
    for (lua_Integer i = 1; i <= count; i++) {
        spec_charge(L, 1);
        if (i > 1)
            luaL_addlstring(&all, separator, separator_length);
        const int kind = lua_rawgeti(L, 1, i);
        if (kind == LUA_TNUMBER) {
            push_number(L, -1);
            lua_remove(L, -2);
        } else if (kind != LUA_TSTRING)
            spec_fail_expected(L, "table.concat", NULL, "strings and numbers", -1);
        luaL_addvalue(&all);
    }
    luaL_pushresult(&all);
    return 1;
}

/* The value of a function of plain numbers, which unlike an expression's may be infinite; of
   EXPR_OP_COUNT the tangent. */
static int push_value(lua_State *L, const char *name, expr_op op) {
    spec_check_count(L, name, 1);
    const char *given = spec_describe(L, 1);
    if (op != EXPR_OP_COUNT && strcmp(given, "an expression") == 0)
        spec_fail(L, "%s: expected a number, got an expression: write %s without math.", name,
                  strchr(name, '.') + 1);
    if (lua_type(L, 1) != LUA_TNUMBER)
        spec_fail_expected(L, name, NULL, "a number", 1);
    const double x = lua_tonumber(L, 1);
    lua_pushnumber(L, op == EXPR_OP_COUNT ? (double)tanl(x) : expr_evaluate(op, x, 0, 0));
    return 1;
}

#define MATH(name, op)                                                                             \
    static int math_##name(lua_State *L) {                                                         \
        return push_value(L, "math." #name, op);                                                   \
    }
MATH(exp, EXPR_EXP)
MATH(log, EXPR_LOG)
MATH(sin, EXPR_SIN)
MATH(cos, EXPR_COS)
MATH(tan, EXPR_OP_COUNT)

const spec_function spec_base_functions[] = {
    {"assert", base_assert, "an error with the message unless the condition holds"},
    {"error", base_error, "ends the spec with a message"},
    {"ipairs", base_ipairs, "walks a list"},
    {"pairs", base_pairs, "walks a table: number keys in order, then strings by their bytes"},
    {"select", base_select, "the arguments from the n-th on, or their count for '#'"},
    {"tonumber", base_tonumber, "the number that a string spells, or nil"},
    {"tostring", base_tostring, "the text of a value; a number's reads back exactly"},
    {"type", base_type, "the name of a value's type"},
    {NULL, NULL, NULL},
};

const spec_function spec_table_functions[] = {
    {"table.concat", table_concat, "the strings and numbers of a list, joined"},
    {"table.insert", table_insert, "appends a value to a list"},
    {NULL, NULL, NULL},
};

/* Lua's own functions serve where results are the same on every machine. */
const spec_function spec_math_functions[] = {
    {"math.abs", NULL, "the absolute value of a number"},
    {"math.ceil", NULL, "the least whole number not below x"},
    {"math.cos", math_cos, "the cosine of a number"},
    {"math.exp", math_exp, "e to the power of a number"},
    {"math.floor", NULL, "the greatest whole number not above x"},
    {"math.fmod", NULL, "the remainder of a division that rounds towards 0"},
    {"math.log", math_log, "the natural logarithm of a number"},
    {"math.max", NULL, "the greatest of some numbers"},
    {"math.min", NULL, "the least of some numbers"},
    {"math.sin", math_sin, "the sine of a number"},
    {"math.sqrt", NULL, "the square root of a number"},
    {"math.tan", math_tan, "the tangent of a number"},
    {"math.tointeger", NULL, "the number as an integer, or nil"},
    {"math.huge", NULL, "infinity"},
    {"math.maxinteger", NULL, "the greatest integer"},
    {"math.mininteger", NULL, "the least integer"},
    {"math.pi", NULL, "3.14159..."},
    {NULL, NULL, NULL},
};
