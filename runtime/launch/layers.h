/* Layers: grids of temporary memory between the launches of a program of grids (base/program.h).
   Takes: checked arguments. Makes: what each launch sees as its grid. Nothing here allocates. */
#ifndef SG_RUNTIME_LAUNCH_LAYERS_H
#define SG_RUNTIME_LAUNCH_LAYERS_H

#include "runtime/launch/launch.h"

/* What the layers take for the box of `out`, in out->temporaries, whose addresses are not set;
   their sum is *bytes. Refuses as context_refuse does. */
bool layers_measure(job *, const program *, launch *out, size_t *bytes);

/* The bytes for an update of a whole grid. */
size_t layers_bytes(job *, const program *, const int64_t size[3]);

/* A launch's grid and box, in grid axes, and its arrays and then layers from the cell (0, 0, 0) on;
   those it does not touch have no data and strides 0. */
typedef struct layer_view {
    int64_t size[3], begin[3], end[3];
    int count;
    launch_grid grids[LAUNCH_ARRAYS + LAUNCH_TEMPORARIES];
} layer_view;
void layers_view(const program *, const launch *, int which, layer_view *out);

#endif
