/* Plans that were found elsewhere, such as in tuning results. Takes: a subject, a request, a plan's
   line. Makes: whether it will do. Needs neither a GPU nor a compiler. */
#ifndef SG_GEN_SPACE_ACCEPT_H
#define SG_GEN_SPACE_ACCEPT_H

#include "gen/model/family.h"

/* Whether a build of the request under this schedule makes exactly this plan, and nothing that the
   spec's schedule or the request's asks for is otherwise in it. Any text may be asked about. Fails
   for memory alone. */
bool plan_accepted(job *, const subject *, const family_request *, const char *plan);

/* Whether the spec's schedule and the request's leave nothing of this plan open. */
bool plan_given(job *, const subject *, const family_request *, const char *plan);

#endif
