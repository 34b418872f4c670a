/* What the specs of lists share: functions of elements, the key op, algorithms and schedules.
   Takes: the spec's table. Makes: the outputs of a model without a grid, operators, schedules. */
#include "gen/spec/state.h"

#include <math.h>
#include <string.h>

/* ---- functions ----------------------------------------------------------------------------- */

void spec_operands(lua_State *L, model *m, const char *const *names, int count) {
    (void)L;
    m->shape = SHAPE_UPDATE;
    for (int i = 0; i < count; i++) {
        m->fields[m->field_count++] = (model_field){.name = names[i], .use = USE_IN, .levels = 1};
        m->arrays[m->array_count++] = (model_array){.field = i};
    }
}

/* The next output; its value stands in the load's pool until the model is finished. */
static void add_output(model *m, const char *name, expr_id value) {
    m->outputs[m->output_count++] = (model_output){m->field_count, value};
    m->fields[m->field_count++] = (model_field){.name = name, .use = USE_OUT, .levels = 1};
}

/* Whole numbers have sums, products, comparisons and choices, which are exact. */
static bool serves_whole(expr_op op) {
    const unsigned of_reals = 1u << EXPR_DIVIDE | 1u << EXPR_SQRT | 1u << EXPR_EXP |
                              1u << EXPR_LOG | 1u << EXPR_SIN | 1u << EXPR_COS | 1u << EXPR_TANH |
                              1u << EXPR_POW | 1u << EXPR_FLOOR;
    return (of_reals >> op & 1) == 0;
}

static void check_operations(lua_State *L, const model *m, const char *name, expr_id value) {
    const spec_state *s = spec_of(L);
    if (m->dtype < DTYPE_REALS)
        return;
    spec_charge_memory(L, (size_t)s->pool->count * sizeof(bool));
    const bool *live = expr_live(s->pool, s->job, &value, 1);
    for (int i = 0; i < s->pool->count; i++)
        if (live[i] && !serves_whole(expr_get(s->pool, i)->op))
            spec_fail(L, "%s: '%s' is for float and double, not for %s", name,
                      expr_words[expr_get(s->pool, i)->op].name, dtype_words[m->dtype].name);
}

/* The value on the top of the stack. */
static expr_id get_result(lua_State *L, const char *name, bool truth) {
    spec_expr e;
    const char *where = job_print(spec_of(L)->job, "the value that %s returns", name);
    if (!spec_to_expr(L, -1, &e))
        spec_fail_expected(L, where, NULL, truth ? "a condition such as lt(a, b)" : "an expression",
                           -1);
    if (spec_is_truth(spec_of(L), e.id) && !truth)
        spec_fail(L, "%s: expected a number, got a condition; use where(condition, 1, 0)", where);
    if (!spec_is_truth(spec_of(L), e.id) && truth)
        spec_fail(L, "%s: expected a condition such as lt(a, b), got a number", where);
    return e.id;
}

bool spec_read_function(lua_State *L, int table, const char *key, model *m, int operands,
                        bool truth) {
    spec_state *s = spec_of(L);
    if (!spec_get(L, table, key)) {
        lua_pop(L, 1);
        spec_no_function(L, m);
        return false;
    }
    spec_need(L, LUA_TFUNCTION, key, NULL, "a function");
    spec_update u = {.name = job_print(s->job, "the function %s", key), .model = m};
    s->update = &u;
    s->serial++;
    for (int i = 0; i < operands; i++)
        spec_push_expr(L, expr_tap(s->pool, i, (const int[AXES]){0}), true);
    spec_push_parameters(L);
    spec_push_positions(L);
    spec_call_one(L, key, operands + 2);
    const expr_id value = get_result(L, key, truth);
    check_operations(L, m, key, value);
    add_output(m, key, value);
    lua_pop(L, 1);
    s->update = NULL;
    return true;
}

void spec_read_value(lua_State *L, int table, const char *key, model *m, double fallback) {
    spec_expr e = {.id = EXPR_NONE};
    if (!spec_get(L, table, key))
        e.id = expr_constant(spec_of(L)->pool, fallback);
    else if (!spec_to_expr(L, -1, &e) || spec_is_truth(spec_of(L), e.id))
        spec_fail_expected(L, key, NULL, "a number or param \"name\"", -1);
    check_operations(L, m, key, e.id);
    add_output(m, key, e.id);
    lua_pop(L, 1);
}

void spec_no_function(lua_State *L, model *m) {
    (void)L;
    add_output(m, "none", EXPR_NONE);
}

void spec_finish_functions(lua_State *L, model *m) {
    expr_id outputs[MAX_FIELDS];
    model_roots(m, outputs);
    spec_finish_model(L, m, outputs);
}

/* ---- schedules ----------------------------------------------------------------------------- */

static int read_choice(lua_State *L, int table, const char *key, const word_row *words, int count) {
    return spec_get_word(L, table, key, word_names(spec_of(L)->job, words, count), count, 0);
}

void spec_read_pattern(lua_State *L, int table, const pattern_words *w, pattern_schedule *out) {
    out->algorithm = read_choice(L, table, "algorithm", w->algorithms, w->algorithm_count);
    if (w->format_count > 0)
        out->format = read_choice(L, table, "format", w->formats, w->format_count);
    if (spec_get(L, table, "schedule")) {
        spec_need(L, LUA_TTABLE, "schedule", NULL, "a table such as { threads = 256 }");
        spec_key keys[PATTERN_NUMBERS + 1] = {{NULL, NULL}};
        for (int i = 0; i < w->number_count; i++)
            keys[i] = (spec_key){w->numbers[i].name, NULL};
        spec_check_keys(L, -1, "schedule", keys);
        for (int i = 0; i < w->number_count; i++, lua_pop(L, 1)) {
            const pattern_number *n = &w->numbers[i];
            if (!spec_get(L, -1, n->name))
                continue;
            out->number[i] = spec_whole(L, -1, "schedule", n->name, n->least, n->most);
            const char *fault = pattern_number_fault(n, out->number[i], spec_of(L)->job);
            if (fault != NULL)
                spec_fail(L, "schedule: %s", fault);
        }
    }
    lua_pop(L, 1);
}

/* ---- operators ------------------------------------------------------------------------------- */

static bool is_function(lua_State *L, int table) {
    spec_get(L, table, "op");
    const bool function = lua_type(L, -1) == LUA_TFUNCTION;
    lua_pop(L, 1);
    return function;
}

/* The value on the top of the stack. A whole number is Lua's own, which a double may not hold. */
static pattern_value read_identity(lua_State *L, dtype type) {
    spec_need(L, LUA_TNUMBER, "identity", NULL, "a number");
    const double value = lua_tonumber(L, -1);
    if (type < DTYPE_REALS) {
        if (isnan(value))
            spec_fail_expected(L, "identity", NULL, "a number", -1);
        if (!isinf(value))
            spec_check_range(L, type, "identity", value);
        return (pattern_value){.real = dtype_round(type, value)};
    }
    if (type == DTYPE_INT64 && lua_isinteger(L, -1))
        return (pattern_value){.whole = lua_tointeger(L, -1)};
    spec_check_range(L, type, "identity", value);
    return (pattern_value){.whole = (int64_t)value};
}

static void read_own(lua_State *L, int table, model *m, pattern_operator *out) {
    out->id = OPERATOR_OWN;
    out->function = m->output_count;
    spec_read_function(L, table, "op", m, 2, false);
    if (!spec_get(L, table, "identity"))
        spec_fail(L, "identity is missing: the element e with op(e, a) = op(a, e) = a");
    out->identity = read_identity(L, m->dtype);
    lua_pop(L, 1);
    out->own_commutes = spec_flag(L, table, "commutative");
}

static void read_named(lua_State *L, int table, model *m, const char *const *more, int more_count,
                       int *which) {
    const char *words[OPERATOR_COUNT + SPEC_MORE_OPERATORS];
    for (int i = 0; i < OPERATOR_COUNT; i++)
        words[i] = operator_words[i].name;
    for (int i = 0; i < more_count; i++)
        words[OPERATOR_COUNT + i] = more[i];
    *which = OPERATOR_SUM;
    if (spec_get(L, table, "op")) {
        spec_need(L, LUA_TSTRING, "op", NULL, "an operator's name or a function");
        *which = spec_word(L, -1, "op", words, OPERATOR_COUNT + more_count);
    }
    lua_pop(L, 1);
    static const char *const only[] = {"identity", "commutative"};
    for (int i = 0; i < 2; i++, lua_pop(L, 1))
        if (spec_get(L, table, only[i]))
            spec_fail(L, "%s is for an op that is a function; %s has its own", only[i],
                      words[*which]);
    if (*which < OPERATOR_COUNT && operator_words[*which].bits && m->dtype < DTYPE_REALS)
        spec_fail(L, "op: %s is for whole numbers, not for %s", words[*which],
                  dtype_words[m->dtype].name);
    spec_no_function(L, m);
}

int spec_read_operator(lua_State *L, int table, model *m, const char *const *more, int more_count,
                       pattern_operator *out) {
    int which = OPERATOR_OWN;
    if (is_function(L, table)) {
        read_own(L, table, m, out);
        return -1;
    }
    read_named(L, table, m, more, more_count, &which);
    if (which >= OPERATOR_COUNT)
        return which - OPERATOR_COUNT;
    out->id = (operator_id)which;
    return -1;
}
