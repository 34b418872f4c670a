/* The host's C++ compiler. Takes: a program. Makes: a shared object with its kernels. */
#ifndef SG_RUNTIME_COMPILE_HOST_H
#define SG_RUNTIME_COMPILE_HOST_H

#include "runtime/compile/scratch.h"
#include "runtime/device/binary.h"
#include "runtime/device/machine.h"

/* Makes BINARY_HOST. In the job, to be closed before it ends; costs nothing until it is used: the
   compiler is looked for at each use, and run and asked who it is by the first compilation. */
compiler *host_compiler(job *);

/* Where it keeps files for a moment: in TMPDIR until somebody sets a better one. */
scratch_place *host_compiler_place(compiler *);

#endif
