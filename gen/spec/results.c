/* What update functions return.
   Takes: the value on the top of the stack. Makes: one expression for each output. */
#include "gen/spec/state.h"

/* The value on the top of the stack, of a field, or of the components from this field on. */
static void read_result(lua_State *L, const char *where, const model *m, int field, expr_id *out) {
    const int count = spec_components(m, field);
    const char *name = spec_title(L, m, field);
    if (count == 0)
        out[0] = spec_to_output(L, where, name);
    else if (!lua_istable(L, -1) || spec_list(L, -1, where, MAX_FIELDS) != count)
        spec_fail(L, "%s: expected a list of %d expressions, one for each component of %s", where,
                  count, name);
    for (int i = 0; i < count; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, i + 1);
        out[i] = spec_to_output(L, where, m->fields[field + i].name);
    }
}

/* From a field, or from the first of several components, to the next. */
static int next_field(const model *m, int field) {
    const int count = spec_components(m, field);
    return field + (count > 0 ? count : 1);
}

/* The values that update returned, on the top of the stack, by output. */
void spec_read_results(lua_State *L, const model *m, expr_id outputs[MAX_FIELDS]) {
    static const char where[] = "the value that update returns";
    spec_key keys[MAX_FIELDS + 1];
    int count = 0, first[MAX_FIELDS];
    for (int i = 0; i < m->field_count; i = next_field(m, i))
        if (m->fields[i].use != USE_IN) {
            first[count] = i;
            keys[count++] = (spec_key){spec_title(L, m, i), NULL};
        }
    keys[count] = (spec_key){NULL, NULL};
    if (m->output_count == 1) {
        outputs[0] = spec_to_output(L, where, keys[0].name);
        return;
    }
    if (!lua_istable(L, -1))
        spec_fail(L,
                  "%s: expected a table with an expression for each of %d written fields, got %s",
                  where, m->output_count, spec_describe(L, -1));
    spec_check_keys(L, -1, "the table that update returns", keys);
    for (int i = 0, output = 0; i < count; output += next_field(m, first[i]) - first[i], i++) {
        if (!spec_get(L, -1, keys[i].name))
            spec_fail(L, "the table that update returns has no entry '%s'", keys[i].name);
        read_result(L, where, m, first[i], &outputs[output]);
        lua_pop(L, 1);
    }
}

/* The same of a stage: a table of those fields that it writes. */
void spec_read_some_results(lua_State *L, const model *m, expr_id outputs[MAX_FIELDS]) {
    static const char where[] = "the table that update returns";
    spec_key keys[MAX_FIELDS + 1] = {{NULL, NULL}};
    bool any = false;
    int output = 0;
    if (!lua_istable(L, -1))
        spec_fail(L,
                  "a stage's update returns a table of the fields that it writes, such as { %s "
                  "= ... }; got %s",
                  m->fields[m->outputs[0].field].name, spec_describe(L, -1));
    for (int i = 0, count = 0; i < m->field_count; i = next_field(m, i))
        keys[count++] = (spec_key){spec_title(L, m, i), NULL};
    spec_check_keys(L, -1, where, keys);
    for (int i = 0; i < m->field_count; i = next_field(m, i), lua_pop(L, 1)) {
        const char *name = spec_title(L, m, i);
        const bool given = spec_get(L, -1, name);
        if (given && m->fields[i].use == USE_IN)
            spec_fail(L, "%s: field '%s' is only read (in) and cannot be written", where, name);
        if (given)
            read_result(L, job_print(spec_of(L)->job, "%s: %s", where, name), m, i,
                        &outputs[output]);
        any = any || given;
        output += m->fields[i].use != USE_IN ? next_field(m, i) - i : 0;
    }
    if (!any)
        spec_fail(L, "%s is empty: a stage writes at least one field", where);
}
