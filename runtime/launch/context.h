/* Contexts inside: an open device, and the errors of each thread that uses it.
   Takes: options. Makes: what sg_context points to, and the way every public call runs its work.
   Needs: POSIX threads. */
#ifndef SG_RUNTIME_LAUNCH_CONTEXT_H
#define SG_RUNTIME_LAUNCH_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/cache/cache.h"
#include "runtime/device/device.h"
#include "runtime/device/workers.h"
#include "runtime/launch/kernels.h"
#include "runtime/launch/modules.h"
#include "runtime/launch/texts.h"
#include "runtime/stencilgen.h"

/* Kernels that convert matrices: a place for each number that convert_kernels gives them. */
enum { CONTEXT_CONVERSIONS = 128 };

struct sg_context {
    job *job;         /* holds the context itself */
    allocator memory; /* of everything */
    logger logger;
    atomic_int uses; /* the caller's, and one for every kernel that somebody holds */
    job *parts;      /* holds what stays when opening a device fails */
    cache *cache;
    struct results *results; /* of tuning, runtime/store/results.h */
    compiler *nvrtc;
    device *device;    /* NULL where opening failed, and where there is to be none */
    bool runs_nothing; /* the latter */
    int threads;
    struct {
        const char *nvrtc, *cache; /* NULL; in parts */
        int64_t cache_bytes;
        int device_index;
        bool lent; /* a CUDA context that is the caller's */
    } given;       /* what opens another context like this one, in another process */
    uint64_t tag_seed;
    _Atomic uint64_t tags; /* drawn, see context_tag */
    atomic_int sweeps;     /* of sg_tune that have stored something */
    kernels kernels;
    modules modules;

    pthread_mutex_t lock; /* of what is opened when it is first needed: */
    workers *workers;
    loaded *conversions[CONTEXT_CONVERSIONS]; /* runtime/matrix/convert.h */
    const struct plans *plans;                /* runtime/api/plans.h, in ... */
    job *plans_job;

    thread_texts texts;
};

/* The context goes with the last that holds it. */
void context_hold(sg_context *);
void context_release(sg_context *);

/* sg_open over these kinds of devices, in the order of "auto". */
sg_status context_open(sg_context **out, const sg_options *options, const device_ops *const *kinds,
                       int count);

/* The caller's allocator where the options, which may be NULL, can be read, else the C library's.
 */
allocator context_memory(const sg_options *);

/* Runs `body` as a job and turns its outcome into a status. A job that succeeded goes to *keep, or
   is ended where that is NULL; one that failed becomes this thread's error. */
sg_status context_run(sg_context *, void (*body)(job *, void *), void *argument, job **keep);

/* A copy of a text for a result to point to, until this thread's next. */
const char *context_keep(job *, sg_context *, const char *text);

/* The same of other bytes, aligned for any type. */
void *context_keep_bytes(job *, sg_context *, const void *bytes, size_t size);

/* A number that is never 0 and that the context never gave before; those of several contexts, also
   in other processes, are the same by chance alone. From any thread, without a lock. */
uint64_t context_tag(sg_context *);

/* Fails with FAULT_USAGE where the context has no device. */
device *context_device(job *, const sg_context *);

/* What compiles for the context's device, and what it makes; without a device that is NVRTC. */
compiler *context_compiler(job *, sg_context *, binary_kind *);

/* Opened at the first call; fails with a text that says what is missing. */
workers *context_workers(job *, sg_context *);

/* Fails with FAULT_USAGE, or returns false where there is no job: so that checks which must not
   allocate run without one, and once more with one for the text when they fail. */
bool context_refuse(job *, const char *format, ...) SG_PRINTF(2, 3);

/* Copies a caller's option struct, which may be of an older or a newer header, into `out`, whose
   size is ours; NULL gives all zeros. `name` is the struct's, for the error. */
bool context_read(job *, void *out, size_t size, const void *caller, const char *name);

/* Fails where a caller's result struct cannot be written to; its struct_size. */
size_t context_expect(job *, const void *caller, const char *name);

/* Copies ours into a caller's result struct, as much of it as the caller knows. */
void context_write(job *, void *caller, const void *from, size_t size, const char *name);

#endif
