/* Elements of arrays: the words of files for the types of base/dtype.h, text, and their range. */
#include "cli/files/formats.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const element_word element_words[DTYPE_COUNT] = {
    [DTYPE_FLOAT] = {"float32", "f4", "Float32"}, [DTYPE_DOUBLE] = {"float64", "f8", "Float64"},
    [DTYPE_INT32] = {"int32", "i4", "Int32"},     [DTYPE_INT64] = {"int64", "i8", "Int64"},
    [DTYPE_UINT32] = {"uint32", "u4", "UInt32"},
};

void element_put(dtype type, double value, void *to) {
    const dtype_word *w = &dtype_words[type];
    if (w->epsilon == 0) /* whole */
        value = isnan(value) ? 0 : fmin(fmax(round(value), w->least), w->largest);
    dtype_store(type, to, value);
}

void element_print(text *out, dtype type, const void *from) {
    const double value = dtype_value(type, from);
    if (dtype_words[type].epsilon == 0)
        dtype_print(type, from, out);
    else if (isfinite(value))
        text_shortest(out, value, type == DTYPE_FLOAT);
    else
        text_add(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

void element_json(json *j, const char *key, dtype type, const void *from) {
    text out = new_text();
    element_print(&out, type, from);
    if (isfinite(dtype_value(type, from)))
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
    static void (*const scans[DTYPE_COUNT])(values *, const unsigned char *,
                                            size_t) = {[DTYPE_FLOAT] = scan_float,
                                                       [DTYPE_DOUBLE] = scan_double,
                                                       [DTYPE_INT32] = scan_int32,
                                                       [DTYPE_INT64] = scan_int64,
                                                       [DTYPE_UINT32] = scan_uint32};
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
