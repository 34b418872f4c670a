/* The arithmetic of rows: for each operation, the value, the magnitude and the error bound.
   The bounds hold for any order of sums and for products distributed over sums, as long as each
   operation rounds once; fused multiply-adds round less. */
#include "gen/reference/reference.h"

#include <assert.h>
#include <math.h>

/* The roundings, in units, that functions of CUDA's library are granted: twice their documented
   greatest errors in ulps, and a few for the host's own float64 functions. */
static const double roundings[EXPR_OP_COUNT] = {
    [EXPR_SQRT] = 2, [EXPR_EXP] = 6,  [EXPR_LOG] = 6,  [EXPR_SIN] = 6,
    [EXPR_COS] = 6,  [EXPR_TANH] = 6, [EXPR_POW] = 24,
};

/* A term of the left operand meets at most as many additions as the right has terms, and the other
   way round, whatever the order. */
static void apply_sum(const rounding *r, const step *s, double sign, row *restrict to,
                      const row *restrict a, const row *restrict b) {
    const double left = r->unit * s->terms[1], right = r->unit * s->terms[0];
    const double largest = r->largest;
    for (int i = 0; i < LANES; i++) {
        const double ma = a->magnitude[i], mb = b->magnitude[i], m = ma + mb;
        const double overflow = m > largest ? INFINITY : 0.0;
        to->value[i] = a->value[i] + sign * b->value[i];
        to->magnitude[i] = m;
        to->error[i] = a->error[i] + b->error[i] + (left * ma + right * mb) + overflow;
    }
}

/* The factor may be distributed over the terms of a sum, so each term has its error. */
static void apply_scale(const rounding *r, const scalar *k, row *restrict to,
                        const row *restrict a) {
    const double factor = k->value, size = isnan(factor) ? 0 : fabs(factor) + k->error;
    const double error = k->error + r->unit * size, tiny = r->tiny, largest = r->largest;
    for (int i = 0; i < LANES; i++) {
        const double ma = a->magnitude[i], m = size * ma;
        const double overflow = m > largest ? INFINITY : tiny;
        to->value[i] = factor * a->value[i];
        to->magnitude[i] = m;
        to->error[i] = size * a->error[i] + error * ma + overflow;
    }
}

/* Products of numbers that differ from cell to cell are not distributed. Values count there, not
   magnitudes, so that the square of a small difference has a small error. */
static void apply_multiply(const rounding *r, row *restrict to, const row *restrict a,
                           const row *restrict b) {
    const double unit = r->unit, tiny = r->tiny, largest = r->largest;
    for (int i = 0; i < LANES; i++) {
        const double va = a->value[i], vb = b->value[i], ea = a->error[i], eb = b->error[i];
        const double size_a = fabs(va) + ea, size_b = fabs(vb) + eb;
        const double most_a = va == va ? size_a : 0, most_b = vb == vb ? size_b : 0;
        const double m = most_a * most_b, overflow = m > largest ? INFINITY : tiny;
        to->value[i] = va * vb;
        to->magnitude[i] = m;
        to->error[i] = most_a * eb + most_b * ea + unit * m + overflow;
    }
}

/* Division by a number that is the same for all cells is distributed. It has two units, because a
   kernel may multiply by the reciprocal. Where the divisor is not much larger than its error, the
   kernel's result may be much larger than the quotient; the magnitude takes that into account. */
static void apply_divide(const rounding *r, bool distributed, row *restrict to,
                         const row *restrict a, const row *restrict b) {
    const double units = 2 * r->unit, tiny = r->tiny, largest = r->largest;
    for (int i = 0; i < LANES; i++) {
        const double divisor = fabs(b->value[i]), least = divisor - b->error[i];
        const double size = distributed ? a->magnitude[i] : fabs(a->value[i]) + a->error[i];
        const double quotient = size / divisor;
        const double moved = (a->error[i] + quotient * b->error[i]) / least;
        const double m = quotient + moved, e = moved + units * m + tiny;
        to->value[i] = a->value[i] / b->value[i];
        to->magnitude[i] = m;
        to->error[i] = least > 0 && m <= largest ? e : INFINITY;
    }
}

static void apply_sign(bool absolute, row *restrict to, const row *restrict a) {
    for (int i = 0; i < LANES; i++) {
        to->value[i] = absolute ? fabs(a->value[i]) : -a->value[i];
        to->magnitude[i] = a->magnitude[i];
        to->error[i] = a->error[i];
    }
}

static void apply_constant(const scalar *k, row *to) {
    for (int i = 0; i < LANES; i++) {
        to->value[i] = k->value;
        to->magnitude[i] = k->magnitude;
        to->error[i] = k->error;
    }
}

/* Where the errors leave open which operand is less, the kernel may have taken either. */
static void apply_extreme(double sign, row *restrict to, const row *restrict a,
                          const row *restrict b) {
    for (int i = 0; i < LANES; i++) {
        const double va = a->value[i], vb = b->value[i], distance = sign * (va - vb);
        const double e = a->error[i] + b->error[i], m = a->magnitude[i] + b->magnitude[i];
        const bool first = distance < 0;
        const bool clear = fabs(distance) > e;
        const double other = distance != distance ? va + vb : vb; /* NaN where one of them is */
        to->value[i] = first ? va : other;
        to->magnitude[i] = !clear ? m : first ? a->magnitude[i] : b->magnitude[i];
        to->error[i] = !clear ? e : first ? a->error[i] : b->error[i];
    }
}

/* A kernel's comparison is certain where the operands are further apart than their errors, where
   both are exact, and where one is NaN for certain. */
static void apply_compare(int code, row *restrict to, const row *restrict a,
                          const row *restrict b) {
    for (int i = 0; i < LANES; i++) {
        const double va = a->value[i], vb = b->value[i], distance = fabs(va - vb);
        const double e = a->error[i] + b->error[i];
        const bool certain = distance > e || e == 0 || (distance != distance && e < INFINITY);
        const bool truth = code == EXPR_LT   ? va < vb
                           : code == EXPR_LE ? va <= vb
                           : code == EXPR_GT ? va > vb
                           : code == EXPR_GE ? va >= vb
                           : code == EXPR_EQ ? va == vb
                                             : va != vb;
        to->value[i] = truth;
        to->magnitude[i] = 0;
        to->error[i] = certain ? 0 : INFINITY;
    }
}

static void apply_both(bool any, row *restrict to, const row *restrict a, const row *restrict b) {
    const double decisive = any; /* one operand of this value decides the result */
    for (int i = 0; i < LANES; i++) {
        const bool sure_a = a->error[i] == 0, sure_b = b->error[i] == 0;
        const bool settled = (sure_a && a->value[i] == decisive) ||
                             (sure_b && b->value[i] == decisive) || (sure_a && sure_b);
        to->value[i] =
            any ? a->value[i] != 0 || b->value[i] != 0 : a->value[i] != 0 && b->value[i] != 0;
        to->magnitude[i] = 0;
        to->error[i] = settled ? 0 : INFINITY;
    }
}

static void apply_not(row *restrict to, const row *restrict a) {
    for (int i = 0; i < LANES; i++) {
        to->value[i] = 1 - a->value[i];
        to->magnitude[i] = 0;
        to->error[i] = a->error[i];
    }
}

static void apply_where(row *restrict to, const row *restrict condition, const row *restrict a,
                        const row *restrict b) {
    for (int i = 0; i < LANES; i++) {
        const bool truth = condition->value[i] != 0, certain = condition->error[i] == 0;
        const double spread = fabs(a->value[i] - b->value[i]) + a->error[i] + b->error[i];
        const double e = truth ? a->error[i] : b->error[i];
        const double m = truth ? a->magnitude[i] : b->magnitude[i];
        to->value[i] = truth ? a->value[i] : b->value[i];
        to->magnitude[i] = certain ? m : a->magnitude[i] + b->magnitude[i];
        to->error[i] = certain ? e : spread;
    }
}

/* |exp(x ± e) − exp(x)| is at most exp(x) times this. */
static double growth(double e) {
    return e < 1 ? e * (1 + e) : expm1(e);
}

/* Functions of one number, before their own rounding: the result, and how far the operand's error
   moves it. The error is NaN or infinite where the operand may lie outside the domain. */
static scalar root(double v, double e, bool never_negative) {
    const scalar out = {.value = sqrt(v)};
    if (v + e < 0)
        return out; /* NaN for certain */
    const double down = out.value - sqrt(never_negative ? fmax(v - e, 0) : v - e);
    const double up = sqrt(v + e) - out.value;
    return (scalar){.value = out.value, .error = up > down ? up : down};
}

static scalar logarithm(double v, double e) {
    const double least = v - e;
    return (scalar){.value = log(v), .error = v + e < 0 ? 0 : least > 0 ? e / least : INFINITY};
}

/* sin, cos and tanh move no faster than their operand, and by at most 2. */
static scalar bounded(double value, double e) {
    return (scalar){.value = value, .error = e > 2 && e < INFINITY ? 2 : e};
}

static scalar function(const step *s, double v, double e) {
    switch (s->code) {
    case EXPR_SQRT:
        return root(v, e, s->never_negative);
    case EXPR_EXP:
        return (scalar){.value = exp(v), .error = exp(v) * growth(e)};
    case EXPR_LOG:
        return logarithm(v, e);
    case EXPR_SIN:
        return bounded(sin(v), e);
    case EXPR_COS:
        return bounded(cos(v), e);
    case EXPR_TANH:
        return bounded(tanh(v), e);
    default:
        assert(s->code == EXPR_FLOOR);
        return (scalar){.value = floor(v), .error = floor(v + e) - floor(v - e)};
    }
}

/* x^y where y is exact and |x| is within `e`. Powers of at least 1 are convex; of x^y with y below
   1, |x'^y − x^y| is at most |x' − x|^y. */
static double power_of_exact(double x, double e, double y) {
    if (e == 0 || y == 0)
        return 0;
    if (y >= 1)
        return pow(x + e, y) - pow(x, y);
    const double least = x - e;
    const double relative = least > 0 ? pow(x, y) * growth(fabs(y) * e / least) : INFINITY;
    return y > 0 ? fmin(pow(e, y), relative) : relative;
}

static scalar power(const step *s, double x, double ex, double y, double ey) {
    const double value = pow(x, y);
    const bool whole = ey == 0 && y == floor(y);
    if (isnan(x) || isnan(y)) { /* NaN to the power of 0 is 1, and so is 1 to that of NaN */
        const bool certain = (!isnan(x) || !(fabs(y) <= ey)) && (!isnan(y) || !(fabs(x - 1) <= ex));
        return (scalar){.value = value, .error = certain ? 0 : INFINITY};
    }
    if (x + ex < 0 && x > -INFINITY && ey == 0 && !whole)
        return (scalar){.value = NAN};
    if (!s->never_negative && !whole && !(x - ex >= 0))
        return (scalar){.value = value, .error = INFINITY};
    if (ey == 0)
        return (scalar){.value = value, .error = power_of_exact(fabs(x), ex, y)};
    const double least = fabs(x) - ex;
    const double turn = ex / least; /* of log(x) */
    const double exponent = fabs(y) * turn + ey * (fabs(log(fabs(x))) + turn);
    return (scalar){.value = value, .error = least > 0 ? fabs(value) * growth(exponent) : INFINITY};
}

static void apply_function(const rounding *r, const step *s, row *restrict to,
                           const row *restrict a, const row *restrict b) {
    const double units = r->unit * roundings[s->code];
    const double tiny = r->tiny * roundings[s->code];
    for (int i = 0; i < LANES; i++) {
        const scalar f = s->code == EXPR_POW
                             ? power(s, a->value[i], a->error[i], b->value[i], b->error[i])
                             : function(s, a->value[i], a->error[i]);
        const bool known = a->error[i] < INFINITY && b->error[i] < INFINITY;
        const double m = isnan(f.value) ? 0 : fabs(f.value) + f.error;
        const double e = known ? f.error + units * m + tiny : INFINITY;
        to->value[i] = f.value;
        to->magnitude[i] = m;
        to->error[i] = m > r->largest ? INFINITY : e;
    }
}

/* A NaN that comes from a NaN is certain, whatever the formulas above made of it. */
static void settle_nan(row *restrict to, const row *restrict a, const row *restrict b) {
    for (int i = 0; i < LANES; i++) {
        const bool from_a = isnan(a->value[i]) && a->error[i] < INFINITY;
        const bool from_b = isnan(b->value[i]) && b->error[i] < INFINITY;
        if (isnan(to->value[i]) && (from_a || from_b))
            to->magnitude[i] = to->error[i] = 0;
    }
}

/* A multiple of the grain; adding and subtracting HALF rounds to a whole number. */
#define GRAIN 0x1p-8
static bool on_grain(double v) {
    const double HALF = 0x1.8p52, grains = v / GRAIN;
    return (grains + HALF) - HALF == grains;
}

/* Whether every kernel has this quotient of two multiples of the grain exactly: the divisor is a
   power of two, or the quotient is whole and kernels divide as the spec says, as in
   x - 3 floor(x / 3). */
static bool divides_exactly(const step *s, double a, double b) {
    int exponent;
    const bool shifts = fabs(frexp(b, &exponent)) == 0.5;
    return on_grain(a / b * (shifts ? 1 : GRAIN)) && (shifts || s->as_written);
}

/* Sums of multiples of the grain are exact in any order, as long as their magnitudes together stay
   small. So are products of such a number with a whole one, and some quotients. Counts of cells are
   such sums: a comparison with a count can be decided also where the two are equal. */
static void settle_exact(const rounding *r, const step *s, row *restrict to, const row *restrict a,
                         const row *restrict b) {
    const bool scaled = s->code == STEP_SCALE, divided = s->code == EXPR_DIVIDE;
    const bool sum = s->code == EXPR_ADD || s->code == EXPR_SUBTRACT;
    const scalar *k = &s->constant;
    for (int i = 0; i < LANES; i++) {
        const double va = a->value[i], vb = scaled ? k->value : b->value[i];
        const double ea = a->error[i], eb = scaled ? k->error : b->error[i];
        const bool whole_a = on_grain(va * GRAIN), whole_b = on_grain(vb * GRAIN);
        const bool serves =
            divided ? divides_exactly(s, va, vb) : sum || whole_b || (whole_a && !scaled);
        if (ea == 0 && eb == 0 && serves && on_grain(va) && on_grain(vb) &&
            to->magnitude[i] <= r->exact)
            to->error[i] = 0;
    }
}

static void apply(const rounding *r, const step *s, row *to, const row *a, const row *b,
                  const row *c) {
    switch (s->code) {
    case EXPR_CONSTANT:
        apply_constant(&s->constant, to);
        break;
    case STEP_SCALE:
        apply_scale(r, &s->constant, to, a);
        break;
    case EXPR_ADD:
    case EXPR_SUBTRACT:
        apply_sum(r, s, s->code == EXPR_ADD ? 1 : -1, to, a, b);
        break;
    case EXPR_MULTIPLY:
        apply_multiply(r, to, a, b);
        break;
    case EXPR_DIVIDE:
        apply_divide(r, s->distributed, to, a, b);
        settle_nan(to, a, b);
        break;
    case EXPR_NEGATE:
    case EXPR_ABS:
        apply_sign(s->code == EXPR_ABS, to, a);
        break;
    case EXPR_MIN:
    case EXPR_MAX:
        apply_extreme(s->code == EXPR_MIN ? 1 : -1, to, a, b);
        settle_nan(to, a, b);
        break;
    case EXPR_NOT:
        apply_not(to, a);
        break;
    case EXPR_ALL:
    case EXPR_ANY:
        apply_both(s->code == EXPR_ANY, to, a, b);
        break;
    case EXPR_WHERE:
        apply_where(to, a, b, c);
        break;
    case EXPR_POW:
        apply_function(r, s, to, a, b);
        break;
    case EXPR_FMA: {
        static const step alone = {.terms = {1, 1}};
        row product;
        apply_multiply(r, &product, a, b);
        apply_sum(r, &alone, 1, to, &product, c);
        break;
    }
    default:
        if (s->code >= EXPR_LT && s->code <= EXPR_NE) {
            apply_compare(s->code, to, a, b);
        } else {
            apply_function(r, s, to, a, a);
            settle_nan(to, a, a);
        }
        break;
    }
}

void row_apply(const rounding *r, const step *s, row *to, const row *a, const row *b,
               const row *c) {
    apply(r, s, to, a, b, c);
    if (s->exactly && (s->code == STEP_SCALE || s->code == EXPR_ADD || s->code == EXPR_SUBTRACT ||
                       s->code == EXPR_MULTIPLY || s->code == EXPR_DIVIDE))
        settle_exact(r, s, to, a, b);
}
