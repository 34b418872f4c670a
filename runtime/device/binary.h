/* Binaries and the compilers that make them, behind one table.
   Takes: a program. Makes: a cubin, PTX, or a shared object of the host. */
#ifndef SG_RUNTIME_DEVICE_BINARY_H
#define SG_RUNTIME_DEVICE_BINARY_H

#include "base/job.h"
#include "base/program.h"
#include "runtime/files/digest.h"

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

#endif
