/* Types of array elements, one table: what kernels, .npy and .vti files call them.
   Takes: elements as they lie in memory. Makes: numbers, and text that reads back exactly. */
#ifndef SG_CLI_FILES_ELEMENT_H
#define SG_CLI_FILES_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/json.h"

typedef enum element {
    ELEMENT_FLOAT,
    ELEMENT_DOUBLE,
    ELEMENT_INT32,
    ELEMENT_INT64,
    ELEMENT_UINT32,
    ELEMENT_COUNT
} element;

typedef struct element_word {
    const char *dtype; /* of kernels: "float" */
    const char *numpy; /* "float32" */
    const char *code;  /* in .npy headers, after the byte order: "f4" */
    const char *vtk;   /* "Float32" */
    size_t bytes;
} element_word;
extern const element_word element_words[ELEMENT_COUNT];

/* Of a kernel's dtype; ELEMENT_COUNT where there is none of this name. */
element element_find(const char *dtype);

/* One element, which need not be aligned, as a double, and back: rounded to nearest and, of
   integers, kept in range, NaN becoming 0. */
double element_get(element, const void *from);
void element_put(element, double value, void *to);

/* The shortest decimal that reads back as the same element; nan, inf and -inf. */
void element_print(text *, element, const void *from);
/* The same as a JSON number, or as the strings "nan", "inf" and "-inf". */
void element_json(json *, const char *key, element, const void *from);

/* Takes a piece of an array; `offset` and `count` are bytes, and whole elements. */
typedef bool (*element_take)(void *user, uint64_t offset, const void *bytes, size_t count);

/* ---- values --------------------------------------------------------------------------------- */

/* What the elements of an array are like: the least and the greatest finite one, and how many are
   not finite. */
typedef struct values {
    element type;
    bool any;                             /* whether one is finite */
    unsigned char minimum[8], maximum[8]; /* elements, where one is */
    int64_t nan, infinite;
} values;

void values_add(values *, const void *elements, size_t count);

/* "minimum 0.02, maximum 0.4, 0 NaN, 0 infinite" */
void values_text(const values *, text *out);
/* The keys of an open object. */
void values_json(const values *, json *);

#endif
