/* Fusing stages: what each reads of the others is substituted, at the point or next to it. A stage
   that is repeated stands in a row as often. fuse_edges.c says where that is the same near an edge,
   and their model has the fields, arrays and outputs of those that are read or stored. */
#include "gen/source/emit.h"
#include "gen/system/launches.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 4000, MOST_COPIES = 512 };

static const char *field_of(const model *m, int field) {
    return m->fields[field].name;
}

int fusing_name(const fusing *f, const char *name) {
    int i = 0;
    while (strcmp(f->names[i], name) != 0)
        i++;
    return i;
}

int fusing_output(const model *m, const char *name) {
    for (int o = 0; o < m->output_count; o++)
        if (strcmp(field_of(m, m->outputs[o].field), name) == 0)
            return o;
    return -1;
}

static bool is_scratch(const system_model *s, const char *name) {
    for (int i = 0; i < s->scratch_count; i++)
        if (strcmp(s->scratch[i], name) == 0)
            return true;
    return false;
}

int fusing_source(const fusing *f, int entry, const char *name) {
    const int step = entry == f->entry_count ? entry - f->per_step : entry - entry % f->per_step;
    const int first = is_scratch(f->system, name) ? step : 0;
    for (int a = entry - 1; a >= first; a--)
        if (fusing_output(entry_model(f, a), name) >= 0)
            return a;
    return -1;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool reads_later(const fusing *f, const char *name) {
    for (int k = f->last + 1; k < f->system->stage_count; k++) {
        const model *m = f->system->stages[k].model;
        for (int i = 0; i < m->array_count; i++)
            if (m->arrays[i].used && strcmp(field_of(m, m->arrays[i].field), name) == 0)
                return true;
    }
    return false;
}

static bool is_only_written(const fusing *f, const char *name) {
    const model *whole = f->system->whole;
    for (int i = 0; i < whole->field_count; i++)
        if (whole->fields[i].use == USE_OUT && strcmp(whole->fields[i].name, name) == 0)
            return true;
    return false;
}

static bool is_written_before(const fusing *f, const char *name) {
    for (int k = 0; k < f->first; k++)
        if (fusing_output(f->system->stages[k].model, name) >= 0)
            return true;
    return false;
}

bool fusing_has_old(fusing *f, int entry, const char *name) {
    if (fusing_source(f, entry, name) >= 0)
        return true;
    if (is_only_written(f, name))
        fusing_refuse(f, "a fixed boundary keeps cells of a field that is only written");
    return !is_scratch(f->system, name) || is_written_before(f, name);
}

static void list_names(fusing *f) {
    const system_model *s = f->system;
    bool any = false;
    for (int i = 0; i < s->whole->field_count; i++)
        f->names[f->name_count++] = s->whole->fields[i].name;
    for (int i = 0; i < s->scratch_count; i++)
        f->names[f->name_count++] = s->scratch[i];
    qsort(f->names, (size_t)f->name_count, sizeof *f->names, text_compare);
    for (int n = 0; n < f->name_count; n++) {
        for (int e = 0; e < f->entry_count; e++)
            f->written[n] |= fusing_output(entry_model(f, e), f->names[n]) >= 0;
        f->stored[n] =
            f->written[n] && (!is_scratch(s, f->names[n]) || reads_later(f, f->names[n]));
        any |= f->stored[n];
    }
    if (!any) /* a scratch field that these stages alone read */
        fusing_refuse(f, "nothing that they write is read later");
}

bool fusing_stores(const fusing *f, int entry) {
    const model *m = entry_model(f, entry);
    for (int o = 0; o < m->output_count; o++)
        if (f->stored[fusing_name(f, field_of(m, m->outputs[o].field))])
            return true;
    return false;
}

/* ---- expressions ----------------------------------------------------------------------------- */

typedef struct place {
    fusing *fusing;
    int entry;
    int d[AXES];
} place;

static expr_id read_tap(place *p, const expr_node *n) {
    fusing *f = p->fusing;
    const model *m = entry_model(f, p->entry);
    const model_array *a = &m->arrays[n->index];
    const char *name = field_of(m, a->field);
    int d[AXES];
    for (int axis = 0; axis < AXES; axis++)
        d[axis] = p->d[axis] + n->d[axis];
    const int from = a->previous ? -1 : fusing_source(f, p->entry, name);
    return from >= 0 ? fusing_read(f, p->entry, a->field, from, p->d, d)
                     : fusing_load(f, name, a->previous, d);
}

/* Next to a point, a boundary may decide whose index it would be. */
static expr_id read_position(place *p, const expr_node *n) {
    fusing *f = p->fusing;
    const int axis = position_axis(n->index);
    const bool moves = n->index < POSITION_NX && p->d[axis] != 0;
    if (moves && !f->guarded[axis] && !f->ring[axis]) {
        f->asked[axis] = true;
        fusing_refuse(
            f, "one reads the other's results next to its point, and they depend on the place");
    }
    f->positions |= 1u << n->index;
    return expr_position_plus(f->pool, (position)n->index, moves ? p->d[axis] : 0);
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

static const copy *known_copy(const fusing *f, int entry, const int d[AXES]) {
    for (int i = 0; i < f->copy_count; i++)
        if (f->copies[i].entry == entry && memcmp(f->copies[i].d, d, sizeof f->copies[i].d) == 0)
            return &f->copies[i];
    return NULL;
}

/* An entry reads earlier ones alone, so calls are no deeper than the group is long. A result that
   is a constant would be folded in float64, unlike one that was stored. */
const copy *fusing_copy(fusing *f, int entry, const int d[AXES]) {
    const copy *known = known_copy(f, entry, d);
    if (known != NULL || f->why != NULL)
        return f->why == NULL ? known : NULL;
    const model *m = entry_model(f, entry);
    const int stage = f->entries[entry];
    place at = {.fusing = f, .entry = entry};
    copy made = {.entry = entry};
    memcpy(at.d, d, sizeof at.d);
    memcpy(made.d, d, sizeof made.d);
    if (f->facts[stage] == NULL)
        f->facts[stage] = plan_facts_new(f->job, m);
    const emit_leaves leaves = {&at, read_leaf};
    emit_explicit(f->job, m, f->facts[stage]->roots, m->output_count, &leaves, f->pool, made.roots);
    for (int o = 0; o < m->output_count; o++) {
        if (expr_get(f->pool, made.roots[o])->op == EXPR_CONSTANT)
            fusing_refuse(f, "a result is a constant");
        made.roots[o] = fusing_keep(f, entry, o, d, made.roots[o]);
    }
    if (f->pool->count > MOST_NODES || f->copy_count == MOST_COPIES || f->pool->limit != NULL)
        fusing_refuse(f, "what the stages read of each other would be computed too often");
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
        const int from = fusing_source(f, f->entry_count, f->names[n]);
        const copy *c = fusing_copy(f, from, here);
        if (c != NULL)
            roots[n] = c->roots[fusing_output(entry_model(f, from), f->names[n])];
    }
}

/* ---- the model ------------------------------------------------------------------------------- */

static void note_reach(model *m, model_array *a, const int d[AXES]) {
    a->used = true;
    m->points++;
    for (int axis = 0; axis < AXES; axis++) {
        a->low[axis] = larger(a->low[axis], -d[axis]);
        a->high[axis] = larger(a->high[axis], d[axis]);
        m->low[axis] = larger(m->low[axis], a->low[axis]);
        m->high[axis] = larger(m->high[axis], a->high[axis]);
    }
}

static model_field make_field(const fusing *f, int n, const bool reads[2]) {
    const bool fresh =
        (is_scratch(f->system, f->names[n]) && !reads[0]) || is_only_written(f, f->names[n]);
    return (model_field){.name = f->names[n],
                         .use = !f->stored[n] ? USE_IN
                                : fresh       ? USE_OUT
                                              : USE_INOUT,
                         .levels = reads[1] ? 2 : 1};
}

void fusing_add_fields(const fusing *f, model *m, const bool *used, int *map) {
    for (int n = 0; n < f->name_count; n++) {
        const bool *reads = &used[2 * n];
        if (!reads[0] && !reads[1] && !f->stored[n])
            continue;
        const model_field field = make_field(f, n, reads);
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
    fusing_add_fields(f, m, used, map);
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
                       ? expr_position_plus(m->pool, (position)n->index, n->d[0])
                       : expr_make(m->pool, n->op, operand[0], operand[1], operand[2]);
    }
    for (int o = 0; o < m->output_count; o++)
        m->outputs[o].value = moved[live_roots[o]];
    model_set_radius(m);
}

/* What `fixed` keeps, of all results alike; and rules of fields that are not those of the others.
 */
static void set_sides(const fusing *f, model *m) {
    memcpy(m->sides, f->sides, sizeof m->sides);
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++) {
            int *reach = side == 0 ? &m->low[axis] : &m->high[axis];
            *reach = larger(*reach, f->keeps[axis][side]);
            for (int i = 0; i < m->field_count; i++) {
                model_field *field = &m->fields[i];
                const asked_side *rule = &f->rules[fusing_name(f, field->name)][axis][side];
                field->sides[axis][side] = rule->asked ? rule->side : f->sides[axis][side];
                field->bounded[axis] |=
                    !model_same_side(&field->sides[axis][side], &f->sides[axis][side]);
            }
        }
}

model *fusing_blank(const fusing *f) {
    const model *first = entry_model(f, 0);
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
                 .arranged = true,
                 .nonlinear = true,
                 .schedule = first->schedule};
    memcpy(m->parameters, first->parameters, sizeof m->parameters);
    return m;
}

/* The model of the expressions, by name. */
static model *model_of(const fusing *f, const expr_id *roots) {
    model *m = fusing_blank(f);
    m->positions = f->positions;
    m->pool->ordered = true;
    move_nodes(f, roots, m);
    set_sides(f, m);
    for (int e = 0; e < f->entry_count; e++) {
        m->textbook_multiplications += entry_model(f, e)->textbook_multiplications;
        m->textbook_additions += entry_model(f, e)->textbook_additions;
    }
    return m;
}

/* ---- together -------------------------------------------------------------------------------- */

static void list_entries(fusing *f, int steps) {
    for (int k = f->first; k <= f->last; k++) {
        const system_stage *s = &f->system->stages[k];
        if (s->alone)
            fusing_refuse(f, "one has a schedule of its own");
        if (f->entry_count + s->times > MOST_ENTRIES)
            fusing_refuse(f, "one is repeated too often");
        for (int i = 0; i < s->times && f->entry_count < MOST_ENTRIES; i++)
            f->entries[f->entry_count++] = k;
    }
    f->per_step = f->entry_count;
    if (f->per_step * steps > MOST_ENTRIES)
        fusing_refuse(f, "so many steps have too many stages");
    while (f->entry_count < f->per_step * steps && f->entry_count < MOST_ENTRIES) {
        f->entries[f->entry_count] = f->entries[f->entry_count - f->per_step];
        f->entry_count++;
    }
}

void fusing_begin(fusing *f, job *j, const system_model *system, int first, int last, int steps) {
    *f = (fusing){.job = j, .system = system, .first = first, .last = last};
    if (model_is_narrow(system->whole))
        fusing_refuse(f, "cells of 16 bits are rounded between them");
    list_entries(f, steps);
    list_names(f);
}

/* One attempt; axes that `asked` lists are guarded from the beginning. */
static void put_together(fusing *f, expr_id roots[MAX_FIELDS]) {
    for (int axis = 0; axis < f->system->whole->dims; axis++)
        fusing_find_sides(f, axis);
    if (f->why == NULL) {
        f->pool = expr_pool_new(f->job);
        f->pool->ordered = true;
        f->copies = job_array(f->job, MOST_COPIES, sizeof *f->copies);
        copy_results(f, roots);
    }
}

bool system_fuse(job *j, const system_model *system, int first, int last, system_stage *out,
                 const char **why) {
    fusing *f = job_alloc(j, sizeof *f);
    expr_id roots[MAX_FIELDS];
    bool again = true;
    for (int attempt = 0; again && attempt <= AXES; attempt++) {
        bool asked[AXES];
        memcpy(asked, f->asked, sizeof asked);
        fusing_begin(f, j, system, first, last, 1);
        memcpy(f->asked, asked, sizeof asked);
        put_together(f, roots);
        again = memcmp(asked, f->asked, sizeof asked) != 0;
    }
    *why = f->why;
    if (f->why != NULL)
        return false;
    *out = (system_stage){model_of(f, roots), 1, first, last, false};
    return true;
}
