/* Expressions: sharing, folding, limits, counts. */
#include "tests/unit/gen/expr/in_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void body_sharing(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    const expr_id a = tap(p, 0), b = tap(p, 1), k = expr_parameter(p, 0);
    assert_int_equal(tap(p, 0), a);
    assert_int_not_equal(a, b);
    assert_int_not_equal(expr_tap(p, 1, (const int[AXES]){0, 0, 0}), a);
    assert_int_not_equal(expr_tap(p, 0, (const int[AXES]){0, 0, 1}), b);
    assert_int_not_equal(expr_parameter(p, 1), k);
    assert_int_equal(expr_constant(p, 0.0), expr_constant(p, -0.0));
    assert_int_not_equal(expr_constant(p, 1), expr_constant(p, nextafter(1, 2)));
    const expr_op commutative[] = {EXPR_ADD, EXPR_MULTIPLY, EXPR_MIN, EXPR_MAX, EXPR_EQ, EXPR_NE};
    for (size_t i = 0; i < sizeof commutative / sizeof *commutative; i++) {
        const expr_id ab = expr_make(p, commutative[i], a, b, NONE);
        assert_int_equal(expr_make(p, commutative[i], b, a, NONE), ab);
        assert_int_equal(expr_get(p, ab)->operand[0], a); /* the first one made is kept */
    }
    const expr_op others[] = {EXPR_SUBTRACT, EXPR_DIVIDE, EXPR_POW, EXPR_LT, EXPR_GE};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_not_equal(expr_make(p, others[i], b, a, NONE),
                             expr_make(p, others[i], a, b, NONE));
}

static void test_sharing(void **state) {
    (void)state;
    in_job(body_sharing);
}

/* How many live nodes have an operation, after rewriting. */
static int count_rewritten(job *j, expr_pool *p, const expr_id *roots, int count, expr_op op) {
    expr_id made[4];
    int found = 0;
    optimise(j, p, DTYPE_FLOAT, roots, count, made);
    const bool *live = expr_live(p, j, made, count);
    for (expr_id i = 0; i < p->count; i++)
        found += live[i] && expr_get(p, i)->op == op;
    return found;
}

/* What is divided by the same number several times, or by one of all points, is multiplied by its
   reciprocal. */
static void body_quotients(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    const expr_id a = tap(p, 0), b = tap(p, 1), c = tap(p, 2), k = expr_parameter(p, 0);
    const expr_id by_c[] = {expr_make(p, EXPR_DIVIDE, a, c, NONE),
                            expr_make(p, EXPR_DIVIDE, b, c, NONE)};
    assert_int_equal(count_rewritten(j, p, by_c, 2, EXPR_DIVIDE), 1);
    assert_int_equal(count_rewritten(j, p, by_c, 2, EXPR_MULTIPLY), 2);
    assert_int_equal(count_rewritten(j, p, by_c, 1, EXPR_MULTIPLY), 0); /* the only one */
    const expr_id by_k[] = {expr_make(p, EXPR_DIVIDE, a, k, NONE)};
    assert_int_equal(count_rewritten(j, p, by_k, 1, EXPR_MULTIPLY), 1);
    const expr_id ten = expr_constant(p, 10);
    const expr_id exact[] = {
        expr_make(p, EXPR_DIVIDE, a, ten, NONE),
        expr_make(p, EXPR_DIVIDE, expr_position_plus(p, POSITION_X, 0), k, NONE),
        expr_make(p, EXPR_DIVIDE, ten, k, NONE),
        expr_make(p, EXPR_DIVIDE, expr_constant(p, 1), k, NONE),
    };
    assert_int_equal(count_rewritten(j, p, exact, 4, EXPR_MULTIPLY), 0);
    const expr_id steps[] = {expr_make(p, EXPR_FLOOR, by_k[0], NONE, NONE),
                             expr_make(p, EXPR_LT, by_k[0], b, NONE)};
    assert_int_equal(count_rewritten(j, p, steps, 2, EXPR_MULTIPLY), 0);
}

static void test_quotients(void **state) {
    (void)state;
    in_job(body_quotients);
}

/* Sharing still works after the tables have grown many times, and operands come first. */
static void body_growth(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    expr_id made[5000];
    for (int i = 0; i < 5000; i++)
        made[i] = expr_make(p, EXPR_MULTIPLY, tap(p, i), expr_constant(p, i + 2), NONE);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(expr_make(p, EXPR_MULTIPLY, expr_constant(p, i + 2), tap(p, i), NONE),
                         made[i]);
    assert_int_equal(p->count, 15000);
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < expr_words[expr_get(p, i)->op].operands; k++)
            assert_true(expr_get(p, i)->operand[k] < i);
    assert_null(p->limit);
    expr_pool_truncate(p, 7500);
    assert_int_equal(p->count, 7500);
    assert_int_equal(expr_make(p, EXPR_MULTIPLY, tap(p, 10), expr_constant(p, 12), NONE), made[10]);
    assert_int_equal(tap(p, 4999), 7500);
}

static void test_growth(void **state) {
    (void)state;
    in_job(body_growth);
}

static void body_constants(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    static const struct {
        expr_op op;
        double a, b, c, result;
    } cases[] = {
        {EXPR_ADD, 2, 3, 0, 5},      {EXPR_SUBTRACT, 2, 3, 0, -1},
        {EXPR_MULTIPLY, 2, 3, 0, 6}, {EXPR_DIVIDE, 3, 2, 0, 1.5},
        {EXPR_NEGATE, 2, 0, 0, -2},  {EXPR_MIN, 2, 3, 0, 2},
        {EXPR_MAX, 2, 3, 0, 3},      {EXPR_ABS, -2, 0, 0, 2},
        {EXPR_SQRT, 9, 0, 0, 3},     {EXPR_EXP, 0, 0, 0, 1},
        {EXPR_LOG, 1, 0, 0, 0},      {EXPR_SIN, 0, 0, 0, 0},
        {EXPR_COS, 0, 0, 0, 1},      {EXPR_TANH, 0, 0, 0, 0},
        {EXPR_POW, 2, 10, 0, 1024},  {EXPR_FLOOR, -1.5, 0, 0, -2},
        {EXPR_LT, 2, 3, 0, 1},       {EXPR_LE, 3, 3, 0, 1},
        {EXPR_GT, 2, 3, 0, 0},       {EXPR_GE, 2, 3, 0, 0},
        {EXPR_EQ, 3, 3, 0, 1},       {EXPR_NE, 3, 3, 0, 0},
        {EXPR_ALL, 1, 0, 0, 0},      {EXPR_ANY, 1, 0, 0, 1},
        {EXPR_NOT, 0, 0, 0, 1},      {EXPR_WHERE, 1, 7, 8, 7},
        {EXPR_WHERE, 0, 7, 8, 8},    {EXPR_EXP, 1, 0, 0, 0x1.5bf0a8b145769p+1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const expr_id id = expr_make(p, cases[i].op, expr_constant(p, cases[i].a),
                                     expr_constant(p, cases[i].b), expr_constant(p, cases[i].c));
        assert_int_equal(expr_get(p, id)->op, EXPR_CONSTANT);
        assert_true(expr_get(p, id)->value == cases[i].result);
    }
    assert_true(isnan(expr_evaluate(EXPR_MIN, NAN, 1, 0)));
    assert_true(isnan(expr_evaluate(EXPR_MAX, 1, NAN, 0)));
}

static void test_constants(void **state) {
    (void)state;
    in_job(body_constants);
}

/* Constants are finite: what would not be stays an operation. */
static void body_not_finite(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    const expr_id big = expr_constant(p, 1e300), one = expr_constant(p, 1);
    const expr_id zero = expr_constant(p, 0), minus = expr_constant(p, -1);
    assert_int_equal(expr_get(p, expr_make(p, EXPR_MULTIPLY, big, big, NONE))->op, EXPR_MULTIPLY);
    assert_int_equal(expr_get(p, expr_make(p, EXPR_DIVIDE, one, zero, NONE))->op, EXPR_DIVIDE);
    assert_int_equal(expr_get(p, expr_make(p, EXPR_SQRT, minus, NONE, NONE))->op, EXPR_SQRT);
    assert_int_equal(expr_get(p, expr_make(p, EXPR_LOG, zero, NONE, NONE))->op, EXPR_LOG);
}

static void test_not_finite(void **state) {
    (void)state;
    in_job(body_not_finite);
}

static void body_neutral(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    const expr_id x = tap(p, 0), y = tap(p, 1);
    const expr_id zero = expr_constant(p, 0), one = expr_constant(p, 1), two = expr_constant(p, 2);
    const expr_id minus = expr_constant(p, -1), negated = expr_make(p, EXPR_NEGATE, x, NONE, NONE);
    assert_int_equal(expr_make(p, EXPR_ADD, x, zero, NONE), x);
    assert_int_equal(expr_make(p, EXPR_ADD, zero, x, NONE), x);
    assert_int_equal(expr_make(p, EXPR_SUBTRACT, x, zero, NONE), x);
    assert_int_equal(expr_make(p, EXPR_SUBTRACT, zero, x, NONE), negated);
    assert_int_equal(expr_make(p, EXPR_MULTIPLY, x, zero, NONE), zero);
    assert_int_equal(expr_make(p, EXPR_MULTIPLY, zero, x, NONE), zero);
    assert_int_equal(expr_make(p, EXPR_MULTIPLY, one, x, NONE), x);
    assert_int_equal(expr_make(p, EXPR_MULTIPLY, x, minus, NONE), negated);
    assert_int_equal(expr_make(p, EXPR_DIVIDE, x, one, NONE), x);
    assert_int_equal(expr_make(p, EXPR_DIVIDE, x, minus, NONE), negated);
    assert_int_equal(expr_make(p, EXPR_NEGATE, negated, NONE, NONE), x);
    assert_int_equal(expr_make(p, EXPR_MIN, x, x, NONE), x);
    assert_int_equal(expr_make(p, EXPR_MAX, x, x, NONE), x);
    const expr_id size = expr_make(p, EXPR_ABS, x, NONE, NONE);
    assert_int_equal(expr_make(p, EXPR_ABS, negated, NONE, NONE), size);
    assert_int_equal(expr_make(p, EXPR_ABS, size, NONE, NONE), size);
    assert_int_equal(expr_make(p, EXPR_POW, x, zero, NONE), one);
    assert_int_equal(expr_make(p, EXPR_POW, x, one, NONE), x);
    const expr_id square = expr_make(p, EXPR_MULTIPLY, x, x, NONE);
    assert_int_equal(expr_make(p, EXPR_POW, x, two, NONE), square);
    assert_int_equal(expr_make(p, EXPR_POW, x, expr_constant(p, 3), NONE),
                     expr_make(p, EXPR_MULTIPLY, square, x, NONE));
    assert_int_equal(expr_make(p, EXPR_POW, x, expr_constant(p, 4), NONE),
                     expr_make(p, EXPR_MULTIPLY, square, square, NONE));
    assert_int_equal(expr_get(p, expr_make(p, EXPR_POW, x, y, NONE))->op, EXPR_POW);
    assert_int_equal(expr_get(p, expr_make(p, EXPR_POW, x, minus, NONE))->op, EXPR_POW);
}

static void test_neutral(void **state) {
    (void)state;
    in_job(body_neutral);
}

static void body_conditions(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    const expr_id x = tap(p, 0), y = tap(p, 1);
    const expr_id yes = expr_constant(p, 1), no = expr_constant(p, 0);
    const expr_id c = expr_make(p, EXPR_LT, x, y, NONE);
    assert_int_equal(expr_make(p, EXPR_WHERE, yes, x, y), x);
    assert_int_equal(expr_make(p, EXPR_WHERE, no, x, y), y);
    assert_int_equal(expr_make(p, EXPR_WHERE, c, x, x), x);
    assert_int_equal(expr_make(p, EXPR_ALL, c, c, NONE), c);
    assert_int_equal(expr_make(p, EXPR_ALL, c, yes, NONE), c);
    assert_int_equal(expr_make(p, EXPR_ALL, yes, c, NONE), c);
    assert_int_equal(expr_make(p, EXPR_ALL, c, no, NONE), no);
    assert_int_equal(expr_make(p, EXPR_ALL, no, c, NONE), no);
    assert_int_equal(expr_make(p, EXPR_ANY, c, no, NONE), c);
    assert_int_equal(expr_make(p, EXPR_ANY, no, c, NONE), c);
    assert_int_equal(expr_make(p, EXPR_ANY, c, yes, NONE), yes);
    assert_int_equal(expr_make(p, EXPR_ANY, yes, c, NONE), yes);
    const expr_id inverse = expr_make(p, EXPR_NOT, c, NONE, NONE);
    assert_int_equal(expr_make(p, EXPR_NOT, inverse, NONE, NONE), c);
    const expr_id chosen = expr_make(p, EXPR_WHERE, c, x, y);
    assert_int_equal(expr_get(p, chosen)->operand[0], c);
    assert_int_equal(expr_get(p, chosen)->operand[1], x);
    assert_int_equal(expr_get(p, chosen)->operand[2], y);
}

static void test_conditions(void **state) {
    (void)state;
    in_job(body_conditions);
}

static void assert_limit(const expr_pool *p, int number) {
    char expected[32];
    snprintf(expected, sizeof expected, "%d", number);
    assert_non_null(p->limit);
    assert_non_null(strstr(p->limit, expected));
}

static void body_limits(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    expr_id x = tap(p, 0);
    for (int i = 0; i < 60; i++)
        x = expr_make(p, EXPR_MULTIPLY, x, x, NONE);
    assert_limit(p, EXPR_MAX_OPERATIONS);
    assert_true(p->count < 30);

    p = expr_pool_new(j);
    x = tap(p, 0);
    for (int i = 1; i < EXPR_MAX_DEPTH; i++)
        x = expr_make(p, EXPR_SQRT, x, NONE, NONE);
    assert_null(p->limit);
    assert_int_equal(expr_get(p, x)->depth, EXPR_MAX_DEPTH);
    assert_int_equal(expr_make(p, EXPR_SQRT, x, NONE, NONE), x);
    assert_limit(p, EXPR_MAX_DEPTH);

    p = expr_pool_new(j);
    for (int i = 0; i < EXPR_MAX_NODES; i++)
        tap(p, i);
    assert_null(p->limit);
    assert_int_equal(tap(p, 5), 5);
    assert_null(p->limit);
    tap(p, EXPR_MAX_NODES);
    assert_limit(p, EXPR_MAX_NODES);
    assert_int_equal(p->count, EXPR_MAX_NODES);
}

static void test_limits(void **state) {
    (void)state;
    in_job(body_limits);
}

/* (x + y)² · 2 − sqrt(x + y): the sum is shared, and written out it occurs three times. */
static void body_counts(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    const expr_id sum = expr_make(p, EXPR_ADD, tap(p, 0), tap(p, 1), NONE);
    const expr_id dead = expr_make(p, EXPR_EXP, sum, NONE, NONE);
    const expr_id square = expr_make(p, EXPR_MULTIPLY, sum, sum, NONE);
    const expr_id twice = expr_make(p, EXPR_MULTIPLY, square, expr_constant(p, 2), NONE);
    const expr_id root = expr_make(p, EXPR_SQRT, sum, NONE, NONE);
    const expr_id all = expr_make(p, EXPR_SUBTRACT, twice, root, NONE);
    const expr_id roots[] = {all, EXPR_NONE};
    const bool *live = expr_live(p, j, roots, 2);
    assert_true(live[all] && live[sum] && live[square] && live[root] && live[tap(p, 0)]);
    assert_false(live[dead]);
    const expr_count shared = expr_count_shared(p, j, roots, 2);
    assert_true(shared.multiplications == 2 && shared.additions == 2 && shared.others == 1);
    const expr_count written = expr_count_written_out(p, j, roots, 2);
    assert_true(written.multiplications == 2 && written.additions == 4 && written.others == 1);
    assert_true(expr_get(p, all)->written_out == 7);
    assert_int_equal(expr_get(p, all)->depth, 5);
}

static void test_counts(void **state) {
    (void)state;
    in_job(body_counts);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sharing),    cmocka_unit_test(test_quotients),
    cmocka_unit_test(test_growth),     cmocka_unit_test(test_constants),
    cmocka_unit_test(test_not_finite), cmocka_unit_test(test_neutral),
    cmocka_unit_test(test_conditions), cmocka_unit_test(test_limits),
    cmocka_unit_test(test_counts),
};

TEST_GROUP(expr, NULL, NULL)
