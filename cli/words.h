/* What reports call things, by the family of a kernel, one table. */
#ifndef SG_CLI_WORDS_H
#define SG_CLI_WORDS_H

#include <stdbool.h>

#include "runtime/stencilgen.h"

typedef struct words {
    const char *family;
    bool is_grid;       /* has a shape, a boundary and steps */
    const char *points; /* "elements" */
    const char *point;  /* "an element" */
    const char *step;   /* "a step": what is timed */
} words;

/* Those of lists for a family that is not known. */
const words *words_of(const sg_kernel *);
const words *words_of_family(const char *family);

#endif
