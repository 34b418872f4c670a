/* Nodes that are alike but for where they read: u(1,0)² and u(0,-1)². Takes: live nodes of a pool.
   Makes: the first of those that each is a moved copy of. Neighbouring points compute such nodes
   twice, and share them only where both do so by the same operations: "cross-iteration
   redundancies" (Luporini et al., Architecture and performance of Devito, ACM TOMS 46, 2020). */
#include "gen/expr/expr.h"

#include <string.h>

typedef struct finder {
    const expr_pool *pool;
    expr_id *first;
    int (*anchor)[AXES]; /* where the first tap of a node reads */
    bool *taps;          /* it has one */
    bool *bent;
    expr_id *buckets; /* open addressing by hash; a power of two */
    unsigned mask;
} finder;

static void describe(finder *f, expr_id id) {
    const expr_node *n = expr_get(f->pool, id);
    int reading = 0;
    for (int k = expr_words[n->op].operands - 1; k >= 0; k--) {
        const expr_id of = n->operand[k];
        f->bent[id] |= f->bent[of];
        if (!f->taps[of])
            continue;
        reading++;
        memcpy(f->anchor[id], f->anchor[of], sizeof f->anchor[of]);
    }
    if (n->op == EXPR_TAP)
        memcpy(f->anchor[id], n->d, sizeof n->d);
    f->taps[id] = reading > 0 || n->op == EXPR_TAP;
    const bool sum = n->op == EXPR_ADD || n->op == EXPR_SUBTRACT || n->op == EXPR_NEGATE;
    const bool scaled = (n->op == EXPR_MULTIPLY && reading < 2) ||
                        (n->op == EXPR_DIVIDE && !f->taps[n->operand[1]]);
    f->bent[id] |= reading > 0 && !sum && !scaled;
}

/* From the first tap of a node to that of an operand. */
static int further(const finder *f, expr_id id, expr_id operand, int axis) {
    return f->taps[operand] ? f->anchor[operand][axis] - f->anchor[id][axis] : 0;
}

static bool alike(const finder *f, expr_id a, expr_id b) {
    const expr_node *x = expr_get(f->pool, a), *y = expr_get(f->pool, b);
    bool same = x->op == y->op && x->op != EXPR_POSITION && x->index == y->index &&
                memcmp(&x->value, &y->value, sizeof x->value) == 0;
    for (int k = 0; same && k < expr_words[x->op].operands; k++) {
        same = f->first[x->operand[k]] == f->first[y->operand[k]];
        for (int axis = 0; axis < AXES; axis++)
            same &= further(f, a, x->operand[k], axis) == further(f, b, y->operand[k], axis);
    }
    return same;
}

static unsigned hash(const finder *f, expr_id id) {
    const expr_node *n = expr_get(f->pool, id);
    uint64_t bits, h = expr_mix((uint64_t)n->op, (uint32_t)n->index);
    memcpy(&bits, &n->value, sizeof bits);
    h = expr_mix(h, bits);
    for (int k = 0; k < expr_words[n->op].operands; k++) {
        h = expr_mix(h, (uint32_t)f->first[n->operand[k]]);
        for (int axis = 0; axis < AXES; axis++)
            h = expr_mix(h, (uint32_t)further(f, id, n->operand[k], axis));
    }
    return (unsigned)h;
}

static expr_id find(finder *f, expr_id id) {
    unsigned at = hash(f, id) & f->mask;
    while (f->buckets[at] != EXPR_NONE && !alike(f, f->buckets[at], id))
        at = (at + 1) & f->mask;
    if (f->buckets[at] == EXPR_NONE)
        f->buckets[at] = id;
    return f->buckets[at];
}

expr_id *expr_translates(const expr_pool *p, job *j, const bool *live, bool *bent) {
    const size_t nodes = (size_t)p->count + 1;
    size_t room = 2;
    while (room < 2 * nodes)
        room *= 2;
    finder f = {.pool = p, .bent = bent, .mask = (unsigned)room - 1};
    f.first = job_array(j, nodes, sizeof *f.first);
    f.anchor = job_array(j, nodes, sizeof *f.anchor);
    f.taps = job_array(j, nodes, sizeof *f.taps);
    f.buckets = job_array(j, room, sizeof *f.buckets);
    memset(f.buckets, 0xff, room * sizeof *f.buckets); /* EXPR_NONE */
    for (expr_id id = 0; id < p->count; id++) {
        f.first[id] = id;
        if (!live[id])
            continue;
        describe(&f, id);
        f.first[id] = find(&f, id);
    }
    return f.first;
}

void expr_level(const expr_id *first, int nodes, int *counts) {
    for (expr_id id = 0; id < nodes; id++)
        if (counts[first[id]] < counts[id])
            counts[first[id]] = counts[id];
    for (expr_id id = 0; id < nodes; id++)
        counts[id] = counts[first[id]];
}
