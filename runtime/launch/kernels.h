/* The kernels of a context, by what was asked for.
   Takes: requests. Makes: the kernel that was built for an equal one before, in a microsecond or
   two. A kernel that nobody holds any more is kept for a while, until KEPT_KERNELS others were let
   go after it. */
#ifndef SG_RUNTIME_LAUNCH_KERNELS_H
#define SG_RUNTIME_LAUNCH_KERNELS_H

#include <pthread.h>

#include "base/job.h"
#include "runtime/stencilgen.h"

enum { KEPT_KERNELS = 32 };

/* What tells a file from another and from itself before a change. */
typedef struct file_stamp {
    uint64_t device, inode;
    int64_t size, modified[2], changed[2]; /* seconds and nanoseconds */
} file_stamp;

typedef struct kernel_request {
    const char *text; /* the spec's, or NULL: the file of this stamp */
    size_t length;    /* of the text */
    file_stamp stamp;
    sg_build_options options; /* complete */
    int sweeps;               /* that the context had made: a later build may take another plan */
} kernel_request;

typedef struct kernels {
    pthread_mutex_t lock;
    sg_kernel *newest, *oldest; /* by when they were last asked for or let go */
    int idle;                   /* of them, that nobody holds */
} kernels;

void kernels_open(kernels *);
void kernels_close(kernels *); /* with those that nobody holds; there are no others */

/* Completes a request. False where what is asked for now cannot be told from what would be asked
   for after a change: a file that cannot be looked at, or that changed less than two seconds ago,
   since the time of a change may be that coarse. */
bool kernels_request(const char *path, const sg_build_options *, kernel_request *out);

/* A copy with all that it points to, in the job. */
const kernel_request *kernels_copy_request(job *, const kernel_request *);

/* Held, or NULL. */
sg_kernel *kernels_find(sg_context *, const kernel_request *);

/* Takes a kernel that was just built and held by nobody. Returns it held, or another that was built
   for an equal request meanwhile; then this one is gone. */
sg_kernel *kernels_add(sg_context *, sg_kernel *);

void kernels_let_go(sg_kernel *);

#endif
