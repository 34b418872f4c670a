/* The types of numbers: one table, read by specs, planner, launches and checks alike.
   Takes and makes nothing; indexed by the enumeration. */
#ifndef SG_BASE_DTYPE_H
#define SG_BASE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

typedef enum dtype {
    DTYPE_FLOAT,
    DTYPE_DOUBLE,
    DTYPE_WIDE,              /* those before are what stencils and matrices compute with */
    DTYPE_HALF = DTYPE_WIDE, /* of memory alone: arithmetic is in float */
    DTYPE_BFLOAT16,
    DTYPE_REALS, /* those before are real */
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
    double smallest;       /* above 0; 0: whole */
    double epsilon; /* the unit roundoff: half the distance from 1 to the next number; 0: whole */
    const char *summary;
} dtype_word;
extern const dtype_word dtype_words[DTYPE_COUNT];

/* The one of this name; DTYPE_COUNT where there is none. */
dtype dtype_find(const char *name);

/* Whether numbers of the type are converted when they are loaded and when they are stored. */
static inline bool dtype_is_narrow(dtype type) {
    return type == DTYPE_HALF || type == DTYPE_BFLOAT16;
}

/* The type of the arithmetic on numbers of the type. */
static inline dtype dtype_computes(dtype type) {
    return dtype_is_narrow(type) ? DTYPE_FLOAT : type;
}

/* The 16 bits of a number: IEEE 754 binary16, and the upper half of binary32. Rounded to nearest
   even, once; beyond the largest it is an infinity, and every NaN is 0x7fff, as on a GPU. */
uint16_t dtype_narrow(dtype, double value);
double dtype_widen(dtype, uint16_t bits);

/* A number as the real dtype holds it. */
static inline double dtype_round(dtype type, double value) {
    return type == DTYPE_FLOAT     ? (double)(float)value
           : dtype_is_narrow(type) ? dtype_widen(type, dtype_narrow(type, value))
                                   : value;
}

/* An element at an address as a double, rounded where it is an int64 that no double holds. */
double dtype_value(dtype, const void *element);

/* An element for people: whole numbers exactly, others with 9 digits. */
void dtype_print(dtype, const void *element, text *to);

/* Writes a number that the type holds; real ones are rounded to it. */
void dtype_store(dtype, void *element, double value);

/* Orders doubles, for qsort. */
int dtype_compare(const void *, const void *);

#endif
