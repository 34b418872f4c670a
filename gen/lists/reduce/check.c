/* Checks of reductions. Takes: sizes, a kind of data, a seed; a call, and what a kernel made of it.
   Makes: lists, with segments of very unequal lengths, some empty; a verdict. Whole numbers, and
   extremes of unmapped elements with their places, must be met exactly; for the others
   gen/lists/reduce/expect.c says what may be expected. */

#include "gen/lists/draw.h"
#include "gen/lists/reduce/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- data ------------------------------------------------------------------------------------ */

/* The ends are mostly those of the list. In between many cuts fall together, and one segment is
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
    qsort(offsets, (size_t)segments + 1, sizeof *offsets, draw_ascending);
}

/* Where the size, being 1, says nothing of segments: few long ones, some, or more than there are
 * elements. */
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
        out->sizes[REDUCE_SEGMENTS] = size[1] == 1  ? draw_segments(size[0], &seed)
                                      : size[1] < 0 ? -size[1] /* one, too */
                                                    : size[1];
    draw_input(j, s->dtype, p, at.input, r->op.id, kind, &numbers[0], &seed, out);
    if (r->inputs == 2)
        draw_input(j, s->dtype, p, at.second, r->op.id, kind, &numbers[1], &seed, out);
    if (r->segmented)
        draw_offsets(j, p, at.offsets, &seed, out);
}

/* ---- verdict --------------------------------------------------------------------------------- */

typedef struct judging {
    job *job;
    const subject *subject;
    const reduce *reduce;
    reduce_arrays at;
    const program *program;
    const family_call *before, *after;
    reduce_elements *elements;
    pattern_machine *own;
    family_verdict *out;
} judging;

/* ---- whole numbers ------------------------------------------------------------------------- */

/* What the elements come to, and the first place of it. */
static pattern_value join_whole(judging *g, int64_t first, int64_t end, int64_t *place) {
    const dtype type = g->subject->dtype;
    reduce_elements *e = g->elements;
    pattern_value total = operator_identity(&g->reduce->op, type);
    *place = -1;
    for (int count = 0; reduce_elements_next(e, end, &first, &count);)
        for (int i = 0; i < count; i++) {
            const int64_t before = total.whole;
            reduce_count_sides(e, g->own, (pattern_value){.whole = e->whole[i]}, first + i);
            total = operator_combine(type, &g->reduce->op, g->own, total,
                                     (pattern_value){.whole = e->whole[i]});
            if (*place < 0 ? total.whole == e->whole[i] : total.whole != before)
                *place = first + i;
        }
    return total;
}

static void judge_index(judging *g, int64_t segment, int64_t wanted) {
    verdict_whole(g->job, g->out, "index", segment, DTYPE_INT64,
                  pattern_get(DTYPE_INT64, g->after->arrays[g->at.index], segment),
                  (pattern_value){.whole = wanted});
}

static void judge_whole(judging *g, int64_t segment, int64_t first, int64_t end) {
    int64_t place;
    const dtype type = g->subject->dtype;
    const pattern_value wanted = join_whole(g, first, end, &place);
    verdict_whole(g->job, g->out, "result", segment, type,
                  pattern_get(type, g->after->arrays[g->at.result], segment), wanted);
    if (g->reduce->places)
        judge_index(g, segment, place);
}

/* ---- reals --------------------------------------------------------------------------------- */

static reduce_expected expect(judging *g, int64_t first, int64_t end) {
    switch (g->reduce->op.id) {
    case OPERATOR_SUM:
        return reduce_expect_sum(
            g->elements, first, end,
            reduce_depth(g->reduce, g->program, g->before->sizes[REDUCE_COUNT], end - first));
    case OPERATOR_PRODUCT:
        return reduce_expect_product(g->elements, first, end);
    case OPERATOR_MIN:
    case OPERATOR_MAX:
        return reduce_expect_extreme(g->elements, first, end);
    case OPERATOR_OWN:
        return reduce_expect_own(g->job, g->elements, first, end, g->own);
    default:
        return reduce_expect_truth(g->elements, first, end);
    }
}

/* Without a map elements are exact, so the place is the first one of the extreme. With a map, it is
   a place whose element may be the result. */
static void judge_place(judging *g, int64_t segment, int64_t first, int64_t end,
                        const reduce_expected *x) {
    const int64_t got = ((const int64_t *)g->after->arrays[g->at.index])[segment];
    const double result =
        pattern_get(g->subject->dtype, g->after->arrays[g->at.result], segment).real;
    reduce_elements *e = g->elements;
    if (x->undecidable)
        return;
    if (e->reference != NULL && first < end && got >= first && got < end) {
        reduce_elements_read(e, got, 1);
        const double value = e->value[0];
        const bool fits = isnan(x->value) ? isnan(value) && isnan(result)
                                          : value == result || fabs(value - result) <= e->error[0];
        g->out->judged++;
        if (!fits)
            verdict_wrong(g->job, g->out, "index", segment, DTYPE_INT64,
                          (pattern_value){.whole = got}, (pattern_value){.whole = -1});
        return;
    }
    for (int count = 0; reduce_elements_next(e, end, &first, &count);)
        for (int i = 0; i < count; i++)
            if (e->value[i] == x->value || (isnan(e->value[i]) && isnan(x->value))) {
                judge_index(g, segment, first + i);
                return;
            }
    judge_index(g, segment, -1);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void judge_segment(judging *g, int64_t segment, int64_t first, int64_t end) {
    const dtype type = g->subject->dtype;
    if (type >= DTYPE_REALS) {
        judge_whole(g, segment, first, end);
        return;
    }
    reduce_expected x = {.value = operator_identity(&g->reduce->op, type).real};
    if (first < end)
        x = expect(g, first, end);
    const double got = pattern_get(type, g->after->arrays[g->at.result], segment).real;
    verdict_real(g->job, g->out, "result", segment, type, got, x.value,
                 got > x.value ? x.bound : x.bound_below, x.undecidable);
    if (g->reduce->places)
        judge_place(g, segment, first, end, &x);
}

void reduce_judge(job *j, const subject *s, const program *p, const family_call *before,
                  const family_call *after, family_verdict *out) {
    const reduce *r = s->model;
    judging g = {.job = j,
                 .subject = s,
                 .reduce = r,
                 .at = reduce_arrays_of(r),
                 .program = p,
                 .before = before,
                 .after = after,
                 .elements = reduce_elements_new(j, s, before),
                 .out = out};
    *out = (family_verdict){0};
    if (r->op.id == OPERATOR_OWN)
        g.own = pattern_machine_new(j, &r->pattern, REDUCE_OP, before->parameters);
    if (!r->segmented) {
        judge_segment(&g, 0, 0, before->sizes[REDUCE_COUNT]);
    } else {
        const int64_t *offsets = before->arrays[g.at.offsets];
        for (int64_t i = 0; i < before->sizes[REDUCE_SEGMENTS]; i++)
            judge_segment(&g, i, offsets[i], offsets[i + 1]);
    }
    out->greatest_error /= out->largest > 0 ? out->largest : 1;
    pattern_judge(j, g.own, &out->unjudged);
    reduce_elements_judge(j, g.elements, &out->unjudged);
}
