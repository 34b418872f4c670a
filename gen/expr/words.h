/* The vocabularies of specs and plans: one table each, read by parser, printer, planner and docs.
   Takes and makes nothing; indexed by the enumerations below. */
#ifndef SG_GEN_EXPR_WORDS_H
#define SG_GEN_EXPR_WORDS_H

#include <stddef.h>

#include "base/dtype.h"

enum { AXES = 3, MAX_REACH = 8, MAX_FIELDS = 16, MAX_PARAMETERS = 64, MAX_NAME = 63 };

/* A word, and one sentence for documentation and `explain`. */
typedef struct word_row {
    const char *name;
    const char *summary;
} word_row;

typedef enum boundary {
    BOUNDARY_FIXED,
    BOUNDARY_ZERO,
    BOUNDARY_CONSTANT,
    BOUNDARY_CLAMP,
    BOUNDARY_MIRROR,
    BOUNDARY_PERIODIC,
    BOUNDARY_COUNT
} boundary;
extern const word_row boundary_words[BOUNDARY_COUNT];

typedef enum field_use { USE_IN, USE_OUT, USE_INOUT, USE_COUNT } field_use;
extern const char *const use_words[USE_COUNT];

extern const char axis_names[AXES]; /* 'x', 'y', 'z' */

#endif
