/* What the planner asks of a model, found once. Takes: a model. Makes: its facts. */
#include "gen/expr/expr.h"
#include "gen/source/emit.h"
#include "gen/stencil/plan.h"

/* Whether a tap leaves both its point's column along `axis` and its plane. */
static bool leaves(const expr_node *tap, int axis) {
    if (tap->d[axis] == 0)
        return false;
    for (int other = 0; other < AXES; other++)
        if (other != axis && tap->d[other] != 0)
            return true;
    return false;
}

static void note_row(plan_facts *f, const expr_node *tap) {
    plan_row *r = f->rows;
    plan_row *const end = f->rows + f->row_count;
    while (r < end && (r->array != tap->index || r->dy != tap->d[1] || r->dz != tap->d[2]))
        r++;
    if (r == end) {
        *r = (plan_row){.array = tap->index, .dy = tap->d[1], .dz = tap->d[2]};
        f->row_count++;
    }
    if (-tap->d[0] > r->low)
        r->low = -tap->d[0];
    if (tap->d[0] > r->high)
        r->high = tap->d[0];
}

/* Distinct (array, offset) once the offset along the last axis is taken away. */
static int count_plane_taps(const model *m, job *j, const bool *live) {
    enum { SPAN = 2 * MAX_REACH + 1 };
    bool *seen = job_array(j, (size_t)m->array_count * SPAN * SPAN, sizeof *seen);
    int count = 0;
    for (int i = 0; i < m->pool->count; i++) {
        const expr_node *n = expr_get(m->pool, i);
        if (!live[i] || n->op != EXPR_TAP)
            continue;
        const int dx = m->dims > 1 ? n->d[0] : 0, dy = m->dims > 2 ? n->d[1] : 0;
        bool *cell = &seen[(n->index * SPAN + dy + MAX_REACH) * SPAN + dx + MAX_REACH];
        count += !*cell;
        *cell = true;
    }
    return count;
}

/* Each call is inlined, and compilers take seconds for a hundred: more are refused. */
static void limit_calls(const model *m, job *j, const expr_id *roots) {
    enum { MOST_CALLS = 200 };
    const bool *live = expr_live(m->pool, j, roots, m->output_count);
    int calls = 0;
    for (int i = 0; i < m->pool->count; i++) {
        const expr_op op = expr_get(m->pool, i)->op;
        calls += live[i] && op >= EXPR_EXP && op <= EXPR_POW;
    }
    if (calls > MOST_CALLS)
        job_fail(
            j, FAULT_SPEC, m->file, m->line,
            "the update calls exp, log, sin, cos, tanh and pow %d times for a point; at most %d "
            "can be compiled in reasonable time",
            calls, MOST_CALLS);
}

plan_facts *plan_facts_new(job *j, const model *m) {
    plan_facts *f = job_alloc(j, sizeof *f);
    f->model = m;
    f->linear = true;
    f->column_or_plane = true;
    expr_id roots[MAX_FIELDS];
    for (int o = 0; o < m->output_count; o++) {
        linear_form form;
        f->linear = f->linear && model_linear(m, o, &form);
        roots[o] = m->outputs[o].value;
    }
    optimise(j, m->pool, m->dtype, roots, m->output_count, f->roots);
    if (m->pool->limit != NULL)
        job_fail(j, FAULT_SPEC, m->file, m->line, "%s", m->pool->limit);
    limit_calls(m, j, f->roots);
    f->emitted = expr_count_shared(m->pool, j, f->roots, m->output_count);
    f->runs = f->linear ? runs_new(j, m) : NULL;
    if (f->linear && m->output_count == 1)
        f->sum_operations = sums_operations(j, m);
    f->nodes = m->pool->count;
    const bool *live = f->live = expr_live(m->pool, j, roots, m->output_count);
    f->plane_taps = count_plane_taps(m, j, live);
    f->rows = job_array(j, (size_t)m->pool->count, sizeof *f->rows);
    for (int i = 0; i < m->pool->count; i++) {
        const expr_node *n = expr_get(m->pool, i);
        if (!live[i] || n->op != EXPR_TAP)
            continue;
        f->taps[n->index]++;
        f->all_taps++;
        if (leaves(n, m->dims - 1))
            f->column_or_plane = false;
        f->corners |= n->d[0] != 0 && n->d[1] != 0;
        note_row(f, n);
    }
    return f;
}
