/* The end of a model: its own pool with what its outputs need and nothing else.
   Takes: outputs in the load's pool. Makes: the model's pool, parameters, arrays and counts. */
#include "gen/model/separable.h"
#include "gen/spec/state.h"

#include <string.h>

/* The index of a parameter in the model, by name; −1 where there is none. */
static int find_parameter(const model *m, const char *name) {
    for (int i = 0; i < m->parameter_count; i++)
        if (strcmp(m->parameters[i].name, name) == 0)
            return i;
    return -1;
}

/* The declared parameters and those that live nodes use, sorted. */
static void collect_parameters(lua_State *L, model *m, const bool *live) {
    const spec_state *s = spec_of(L);
    for (int i = 0; i < s->pool->count; i++) {
        const expr_node *n = expr_get(s->pool, i);
        if (!live[i] || n->op != EXPR_PARAMETER || find_parameter(m, s->names[n->index]) >= 0)
            continue;
        if (m->declared) {
            const char *known[MAX_PARAMETERS];
            for (int k = 0; k < m->parameter_count; k++)
                known[k] = m->parameters[k].name;
            lua_pushstring(L, s->names[n->index]);
            spec_fail_unknown(L, "parameter", "", -1, known, (size_t)m->parameter_count);
        }
        if (m->parameter_count == MAX_PARAMETERS)
            spec_fail(L, "the spec uses more than %d parameters", MAX_PARAMETERS);
        m->parameters[m->parameter_count++] = (model_parameter){.name = s->names[n->index]};
    }
    spec_sort_parameters(m);
}

/* The same node in the model's pool; `copies` has those of earlier nodes. */
static expr_id copy_node(lua_State *L, model *m, const expr_node *n, const expr_id *copies) {
    expr_id operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
    switch (n->op) {
    case EXPR_CONSTANT:
        spec_check_range(L, m->dtype,
                         m->shape == SHAPE_UPDATE        ? "constant"
                         : m->shape == SHAPE_CONVOLUTION ? "weight"
                                                         : "coefficient",
                         n->value);
        return expr_constant(m->pool, n->value);
    case EXPR_PARAMETER:
        return expr_parameter(m->pool, find_parameter(m, spec_of(L)->names[n->index]));
    case EXPR_TAP:
        m->arrays[n->index].used = true;
        m->points += m->shape == SHAPE_UPDATE;
        return expr_tap(m->pool, n->index, n->d);
    default:
        for (int i = 0; i < expr_words[n->op].operands; i++)
            operand[i] = copies[n->operand[i]];
        return expr_make(m->pool, n->op, operand[0], operand[1], operand[2]);
    }
}

/* Whether some output holds a tap otherwise than in a sum with weights. */
static bool is_nonlinear(job *j, const model *m, const expr_id *roots) {
    const expr_pool *pool = m->pool;
    const bool *live = expr_live(pool, j, roots, m->output_count);
    bool *taps = job_array(j, (size_t)pool->count, sizeof *taps); /* below the node */
    for (expr_id id = 0; id < pool->count; id++) {
        const expr_node *n = expr_get(pool, id);
        int with_taps = 0;
        for (int i = 0; i < expr_words[n->op].operands; i++)
            with_taps += taps[n->operand[i]];
        taps[id] = n->op == EXPR_TAP || with_taps > 0;
        const bool sum = n->op == EXPR_ADD || n->op == EXPR_SUBTRACT || n->op == EXPR_NEGATE;
        const bool scaled = (n->op == EXPR_MULTIPLY && with_taps == 1) ||
                            (n->op == EXPR_DIVIDE && !taps[n->operand[1]]);
        if (live[id] && with_taps > 0 && !sum && !scaled)
            return true;
    }
    return false;
}

static void count_operations(job *j, model *m) {
    m->textbook_multiplications = m->points;
    m->textbook_additions = m->points - 1;
    if (m->shape != SHAPE_UPDATE)
        return;
    expr_id roots[MAX_FIELDS];
    for (int i = 0; i < m->output_count; i++)
        roots[i] = m->outputs[i].value;
    const expr_count count = expr_count_written_out(m->pool, j, roots, m->output_count);
    m->textbook_multiplications = count.multiplications;
    m->textbook_additions = count.additions + count.others;
    m->nonlinear = m->dims > 0 && is_nonlinear(j, m, roots);
}

void spec_finish_model(lua_State *L, model *m, const expr_id outputs[MAX_FIELDS]) {
    const spec_state *s = spec_of(L);
    const int count = s->pool->count;
    spec_charge_memory(L, (size_t)count * (sizeof(bool) + sizeof(expr_id)));
    const bool *live = expr_live(s->pool, s->job, outputs, m->output_count);
    expr_id *copies = job_array(s->job, (size_t)count + 1, sizeof *copies);
    collect_parameters(L, m, live);
    m->pool = expr_pool_new(s->job);
    for (int i = 0; i < count; i++)
        copies[i] = live[i] ? copy_node(L, m, expr_get(s->pool, i), copies) : EXPR_NONE;
    for (int i = 0; i < m->output_count; i++)
        m->outputs[i].value = outputs[i] == EXPR_NONE ? EXPR_NONE : copies[outputs[i]];
    /* The pool grew by doubling and left its smaller selves in the job, whose blocks double too. */
    spec_charge_memory(L, 4 * (size_t)m->pool->capacity * (sizeof(expr_node) + sizeof(expr_id)) +
                              (size_t)m->pool->count * sizeof(expr_count));
    count_operations(s->job, m);
    if (m->shape == SHAPE_CONVOLUTION)
        m->separable = separable_new(s->job, m);
    for (int axis = 0; axis < AXES; axis++) {
        m->radius = m->low[axis] > m->radius ? m->low[axis] : m->radius;
        m->radius = m->high[axis] > m->radius ? m->high[axis] : m->radius;
    }
}
