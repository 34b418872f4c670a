/* Checks of scans. Takes: a call, and what a kernel made of it. Makes: random calls, and a verdict.
   Whole numbers, and operators that do not round, must be met exactly. Sums are compared with
   compensated float64 prefix sums (A. Neumaier, ZAMM 54, 1974), and each may be off by
   depth·u·Σ|x| of its prefix: N. Higham, Accuracy and Stability of Numerical Algorithms, section
   4.2, where depth is the longest way of an element through the plan's additions. In a product
   every multiplication counts. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "gen/lists/draw.h"
#include "gen/lists/scan/scan.h"

/* ---- data ---------------------------------------------------------------------------------- */

void scan_draw(job *j, const subject *subject, const program *p, const int64_t size[AXES], int kind,
               const double *given, uint64_t seed, family_call *out) {
    const scan *s = subject->model;
    sample numbers[2];
    draw_call(j, p, given, &seed, out);
    reach_operands(j, &s->pattern, s->op.id == OPERATOR_OWN ? SCAN_OP : -1,
                   s->mapped ? SCAN_MAP : -1, out->parameters, numbers);
    out->sizes[0] = size[0];
    draw_input(j, subject->dtype, p, SCAN_INPUT, s->op.id, kind, &numbers[0], &seed, out);
}

/* ---- prefixes ------------------------------------------------------------------------------ */

enum { BLOCK = 1024 };

/* What the elements so far come to, and how far off a right kernel may be. */
typedef struct prefix {
    const scan *scan;
    dtype dtype;
    pattern_machine *op, *map;
    double depth, op_operations, map_operations, unit;
    int64_t count;
    pattern_value last;         /* element */
    pattern_value value, block; /* of own operators: before the block of elements, and in it */
    double sum, rest, special;  /* of sums: finite elements, compensated; and the others */
    long double product;
    double level, low, high; /* of products: log2 of it, and the ends of that */
    double magnitude;        /* of sums Σ|x|, else the largest seen */
    double map_error;        /* likewise */
    bool undecidable;
} prefix;

static bool is_real_sum(const prefix *p) {
    return p->dtype < DTYPE_REALS && p->scan->op.id == OPERATOR_SUM;
}

static bool is_real_product(const prefix *p) {
    return p->dtype < DTYPE_REALS && p->scan->op.id == OPERATOR_PRODUCT;
}

static bool is_real_own(const prefix *p) {
    return p->dtype < DTYPE_REALS && p->scan->op.id == OPERATOR_OWN;
}

static void add_to_sum(prefix *p, double x) {
    if (!isfinite(x)) {
        p->special += x;
        return;
    }
    const double total = p->sum + x;
    p->rest += fabs(p->sum) >= fabs(x) ? (p->sum - total) + x : (x - total) + p->sum;
    p->sum = total;
    p->magnitude += fabs(x);
    p->undecidable |= p->magnitude > dtype_words[p->dtype].largest / 2;
}

static void add_to_product(prefix *p, double x) {
    p->product *= x;
    if (isfinite(x) && x != 0) {
        p->level += log2(fabs(x));
        p->low = fmin(p->low, p->level);
        p->high = fmax(p->high, p->level);
    }
    /* Another grouping might overflow, or fall below the normal numbers. */
    p->undecidable |= p->high - p->low > (p->dtype == DTYPE_FLOAT ? 120 : 1000);
}

static void add_to_own(prefix *p, pattern_value x) {
    const pattern_operator *o = &p->scan->op;
    if (p->count % BLOCK == 0) {
        if (p->count > 0)
            p->value = operator_combine(p->dtype, o, p->op, p->value, p->block);
        p->block = x;
    } else {
        p->block = operator_combine(p->dtype, o, p->op, p->block, x);
    }
    p->magnitude = fmax(p->magnitude, fmax(fabs(x.real), fabs(p->block.real)));
    p->undecidable |= !isfinite(x.real) || !isfinite(p->block.real);
}

/* Kernels begin with neighbours: a fold alone would not show which sides of conditions they
   take. */
static void count_sides(prefix *p, pattern_value x) {
    if (p->op != NULL && p->count % 2 == 1)
        operator_combine(p->dtype, &p->scan->op, p->op, p->last, x);
    p->last = x;
}

static void add(prefix *p, pattern_value x, double error) {
    count_sides(p, x);
    if (is_real_sum(p)) {
        add_to_sum(p, x.real);
        p->map_error += error;
    } else if (is_real_product(p)) {
        add_to_product(p, x.real);
        p->map_error += x.real != 0 ? error / fabs(x.real) : 0;
    } else if (is_real_own(p)) {
        add_to_own(p, x);
        p->map_error = fmax(p->map_error, error);
    } else {
        p->value = operator_combine(p->dtype, &p->scan->op, p->op, p->value, x);
        p->map_error = fmax(p->map_error, error);
    }
    p->count++;
}

static void add_element(prefix *p, pattern_value x) {
    double error = 0;
    if (p->map != NULL) {
        const pattern_value from = x;
        x = pattern_apply(p->map, (const pattern_value[]){x, x});
        if (p->dtype < DTYPE_REALS && isfinite(x.real))
            error = 8 * p->map_operations * p->unit * fmax(1, fmax(fabs(x.real), fabs(from.real)));
    }
    add(p, operator_prepare(&p->scan->op, p->dtype, x), error);
}

static pattern_value value_of(const prefix *p) {
    if (is_real_sum(p))
        return (pattern_value){.real = p->special != 0 ? p->special : p->sum + p->rest};
    if (is_real_product(p))
        return (pattern_value){.real = (double)p->product};
    if (is_real_own(p) && p->count > 0)
        return operator_combine(p->dtype, &p->scan->op, p->op, p->value, p->block);
    return p->value;
}

static double bound_of(const prefix *p, double value) {
    if (is_real_sum(p))
        return 1.01 * p->depth * p->unit * p->magnitude + p->map_error + p->unit * fabs(value);
    if (is_real_product(p))
        return fabs(value) * (1.01 * ((double)p->count + p->depth) * p->unit + 2 * p->map_error);
    if (is_real_own(p)) /* if the operator does not magnify its operands */
        return 8 * p->op_operations * p->unit * p->magnitude *
                   (p->depth + BLOCK + (double)(p->count / BLOCK) + 2) +
               8 * p->map_error;
    return p->map_error;
}

static void begin(job *j, prefix *p, const subject *subject, const double *parameters,
                  double depth) {
    const scan *s = subject->model;
    *p = (prefix){.scan = s, .dtype = subject->dtype, .depth = depth, .product = 1};
    p->unit = dtype_words[p->dtype].epsilon;
    p->op_operations = operator_operations(j, &s->pattern, &s->op);
    if (s->op.id == OPERATOR_OWN)
        p->op = pattern_machine_new(j, &s->pattern, SCAN_OP, parameters);
    if (s->mapped) {
        p->map = pattern_machine_new(j, &s->pattern, SCAN_MAP, parameters);
        p->map_operations = pattern_operations(j, &s->pattern, SCAN_MAP);
    }
    p->value = operator_identity(&s->op, p->dtype);
    if (!s->initial)
        return;
    pattern_machine *init = pattern_machine_new(j, &s->pattern, SCAN_INIT, parameters);
    const pattern_value operands[2] = {p->value, p->value};
    const pattern_value first = operator_prepare(&s->op, p->dtype, pattern_apply(init, operands));
    if (is_real_own(p)) { /* the value is no element of a block */
        p->value = first;
        p->magnitude = fabs(first.real);
    } else {
        add(p, first, 0);
    }
}

/* ---- the verdict --------------------------------------------------------------------------- */

static void judge_one(job *j, const prefix *p, int64_t at, pattern_value got, family_verdict *out) {
    const pattern_value wanted = value_of(p);
    if (p->dtype >= DTYPE_REALS)
        verdict_whole(j, out, "output", at, p->dtype, got, wanted);
    else
        verdict_real(j, out, "output", at, p->dtype, got.real, wanted.real,
                     bound_of(p, wanted.real), p->undecidable);
}

void scan_judge(job *j, const subject *subject, const program *program, const family_call *before,
                const family_call *after, family_verdict *out) {
    const scan *s = subject->model;
    const int64_t count = before->sizes[0];
    prefix p;
    *out = (family_verdict){0};
    begin(j, &p, subject, before->parameters, scan_depth(program, count));
    for (int64_t i = 0; i < count; i++) {
        const pattern_value x = pattern_get(p.dtype, before->arrays[SCAN_INPUT], i);
        const pattern_value got = pattern_get(p.dtype, after->arrays[SCAN_OUTPUT], i);
        if (!s->exclusive)
            add_element(&p, x);
        judge_one(j, &p, i, got, out);
        if (s->exclusive)
            add_element(&p, x);
    }
    out->greatest_error /= out->largest > 0 ? out->largest : 1;
    pattern_judge(j, p.op, &out->unjudged);
    pattern_judge(j, p.map, &out->unjudged);
}
