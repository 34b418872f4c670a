/* Stencils and convolutions as a family. Takes: a subject of theirs. Makes: what the table of
   families asks for. */
#ifndef SG_GEN_STENCIL_STENCIL_H
#define SG_GEN_STENCIL_STENCIL_H

#include "gen/model/family.h"

/* The spec's constraints of a stencil, and then those of a line (NULL: none). */
schedule *stencil_wanted(job *, const subject *, const char *line);
family_build *stencil_build(job *, const subject *, const family_request *);
void stencil_check_schedule(job *, const family *, const char *line);
void stencil_print_wanted(job *, const subject *, const char *line, text *);
const char *stencil_plan(job *, const subject *, const family_request *);
void stencil_explain(job *, const subject *, const family_request *, family_explanation *);
const model *stencil_model(const subject *);
int stencil_dims(const subject *);
void stencil_print(const subject *, model_detail, text *);

#endif
