/* Random numbers; calls of programs of lists; verdicts; and samples for the arrays of a check. A
   sample is what a field holds, or else the numbers that the search found and a range around
   them. */
#include "gen/lists/draw.h"

#include "gen/reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double draw_real(uint64_t *state) {
    return (double)(random_next(state) >> 11) * 0x1p-52 - 1;
}

int64_t draw_below(uint64_t *state, int64_t bound) {
    return (int64_t)(random_next(state) % (uint64_t)bound);
}

/* The value as the dtype holds it. */
static pattern_value held(dtype type, pattern_value v) {
    double place;
    pattern_set(type, &place, 0, v);
    return pattern_get(type, &place, 0);
}

pattern_value draw_element(dtype type, uint64_t *state) {
    if (type < DTYPE_REALS)
        return held(type, (pattern_value){.real = draw_real(state)});
    return held(type, (pattern_value){.whole = (int64_t)random_next(state)});
}

/* A whole number from `low` to `high`, which are whole. */
static int64_t between(double low, double high, uint64_t bits) {
    const uint64_t first = (uint64_t)(int64_t)low, span = (uint64_t)(int64_t)high - first + 1;
    return (int64_t)(first + (span != 0 ? (bits >> 11) % span : bits >> 11));
}

pattern_value draw_sampled(dtype type, const sample *s, uint64_t *state) {
    if (sample_is_plain(s))
        return draw_element(type, state);
    const uint64_t bits = random_next(state);
    if (type < DTYPE_REALS)
        return held(type, (pattern_value){.real = sample_real(s, bits)});
    switch (sample_share_of(s, bits)) {
    case SAMPLE_USUAL:
        return held(type, (pattern_value){.whole = (int64_t)random_next(state)});
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
    return operator_identity(&(pattern_operator){.id = low ? OPERATOR_MAX : OPERATOR_MIN}, type);
}

static int by_real(const void *a, const void *b) {
    const double x = ((const pattern_value *)a)->real, y = ((const pattern_value *)b)->real;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

int draw_ascending(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void draw_list(job *j, dtype held, int kind, const sample *s, uint64_t *state, void *array,
               int64_t count) {
    const dtype type = dtype_computes(held);
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
            pattern_set(held, array, i, v);
    }
    if (!sorted)
        return;
    qsort(values, (size_t)count, sizeof *values, type < DTYPE_REALS ? by_real : draw_ascending);
    for (int64_t i = 0; i < count; i++)
        pattern_set(held, array, i, values[kind == DRAW_SORTED ? i : count - 1 - i]);
}

void draw_call(job *j, const program *p, const double *given, uint64_t *state, family_call *out) {
    out->sizes = job_array(j, (size_t)p->lists.size_count + 1, sizeof *out->sizes);
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
    const int64_t elements = program_elements(p, array, call->sizes);
    call->arrays[array] = job_array(j, (size_t)elements + 1, p->arrays[array].element_bytes);
}

static pattern_value near_one(pattern_value v, int64_t count, int kind) {
    const double spread = count > 16384 ? 16 / (double)count : 0x1p-10;
    if (!isfinite(v.real))
        return v;
    const double size =
        kind == DRAW_CONSTANT || kind == DRAW_FEW ? 1 : 1 + fmod(v.real, 1) * spread;
    return (pattern_value){.real = v.real < 0 ? -size : size};
}

static pattern_value unsettled(dtype type, operator_id op, int64_t count, uint64_t *state,
                               pattern_value v) {
    const bool rare = draw_below(state, count / 2 + 1) == 0;
    const int bits = type == DTYPE_INT64 ? 64 : 32;
    switch (op) {
    case OPERATOR_PRODUCT:
        v.whole |= type >= DTYPE_REALS;
        return v;
    case OPERATOR_ALL:
        return rare ? (pattern_value){.whole = 0} : v;
    case OPERATOR_ANY:
        return rare ? v : (pattern_value){.whole = 0};
    case OPERATOR_AND:
    case OPERATOR_OR: {
        const uint64_t bit = rare ? UINT64_C(1) << draw_below(state, bits) : 0;
        v.whole = (int64_t)(op == OPERATOR_OR ? bit : ~bit);
        return v;
    }
    default:
        return v;
    }
}

/* Where a map compares with numbers, those matter more. */
void draw_input(job *j, dtype type, const program *p, int array, operator_id op, int kind,
                const sample *numbers, uint64_t *state, family_call *call) {
    const int64_t count = program_elements(p, array, call->sizes);
    const bool product = op == OPERATOR_PRODUCT, near = product && type < DTYPE_REALS;
    const bool fits = product ? kind != DRAW_WILD : kind == DRAW_RANDOM && sample_is_plain(numbers);
    draw_array(j, p, array, call);
    void *data = call->arrays[array];
    const dtype held = dtype_find(p->arrays[array].dtype);
    draw_list(j, held, kind, numbers, state, data, count);
    for (int64_t i = 0; i < count && (fits || near); i++) {
        const pattern_value v = pattern_get(held, data, i);
        pattern_set(held, data, i,
                    near ? near_one(v, count, kind) : unsettled(type, op, count, state, v));
    }
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static void write_value(text *t, dtype type, pattern_value v) {
    if (type < DTYPE_REALS)
        text_number(t, v.real, 9);
    else
        text_printf(t, "%lld", (long long)v.whole);
}

void verdict_wrong(job *j, family_verdict *out, const char *array, int64_t at, dtype type,
                   pattern_value got, pattern_value wanted) {
    if (out->wrong++ > 0)
        return;
    text t = text_new(j);
    text_printf(&t, "%s at %lld: ", array, (long long)at);
    write_value(&t, type, got);
    text_add(&t, " instead of ");
    write_value(&t, type, wanted);
    memcpy(out->first_wrong, t.data, t.length < VERDICT_PLACE ? t.length + 1 : VERDICT_PLACE - 1);
}

void verdict_whole(job *j, family_verdict *out, const char *array, int64_t at, dtype type,
                   pattern_value got, pattern_value wanted) {
    out->judged++;
    if (got.whole != wanted.whole)
        verdict_wrong(j, out, array, at, type, got, wanted);
}

void verdict_real(job *j, family_verdict *out, const char *array, int64_t at, dtype type,
                  double got, double wanted, double bound, bool undecidable) {
    const bool same = got == wanted || (isnan(got) && isnan(wanted));
    out->judged++;
    if (!same && undecidable) {
        out->undecidable++;
        return;
    }
    if (isfinite(wanted))
        out->largest = fmax(out->largest, fabs(wanted));
    if (same)
        return;
    const double error = fabs(got - wanted);
    if (!isfinite(wanted) || !(error <= bound))
        verdict_wrong(j, out, array, at, type, (pattern_value){.real = got},
                      (pattern_value){.real = wanted});
    out->greatest_error = fmax(out->greatest_error, isfinite(error) ? error : INFINITY);
    out->of_bound = fmax(out->of_bound, bound > 0 && isfinite(error) ? error / bound : INFINITY);
}

/* ---- samples --------------------------------------------------------------------------------- */

enum { QUARTER = SAMPLE_PARTS / 4, FEW = 8 };

static double next_number(dtype type, double value, bool up) {
    if (type == DTYPE_FLOAT)
        return (double)nextafterf((float)value, up ? INFINITY : -INFINITY);
    if (type == DTYPE_DOUBLE)
        return nextafter(value, up ? INFINITY : -INFINITY);
    return up ? value + 1 : value - 1;
}

/* The numbers themselves are drawn twice as often as each of their neighbours. */
static void take_values(job *j, dtype type, const reach_numbers *from, double least, double largest,
                        sample *out) {
    double *values = job_array(j, 4 * (size_t)from->count + 1, sizeof *values);
    out->values = values;
    for (int i = 0; i < from->count; i++) {
        const double v = from->value[i];
        const double all[4] = {v, v, next_number(type, v, false), next_number(type, v, true)};
        for (int k = 0; k < 4; k++)
            if (all[k] >= least && all[k] <= largest)
                values[out->count++] = all[k];
    }
    out->of_values = out->count == 0 ? 0 : from->count <= FEW ? QUARTER : 2 * QUARTER;
}

/* Where some numbers lie beyond the usual range, there is also a range that has all of them. */
static void take_range(dtype type, const reach_numbers *from, sample *out) {
    const dtype_word *word = &dtype_words[type];
    double low = type < DTYPE_REALS ? -1 : 0, high = 1;
    for (int i = 0; i < from->count; i++) {
        low = fmin(low, from->value[i]);
        high = fmax(high, from->value[i]);
    }
    if (from->count == 0 || (type < DTYPE_REALS && low > -1 && high < 1))
        return;
    const double margin = high - low; /* sums of several cells need more than their share */
    out->wide_low = fmax(low - margin, word->least); /* an infinite margin, too */
    out->wide_high = fmin(high + margin, word->largest);
    out->of_wide = QUARTER;
}

/* Few numbers, so that two cells are often equal; differences and sums of them are exact. */
static void take_ties(dtype type, const model_content *c, sample *out) {
    static const double reals[] = {0, 0.5, -0.5}, whole[] = {0, 1, 7};
    out->ties = c->values != NULL ? c->values : type < DTYPE_REALS ? reals : whole;
    out->tie_count = c->values != NULL ? 2 : 3;
    out->of_ties = QUARTER;
}

static void make_sample(job *j, dtype type, const model_content *c, const reach_numbers *from,
                        bool tied, sample *out) {
    *out = sample_plain;
    if (c->values != NULL && !c->is_range) {
        out->values = c->values;
        out->count = c->count;
        out->of_values = SAMPLE_PARTS;
        return;
    }
    reach_numbers all = {0}; /* the ends come first: numbers that there is no room for are left
                                out */
    double least = dtype_words[type].least, largest = dtype_words[type].largest;
    if (c->is_range) {
        out->low = least = c->values[0];
        out->high = largest = c->values[1];
        reach_note(&all, least);
        reach_note(&all, largest);
    } else {
        take_range(type, from, out);
    }
    for (int i = 0; i < from->count; i++)
        reach_note(&all, from->value[i]);
    take_values(j, type, &all, least, largest, out);
    if (tied)
        take_ties(type, c, out);
}

/* Fields that are compared with a field that holds such values should hold them too. */
static void share_contents(const model *m, reach_found *found) {
    enum { SHARED = 16 };
    for (int i = 0; i < m->array_count; i++) {
        const model_content *c = &m->fields[m->arrays[i].field].content;
        for (int k = 0; k < m->array_count; k++)
            for (int v = 0; v < c->count && v < SHARED; v++)
                if (k != i && (found->tied >> i & found->tied >> k & 1) != 0)
                    reach_note_as(m->dtype, &found->arrays[k], c->values[v]);
    }
}

void reach_arrays(job *j, const model *m, const double *parameters, sample *out) {
    expr_id roots[MAX_FIELDS];
    model_roots(m, roots);
    reach_found *found = reach_search(j, m, roots, m->output_count, parameters, NULL);
    share_contents(m, found);
    for (int i = 0; i < m->array_count; i++)
        make_sample(j, m->dtype, &m->fields[m->arrays[i].field].content, &found->arrays[i],
                    (found->tied >> i & 1) != 0, &out[i]);
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Operands of an operator are elements of one list. */
static void join_operands(reach_found *f) {
    for (int i = 0; i < f->arrays[1].count; i++)
        reach_note(&f->arrays[0], f->arrays[1].value[i]);
    f->arrays[1] = f->arrays[0];
}

void reach_operands(job *j, const pattern *p, int op, int map, const double *parameters,
                    sample out[2]) {
    const model *m = p->functions;
    reach_found *found = NULL;
    const double *rounded = model_rounded(j, m, parameters);
    out[0] = out[1] = sample_plain;
    if (op >= 0) {
        found = reach_search(j, m, &m->outputs[op].value, 1, rounded, NULL);
        join_operands(found);
    }
    const uint64_t tied = found != NULL && found->tied != 0 ? 3 : 0;
    if (map >= 0)
        found = reach_search(j, m, &m->outputs[map].value, 1, rounded,
                             found != NULL ? &found->arrays[0] : NULL);
    for (int i = 0; found != NULL && i < 2; i++)
        make_sample(j, m->dtype, &(model_content){0}, &found->arrays[i],
                    ((tied | found->tied) >> i & 1) != 0, &out[i]);
}
