/* The table of dtype.h. */
#include "base/dtype.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

const dtype_word dtype_words[DTYPE_COUNT] = {
    [DTYPE_FLOAT] = {"float", "float", 4, -FLT_MAX, FLT_MAX, FLT_TRUE_MIN, FLT_EPSILON / 2,
                     "32 bits"},
    [DTYPE_DOUBLE] = {"double", "double", 8, -DBL_MAX, DBL_MAX, DBL_TRUE_MIN, DBL_EPSILON / 2,
                      "64 bits"},
    [DTYPE_HALF] = {"half", "Half", 2, -0x1.ffcp15, 0x1.ffcp15, 0x1p-24, 0x1p-11,
                    "16 bits, 11 of them the digits; arithmetic in float"},
    [DTYPE_BFLOAT16] = {"bfloat16", "Bfloat16", 2, -0x1.fep127, 0x1.fep127, 0x1p-133, 0x1p-8,
                        "16 bits with the range of a float; arithmetic in float"},
    [DTYPE_INT32] = {"int32", "int", 4, INT32_MIN, INT32_MAX, 0, 0, "whole numbers of 32 bits"},
    [DTYPE_INT64] = {"int64", "long long", 8, -0x1p63, 0x1.fffffffffffffp62, 0, 0,
                     "whole numbers of 64 bits"},
    [DTYPE_UINT32] = {"uint32", "unsigned", 4, 0, UINT32_MAX, 0, 0,
                      "whole numbers of 32 bits without a sign"},
};

dtype dtype_find(const char *name) {
    int i = 0;
    while (i < DTYPE_COUNT && (name == NULL || strcmp(dtype_words[i].name, name) != 0))
        i++;
    return (dtype)i;
}

/* ---- 16 bits --------------------------------------------------------------------------------- */

static int fraction_bits(dtype type) {
    return type == DTYPE_HALF ? 10 : 7;
}

uint16_t dtype_narrow(dtype type, double value) {
    const int bits = fraction_bits(type), bias = (1 << (14 - bits)) - 1;
    const unsigned sign = signbit(value) ? 0x8000 : 0, infinite = (2U * (unsigned)bias + 1) << bits;
    int exponent;
    if (isnan(value))
        return 0x7fff;
    const double fraction = frexp(fabs(value), &exponent); /* 0.5 <= fraction < 1 */
    if (value == 0 || isinf(value) || exponent > bias + 1)
        return (uint16_t)(sign | (value == 0 ? 0 : infinite));
    /* The ulp's exponent; subnormal numbers have that of the least normal one. A number that is
       rounded up to the next power of two carries into the exponent, and in the end to infinity. */
    const int least = 1 - bias, normal = exponent - 1 > least ? exponent - 1 : least;
    const double exact = ldexp(fraction, exponent - normal + bits), whole = floor(exact);
    const bool odd = fmod(whole, 2) != 0, up = exact - whole > 0.5 || (exact - whole == 0.5 && odd);
    return (uint16_t)(sign | (((unsigned)(normal - least) << bits) + (unsigned)whole + up));
}

double dtype_widen(dtype type, uint16_t number) {
    const int bits = fraction_bits(type), bias = (1 << (14 - bits)) - 1;
    const int fraction = number & ((1 << bits) - 1), exponent = (number & 0x7fff) >> bits;
    double value = ldexp(fraction, 1 - bias - bits);
    if (exponent > 2 * bias)
        value = fraction != 0 ? NAN : INFINITY;
    else if (exponent > 0)
        value = ldexp((1 << bits) + fraction, exponent - bias - bits);
    return number & 0x8000 ? -value : value;
}

/* ---- elements -------------------------------------------------------------------------------- */

typedef union number {
    float single;
    double real;
    int32_t small;
    int64_t whole;
    uint32_t natural;
    uint16_t narrow;
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
    case DTYPE_HALF:
    case DTYPE_BFLOAT16:
        return dtype_widen(type, n.narrow);
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
    case DTYPE_HALF:
    case DTYPE_BFLOAT16:
        n.narrow = dtype_narrow(type, value);
        break;
    default:
        n.real = value;
        break;
    }
    memcpy(element, &n, dtype_words[type].bytes);
}

int dtype_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
