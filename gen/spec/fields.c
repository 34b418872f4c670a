/* The keys of a stencil's table, except its update: fields, parameters and schedule.
   Takes: the spec's table. Makes: the model's fields, arrays, parameters and schedule. */
#include "gen/spec/state.h"

#include "base/text.h"
#include "gen/stencil/method.h"

#include <stdlib.h>
#include <string.h>

/* ---- fields and parameters ------------------------------------------------------------------- */

enum { MOST_CONTENT = 256 }; /* numbers that a field holds */

const spec_key spec_field_keys[] = {
    {"use", "\"in\", \"out\" or \"inout\""},
    {"components", "2 or more: read as f[1](dx, dy), f[2](dx, dy), …; one array holds them all"},
    {"boundary", "what reads of this field find outside of the grid; the spec's by default"},
    {"levels", "2 where the previous time level is kept; 1 by default"},
    {"storage", "\"half\" or \"bfloat16\": the array holds 16 bits; the spec's by default"},
    {"values", "what the field holds: a check draws these numbers alone"},
    {"range", "the least and the greatest number that the field holds, for checks"},
    {NULL, NULL},
};

static int compare_fields(const void *a, const void *b) {
    return component_compare(((const model_field *)a)->name, ((const model_field *)b)->name);
}

static int compare_parameters(const void *a, const void *b) {
    return strcmp(((const model_parameter *)a)->name, ((const model_parameter *)b)->name);
}

void spec_sort_parameters(model *m) {
    qsort(m->parameters, (size_t)m->parameter_count, sizeof m->parameters[0], compare_parameters);
}

static char *copy_name(lua_State *L, int index, const char *where) {
    const char *name = spec_name(L, index, where);
    return job_string(spec_of(L)->job, name);
}

/* The list on the top of the stack, with each number as the dtype holds it. */
static double *read_numbers(lua_State *L, const char *where, dtype type, int count) {
    double *values = spec_array(L, (size_t)count, sizeof *values);
    for (int i = 0; i < count; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, i + 1);
        values[i] = spec_number(L, -1, where, NULL);
        spec_check_range(L, type, job_print(spec_of(L)->job, "%s:", where), values[i]);
        values[i] = dtype_round(type, values[i]) + 0.0; /* no −0 */
    }
    return values;
}

/* Values are sorted, and each is kept once: their order means nothing. */
static void read_values(lua_State *L, const char *where, dtype type, model_content *out) {
    const int count = spec_list(L, -1, where, MOST_CONTENT);
    if (count == 0)
        spec_fail(L, "%s: there must be 1 to %d numbers", where, MOST_CONTENT);
    double *values = read_numbers(L, where, type, count);
    qsort(values, (size_t)count, sizeof *values, dtype_compare);
    for (int i = 0; i < count; i++)
        if (i == 0 || values[i] != values[i - 1])
            values[out->count++] = values[i];
    out->values = values;
}

static void read_range(lua_State *L, const char *where, dtype type, model_content *out) {
    enum { ENDS = 2 };
    if (!lua_istable(L, -1) || spec_list(L, -1, where, MOST_CONTENT) != ENDS)
        spec_fail(L, "%s: expected { least, greatest }", where);
    const double *ends = read_numbers(L, where, type, ENDS);
    if (ends[0] > ends[1])
        spec_fail(L, "%s: expected { least, greatest }, but %s is more than %s", where,
                  spec_number_text(spec_of(L)->job, ends[0]),
                  spec_number_text(spec_of(L)->job, ends[1]));
    *out = (model_content){ends, ENDS, true};
}

/* Reads what the description on the top of the stack says of the data of checks. */
static void read_content(lua_State *L, const char *where, dtype type, model_field *field) {
    job *j = spec_of(L)->job;
    const bool values = spec_get(L, -1, "values");
    if (values)
        read_values(L, job_print(j, "%s.values", where), type, &field->content);
    lua_pop(L, 1);
    const bool range = spec_get(L, -1, "range");
    if (values && range)
        spec_fail(L, "%s: values and range exclude each other", where);
    if (range)
        read_range(L, job_print(j, "%s.range", where), type, &field->content);
    lua_pop(L, 1);
    if ((values || range) && field->use == USE_OUT)
        spec_fail(L, "%s: %s is for a field that is read: use = \"in\" or \"inout\"", where,
                  values ? "values" : "range");
}

/* The word on the top of the stack. `scratch` is NULL where there are no such fields. */
static void read_use(lua_State *L, const char *where, model_field *field, bool *scratch) {
    const char *words[USE_COUNT + 1] = {use_words[USE_IN], use_words[USE_OUT], use_words[USE_INOUT],
                                        "scratch"};
    const int use = spec_word(L, -1, where, words, USE_COUNT + (scratch != NULL));
    field->use = use == USE_COUNT ? USE_INOUT : (field_use)use;
    if (scratch != NULL)
        *scratch = use == USE_COUNT;
}

/* The field whose description is on the top of the stack: a word or a table. Returns how many
   components it has; 1 where it is one number a point. */
static int read_field(lua_State *L, dtype type, dtype storage, model_field *field, bool *scratch) {
    job *j = spec_of(L)->job;
    const char *where = job_print(j, "fields.%s", field->name);
    field->levels = 1;
    field->storage = storage;
    if (!lua_istable(L, -1)) {
        read_use(L, where, field, scratch);
        return 1;
    }
    spec_check_keys(L, -1, where, spec_field_keys);
    spec_get(L, -1, "use");
    read_use(L, job_print(j, "%s.use", where), field, scratch);
    lua_pop(L, 1);
    if (scratch != NULL && *scratch) {
        static const spec_key few[] = {{"use", NULL}, {"boundary", NULL}, {NULL, NULL}};
        spec_check_keys(L, -1, job_print(j, "%s, a scratch field", where), few);
        return 1;
    }
    field->levels = spec_get_whole(L, -1, where, "levels", 1, 2, 1);
    if (field->levels == 2 && field->use != USE_INOUT)
        spec_fail(L, "%s: levels = 2 needs use = \"inout\"", where);
    field->storage = spec_get_storage(L, -1, job_print(j, "%s.storage", where), type, storage);
    read_content(L, where, type, field);
    const bool several = spec_get(L, -1, "components");
    lua_pop(L, 1);
    return several ? spec_get_whole(L, -1, where, "components", 2, MAX_FIELDS, 2) : 1;
}

/* Makes a field of each component of the last one. */
static void add_components(lua_State *L, model *m, int count) {
    const model_field whole = m->fields[--m->field_count];
    if (count > MAX_FIELDS - m->field_count)
        spec_fail(L, "fields: more than %d, each component of '%s' counted", MAX_FIELDS,
                  whole.name);
    for (int i = 1; i <= count; i++) {
        model_field *field = &m->fields[m->field_count++];
        *field = whole;
        field->name = job_print(spec_of(L)->job, "%s[%d]", whole.name, i);
    }
}

/* Sorted by name. */
static void read_table(lua_State *L, model *m, dtype storage, bool *scratch) {
    const char *names[MAX_FIELDS];
    bool is_scratch = false;
    int scratch_count = 0;
    spec_need(L, LUA_TTABLE, "fields", NULL, "a table such as { u = \"inout\", c = \"in\" }");
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        if (m->field_count == MAX_FIELDS)
            spec_fail(L, "fields: more than %d", MAX_FIELDS);
        model_field *field = &m->fields[m->field_count++];
        field->name = copy_name(L, -2, "fields");
        const int components =
            read_field(L, m->dtype, storage, field, scratch != NULL ? &is_scratch : NULL);
        if (components > 1)
            add_components(L, m, components);
        else if (is_scratch)
            names[scratch_count++] = field->name;
    }
    qsort(m->fields, (size_t)m->field_count, sizeof m->fields[0], compare_fields);
    for (int i = 0; i < m->field_count && scratch != NULL; i++) {
        scratch[i] = false;
        for (int k = 0; k < scratch_count; k++)
            scratch[i] |= strcmp(names[k], m->fields[i].name) == 0;
    }
}

static void list_arrays(lua_State *L, model *m) {
    int arrays = 0; /* of a kernel */
    for (int i = 0; i < m->field_count; i++) {
        arrays +=
            (m->fields[i].use != USE_IN) + (m->fields[i].use != USE_OUT ? m->fields[i].levels : 0);
        if (m->fields[i].use != USE_IN)
            m->outputs[m->output_count++] = (model_output){i, EXPR_NONE};
        for (int level = 0; level < m->fields[i].levels && m->fields[i].use != USE_OUT; level++)
            m->arrays[m->array_count++] = (model_array){.field = i, .previous = level == 1};
    }
    if (arrays > MAX_ARRAYS)
        spec_fail(L,
                  "fields: current, previous and new values make %d arrays; at most %d, so use in "
                  "and out where inout is not needed",
                  arrays, MAX_ARRAYS);
    if (m->array_count == 0)
        spec_fail(L, "fields: none is read; at least one is \"in\" or \"inout\"");
    if (m->output_count == 0)
        spec_fail(L, "fields: none is written; at least one is \"out\" or \"inout\"");
}

/* Without the key there is one field u. */
bool spec_read_fields(lua_State *L, int table, model *m, dtype storage) {
    const bool named = spec_get(L, table, "fields");
    if (named)
        read_table(L, m, storage, NULL);
    else
        m->fields[m->field_count++] =
            (model_field){.name = "u", .use = USE_INOUT, .levels = 1, .storage = storage};
    lua_pop(L, 1);
    list_arrays(L, m);
    return named;
}

void spec_read_system_fields(lua_State *L, int table, model *m, dtype storage,
                             bool scratch[MAX_FIELDS]) {
    spec_get(L, table, "fields");
    read_table(L, m, storage, scratch);
    for (int f = 0; f < m->field_count; f++)
        if (m->fields[f].storage != storage)
            spec_fail(L, "fields.%s.storage: all fields of a system have the same storage",
                      m->fields[f].name);
    lua_pop(L, 1);
    list_arrays(L, m);
}

/* name = default value, or name = true where there is none */
static void read_parameter(lua_State *L, model *m) {
    if (m->parameter_count == MAX_PARAMETERS)
        spec_fail(L, "parameters: more than %d", MAX_PARAMETERS);
    if (lua_type(L, -2) != LUA_TSTRING)
        spec_fail(L,
                  "parameters: give each by name, with its value or true: { k = 0.05, F = true }");
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

/* ---- schedule -------------------------------------------------------------------------------- */

const spec_key *spec_schedule_keys(job *j) {
    spec_key *keys = job_array(j, SCHEDULE_KEYS + 1, sizeof *keys);
    for (int k = 0; k < SCHEDULE_KEYS; k++)
        keys[k] = (spec_key){schedule_keys[k].word, schedule_keys[k].summary};
    return keys;
}

const char **spec_method_words(job *j) {
    const char **words = job_array(j, METHODS, sizeof *words);
    for (int m = 0; m < METHODS; m++)
        words[m] = methods[m]->name;
    return words;
}

/* A number for each of the first `axes`: { x = 32, y = 8 }. The schedule's table is on the top of
   the stack. */
static void read_axes(lua_State *L, const model *m, const char *key, int axes, int *out) {
    const char *where = job_print(spec_of(L)->job, "schedule.%s", key);
    if (spec_get(L, -1, key)) {
        spec_need(L, LUA_TTABLE, where, NULL, "a table such as { x = 32, y = 8 }");
        spec_check_keys(L, -1, where, spec_axis_keys);
        for (int axis = 0; axis < AXES; axis++, lua_pop(L, 1))
            if (spec_get(L, -1, spec_axis_keys[axis].name)) {
                spec_check_axis(L, where, axis, m->dims, axes);
                out[axis] = spec_whole(L, -1, where, spec_axis_keys[axis].name, 1, SPEC_MAX_NUMBER);
            }
    }
    lua_pop(L, 1);
}

void spec_read_schedule(lua_State *L, int table, model *m) {
    if (spec_get(L, table, "schedule")) {
        spec_need(L, LUA_TTABLE, "schedule", NULL, "a table");
        job *j = spec_of(L)->job;
        spec_check_keys(L, -1, "schedule", spec_schedule_keys(j));
        if (spec_get(L, -1, "method"))
            m->schedule.method = spec_word(L, -1, "schedule.method", spec_method_words(j), METHODS);
        lua_pop(L, 1);
        for (int k = 1; k < SCHEDULE_KEYS; k++) {
            const schedule_key *key = &schedule_keys[k];
            int *numbers = schedule_numbers(&m->schedule, key);
            if (key->kind == SCHEDULE_NUMBER)
                *numbers = spec_get_whole(L, -1, "schedule", key->word, 1, SPEC_MAX_NUMBER, 0);
            else
                read_axes(L, m, key->word, key->axes, numbers);
        }
    }
    lua_pop(L, 1);
}
