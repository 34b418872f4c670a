/* Runs: the weights of a linear model as a table, for kernels that keep them in constant memory.
   Takes: a model whose outputs are linear. Makes: runs of neighbouring points of x with their
   weights, and what cannot be a table: terms whose weights hold parameters, and the rest. */
#ifndef SG_GEN_MODEL_RUNS_H
#define SG_GEN_MODEL_RUNS_H

#include "gen/model/model.h"

/* Points d, d + (1,0,0), … of an array, which give weights[first], weights[first + 1], … times
   themselves to an output. No two runs touch, so that nothing in between is read. */
typedef struct weight_run {
    int output, array;
    int d[AXES];
    int first, count;
} weight_run;

enum { RUN_BYTES = 5 * 4 }; /* of one in constant memory */

typedef struct weight_runs {
    weight_run *list; /* by output, then array, dz, dy, dx */
    int count;
    double *weights;
    int weight_count;
    expr_id others[MAX_FIELDS]; /* of each output: what else is added to it; EXPR_NONE */
} weight_runs;

/* New nodes are added to the model's pool. */
weight_runs *runs_new(job *, const model *);

#endif
