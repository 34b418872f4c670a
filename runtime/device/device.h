/* Binaries, compilers and devices: the tables of functions through which everything above uses a
   GPU or the cpu device without asking which it is. */
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
    blob data;                                /* PTX without its final NUL */
    int registers, shared_bytes, local_bytes; /* the most of any kernel; −1 unknown */
    double seconds;                           /* of compilation */
    const char *compiler;                     /* "NVRTC 13.0", in the job as data is */
    bool cached;                              /* read from the disk */
} binary;

/* A cubin followed by the cubin of the program's spares. Whoever loads the first does not see
   the second. */
blob binary_pair(job *, blob first, blob second);
/* The second of a pair; no data where there is none. */
blob binary_second(blob pair);

typedef struct compiler compiler;
typedef struct compiler_ops {
    /* Everything that a binary depends on besides source, kind and architecture, as a text: it
       differs whenever the compiler, its flags or the host's processor do. Costs a few system
       calls and opens no compiler. NULL: unknown, so nothing is cached. Before the first
       compilation it describes the compiler that would be used, afterwards the one that was: ask
       again before storing a binary. */
    const char *(*identity)(compiler *, job *, binary_kind);
    /* In the job. Fails with FAULT_COMPILER and the whole log. `arch` is "sm_90"; BINARY_HOST
       ignores it. Any number of threads may call it at once. */
    binary (*compile)(compiler *, job *, const program *, const char *arch, binary_kind);
    void (*close)(compiler *);
} compiler_ops;
struct compiler {
    const compiler_ops *ops; /* compilers' own structs begin with this */
};

/* A device makes memory, loaded kernels, launches and times. Functions with a job fail through
   it; the others cannot fail. */

typedef struct device device;
typedef struct module module; /* a loaded binary */

typedef struct device_facts {
    const char *device, *name, *arch; /* as in sg_device_info; valid as long as the device */
    int multiprocessors;
    int64_t memory, l2_cache;
    int64_t l3_cache;          /* of a processor; 0: unknown, or a GPU */
    int vector_bytes;          /* of a processor's widest registers; 0: a GPU */
    double clock, memory_rate; /* Hz, and bytes a second at the peak; 0 where unknown */
    int driver;
    const char *bus; /* "00000000:1b:00.0", where a GPU is on the bus; NULL: unknown */
} device_facts;

typedef struct function_facts {
    int registers, local_bytes, blocks_resident; /* −1: the device has no such thing */
    double occupancy; /* resident threads over the most that a multiprocessor holds; −1 likewise */
} function_facts;

typedef struct device_options {
    int index, threads;
    compiler *nvrtc;    /* outlives the device */
    void *cuda_context; /* the caller's CUcontext to work in, or NULL */
    const char *cache;  /* the cache's folder, as long as the device; NULL: none */
} device_options;

/* `rows` runs of `bytes` each, which do not overlap. */
typedef struct device_copy {
    void *to;
    const void *from;
    size_t bytes, rows;
    size_t to_pitch, from_pitch; /* bytes from a row to the next; at least `bytes` */
} device_copy;

/* A grid of three axes, x first and with a stride of 1, and the box of it that a bulk copy fetches.
 */
typedef struct device_map {
    void *data;
    size_t element_bytes;       /* 2: 16 bits, 4: float, 8: double */
    int64_t size[3], stride[3]; /* in elements */
    int box[3];
} device_map;

/* Device memory as another rank's device can find it, of this process or of another on the machine.
   Plain bytes. */
enum { DEVICE_HANDLE = 64 };
typedef struct device_place {
    int64_t process;
    uint64_t address, context;           /* as this process has them */
    uint64_t offset;                     /* from the beginning of its allocation */
    int32_t device;                      /* as the driver numbers it in this process */
    int32_t exported;                    /* other processes can open it, by: */
    unsigned char handle[DEVICE_HANDLE]; /* of the allocation */
} device_place;

typedef struct device_ops {
    const char *name; /* "cuda", "cpu" */

    /* NULL, with *why set to a sentence in the job: there is no such device. */
    device *(*open)(job *, const device_options *, const char **why);
    void (*close)(device *);
    const device_facts *(*facts)(const device *);

    binary_kind binary; /* what it loads */
    /* The compiler of that kind; valid as long as the device. */
    compiler *(*compiler)(device *);
    /* Makes a kernel for each launch of the program. A refused binary is FAULT_DEVICE with the
       driver's code in the text. */
    module *(*load)(device *, job *, const program *, blob);
    void (*unload)(device *, module *);
    function_facts (*function)(device *, job *, const module *, int launch);

    /* Launches kernel `launch` of the module: the grid in blocks, the argument struct. Allocates
       nothing. FAULT_NONE, or FAULT_DEVICE with the driver's code in *code. */
    fault (*launch)(device *, const module *, int launch, const int64_t grid[3],
                    const void *arguments, size_t bytes, void *stream, int *code);

    /* A cooperative launch: all blocks are resident at a time and may wait for each other.
       `together` returns the most blocks for which that is possible; 0: there is no such launch. */
    fault (*launch_together)(device *, const module *, int launch, const int64_t grid[3],
                             const void *arguments, size_t bytes, void *stream, int *code);
    int64_t (*together)(device *, const module *, int launch);

    /* Writes what kernels know a map by, PROGRAM_MAP_BYTES bytes at a multiple of
       PROGRAM_MAP_ALIGNMENT; false: the device cannot copy such boxes. */
    bool (*map)(device *, const device_map *, void *to);

    /* The blocks of a launch of resident ones (base/program.h) that run at a time; at least 1. */
    int64_t (*resident)(device *, const module *, int launch);

    void *(*alloc)(device *, job *, size_t bytes);
    void (*free)(device *, void *);
    void (*upload)(device *, job *, void *to, const void *from, size_t bytes);
    void (*download)(device *, job *, void *to, const void *from, size_t bytes);
    /* Host memory that the device reaches by itself, or the job fails; and a download
       that is asynchronous into such memory. */
    void *(*host_alloc)(device *, job *, size_t bytes);
    void (*host_free)(device *, void *);
    void (*download_async)(device *, job *, void *to, const void *from, size_t bytes, void *stream);
    void (*copy)(device *, job *, const device_copy *, void *stream); /* asynchronous */
    void (*fill)(device *, job *, void *to, int byte, size_t bytes);
    /* Asynchronous; fails as launch does. */
    fault (*fill_async)(device *, void *to, int byte, size_t bytes, void *stream, int *code);
    void (*synchronize)(device *, job *, void *stream);
    bool (*idle)(device *, job *, void *stream); /* whether all of its work is done */

    /* A stream whose work goes before that of others, and its end. */
    void *(*stream_open)(device *, job *);
    void (*stream_close)(device *, void *stream);
    /* What is sent to `after` from now on begins when all that was sent to `before` is done. */
    void (*order)(device *, job *, void *before, void *after);

    /* Calls body in the device's CUDA context, for libraries that want it current; body cannot fail
       the job. Without a job, failures to enter the context are ignored, and body is not called. */
    void (*within)(device *, job *, void (*body)(void *), void *argument);
    /* The device's memory is the host's, and there is one stream, whose calls are done when they
       return. It has no download_async, idle, stream_open, stream_close, within, tick, between,
       memory_number and peer_*, which are NULL. */
    bool host_memory;

    /* The point that a stream's work has been put up to, whether the work is past it, and the end
       of the point. No stream is waited for. The cpu device's is NULL. */
    void *(*mark)(device *, job *, void *stream);
    bool (*passed)(device *, job *, void *mark);
    void (*unmark)(device *, void *mark);
    /* A mark with a time, and the seconds between two that have passed; negative: the second one
       was earlier. */
    void *(*tick)(device *, job *, void *stream);
    double (*between)(device *, job *, void *from, void *to);

    /* A number of the allocation that holds this address, which no other had before; 0: not known.
       Can be asked while a stream is captured. */
    uint64_t (*memory_number)(device *, const void *memory);
    /* Where memory of this device is, for peer_open on another. */
    device_place (*peer_place)(device *, const void *memory);
    /* The allocation of such a place, as kernels of this device can read and write it; *base is
       where it begins, or in the same process the place itself. False: they cannot. */
    bool (*peer_open)(device *, const device_place *, void **base);
    void (*peer_close)(device *, const device_place *, void *base);

    /* The seconds that `body` takes on the default stream by the device's own clock. */
    double (*time)(device *, job *, void (*body)(job *, void *), void *argument);

    /* The name of a code of launch or fill_async, valid for ever. */
    const char *(*code_name)(const device *, int code);
} device_ops;

extern const device_ops device_cuda, device_cpu;

struct device {
    const device_ops *ops; /* devices' own structs begin with this */
};

/* What processor this is, for binaries that run on it alone. Makes: one line of text. */

/* The host's processor: "x86_64; vendor_id: …; model: …; flags: …", the same only on machines
   with the same processor model and features. NULL: unknown. */
const char *host_machine(job *);

/* The same from another file and kind of machine, for tests. */
const char *machine_text(job *, const char *cpuinfo, const char *kind);

#endif
