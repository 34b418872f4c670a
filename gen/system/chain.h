/* Consecutive stages as a chain: one launch makes each of them once, out of the results of those
   before. Takes: stages. Makes: a stage whose model has a chain, or the reason why there is none.
 */
#ifndef SG_GEN_SYSTEM_CHAIN_H
#define SG_GEN_SYSTEM_CHAIN_H

#include "gen/model/system.h"

/* As system_fuse: the stage leaves the same bytes as the stages alone. */
bool system_chain(job *, const system_model *, int first, int last, system_stage *out,
                  const char **why);

/* So many steps of all stages in one launch. */
bool system_chain_steps(job *, const system_model *, int steps, system_stage *out,
                        const char **why);

#endif
