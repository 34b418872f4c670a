/* What tuning has found for a build. Takes: a build's request, read. Makes: the plan to use, and
   how it was found. */
#ifndef SG_RUNTIME_API_TUNED_H
#define SG_RUNTIME_API_TUNED_H

#include "runtime/api/build.h"

struct family_build;

/* The fastest measured plan of the same place, else of the nearest, that the constraints of the
   spec and the caller allow: of the tuning results, else of the plans files; NULL where there is
   none. *found is "measured at this size", "measured at 512x512x512, the nearest", and of
   plans files ", by the plans for the H100" besides; where there is none, what should be said of
   that, "results of stencilgen 0.0.9 are not used", or NULL. Nothing about the results is a reason
   to fail; without a database this costs a look at the file system. All in the job. */
const char *tuned_plan(job *, const build_request *, const char **found);

/* How a plan was found that was not: "given by the schedule", "by the plans for the H100" where
   what was measured of its class had a say, "by the model", and what tuned_plan said (NULL:
   nothing). */
const char *untuned_plan(job *, const build_request *, const struct family_build *,
                         const char *note);

#endif
