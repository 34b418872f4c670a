/* What reports call things, by the kind of a kernel, one table. */
#ifndef SG_CLI_WORDS_H
#define SG_CLI_WORDS_H

#include <stdbool.h>

#include "runtime/stencilgen.h"

typedef struct words {
    bool is_grid;       /* has a shape, a boundary and steps */
    const char *points; /* "elements" */
    const char *point;  /* "an element" */
    const char *step;   /* "a step": what is timed */
    const char *way[2]; /* what the words of a plan without a value say: "format", "algorithm" */
} words;

const words *words_of(const sg_kernel *);
const words *words_of_kind(sg_kind); /* those of lists for a kind that is not known */

#endif
