/* The judgement of a grid's written arrays: the context's threads compare cells with the reference,
   or with whole grids of values and bounds, and keep tallies. */
#ifndef SG_RUNTIME_CHECK_JUDGE_H
#define SG_RUNTIME_CHECK_JUDGE_H

#include "runtime/check/check.h"
#include "runtime/check/guard.h"

/* What one thread has found. */
typedef struct tally {
    int64_t judged, wrong, undecidable;
    int64_t odd; /* cells of unjudged pieces with a NaN */
    double error, largest, of_bound;
    int64_t first; /* cell of the first wrong value, and which output; −1 */
    int first_output;
    double actual, expected;
    bool kept; /* the cell should not have changed */
    void *scratch;
    double *values, *bounds;
    bool *keeps;
    char apart[64]; /* each thread writes to its own cache lines */
} tally;

typedef struct judgement {
    guarded *guarded;
    const reference *reference;
    reference_array arrays[2 * MAX_FIELDS]; /* of the model */
    reference_place place;                  /* of the last step */
    int outputs;
    int written[MAX_FIELDS]; /* of each output: the program's array */
    cells cells;
    uint64_t seed;
    double odd_share; /* of the odd pieces, these are judged now; 0: they are counted */
    int tally_count;
    tally *tallies;
    const double *values[MAX_FIELDS], *bounds[MAX_FIELDS]; /* of a system, by output */
} judgement;

/* Finds the arrays of the model among those of the guarded kernel. */
void judgement_connect(judgement *, const model *);

/* Judges pieces of the grid by the reference: about so many cells, by default as many as are judged
   in about a second. */
void judge_by_reference(job *, judgement *, const model *, int64_t most_wanted);

/* Judges all cells by `values` and `bounds`. */
void judge_by_values(job *, judgement *);

/* What all threads have found. */
tally judgement_sum(const judgement *);

#endif
