/* Leaving out what a plan decides against. Takes: CUDA text and the constants of its plan. Makes:
   the text without the directives and the `if constexpr` that they decide, but for the side that
   is left, and with the words that stand for the macros of one word. */
#ifndef SG_GEN_SOURCE_FOLD_H
#define SG_GEN_SOURCE_FOLD_H

#include "base/text.h"
#include "gen/source/decide.h"

/* What the architecture decides: __CUDA_ARCH__ of "sm_90". */
constants fold_constants(job *, const char *arch);

/* The text folded; what it defines is added to the constants, for text that comes after it. */
const char *fold(constants *, const char *text);

#endif
