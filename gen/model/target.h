/* What planners know of a GPU. Takes: the name of an architecture. Makes: its limits and rates. */
#ifndef SG_GEN_MODEL_TARGET_H
#define SG_GEN_MODEL_TARGET_H

#include "base/dtype.h"

/* What the planner knows of a GPU. */
typedef struct target {
    const char *arch;  /* "sm_90" */
    const char *board; /* the one whose clock and rates these are */
    int multiprocessors;
    int shared_per_block; /* bytes a block may have, opted in */
    int shared_per_multiprocessor;
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    double clock;     /* Hz, boosted */
    double copy_rate; /* bytes a second, read and written; a typical board of the architecture */
    double l2_bytes;
    int fma_lanes[DTYPE_REALS]; /* multiply-adds a clock and multiprocessor */
} target;

/* The entry of the table for an architecture ("sm_90", also "sm_90a"), NULL where there is none.
   Architectures are numbered from 0 until NULL, oldest first. */
const target *target_find(const char *arch);
const target *target_at(int index);

#endif
