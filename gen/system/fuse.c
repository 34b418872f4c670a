/* Fusing stages: what each reads of the others is substituted, at the point or next to it.

   Where a cell near an edge is concerned, a stage's expression is evaluated at places of its own.
   Its `region` along an axis and side is how far from that edge the nearest of them lies: the
   margin that `fixed` keeps of the results, less how far its readers reach. A negative region lies
   beyond the edge. There a boundary would have given another cell of the result. Substitution gives
   the expression at that place, whose taps the boundary takes elsewhere. Both are the same in two
   cases:

     - The axis is periodic for all that read along it.
     - Along the axis, the expression reads its own point alone, and the rule takes another cell's
       place (periodic, clamp, mirror).

   Where taps stay inside, no rule is asked. What `fixed` keeps must not be read, and is the same
   for all results. */
#include "gen/system/fuse.h"

#include "gen/source/emit.h"
#include "gen/stencil/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 4000, MOST_COPIES = 512, FAR = 1 << 20 };

/* The results of a stage at an offset, one for each output. */
typedef struct copy {
    int stage;
    int d[AXES];
    expr_id roots[MAX_FIELDS];
} copy;

typedef struct fusing {
    job *job;
    const system_model *system;
    int first, last;
    const char *why; /* NULL: so far it can be done */
    const char *names[MAX_FIELDS];
    int name_count;
    bool stored[MAX_FIELDS], written[MAX_FIELDS]; /* by name */
    int region[SYSTEM_STAGES][AXES][2];
    bool local[SYSTEM_STAGES][AXES]; /* reads its own point alone along the axis */
    model_side sides[AXES][2];
    int keeps[AXES][2]; /* the margin of the results */
    unsigned positions;
    expr_pool *pool; /* arrays: 2·name, and 1 more for the previous level */
    const plan_facts *facts[SYSTEM_STAGES];
    copy *copies;
    int copy_count;
} fusing;

static const model *stage_of(const fusing *f, int k) {
    return f->system->stages[k].model;
}

static void refuse(fusing *f, const char *why) {
    if (f->why == NULL)
        f->why = why;
}

static const char *field_of(const model *m, int field) {
    return m->fields[field].name;
}

static int name_of(const fusing *f, const char *name) {
    int i = 0;
    while (strcmp(f->names[i], name) != 0)
        i++;
    return i;
}

/* The output of a model by the field's name; −1. */
static int output_named(const model *m, const char *name) {
    for (int o = 0; o < m->output_count; o++)
        if (strcmp(field_of(m, m->outputs[o].field), name) == 0)
            return o;
    return -1;
}

/* The stage of the group whose result `k` reads in place of the field; −1: none. */
static int source_of(const fusing *f, int k, const char *name) {
    for (int a = k - 1; a >= f->first; a--)
        if (output_named(stage_of(f, a), name) >= 0)
            return a;
    return -1;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool reads_later(const fusing *f, const char *name) {
    for (int k = f->last + 1; k < f->system->stage_count; k++) {
        const model *m = stage_of(f, k);
        for (int i = 0; i < m->array_count; i++)
            if (m->arrays[i].used && strcmp(field_of(m, m->arrays[i].field), name) == 0)
                return true;
    }
    return false;
}

static bool is_scratch(const system_model *s, const char *name) {
    for (int i = 0; i < s->scratch_count; i++)
        if (strcmp(s->scratch[i], name) == 0)
            return true;
    return false;
}

static void list_names(fusing *f) {
    const system_model *s = f->system;
    bool any = false;
    for (int i = 0; i < s->whole->field_count; i++)
        f->names[f->name_count++] = s->whole->fields[i].name;
    for (int i = 0; i < s->scratch_count; i++)
        f->names[f->name_count++] = s->scratch[i];
    qsort(f->names, (size_t)f->name_count, sizeof *f->names, compare_names);
    for (int n = 0; n < f->name_count; n++) {
        for (int k = f->first; k <= f->last; k++)
            f->written[n] |= output_named(stage_of(f, k), f->names[n]) >= 0;
        f->stored[n] =
            f->written[n] && (!is_scratch(s, f->names[n]) || reads_later(f, f->names[n]));
        any |= f->stored[n];
    }
    if (!any) /* a scratch field that these stages alone read */
        refuse(f, "nothing that they write is read later");
}

static bool stores(const fusing *f, int k) {
    const model *m = stage_of(f, k);
    for (int o = 0; o < m->output_count; o++)
        if (f->stored[name_of(f, field_of(m, m->outputs[o].field))])
            return true;
    return false;
}

/* ---- edges ----------------------------------------------------------------------------------- */

static int reach_of(const model *m, int axis, int side) {
    return side == 0 ? m->low[axis] : m->high[axis];
}

static int margin_of(const model *m, int axis, int side) {
    return m->sides[axis][side].kind == BOUNDARY_FIXED ? reach_of(m, axis, side) : 0;
}

/* The margin of the stages whose results are stored, which must agree. */
static void find_margin(fusing *f, int axis, int side) {
    int margin = -1;
    for (int k = f->first; k <= f->last; k++) {
        const int own = margin_of(stage_of(f, k), axis, side);
        if (!stores(f, k))
            continue;
        if (margin >= 0 && own != margin)
            refuse(f, "fixed boundaries keep other cells of one than of the other");
        margin = own;
    }
    f->keeps[axis][side] = margin < 0 ? 0 : margin;
}

/* Readers come after what they read. */
static void find_regions(fusing *f, int axis, int side) {
    for (int k = f->first; k <= f->last; k++)
        f->region[k][axis][side] = stores(f, k) ? f->keeps[axis][side] : FAR;
    for (int k = f->last; k > f->first; k--) {
        const model *m = stage_of(f, k);
        for (int i = 0; i < m->array_count && f->region[k][axis][side] != FAR; i++) {
            const model_array *a = &m->arrays[i];
            const int from = a->previous ? -1 : source_of(f, k, field_of(m, a->field));
            const int region =
                f->region[k][axis][side] - (side == 0 ? a->low[axis] : a->high[axis]);
            if (from >= 0 && region < f->region[from][axis][side])
                f->region[from][axis][side] = region;
        }
    }
}

static void find_local(fusing *f, int axis) {
    for (int k = f->first; k <= f->last; k++) {
        const model *m = stage_of(f, k);
        f->local[k][axis] = m->low[axis] == 0 && m->high[axis] == 0;
        for (int i = 0; i < m->array_count; i++) {
            const int from =
                m->arrays[i].previous ? -1 : source_of(f, k, field_of(m, m->arrays[i].field));
            f->local[k][axis] &= from < 0 || f->local[from][axis];
        }
    }
}

/* The rule of a side, of all stages that ask for it; NULL: none does. */
static const model_side *find_rule(fusing *f, int axis, int side) {
    const model_side *rule = NULL;
    for (int k = f->first; k <= f->last; k++) {
        const model *m = stage_of(f, k);
        const int region = f->region[k][axis][side], reach = reach_of(m, axis, side);
        if (region == FAR)
            continue;
        const int margin = margin_of(m, axis, side);
        if (margin > 0 && margin > region)
            refuse(f, "one reads cells that the fixed boundary of the other keeps");
        if (reach == 0 || reach <= region)
            continue;
        if (rule != NULL && !model_same_side(rule, &m->sides[axis][side]))
            refuse(f, "their boundaries differ");
        rule = &m->sides[axis][side];
    }
    return rule;
}

/* What is evaluated beyond the edge is what the boundary would have read. */
static void check_beyond(fusing *f, int axis, int side, const model_side *rule) {
    for (int k = f->first; k <= f->last; k++) {
        if (f->region[k][axis][side] >= 0)
            continue;
        const boundary kind = rule != NULL ? rule->kind : BOUNDARY_ZERO;
        const bool moves = kind == BOUNDARY_CLAMP || kind == BOUNDARY_MIRROR;
        if (kind != BOUNDARY_PERIODIC && !(moves && f->local[k][axis]))
            refuse(f, "one reads the other's results next to its point, and at an edge they are "
                      "not what the boundary gives there");
    }
}

/* Where a grid is smaller than the reach, a mirror's cells are folded at the other side, too, by
   the rule that their stage has there. */
static void check_folds(fusing *f, int axis, int side, bool given) {
    model_side *other = &f->sides[axis][1 - side];
    for (int k = f->first; k <= f->last; k++) {
        const model *m = stage_of(f, k);
        const int region = f->region[k][axis][side], reach = reach_of(m, axis, side);
        if (m->sides[axis][side].kind != BOUNDARY_MIRROR || reach == 0 || region == FAR ||
            reach <= region)
            continue;
        if (!given && f->keeps[axis][1 - side] == 0)
            *other = m->sides[axis][1 - side];
        else if (!model_same_side(other, &m->sides[axis][1 - side]))
            refuse(f, "their boundaries differ");
        given = true;
    }
}

static void find_sides(fusing *f, int axis) {
    const model_side *rules[2];
    for (int side = 0; side < 2; side++) {
        static const model_side none = {.kind = BOUNDARY_FIXED};
        find_margin(f, axis, side);
        find_regions(f, axis, side);
        rules[side] = find_rule(f, axis, side);
        f->sides[axis][side] = rules[side] != NULL ? *rules[side] : none;
        if (f->keeps[axis][side] > 0 && rules[side] != NULL)
            refuse(f, "their boundaries differ");
    }
    find_local(f, axis);
    for (int side = 0; side < 2; side++) {
        check_beyond(f, axis, side, rules[side]);
        check_folds(f, axis, side, rules[1 - side] != NULL);
        if (f->sides[axis][side].kind != BOUNDARY_PERIODIC)
            continue;
        if (rules[1 - side] == NULL && f->keeps[axis][1 - side] == 0)
            f->sides[axis][1 - side] = f->sides[axis][side];
        if (f->sides[axis][1 - side].kind != BOUNDARY_PERIODIC)
            refuse(f, "their boundaries differ");
    }
}

/* ---- expressions ----------------------------------------------------------------------------- */

typedef struct place {
    fusing *fusing;
    int stage;
    int d[AXES];
} place;

static const copy *copy_stage(fusing *f, int stage, const int d[AXES]);

static expr_id read_tap(place *p, const expr_node *n) {
    fusing *f = p->fusing;
    const model *m = stage_of(f, p->stage);
    const model_array *a = &m->arrays[n->index];
    const char *name = field_of(m, a->field);
    int d[AXES];
    for (int axis = 0; axis < AXES; axis++)
        d[axis] = p->d[axis] + n->d[axis];
    const int from = a->previous ? -1 : source_of(f, p->stage, name);
    if (from >= 0) {
        const copy *c = copy_stage(f, from, d);
        return c != NULL ? c->roots[output_named(stage_of(f, from), name)]
                         : expr_constant(f->pool, 0);
    }
    for (int axis = 0; axis < AXES; axis++)
        if (abs(d[axis]) > MAX_REACH) {
            refuse(f, "together they reach too far");
            d[axis] = 0;
        }
    return expr_tap(f->pool, 2 * name_of(f, name) + a->previous, d);
}

/* Next to a point, a boundary decides whose index it would be. */
static expr_id read_position(place *p, const expr_node *n) {
    fusing *f = p->fusing;
    if (n->index < POSITION_NX && p->d[n->index] != 0)
        refuse(f, "one reads the other's results next to its point, and they depend on the place");
    f->positions |= 1u << n->index;
    return expr_position(f->pool, (position)n->index);
}

static expr_id read_leaf(void *user, const expr_node *n) {
    place *p = user;
    fusing *f = p->fusing;
    if (n->op == EXPR_TAP)
        return read_tap(p, n);
    if (n->op == EXPR_POSITION)
        return read_position(p, n);
    if (n->op == EXPR_PARAMETER)
        return expr_parameter(f->pool, n->index);
    assert(n->op == EXPR_CONSTANT);
    return expr_constant(f->pool, n->value);
}

static const copy *known_copy(const fusing *f, int stage, const int d[AXES]) {
    for (int i = 0; i < f->copy_count; i++)
        if (f->copies[i].stage == stage && memcmp(f->copies[i].d, d, sizeof f->copies[i].d) == 0)
            return &f->copies[i];
    return NULL;
}

/* A stage's results at an offset; NULL once it is clear that the stages cannot be fused. A stage
   reads earlier ones alone, so calls are no deeper than the group is long. A result that is a
   constant would be folded in float64, unlike one that was stored. */
static const copy *copy_stage(fusing *f, int stage, const int d[AXES]) {
    const copy *known = known_copy(f, stage, d);
    if (known != NULL || f->why != NULL)
        return f->why == NULL ? known : NULL;
    const model *m = stage_of(f, stage);
    place at = {.fusing = f, .stage = stage};
    copy made = {.stage = stage};
    memcpy(at.d, d, sizeof at.d);
    memcpy(made.d, d, sizeof made.d);
    if (f->facts[stage] == NULL)
        f->facts[stage] = plan_facts_new(f->job, m);
    const emit_leaves leaves = {&at, read_leaf};
    emit_explicit(f->job, m, f->facts[stage]->roots, m->output_count, &leaves, f->pool, made.roots);
    for (int o = 0; o < m->output_count; o++)
        if (expr_get(f->pool, made.roots[o])->op == EXPR_CONSTANT)
            refuse(f, "a result is a constant");
    if (f->pool->count > MOST_NODES || f->copy_count == MOST_COPIES || f->pool->limit != NULL)
        refuse(f, "what the stages read of each other would be computed too often");
    if (f->why != NULL)
        return NULL;
    f->copies[f->copy_count] = made;
    return &f->copies[f->copy_count++];
}

/* The expression of each stored field, from its last writer. */
static void copy_results(fusing *f, expr_id roots[MAX_FIELDS]) {
    static const int here[AXES] = {0, 0, 0};
    for (int n = 0; n < f->name_count && f->why == NULL; n++) {
        if (!f->stored[n])
            continue;
        const int from = source_of(f, f->last + 1, f->names[n]);
        const copy *c = copy_stage(f, from, here);
        if (c != NULL)
            roots[n] = c->roots[output_named(stage_of(f, from), f->names[n])];
    }
}

/* ---- the model ------------------------------------------------------------------------------- */

static void note_reach(model *m, model_array *a, const int d[AXES]) {
    a->used = true;
    m->points++;
    for (int axis = 0; axis < AXES; axis++) {
        a->low[axis] = -d[axis] > a->low[axis] ? -d[axis] : a->low[axis];
        a->high[axis] = d[axis] > a->high[axis] ? d[axis] : a->high[axis];
        m->low[axis] = a->low[axis] > m->low[axis] ? a->low[axis] : m->low[axis];
        m->high[axis] = a->high[axis] > m->high[axis] ? a->high[axis] : m->high[axis];
        m->radius = m->low[axis] > m->radius ? m->low[axis] : m->radius;
        m->radius = m->high[axis] > m->radius ? m->high[axis] : m->radius;
    }
}

static model_field field_made(const fusing *f, int n, const bool reads[2]) {
    const model *whole = f->system->whole;
    bool fresh = is_scratch(f->system, f->names[n]) && !reads[0];
    for (int i = 0; i < whole->field_count; i++)
        fresh |= whole->fields[i].use == USE_OUT && strcmp(whole->fields[i].name, f->names[n]) == 0;
    return (model_field){.name = f->names[n],
                         .use = !f->stored[n] ? USE_IN
                                : fresh       ? USE_OUT
                                              : USE_INOUT,
                         .levels = reads[1] ? 2 : 1};
}

/* Fields and arrays that the expressions have; `map` numbers the arrays. */
static void add_fields(const fusing *f, model *m, const bool *used, int *map) {
    for (int n = 0; n < f->name_count; n++) {
        const bool *reads = &used[2 * n];
        if (!reads[0] && !reads[1] && !f->stored[n])
            continue;
        const model_field field = field_made(f, n, reads);
        for (int level = 0; level < field.levels && field.use != USE_OUT; level++) {
            map[2 * n + level] = m->array_count;
            m->arrays[m->array_count++] =
                (model_array){.field = m->field_count, .previous = level == 1};
        }
        if (f->stored[n])
            m->outputs[m->output_count++] = (model_output){m->field_count, EXPR_NONE};
        m->fields[m->field_count++] = field;
    }
}

/* The live nodes in a pool of the model's own. */
static void move_nodes(const fusing *f, const expr_id *roots, model *m) {
    expr_id live_roots[MAX_FIELDS];
    bool used[2 * MAX_FIELDS] = {false};
    int map[2 * MAX_FIELDS], count = 0;
    for (int n = 0; n < f->name_count; n++)
        if (f->stored[n])
            live_roots[count++] = roots[n];
    const bool *live = expr_live(f->pool, f->job, live_roots, count);
    expr_id *moved = job_array(f->job, (size_t)f->pool->count + 1, sizeof *moved);
    for (int i = 0; i < f->pool->count; i++)
        if (live[i] && expr_get(f->pool, i)->op == EXPR_TAP)
            used[expr_get(f->pool, i)->index] = true;
    add_fields(f, m, used, map);
    for (int i = 0; i < f->pool->count; i++) {
        const expr_node *n = expr_get(f->pool, i);
        if (!live[i])
            continue;
        if (n->op == EXPR_TAP)
            note_reach(m, &m->arrays[map[n->index]], n->d);
        expr_id operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
        for (int k = 0; k < expr_words[n->op].operands; k++)
            operand[k] = moved[n->operand[k]];
        moved[i] = n->op == EXPR_TAP         ? expr_tap(m->pool, map[n->index], n->d)
                   : n->op == EXPR_CONSTANT  ? expr_constant(m->pool, n->value)
                   : n->op == EXPR_PARAMETER ? expr_parameter(m->pool, n->index)
                   : n->op == EXPR_POSITION
                       ? expr_position(m->pool, (position)n->index)
                       : expr_make(m->pool, n->op, operand[0], operand[1], operand[2]);
    }
    for (int o = 0; o < m->output_count; o++)
        m->outputs[o].value = moved[live_roots[o]];
}

/* What `fixed` keeps, of all results alike. */
static void set_sides(const fusing *f, model *m) {
    memcpy(m->sides, f->sides, sizeof m->sides);
    for (int axis = 0; axis < AXES; axis++) {
        if (f->keeps[axis][0] > m->low[axis])
            m->low[axis] = f->keeps[axis][0];
        if (f->keeps[axis][1] > m->high[axis])
            m->high[axis] = f->keeps[axis][1];
    }
}

static model *make_model(const fusing *f, const expr_id *roots) {
    const model *first = stage_of(f, f->first);
    model *m = job_alloc(f->job, sizeof *m);
    *m = (model){.name = first->name,
                 .file = first->file,
                 .line = first->line,
                 .dims = first->dims,
                 .dtype = first->dtype,
                 .shape = SHAPE_UPDATE,
                 .parameter_count = first->parameter_count,
                 .declared = true,
                 .pool = expr_pool_new(f->job),
                 .positions = f->positions,
                 .arranged = true,
                 .nonlinear = true,
                 .schedule = first->schedule};
    m->pool->ordered = true;
    memcpy(m->parameters, first->parameters, sizeof m->parameters);
    move_nodes(f, roots, m);
    set_sides(f, m);
    for (int k = f->first; k <= f->last; k++) {
        m->textbook_multiplications += stage_of(f, k)->textbook_multiplications;
        m->textbook_additions += stage_of(f, k)->textbook_additions;
    }
    return m;
}

bool system_fuse(job *j, const system_model *system, int first, int last, system_stage *out,
                 const char **why) {
    fusing *f = job_alloc(j, sizeof *f);
    expr_id roots[MAX_FIELDS];
    *f = (fusing){.job = j, .system = system, .first = first, .last = last};
    if (model_is_narrow(system->whole))
        refuse(f, "cells of 16 bits are rounded between them");
    for (int k = first; k <= last; k++) {
        if (system->stages[k].times > 1)
            refuse(f, "one is repeated");
        if (system->stages[k].alone)
            refuse(f, "one has a schedule of its own");
        if (model_has_own_sides(system->stages[k].model))
            refuse(f, "fields of one have boundaries of their own");
    }
    list_names(f);
    for (int axis = 0; axis < stage_of(f, first)->dims; axis++)
        find_sides(f, axis);
    if (f->why == NULL) {
        f->pool = expr_pool_new(j);
        f->pool->ordered = true;
        f->copies = job_array(j, MOST_COPIES, sizeof *f->copies);
        copy_results(f, roots);
    }
    *why = f->why;
    if (f->why != NULL)
        return false;
    *out = (system_stage){make_model(f, roots), 1, first, last, false};
    return true;
}
