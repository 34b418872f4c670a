/* What trials of one sweep of lists have in common, so that the host does not make it anew for each
   of hundreds: the drawn arguments, and outputs that were exactly right for them.
   Takes: kernels of one spec. Makes: calls, and verdicts on outputs that are the same bit for bit.
   Not for spmv, where a plan's format decides what is drawn. */
#ifndef SG_RUNTIME_CHECK_DATA_H
#define SG_RUNTIME_CHECK_DATA_H

#include "gen/family.h"
#include "runtime/kernel.h"

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

#endif
