/* The two compilers: NVRTC, which makes cubins and PTX, and the host's C++ compiler, which makes
   shared objects for the cpu device. Neither costs anything until it is used. Both are made in
   the job and must be closed before it ends. */
#ifndef SG_RUNTIME_COMPILE_COMPILERS_H
#define SG_RUNTIME_COMPILE_COMPILERS_H

#include "base/job.h"
#include "runtime/compile/command.h"
#include "runtime/device/device.h"

/* Makes BINARY_CUBIN and BINARY_PTX; opened by the first compilation. `path` may be NULL. */
compiler *nvrtc_compiler(job *, const char *path);

/* NVRTC itself, for reports. NULL, with *why a sentence that names the cure: there is none. */
typedef struct nvrtc nvrtc;
nvrtc *nvrtc_open(job *, const char *path, const char **why);
void nvrtc_close(nvrtc *);

const char *nvrtc_path(const nvrtc *);    /* of the library */
const char *nvrtc_version(const nvrtc *); /* "NVRTC 13.0" */
const char *nvrtc_reason(const nvrtc *);  /* the step of the search that found it */

/* Makes BINARY_HOST. The compiler is searched for at each use; the first compilation runs it to
   ask for its version. */
compiler *host_compiler(job *);

/* Where its scratch files go: TMPDIR unless the caller sets a better place. */
scratch_place *host_compiler_place(compiler *);

/* The program, by SG_CXX and PATH; runs nothing. path is NULL, with *why naming the cure: there
   is none. */
typedef struct host_program {
    const char *path;   /* "/usr/bin/c++" */
    const char *reason; /* "named by SG_CXX", "c++ in PATH" */
} host_program;
host_program host_find(job *, const char **why);

/* What the program says of itself; NULL, with *why, if it does not work. */
typedef struct host_answer {
    host_program program;
    char name[64]; /* "g++ 12.2.0" */
    bool native;   /* it can compile for this very processor */
    bool gnu;      /* it is GCC */
} host_answer;
const host_answer *host_ask(job *, host_program, const char **why);

/* Adds the flags of every compilation to a command of n words; returns the new count. */
enum { HOST_FLAGS = 24 };
int host_flags(const char **command, int n, bool native);

#endif
