/* What the elements of an array are like. Takes: the elements, in pieces. Makes: the least and the
   greatest finite one, and how many are none. */
#ifndef SG_CLI_FILES_VALUES_H
#define SG_CLI_FILES_VALUES_H

#include "cli/files/element.h"

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
