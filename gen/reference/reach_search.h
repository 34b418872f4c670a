/* The numbers that expressions compare with. Takes: a model's expressions. Makes: for each array
   numbers that bring operands of a comparison together. Internal to gen/reach*.c. */
#ifndef SG_GEN_REFERENCE_REACH_SEARCH_H
#define SG_GEN_REFERENCE_REACH_SEARCH_H

#include "gen/model/model.h"

enum { REACH_ARRAYS = 2 * MAX_FIELDS, REACH_NUMBERS = 64 };

/* In the order of finding, each once; more than there is room for are left out. */
typedef struct reach_numbers {
    int count;
    double value[REACH_NUMBERS];
} reach_numbers;

void reach_note(reach_numbers *, double value);

/* As the dtype has it; the whole numbers next to one that is not; nothing where it overflows. */
void reach_note_as(dtype, reach_numbers *, double value);

typedef struct reach_found {
    reach_numbers arrays[REACH_ARRAYS];
    uint32_t tied; /* a set of arrays: cells of them are compared with each other */
} reach_found;

/* Of all that is below the roots; and such that the first root comes to the numbers in `wanted`
   (NULL: none). `parameters`, one each, are rounded to the dtype. */
reach_found *reach_search(job *, const model *, const expr_id *roots, int count,
                          const double *parameters, const reach_numbers *wanted);

#endif
