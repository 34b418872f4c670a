/* Launches of programs of lists, without allocating anything.
   Takes: a caller's arguments. Makes: a launch whose sizes, arrays, temporary memory and blocks are
   right, and its fills and kernels in order. */
#ifndef SG_RUNTIME_LAUNCH_LISTS_H
#define SG_RUNTIME_LAUNCH_LISTS_H

#include "runtime/launch/launch.h"

/* Checks all but the parameters. Sets `empty` where no launch has a block. */
bool lists_check(job *, const program *, const sg_arguments *, launch *out);

/* Looks at the extents alone: finds the sizes and what each temporary takes, whose sum is *bytes;
   their addresses are not set. Nothing is needed where nothing is launched. */
bool lists_measure(job *, const program *, const sg_grid *grids, launch *out, size_t *bytes);

fault lists_send(const sg_kernel *, const launch *, void *stream, int *code);

/* The extent of an array along an axis, and the elements of all axes: those of a call whose sizes
   passed lists_check. Below 0 counts as 0. */
int64_t lists_extent(const program_extent *, const int64_t *sizes);
int64_t lists_elements(const program_array *, const int64_t *sizes);

#endif
