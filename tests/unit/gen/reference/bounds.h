/* Float evaluations to hold against the reference's bounds.
   Takes: models with one output along x. Makes: the reference's row; the same in float, operation
   by operation, functions as inaccurate as CUDA's may be. */
#ifndef SG_TESTS_UNIT_BOUNDS_H
#define SG_TESTS_UNIT_BOUNDS_H

#include "gen/reference/reference.h"
#include "tests/unit/gen/model/models.h"

#include <math.h>
#include <stdlib.h>

enum { REACH = 8 };

typedef struct bounded {
    double value, bound;
} bounded;

/* One row, without boundaries: cell i of each array is at data[i + REACH]. */
static inline void run(job *j, const model *m, const double *parameters, const void *const *data,
                       int count, bounded *out) {
    const reference *r = reference_new(j, m, parameters);
    reference_array arrays[2 * MAX_FIELDS];
    for (int i = 0; i < m->array_count; i++)
        arrays[i] = (reference_array){data[i], {1, 0, 0}, NULL};
    double *values = job_array(j, (size_t)count, sizeof *values);
    double *bounds = job_array(j, (size_t)count, sizeof *bounds);
    void *scratch = calloc(1, reference_scratch(r, count));
    reference_row(r, arrays, (const int64_t[]){count + 2 * REACH, 1, 1}, NULL, REACH, 0, 0, count,
                  scratch, values, bounds, NULL);
    free(scratch);
    for (int i = 0; i < count; i++)
        out[i] = (bounded){values[i], bounds[i]};
}

/* Whether a result of the dtype is within the bound, NaN being right where NaN is expected. */
static inline bool within(const bounded *b, double result) {
    return b->bound == INFINITY || (isnan(b->value) && isnan(result)) || b->value == result ||
           fabs(b->value - result) <= b->bound;
}

/* The errors in ulps that CUDA documents for its functions; other operations round once. */
static inline int allowed_ulps(expr_op op) {
    switch (op) {
    case EXPR_EXP:
    case EXPR_SIN:
    case EXPR_COS:
    case EXPR_TANH:
        return 2;
    case EXPR_LOG:
        return 1;
    case EXPR_POW:
        return 8;
    default:
        return 0;
    }
}

/* Each operation on floats, rounded to float; functions as inaccurate as they may be. */
static inline float evaluate_float(const model *m, expr_id root, const float *at, float parameter,
                                   float *value, uint64_t *state) {
    for (expr_id id = 0; id <= root; id++) {
        const expr_node *n = expr_get(m->pool, id);
        double operand[3] = {0, 0, 0};
        for (int k = 0; k < expr_words[n->op].operands; k++)
            operand[k] = (double)value[n->operand[k]];
        value[id] = n->op == EXPR_CONSTANT    ? (float)n->value
                    : n->op == EXPR_PARAMETER ? parameter
                    : n->op == EXPR_TAP
                        ? at[n->d[0]]
                        : (float)expr_evaluate(n->op, operand[0], operand[1], operand[2]);
        const float away = random_below(state, 2) ? INFINITY : -INFINITY;
        for (int k = allowed_ulps(n->op); k > 0 && isfinite(value[id]) && value[id] != 0; k--)
            value[id] = nextafterf(value[id], away);
    }
    return value[root];
}

#endif
