/* Checks of reductions. Takes: a call, and what a kernel made of it. Makes: a verdict. Whole
   numbers, and extremes of unmapped elements with their places, must be met exactly; for the others
   gen/lists/reduce/expect.c says what may be expected. */
#include "gen/lists/reduce/judge.h"

#include <math.h>
#include <string.h>

typedef struct judging {
    job *job;
    const subject *subject;
    const reduce *reduce;
    reduce_arrays at;
    const program *program;
    const family_call *before, *after;
    reduce_elements *elements;
    pattern_machine *own;
    double largest;
    family_verdict *out;
} judging;

static void write_value(text *t, dtype type, pattern_value v) {
    if (type < DTYPE_REALS)
        text_number(t, v.real, 9);
    else
        text_printf(t, "%lld", (long long)v.whole);
}

static void note_wrong(judging *g, const char *array, int64_t at, dtype type, pattern_value got,
                       pattern_value wanted) {
    if (g->out->wrong++ > 0)
        return;
    text t = text_new(g->job);
    text_printf(&t, "%s at %lld: ", array, (long long)at);
    write_value(&t, type, got);
    text_add(&t, " instead of ");
    write_value(&t, type, wanted);
    memcpy(g->out->first_wrong, t.data,
           t.length < VERDICT_PLACE ? t.length + 1 : VERDICT_PLACE - 1);
}

/* ---- whole numbers ------------------------------------------------------------------------- */

/* What the elements come to, and the first place of that. */
static pattern_value join_whole(judging *g, int64_t first, int64_t end, int64_t *place) {
    const dtype type = g->subject->dtype;
    reduce_elements *e = g->elements;
    pattern_value total = operator_identity(&g->reduce->op, type);
    *place = -1;
    for (int64_t at = first; at < end; at += REDUCE_CHUNK) {
        const int count = end - at < REDUCE_CHUNK ? (int)(end - at) : REDUCE_CHUNK;
        reduce_elements_read(e, at, count);
        for (int i = 0; i < count; i++) {
            const int64_t before = total.whole;
            reduce_count_sides(e, g->own, (pattern_value){.whole = e->whole[i]}, at + i);
            total = operator_combine(type, &g->reduce->op, g->own, total,
                                     (pattern_value){.whole = e->whole[i]});
            if (*place < 0 ? total.whole == e->whole[i] : total.whole != before)
                *place = at + i;
        }
    }
    return total;
}

static void judge_index(judging *g, int64_t segment, int64_t wanted) {
    const int64_t got = ((const int64_t *)g->after->arrays[g->at.index])[segment];
    g->out->judged++;
    if (got != wanted)
        note_wrong(g, "index", segment, DTYPE_INT64, (pattern_value){.whole = got},
                   (pattern_value){.whole = wanted});
}

static void judge_whole(judging *g, int64_t segment, int64_t first, int64_t end) {
    int64_t place;
    const pattern_value wanted = join_whole(g, first, end, &place);
    const pattern_value got =
        pattern_get(g->subject->dtype, g->after->arrays[g->at.result], segment);
    g->out->judged++;
    if (got.whole != wanted.whole)
        note_wrong(g, "result", segment, g->subject->dtype, got, wanted);
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

static void judge_value(judging *g, int64_t segment, const reduce_expected *x, double got) {
    family_verdict *v = g->out;
    v->judged++;
    if (isfinite(x->value))
        g->largest = fmax(g->largest, fabs(x->value));
    if (got == x->value || (isnan(got) && isnan(x->value)))
        return;
    if (x->undecidable) {
        v->undecidable++;
        return;
    }
    const double error = fabs(got - x->value), bound = got > x->value ? x->bound : x->bound_below;
    if (!(error <= bound))
        note_wrong(g, "result", segment, g->subject->dtype, (pattern_value){.real = got},
                   (pattern_value){.real = x->value});
    v->greatest_error = fmax(v->greatest_error, isfinite(error) ? error : INFINITY);
    v->of_bound = fmax(v->of_bound, bound > 0 && isfinite(error) ? error / bound : INFINITY);
}

/* Without a map elements are exact, so that the place is the first of the extreme. With one, it is
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
            note_wrong(g, "index", segment, DTYPE_INT64, (pattern_value){.whole = got},
                       (pattern_value){.whole = -1});
        return;
    }
    for (int64_t at = first; at < end; at += REDUCE_CHUNK) {
        const int count = end - at < REDUCE_CHUNK ? (int)(end - at) : REDUCE_CHUNK;
        reduce_elements_read(e, at, count);
        for (int i = 0; i < count; i++)
            if (e->value[i] == x->value || (isnan(e->value[i]) && isnan(x->value))) {
                judge_index(g, segment, at + i);
                return;
            }
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
    judge_value(g, segment, &x, pattern_get(type, g->after->arrays[g->at.result], segment).real);
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
    out->greatest_error /= g.largest > 0 ? g.largest : 1;
    pattern_judge(j, g.own, &out->unjudged);
    reduce_elements_judge(j, g.elements, &out->unjudged);
}
