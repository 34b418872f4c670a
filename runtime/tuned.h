/* What tuning has found for a build. Takes: a build's request, read. Makes: the plan to use, and
   how it was found. */
#ifndef SG_RUNTIME_TUNED_H
#define SG_RUNTIME_TUNED_H

#include "runtime/build.h"

/* The fastest measured plan of the same place, else of the nearest, that the constraints of the
   spec and the caller allow; NULL where there is none. *found is "measured at this size" or
   "measured at 512x512x512, the nearest". Nothing about the results is a reason to fail; without a
   database this costs a look at the file system. All in the job. */
const char *tuned_plan(job *, const build_request *, const char **found);

/* How a plan was found that was not: "given by the schedule", "by the model". */
const char *untuned_plan(job *, const build_request *, const char *plan);

#endif
