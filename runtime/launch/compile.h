/* Program to binary, by way of the cache.
   Takes: a program. Makes: its binary, found in the cache or compiled and stored there. */
#ifndef SG_RUNTIME_LAUNCH_COMPILE_H
#define SG_RUNTIME_LAUNCH_COMPILE_H

#include "runtime/launch/context.h"

/* What a binary depends on: the library's version, the source and its kernels, kind and
   architecture, and the identity of the compiler (NULL: one that cannot be told). */
digest compile_key(job *, const program *, binary_kind, const char *identity);

/* A binary for the program's target, in the job. `refused` is NULL or says why the one that the
   cache has is of no use: then it is forgotten and compiled anew. */
binary compile_program(job *, sg_context *, compiler *, const program *, binary_kind,
                       const char *refused);

#endif
