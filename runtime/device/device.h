/* Binaries and the compilers that make them, behind one table.
   Takes: a program. Makes: a cubin, PTX, or a shared object of the host. */
#ifndef SG_RUNTIME_DEVICE_DEVICE_H
#define SG_RUNTIME_DEVICE_DEVICE_H

#include "base/hash.h"
#include "base/job.h"
#include "base/program.h"

typedef enum binary_kind { BINARY_CUBIN, BINARY_PTX, BINARY_HOST, BINARY_KINDS } binary_kind;

/* "cubin", "PTX", "host object". */
extern const char *const binary_words[BINARY_KINDS];

typedef struct binary {
    binary_kind kind;
    blob data;                                /* of PTX without the NUL that follows it */
    int registers, shared_bytes, local_bytes; /* the most of any kernel; −1 unknown */
    double seconds;                           /* it took to compile */
    const char *compiler;                     /* "NVRTC 13.0", in the job as data is */
    bool cached;                              /* it comes from the disk */
} binary;

/* A cubin behind which that of the program's spares lies: whoever loads the first does not see the
   second. */
blob binary_pair(job *, blob first, blob second);
/* The second of such a pair; no data where there is none. */
blob binary_second(blob pair);

typedef struct compiler compiler;
typedef struct compiler_ops {
    /* All that a binary depends on besides source, kind and architecture: a text in the job that
       differs wherever two compilers, their flags or the host's processor differ. Costs a few calls
       of the system and opens no compiler. NULL where that cannot be told: then nothing is cached.
       Until the first compilation it is of the compiler that is expected to be used; from then on
       of the one that is: whoever stores a binary asks again after compiling. */
    const char *(*identity)(compiler *, job *, binary_kind);
    /* In the job. Fails with FAULT_COMPILER and the whole log. `arch` is "sm_90", which is of no
       concern to BINARY_HOST. Any number of threads at once. */
    binary (*compile)(compiler *, job *, const program *, const char *arch, binary_kind);
    void (*close)(compiler *);
} compiler_ops;
struct compiler {
    const compiler_ops *ops; /* the compilers' own structs begin with this */
};

/* Devices behind one table of functions; nothing above it asks which it has.
   Takes: binaries. Makes: memory, loaded kernels, launches, times.
   All fail through the job they are given; those without one return nothing to fail with. */

typedef struct device device;
typedef struct module module; /* a loaded binary */

typedef struct device_facts {
    const char *device, *name, *arch; /* as in sg_device_info; live as long as the device */
    int multiprocessors;
    int64_t memory, l2_cache;
    double clock, memory_rate; /* Hz, and bytes a second at the peak; 0 where unknown */
    int driver;
    const char *bus; /* "00000000:1b:00.0": where a GPU is, for sensors; NULL where unknown */
} device_facts;

typedef struct function_facts {
    int registers, local_bytes, blocks_resident; /* −1 where the device has no such thing */
    double occupancy; /* resident threads over the most a multiprocessor holds; likewise */
} function_facts;

typedef struct device_options {
    int index, threads;
    compiler *nvrtc;    /* outlives the device */
    void *cuda_context; /* the caller's CUcontext to work in, or NULL */
    const char *cache;  /* the cache's folder, as long as the device; NULL: none */
} device_options;

/* `rows` runs of `bytes` each, which must not overlap. */
typedef struct device_copy {
    void *to;
    const void *from;
    size_t bytes, rows;
    size_t to_pitch, from_pitch; /* bytes from a row to the next; at least `bytes` */
} device_copy;

typedef struct device_ops {
    const char *name; /* "cuda", "cpu" */

    /* NULL, with *why set to a sentence in the job, where there is no such device. */
    device *(*open)(job *, const device_options *, const char **why);
    void (*close)(device *);
    const device_facts *(*facts)(const device *);

    binary_kind binary; /* what it loads */
    /* What makes it; valid as long as the device. */
    compiler *(*compiler)(device *);
    /* Binary to launchable kernels, one for each launch of the program. FAULT_DEVICE, with the
       driver's code in the text, where it is refused. */
    module *(*load)(device *, job *, const program *, blob);
    void (*unload)(device *, module *);
    function_facts (*function)(device *, job *, const module *, int launch);

    /* Launches kernel `launch` of the module: grid in blocks, the argument struct. Allocates
       nothing. Returns FAULT_NONE or FAULT_DEVICE with the driver's code in *code. */
    fault (*launch)(device *, const module *, int launch, const int64_t grid[3],
                    const void *arguments, size_t bytes, void *stream, int *code);

    /* The same with all blocks resident at a time, so that they may wait for each other; and how
       many of the kernel's blocks that is possible for. Where it is for none, there need not be
       such a launch. */
    fault (*launch_together)(device *, const module *, int launch, const int64_t grid[3],
                             const void *arguments, size_t bytes, void *stream, int *code);
    int64_t (*together)(device *, const module *, int launch);

    /* How many blocks of a launch of resident ones (base/program.h) run at a time; at least 1. */
    int64_t (*resident)(device *, const module *, int launch);

    void *(*alloc)(device *, job *, size_t bytes);
    void (*free)(device *, void *);
    void (*upload)(device *, job *, void *to, const void *from, size_t bytes);
    void (*download)(device *, job *, void *to, const void *from, size_t bytes);
    void (*copy)(device *, job *, const device_copy *, void *stream); /* asynchronous */
    void (*fill)(device *, job *, void *to, int byte, size_t bytes);
    /* Asynchronous, and like launch in all else. */
    fault (*fill_async)(device *, void *to, int byte, size_t bytes, void *stream, int *code);
    void (*synchronize)(device *, job *, void *stream);

    /* Seconds that `body` takes on the default stream, by the device's own clock. */
    double (*time)(device *, job *, void (*body)(job *, void *), void *argument);

    /* The name of a code of launch or fill_async. Valid for ever. */
    const char *(*code_name)(const device *, int code);
} device_ops;

extern const device_ops device_cuda, device_cpu;

struct device {
    const device_ops *ops; /* the devices' own structs begin with this */
};

/* What processor this is, for binaries that run on it alone. Makes: one line of text. */

/* "x86_64; vendor_id: …; model: …; flags: …", in the job: the same on machines of one processor
   model with the same features alone. NULL where the system does not tell. */
const char *host_machine(job *);

/* The same from another file and for another kind of machine, for tests. */
const char *machine_text(job *, const char *cpuinfo, const char *kind);

#endif
