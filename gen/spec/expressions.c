/* Expressions as values of specs: operators, functions and parameters. Takes: numbers, conditions
   and expressions on a Lua stack. Makes: nodes of the load's pool. Plain numbers give plain
   numbers, and conditions that are decided give true or false. */
#include "gen/spec/state.h"

#include <math.h>
#include <string.h>

/* ---- types ----------------------------------------------------------------------------------- */

/* What Lua asks of a value, and why a value that has no answer gives none. */
static const struct {
    const char *event, *refusal;
} refusals[] = {
    {"__index", "has no entries to read"},
    {"__newindex", "has no entries to set"},
    {"__call", "is no function and cannot be called"},
    {"__lt", "cannot be compared with <, <=, > or >="},
    {"__le", "cannot be compared with <, <=, > or >="},
    {"__add", "has no operator +"},
    {"__sub", "has no operator -"},
    {"__mul", "has no operator *"},
    {"__div", "has no operator /"},
    {"__mod", "has no operator %"},
    {"__pow", "has no operator ^"},
    {"__unm", "has no operator -"},
    {"__idiv", "has no operator //"},
    {"__band", "has no operator &"},
    {"__bor", "has no operator |"},
    {"__bxor", "has no operator ~"},
    {"__bnot", "has no operator ~"},
    {"__shl", "has no operator <<"},
    {"__shr", "has no operator >>"},
    {"__concat", "cannot be joined with .. to anything"},
    {"__len", "has no length"},
};

enum { REFUSALS = sizeof refusals / sizeof *refusals };

/* Upvalues: the type's name, the refusal, and what to do instead, or nil. */
static int refuse(lua_State *L) {
    const char *type = lua_tostring(L, lua_upvalueindex(1));
    const char *advice = lua_tostring(L, lua_upvalueindex(3));
    spec_fail(L, "%s %s%s%s", spec_with_article(spec_of(L)->job, type),
              lua_tostring(L, lua_upvalueindex(2)), advice != NULL ? "; " : "",
              advice != NULL ? advice : "");
}

void spec_make_type(lua_State *L, const char *type, const char *advice,
                    const luaL_Reg *metamethods) {
    luaL_newmetatable(L, type);
    for (int i = 0; i < REFUSALS; i++) {
        lua_pushstring(L, type);
        lua_pushstring(L, refusals[i].refusal);
        lua_pushstring(L, advice);
        lua_pushcclosure(L, refuse, 3);
        lua_setfield(L, -2, refusals[i].event);
    }
    luaL_setfuncs(L, metamethods, 0);
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

/* ---- expressions ----------------------------------------------------------------------------- */

int spec_owner(const spec_state *s) {
    return s->update != NULL ? s->serial : 0;
}

void spec_check_owner(lua_State *L, int owner, const char *what) {
    if (owner != 0 && owner != spec_owner(spec_of(L)))
        spec_fail(L, "%s belongs to an update function and cannot be used outside of it", what);
}

void spec_push_expr(lua_State *L, expr_id id, bool taps) {
    spec_state *s = spec_of(L);
    if (s->pool->limit != NULL)
        spec_fail(L, "%s", s->pool->limit);
    const expr_op op = expr_get(s->pool, id)->op;
    spec_expr *e = lua_newuserdatauv(L, sizeof *e, 0);
    *e = (spec_expr){id, spec_owner(s), taps && op != EXPR_CONSTANT && op != EXPR_PARAMETER};
    luaL_setmetatable(L, SPEC_EXPRESSION);
}

bool spec_is_truth(const spec_state *s, expr_id id) {
    return expr_words[expr_get(s->pool, id)->op].gives_truth;
}

bool spec_to_expr(lua_State *L, int index, spec_expr *out) {
    if (lua_type(L, index) == LUA_TNUMBER) {
        const double value = lua_tonumber(L, index);
        if (!isfinite(value))
            spec_fail(L, "a number in an expression is %s",
                      isnan(value) ? "not a number (NaN)" : "infinite");
        *out = (spec_expr){expr_constant(spec_of(L)->pool, value), 0, false};
        return true;
    }
    const spec_expr *e = luaL_testudata(L, index, SPEC_EXPRESSION);
    if (e == NULL)
        return false;
    spec_check_owner(L, e->owner, "an expression");
    *out = *e;
    return true;
}

/* The new node, once it is certain that no limit was passed and that a constant result is
   finite. */
expr_id spec_make(lua_State *L, expr_op op, expr_id a, expr_id b, expr_id c) {
    expr_pool *p = spec_of(L)->pool;
    spec_charge(L, 1);
    if (op == EXPR_DIVIDE && expr_get(p, b)->op == EXPR_CONSTANT && expr_get(p, b)->value == 0)
        spec_fail(L, "division by zero");
    const expr_id made = expr_make(p, op, a, b, c);
    if (p->limit != NULL)
        spec_fail(L, "%s", p->limit);
    const expr_node *n = expr_get(p, made);
    bool constant = n->op != EXPR_CONSTANT && expr_words[n->op].operands > 0;
    for (int i = 0; constant && i < expr_words[n->op].operands; i++)
        constant = expr_get(p, n->operand[i])->op == EXPR_CONSTANT;
    if (constant)
        spec_fail(L, "the result of '%s' on these numbers is not finite", expr_words[op].name);
    return made;
}

expr_id spec_add_term(lua_State *L, expr_id sum, expr_id weight, int array, const int d[AXES]) {
    const expr_id tap = expr_tap(spec_of(L)->pool, array, d);
    const expr_id term = spec_make(L, EXPR_MULTIPLY, weight, tap, EXPR_NONE);
    return sum == EXPR_NONE ? term : spec_make(L, EXPR_ADD, sum, term, EXPR_NONE);
}

/* The result of an operation: a node, or true or false where a condition is decided. */
static int push_result(lua_State *L, expr_op op, expr_id id, bool plain, bool taps) {
    const expr_node *n = expr_get(spec_of(L)->pool, id);
    if (expr_words[op].gives_truth && n->op == EXPR_CONSTANT)
        lua_pushboolean(L, n->value != 0);
    else if (plain)
        lua_pushnumber(L, n->value);
    else
        spec_push_expr(L, id, taps);
    return 1;
}

typedef struct operands {
    bool plain; /* only numbers so far */
    bool taps;
} operands;

static expr_id get_number(lua_State *L, const char *name, int index, operands *seen) {
    spec_expr e;
    if (!spec_to_expr(L, index, &e))
        spec_fail_expected(L, name, NULL, "a number or an expression", index);
    if (spec_is_truth(spec_of(L), e.id))
        spec_fail(L, "%s: expected a number, got a condition", name);
    seen->plain = seen->plain && lua_type(L, index) == LUA_TNUMBER;
    seen->taps = seen->taps || e.taps;
    return e.id;
}

static expr_id get_truth(lua_State *L, const char *name, int index, operands *seen) {
    spec_expr e;
    if (lua_isboolean(L, index))
        return expr_constant(spec_of(L)->pool, lua_toboolean(L, index));
    if (luaL_testudata(L, index, SPEC_EXPRESSION) == NULL || !spec_to_expr(L, index, &e))
        spec_fail_expected(L, name, NULL, "a condition such as lt(a, b)", index);
    if (!spec_is_truth(spec_of(L), e.id))
        spec_fail(L, "%s: expected a condition such as lt(a, b), got a number", name);
    seen->plain = false;
    seen->taps = seen->taps || e.taps;
    return e.id;
}

static bool takes_more_than_two(expr_op op) {
    return op == EXPR_MIN || op == EXPR_MAX || op == EXPR_ALL || op == EXPR_ANY;
}

/* Any function of expr_words. min, max, all and any take two or more. */
int spec_call_operation(lua_State *L) {
    const expr_op op = (expr_op)lua_tointeger(L, lua_upvalueindex(1));
    const expr_word *word = &expr_words[op];
    const int given = lua_gettop(L);
    if (takes_more_than_two(op) && given < 2)
        spec_fail(L, "%s takes 2 or more arguments, got %d", word->name, given);
    if (!takes_more_than_two(op))
        spec_check_count(L, word->name, word->operands);
    expr_id operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
    operands seen = {true, false};
    for (int i = 0; i < word->operands; i++) {
        const bool truth = word->takes_truth && (op != EXPR_WHERE || i == 0);
        operand[i] = (truth ? get_truth : get_number)(L, word->name, i + 1, &seen);
    }
    expr_id result = spec_make(L, op, operand[0], operand[1], operand[2]);
    for (int i = 3; takes_more_than_two(op) && i <= given; i++) {
        const expr_id next = (word->takes_truth ? get_truth : get_number)(L, word->name, i, &seen);
        result = spec_make(L, op, result, next, EXPR_NONE);
    }
    return push_result(L, op, result, seen.plain, seen.taps);
}

static int arithmetic(lua_State *L) {
    const expr_op op = (expr_op)lua_tointeger(L, lua_upvalueindex(1));
    if (luaL_testudata(L, 1, SPEC_WEIGHTS) != NULL || luaL_testudata(L, 2, SPEC_WEIGHTS) != NULL)
        return spec_weights_arithmetic(L, op);
    operands seen = {true, false};
    const char *name = expr_words[op].name;
    const expr_id a = get_number(L, name, 1, &seen);
    const expr_id b = op == EXPR_NEGATE ? EXPR_NONE : get_number(L, name, 2, &seen);
    return push_result(L, op, spec_make(L, op, a, b, EXPR_NONE), seen.plain, seen.taps);
}

static int no_comparison(lua_State *L) {
    spec_fail(L,
              "expressions cannot be compared with ==, ~=, <, <=, > or >=, which decide at once; "
              "write eq, ne, lt, le, gt or ge, and where(condition, a, b)");
}

static int no_entries(lua_State *L) {
    spec_fail(L, "an expression is one value and has no entries; u(dx, dy) reads another point");
}

static int no_call(lua_State *L) {
    spec_fail(L, "an expression is one value and cannot be called; all offsets of a point stand in "
                 "one call of its field, u(dx, dy)");
}

static int no_remainder(lua_State *L) {
    spec_fail(L, "expressions have no operator %%; write a - b * floor(a / b)");
}

static int no_floor_division(lua_State *L) {
    spec_fail(L, "expressions have no operator //; write floor(a / b)");
}

void spec_open_arithmetic(lua_State *L, const char *type) {
    static const struct {
        const char *event;
        expr_op op;
    } events[] = {
        {"__add", EXPR_ADD},    {"__sub", EXPR_SUBTRACT}, {"__mul", EXPR_MULTIPLY},
        {"__div", EXPR_DIVIDE}, {"__unm", EXPR_NEGATE},   {"__pow", EXPR_POW},
    };
    luaL_getmetatable(L, type);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        lua_pushinteger(L, events[i].op);
        lua_pushcclosure(L, arithmetic, 1);
        lua_setfield(L, -2, events[i].event);
    }
    lua_pop(L, 1);
}

void spec_open_expressions(lua_State *L) {
    static const luaL_Reg metamethods[] = {
        {"__eq", no_comparison}, {"__lt", no_comparison},       {"__le", no_comparison},
        {"__index", no_entries}, {"__newindex", no_entries},    {"__call", no_call},
        {"__mod", no_remainder}, {"__idiv", no_floor_division}, {NULL, NULL}};
    spec_make_type(L, SPEC_EXPRESSION, NULL, metamethods);
    spec_open_arithmetic(L, SPEC_EXPRESSION);
}

/* Parameters are numbered by the file; a model renumbers those that it uses. */
expr_id spec_parameter(lua_State *L, const char *name) {
    spec_state *s = spec_of(L);
    int index = 0;
    while (index < s->name_count && strcmp(s->names[index], name) != 0)
        index++;
    if (index == SPEC_MAX_NAMES)
        spec_fail(L, "the file names more than %d parameters", SPEC_MAX_NAMES);
    if (index == s->name_count) {
        s->names[index] = job_string(s->job, name);
        s->name_count++;
    }
    return expr_parameter(s->pool, index);
}

int spec_param(lua_State *L) {
    spec_check_count(L, "param", 1);
    spec_push_expr(L, spec_parameter(L, spec_name(L, 1, "param")), false);
    return 1;
}

/* ---- what update functions return ------------------------------------------------------------ */

/* Takes: the value on the top of the stack. Makes: one expression for each output. */

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
    if (m->output_count == 1 && !lua_istable(L, -1)) { /* one field needs no table */
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
