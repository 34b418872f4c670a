/* Guards of stages that are put together: along a guarded axis, an expression says by its place
   what memory would have held. A stage is evaluated inside the grid alone:

     - Beyond the grid a reader finds what its rule gives: a value, or the nearest cell's result.
     - A cell that `fixed` keeps has the field's old value.

   Conditions ask whether a whole number is at least 0, so they are right in any type and for grids
   of any size. Away from the edges they are gone (gen/source/interior.c). */
#include "gen/system/launches.h"

#include <stdlib.h>
#include <string.h>

expr_id fusing_load(fusing *f, const char *name, bool previous, const int at[AXES]) {
    int d[AXES];
    memcpy(d, at, sizeof d);
    for (int axis = 0; axis < AXES; axis++)
        if (abs(d[axis]) > MAX_REACH) {
            fusing_refuse(f, "together they reach too far");
            d[axis] = 0;
        }
    return expr_tap(f->pool, 2 * fusing_name(f, name) + previous, d);
}

/* Whether the cell at an offset lies so many cells or more from a side of the grid. */
static expr_id lies_inside(fusing *f, int axis, int side, int d, int cells) {
    const int which = (side == 0 ? POSITION_X : POSITION_REST) + axis;
    const expr_id place =
        expr_position_plus(f->pool, (position)which, (side == 0 ? d : -d) - cells);
    f->positions |= 1u << which | 1u << (POSITION_X + axis);
    return expr_make(f->pool, EXPR_GE, place, expr_constant(f->pool, 0), EXPR_NONE);
}

/* ---- what lies beyond the grid --------------------------------------------------------------- */

typedef struct reading {
    int entry, field, from;
    const int *at, *to;
} reading;

static expr_id beyond_value(fusing *f, const model_side *rule) {
    if (rule->parameter == NULL)
        return expr_constant(f->pool, rule->kind == BOUNDARY_CONSTANT ? rule->value : 0);
    const model *whole = f->system->whole;
    return expr_parameter(f->pool, model_parameter_named(whole, rule->parameter));
}

static expr_id read_from(fusing *f, const reading *r, int axis, int d[AXES]);

static expr_id read_moved(fusing *f, const reading *r, int axis, const int d[AXES], int place) {
    int moved[AXES];
    memcpy(moved, d, sizeof moved);
    moved[axis] = place;
    return read_from(f, r, axis + 1, moved);
}

/* The nearest cell's result, if the place may lie up to `most` cells beyond the side. */
static expr_id read_nearest(fusing *f, const reading *r, int axis, int side, const int d[AXES],
                            int most) {
    const int back = side == 0 ? 1 : -1;
    expr_id found = read_moved(f, r, axis, d, d[axis] + back * most);
    for (int k = most - 1; k > 0 && f->why == NULL; k--) {
        const int place = d[axis] + back * k;
        found = expr_make(f->pool, EXPR_WHERE, lies_inside(f, axis, side, place, 0),
                          read_moved(f, r, axis, d, place), found);
    }
    return found;
}

/* From this axis on; axes decide in the order x, y, z. The reader lies inside, so a place can only
   be beyond the side towards which it was moved. */
static expr_id read_from(fusing *f, const reading *r, int axis, int d[AXES]) {
    const model *m = entry_model(f, r->entry);
    while (axis < m->dims && (!f->guarded[axis] || r->to[axis] == r->at[axis]))
        axis++;
    if (f->why != NULL)
        return expr_constant(f->pool, 0);
    if (axis == m->dims) {
        const copy *c = fusing_copy(f, r->from, d);
        const int output = fusing_output(entry_model(f, r->from), m->fields[r->field].name);
        return c != NULL ? c->roots[output] : expr_constant(f->pool, 0);
    }
    const int side = r->to[axis] > r->at[axis];
    const int moved = abs(r->to[axis] - r->at[axis]), out = side == 0 ? -d[axis] : d[axis];
    const model_side *rule = model_side_of(m, r->field, axis, side);
    const expr_id inside = read_from(f, r, axis + 1, d);
    if (out <= 0 || rule->kind == BOUNDARY_FIXED) /* never beyond, or the reader is not used */
        return inside;
    const expr_id beyond = rule->kind == BOUNDARY_CLAMP
                               ? read_nearest(f, r, axis, side, d, out < moved ? out : moved)
                               : beyond_value(f, rule);
    return expr_make(f->pool, EXPR_WHERE, lies_inside(f, axis, side, d[axis], 0), inside, beyond);
}

expr_id fusing_read(fusing *f, int reader, int field, int from, const int at[AXES],
                    const int to[AXES]) {
    const reading r = {reader, field, from, at, to};
    int d[AXES];
    memcpy(d, to, sizeof d);
    return read_from(f, &r, 0, d);
}

/* ---- what `fixed` keeps ---------------------------------------------------------------------- */

/* A field's value before an entry, at a place in the grid. Scratch fields begin with 0. */
static expr_id old_value(fusing *f, int entry, const char *name, const int at[AXES]) {
    const int from = fusing_source(f, entry, name);
    if (from >= 0) {
        const copy *c = fusing_copy(f, from, at);
        return c != NULL ? c->roots[fusing_output(entry_model(f, from), name)]
                         : expr_constant(f->pool, 0);
    }
    return fusing_has_old(f, entry, name) ? fusing_load(f, name, false, at)
                                          : expr_constant(f->pool, 0);
}

expr_id fusing_keep(fusing *f, int entry, int output, const int at[AXES], expr_id made) {
    const model *m = entry_model(f, entry);
    expr_id inside = EXPR_NONE;
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2 && f->guarded[axis]; side++) {
            const int margin = side == 0 ? m->low[axis] : m->high[axis];
            if (margin == 0 || m->sides[axis][side].kind != BOUNDARY_FIXED)
                continue;
            const expr_id here = lies_inside(f, axis, side, at[axis], margin);
            inside =
                inside == EXPR_NONE ? here : expr_make(f->pool, EXPR_ALL, inside, here, EXPR_NONE);
        }
    if (inside == EXPR_NONE || f->why != NULL)
        return made;
    const char *name = m->fields[m->outputs[output].field].name;
    return expr_make(f->pool, EXPR_WHERE, inside, made, old_value(f, entry, name, at));
}
