/* The verdict on a product with a sparse matrix.
   Takes: a call and the y that a kernel made. Makes: a comparison with float64 sums that are as
   good as in twice the precision (T. Ogita, S. Rump, S. Oishi, SIAM J. Sci. Comput. 26 (2005) 1955,
   Dot2), row by row.

   Bound, with u the unit roundoff of x and y, for a row of n entries: each product is rounded once;
   n of them are added in n − 1 additions that are not exact, in whatever order; the sum, which is
   in at most three parts (what a block ends, what another carries over, a packet or an ELL part),
   is multiplied by alpha and added to y, at most three times; beta·y is rounded once. A row of csc
   is converted from fixed point, another three. So y is off by at most

       (n + 12)·u·(|alpha|·Σ|a·x| + |beta·y|)

   to the first order (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section
   3.1), and by a few of the least numbers above 0 where products underflow. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/lists/spmv/spmv.h"

/* The sum of one row: high + low, and Σ|a·x|; infinite and NaN products are kept apart. */
typedef struct row_sum {
    double high, low, magnitude, special;
    bool is_special, unclear;
    int64_t entries;
} row_sum;

static void add_product(row_sum *s, double a, double x) {
    const double product = a * x;
    s->entries++;
    if (!isfinite(product)) {
        s->special += product;
        s->is_special = true;
        s->unclear |= a == 0; /* a kernel may skip a stored 0 */
        return;
    }
    const double rest = fma(a, x, -product);
    const double total = s->high + product, part = total - s->high;
    s->low += ((s->high - (total - part)) + (product - part)) + rest;
    s->high = total;
    s->magnitude += fabs(product);
}

typedef struct judging {
    dtype dtype;
    double alpha, beta, unit, least, largest;
    double greatest, greatest_error;
    family_verdict *out;
} judging;

static void report(const judging *v, int64_t row, int64_t vector, double got, double wanted) {
    if (v->out->wrong++ == 0)
        snprintf(v->out->first_wrong, sizeof v->out->first_wrong,
                 "y at row %lld of vector %lld: %.9g instead of %.9g", (long long)row,
                 (long long)vector, got, wanted);
}

/* One element of y: what it was before, what it is, and the sum of its row. */
static void judge_element(judging *v, int64_t row, int64_t vector, double before, double got,
                          const row_sum *s) {
    const double scaled = v->beta == 0 ? 0 : v->beta * before;
    const double reach = fabs(v->alpha) * s->magnitude + fabs(scaled);
    v->out->judged++;
    if (s->unclear || (isfinite(reach) && reach > v->largest / 4) ||
        (!isfinite(s->magnitude) && !s->is_special)) {
        v->out->undecidable++;
        return;
    }
    if (s->is_special || !isfinite(scaled)) {
        const double wanted = v->alpha * (s->is_special ? s->special : s->high) + scaled;
        if (isnan(wanted) ? !isnan(got) : got != wanted)
            report(v, row, vector, got, wanted);
        return;
    }
    const double wanted = v->alpha * s->high + (v->alpha * s->low + scaled);
    const double terms = (double)s->entries + 12;
    const double bound = terms * (v->unit * reach / (1 - terms * v->unit) +
                                  v->least * (1 + fabs(v->alpha) + fabs(v->beta)));
    const double error = fabs(got - wanted);
    v->greatest = fmax(v->greatest, fabs(wanted));
    if (error > v->greatest_error)
        v->greatest_error = error;
    if (!(error <= bound)) /* also a NaN */
        report(v, row, vector, got, wanted);
    if (error > 0 && error / bound > v->out->of_bound)
        v->out->of_bound = error / bound;
}

static double factor(job *j, const spmv *m, int function, const double *parameters) {
    return pattern_apply(pattern_machine_new(j, &m->pattern, function, parameters), NULL).real;
}

void spmv_judge_given(job *j, const subject *s, const program *p, const matrix *a,
                      const family_call *before, const family_call *after, family_verdict *out) {
    const spmv *m = s->model;
    const dtype_word *word = &dtype_words[s->dtype];
    const int x = p->array_count - 2, y = p->array_count - 1;
    judging v = {.dtype = s->dtype,
                 .alpha = factor(j, m, SPMV_ALPHA, before->parameters),
                 .beta = factor(j, m, SPMV_BETA, before->parameters),
                 .unit = word->epsilon,
                 .least = s->dtype == DTYPE_FLOAT ? (double)FLT_TRUE_MIN : DBL_TRUE_MIN,
                 .largest = word->largest,
                 .out = out};
    *out = (family_verdict){0};
    for (int64_t vector = 0; vector < m->vectors; vector++)
        for (int64_t row = 0, k = 0; row < a->rows; row++) {
            row_sum sum = {0};
            for (; k < a->entries && a->row[k] == row; k++)
                add_product(
                    &sum, dtype_round(m->matrix, a->value[k]),
                    pattern_get(s->dtype, before->arrays[x], vector * a->columns + a->column[k])
                        .real);
            const int64_t at = vector * a->rows + row;
            judge_element(&v, row, vector, pattern_get(s->dtype, before->arrays[y], at).real,
                          pattern_get(s->dtype, after->arrays[y], at).real, &sum);
        }
    if (v.greatest > 0)
        out->greatest_error = v.greatest_error / v.greatest;
}

void spmv_judge(job *j, const subject *s, const program *p, const family_call *before,
                const family_call *after, family_verdict *out) {
    matrix a;
    spmv_unpack(j, p, before, &a);
    spmv_judge_given(j, s, p, &a, before, after, out);
}
