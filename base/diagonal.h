/* A diagonal of a matrix that holds one value: what matrix/ finds, gen/ compiles in and runtime/
 * compares. */
#ifndef SG_BASE_DIAGONAL_H
#define SG_BASE_DIAGONAL_H

#include <stdint.h>

typedef struct diagonal {
    int64_t offset; /* column − row */
    double value;   /* finite; of a matrix of floats a float */
} diagonal;

enum { MOST_DIAGONALS = 31 }; /* a bit each, and one for rows that have other entries */

#endif
