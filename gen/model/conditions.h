/* The conditions of expressions, and how often each came out true and false in a check.
   Takes: roots in a pool, or counts. Makes: the conditions that decide what is computed. */
#ifndef SG_GEN_MODEL_CONDITIONS_H
#define SG_GEN_MODEL_CONDITIONS_H

#include "gen/model/model.h"

/* One condition and its evaluations in a check. Where rounding leaves open how a kernel decides,
   an evaluation is neither. */
typedef struct condition {
    expr_id node;
    int64_t yes, no, of;
} condition;

static inline bool condition_is_comparison(expr_op op) {
    return op >= EXPR_LT && op <= EXPR_NE;
}

/* Every comparison below the roots, and every `all` and `any` that stands in no other: in the
   pool's order, counts 0. Returns how many. */
int conditions_find(job *, const expr_pool *, const expr_id *roots, int count, condition **out);

/* A side of a condition that less than 1 % of the evaluations took. */
typedef struct condition_side {
    const char *condition; /* in the notation of specs */
    bool truth;            /* the side where it is true */
    int64_t taken, of;
} condition_side;

/* A list of sides, in a job. */
typedef struct condition_sides {
    condition_side *list;
    int count;
} condition_sides;

/* Adds those sides of the conditions of a model. */
void conditions_judge(job *, const model *, const condition *, int count, condition_sides *);

/* A copy that lives in the job. */
condition_sides conditions_copy(job *, const condition_sides *);

#endif
