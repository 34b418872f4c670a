/* What the files of the method bulk share. Only methods/bulk*.c include it. */
#ifndef SG_GEN_STENCIL_METHODS_BULK_H
#define SG_GEN_STENCIL_METHODS_BULK_H

#include "gen/stencil/plan.h"

/* A block's turn of the walk. */
typedef struct bulk_step {
    int readers, rows;      /* threads that make points; rows of each */
    int packs, conversions; /* packs that a thread reads; numbers that it converts */
    int missing;            /* registers that a thread needs and has not */
    int64_t bytes;          /* of the copies */
    double again;           /* planes that are read for each that is made */
    double waves;           /* of blocks */
} bulk_step;

/* Fills the estimate of cells of 16 bits in 3D, but for spares and starts. */
void bulk_narrow_cost(plan *, const bulk_step *, const int64_t size[AXES]);

#endif
