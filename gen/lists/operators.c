/* The functions of a pattern: the table of operators, their CUDA text, and what operators and a
   spec's own functions make of plain numbers, rounded or wrapped as a kernel's arithmetic is. */
#include "gen/lists/pattern.h"

#include <assert.h>
#include <math.h>

/* ---- operators ------------------------------------------------------------------------------- */

const operator_word operator_words[OPERATOR_COUNT] = {
    [OPERATOR_SUM] = {"sum", "a + b", false, false, true, EXPR_ADD, "a + b", "+"},
    [OPERATOR_PRODUCT] = {"product", "a * b", false, false, true, EXPR_MULTIPLY, "a * b", "*"},
    [OPERATOR_MIN] = {"min", "the lesser; NaN where one is NaN", false, false, false, EXPR_MIN,
                      "minimum(a, b)", NULL},
    [OPERATOR_MAX] = {"max", "the greater; NaN where one is NaN", false, false, false, EXPR_MAX,
                      "maximum(a, b)", NULL},
    [OPERATOR_ALL] = {"all", "1 where neither is 0, else 0", false, true, false, EXPR_ALL,
                      "Real(a != Real(0) && b != Real(0))", NULL},
    [OPERATOR_ANY] = {"any", "0 where both are 0, else 1", false, true, false, EXPR_ANY,
                      "Real(a != Real(0) || b != Real(0))", NULL},
    [OPERATOR_AND] = {"and", "the bits that both have", true, false, false, EXPR_OP_COUNT, "a & b",
                      NULL},
    [OPERATOR_OR] = {"or", "the bits that one of them has", true, false, false, EXPR_OP_COUNT,
                     "a | b", NULL},
    [OPERATOR_XOR] = {"xor", "the bits that just one of them has", true, false, false,
                      EXPR_OP_COUNT, "a ^ b", NULL},
};

const char *operator_name(const pattern_operator *o) {
    return o->id == OPERATOR_OWN ? "own" : operator_words[o->id].name;
}

bool operator_commutes(const pattern_operator *o) {
    return o->id != OPERATOR_OWN || o->own_commutes;
}

bool operator_is_exact(const pattern_operator *o, dtype type) {
    if (o->id == OPERATOR_OWN)
        return type >= DTYPE_REALS;
    return type >= DTYPE_REALS || !operator_words[o->id].rounds;
}

/* ---- plain numbers ------------------------------------------------------------------------- */

static pattern_value real(double value) {
    return (pattern_value){.real = value};
}

/* Cuts a number to the width of the dtype, as its arithmetic wraps. */
static pattern_value whole(dtype type, uint64_t bits) {
    return (pattern_value){.whole = type == DTYPE_INT32    ? (int32_t)(uint32_t)bits
                                    : type == DTYPE_UINT32 ? (int64_t)(uint32_t)bits
                                                           : (int64_t)bits};
}

pattern_value pattern_get(dtype type, const void *array, int64_t index) {
    const bool narrow = dtype_words[type].bytes == 4;
    if (dtype_is_narrow(type))
        return real(dtype_widen(type, ((const uint16_t *)array)[index]));
    if (type < DTYPE_REALS)
        return real(narrow ? (double)((const float *)array)[index]
                           : ((const double *)array)[index]);
    return whole(type,
                 narrow ? ((const uint32_t *)array)[index] : ((const uint64_t *)array)[index]);
}

void pattern_set(dtype type, void *array, int64_t index, pattern_value value) {
    const bool narrow = dtype_words[type].bytes == 4;
    if (dtype_is_narrow(type))
        ((uint16_t *)array)[index] = dtype_narrow(type, value.real);
    else if (type < DTYPE_REALS && narrow)
        ((float *)array)[index] = (float)value.real;
    else if (type < DTYPE_REALS)
        ((double *)array)[index] = value.real;
    else if (narrow)
        ((uint32_t *)array)[index] = (uint32_t)value.whole;
    else
        ((int64_t *)array)[index] = value.whole;
}

static int64_t least_of(dtype type) {
    return type == DTYPE_INT32 ? INT32_MIN : type == DTYPE_INT64 ? INT64_MIN : 0;
}

pattern_value operator_identity(const pattern_operator *o, dtype type) {
    const bool is_real = type < DTYPE_REALS;
    const uint64_t least = (uint64_t)least_of(type);
    switch (o->id) {
    case OPERATOR_OWN:
        return o->identity;
    case OPERATOR_PRODUCT:
    case OPERATOR_ALL:
        return is_real ? real(1) : whole(type, 1);
    case OPERATOR_MIN:
        return is_real ? real(INFINITY) : whole(type, least - 1); /* which wraps to the largest */
    case OPERATOR_MAX:
        return is_real ? real(-INFINITY) : whole(type, least);
    case OPERATOR_AND:
        return whole(type, UINT64_MAX);
    default:
        return is_real ? real(0) : whole(type, 0);
    }
}

static bool is_truth(const pattern_operator *o) {
    return o->id != OPERATOR_OWN && operator_words[o->id].truth;
}

pattern_value operator_prepare(const pattern_operator *o, dtype type, pattern_value v) {
    if (!is_truth(o))
        return v;
    return type < DTYPE_REALS ? real(v.real != 0) : whole(type, v.whole != 0);
}

/* An operation on whole numbers, before it is cut to the width of the dtype. */
static uint64_t whole_result(expr_op op, int64_t a, int64_t b, int64_t c) {
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case EXPR_ADD:
        return x + y;
    case EXPR_SUBTRACT:
        return x - y;
    case EXPR_MULTIPLY:
        return x * y;
    case EXPR_NEGATE:
        return 0 - x;
    case EXPR_ABS:
        return a < 0 ? 0 - x : x;
    case EXPR_MIN:
        return a < b ? x : y;
    case EXPR_MAX:
        return a > b ? x : y;
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
        return a ? y : (uint64_t)c;
    }
}

pattern_value operator_combine(dtype type, const pattern_operator *o, pattern_machine *own,
                               pattern_value a, pattern_value b) {
    switch (o->id) {
    case OPERATOR_OWN:
        return pattern_apply(own, (const pattern_value[]){a, b});
    case OPERATOR_AND:
        return whole(type, (uint64_t)a.whole & (uint64_t)b.whole);
    case OPERATOR_OR:
        return whole(type, (uint64_t)a.whole | (uint64_t)b.whole);
    case OPERATOR_XOR:
        return whole(type, (uint64_t)a.whole ^ (uint64_t)b.whole);
    default:
        break;
    }
    const expr_op op = operator_words[o->id].op;
    if (type >= DTYPE_REALS)
        return whole(type, whole_result(op, a.whole, b.whole, 0));
    return real(dtype_round(type, expr_evaluate(op, a.real, b.real, 0)));
}

/* ---- CUDA ---------------------------------------------------------------------------------- */

void operator_write_value(text *t, dtype type, pattern_value v) {
    if (type >= DTYPE_REALS) { /* the least number of all is no literal of its type */
        const bool least = type != DTYPE_UINT32 && v.whole == least_of(type);
        text_printf(t, "%s%lld%s%s", least ? "(" : "", (long long)v.whole + least,
                    type == DTYPE_INT64    ? "LL"
                    : type == DTYPE_UINT32 ? "u"
                                           : "",
                    least ? " - 1)" : "");
    } else if (isinf(v.real)) {
        text_printf(t, "%sinfinity<Real>()", v.real < 0 ? "-" : "");
    } else if (type == DTYPE_FLOAT) {
        text_float(t, (float)v.real);
        text_add(t, "f");
    } else {
        text_double(t, v.real);
    }
}

const char *operator_prepared(job *j, const pattern_operator *o, const char *value) {
    return is_truth(o) ? job_print(j, "prepare(%s)", value) : value;
}

void operator_write(text *t, const pattern *p, dtype type, const pattern_operator *o,
                    const char *identity) {
    text_printf(t,
                "// combine(%s(), a) == combine(a, %s()) == a\n"
                "__device__ __forceinline__ Real %s() { return ",
                identity, identity, identity);
    operator_write_value(t, type, operator_identity(o, type));
    text_add(t, "; }\n");
    if (is_truth(o))
        text_add(
            t, "__device__ __forceinline__ Real prepare(Real a) { return Real(a != Real(0)); }\n");
    if (o->id == OPERATOR_OWN) {
        pattern_write_function(t, p, o->function, "Real", "combine");
        return;
    }
    const operator_word *word = &operator_words[o->id];
    const char *unsigned_type = type == DTYPE_INT32   ? "unsigned"
                                : type == DTYPE_INT64 ? "Word"
                                                      : NULL;
    const bool wraps = word->wraps != NULL && unsigned_type != NULL;
    if (wraps)
        text_printf(t,
                    "// Wraps, as unsigned numbers do: compilers take it that signed ones do not.\n"
                    "%s",
                    type == DTYPE_INT64 ? "using Word = unsigned long long;\n" : "");
    text_add(t, "__device__ __forceinline__ Real combine(const Arguments &, Real a, Real b) {\n");
    if (wraps)
        text_printf(t, "    return Real(%s(a) %s %s(b));\n}\n", unsigned_type, word->wraps,
                    unsigned_type);
    else
        text_printf(t, "    return %s;\n}\n", word->formula);
}

double operator_operations(job *j, const pattern *p, const pattern_operator *o) {
    return o->id == OPERATOR_OWN ? pattern_operations(j, p, o->function) : 1;
}

/* ---- functions ------------------------------------------------------------------------------- */

struct pattern_machine {
    const model *model;
    expr_id root;
    const bool *live;
    const double *parameters;
    pattern_value *values; /* by node */
    int64_t *yes;          /* by node: which nodes give truth values */
    int64_t applied;
};

pattern_machine *pattern_machine_new(job *j, const pattern *p, int function,
                                     const double *parameters) {
    const model *m = p->functions;
    pattern_machine *made = job_alloc(j, sizeof *made);
    made->model = m;
    made->root = m->outputs[function].value;
    made->live = expr_live(m->pool, j, &made->root, 1);
    made->parameters = parameters;
    made->values = job_array(j, (size_t)m->pool->count, sizeof *made->values);
    made->yes = job_array(j, (size_t)m->pool->count, sizeof *made->yes);
    return made;
}

static pattern_value leaf(const pattern_machine *p, const expr_node *n,
                          const pattern_value *operands) {
    if (n->op == EXPR_TAP)
        return operands[n->index];
    const double value = n->op == EXPR_PARAMETER ? p->parameters[n->index] : n->value;
    if (p->model->dtype >= DTYPE_REALS)
        return (pattern_value){.whole = (int64_t)value};
    return real(dtype_round(p->model->dtype, value));
}

pattern_value pattern_apply(pattern_machine *p, const pattern_value *operands) {
    const dtype type = p->model->dtype;
    const bool whole_number = type >= DTYPE_REALS;
    for (int i = 0; i <= p->root; i++) {
        const expr_node *n = expr_get(p->model->pool, i);
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
        p->values[i] = whole_number
                           ? whole(type, whole_result(n->op, a.whole, b.whole, c.whole))
                           : real(dtype_round(type, expr_evaluate(n->op, a.real, b.real, c.real)));
        p->yes[i] += expr_words[n->op].gives_truth &&
                     (whole_number ? p->values[i].whole != 0 : p->values[i].real != 0);
    }
    p->applied++;
    return p->values[p->root];
}

void pattern_judge(job *j, const pattern_machine *p, condition_sides *sides) {
    if (p == NULL)
        return;
    condition *all;
    const int count = conditions_find(j, p->model->pool, &p->root, 1, &all);
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
