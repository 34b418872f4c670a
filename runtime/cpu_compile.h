/* The host's C++ compiler. Takes: a program. Makes: a shared object with its kernels. */
#ifndef SG_RUNTIME_CPU_COMPILE_H
#define SG_RUNTIME_CPU_COMPILE_H

#include "runtime/binary.h"
#include "runtime/cpu_machine.h"

/* Makes BINARY_HOST. In the job, to be closed before it ends; costs nothing until it is used: the
   compiler is looked for at each use, and run and asked who it is by the first compilation. */
compiler *host_compiler(job *);

#endif
