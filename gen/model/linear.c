/* Linear forms: an output as Σ weight·tap + rest.
   Takes: a model's output. Makes: the taps with their weights, which are expressions without taps.
   Weights go down from the root, operand by operand, in one pass over the pool backwards: users
   come after what they use, so that a node's weight is complete when the pass reaches it. */
#include "gen/model/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

typedef struct pass {
    const model *m;
    expr_pool *pool;
    const bool *taps; /* some tap is below the node */
    expr_id *weight;  /* EXPR_NONE: the root does not reach it */
    linear_form *out;
} pass;

/* sum + term, or sum − term, where sum may be EXPR_NONE for 0. */
static expr_id accumulate(expr_pool *pool, expr_id sum, expr_op op, expr_id term) {
    if (sum != EXPR_NONE)
        return expr_make(pool, op, sum, term, EXPR_NONE);
    return op == EXPR_ADD ? term : expr_make(pool, EXPR_NEGATE, term, EXPR_NONE, EXPR_NONE);
}

/* The root holds `op` weight·node: a node without taps joins the rest, others hand it down. */
static void send(pass *p, expr_op op, expr_id weight, expr_id node) {
    if (p->taps[node]) {
        p->weight[node] = accumulate(p->pool, p->weight[node], op, weight);
    } else {
        const expr_id term = expr_make(p->pool, EXPR_MULTIPLY, weight, node, EXPR_NONE);
        p->out->rest = accumulate(p->pool, p->out->rest, op, term);
    }
}

static bool is_zero(const expr_pool *pool, expr_id id) {
    const expr_node *n = expr_get(pool, id);
    return n->op == EXPR_CONSTANT && n->value == 0;
}

/* A weight that the dtype holds as accurately as it held the factors it is made of. An operation
   on constants alone stays one only where its result is not finite. */
static bool representable(const pass *p, expr_id weight) {
    const expr_node *n = expr_get(p->pool, weight);
    const double smallest = p->m->dtype == DTYPE_FLOAT ? (double)FLT_MIN : DBL_MIN;
    if (n->op == EXPR_CONSTANT)
        return fabs(n->value) <= dtype_words[p->m->dtype].largest && fabs(n->value) >= smallest;
    for (int i = 0; i < expr_words[n->op].operands; i++)
        if (expr_get(p->pool, n->operand[i])->op != EXPR_CONSTANT)
            return true;
    return n->op == EXPR_PARAMETER;
}

static bool add_term(pass *p, const expr_node *tap, expr_id weight) {
    linear_term *t = &p->out->terms[p->out->count++];
    *t = (linear_term){.array = tap->index, .weight = weight};
    for (int axis = 0; axis < AXES; axis++)
        t->d[axis] = tap->d[axis];
    return representable(p, weight);
}

/* False where the node is not linear in the taps below it. */
static bool hand_down(pass *p, expr_id id) {
    const expr_node n = *expr_get(p->pool, id); /* a copy: the pool may move while it grows */
    const expr_id weight = p->weight[id], a = n.operand[0], b = n.operand[1];
    switch (n.op) {
    case EXPR_TAP:
        return add_term(p, &n, weight);
    case EXPR_ADD:
    case EXPR_SUBTRACT:
        send(p, EXPR_ADD, weight, a);
        send(p, n.op, weight, b);
        return true;
    case EXPR_NEGATE:
        send(p, EXPR_SUBTRACT, weight, a);
        return true;
    case EXPR_MULTIPLY:
        if (p->taps[a] && p->taps[b])
            return false;
        const expr_id factor = p->taps[a] ? b : a;
        send(p, EXPR_ADD, expr_make(p->pool, EXPR_MULTIPLY, weight, factor, EXPR_NONE),
             p->taps[a] ? a : b);
        return true;
    case EXPR_DIVIDE:
        if (p->taps[b])
            return false;
        send(p, EXPR_ADD, expr_make(p->pool, EXPR_DIVIDE, weight, b, EXPR_NONE), a);
        return true;
    default:
        return false;
    }
}

static int compare_terms(const void *left, const void *right) {
    const linear_term *a = left, *b = right;
    if (a->array != b->array)
        return a->array < b->array ? -1 : 1;
    for (int axis = AXES; axis-- > 0;)
        if (a->d[axis] != b->d[axis])
            return a->d[axis] < b->d[axis] ? -1 : 1;
    return 0;
}

/* Marks the nodes up to the root that have a tap below them; returns how many are taps. */
static int mark_taps(const expr_pool *pool, expr_id root, bool *taps) {
    int count = 0;
    for (expr_id id = 0; id <= root; id++) {
        const expr_node *n = expr_get(pool, id);
        taps[id] = n->op == EXPR_TAP;
        count += n->op == EXPR_TAP;
        for (int i = 0; i < expr_words[n->op].operands; i++)
            taps[id] |= taps[n->operand[i]];
    }
    return count;
}

bool model_linear(const model *m, int output, linear_form *out) {
    expr_pool *pool = m->pool;
    const expr_id root = m->outputs[output].value;
    const size_t nodes = (size_t)root + 1;
    bool *taps = job_array(pool->job, nodes, sizeof *taps);
    const int tap_count = mark_taps(pool, root, taps);
    *out = (linear_form){.rest = EXPR_NONE};
    out->terms = job_array(pool->job, (size_t)tap_count, sizeof *out->terms);
    pass p = {.m = m, .pool = pool, .taps = taps, .out = out};
    p.weight = job_array(pool->job, nodes, sizeof *p.weight);
    for (expr_id id = 0; id <= root; id++)
        p.weight[id] = EXPR_NONE;

    /* Where the weights would pass the pool's limits, the output counts as not linear. */
    const char *limit = pool->limit;
    pool->limit = NULL;
    send(&p, EXPR_ADD, expr_constant(pool, 1), root);
    bool linear = true;
    for (expr_id id = root; id >= 0 && linear; id--)
        if (p.weight[id] != EXPR_NONE && !is_zero(pool, p.weight[id]))
            linear = hand_down(&p, id) && pool->limit == NULL;
    linear &= pool->limit == NULL;
    pool->limit = limit;
    if (out->rest != EXPR_NONE && is_zero(pool, out->rest))
        out->rest = EXPR_NONE;
    qsort(out->terms, (size_t)out->count, sizeof *out->terms, compare_terms);
    return linear;
}
