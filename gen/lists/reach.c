/* Samples for the arrays of a check: what a field holds, else the numbers that were found and a
   range around them. */
#include "gen/lists/reach.h"

#include <math.h>
#include <string.h>

#include "gen/reference/reach_search.h"

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
