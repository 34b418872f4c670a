/* The table of dtype.h. */
#include "base/dtype.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

const dtype_word dtype_words[DTYPE_COUNT] = {
    [DTYPE_FLOAT] = {"float", "float", 4, -FLT_MAX, FLT_MAX, FLT_EPSILON / 2, "32 bits"},
    [DTYPE_DOUBLE] = {"double", "double", 8, -DBL_MAX, DBL_MAX, DBL_EPSILON / 2, "64 bits"},
    [DTYPE_INT32] = {"int32", "int", 4, INT32_MIN, INT32_MAX, 0, "whole numbers of 32 bits"},
    [DTYPE_INT64] = {"int64", "long long", 8, -0x1p63, 0x1.fffffffffffffp62, 0,
                     "whole numbers of 64 bits"},
    [DTYPE_UINT32] = {"uint32", "unsigned", 4, 0, UINT32_MAX, 0,
                      "whole numbers of 32 bits without a sign"},
};

dtype dtype_find(const char *name) {
    int i = 0;
    while (i < DTYPE_COUNT && (name == NULL || strcmp(dtype_words[i].name, name) != 0))
        i++;
    return (dtype)i;
}

typedef union number {
    float single;
    double real;
    int32_t small;
    int64_t whole;
    uint32_t natural;
} number;

double dtype_value(dtype type, const void *element) {
    number n;
    memcpy(&n, element, dtype_words[type].bytes);
    switch (type) {
    case DTYPE_FLOAT:
        return (double)n.single;
    case DTYPE_INT32:
        return n.small;
    case DTYPE_INT64:
        return (double)n.whole;
    case DTYPE_UINT32:
        return n.natural;
    default:
        return n.real;
    }
}

void dtype_print(dtype type, const void *element, text *to) {
    number n;
    memcpy(&n, element, dtype_words[type].bytes);
    if (type == DTYPE_INT64)
        text_printf(to, "%lld", (long long)n.whole);
    else
        text_number(to, dtype_value(type, element), dtype_words[type].epsilon == 0 ? 10 : 9);
}

void dtype_store(dtype type, void *element, double value) {
    number n;
    switch (type) {
    case DTYPE_FLOAT:
        n.single = (float)value;
        break;
    case DTYPE_INT32:
        n.small = (int32_t)value;
        break;
    case DTYPE_INT64:
        n.whole = (int64_t)value;
        break;
    case DTYPE_UINT32:
        n.natural = (uint32_t)value;
        break;
    default:
        n.real = value;
        break;
    }
    memcpy(element, &n, dtype_words[type].bytes);
}
