/* The source: one self-contained CUDA file for a model and a plan.
   Takes: model, plan. Makes: the program, whose text is the plan.h of this plan and the template,
   laid into one file. The same model, plan and target give the same bytes. */
#ifndef SG_GEN_STENCIL_SOURCE_H
#define SG_GEN_STENCIL_SOURCE_H

#include "base/program.h"
#include "gen/stencil/plan.h"

program *source_make(job *, const model *, const plan *);

/* What the program's arrays and buffers take: "12 bytes a point in 3 arrays; 4 fewer where u.next
   has the memory of u.prev". */
const char *source_describe_memory(job *, const program *);
/* The same by a plan. */
const char *source_memory(job *, const model *, const plan *);

/* The generated plan.h alone, as a template would include it. */
const char *source_plan_header(job *, const model *, const plan *);

#endif
