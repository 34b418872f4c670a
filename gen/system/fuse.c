/* Fusing stages: what each reads of the others is substituted, at the point or next to it. A stage
   that is repeated stands in a row as often. fuse_edges.c says where that is the same near an edge,
   and fuse_model.c makes a model of it. */
#include "gen/system/fuse.h"

#include "gen/source/emit.h"
#include "gen/system/fusing.h"

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

int fusing_source(const fusing *f, int entry, const char *name) {
    const int step = entry == f->entry_count ? entry - f->per_step : entry - entry % f->per_step;
    const int first = fusing_is_scratch(f->system, name) ? step : 0;
    for (int a = entry - 1; a >= first; a--)
        if (fusing_output(entry_model(f, a), name) >= 0)
            return a;
    return -1;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool reads_later(const fusing *f, const char *name) {
    for (int k = f->last + 1; k < f->system->stage_count; k++) {
        const model *m = f->system->stages[k].model;
        for (int i = 0; i < m->array_count; i++)
            if (m->arrays[i].used && strcmp(field_of(m, m->arrays[i].field), name) == 0)
                return true;
    }
    return false;
}

bool fusing_is_scratch(const system_model *s, const char *name) {
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
        for (int e = 0; e < f->entry_count; e++)
            f->written[n] |= fusing_output(entry_model(f, e), f->names[n]) >= 0;
        f->stored[n] =
            f->written[n] && (!fusing_is_scratch(s, f->names[n]) || reads_later(f, f->names[n]));
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
    *out = (system_stage){fusing_model(f, roots), 1, first, last, false};
    return true;
}
