/* Scaled sums. Takes: a model. Makes: its sum, and what is made of the sum, as models. */
#include "gen/model/model.h"

#include <string.h>

typedef struct marks {
    bool varies; /* from point to point */
    bool far;    /* a neighbour is below it */
    bool linear; /* by weights that are the same for every point */
} marks;

static bool is_neighbour(const expr_node *n) {
    return n->op == EXPR_TAP && (n->d[0] != 0 || n->d[1] != 0 || n->d[2] != 0);
}

static bool is_linear(const expr_node *n, const marks *a, const marks *b) {
    switch (n->op) {
    case EXPR_TAP:
        return true;
    case EXPR_ADD:
    case EXPR_SUBTRACT:
        return a->linear && b->linear;
    case EXPR_NEGATE:
        return a->linear;
    case EXPR_MULTIPLY:
        return a->linear && b->linear && !(a->varies && b->varies);
    case EXPR_DIVIDE:
        return a->linear && !b->varies;
    default:
        return false;
    }
}

static marks *mark(job *j, const expr_pool *pool, expr_id root) {
    static const marks none = {.linear = true};
    marks *all = job_array(j, (size_t)root + 1, sizeof *all);
    for (expr_id id = 0; id <= root; id++) {
        const expr_node *n = expr_get(pool, id);
        const marks *of[3] = {&none, &none, &none};
        marks out = {.varies = expr_varies(n), .far = is_neighbour(n)};
        for (int i = 0; i < expr_words[n->op].operands; i++) {
            of[i] = &all[n->operand[i]];
            out.varies |= of[i]->varies;
            out.far |= of[i]->far;
        }
        out.linear = !out.varies || is_linear(n, of[0], of[1]);
        all[id] = out;
    }
    return all;
}

/* The sum: down from the root, the first linear node that all neighbours are below, whichever way
   leads to them. EXPR_NONE where there is none. Operands come before users, so a node is met when
   all that use it have been. */
static expr_id find_sum(job *j, const expr_pool *pool, const marks *all, expr_id root) {
    bool *met = job_array(j, (size_t)root + 1, sizeof *met);
    int open = 1; /* nodes met with neighbours below, whose operands have not been met */
    met[root] = true;
    for (expr_id id = root; id >= 0; id--) {
        const expr_node *n = expr_get(pool, id);
        if (!met[id])
            continue;
        if (open == 1 && id != root && all[id].linear)
            return id;
        if (!all[id].far || expr_words[n->op].operands == 0)
            return EXPR_NONE;
        open--;
        for (int i = 0; i < expr_words[n->op].operands; i++)
            if (all[n->operand[i]].far && !met[n->operand[i]]) {
                met[n->operand[i]] = true;
                open++;
            }
    }
    return EXPR_NONE;
}

/* The root with `leaf` in the place of the sum. */
static expr_id put_leaf(job *j, expr_pool *pool, expr_id root, expr_id sum, expr_id leaf) {
    expr_id *to = job_array(j, (size_t)root + 1, sizeof *to);
    for (expr_id id = 0; id <= root; id++)
        to[id] = id == sum ? leaf : EXPR_NONE;
    return expr_replaced(pool, root, to);
}

static model *with_output(job *j, const model *m, expr_id value) {
    model *out = job_alloc(j, sizeof *out);
    *out = *m;
    out->outputs[0].value = value;
    return out;
}

/* Which arrays an expression reads. */
static void note_arrays(job *j, const model *m, expr_id root, bool read[2 * MAX_FIELDS]) {
    const bool *live = expr_live(m->pool, j, &root, 1);
    for (expr_id id = 0; id <= root; id++) {
        const expr_node *n = expr_get(m->pool, id);
        if (live[id] && n->op == EXPR_TAP && n->index < m->array_count)
            read[n->index] = true;
    }
}

static bool has_neighbours(const model *m, int array) {
    bool some = false;
    for (int axis = 0; axis < m->dims; axis++)
        some |= m->arrays[array].low[axis] + m->arrays[array].high[axis] > 0;
    return some;
}

static expr_id plus(expr_pool *pool, expr_id sum, expr_id term) {
    return sum == EXPR_NONE ? term : expr_make(pool, EXPR_ADD, sum, term, EXPR_NONE);
}

/* Of a linear update: the terms of arrays that are read next to the point are the sum, and the
   others are added to it, where there are both. The values of what is written, which a boundary may
   keep, are in the sum, too. */
static bool split_linear(const model *m, const linear_form *form, expr_id leaf, expr_id *sum,
                         expr_id *point) {
    expr_pool *pool = m->pool;
    const int kept = model_array_of(m, m->outputs[0].field, false);
    *sum = EXPR_NONE;
    *point = form->rest;
    for (int i = 0; i < form->count; i++) {
        const linear_term *t = &form->terms[i];
        expr_id *to = t->array == kept || has_neighbours(m, t->array) ? sum : point;
        *to = plus(
            pool, *to,
            expr_make(pool, EXPR_MULTIPLY, t->weight, expr_tap(pool, t->array, t->d), EXPR_NONE));
    }
    const bool both = *sum != EXPR_NONE && *point != form->rest;
    *point = plus(pool, *point, leaf);
    return both;
}

/* Of any other update: the sum, and the rest of the expression over it. */
static bool split_at_sum(job *j, const model *m, expr_id leaf, expr_id *sum, expr_id *point) {
    const expr_id root = m->outputs[0].value;
    const marks *all = mark(j, m->pool, root);
    linear_form form;
    *sum = find_sum(j, m->pool, all, root);
    if (*sum == EXPR_NONE || !model_linear(with_output(j, m, *sum), 0, &form))
        return false;
    if (form.rest != EXPR_NONE) /* the sum is what taps give */
        leaf = plus(m->pool, leaf, form.rest);
    *point = put_leaf(j, m->pool, root, *sum, leaf);
    return true;
}

scaled_sum *scaled_sum_new(job *j, const model *m) {
    static const int here[AXES] = {0};
    if (m->output_count != 1 || m->chain != NULL || m->arranged ||
        m->array_count == 2 * MAX_FIELDS || m->field_count == MAX_FIELDS)
        return NULL;
    const expr_id leaf = expr_tap(m->pool, m->array_count, here);
    scaled_sum *s = job_alloc(j, sizeof *s);
    linear_form form;
    expr_id sum, point;
    if (model_linear(m, 0, &form) ? !split_linear(m, &form, leaf, &sum, &point)
                                  : !split_at_sum(j, m, leaf, &sum, &point))
        return NULL;
    s->sum = with_output(j, m, sum);
    s->point = with_output(j, m, point);
    note_arrays(j, m, sum, s->in_sum);
    note_arrays(j, m, point, s->at_point);
    s->point->fields[m->field_count] = (model_field){.name = "sum", .use = USE_IN, .levels = 1};
    s->point->arrays[m->array_count] = (model_array){.field = m->field_count, .used = true};
    s->point->field_count++;
    s->point->array_count++;
    return s;
}
