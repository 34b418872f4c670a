/* The functions that make specs, and the keys of reduce, scan, merge and spmv.
   Takes: the table that a spec passes. Makes: the value that stands for the spec. */
#include "gen/spec/state.h"

#include "gen/lists/merge/merge.h"
#include "gen/lists/reduce/reduce.h"
#include "gen/lists/scan/scan.h"
#include "gen/lists/spmv/spmv.h"

#include <math.h>
#include <stdlib.h>

/* The type of elements; of those that are moved alone also 16 bits. */
static dtype read_moved(lua_State *L, const char *key, bool narrow, dtype fallback) {
    const char *words[DTYPE_COUNT];
    dtype types[DTYPE_COUNT];
    int count = 0;
    for (dtype d = 0; d < DTYPE_COUNT; d++)
        if (narrow || !dtype_is_narrow(d)) {
            types[count] = d;
            words[count++] = dtype_words[d].name;
        }
    const int which = spec_get_word(L, 1, key, words, count, -1);
    return which < 0 ? fallback : types[which];
}

/* The family's model of so many bytes, which begins with its pattern. */
static void *begin_list(lua_State *L, int family, const spec_key *keys, int dtypes, size_t bytes) {
    model *m = spec_begin(L, families[family].name, keys, dtypes);
    pattern *p = spec_array(L, 1, bytes);
    p->functions = m;
    p->storage = m->dtype;
    m->dtype = dtype_computes(m->dtype);
    p->words = families[family].lists.words;
    return p;
}

/* Reads the key parameters, and names the operands of functions of two elements. */
static void read_parameters(lua_State *L, model *m) {
    static const char *const operands[] = {"a", "b"};
    m->declared = spec_read_parameters(L, 1, m);
    spec_operands(L, m, operands, 2);
}

static int end_list(lua_State *L, int family, pattern *p) {
    spec_read_pattern(L, 1, p->words, &p->wanted);
    spec_read_pattern_tune(L, 1, p->words, p->functions);
    spec_finish_functions(L, p->functions);
    return spec_end(L, family, p->functions, p);
}

/* ---- reduce ---------------------------------------------------------------------------------- */

static const spec_key reduce_keys[] = {
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

static void read_op(lua_State *L, model *m, reduce *r) {
    static const char *const more[] = {"argmin", "argmax"};
    const int which = spec_read_operator(L, 1, m, more, 2, &r->op);
    r->places = which >= 0;
    if (r->places)
        r->op.id = which == 0 ? OPERATOR_MIN : OPERATOR_MAX;
}

static void read_map(lua_State *L, model *m, reduce *r) {
    r->inputs = spec_get_whole(L, 1, NULL, "inputs", 1, 2, 1);
    r->mapped = spec_read_function(L, 1, "map", m, r->inputs, false);
    if (!r->mapped && r->inputs == 2)
        spec_fail(L, "map is missing: with 2 inputs it makes one element of two, such as map = "
                     "function(x, y) return x * y end");
}

static int read_reduce(lua_State *L) {
    reduce *r = begin_list(L, FAMILY_REDUCE, reduce_keys, DTYPE_COUNT, sizeof *r);
    model *m = r->pattern.functions;
    read_parameters(L, m);
    read_op(L, m, r);
    read_map(L, m, r);
    r->segmented = spec_flag(L, 1, "segmented");
    return end_list(L, FAMILY_REDUCE, &r->pattern);
}

/* ---- scan ------------------------------------------------------------------------------------ */

static const spec_key scan_keys[] = {
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

static int read_scan(lua_State *L) {
    static const char *const kinds[] = {"inclusive", "exclusive"};
    scan *s = begin_list(L, FAMILY_SCAN, scan_keys, DTYPE_COUNT, sizeof *s);
    model *m = s->pattern.functions;
    read_parameters(L, m);
    spec_read_operator(L, 1, m, NULL, 0, &s->op);
    s->mapped = spec_read_function(L, 1, "map", m, 1, false);
    read_init(L, m, s);
    s->exclusive = spec_get_word(L, 1, "kind", kinds, 2, 0) == 1;
    s->deterministic = spec_flag(L, 1, "deterministic");
    return end_list(L, FAMILY_SCAN, &s->pattern);
}

/* ---- merge ----------------------------------------------------------------------------------- */

static const spec_key merge_keys[] = {
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

static int read_merge(lua_State *L) {
    merge *g = begin_list(L, FAMILY_MERGE, merge_keys, DTYPE_COUNT, sizeof *g);
    model *m = g->pattern.functions;
    m->dtype = read_moved(L, "keys", false, DTYPE_FLOAT);
    g->values = read_moved(L, "values", true, DTYPE_COUNT);
    g->has_values = g->values != DTYPE_COUNT;
    if (!g->has_values)
        g->values = DTYPE_FLOAT;
    read_parameters(L, m);
    read_order(L, m, g);
    return end_list(L, FAMILY_MERGE, &g->pattern);
}

/* ---- spmv ------------------------------------------------------------------------------------ */

#define MOST_OFFSET 0x1p53 /* up to which every whole number is a Lua number */

static const spec_key spmv_keys[] = {
    {"name", "an identifier; names the kernel and the file"},
    {"dtype", "of x and y: \"float\" (the default) or \"double\""},
    {"matrix", "the dtype of the matrix's values: as x and y have, or \"float\""},
    {"storage",
     "\"half\" or \"bfloat16\": the matrix's values have 16 bits; as `matrix` by default"},
    {"index", "of rows, columns and offsets: \"int32\" (the default) or \"int64\""},
    {"vectors", "how many right-hand sides are multiplied at once; 1 by default"},
    {"diagonals", "what most rows have, for format \"stencil\": a list of {column - row, value}"},
    {"format", "how the matrix is stored; \"auto\" by default"},
    {"algorithm", "how it is computed; \"auto\" by default"},
    {"schedule", "constraints on format and threads; what is left out is chosen"},
    {"tune", "the values that tuning tries, by key: { threads = { 128, 256 } }"},
    {NULL, NULL},
};

static dtype read_matrix(lua_State *L, dtype vectors) {
    const dtype type = spec_get_dtype(L, 1, "matrix", DTYPE_WIDE, vectors);
    if (type == DTYPE_DOUBLE && vectors == DTYPE_FLOAT)
        spec_fail(L, "a matrix of double needs vectors of double: dtype = \"double\"");
    const char *words[] = {dtype_words[DTYPE_HALF].name, dtype_words[DTYPE_BFLOAT16].name};
    const int narrow = spec_get_word(L, 1, "storage", words, 2, -1);
    const bool both = spec_get(L, 1, "matrix") && narrow >= 0;
    lua_pop(L, 1);
    if (both)
        spec_fail(L, "`matrix` and `storage` both say what the matrix's values are; leave out one");
    return narrow < 0 ? type : narrow == 0 ? DTYPE_HALF : DTYPE_BFLOAT16;
}

static int by_offset(const void *a, const void *b) {
    const diagonal *p = a, *q = b;
    return (p->offset > q->offset) - (p->offset < q->offset);
}

static diagonal read_diagonal(lua_State *L, int pair, const char *where, dtype type) {
    enum { VALUES = 2 };
    diagonal d;
    if (spec_list(L, pair, where, VALUES) != VALUES)
        spec_fail(L, "%s: expected {column - row, value}", where);
    lua_rawgeti(L, pair, 1);
    const double offset = spec_number(L, -1, where, NULL);
    lua_rawgeti(L, pair, 2);
    d.value = spec_number(L, -1, where, NULL);
    lua_pop(L, VALUES);
    if (offset != floor(offset) || fabs(offset) > MOST_OFFSET)
        spec_fail(L, "%s: column - row is a whole number of at most 2^53, not %s", where,
                  spec_number_text(spec_of(L)->job, offset));
    if (fabs(d.value) > dtype_words[type].largest)
        d.value = INFINITY;
    d.value = dtype_round(type, d.value);
    if (!isfinite(d.value))
        spec_fail(L, "%s: the value is too large for a %s", where, dtype_words[type].name);
    d.offset = (int64_t)offset;
    return d;
}

static void read_diagonals(lua_State *L, spmv *s) {
    static const char where[] = "diagonals";
    if (spec_get(L, 1, where)) {
        const int list = lua_gettop(L), count = spec_list(L, list, where, MOST_DIAGONALS);
        diagonal *all = spec_array(L, (size_t)count, sizeof *all);
        for (int i = 0; i < count; i++) {
            lua_rawgeti(L, list, i + 1);
            all[i] = read_diagonal(L, lua_gettop(L), where, s->matrix);
            lua_pop(L, 1);
        }
        if (count == 0)
            spec_fail(L, "%s: there must be 1 to %d", where, MOST_DIAGONALS);
        qsort(all, (size_t)count, sizeof *all, by_offset);
        for (int i = 1; i < count; i++)
            if (all[i].offset == all[i - 1].offset)
                spec_fail(L, "%s: there are two of column - row = %lld", where,
                          (long long)all[i].offset);
        s->diagonals = all;
        s->diagonal_count = count;
    }
    lua_pop(L, 1);
}

/* alpha and beta are parameters with defaults, and also functions, so that a build may have them
   compiled in. */
static void add_factor(lua_State *L, model *m, const char *name, double value) {
    m->parameters[m->parameter_count++] = (model_parameter){name, true, value};
    lua_newtable(L);
    spec_push_expr(L, spec_parameter(L, name), false);
    lua_setfield(L, -2, name);
    spec_read_value(L, lua_gettop(L), name, m, value);
    lua_pop(L, 1);
}

static int read_spmv(lua_State *L) {
    const char *indices[] = {dtype_words[DTYPE_INT32].name, dtype_words[DTYPE_INT64].name};
    spmv *s = begin_list(L, FAMILY_SPMV, spmv_keys, DTYPE_WIDE, sizeof *s);
    model *m = s->pattern.functions;
    s->matrix = read_matrix(L, m->dtype);
    s->index = spec_get_word(L, 1, "index", indices, 2, 0) == 0 ? DTYPE_INT32 : DTYPE_INT64;
    s->vectors = spec_get_whole(L, 1, NULL, "vectors", 1, SPMV_MOST_VECTORS, 1);
    read_diagonals(L, s);
    m->declared = true;
    spec_operands(L, m, NULL, 0);
    add_factor(L, m, "alpha", 1);
    add_factor(L, m, "beta", 0);
    return end_list(L, FAMILY_SPMV, &s->pattern);
}

/* ---- the functions --------------------------------------------------------------------------- */

const spec_maker spec_makers[] = {
    {"stencil", spec_stencil, spec_stencil_keys, "a stencil spec from a table of keys"},
    {"convolution", spec_convolution, spec_convolution_keys,
     "a stencil spec from a filter's weights"},
    {"system", spec_system, spec_system_keys, "a spec of several fields, updated in stages"},
    {"reduce", read_reduce, reduce_keys, "a reduce spec: a list to one element, by any operator"},
    {"scan", read_scan, scan_keys, "a scan spec: the prefix sums of a list, by any operator"},
    {"merge", read_merge, merge_keys, "a merge spec: two sorted lists to one"},
    {"spmv", read_spmv, spmv_keys, "an spmv spec: a sparse matrix times a vector"},
    {NULL, NULL, NULL, NULL},
};
