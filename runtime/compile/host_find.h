/* The host's C++ compiler as a program. Takes: SG_CXX, PATH. Makes: where it is, what it says it
   is, and the flags that it gets. */
#ifndef SG_RUNTIME_COMPILE_HOST_FIND_H
#define SG_RUNTIME_COMPILE_HOST_FIND_H

#include "base/job.h"

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
