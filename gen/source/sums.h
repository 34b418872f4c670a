/* Partial sums: what a plane of the last axis (in 2D: a row of y) adds to the points around it, one
   product a statement, so that each compiles to one multiply-add.
   Takes: a linear model. Makes: the statements, for methods that walk along that axis. */
#ifndef SG_GEN_SOURCE_SUMS_H
#define SG_GEN_SOURCE_SUMS_H

#include "gen/source/emit.h"

/* The statements of add_plane in *out; returns how many. sum[o][k] belongs to output o of the point
   k − high planes away, and the last of an output's sums is new. Whoever calls looks at
   pool->limit. */
int sums_products(job *, const model *, emit_product **out);

/* How many operations they are, for a point and all its planes; a multiply-add is one. */
double sums_operations(job *, const model *);

#endif
