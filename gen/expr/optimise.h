/* Fewer operations: sums are flattened, equal coefficients factored, constants rounded.
   Takes: expressions. Makes: expressions of the same value but for rounding, in the same pool. */
#ifndef SG_GEN_EXPR_OPTIMISE_H
#define SG_GEN_EXPR_OPTIMISE_H

#include "gen/expr/expr.h"

/* out[i] is the rewritten roots[i]. Coefficients are equal when they are after rounding to the
   dtype; those of opposite sign are factored too, c·a − c·b = c·(a − b). Whoever calls looks at
   pool->limit. */
void optimise(job *, expr_pool *, dtype, const expr_id *roots, int count, expr_id *out);

#endif
