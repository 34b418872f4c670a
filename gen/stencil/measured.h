/* Rates that kernels were measured at, which the planner's written model is corrected by: a model
   knows how a kernel's time changes with the size and the walk, but not what the compiler makes of
   one more point a lane. Takes: the facts of a model and a GPU,
   whose plans have the rates. Makes: factors for plans. */
#ifndef SG_GEN_STENCIL_MEASURED_H
#define SG_GEN_STENCIL_MEASURED_H

#include "gen/stencil/plan.h"

/* The class of plans (gen/model/plans.h) that a stencil is of: dimensions, points and radius
   together tell stars from boxes. NULL where rates say nothing of it, because it has several fields
   or is not linear. */
const char *plan_measured_class(job *, const plan_facts *);

/* The GPU's rates of a class, and how the written model takes each. */
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

/* The name of the board that they were measured on; NULL where there are none. */
const char *plan_measured_board(const plan_measured *);

#endif
