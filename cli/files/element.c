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

/* ---- values --------------------------------------------------------------------------------- */

/* A loop for each type: the elements of large grids are many. What is an integer is finite. */
#define SCAN(name, type, judge)                                                                    \
    static void name(values *v, const unsigned char *from, size_t count) {                         \
        type least = 0, greatest = 0;                                                              \
        memcpy(&least, v->minimum, sizeof least);                                                  \
        memcpy(&greatest, v->maximum, sizeof greatest);                                            \
        for (size_t i = 0; i < count; i++) {                                                       \
            type now;                                                                              \
            memcpy(&now, from + i * sizeof now, sizeof now);                                       \
            judge;                                                                                 \
            if (!v->any || now < least)                                                            \
                least = now;                                                                       \
            if (!v->any || now > greatest)                                                         \
                greatest = now;                                                                    \
            v->any = true;                                                                         \
        }                                                                                          \
        memcpy(v->minimum, &least, sizeof least);                                                  \
        memcpy(v->maximum, &greatest, sizeof greatest);                                            \
    }

#define JUDGE_REAL                                                                                 \
    if (!isfinite(now)) {                                                                          \
        v->nan += isnan(now) != 0;                                                                 \
        v->infinite += isnan(now) == 0;                                                            \
        continue;                                                                                  \
    }

SCAN(scan_float, float, JUDGE_REAL)
SCAN(scan_double, double, JUDGE_REAL)
SCAN(scan_int32, int32_t, (void)0)
SCAN(scan_int64, int64_t, (void)0)
SCAN(scan_uint32, uint32_t, (void)0)

void values_add(values *v, const void *elements, size_t count) {
    static void (*const scans[ELEMENT_COUNT])(values *, const unsigned char *,
                                              size_t) = {[ELEMENT_FLOAT] = scan_float,
                                                         [ELEMENT_DOUBLE] = scan_double,
                                                         [ELEMENT_INT32] = scan_int32,
                                                         [ELEMENT_INT64] = scan_int64,
                                                         [ELEMENT_UINT32] = scan_uint32};
    scans[v->type](v, elements, count);
}

void values_text(const values *v, text *out) {
    if (v->any) {
        text_add(out, "minimum ");
        element_print(out, v->type, v->minimum);
        text_add(out, ", maximum ");
        element_print(out, v->type, v->maximum);
    } else {
        text_add(out, "no finite value");
    }
    text_printf(out, ", %" PRId64 " NaN, %" PRId64 " infinite", v->nan, v->infinite);
}

void values_json(const values *v, json *j) {
    if (v->any) {
        element_json(j, "minimum", v->type, v->minimum);
        element_json(j, "maximum", v->type, v->maximum);
    } else {
        json_null(j, "minimum");
        json_null(j, "maximum");
    }
    json_integer(j, "nan", v->nan);
    json_integer(j, "infinite", v->infinite);
}
