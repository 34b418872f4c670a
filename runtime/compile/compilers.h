/* NVRTC, found and opened while running. Takes: CUDA source. Makes: cubins and PTX.
   Needs no CUDA header. Search order: an explicit path; already loaded; CUDA_PATH and CUDA_HOME;
   the system loader; Python wheels (nvidia/…/lib); what setup.sh fetched beside the command. */
#ifndef SG_RUNTIME_COMPILE_COMPILERS_H
#define SG_RUNTIME_COMPILE_COMPILERS_H

#include "base/job.h"
#include "runtime/compile/scratch.h"
#include "runtime/device/device.h"

/* Makes BINARY_CUBIN and BINARY_PTX. In the job, to be closed before it ends; costs nothing until
   it is used: NVRTC is opened by the first compilation. `path` may be NULL. */
compiler *nvrtc_compiler(job *, const char *path);

/* For who wants to know what would be used: NULL, with *why a sentence that names the cure, where
   there is none. */
typedef struct nvrtc nvrtc;
nvrtc *nvrtc_open(job *, const char *path, const char **why);
void nvrtc_close(nvrtc *);

const char *nvrtc_path(const nvrtc *);    /* the library's file */
const char *nvrtc_version(const nvrtc *); /* "NVRTC 13.0" */
const char *nvrtc_reason(const nvrtc *);  /* which step of the search found it */

/* The host's C++ compiler. Takes: a program. Makes: a shared object with its kernels. */

/* Makes BINARY_HOST. In the job, to be closed before it ends; costs nothing until it is used: the
   compiler is looked for at each use, and run and asked who it is by the first compilation. */
compiler *host_compiler(job *);

/* Where it keeps files for a moment: in TMPDIR until somebody sets a better one. */
scratch_place *host_compiler_place(compiler *);

/* The host's C++ compiler as a program. Takes: SG_CXX, PATH. Makes: where it is, what it says it
   is, and the flags that it gets. */

/* path is NULL, with *why a sentence that names the cure, where there is none. Runs nothing. */
typedef struct host_program {
    const char *path;   /* "/usr/bin/c++" */
    const char *reason; /* "named by SG_CXX", "c++ in PATH" */
} host_program;
host_program host_find(job *, const char **why);

/* NULL, with *why, where it does not work. */
typedef struct host_answer {
    host_program program;
    const char *name; /* "g++ 12.2.0" */
    bool native;      /* it compiles for this very processor when told to */
    bool gnu;         /* it is GCC */
} host_answer;
const host_answer *host_ask(job *, host_program, const char **why);

/* Adds what every compilation is given to a command of n words; returns how many it has then. */
enum { HOST_FLAGS = 24 };
int host_flags(const char **command, int n, bool native);

#endif
