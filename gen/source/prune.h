/* Leaving out what nothing uses. Takes: the CUDA text of a file. Makes: the text without the
   declarations, members and comments that its kernels cannot reach by name.

   What counts are names alone: a declaration stays where anything that stays has its name, whatever
   that means there. So too much may stay, never too little. */
#ifndef SG_GEN_SOURCE_PRUNE_H
#define SG_GEN_SOURCE_PRUNE_H

#include "base/text.h"

/* Kernels are what is declared extern "C". The names of a namespace are seen in it, those outside
   of all everywhere. */
const char *prune(job *, const char *text);

#endif
