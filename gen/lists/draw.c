/* Random numbers, calls of programs of lists to put them into, and samples for the arrays of a
   check: what a field holds, or else the numbers that were found and a range around them. */
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

/* As the dtype holds it. */
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

/* From `low` to `high`, which are whole. */
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

/* ---- samples --------------------------------------------------------------------------------- */

enum { QUARTER = SAMPLE_PARTS / 4, FEW = 8 };

static double next_number(dtype type, double value, bool up) {
    if (type == DTYPE_FLOAT)
        return (double)nextafterf((float)value, up ? INFINITY : -INFINITY);
    if (type == DTYPE_DOUBLE)
        return nextafter(value, up ? INFINITY : -INFINITY);
    return up ? value + 1 : value - 1;
}

/* The numbers themselves are drawn twice as often as each next to them. */
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

/* Where some lie beyond what is usual, also a range with all of them in it. */
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
static void take_ties(job *j, dtype type, const model_content *c, sample *out) {
    static const double reals[] = {0, 0.5, -0.5}, whole[] = {0, 1, 7};
    out->ties = type < DTYPE_REALS ? reals : whole;
    out->tie_count = 3;
    out->of_ties = QUARTER;
    if (c->values == NULL)
        return;
    double *ends = job_array(j, 2, sizeof *ends);
    memcpy(ends, c->values, 2 * sizeof *ends);
    out->ties = ends;
    out->tie_count = 2;
}

static void take_content(const model_content *c, sample *out) {
    out->values = c->values;
    out->count = c->count;
    out->of_values = SAMPLE_PARTS;
}

static void make_sample(job *j, dtype type, const model_content *c, const reach_numbers *from,
                        bool tied, sample *out) {
    *out = sample_plain;
    if (c->values != NULL && !c->is_range) {
        take_content(c, out);
        return;
    }
    reach_numbers all = {0}; /* the ends come first: more than there is room for are left out */
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
        take_ties(j, type, c, out);
}

/* What is compared with a field that holds these should hold them as well. */
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
    for (int o = 0; o < m->output_count; o++)
        roots[o] = m->outputs[o].value;
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
    double *rounded = job_array(j, (size_t)m->parameter_count + 1, sizeof *rounded);
    for (int i = 0; i < m->parameter_count; i++)
        rounded[i] = m->dtype == DTYPE_FLOAT ? (double)(float)parameters[i] : parameters[i];
    out[0] = out[1] = sample_plain;
    if (op >= 0) {
        found = reach_search(j, m, &m->outputs[op].value, 1, rounded, NULL);
        join_operands(found);
    }
    const uint32_t tied = found != NULL && found->tied != 0 ? 3 : 0;
    if (map >= 0)
        found = reach_search(j, m, &m->outputs[map].value, 1, rounded,
                             found != NULL ? &found->arrays[0] : NULL);
    for (int i = 0; found != NULL && i < 2; i++)
        make_sample(j, m->dtype, &(model_content){0}, &found->arrays[i],
                    ((tied | found->tied) >> i & 1) != 0, &out[i]);
}
