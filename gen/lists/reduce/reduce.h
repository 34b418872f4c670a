/* The family reduce: a list, or each segment of one, becomes one element by any associative
   operator. Takes: a subject whose model is a reduction. Makes: its program, by one of six
   algorithms. Source of the textbook's algorithms: W. Hwu, D. Kirk, I. El Hajj, Programming
   Massively Parallel Processors, 4th ed., chapter 10. */
#ifndef SG_GEN_LISTS_REDUCE_REDUCE_H
#define SG_GEN_LISTS_REDUCE_REDUCE_H

#include "gen/lists/pattern.h"
#include "gen/reference/reference.h"

/* The functions of the pattern, with the operands a and b. */
enum { REDUCE_OP, REDUCE_MAP };

typedef struct reduce {
    pattern pattern;
    pattern_operator op; /* of argmin and argmax: min and max */
    bool places;         /* argmin, argmax */
    bool mapped;         /* REDUCE_MAP is given */
    bool segmented;
    int inputs; /* 1 or 2 */
} reduce;

typedef enum reduce_algorithm {
    REDUCE_AUTO,
    REDUCE_ONE_PASS,
    REDUCE_INTERLEAVED,
    REDUCE_COALESCED,
    REDUCE_SHARED,
    REDUCE_COARSENED,
    REDUCE_RUNS, /* for processors */
    REDUCE_ALGORITHMS
} reduce_algorithm;
enum {
    REDUCE_THREADS,
    REDUCE_ITEMS,
    REDUCE_BLOCKS,
    REDUCE_SHARE,
    REDUCE_ALONE,
    REDUCE_CLUSTER,
    REDUCE_RUN
};
extern const pattern_words reduce_words;
extern const space_table reduce_space;

/* What a schedule comes to. */
typedef struct reduce_plan {
    pattern_schedule schedule; /* complete */
    int threads, items;        /* of a block; of a thread, at once */
    int run;                   /* runs: elements of a block; 0: of segments */
    int blocks;                /* one-pass, and runs of segments: at most */
    int share;                 /* one-pass: elements of a thread at least, where there are several
                                  blocks */
    int alone;                 /* one-pass: elements that a single block takes at most */
    int cluster;               /* one-pass: blocks of a cluster, which take the place of single
                                  blocks */
    int resident;              /* one-pass: blocks that a multiprocessor holds at least */
    int pitch;                 /* the others: items of temporary memory of a block */
    size_t item_bytes;         /* what is reduced: an element, or that and its place */
    size_t shared_bytes;       /* a block of the first launch */
    const gpu *gpu;            /* that it is for */
    bool asked;                /* the spec or the caller named the algorithm */
} reduce_plan;

/* Fails with FAULT_PLAN where the algorithm cannot serve. */
reduce_plan reduce_fit(job *, const subject *, const family_request *);

/* The arrays of the program; −1: it has none. */
typedef struct reduce_arrays {
    int input, second, offsets, result, index, count;
} reduce_arrays;
reduce_arrays reduce_arrays_of(const reduce *);
enum { REDUCE_COUNT, REDUCE_SEGMENTS }; /* its sizes */

/* The most operators between an element and the result of `length` elements, where the operator
   commutes; `count` elements are reduced in all. */
double reduce_depth(const reduce *, const program *, int64_t count, int64_t length);

/* Of families[FAMILY_REDUCE]. */
family_print reduce_print;
family_builder reduce_build;
family_draw reduce_draw;
family_judge reduce_judge;

/* ---- what the parts of the check share ------------------------------------------------------- */

/* Elements first … first+count−1 of the input after the map. Whole numbers are exact in `whole`. Of
   reals, a kernel's element is within error[i] of value[i] (infinity: nobody can say). */
enum { REDUCE_CHUNK = 1024 };
typedef struct reduce_elements {
    const subject *subject;
    const reduce *reduce;
    const void *input, *second;
    pattern_machine *map;       /* whole numbers; NULL: no map */
    const reference *reference; /* reals; NULL: no map */
    void *scratch;
    float widened[2][REDUCE_CHUNK]; /* of narrow elements, for the map */
    double value[REDUCE_CHUNK], error[REDUCE_CHUNK];
    int64_t whole[REDUCE_CHUNK];
    pattern_value last; /* of reduce_count_sides */
} reduce_elements;
reduce_elements *reduce_elements_new(job *, const subject *, const family_call *);
void reduce_elements_read(reduce_elements *, int64_t first, int count);

/* Reads a segment chunk by chunk: true while there is a chunk, of *count elements from *at on. */
bool reduce_elements_next(reduce_elements *, int64_t end, int64_t *at, int *count);

/* Applies an operator of the spec's own to every second element and its neighbour, as kernels
   begin; a fold alone would not show which sides of conditions they take. NULL is allowed. */
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
