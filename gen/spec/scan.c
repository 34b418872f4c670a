/* scan { ... }: the keys of a spec, read into a scan.
   Takes: the table that a spec passes. Makes: a scan, and a value that stands for it. */
#include "gen/lists/scan/scan.h"
#include "gen/spec/state.h"

const spec_key spec_scan_keys[] = {
    {"name", "an identifier; names the kernel and the file"},
    {"op", "\"sum\" (the default), another operator's name, or op(a, b), which is associative"},
    {"identity", "of an op that is a function: op(identity, a) = op(a, identity) = a"},
    {"commutative", "of an op that is a function: true where op(a, b) = op(b, a)"},
    {"dtype", "of the elements; \"float\" by default"},
    {"kind", "\"inclusive\" (the default) or \"exclusive\""},
    {"init", "what comes before the first element: a number or param \"name\""},
    {"map", "map(x): applied to every element before it is used"},
    {"deterministic", "true: the same bits on every run, also where the operator rounds"},
    {"parameters", "the parameters and their default values: { k = 0.05 }"},
    {"algorithm", "how it is computed; \"auto\" by default"},
    {"schedule", "constraints on threads, items, stages and blocks; what is left out is chosen"},
    {"tune", "the values that tuning tries, by key: { threads = { 128, 256 } }"},
    {NULL, NULL},
};

static bool read_flag(lua_State *L, const char *key) {
    bool flag = false;
    if (spec_get(L, 1, key)) {
        if (lua_type(L, -1) != LUA_TBOOLEAN)
            spec_fail_expected(L, key, NULL, "true or false", -1);
        flag = lua_toboolean(L, -1);
    }
    lua_pop(L, 1);
    return flag;
}

static void read_init(lua_State *L, model *m, scan *s) {
    s->initial = spec_get(L, 1, "init");
    const bool exact =
        lua_isinteger(L, -1) == 0 || m->dtype < DTYPE_REALS ||
        (lua_tointeger(L, -1) >= -(INT64_C(1) << 53) && lua_tointeger(L, -1) <= INT64_C(1) << 53);
    lua_pop(L, 1);
    if (!exact)
        spec_fail(L, "init: whole numbers beyond 2^53 cannot be given exactly");
    if (s->initial)
        spec_read_value(L, 1, "init", m, 0);
    else
        spec_no_function(L, m);
}

int spec_scan(lua_State *L) {
    static const char *const operands[] = {"a", "b"}, *const kinds[] = {"inclusive", "exclusive"};
    model *m = spec_begin(L, "scan", spec_scan_keys, DTYPE_COUNT);
    scan *s = job_alloc(spec_of(L)->job, sizeof *s);
    spec_charge_memory(L, sizeof *s);
    s->pattern.functions = m;
    s->pattern.words = &scan_words;
    m->declared = spec_read_parameters(L, 1, m);
    spec_operands(L, m, operands, 2);
    spec_read_operator(L, 1, m, NULL, 0, &s->op);
    s->mapped = spec_read_function(L, 1, "map", m, 1, false);
    if (!s->mapped)
        spec_no_function(L, m);
    read_init(L, m, s);
    if (spec_get(L, 1, "kind"))
        s->exclusive = spec_word(L, -1, "kind", kinds, 2) == 1;
    lua_pop(L, 1);
    s->deterministic = read_flag(L, "deterministic");
    spec_read_pattern(L, 1, &scan_words, &s->pattern.wanted);
    spec_read_pattern_tune(L, 1, &scan_words, m);
    spec_finish_functions(L, m);
    return spec_end(L, FAMILY_SCAN, m, s);
}
