/* Shapes: sets of offsets in the order of a flat list of coefficients.
   Takes: dimensions and radius, or points. Makes: shape values of specs. */
#include "gen/spec/state.h"

#include <assert.h>
#include <string.h>

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
