/* What the methods for processors share: blocks of one thread, whose rows become vectors. */
#ifndef SG_GEN_STENCIL_METHODS_ROWS_H
#define SG_GEN_STENCIL_METHODS_ROWS_H

#include "gen/stencil/method.h"

/* Instructions of a vector that a core begins in a cycle, as such loops have them. */
extern const double rows_rate;

/* Points that are made between two stores: whole lines of memory. */
int rows_run(const plan *);

/* A block of one thread. */
void rows_lay_thread(plan *);

/* Instructions of a vector of points. */
double rows_instructions(const plan *);

/* On a GPU a thread waits for its loads one after the other. */
void rows_cost_on_gpu(plan *, const int64_t size[AXES]);

#endif
