/* The table of operators, their CUDA text and their meaning on plain numbers. */
#include "gen/lists/operators.h"

#include <assert.h>
#include <math.h>

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

/* Cut to the width of the dtype, as its arithmetic wraps. */
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
    case OPERATOR_MIN: /* as minimum and maximum of numbers.cuh: which zero, which NaN */
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
    if (type >= DTYPE_REALS) { /* the least of all is no literal of its type */
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

static const char *formula(operator_id id, dtype type) {
    const bool wraps = type == DTYPE_INT32 || type == DTYPE_INT64;
    switch (id) {
    case OPERATOR_SUM:
        return wraps ? "wrapping_add(a, b)" : "a + b";
    case OPERATOR_PRODUCT:
        return wraps ? "wrapping_multiply(a, b)" : "a * b";
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

void operator_write(text *t, const pattern *p, dtype type, const pattern_operator *o) {
    const bool own = o->id == OPERATOR_OWN;
    const bool truth = !own && operator_words[o->id].truth;
    text_add(t, "// combine(identity(), a) == combine(a, identity()) == a\n"
                "__device__ __forceinline__ Real identity() {\n    return ");
    operator_write_value(t, type, operator_identity(o, type));
    text_printf(t, ";\n}\n__device__ __forceinline__ Real prepare(Real a) {\n    return %s;\n}\n",
                truth ? "Real(a != Real(0))" : "a");
    if (own) {
        pattern_write_function(t, p, o->function, "Real", "combine");
        return;
    }
    text_printf(t,
                "__device__ __forceinline__ Real combine(const Arguments &, Real a, Real b) {\n"
                "    return %s;\n}\n",
                formula(o->id, type));
}

double operator_operations(job *j, const pattern *p, const pattern_operator *o) {
    return o->id == OPERATOR_OWN ? pattern_operations(j, p, o->function) : 1;
}
