/* The plans files of a context: the library's own and those that SG_PLANS names. Takes: a context.
   Makes: their lines, read once. Needs: files, and what the families call a plan. */
#ifndef SG_RUNTIME_API_PLANS_H
#define SG_RUNTIME_API_PLANS_H

#include "runtime/api/build.h"

struct plans;

/* All lines, those of SG_PLANS first. As long as the context. The first call reads the files, and
   tells the log of what it had to skip. */
const struct plans *plans_of_context(job *, sg_context *);

/* The GPU of a request, with those plans that were measured on such a one. */
const struct gpu *plans_attach(job *, sg_context *, const struct gpu *);

/* The fastest line of this very spec that its constraints allow, at this size or the nearest, on
   the request's GPU, or on the context's own processor; NULL where there is none. *found as `found`
   of sg_kernel_info. All in the job. */
const char *plans_find(job *, const build_request *, const char **found);

#endif
