/* Update functions: the fields that they read, the parameters that they name, and what they return.
   Takes: the update function of a spec. Makes: one expression for each field that it writes, and
   how far its taps reach. */
#include "gen/spec/state.h"

#include <string.h>

/* A field at one time level, as an update function sees it. */
typedef struct spec_field {
    int serial; /* the update that it was made for */
    int field;
    int array; /* of the model; -1 for a field that is only written */
    bool previous;
} spec_field;

static void push_field(lua_State *L, int field, bool previous) {
    const spec_state *s = spec_of(L);
    const int array = model_array_of(s->update->model, field, previous);
    spec_field *f = lua_newuserdatauv(L, sizeof *f, 0);
    *f = (spec_field){s->serial, field, array, previous};
    luaL_setmetatable(L, SPEC_FIELD);
}

/* The field at an index; it must belong to the running update and be readable. */
static const spec_field *get_field(lua_State *L, int index) {
    const spec_state *s = spec_of(L);
    const spec_field *f = luaL_checkudata(L, index, SPEC_FIELD);
    if (s->update == NULL || f->serial != s->serial)
        spec_fail(L, "a field can only be read inside its update function");
    if (f->array < 0)
        spec_fail(L, "field '%s' is only written (out) and cannot be read",
                  s->update->model->fields[f->field].name);
    if (s->update->unwritten != NULL && s->update->unwritten[f->field])
        spec_fail(L,
                  "scratch field '%s' is read before a stage has written it: in each step it holds "
                  "nothing until then; put the stage that writes it first, or make it inout, which "
                  "keeps its values",
                  s->update->model->fields[f->field].name);
    return f;
}

static void record_reach(spec_update *u, int array, const int d[AXES]) {
    for (int axis = 0; axis < AXES; axis++) {
        u->low[array][axis] = larger(u->low[array][axis], -d[axis]);
        u->high[array][axis] = larger(u->high[array][axis], d[axis]);
    }
}

void spec_check_positions(lua_State *L, int dims, int position_dims) {
    if (position_dims > dims)
        spec_fail(L, "at.%c and at.n%c are of an axis that the stencil, with %s, does not have",
                  axis_names[position_dims - 1], axis_names[position_dims - 1],
                  text_count(spec_of(L)->job, dims, "dimension"));
}

static void check_dims(lua_State *L, spec_update *u) {
    if (u->dims != 0)
        spec_check_positions(L, u->dims, u->position_dims);
    if (u->dims != 0 && u->dims < u->least_dims)
        spec_fail(L, "a weight table for %d dimensions is applied in a stencil of %d",
                  u->least_dims, u->dims);
}

/* u(dx, dy, dz) */
static int call_field(lua_State *L) {
    const spec_field *f = get_field(L, 1);
    spec_update *u = spec_of(L)->update;
    const char *name = u->model->fields[f->field].name;
    const int count = lua_gettop(L) - 1;
    if (count < 1 || count > AXES)
        spec_fail(L, "%s takes 1 to 3 offsets, got %d", name, count);
    if (u->dims != 0 && count != u->dims)
        spec_fail(L, "%s is read with %s, but the stencil has %s", name,
                  text_count(spec_of(L)->job, count, "offset"),
                  text_count(spec_of(L)->job, u->dims, "dimension"));
    u->dims = count;
    check_dims(L, u);
    int d[AXES] = {0, 0, 0};
    for (int axis = 0; axis < count; axis++)
        d[axis] = spec_whole(L, axis + 2, name, spec_axis_keys[axis].name, -MAX_REACH, MAX_REACH);
    record_reach(u, f->array, d);
    spec_push_expr(L, expr_tap(spec_of(L)->pool, f->array, d), true);
    return 1;
}

/* Whether it is u.u: where a spec names no fields, its functions may still read f.u. */
static bool is_itself(const spec_state *s, const spec_field *f, const char *key) {
    const spec_update *u = s->update;
    return u != NULL && f->serial == s->serial && u->bare && !f->previous &&
           strcmp(key, u->model->fields[f->field].name) == 0;
}

/* u.prev */
static int index_field(lua_State *L) {
    const spec_state *s = spec_of(L);
    const spec_field *f = luaL_checkudata(L, 1, SPEC_FIELD);
    static const char *const known[] = {"prev"};
    if (lua_type(L, 2) != LUA_TSTRING)
        spec_fail(L, "a field's points are read as u(dx, dy), not with [ ]; got %s",
                  spec_describe(L, 2));
    if (is_itself(s, f, lua_tostring(L, 2))) {
        lua_pushvalue(L, 1);
        return 1;
    }
    if (strcmp(lua_tostring(L, 2), "prev") != 0)
        spec_fail_unknown(L, "key", " of a field", 2, known, 1);
    if (s->update == NULL || f->serial != s->serial)
        spec_fail(L, "a field can only be read inside its update function");
    const model_field *field = &s->update->model->fields[f->field];
    if (f->previous || field->levels < 2)
        spec_fail(L, "field '%s' keeps no earlier time level: declare it with levels = 2",
                  field->name);
    push_field(L, f->field, true);
    return 1;
}

int spec_apply(lua_State *L) {
    spec_check_count(L, "apply", 2);
    const spec_weights *w = luaL_testudata(L, 1, SPEC_WEIGHTS);
    if (w == NULL)
        spec_fail_expected(L, "apply", NULL, "a weight table first", 1);
    spec_check_owner(L, w->owner, "a weight table");
    if (luaL_testudata(L, 2, SPEC_FIELD) == NULL)
        spec_fail_expected(L, "apply", NULL, "a field second", 2);
    const spec_field *f = get_field(L, 2);
    spec_state *s = spec_of(L);
    if (w->dims > s->update->least_dims)
        s->update->least_dims = w->dims;
    check_dims(L, s->update);
    expr_id sum = expr_constant(s->pool, 0);
    for (int i = 0; i < w->count; i++) {
        const int d[AXES] = {w->entry[i].d[0], w->entry[i].d[1], w->entry[i].d[2]};
        record_reach(s->update, f->array, d);
        sum = spec_add_term(L, sum, w->entry[i].value, f->array, d);
    }
    spec_push_expr(L, sum, true);
    return 1;
}

/* p.name */
static int index_parameters(lua_State *L) {
    const spec_state *s = spec_of(L);
    const char *name = spec_name(L, 2, "parameter");
    if (s->update != NULL && s->update->model->declared) {
        const char *known[MAX_PARAMETERS];
        const model *m = s->update->model;
        bool found = false;
        for (int i = 0; i < m->parameter_count; i++) {
            known[i] = m->parameters[i].name;
            found = found || strcmp(name, known[i]) == 0;
        }
        if (!found)
            spec_fail_unknown(L, "parameter", "", 2, known, (size_t)m->parameter_count);
    }
    spec_push_expr(L, spec_parameter(L, name), false);
    return 1;
}

/* at.name */
static int index_positions(lua_State *L) {
    const spec_state *s = spec_of(L);
    spec_update *u = s->update;
    const char *known[POSITION_COUNT];
    int which = 0;
    for (int i = 0; i < POSITION_COUNT; i++)
        known[i] = position_words[i].name;
    while (which < POSITION_COUNT &&
           (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), known[which]) != 0))
        which++;
    if (u == NULL)
        spec_fail(L, "a position can only be read inside an update function");
    if (!u->grid)
        spec_fail(L,
                  "%s has no positions, which the cells of a grid have: give what depends on an "
                  "element's place as a list of its own",
                  u->name);
    if (which == POSITION_COUNT)
        spec_fail_unknown(L, "key", " of at", 2, known, POSITION_COUNT);
    if (which < POSITION_STEP && which % AXES + 1 > u->position_dims)
        u->position_dims = which % AXES + 1;
    check_dims(L, u);
    spec_push_expr(L, expr_position(s->pool, (position)which), false);
    return 1;
}

/* f.name for a name that is not a field's */
static int index_fields(lua_State *L) {
    const spec_state *s = spec_of(L);
    if (lua_type(L, 2) != LUA_TSTRING || s->update == NULL)
        return 0;
    const char *known[MAX_FIELDS];
    const model *m = s->update->model;
    for (int i = 0; i < m->field_count; i++)
        known[i] = m->fields[i].name;
    spec_fail_unknown(L, "field", "", 2, known, (size_t)m->field_count);
}

/* A table whose missing entries are looked up by `index`; NULL, or what else it does. */
static void push_indexed(lua_State *L, lua_CFunction index, const char *event, lua_CFunction does) {
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, index);
    lua_setfield(L, -2, "__index");
    if (event != NULL) {
        lua_pushcfunction(L, does);
        lua_setfield(L, -2, event);
    }
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

const char *spec_title(lua_State *L, const model *m, int field) {
    const char *name = m->fields[field].name;
    return job_copy(spec_of(L)->job, name, strcspn(name, "["));
}

int spec_components(const model *m, int field) {
    const char *name = m->fields[field].name;
    const size_t head = strcspn(name, "[");
    int count = 0;
    while (name[head] != '\0' && field + count < m->field_count &&
           strncmp(m->fields[field + count].name, name, head + 1) == 0)
        count++;
    return count;
}

/* f.f[i] for an i that is no component, and f.f(dx, dy) */
static int index_components(lua_State *L) {
    spec_fail(L, "a field of %d components is read as f.NAME[i](dx, dy), with i from 1 to %d",
              (int)lua_rawlen(L, 1), (int)lua_rawlen(L, 1));
}

static void push_components(lua_State *L, int field, int count) {
    push_indexed(L, index_components, "__call", index_components);
    for (int i = 0; i < count; i++) {
        push_field(L, field + i, false);
        lua_rawseti(L, -2, i + 1);
    }
}

void spec_open_fields(lua_State *L) {
    static const luaL_Reg metamethods[] = {
        {"__call", call_field}, {"__index", index_field}, {NULL, NULL}};
    spec_make_type(L, SPEC_FIELD,
                   "u(dx, dy) is the value of a point of field u, u(0, 0) that of the point itself",
                   metamethods);
}

/* p.name = value */
static int set_parameter(lua_State *L) {
    spec_fail(L, "a parameter cannot be set in a function: its value is given at launch, or in the "
                 "key parameters");
}

void spec_push_parameters(lua_State *L) {
    push_indexed(L, index_parameters, "__newindex", set_parameter);
}

/* at.name = value */
static int set_position(lua_State *L) {
    spec_fail(L, "a position cannot be set: it is where the point lies, or the step");
}

void spec_push_positions(lua_State *L) {
    push_indexed(L, index_positions, "__newindex", set_position);
}

void spec_push_fields(lua_State *L, const model *m, bool named) {
    spec_of(L)->update->bare = !named;
    if (!named)
        push_field(L, 0, false);
    else
        push_indexed(L, index_fields, NULL, NULL);
    for (int i = 0, count; i < m->field_count && named; i += count) {
        count = spec_components(m, i);
        lua_pushstring(L, spec_title(L, m, i));
        if (count == 0) {
            push_field(L, i, false);
            count = 1;
        } else {
            push_components(L, i, count);
        }
        lua_rawset(L, -3);
    }
}

void spec_call_one(lua_State *L, const char *name, int arguments) {
    const int before = lua_gettop(L) - arguments - 1;
    lua_call(L, arguments, LUA_MULTRET);
    const int results = lua_gettop(L) - before;
    if (results != 1)
        spec_fail(L, "%s returns %d values instead of one", name, results);
}

expr_id spec_to_output(lua_State *L, const char *where, const char *name) {
    spec_expr e;
    if (lua_type(L, -1) == LUA_TUSERDATA && luaL_testudata(L, -1, SPEC_FIELD) != NULL)
        spec_fail(L, "%s: expected an expression, got a field; read it as %s(0, ...)", where, name);
    if (lua_isboolean(L, -1))
        spec_fail(L,
                  "%s: expected an expression, got %s; == and ~= decide at once: write eq or ne, "
                  "and where(condition, a, b)",
                  where, spec_describe(L, -1));
    if (!spec_to_expr(L, -1, &e))
        spec_fail_expected(L, where, NULL, "an expression", -1);
    if (spec_is_truth(spec_of(L), e.id))
        spec_fail(L, "%s: expected a number, got a condition; use where(condition, a, b)", where);
    return e.id;
}

void spec_run_update(lua_State *L, int function, bool named, spec_update *u,
                     expr_id outputs[MAX_FIELDS]) {
    spec_state *s = spec_of(L);
    s->update = u;
    s->serial++;
    const int base = lua_gettop(L);
    lua_pushvalue(L, function);
    spec_push_fields(L, u->model, named);
    spec_push_parameters(L);
    spec_push_positions(L);
    lua_call(L, 3, LUA_MULTRET);
    s->at = u->line;
    const int results = lua_gettop(L) - base;
    if (results == 0 || (results == 1 && lua_isnil(L, -1)))
        spec_fail(L, "update returns nothing");
    if (results > 1)
        spec_fail(L, "update returns %d values; several fields are returned as one table", results);
    if (u->partial)
        spec_read_some_results(L, u->model, outputs);
    else
        spec_read_results(L, u->model, outputs);
    lua_settop(L, base);
    s->at = 0;
    s->update = NULL;
}

void spec_take_reach(const spec_update *u, model *m) {
    for (int i = 0; i < m->array_count; i++)
        for (int axis = 0; axis < AXES; axis++) {
            const int low = u->low[i][axis], high = u->high[i][axis];
            m->arrays[i].low[axis] = low;
            m->arrays[i].high[axis] = high;
            m->low[axis] = low > m->low[axis] ? low : m->low[axis];
            m->high[axis] = high > m->high[axis] ? high : m->high[axis];
        }
}
