/* What the edges of a grid cost blocks that make a tile each (gen/stencil/block.c). Takes: a plan,
   a size. Makes: terms of its cost. */
#ifndef SG_GEN_STENCIL_EDGES_H
#define SG_GEN_STENCIL_EDGES_H

#include "gen/stencil/method.h"

/* How many times as long the whole grid takes because some blocks lie near an edge. */
double edges_longer(const plan *, const int64_t size[AXES]);

/* Seconds of blocks that make points at an edge one after the other, given the waves of blocks. */
double edges_seconds(const plan *, const int64_t size[AXES], double waves);

/* Instructions by which warps at the edges make a point longer, on average. */
double edges_instructions(const plan *, const int64_t size[AXES]);

/* Seconds that a thread at an edge takes, however few there are. */
double edges_alone(const plan *);

/* The share of a short row's points that are made, where threads read global memory. */
double edges_made_share(const plan *, const int64_t size[AXES]);

#endif
