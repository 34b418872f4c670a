/* Chains: stages first … last, with the source of everything that they read, the rules beyond the
   ends of each source, and how far each is made beyond a block's cells. The method `chained` makes
   them; here nothing is substituted, so each expression is that of the stage alone.

   Along an axis all rules are periodic, or none is. Beyond an end a source has one rule for all its
   readers. Cells that repeat others are made where the others are made, so all rules that repeat
   cells of an end are the same. */
#include "gen/system/launches.h"

#include <assert.h>
#include <string.h>

typedef struct chaining {
    fusing *fusing; /* names and entries; and the refusal */
    model *whole;
    model_chain *chain;
    int arrays[2 * MAX_FIELDS]; /* by name, and 1 more for the previous level: its source; −1 */
    int results[CHAIN_STAGES][MAX_FIELDS]; /* of an entry's output; −1 */
} chaining;

static const char differ[] = "their boundaries differ";

static int reach_of(const model_array *a, int axis, int side) {
    return side == 0 ? a->low[axis] : a->high[axis];
}

/* ---- sources --------------------------------------------------------------------------------- */

static int add_source(chaining *c, chain_source source) {
    model_chain *chain = c->chain;
    if (chain->source_count == CHAIN_SOURCES) {
        fusing_refuse(c->fusing, "they have too many results");
        return 0;
    }
    for (int axis = 0; axis < AXES; axis++)
        for (int side = 0; side < 2; side++)
            source.sides[axis][side] = (model_side){.kind = BOUNDARY_FIXED};
    chain->sources[chain->source_count] = source;
    return chain->source_count++;
}

/* The source of a field before an entry; −1: there is no such array yet. */
static int source_before(const chaining *c, int entry, const char *name, bool previous) {
    const fusing *f = c->fusing;
    const int from = previous ? -1 : fusing_source(f, entry, name);
    if (from >= 0)
        return c->results[from][fusing_output(entry_model(f, from), name)];
    return c->arrays[2 * fusing_name(f, name) + previous];
}

/* Marks the arrays and results that are read, by what entries read and what they keep. */
static void mark_reads(chaining *c, bool arrays[2 * MAX_FIELDS],
                       bool results[CHAIN_STAGES][MAX_FIELDS]) {
    fusing *f = c->fusing;
    for (int e = 0; e < f->entry_count; e++) {
        const model *m = entry_model(f, e);
        for (int i = 0; i < m->array_count + m->output_count; i++) {
            const bool kept = i >= m->array_count;
            const model_array *a = kept ? NULL : &m->arrays[i];
            const int field = kept ? m->outputs[i - m->array_count].field : a->field;
            const char *name = m->fields[field].name;
            if (kept ? !model_keeps(m) || !fusing_has_old(f, e, name) : !a->used)
                continue;
            const int from = !kept && a->previous ? -1 : fusing_source(f, e, name);
            if (from >= 0)
                results[from][fusing_output(entry_model(f, from), name)] = true;
            else
                arrays[2 * fusing_name(f, name) + (!kept && a->previous)] = true;
        }
    }
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Fields that are only written have no arrays. */
static void add_arrays(chaining *c, const bool reads[2 * MAX_FIELDS]) {
    fusing_add_fields(c->fusing, c->whole, reads, c->arrays);
    for (int n = 0; n < 2 * c->fusing->name_count; n++) {
        const int array = c->arrays[n];
        if (array < 0)
            continue;
        c->arrays[n] = reads[n] ? add_source(c, (chain_source){.array = array}) : -1;
        c->whole->arrays[array].used = reads[n];
    }
}

static void add_results(chaining *c, bool results[CHAIN_STAGES][MAX_FIELDS]) {
    const fusing *f = c->fusing;
    for (int e = 0; e < f->entry_count; e++)
        for (int o = 0; o < entry_model(f, e)->output_count; o++)
            c->results[e][o] =
                results[e][o] ? add_source(c, (chain_source){.array = -1, .stage = e, .output = o})
                              : -1;
}

/* The output of the whole that an entry's output is stored as: the last writer's. */
static int stored_as(const chaining *c, int entry, const char *name) {
    const fusing *f = c->fusing;
    if (!f->stored[fusing_name(f, name)] || fusing_source(f, f->entry_count, name) != entry)
        return -1;
    return fusing_output(c->whole, name);
}

static void add_stage(chaining *c, int e) {
    fusing *f = c->fusing;
    const model *m = entry_model(f, e);
    chain_stage *s = &c->chain->stages[c->chain->stage_count++];
    s->model = m;
    if (f->facts[f->entries[e]] == NULL)
        f->facts[f->entries[e]] = plan_facts_new(f->job, m);
    s->facts = f->facts[f->entries[e]];
    for (int i = 0; i < m->array_count; i++) {
        const model_array *a = &m->arrays[i];
        s->from[i] = a->used ? source_before(c, e, m->fields[a->field].name, a->previous) : -1;
    }
    for (int o = 0; o < m->output_count; o++) {
        const char *name = m->fields[m->outputs[o].field].name;
        s->old[o] =
            model_keeps(m) && fusing_has_old(f, e, name) ? source_before(c, e, name, false) : -1;
        s->makes[o] = c->results[e][o];
        s->stored[o] = stored_as(c, e, name);
    }
    for (int axis = 0; axis < m->dims; axis++) {
        s->keeps[axis][0] = m->sides[axis][0].kind == BOUNDARY_FIXED ? m->low[axis] : 0;
        s->keeps[axis][1] = m->sides[axis][1].kind == BOUNDARY_FIXED ? m->high[axis] : 0;
    }
    c->whole->positions |= m->positions;
}

/* ---- edges ----------------------------------------------------------------------------------- */

static void ask(chaining *c, chain_source *source, int axis, int side, const model_side *rule) {
    model_side *has = &source->sides[axis][side];
    if (rule->kind == BOUNDARY_FIXED)
        return;
    if (has->kind != BOUNDARY_FIXED && !model_same_side(has, rule))
        fusing_refuse(c->fusing, differ);
    *has = *rule;
}

/* A mirror leads beyond the other end of a small grid. */
static void ask_rules(chaining *c, const chain_stage *s, int i, int axis, int side) {
    const model_array *a = &s->model->arrays[i];
    chain_source *source = &c->chain->sources[s->from[i]];
    const model_side *rule = model_side_of(s->model, a->field, axis, side);
    ask(c, source, axis, side, rule);
    if (rule->kind != BOUNDARY_MIRROR)
        return;
    static const model_side nearest = {.kind = BOUNDARY_CLAMP};
    const model_side *other = model_side_of(s->model, a->field, axis, 1 - side);
    ask(c, source, axis, 1 - side, other->kind == BOUNDARY_FIXED ? &nearest : other);
    c->chain->mirrored[axis] = true;
}

/* Cells of an end that repeat others do so by one rule, and an axis is a ring for all or none. */
static void check_axis(chaining *c, int axis) {
    bool ring = false, other = false;
    for (int side = 0; side < 2; side++) {
        bool clamps = false, mirrors = false;
        for (int i = 0; i < c->chain->source_count; i++) {
            const boundary kind = c->chain->sources[i].sides[axis][side].kind,
                           other_end = c->chain->sources[i].sides[axis][1 - side].kind;
            /* In a small grid the mirror leads to the value beyond the other end. */
            if (kind == BOUNDARY_MIRROR &&
                (other_end == BOUNDARY_ZERO || other_end == BOUNDARY_CONSTANT))
                fusing_refuse(c->fusing, differ);
            ring |= kind == BOUNDARY_PERIODIC;
            other |= kind != BOUNDARY_PERIODIC && kind != BOUNDARY_FIXED;
            clamps |= kind == BOUNDARY_CLAMP;
            mirrors |= kind == BOUNDARY_MIRROR;
        }
        if (clamps && mirrors)
            fusing_refuse(c->fusing, differ);
    }
    for (int e = 0; e < c->chain->stage_count; e++)
        other |= c->chain->stages[e].keeps[axis][0] > 0 || c->chain->stages[e].keeps[axis][1] > 0;
    if (ring && other)
        fusing_refuse(c->fusing, differ);
    c->chain->ring[axis] = ring;
}

/* Values beyond the walked axis are put in the place of cells that lie beyond another axis too,
   whose rule would be the first: both must give the same. */
static void check_corners(chaining *c) {
    const int last = c->whole->dims - 1;
    for (int i = 0; i < c->chain->source_count; i++) {
        const chain_source *s = &c->chain->sources[i];
        for (int k = 0; k < 2 * last; k++)
            for (int side = 0; side < 2; side++) {
                const model_side *a = &s->sides[k / 2][k % 2], *b = &s->sides[last][side];
                const bool gives[2] = {a->kind == BOUNDARY_ZERO || a->kind == BOUNDARY_CONSTANT,
                                       b->kind == BOUNDARY_ZERO || b->kind == BOUNDARY_CONSTANT};
                if (gives[0] && gives[1] && !model_same_side(a, b))
                    fusing_refuse(c->fusing, differ);
            }
    }
}

/* How far a source is read beyond the cells of a stage that is made so far beyond a block's. */
static void include(chaining *c, chain_source *to, const chain_stage *s, const model_array *a) {
    for (int axis = 0; axis < AXES; axis++) {
        int low = a != NULL ? a->low[axis] : 0, high = a != NULL ? a->high[axis] : 0;
        if (c->chain->mirrored[axis])
            low = high = larger(low, high);
        to->low[axis] = larger(to->low[axis], s->low[axis] + low);
        to->high[axis] = larger(to->high[axis], s->high[axis] + high);
    }
}

/* From the last stage to the first. */
static void find_reach(chaining *c) {
    model_chain *chain = c->chain;
    for (int e = chain->stage_count; e-- > 0;) {
        chain_stage *s = &chain->stages[e];
        for (int o = 0; o < s->model->output_count; o++)
            for (int axis = 0; axis < AXES && s->makes[o] >= 0; axis++) {
                const chain_source *made = &chain->sources[s->makes[o]];
                s->low[axis] = larger(s->low[axis], made->low[axis]);
                s->high[axis] = larger(s->high[axis], made->high[axis]);
            }
        for (int i = 0; i < s->model->array_count; i++)
            if (s->from[i] >= 0)
                include(c, &chain->sources[s->from[i]], s, &s->model->arrays[i]);
        for (int o = 0; o < s->model->output_count; o++)
            if (s->old[o] >= 0)
                include(c, &chain->sources[s->old[o]], s, NULL);
    }
}

static void find_edges(chaining *c) {
    for (int e = 0; e < c->chain->stage_count && c->fusing->why == NULL; e++) {
        const chain_stage *s = &c->chain->stages[e];
        for (int i = 0; i < s->model->array_count; i++)
            for (int axis = 0; axis < s->model->dims && s->from[i] >= 0; axis++)
                for (int side = 0; side < 2; side++)
                    if (reach_of(&s->model->arrays[i], axis, side) > 0)
                        ask_rules(c, s, i, axis, side);
    }
    for (int axis = 0; axis < c->whole->dims; axis++)
        check_axis(c, axis);
    check_corners(c);
    find_reach(c);
}

/* ---- together -------------------------------------------------------------------------------- */

/* The whole reads its arrays as far as the stages do in all. Values of outputs only say which
   arrays are read. */
static void finish(chaining *c) {
    model *m = c->whole;
    expr_id value = expr_constant(m->pool, 1);
    static const int here[AXES] = {0, 0, 0};
    for (int i = 0; i < c->chain->source_count; i++) {
        const chain_source *s = &c->chain->sources[i];
        if (s->array < 0)
            continue;
        model_array *a = &m->arrays[s->array];
        memcpy(a->low, s->low, sizeof a->low);
        memcpy(a->high, s->high, sizeof a->high);
        value = expr_make(m->pool, EXPR_MAX, value, expr_tap(m->pool, s->array, here), EXPR_NONE);
        m->points++;
        for (int axis = 0; axis < AXES; axis++) {
            m->low[axis] = larger(m->low[axis], a->low[axis]);
            m->high[axis] = larger(m->high[axis], a->high[axis]);
        }
    }
    model_set_radius(m);
    for (int o = 0; o < m->output_count; o++)
        m->outputs[o].value = value;
    for (int axis = 0; axis < AXES; axis++)
        for (int side = 0; side < 2; side++)
            m->sides[axis][side].kind = axis >= m->dims        ? BOUNDARY_FIXED
                                        : c->chain->ring[axis] ? BOUNDARY_PERIODIC
                                                               : BOUNDARY_CLAMP;
}

/* Steps between which something else than the newest values is handed on. */
static void refuse_steps(fusing *f) {
    const model *whole = f->system->whole;
    for (int i = 0; i < whole->field_count; i++)
        if (whole->fields[i].levels > 1)
            fusing_refuse(f, "a field keeps its previous level");
    for (int e = 0; e < f->per_step; e++)
        if ((entry_model(f, e)->positions >> POSITION_STEP & 1) != 0)
            fusing_refuse(f, "a stage asks for the number of the step");
}

static model *chain_model(chaining *c) {
    fusing *f = c->fusing;
    bool arrays[2 * MAX_FIELDS] = {false}, results[CHAIN_STAGES][MAX_FIELDS] = {{false}};
    model *m = c->whole = fusing_blank(f);
    m->chain = c->chain = job_alloc(f->job, sizeof *c->chain);
    memset(c->arrays, 0xff, sizeof c->arrays); /* −1 */
    mark_reads(c, arrays, results);
    add_arrays(c, arrays);
    add_results(c, results);
    for (int e = 0; e < f->entry_count && f->why == NULL; e++)
        add_stage(c, e);
    if (f->why == NULL)
        find_edges(c);
    finish(c);
    return m;
}

bool system_chain(job *j, const system_model *system, int first, int last, int steps,
                  system_stage *out, const char **why) {
    static_assert((int)CHAIN_STAGES == (int)MOST_ENTRIES, "a stage for each entry");
    fusing *f = job_alloc(j, sizeof *f);
    fusing_begin(f, j, system, first, last, steps);
    if (steps > 1)
        refuse_steps(f);
    if (system->whole->dims < 2)
        fusing_refuse(f, "a chain walks the last of several axes");
    if (f->why == NULL) {
        chaining c = {.fusing = f};
        model *m = chain_model(&c);
        *out = (system_stage){m, 1, first, last, false};
    }
    *why = f->why;
    return f->why == NULL;
}
