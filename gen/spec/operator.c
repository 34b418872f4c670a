/* The key `op` of reduce and scan: the name of an operator, or a function with its identity.
   Takes: the spec's table. Makes: the operator, and the model's next output. */
#include "gen/spec/state.h"

#include <math.h>
#include <string.h>

const spec_key spec_operator_keys[] = {
    {"op", "\"sum\" (the default), another operator's name, or op(a, b), which is associative"},
    {"identity", "of an op that is a function: op(identity, a) = op(a, identity) = a"},
    {"commutative", "of an op that is a function: true where op(a, b) = op(b, a)"},
    {NULL, NULL},
};

static bool is_function(lua_State *L, int table) {
    spec_get(L, table, "op");
    const bool function = lua_type(L, -1) == LUA_TFUNCTION;
    lua_pop(L, 1);
    return function;
}

/* The value on the top of the stack; of whole numbers Lua's own, which a double may not hold. */
static pattern_value read_identity(lua_State *L, dtype type) {
    if (lua_type(L, -1) != LUA_TNUMBER)
        spec_fail_expected(L, "identity", NULL, "a number", -1);
    const double value = lua_tonumber(L, -1);
    if (type < DTYPE_REALS) {
        if (isnan(value))
            spec_fail_expected(L, "identity", NULL, "a number", -1);
        if (!isinf(value))
            spec_check_range(L, type, "identity", value);
        return (pattern_value){.real = type == DTYPE_FLOAT ? (double)(float)value : value};
    }
    if (type == DTYPE_INT64 && lua_isinteger(L, -1))
        return (pattern_value){.whole = lua_tointeger(L, -1)};
    spec_check_range(L, type, "identity", value);
    return (pattern_value){.whole = (int64_t)value};
}

static void read_own(lua_State *L, int table, model *m, pattern_operator *out) {
    out->id = OPERATOR_OWN;
    out->function = m->output_count;
    spec_read_function(L, table, "op", m, 2, false);
    if (!spec_get(L, table, "identity"))
        spec_fail(L, "identity is missing: the element e with op(e, a) = op(a, e) = a");
    out->identity = read_identity(L, m->dtype);
    if (spec_get(L, table, "commutative")) {
        if (lua_type(L, -1) != LUA_TBOOLEAN)
            spec_fail_expected(L, "commutative", NULL, "true or false", -1);
        out->own_commutes = lua_toboolean(L, -1);
    }
    lua_pop(L, 2);
}

static void read_named(lua_State *L, int table, model *m, const char *const *more, int more_count,
                       int *which) {
    const char *words[OPERATOR_COUNT + SPEC_MORE_OPERATORS];
    for (int i = 0; i < OPERATOR_COUNT; i++)
        words[i] = operator_words[i].name;
    for (int i = 0; i < more_count; i++)
        words[OPERATOR_COUNT + i] = more[i];
    *which = OPERATOR_SUM;
    if (spec_get(L, table, "op")) {
        if (lua_type(L, -1) != LUA_TSTRING)
            spec_fail_expected(L, "op", NULL, "an operator's name or a function", -1);
        *which = spec_word(L, -1, "op", words, OPERATOR_COUNT + more_count);
    }
    lua_pop(L, 1);
    static const char *const only[] = {"identity", "commutative"};
    for (int i = 0; i < 2; i++, lua_pop(L, 1))
        if (spec_get(L, table, only[i]))
            spec_fail(L, "%s is for an op that is a function; %s has its own", only[i],
                      words[*which]);
    if (*which < OPERATOR_COUNT && operator_words[*which].bits && m->dtype < DTYPE_REALS)
        spec_fail(L, "op: %s is for whole numbers, not for %s", words[*which],
                  dtype_words[m->dtype].name);
    spec_no_function(L, m);
}

int spec_read_operator(lua_State *L, int table, model *m, const char *const *more, int more_count,
                       pattern_operator *out) {
    int which = OPERATOR_OWN;
    if (is_function(L, table)) {
        read_own(L, table, m, out);
        return -1;
    }
    read_named(L, table, m, more, more_count, &which);
    if (which >= OPERATOR_COUNT)
        return which - OPERATOR_COUNT;
    out->id = (operator_id)which;
    return -1;
}
