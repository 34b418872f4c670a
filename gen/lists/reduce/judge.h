/* What the parts of a reduction's check share: elements as the reference sees them, and what a
   segment of them comes to. Internal to gen/lists/reduce. */
#ifndef SG_GEN_LISTS_REDUCE_JUDGE_H
#define SG_GEN_LISTS_REDUCE_JUDGE_H

#include "gen/lists/reduce/reduce.h"
#include "gen/reference/reference.h"

/* Elements first … first+count−1 of the input after the map. Of whole numbers `whole` is exact. Of
   reals a kernel's element is within error[i] of value[i] (infinity: nobody can say). */
enum { REDUCE_CHUNK = 1024 };
typedef struct reduce_elements {
    const subject *subject;
    const reduce *reduce;
    const void *input, *second;
    pattern_machine *map;       /* whole numbers; NULL: no map */
    const reference *reference; /* reals; NULL: no map */
    void *scratch;
    double value[REDUCE_CHUNK], error[REDUCE_CHUNK];
    int64_t whole[REDUCE_CHUNK];
    pattern_value last; /* of reduce_count_sides */
} reduce_elements;
reduce_elements *reduce_elements_new(job *, const subject *, const family_call *);
void reduce_elements_read(reduce_elements *, int64_t first, int count);

/* Applies an operator of the spec's own to every second element and its neighbour, as kernels
   begin: a fold alone would not show which sides they take. NULL is allowed. */
void reduce_count_sides(reduce_elements *, pattern_machine *own, pattern_value, int64_t at);

/* Adds the sides of the map's conditions that hardly any element took. */
void reduce_elements_judge(job *, const reduce_elements *, condition_sides *);

/* What a segment of reals comes to: a right kernel's result is within `bound` of `value`; of min,
   max and argmin from value − bound_below to value + bound. */
typedef struct reduce_expected {
    double value, bound, bound_below;
    bool undecidable;
} reduce_expected;

reduce_expected reduce_expect_sum(reduce_elements *, int64_t first, int64_t end, double depth);
reduce_expected reduce_expect_product(reduce_elements *, int64_t first, int64_t end);
reduce_expected reduce_expect_extreme(reduce_elements *, int64_t first, int64_t end);
reduce_expected reduce_expect_truth(reduce_elements *, int64_t first, int64_t end);
reduce_expected reduce_expect_own(job *, reduce_elements *, int64_t first, int64_t end,
                                  pattern_machine *);

#endif
