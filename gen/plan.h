/* The plan: a complete schedule for a model, and why it was chosen.
   Takes: a model, constraints, a target and a size. Makes: a plan, or a reason why there is none.
   Fails with FAULT_PLAN and `method NAME …: reason`. */
#ifndef SG_GEN_PLAN_H
#define SG_GEN_PLAN_H

#include "gen/model.h"

/* What the planner knows of a GPU. */
typedef struct target {
    const char *arch; /* "sm_90" */
    int multiprocessors;
    int shared_per_block; /* bytes a block may have, opted in */
    int shared_per_multiprocessor;
    int registers_per_multiprocessor;
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    double copy_rate; /* bytes a second, read and written; a typical board of the architecture */
    double flop_rate[DTYPE_COUNT];
} target;

/* The entry of the table for an architecture ("sm_90", also "sm_90a"), NULL where there is none.
   Architectures are numbered from 0 until NULL. */
const target *target_find(const char *arch);
const target *target_at(int index);

typedef enum template_id {
    TEMPLATE_NAIVE,
    TEMPLATE_TILED,
    TEMPLATE_COARSENED,
    TEMPLATE_REGISTER,
    TEMPLATE_WINDOW, /* register tiling in 1D: each thread holds a window of x */
    TEMPLATE_COUNT
} template_id;

/* What a plan is expected to cost, by the written model in docs/architecture.md. */
typedef struct plan_estimate {
    double seconds;           /* for the size planned for */
    double bytes_per_point;   /* through device memory, halos that miss the caches included */
    double loads_per_point;   /* of elements, from global memory or the caches */
    double shared_per_point;  /* shared memory loads and stores */
    int registers;            /* a thread */
    int blocks_resident;      /* a multiprocessor */
    const char *bound;        /* what limits: "device memory", "the caches", "shared memory" … */
} plan_estimate;

typedef struct plan {
    schedule schedule; /* complete: nothing is 0 or auto */
    template_id template_id;
    const target *target;
    int block[AXES];       /* threads */
    int axes[AXES];        /* kernel axis → grid axis, −1: an axis of extent 1 */
    int tile[AXES];        /* output points of a block along each kernel axis, at once … */
    int walk;              /* … and this many times along the last kernel axis */
    bool partial_sums;     /* register method: planes add to sums, instead of a column per point */
    size_t shared_bytes;
    plan_estimate estimate;
    const char *reason; /* one sentence: why this plan */
} plan;

/* `wanted` holds constraints (the spec's and then the caller's); `size` is what to plan for. */
plan *plan_make(job *, const model *, const schedule *wanted, const target *,
                const int64_t size[AXES]);

/* The default size: 512³, 8192² or 2^26 on a GPU, 128³, 1024² or 2^20 on the cpu device. */
void plan_default_size(int dims, bool gpu, int64_t size[AXES]);

#endif
