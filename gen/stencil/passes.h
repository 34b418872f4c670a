/* Passes: a separable filter as several kernels, one an axis, with grids between them.
   Takes: a convolution's facts and a schedule. Makes: a plan of plans. */
#ifndef SG_GEN_STENCIL_PASSES_H
#define SG_GEN_STENCIL_PASSES_H

#include "gen/model/model.h"
#include "gen/stencil/plan.h"

typedef struct passes {
    const plan_facts *whole;
    const separable *separable;
    const plan_facts *facts[AXES]; /* of each pass */
} passes;

passes *passes_new(job *, const plan_facts *whole);

/* As plan_fit and plan_cost together, for a schedule whose `passes` is more than 1: each pass is
   planned by it. */
plan *passes_fit(job *, const passes *, const schedule *, const gpu *, const int64_t size[AXES],
                 const char **refusal);

#endif
