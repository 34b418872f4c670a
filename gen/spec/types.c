/* The types of values that specs handle: what each cannot do is said in its own words.
   Takes: a type's name and what it can do. Makes: its metatable, which is out of reach of specs. */
#include "gen/spec/state.h"

/* What Lua asks of a value, and why one that has no answer of its own gives none. */
static const struct {
    const char *event, *refusal;
} refusals[] = {
    {"__index", "has no entries to read"},
    {"__newindex", "has no entries to set"},
    {"__call", "is no function and cannot be called"},
    {"__lt", "cannot be compared with <, <=, > or >="},
    {"__le", "cannot be compared with <, <=, > or >="},
    {"__add", "has no operator +"},
    {"__sub", "has no operator -"},
    {"__mul", "has no operator *"},
    {"__div", "has no operator /"},
    {"__mod", "has no operator %"},
    {"__pow", "has no operator ^"},
    {"__unm", "has no operator -"},
    {"__idiv", "has no operator //"},
    {"__band", "has no operator &"},
    {"__bor", "has no operator |"},
    {"__bxor", "has no operator ~"},
    {"__bnot", "has no operator ~"},
    {"__shl", "has no operator <<"},
    {"__shr", "has no operator >>"},
    {"__concat", "cannot be joined with .. to anything"},
    {"__len", "has no length"},
};

enum { REFUSALS = sizeof refusals / sizeof *refusals };

/* Upvalues: the type's name, the refusal, and what to do instead, or nil. */
static int refuse(lua_State *L) {
    const char *type = lua_tostring(L, lua_upvalueindex(1));
    const char *advice = lua_tostring(L, lua_upvalueindex(3));
    spec_fail(L, "%s %s%s%s", spec_with_article(spec_of(L)->job, type),
              lua_tostring(L, lua_upvalueindex(2)), advice != NULL ? "; " : "",
              advice != NULL ? advice : "");
}

void spec_make_type(lua_State *L, const char *type, const char *advice,
                    const luaL_Reg *metamethods) {
    luaL_newmetatable(L, type);
    for (int i = 0; i < REFUSALS; i++) {
        lua_pushstring(L, type);
        lua_pushstring(L, refusals[i].refusal);
        lua_pushstring(L, advice);
        lua_pushcclosure(L, refuse, 3);
        lua_setfield(L, -2, refusals[i].event);
    }
    luaL_setfuncs(L, metamethods, 0);
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
