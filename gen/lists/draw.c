/* Random numbers, and calls of programs of lists to put them into. */
#include "gen/lists/draw.h"

#include <math.h>
#include <stdlib.h>

uint64_t draw_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double draw_real(uint64_t *state) {
    return (double)(draw_bits(state) >> 11) * 0x1p-52 - 1;
}

int64_t draw_below(uint64_t *state, int64_t bound) {
    return (int64_t)(draw_bits(state) % (uint64_t)bound);
}

/* As the dtype holds it. */
static pattern_value held(dtype type, pattern_value v) {
    double place;
    pattern_set(type, &place, 0, v);
    return pattern_get(type, &place, 0);
}

pattern_value draw_element(dtype type, uint64_t *state) {
    if (type < DTYPE_REALS)
        return held(type, (pattern_value){.real = draw_real(state)});
    return held(type, (pattern_value){.whole = (int64_t)draw_bits(state)});
}

/* From `low` to `high`, which are whole. */
static int64_t between(double low, double high, uint64_t bits) {
    const uint64_t first = (uint64_t)(int64_t)low, span = (uint64_t)(int64_t)high - first + 1;
    return (int64_t)(first + (span != 0 ? (bits >> 11) % span : bits >> 11));
}

pattern_value draw_sampled(dtype type, const sample *s, uint64_t *state) {
    if (sample_is_plain(s))
        return draw_element(type, state);
    const uint64_t bits = draw_bits(state);
    if (type < DTYPE_REALS)
        return held(type, (pattern_value){.real = sample_real(s, bits)});
    switch (sample_share_of(s, bits)) {
    case SAMPLE_USUAL:
        return held(type, (pattern_value){.whole = (int64_t)draw_bits(state)});
    case SAMPLE_WIDE:
        return (pattern_value){.whole = between(ceil(s->wide_low), floor(s->wide_high), bits)};
    default:
        return (pattern_value){.whole = (int64_t)sample_real(s, bits)};
    }
}

const char *const draw_kinds[DRAW_KINDS + 1] = {"random", "constant", "sorted", "reversed",
                                                "few",    "wild",     NULL};

static pattern_value draw_few(dtype type, uint64_t *state) {
    const int64_t value = draw_below(state, 8) - (type == DTYPE_UINT32 ? 0 : 3);
    return type < DTYPE_REALS ? (pattern_value){.real = (double)value}
                              : (pattern_value){.whole = value};
}

static pattern_value draw_wild(dtype type, uint64_t *state) {
    static const double reals[] = {NAN, INFINITY, -INFINITY, -0.0};
    if (draw_below(state, 64) != 0)
        return draw_element(type, state);
    if (type < DTYPE_REALS)
        return (pattern_value){.real = reals[draw_below(state, 4)]};
    const bool low = draw_below(state, 2) == 0;
    const int64_t least = type == DTYPE_INT32 ? INT32_MIN : type == DTYPE_INT64 ? INT64_MIN : 0;
    return (pattern_value){.whole = (int64_t)((uint64_t)least - !low)}; /* which wraps */
}

static int by_real(const void *a, const void *b) {
    const double x = ((const pattern_value *)a)->real, y = ((const pattern_value *)b)->real;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

static int by_whole(const void *a, const void *b) {
    const int64_t x = ((const pattern_value *)a)->whole, y = ((const pattern_value *)b)->whole;
    return (x > y) - (x < y);
}

void draw_list(job *j, dtype type, int kind, const sample *s, uint64_t *state, void *array,
               int64_t count) {
    const bool sorted = kind == DRAW_SORTED || kind == DRAW_REVERSED;
    const pattern_value one = draw_element(type, state);
    pattern_value *values = sorted ? job_array(j, (size_t)count, sizeof *values) : NULL;
    for (int64_t i = 0; i < count; i++) {
        const pattern_value v = kind == DRAW_CONSTANT ? one
                                : kind == DRAW_FEW    ? draw_few(type, state)
                                : kind == DRAW_WILD   ? draw_wild(type, state)
                                : kind == DRAW_RANDOM ? draw_sampled(type, s, state)
                                                      : draw_element(type, state);
        if (sorted)
            values[i] = v;
        else
            pattern_set(type, array, i, v);
    }
    if (!sorted)
        return;
    qsort(values, (size_t)count, sizeof *values, type < DTYPE_REALS ? by_real : by_whole);
    for (int64_t i = 0; i < count; i++)
        pattern_set(type, array, i, values[kind == DRAW_SORTED ? i : count - 1 - i]);
}

void draw_call(job *j, const program *p, const double *given, uint64_t *state, family_call *out) {
    out->sizes = job_array(j, (size_t)p->size_count + 1, sizeof *out->sizes);
    out->arrays = job_array(j, (size_t)p->array_count, sizeof *out->arrays);
    out->parameters = job_array(j, (size_t)p->parameter_count + 1, sizeof *out->parameters);
    for (int i = 0; i < p->parameter_count; i++) {
        const program_parameter *from = &p->parameters[i];
        const double whole = (double)draw_below(state, 8);
        out->parameters[i] = given != NULL                           ? given[i]
                             : from->has_value                       ? from->value
                             : dtype_find(from->dtype) < DTYPE_REALS ? (1 + whole) / 8
                                                                     : whole;
    }
}

void draw_array(job *j, const program *p, int array, family_call *call) {
    const int64_t elements = family_elements(p, array, call->sizes);
    call->arrays[array] = job_array(j, (size_t)elements + 1, p->arrays[array].element_bytes);
}
