/* What the two halves of the source writer share. */
#ifndef SG_GEN_SOURCE_INTERNAL_H
#define SG_GEN_SOURCE_INTERNAL_H

#include "gen/emit.h"
#include "gen/source.h"

/* Where the arguments hold an array of the model, and a field's new values. */
int source_read_grid(const model *, int array);
int source_write_grid(const model *, int field);

void source_write_plan(text *, const plan *, const program *);

/* Of a filter in passes: what all kernels share, and the rest of plan.h for pass k. */
void source_write_arguments(text *, const model *, const program *);
void source_write_pass(text *, const plan *whole, int k, const program *);

/* source_passes.c: how to launch several passes, as comments. */
void source_write_pass_notes(text *, const model *, const program *);

/* source_sums.c: what a plane adds to the sums around it. */
void source_write_sums(text *, const model *, const plan *, const emitter *);

/* source_runs.c: the weights in constant memory, and what they leave of the update. */
void source_write_runs(text *, const model *, const plan *, const emitter *);

#endif
