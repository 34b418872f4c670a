/* Factors of filters, as separable.h says. */
#include "gen/model/separable.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

/* The weights along each axis through the largest: those of the first as they are, the others over
   the largest. */
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
                 .fields = {{from, USE_IN, 1}, {to, USE_OUT, 1}},
                 .field_count = 2,
                 .arrays = {{.field = 0, .used = true}},
                 .array_count = 1,
                 .outputs = {{1, EXPR_NONE}},
                 .output_count = 1,
                 .pool = expr_pool_new(j)};
    for (int a = 0; a < AXES; a++)
        for (int side = 0; side < 2; side++)
            m->sides[a][side] = k == 0 ? whole->sides[a][side] : (model_side){BOUNDARY_FIXED, 0};
    m->low[axis] = m->arrays[0].low[axis] = whole->low[axis];
    m->high[axis] = m->arrays[0].high[axis] = whole->high[axis];
    m->radius = m->low[axis] > m->high[axis] ? m->low[axis] : m->high[axis];
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
        sum = sum == EXPR_NONE ? term : expr_make(m->pool, EXPR_ADD, sum, term, EXPR_NONE);
    }
    m->outputs[0].value = sum;
    return m;
}
