/* The family scan: prefix sums of a list, by any associative operator.
   Takes: a subject whose model is a scan. Makes: its program, by one of six algorithms. */
#ifndef SG_GEN_LISTS_SCAN_SCAN_H
#define SG_GEN_LISTS_SCAN_SCAN_H

#include "gen/lists/pattern.h"

/* The functions of the pattern, with the operands a and b. */
enum { SCAN_OP, SCAN_MAP, SCAN_INIT };

typedef struct scan {
    pattern pattern;
    pattern_operator op;
    bool exclusive;
    bool deterministic;   /* the result has the same bits on every run, also where the operator
                             rounds */
    bool mapped, initial; /* SCAN_MAP, SCAN_INIT are given */
} scan;

typedef enum scan_algorithm {
    SCAN_AUTO,
    SCAN_LOOK_BACK,
    SCAN_PERSISTENT,
    SCAN_KOGGE_STONE,
    SCAN_DOUBLE_BUFFER,
    SCAN_BRENT_KUNG,
    SCAN_RUNS, /* for processors */
    SCAN_ALGORITHMS
} scan_algorithm;
enum {
    SCAN_THREADS,
    SCAN_ITEMS,
    SCAN_STAGES,
    SCAN_BLOCKS,
    SCAN_AHEAD,
    SCAN_DRAW,
    SCAN_RUN,
    SCAN_NUMBERS
};
extern const pattern_words scan_words;
extern const space_table scan_space;

/* What a schedule comes to. */
typedef struct scan_plan {
    pattern_schedule schedule; /* complete */
    int threads, items;        /* of a block; of a thread */
    int runs;                  /* of a thread: runs of items/runs elements, each scanned one after
                                  another */
    int stages, blocks;        /* persistent: tiles in shared memory; blocks a multiprocessor */
    int ahead, draw;           /* persistent: tiles that a block sums up before the first looks
                                  back; 2: blocks draw tiles */
    int run;                   /* runs: elements of a tile */
    const gpu *gpu;            /* that it is for */
    size_t shared_bytes;
    bool asked;        /* the spec or the caller named the algorithm */
    const char *board; /* the board whose plans decided; NULL: none did */
} scan_plan;

/* Fails with FAULT_PLAN where the GPU cannot serve the plan. */
scan_plan scan_fit(job *, const subject *, const family_request *);

/* The arrays of the program. */
enum { SCAN_INPUT, SCAN_OUTPUT };

/* The most operators that an element passes on its way to one of `count` results. */
double scan_depth(const program *, int64_t count);

/* Of families[FAMILY_SCAN]. */
family_print scan_print;
family_builder scan_build;
family_draw scan_draw;
family_judge scan_judge;

#endif
