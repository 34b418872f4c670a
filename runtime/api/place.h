/* What a build asks tuning results for, and tuning keeps them by. Takes: a build's request, read.
   Makes: a place of runtime/store/results.h. */
#ifndef SG_RUNTIME_API_PLACE_H
#define SG_RUNTIME_API_PLACE_H

#include "runtime/api/build.h"
#include "runtime/store/results.h"

/* False where there is none: the context has no device, or the request is for the architecture of
   another one. All in the job. Looks at every entry of a matrix, as choosing a format does. */
bool results_place_of(job *, const build_request *, result_place *out);

/* The same but for the device, for a request of any architecture: its `device` is not set. */
void results_place_of_spec(job *, const build_request *, result_place *out);

#endif
