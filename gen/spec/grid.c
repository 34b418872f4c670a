/* What surrounds the arithmetic of a spec: its boundary and its schedule.
   Takes: the spec's table, the dimensions. Makes: the model's sides and constraints. */
#include "gen/spec/state.h"
#include "gen/stencil/method.h"
#include "gen/stencil/schedule.h"

#include <string.h>

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

/* constant(v) */
typedef struct spec_boundary {
    double value;
} spec_boundary;

int spec_constant(lua_State *L) {
    spec_check_count(L, "constant", 1);
    const double value = spec_number(L, 1, "constant", NULL);
    spec_boundary *b = lua_newuserdatauv(L, sizeof *b, 0);
    b->value = value;
    luaL_setmetatable(L, SPEC_BOUNDARY);
    return 1;
}

/* The side on the top of the stack. */
static model_side read_side(lua_State *L, const model *m, const char *where) {
    const spec_boundary *b = luaL_testudata(L, -1, SPEC_BOUNDARY);
    if (b != NULL) {
        spec_check_range(L, m->dtype, "boundary: constant", b->value);
        return (model_side){BOUNDARY_CONSTANT, b->value};
    }
    const char *words[BOUNDARY_COUNT];
    for (int i = 0; i < BOUNDARY_COUNT; i++)
        words[i] = boundary_words[i].name;
    const boundary kind = (boundary)spec_word(L, -1, where, words, BOUNDARY_COUNT);
    if (kind == BOUNDARY_CONSTANT)
        spec_fail(L, "%s: constant needs a value: constant(v) instead of \"constant\"", where);
    return (model_side){kind, 0};
}

/* The axis on the top of the stack: both sides alike, or a list of the low and the high side. */
static void read_axis(lua_State *L, const model *m, const char *where, model_side side[2]) {
    if (!lua_istable(L, -1)) {
        side[0] = side[1] = read_side(L, m, where);
        return;
    }
    if (spec_list(L, -1, where, 2) != 2)
        spec_fail(L, "%s: expected one boundary, or a list of two: { low, high }", where);
    for (int i = 0; i < 2; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, i + 1);
        side[i] = read_side(L, m, where);
    }
    if ((side[0].kind == BOUNDARY_PERIODIC) != (side[1].kind == BOUNDARY_PERIODIC))
        spec_fail(L, "%s: periodic must be on both sides", where);
}

static void check_axis(lua_State *L, const model *m, const char *where, int axis) {
    if (axis >= m->dims)
        spec_fail(L, "%s.%c: the stencil has %d dimension%s", where, axis_names[axis], m->dims,
                  m->dims == 1 ? "" : "s");
}

void spec_read_boundary(lua_State *L, int table, model *m, boundary by_default) {
    for (int axis = 0; axis < AXES; axis++)
        m->sides[axis][0] = m->sides[axis][1] =
            (model_side){axis < m->dims ? by_default : BOUNDARY_FIXED, 0};
    const bool given = spec_get(L, table, "boundary");
    if (given && lua_istable(L, -1))
        spec_check_keys(L, -1, "boundary", spec_axis_keys);
    for (int axis = 0; axis < AXES && given; axis++) {
        if (!lua_istable(L, -1)) {
            if (axis < m->dims)
                read_axis(L, m, "boundary", m->sides[axis]);
            continue;
        }
        if (spec_get(L, -1, spec_axis_keys[axis].name)) {
            check_axis(L, m, "boundary", axis);
            const char *where =
                job_print(spec_of(L)->job, "boundary.%s", spec_axis_keys[axis].name);
            read_axis(L, m, where, m->sides[axis]);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* A number for each of the first `axes`: { x = 32, y = 8 }. The schedule's table is on the top of
   the stack. */
static void read_axes(lua_State *L, const model *m, const char *key, int axes, int *out) {
    const char *where = job_print(spec_of(L)->job, "schedule.%s", key);
    if (spec_get(L, -1, key)) {
        if (!lua_istable(L, -1))
            spec_fail_expected(L, where, NULL, "a table such as { x = 32, y = 8 }", -1);
        spec_check_keys(L, -1, where, spec_axis_keys);
        for (int axis = 0; axis < AXES; axis++, lua_pop(L, 1))
            if (spec_get(L, -1, spec_axis_keys[axis].name)) {
                check_axis(L, m, where, axis);
                if (axis >= axes)
                    spec_fail(L, "%s.%c: only x and y are shared out so", where, axis_names[axis]);
                out[axis] = spec_whole(L, -1, where, spec_axis_keys[axis].name, 1, SPEC_MAX_NUMBER);
            }
    }
    lua_pop(L, 1);
}

static void read_number(lua_State *L, const char *key, int *out) {
    if (spec_get(L, -1, key))
        *out = spec_whole(L, -1, "schedule", key, 1, SPEC_MAX_NUMBER);
    lua_pop(L, 1);
}

void spec_read_schedule(lua_State *L, int table, model *m) {
    if (spec_get(L, table, "schedule")) {
        if (!lua_istable(L, -1))
            spec_fail_expected(L, "schedule", NULL, "a table", -1);
        job *j = spec_of(L)->job;
        spec_check_keys(L, -1, "schedule", spec_schedule_keys(j));
        if (spec_get(L, -1, "method"))
            m->schedule.method = spec_word(L, -1, "schedule.method", spec_method_words(j), METHODS);
        lua_pop(L, 1);
        for (int k = 1; k < SCHEDULE_KEYS; k++) {
            const schedule_key *key = &schedule_keys[k];
            int *numbers = schedule_numbers(&m->schedule, key);
            if (key->kind == SCHEDULE_NUMBER)
                read_number(L, key->word, numbers);
            else
                read_axes(L, m, key->word, key->axes, numbers);
        }
    }
    lua_pop(L, 1);
}
