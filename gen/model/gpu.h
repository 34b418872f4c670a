/* What planners know of a GPU: the capabilities of its architecture, and the facts of its board.
   Takes: the name of either, or what a driver says. Makes: a gpu. Limits are those of the CUDA C++
   Programming Guide's table of technical specifications per compute capability; boards are as their
   makers describe them. */
#ifndef SG_GEN_MODEL_GPU_H
#define SG_GEN_MODEL_GPU_H

#include "base/dtype.h"
#include "base/job.h"

/* What planners know of a processor that runs a kernel's blocks on its cores. */
typedef struct processor {
    int cores, vector_bytes; /* that are used; of its widest registers */
    double core_cache;       /* bytes of a core's own cache, the second level */
    double shared_cache;     /* bytes of the cache that cores share */
    double clock, copy_rate; /* Hz; bytes a second that a copy reads and writes together */
} processor;

typedef struct gpu {
    const char *name; /* of the table, "H100", or as the driver says */
    const char *arch; /* "sm_90" */

    /* Of the architecture. */
    int shared_per_block; /* bytes that a block may have, opted in */
    int shared_per_multiprocessor;
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    int fma_lanes[DTYPE_WIDE]; /* multiply-adds a clock and multiprocessor */

    /* Of the board. */
    int multiprocessors;
    double clock;       /* Hz, boosted */
    double memory_rate; /* bytes a second that device memory can move at its peak */
    double l2_bytes;
    double memory; /* bytes */

    const struct plans *plans;  /* plans that were measured on it (gen/model/plans.h), in the order
                                   in which they count; NULL: those that the library ships */
    const processor *processor; /* it is none, but a processor in the place of a GPU of `arch` */
} gpu;

/* What a driver says of a board; 0 where it does not say. */
typedef struct gpu_facts {
    int multiprocessors;
    double clock, memory_rate, l2_bytes, memory;
} gpu_facts;

/* Bytes a second that a copy reads and writes together. */
double gpu_copy_rate(const gpu *);

/* Bytes a second that pass between the second-level cache and the multiprocessors or memory. */
double gpu_l2_rate(const gpu *);

/* An entry of the table: of a board ("h200", "RTX 4090": case and spaces do not count), or the
   usual board of an architecture ("sm_90", also "sm_90a"). NULL where there is none. Boards are
   numbered from 0 until NULL; those of one architecture follow each other, oldest first. */
const gpu *gpu_find(const char *name);
const gpu *gpu_at(int index);

/* Whether bulk copies and mbarriers serve blocks: on sm_90 and newer. */
bool gpu_has_bulk(const gpu *);

/* Whether an architecture is that of the table, or a variant of it ("sm_90a"). */
bool gpu_same_arch(const char *known, const char *arch);

/* A GPU of an architecture ("sm_90") as its driver describes it. What the driver does not say is
   taken from the usual board. An architecture that is newer than the table's has the capabilities
   of the nearest older one; NULL where there is none. In the job, but for `name`. */
const gpu *gpu_described(job *, const char *name, const char *arch, const gpu_facts *);

int gpu_arch_number(const char *arch); /* 90 of "sm_90"; 0: it is no GPU */

/* A processor in the place of a GPU: the text is that of the architecture `arch`, and the board's
   facts are the processor's. In the job, but for `name`. */
const gpu *gpu_of_processor(job *, const char *name, const char *arch, const processor *);

/* "planned for this processor (2 cores, vectors of 64 bytes)", of such a gpu. */
const char *gpu_processor_words(job *, const gpu *);

/* ---- what the hardware allows of one block --------------------------------------------------- */

enum {
    WARP = 32,
    MAX_THREADS = 1024,  /* of a block */
    MAX_REGISTERS = 255, /* of a thread */
    MAX_PACK_BYTES = 16, /* of one load or store instruction */
    REGISTERS_PER_MULTIPROCESSOR = 65536,
    DRIVERS_SHARED = 1024, /* bytes of shared memory that the driver takes of every block */
};

/* The least multiple of step that is at least n. */
static inline int round_up(int n, int step) {
    return (n + step - 1) / step * step;
}

static inline int larger(int a, int b) {
    return a > b ? a : b;
}

static inline int smaller(int a, int b) {
    return a < b ? a : b;
}

/* Bytes of shared memory that a block may have where a multiprocessor has so many; and of how many
   such blocks a multiprocessor has room for the shared memory. */
static inline int gpu_shared_room(const gpu *t, int blocks) {
    return smaller(t->shared_per_multiprocessor / blocks - DRIVERS_SHARED, t->shared_per_block);
}
static inline int gpu_blocks_with(const gpu *t, size_t shared_bytes) {
    return t->shared_per_multiprocessor / ((int)shared_bytes + DRIVERS_SHARED);
}

#endif
