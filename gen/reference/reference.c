/* The reference: the model's expressions made into steps over rows of cells, and their evaluation.
   Takes: a model, parameters, arrays. Makes: values and error bounds. Steps follow a walk from the
   outputs that goes to the deepest operand first, which keeps few rows alive at a time. */
#include "gen/reference/reference.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "gen/model/model.h"

struct reference {
    const model *m;
    rounding rounding;
    step *steps;
    int step_count;
    tap *taps;
    int rows;                /* alive at once */
    double more;             /* error of a separable filter in passes, relative to the magnitude */
    double most;             /* magnitude beyond which a pass may overflow */
    int outputs[MAX_FIELDS]; /* the row of each output */
    int current[MAX_FIELDS]; /* the array with its field's current values, −1 for an out field */
    condition *conditions;   /* counts 0: those are in the scratch */
    const scalar **settled;  /* of each: the same for all cells; NULL: it is not */
    int condition_count;
};

/* What has been counted in a scratch, which begins with it: cells, then yes and no of each
   condition. */
typedef struct counts {
    int64_t cells;
    int64_t taken[][2];
} counts;

/* A second-order term in every sum of errors, and the float64 evaluation itself. */
static rounding rounding_of(dtype type) {
    const double smallest =
        type == DTYPE_FLOAT ? (double)FLT_MIN * (double)FLT_EPSILON : DBL_MIN * DBL_EPSILON;
    return (rounding){.unit = 1.25 * (dtype_words[type].epsilon + DBL_EPSILON / 2),
                      .tiny = 2 * smallest,
                      .largest = dtype_words[type].largest / 2,
                      .exact = type == DTYPE_FLOAT ? 0x1p16 : 0x1p40};
}

/* Facts about each live node. Nodes without taps are the same for all cells: they are evaluated
   while the reference is made. */
typedef struct facts {
    bool *live, *uniform, *never_negative;
    bool *compared; /* a comparison depends on it */
    int *condition; /* its number + 1; 0: it is none */
    scalar *value;  /* of uniform nodes */
    double *terms;  /* how many terms the node sums up */
    int *uses;      /* still to come, by other nodes and by outputs */
    int *row;       /* where the node's row is; −1 not yet made */
} facts;

typedef struct maker {
    job *job;
    reference *r;
    const expr_pool *pool;
    facts f;
    int capacity, tap_count; /* steps made room for; taps so far */
    int *spare;              /* rows free for use */
    int spare_count;
} maker;

static scalar exact_or_rounded(const maker *k, double value) {
    if (isnan(value))
        return (scalar){.value = value};
    const bool exact = k->r->m->dtype != DTYPE_FLOAT || (double)(float)value == value;
    const rounding *r = &k->r->rounding;
    return (scalar){.value = value,
                    .magnitude = fabs(value),
                    .error = exact ? 0 : r->unit * fabs(value) + r->tiny};
}

static void fill_row(row *to, const scalar *value) {
    const step s = {.code = EXPR_CONSTANT, .constant = *value};
    row_apply(NULL, &s, to, NULL, NULL, NULL);
}

/* What a comparison takes: a constant that stands there itself is rounded, once and for all. */
static scalar operand_of(const maker *k, const expr_node *user, expr_id id) {
    const expr_node *n = expr_get(k->pool, id);
    if (n->op != EXPR_CONSTANT || !condition_is_comparison(user->op) ||
        k->r->m->dtype != DTYPE_FLOAT)
        return k->f.value[id];
    return exact_or_rounded(k, (double)(float)n->value);
}

static step step_of(const facts *f, const expr_node *n, expr_id id) {
    step s = {.code = n->op, .terms = {1, 1}, .exactly = f->compared[id]};
    for (int i = 0; i < 2 && i < expr_words[n->op].operands; i++)
        s.terms[i] = f->terms[n->operand[i]];
    if (expr_words[n->op].operands > 0)
        s.never_negative = f->never_negative[n->operand[0]];
    s.distributed = n->op == EXPR_DIVIDE && f->uniform[n->operand[1]];
    return s;
}

/* Rows serve for single numbers too, so that there is one text of the error analysis. */
static scalar evaluate_uniform(maker *k, expr_id id, const double *parameters, row *rows) {
    const expr_node *n = expr_get(k->pool, id);
    if (n->op == EXPR_CONSTANT)
        return exact_or_rounded(k, n->value);
    if (n->op == EXPR_PARAMETER)
        return exact_or_rounded(k, parameters[n->index]);
    for (int i = 0; i < expr_words[n->op].operands; i++) {
        const scalar operand = operand_of(k, n, n->operand[i]);
        fill_row(&rows[i], &operand);
    }
    const step s = step_of(&k->f, n, id);
    row_apply(&k->r->rounding, &s, &rows[3], &rows[0], &rows[1], &rows[2]);
    return (scalar){rows[3].value[0], rows[3].magnitude[0], rows[3].error[0]};
}

/* Sums go on through what distributes over them. */
static double count_terms(const facts *f, const expr_node *n) {
    const expr_id a = n->operand[0], b = n->operand[1];
    switch (n->op) {
    case EXPR_ADD:
    case EXPR_SUBTRACT:
        return f->terms[a] + f->terms[b];
    case EXPR_NEGATE:
        return f->terms[a];
    case EXPR_MULTIPLY:
        return f->uniform[a] == f->uniform[b] ? 1 : f->terms[f->uniform[a] ? b : a];
    case EXPR_DIVIDE:
        return f->uniform[b] ? f->terms[a] : 1;
    default:
        return 1;
    }
}

/* Not negative (nor less by rounding) whatever the cells hold: sums of squares and the like. */
static bool never_negative(const facts *f, const expr_node *n, expr_id id) {
    const expr_id a = n->operand[0], b = n->operand[1], c = n->operand[2];
    const bool *known = f->never_negative;
    switch (n->op) {
    case EXPR_CONSTANT:
    case EXPR_PARAMETER:
        return f->value[id].value >= 0;
    case EXPR_MULTIPLY:
        return a == b || (known[a] && known[b]);
    case EXPR_ADD:
    case EXPR_DIVIDE:
    case EXPR_MIN:
        return known[a] && known[b];
    case EXPR_MAX:
        return known[a] || known[b];
    case EXPR_FLOOR:
    case EXPR_POW:
        return known[a];
    case EXPR_ABS:
    case EXPR_SQRT:
    case EXPR_EXP:
        return true;
    case EXPR_WHERE:
        return known[b] && known[c];
    default:
        return false;
    }
}

/* Users come after what they use. */
static void find_compared(maker *k) {
    facts *f = &k->f;
    for (expr_id id = k->pool->count; id-- > 0;) {
        const expr_node *n = expr_get(k->pool, id);
        for (int i = 0; f->live[id] && i < expr_words[n->op].operands; i++)
            f->compared[n->operand[i]] |= f->compared[id] || condition_is_comparison(n->op);
    }
}

static void find_facts(maker *k, const double *parameters) {
    facts *f = &k->f;
    row *rows = job_array(k->job, 4, sizeof *rows);
    for (expr_id id = 0; id < k->pool->count; id++) {
        const expr_node *n = expr_get(k->pool, id);
        if (!f->live[id])
            continue;
        f->row[id] = -1;
        f->uniform[id] = n->op != EXPR_TAP;
        for (int i = 0; i < expr_words[n->op].operands; i++) {
            f->uniform[id] &= f->uniform[n->operand[i]];
            f->uses[n->operand[i]]++;
        }
        if (f->uniform[id])
            f->value[id] = evaluate_uniform(k, id, parameters, rows);
        f->terms[id] = count_terms(f, n);
        f->never_negative[id] = never_negative(f, n, id);
    }
}

static void emit(maker *k, const step *s) {
    if (k->r->step_count == k->capacity) {
        step *steps = job_array(k->job, 2 * (size_t)k->capacity + 16, sizeof *steps);
        if (k->capacity > 0)
            memcpy(steps, k->r->steps, (size_t)k->capacity * sizeof *steps);
        k->r->steps = steps;
        k->capacity = 2 * k->capacity + 16;
    }
    k->r->steps[k->r->step_count++] = *s;
}

static int take_row(maker *k) {
    return k->spare_count > 0 ? k->spare[--k->spare_count] : k->r->rows++;
}

static int make_constant(maker *k, const scalar *value) {
    const int to = take_row(k);
    emit(k, &(step){.code = EXPR_CONSTANT, .to = to, .constant = *value});
    return to;
}

static void make_step(maker *k, expr_id id) {
    facts *f = &k->f;
    const expr_node *n = expr_get(k->pool, id);
    const int operands = expr_words[n->op].operands;
    step s = step_of(f, n, id);
    s.condition = f->condition[id];
    if (n->op == EXPR_TAP) {
        s.tap = k->tap_count++;
        k->r->taps[s.tap] = (tap){.array = n->index, .d = {n->d[0], n->d[1], n->d[2]}};
    } else if (n->op == EXPR_MULTIPLY && f->uniform[n->operand[0]] != f->uniform[n->operand[1]]) {
        const int scaled = f->uniform[n->operand[0]];
        s.code = STEP_SCALE;
        s.from[0] = f->row[n->operand[scaled]];
        s.constant = f->value[n->operand[!scaled]];
    } else {
        for (int i = 0; i < operands; i++) {
            const scalar constant = operand_of(k, n, n->operand[i]);
            s.from[i] =
                f->uniform[n->operand[i]] ? make_constant(k, &constant) : f->row[n->operand[i]];
        }
    }
    s.to = f->row[id] = take_row(k);
    emit(k, &s);
    for (int i = 0; i < operands; i++) {
        const expr_id o = n->operand[i];
        if (f->uniform[o] ? s.code != STEP_SCALE : --f->uses[o] == 0)
            k->spare[k->spare_count++] = f->uniform[o] ? s.from[i] : f->row[o];
    }
}

/* Of the operands still to be made, the deepest; EXPR_NONE where all are made. */
static expr_id next_operand(const maker *k, expr_id id) {
    const expr_node *n = expr_get(k->pool, id);
    expr_id deepest = EXPR_NONE;
    for (int i = 0; i < expr_words[n->op].operands; i++) {
        const expr_id o = n->operand[i];
        if (!k->f.uniform[o] && k->f.row[o] < 0 &&
            (deepest == EXPR_NONE ||
             expr_get(k->pool, o)->depth > expr_get(k->pool, deepest)->depth))
            deepest = o;
    }
    return deepest;
}

static int make_output(maker *k, expr_id root, expr_id *stack) {
    if (k->f.uniform[root])
        return make_constant(k, &k->f.value[root]);
    int count = 0;
    if (k->f.row[root] < 0)
        stack[count++] = root;
    while (count > 0) {
        const expr_id next = next_operand(k, stack[count - 1]);
        if (next != EXPR_NONE)
            stack[count++] = next;
        else
            make_step(k, stack[--count]);
    }
    return k->f.row[root];
}

static int current_array(const model *m, int field) {
    for (int i = 0; i < m->array_count; i++)
        if (m->arrays[i].field == field && !m->arrays[i].previous)
            return i;
    return -1;
}

static void find_conditions(maker *k, const expr_id *roots, int count) {
    reference *r = k->r;
    r->condition_count = conditions_find(k->job, k->pool, roots, count, &r->conditions);
    r->settled = job_array(k->job, (size_t)r->condition_count + 1, sizeof *r->settled);
    for (int i = 0; i < r->condition_count; i++) {
        const expr_id id = r->conditions[i].node;
        k->f.condition[id] = i + 1;
        r->settled[i] = k->f.uniform[id] ? &k->f.value[id] : NULL;
    }
}

reference *reference_new(job *j, const model *m, const double *parameters) {
    reference *r = job_alloc(j, sizeof *r);
    *r = (reference){.m = m, .rounding = rounding_of(m->dtype), .most = INFINITY};
    if (m->separable != NULL && m->separable->count > 0) {
        r->more = separable_rounding(m->separable, m->dtype);
        r->most = r->rounding.largest * m->separable->least;
    }
    const size_t nodes = (size_t)m->pool->count;
    expr_id roots[MAX_FIELDS];
    for (int o = 0; o < m->output_count; o++)
        roots[o] = m->outputs[o].value;
    maker k = {.job = j, .r = r, .pool = m->pool};
    k.f.live = expr_live(m->pool, j, roots, m->output_count);
    k.f.uniform = job_array(j, nodes, sizeof *k.f.uniform);
    k.f.never_negative = job_array(j, nodes, sizeof *k.f.never_negative);
    k.f.compared = job_array(j, nodes, sizeof *k.f.compared);
    k.f.condition = job_array(j, nodes, sizeof *k.f.condition);
    k.f.value = job_array(j, nodes, sizeof *k.f.value);
    k.f.terms = job_array(j, nodes, sizeof *k.f.terms);
    k.f.uses = job_array(j, nodes, sizeof *k.f.uses);
    k.f.row = job_array(j, nodes, sizeof *k.f.row);
    k.spare = job_array(j, nodes + 3, sizeof *k.spare);
    r->taps = job_array(j, nodes, sizeof *r->taps);
    find_compared(&k);
    find_facts(&k, parameters);
    find_conditions(&k, roots, m->output_count);
    for (int o = 0; o < m->output_count; o++)
        k.f.uses[roots[o]]++; /* never used up: outputs stay to the end */
    expr_id *stack = job_array(j, nodes, sizeof *stack);
    for (int o = 0; o < m->output_count; o++) {
        r->outputs[o] = make_output(&k, roots[o], stack);
        const int field = m->outputs[o].field;
        r->current[o] = m->fields[field].use == USE_OUT ? -1 : current_array(m, field);
    }
    return r;
}

enum { ALIGNMENT = 64 };

static size_t counts_bytes(const reference *r) {
    return sizeof(counts) + 2 * (size_t)r->condition_count * sizeof(int64_t);
}

size_t reference_scratch(const reference *r, int count) {
    (void)count; /* rows are worked through LANES at a time */
    return counts_bytes(r) + (size_t)r->rows * sizeof(row) + ALIGNMENT;
}

int reference_conditions(job *j, const reference *r, condition **out) {
    *out = job_array(j, (size_t)r->condition_count + 1, sizeof **out);
    memcpy(*out, r->conditions, (size_t)r->condition_count * sizeof **out);
    return r->condition_count;
}

void reference_count(const reference *r, const void *scratch, condition *sums) {
    const counts *from = scratch;
    for (int i = 0; i < r->condition_count; i++) {
        const scalar *settled = r->settled[i];
        const bool sure = settled != NULL && settled->error == 0;
        sums[i].of += from->cells;
        sums[i].yes += sure && settled->value != 0 ? from->cells : from->taken[i][0];
        sums[i].no += sure && settled->value == 0 ? from->cells : from->taken[i][1];
    }
}

/* The cells that are not kept, each on the side that every right kernel takes. */
static void count_sides(const row *truth, const bool *keep, int count, int64_t taken[2]) {
    int64_t yes = 0, no = 0;
    for (int i = 0; i < count; i++) {
        const bool sure = truth->error[i] == 0 && !keep[i];
        yes += sure && truth->value[i] != 0;
        no += sure && truth->value[i] == 0;
    }
    taken[0] += yes;
    taken[1] += no;
}

static bool kept_along(const model *m, int axis, int64_t at, int64_t size) {
    return (m->sides[axis][0].kind == BOUNDARY_FIXED && at < m->low[axis]) ||
           (m->sides[axis][1].kind == BOUNDARY_FIXED && at + m->high[axis] >= size);
}

static void evaluate(const reference *r, const reference_array *arrays, const stretch *s,
                     const bool *keep, counts *found, row *rows) {
    for (int i = 0; i < r->step_count; i++) {
        const step *now = &r->steps[i];
        if (now->code == EXPR_TAP)
            tap_read(r->m, &r->taps[now->tap], arrays, s, &rows[now->to]);
        else
            row_apply(&r->rounding, now, &rows[now->to], &rows[now->from[0]], &rows[now->from[1]],
                      &rows[now->from[2]]);
        if (now->condition > 0)
            count_sides(&rows[now->to], keep, s->count, found->taken[now->condition - 1]);
    }
    for (int i = 0; i < s->count; i++)
        found->cells += !keep[i];
}

/* The cells of one stretch: `kept` says which are not evaluated (and `rows` may then be unset). */
static void store(const reference *r, int output, const reference_array *arrays, const stretch *s,
                  const bool *kept, const row *rows, double *values, double *bounds) {
    const row *from = &rows[r->outputs[output]];
    const int current = r->current[output];
    for (int i = 0; i < s->count; i++) {
        if (kept[i]) {
            int64_t at[AXES] = {s->at[0], s->at[1], s->at[2]};
            at[s->along] += i;
            values[i] = bounds[i] = 0;
            if (current >= 0)
                values[i] = tap_cell(r->m, &arrays[current], at, &bounds[i]);
        } else {
            const double error = from->error[i] + r->more * from->magnitude[i];
            const bool known = error >= 0 && from->magnitude[i] <= r->most; /* NaN: no saying */
            values[i] = from->value[i];
            bounds[i] = known ? error : INFINITY;
        }
    }
}

void reference_cells(const reference *r, const reference_array *arrays, const int64_t size[AXES],
                     const int64_t at[AXES], int along, int count, void *scratch, double *values,
                     double *bounds, bool *kept) {
    const model *m = r->m;
    const uintptr_t begin = (uintptr_t)scratch + counts_bytes(r);
    row *rows = (row *)((begin + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    bool all_kept = false;
    for (int axis = 0; axis < m->dims; axis++)
        all_kept |= axis != along && kept_along(m, axis, at[axis], size[axis]);
    for (int done = 0; done < count; done += LANES) {
        stretch s = {.size = size, .at = {at[0], at[1], at[2]}, .along = along};
        s.at[along] += done;
        s.count = count - done < LANES ? count - done : LANES;
        bool keep[LANES];
        bool all = true;
        for (int i = 0; i < s.count; i++) {
            keep[i] = all_kept || kept_along(m, along, s.at[along] + i, size[along]);
            all &= keep[i];
        }
        if (!all)
            evaluate(r, arrays, &s, keep, scratch, rows);
        for (int o = 0; o < m->output_count; o++)
            store(r, o, arrays, &s, keep, rows, values + (size_t)o * (size_t)count + done,
                  bounds + (size_t)o * (size_t)count + done);
        if (kept != NULL)
            memcpy(kept + done, keep, (size_t)s.count * sizeof *keep);
    }
}

void reference_row(const reference *r, const reference_array *arrays, const int64_t size[AXES],
                   int64_t x0, int64_t y, int64_t z, int count, void *scratch, double *values,
                   double *bounds, bool *kept) {
    reference_cells(r, arrays, size, (const int64_t[AXES]){x0, y, z}, 0, count, scratch, values,
                    bounds, kept);
}

/* A function of one number takes as long as so many additions. */
enum { FUNCTION_WORK = 16 };

double reference_work(const reference *r, const int64_t size[AXES]) {
    double steps = 1;
    for (int i = 0; i < r->step_count; i++) {
        const int code = r->steps[i].code;
        const bool slow = code == EXPR_POW || code == EXPR_EXP || code == EXPR_LOG ||
                          code == EXPR_SIN || code == EXPR_COS || code == EXPR_TANH;
        steps += slow ? FUNCTION_WORK : 1;
    }
    const int64_t lanes = (size[0] + LANES - 1) / LANES * LANES;
    return steps * (double)lanes / (double)(size[0] > 0 ? size[0] : 1);
}
