/* The host's C++ compiler. Takes: a program. Makes: a shared object with its kernels. */
#ifndef SG_RUNTIME_CPU_COMPILE_H
#define SG_RUNTIME_CPU_COMPILE_H

#include "runtime/device.h"

/* A binary depends on all of these; `macros` stands for the compiler's version and for the features
   of the processor that it compiles for. */
typedef struct cpu_compiler {
    const char *path;   /* "/usr/bin/c++" */
    const char *name;   /* "g++ 12.2.0" */
    const char *reason; /* "named by SG_CXX", "c++ in PATH" */
    const char *const *flags;
    int flag_count;
    const char *macros; /* what it predefines under these flags */
} cpu_compiler;

/* In the job's memory. NULL, with *why a sentence that names the cure, where there is none that
   works. */
const cpu_compiler *cpu_compiler_find(job *, const char **why);

/* "g++ 12.2.0", or what says that there is none. */
const char *cpu_compiler_name(const cpu_compiler *);

/* Fails with FAULT_COMPILER, the command and all that the compiler printed. */
blob cpu_compile(const cpu_compiler *, job *, const program *);

#endif
