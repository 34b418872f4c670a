/* The vocabularies of specs and plans: one table each, read by parser, printer, planner and docs.
   Takes and makes nothing; indexed by the enumerations below. */
#ifndef SG_GEN_WORDS_H
#define SG_GEN_WORDS_H

#include <stddef.h>

enum { AXES = 3, MAX_REACH = 8, MAX_FIELDS = 16, MAX_PARAMETERS = 64, MAX_NAME = 63 };

typedef enum dtype {
    DTYPE_FLOAT,
    DTYPE_DOUBLE,
    DTYPE_REALS, /* those before are real: all that stencils and matrices may have */
    DTYPE_INT32 = DTYPE_REALS,
    DTYPE_INT64,
    DTYPE_UINT32,
    DTYPE_COUNT
} dtype;
typedef struct dtype_word {
    const char *name;   /* in specs */
    const char *c_name; /* in CUDA text */
    size_t bytes;
    double least, largest; /* finite; of int64 the largest that a double holds */
    double epsilon; /* the unit roundoff: half the distance from 1 to the next number; 0: whole */
    const char *summary;
} dtype_word;
extern const dtype_word dtype_words[DTYPE_COUNT];

typedef enum method {
    METHOD_AUTO,
    METHOD_NAIVE,
    METHOD_TILED,
    METHOD_COARSENED,
    METHOD_REGISTER,
    METHOD_COUNT
} method;
typedef struct method_word {
    const char *name;
    const char *summary; /* one sentence for documentation and `explain` */
} method_word;
extern const method_word method_words[METHOD_COUNT];

typedef enum boundary {
    BOUNDARY_FIXED,
    BOUNDARY_ZERO,
    BOUNDARY_CONSTANT,
    BOUNDARY_CLAMP,
    BOUNDARY_MIRROR,
    BOUNDARY_PERIODIC,
    BOUNDARY_COUNT
} boundary;
typedef struct boundary_word {
    const char *name;
    const char *summary;
} boundary_word;
extern const boundary_word boundary_words[BOUNDARY_COUNT];

typedef enum field_use { USE_IN, USE_OUT, USE_INOUT, USE_COUNT } field_use;
extern const char *const use_words[USE_COUNT];

extern const char axis_names[AXES]; /* 'x', 'y', 'z' */

#endif
