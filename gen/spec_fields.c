/* The tables of a spec that name things: its fields and its parameters.
   Takes: the spec's table. Makes: the model's fields, arrays and declared parameters, by name. */
#include "gen/spec_state.h"

#include <stdlib.h>
#include <string.h>

const spec_key spec_field_keys[] = {
    {"use", "\"in\", \"out\" or \"inout\""},
    {"levels", "2 where the previous time level is kept; 1 by default"},
    {NULL, NULL},
};

static int compare_fields(const void *a, const void *b) {
    return strcmp(((const model_field *)a)->name, ((const model_field *)b)->name);
}

static int compare_parameters(const void *a, const void *b) {
    return strcmp(((const model_parameter *)a)->name, ((const model_parameter *)b)->name);
}

void spec_sort_parameters(model *m) {
    qsort(m->parameters, (size_t)m->parameter_count, sizeof m->parameters[0], compare_parameters);
}

static char *copy_name(lua_State *L, int index, const char *where) {
    const char *name = spec_name(L, index, where);
    return job_copy(spec_of(L)->job, name, strlen(name));
}

/* The field whose description is on the top of the stack: a word or a table. */
static void read_field(lua_State *L, model_field *field) {
    job *j = spec_of(L)->job;
    const char *where = job_print(j, "fields.%s", field->name);
    field->levels = 1;
    if (!lua_istable(L, -1)) {
        field->use = (field_use)spec_word(L, -1, where, use_words, USE_COUNT);
        return;
    }
    spec_check_keys(L, -1, where, spec_field_keys);
    spec_get(L, -1, "use");
    field->use = (field_use)spec_word(L, -1, job_print(j, "%s.use", where), use_words, USE_COUNT);
    if (spec_get(L, -2, "levels"))
        field->levels = spec_whole(L, -1, where, "levels", 1, 2);
    if (field->levels == 2 && field->use != USE_INOUT)
        spec_fail(L, "%s: levels = 2 needs use = \"inout\"", where);
    lua_pop(L, 2);
}

static void read_table(lua_State *L, model *m) {
    if (!lua_istable(L, -1))
        spec_fail_expected(L, "fields", NULL, "a table such as { u = \"inout\", c = \"in\" }", -1);
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        if (m->field_count == MAX_FIELDS)
            spec_fail(L, "fields: more than %d", MAX_FIELDS);
        model_field *field = &m->fields[m->field_count++];
        field->name = copy_name(L, -2, "fields");
        read_field(L, field);
    }
    qsort(m->fields, (size_t)m->field_count, sizeof m->fields[0], compare_fields);
}

/* Without the key there is one field u. */
bool spec_read_fields(lua_State *L, int table, model *m) {
    const bool named = spec_get(L, table, "fields");
    if (named)
        read_table(L, m);
    else
        m->fields[m->field_count++] = (model_field){"u", USE_INOUT, 1};
    lua_pop(L, 1);
    for (int i = 0; i < m->field_count; i++) {
        if (m->fields[i].use != USE_IN)
            m->outputs[m->output_count++] = (model_output){i, EXPR_NONE};
        for (int level = 0; level < m->fields[i].levels && m->fields[i].use != USE_OUT; level++)
            m->arrays[m->array_count++] = (model_array){.field = i, .previous = level == 1};
    }
    if (m->array_count == 0)
        spec_fail(L, "fields: none is read; at least one is \"in\" or \"inout\"");
    if (m->output_count == 0)
        spec_fail(L, "fields: none is written; at least one is \"out\" or \"inout\"");
    return named;
}

/* name = default value, or name = true where there is none */
static void read_parameter(lua_State *L, model *m) {
    if (m->parameter_count == MAX_PARAMETERS)
        spec_fail(L, "parameters: more than %d", MAX_PARAMETERS);
    model_parameter *p = &m->parameters[m->parameter_count++];
    p->name = copy_name(L, -2, "parameters");
    p->has_value = !lua_isboolean(L, -1) || !lua_toboolean(L, -1);
    if (!p->has_value)
        return;
    p->value = spec_number(L, -1, "parameters", p->name);
    spec_check_range(L, m->dtype, job_print(spec_of(L)->job, "parameter %s:", p->name), p->value);
}

bool spec_read_parameters(lua_State *L, int table, model *m) {
    const bool declared = spec_get(L, table, "parameters");
    if (declared && !lua_istable(L, -1))
        spec_fail_expected(L, "parameters", NULL, "a table such as { k = 0.05 }", -1);
    if (declared)
        for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1))
            read_parameter(L, m);
    lua_pop(L, 1);
    spec_sort_parameters(m);
    return declared;
}
