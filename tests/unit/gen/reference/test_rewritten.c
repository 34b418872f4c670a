/* The reference's bounds, taken from the expression as the spec wrote it, hold for what it is made
   into: the optimised expression, and the linear form summed in any order. */
#include "gen/expr/expr.h"
#include "tests/unit/gen/reference/bounds.h"
#include "tests/unit/group.h"

enum { LINE = 48, EXPRESSIONS = 4000, BATCH = 100, MADE = 30 };

/* Mostly sums with few different coefficients, which is what gets factored. */
static expr_id random_sums(model *m, bool linear, uint64_t *state) {
    static const double factors[] = {0.1, -0.1, 0.3, 2, 1e-3, 7};
    expr_id made[MADE];
    for (int i = 0; i < MADE; i++) {
        const int kind = random_below(state, linear ? 9 : 14);
        const expr_id a = i > 0 ? made[random_below(state, i)] : u(m, 0, 0, 0);
        const expr_id b = i > 2 ? made[i - 1 - random_below(state, 3)] : u(m, 1, 0, 0);
        const expr_id tap = u(m, random_below(state, 11) - 5, 0, 0);
        const expr_id p = expr_parameter(m->pool, 0);
        const expr_id divisor = add(m, op1(m, EXPR_ABS, tap), constant(m, 3)); /* of several */
        const expr_id factor = constant(m, factors[random_below(state, 6)]);
        made[i] = kind < 2    ? times(m, factor, tap)
                  : kind == 2 ? add(m, b, times(m, tap, p))
                  : kind < 5  ? add(m, a, b)
                  : kind == 5 ? op2(m, EXPR_SUBTRACT, a, b)
                  : kind == 6 ? times(m, b, factor)
                  : kind == 7 ? op2(m, EXPR_DIVIDE, b, add(m, p, constant(m, 3)))
                  : kind == 8 ? op1(m, EXPR_NEGATE, a)
                  : kind == 9 ? times(m, a, b)
                  : kind > 11 ? op2(m, EXPR_DIVIDE, kind == 12 ? a : b, divisor)
                              : op1(m, kind == 10 ? EXPR_ABS : EXPR_TANH, b);
    }
    return made[MADE - 1];
}

static model *random_model(job *j, bool linear, uint64_t *state, float *cells, float *parameter) {
    model *m = new_model(j, 1, DTYPE_FLOAT);
    set_sides(m, BOUNDARY_CLAMP, BOUNDARY_CLAMP);
    m->parameters[0].name = "k";
    m->parameter_count = 1;
    m->outputs[0].value = random_sums(m, linear, state);
    finish_model(j, m);
    for (int i = 0; i < LINE + 2 * REACH; i++)
        cells[i] = (float)random_unit(state);
    *parameter = (float)random_unit(state);
    return m;
}

static uint64_t random_state;
static double worst_share; /* of a bound that was used up */

static void check(const bounded *b, float result) {
    assert_true(b->bound < INFINITY);
    assert_true(within(b, (double)result));
    if (b->bound > 0)
        worst_share = fmax(worst_share, fabs(b->value - (double)result) / b->bound);
}

static void optimised_body(job *j) {
    for (int n = 0; n < BATCH; n++) {
        float cells[LINE + 2 * REACH], parameter;
        model *m = random_model(j, false, &random_state, cells, &parameter);
        bounded out[LINE];
        run(j, m, (const double[]){(double)parameter}, (const void *[]){cells}, LINE, out);
        const expr_id before = m->outputs[0].value;
        expr_id root;
        optimise(j, m->pool, m->dtype, &before, 1, &root);
        float *value = job_array(j, (size_t)m->pool->count, sizeof *value);
        for (int i = 0; i < LINE; i++)
            check(&out[i],
                  evaluate_float(m, root, cells + REACH + i, parameter, value, &random_state));
    }
}

static void linear_body(job *j) {
    for (int n = 0; n < BATCH; n++) {
        float cells[LINE + 2 * REACH], parameter;
        model *m = random_model(j, true, &random_state, cells, &parameter);
        bounded out[LINE];
        run(j, m, (const double[]){(double)parameter}, (const void *[]){cells}, LINE, out);
        linear_form form;
        assert_true(model_linear(m, 0, &form));
        assert_int_equal(form.rest, EXPR_NONE);
        float *value = job_array(j, (size_t)m->pool->count, sizeof *value);
        for (int i = 0; i < LINE; i++) {
            const int start = form.count > 0 ? random_below(&random_state, form.count) : 0;
            float sum = 0;
            for (int k = 0; k < form.count; k++) {
                const linear_term *t = &form.terms[(start + k) % form.count];
                const float w =
                    evaluate_float(m, t->weight, cells + REACH, parameter, value, &random_state);
                sum = fmaf(w, cells[REACH + i + t->d[0]], sum);
            }
            check(&out[i], sum);
        }
    }
}

static void repeat(test_body *body) {
    random_state = 77;
    worst_share = 0;
    for (int i = 0; i < EXPRESSIONS / BATCH; i++)
        in_job(body);
    print_message("greatest share of a bound used up: %.3f\n", worst_share);
    assert_true(worst_share > 0.05);
}

static void test_optimised(void **state) {
    (void)state;
    repeat(optimised_body);
}

static void test_linear(void **state) {
    (void)state;
    repeat(linear_body);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_optimised),
    cmocka_unit_test(test_linear),
};

TEST_GROUP(rewritten, NULL, NULL)
