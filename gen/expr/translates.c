/* Nodes that are alike but for where they read: u(1,0)² and u(0,-1)². Takes: live nodes of a pool.
   Makes: the first of those that each is a moved copy of, and where each lies. Neighbouring points
   compute such nodes twice, and share them only where both do so by the same operations:
   "cross-iteration redundancies" (Luporini et al., Architecture and performance of Devito, ACM TOMS
   46, 2020). */
#include "gen/expr/expr.h"

#include <string.h>

typedef struct finder {
    const expr_pool *pool;
    expr_translates *made;
    bool *swapped;    /* a+b is taken as b+a, which stands in the order of all its copies */
    expr_id *buckets; /* open addressing by hash; a power of two */
    unsigned mask;
} finder;

static bool varies(const expr_translates *t, expr_id id) {
    return t->place[id].moves[0] || t->place[id].moves[1] || t->place[id].moves[2];
}

static expr_id operand_of(const finder *f, expr_id id, int k) {
    return expr_get(f->pool, id)->operand[f->swapped[id] ? 1 - k : k];
}

/* Whether b comes before a, by what they are and then by where: alike for all copies. */
static bool comes_after(const expr_translates *t, expr_id a, expr_id b) {
    if (t->first[a] != t->first[b])
        return t->first[a] > t->first[b];
    return expr_further(t, a, b) < 0;
}

/* A node lies where its first operand does that has a place along the axis. */
static void describe(finder *f, expr_id id) {
    const expr_node *n = expr_get(f->pool, id);
    expr_translates *t = f->made;
    expr_place *p = &t->place[id];
    int reading = 0;
    f->swapped[id] = expr_is_exchangeable(n->op) && comes_after(t, n->operand[0], n->operand[1]);
    for (int k = expr_words[n->op].operands - 1; k >= 0; k--) {
        const expr_id of = operand_of(f, id, k);
        t->bent[id] |= t->bent[of];
        reading += varies(t, of);
        for (int axis = 0; axis < AXES; axis++)
            if (t->place[of].moves[axis]) {
                p->moves[axis] = true;
                p->at[axis] = t->place[of].at[axis];
            }
    }
    for (int axis = 0; axis < AXES; axis++)
        if (n->op == EXPR_TAP) {
            p->moves[axis] = true;
            p->at[axis] = n->d[axis];
        } else if (n->op == EXPR_POSITION && position_is_place(n->index) &&
                   position_axis(n->index) == axis) {
            p->moves[axis] = true;
            p->at[axis] = n->index >= POSITION_REST ? -n->d[0] : n->d[0];
        }
    const bool sum = n->op == EXPR_ADD || n->op == EXPR_SUBTRACT || n->op == EXPR_NEGATE;
    const bool scaled = (n->op == EXPR_MULTIPLY && reading < 2) ||
                        (n->op == EXPR_DIVIDE && !varies(t, n->operand[1]));
    t->bent[id] |= reading > 0 && !sum && !scaled;
}

/* From a node's place to that of an operand. */
static int further(const finder *f, expr_id id, expr_id operand, int axis) {
    const expr_place *own = &f->made->place[id], *of = &f->made->place[operand];
    return of->moves[axis] ? of->at[axis] - own->at[axis] : 0;
}

/* What is added to a size or to the step, which have no place. */
static int still(const expr_node *n) {
    return n->op == EXPR_POSITION && !position_is_place(n->index) ? n->d[0] : 0;
}

static bool alike(const finder *f, expr_id a, expr_id b) {
    const expr_node *x = expr_get(f->pool, a), *y = expr_get(f->pool, b);
    bool same = x->op == y->op && x->index == y->index && still(x) == still(y) &&
                memcmp(&x->value, &y->value, sizeof x->value) == 0;
    for (int k = 0; same && k < expr_words[x->op].operands; k++) {
        const expr_id of_a = operand_of(f, a, k), of_b = operand_of(f, b, k);
        same = f->made->first[of_a] == f->made->first[of_b];
        for (int axis = 0; axis < AXES; axis++)
            same &= further(f, a, of_a, axis) == further(f, b, of_b, axis);
    }
    return same;
}

static unsigned hash(const finder *f, expr_id id) {
    const expr_node *n = expr_get(f->pool, id);
    uint64_t bits, h = expr_mix((uint64_t)n->op, (uint32_t)n->index);
    memcpy(&bits, &n->value, sizeof bits);
    h = expr_mix(expr_mix(h, bits), (uint32_t)still(n));
    for (int k = 0; k < expr_words[n->op].operands; k++) {
        const expr_id of = operand_of(f, id, k);
        h = expr_mix(h, (uint32_t)f->made->first[of]);
        for (int axis = 0; axis < AXES; axis++)
            h = expr_mix(h, (uint32_t)further(f, id, of, axis));
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

expr_translates expr_find_translates(const expr_pool *p, job *j, const bool *live) {
    const size_t nodes = (size_t)p->count + 1;
    size_t room = 2;
    while (room < 2 * nodes)
        room *= 2;
    expr_translates made = {.first = job_array(j, nodes, sizeof *made.first),
                            .place = job_array(j, nodes, sizeof *made.place),
                            .bent = job_array(j, nodes, sizeof *made.bent)};
    finder f = {.pool = p, .made = &made, .mask = (unsigned)room - 1};
    f.swapped = job_array(j, nodes, sizeof *f.swapped);
    f.buckets = job_array(j, room, sizeof *f.buckets);
    memset(f.buckets, 0xff, room * sizeof *f.buckets); /* EXPR_NONE */
    for (expr_id id = 0; id < p->count; id++) {
        made.first[id] = id;
        if (!live[id])
            continue;
        describe(&f, id);
        made.first[id] = find(&f, id);
    }
    return made;
}

int expr_further(const expr_translates *t, expr_id a, expr_id b) {
    for (int axis = AXES - 1; axis >= 0; axis--)
        if (t->place[a].at[axis] != t->place[b].at[axis])
            return t->place[b].at[axis] - t->place[a].at[axis];
    return 0;
}

void expr_level(const expr_id *first, int nodes, int *counts) {
    for (expr_id id = 0; id < nodes; id++)
        if (counts[first[id]] < counts[id])
            counts[first[id]] = counts[id];
    for (expr_id id = 0; id < nodes; id++)
        counts[id] = counts[first[id]];
}
