/* What the hardware allows of one block (CUDA Programming Guide, "Compute Capabilities"), and the
   whole-number arithmetic that plans are fitted to it with. */
#ifndef SG_GEN_MODEL_LIMITS_H
#define SG_GEN_MODEL_LIMITS_H

enum {
    WARP = 32,
    MAX_THREADS = 1024,  /* of a block */
    MAX_REGISTERS = 255, /* of a thread */
    MAX_PACK_BYTES = 16, /* of one load or store instruction */
    REGISTERS_PER_MULTIPROCESSOR = 65536,
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

#endif
