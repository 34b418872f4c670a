/* Types of array elements. */
#include "cli/files/element.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const element_word element_words[ELEMENT_COUNT] = {
    [ELEMENT_FLOAT] = {"float", "float32", "f4", "Float32", 4},
    [ELEMENT_DOUBLE] = {"double", "float64", "f8", "Float64", 8},
    [ELEMENT_INT32] = {"int32", "int32", "i4", "Int32", 4},
    [ELEMENT_INT64] = {"int64", "int64", "i8", "Int64", 8},
    [ELEMENT_UINT32] = {"uint32", "uint32", "u4", "UInt32", 4},
};

element element_find(const char *dtype) {
    element type = 0;
    while (type < ELEMENT_COUNT && strcmp(element_words[type].dtype, dtype) != 0)
        type++;
    return type;
}

typedef union number {
    float f;
    double d;
    int32_t i;
    int64_t l;
    uint32_t u;
} number;

static number load(element type, const void *from) {
    number n = {.l = 0};
    memcpy(&n, from, element_words[type].bytes);
    return n;
}

double element_get(element type, const void *from) {
    const number n = load(type, from);
    switch (type) {
    case ELEMENT_FLOAT:
        return n.f;
    case ELEMENT_DOUBLE:
        return n.d;
    case ELEMENT_INT32:
        return n.i;
    case ELEMENT_INT64:
        return (double)n.l;
    case ELEMENT_UINT32:
    case ELEMENT_COUNT:
        break;
    }
    return n.u;
}

/* To [least, 2^bits), of which a double holds both ends. */
static double confine(double value, double least, int bits) {
    const double end = ldexp(1, bits), whole = isnan(value) ? 0 : round(value);
    return whole < least ? least : whole >= end ? nextafter(end, 0) : whole;
}

void element_put(element type, double value, void *to) {
    number n = {.l = 0};
    switch (type) {
    case ELEMENT_FLOAT:
        n.f = (float)value;
        break;
    case ELEMENT_DOUBLE:
        n.d = value;
        break;
    case ELEMENT_INT32:
        n.i = (int32_t)confine(value, INT32_MIN, 31);
        break;
    case ELEMENT_INT64:
        n.l = (int64_t)confine(value, (double)INT64_MIN, 63);
        break;
    case ELEMENT_UINT32:
    case ELEMENT_COUNT:
        n.u = (uint32_t)confine(value, 0, 32);
        break;
    }
    memcpy(to, &n, element_words[type].bytes);
}

void element_print(text *out, element type, const void *from) {
    const number n = load(type, from);
    const double value = element_get(type, from);
    if (type == ELEMENT_INT64)
        text_printf(out, "%" PRId64, n.l);
    else if (type != ELEMENT_FLOAT && type != ELEMENT_DOUBLE)
        text_printf(out, "%" PRId64, (int64_t)value);
    else if (isfinite(value))
        text_shortest(out, value, type == ELEMENT_FLOAT);
    else
        text_add(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

void element_json(json *j, const char *key, element type, const void *from) {
    text out = new_text();
    element_print(&out, type, from);
    if (isfinite(element_get(type, from)))
        json_literal(j, key, out.data);
    else
        json_string(j, key, out.data);
}
