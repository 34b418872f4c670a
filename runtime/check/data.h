/* What trials of one sweep have in common, so that the host does not make it anew for each of
   hundreds: of lists the drawn arguments, and outputs that were exactly right for them; of grids
   what the reference makes of several steps.
   Takes: kernels of one spec. Makes: calls, verdicts on outputs that are the same bit for bit, and
   grids. Not for spmv, where a plan's format decides what is drawn. */
#ifndef SG_RUNTIME_CHECK_DATA_H
#define SG_RUNTIME_CHECK_DATA_H

#include "gen/model/family.h"
#include "runtime/check/steps.h"
#include "runtime/files/digest.h"

typedef struct check_data check_data;

/* In the job; its own memory is the allocator's, until check_data_close (NULL is allowed). */
check_data *check_data_new(job *);
void check_data_close(check_data *);

/* Of data for checks; the same for a whole sweep, another one each time. */
uint64_t check_data_seed(const check_data *);

/* As the family draws random data. Arrays and sizes are kept, and not to be changed; they are valid
   until two others were drawn. */
void check_data_draw(check_data *, job *, const sg_kernel *, const int64_t size[3],
                     const double *given, uint64_t seed, family_call *out);

/* Whether the written arrays `after` a launch on the call drawn last are those of a launch that was
   right without any error: then so are these, whatever error the plan may make, and *out is that
   verdict. */
bool check_data_known(const check_data *, const program *, const family_call *after,
                      family_verdict *out);

/* Remembers a verdict of that kind; others are of no use. */
void check_data_learn(check_data *, const program *, const family_call *after,
                      const family_verdict *);

/* ---- grids --------------------------------------------------------------------------------- */

/* What the steps of a check depend on beside the arrays that they read. */
digest check_data_march(job *, const sg_kernel *, const int64_t size[3], int64_t steps,
                        uint64_t seed, const double *parameters);

/* Sets those of the model's arrays that steps make; false where these steps are not known. They are
   valid until a few others were kept. */
bool check_data_marched(const check_data *, const digest *, const model *, reference_array *arrays);

/* Takes over the grids of steps that were made, which `arrays` refer to. */
void check_data_keep_march(check_data *, const digest *, const model *, check_steps *,
                           const reference_array *arrays);

#endif
