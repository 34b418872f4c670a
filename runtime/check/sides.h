/* The sides of a spec's conditions in a check: data that reach them, and those that hardly any cell
   took. Takes: a kernel with its subject, counts. Makes: samples for its arrays; the list of an
   sg_check_result. */
#ifndef SG_RUNTIME_CHECK_SIDES_H
#define SG_RUNTIME_CHECK_SIDES_H

#include "base/sample.h"
#include "gen/model/model.h"
#include "runtime/launch/kernel.h"

/* The program's array that holds a field: the one written, the current or the previous one; −1. */
int check_array(const program *, const char *field, bool written, bool previous);

/* What the reference evaluates, of a grid kernel that has a spec. */
const model *check_model(const sg_kernel *);

/* What each of a grid kernel's arrays is filled from. */
const sample *check_samples(job *, const sg_kernel *, const double *parameters);

/* Makes these sides the result's. They are valid until the thread's next call. */
void check_unjudged(job *, const sg_kernel *, const condition_sides *, sg_check_result *);

#endif
