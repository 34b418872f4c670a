/* stencil { ... } and convolution { ... }: the keys of a spec, read into a model.
   Takes: the table that a spec passes. Makes: a model, and the value that stands for it. */
#include "gen/spec/state.h"

#include <string.h>

/* ---- stencil --------------------------------------------------------------------------------- */

const spec_key spec_stencil_keys[] = {
    {"name", "an identifier; names the kernel and the file"},
    {"dims", "1, 2 or 3; where neither the shape nor the update's reads say it"},
    {"shape", "the offsets read: star, box or points"},
    {"coefficients", "a list in the shape's order, or a weight table"},
    {"update", "a function that returns the new value as an expression"},
    {"fields", "the arrays: { u = \"inout\", c = \"in\" }; one inout field u by default"},
    {"parameters", "the parameters and their default values: { k = 0.05 }"},
    {"dtype", "\"float\" (the default) or \"double\""},
    {"storage", "\"half\" or \"bfloat16\": the arrays hold 16 bits; the dtype by default"},
    {"boundary", "what is outside of the grid; \"fixed\" by default"},
    {"points",
     "places where values are added or recorded: { rec = { field = \"u\", sample = true } }"},
    {"monitors", "reductions over the grid: { r = { op = \"max\", map = ... } }"},
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
    m->dims = spec_get_whole(L, 1, NULL, "dims", 1, AXES, 0);
    if (spec_get(L, 1, "shape")) {
        b->shape = luaL_testudata(L, -1, SPEC_SHAPE);
        if (b->shape == NULL)
            spec_fail_expected(L, "shape", NULL, "star(...), box(...) or points { ... }", -1);
        if (m->dims != 0 && m->dims != b->shape->dims)
            spec_fail(L, "dims is %d, but the shape has %d", m->dims, b->shape->dims);
        m->dims = b->shape->dims;
    }
    lua_pop(L, 1);
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
        spec_fail(L, "coefficients: the shape has %s, the list has %d",
                  text_count(spec_of(L)->job, b->shape->count, "point"), count);
    for (int i = 0; i < count; i++)
        values[i] = get_coefficient(L, i);
}

/* The same for a weight table, whose offsets make the shape where none is given. */
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
    expr_id sum = EXPR_NONE;
    for (int i = 0; i < shape->count; i++) {
        const int d[AXES] = {shape->d[i][0], shape->d[i][1], shape->d[i][2]};
        sum = spec_add_term(L, sum, values[i], 0, d);
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
    spec_need(L, LUA_TFUNCTION, "update", NULL, "a function");
    spec_update u = {.name = "an update function", .model = m, .grid = true, .dims = m->dims};
    spec_run_update(L, lua_gettop(L), b->named, &u, b->outputs);
    m->dims = u.dims != 0 ? u.dims : u.least_dims;
    if (m->dims == 0)
        spec_fail(L, "the update reads no field, so the stencil needs the key dims");
    spec_check_positions(L, m->dims, u.position_dims);
    m->shape = SHAPE_UPDATE;
    if (b->shape != NULL)
        widen(m->low, m->high, b->shape);
    spec_take_reach(&u, m);
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
    model *m = spec_begin(L, "stencil", spec_stencil_keys, DTYPE_WIDE);
    stencil_reading b = {.model = m};
    read_head(L, &b);
    const dtype storage = spec_get_storage(L, 1, "storage", m->dtype, m->dtype);
    b.named = spec_read_fields(L, 1, m, storage);
    m->declared = spec_read_parameters(L, 1, m);
    build_outputs(L, &b);
    spec_read_points(L, 1, b.named, m);
    spec_read_boundary(L, 1, m, BOUNDARY_FIXED);
    spec_read_monitors(L, 1, b.named, m);
    spec_settle_sides(L, m);
    spec_read_schedule(L, 1, m);
    spec_read_tune(L, 1, m);
    spec_finish_model(L, m, b.outputs);
    return spec_end(L, FAMILY_STENCIL, m, m);
}

/* ---- convolution ----------------------------------------------------------------------------- */

const spec_key spec_convolution_keys[] = {
    {"name", "an identifier; names the kernel and the file"},
    {"weights", "nested lists, a list a row: { { 1, 2, 1 }, ... }"},
    {"parameters", "the parameters and their default values: { k = 0.05 }"},
    {"dtype", "\"float\" (the default), \"double\", \"half\" or \"bfloat16\""},
    {"storage", "\"half\" or \"bfloat16\": the arrays hold 16 bits; the dtype by default"},
    {"boundary", "what is outside of the image; \"zero\" by default"},
    {"schedule", "constraints on how the image is walked; what is left out is chosen"},
    {"tune", "the values that tuning tries, by key of schedule: { time = { 1, 2, 4 } }"},
    {NULL, NULL},
};

typedef struct filter {
    int dims;
    int size[AXES]; /* x first; 0: not yet known */
    expr_id sum;
} filter;

/* What a list of the nesting is called in messages: "weights", "weights[2]", "weights[2][1]". */
static const char *where(lua_State *L, const int at[AXES], int depth) {
    text t = text_new(spec_of(L)->job);
    text_add(&t, "weights");
    for (int i = 0; i < depth; i++)
        text_printf(&t, "[%d]", at[i] + 1);
    return t.data;
}

/* How deep the lists on the top of the stack are nested. */
static int find_dims(lua_State *L) {
    const int top = lua_gettop(L);
    int depth = 0;
    while (depth <= AXES && lua_istable(L, -1)) {
        depth++;
        lua_rawgeti(L, -1, 1);
    }
    lua_settop(L, top);
    if (depth == 0)
        spec_fail_expected(L, "weights", NULL, "a list, or a list of rows", -1);
    if (depth > AXES)
        spec_fail(L, "weights: lists are nested at most %d deep, for 3D", AXES);
    return depth;
}

/* The length of the list on the top of the stack, which is that of all lists along its axis. */
static int check_length(lua_State *L, filter *f, const int at[AXES], int depth) {
    const int axis = f->dims - 1 - depth;
    const int count = spec_list(L, -1, "weights", SPEC_MAX_POINTS);
    if (count == 0)
        spec_fail(L, "%s: the list is empty", where(L, at, depth));
    if (count > SPEC_EDGE)
        spec_fail(L, "%s: %d weights along %c; at most %d reach %d points to each side",
                  where(L, at, depth), count, axis_names[axis], SPEC_EDGE, MAX_REACH);
    if (f->size[axis] != 0 && count != f->size[axis])
        spec_fail(L, "%s: %s, where the lists before it have %d", where(L, at, depth),
                  text_count(spec_of(L)->job, count, "entry"), f->size[axis]);
    return f->size[axis] = count;
}

static void add_weight(lua_State *L, filter *f, const int at[AXES]) {
    spec_expr weight;
    if (!spec_to_expr(L, -1, &weight) || spec_is_truth(spec_of(L), weight.id))
        spec_fail_expected(L, where(L, at, f->dims), NULL, "a number or a parameter", -1);
    int d[AXES] = {0, 0, 0};
    for (int axis = 0; axis < f->dims; axis++)
        d[axis] = at[f->dims - 1 - axis] - f->size[axis] / 2;
    f->sum = spec_add_term(L, f->sum, weight.id, 0, d);
}

/* Reads the nested lists on the top of the stack, by one odometer over all levels: `at` is the
   place in each. All lists along an axis are as long as the first one. */
static void read_filter(lua_State *L, filter *f) {
    int at[AXES] = {0}, depth = 0;
    luaL_checkstack(L, 2 * AXES, NULL);
    f->dims = find_dims(L);
    f->sum = EXPR_NONE;
    int length[AXES] = {check_length(L, f, at, 0)};
    while (depth >= 0) {
        if (at[depth] == length[depth]) {
            if (depth-- > 0) {
                lua_pop(L, 1);
                at[depth]++;
            }
            continue;
        }
        lua_rawgeti(L, -1, at[depth] + 1);
        if (depth + 1 < f->dims) {
            if (!lua_istable(L, -1))
                spec_fail_expected(L, where(L, at, depth + 1), NULL, "a list, as the first is", -1);
            depth++;
            at[depth] = 0;
            length[depth] = check_length(L, f, at, depth);
            continue;
        }
        add_weight(L, f, at);
        lua_pop(L, 1);
        at[depth]++;
    }
}

static void describe(model *m, const filter *f, dtype storage) {
    m->dims = f->dims;
    m->shape = SHAPE_CONVOLUTION;
    m->fields[0] = (model_field){.name = "image", .use = USE_IN, .levels = 1, .storage = storage};
    m->fields[1] = (model_field){.name = "result", .use = USE_OUT, .levels = 1, .storage = storage};
    m->field_count = 2;
    m->arrays[0] = (model_array){.field = 0};
    m->array_count = 1;
    m->outputs[0] = (model_output){1, EXPR_NONE};
    m->output_count = 1;
    m->points = 1;
    for (int axis = 0; axis < f->dims; axis++) {
        m->points *= f->size[axis];
        m->low[axis] = f->size[axis] / 2;
        m->high[axis] = f->size[axis] - 1 - f->size[axis] / 2;
    }
    memcpy(m->arrays[0].low, m->low, sizeof m->low);
    memcpy(m->arrays[0].high, m->high, sizeof m->high);
}

static void refuse_fixed(lua_State *L, const model *m) {
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++)
            if (m->sides[axis][side].kind == BOUNDARY_FIXED)
                spec_fail(L, "boundary: fixed keeps a cell's value, and the result of a "
                             "convolution has none before; use zero, constant(v), clamp, mirror "
                             "or periodic");
}

int spec_convolution(lua_State *L) {
    model *m = spec_begin(L, "convolution", spec_convolution_keys, DTYPE_REALS);
    const dtype given = m->dtype;
    m->dtype = dtype_computes(given);
    const dtype storage = spec_get_storage(L, 1, "storage", m->dtype, given);
    filter f = {.dims = 0};
    spec_get(L, 1, "weights");
    read_filter(L, &f);
    lua_pop(L, 1);
    describe(m, &f, storage);
    m->declared = spec_read_parameters(L, 1, m);
    spec_read_boundary(L, 1, m, BOUNDARY_ZERO);
    refuse_fixed(L, m);
    spec_read_schedule(L, 1, m);
    spec_read_tune(L, 1, m);
    const expr_id outputs[MAX_FIELDS] = {f.sum};
    spec_finish_model(L, m, outputs);
    return spec_end(L, FAMILY_STENCIL, m, m);
}
