/* The reference: the model's expressions made into steps over rows of cells.
   Takes: a model and parameters. Makes: what evaluate.c evaluates. Steps follow a walk from the
   outputs that takes the deepest operand first, which keeps few rows alive at a time. */
#include "gen/reference/reference.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "gen/model/model.h"

/* A second-order term in every sum of errors, and the float64 evaluation itself. */
static rounding rounding_of(dtype type) {
    const double smallest =
        type == DTYPE_FLOAT ? (double)FLT_MIN * (double)FLT_EPSILON : DBL_MIN * DBL_EPSILON;
    return (rounding){.unit = 1.25 * (dtype_words[type].epsilon + DBL_EPSILON / 2),
                      .tiny = 2 * smallest,
                      .largest = dtype_words[type].largest / 2,
                      .exact = type == DTYPE_FLOAT ? 0x1p16 : 0x1p40};
}

/* Facts about a live node. Nodes without taps and positions are the same for all cells; they are
   evaluated while the reference is made. */
typedef struct fact {
    bool uniform, never_negative;
    bool reads;    /* cells */
    bool compared; /* a comparison depends on it */
    int condition; /* its number + 1; 0: it is none */
    scalar value;  /* of uniform nodes */
    double terms;  /* how many terms the node sums up */
    int uses;      /* uses that are still to come, by other nodes and by outputs */
    int row;       /* where the node's row is; −1: it is not yet made */
} fact;

typedef struct maker {
    job *job;
    reference *r;
    const expr_pool *pool;
    const bool *live;
    fact *f;
    int tap_count; /* so far */
    int *spare;    /* rows free for use */
    int spare_count;
} maker;

static scalar exact_or_rounded(const maker *k, double value) {
    if (isnan(value))
        return (scalar){.value = value};
    const bool exact = k->r->m->dtype != DTYPE_FLOAT || (double)(float)value == value;
    const rounding *r = &k->r->rounding;
    return (scalar){.value = value,
                    .magnitude = fabs(value),
                    .error = exact ? 0 : r->unit * fabs(value) + r->tiny};
}

static void fill_row(row *to, const scalar *value) {
    const step s = {.code = EXPR_CONSTANT, .constant = *value};
    row_apply(NULL, &s, to, NULL, NULL, NULL);
}

/* A constant that is itself an operand of a comparison is rounded, once and for all. */
static scalar operand_of(const maker *k, const expr_node *user, expr_id id) {
    const expr_node *n = expr_get(k->pool, id);
    if (n->op != EXPR_CONSTANT || !condition_is_comparison(user->op) ||
        k->r->m->dtype != DTYPE_FLOAT)
        return k->f[id].value;
    return exact_or_rounded(k, (double)(float)n->value);
}

static step step_of(const fact *f, const expr_node *n, expr_id id) {
    step s = {.code = n->op, .terms = {1, 1}, .exactly = f[id].compared};
    for (int i = 0; i < 2 && i < expr_words[n->op].operands; i++)
        s.terms[i] = f[n->operand[i]].terms;
    if (expr_words[n->op].operands > 0)
        s.never_negative = f[n->operand[0]].never_negative;
    s.distributed = n->op == EXPR_DIVIDE && f[n->operand[1]].uniform;
    s.as_written = n->op == EXPR_DIVIDE && !f[n->operand[0]].reads;
    return s;
}

/* Rows serve for single numbers too, so that the error analysis stands once. */
static scalar evaluate_uniform(maker *k, expr_id id, const double *parameters, row *rows) {
    const expr_node *n = expr_get(k->pool, id);
    if (n->op == EXPR_CONSTANT)
        return exact_or_rounded(k, n->value);
    if (n->op == EXPR_PARAMETER)
        return exact_or_rounded(k, parameters[n->index]);
    for (int i = 0; i < expr_words[n->op].operands; i++) {
        const scalar operand = operand_of(k, n, n->operand[i]);
        fill_row(&rows[i], &operand);
    }
    const step s = step_of(k->f, n, id);
    row_apply(&k->r->rounding, &s, &rows[3], &rows[0], &rows[1], &rows[2]);
    return (scalar){rows[3].value[0], rows[3].magnitude[0], rows[3].error[0]};
}

/* Sums go on through operations that distribute over them. */
static double count_terms(const fact *f, const expr_node *n) {
    const expr_id a = n->operand[0], b = n->operand[1];
    switch (n->op) {
    case EXPR_ADD:
    case EXPR_SUBTRACT:
        return f[a].terms + f[b].terms;
    case EXPR_NEGATE:
        return f[a].terms;
    case EXPR_MULTIPLY:
        return f[a].uniform == f[b].uniform ? 1 : f[f[a].uniform ? b : a].terms;
    case EXPR_DIVIDE:
        return f[b].uniform ? f[a].terms : 1;
    default:
        return 1;
    }
}

/* Nodes that are not negative (nor become so by rounding) whatever the cells hold: sums of squares
   and the like. */
static bool never_negative(const fact *f, const expr_node *n, expr_id id) {
    const expr_id a = n->operand[0], b = n->operand[1], c = n->operand[2];
    switch (n->op) {
    case EXPR_CONSTANT:
    case EXPR_PARAMETER:
        return f[id].value.value >= 0;
    case EXPR_MULTIPLY:
        return a == b || (f[a].never_negative && f[b].never_negative);
    case EXPR_ADD:
    case EXPR_DIVIDE:
    case EXPR_MIN:
        return f[a].never_negative && f[b].never_negative;
    case EXPR_MAX:
        return f[a].never_negative || f[b].never_negative;
    case EXPR_FLOOR:
    case EXPR_POW:
        return f[a].never_negative;
    case EXPR_ABS:
    case EXPR_SQRT:
    case EXPR_EXP:
        return true;
    case EXPR_WHERE:
        return f[b].never_negative && f[c].never_negative;
    default:
        return false;
    }
}

/* Users come after what they use. */
static void find_compared(maker *k) {
    fact *f = k->f;
    for (expr_id id = k->pool->count; id-- > 0;) {
        const expr_node *n = expr_get(k->pool, id);
        for (int i = 0; k->live[id] && i < expr_words[n->op].operands; i++)
            f[n->operand[i]].compared |= f[id].compared || condition_is_comparison(n->op);
    }
}

static void find_facts(maker *k, const double *parameters) {
    fact *f = k->f;
    row *rows = job_array(k->job, 4, sizeof *rows);
    for (expr_id id = 0; id < k->pool->count; id++) {
        const expr_node *n = expr_get(k->pool, id);
        if (!k->live[id])
            continue;
        f[id].row = -1;
        f[id].reads = n->op == EXPR_TAP;
        f[id].uniform = n->op != EXPR_TAP && n->op != EXPR_POSITION;
        for (int i = 0; i < expr_words[n->op].operands; i++) {
            f[id].reads |= f[n->operand[i]].reads;
            f[id].uniform &= f[n->operand[i]].uniform;
            f[n->operand[i]].uses++;
        }
        if (f[id].uniform)
            f[id].value = evaluate_uniform(k, id, parameters, rows);
        f[id].terms = count_terms(f, n);
        f[id].never_negative = never_negative(f, n, id);
    }
}

static void emit(maker *k, const step *s) {
    reference *r = k->r;
    r->steps = job_grow(k->job, r->steps, (size_t)r->step_count, sizeof *r->steps);
    r->steps[r->step_count++] = *s;
}

static int take_row(maker *k) {
    return k->spare_count > 0 ? k->spare[--k->spare_count] : k->r->rows++;
}

static int make_constant(maker *k, const scalar *value) {
    const int to = take_row(k);
    emit(k, &(step){.code = EXPR_CONSTANT, .to = to, .constant = *value});
    return to;
}

static void make_step(maker *k, expr_id id) {
    fact *f = k->f;
    const expr_node *n = expr_get(k->pool, id);
    const int operands = expr_words[n->op].operands;
    step s = step_of(f, n, id);
    s.condition = f[id].condition;
    s.position = n->index;
    if (n->op == EXPR_TAP) {
        s.tap = k->tap_count++;
        k->r->taps[s.tap] = (tap){.array = n->index, .d = {n->d[0], n->d[1], n->d[2]}};
    } else if (n->op == EXPR_MULTIPLY && f[n->operand[0]].uniform != f[n->operand[1]].uniform) {
        const int scaled = f[n->operand[0]].uniform;
        s.code = STEP_SCALE;
        s.from[0] = f[n->operand[scaled]].row;
        s.constant = f[n->operand[!scaled]].value;
    } else {
        for (int i = 0; i < operands; i++) {
            const scalar constant = operand_of(k, n, n->operand[i]);
            s.from[i] =
                f[n->operand[i]].uniform ? make_constant(k, &constant) : f[n->operand[i]].row;
        }
    }
    s.to = f[id].row = take_row(k);
    emit(k, &s);
    for (int i = 0; i < operands; i++) {
        const expr_id o = n->operand[i];
        if (f[o].uniform ? s.code != STEP_SCALE : --f[o].uses == 0)
            k->spare[k->spare_count++] = f[o].uniform ? s.from[i] : f[o].row;
    }
}

/* The deepest of the operands that are still to be made; EXPR_NONE where all are made. */
static expr_id next_operand(const maker *k, expr_id id) {
    const expr_node *n = expr_get(k->pool, id);
    expr_id deepest = EXPR_NONE;
    for (int i = 0; i < expr_words[n->op].operands; i++) {
        const expr_id o = n->operand[i];
        if (!k->f[o].uniform && k->f[o].row < 0 &&
            (deepest == EXPR_NONE ||
             expr_get(k->pool, o)->depth > expr_get(k->pool, deepest)->depth))
            deepest = o;
    }
    return deepest;
}

static int make_output(maker *k, expr_id root, expr_id *stack) {
    if (k->f[root].uniform)
        return make_constant(k, &k->f[root].value);
    int count = 0;
    if (k->f[root].row < 0)
        stack[count++] = root;
    while (count > 0) {
        const expr_id next = next_operand(k, stack[count - 1]);
        if (next != EXPR_NONE)
            stack[count++] = next;
        else
            make_step(k, stack[--count]);
    }
    return k->f[root].row;
}

static void find_conditions(maker *k, const expr_id *roots, int count) {
    reference *r = k->r;
    r->condition_count = conditions_find(k->job, k->pool, roots, count, &r->conditions);
    r->settled = job_array(k->job, (size_t)r->condition_count + 1, sizeof *r->settled);
    for (int i = 0; i < r->condition_count; i++) {
        const expr_id id = r->conditions[i].node;
        k->f[id].condition = i + 1;
        r->settled[i] = k->f[id].uniform ? &k->f[id].value : NULL;
    }
}

/* The rules of each array, with numbers in place of parameters. */
static void find_sides(job *j, reference *r, const double *parameters) {
    const model *m = r->m;
    r->sides = job_array(j, (size_t)m->array_count + 1, sizeof *r->sides);
    for (int i = 0; i < m->array_count; i++)
        for (int axis = 0; axis < AXES; axis++)
            for (int side = 0; side < 2; side++) {
                model_side *s = &r->sides[i][axis][side];
                *s = *model_side_of(m, m->arrays[i].field, axis, side);
                if (s->parameter != NULL)
                    s->value = parameters[model_parameter_named(m, s->parameter)];
            }
}

reference *reference_new(job *j, const model *m, const double *parameters) {
    reference *r = job_alloc(j, sizeof *r);
    *r = (reference){.m = m, .rounding = rounding_of(m->dtype), .most = INFINITY};
    if (m->separable != NULL && m->separable->count > 0) {
        r->more = separable_rounding(m->separable, m->dtype);
        r->most = r->rounding.largest * m->separable->least;
    }
    find_sides(j, r, parameters);
    const size_t nodes = (size_t)m->pool->count;
    expr_id roots[MAX_FIELDS];
    model_roots(m, roots);
    maker k = {.job = j, .r = r, .pool = m->pool};
    k.f = job_array(j, nodes, sizeof *k.f);
    k.live = expr_live(m->pool, j, roots, m->output_count);
    k.spare = job_array(j, nodes + 3, sizeof *k.spare);
    r->taps = job_array(j, nodes, sizeof *r->taps);
    find_compared(&k);
    find_facts(&k, parameters);
    find_conditions(&k, roots, m->output_count);
    for (int o = 0; o < m->output_count; o++)
        k.f[roots[o]].uses++; /* never used up: outputs stay to the end */
    expr_id *stack = job_array(j, nodes, sizeof *stack);
    for (int o = 0; o < m->output_count; o++) {
        r->outputs[o] = make_output(&k, roots[o], stack);
        r->current[o] = model_array_of(m, m->outputs[o].field, false); /* an out field has none */
    }
    return r;
}
