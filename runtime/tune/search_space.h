/* A space as a search takes it. Takes: gen/space/space.h. Makes: what runtime/tune/search.h asks
 * for. */
#ifndef SG_RUNTIME_TUNE_SEARCH_SPACE_H
#define SG_RUNTIME_TUNE_SEARCH_SPACE_H

#include "runtime/tune/search.h"

struct space;

/* In the job's memory; the usual plan is the first to be measured. */
search_candidates *search_candidates_of(job *, const struct space *);

#endif
