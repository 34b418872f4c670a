/* The functions of a pattern: the table of operators, their CUDA text, and what operators and a
   spec's own functions make of plain numbers, rounded or wrapped as a kernel's arithmetic is. */
#include "gen/lists/pattern.h"

#include <assert.h>
#include <math.h>

/* ---- operators ------------------------------------------------------------------------------- */

const operator_word operator_words[OPERATOR_COUNT] = {
    [OPERATOR_SUM] = {"sum", "a + b", false, false, true},
    [OPERATOR_PRODUCT] = {"product", "a * b", false, false, true},
    [OPERATOR_MIN] = {"min", "the lesser; NaN where one is NaN", false, false, false},
    [OPERATOR_MAX] = {"max", "the greater; NaN where one is NaN", false, false, false},
    [OPERATOR_ALL] = {"all", "1 where neither is 0, else 0", false, true, false},
    [OPERATOR_ANY] = {"any", "0 where both are 0, else 1", false, true, false},
    [OPERATOR_AND] = {"and", "the bits that both have", true, false, false},
    [OPERATOR_OR] = {"or", "the bits that one of them has", true, false, false},
    [OPERATOR_XOR] = {"xor", "the bits that just one of them has", true, false, false},
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
    int64_t value = (int64_t)bits;
    if (type == DTYPE_INT32)
        value = (int64_t)(bits & INT32_MAX) - (bits & 0x80000000u ? INT64_C(0x80000000) : 0);
    else if (type == DTYPE_UINT32)
        value = (int64_t)(bits & UINT32_MAX);
    return (pattern_value){.whole = value};
}

static int64_t least_of(dtype type) {
    return type == DTYPE_INT32 ? INT32_MIN : type == DTYPE_INT64 ? INT64_MIN : 0;
}

static int64_t largest_of(dtype type) {
    return type == DTYPE_INT32 ? INT32_MAX : type == DTYPE_INT64 ? INT64_MAX : UINT32_MAX;
}

pattern_value operator_identity(const pattern_operator *o, dtype type) {
    const bool is_real = type < DTYPE_REALS;
    switch (o->id) {
    case OPERATOR_OWN:
        return o->identity;
    case OPERATOR_PRODUCT:
    case OPERATOR_ALL:
        return is_real ? real(1) : whole(type, 1);
    case OPERATOR_MIN:
        return is_real ? real(INFINITY) : whole(type, (uint64_t)largest_of(type));
    case OPERATOR_MAX:
        return is_real ? real(-INFINITY) : whole(type, (uint64_t)least_of(type));
    case OPERATOR_AND:
        return whole(type, UINT64_MAX);
    default:
        return is_real ? real(0) : whole(type, 0);
    }
}

pattern_value operator_prepare(const pattern_operator *o, dtype type, pattern_value v) {
    if (o->id == OPERATOR_OWN || !operator_words[o->id].truth)
        return v;
    return type < DTYPE_REALS ? real(v.real != 0) : whole(type, v.whole != 0);
}

static double combine_reals(operator_id id, double a, double b) {
    switch (id) {
    case OPERATOR_SUM:
        return a + b;
    case OPERATOR_PRODUCT:
        return a * b;
    case OPERATOR_MIN: /* as minimum and maximum of numbers.cuh: the same zero, the same NaN */
        return a < b || isnan(a) ? a : b;
    case OPERATOR_MAX:
        return a > b || isnan(a) ? a : b;
    case OPERATOR_ALL:
        return a != 0 && b != 0;
    default:
        assert(id == OPERATOR_ANY);
        return a != 0 || b != 0;
    }
}

static uint64_t combine_whole(operator_id id, int64_t a, int64_t b) {
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (id) {
    case OPERATOR_SUM:
        return x + y;
    case OPERATOR_PRODUCT:
        return x * y;
    case OPERATOR_MIN:
        return a < b ? x : y;
    case OPERATOR_MAX:
        return a > b ? x : y;
    case OPERATOR_ALL:
        return a != 0 && b != 0;
    case OPERATOR_ANY:
        return a != 0 || b != 0;
    case OPERATOR_AND:
        return x & y;
    case OPERATOR_OR:
        return x | y;
    default:
        assert(id == OPERATOR_XOR);
        return x ^ y;
    }
}

pattern_value operator_combine(dtype type, const pattern_operator *o, pattern_machine *own,
                               pattern_value a, pattern_value b) {
    if (o->id == OPERATOR_OWN)
        return pattern_apply(own, (const pattern_value[]){a, b});
    if (type >= DTYPE_REALS)
        return whole(type, combine_whole(o->id, a.whole, b.whole));
    const double value = combine_reals(o->id, a.real, b.real);
    return real(type == DTYPE_FLOAT ? (float)value : value);
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

/* Whole numbers wrap, as unsigned ones do by the language. */
static const char *wrapping(operator_id id, dtype type) {
    const bool sum = id == OPERATOR_SUM;
    if (id != OPERATOR_SUM && id != OPERATOR_PRODUCT)
        return NULL;
    if (type == DTYPE_INT32)
        return sum ? "Real(unsigned(a) + unsigned(b))" : "Real(unsigned(a) * unsigned(b))";
    if (type == DTYPE_INT64)
        return sum ? "Real(Word(a) + Word(b))" : "Real(Word(a) * Word(b))";
    return NULL;
}

static const char *formula(operator_id id) {
    switch (id) {
    case OPERATOR_SUM:
        return "a + b";
    case OPERATOR_PRODUCT:
        return "a * b";
    case OPERATOR_MIN:
        return "minimum(a, b)";
    case OPERATOR_MAX:
        return "maximum(a, b)";
    case OPERATOR_ALL:
        return "Real(a != Real(0) && b != Real(0))";
    case OPERATOR_ANY:
        return "Real(a != Real(0) || b != Real(0))";
    case OPERATOR_AND:
        return "a & b";
    case OPERATOR_OR:
        return "a | b";
    default:
        assert(id == OPERATOR_XOR);
        return "a ^ b";
    }
}

static bool is_truth(const pattern_operator *o) {
    return o->id != OPERATOR_OWN && operator_words[o->id].truth;
}

const char *operator_prepared(job *j, const pattern_operator *o, const char *value) {
    return is_truth(o) ? job_print(j, "prepare(%s)", value) : value;
}

void operator_write(text *t, const pattern *p, dtype type, const pattern_operator *o,
                    const char *identity) {
    const bool own = o->id == OPERATOR_OWN;
    text_printf(t,
                "// combine(%s(), a) == combine(a, %s()) == a\n"
                "__device__ __forceinline__ Real %s() { return ",
                identity, identity, identity);
    operator_write_value(t, type, operator_identity(o, type));
    text_add(t, "; }\n");
    if (is_truth(o))
        text_add(
            t, "__device__ __forceinline__ Real prepare(Real a) { return Real(a != Real(0)); }\n");
    if (own) {
        pattern_write_function(t, p, o->function, "Real", "combine");
        return;
    }
    const char *wraps = wrapping(o->id, type);
    if (wraps != NULL)
        text_printf(t,
                    "// Wraps, as unsigned numbers do: compilers take it that signed ones do not.\n"
                    "%s",
                    type == DTYPE_INT64 ? "using Word = unsigned long long;\n" : "");
    text_printf(t,
                "__device__ __forceinline__ Real combine(const Arguments &, Real a, Real b) {\n"
                "    return %s;\n}\n",
                wraps != NULL ? wraps : formula(o->id));
}

double operator_operations(job *j, const pattern *p, const pattern_operator *o) {
    return o->id == OPERATOR_OWN ? pattern_operations(j, p, o->function) : 1;
}

/* ---- functions ------------------------------------------------------------------------------- */

struct pattern_machine {
    const model *model;
    const expr_pool *pool;
    dtype dtype;
    expr_id root;
    const bool *live;
    const double *parameters;
    pattern_value *values; /* by node */
    int64_t *yes;          /* by node: which nodes give truth values */
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
