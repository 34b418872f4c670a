/* What a context keeps for each thread that uses it: the text of its last error, and a text and a
   list that a result of its points to. Takes: texts. Makes: copies that live until the thread's
   next. */
#ifndef SG_RUNTIME_LAUNCH_CONTEXT_H
#define SG_RUNTIME_LAUNCH_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "base/job.h"
#include "base/program.h"
#include "base/workers.h"
#include "runtime/cache/cache.h"
#include "runtime/device/device.h"
#include "runtime/stencilgen.h"

typedef enum text_slot { SLOT_ERROR, SLOT_RESULT, SLOT_LIST, SLOTS } text_slot;

typedef struct thread_texts {
    allocator memory;
    pthread_mutex_t lock;
    struct thread_entry *list; /* one for each thread that had something to keep */
    size_t count, most;        /* of it; when it is to be looked through for threads that ended */
    atomic_bool starved;       /* some thread could not even be given one */
} thread_texts;

void texts_open(thread_texts *, const allocator *);
void texts_close(thread_texts *);

/* The copy, in place of the one before; NULL where there is no memory for it, which the thread is
   told of from then on. */
const char *texts_keep(thread_texts *, text_slot, const char *);

/* The same of other bytes, aligned for any type. */
void *texts_keep_bytes(thread_texts *, text_slot, const void *, size_t size);

/* This thread's; "" where it never had one. */
const char *texts_find(thread_texts *, text_slot);

extern const char texts_no_memory[]; /* the error for want of memory */

/* The kernels of a context, by what was asked for.
   Takes: requests. Makes: the kernel that was built for an equal one before, in a microsecond or
   two. A kernel that nobody holds any more is kept for a while, until KEPT_KERNELS others were let
   go after it. */

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

/* The binaries that a context has compiled and loaded, each once however many kernels have it.
   Takes: a program. Makes: a binary, loaded where it is to be launched, that kernels hold; who
   wants one that is just being made waits for it. */

typedef struct loaded loaded;
struct loaded {
    loaded *next;
    digest key;
    int holds;
    job *own; /* holds all of it; NULL while it is being made */
    binary binary;
    module *module; /* NULL where it was not to be loaded */
    function_facts facts;
};

typedef struct modules {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    loaded *list;
} modules;

void modules_open(modules *);
void modules_close(modules *); /* when every one has been let go */

/* The binary of a program for the context's device, or NVRTC's where it has none. `load`: it will
   be launched. *origin tells where it came from. Fails as compiling and loading do. */
loaded *modules_hold(job *, sg_context *, const program *, bool load, sg_origin *origin);
/* The same for a binary that is at hand, which is never compiled. The key is of all that the
   program and the binary are; nothing of either is used after the call. */
loaded *modules_hold_binary(job *, sg_context *, const program *, const binary *,
                            const digest *key);

void modules_let_go(sg_context *, loaded *); /* NULL is allowed */

/* Contexts inside: an open device, and the errors of each thread that uses it.
   Takes: options. Makes: what sg_context points to, and the way every public call runs its work.
   Needs: POSIX threads. */

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
    const struct plans *plans;                /* runtime/api/build.h, in ... */
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

/* Program to binary, by way of the cache.
   Takes: a program. Makes: its binary, found in the cache or compiled and stored there. */

/* What a binary depends on: the library's version, the source and its kernels, kind and
   architecture, and the identity of the compiler (NULL: one that cannot be told). */
digest compile_key(job *, const program *, binary_kind, const char *identity);

/* A binary for the program's target, in the job. `refused` is NULL or says why the one that the
   cache has is of no use: then it is forgotten and compiled anew. */
binary compile_program(job *, sg_context *, compiler *, const program *, binary_kind,
                       const char *refused);

#endif
