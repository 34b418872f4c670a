/* Linear forms: an output as Σ weight·tap + rest; the runs of its weights, and the factors of a
   filter. Takes: a model's output. Makes: the taps with their weights, which have no taps. */
#include "gen/model/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- forms ----------------------------------------------------------------------------------- */

typedef struct pass {
    const model *m;
    expr_pool *pool;
    const bool *taps; /* what differs from point to point is below the node */
    expr_id *weight;  /* EXPR_NONE: the root does not reach it */
    linear_form *out;
} pass;

/* sum + term, or sum − term; a sum that is EXPR_NONE is 0. */
static expr_id accumulate(expr_pool *pool, expr_id sum, expr_op op, expr_id term) {
    if (sum != EXPR_NONE)
        return expr_make(pool, op, sum, term, EXPR_NONE);
    return op == EXPR_ADD ? term : expr_make(pool, EXPR_NEGATE, term, EXPR_NONE, EXPR_NONE);
}

/* The root holds `op` weight·node. A node without taps joins the rest; other nodes hand the weight
   down. */
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

/* A weight is as accurate in the dtype as the factors that it is made of. An operation on constants
   alone stays one only where its result is not finite. */
static bool representable(const pass *p, expr_id weight) {
    const expr_node *n = expr_get(p->pool, weight);
    const double smallest = p->m->dtype == DTYPE_FLOAT ? (double)FLT_MIN : DBL_MIN;
    if (n->op == EXPR_CONSTANT)
        return fabs(n->value) <= dtype_words[p->m->dtype].largest && fabs(n->value) >= smallest;
    for (int i = 0; i < expr_words[n->op].operands; i++)
        if (expr_get(p->pool, n->operand[i])->op != EXPR_CONSTANT)
            return true;
    return n->op == EXPR_PARAMETER || n->op == EXPR_POSITION;
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

/* Marks the nodes up to the root that have a tap, or the point's place, below them; returns how
   many are taps. */
static int mark_taps(const expr_pool *pool, expr_id root, bool *taps) {
    int count = 0;
    for (expr_id id = 0; id <= root; id++) {
        const expr_node *n = expr_get(pool, id);
        taps[id] = expr_varies(n);
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

    /* Where the weights would pass the pool's limits, the output does not count as linear. */
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

/* ---- runs of weights ------------------------------------------------------------------------- */

static bool follows(const weight_run *r, int output, const linear_term *t) {
    return r->output == output && r->array == t->array && r->d[2] == t->d[2] &&
           r->d[1] == t->d[1] && r->d[0] + r->count == t->d[0];
}

static void add_weight(weight_runs *out, int output, const linear_term *t, double weight) {
    weight_run *last = out->count > 0 ? &out->list[out->count - 1] : NULL;
    if (last == NULL || !follows(last, output, t)) {
        last = &out->list[out->count++];
        *last = (weight_run){.output = output, .array = t->array, .first = out->weight_count};
        for (int axis = 0; axis < AXES; axis++)
            last->d[axis] = t->d[axis];
    }
    last->count++;
    out->weights[out->weight_count++] = weight;
}

weight_runs *runs_new(job *j, const model *m) {
    weight_runs *out = job_alloc(j, sizeof *out);
    linear_form forms[MAX_FIELDS];
    size_t terms = 0;
    for (int o = 0; o < m->output_count; o++) {
        model_linear(m, o, &forms[o]);
        terms += (size_t)forms[o].count;
    }
    out->list = job_array(j, terms, sizeof *out->list);
    out->weights = job_array(j, terms, sizeof *out->weights);
    for (int o = 0; o < m->output_count; o++) {
        out->others[o] = EXPR_NONE;
        for (int i = 0; i < forms[o].count; i++) {
            const linear_term *t = &forms[o].terms[i];
            const expr_node *weight = expr_get(m->pool, t->weight);
            if (weight->op == EXPR_CONSTANT) {
                add_weight(out, o, t, weight->value);
                continue;
            }
            const expr_id tap = expr_tap(m->pool, t->array, t->d);
            const expr_id term = expr_make(m->pool, EXPR_MULTIPLY, t->weight, tap, EXPR_NONE);
            out->others[o] = accumulate(m->pool, out->others[o], EXPR_ADD, term);
        }
        if (forms[o].rest != EXPR_NONE)
            out->others[o] = accumulate(m->pool, out->others[o], EXPR_ADD, forms[o].rest);
    }
    return out;
}

/* ---- factors --------------------------------------------------------------------------------- */

enum { EDGE = 2 * MAX_REACH + 1 };

/* The weights as a dense box, x fastest; 0 where no cell is read. */
typedef struct box {
    int size[AXES];
    double *weight;
    int pivot[AXES]; /* the largest in size */
} box;

static double *at(const box *b, const int place[AXES]) {
    return &b->weight[(place[2] * b->size[1] + place[1]) * b->size[0] + place[0]];
}

static double pivot_weight(const box *b) {
    return *at(b, b->pivot);
}

/* False where a weight is no number. */
static bool fill(job *j, const model *m, box *b) {
    linear_form form;
    int count = 1;
    if (!model_linear(m, 0, &form) || form.rest != EXPR_NONE)
        return false;
    for (int axis = 0; axis < AXES; axis++)
        count *= b->size[axis] = m->low[axis] + 1 + m->high[axis];
    b->weight = job_array(j, (size_t)count, sizeof *b->weight);
    for (int i = 0; i < form.count; i++) {
        const expr_node *weight = expr_get(m->pool, form.terms[i].weight);
        if (weight->op != EXPR_CONSTANT)
            return false;
        int place[AXES];
        for (int axis = 0; axis < AXES; axis++)
            place[axis] = form.terms[i].d[axis] + m->low[axis];
        *at(b, place) = weight->value;
        if (fabs(weight->value) > fabs(pivot_weight(b)))
            memcpy(b->pivot, place, sizeof place);
    }
    return true;
}

/* The weights along each axis through the largest one. Those of the first axis stay as they are;
   the others are divided by the largest. */
static bool find_factors(const model *m, const box *b, separable *out) {
    const double smallest = m->dtype == DTYPE_FLOAT ? (double)FLT_MIN : DBL_MIN;
    out->least = 1;
    for (int k = 0; k < out->count; k++) {
        double least = INFINITY;
        int place[AXES];
        memcpy(place, b->pivot, sizeof place);
        for (int i = 0; i < b->size[out->axes[k]]; i++) {
            place[out->axes[k]] = i;
            const double factor = k == 0 ? *at(b, place) : *at(b, place) / pivot_weight(b);
            out->factor[k][i] = factor;
            if (factor != 0)
                least = fmin(least, fabs(factor));
        }
        if (!(least >= smallest && least < INFINITY))
            return false;
        out->least *= k == 0 ? 1 : least;
    }
    return true;
}

/* Whether every weight is the product of its factors. */
static bool verify(const box *b, const separable *s) {
    int place[AXES];
    for (place[2] = 0; place[2] < b->size[2]; place[2]++)
        for (place[1] = 0; place[1] < b->size[1]; place[1]++)
            for (place[0] = 0; place[0] < b->size[0]; place[0]++) {
                const double weight = *at(b, place);
                double product = 1;
                for (int k = 0; k < s->count; k++)
                    product *= s->factor[k][place[s->axes[k]]];
                if (!(fabs(weight - product) <= SEPARABLE_TOLERANCE * fabs(weight)))
                    return false;
            }
    return true;
}

/* NULL where it is. */
static const char *find_obstacle(job *j, const model *m, separable *out) {
    box b = {.weight = NULL};
    if (m->shape != SHAPE_CONVOLUTION)
        return "it serves convolutions, whose weights may be products of one factor an axis";
    for (int axis = 0; axis < m->dims; axis++)
        if (m->low[axis] + m->high[axis] > 0)
            out->axes[out->count++] = axis;
    if (out->count < 2)
        return "the weights lie along one axis";
    if (model_has_given_sides(m))
        return "the boundary's value is given at launch";
    if (!fill(j, m, &b))
        return "some weights hold parameters, or are too small for the dtype";
    if (pivot_weight(&b) == 0 || !find_factors(m, &b, out) || !verify(&b, out))
        return "the weights are not products of one factor an axis";
    return NULL;
}

const separable *separable_new(job *j, const model *m) {
    separable *out = job_alloc(j, sizeof *out);
    out->why = find_obstacle(j, m, out);
    if (out->why != NULL)
        out->count = 0;
    return out;
}

double separable_rounding(const separable *s, dtype type) {
    return 1.25 * (SEPARABLE_TOLERANCE + 2 * s->count * dtype_words[type].epsilon);
}

model *separable_pass(job *j, const model *whole, const separable *s, int k, const char *from,
                      const char *to) {
    const int axis = s->axes[k];
    model *m = job_alloc(j, sizeof *m);
    *m = (model){.name = whole->name,
                 .file = whole->file,
                 .line = whole->line,
                 .dims = whole->dims,
                 .dtype = whole->dtype,
                 .shape = SHAPE_CONVOLUTION,
                 .fields = {{.name = from, .use = USE_IN, .levels = 1},
                            {.name = to, .use = USE_OUT, .levels = 1}},
                 .field_count = 2,
                 .arrays = {{.field = 0, .used = true}},
                 .array_count = 1,
                 .outputs = {{1, EXPR_NONE}},
                 .output_count = 1,
                 .pool = expr_pool_new(j)};
    if (k == 0)
        m->fields[0].storage = whole->fields[0].storage;
    if (k + 1 == s->count)
        m->fields[1].storage = whole->fields[1].storage;
    for (int a = 0; a < AXES; a++)
        for (int side = 0; side < 2; side++)
            m->sides[a][side] =
                k == 0 ? whole->sides[a][side] : (model_side){.kind = BOUNDARY_FIXED};
    m->low[axis] = m->arrays[0].low[axis] = whole->low[axis];
    m->high[axis] = m->arrays[0].high[axis] = whole->high[axis];
    model_set_radius(m);
    m->points = m->low[axis] + 1 + m->high[axis];
    expr_id sum = EXPR_NONE;
    for (int i = 0; i < m->points; i++) {
        int d[AXES] = {0, 0, 0};
        d[axis] = i - m->low[axis];
        if (s->factor[k][i] == 0)
            continue;
        const expr_id term =
            expr_make(m->pool, EXPR_MULTIPLY, expr_constant(m->pool, s->factor[k][i]),
                      expr_tap(m->pool, 0, d), EXPR_NONE);
        sum = accumulate(m->pool, sum, EXPR_ADD, term);
    }
    m->outputs[0].value = sum;
    return m;
}
