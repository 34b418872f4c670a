/* What reductions of reals come to, and how far a right kernel may be from it. Takes: elements with
   the errors of their map. Makes: a value and a bound. u is the unit roundoff of the dtype;
   comments say where second-order terms are covered. */
#include "gen/lists/reduce/reduce.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- elements ------------------------------------------------------------------------------ */

/* The map as a model of one output on one axis, so that the error analysis of stencils serves. */
static const reference *map_reference(job *j, const model *functions, const double *parameters) {
    model *m = job_alloc(j, sizeof *m);
    *m = *functions;
    m->dims = 1;
    m->outputs[0] = functions->outputs[REDUCE_MAP];
    m->output_count = 1;
    return reference_new(j, m, model_rounded(j, m, parameters));
}

reduce_elements *reduce_elements_new(job *j, const subject *s, const family_call *call) {
    const reduce *r = s->model;
    const reduce_arrays at = reduce_arrays_of(r);
    reduce_elements *e = job_alloc(j, sizeof *e);
    e->subject = s;
    e->reduce = r;
    e->input = call->arrays[at.input];
    e->second = call->arrays[r->inputs == 2 ? at.second : at.input];
    if (r->mapped && s->dtype >= DTYPE_REALS)
        e->map = pattern_machine_new(j, &r->pattern, REDUCE_MAP, call->parameters);
    if (r->mapped && s->dtype < DTYPE_REALS) {
        e->reference = map_reference(j, r->pattern.functions, call->parameters);
        e->scratch = job_alloc(j, reference_scratch(e->reference, REDUCE_CHUNK));
    }
    return e;
}

static void read_whole(reduce_elements *e, int64_t first, int count) {
    const dtype type = e->subject->dtype;
    for (int i = 0; i < count; i++) {
        pattern_value v = pattern_get(type, e->input, first + i);
        if (e->map != NULL)
            v = pattern_apply(e->map,
                              (pattern_value[]){v, pattern_get(type, e->second, first + i)});
        e->whole[i] = operator_prepare(&e->reduce->op, type, v).whole;
    }
}

/* What the map reads of an input, in the type of the arithmetic. */
static const void *operands(reduce_elements *e, int which, int64_t first, int count) {
    const dtype held = pattern_storage(&e->reduce->pattern);
    const void *input = which == 0 ? e->input : e->second;
    if (!dtype_is_narrow(held))
        return (const char *)input + (size_t)first * dtype_words[held].bytes;
    for (int i = 0; i < count; i++)
        e->widened[which][i] = (float)pattern_get(held, input, first + i).real;
    return e->widened[which];
}

void reduce_elements_read(reduce_elements *e, int64_t first, int count) {
    const dtype type = pattern_storage(&e->reduce->pattern);
    if (type >= DTYPE_REALS) {
        read_whole(e, first, count);
    } else if (e->reference != NULL) {
        const reference_array arrays[2 * MAX_FIELDS] = {
            {operands(e, 0, first, count), {1, 0, 0}, NULL},
            {operands(e, 1, first, count), {1, 0, 0}, NULL}};
        reference_row(e->reference, arrays, (const int64_t[AXES]){count, 1, 1}, NULL, 0, 0, 0,
                      count, e->scratch, e->value, e->error, NULL);
    } else {
        for (int i = 0; i < count; i++) {
            e->value[i] = pattern_get(type, e->input, first + i).real;
            e->error[i] = 0;
        }
    }
}

void reduce_count_sides(reduce_elements *e, pattern_machine *own, pattern_value x, int64_t at) {
    if (own != NULL && at % 2 == 1)
        operator_combine(e->subject->dtype, &e->reduce->op, own, e->last, x);
    e->last = x;
}

void reduce_elements_judge(job *j, const reduce_elements *e, condition_sides *sides) {
    pattern_judge(j, e->map, sides);
    if (e->reference == NULL)
        return;
    condition *all;
    const int count = reference_conditions(j, e->reference, &all);
    reference_count(e->reference, e->scratch, all);
    conditions_judge(j, e->reduce->pattern.functions, all, count, sides);
}

bool reduce_elements_next(reduce_elements *e, int64_t end, int64_t *at, int *count) {
    *at += *count;
    if (*at >= end)
        return false;
    *count = end - *at < REDUCE_CHUNK ? (int)(end - *at) : REDUCE_CHUNK;
    reduce_elements_read(e, *at, *count);
    return true;
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* A sum of two doubles (T. Dekker, Numer. Math. 18, 1971): off by less than 2n·2^-106 Σ|x|. */
typedef struct double_double {
    double high, low;
} double_double;

static void dd_add(double_double *s, double x) {
    const double sum = s->high + x, back = sum - s->high;
    const double low = s->low + ((s->high - (sum - back)) + (x - back));
    s->high = sum + low;
    s->low = low - (s->high - sum);
}

/* Any order of additions: |error| ≤ ((1 + u)^depth − 1)·Σ|x| (N. Higham, Accuracy and Stability of
   Numerical Algorithms, 2nd ed., section 4.2), plus the error of the map. */
reduce_expected reduce_expect_sum(reduce_elements *e, int64_t first, int64_t end, double depth) {
    const dtype_word *type = &dtype_words[e->subject->dtype];
    double_double sum = {0, 0};
    double magnitude = 0, errors = 0, special = 0;
    reduce_expected out = {0};
    int64_t at = first;
    for (int count = 0; reduce_elements_next(e, end, &at, &count);)
        for (int i = 0; i < count; i++) {
            out.undecidable |= !isfinite(e->error[i]);
            if (!isfinite(e->value[i])) {
                special += e->value[i];
                continue;
            }
            dd_add(&sum, e->value[i]);
            magnitude += fabs(e->value[i]);
            errors += e->error[i];
        }
    out.value = special != 0 ? special : sum.high; /* NaN is not 0 either */
    const double growth = expm1(depth * log1p(type->epsilon));
    if (isfinite(out.value))
        out.bound = growth * (magnitude + errors) + errors + DBL_EPSILON * fabs(out.value) +
                    4 * (double)(end - first) * 0x1p-106 * magnitude;
    out.bound_below = out.bound;
    /* Some order might overflow. */
    out.undecidable |= (magnitude + errors) * (1 + growth) > type->largest;
    return out;
}

/* ---- products ------------------------------------------------------------------------------ */

/* Every multiplication rounds once: a relative error of (1 + u)^n − 1 in any order, and as much
   again for the reference's own product in float64. */
reduce_expected reduce_expect_product(reduce_elements *e, int64_t first, int64_t end) {
    const dtype_word *type = &dtype_words[e->subject->dtype];
    double product = 1, relative = 0, up = 0, down = 0, special = 1;
    int64_t exponent = 0;
    bool zero = false;
    reduce_expected out = {0};
    int64_t at = first;
    for (int count = 0; reduce_elements_next(e, end, &at, &count);)
        for (int i = 0; i < count; i++) {
            const double x = e->value[i];
            out.undecidable |= !isfinite(e->error[i]) || (isfinite(x) && e->error[i] > fabs(x) / 4);
            if (x == 0 || !isfinite(x)) {
                zero |= x == 0;
                special *= x;
                continue;
            }
            int scale;
            product = frexp(product * x, &scale);
            exponent += scale;
            const double level = log2(fabs(x));
            up += fmax(level, 0);
            down += fmin(level, 0);
            relative -= log1p(-e->error[i] / fabs(x));
        }
    const bool settled = special != 1;
    out.value = settled ? special * product
                        : ldexp(product, (int)fmax(fmin((double)exponent, 9999), -9999));
    relative += (double)(end - first) * (log1p(type->epsilon) + DBL_EPSILON);
    out.bound = settled ? 0 : expm1(relative) * fabs(out.value);
    out.bound_below = out.bound;
    /* Some order might overflow, or lose digits where numbers are subnormal. Then only 0 and
       infinity could be judged; and not even they, because 0·∞ is NaN. */
    const double least = type->bytes == 4 ? -124 : -1020, most = type->bytes == 4 ? 126 : 1022;
    out.undecidable |= up > most || (down < least && (!zero || isinf(special)));
    return out;
}

/* ---- extremes ------------------------------------------------------------------------------ */

/* NaN wins over everything. Else the bounds are the extremes of the least and of the greatest that
   each element may be. */
reduce_expected reduce_expect_extreme(reduce_elements *e, int64_t first, int64_t end) {
    const bool least = e->reduce->op.id == OPERATOR_MIN;
    const double sign = least ? -1 : 1; /* the greatest of sign·x */
    double low = -INFINITY, middle = -INFINITY, high = -INFINITY;
    bool nan = false, unknown = false;
    int64_t at = first;
    for (int count = 0; reduce_elements_next(e, end, &at, &count);)
        for (int i = 0; i < count; i++) {
            const double x = sign * e->value[i], error = isinf(x) ? 0 : e->error[i];
            nan |= isnan(x) && isfinite(e->error[i]);
            unknown |= !isfinite(e->error[i]);
            low = fmax(low, x - error);
            middle = fmax(middle, x);
            high = fmax(high, x + error);
        }
    reduce_expected out = {.value = nan ? NAN : sign * middle, .undecidable = unknown && !nan};
    const double above = isinf(middle) ? 0 : high - middle,
                 below = isinf(middle) ? 0 : middle - low;
    out.bound = least ? below : above;
    out.bound_below = least ? above : below;
    return out;
}

/* ---- truth --------------------------------------------------------------------------------- */

/* 1 or 0. An element within its error of 0 may be either. NaN is not 0, and so it is true. */
reduce_expected reduce_expect_truth(reduce_elements *e, int64_t first, int64_t end) {
    const bool all = e->reduce->op.id == OPERATOR_ALL;
    bool settled = false, unknown = false;
    int64_t at = first;
    for (int count = 0; reduce_elements_next(e, end, &at, &count);)
        for (int i = 0; i < count; i++) {
            const double x = e->value[i], error = e->error[i];
            const bool sure = isfinite(error) && (error == 0 || isnan(x) || fabs(x) > error);
            unknown |= !sure;
            settled |= sure && (x != 0) == !all;
        }
    return (reduce_expected){.value = settled ? !all : all, .undecidable = unknown && !settled};
}

/* ---- operators of the spec's own ----------------------------------------------------------- */

/* The elements are joined from left to right in the dtype's arithmetic. Each of the n − 1 calls of
   the operator rounds k times for its k operations, relative to the largest number at hand; so it
   does here, and in the kernel's order. The bound is twice the sum of all that. It holds to first
   order, for operators that do not magnify the errors of their operands (|∂op/∂a|, |∂op/∂b| ≤ 1:
   sums, extremes, norms, choices). No more can be said of an unknown function without its
   analysis. */
reduce_expected reduce_expect_own(job *j, reduce_elements *e, int64_t first, int64_t end,
                                  pattern_machine *op) {
    const dtype type = e->subject->dtype;
    const pattern_operator *o = &e->reduce->op;
    const double k = operator_operations(j, &e->reduce->pattern, o);
    const double unit = dtype_words[type].epsilon;
    double rounding = 0, errors = 0;
    pattern_value total = operator_identity(o, type);
    reduce_expected out = {0};
    int64_t at = first;
    for (int count = 0; reduce_elements_next(e, end, &at, &count);)
        for (int i = 0; i < count; i++) {
            const double x = dtype_round(type, e->value[i]);
            const double before = total.real;
            reduce_count_sides(e, op, (pattern_value){.real = x}, at + i);
            const bool begins = at + i == first;
            total = begins ? (pattern_value){.real = x}
                           : operator_combine(type, o, op, total, (pattern_value){.real = x});
            /* Few functions are associative when an operand is NaN. */
            out.undecidable |= !isfinite(e->error[i]) || !isfinite(x) || !isfinite(total.real);
            if (!begins)
                rounding += k * unit * fmax(fabs(before), fmax(fabs(x), fabs(total.real)));
            errors += e->error[i];
        }
    out.value = total.real;
    out.bound = out.bound_below = 2 * (rounding + errors) + unit * fabs(total.real) * (errors > 0);
    return out;
}
