/* Rewrites sums: c1·a + c2·b − c1·c becomes c1·(a − c) + c2·b; and quotients: a/c, and a/b where
   something else is divided by b too, become products with a reciprocal. Moved copies of a node
   stay moved copies. Takes and makes nodes of a pool, operands first, so that one pass in order of
   the nodes rewrites everything. */
#include "gen/expr/expr.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* One signed member of a flattened sum; coefficient EXPR_NONE is 1. */
typedef struct term {
    bool negative;
    expr_id coefficient, value;
    int next; /* the next term of the same group; −1 ends it */
} term;

typedef struct group {
    expr_id coefficient;
    bool negative; /* of its first term; the signs of the others are relative to it */
    int first, last;
} group;

enum { MOST_DIFFERENCES = 256 };

typedef struct rewriter {
    job *job;
    expr_pool *pool;
    dtype dtype;
    expr_translates translates; /* this and the next are of nodes that were there at the start */
    expr_id *renamed;
    int *uses, *most; /* and the most among moved copies */
    bool *absorbed;   /* a part of its only user's sum */
    bool *reads;      /* an array */
    int *divides;     /* how many live nodes are divided by a node */
    bool *exact;      /* a function with steps takes it, or a comparison */
    int *copies;      /* moved ones of a node that is not linear, with itself; else 0 */
    expr_id differences[MOST_DIFFERENCES];
    int difference_count;
    bool *tapful; /* differs from point to point; grows with the pool */
    int tapful_count;
    term *terms; /* of the sum at hand */
    group *groups;
    expr_id *stack;
    bool *stack_negative;
} rewriter;

static bool additive(expr_op op) {
    return op == EXPR_ADD || op == EXPR_SUBTRACT || op == EXPR_NEGATE;
}

static bool holds_tap(rewriter *r, expr_id id) {
    for (; r->tapful_count < r->pool->count; r->tapful_count++) {
        const expr_node *n = expr_get(r->pool, r->tapful_count);
        bool holds = expr_varies(n);
        for (int k = 0; k < expr_words[n->op].operands; k++)
            holds |= r->tapful[n->operand[k]];
        r->tapful = job_grow(r->job, r->tapful, (size_t)r->tapful_count, sizeof *r->tapful);
        r->tapful[r->tapful_count] = holds;
    }
    return r->tapful[id];
}

static expr_id make(rewriter *r, expr_op op, expr_id a, expr_id b) {
    return expr_make(r->pool, op, a, b, EXPR_NONE);
}

/* Splits a factor that is the same for every point from a product, and its sign from both. */
static term decompose(rewriter *r, expr_id id, bool negative) {
    term t = {.negative = negative, .coefficient = EXPR_NONE, .value = id, .next = -1};
    while (expr_get(r->pool, t.value)->op == EXPR_NEGATE) {
        t.value = expr_get(r->pool, t.value)->operand[0];
        t.negative = !t.negative;
    }
    const expr_node *n = expr_get(r->pool, t.value);
    if (n->op == EXPR_MULTIPLY) {
        const expr_id a = n->operand[0], b = n->operand[1];
        if (!holds_tap(r, a) && holds_tap(r, b)) {
            t.coefficient = a;
            t.value = b;
        } else if (holds_tap(r, a) && !holds_tap(r, b)) {
            t.coefficient = b;
            t.value = a;
        }
    }
    if (t.coefficient == EXPR_NONE)
        return t;
    n = expr_get(r->pool, t.coefficient);
    if (n->op == EXPR_CONSTANT && n->value < 0) {
        t.coefficient = expr_constant(r->pool, -n->value);
        t.negative = !t.negative;
    } else if (n->op == EXPR_NEGATE) {
        t.coefficient = n->operand[0];
        t.negative = !t.negative;
    }
    return t;
}

/* The members of the sum at `root`, left to right. Absorbed sums are taken apart. */
static int flatten(rewriter *r, expr_id root) {
    int depth = 0, count = 0;
    r->stack[depth] = root;
    r->stack_negative[depth++] = false;
    while (depth > 0) {
        const expr_id id = r->stack[--depth];
        const bool negative = r->stack_negative[depth];
        const expr_node *n = expr_get(r->pool, id);
        if (id != root && !(additive(n->op) && r->absorbed[id])) {
            r->terms[count++] = decompose(r, r->renamed[id], negative);
            continue;
        }
        if (n->op != EXPR_NEGATE) {
            r->stack[depth] = n->operand[1];
            r->stack_negative[depth++] = negative != (n->op == EXPR_SUBTRACT);
        }
        r->stack[depth] = n->operand[0];
        r->stack_negative[depth++] = negative != (n->op == EXPR_NEGATE);
    }
    return count;
}

/* Gathers terms of equal coefficient. Groups stand in the order of their first terms. */
static int gather(rewriter *r, int count) {
    int groups = 0;
    for (int i = 0; i < count; i++) {
        int g = 0;
        while (g < groups && r->groups[g].coefficient != r->terms[i].coefficient)
            g++;
        if (g == groups) {
            r->groups[groups++] = (group){r->terms[i].coefficient, r->terms[i].negative, i, i};
        } else {
            r->terms[r->groups[g].last].next = i;
            r->groups[g].last = i;
        }
    }
    return groups;
}

static expr_id group_value(rewriter *r, const group *g) {
    expr_id sum = r->terms[g->first].value;
    for (int i = r->terms[g->first].next; i >= 0; i = r->terms[i].next)
        sum = make(r, r->terms[i].negative == g->negative ? EXPR_ADD : EXPR_SUBTRACT, sum,
                   r->terms[i].value);
    return g->coefficient == EXPR_NONE ? sum : make(r, EXPR_MULTIPLY, g->coefficient, sum);
}

static expr_id rewrite_sum(rewriter *r, expr_id root) {
    const int count = flatten(r, root);
    const int groups = gather(r, count);
    int start = 0; /* begin with a positive group, so that nothing has to be negated */
    while (start < groups && r->groups[start].negative)
        start++;
    if (start == groups)
        start = 0;
    expr_id sum = group_value(r, &r->groups[start]);
    if (r->groups[start].negative)
        sum = make(r, EXPR_NEGATE, sum, EXPR_NONE);
    for (int g = 0; g < groups; g++)
        if (g != start)
            sum = make(r, r->groups[g].negative ? EXPR_SUBTRACT : EXPR_ADD, sum,
                       group_value(r, &r->groups[g]));
    return sum;
}

/* Whether a quotient may be a product with the reciprocal, which is computed once for all that is
   divided by the same. Bounds of quotients allow for it. Quotients of positions and of numbers that
   are known stay as they are, and those whose steps show: floor(f.u(0, 0) / p.n) asks for exact
   ones. */
static bool is_product(rewriter *r, expr_id id, const expr_node *n) {
    const expr_id a = n->operand[0], b = n->operand[1];
    if (n->op != EXPR_DIVIDE || r->exact[id] || expr_get(r->pool, a)->op == EXPR_CONSTANT ||
        expr_get(r->pool, b)->op == EXPR_CONSTANT || !r->reads[a])
        return false;
    return !holds_tap(r, b) || (r->reads[b] && r->divides[b] > 1);
}

/* Whether a node is the difference of two copies; *near and *far: which of them lies further. */
static bool is_difference(const rewriter *r, expr_id id, expr_id *near, expr_id *far) {
    const expr_node *n = expr_get(r->pool, id);
    const expr_translates *t = &r->translates;
    if (n->op != EXPR_SUBTRACT || additive(expr_get(r->pool, n->operand[0])->op) ||
        t->first[n->operand[0]] != t->first[n->operand[1]])
        return false;
    const bool forward = expr_further(t, n->operand[1], n->operand[0]) > 0;
    *near = n->operand[forward];
    *far = n->operand[!forward];
    return true;
}

/* Whether the other difference of what this one subtracts is there, too, at some place. */
static bool is_reversed(const rewriter *r, expr_id id) {
    const expr_translates *t = &r->translates;
    expr_id near, far, other_near, other_far;
    bool found = false;
    if (!is_difference(r, id, &near, &far) || far == expr_get(r->pool, id)->operand[0])
        return false;
    for (int i = 0; i < r->difference_count && !found; i++) {
        const expr_id other = r->differences[i];
        found = is_difference(r, other, &other_near, &other_far) &&
                t->first[near] == t->first[other_near] &&
                other_far == expr_get(r->pool, other)->operand[0];
        for (int axis = 0; axis < AXES; axis++)
            found = found && t->place[far].at[axis] - t->place[near].at[axis] ==
                                 t->place[other_far].at[axis] - t->place[other_near].at[axis];
    }
    return found;
}

/* A factor without its sign. Differences begin with the further cell where others do: then the
   fluxes through both faces of a cell are copies, if a spec says how far the cell beyond a face is.
 */
static expr_id take_sign(rewriter *r, expr_id id, bool *negative) {
    const expr_node n = *expr_get(r->pool, id);
    if (is_reversed(r, id)) {
        *negative = !*negative;
        return make(r, EXPR_SUBTRACT, r->renamed[n.operand[1]], r->renamed[n.operand[0]]);
    }
    const expr_id renamed = r->renamed[id];
    if (expr_get(r->pool, renamed)->op != EXPR_NEGATE)
        return renamed;
    *negative = !*negative;
    return expr_get(r->pool, renamed)->operand[0];
}

/* A product without its factor 2 or 4, which changes no bit of what it is multiplied with. */
static expr_id take_power(const rewriter *r, expr_id id, double *power) {
    const expr_node *n = expr_get(r->pool, id);
    for (int k = 0; n->op == EXPR_MULTIPLY && k < 2; k++) {
        const expr_node *of = expr_get(r->pool, n->operand[k]);
        if (of->op == EXPR_CONSTANT && (of->value == 2 || of->value == 4)) {
            *power *= of->value;
            return n->operand[1 - k];
        }
    }
    return id;
}

/* A product of what differs from point to point. */
static expr_id rewrite_product(rewriter *r, const expr_node *n) {
    bool negative = false;
    double power = 1;
    const expr_id a = take_power(r, take_sign(r, n->operand[0], &negative), &power);
    const expr_id b = take_power(r, take_sign(r, n->operand[1], &negative), &power);
    const expr_id product =
        make(r, EXPR_MULTIPLY, expr_constant(r->pool, power), make(r, EXPR_MULTIPLY, a, b));
    return negative ? make(r, EXPR_NEGATE, product, EXPR_NONE) : product;
}

/* Signs go outside of products and of what is divided, and are lost in magnitudes. What divides
   keeps its own: a difference of 0 has no sign that could go, but its reciprocal has. */
static expr_id rewrite_other(rewriter *r, expr_id id, const expr_node *n) {
    if (n->op == EXPR_MULTIPLY && r->reads[n->operand[0]] && r->reads[n->operand[1]])
        return rewrite_product(r, n);
    const bool odd = n->op == EXPR_MULTIPLY || n->op == EXPR_DIVIDE;
    bool negative = false;
    expr_id operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
    for (int k = 0; k < expr_words[n->op].operands; k++) {
        const expr_id of = n->operand[k];
        const bool takes = n->op == EXPR_MULTIPLY || n->op == EXPR_ABS || (odd && k == 0);
        operand[k] = takes && r->reads[of] ? take_sign(r, of, &negative) : r->renamed[of];
    }
    const expr_id one = expr_constant(r->pool, 1);
    const expr_id made =
        is_product(r, id, n)
            ? make(r, EXPR_MULTIPLY, operand[0], make(r, EXPR_DIVIDE, one, operand[1]))
            : expr_make(r->pool, n->op, operand[0], operand[1], operand[2]);
    return odd && negative ? make(r, EXPR_NEGATE, made, EXPR_NONE) : made;
}

static void rewrite_node(rewriter *r, expr_id id) {
    const expr_node n = *expr_get(r->pool, id);
    if (n.op == EXPR_CONSTANT) {
        r->renamed[id] = expr_constant(r->pool, dtype_round(r->dtype, n.value));
    } else if (expr_words[n.op].operands == 0) {
        r->renamed[id] = id;
    } else if (!additive(n.op)) {
        r->renamed[id] = rewrite_other(r, id, &n);
    } else if (!r->absorbed[id]) {
        r->renamed[id] = rewrite_sum(r, id);
    }
}

/* Whether all that differs from point to point in a sum is a part of it alone: then who keeps the
   sum keeps nothing else. */
static bool is_closed(rewriter *r, expr_id sum) {
    int depth = 0;
    r->stack[depth++] = sum;
    while (depth > 0) {
        const expr_node *n = expr_get(r->pool, r->stack[--depth]);
        for (int k = 0; k < expr_words[n->op].operands; k++) {
            const expr_id of = n->operand[k];
            const expr_op op = expr_get(r->pool, of)->op;
            if (expr_words[op].operands > 0 && r->most[of] > 1 && holds_tap(r, of))
                return false;
            if (additive(op))
                r->stack[depth++] = of;
        }
    }
    return true;
}

/* Whether a sum is computed by itself, because its moved copies are too: more of them than of what
   it is a part of. */
static bool is_shared(rewriter *r, expr_id part, expr_id of) {
    enum { LEAST = 3 }; /* operations: taking fewer apart saves as many */
    return r->copies[part] > 1 && r->copies[part] > r->copies[of] &&
           expr_get(r->pool, part)->written_out >= LEAST && is_closed(r, part);
}

/* A root keeps its own name. */
static void count_uses(rewriter *r, const bool *live, int nodes, const expr_id *roots, int count) {
    for (int i = 0; i < count; i++)
        r->uses[roots[i]] += 2;
    for (int i = 0; i < nodes; i++)
        for (int k = 0; live[i] && k < expr_words[expr_get(r->pool, i)->op].operands; k++)
            r->uses[expr_get(r->pool, i)->operand[k]]++;
}

/* Marks what reads arrays, and the sums that are part of a larger one. */
static void survey(rewriter *r, const bool *live, int nodes) {
    for (int i = 0; i < nodes; i++) {
        const expr_node *n = expr_get(r->pool, i);
        r->reads[i] = n->op == EXPR_TAP;
        for (int k = 0; k < expr_words[n->op].operands; k++)
            r->reads[i] |= r->reads[n->operand[k]];
        const bool steps = n->op == EXPR_FLOOR || (n->op >= EXPR_LT && n->op <= EXPR_NE);
        for (int k = 0; live[i] && steps && k < expr_words[n->op].operands; k++)
            r->exact[n->operand[k]] = true;
        for (int k = 0; live[i] && additive(n->op) && k < expr_words[n->op].operands; k++) {
            const expr_id o = n->operand[k];
            r->absorbed[o] =
                additive(expr_get(r->pool, o)->op) && r->uses[o] == 1 && !is_shared(r, o, i);
        }
    }
}

/* Counts moved copies; what is decided of one of them is decided of all. */
static void survey_copies(rewriter *r, const bool *live, int nodes) {
    const expr_translates t = r->translates = expr_find_translates(r->pool, r->job, live);
    for (int i = 0; i < nodes; i++) {
        expr_id near, far;
        r->copies[t.first[i]] += live[i] && t.bent[i];
        if (live[i] && r->difference_count < MOST_DIFFERENCES && is_difference(r, i, &near, &far))
            r->differences[r->difference_count++] = i;
    }
    for (int i = 0; i < nodes; i++)
        if (live[i] && expr_get(r->pool, i)->op == EXPR_DIVIDE)
            r->divides[expr_get(r->pool, i)->operand[1]]++;
    memcpy(r->most, r->uses, (size_t)nodes * sizeof *r->most);
    expr_level(t.first, nodes, r->copies);
    expr_level(t.first, nodes, r->divides);
    expr_level(t.first, nodes, r->most);
}

void optimise(job *j, expr_pool *pool, dtype type, const expr_id *roots, int count, expr_id *out) {
    const int nodes = pool->count;
    const size_t n = (size_t)nodes;
    rewriter r = {.job = j, .pool = pool, .dtype = type};
    r.renamed = job_array(j, n, sizeof *r.renamed);
    r.uses = job_array(j, n, sizeof *r.uses);
    r.absorbed = job_array(j, n, sizeof *r.absorbed);
    r.reads = job_array(j, n, sizeof *r.reads);
    r.divides = job_array(j, n, sizeof *r.divides);
    r.exact = job_array(j, n, sizeof *r.exact);
    r.copies = job_array(j, n, sizeof *r.copies);
    r.most = job_array(j, n, sizeof *r.most);
    /* A sum of m members has m − 1 or more nodes of its own; each pushes at most two. */
    r.terms = job_array(j, n + 2, sizeof *r.terms);
    r.groups = job_array(j, n + 2, sizeof *r.groups);
    r.stack = job_array(j, n + 2, sizeof *r.stack);
    r.stack_negative = job_array(j, n + 2, sizeof *r.stack_negative);
    const bool *live = expr_live(pool, j, roots, count);
    count_uses(&r, live, nodes, roots, count);
    survey_copies(&r, live, nodes);
    survey(&r, live, nodes);
    for (int i = 0; i < nodes; i++)
        if (live[i])
            rewrite_node(&r, i);
    for (int i = 0; i < count; i++)
        out[i] = r.renamed[roots[i]];
}
