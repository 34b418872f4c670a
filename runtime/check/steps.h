/* Checks of several steps. Takes: a check's arrays. Makes: what the reference says that the last of
   the steps reads; default sizes that a host can follow. */
#ifndef SG_RUNTIME_CHECK_STEPS_H
#define SG_RUNTIME_CHECK_STEPS_H

#include "gen/reference/reference.h"
#include "runtime/check/guard.h"

typedef struct check_steps {
    reference_steps march;
    allocator memory;
    void *grids;
    size_t bytes;
    void **scratch; /* one for each worker */
} check_steps;

/* How many steps a check of a kernel makes, where `wanted` (0: one launch) were asked for. */
int64_t check_steps_count(job *, const sg_kernel *, int64_t wanted);

/* Makes a size that nobody asked for small enough that all cells can be followed over several
   steps, where the kernel can fuse them on a grid so small. */
void check_steps_size(const sg_kernel *, int64_t steps, int64_t size[3], int64_t *points);

/* Launches: as sg_launch where `wanted` is 0, else as sg_run; brings the results to the host. */
void check_steps_launch(job *, guarded *, const double *parameters, int64_t wanted);

/* Makes so many steps of the whole grid by the reference; `arrays`, of the model, become what the
   next step reads, in memory that lives until check_steps_close, which is called if the job fails.
 */
void check_steps_march(job *, check_steps *, const guarded *, const reference *,
                       reference_array *arrays, int64_t steps);
void check_steps_close(void *check_steps);

#endif
