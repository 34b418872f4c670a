/* Moved copies of expressions: what is found, and what is decided alike for all of them. */
#include "tests/unit/gen/expr/in_job.h"

/* A flux: a product of two taps, and one of them with a number. */
static expr_id flux(expr_pool *p, int dx) {
    const expr_id a = tap(p, dx), b = tap(p, dx + 1);
    const expr_id both = expr_make(p, EXPR_MULTIPLY, a, b, NONE);
    const expr_id third = expr_make(p, EXPR_MULTIPLY, both, expr_constant(p, 3), NONE);
    return expr_make(p, EXPR_ADD, third, expr_make(p, EXPR_SQRT, b, NONE, NONE), NONE);
}

static void body_translates(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    const expr_id right = flux(p, 0), left = flux(p, -1), far = flux(p, 5);
    const expr_id root = expr_make(p, EXPR_SUBTRACT, right, left, NONE);
    const expr_id same[] = {root, far}, line = expr_make(p, EXPR_ADD, tap(p, 0), tap(p, 2), NONE);
    const expr_translates t = expr_find_translates(p, j, expr_live(p, j, same, 2));
    const expr_id *first = t.first;
    assert_int_equal(first[right], right);
    assert_int_equal(first[left], right);
    assert_int_equal(first[far], right);
    assert_int_equal(first[root], root);
    assert_int_equal(first[tap(p, 1)], first[tap(p, -1)]);
    assert_int_equal(first[line], line); /* not of these roots */
    assert_true(t.bent[right] && t.bent[root] && !t.bent[tap(p, 1)]);
    assert_int_equal(t.place[far].at[0] - t.place[left].at[0], 6);
    assert_true(t.place[far].moves[0]);
    int counts[64] = {0};
    counts[left] = 4;
    expr_level(first, p->count, counts);
    assert_true(counts[right] == 4 && counts[left] == 4 && counts[far] == 4 && counts[root] == 0);
}

static void test_translates(void **state) {
    (void)state;
    in_job(body_translates);
}

/* The sum of a flux is not taken apart, so it is the same on both sides of a face; without a copy
   elsewhere it is, and where its parts have other uses. */
static void body_fluxes(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    const expr_id right = flux(p, 0), left = flux(p, -1), u = tap(p, 0);
    const expr_id gain = expr_make(p, EXPR_SUBTRACT, left, right, NONE);
    const expr_id both[] = {expr_make(p, EXPR_ADD, u, gain, NONE)};
    expr_id made[2];
    optimise(j, p, DTYPE_FLOAT, both, 1, made);
    const bool *live = expr_live(p, j, made, 1);
    assert_true(live[right] && live[left]);
    const expr_id one[] = {expr_make(p, EXPR_ADD, u, left, NONE)};
    optimise(j, p, DTYPE_FLOAT, one, 1, made);
    assert_false(expr_live(p, j, made, 1)[left]);
    const expr_id open[] = {both[0], expr_make(p, EXPR_SQRT, tap(p, 1), NONE, NONE)};
    optimise(j, p, DTYPE_FLOAT, open, 2, made);
    live = expr_live(p, j, made, 2);
    assert_true(!live[right] && !live[left]);
}

static void test_fluxes(void **state) {
    (void)state;
    in_job(body_fluxes);
}

/* What flows in from the cell so far away: twice the product of the two, times their difference. */
static expr_id inflow(expr_pool *p, int dx) {
    const expr_id here = tap(p, 0), there = tap(p, dx), two = expr_constant(p, 2);
    const expr_id twice = expr_make(p, EXPR_MULTIPLY, two, here, NONE);
    const expr_id both = expr_make(p, EXPR_MULTIPLY, twice, there, NONE);
    const expr_id difference = expr_make(p, EXPR_SUBTRACT, there, here, NONE);
    return expr_make(p, EXPR_MULTIPLY, both, difference, NONE);
}

/* Both become copies: the difference begins with the further cell, signs and twos stand outside. */
static void body_faces(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    const expr_id root = expr_make(p, EXPR_ADD, inflow(p, 1), inflow(p, -1), NONE);
    expr_id made;
    optimise(j, p, DTYPE_DOUBLE, &root, 1, &made);
    const bool *live = expr_live(p, j, &made, 1);
    const expr_translates t = expr_find_translates(p, j, live);
    const expr_id right = expr_make(p, EXPR_SUBTRACT, tap(p, 1), tap(p, 0), NONE);
    const expr_id left = expr_make(p, EXPR_SUBTRACT, tap(p, 0), tap(p, -1), NONE);
    assert_true(live[right] && live[left]);
    int products[2] = {0, 0}; /* of each face u(0)·u(1), and that times the difference; twice all */
    for (expr_id i = 0; i < p->count; i++)
        if (live[i] && t.bent[i] && expr_get(p, i)->op == EXPR_MULTIPLY)
            products[t.first[i] != i]++;
    assert_true(products[0] == 3 && products[1] == 2);
    const expr_id alone = inflow(p, -1);
    optimise(j, p, DTYPE_DOUBLE, &alone, 1, &made);
    assert_false(expr_live(p, j, &made, 1)[left]); /* no other one: it stays as it is */
}

static void test_faces(void **state) {
    (void)state;
    in_job(body_faces);
}

/* 3g / (2 + |g|) of the difference g: what flows in is less the steeper it is. */
static expr_id limited(expr_pool *p, int dx) {
    const expr_id g = expr_make(p, EXPR_SUBTRACT, tap(p, dx), tap(p, 0), NONE);
    const expr_id steep =
        expr_make(p, EXPR_ADD, expr_constant(p, 2), expr_make(p, EXPR_ABS, g, NONE, NONE), NONE);
    const expr_id three = expr_make(p, EXPR_MULTIPLY, expr_constant(p, 3), g, NONE);
    return expr_make(p, EXPR_DIVIDE, three, steep, NONE);
}

/* Signs go outside of products with numbers and of quotients, and magnitudes have none. */
static void body_signs(job *j, void *unused) {
    (void)unused;
    expr_pool *p = expr_pool_new(j);
    const expr_id root = expr_make(p, EXPR_ADD, limited(p, 1), limited(p, -1), NONE);
    expr_id made;
    optimise(j, p, DTYPE_FLOAT, &root, 1, &made);
    const bool *live = expr_live(p, j, &made, 1);
    const expr_translates t = expr_find_translates(p, j, live);
    int quotients[2] = {0, 0}; /* and copies */
    for (expr_id i = 0; i < p->count; i++)
        if (live[i] && expr_get(p, i)->op == EXPR_DIVIDE)
            quotients[t.first[i] != i]++;
    assert_true(quotients[0] == 1 && quotients[1] == 1);
}

static void test_signs(void **state) {
    (void)state;
    in_job(body_signs);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_translates),
    cmocka_unit_test(test_fluxes),
    cmocka_unit_test(test_faces),
    cmocka_unit_test(test_signs),
};

TEST_GROUP(translates, NULL, NULL)
