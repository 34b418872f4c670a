/* What the files of the method streamed share. Only methods/streamed*.c include it. */
#ifndef SG_GEN_STENCIL_METHODS_STREAMED_H
#define SG_GEN_STENCIL_METHODS_STREAMED_H

#include "gen/stencil/search.h"

/* Sums of many planes: in 2D from 6 on. */
bool streamed_walks_long(const plan_facts *);

/* Blocks whose walks take turns (plan_ordered_wave); 0: in the order of their numbers. */
int streamed_ordered_wave(const plan *);

/* Fills the estimate. */
void streamed_cost(plan *, const int64_t size[AXES]);

#endif
