/* Edges of stages that are put together: where substitution is the same as memory.

   Where a cell near an edge is concerned, a stage's expression is evaluated at places of its own.
   Its `region` along an axis and side is how far from that edge the nearest of them lies: the
   margin that `fixed` keeps of the results, less how far its readers reach. A negative region lies
   beyond the edge. There its readers' rule would have given another cell of the result.
   Substitution gives the expression at that place, whose taps rules take elsewhere. Both are the
   same in two cases:

     - All rules are periodic: the readers', and those of what the expression reads.
     - Along the axis, the expression reads its own point alone, and the readers' rule takes another
       cell's place (clamp, mirror), and what the expression reads has the same rule.

   Where neither is so, the axis is guarded: see "guarded axes". Then rules serve what is read of
   memory.

   Each name gets the rules that its readers ask for, each of which must ask for the same. Where
   taps stay inside, no rule is asked. A mirror also asks for the rule of the other end: in a grid
   that is smaller than the reach its cells lie beyond that one. What `fixed` keeps must not be
   read, and is the same for all results. */
#include "gen/system/launches.h"

#include <stdlib.h>
#include <string.h>

enum { FAR = 1 << 20 };

static const char differ[] = "their boundaries differ";

static int reach_of(const model *m, int axis, int side) {
    return side == 0 ? m->low[axis] : m->high[axis];
}

static int margin_of(const model *m, int axis, int side) {
    return m->sides[axis][side].kind == BOUNDARY_FIXED ? reach_of(m, axis, side) : 0;
}

/* The entry whose result is read by an array of another one; −1: none. */
static int source_of_array(const fusing *f, int entry, const model_array *a) {
    const model *m = entry_model(f, entry);
    return a->previous ? -1 : fusing_source(f, entry, m->fields[a->field].name);
}

/* The margin of the entries whose results are stored, which must agree. */
static void find_margin(fusing *f, int axis, int side) {
    int margin = -1;
    for (int e = 0; e < f->entry_count; e++) {
        const int own = margin_of(entry_model(f, e), axis, side);
        if (!fusing_stores(f, e))
            continue;
        if (margin >= 0 && own != margin)
            fusing_refuse(f, "fixed boundaries keep other cells of one than of the other");
        margin = own;
    }
    f->keeps[axis][side] = margin < 0 ? 0 : margin;
    for (int e = 0; e < f->entry_count; e++)
        f->region[e][axis][side] = fusing_stores(f, e) ? f->keeps[axis][side] : FAR;
}

static void ask(fusing *f, asked_side *of, const model_side *side) {
    if (of->asked && !model_same_side(&of->side, side))
        fusing_refuse(f, differ);
    *of = (asked_side){true, *side};
}

/* An array of an entry is read beyond a side by this rule. */
static void ask_rule(fusing *f, int entry, const model_array *a, int axis, int side,
                     const model_side *rule) {
    const model *m = entry_model(f, entry);
    const int from = source_of_array(f, entry, a);
    ask(f, &f->rules[fusing_name(f, m->fields[a->field].name)][axis][side], rule);
    if (from < 0)
        return;
    ask(f, &f->beyond[from][axis][side], rule);
    f->region[from][axis][side] = smaller(f->region[from][axis][side], -1);
}

/* By the entry's own boundary. */
static void ask_own(fusing *f, int entry, const model_array *a, int axis, int side) {
    const model *m = entry_model(f, entry);
    const model_side *rule = model_side_of(m, a->field, axis, side);
    ask_rule(f, entry, a, axis, side, rule);
    if (rule->kind == BOUNDARY_MIRROR)
        ask_rule(f, entry, a, axis, 1 - side, model_side_of(m, a->field, axis, 1 - side));
}

/* What an entry asks for that is evaluated from its region on. Where that lies beyond the edge, its
   taps stand for those of the cell by which its readers' rule replaces the place. */
static void ask_all(fusing *f, int entry, int axis, int side) {
    const model *m = entry_model(f, entry);
    const int region = f->region[entry][axis][side];
    const int margin = margin_of(m, axis, side);
    if (region == FAR)
        return;
    if (margin > 0 && margin > region)
        fusing_refuse(f, "one reads cells that the fixed boundary of the other keeps");
    for (int i = 0; i < m->array_count; i++) {
        const model_array *a = &m->arrays[i];
        const int reach = side == 0 ? a->low[axis] : a->high[axis];
        const int from = source_of_array(f, entry, a);
        if (!a->used)
            continue;
        if (from >= 0)
            f->region[from][axis][side] = smaller(f->region[from][axis][side], region - reach);
        if (region < 0)
            ask_rule(f, entry, a, axis, side, &f->beyond[entry][axis][side].side);
        if (reach > 0 && reach > region)
            ask_own(f, entry, a, axis, side);
    }
}

static void find_local(fusing *f, int axis) {
    for (int e = 0; e < f->entry_count; e++) {
        const model *m = entry_model(f, e);
        f->local[e][axis] = m->low[axis] == 0 && m->high[axis] == 0;
        for (int i = 0; i < m->array_count; i++) {
            const int from = source_of_array(f, e, &m->arrays[i]);
            f->local[e][axis] &= from < 0 || f->local[from][axis];
        }
    }
}

/* What is evaluated beyond the edge is what the boundary would have read. */
static void check_beyond(fusing *f, int axis, int side) {
    for (int e = 0; e < f->entry_count; e++) {
        if (f->region[e][axis][side] >= 0)
            continue;
        const boundary kind = f->beyond[e][axis][side].side.kind;
        const bool moves = kind == BOUNDARY_CLAMP || kind == BOUNDARY_MIRROR;
        if (kind != BOUNDARY_PERIODIC && !(moves && f->local[e][axis]))
            fusing_refuse(f, "one reads the other's results next to its point, and at an edge they "
                             "are not what the boundary gives there");
    }
}

/* The rule of the model: one that some name has; a mirror where there is one, as kernels that find
   a cell once for all fields go by it. */
static void choose_side(fusing *f, int axis, int side) {
    model_side *whole = &f->sides[axis][side];
    bool found = false;
    *whole = (model_side){.kind = BOUNDARY_FIXED};
    for (int n = 0; n < f->name_count; n++) {
        const asked_side *rule = &f->rules[n][axis][side];
        if (!rule->asked)
            continue;
        if (f->keeps[axis][side] > 0 && rule->side.kind != BOUNDARY_FIXED)
            fusing_refuse(f, differ);
        /* Nothing is kept: a mirror leads beyond a fixed end, as to the nearest cell. */
        if (found && (rule->side.kind == BOUNDARY_FIXED) != (whole->kind == BOUNDARY_FIXED))
            fusing_refuse(f, differ);
        if (!found || rule->side.kind == BOUNDARY_MIRROR)
            *whole = rule->side;
        found = true;
    }
}

/* A grid is a ring for all that is read beyond its ends, or for none. */
static void check_ring(fusing *f, int axis) {
    bool ring = false, other = f->keeps[axis][0] > 0 || f->keeps[axis][1] > 0;
    for (int n = 0; n < f->name_count; n++)
        for (int side = 0; side < 2; side++) {
            const asked_side *rule = &f->rules[n][axis][side];
            ring |= rule->asked && rule->side.kind == BOUNDARY_PERIODIC;
            other |= rule->asked && rule->side.kind != BOUNDARY_PERIODIC;
        }
    if (ring && other)
        fusing_refuse(f, differ);
    f->ring[axis] = ring;
    for (int side = 0; side < 2 && ring; side++)
        f->sides[axis][side] = (model_side){.kind = BOUNDARY_PERIODIC};
}

/* By the boundaries alone. */
static void find_by_rules(fusing *f, int axis) {
    for (int side = 0; side < 2; side++)
        find_margin(f, axis, side);
    for (int e = f->entry_count; e-- > 0;) /* readers before what they read */
        for (int side = 0; side < 2; side++)
            ask_all(f, e, axis, side);
    find_local(f, axis);
    for (int side = 0; side < 2; side++) {
        check_beyond(f, axis, side);
        choose_side(f, axis, side);
    }
    check_ring(f, axis);
}

/* ---- guards ---------------------------------------------------------------------------------- */

/* The rule by which an entry that lies inside reads memory beyond a side. What a fixed one gives is
   not used. */
static void ask_memory(fusing *f, int entry, const model_array *a, int axis, int side) {
    const model *m = entry_model(f, entry);
    const model_side *rule = model_side_of(m, a->field, axis, side);
    static const model_side nearest = {.kind = BOUNDARY_CLAMP};
    asked_side *of = &f->rules[fusing_name(f, m->fields[a->field].name)][axis][side];
    if (rule->kind == BOUNDARY_PERIODIC)
        fusing_refuse(f, differ);
    if (rule->kind == BOUNDARY_MIRROR) { /* in a small grid it leads beyond the other end */
        const model_side *other = model_side_of(m, a->field, axis, 1 - side);
        ask(f, &f->rules[fusing_name(f, m->fields[a->field].name)][axis][1 - side],
            other->kind == BOUNDARY_FIXED ? &nearest : other);
    }
    if (rule->kind != BOUNDARY_FIXED)
        ask(f, of, rule);
}

/* By what guards say of places along the axis: nothing is kept, and rules serve memory. */
static void find_by_guards(fusing *f, int axis) {
    static const model_side zero = {.kind = BOUNDARY_ZERO};
    for (int e = 0; e < f->entry_count; e++) {
        const model *m = entry_model(f, e);
        for (int i = 0; i < m->array_count; i++)
            for (int side = 0; side < 2; side++) {
                const model_array *a = &m->arrays[i];
                const boundary kind = model_side_of(m, a->field, axis, side)->kind;
                if (!a->used || (side == 0 ? a->low[axis] : a->high[axis]) == 0)
                    continue;
                if (source_of_array(f, e, a) < 0)
                    ask_memory(f, e, a, axis, side);
                else if (kind == BOUNDARY_MIRROR || kind == BOUNDARY_PERIODIC)
                    fusing_refuse(f, "one reads the other's results beyond a mirror, or where not "
                                     "all is periodic");
            }
    }
    for (int side = 0; side < 2; side++) {
        f->keeps[axis][side] = 0;
        choose_side(f, axis, side);
        if (f->sides[axis][side].kind == BOUNDARY_FIXED)
            f->sides[axis][side] = zero;
    }
}

static void forget(fusing *f, int axis) {
    f->why = NULL;
    f->ring[axis] = false;
    for (int side = 0; side < 2; side++) {
        for (int n = 0; n < f->name_count; n++)
            f->rules[n][axis][side] = (asked_side){.asked = false};
        for (int e = 0; e < f->entry_count; e++)
            f->beyond[e][axis][side] = (asked_side){.asked = false};
    }
}

void fusing_find_sides(fusing *f, int axis) {
    if (f->why != NULL)
        return;
    if (!f->asked[axis])
        find_by_rules(f, axis);
    if (f->why == NULL && !f->asked[axis])
        return;
    forget(f, axis);
    f->guarded[axis] = true;
    find_by_guards(f, axis);
}

/* ---- guarded axes ---------------------------------------------------------------------------- */

/* Along a guarded axis, an expression says by its place what memory would have held. A stage is
   evaluated inside the grid alone:

     - Beyond the grid a reader finds what its rule gives: a value, or the nearest cell's result.
     - A cell that `fixed` keeps has the field's old value.

   Conditions ask whether a whole number is at least 0, so they are right in any type and for grids
   of any size. Away from the edges they are gone (gen/source/interior.c). */

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
