/* The key monitors: reductions over the grid, of numbers that a map makes of the fields. Takes: the
   spec's table, and a model whose fields, dimensions and boundary are known. Makes: for each
   monitor a model of its own, from the same fields to one array. */
#include "gen/spec/state.h"

#include <stdlib.h>
#include <string.h>

const spec_key spec_monitor_keys[] = {
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
static void read_monitor(lua_State *L, bool named, const model *m, model_monitor *out) {
    job *j = spec_of(L)->job;
    const char *where = job_print(j, "monitors.%s", out->name);
    expr_id value[MAX_FIELDS];
    if (!lua_istable(L, -1))
        spec_fail_expected(L, where, NULL, "a table such as { op = \"max\", map = ... }", -1);
    spec_check_keys(L, -1, where, spec_monitor_keys);
    read_op(L, job_print(j, "%s.op", where), m->dtype, out);
    out->map = new_map(L, m, out->name);
    spec_get(L, -1, "map");
    if (lua_type(L, -1) != LUA_TFUNCTION)
        spec_fail_expected(L, job_print(j, "%s.map", where), NULL, "a function", -1);
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

static int compare_monitors(const void *a, const void *b) {
    return strcmp(((const model_monitor *)a)->name, ((const model_monitor *)b)->name);
}

/* Monitors are read in the order of their names: a table has none of its own. */
static void read_names(lua_State *L, model *m) {
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        if (m->monitor_count == MAX_SETS)
            spec_fail(L, "monitors: more than %d", MAX_SETS);
        const char *name = spec_name(L, -2, "monitors");
        m->monitors[m->monitor_count++].name = job_copy(spec_of(L)->job, name, strlen(name));
    }
    qsort(m->monitors, (size_t)m->monitor_count, sizeof m->monitors[0], compare_monitors);
}

void spec_read_monitors(lua_State *L, int table, bool named, model *m) {
    if (spec_get(L, table, "monitors")) {
        if (!lua_istable(L, -1))
            spec_fail_expected(L, "monitors", NULL,
                               "a table such as { r = { op = \"max\", map = ... } }", -1);
        read_names(L, m);
        for (int i = 0; i < m->monitor_count; i++, lua_pop(L, 1)) {
            spec_get(L, -1, m->monitors[i].name);
            read_monitor(L, named, m, &m->monitors[i]);
        }
    }
    lua_pop(L, 1);
}
