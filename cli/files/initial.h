/* Initial fields from expressions. Takes: an expression, a grid and a box in it. Makes: elements of
   a dtype, in pieces. Safe in any thread: nothing is printed. */
#ifndef SG_CLI_FILES_INITIAL_H
#define SG_CLI_FILES_INITIAL_H

#include "cli/files/datafile.h"

typedef struct initial {
    const char *name; /* of the array, for errors: "--init u" */
    const char *expression;
    dtype type;
    int64_t size[3]; /* of the grid; unused axes 1 */
    int64_t begin[3], end[3];
} initial;

/* The elements of a box, dense, x fastest. False ends the work. */
typedef bool (*initial_take)(void *user, const int64_t begin[3], const int64_t end[3],
                             const unsigned char *elements);

/* Hands on all cells in pieces, which follow each other in a dense array of the box. SG_OK also
   where `take` ends it. */
sg_status initial_each(sg_context *, const initial *, initial_take take, void *user);

#endif
