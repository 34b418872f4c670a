/* stencil { ... }: the keys of a spec, read into a model.
   Takes: the table that a spec passes. Makes: a model, and a value that stands for it. */
#include "gen/spec/state.h"

#include <string.h>

const spec_key spec_stencil_keys[] = {
    {"name", "an identifier; names the kernel and the file"},
    {"dims", "1, 2 or 3; where neither the shape nor the update's reads say it"},
    {"shape", "the offsets read: star, box or points"},
    {"coefficients", "a list in the shape's order, or a weight table"},
    {"update", "a function that returns the new value as an expression"},
    {"fields", "the arrays: { u = \"inout\", c = \"in\" }; one inout field u by default"},
    {"parameters", "the parameters and their default values: { k = 0.05 }"},
    {"dtype", "\"float\" (the default) or \"double\""},
    {"boundary", "what is outside of the grid; \"fixed\" by default"},
    {"schedule", "constraints on how the grid is walked; what is left out is chosen"},
    {"tune", "the values that tuning tries, by key of schedule: { time = { 1, 2, 4 } }"},
    {NULL, NULL},
};

typedef struct stencil_reading {
    model *model;
    const spec_shape *shape; /* NULL without the key */
    bool named;              /* fields are */
    expr_id outputs[MAX_FIELDS];
} stencil_reading;

static void read_head(lua_State *L, stencil_reading *b) {
    model *m = b->model;
    if (spec_get(L, 1, "dims"))
        m->dims = spec_whole(L, -1, "dims", NULL, 1, AXES);
    if (spec_get(L, 1, "shape")) {
        b->shape = luaL_testudata(L, -1, SPEC_SHAPE);
        if (b->shape == NULL)
            spec_fail_expected(L, "shape", NULL, "star(...), box(...) or points { ... }", -1);
        if (m->dims != 0 && m->dims != b->shape->dims)
            spec_fail(L, "dims is %d, but the shape has %d", m->dims, b->shape->dims);
        m->dims = b->shape->dims;
    }
    lua_pop(L, 2);
}

static void widen(int low[AXES], int high[AXES], const spec_shape *shape) {
    for (int i = 0; i < shape->count; i++)
        for (int axis = 0; axis < AXES; axis++) {
            const int d = shape->d[i][axis];
            low[axis] = -d > low[axis] ? -d : low[axis];
            high[axis] = d > high[axis] ? d : high[axis];
        }
}

static expr_id get_coefficient(lua_State *L, int i) {
    spec_expr e;
    lua_rawgeti(L, -1, i + 1);
    if (!spec_to_expr(L, -1, &e) || spec_is_truth(spec_of(L), e.id))
        spec_fail(L, "coefficients: entry %d: expected a number or a parameter, got %s", i + 1,
                  spec_describe(L, -1));
    lua_pop(L, 1);
    return e.id;
}

/* The coefficients on the top of the stack, a flat list, in the shape's order. */
static void read_list(lua_State *L, stencil_reading *b, expr_id *values) {
    if (b->shape == NULL)
        spec_fail(L, "a list of coefficients needs a shape");
    const int count = spec_list(L, -1, "coefficients", SPEC_MAX_POINTS);
    if (count != b->shape->count)
        spec_fail(L, "coefficients: the shape has %d points, the list has %d", b->shape->count,
                  count);
    for (int i = 0; i < count; i++)
        values[i] = get_coefficient(L, i);
}

/* The same for a weight table, whose offsets make the shape where there is none. */
static void read_weights(lua_State *L, stencil_reading *b, const spec_weights *w, expr_id *values) {
    model *m = b->model;
    spec_check_owner(L, w->owner, "a weight table");
    if (m->dims == 0)
        m->dims = w->dims;
    if (w->dims > m->dims)
        spec_fail(L, "coefficients: a weight table for %d dimensions in a stencil of %d", w->dims,
                  m->dims);
    if (b->shape == NULL)
        b->shape = spec_push_weights_shape(L, w, m->dims);
    else
        lua_pushnil(L); /* keeps the stack alike */
    expr_id by_cell[SPEC_MAX_POINTS];
    for (int i = 0; i < SPEC_MAX_POINTS; i++)
        by_cell[i] = EXPR_NONE;
    for (int i = 0; i < w->count; i++)
        by_cell[spec_cell(w->entry[i].d)] = w->entry[i].value;
    for (int i = 0; i < b->shape->count; i++) {
        expr_id *value = &by_cell[spec_cell(b->shape->d[i])];
        values[i] = *value != EXPR_NONE ? *value : expr_constant(spec_of(L)->pool, 0);
        *value = EXPR_NONE;
    }
    for (int i = 0; i < w->count; i++)
        if (by_cell[spec_cell(w->entry[i].d)] != EXPR_NONE)
            spec_fail(L,
                      "coefficients: the weight table has a weight at (%d, %d, %d), which is not "
                      "in the shape",
                      w->entry[i].d[0], w->entry[i].d[1], w->entry[i].d[2]);
}

/* ((c0*u0 + c1*u1) + c2*u2) + ... */
static expr_id weighted_sum(lua_State *L, const spec_shape *shape, const expr_id *values) {
    expr_pool *p = spec_of(L)->pool;
    expr_id sum = EXPR_NONE;
    for (int i = 0; i < shape->count; i++) {
        const int d[AXES] = {shape->d[i][0], shape->d[i][1], shape->d[i][2]};
        const expr_id tap = expr_tap(p, 0, d);
        const expr_id term = spec_make(L, EXPR_MULTIPLY, values[i], tap, EXPR_NONE);
        sum = i == 0 ? term : spec_make(L, EXPR_ADD, sum, term, EXPR_NONE);
    }
    return sum;
}

/* The value of the key `coefficients` is on the top of the stack. */
static void build_linear(lua_State *L, stencil_reading *b) {
    model *m = b->model;
    if (m->array_count != 1 || m->output_count != 1)
        spec_fail(L, "coefficients need one field that is read and one that is written, without "
                     "earlier time levels; use update");
    expr_id *values = lua_newuserdatauv(L, SPEC_MAX_POINTS * sizeof *values, 0);
    lua_insert(L, -2);
    const spec_weights *w = luaL_testudata(L, -1, SPEC_WEIGHTS);
    if (w == NULL && !lua_istable(L, -1))
        spec_fail_expected(L, "coefficients", NULL, "a list or a weight table", -1);
    if (w != NULL)
        read_weights(L, b, w, values);
    else
        read_list(L, b, values);
    m->shape = b->shape->kind;
    m->points = b->shape->count;
    widen(m->low, m->high, b->shape);
    memcpy(m->arrays[0].low, m->low, sizeof m->low);
    memcpy(m->arrays[0].high, m->high, sizeof m->high);
    b->outputs[0] = weighted_sum(L, b->shape, values);
}

/* The value of the key `update` is on the top of the stack. */
static void build_update(lua_State *L, stencil_reading *b) {
    model *m = b->model;
    if (lua_type(L, -1) != LUA_TFUNCTION)
        spec_fail_expected(L, "update", NULL, "a function", -1);
    spec_update u = {.name = "an update function", .model = m, .dims = m->dims};
    spec_run_update(L, lua_gettop(L), b->named, &u, b->outputs);
    m->dims = u.dims != 0 ? u.dims : u.least_dims;
    if (m->dims == 0)
        spec_fail(L, "the update reads no field, so the stencil needs the key dims");
    m->shape = SHAPE_UPDATE;
    if (b->shape != NULL)
        widen(m->low, m->high, b->shape);
    for (int i = 0; i < m->array_count; i++)
        for (int axis = 0; axis < AXES; axis++) {
            m->arrays[i].low[axis] = u.low[i][axis];
            m->arrays[i].high[axis] = u.high[i][axis];
            m->low[axis] = u.low[i][axis] > m->low[axis] ? u.low[i][axis] : m->low[axis];
            m->high[axis] = u.high[i][axis] > m->high[axis] ? u.high[i][axis] : m->high[axis];
        }
}

static void build_outputs(lua_State *L, stencil_reading *b) {
    const bool update = spec_get(L, 1, "update");
    const bool coefficients = spec_get(L, 1, "coefficients");
    if (update && coefficients)
        spec_fail(L, "update and coefficients exclude each other");
    if (coefficients) {
        build_linear(L, b);
    } else if (update) {
        lua_pop(L, 1);
        build_update(L, b);
    } else if (b->shape != NULL && b->shape->kind != SHAPE_POINTS) {
        spec_fail(L, "coefficients are missing: %d, in the order %s; or an update function",
                  b->shape->count,
                  b->shape->kind == SHAPE_BOX
                      ? "z slowest, x fastest, from -radius to radius"
                      : "centre, then for r = 1 ... radius: x-r, x+r, y-r, y+r, z-r, z+r");
    } else {
        spec_fail(L, "coefficients are missing%s, or an update function",
                  b->shape != NULL ? ": one for each point, in their order" : "");
    }
}

int spec_stencil(lua_State *L) {
    model *m = spec_begin(L, "stencil", spec_stencil_keys, DTYPE_REALS);
    stencil_reading b = {.model = m};
    read_head(L, &b);
    b.named = spec_read_fields(L, 1, m);
    m->declared = spec_read_parameters(L, 1, m);
    build_outputs(L, &b);
    spec_read_boundary(L, 1, m, BOUNDARY_FIXED);
    spec_read_schedule(L, 1, m);
    spec_read_tune(L, 1, m);
    spec_finish_model(L, m, b.outputs);
    return spec_end(L, FAMILY_STENCIL, m, m);
}
