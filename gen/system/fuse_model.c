/* The model of stages that were put together. Takes: their expressions in one pool, by name, and
   what boundaries ask for. Makes: fields, arrays and outputs of those that are read or stored. */
#include "gen/system/fusing.h"

#include <string.h>

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

model_field fusing_field(const fusing *f, int n, const bool reads[2]) {
    const model *whole = f->system->whole;
    bool fresh = fusing_is_scratch(f->system, f->names[n]) && !reads[0];
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
        const model_field field = fusing_field(f, n, reads);
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
                       ? expr_position_plus(m->pool, (position)n->index, n->d[0])
                       : expr_make(m->pool, n->op, operand[0], operand[1], operand[2]);
    }
    for (int o = 0; o < m->output_count; o++)
        m->outputs[o].value = moved[live_roots[o]];
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

model *fusing_model(const fusing *f, const expr_id *roots) {
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
                 .positions = f->positions,
                 .arranged = true,
                 .nonlinear = true,
                 .schedule = first->schedule};
    m->pool->ordered = true;
    memcpy(m->parameters, first->parameters, sizeof m->parameters);
    move_nodes(f, roots, m);
    set_sides(f, m);
    for (int e = 0; e < f->entry_count; e++) {
        m->textbook_multiplications += entry_model(f, e)->textbook_multiplications;
        m->textbook_additions += entry_model(f, e)->textbook_additions;
    }
    return m;
}
