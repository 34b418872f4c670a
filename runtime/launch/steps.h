/* Several steps of time. Takes: a launch whose arguments were checked as rotating. Makes: the
   launches of the program's ways that together make so many steps. Nothing here allocates. */
#ifndef SG_RUNTIME_LAUNCH_STEPS_H
#define SG_RUNTIME_LAUNCH_STEPS_H

#include "runtime/launch/launch.h"

/* Refuses, failing the job, what sg_run cannot make. */
void steps_allow(job *, const program *, int64_t count);

/* Makes them; failing the job where a launch fails. `final`: as of sg_run. The launch's grids are
   afterwards those of a further step. */
void steps_make(job *, const sg_kernel *, launch *, int64_t count, void *stream,
                int final[LAUNCH_ARRAYS]);

/* Whether the program can make many steps of a grid of this size in one launch, given memory for
   the exchange. */
bool steps_together(const sg_kernel *, const int64_t size[PROGRAM_AXES]);

/* The bytes of temporary memory for an update of a whole grid, with that for the exchange where it
   is of use. */
size_t steps_bytes(job *, const sg_kernel *, const int64_t size[PROGRAM_AXES]);

#endif
