/* The environment of specs: an explicit list of functions, and errors for names that are not on it.
   Takes: the functions of the other files. Makes: the table that specs have as their globals, and
   the vocabulary. */
#include "gen/spec/state.h"
#include "gen/stencil/method.h"

#include <lualib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const spec_function own_functions[] = {
    {"star", spec_star, "star(dims, radius): the centre and the points of the axes up to radius"},
    {"box", spec_box, "box(dims, radius): every offset from -radius to radius"},
    {"points", spec_points, "points { {dx, dy, dz}, ... }: the offsets given"},
    {"identity", spec_identity, "the weight table that is 1 at the centre"},
    {"derivative", spec_derivative, "the weights of a centred derivative along one axis"},
    {"laplacian", spec_laplacian, "the weights of the sum of the second derivatives"},
    {"apply", spec_apply, "apply(weights, field): the weighted sum of a field's points, in update"},
    {"param", spec_param, "param \"name\": a parameter, given at launch"},
    {"constant", spec_constant,
     "constant(v): the boundary outside of which cells read as v, a number or a parameter"},
    {NULL, NULL, NULL},
};

/* Lua names that specs do not have: an error that says so is better than a guess at a slip of the
   pen. */
static const char *const left_out[] = {
    "_G",     "_VERSION", "collectgarbage", "coroutine", "debug",  "dofile",     "getmetatable",
    "io",     "load",     "loadfile",       "next",      "os",     "package",    "pcall",
    "print",  "rawequal", "rawget",         "rawlen",    "rawset", "require",    "setmetatable",
    "string", "unpack",   "utf8",           "warn",      "xpcall", "loadstring",
};

enum { LEFT_OUT = sizeof left_out / sizeof *left_out, MOST_NAMES = 128 };

/* The names of one table, for the error about a name that is not among them. */
typedef struct known_names {
    const char *library; /* "" or "math" */
    size_t count;
    const char *name[MOST_NAMES];
} known_names;

static int unknown_name(lua_State *L) {
    const known_names *known = lua_touserdata(L, lua_upvalueindex(1));
    if (lua_type(L, 2) != LUA_TSTRING)
        return 0;
    const char *name = lua_tostring(L, 2);
    const bool global = known->library[0] == '\0';
    for (size_t i = 0; global && i < LEFT_OUT; i++)
        if (strcmp(name, left_out[i]) == 0)
            spec_fail(L, "'%s' is not available in specs", name);
    const char *where = global ? "" : job_print(spec_of(L)->job, " in %s", known->library);
    spec_fail_unknown(L, "name", where, 2, known->name, known->count);
}

/* A new table whose unknown names are errors; it stays on the stack. */
static known_names *push_table(lua_State *L, const char *library) {
    known_names *known = job_alloc(spec_of(L)->job, sizeof *known);
    known->library = library;
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    lua_pushlightuserdata(L, known);
    lua_pushcclosure(L, unknown_name, 1);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    return known;
}

/* Sets the value on the top in the table below it. */
static void set_name(lua_State *L, known_names *known, const char *name) {
    known->name[known->count++] = name;
    lua_setfield(L, -2, name);
}

/* "floor" of "math.floor" */
static const char *base_name(const char *name) {
    const char *dot = strchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

static void set_functions(lua_State *L, known_names *known, const spec_function *functions) {
    for (const spec_function *f = functions; f->name != NULL; f++) {
        lua_pushcfunction(L, f->call);
        set_name(L, known, base_name(f->name));
    }
}

static void push_math(lua_State *L) {
    lua_pushcfunction(L, luaopen_math);
    lua_call(L, 0, 1);
    known_names *known = push_table(L, "math");
    for (const spec_function *f = spec_math_functions; f->name != NULL; f++) {
        if (f->call != NULL)
            lua_pushcfunction(L, f->call);
        else
            lua_getfield(L, -2, base_name(f->name));
        set_name(L, known, base_name(f->name));
    }
    lua_remove(L, -2);
}

void spec_open_environment(lua_State *L) {
    known_names *known = push_table(L, "");
    for (const spec_maker *m = spec_makers; m->name != NULL; m++) {
        lua_pushcfunction(L, m->call);
        set_name(L, known, m->name);
    }
    set_functions(L, known, own_functions);
    set_functions(L, known, spec_base_functions);
    for (int op = 0; op < EXPR_OP_COUNT; op++) {
        if (!expr_words[op].function)
            continue;
        lua_pushinteger(L, op);
        lua_pushcclosure(L, spec_call_operation, 1);
        set_name(L, known, expr_words[op].name);
    }
    set_functions(L, push_table(L, "table"), spec_table_functions);
    set_name(L, known, "table");
    push_math(L);
    set_name(L, known, "math");
}

static const char *const use_summaries[USE_COUNT] = {
    [USE_IN] = "read only",
    [USE_OUT] = "written only",
    [USE_INOUT] = "read, and written for the next step",
};

typedef void describe(void *user, const char *group, const char *name, const char *summary);

static void list_functions(describe *word, void *user, const char *group, const spec_function *f) {
    for (; f->name != NULL; f++)
        word(user, group, f->name, f->summary);
}

static void list_keys(describe *word, void *user, const char *group, const spec_key *key) {
    for (; key->name != NULL; key++)
        word(user, group, key->name, key->summary);
}

void spec_vocabulary(describe *word, void *user) {
    for (const spec_maker *m = spec_makers; m->name != NULL; m++) {
        char group[32];
        snprintf(group, sizeof group, "key of %s", m->name);
        list_keys(word, user, group, m->keys);
        word(user, "function", m->name, m->summary);
    }
    list_keys(word, user, "key of a field", spec_field_keys);
    for (int k = 0; k < SCHEDULE_KEYS; k++)
        word(user, "key of schedule", schedule_keys[k].word, schedule_keys[k].summary);
    list_keys(word, user, "key of derivative", spec_derivative_keys);
    list_keys(word, user, "key of laplacian", spec_laplacian_keys);
    list_keys(word, user, "axis", spec_axis_keys);
    for (int i = 0; i < DTYPE_COUNT; i++)
        word(user, "dtype", dtype_words[i].name, dtype_words[i].summary);
    for (int i = 0; i < USE_COUNT; i++)
        word(user, "use of a field", use_words[i], use_summaries[i]);
    for (int i = 0; i < POSITION_COUNT; i++)
        word(user, "position", position_words[i].name, position_words[i].summary);
    for (int i = 0; i < BOUNDARY_COUNT; i++)
        word(user, "boundary", boundary_words[i].name, boundary_words[i].summary);
    for (int i = 0; i < METHODS; i++)
        word(user, "method", methods[i]->name, methods[i]->summary);
    list_functions(word, user, "function", own_functions);
    for (int op = 0; op < EXPR_OP_COUNT; op++)
        if (expr_words[op].function)
            word(user, "function of numbers", expr_words[op].name, expr_words[op].summary);
    list_functions(word, user, "Lua function", spec_base_functions);
    list_functions(word, user, "Lua function", spec_table_functions);
    list_functions(word, user, "Lua function", spec_math_functions);
}
