/* The search for numbers that matter. Every comparison asks that its operands be equal. What a node
   is asked to be is handed down, operation by operation, until taps are asked. Users come after
   what they use, so one pass over the pool backwards is enough. */
#include "gen/reference/reference.h"

#include <assert.h>
#include <math.h>

#include "gen/model/model.h"

enum { MOST_WISHES = 8 };
static_assert(REACH_ARRAYS <= 64, "a set of arrays is 64 bits");
#define SEVERAL (-2) /* taps */

typedef struct wishes {
    int count;
    double value[MOST_WISHES];
    bool rounded[MOST_WISHES]; /* the kernel rounds on the way from here to the comparison */
} wishes;

typedef struct search {
    job *job;
    const model *model;
    const expr_pool *pool;
    const bool *live;
    const double *parameters;
    double *value;   /* of nodes without taps and positions */
    expr_id *only;   /* the tap or position below a node; EXPR_NONE: there is none */
    double *terms;   /* that the node sums up */
    uint64_t *reads; /* arrays below a node */
    wishes **wanted; /* by node; NULL: nothing */
    reach_found *found;
} search;

/* ---- what is known of nodes ---------------------------------------------------------------- */

static bool is_uniform(const search *s, expr_id id) {
    return s->only[id] == EXPR_NONE;
}

static double value_of(const search *s, const expr_node *n) {
    const expr_id *o = n->operand;
    const int count = expr_words[n->op].operands;
    double v = n->value;
    if (n->op == EXPR_PARAMETER)
        v = s->parameters[n->index];
    else if (n->op != EXPR_CONSTANT)
        v = expr_evaluate(n->op, s->value[o[0]], count > 1 ? s->value[o[1]] : 0,
                          count > 2 ? s->value[o[2]] : 0);
    return dtype_round(s->model->dtype, v);
}

static void learn(search *s) {
    for (expr_id id = 0; id < s->pool->count; id++) {
        const expr_node *n = expr_get(s->pool, id);
        const bool sum = n->op == EXPR_ADD || n->op == EXPR_SUBTRACT;
        if (!s->live[id])
            continue;
        s->only[id] = n->op == EXPR_TAP || n->op == EXPR_POSITION ? id : EXPR_NONE;
        s->reads[id] = n->op == EXPR_TAP ? UINT64_C(1) << n->index : 0;
        s->terms[id] = sum ? 0 : 1;
        for (int i = 0; i < expr_words[n->op].operands; i++) {
            const expr_id o = n->operand[i];
            s->reads[id] |= s->reads[o];
            s->terms[id] += sum ? s->terms[o] : 0;
            if (!is_uniform(s, o))
                s->only[id] = is_uniform(s, id) || s->only[id] == s->only[o] ? s->only[o] : SEVERAL;
        }
        if (is_uniform(s, id))
            s->value[id] = value_of(s, n);
    }
}

/* ---- wishes -------------------------------------------------------------------------------- */

/* Returns whether the number is new and there is room for it. */
static bool note(double *list, int *count, int most, double value) {
    for (int i = 0; i < *count; i++)
        if (list[i] == value)
            return false;
    if (*count < most)
        list[(*count)++] = value;
    return *count > 0 && list[*count - 1] == value;
}

void reach_note(reach_numbers *to, double value) {
    note(to->value, &to->count, REACH_NUMBERS, value);
}

void reach_note_as(dtype type, reach_numbers *to, double value) {
    const dtype_word *word = &dtype_words[type];
    if (type == DTYPE_FLOAT)
        value = (double)(float)value;
    if (!isfinite(value) || value < word->least || value > word->largest)
        return;
    reach_note(to, type < DTYPE_REALS ? value : floor(value));
    if (type >= DTYPE_REALS && ceil(value) <= word->largest)
        reach_note(to, ceil(value));
}

/* Where the kernel rounds, nobody can say how an equality turns out, except in sums of numbers that
   the reference knows to be exact. Numbers on both sides serve better. */
static void note_wish(search *s, int array, double value, bool rounded) {
    const dtype type = s->model->dtype;
    reach_numbers *to = &s->found->arrays[array];
    const double below = 0x1p-8, above = 0x1.6p-8; /* unlike each other, so that sums of them are
                                                      not in the middle again */
    const double grains = value / 0x1p-8;
    if (!rounded || grains == floor(grains)) {
        reach_note_as(type, to, value + 0.0); /* no −0 */
        return;
    }
    reach_note_as(type, to, value * (1 - below));
    reach_note_as(type, to, value * (1 + above));
}

/* Asks that the node come to the value, for some cell. */
static void wish(search *s, expr_id id, double value, bool rounded) {
    const expr_node *n = expr_get(s->pool, id);
    if (!isfinite(value) || is_uniform(s, id) || expr_words[n->op].gives_truth ||
        n->op == EXPR_POSITION)
        return;
    if (n->op == EXPR_TAP) {
        note_wish(s, n->index, value, rounded);
        return;
    }
    if (s->wanted[id] == NULL)
        s->wanted[id] = job_alloc(s->job, sizeof **s->wanted);
    wishes *w = s->wanted[id];
    if (note(w->value, &w->count, MOST_WISHES, value))
        w->rounded[w->count - 1] = rounded;
}

static void wish_both_signs(search *s, expr_id id, double value, bool rounded) {
    wish(s, id, value, rounded);
    wish(s, id, -value, rounded);
}

/* Asks that two nodes be equal. */
static void wish_equal(search *s, expr_id a, expr_id b) {
    if (is_uniform(s, b))
        wish(s, a, s->value[b], false);
    if (is_uniform(s, a))
        wish(s, b, s->value[a], false);
    const bool several = s->only[a] == SEVERAL || s->only[b] == SEVERAL ||
                         (!is_uniform(s, a) && !is_uniform(s, b) && s->only[a] != s->only[b]);
    if (several)
        s->found->tied |= s->reads[a] | s->reads[b];
}

/* ---- handing down -------------------------------------------------------------------------- */

static void hand_to_sum(search *s, const expr_node *n, double v) {
    const expr_id a = n->operand[0], b = n->operand[1];
    const double sign = n->op == EXPR_ADD ? 1 : -1;
    if (is_uniform(s, b))
        wish(s, a, v - sign * s->value[b], true);
    else if (is_uniform(s, a))
        wish(s, b, sign * (v - s->value[a]), true);
    if (is_uniform(s, a) || is_uniform(s, b))
        return;
    const double share = s->terms[a] / (s->terms[a] + s->terms[b]);
    wish(s, a, v * share, true);
    wish(s, b, sign * v * (1 - share), true);
}

static void hand_to_product(search *s, const expr_node *n, double v) {
    const expr_id a = n->operand[0], b = n->operand[1];
    if (is_uniform(s, b) || is_uniform(s, a)) {
        const double factor = s->value[is_uniform(s, b) ? b : a];
        wish(s, is_uniform(s, b) ? a : b, v / factor, true); /* which is not finite for 0 */
    } else if (a == b) {
        wish_both_signs(s, a, sqrt(v), true);
    } else {
        wish(s, a, v < 0 ? -sqrt(-v) : sqrt(v), true);
        wish(s, b, sqrt(fabs(v)), true);
    }
}

static void hand_to_quotient(search *s, const expr_node *n, double v) {
    const expr_id a = n->operand[0], b = n->operand[1];
    if (is_uniform(s, b)) {
        wish(s, a, v * s->value[b], true);
    } else if (is_uniform(s, a)) {
        wish(s, b, s->value[a] / v, true);
    } else {
        wish(s, a, v, true);
        wish(s, b, 1, true);
    }
}

static void hand_to_power(search *s, const expr_node *n, double v) {
    const expr_id a = n->operand[0], b = n->operand[1];
    if (is_uniform(s, b))
        wish(s, a, pow(v, 1 / s->value[b]), true);
    else if (is_uniform(s, a))
        wish(s, b, log(v) / log(s->value[a]), true);
}

/* Nobody can wish what is not finite, such as the logarithm of a number below 0. */
static void hand_down(search *s, const expr_node *n, double v, bool rounded) {
    static double (*const inverse[EXPR_OP_COUNT])(double) = {
        [EXPR_EXP] = log,  [EXPR_LOG] = exp,    [EXPR_SIN] = asin,
        [EXPR_COS] = acos, [EXPR_TANH] = atanh,
    };
    const expr_id a = n->operand[0];
    switch (n->op) {
    case EXPR_ADD:
    case EXPR_SUBTRACT:
        hand_to_sum(s, n, v);
        break;
    case EXPR_MULTIPLY:
        hand_to_product(s, n, v);
        break;
    case EXPR_DIVIDE:
        hand_to_quotient(s, n, v);
        break;
    case EXPR_POW:
        hand_to_power(s, n, v);
        break;
    case EXPR_NEGATE:
        wish(s, a, -v, rounded);
        break;
    case EXPR_ABS:
        if (v >= 0)
            wish_both_signs(s, a, v, rounded);
        break;
    case EXPR_MIN:
    case EXPR_MAX:
        wish(s, a, v, rounded);
        wish(s, n->operand[1], v, rounded);
        break;
    case EXPR_WHERE:
        wish(s, n->operand[1], v, rounded);
        wish(s, n->operand[2], v, rounded);
        break;
    case EXPR_SQRT:
        if (v >= 0)
            wish(s, a, v * v, true);
        break;
    default: /* floor stands for itself */
        wish(s, a, inverse[n->op] != NULL ? inverse[n->op](v) : v,
             rounded || inverse[n->op] != NULL);
        break;
    }
}

static void seek(search *s) {
    for (expr_id id = s->pool->count; id-- > 0;) {
        const expr_node *n = expr_get(s->pool, id);
        if (!s->live[id] || is_uniform(s, id) || expr_words[n->op].operands == 0)
            continue;
        if (condition_is_comparison(n->op) || n->op == EXPR_MIN || n->op == EXPR_MAX)
            wish_equal(s, n->operand[0], n->operand[1]);
        else if (n->op == EXPR_ABS && expr_get(s->pool, n->operand[0])->op != EXPR_TAP)
            wish(s, n->operand[0], 0, false);
        for (int i = 0; s->wanted[id] != NULL && i < s->wanted[id]->count; i++)
            hand_down(s, n, s->wanted[id]->value[i], s->wanted[id]->rounded[i]);
    }
}

reach_found *reach_search(job *j, const model *m, const expr_id *roots, int count,
                          const double *parameters, const reach_numbers *wanted) {
    const size_t nodes = (size_t)m->pool->count + 1;
    search s = {.job = j, .model = m, .pool = m->pool, .parameters = parameters};
    s.live = expr_live(m->pool, j, roots, count);
    s.value = job_array(j, nodes, sizeof *s.value);
    s.only = job_array(j, nodes, sizeof *s.only);
    s.terms = job_array(j, nodes, sizeof *s.terms);
    s.reads = job_array(j, nodes, sizeof *s.reads);
    s.wanted = job_array(j, nodes, sizeof *s.wanted);
    s.found = job_alloc(j, sizeof *s.found);
    learn(&s);
    for (int i = 0; wanted != NULL && i < wanted->count; i++)
        wish(&s, roots[0], wanted->value[i], false);
    seek(&s);
    return s.found;
}
