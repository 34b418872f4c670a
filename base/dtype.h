/* The types of numbers: one table, read by specs, planner, launches and checks alike.
   Takes and makes nothing; indexed by the enumeration. */
#ifndef SG_BASE_DTYPE_H
#define SG_BASE_DTYPE_H

#include "base/text.h"

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

/* The one of this name; DTYPE_COUNT where there is none. */
dtype dtype_find(const char *name);

/* A number as the real dtype holds it. */
static inline double dtype_round(dtype type, double value) {
    return type == DTYPE_FLOAT ? (double)(float)value : value;
}

/* An element at an address as a double, rounded where it is an int64 that no double holds. */
double dtype_value(dtype, const void *element);

/* An element for people: whole numbers exactly, others with 9 digits. */
void dtype_print(dtype, const void *element, text *to);

/* Writes a number that the type holds; real ones are rounded to it. */
void dtype_store(dtype, void *element, double value);

#endif
