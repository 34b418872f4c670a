/* Data with which a check reaches both sides of every condition, as far as expressions tell.
   Takes: expressions and parameters. Makes: for each array what to draw its numbers from: what its
   field holds, and else, beside random numbers, those that bring operands of a comparison together,
   the numbers next to them, and a range that spans them. */
#ifndef SG_GEN_LISTS_REACH_H
#define SG_GEN_LISTS_REACH_H

#include "base/sample.h"
#include "gen/lists/pattern.h"

/* For each array of a model; `parameters`, one each, are rounded to the dtype. */
void reach_arrays(job *, const model *, const double *parameters, sample *out);

/* For the operands a and b of a map, or of an operator where there is no map: elements of the list,
   so that the two are alike there. A function is −1 where there is none. What the operator compares
   is sought behind the map. */
void reach_operands(job *, const pattern *, int op, int map, const double *parameters,
                    sample out[2]);

#endif
