/* Kernels inside. Takes: what a build made. Makes: what sg_kernel points to.
   A kernel does not change once built, but for the binaries that sg_kernel_binary keeps, which
   have a lock of their own. The subject is opaque here: only build.c and check.c see into it. */
#ifndef SG_RUNTIME_LAUNCH_KERNEL_H
#define SG_RUNTIME_LAUNCH_KERNEL_H

#include "runtime/launch/context.h"

struct subject;

typedef struct kernel_binary {
    job *job; /* holds the binary; NULL until it is first asked for */
    sg_binary result;
} kernel_binary;

struct sg_kernel {
    sg_context *context;
    job *job; /* holds the kernel itself, its program, subject and texts */
    const program *program;
    const struct subject *subject; /* NULL where it was loaded from a file */
    loaded *loaded;                /* NULL where only its source was asked for */
    module *module;                /* of loaded; NULL where it cannot be launched */
    const char *unlaunchable;      /* and why, as the end of a sentence; else NULL */
    sg_kernel_info info;
    const char *texts[SG_TEXT_MEANING + 1];
    pthread_mutex_t lock;
    kernel_binary binaries[SG_BINARY_PTX + 1];

    /* Of the context's list, under its lock. */
    const kernel_request *request; /* NULL: it cannot be asked for again */
    int holds;
    sg_kernel *newer, *older;
};

/* Hands a new kernel its binary, held, which is let go again if the job fails; writes the facts
   that follow from it. */
void kernel_take(job *, sg_kernel *, loaded *);

/* Frees a kernel that nobody holds; for the context's list. */
void kernel_end(sg_kernel *);

/* Fails with FAULT_USAGE where the kernel cannot be launched. */
void kernel_need_launchable(job *, const sg_kernel *);

/* The points of a grid, or of a call of lists. Refuses, as context_refuse does, more than 2^48: no
   memory holds them, and sums of sizes below it cannot overflow. */
int64_t kernel_points(job *, const int64_t size[3]);

/* Sizes of a check or a measurement: 0 is the size planned for, unused axes are 1. */
void kernel_size(job *, const sg_kernel *, const int64_t wanted[3], int64_t size[3],
                 int64_t *points);

/* The value of a parameter as the kernel gets it, rounded to its dtype. Refuses, as context_refuse
   does, what that cannot hold. */
bool kernel_parameter(job *, const sg_kernel *, int index, double value, double *out);

/* Values as the kernel gets them, rounded to its dtype: the caller's, else defaults, else drawn
   from [0.25, 1) by the seed. `out` has an entry for each parameter. */
void kernel_parameters(job *, const sg_kernel *, const double *given, uint64_t seed, double *out);

#endif
