/* The family spmv. Takes: a subject and a request; a call and the y that a kernel made. Makes: the
   program with its source, what `explain` says of each format, and the verdict. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/lists/spmv/spmv.h"
#include "gen/source/emit.h"
#include "matrix/layout.h"

/* ---- what requests for one matrix find out once ---------------------------------------------- */

enum { MOST_NOTES = 128 };

typedef struct note {
    bool choice;         /* the answer of format_choose, or a refusal */
    storage given, made; /* the storage that a choice made */
    const char *text;    /* NULL: it is not refused */
} note;

struct matrix_notes {
    job *job;
    int count;
    note list[MOST_NOTES];
};

matrix_notes *spmv_notes_new(job *j) {
    matrix_notes *n = job_alloc(j, sizeof *n);
    n->job = j;
    return n;
}

static bool same(const storage *a, const storage *b) {
    return a->format == b->format && a->index_bytes == b->index_bytes &&
           a->value_bytes == b->value_bytes && a->bfloat16 == b->bfloat16 && a->slice == b->slice &&
           a->sigma == b->sigma && a->block_rows == b->block_rows &&
           a->block_cols == b->block_cols && a->packet == b->packet &&
           a->diagonals == b->diagonals && a->diagonal_count == b->diagonal_count;
}

static const note *find(const matrix_notes *n, bool choice, const storage *given) {
    for (int i = 0; n != NULL && i < n->count; i++)
        if (n->list[i].choice == choice && same(&n->list[i].given, given))
            return &n->list[i];
    return NULL;
}

/* NULL where there is no room. Diagonals that were found live in the request, and so are copied. */
static const note *keep(matrix_notes *n, bool choice, const storage *given, const storage *made,
                        const char *text) {
    if (n == NULL || n->count == MOST_NOTES)
        return NULL;
    note *to = &n->list[n->count];
    *to = (note){.choice = choice, .given = *given, .made = *made};
    if (made->diagonals != given->diagonals && made->diagonal_count > 0) {
        diagonal *list = job_array(n->job, (size_t)made->diagonal_count, sizeof *list);
        memcpy(list, made->diagonals, (size_t)made->diagonal_count * sizeof *list);
        to->made.diagonals = list;
    }
    to->text = job_string(n->job, text);
    n->count++;
    return to;
}

const char *spmv_choose(job *j, matrix_notes *n, const matrix *a, storage *s) {
    const storage given = *s;
    const note *known = find(n, true, &given);
    if (known == NULL) {
        const char *reason = format_choose(j, a, NULL, s);
        known = keep(n, true, &given, s, reason);
        if (known == NULL)
            return reason;
    }
    *s = known->made;
    return known->text;
}

const char *spmv_refusal(job *j, matrix_notes *n, const matrix *a, const storage *s) {
    const note *known = find(n, false, s);
    if (known != NULL)
        return known->text;
    packed_matrix measured;
    format_measure(j, a, s, &measured);
    const char *refusal = format_refusal(j, a, &measured, FORMAT_LIMIT);
    keep(n, false, s, s, refusal);
    return refusal;
}

/* ---- the family ------------------------------------------------------------------------------ */

static const char *const index_types[] = {"int", "long long"};

/* What a row of A meets: the offset of x from the row's own place, and the value. */
static void write_diagonals(text *t, const spmv *m, const spmv_plan *plan) {
    const storage *s = &plan->storage;
    text_add(t, "template <class Row> __device__ __forceinline__ void for_diagonals(Row &row) {\n");
    for (int d = 0; d < s->diagonal_count; d++) {
        text_printf(t, "    row.template at<%d, %lldLL>(", d, (long long)s->diagonals[d].offset);
        emit_constant(t, m->pattern.functions->dtype, s->diagonals[d].value);
        text_add(t, ");\n");
    }
    text_add(t, "}\n\n");
}

static const char *write_code(job *j, const spmv *m, const spmv_plan *plan) {
    text t = text_new(j);
    if (dtype_is_narrow(m->matrix)) /* a Value is what loading gives */
        text_printf(&t, "using StoredValue = %s;\n", dtype_words[m->matrix].c_name);
    text_printf(&t, "using Value = %s;\nusing Integer = %s;\n\n",
                dtype_words[dtype_computes(m->matrix)].c_name,
                index_types[m->index == DTYPE_INT64]);
    if (plan->storage.format == FORMAT_STENCIL)
        write_diagonals(&t, m, plan);
    pattern_write_function(&t, &m->pattern, SPMV_ALPHA, "Real", "alpha");
    pattern_write_function(&t, &m->pattern, SPMV_BETA, "Real", "beta");
    return t.data;
}

/* The diagonals that are compiled in: they are a part of the spec's meaning. */
static void print_diagonals(text *t, dtype type, const diagonal *list, int count) {
    text_add(t, "most rows of A:");
    for (int d = 0; d < count; d++) {
        text_printf(t, "%s ", d > 0 ? "," : "");
        if (type == DTYPE_FLOAT)
            text_float(t, (float)list[d].value);
        else
            text_double(t, list[d].value);
        text_printf(t, " at %lld", (long long)list[d].offset);
    }
    text_add(t, "\n");
}

static void print_model(text *t, const spmv *m, model_detail detail, const diagonal *list,
                        int count) {
    text_printf(t, "y = alpha * A * x + beta * y, %s of %s\n",
                text_count(t->job, m->vectors, "vector"),
                dtype_words[m->pattern.functions->dtype].name);
    text_printf(t, "A of %s, %s indices\n", dtype_words[m->matrix].name,
                dtype_words[m->index].name);
    if (count > 0)
        print_diagonals(t, m->matrix, list, count);
    model_print_functions(m->pattern.functions, detail, t);
}

void spmv_print(const subject *s, model_detail detail, text *out) {
    const spmv *m = s->model;
    print_model(out, m, detail, m->diagonals, m->diagonal_count);
}

static const char *write_model(job *j, const spmv *m, const spmv_plan *plan) {
    text t = text_new(j);
    const bool stencil = plan->storage.format == FORMAT_STENCIL;
    print_model(&t, m, MODEL_ALL, plan->storage.diagonals,
                stencil ? plan->storage.diagonal_count : 0);
    return t.data;
}

/* Only what the schedule says, so that the same plan gives the same text. */
static int write_constants(const spmv *m, const spmv_plan *plan, pattern_constant *out) {
    static const char *const names[SPMV_NUMBERS] = {
        [SPMV_ROWS] = "block_rows", [SPMV_COLUMNS] = "block_columns",
        [SPMV_SLICE] = "slice",     [SPMV_PACKET] = "packet",
        [SPMV_LANES] = "lanes",     [SPMV_THREADS] = "threads",
        [SPMV_ITEMS] = "items",     [SPMV_RUN] = "run",
        [SPMV_ABREAST] = "abreast", [SPMV_TAPER] = "taper",
        [SPMV_CUT] = "cut",         [SPMV_PASSES] = "passes",
        [SPMV_CACHE] = "cache",     [SPMV_APART] = "apart",
    };
    const size_t shared = spmv_shared(m, plan);
    int count = 0;
    for (int i = 0; i < SPMV_NUMBERS; i++)
        if (names[i] != NULL && plan->schedule.number[i] != 0)
            out[count++] = (pattern_constant){names[i], plan->schedule.number[i]};
    if (plan->schedule.number[SPMV_THREADS] == 0) /* of runs, which does not say it */
        out[count++] = (pattern_constant){"threads", plan->threads};
    out[count++] = (pattern_constant){"vectors", m->vectors};
    if (shared > 0)
        out[count++] = (pattern_constant){"shared", (int64_t)shared};
    if (plan->schedule.format == FORMAT_STENCIL) {
        const storage *t = &plan->storage;
        out[count++] = (pattern_constant){"ahead", plan->schedule.number[SPMV_AHEAD]};
        out[count++] = (pattern_constant){"diagonals", t->diagonal_count};
        out[count++] = (pattern_constant){"low", t->diagonals[0].offset};
        out[count++] = (pattern_constant){"high", t->diagonals[t->diagonal_count - 1].offset};
    }
    if (plan->schedule.format == FORMAT_PKT) {
        out[count++] = (pattern_constant){"packet_lanes", PACKET_LANES};
        out[count++] = (pattern_constant){"packet_none", PACKET_NONE};
    }
    return count;
}

family_build *spmv_build(job *j, const subject *subject, const family_request *r) {
    const spmv *m = subject->model;
    const spmv_plan plan = spmv_fit(j, subject, r);
    const format_word *word = &format_words[plan.schedule.format];
    program *p = pattern_program(j, &m->pattern, PROGRAM_PRODUCT, r->gpu);
    spmv_describe(j, m, &plan, p);
    pattern_constant constants[SPMV_NUMBERS + 8];
    const int constant_count = write_constants(m, &plan, constants);
    pattern_source source = {
        .program = p,
        .schedule = &plan.schedule,
        .template_file = spmv_template(&plan),
        .spec = r->untold ? "" : write_model(j, m, &plan),
        .work = job_print(j, "2 operations an entry and vector; %s stores %s numbers", word->name,
                          word->formula),
        .constants = constants,
        .constant_count = constant_count,
        .code = r->untold ? NULL : write_code(j, m, &plan),
        .narrow = m->matrix,
        .facts.shape = m->vectors == 1 ? "sparse matrix times a vector"
                                       : job_print(j, "sparse matrix times %d vectors", m->vectors),
        .facts.reason = plan.reason,
        .facts.textbook_operations = 2.0 * m->vectors,
    };
    return pattern_build(j, subject, r, &source);
}

/* ---- explain ------------------------------------------------------------------------------- */

/* "2·nnz + M + 1 = 11000 numbers, 84000 bytes" */
static const char *storage_note(job *j, const spmv *m, int format, const matrix *a) {
    text t = text_new(j);
    text_add(&t, format_words[format].formula);
    if (a == NULL) {
        text_add(&t, " numbers");
        return t.data;
    }
    const storage s = {.format = (enum format)format,
                       .index_bytes = dtype_words[m->index].bytes,
                       .value_bytes = dtype_words[m->matrix].bytes,
                       .bfloat16 = m->matrix == DTYPE_BFLOAT16};
    packed_matrix measured;
    format_measure(j, a, &s, &measured);
    text_add(&t, " = ");
    text_number(&t, measured.numbers, 15);
    text_add(&t, " numbers");
    if (measured.bytes >= 0)
        text_printf(&t, ", %lld bytes", (long long)measured.bytes);
    return t.data;
}

void spmv_explain(job *j, const subject *subject, const family_request *r,
                  family_explanation *out) {
    const spmv *m = subject->model;
    const matrix *a = r->matrix;
    const family_build *chosen = pattern_explain_build(j, subject, r, out);
    pattern_schedule plan = {0};
    pattern_schedule_parse(j, &spmv_words, chosen->plan, "plan", &plan);
    if (a != NULL) {
        text t = text_new(j);
        text_printf(&t, "%s; a dense matrix has %s = ", chosen->reason,
                    format_words[FORMAT_AUTO].formula);
        text_number(&t, (double)a->rows * (double)a->columns, 15);
        text_add(&t, " numbers");
        out->reason = t.data;
    }
    out->rows = job_array(j, (size_t)FORMAT_COUNT * SPMV_ALGORITHMS, sizeof *out->rows);
    for (int f = FORMAT_AUTO + 1; f < FORMAT_COUNT; f++)
        for (int i = 0; i < SPMV_ALGORITHMS; i++) {
            const spmv_plan tried = {.schedule = {.format = f, .algorithm = i}};
            if (spmv_template(&tried) == NULL)
                continue;
            family_row *row = &out->rows[out->row_count++];
            const char *line =
                job_print(j, "%s %s", format_words[f].name, spmv_words.algorithms[i].name);
            row->name = i == SPMV_AUTO ? format_words[f].name : line;
            row->note = storage_note(j, m, f, a);
            row->chosen = plan.format == f && plan.algorithm == i;
            pattern_try(j, subject, r, line, row);
        }
}

/* ---- the verdict --------------------------------------------------------------------------- */

/* Compares with float64 sums that are as
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
    judging v = {.alpha = factor(j, m, SPMV_ALPHA, before->parameters),
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
