/* The key boundary, of specs, stages and fields.
   Takes: tables of a spec, and a model whose fields and dimensions are known. Makes: the model's
   sides, and those of fields that have rules of their own. */
#include "gen/spec/state.h"

#include "base/text.h"

#include <string.h>

/* constant(v), constant(param "v") */
typedef struct spec_boundary {
    double value;
    const char *parameter; /* NULL: the value */
} spec_boundary;

int spec_constant(lua_State *L) {
    const spec_state *s = spec_of(L);
    spec_check_count(L, "constant", 1);
    spec_boundary made = {.value = 0};
    spec_expr e;
    if (lua_type(L, 1) == LUA_TNUMBER || !spec_to_expr(L, 1, &e))
        made.value = spec_number(L, 1, "constant", NULL);
    else if (expr_get(s->pool, e.id)->op == EXPR_PARAMETER)
        made.parameter = s->names[expr_get(s->pool, e.id)->index];
    else
        spec_fail(L, "constant: expected a number or a parameter alone, as in constant(param "
                     "\"U\"): compute before the launch what it shall be");
    spec_boundary *b = lua_newuserdatauv(L, sizeof *b, 0);
    *b = made;
    luaL_setmetatable(L, SPEC_BOUNDARY);
    return 1;
}

/* The side on the top of the stack. */
static model_side read_side(lua_State *L, const model *m, const char *where) {
    const spec_boundary *b = luaL_testudata(L, -1, SPEC_BOUNDARY);
    if (b != NULL) {
        spec_check_range(L, m->dtype, "boundary: constant", b->value);
        return (model_side){BOUNDARY_CONSTANT, b->value, b->parameter};
    }
    const char **words = word_names(spec_of(L)->job, boundary_words, BOUNDARY_COUNT);
    const boundary kind = (boundary)spec_word(L, -1, where, words, BOUNDARY_COUNT);
    if (kind == BOUNDARY_CONSTANT)
        spec_fail(L, "%s: constant needs a value: constant(v) instead of \"constant\"", where);
    return (model_side){.kind = kind};
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

void spec_check_axis(lua_State *L, const char *where, int axis, int dims, int axes) {
    if (axis >= dims)
        spec_fail(L, "%s.%c: the stencil has %s", where, axis_names[axis],
                  text_count(spec_of(L)->job, dims, "dimension"));
    if (axis >= axes)
        spec_fail(L, "%s.%c: only x and y are shared out so", where, axis_names[axis]);
}

/* The boundary on the top of the stack, of the axes that it names. */
static void read_sides(lua_State *L, const model *m, const char *what, model_side sides[AXES][2],
                       bool named[AXES]) {
    if (lua_istable(L, -1))
        spec_check_keys(L, -1, what, spec_axis_keys);
    for (int axis = 0; axis < AXES; axis++) {
        if (!lua_istable(L, -1)) {
            named[axis] = axis < m->dims;
            if (named[axis])
                read_axis(L, m, what, sides[axis]);
            continue;
        }
        named[axis] = spec_get(L, -1, spec_axis_keys[axis].name);
        if (named[axis]) {
            spec_check_axis(L, what, axis, m->dims, AXES);
            const char *where =
                job_print(spec_of(L)->job, "%s.%s", what, spec_axis_keys[axis].name);
            read_axis(L, m, where, sides[axis]);
        }
        lua_pop(L, 1);
    }
}

/* The boundary of a field, whose description is on the top of the stack, or of its component. */
static void read_field_sides(lua_State *L, model *m, const char *name) {
    for (int f = 0; f < m->field_count && lua_istable(L, -1); f++) {
        model_field *field = &m->fields[f];
        if (strcmp(field->name, name) != 0 && component_number(field->name, name) == 0)
            continue;
        if (spec_get(L, -1, "boundary"))
            read_sides(L, m, job_print(spec_of(L)->job, "fields.%s.boundary", name), field->sides,
                       field->bounded);
        lua_pop(L, 1);
    }
}

void spec_read_boundary(lua_State *L, int table, model *m, boundary by_default) {
    for (int axis = 0; axis < AXES; axis++)
        m->sides[axis][0] = m->sides[axis][1] =
            (model_side){.kind = axis < m->dims ? by_default : BOUNDARY_FIXED};
    spec_read_sides(L, table, m);
    if (spec_get(L, table, "fields"))
        for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1))
            if (lua_type(L, -2) == LUA_TSTRING)
                read_field_sides(L, m, lua_tostring(L, -2));
    lua_pop(L, 1);
}

void spec_read_sides(lua_State *L, int table, model *m) {
    bool named[AXES];
    if (spec_get(L, table, "boundary"))
        read_sides(L, m, "boundary", m->sides, named);
    lua_pop(L, 1);
}

/* ---- what fits together ---------------------------------------------------------------------- */

/* The rule that a field has, whatever the others have. */
static const model_side *own_side(const model *m, int field, int axis, int side) {
    const model_field *f = &m->fields[field];
    return f->bounded[axis] ? &f->sides[axis][side] : &m->sides[axis][side];
}

static bool reaches(const model *m, int array, int axis, int side) {
    return (side == 0 ? m->arrays[array].low : m->arrays[array].high)[axis] > 0;
}

/* Whether the rule is asked for: by taps, or by a mirror at the other end of a grid so short that
   the mirror leads beyond this end. */
static bool asks(const model *m, int array, int axis, int side) {
    return reaches(m, array, axis, side) ||
           (reaches(m, array, axis, 1 - side) &&
            own_side(m, m->arrays[array].field, axis, 1 - side)->kind == BOUNDARY_MIRROR);
}

/* Whether cells at a side are kept, so that nothing beyond it is read: all that is written is fixed
   there. */
static bool keeps(lua_State *L, const model *m, int axis, int side) {
    int fixed = -1, other = -1;
    for (int o = 0; o < m->output_count; o++) {
        const int field = m->outputs[o].field;
        *(own_side(m, field, axis, side)->kind == BOUNDARY_FIXED ? &fixed : &other) = field;
    }
    if (fixed >= 0 && other >= 0)
        spec_fail(L,
                  "boundary: '%s' is fixed at the %s end of %c, and '%s' is not, but one update "
                  "writes both: write them in two stages of a system, or give both the same",
                  spec_title(L, m, fixed), side == 0 ? "low" : "high", axis_names[axis],
                  spec_title(L, m, other));
    return fixed >= 0 && (side == 0 ? m->low : m->high)[axis] > 0;
}

/* Refuses a fixed rule, which says nothing of cells outside. */
static void check_read(lua_State *L, const model *m, int field, int axis, int side) {
    if (own_side(m, field, axis, side)->kind == BOUNDARY_FIXED)
        spec_fail(L,
                  "boundary: '%s' is read beyond the %s end of %c, where it is fixed and has no "
                  "values: give it a boundary of its own, or make what is written fixed there",
                  spec_title(L, m, field), side == 0 ? "low" : "high", axis_names[axis]);
}

/* A grid is a ring along an axis for all fields that are read beyond its ends, or for none. */
static void check_ring(lua_State *L, const model *m, int axis) {
    int ring = -1, other = -1;
    for (int i = 0; i < m->array_count; i++)
        for (int side = 0; side < 2; side++)
            if (reaches(m, i, axis, side) && m->sides[axis][side].kind != BOUNDARY_FIXED) {
                const int field = m->arrays[i].field;
                const bool is = own_side(m, field, axis, side)->kind == BOUNDARY_PERIODIC;
                *(is ? &ring : &other) = field;
            }
    if (ring >= 0 && other >= 0)
        spec_fail(L,
                  "boundary: along %c '%s' is periodic and '%s' is not: a grid is a ring for all "
                  "fields that are read beyond its ends, or for none",
                  axis_names[axis], spec_title(L, m, ring), spec_title(L, m, other));
}

/* The model's side is one by which some field is read: the spec's, or that of the first field. But
   kernels that find a cell once for all fields go by it, so a mirror is preferred to a rule that
   leads to the nearest cell or to none. */
static void take_side(model *m, int axis, int side) {
    model_side *whole = &m->sides[axis][side];
    const model_side said = *whole;
    bool found = false;
    for (int i = 0; i < m->array_count; i++) {
        const model_side *own = own_side(m, m->arrays[i].field, axis, side);
        if (!asks(m, i, axis, side) || (found && whole->kind == BOUNDARY_MIRROR))
            continue;
        if (!found || own->kind == BOUNDARY_MIRROR || model_same_side(own, &said))
            *whole = *own;
        found = true;
    }
    if (!found || whole->kind == BOUNDARY_FIXED) /* a mirror leads there, as to the nearest cell */
        *whole = (model_side){.kind = BOUNDARY_CLAMP};
}

/* A field has rules of its own where they differ from the model's and are asked for. */
static void settle_field(model *m, int field, int axis) {
    model_field *f = &m->fields[field];
    bool differs = false;
    for (int side = 0; side < 2; side++) {
        bool asked = false;
        for (int i = 0; i < m->array_count; i++)
            asked |= m->arrays[i].field == field && asks(m, i, axis, side);
        if (f->sides[axis][side].kind == BOUNDARY_FIXED)
            f->sides[axis][side].kind = BOUNDARY_CLAMP;
        if (!asked || m->sides[axis][side].kind == BOUNDARY_FIXED)
            f->sides[axis][side] = m->sides[axis][side];
        differs |= !model_same_side(&f->sides[axis][side], &m->sides[axis][side]);
    }
    f->bounded[axis] = differs;
}

static void settle_axis(lua_State *L, model *m, int axis) {
    bool kept[2];
    for (int side = 0; side < 2; side++) {
        kept[side] = keeps(L, m, axis, side);
        for (int i = 0; i < m->array_count && !kept[side]; i++)
            if (reaches(m, i, axis, side))
                check_read(L, m, m->arrays[i].field, axis, side);
    }
    for (int f = 0; f < m->field_count; f++) {
        for (int side = 0; side < 2; side++)
            m->fields[f].sides[axis][side] = *own_side(m, f, axis, side);
        m->fields[f].bounded[axis] = true;
    }
    for (int side = 0; side < 2; side++) {
        if (kept[side])
            m->sides[axis][side] = (model_side){.kind = BOUNDARY_FIXED};
        else
            take_side(m, axis, side);
    }
    check_ring(L, m, axis);
    for (int side = 0; side < 2; side++) /* of an end that nothing is read beyond */
        if (m->sides[axis][side].kind == BOUNDARY_CLAMP &&
            m->sides[axis][1 - side].kind == BOUNDARY_PERIODIC)
            m->sides[axis][side] = m->sides[axis][1 - side];
    for (int f = 0; f < m->field_count; f++)
        settle_field(m, f, axis);
}

void spec_settle_sides(lua_State *L, model *m) {
    if (model_has_own_sides(m))
        for (int axis = 0; axis < m->dims; axis++)
            settle_axis(L, m, axis);
}

void spec_settle_map_sides(lua_State *L, model *m) {
    model_field *made = &m->fields[m->outputs[0].field];
    if (!model_has_own_sides(m))
        return;
    for (int axis = 0; axis < m->dims; axis++) {
        made->bounded[axis] = true;
        for (int side = 0; side < 2; side++) {
            bool fixed = false;
            for (int i = 0; i < m->array_count; i++)
                fixed |= reaches(m, i, axis, side) &&
                         own_side(m, m->arrays[i].field, axis, side)->kind == BOUNDARY_FIXED;
            made->sides[axis][side].kind = fixed ? BOUNDARY_FIXED : BOUNDARY_CLAMP;
        }
    }
    spec_settle_sides(L, m);
}
