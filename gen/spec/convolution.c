/* convolution { ... }: a stencil that makes `result` of `image` by a dense filter of weights.
   Takes: the table that a spec passes; weights are nested lists, not flipped:
   result[y][x] = sum of weights[j][i] * image[y + j - rows / 2][x + i - columns / 2].
   Makes: a stencil's model, of the shape SHAPE_CONVOLUTION, and a value that stands for it. */
#include "gen/spec/state.h"

#include <string.h>

const spec_key spec_convolution_keys[] = {
    {"name", "an identifier; names the kernel and the file"},
    {"weights", "nested lists, a list a row: { { 1, 2, 1 }, ... }"},
    {"parameters", "the parameters and their default values: { k = 0.05 }"},
    {"dtype", "\"float\" (the default) or \"double\""},
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

/* The list on the top of the stack: its length, which is that of all lists along its axis. */
static int check_length(lua_State *L, filter *f, const int at[AXES], int depth) {
    const int axis = f->dims - 1 - depth;
    const int count = spec_list(L, -1, "weights", SPEC_MAX_POINTS);
    if (count == 0)
        spec_fail(L, "%s: the list is empty", where(L, at, depth));
    if (count > SPEC_EDGE)
        spec_fail(L, "%s: %d weights along %c; at most %d reach %d points to each side",
                  where(L, at, depth), count, axis_names[axis], SPEC_EDGE, MAX_REACH);
    if (f->size[axis] != 0 && count != f->size[axis])
        spec_fail(L, "%s: %d entries, where the lists before it have %d", where(L, at, depth),
                  count, f->size[axis]);
    return f->size[axis] = count;
}

static void add_weight(lua_State *L, filter *f, const int at[AXES]) {
    spec_expr weight;
    if (!spec_to_expr(L, -1, &weight) || spec_is_truth(spec_of(L), weight.id))
        spec_fail_expected(L, where(L, at, f->dims), NULL, "a number or a parameter", -1);
    int d[AXES] = {0, 0, 0};
    for (int axis = 0; axis < f->dims; axis++)
        d[axis] = at[f->dims - 1 - axis] - f->size[axis] / 2;
    const expr_id tap = expr_tap(spec_of(L)->pool, 0, d);
    const expr_id term = spec_make(L, EXPR_MULTIPLY, weight.id, tap, EXPR_NONE);
    f->sum = f->sum == EXPR_NONE ? term : spec_make(L, EXPR_ADD, f->sum, term, EXPR_NONE);
}

/* The nested lists on the top of the stack, by one odometer over all levels: `at` is the place in
   each. The lists along an axis are all as long as the first. */
static void read_weights(lua_State *L, filter *f) {
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

static void describe(model *m, const filter *f) {
    m->dims = f->dims;
    m->shape = SHAPE_CONVOLUTION;
    m->fields[0] = (model_field){.name = "image", .use = USE_IN, .levels = 1};
    m->fields[1] = (model_field){.name = "result", .use = USE_OUT, .levels = 1};
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
    filter f = {.dims = 0};
    spec_get(L, 1, "weights");
    read_weights(L, &f);
    lua_pop(L, 1);
    describe(m, &f);
    m->declared = spec_read_parameters(L, 1, m);
    spec_read_boundary(L, 1, m, BOUNDARY_ZERO);
    refuse_fixed(L, m);
    spec_read_schedule(L, 1, m);
    spec_read_tune(L, 1, m);
    const expr_id outputs[MAX_FIELDS] = {f.sum};
    spec_finish_model(L, m, outputs);
    return spec_end(L, FAMILY_STENCIL, m, m);
}
