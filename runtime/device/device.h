/* Devices behind one table of functions; nothing above it asks which it has.
   Takes: binaries. Makes: memory, loaded kernels, launches, times.
   All fail through the job they are given; those without one return nothing to fail with. */
#ifndef SG_RUNTIME_DEVICE_DEVICE_H
#define SG_RUNTIME_DEVICE_DEVICE_H

#include "runtime/device/binary.h"

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

#endif
