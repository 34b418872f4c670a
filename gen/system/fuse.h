/* Consecutive stages as one. Takes: stages. Makes: a stage that leaves the same bytes, or the
   reason why there is none. */
#ifndef SG_GEN_SYSTEM_FUSE_H
#define SG_GEN_SYSTEM_FUSE_H

#include "gen/model/system.h"

/* Stages first … last in one launch. What a stage reads of another one's results is computed anew
   in its place, by the same operations, so every cell has the bits that the stages alone would
   leave. A scratch field that no later stage reads is not stored. False, and *why as the end of a
   sentence, where that cannot be shown. Planning the stages adds nodes to their pools. */
bool system_fuse(job *, const system_model *, int first, int last, system_stage *out,
                 const char **why);

#endif
