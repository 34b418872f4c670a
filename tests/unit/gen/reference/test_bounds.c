/* The reference's error bounds: they hold for float evaluations in many orders and for random
   expressions on ordinary and on awkward numbers, they are not far too wide, and they say so where
   nothing can be said. */
#include "tests/unit/gen/reference/bounds.h"
#include "tests/unit/group.h"

#include <float.h>

enum { POINTS = 13, CELLS = 512 };

/* A weighted sum in one of several orders, as a kernel of the dtype might do it. */
static float sum_float(const float *w, const float *x, uint64_t order) {
    float sum = 0, terms[POINTS];
    uint64_t state = order + 1;
    int next[POINTS];
    for (int i = 0; i < POINTS; i++)
        next[i] = i;
    for (int i = POINTS - 1; i > 0 && order > 1; i--) {
        const int k = random_below(&state, i + 1), swap = next[i];
        next[i] = next[k];
        next[k] = swap;
    }
    for (int i = 0; i < POINTS; i++) {
        const int k = order == 1 ? POINTS - 1 - i : next[i];
        terms[i] = w[k] * x[k];
        sum = order % 2 == 0 ? sum + terms[i] : fmaf(w[k], x[k], sum);
    }
    if (order % 3 != 2)
        return sum;
    for (int step = 1; step < POINTS; step *= 2) /* pairwise */
        for (int i = 0; i + step < POINTS; i += 2 * step)
            terms[i] += terms[i + step];
    return terms[0];
}

/* Greatest error found, as a share of the bound, on average over the cells. */
static double star_share(job *j, double scale, bool skewed) {
    model *m = new_model(j, 1, DTYPE_FLOAT);
    uint64_t state = 11;
    float weights[POINTS], cells[CELLS + 2 * REACH];
    expr_id sum = constant(m, 0);
    for (int i = 0; i < POINTS; i++) {
        const double w = random_unit(&state) * (skewed ? pow(10, i - 6) : 1);
        weights[i] = (float)w;
        sum = add(m, sum, times(m, constant(m, w), u(m, i - 6, 0, 0)));
    }
    m->outputs[0].value = sum;
    finish_model(j, m);
    for (int i = 0; i < CELLS + 2 * REACH; i++)
        cells[i] = (float)(random_unit(&state) * scale);
    bounded out[CELLS];
    run(j, m, NULL, (const void *[]){cells}, CELLS, out);
    double shares = 0;
    for (int i = 0; i < CELLS; i++) {
        double worst = 0;
        for (uint64_t order = 0; order < 24; order++) {
            const double result = (double)sum_float(weights, cells + i + REACH - 6, order);
            assert_true(within(&out[i], result));
            worst = fmax(worst, fabs(out[i].value - result));
        }
        assert_true(out[i].bound < INFINITY);
        shares += worst / out[i].bound / CELLS;
    }
    return shares;
}

static void star_body(job *j) {
    const double share = star_share(j, 1, false);
    print_message("greatest error over bound, 13 points: %.3f\n", share);
    assert_true(share > 1.0 / 50);
    assert_true(star_share(j, 1e-38, false) > 1.0 / 200); /* subnormal products */
    assert_true(star_share(j, 1e-43, false) >= 0);
    assert_true(star_share(j, 1, true) >= 0);
}

static void test_star(void **state) {
    (void)state;
    in_job(star_body);
}

/* double against a sum of the same terms in another order, and in long double. */
static void double_body(job *j) {
    model *m = new_model(j, 1, DTYPE_DOUBLE);
    uint64_t state = 12;
    double weights[POINTS], cells[CELLS + 2 * REACH];
    expr_id sum = constant(m, 0);
    for (int i = 0; i < POINTS; i++) {
        weights[i] = random_unit(&state);
        sum = add(m, sum, times(m, constant(m, weights[i]), u(m, i - 6, 0, 0)));
    }
    m->outputs[0].value = sum;
    finish_model(j, m);
    for (int i = 0; i < CELLS + 2 * REACH; i++)
        cells[i] = random_unit(&state);
    bounded out[CELLS];
    run(j, m, NULL, (const void *[]){cells}, CELLS, out);
    for (int i = 0; i < CELLS; i++) {
        double backwards = 0;
        long double exact = 0;
        for (int k = POINTS; k-- > 0;) {
            backwards += weights[k] * cells[i + REACH - 6 + k];
            exact += (long double)weights[k] * cells[i + REACH - 6 + k];
        }
        assert_true(within(&out[i], backwards));
        assert_true(fabsl(out[i].value - exact) <= out[i].bound / 2);
        assert_true(out[i].bound < 4e-14);
    }
}

static void test_double(void **state) {
    (void)state;
    in_job(double_body);
}

/* An expression of every kind of operation; the last node made is its root. */
static expr_id random_expression(model *m, uint64_t *state) {
    enum { MADE = 14 };
    expr_id numbers[MADE + 6], truths[MADE + 1];
    int number_count = 0, truth_count = 0;
    for (int i = 0; i < 4; i++)
        numbers[number_count++] = u(m, random_below(state, 5) - 2, 0, 0);
    numbers[number_count++] = constant(m, random_below(state, 2) ? random_unit(state) : 0.5);
    numbers[number_count++] = expr_parameter(m->pool, 0);
    truths[truth_count++] = op2(m, EXPR_LT, numbers[0], numbers[1]);
    for (int i = 0; i < MADE; i++) {
        const expr_op op = (expr_op)(EXPR_ADD + random_below(state, EXPR_OP_COUNT - EXPR_ADD));
        const expr_word *word = &expr_words[op];
        expr_id operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
        for (int k = 0; k < word->operands; k++)
            operand[k] = word->takes_truth && (op != EXPR_WHERE || k == 0)
                             ? truths[random_below(state, truth_count)]
                             : numbers[random_below(state, number_count)];
        if (op == EXPR_SQRT && random_below(state, 2))
            operand[0] = times(m, operand[0], operand[0]);
        const expr_id made = expr_make(m->pool, op, operand[0], operand[1], operand[2]);
        if (word->gives_truth)
            truths[truth_count++] = made;
        else
            numbers[number_count++] = made;
    }
    return numbers[number_count - 1];
}

static float awkward(uint64_t *state) {
    static const float numbers[] = {0,      1,        -1,      0.5F,     2,     3,
                                    1e-40F, -1e-45F,  1e38F,   -3e38F,   1e20F, 1e-20F,
                                    NAN,    INFINITY, FLT_MIN, 16777215, -2.5F, 0.9999999F};
    return numbers[random_below(state, (int)(sizeof numbers / sizeof numbers[0]))];
}

typedef struct tally {
    int judged, cells;
} tally;

static void check_expression(job *j, uint64_t *state, bool awkward_cells, tally *t) {
    enum { LINE = 64 };
    model *m = new_model(j, 1, DTYPE_FLOAT);
    set_sides(m, BOUNDARY_CLAMP, BOUNDARY_CLAMP);
    m->parameters[0].name = "k";
    m->parameter_count = 1;
    m->outputs[0].value = random_expression(m, state);
    finish_model(j, m);
    float cells[LINE + 2 * REACH];
    for (int i = 0; i < LINE + 2 * REACH; i++) {
        cells[i] = (float)(2 * random_unit(state));
        if (awkward_cells && random_below(state, 2) == 0)
            cells[i] = awkward(state);
    }
    const float parameter = (float)random_unit(state);
    bounded out[LINE];
    run(j, m, (const double[]){(double)parameter}, (const void *[]){cells}, LINE, out);
    float *value = job_array(j, (size_t)m->pool->count, sizeof *value);
    for (int i = 0; i < LINE; i++) {
        const float result =
            evaluate_float(m, m->outputs[0].value, cells + REACH + i, parameter, value, state);
        if (!within(&out[i], (double)result)) {
            text shown = text_new(j);
            model_print(m, MODEL_ALL, &shown);
            print_error("%s%.9g is not within %.3g of %.17g (k = %.9g; cells %.9g %.9g %.9g %.9g "
                        "%.9g)\n",
                        shown.data, (double)result, out[i].bound, out[i].value, (double)parameter,
                        (double)cells[REACH + i - 2], (double)cells[REACH + i - 1],
                        (double)cells[REACH + i], (double)cells[REACH + i + 1],
                        (double)cells[REACH + i + 2]);
            fail();
        }
        assert_true(out[i].bound >= 0);
        /* Judged is what a kernel that is off by a thousandth would fail. */
        t->judged += out[i].bound <= 1e-3 * fabs(out[i].value) || isnan(out[i].value);
        t->cells++;
    }
}

enum { EXPRESSIONS = 20000, BATCH = 200 };
static uint64_t fuzz_state = 2024;
static tally fuzz_tally;
static bool fuzz_awkward;

static void fuzz_body(job *j) {
    for (int i = 0; i < BATCH; i++)
        check_expression(j, &fuzz_state, fuzz_awkward, &fuzz_tally);
}

static void fuzz(bool awkward_cells, double least_judged) {
    fuzz_awkward = awkward_cells;
    fuzz_tally = (tally){0, 0};
    for (int i = 0; i < EXPRESSIONS / BATCH; i++)
        in_job(fuzz_body);
    const double share = (double)fuzz_tally.judged / fuzz_tally.cells;
    print_message("cells judged: %.3f\n", share);
    assert_true(share > least_judged);
}

static void test_random_expressions(void **state) {
    (void)state;
    fuzz(false, 0.7);
}

static void test_awkward_numbers(void **state) {
    (void)state;
    fuzz(true, 0.4);
}

/* u(0) as the only cell of a one-cell grid. */
static bounded at_one(job *j, model *m, float cell) {
    bounded out;
    float cells[1 + 2 * REACH];
    for (int i = 0; i < 1 + 2 * REACH; i++)
        cells[i] = cell;
    finish_model(j, m);
    run(j, m, NULL, (const void *[]){cells}, 1, &out);
    return out;
}

static void doubtful_body(job *j) {
    model *m = new_model(j, 1, DTYPE_FLOAT);
    set_sides(m, BOUNDARY_CLAMP, BOUNDARY_CLAMP);
    const expr_id x = u(m, 0, 0, 0), tenth = times(m, x, constant(m, 0.1));
    const expr_id is_one = op2(m, EXPR_LT, tenth, op2(m, EXPR_DIVIDE, x, constant(m, 10)));
    /* Too close to call: both branches are covered. */
    m->outputs[0].value = expr_make(m->pool, EXPR_WHERE, is_one, constant(m, 4), constant(m, 7));
    bounded b = at_one(j, m, 3);
    assert_true(b.value == 4 || b.value == 7);
    assert_true(b.bound >= 3 && b.bound < 3.001);
    /* Exact operands are decided, also where they are equal. */
    const expr_id le = op2(m, EXPR_LE, x, constant(m, 3));
    m->outputs[0].value = expr_make(m->pool, EXPR_WHERE, le, constant(m, 4), constant(m, 7));
    b = at_one(j, m, 3);
    assert_true(b.value == 4 && b.bound == 0);
    m->outputs[0].value = op1(m, EXPR_FLOOR, times(m, tenth, constant(m, 10)));
    b = at_one(j, m, 3);
    assert_true(b.bound == 1);
    assert_true(at_one(j, m, 3.5F).bound == 0);
    /* 1/(0.1·x − x/10): the divisor may be 0. */
    const expr_id nearly = op2(m, EXPR_SUBTRACT, tenth, op2(m, EXPR_DIVIDE, x, constant(m, 10)));
    m->outputs[0].value = op2(m, EXPR_DIVIDE, constant(m, 1), nearly);
    assert_true(at_one(j, m, 3).bound == INFINITY);
    m->outputs[0].value = op1(m, EXPR_SQRT, nearly);
    assert_true(at_one(j, m, 3).bound == INFINITY);
    /* Of a sum of squares the root is always a number. */
    m->outputs[0].value = op1(m, EXPR_SQRT, times(m, nearly, nearly));
    assert_true(at_one(j, m, 3).bound < 1e-6);
    /* The root of −3 is NaN in any arithmetic; 3e38 + 3e38 overflows. */
    m->outputs[0].value = op1(m, EXPR_SQRT, x);
    b = at_one(j, m, -3);
    assert_true(isnan(b.value) && b.bound < 1);
    m->outputs[0].value = times(m, add(m, x, x), constant(m, 0.25));
    assert_true(at_one(j, m, 3e38F).bound == INFINITY);
    assert_true(at_one(j, m, 5e37F).bound < 1e32);
}

static void test_doubtful(void **state) {
    (void)state;
    in_job(doubtful_body);
}

/* x - n floor(x / n), which says of which colour a cell is. */
static expr_id remainder_of(model *m, expr_id x, double n) {
    const expr_id quotient = op2(m, EXPR_DIVIDE, x, constant(m, n));
    const expr_id whole = times(m, constant(m, n), op1(m, EXPR_FLOOR, quotient));
    return op2(m, EXPR_SUBTRACT, x, whole);
}

/* The colours of cells are decided everywhere, also where the quotient is whole. */
static void colours_body(job *j) {
    enum { LINE = 64 };
    float cells[LINE + 2 * REACH];
    bounded out[LINE];
    for (int i = 0; i < LINE + 2 * REACH; i++)
        cells[i] = (float)i;
    for (int n = 2; n <= 10; n++) {
        model *m = new_model(j, 1, n % 2 == 0 ? DTYPE_FLOAT : DTYPE_DOUBLE);
        const expr_id x = expr_position_plus(m->pool, POSITION_X, 0);
        const expr_id colour = op2(m, EXPR_EQ, remainder_of(m, x, n), constant(m, 0));
        m->outputs[0].value =
            expr_make(m->pool, EXPR_WHERE, colour, constant(m, 4), constant(m, 7));
        finish_model(j, m);
        run(j, m, NULL, (const void *[]){cells}, LINE, out);
        for (int i = 0; i < LINE; i++)
            assert_true(out[i].value == ((i + REACH) % n == 0 ? 4 : 7) && out[i].bound == 0);
    }
    /* Of cells where the divisor is a power of two: a kernel may multiply them by a reciprocal. */
    model *m = new_model(j, 1, DTYPE_FLOAT);
    m->outputs[0].value = op2(m, EXPR_EQ, remainder_of(m, u(m, 0, 0, 0), 4), constant(m, 0));
    m->outputs[0].value =
        expr_make(m->pool, EXPR_WHERE, m->outputs[0].value, constant(m, 4), constant(m, 7));
    finish_model(j, m);
    run(j, m, NULL, (const void *[]){cells}, LINE, out);
    for (int i = 0; i < LINE; i++)
        assert_true(out[i].value == ((i + REACH) % 4 == 0 ? 4 : 7) && out[i].bound == 0);
}

static void test_colours(void **state) {
    (void)state;
    in_job(colours_body);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_star),
    cmocka_unit_test(test_double),
    cmocka_unit_test(test_random_expressions),
    cmocka_unit_test(test_awkward_numbers),
    cmocka_unit_test(test_doubtful),
    cmocka_unit_test(test_colours),
};

TEST_GROUP(bounds, NULL, NULL)
