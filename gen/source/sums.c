/* The products that a plane adds, as sums.h says. Takes: a linear model. Makes: statements. Taps of
   equal weight are added first, a row of x at a time, so that neighbouring points can share those
   rows; and what several sums gain alike is computed once, as is what they gain times a factor. */
#include "gen/source/emit.h"

#include "gen/expr/expr.h"
#include "gen/model/model.h"

#include <math.h>
#include <string.h>

/* ±weight·value; weight EXPR_NONE is 1. */
typedef struct gain {
    expr_id weight, value;
    bool negative;
} gain;

/* What one sum gains by a plane. */
typedef struct chain {
    gain *gains;
    int count;
    int same_as;        /* the first sum of this output that gains the same; its own index */
    const char *shared; /* the variable that holds the gain of several sums; NULL */
} chain;

typedef struct writer {
    job *job;
    const model *m;
    int axis, depth; /* walked; and planes that a point reaches */
    bool of_row;     /* the terms are those of one row */
    emit_product *products;
    int count;
} writer;

static expr_id add(const model *m, expr_id sum, bool negative, expr_id value) {
    return expr_make(m->pool, negative ? EXPR_SUBTRACT : EXPR_ADD, sum, value, EXPR_NONE);
}

/* The sign of a weight goes to its gain. */
static gain weigh(const model *m, expr_id weight) {
    const expr_node *n = expr_get(m->pool, weight);
    if (n->op == EXPR_NEGATE)
        return (gain){n->operand[0], EXPR_NONE, true};
    const bool negative = n->op == EXPR_CONSTANT && n->value < 0;
    const double value = negative ? -n->value : n->value;
    if (n->op != EXPR_CONSTANT)
        return (gain){weight, EXPR_NONE, false};
    return (gain){value == 1 ? EXPR_NONE : expr_constant(m->pool, value), EXPR_NONE, negative};
}

/* One term of the plane, without its offset along the walked axis. */
typedef struct member {
    gain sign; /* and weight; the value is the tap */
    int array, dy, dz;
    bool taken;
} member;

static bool same_row(const member *a, const member *b) {
    return a->array == b->array && a->dy == b->dy && a->dz == b->dz;
}

/* The sum of all members with the weight of the first that is not taken. They come row by row. */
static gain take_group(const model *m, member *members, int count, int first) {
    gain group = members[first].sign;
    group.value = EXPR_NONE;
    for (int i = first; i < count; i++) {
        const member *begin = &members[i];
        if (begin->taken || begin->sign.weight != group.weight)
            continue;
        expr_id row = EXPR_NONE;
        for (int k = i; k < count && same_row(&members[k], begin); k++)
            if (!members[k].taken && members[k].sign.weight == group.weight) {
                const bool negative = members[k].sign.negative != begin->sign.negative;
                row = k == i ? members[k].sign.value : add(m, row, negative, members[k].sign.value);
                members[k].taken = true;
            }
        group.value = group.value == EXPR_NONE
                          ? row
                          : add(m, group.value, begin->sign.negative != group.negative, row);
    }
    return group;
}

/* What the sum of the points that see the plane at offset `dz` of the walked axis gains. */
static chain chain_of(const writer *w, const linear_form *form, const expr_id *weights, int dz) {
    const model *m = w->m;
    const int axis = w->axis;
    member *members = job_array(w->job, (size_t)form->count, sizeof *members);
    int count = 0;
    for (int i = 0; i < form->count; i++) {
        const linear_term *term = &form->terms[i];
        if (term->d[axis] != dz)
            continue;
        int d[AXES];
        memcpy(d, term->d, sizeof d);
        d[axis] = 0; /* read from the plane itself */
        member *to = &members[count++];
        *to = (member){weigh(m, weights[i]), term->array, d[1], d[2], false};
        to->sign.value = expr_tap(m->pool, term->array, d);
    }
    chain c = {.gains = job_array(w->job, (size_t)count, sizeof *c.gains)};
    for (int i = 0; i < count; i++)
        if (!members[i].taken)
            c.gains[c.count++] = take_group(m, members, count, i);
    return c;
}

static bool same_gains(const chain *a, const chain *b) {
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->gains[i].weight != b->gains[i].weight || a->gains[i].value != b->gains[i].value ||
            a->gains[i].negative != b->gains[i].negative)
            return false;
    return true;
}

/* Sums that gain the same of several products. Of two products that two sums gain it saves one
   operation: the last sum, which is new, is that gain. */
static void share(job *j, chain *chains, int depth, int output) {
    for (int k = depth; k-- > 0;) {
        chains[k].same_as = k;
        for (int other = depth; --other > k;)
            if (chains[other].same_as == other && same_gains(&chains[k], &chains[other]))
                chains[k].same_as = other;
    }
    for (int k = 0; k < depth; k++) {
        chain *first = &chains[chains[k].same_as];
        int users = 0;
        for (int other = 0; other < depth; other++)
            users += chains[other].same_as == chains[k].same_as;
        const bool is_new = chains[k].same_as + 1 == depth;
        if (first->shared == NULL && users * first->count > first->count + users - is_new)
            first->shared = job_print(j, "gain_%d_%d", output, chains[k].same_as);
    }
}

static void write_gains(writer *w, const chain *c, const char *target, emit_op op) {
    for (int i = 0; i < c->count; i++)
        w->products[w->count++] = (emit_product){.target = target,
                                                 .op = i == 0 ? op : EMIT_ADD,
                                                 .negative = c->gains[i].negative,
                                                 .weight = c->gains[i].weight,
                                                 .value = c->gains[i].value};
}

static void write_chains(writer *w, const chain *chains, int output) {
    for (int k = 0; k < w->depth; k++)
        if (chains[k].shared != NULL)
            write_gains(w, &chains[k], chains[k].shared, EMIT_DECLARE);
    for (int k = 0; k < w->depth; k++) {
        const char *target = job_print(w->job, "sum[%d][%d]", output, k);
        const char *shared = chains[chains[k].same_as].shared;
        /* The last one, which is new, gains by 0 too: so every product is a multiply-add of its
           own, where compilers would else compute it once for all sums that gain it and add it to
           each. */
        if (shared == NULL)
            write_gains(w, &chains[k], target, EMIT_ADD);
        else
            w->products[w->count++] = (emit_product){
                .target = target, .op = EMIT_ADD, .weight = EXPR_NONE, .named = shared};
    }
}

const expr_id *sums_weights(job *j, const model *m, const linear_form *form) {
    expr_id *before = job_array(j, (size_t)form->count, sizeof *before);
    expr_id *after = job_array(j, (size_t)form->count, sizeof *after);
    for (int i = 0; i < form->count; i++)
        before[i] = form->terms[i].weight;
    optimise(j, m->pool, m->dtype, before, form->count, after);
    return after;
}

/* The factors of the walked axis, where a filter has them, from −low to high; NULL: none that
 * differ. */
static const double *factors_of(const writer *w) {
    const separable *s = w->m->separable;
    if (w->of_row || s == NULL || s->count < 2 || s->axes[s->count - 1] != w->axis)
        return NULL;
    const double *factors = s->factor[s->count - 1];
    for (int i = 0; i < w->depth; i++)
        if (fabs(factors[i]) != 1)
            return factors;
    return NULL;
}

/* Every plane has the weights of the one whose factor is 1 times its own: the sum by those is made
   once. It is what the passes but the last would leave, and rounded like that. */
static void write_factors(writer *w, int output, const linear_form *form, const expr_id *weights,
                          const double *factors) {
    int largest = 0;
    while (fabs(factors[largest]) != 1)
        largest++;
    const chain all = chain_of(w, form, weights, largest - w->m->low[w->axis]);
    const char *name = job_print(w->job, "gain_%d", output);
    write_gains(w, &all, name, EMIT_DECLARE);
    for (int k = 0; k < w->depth; k++) {
        const double factor = factors[w->depth - 1 - k] * factors[largest];
        if (factor != 0)
            w->products[w->count++] = (emit_product){
                .target = job_print(w->job, "sum[%d][%d]", output, k),
                .op = EMIT_ADD,
                .negative = factor < 0,
                .weight = fabs(factor) == 1 ? EXPR_NONE : expr_constant(w->m->pool, fabs(factor)),
                .named = name};
    }
}

static void write_output(writer *w, int output, const linear_form *form) {
    const expr_id *weights = sums_weights(w->job, w->m, form);
    const double *factors = factors_of(w);
    if (factors != NULL) {
        write_factors(w, output, form, weights, factors);
        return;
    }
    chain *chains = job_array(w->job, (size_t)w->depth, sizeof *chains);
    for (int k = 0; k < w->depth; k++)
        chains[k] = chain_of(w, form, weights, w->m->high[w->axis] - k);
    share(w->job, chains, w->depth, output);
    write_chains(w, chains, output);
}

/* The terms of the taps in the row `dy` of the point's plane and of the others. */
static void keep_row(linear_form *form, int dy) {
    int kept = 0;
    for (int i = 0; i < form->count; i++)
        if (form->terms[i].d[1] == dy)
            form->terms[kept++] = form->terms[i];
    form->count = kept;
}

int sums_products(job *j, const model *m, const int *row, emit_product **out) {
    const int axis = m->dims - 1;
    writer w = {.job = j,
                .m = m,
                .axis = axis,
                .depth = m->low[axis] + 1 + m->high[axis],
                .of_row = row != NULL};
    linear_form forms[MAX_FIELDS];
    int most = 0;
    for (int o = 0; o < m->output_count; o++) {
        model_linear(m, o, &forms[o]);
        if (row != NULL)
            keep_row(&forms[o], *row);
        most += forms[o].count + w.depth;
    }
    w.products = job_array(j, (size_t)most, sizeof *w.products);
    for (int o = 0; o < m->output_count; o++)
        write_output(&w, o, &forms[o]);
    *out = w.products;
    return w.count;
}

double sums_operations(job *j, const model *m) {
    emit_product *products;
    const int count = sums_products(j, m, NULL, &products);
    expr_id *values = job_array(j, (size_t)count, sizeof *values);
    int value_count = 0, statements = 0;
    for (int i = 0; i < count; i++) {
        const emit_product *p = &products[i];
        statements += p->op == EMIT_ADD || p->weight != EXPR_NONE; /* else a new name */
        if (p->named == NULL)
            values[value_count++] = p->value;
    }
    return statements + expr_count_shared(m->pool, j, values, value_count).additions;
}
