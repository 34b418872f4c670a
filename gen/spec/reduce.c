/* reduce { ... }: the keys of a spec, read into a reduction.
   Takes: the table that a spec passes. Makes: a reduction, and a value that stands for it. */
#include "gen/lists/reduce/reduce.h"
#include "gen/spec/state.h"

const spec_key spec_reduce_keys[] = {
    {"name", "an identifier; names the kernel and the file"},
    {"op", "\"sum\" (the default), another operator's name, or op(a, b), which is associative"},
    {"identity", "of an op that is a function: op(identity, a) = op(a, identity) = a"},
    {"commutative", "of an op that is a function: true where op(a, b) = op(b, a)"},
    {"dtype", "of the elements; \"float\" by default"},
    {"map", "map(x), or map(x, y) of two inputs: applied to every element before it is used"},
    {"inputs", "1 (the default) or 2 lists of the same length, such as those of a dot product"},
    {"segmented", "true: one result for each segment, which offsets into the list delimit"},
    {"parameters", "the parameters and their default values: { k = 0.05 }"},
    {"algorithm", "how it is computed; \"auto\" by default"},
    {"schedule", "constraints on threads, items and blocks; what is left out is chosen"},
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

static void read_op(lua_State *L, model *m, reduce *r) {
    static const char *const more[] = {"argmin", "argmax"};
    const int which = spec_read_operator(L, 1, m, more, 2, &r->op);
    r->places = which >= 0;
    if (r->places)
        r->op.id = which == 0 ? OPERATOR_MIN : OPERATOR_MAX;
}

static void read_map(lua_State *L, model *m, reduce *r) {
    r->inputs = 1;
    if (spec_get(L, 1, "inputs"))
        r->inputs = spec_whole(L, -1, "inputs", NULL, 1, 2);
    lua_pop(L, 1);
    r->mapped = spec_read_function(L, 1, "map", m, r->inputs, false);
    if (!r->mapped && r->inputs == 2)
        spec_fail(L, "map is missing: with 2 inputs it makes one element of two, such as map = "
                     "function(x, y) return x * y end");
    if (!r->mapped)
        spec_no_function(L, m);
}

int spec_reduce(lua_State *L) {
    static const char *const operands[] = {"a", "b"};
    model *m = spec_begin(L, "reduce", spec_reduce_keys, DTYPE_COUNT);
    reduce *r = job_alloc(spec_of(L)->job, sizeof *r);
    spec_charge_memory(L, sizeof *r);
    r->pattern.functions = m;
    r->pattern.words = &reduce_words;
    m->declared = spec_read_parameters(L, 1, m);
    spec_operands(L, m, operands, 2);
    read_op(L, m, r);
    read_map(L, m, r);
    r->segmented = read_flag(L, "segmented");
    spec_read_pattern(L, 1, &reduce_words, &r->pattern.wanted);
    spec_read_pattern_tune(L, 1, &reduce_words, m);
    spec_finish_functions(L, m);
    return spec_end(L, FAMILY_REDUCE, m, r);
}
