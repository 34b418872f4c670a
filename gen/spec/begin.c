/* What the functions of all families begin and end with.
   Takes: the table that a spec passes. Makes: an empty model with its name, and the value that
   stands for the finished one. */
#include "gen/spec/state.h"

#include <math.h>
#include <string.h>

bool spec_overflows(dtype type, double value) {
    if (type == DTYPE_FLOAT)
        return (float)value - (float)value != 0;
    return !(value >= dtype_words[type].least && value <= dtype_words[type].largest);
}

void spec_check_range(lua_State *L, dtype type, const char *what, double value) {
    if (spec_overflows(type, value))
        spec_fail(L, "%s %s overflows %s", what, spec_number_text(spec_of(L)->job, value),
                  dtype_words[type].name);
    if (type >= DTYPE_REALS && value != floor(value))
        spec_fail(L, "%s %s is not whole, as %s is", what, spec_number_text(spec_of(L)->job, value),
                  dtype_words[type].name);
}

/* The key on the top of the stack. */
static dtype read_dtype(lua_State *L, int count) {
    const char *words[DTYPE_COUNT];
    for (int i = 0; i < count; i++)
        words[i] = dtype_words[i].name;
    return (dtype)spec_word(L, -1, "dtype", words, count);
}

model *spec_begin(lua_State *L, const char *function, const spec_key *keys, int dtypes) {
    spec_state *s = spec_of(L);
    if (s->update != NULL)
        spec_fail(L, "%s cannot be called inside %s", function, s->update->name);
    spec_check_count(L, function, 1);
    if (!lua_istable(L, 1))
        spec_fail_expected(L, function, NULL,
                           job_print(s->job, "a table: %s { name = ... }", function), 1);
    if (s->model_count == SPEC_MAX_STENCILS)
        spec_fail(L, "the file makes more than %d specs", SPEC_MAX_STENCILS);
    spec_check_keys(L, 1, function, keys);
    model *m = job_alloc(s->job, sizeof *m);
    s->model_count++;
    s->mark = s->pool->count;
    spec_charge_memory(L, sizeof *m);
    m->file = s->path;
    m->line = spec_current_line(L);
    spec_get(L, 1, "name");
    const char *name = spec_name(L, -1, "name");
    m->name = job_copy(s->job, name, strlen(name));
    if (spec_get(L, 1, "dtype"))
        m->dtype = read_dtype(L, dtypes);
    lua_pop(L, 2);
    return m;
}

int spec_end(lua_State *L, int family, model *expressions, void *family_model) {
    spec_state *s = spec_of(L);
    expr_pool_truncate(s->pool, s->mark);
    subject *made = job_alloc(s->job, sizeof *made);
    *made = (subject){.family = &families[family],
                      .name = expressions->name,
                      .file = expressions->file,
                      .line = expressions->line,
                      .dtype = expressions->dtype,
                      .expressions = expressions,
                      .model = family_model};
    spec_value *value = lua_newuserdatauv(L, sizeof *value, 0);
    value->subject = made;
    luaL_setmetatable(L, SPEC_SPEC);
    return 1;
}
