/* The facts of a model that plans need: rows of its shape, operations, what points and steps share.
   Takes: a model. Makes: the facts, once for all plans. */
#include "gen/stencil/method.h"

#include "gen/expr/expr.h"
#include "gen/source/emit.h"
#include "gen/stencil/plan.h"
#include <string.h>

/* Whether a tap leaves both its point's column along `axis` and its plane. */
static bool leaves(const expr_node *tap, int axis) {
    if (tap->d[axis] == 0)
        return false;
    for (int other = 0; other < AXES; other++)
        if (other != axis && tap->d[other] != 0)
            return true;
    return false;
}

/* Notes a tap of the point `by` further along x. */
static void note_row(plan_row *rows, int *count, const expr_node *tap, int by) {
    const int x = tap->d[0] + by;
    plan_row *r = rows, *const end = rows + *count;
    while (r < end && (r->array != tap->index || r->dy != tap->d[1] || r->dz != tap->d[2]))
        r++;
    if (r == end) {
        *r = (plan_row){.array = tap->index, .dy = tap->d[1], .dz = tap->d[2]};
        ++*count;
    }
    r->low = larger(r->low, -x);
    r->high = larger(r->high, x);
}

/* Distinct pairs of array and offset, without the offset along the last axis. */
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

/* Each call is inlined, and compilers take seconds for a hundred calls: more are refused. */
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

/* Negations, which the operations of an arranged model take with their operands. */
static int count_signs(const model *m, const bool *live) {
    int signs = 0;
    for (int i = 0; i < m->pool->count; i++)
        signs += live[i] && expr_get(m->pool, i)->op == EXPR_NEGATE;
    return signs;
}

static expr_count count_chain(const model_chain *chain) {
    expr_count sum = {0, 0, 0};
    for (int i = 0; i < chain->stage_count; i++) {
        const expr_count *one = &chain->stages[i].facts->emitted;
        sum.additions += one->additions;
        sum.multiplications += one->multiplications;
        sum.others += one->others;
    }
    return sum;
}

/* Whether a way of its own away from the edges saves next to nothing: nothing there but the
   selections in `Places`, which no division or function reads. */
static bool is_joined(const plan_facts *f, const interior *in) {
    enum { FEW = 8 }; /* instructions */
    for (expr_id i = 0; i < f->model->pool->count; i++)
        if (in->side[i] != EXPR_NONE && in->place[i] == 0)
            return false;
    return f->calls[0][0].units + f->calls[0][0].others < FEW;
}

/* Operations, of all points and of those away from the edges. */
static void count_work(plan_facts *f, job *j) {
    const model *m = f->model;
    const bool *live = expr_live(m->pool, j, f->roots, m->output_count);
    const interior *in = interior_find(j, m, f->roots, m->output_count);
    const bool *inside =
        in != NULL ? interior_live(j, m->pool, in, f->roots, m->output_count) : live;
    for (int i = 0; in != NULL && i < m->pool->count; i++)
        f->selections += inside[i] && in->side[i] != EXPR_NONE;
    f->emitted = expr_count_live(m->pool, live);
    f->inside = expr_count_live(m->pool, inside);
    if (m->chain != NULL)
        f->emitted = f->inside = count_chain(m->chain);
    if (m->arranged) {
        f->emitted.additions -= count_signs(m, live);
        f->inside.additions -= count_signs(m, inside);
    }
    f->uniform = calls_uniform(j, m, inside);
    f->quotients = emit_count_quotients(j, m, inside, false);
    for (int i = 0; i < 3; i++) {
        calls_count(j, m, inside, 1 << i, f->calls[i]);
        if (m->arranged)
            calls_sharing(j, m, inside, 1 << i, f->shared[i]);
    }
    f->two_ways = in != NULL && !is_joined(f, in);
    f->ends_of_x = f->two_ways && (in->margin[0][0] > 0 || in->margin[0][1] > 0);
}

/* Sums and products of a point, of the live nodes. */
static void count_shared(const model *m, job *j, const bool *live, double out[CALL_PACKS]) {
    const expr_count c = expr_count_live(m->pool, live);
    calls_sharing(j, m, live, 1, out);
    for (int k = 0; k < CALL_PACKS; k++)
        out[k] *= c.additions - count_signs(m, live) + c.multiplications / 2;
}

/* The rows that a step still reads, `by` further along x. */
static void note_carried(plan_facts *f, const bool *live, int by) {
    const expr_pool *pool = f->carried->model->pool;
    for (int i = 0; i < pool->count; i++)
        if (live[i] && expr_get(pool, i)->op == EXPR_TAP)
            note_row(f->carried_rows, &f->carried_row_count, expr_get(pool, i), by);
}

/* A value that is computed for the points before and after a thread's, too. */
static void count_neighbours(plan_facts *f, job *j, int value) {
    const carried *c = f->carried;
    const bool *live = expr_live(c->model->pool, j, &c->value[value], 1);
    double alone[CALL_PACKS];
    expr_work calls[CALL_PACKS] = {{0, 0}};
    count_shared(c->model, j, live, alone);
    calls_count(j, c->model, live, 1, calls);
    for (int k = 0; k < CALL_PACKS; k++) {
        const double share = carried_outside(c, value) / (double)(1 << k);
        f->carried_operations[k] += share * alone[0];
        f->carried_calls[k].units += share * calls[0].units;
        f->carried_calls[k].others += share * calls[0].others;
    }
    for (int i = 0; i < c->neighbour_count; i++)
        if (c->neighbours[i].value == value)
            note_carried(f, live, c->neighbours[i].by);
}

/* Whether a thread may store points and then make them again: no result may lie where a step reads.
 */
static bool may_repeat(job *j, const model *m) {
    bool may = true;
    for (int o = 0; o < m->output_count; o++)
        for (int previous = 0; previous <= 1; previous++)
            may = may && (model_array_of(m, m->outputs[o].field, previous) < 0 ||
                          !model_writes_in_place(j, m, o, previous));
    return may;
}

static void count_carried(plan_facts *f, job *j) {
    const carried *c = f->carried = carried_find(j, f->model, f->roots, f->model->dims - 1);
    if (c == NULL)
        return;
    count_shared(c->model, j, c->live, f->apart_operations);
    count_shared(c->model, j, c->steady, f->carried_operations);
    calls_count(j, c->model, c->steady, 1, f->carried_calls);
    f->quick_steps =
        may_repeat(j, f->model) && emit_count_quotients(j, c->model, c->steady, true) == 0;
    f->carried_rows = job_array(j, (size_t)c->model->pool->count, sizeof *f->carried_rows);
    note_carried(f, c->steady, 0);
    for (int i = 0; i < c->count; i++)
        if (carried_outside(c, i) > 0)
            count_neighbours(f, j, i);
}

/* Operations of a point besides those of its sum, away from where conditions on its place count. */
static double count_point(const scaled_sum *s, job *j) {
    const model *m = s->point;
    expr_id root;
    optimise(j, m->pool, m->dtype, &m->outputs[0].value, 1, &root);
    const interior *in = interior_find(j, m, &root, 1);
    const bool *live =
        in != NULL ? interior_live(j, m->pool, in, &root, 1) : expr_live(m->pool, j, &root, 1);
    const expr_count c = expr_count_live(m->pool, live);
    return c.additions + c.multiplications + c.others;
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
    if (m->arranged)
        memcpy(f->roots, roots, (size_t)m->output_count * sizeof *roots);
    else
        optimise(j, m->pool, m->dtype, roots, m->output_count, f->roots);
    if (m->pool->limit != NULL)
        job_fail(j, FAULT_SPEC, m->file, m->line, "%s", m->pool->limit);
    limit_calls(m, j, f->roots);
    count_work(f, j);
    count_carried(f, j);
    f->runs = f->linear ? runs_new(j, m) : NULL;
    if (f->linear && m->output_count == 1)
        f->sum_operations = sums_operations(j, m);
    f->scaled = f->linear && model_is_narrow(m) ? NULL : scaled_sum_new(j, m);
    if (f->scaled != NULL && !f->linear)
        f->sum_operations = sums_operations(j, f->scaled->sum) + count_point(f->scaled, j);
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
        note_row(f->rows, &f->row_count, n, 0);
    }
    return f;
}
