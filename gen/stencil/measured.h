/* Rates that kernels were measured at, which the planner's written model is corrected by: a model
   knows how a kernel's time changes with the size and the walk, but not what the compiler makes of
   one more point a lane. Takes: the facts of a model and a target. Makes: factors for plans. */
#ifndef SG_GEN_STENCIL_MEASURED_H
#define SG_GEN_STENCIL_MEASURED_H

#include "gen/stencil/plan.h"

/* One measurement, by bench/stencils with a fixed boundary; bench/measured.awk writes the table. */
typedef struct measured_rate {
    const char *arch;
    int dims, points, radius; /* of the shape: together they tell stars from boxes */
    dtype dtype;
    const char *schedule; /* complete */
    int64_t size[AXES];
    double rate; /* updates of a point a second, 10^9 */
} measured_rate;
extern const measured_rate measured_rates[];
extern const int measured_rate_count;

/* Those of them that are of a shape, and how the written model takes each. */
typedef struct plan_measured plan_measured;
plan_measured *plan_measured_new(job *, const plan_facts *, const gpu *);

/* How many times as long as the model says a plan takes: as many as the measurement of the same
   schedule whose size is nearest, and the number of parts that blocks cut the walked axis into, by
   the logarithms of their ratios; and somewhat more where they are not the very same, and with
   another number of parts at least as many as that schedule on average. A plan that
   was not measured is taken to be as far off as those of its method and of the nearest size are on
   average, and more, so that it is not chosen for an error of the model; where none of its method
   was measured, 1. */
double plan_measured_factor(const plan_measured *, const plan *, const int64_t size[AXES]);

int plan_measured_count(const plan_measured *);

#endif
