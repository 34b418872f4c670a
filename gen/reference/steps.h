/* Several steps of the reference: each reads the values of the one before together with their
   bounds, so that the last one's bounds hold for a kernel that makes all of them.
   Takes: a reference, and the arrays that the first step reads. Makes: the arrays that the next
   step reads, for reference_row. A step's pieces may be evaluated by several threads at a time. */
#ifndef SG_GEN_REFERENCE_STEPS_H
#define SG_GEN_REFERENCE_STEPS_H

#include "gen/reference/reference.h"

/* An inout field is a ring of grids: those of its levels, and the one being written. */
typedef struct reference_field {
    int output, levels;
    int read[2]; /* of the model's arrays: current and previous; −1 */
    double *ring[3], *bounds[3];
} reference_field;

typedef struct reference_steps {
    const reference *reference;
    const model *model;
    int64_t size[AXES], begin[AXES], end[AXES]; /* the box that is updated */
    int64_t along;                              /* pieces of a row */
    int64_t done;
    reference_array arrays[2 * MAX_FIELDS]; /* what the next step reads */
    reference_field fields[MAX_FIELDS];
    int field_count;
} reference_steps;

/* The memory for steps of a grid of so many cells. */
size_t reference_steps_bytes(const model *, int64_t points);

/* `arrays`, one for each of the model's, and `memory` outlive it; that may be NULL where no step is
 * made. */
void reference_steps_open(reference_steps *, const reference *, const model *,
                          const int64_t size[AXES], const int64_t begin[AXES],
                          const int64_t end[AXES], const reference_array *arrays, void *memory);

/* One step is each of its pieces, in any order, and then a turn. */
int64_t reference_steps_pieces(const reference_steps *);
size_t reference_steps_scratch(const reference_steps *);
void reference_steps_piece(const reference_steps *, int64_t piece, void *scratch);
void reference_steps_turn(reference_steps *);

#endif
