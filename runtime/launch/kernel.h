/* Inside a kernel. It does not change once built, except for the binaries of sg_kernel_binary,
   which have their own lock. The subject is opaque here: only runtime/api and runtime/check see
   into it. */
#ifndef SG_RUNTIME_LAUNCH_KERNEL_H
#define SG_RUNTIME_LAUNCH_KERNEL_H

#include "runtime/launch/context.h"

struct subject;

typedef struct kernel_binary {
    job *job; /* holds the binary; NULL until the first request */
    sg_binary result;
} kernel_binary;

/* The points of a spec. */
typedef struct kernel_set {
    const char *name, *field;
    int target;  /* the field's array, by the index of the points' program */
    int injects; /* which function; −1: it records */
} kernel_set;
typedef struct kernel_sets {
    const program *program; /* gen/points/points.h */
    const kernel_set *sets; /* by name */
    int count;
} kernel_sets;

/* The monitors of a spec. */
typedef struct kernel_monitor {
    const char *name, *op;
    double identity;                           /* of the op */
    int low[PROGRAM_AXES], high[PROGRAM_AXES]; /* how far its map reads */
    bool mirrors[PROGRAM_AXES];                /* at an end of the axis its reads turn back */
} kernel_monitor;

struct sg_kernel {
    sg_context *context;
    job *job; /* holds the kernel itself, its program, subject and texts */
    const program *program;
    const struct subject *subject; /* NULL: it was loaded from a file */
    loaded *loaded;                /* NULL: only its source was wanted */
    module *module;                /* of loaded; NULL: it cannot be launched */
    const char *unlaunchable;      /* why, as the end of a sentence; else NULL */
    sg_kernel_info info;
    const kernel_sets *points;      /* NULL: the spec has none */
    const kernel_monitor *monitors; /* by name */
    const kernel_monitor *maps_for; /* the kernel is the map of this one; NULL */
    const char *texts[SG_TEXT_POINTS + 1];
    pthread_mutex_t lock;
    kernel_binary binaries[SG_BINARY_PTX + 1];

    /* Of the context's list, under its lock. */
    const kernel_request *request; /* NULL: no request can match it */
    int holds;
    sg_kernel *newer, *older;
};

/* Gives a new kernel its binary and the facts that follow from it. The binary is held, and
   released if the job fails. */
void kernel_take(job *, sg_kernel *, loaded *);

/* Frees a kernel that nobody holds; called by the context's list. */
void kernel_end(sg_kernel *);

/* Fails with FAULT_USAGE if the kernel cannot be launched. */
void kernel_need_launchable(job *, const sg_kernel *);

/* The points of a grid or of a call of lists. Refuses more than 2^48, which no memory holds;
   sums of smaller sizes cannot overflow. */
int64_t kernel_points(job *, const int64_t size[3]);

/* The size of a check or a measurement: 0 is the size planned for, unused axes are 1. */
void kernel_size(job *, const sg_kernel *, const int64_t wanted[3], int64_t size[3],
                 int64_t *points);

/* A parameter's value rounded to its dtype, as the kernel gets it; refuses a value that does not
   fit. */
bool kernel_parameter(job *, const sg_kernel *, int index, double value, double *out);

/* All values, rounded: the caller's, else defaults, else drawn from [0.25, 1) by the seed. */
void kernel_parameters(job *, const sg_kernel *, const double *given, uint64_t seed, double *out);

#endif
