/* merge { ... }: the keys of a spec, read into a merge.
   Takes: the table that a spec passes. Makes: a merge, and a value that stands for it. */
#include "gen/lists/merge/merge.h"
#include "gen/spec/state.h"

const spec_key spec_merge_keys[] = {
    {"name", "an identifier; names the kernel and the file"},
    {"keys", "the dtype of the keys; \"float\" by default"},
    {"values", "the dtype of the values that go with the keys; none by default"},
    {"order",
     "\"ascending\" (the default), \"descending\", or order(a, b): whether a comes before b"},
    {"parameters", "the parameters and their default values: { k = 0.05 }"},
    {"algorithm", "how it is computed; \"auto\" by default"},
    {"schedule", "constraints on threads, items, rounds and others; what is left out is chosen"},
    {"tune", "the values that tuning tries, by key: { threads = { 128, 256 } }"},
    {NULL, NULL},
};

static bool read_dtype(lua_State *L, const char *key, dtype *out) {
    const char *words[DTYPE_COUNT];
    const bool given = spec_get(L, 1, key);
    for (int i = 0; i < DTYPE_COUNT; i++)
        words[i] = dtype_words[i].name;
    if (given)
        *out = (dtype)spec_word(L, -1, key, words, DTYPE_COUNT);
    lua_pop(L, 1);
    return given;
}

static void read_order(lua_State *L, model *m, merge *g) {
    static const char *const orders[] = {"ascending", "descending"};
    const bool given = spec_get(L, 1, "order");
    const int type = lua_type(L, -1);
    if (given && type != LUA_TFUNCTION && type != LUA_TSTRING)
        spec_fail_expected(L, "order", NULL, "\"ascending\", \"descending\" or a function", -1);
    if (type == LUA_TSTRING)
        g->order = spec_word(L, -1, "order", orders, 2) == 0 ? MERGE_ASCENDING : MERGE_DESCENDING;
    lua_pop(L, 1);
    if (type == LUA_TFUNCTION) {
        g->order = MERGE_OWN;
        spec_read_function(L, 1, "order", m, 2, true);
    } else {
        spec_no_function(L, m);
    }
}

int spec_merge(lua_State *L) {
    static const char *const operands[] = {"a", "b"};
    model *m = spec_begin(L, "merge", spec_merge_keys, DTYPE_COUNT);
    merge *g = job_alloc(spec_of(L)->job, sizeof *g);
    spec_charge_memory(L, sizeof *g);
    g->pattern.functions = m;
    g->pattern.words = &merge_words;
    read_dtype(L, "keys", &m->dtype);
    g->has_values = read_dtype(L, "values", &g->values);
    m->declared = spec_read_parameters(L, 1, m);
    spec_operands(L, m, operands, 2);
    read_order(L, m, g);
    spec_read_pattern(L, 1, &merge_words, &g->pattern.wanted);
    spec_read_pattern_tune(L, 1, &merge_words, m);
    spec_finish_functions(L, m);
    return spec_end(L, FAMILY_MERGE, m, g);
}
