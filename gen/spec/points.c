/* The keys points and monitors. Points: sets of places where values are added to a field after each
   step, or its values recorded. Takes: the spec's table, and a model whose fields and arrays are
   known. Makes: the sets by their names, and a model without a grid of what they inject. Monitors:
   reductions over the grid, of numbers that a map makes of the fields, each a model of its own from
   the same fields to one array. */
#include "gen/spec/state.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)MAX_SETS <= (int)MAX_FIELDS, "an output for each set");

static const spec_key spec_set_keys[] = {
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
    spec_need(L, LUA_TFUNCTION, where, NULL, "a function");
    s->update = &u;
    s->serial++;
    spec_push_expr(L, expr_tap(s->pool, m->array_count, (const int[AXES]){0}), true);
    spec_push_fields(L, m, named);
    spec_push_parameters(L);
    spec_call_one(L, where, 3);
    const expr_id value =
        spec_to_output(L, job_print(s->job, "the value that %s returns", where), "f");
    check_centre(L, u.name, &u);
    s->update = NULL; /* the value stays for the caller, who pops the function */
    return value;
}

/* The set whose description is on the top of the stack. */
static void read_set(lua_State *L, bool named, model *m, const char *name) {
    job *j = spec_of(L)->job;
    model_set *set = &m->sets[m->set_count++];
    set->name = name;
    const char *where = job_print(j, "points.%s", set->name);
    spec_need(L, LUA_TTABLE, where, NULL, "a table such as { field = \"u\", sample = true }");
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

/* A key with named descriptions. They are read in the order of their names, as a table has none of
   its own. `what` they are called in an error. */
static void read_named(lua_State *L, int table, const char *key, const char *what,
                       const char *expected, bool named, model *m,
                       void (*read)(lua_State *, bool named, model *, const char *name)) {
    const char *names[MAX_SETS];
    int count = 0;
    if (spec_get(L, table, key)) {
        spec_need(L, LUA_TTABLE, key, NULL, expected);
        for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
            if (count == MAX_SETS)
                spec_fail(L, "%s: more than %d%s", key, MAX_SETS, what);
            const char *name = spec_name(L, -2, key);
            names[count++] = job_string(spec_of(L)->job, name);
        }
        qsort(names, (size_t)count, sizeof *names, text_compare);
        for (int i = 0; i < count; i++, lua_pop(L, 1)) {
            spec_get(L, -1, names[i]);
            read(L, named, m, names[i]);
        }
    }
    lua_pop(L, 1);
}

void spec_read_points(lua_State *L, int table, bool named, model *m) {
    read_named(L, table, "points", " sets",
               "a table such as { rec = { field = \"u\", sample = true } }", named, m, read_set);
}

/* ---- monitors -------------------------------------------------------------------------------- */

static const spec_key spec_monitor_keys[] = {
    {"op", "how the numbers of all cells are joined: \"sum\", \"max\", ... as of reduce"},
    {"map", "map(f, p, at): the number of a cell; it reads as an update does"},
    {NULL, NULL},
};

static void read_op(lua_State *L, const char *where, dtype type, model_monitor *out) {
    const char *words[OPERATOR_COUNT];
    pattern_operator op = {.id = OPERATOR_SUM};
    int count = 0;
    while (count < OPERATOR_COUNT && !operator_words[count].bits) {
        words[count] = operator_words[count].name;
        count++;
    }
    spec_get(L, -1, "op");
    op.id = (operator_id)spec_word(L, -1, where, words, count);
    lua_pop(L, 1);
    out->op = operator_words[op.id].name;
    out->identity = operator_identity(&op, type).real;
}

/* The fields that the spec reads, and the array of the numbers. */
static model *new_map(lua_State *L, const model *m, const char *name) {
    model *f = spec_array(L, 1, sizeof *f);
    f->name = job_print(spec_of(L)->job, "%s_%s", m->name, name);
    f->file = m->file;
    f->line = m->line;
    f->dims = m->dims;
    f->dtype = m->dtype;
    f->shape = SHAPE_UPDATE;
    memcpy(f->sides, m->sides, sizeof f->sides);
    for (int i = 0; i < m->field_count; i++) {
        if (m->fields[i].use == USE_OUT)
            continue;
        for (int level = 0; level < m->fields[i].levels; level++)
            f->arrays[f->array_count++] =
                (model_array){.field = f->field_count, .previous = level == 1};
        f->fields[f->field_count] = m->fields[i];
        f->fields[f->field_count++].use = USE_IN;
    }
    if (f->field_count == MAX_FIELDS)
        spec_fail(L, "monitors: a spec with monitors reads at most %d fields", MAX_FIELDS - 1);
    const char *made = "monitored";
    for (int i = 0; i < f->field_count; i++)
        if (strcmp(f->fields[i].name, made) == 0)
            made = "monitored_"; /* one field alone has the first name */
    f->outputs[f->output_count++] = (model_output){f->field_count, EXPR_NONE};
    f->fields[f->field_count++] = (model_field){.name = made, .use = USE_OUT, .levels = 1};
    return f;
}

/* The monitor whose description is on the top of the stack. */
static void read_monitor(lua_State *L, bool named, model *m, const char *name) {
    job *j = spec_of(L)->job;
    model_monitor *out = &m->monitors[m->monitor_count++];
    out->name = name;
    const char *where = job_print(j, "monitors.%s", out->name);
    expr_id value[MAX_FIELDS];
    spec_need(L, LUA_TTABLE, where, NULL, "a table such as { op = \"max\", map = ... }");
    spec_check_keys(L, -1, where, spec_monitor_keys);
    read_op(L, job_print(j, "%s.op", where), m->dtype, out);
    out->map = new_map(L, m, out->name);
    spec_get(L, -1, "map");
    spec_need(L, LUA_TFUNCTION, job_print(j, "%s.map", where), NULL, "a function");
    spec_update u = {.name = job_print(j, "the function %s.map", where),
                     .model = out->map,
                     .grid = true,
                     .dims = m->dims};
    spec_run_update(L, lua_gettop(L), named, &u, value);
    spec_check_positions(L, m->dims, u.position_dims);
    spec_take_reach(&u, out->map);
    spec_settle_map_sides(L, out->map);
    out->map->outputs[0].value = value[0];
    out->subject = spec_array(L, 1, sizeof *out->subject);
    *out->subject = (subject){.family = &families[FAMILY_STENCIL],
                              .name = out->map->name,
                              .file = m->file,
                              .line = m->line,
                              .dtype = m->dtype,
                              .expressions = out->map,
                              .model = out->map};
    lua_pop(L, 1);
}

void spec_read_monitors(lua_State *L, int table, bool named, model *m) {
    read_named(L, table, "monitors", "", "a table such as { r = { op = \"max\", map = ... } }",
               named, m, read_monitor);
}
