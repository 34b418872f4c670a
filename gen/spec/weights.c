/* Shapes: sets of offsets, in the order of a flat list of coefficients. Weight tables: offsets with
   weights, which add and scale, and the finite differences. Takes: dimensions and radius, points,
   numbers, parameters, other weight tables. Makes: shapes and weight tables as values of specs. The
   weights come from B. Fornberg, Generation of finite difference formulas on arbitrarily spaced
   grids, Mathematics of Computation 51 (1988), 699-706. */
#include "gen/spec/state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- shapes ---------------------------------------------------------------------------------- */

static spec_shape *push_shape(lua_State *L, shape_kind kind, int dims, int most) {
    spec_shape *shape = lua_newuserdatauv(L, sizeof *shape + (size_t)most * sizeof shape->d[0], 0);
    *shape = (spec_shape){.kind = kind, .dims = dims};
    luaL_setmetatable(L, SPEC_SHAPE);
    return shape;
}

static void add_offset(spec_shape *shape, int dx, int dy, int dz) {
    signed char *d = shape->d[shape->count++];
    d[0] = (signed char)dx;
    d[1] = (signed char)dy;
    d[2] = (signed char)dz;
}

static spec_shape *push_star(lua_State *L, int dims, int radius) {
    spec_shape *shape = push_shape(L, SHAPE_STAR, dims, 1 + 2 * dims * radius);
    add_offset(shape, 0, 0, 0);
    for (int r = 1; r <= radius; r++)
        for (int axis = 0; axis < dims; axis++)
            for (int sign = -1; sign <= 1; sign += 2)
                add_offset(shape, axis == 0 ? sign * r : 0, axis == 1 ? sign * r : 0,
                           axis == 2 ? sign * r : 0);
    return shape;
}

static spec_shape *push_box(lua_State *L, int dims, int radius) {
    const int ry = dims > 1 ? radius : 0, rz = dims > 2 ? radius : 0;
    const int most = (2 * radius + 1) * (2 * ry + 1) * (2 * rz + 1);
    spec_shape *shape = push_shape(L, SHAPE_BOX, dims, most);
    for (int z = -rz; z <= rz; z++)
        for (int y = -ry; y <= ry; y++)
            for (int x = -radius; x <= radius; x++)
                add_offset(shape, x, y, z);
    return shape;
}

int spec_star(lua_State *L) {
    spec_check_count(L, "star", 2);
    const int dims = spec_whole(L, 1, "star", "dims", 1, AXES);
    push_star(L, dims, spec_whole(L, 2, "star", "radius", 0, MAX_REACH));
    return 1;
}

int spec_box(lua_State *L) {
    spec_check_count(L, "box", 2);
    const int dims = spec_whole(L, 1, "box", "dims", 1, AXES);
    push_box(L, dims, spec_whole(L, 2, "box", "radius", 0, MAX_REACH));
    return 1;
}

int spec_points(lua_State *L) {
    spec_check_count(L, "points", 1);
    const int count = spec_list(L, 1, "points", SPEC_MAX_POINTS);
    if (count == 0)
        spec_fail(L, "points: the list is empty");
    spec_shape *shape = push_shape(L, SHAPE_POINTS, 0, count);
    bool seen[SPEC_MAX_POINTS] = {false};
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, 1, i);
        const int dims = spec_list(L, -1, "points: each point", AXES);
        if (dims == 0 || (shape->dims != 0 && dims != shape->dims))
            spec_fail(L, "points: point %d has %d coordinates, point 1 has %d", i, dims,
                      shape->dims);
        shape->dims = dims;
        int d[AXES] = {0, 0, 0};
        for (int axis = 0; axis < dims; axis++, lua_pop(L, 1)) {
            lua_rawgeti(L, -1, axis + 1);
            d[axis] = spec_whole(L, -1, "points: a coordinate", NULL, -MAX_REACH, MAX_REACH);
        }
        lua_pop(L, 1);
        add_offset(shape, d[0], d[1], d[2]);
        const int cell = spec_cell(shape->d[i - 1]);
        if (seen[cell])
            spec_fail(L, "points: point %d is in the list twice", i);
        seen[cell] = true;
    }
    return 1;
}

static bool same_set(const spec_shape *shape, const spec_weights *w) {
    if (shape->count != w->count)
        return false;
    bool in_shape[SPEC_MAX_POINTS] = {false};
    for (int i = 0; i < shape->count; i++)
        in_shape[spec_cell(shape->d[i])] = true;
    for (int i = 0; i < w->count; i++)
        if (!in_shape[spec_cell(w->entry[i].d)])
            return false;
    return true;
}

/* The shape of a weight table's offsets: a star or a box where it is one. */
spec_shape *spec_push_weights_shape(lua_State *L, const spec_weights *w, int dims) {
    int radius = 0;
    for (int i = 0; i < w->count; i++)
        for (int axis = 0; axis < AXES; axis++) {
            const int reach = w->entry[i].d[axis] < 0 ? -w->entry[i].d[axis] : w->entry[i].d[axis];
            radius = reach > radius ? reach : radius;
        }
    spec_shape *shape = push_star(L, dims, radius);
    if (same_set(shape, w))
        return shape;
    lua_pop(L, 1);
    shape = push_box(L, dims, radius);
    if (same_set(shape, w))
        return shape;
    lua_pop(L, 1);
    shape = push_shape(L, SHAPE_POINTS, dims, w->count);
    for (int i = 0; i < w->count; i++)
        add_offset(shape, w->entry[i].d[0], w->entry[i].d[1], w->entry[i].d[2]);
    return shape;
}

/* ---- weight tables --------------------------------------------------------------------------- */

const spec_key spec_axis_keys[] = {{"x", "the fastest-varying axis"},
                                   {"y", "the second axis"},
                                   {"z", "the third axis"},
                                   {NULL, NULL}};

const spec_key spec_derivative_keys[] = {
    {"axis", "\"x\", \"y\" or \"z\""},
    {"order", "1 for the first derivative (the default), 2 for the second, ..."},
    {"accuracy", "the order of the error: 2 (the default), 4, 6, ..."},
    {"spacing", "the distance of neighbours; 1 by default"},
    {"stagger", "0.5 or -0.5: half a distance above or below the point; 0 (at it) by default"},
    {NULL, NULL},
};

const spec_key spec_laplacian_keys[] = {
    {"dims", "1, 2 or 3"},
    {"accuracy", "the order of the error: 2 (the default), 4, 6, ..."},
    {"spacing", "the distance of neighbours: a number, or { x = ..., y = ... }; 1 by default"},
    {NULL, NULL},
};

/* The weights by cell of the box of all offsets, EXPR_NONE where there is none. */
typedef struct dense {
    int dims;
    expr_id value[SPEC_MAX_POINTS];
} dense;

static void dense_clear(dense *t, int dims) {
    t->dims = dims;
    for (int i = 0; i < SPEC_MAX_POINTS; i++)
        t->value[i] = EXPR_NONE;
}

static void push_weights(lua_State *L, const dense *t) {
    int count = 0;
    for (int i = 0; i < SPEC_MAX_POINTS; i++)
        count += t->value[i] != EXPR_NONE;
    spec_weights *w = lua_newuserdatauv(L, sizeof *w + (size_t)count * sizeof w->entry[0], 0);
    *w = (spec_weights){.dims = t->dims, .owner = spec_owner(spec_of(L))};
    for (int i = 0; i < SPEC_MAX_POINTS; i++)
        if (t->value[i] != EXPR_NONE)
            w->entry[w->count++] =
                (spec_weight){.d = {(signed char)(i % SPEC_EDGE - MAX_REACH),
                                    (signed char)(i / SPEC_EDGE % SPEC_EDGE - MAX_REACH),
                                    (signed char)(i / SPEC_EDGE / SPEC_EDGE - MAX_REACH)},
                              .value = t->value[i]};
    luaL_setmetatable(L, SPEC_WEIGHTS);
}

static const spec_weights *to_weights(lua_State *L, int index) {
    const spec_weights *w = luaL_testudata(L, index, SPEC_WEIGHTS);
    if (w != NULL)
        spec_check_owner(L, w->owner, "a weight table");
    return w;
}

static void add_weights(lua_State *L, expr_op op, const spec_weights *a, const spec_weights *b) {
    dense sum;
    dense_clear(&sum, a->dims > b->dims ? a->dims : b->dims);
    for (int i = 0; i < a->count; i++)
        sum.value[spec_cell(a->entry[i].d)] = a->entry[i].value;
    for (int i = 0; i < b->count; i++) {
        expr_id *cell = &sum.value[spec_cell(b->entry[i].d)];
        const expr_id zero = expr_constant(spec_of(L)->pool, 0);
        *cell = spec_make(L, op, *cell != EXPR_NONE ? *cell : zero, b->entry[i].value, EXPR_NONE);
    }
    push_weights(L, &sum);
}

/* weight op factor; the factor is EXPR_NONE for a negation. */
static void scale_weights(lua_State *L, expr_op op, const spec_weights *w, expr_id factor) {
    dense scaled;
    dense_clear(&scaled, w->dims);
    for (int i = 0; i < w->count; i++)
        scaled.value[spec_cell(w->entry[i].d)] =
            spec_make(L, op, w->entry[i].value, factor, EXPR_NONE);
    push_weights(L, &scaled);
}

int spec_weights_arithmetic(lua_State *L, expr_op op) {
    const spec_weights *a = to_weights(L, 1), *b = to_weights(L, 2);
    spec_expr factor = {EXPR_NONE, 0, false};
    if (op == EXPR_NEGATE) {
        scale_weights(L, op, a, EXPR_NONE);
        return 1;
    }
    if (a != NULL && b != NULL && (op == EXPR_ADD || op == EXPR_SUBTRACT)) {
        add_weights(L, op, a, b);
        return 1;
    }
    const bool scales = (op == EXPR_MULTIPLY && (a == NULL || b == NULL)) ||
                        (op == EXPR_DIVIDE && a != NULL && b == NULL);
    if (!scales || !spec_to_expr(L, a != NULL ? 2 : 1, &factor) || factor.taps ||
        spec_is_truth(spec_of(L), factor.id))
        spec_fail(L,
                  "weight tables add to and subtract from each other, and are multiplied and "
                  "divided by numbers and parameters; this is %s %s %s",
                  spec_describe(L, 1), expr_words[op].name, spec_describe(L, 2));
    scale_weights(L, op, a != NULL ? a : b, factor.id);
    return 1;
}

void spec_open_weights(lua_State *L) {
    static const luaL_Reg metamethods[] = {{NULL, NULL}};
    spec_make_type(L, SPEC_WEIGHTS, "weight tables are added, subtracted, scaled and applied",
                   metamethods);
    spec_open_arithmetic(L, SPEC_WEIGHTS);
    spec_make_type(L, SPEC_SHAPE, NULL, metamethods);
}

int spec_identity(lua_State *L) {
    spec_check_count(L, "identity", 0);
    dense t;
    dense_clear(&t, 1);
    t.value[SPEC_MAX_POINTS / 2] = expr_constant(spec_of(L)->pool, 1);
    push_weights(L, &t);
    return 1;
}

/* Fornberg's recurrence for the derivative of the given order at 0, from values at `count` nodes a
   distance of 1 apart round it, which enter from the middle outwards: weight[0] belongs to the
   lowest. An even number of nodes lies at half distances. The recurrence's rounding errors are
   those of long double, so that rounding to double then gives the number nearest to the exact
   weight. */
static void difference_weights(int order, int count, long double weight[SPEC_EDGE]) {
    const int below = (count - 1) / 2; /* node 0 is the one at 0, or half a distance below it */
    const long double shift = count % 2 == 0 ? 0.5L : 0;
    long double node[SPEC_EDGE], w[SPEC_EDGE][SPEC_EDGE] = {{0}}; /* w[node][order] */
    for (int i = 0; i < count; i++)
        node[i] = (i % 2 == 0 ? -(i / 2) : i / 2 + 1) - shift;
    w[0][0] = 1;
    long double c1 = 1, c4 = node[0];
    for (int i = 1; i < count; i++) {
        const int most = i < order ? i : order;
        const long double c5 = c4;
        long double c2 = 1;
        c4 = node[i];
        for (int j = 0; j < i; j++) {
            const long double c3 = node[i] - node[j];
            c2 *= c3;
            for (int k = most; j == i - 1 && k >= 0; k--)
                w[i][k] = c1 * ((k > 0 ? k * w[j][k - 1] : 0) - c5 * w[j][k]) / c2;
            for (int k = most; k >= 0; k--)
                w[j][k] = (c4 * w[j][k] - (k > 0 ? k * w[j][k - 1] : 0)) / c3;
        }
        c1 = c2;
    }
    for (int i = 0; i < count; i++)
        weight[below + (int)(node[i] + shift)] = w[i][order];
    /* Makes them exactly symmetric, or antisymmetric with 0 at the centre. */
    for (int i = 0; i <= below; i++) {
        long double *low = &weight[i], *high = &weight[count - 1 - i];
        *high = (*high + (order % 2 == 0 ? *low : -*low)) / 2;
        *low = order % 2 == 0 ? *high : -*high;
    }
}

/* Adds a derivative along an axis to exact weights by cell; `stagger` as the key, doubled. */
static void add_difference(lua_State *L, const char *where, int axis, int order, int accuracy,
                           int stagger, double spacing, long double sum[SPEC_MAX_POINTS],
                           bool used[SPEC_MAX_POINTS]) {
    const int half = stagger != 0 ? order / 2 + accuracy / 2 : (order + 1) / 2 + accuracy / 2 - 1;
    const int first = stagger > 0 ? 1 - half : -half, count = 2 * half + (stagger == 0);
    if (half > MAX_REACH)
        spec_fail(L, "%s: order %d with accuracy %d reaches %d points; at most %d", where, order,
                  accuracy, half, MAX_REACH);
    long double weight[SPEC_EDGE], scale = 1;
    difference_weights(order, count, weight);
    for (int i = 0; i < order; i++)
        scale *= spacing;
    for (int i = 0; i < count; i++) {
        if (weight[i] == 0)
            continue;
        signed char d[AXES] = {0, 0, 0};
        d[axis] = (signed char)(first + i);
        sum[spec_cell(d)] += weight[i] / scale;
        used[spec_cell(d)] = true;
    }
}

static void push_sum(lua_State *L, const char *where, int dims,
                     const long double sum[SPEC_MAX_POINTS], const bool used[SPEC_MAX_POINTS]) {
    dense t;
    dense_clear(&t, dims);
    for (int i = 0; i < SPEC_MAX_POINTS; i++) {
        if (!used[i])
            continue;
        if (!isfinite((double)sum[i]))
            spec_fail(L, "%s: a weight is not finite; the spacing is too small", where);
        t.value[i] = expr_constant(spec_of(L)->pool, (double)sum[i]);
    }
    push_weights(L, &t);
}

static int get_accuracy(lua_State *L, const char *where) {
    int accuracy = 2;
    if (spec_get(L, 1, "accuracy"))
        accuracy = spec_whole(L, -1, where, "accuracy", 2, 2 * MAX_REACH);
    if (accuracy % 2 != 0)
        spec_fail_expected(L, where, "accuracy", "an even number", -1);
    lua_pop(L, 1);
    return accuracy;
}

/* Half a distance above the point, below it, or at it: 1, −1, 0. */
static int get_stagger(lua_State *L, const char *where) {
    double stagger = 0;
    if (spec_get(L, 1, "stagger"))
        stagger = spec_number(L, -1, where, "stagger");
    if (stagger != 0.5 && stagger != -0.5 && stagger != 0)
        spec_fail_expected(L, where, "stagger", "0.5, -0.5 or 0", -1);
    lua_pop(L, 1);
    return (int)(2 * stagger);
}

static double get_spacing(lua_State *L, const char *where, const char *key) {
    const double spacing = spec_number(L, -1, where, key);
    if (spacing <= 0)
        spec_fail_expected(L, where, key, "a number above 0", -1);
    return spacing;
}

static void check_options(lua_State *L, const char *function, const spec_key *keys) {
    spec_check_count(L, function, 1);
    if (!lua_istable(L, 1))
        spec_fail_expected(L, function, NULL, "a table of options", 1);
    spec_check_keys(L, 1, function, keys);
}

int spec_derivative(lua_State *L) {
    static const char where[] = "derivative";
    const char *const axes[AXES] = {spec_axis_keys[0].name, spec_axis_keys[1].name,
                                    spec_axis_keys[2].name};
    long double sum[SPEC_MAX_POINTS] = {0};
    bool used[SPEC_MAX_POINTS] = {false};
    check_options(L, where, spec_derivative_keys);
    spec_get(L, 1, "axis");
    const int axis = spec_word(L, -1, "derivative.axis", axes, AXES);
    const int order = spec_get_whole(L, 1, where, "order", 1, 2 * MAX_REACH, 1);
    double spacing = 1;
    if (spec_get(L, 1, "spacing"))
        spacing = get_spacing(L, where, "spacing");
    add_difference(L, where, axis, order, get_accuracy(L, where), get_stagger(L, where), spacing,
                   sum, used);
    push_sum(L, where, axis + 1, sum, used);
    return 1;
}

int spec_laplacian(lua_State *L) {
    static const char where[] = "laplacian";
    long double sum[SPEC_MAX_POINTS] = {0};
    bool used[SPEC_MAX_POINTS] = {false};
    double spacing[AXES] = {1, 1, 1};
    check_options(L, where, spec_laplacian_keys);
    spec_get(L, 1, "dims");
    const int dims = spec_whole(L, -1, where, "dims", 1, AXES);
    const bool given = spec_get(L, 1, "spacing");
    if (lua_istable(L, -1))
        spec_check_keys(L, -1, "laplacian.spacing", spec_axis_keys);
    for (int axis = 0; axis < AXES && given; axis++) {
        if (!lua_istable(L, -1)) {
            spacing[axis] = get_spacing(L, where, "spacing");
            continue;
        }
        if (spec_get(L, -1, spec_axis_keys[axis].name)) {
            if (axis >= dims)
                spec_fail(L, "laplacian.spacing.%c: the laplacian has %d dimensions",
                          axis_names[axis], dims);
            spacing[axis] = get_spacing(L, "laplacian.spacing", spec_axis_keys[axis].name);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    const int accuracy = get_accuracy(L, where);
    for (int axis = 0; axis < dims; axis++)
        add_difference(L, where, axis, 2, accuracy, 0, spacing[axis], sum, used);
    push_sum(L, where, dims, sum, used);
    return 1;
}
