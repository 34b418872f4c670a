/* spmv { ... }: the keys of a spec, read into a product with a sparse matrix.
   Takes: the table that a spec passes. Makes: an spmv, and a value that stands for it. */
#include <math.h>
#include <stdlib.h>

#include "gen/lists/spmv/spmv.h"
#include "gen/spec/state.h"

#define MOST_OFFSET 0x1p53 /* up to which a Lua number is every whole number */

const spec_key spec_spmv_keys[] = {
    {"name", "an identifier; names the kernel and the file"},
    {"dtype", "of x and y: \"float\" (the default) or \"double\""},
    {"matrix", "the dtype of the matrix's values: as x and y have, or \"float\""},
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
    dtype type = vectors;
    if (spec_get(L, 1, "matrix")) {
        const char *words[] = {dtype_words[DTYPE_FLOAT].name, dtype_words[DTYPE_DOUBLE].name};
        type = (dtype)spec_word(L, -1, "matrix", words, DTYPE_REALS);
        if (type == DTYPE_DOUBLE && vectors == DTYPE_FLOAT)
            spec_fail(L, "a matrix of double needs vectors of double: dtype = \"double\"");
    }
    lua_pop(L, 1);
    return type;
}

static dtype read_index(lua_State *L) {
    dtype type = DTYPE_INT32;
    if (spec_get(L, 1, "index")) {
        const char *words[] = {dtype_words[DTYPE_INT32].name, dtype_words[DTYPE_INT64].name};
        type = spec_word(L, -1, "index", words, 2) == 0 ? DTYPE_INT32 : DTYPE_INT64;
    }
    lua_pop(L, 1);
    return type;
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
    if (type == DTYPE_FLOAT)
        d.value = fabs(d.value) > dtype_words[type].largest ? INFINITY : (double)(float)d.value;
    if (!isfinite(d.value))
        spec_fail(L, "%s: the value is too large for a %s", where, dtype_words[type].name);
    d.offset = (int64_t)offset;
    return d;
}

static void read_diagonals(lua_State *L, spmv *s) {
    static const char where[] = "diagonals";
    if (spec_get(L, 1, where)) {
        const int list = lua_gettop(L), count = spec_list(L, list, where, MOST_DIAGONALS);
        diagonal *all = job_array(spec_of(L)->job, (size_t)count, sizeof *all);
        spec_charge_memory(L, (size_t)count * sizeof *all);
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

int spec_spmv(lua_State *L) {
    model *m = spec_begin(L, "spmv", spec_spmv_keys, DTYPE_REALS);
    spmv *s = job_alloc(spec_of(L)->job, sizeof *s);
    spec_charge_memory(L, sizeof *s);
    s->pattern.functions = m;
    s->pattern.words = &spmv_words;
    s->matrix = read_matrix(L, m->dtype);
    s->index = read_index(L);
    s->vectors = 1;
    if (spec_get(L, 1, "vectors"))
        s->vectors = spec_whole(L, -1, "vectors", NULL, 1, SPMV_MOST_VECTORS);
    lua_pop(L, 1);
    read_diagonals(L, s);
    spec_read_pattern(L, 1, &spmv_words, &s->pattern.wanted);
    spec_read_pattern_tune(L, 1, &spmv_words, m);
    m->declared = true;
    spec_operands(L, m, NULL, 0);
    add_factor(L, m, "alpha", 1);
    add_factor(L, m, "beta", 0);
    spec_finish_functions(L, m);
    return spec_end(L, FAMILY_SPMV, m, s);
}
