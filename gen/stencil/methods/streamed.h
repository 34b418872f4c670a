/* What the files of the method streamed share. Only methods/streamed*.c include it. */
#ifndef SG_GEN_STENCIL_METHODS_STREAMED_H
#define SG_GEN_STENCIL_METHODS_STREAMED_H

#include "gen/stencil/search.h"

/* Sums of many planes: in 2D from 6 on. */
bool streamed_walks_long(const plan_facts *);

/* The index of the pack in tables of CALL_PACKS. */
int streamed_pack(const plan *);

/* Instructions of divisions, functions and choices of a point, where steps share what they compute.
 */
double streamed_calls_carried(const plan *);

/* Fills the estimate. */
void streamed_cost(plan *, const int64_t size[AXES]);

#endif
