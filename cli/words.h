/* What reports call things, one table by the kind of a kernel; and the size of a tuning result. */
#ifndef SG_CLI_WORDS_H
#define SG_CLI_WORDS_H

#include "cli/command.h"

typedef struct words {
    bool is_grid;       /* has a shape, a boundary and steps */
    const char *points; /* "elements" */
    const char *point;  /* "an element" */
    const char *step;   /* "a step": what is timed */
    const char *way[2]; /* what words of a plan without a value mean: "format", "algorithm" */
} words;

sg_kernel_info facts_of(const sg_kernel *);
const words *words_of(const sg_kernel *);
const words *words_of_kind(sg_kind); /* of lists, if the kind is not known */

/* Whether the size is a matrix's: rows, columns, entries, longest row, empty rows, diagonals. */
bool result_is_of_matrix(const sg_result *);
/* The points of a grid, the elements of a list, the entries of a matrix: in all steps of a run. */
double result_points(const sg_result *);
/* "512x512x512", "2000x1000 with 5000 entries". */
void result_add_size(text *, const sg_result *);

#endif
