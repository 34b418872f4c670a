/* Models: their facts, their text, their linear forms. */
#include "tests/unit/gen/model/models.h"
#include "tests/unit/group.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static const double heat[] = {0.5, 0.1, 0.1, 0.0625, 0.0625, -0.25, -0.25};

static model *heat_model(job *j) {
    model *m = new_model(j, 3, DTYPE_FLOAT);
    m->name = "heat";
    m->outputs[0] = (model_output){0, star_sum(m, 1, heat)};
    finish_model(j, m);
    m->textbook_multiplications = 7;
    m->textbook_additions = 6;
    return m;
}

static const char *printed(job *j, const model *m) {
    text t = text_new(j);
    model_print(m, MODEL_ALL, &t);
    return t.data;
}

static void facts_body(job *j) {
    model *m = heat_model(j);
    assert_true(model_textbook_operations(m) == 13);
    assert_true(model_bytes_per_point(m) == 8);
    m->dtype = DTYPE_DOUBLE;
    m->fields[1] = (model_field){.name = "c", .use = USE_IN, .levels = 1};
    m->arrays[1] = (model_array){.field = 1, .used = true};
    m->arrays[2] = (model_array){.field = 0, .previous = true, .used = false};
    m->array_count = 3;
    assert_true(model_bytes_per_point(m) == 24);
}

static void test_facts(void **state) {
    (void)state;
    in_job(facts_body);
}

static void assert_described(job *j, const model *m, const char *sentence) {
    text t = text_new(j);
    model_describe(m, &t);
    assert_string_equal(t.data, sentence);
}

static void describe_body(job *j) {
    model m = {.dims = 3, .radius = 2, .points = 13, .shape = SHAPE_STAR, .field_count = 1};
    assert_described(j, &m, "3D star of radius 2, 13 points");
    m = (model){.dims = 2, .radius = 1, .points = 9, .shape = SHAPE_BOX, .field_count = 1};
    assert_described(j, &m, "2D box of radius 1, 9 points");
    m.shape = SHAPE_POINTS;
    m.points = 5;
    assert_described(j, &m, "2D shape of 5 points, radius 1");
    m.points = 1;
    assert_described(j, &m, "2D shape of 1 point, radius 1");
    m = (model){.dims = 2, .radius = 1, .points = 10, .shape = SHAPE_UPDATE, .field_count = 2};
    assert_described(j, &m, "2D update of 2 fields, 10 taps, radius 1");
    m.field_count = 1;
    assert_described(j, &m, "2D update of 1 field, 10 taps, radius 1");
}

static void test_describe(void **state) {
    (void)state;
    in_job(describe_body);
}

static void print_star_body(job *j) {
    model *m = heat_model(j);
    assert_string_equal(
        printed(j, m),
        "stencil heat: 3D star of radius 1, 7 points, float\n"
        "boundary fixed\n"
        "field u inout\n"
        "u = 0.5*u(0,0,0) + 0.1*u(-1,0,0) + 0.1*u(1,0,0) + 0.0625*u(0,-1,0) + 0.0625*u(0,1,0)\n"
        "    - 0.25*u(0,0,-1) - 0.25*u(0,0,1)\n");
}

static void print_update_body(job *j) {
    model *m = new_model(j, 2, DTYPE_DOUBLE);
    m->fields[0].levels = 2;
    m->fields[1] = (model_field){.name = "c", .use = USE_OUT, .levels = 1};
    m->field_count = 2;
    m->arrays[1] = (model_array){.field = 0, .previous = true};
    m->array_count = 2;
    m->parameters[0] = (model_parameter){.name = "dt"};
    m->parameters[1] = (model_parameter){.name = "k", .has_value = true, .value = 0.1};
    m->parameter_count = 2;
    m->sides[0][0] = m->sides[0][1] = (model_side){.kind = BOUNDARY_PERIODIC};
    m->sides[1][0] = (model_side){.kind = BOUNDARY_CONSTANT, .value = -1.5};
    m->sides[1][1] = (model_side){.kind = BOUNDARY_CLAMP};
    const expr_id dt = expr_parameter(m->pool, 0), k = expr_parameter(m->pool, 1);
    const expr_id shared = op2(m, EXPR_SUBTRACT, u(m, 1, 0, 0), tap_of(m, 1, 0, -2, 0));
    const expr_id square = times(m, shared, shared);
    const expr_id inner = op2(m, EXPR_SUBTRACT, k, add(m, dt, u(m, 0, 0, 0)));
    const expr_id chosen =
        expr_make(m->pool, EXPR_WHERE, op2(m, EXPR_LT, square, constant(m, 2)),
                  op1(m, EXPR_NEGATE, inner), op2(m, EXPR_DIVIDE, dt, times(m, k, square)));
    m->outputs[0] = (model_output){0, chosen};
    m->outputs[1] = (model_output){1, square};
    m->output_count = 2;
    finish_model(j, m);
    text where = text_new(j);
    text_printf(&where, "%s(%s(t2, 2), -(p.k - (p.dt + u(0,0))), p.dt/(p.k*t2))",
                expr_words[EXPR_WHERE].name, expr_words[EXPR_LT].name);
    text expected = text_new(j);
    text_printf(&expected,
                "stencil test: 2D update of 2 fields, 3 taps, radius 2, double\n"
                "boundary x = periodic, y = { constant(-1.5), clamp }\n"
                "reach x 0 to 1, y -2 to 0\n"
                "fields u inout with 2 levels, c out\n"
                "parameters dt, k = 0.1\n"
                "t1 = u(1,0) - u.prev(0,-2)\n"
                "t2 = t1*t1\n"
                "u = %s\n"
                "c = t2\n",
                where.data);
    assert_string_equal(printed(j, m), expected.data);
}

static void test_print(void **state) {
    (void)state;
    in_job(print_star_body);
    in_job(print_update_body);
}

/* A decimal comma must not reach the text. */
static void locale_body(job *j) {
    const char *german = printed(j, heat_model(j));
    setlocale(LC_ALL, "C");
    assert_string_equal(german, printed(j, heat_model(j)));
}

static void test_print_locale(void **state) {
    (void)state;
    if (setlocale(LC_ALL, "comma") == NULL) {
        print_message("the locale with a decimal comma was not made\n");
        skip();
    }
    in_job(locale_body);
}

static void print_again_body(job *j) {
    assert_string_equal(printed(j, heat_model(j)), printed(j, heat_model(j)));
}

static void test_print_deterministic(void **state) {
    (void)state;
    in_job(print_again_body);
}

enum { DEEP = 19000 };

/* x ← x·x + u(i), each square of a shared node: written out without names it would never end. */
static void print_shared_body(job *j) {
    model *m = new_model(j, 1, DTYPE_FLOAT);
    expr_id x = u(m, 0, 0, 0);
    for (int i = 0; i < 15; i++)
        x = add(m, times(m, x, x), u(m, i % 8, 0, 0));
    m->outputs[0] = (model_output){0, x};
    finish_model(j, m);
    const char *text = printed(j, m);
    assert_non_null(strstr(text, "\nt14 = t13*t13 + u(5)\n"));
    assert_true(strlen(text) < 600);
}

/* Chains to the left and to the right, as deep as may be; lines stay short, text linear. */
static void print_deep_body(job *j) {
    for (int right = 0; right < 2; right++) {
        model *m = new_model(j, 1, DTYPE_FLOAT);
        expr_id x = u(m, 0, 0, 0);
        for (int i = 0; i < DEEP; i++) {
            const expr_id term = times(m, u(m, i % 17 - 8, 0, 0), constant(m, i + 2));
            x = right ? add(m, term, x) : add(m, x, term);
        }
        m->outputs[0] = (model_output){0, x};
        finish_model(j, m);
        const char *text = printed(j, m);
        assert_true(strlen(text) < 40 * (size_t)DEEP);
        for (const char *line = text; *line != '\0';) {
            const size_t length = strcspn(line, "\n");
            assert_true(length <= 100 || (right && line[length - 1] == ')'));
            line += length + 1;
        }
    }
}

static void test_print_large(void **state) {
    (void)state;
    in_job(print_shared_body);
    in_job(print_deep_body);
}

/* Values of nodes: taps and parameters from tables, operations by the library of the host. */
typedef struct valuation {
    double taps[2][17], parameters[4];
} valuation;

static double value_of(const model *m, job *j, expr_id root, const valuation *v) {
    double *value = job_array(j, (size_t)root + 1, sizeof *value);
    for (expr_id id = 0; id <= root; id++) {
        const expr_node *n = expr_get(m->pool, id);
        const double a = n->operand[0] < 0 ? 0 : value[n->operand[0]];
        const double b = n->operand[1] < 0 ? 0 : value[n->operand[1]];
        value[id] = n->op == EXPR_CONSTANT    ? n->value
                    : n->op == EXPR_PARAMETER ? v->parameters[n->index]
                    : n->op == EXPR_TAP       ? v->taps[n->index][n->d[0] + 8]
                    : n->op == EXPR_ADD       ? a + b
                    : n->op == EXPR_SUBTRACT  ? a - b
                    : n->op == EXPR_MULTIPLY  ? a * b
                    : n->op == EXPR_DIVIDE    ? a / b
                    : n->op == EXPR_NEGATE    ? -a
                    : n->op == EXPR_SQRT      ? sqrt(a)
                                              : fabs(a);
    }
    return value[root];
}

static void randomise(valuation *v, uint64_t *state) {
    for (int i = 0; i < 34; i++)
        v->taps[i / 17][i % 17] = random_unit(state);
    for (int i = 0; i < 4; i++)
        v->parameters[i] = 1.5 + random_unit(state);
}

/* Grows an expression that is linear by construction; `pure` ones hold no tap. */
static expr_id random_linear(model *m, uint64_t *state) {
    expr_id linear[24], pure[24];
    for (int i = 0; i < 24; i++) {
        const int kind = random_below(state, 8);
        const expr_id a = i > 0 ? linear[random_below(state, i)] : u(m, 0, 0, 0);
        const expr_id b = i > 0 ? linear[random_below(state, i)] : u(m, 1, 0, 0);
        const expr_id p = i > 0 ? pure[random_below(state, i)] : constant(m, 0.75);
        const expr_id q = i > 0 ? pure[random_below(state, i)] : expr_parameter(m->pool, 0);
        pure[i] = kind < 3   ? expr_parameter(m->pool, kind)
                  : kind < 5 ? constant(m, random_unit(state))
                  : kind < 7 ? add(m, p, q)
                             : op1(m, EXPR_SQRT, op1(m, EXPR_ABS, p));
        linear[i] = kind == 0 ? tap_of(m, random_below(state, 2), random_below(state, 17) - 8, 0, 0)
                    : kind == 1 ? add(m, a, b)
                    : kind == 2 ? op2(m, EXPR_SUBTRACT, a, b)
                    : kind == 3 ? op1(m, EXPR_NEGATE, a)
                    : kind == 4 ? times(m, a, p)
                    : kind == 5 ? times(m, p, b)
                    : kind == 6 ? op2(m, EXPR_DIVIDE, a, constant(m, 1 + random_below(state, 5)))
                                : add(m, q, a);
    }
    return linear[23];
}

static void check_linear(job *j, model *m, uint64_t *state) {
    linear_form form;
    assert_true(model_linear(m, 0, &form));
    for (int i = 1; i < form.count; i++) {
        const linear_term *a = &form.terms[i - 1], *b = &form.terms[i];
        assert_true(a->array < b->array || (a->array == b->array && a->d[0] < b->d[0]));
    }
    valuation v, none = {{{0}}, {0}};
    randomise(&v, state);
    memcpy(none.parameters, v.parameters, sizeof v.parameters);
    double sum = form.rest == EXPR_NONE ? 0 : value_of(m, j, form.rest, &v), size = fabs(sum);
    if (form.rest != EXPR_NONE) /* it holds no tap */
        assert_true(value_of(m, j, form.rest, &none) == sum);
    for (int i = 0; i < form.count; i++) {
        const linear_term *t = &form.terms[i];
        const double weight = value_of(m, j, t->weight, &v);
        assert_true(value_of(m, j, t->weight, &none) == weight);
        sum += weight * v.taps[t->array][t->d[0] + 8];
        size += fabs(weight);
    }
    const double direct = value_of(m, j, m->outputs[0].value, &v);
    assert_true(fabs(sum - direct) <= 1e-12 * (size + fabs(direct)));
}

static void random_linear_body(job *j) {
    uint64_t state = 99;
    for (int i = 0; i < 300; i++) {
        model *m = new_model(j, 1, DTYPE_DOUBLE);
        m->arrays[1] = (model_array){.field = 0, .previous = true};
        m->array_count = 2;
        m->parameter_count = 3;
        m->outputs[0] = (model_output){0, random_linear(m, &state)};
        check_linear(j, m, &state);
    }
}

static void test_linear_random(void **state) {
    (void)state;
    in_job(random_linear_body);
}

static void exact_linear_body(job *j) {
    model *m = new_model(j, 3, DTYPE_FLOAT);
    const expr_id x = u(m, 1, 0, 0), y = u(m, 0, 1, 0), z = u(m, 0, 0, -1);
    /* 2(x − y)/4 + (z + 3) − (x − 5)·0.5 = 0·x − 0.5·y + z + 5.5 */
    const expr_id first =
        op2(m, EXPR_DIVIDE, times(m, constant(m, 2), op2(m, EXPR_SUBTRACT, x, y)), constant(m, 4));
    const expr_id second = add(m, z, constant(m, 3));
    const expr_id third = times(m, op2(m, EXPR_SUBTRACT, x, constant(m, 5)), constant(m, 0.5));
    m->outputs[0].value = op2(m, EXPR_SUBTRACT, add(m, first, second), third);
    linear_form form;
    assert_true(model_linear(m, 0, &form));
    assert_int_equal(form.count, 2);
    assert_memory_equal(form.terms[0].d, ((int[AXES]){0, 0, -1}), sizeof form.terms[0].d);
    assert_true(expr_get(m->pool, form.terms[0].weight)->value == 1);
    assert_memory_equal(form.terms[1].d, ((int[AXES]){0, 1, 0}), sizeof form.terms[1].d);
    assert_true(expr_get(m->pool, form.terms[1].weight)->value == -0.5);
    assert_true(expr_get(m->pool, form.rest)->value == 5.5);

    m->outputs[0].value = x;
    assert_true(model_linear(m, 0, &form));
    assert_int_equal(form.count, 1);
    assert_int_equal(form.rest, EXPR_NONE);
    m->outputs[0].value = constant(m, 4);
    assert_true(model_linear(m, 0, &form));
    assert_int_equal(form.count, 0);
    assert_true(expr_get(m->pool, form.rest)->value == 4);
}

static void not_linear_body(job *j) {
    model *m = new_model(j, 1, DTYPE_FLOAT);
    const expr_id x = u(m, 1, 0, 0), y = u(m, -1, 0, 0), p = expr_parameter(m->pool, 0);
    m->parameter_count = 1;
    const expr_id less = op2(m, EXPR_LT, x, y);
    const expr_id roots[] = {
        times(m, x, y),
        times(m, x, x),
        op2(m, EXPR_DIVIDE, p, x),
        op1(m, EXPR_ABS, x),
        op2(m, EXPR_MAX, x, p),
        expr_make(m->pool, EXPR_WHERE, less, p, constant(m, 1)),
        add(m, x, times(m, p, op1(m, EXPR_SQRT, y))),
        /* linear, but float holds 1e-45 and 1e60 badly or not at all */
        times(m, times(m, x, constant(m, 1e-30)), constant(m, 1e-15)),
        times(m, times(m, x, constant(m, 1e30)), constant(m, 1e30)),
    };
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        linear_form form;
        m->outputs[0].value = roots[i];
        assert_false(model_linear(m, 0, &form));
    }
    /* A condition on parameters alone may choose weights. */
    const expr_id chosen =
        expr_make(m->pool, EXPR_WHERE, op2(m, EXPR_LT, p, constant(m, 1)), p, constant(m, 1));
    linear_form form;
    m->outputs[0].value = times(m, chosen, x);
    assert_true(model_linear(m, 0, &form));
    assert_int_equal(form.terms[0].weight, chosen);
}

static void deep_linear_body(job *j) {
    model *m = new_model(j, 1, DTYPE_DOUBLE);
    m->parameter_count = 1;
    const expr_id p = expr_parameter(m->pool, 0);
    expr_id x = u(m, 0, 0, 0);
    for (int i = 0; i < DEEP; i++)
        x = add(m, x, times(m, i % 2 == 0 ? constant(m, i) : p, u(m, i % 17 - 8, 0, 0)));
    m->outputs[0].value = x;
    const int before = m->pool->count;
    linear_form form;
    assert_true(model_linear(m, 0, &form));
    assert_int_equal(form.count, 17);
    assert_true(m->pool->count < before + 3 * DEEP);
    assert_null(m->pool->limit);
}

static void test_linear(void **state) {
    (void)state;
    in_job(exact_linear_body);
    in_job(not_linear_body);
    in_job(deep_linear_body);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_facts),         cmocka_unit_test(test_describe),
    cmocka_unit_test(test_print),         cmocka_unit_test(test_print_deterministic),
    cmocka_unit_test(test_print_locale),  cmocka_unit_test(test_print_large),
    cmocka_unit_test(test_linear_random), cmocka_unit_test(test_linear),
};

TEST_GROUP(model, NULL, NULL)
