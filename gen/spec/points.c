/* The key points: sets of places where values are added to a field after each step, or its values
   recorded. Takes: the spec's table, and a model whose fields and arrays are known. Makes: the sets
   by their names, and a model without a grid of what they inject. */
#include "gen/spec/state.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)MAX_SETS <= (int)MAX_FIELDS, "an output for each set");

const spec_key spec_set_keys[] = {
    {"field", "the field that values are added to, or that is recorded"},
    {"inject", "inject(s, f, p): what is added; s is the point's sample of the step"},
    {"sample", "true: the field is recorded"},
    {NULL, NULL},
};

static int find_field(lua_State *L, const char *where, const model *m) {
    const char *known[MAX_FIELDS];
    for (int i = 0; i < m->field_count; i++)
        known[i] = m->fields[i].name;
    spec_get(L, -1, "field");
    const int field = spec_word(L, -1, where, known, m->field_count);
    lua_pop(L, 1);
    return field;
}

/* The same fields and arrays as the model's, and the sample after them. */
static model *new_injected(lua_State *L, const model *m) {
    model *f = spec_array(L, 1, sizeof *f);
    f->name = m->name;
    f->file = m->file;
    f->line = m->line;
    f->dtype = m->dtype;
    f->shape = SHAPE_UPDATE;
    for (int i = 0; i < m->field_count; i++)
        if (spec_components(m, i) > 0)
            spec_fail(L, "points: inject takes a spec without components, which '%s' has",
                      spec_title(L, m, i));
    if (m->field_count == MAX_FIELDS)
        spec_fail(L, "points: inject takes a spec of at most %d fields", MAX_FIELDS - 1);
    memcpy(f->fields, m->fields, sizeof f->fields);
    memcpy(f->arrays, m->arrays, sizeof f->arrays);
    f->field_count = m->field_count;
    f->array_count = m->array_count;
    f->arrays[f->array_count++] = (model_array){.field = f->field_count};
    f->fields[f->field_count++] = (model_field){.name = "sample", .use = USE_IN, .levels = 1};
    return f;
}

static void check_centre(lua_State *L, const char *name, const spec_update *u) {
    for (int i = 0; i < u->model->array_count; i++)
        for (int axis = 0; axis < AXES; axis++)
            if (u->low[i][axis] != 0 || u->high[i][axis] != 0)
                spec_fail(L, "%s reads the cell itself alone: f.%s(0, ...)", name,
                          u->model->fields[u->model->arrays[i].field].name);
}

/* The function on the top of the stack, called with (s, f, p). */
static expr_id run_inject(lua_State *L, const char *where, bool named, model *m) {
    spec_state *s = spec_of(L);
    spec_update u = {
        .name = job_print(s->job, "the function %s", where), .model = m, .dims = m->dims};
    if (lua_type(L, -1) != LUA_TFUNCTION)
        spec_fail_expected(L, where, NULL, "a function", -1);
    s->update = &u;
    s->serial++;
    const int base = lua_gettop(L) - 1;
    spec_push_expr(L, expr_tap(s->pool, m->array_count, (const int[AXES]){0}), true);
    spec_push_fields(L, m, named);
    spec_push_parameters(L);
    lua_call(L, 3, LUA_MULTRET);
    const int results = lua_gettop(L) - base;
    if (results != 1)
        spec_fail(L, "%s returns %d values instead of one", where, results);
    const expr_id value =
        spec_to_output(L, job_print(s->job, "the value that %s returns", where), "f");
    check_centre(L, u.name, &u);
    lua_settop(L, base);
    s->update = NULL;
    lua_pushnil(L); /* for the caller, who pops the function */
    return value;
}

/* The set whose description is on the top of the stack. */
static void read_set(lua_State *L, bool named, model *m, model_set *set) {
    job *j = spec_of(L)->job;
    const char *where = job_print(j, "points.%s", set->name);
    if (!lua_istable(L, -1))
        spec_fail_expected(L, where, NULL, "a table such as { field = \"u\", sample = true }", -1);
    spec_check_keys(L, -1, where, spec_set_keys);
    set->field = find_field(L, job_print(j, "%s.field", where), m);
    const bool samples = spec_flag(L, lua_gettop(L), "sample");
    const bool injects = spec_get(L, -1, "inject");
    if (samples == injects)
        spec_fail(L, "%s: give either inject, a function, or sample = true", where);
    set->injects = -1;
    if (injects) {
        if (m->fields[set->field].use != USE_INOUT)
            spec_fail(L, "%s: inject needs an inout field, and '%s' is %s", where,
                      m->fields[set->field].name, use_words[m->fields[set->field].use]);
        if (m->injected == NULL)
            m->injected = new_injected(L, m);
        set->injects = m->injected->output_count;
        const expr_id value = run_inject(L, job_print(j, "%s.inject", where), named, m);
        m->injected->outputs[m->injected->output_count++] = (model_output){set->field, value};
    }
    lua_pop(L, 1);
}

static int compare_sets(const void *a, const void *b) {
    return strcmp(((const model_set *)a)->name, ((const model_set *)b)->name);
}

/* Sets are read in the order of their names: a table has none of its own. */
static void read_names(lua_State *L, model *m) {
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        if (m->set_count == MAX_SETS)
            spec_fail(L, "points: more than %d sets", MAX_SETS);
        const char *name = spec_name(L, -2, "points");
        m->sets[m->set_count++].name = job_copy(spec_of(L)->job, name, strlen(name));
    }
    qsort(m->sets, (size_t)m->set_count, sizeof m->sets[0], compare_sets);
}

void spec_read_points(lua_State *L, int table, bool named, model *m) {
    if (spec_get(L, table, "points")) {
        if (!lua_istable(L, -1))
            spec_fail_expected(L, "points", NULL,
                               "a table such as { rec = { field = \"u\", sample = true } }", -1);
        read_names(L, m);
        for (int i = 0; i < m->set_count; i++, lua_pop(L, 1)) {
            spec_get(L, -1, m->sets[i].name);
            read_set(L, named, m, &m->sets[i]);
        }
    }
    lua_pop(L, 1);
}
