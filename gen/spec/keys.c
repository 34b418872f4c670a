/* Reading of Lua values with errors that say what was expected and what is there.
   Takes: tables and values on a Lua stack. Makes: C values. */
#include "gen/spec/state.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { LONGEST_QUOTE = 60, LONGEST_MESSAGE = 400 };

static const char *clean(job *j, const char *text, size_t length, size_t longest) {
    const bool cut = length > longest;
    if (cut)
        length = longest;
    while (cut && length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--; /* not inside a character */
    char *out = job_alloc(j, length + sizeof "...");
    for (size_t i = 0; i < length; i++)
        out[i] = (unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i];
    if (cut)
        memcpy(out + length, "...", 3);
    return out;
}

const char *spec_clean(job *j, const char *text, size_t length) {
    return clean(j, text, length, LONGEST_MESSAGE);
}

static const char *quote(lua_State *L, int index) {
    size_t length;
    const char *text = lua_tolstring(L, index, &length);
    job *j = spec_of(L)->job;
    return job_print(j, "'%s'", clean(j, text, length, LONGEST_QUOTE));
}

const char *spec_number_text(job *j, double value) {
    text t = text_new(j);
    if (fabs(value) < 1e15 && value == floor(value))
        text_printf(&t, "%.0f", value);
    else if (isfinite(value))
        text_double(&t, value);
    else
        text_number(&t, value, 17);
    return t.data;
}

const char *spec_with_article(job *j, const char *noun) {
    return job_print(j, "%s %s", strchr("aeiou", noun[0]) != NULL ? "an" : "a", noun);
}

const char *spec_describe(lua_State *L, int index) {
    job *j = spec_of(L)->job;
    switch (lua_type(L, index)) {
    case LUA_TNONE:
    case LUA_TNIL:
        return "nothing";
    case LUA_TBOOLEAN:
        return lua_toboolean(L, index) ? "true" : "false";
    case LUA_TNUMBER:
        return job_print(j, "the number %s", spec_number_text(j, lua_tonumber(L, index)));
    case LUA_TSTRING:
        return job_print(j, "the string %s", quote(L, index));
    case LUA_TUSERDATA: {
        luaL_getmetafield(L, index, "__name");
        const char *name = lua_tostring(L, -1);
        return spec_with_article(j, name);
    }
    default:
        return job_print(j, "a %s", luaL_typename(L, index));
    }
}

void spec_fail_expected(lua_State *L, const char *where, const char *key, const char *expected,
                        int index) {
    spec_fail(L, "%s%s%s: expected %s, got %s", where, key != NULL ? "." : "",
              key != NULL ? key : "", expected, spec_describe(L, index));
}

void spec_need(lua_State *L, int type, const char *where, const char *key, const char *expected) {
    if (lua_type(L, -1) != type)
        spec_fail_expected(L, where, key, expected, -1);
}

static const char *join(job *j, const char *const *words, size_t count) {
    text t = text_new(j);
    for (size_t i = 0; i < count; i++)
        text_printf(&t, "%s%s", i > 0 ? ", " : "", words[i]);
    return t.data;
}

static const char *nearest_word(lua_State *L, int index, const char *const *known, size_t count) {
    size_t length;
    const char *word = lua_tolstring(L, index, &length);
    return length <= LONGEST_QUOTE ? text_nearest(word, known, count) : NULL;
}

/* kind: "key", "name"; where: " in stencil" or "". */
void spec_fail_unknown(lua_State *L, const char *kind, const char *where, int index,
                       const char *const *known, size_t count) {
    job *j = spec_of(L)->job;
    const char *nearest = nearest_word(L, index, known, count);
    if (nearest != NULL)
        spec_fail(L, "unknown %s %s%s; did you mean '%s'?", kind, quote(L, index), where, nearest);
    if (count > 0 && count <= 20)
        spec_fail(L, "unknown %s %s%s; known: %s", kind, quote(L, index), where,
                  join(j, known, count));
    spec_fail(L, "unknown %s %s%s", kind, quote(L, index), where);
}

/* Whether the string at a comes before the one at b. */
static bool precedes(lua_State *L, int a, int b) {
    size_t length_a, length_b;
    const char *text_a = lua_tolstring(L, a, &length_a), *text_b = lua_tolstring(L, b, &length_b);
    const int order = memcmp(text_a, text_b, length_a < length_b ? length_a : length_b);
    return order < 0 || (order == 0 && length_a < length_b);
}

/* The first unknown key in the order of bytes is reported: Lua's own order differs by run. */
void spec_check_keys(lua_State *L, int table, const char *where, const spec_key *keys) {
    size_t count = 0;
    while (keys[count].name != NULL)
        count++;
    table = lua_absindex(L, table);
    luaL_checkstack(L, 8, NULL);
    lua_pushnil(L);
    const int worst = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        spec_charge(L, 1);
        if (lua_type(L, -2) != LUA_TSTRING)
            spec_fail(L, "%s: expected only named entries, got a key that is %s", where,
                      lua_type(L, -2) == LUA_TNUMBER ? "a number" : "not a name");
        bool known = false;
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(lua_tostring(L, -2), keys[i].name) == 0;
        if (!known && (lua_isnil(L, worst) || precedes(L, -2, worst))) {
            lua_pushvalue(L, -2);
            lua_replace(L, worst);
        }
    }
    if (!lua_isnil(L, worst)) {
        job *j = spec_of(L)->job;
        const char **names = job_array(j, count + 1, sizeof *names);
        for (size_t i = 0; i < count; i++)
            names[i] = keys[i].name;
        spec_fail_unknown(L, "key", job_print(j, " in %s", where), worst, names, count);
    }
    lua_pop(L, 1);
}

bool spec_get(lua_State *L, int table, const char *key) {
    table = lua_absindex(L, table);
    lua_pushstring(L, key);
    return lua_rawget(L, table) != LUA_TNIL;
}

/* The length of a table whose keys are 1 … n; #table would be arbitrary where there are holes. */
int spec_list(lua_State *L, int table, const char *where, int longest) {
    table = lua_absindex(L, table);
    if (!lua_istable(L, table))
        spec_fail_expected(L, where, NULL, "a list", table);
    int count = 0;
    lua_Integer last = 0;
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        spec_charge(L, 1);
        if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1)
            spec_fail(L, "%s: expected a list, got a table with other keys", where);
        if (++count > longest)
            spec_fail(L, "%s: the list has more than %d entries", where, longest);
        if (lua_tointeger(L, -2) > last)
            last = lua_tointeger(L, -2);
    }
    if (last != count)
        spec_fail(L, "%s: the list has holes (an entry is nil)", where);
    return count;
}

int spec_word(lua_State *L, int index, const char *where, const char *const *words, int count) {
    const bool string = lua_type(L, index) == LUA_TSTRING;
    for (int i = 0; i < count && string; i++)
        if (strcmp(lua_tostring(L, index), words[i]) == 0)
            return i;
    const char *nearest = string ? nearest_word(L, index, words, (size_t)count) : NULL;
    spec_fail(L, "%s: expected one of %s, got %s%s%s%s", where,
              join(spec_of(L)->job, words, (size_t)count), spec_describe(L, index),
              nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
              nearest != NULL ? "'?" : "");
}

static const char name_rule[] =
    "a name is letters, digits and single underscores, begins with a letter and has at most 63 "
    "characters";

const char *spec_name(lua_State *L, int index, const char *where) {
    if (lua_type(L, index) != LUA_TSTRING)
        spec_fail_expected(L, where, NULL, "a name", index);
    size_t length;
    const char *name = lua_tolstring(L, index, &length);
    bool good = length >= 1 && length <= MAX_NAME;
    for (size_t i = 0; good && i < length; i++) {
        const char c = name[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        good = letter || (i > 0 && ((c >= '0' && c <= '9') || (c == '_' && name[i - 1] != '_')));
    }
    if (!good)
        spec_fail(L, "%s: %s is not a name: %s", where, quote(L, index), name_rule);
    return name;
}

double spec_number(lua_State *L, int index, const char *where, const char *key) {
    if (lua_type(L, index) != LUA_TNUMBER)
        spec_fail_expected(L, where, key, "a number", index);
    const double value = lua_tonumber(L, index);
    if (!isfinite(value))
        spec_fail_expected(L, where, key, "a finite number", index);
    return value;
}

int spec_whole(lua_State *L, int index, const char *where, const char *key, int low, int high) {
    int exact = 0;
    lua_Integer value = 0;
    if (lua_type(L, index) == LUA_TNUMBER)
        value = lua_tointegerx(L, index, &exact);
    if (!exact || value < low || value > high) {
        const char *range = job_print(spec_of(L)->job, "a whole number from %d to %d", low, high);
        spec_fail_expected(L, where, key, range, index);
    }
    return (int)value;
}

void spec_check_count(lua_State *L, const char *function, int count) {
    const int got = lua_gettop(L);
    if (got != count)
        spec_fail(L, "%s takes %s, got %d", function,
                  text_count(spec_of(L)->job, count, "argument"), got);
}

bool spec_flag(lua_State *L, int table, const char *key) {
    bool flag = false;
    if (spec_get(L, table, key)) {
        spec_need(L, LUA_TBOOLEAN, key, NULL, "true or false");
        flag = lua_toboolean(L, -1);
    }
    lua_pop(L, 1);
    return flag;
}

int spec_get_whole(lua_State *L, int table, const char *where, const char *key, int low, int high,
                   int fallback) {
    if (spec_get(L, table, key))
        fallback = where != NULL ? spec_whole(L, -1, where, key, low, high)
                                 : spec_whole(L, -1, key, NULL, low, high);
    lua_pop(L, 1);
    return fallback;
}

int spec_get_word(lua_State *L, int table, const char *key, const char *const *words, int count,
                  int fallback) {
    if (spec_get(L, table, key))
        fallback = spec_word(L, -1, key, words, count);
    lua_pop(L, 1);
    return fallback;
}

static void name_dtypes(const char **words, int count) {
    for (int i = 0; i < count; i++)
        words[i] = dtype_words[i].name;
}

dtype spec_get_storage(lua_State *L, int table, const char *where, dtype type, dtype fallback) {
    const char *words[DTYPE_REALS];
    name_dtypes(words, DTYPE_REALS);
    dtype storage = fallback;
    if (spec_get(L, table, "storage"))
        storage = (dtype)spec_word(L, -1, where, words, DTYPE_REALS);
    lua_pop(L, 1);
    if (storage != type && !(dtype_is_narrow(storage) && type == DTYPE_FLOAT))
        spec_fail(L, "%s: cells are of the dtype, %s%s", where, dtype_words[type].name,
                  type == DTYPE_FLOAT ? ", or half or bfloat16"
                                      : "; half and bfloat16 need dtype = \"float\"");
    return storage;
}

dtype spec_get_dtype(lua_State *L, int table, const char *key, int count, dtype fallback) {
    const char *words[DTYPE_COUNT];
    name_dtypes(words, count);
    return (dtype)spec_get_word(L, table, key, words, count, (int)fallback);
}
