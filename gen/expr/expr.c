/* The pool of expressions: sharing of equal nodes, folding of constants, limits and counts.
   Takes: operations, one node at a time. Makes: nodes in an array, operands before their users. */
#include "gen/expr/expr.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { FIRST_NODES = 64 };

static_assert(EXPR_MAX_NODES == 131072 && EXPR_MAX_DEPTH == 20000 && EXPR_MAX_OPERATIONS == 1000000,
              "the sentences about limits say so");

bool expr_is_exchangeable(expr_op op) {
    return op == EXPR_ADD || op == EXPR_MULTIPLY;
}

static bool commutes(expr_op op) {
    const unsigned all = 1u << EXPR_ADD | 1u << EXPR_MULTIPLY | 1u << EXPR_MIN | 1u << EXPR_MAX |
                         1u << EXPR_EQ | 1u << EXPR_NE | 1u << EXPR_ALL | 1u << EXPR_ANY;
    return (all >> op & 1) != 0;
}

/* The same for a+b and b+a. */
static uint64_t hash_node(const expr_node *n) {
    uint64_t hash = expr_mix(0, n->op), bits;
    const bool swap = commutes(n->op) && n->operand[0] > n->operand[1];
    memcpy(&bits, &n->value, sizeof bits);
    hash = expr_mix(hash, bits);
    hash = expr_mix(hash, (uint32_t)n->operand[swap]);
    hash = expr_mix(hash, (uint32_t)n->operand[!swap]);
    hash = expr_mix(hash, (uint32_t)n->operand[2]);
    hash = expr_mix(hash, (uint32_t)n->index);
    for (int axis = 0; axis < AXES; axis++)
        hash = expr_mix(hash, (uint32_t)n->d[axis]);
    return hash;
}

/* Constants are compared by their bits: there is no -0 and no NaN among them. */
static bool same_node(const expr_pool *p, const expr_node *a, const expr_node *b) {
    if (a->op != b->op || a->index != b->index || memcmp(a->d, b->d, sizeof a->d) != 0 ||
        memcmp(&a->value, &b->value, sizeof a->value) != 0 || a->operand[2] != b->operand[2])
        return false;
    if (a->operand[0] == b->operand[0] && a->operand[1] == b->operand[1])
        return true;
    return (p->ordered ? expr_is_exchangeable(a->op) : commutes(a->op)) &&
           a->operand[0] == b->operand[1] && a->operand[1] == b->operand[0];
}

static int find_bucket(const expr_pool *p, const expr_node *n) {
    const unsigned mask = (unsigned)p->bucket_count - 1;
    unsigned at = (unsigned)hash_node(n) & mask;
    while (p->buckets[at] != EXPR_NONE && !same_node(p, &p->nodes[p->buckets[at]], n))
        at = (at + 1) & mask;
    return (int)at;
}

static void fill_buckets(expr_pool *p) {
    for (int i = 0; i < p->bucket_count; i++)
        p->buckets[i] = EXPR_NONE;
    for (int i = 0; i < p->count; i++)
        p->buckets[find_bucket(p, &p->nodes[i])] = i;
}

static void grow(expr_pool *p) {
    const int capacity = 2 * p->capacity;
    expr_node *nodes = job_array(p->job, (size_t)capacity, sizeof *nodes);
    expr_id *buckets = job_array(p->job, 2 * (size_t)capacity, sizeof *buckets);
    if (p->count > 0)
        memcpy(nodes, p->nodes, (size_t)p->count * sizeof *nodes);
    p->nodes = nodes;
    p->capacity = capacity;
    p->buckets = buckets;
    p->bucket_count = 2 * capacity;
    fill_buckets(p);
}

expr_pool *expr_pool_new(job *j) {
    expr_pool *p = job_alloc(j, sizeof *p);
    p->job = j;
    p->capacity = FIRST_NODES / 2;
    grow(p);
    return p;
}

void expr_pool_truncate(expr_pool *p, int count) {
    assert(count >= 0 && count <= p->count);
    p->count = count;
    fill_buckets(p);
}

/* The node equal to `n`; it is added where there is none yet. */
static expr_id share(expr_pool *p, const expr_node *n) {
    const int found = find_bucket(p, n);
    if (p->buckets[found] != EXPR_NONE)
        return p->buckets[found];
    if (p->count >= EXPR_MAX_NODES) {
        p->limit = "the expression has more than 131072 parts";
        return n->operand[0] != EXPR_NONE ? n->operand[0] : 0;
    }
    if (p->count == p->capacity)
        grow(p);
    const expr_id id = p->count++;
    p->nodes[id] = *n;
    p->buckets[find_bucket(p, n)] = id;
    return id;
}

static const expr_node empty_node = {.operand = {EXPR_NONE, EXPR_NONE, EXPR_NONE}, .depth = 1};

expr_id expr_constant(expr_pool *p, double value) {
    assert(isfinite(value));
    expr_node n = empty_node;
    n.op = EXPR_CONSTANT;
    n.value = value == 0 ? 0.0 : value; /* one zero, without a sign */
    return share(p, &n);
}

expr_id expr_parameter(expr_pool *p, int index) {
    expr_node n = empty_node;
    n.op = EXPR_PARAMETER;
    n.index = index;
    return share(p, &n);
}

expr_id expr_tap(expr_pool *p, int array, const int d[AXES]) {
    expr_node n = empty_node;
    n.op = EXPR_TAP;
    n.index = array;
    memcpy(n.d, d, sizeof n.d);
    return share(p, &n);
}

expr_id expr_position_plus(expr_pool *p, position which, int added) {
    expr_node n = empty_node;
    n.op = EXPR_POSITION;
    n.index = (int)which;
    n.d[0] = added;
    return share(p, &n);
}

expr_id expr_position(expr_pool *p, position which) {
    return expr_position_plus(p, which, 0);
}

static bool is_constant(const expr_pool *p, expr_id id, double value) {
    return id != EXPR_NONE && p->nodes[id].op == EXPR_CONSTANT && p->nodes[id].value == value;
}

static expr_id negated(expr_pool *p, expr_id a) {
    return expr_make(p, EXPR_NEGATE, a, EXPR_NONE, EXPR_NONE);
}

/* Whole powers up to 4 are products; others stay what they are. */
static expr_id simplify_power(expr_pool *p, expr_id a, expr_id b) {
    if (is_constant(p, b, 0))
        return expr_constant(p, 1);
    if (is_constant(p, b, 1))
        return a;
    const bool cube = is_constant(p, b, 3), fourth = is_constant(p, b, 4);
    if (!cube && !fourth && !is_constant(p, b, 2))
        return EXPR_NONE;
    const expr_id square = expr_make(p, EXPR_MULTIPLY, a, a, EXPR_NONE);
    if (!cube && !fourth)
        return square;
    return expr_make(p, EXPR_MULTIPLY, square, cube ? a : square, EXPR_NONE);
}

static expr_id simplify_arithmetic(expr_pool *p, expr_op op, expr_id a, expr_id b) {
    const bool zero_a = is_constant(p, a, 0), zero_b = is_constant(p, b, 0);
    switch (op) {
    case EXPR_ADD:
        return zero_b ? a : zero_a ? b : EXPR_NONE;
    case EXPR_SUBTRACT:
        return zero_b ? a : zero_a ? negated(p, b) : EXPR_NONE;
    case EXPR_MULTIPLY:
        if (zero_a || zero_b)
            return expr_constant(p, 0);
        if (is_constant(p, a, 1) || is_constant(p, b, 1))
            return is_constant(p, a, 1) ? b : a;
        if (is_constant(p, a, -1) || is_constant(p, b, -1))
            return negated(p, is_constant(p, a, -1) ? b : a);
        return EXPR_NONE;
    case EXPR_DIVIDE:
        return is_constant(p, b, 1) ? a : is_constant(p, b, -1) ? negated(p, a) : EXPR_NONE;
    case EXPR_NEGATE:
        return p->nodes[a].op == EXPR_NEGATE ? p->nodes[a].operand[0] : EXPR_NONE;
    case EXPR_POW:
        return simplify_power(p, a, b);
    default:
        return EXPR_NONE;
    }
}

/* Rules of the other operations. Truth constants are 1 and 0. A selection by a constant folds away,
   so none is left in an expression that gives a number. */
static expr_id simplify_choice(expr_pool *p, expr_op op, expr_id a, expr_id b, expr_id c) {
    switch (op) {
    case EXPR_MIN:
    case EXPR_MAX:
        return a == b ? a : EXPR_NONE;
    case EXPR_ABS:
        if (p->nodes[a].op == EXPR_NEGATE)
            return expr_make(p, EXPR_ABS, p->nodes[a].operand[0], EXPR_NONE, EXPR_NONE);
        return p->nodes[a].op == EXPR_ABS ? a : EXPR_NONE;
    case EXPR_ALL:
        if (a == b || is_constant(p, a, 0) || is_constant(p, b, 1))
            return a;
        return is_constant(p, b, 0) || is_constant(p, a, 1) ? b : EXPR_NONE;
    case EXPR_ANY:
        if (a == b || is_constant(p, a, 1) || is_constant(p, b, 0))
            return a;
        return is_constant(p, b, 1) || is_constant(p, a, 0) ? b : EXPR_NONE;
    case EXPR_NOT:
        return p->nodes[a].op == EXPR_NOT ? p->nodes[a].operand[0] : EXPR_NONE;
    case EXPR_WHERE:
        if (b == c || is_constant(p, a, 1))
            return b;
        return is_constant(p, a, 0) ? c : EXPR_NONE;
    default:
        return EXPR_NONE;
    }
}

/* A result that is not finite is not folded, so constants are always finite. */
static expr_id fold(expr_pool *p, expr_op op, const expr_id operand[3]) {
    double value[3] = {0, 0, 0};
    for (int i = 0; i < expr_words[op].operands; i++) {
        if (p->nodes[operand[i]].op != EXPR_CONSTANT)
            return EXPR_NONE;
        value[i] = p->nodes[operand[i]].value;
    }
    const double result = expr_evaluate(op, value[0], value[1], value[2]);
    return isfinite(result) ? expr_constant(p, result) : EXPR_NONE;
}

expr_id expr_make(expr_pool *p, expr_op op, expr_id a, expr_id b, expr_id c) {
    assert(expr_words[op].operands > 0);
    expr_id done = fold(p, op, (const expr_id[3]){a, b, c});
    if (done == EXPR_NONE)
        done = simplify_arithmetic(p, op, a, b);
    if (done == EXPR_NONE)
        done = simplify_choice(p, op, a, b, c);
    if (done != EXPR_NONE)
        return done;

    expr_node n = empty_node;
    n.op = op;
    n.written_out = expr_words[op].operations;
    const expr_id operand[3] = {a, b, c};
    for (int i = 0; i < expr_words[op].operands; i++) {
        const expr_node *o = &p->nodes[operand[i]];
        n.operand[i] = operand[i];
        n.depth = o->depth >= n.depth ? o->depth + 1 : n.depth;
        n.written_out += o->written_out;
    }
    if (n.depth > EXPR_MAX_DEPTH)
        p->limit = "the expression is nested more than 20000 operations deep";
    else if (n.written_out > EXPR_MAX_OPERATIONS)
        p->limit = "the expression has more than 1000000 operations when written out";
    else
        return share(p, &n);
    return a;
}

bool *expr_live(const expr_pool *p, job *j, const expr_id *roots, int count) {
    bool *live = job_array(j, (size_t)p->count + 1, sizeof *live);
    for (int i = 0; i < count; i++)
        if (roots[i] != EXPR_NONE)
            live[roots[i]] = true;
    for (int i = p->count - 1; i >= 0; i--)
        for (int k = 0; live[i] && k < expr_words[p->nodes[i].op].operands; k++)
            live[p->nodes[i].operand[k]] = true;
    return live;
}

expr_id expr_replaced(expr_pool *p, expr_id root, expr_id *to) {
    for (expr_id id = 0; id <= root; id++) {
        const expr_node n = *expr_get(p, id); /* a copy: the pool may move while it grows */
        expr_id of[3] = {n.operand[0], n.operand[1], n.operand[2]};
        bool changed = false;
        for (int k = 0; k < expr_words[n.op].operands; k++) {
            of[k] = to[n.operand[k]];
            changed |= of[k] != n.operand[k];
        }
        if (to[id] == EXPR_NONE)
            to[id] = changed ? expr_make(p, n.op, of[0], of[1], of[2]) : id;
    }
    return to[root];
}

static void count_add(expr_count *total, expr_op op) {
    const int operations = expr_words[op].operations;
    if (op == EXPR_FMA) {
        total->multiplications += 1;
        total->additions += 1;
        return;
    }
    if (op == EXPR_MULTIPLY || op == EXPR_DIVIDE)
        total->multiplications += operations;
    else if (op == EXPR_ADD || op == EXPR_SUBTRACT || op == EXPR_NEGATE)
        total->additions += operations;
    else
        total->others += operations;
}

expr_count expr_count_shared(const expr_pool *p, job *j, const expr_id *roots, int count) {
    return expr_count_live(p, expr_live(p, j, roots, count));
}

expr_count expr_count_live(const expr_pool *p, const bool *live) {
    expr_count total = {0, 0, 0};
    for (int i = 0; i < p->count; i++)
        if (live[i])
            count_add(&total, p->nodes[i].op);
    return total;
}

static void add_counts(expr_count *total, const expr_count *more) {
    total->multiplications += more->multiplications;
    total->additions += more->additions;
    total->others += more->others;
}

expr_count expr_count_written_out(const expr_pool *p, job *j, const expr_id *roots, int count) {
    expr_count total = {0, 0, 0};
    expr_count *counts = job_array(j, (size_t)p->count + 1, sizeof *counts);
    for (int i = 0; i < p->count; i++) {
        count_add(&counts[i], p->nodes[i].op);
        for (int k = 0; k < expr_words[p->nodes[i].op].operands; k++)
            add_counts(&counts[i], &counts[p->nodes[i].operand[k]]);
    }
    for (int i = 0; i < count; i++)
        if (roots[i] != EXPR_NONE)
            add_counts(&total, &counts[roots[i]]);
    return total;
}
