/* Inside a context: its device, its errors, and the kernels and binaries that it keeps in memory.

   Texts are kept for each thread that uses the context: its last error, and what its last result
   points to. Each is valid until the thread's next. */
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
    struct thread_entry *list; /* an entry for each thread with a text */
    size_t count, most;        /* entries; how many there may be before ended threads are removed */
    atomic_bool starved;       /* there was no memory for some thread's entry */
} thread_texts;

void texts_open(thread_texts *, const allocator *);
void texts_close(thread_texts *);

/* The copy, which replaces the previous one. NULL: out of memory, which the thread's texts say
   from then on. */
const char *texts_keep(thread_texts *, text_slot, const char *);

/* The same for bytes, aligned for any type. */
void *texts_keep_bytes(thread_texts *, text_slot, const void *, size_t size);

/* This thread's; "" if it has none. */
const char *texts_find(thread_texts *, text_slot);

extern const char texts_no_memory[]; /* the error for want of memory */

/* The kernels of a context by the request that built them: an equal request gets the same kernel
   within a microsecond or two. A kernel that nobody holds is kept until KEPT_KERNELS others were
   released after it. */

enum { KEPT_KERNELS = 32 };

/* Identifies a file and its version. */
typedef struct file_stamp {
    uint64_t device, inode;
    int64_t size, modified[2], changed[2]; /* seconds and nanoseconds */
} file_stamp;

typedef struct kernel_request {
    const char *text; /* of the spec; NULL: the file of this stamp */
    size_t length;    /* of the text */
    file_stamp stamp;
    sg_build_options options; /* complete */
    int sweeps;               /* that the context had made: later builds may choose another plan */
} kernel_request;

typedef struct kernels {
    pthread_mutex_t lock;
    sg_kernel *newest, *oldest; /* by their last request or release */
    int idle;                   /* kernels that nobody holds */
} kernels;

void kernels_open(kernels *);
void kernels_close(kernels *); /* and the kernels, which nobody holds any more */

/* Completes a request. False if an equal request later might mean something else: the file
   cannot be examined, or it changed less than two seconds ago, which is how coarse its times may
   be. */
bool kernels_request(const char *path, const sg_build_options *, kernel_request *out);

/* A deep copy in the job. */
const kernel_request *kernels_copy_request(job *, const kernel_request *);

/* Held, or NULL. */
sg_kernel *kernels_find(sg_context *, const kernel_request *);

/* Takes a new kernel that nobody holds. Returns it held, or an equal one that was built
   meanwhile; then the new one is gone. */
sg_kernel *kernels_add(sg_context *, sg_kernel *);

void kernels_let_go(sg_kernel *);

/* The binaries of a context, each compiled and loaded once however many kernels use it. A thread
   that wants one that is being made waits for it. */

typedef struct loaded loaded;
struct loaded {
    loaded *next;
    digest key;
    int holds;
    job *own; /* holds the rest; NULL while it is being made */
    binary binary;
    module *module; /* NULL: it was not loaded */
    function_facts facts;
};

typedef struct modules {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    loaded *list;
} modules;

void modules_open(modules *);
void modules_close(modules *); /* after every one was released */

/* The binary of a program for the context's device, or NVRTC's without a device. `load`: it will
   be launched. *origin says where it came from. Fails as compiling and loading do. */
loaded *modules_hold(job *, sg_context *, const program *, bool load, sg_origin *origin);
/* The same for a given binary, which is never compiled. The key identifies the program and the
   binary; neither is used after the call. */
loaded *modules_hold_binary(job *, sg_context *, const program *, const binary *,
                            const digest *key);

void modules_let_go(sg_context *, loaded *); /* NULL is allowed */

/* The context itself, and how every public call runs. */

/* Places for the kernels that convert matrices, numbered by runtime/matrix/convert.c. */
enum { CONTEXT_CONVERSIONS = 192 };

struct sg_context {
    job *job;         /* holds the context itself */
    allocator memory; /* of everything in it */
    logger logger;
    atomic_int uses; /* by the caller, and by every kernel that is held */
    job *parts;      /* holds what remains if opening a device fails */
    cache *cache;
    struct results *results; /* runtime/store/results.h */
    compiler *nvrtc;
    device *device;    /* NULL: opening failed, or no device was wanted */
    bool runs_nothing; /* no device was wanted */
    int threads;
    struct {
        const char *nvrtc, *cache; /* NULL; in parts */
        int64_t cache_bytes;
        int device_index;
        bool lent; /* the CUDA context is the caller's */
    } given;       /* to open another context like this one in another process */
    uint64_t tag_seed;
    _Atomic uint64_t tags; /* of context_tag */
    atomic_int sweeps;     /* sweeps of sg_tune that have stored results */
    kernels kernels;
    modules modules;

    pthread_mutex_t lock; /* of what is opened on first use: */
    workers *workers;
    loaded *conversions[CONTEXT_CONVERSIONS]; /* runtime/matrix/convert.h */
    const struct plans *plans;                /* runtime/api/build.h; in ... */
    job *plans_job;

    thread_texts texts;
};

/* The last release closes the context. */
void context_hold(sg_context *);
void context_release(sg_context *);

/* sg_open with these kinds of devices, in the order of "auto". */
sg_status context_open(sg_context **out, const sg_options *options, const device_ops *const *kinds,
                       int count);

/* The caller's allocator if the options (may be NULL) can be read, else the C library's. */
allocator context_memory(const sg_options *);

/* Runs `body` as a job and returns its status. A job that succeeds is stored in *keep, or ended
   if `keep` is NULL; a failure becomes this thread's error. */
sg_status context_run(sg_context *, void (*body)(job *, void *), void *argument, job **keep);

/* The same for a call that makes an object, which has the job and holds the context; and the end
   of both. */
sg_status context_make(sg_context *, void (*body)(job *, void *), void *argument);
void context_unmake(sg_context *, job *);

/* A copy of a text that a result points to, valid until this thread's next. */
const char *context_keep(job *, sg_context *, const char *text);

/* The same for bytes, aligned for any type. */
void *context_keep_bytes(job *, sg_context *, const void *bytes, size_t size);

/* A number that is never 0 and new to this context; numbers of other contexts and processes are
   equal only by chance. Takes no lock. */
uint64_t context_tag(sg_context *);

/* Fails with FAULT_USAGE if there is no device. */
device *context_device(job *, const sg_context *);

/* The compiler for the context's device (NVRTC without one), and what it makes. */
compiler *context_compiler(job *, sg_context *, binary_kind *);

/* Opened by the first call. */
workers *context_workers(job *, sg_context *);

/* For a public call inside of another one: fails unless it succeeded. Its text is this thread's
   error already. */
void context_must(job *, const sg_context *, sg_status);

/* Fails the job with FAULT_USAGE, or returns false if there is no job. So a check can run
   without allocating, and once more with a job for its text when it fails. */
bool context_refuse(job *, const char *format, ...) SG_PRINTF(2, 3);

/* Copies a caller's option struct, of an older or newer header, into `out` of our size; NULL
   gives zeros. `name` is the struct's, for errors. */
bool context_read(job *, void *out, size_t size, const void *caller, const char *name);

/* The struct_size of a caller's result struct; fails if it cannot be written to. */
size_t context_expect(job *, const void *caller, const char *name);

/* Copies our result into the caller's struct, as much as that knows. */
void context_write(job *, void *caller, const void *from, size_t size, const char *name);

/* Compiling, by way of the cache on disk. */

/* A binary for the program's target, in the job. `refused` is NULL, or says why the cached one
   cannot be used: it is removed and the program compiled. */
binary compile_program(job *, sg_context *, compiler *, const program *, binary_kind,
                       const char *refused);

/* ---- inside a kernel ------------------------------------------------------------------------- */

/* It does not change once built, except for the binaries of sg_kernel_binary, which have their own
   lock. The subject is opaque here: only runtime/api and runtime/check see into it. */
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

/* A call that asks something of a kernel, or of its thing number `index`: fails where it has fewer
   of these. */
typedef struct kernel_query {
    const sg_kernel *kernel;
    int index;
    void *out;
} kernel_query;
sg_status kernel_ask(const sg_kernel *, void (*body)(job *, void *), int index, void *out);
void kernel_need_index(job *, const kernel_query *, int count, const char *noun, const char *of);

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
