/* Random calls of reductions. Takes: sizes, a kind of data, a seed. Makes: lists, and segments of
   very unequal lengths, some empty. */
#include <math.h>
#include <stdlib.h>

#include "gen/lists/draw.h"
#include "gen/lists/reach.h"
#include "gen/lists/reduce/reduce.h"

/* Such that a product of reals stays within their range whatever the order, so that it can be
   judged. */
static pattern_value near_one(pattern_value v, int64_t count, int kind) {
    const double spread = count > 16384 ? 16 / (double)count : 0x1p-10;
    if (!isfinite(v.real))
        return v;
    const double size =
        kind == DRAW_CONSTANT || kind == DRAW_FEW ? 1 : 1 + fmod(v.real, 1) * spread;
    return (pattern_value){.real = v.real < 0 ? -size : size};
}

/* Such that the result is not settled by the first few elements; not where there are numbers that a
   map compares with: those matter more. */
static pattern_value fitted(const reduce *r, dtype type, int64_t count, uint64_t *state,
                            pattern_value v) {
    const bool rare = draw_below(state, count / 2 + 1) == 0;
    switch (r->op.id) {
    case OPERATOR_PRODUCT:
        v.whole |= type >= DTYPE_REALS;
        return v;
    case OPERATOR_ALL:
        return rare ? (pattern_value){.whole = 0} : v;
    case OPERATOR_ANY:
        return rare ? v : (pattern_value){.whole = 0};
    case OPERATOR_AND:
    case OPERATOR_OR: {
        const uint64_t bit =
            rare ? UINT64_C(1) << draw_below(state, type == DTYPE_INT64 ? 64 : 32) : 0;
        v.whole = (int64_t)(r->op.id == OPERATOR_OR ? bit : ~bit);
        return v;
    }
    default:
        return v;
    }
}

static void draw_input(job *j, const subject *s, int array, const program *p, int kind,
                       const sample *numbers, uint64_t *seed, family_call *out) {
    const reduce *r = s->model;
    const dtype type = s->dtype;
    const int64_t count = out->sizes[REDUCE_COUNT];
    const bool reals_product = r->op.id == OPERATOR_PRODUCT && type < DTYPE_REALS;
    draw_array(j, p, array, out);
    void *data = out->arrays[array];
    draw_list(j, type, kind, numbers, seed, data, count);
    const bool product = r->op.id == OPERATOR_PRODUCT;
    const bool fits = kind == DRAW_RANDOM && (product || sample_is_plain(numbers));
    for (int64_t i = 0; i < count && (fits || reals_product); i++) {
        const pattern_value v = pattern_get(type, data, i);
        pattern_set(type, data, i,
                    reals_product ? near_one(v, count, kind) : fitted(r, type, count, seed, v));
    }
}

static int by_value(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The ends are mostly those of the list; in between many cuts fall together, and one segment is
   longer than most. */
static void draw_offsets(job *j, const program *p, int array, uint64_t *seed, family_call *out) {
    const int64_t count = out->sizes[REDUCE_COUNT], segments = out->sizes[REDUCE_SEGMENTS];
    draw_array(j, p, array, out);
    int64_t *offsets = out->arrays[array];
    for (int64_t i = 0; i <= segments; i++) {
        offsets[i] = draw_below(seed, count + 1);
        if (draw_below(seed, 4) == 0)
            offsets[i] -= offsets[i] % (count / 8 + 1);
    }
    if (draw_below(seed, 4) != 0) {
        offsets[0] = 0;
        offsets[segments] = segments > 0 ? count : 0;
    }
    qsort(offsets, (size_t)segments + 1, sizeof *offsets, by_value);
}

/* Where the size says nothing of segments: few long ones, some, or more than there are elements. */
static int64_t draw_segments(int64_t count, uint64_t *seed) {
    const int64_t means[] = {0, 1, 5, 40, 300, 5000};
    const int64_t mean = means[draw_below(seed, 6)];
    return mean == 0 ? draw_below(seed, 4) : count / mean + draw_below(seed, 4);
}

void reduce_draw(job *j, const subject *s, const program *p, const int64_t size[AXES], int kind,
                 const double *given, uint64_t seed, family_call *out) {
    const reduce *r = s->model;
    const reduce_arrays at = reduce_arrays_of(r);
    draw_call(j, p, given, &seed, out);
    sample numbers[2];
    reach_operands(j, &r->pattern, r->op.id == OPERATOR_OWN ? REDUCE_OP : -1,
                   r->mapped ? REDUCE_MAP : -1, out->parameters, numbers);
    out->sizes[REDUCE_COUNT] = size[0];
    if (r->segmented)
        out->sizes[REDUCE_SEGMENTS] = size[1] > 1 ? size[1] : draw_segments(size[0], &seed);
    draw_input(j, s, at.input, p, kind, &numbers[0], &seed, out);
    if (r->inputs == 2)
        draw_input(j, s, at.second, p, kind, &numbers[1], &seed, out);
    if (r->segmented)
        draw_offsets(j, p, at.offsets, &seed, out);
}
