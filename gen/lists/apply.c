/* The functions of a pattern on plain numbers.
   Takes: operands and parameters. Makes: what a kernel's arithmetic makes of them: rounded to the
   dtype after each operation, or wrapping as whole numbers of its width do. */
#include "gen/lists/pattern.h"

#include <math.h>

struct pattern_machine {
    const model *model;
    const expr_pool *pool;
    dtype dtype;
    expr_id root;
    const bool *live;
    const double *parameters;
    pattern_value *values; /* by node */
    int64_t *yes;          /* by node, of those that give truth values */
    int64_t applied;
};

static int64_t wrapped(dtype type, uint64_t value) {
    switch (type) {
    case DTYPE_INT32:
        return (int32_t)(uint32_t)value;
    case DTYPE_UINT32:
        return (uint32_t)value;
    default:
        return (int64_t)value;
    }
}

pattern_value pattern_get(dtype type, const void *array, int64_t index) {
    switch (type) {
    case DTYPE_FLOAT:
        return (pattern_value){.real = ((const float *)array)[index]};
    case DTYPE_INT32:
        return (pattern_value){.whole = ((const int32_t *)array)[index]};
    case DTYPE_INT64:
        return (pattern_value){.whole = ((const int64_t *)array)[index]};
    case DTYPE_UINT32:
        return (pattern_value){.whole = ((const uint32_t *)array)[index]};
    default:
        return (pattern_value){.real = ((const double *)array)[index]};
    }
}

void pattern_set(dtype type, void *array, int64_t index, pattern_value value) {
    switch (type) {
    case DTYPE_FLOAT:
        ((float *)array)[index] = (float)value.real;
        break;
    case DTYPE_INT32:
        ((int32_t *)array)[index] = (int32_t)wrapped(type, (uint64_t)value.whole);
        break;
    case DTYPE_INT64:
        ((int64_t *)array)[index] = value.whole;
        break;
    case DTYPE_UINT32:
        ((uint32_t *)array)[index] = (uint32_t)value.whole;
        break;
    default:
        ((double *)array)[index] = value.real;
        break;
    }
}

pattern_machine *pattern_machine_new(job *j, const pattern *p, int function,
                                     const double *parameters) {
    const model *m = p->functions;
    pattern_machine *made = job_alloc(j, sizeof *made);
    made->model = m;
    made->pool = m->pool;
    made->dtype = m->dtype;
    made->root = m->outputs[function].value;
    made->live = expr_live(m->pool, j, &made->root, 1);
    made->parameters = parameters;
    made->values = job_array(j, (size_t)m->pool->count, sizeof *made->values);
    made->yes = job_array(j, (size_t)m->pool->count, sizeof *made->yes);
    return made;
}

static int64_t whole_result(dtype type, expr_op op, int64_t a, int64_t b, int64_t c) {
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case EXPR_ADD:
        return wrapped(type, x + y);
    case EXPR_SUBTRACT:
        return wrapped(type, x - y);
    case EXPR_MULTIPLY:
        return wrapped(type, x * y);
    case EXPR_NEGATE:
        return wrapped(type, 0 - x);
    case EXPR_ABS:
        return wrapped(type, a < 0 ? 0 - x : x);
    case EXPR_MIN:
        return a < b ? a : b;
    case EXPR_MAX:
        return a > b ? a : b;
    case EXPR_LT:
        return a < b;
    case EXPR_LE:
        return a <= b;
    case EXPR_GT:
        return a > b;
    case EXPR_GE:
        return a >= b;
    case EXPR_EQ:
        return a == b;
    case EXPR_NE:
        return a != b;
    case EXPR_ALL:
        return a && b;
    case EXPR_ANY:
        return a || b;
    case EXPR_NOT:
        return !a;
    default: /* WHERE: the others are refused for whole numbers (gen/spec/lists.c) */
        return a ? b : c;
    }
}

static pattern_value leaf(const pattern_machine *p, const expr_node *n,
                          const pattern_value *operands) {
    if (n->op == EXPR_TAP)
        return operands[n->index];
    const double value = n->op == EXPR_PARAMETER ? p->parameters[n->index] : n->value;
    if (p->dtype >= DTYPE_REALS)
        return (pattern_value){.whole = (int64_t)value};
    return (pattern_value){.real = p->dtype == DTYPE_FLOAT ? (double)(float)value : value};
}

pattern_value pattern_apply(pattern_machine *p, const pattern_value *operands) {
    for (int i = 0; i <= p->root; i++) {
        const expr_node *n = expr_get(p->pool, i);
        const int count = expr_words[n->op].operands;
        if (!p->live[i])
            continue;
        if (count == 0) {
            p->values[i] = leaf(p, n, operands);
            continue;
        }
        const pattern_value a = p->values[n->operand[0]];
        const pattern_value b = count > 1 ? p->values[n->operand[1]] : a;
        const pattern_value c = count > 2 ? p->values[n->operand[2]] : a;
        if (p->dtype >= DTYPE_REALS) {
            p->values[i].whole = whole_result(p->dtype, n->op, a.whole, b.whole, c.whole);
            p->yes[i] += expr_words[n->op].gives_truth && p->values[i].whole != 0;
        } else {
            const double value = expr_evaluate(n->op, a.real, b.real, c.real);
            p->values[i].real = p->dtype == DTYPE_FLOAT ? (double)(float)value : value;
            p->yes[i] += expr_words[n->op].gives_truth && value != 0;
        }
    }
    p->applied++;
    return p->values[p->root];
}

void pattern_judge(job *j, const pattern_machine *p, condition_sides *sides) {
    if (p == NULL)
        return;
    condition *all;
    const int count = conditions_find(j, p->pool, &p->root, 1, &all);
    for (int i = 0; i < count; i++) {
        all[i].of = p->applied;
        all[i].yes = p->yes[all[i].node];
        all[i].no = all[i].of - all[i].yes;
    }
    conditions_judge(j, p->model, all, count, sides);
}

double pattern_operations(job *j, const pattern *p, int function) {
    const expr_id root = p->functions->outputs[function].value;
    if (root == EXPR_NONE)
        return 0;
    const expr_count count = expr_count_shared(p->functions->pool, j, &root, 1);
    return count.additions + count.multiplications + count.others;
}
