/* The family merge: two sorted lists to one, stably, by keys alone or with values.
   Takes: a subject whose model is a merge. Makes: its program, by one of five algorithms. */
#ifndef SG_GEN_LISTS_MERGE_MERGE_H
#define SG_GEN_LISTS_MERGE_MERGE_H

#include "gen/lists/pattern.h"

/* The function of the pattern, with the operands a and b: whether a comes before b. */
enum { MERGE_ORDER };

typedef enum merge_order { MERGE_ASCENDING, MERGE_DESCENDING, MERGE_OWN } merge_order;

typedef struct merge {
    pattern pattern; /* its dtype is that of the keys */
    merge_order order;
    bool has_values;
    dtype values;
} merge;

typedef enum merge_algorithm {
    MERGE_AUTO,
    MERGE_PATH,
    MERGE_ONE_LAUNCH,
    MERGE_CO_RANK,
    MERGE_TILED,
    MERGE_CIRCULAR,
    MERGE_ALGORITHMS
} merge_algorithm;
enum {
    MERGE_THREADS,
    MERGE_ITEMS,
    MERGE_ROUNDS,
    MERGE_LANES,
    MERGE_STAGES,
    MERGE_BLOCKS,
    MERGE_SPLIT,
    MERGE_EARLY,
};
extern const pattern_words merge_words;
extern const space_table merge_space;

/* What a schedule comes to. */
typedef struct merge_plan {
    pattern_schedule schedule; /* complete; 0 where a number does not apply */
    int threads, items;
    int rounds, lanes, stages, blocks, split; /* 1 where they do not apply */
    int early;           /* blocks of merge-path that do not wait for the first launch */
    bool resident;       /* no more blocks than run at once … */
    int64_t most_blocks; /* … and no more than this; 0: no limit */
    size_t shared_bytes;
    bool asked; /* the spec or the caller named the algorithm */
} merge_plan;

/* Fails with FAULT_PLAN where the GPU cannot serve the plan. */
merge_plan merge_fit(job *, const subject *, const family_request *);

/* Of families[FAMILY_MERGE]. The size is that of a and that of b. Where the second is 1, as of
   other lists, the first is that of both together. */
family_print merge_print;
family_builder merge_build;
family_draw merge_draw;
family_judge merge_judge;

#endif
