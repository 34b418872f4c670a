/* Constants: parameters that the caller of a spec has compiled in.
   Takes: a finished model, names and values. Makes: the model again, as if the numbers stood in the
   spec, so that they take part in all that is done to numbers there. */
#include "gen/spec/state.h"

#include <math.h>
#include <string.h>

static int find(const spec_constants *c, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(c->list[i].name, name) == 0)
            return i;
    return -1;
}

static noreturn void fail_unknown(job *j, const model *m, const char *name) {
    const char *known[MAX_PARAMETERS];
    text list = text_new(j);
    for (int i = 0; i < m->parameter_count; i++) {
        known[i] = m->parameters[i].name;
        text_printf(&list, "%s%s", i > 0 ? ", " : "", known[i]);
    }
    const char *shown = spec_clean(j, name, strlen(name));
    const char *nearest =
        strlen(name) <= MAX_NAME ? text_nearest(name, known, (size_t)m->parameter_count) : NULL;
    if (m->parameter_count == 0)
        job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s': '%s' has no parameters", shown, m->name);
    if (nearest == NULL)
        job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s' is no parameter of '%s'; known: %s", shown,
                 m->name, list.data);
    job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s' is no parameter of '%s'; did you mean '%s'?",
             shown, m->name, nearest);
}

static void check(job *j, const model *m, const spec_constants *c) {
    for (int i = 0; i < c->count; i++) {
        const spec_assignment *given = &c->list[i];
        bool known = false;
        if (given->name == NULL)
            job_fail(j, FAULT_USAGE, NULL, 0, "constant %d of %d has no name", i + 1, c->count);
        for (int k = 0; k < m->parameter_count && !known; k++)
            known = strcmp(given->name, m->parameters[k].name) == 0;
        if (!known)
            fail_unknown(j, m, given->name);
        if (find(c, i, given->name) >= 0)
            job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s' is given twice", given->name);
        if (!isfinite(given->value))
            job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s' is %s", given->name,
                     isnan(given->value) ? "not a number (NaN)" : "infinite");
        if (spec_overflows(m->dtype, given->value))
            job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s': %s overflows %s", given->name,
                     spec_number_text(j, given->value), dtype_words[m->dtype].name);
    }
}

/* "k = 0, q = 1" */
static const char *list_values(job *j, const spec_constants *c) {
    text t = text_new(j);
    for (int i = 0; i < c->count; i++)
        text_printf(&t, "%s%s = %s", i > 0 ? ", " : "", c->list[i].name,
                    spec_number_text(j, c->list[i].value));
    return t.data;
}

/* A node of the model in the load's pool; `copies` has those of earlier nodes. */
static expr_id copy_node(lua_State *L, const model *m, const spec_constants *c, const expr_node *n,
                         const expr_id *copies) {
    const spec_state *s = spec_of(L);
    expr_id operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
    switch (n->op) {
    case EXPR_CONSTANT:
        return expr_constant(s->pool, n->value);
    case EXPR_PARAMETER: {
        const char *name = m->parameters[n->index].name;
        const int given = find(c, c->count, name);
        return given < 0 ? spec_parameter(L, name) : expr_constant(s->pool, c->list[given].value);
    }
    case EXPR_TAP:
        return expr_tap(s->pool, n->index, n->d);
    default:
        break;
    }
    for (int i = 0; i < expr_words[n->op].operands; i++)
        operand[i] = copies[n->operand[i]];
    return spec_make(L, n->op, operand[0], operand[1], operand[2]);
}

/* Back to before spec_finish_model: what it finds out from the expressions is found out anew. The
   parameters that a spec lists stay its parameters, others are those that it still uses. */
static void reset(model *m, const spec_constants *c) {
    int kept = 0;
    if (m->shape == SHAPE_UPDATE)
        m->points = 0;
    for (int i = 0; i < m->array_count; i++)
        m->arrays[i].used = false;
    for (int i = 0; i < m->parameter_count && m->declared; i++)
        if (find(c, c->count, m->parameters[i].name) < 0)
            m->parameters[kept++] = m->parameters[i];
    m->parameter_count = kept;
}

void spec_put_constants(lua_State *L, model *m, const spec_constants *c) {
    spec_state *s = spec_of(L);
    check(s->job, m, c);
    if (c->count == 0)
        return;
    s->line = m->line; /* where errors of the expressions belong, as far as can be told */
    s->given = list_values(s->job, c);
    const int mark = s->pool->count;
    const expr_pool *from = m->pool;
    spec_charge_memory(L, (size_t)from->count * sizeof(expr_id));
    expr_id *copies = job_array(s->job, (size_t)from->count, sizeof *copies);
    for (int i = 0; i < from->count; i++)
        copies[i] = copy_node(L, m, c, expr_get(from, i), copies);
    expr_id outputs[MAX_FIELDS];
    for (int i = 0; i < m->output_count; i++)
        outputs[i] = m->outputs[i].value == EXPR_NONE ? EXPR_NONE : copies[m->outputs[i].value];
    if (s->pool->limit != NULL)
        spec_fail(L, "%s", s->pool->limit);
    reset(m, c);
    spec_finish_model(L, m, outputs);
    expr_pool_truncate(s->pool, mark);
    s->given = NULL;
}
