/* Shapes, coefficients and weight tables of specs, and the specs of the specs folder. */
#include <math.h>

#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

static const expr_node *root(const model *m, int output) {
    return expr_get(m->pool, m->outputs[output].value);
}

/* Coefficients as given: term i of ((c0*u0 + c1*u1) + c2*u2) + ... */
static void get_term(const model *m, int i, double *weight, const int **d) {
    const expr_node *n = root(m, 0);
    for (int k = m->points - 1; k > (i > 0 ? i : 1) - 1; k--) {
        if (k == i)
            break;
        assert_int_equal(n->op, EXPR_ADD);
        n = expr_get(m->pool, n->operand[0]);
    }
    if (i > 0)
        n = expr_get(m->pool, n->operand[1]);
    assert_int_equal(n->op, EXPR_MULTIPLY);
    *weight = expr_get(m->pool, n->operand[0])->value;
    *d = expr_get(m->pool, n->operand[1])->d;
}

static void expect_terms(const char *text, int count, const double (*expected)[4]) {
    loaded l;
    const model *m = load_model(&l, text);
    assert_int_equal(m->points, count);
    for (int i = 0; i < count; i++) {
        double weight;
        const int *d;
        get_term(m, i, &weight, &d);
        assert_true(weight == expected[i][0]);
        for (int axis = 0; axis < AXES; axis++)
            assert_int_equal(d[axis], (int)expected[i][1 + axis]);
    }
    assert_true(m->textbook_multiplications == count);
    assert_true(m->textbook_additions == count - 1);
    job_end(l.job);
}

static void test_order_of_star(void **state) {
    (void)state;
    const double expected[][4] = {
        {10, 0, 0, 0},  {11, -1, 0, 0}, {12, 1, 0, 0},  {13, 0, -1, 0}, {14, 0, 1, 0},
        {15, -2, 0, 0}, {16, 2, 0, 0},  {17, 0, -2, 0}, {18, 0, 2, 0},
    };
    expect_terms("return stencil { name = 'a', shape = star(2, 2),\n"
                 "coefficients = { 10, 11, 12, 13, 14, 15, 16, 17, 18 } }",
                 9, expected);
    const double expected3[][4] = {
        {2, 0, 0, 0}, {3, -1, 0, 0}, {4, 1, 0, 0}, {5, 0, -1, 0},
        {6, 0, 1, 0}, {7, 0, 0, -1}, {8, 0, 0, 1},
    };
    expect_terms("return stencil { name = 'a', shape = star(3, 1),\n"
                 "coefficients = { 2, 3, 4, 5, 6, 7, 8 } }",
                 7, expected3);
}

static void test_order_of_box(void **state) {
    (void)state;
    double expected[27][4];
    for (int i = 0; i < 27; i++) {
        const double term[4] = {100 + i, i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        memcpy(expected[i], term, sizeof term);
    }
    expect_terms("local c = {}\nfor i = 0, 26 do table.insert(c, 100 + i) end\n"
                 "return stencil { name = 'a', shape = box(3, 1), coefficients = c }",
                 27, (const double(*)[4])expected);
}

static void test_order_of_points(void **state) {
    (void)state;
    const double expected[][4] = {{5, 3, -1, 0}, {6, 0, 0, 0}, {7, -8, 8, 0}};
    const char *text = "return stencil { name = 'a', shape = points { {3,-1}, {0,0}, {-8,8} },\n"
                       "coefficients = { 5, 6, 7 } }";
    expect_terms(text, 3, expected);
    loaded l;
    const model *m = load_model(&l, text);
    assert_int_equal(m->shape, SHAPE_POINTS);
    assert_int_equal(m->dims, 2);
    assert_int_equal(m->radius, 8);
    const int low[AXES] = {8, 1, 0}, high[AXES] = {3, 8, 0};
    assert_memory_equal(m->low, low, sizeof low);
    assert_memory_equal(m->high, high, sizeof high);
    assert_memory_equal(m->arrays[0].low, low, sizeof low);
    assert_memory_equal(m->arrays[0].high, high, sizeof high);
    job_end(l.job);
}

/* Reach comes from the shape, also where a coefficient is 0; the expression has no such term. */
static void test_zero_coefficient(void **state) {
    (void)state;
    loaded l;
    const model *m = load_model(
        &l, "return stencil { name = 'a', shape = star(1, 2), coefficients = { 2, 3, 4, 0, 0 } }");
    assert_int_equal(m->low[0], 2);
    assert_int_equal(m->high[0], 2);
    assert_int_equal(m->radius, 2);
    int taps = 0;
    for (int i = 0; i < m->pool->count; i++)
        taps += expr_get(m->pool, i)->op == EXPR_TAP;
    assert_int_equal(taps, 3);
    assert_true(m->textbook_multiplications == 5);
    job_end(l.job);
}

static void test_classic_specs(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int dims, radius, points;
    } classics[] = {
        {"heat1d3", 1, 1, 3}, {"heat1d5", 1, 2, 5}, {"heat1d7", 1, 3, 7}, {"heat2d5", 2, 1, 5},
        {"heat2d9", 2, 2, 9}, {"heat3d7", 3, 1, 7}, {"heat13", 3, 2, 13},
    };
    for (size_t i = 0; i < sizeof classics / sizeof *classics; i++) {
        char path[64];
        snprintf(path, sizeof path, "specs/%s.lua", classics[i].name);
        loaded l = load_with(&allocator_libc, path, NULL);
        assert_int_equal(l.fault, FAULT_NONE);
        const model *m = l.spec->subjects[0]->expressions;
        assert_string_equal(m->name, classics[i].name);
        assert_string_equal(m->file, path);
        assert_int_equal(m->shape, SHAPE_STAR);
        assert_int_equal(m->dims, classics[i].dims);
        assert_int_equal(m->radius, classics[i].radius);
        assert_int_equal(m->points, classics[i].points);
        assert_int_equal(m->dtype, DTYPE_FLOAT);
        double sum = 0, weight, outer = 0;
        const int *d;
        for (int k = 0; k < m->points; k++) {
            get_term(m, k, &weight, &d);
            sum += weight;
            outer += k > 0 ? fabs(weight) : 0;
        }
        assert_float_equal(sum, 1, 1e-15); /* a constant field stays */
        get_term(m, 0, &weight, &d);
        assert_true(weight >= 0 && weight + outer < 1.25); /* and the step is a small one */
        job_end(l.job);
    }
}

static void test_other_specs(void **state) {
    (void)state;
    loaded l = load_with(&allocator_libc, "specs/wave2d.lua", NULL);
    assert_int_equal(l.fault, FAULT_NONE);
    const model *m = l.spec->subjects[0]->expressions;
    assert_int_equal(m->field_count, 2);
    assert_string_equal(m->fields[0].name, "c");
    assert_int_equal(m->fields[0].use, USE_IN);
    assert_int_equal(m->fields[1].levels, 2);
    assert_int_equal(m->array_count, 3);
    assert_true(m->arrays[2].previous && m->arrays[2].field == 1 && m->arrays[2].used);
    assert_int_equal(m->arrays[1].low[0], 2);
    assert_int_equal(m->arrays[2].low[0], 0);
    assert_int_equal(m->output_count, 1);
    job_end(l.job);
    l = load_with(&allocator_libc, "specs/grayscott.lua", NULL);
    assert_int_equal(l.fault, FAULT_NONE);
    m = l.spec->subjects[0]->expressions;
    assert_int_equal(m->output_count, 2);
    assert_int_equal(m->parameter_count, 4);
    const char *const names[] = {"Du", "Dv", "F", "k"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(m->parameters[i].name, names[i]);
        assert_true(m->parameters[i].has_value);
    }
    assert_int_equal(m->sides[1][1].kind, BOUNDARY_PERIODIC);
    assert_int_equal(m->sides[2][0].kind, BOUNDARY_FIXED);
    job_end(l.job);
    l = load_with(&allocator_libc, "specs/blur2d.lua", NULL);
    assert_int_equal(l.fault, FAULT_NONE);
    assert_int_equal(l.spec->subjects[0]->expressions->shape, SHAPE_BOX);
    job_end(l.job);
}

/* The weights of a difference, exactly, for the classic cases. */
static void test_known_weights(void **state) {
    (void)state;
    const double second4[][4] = {
        {-1.0 / 12, -2, 0, 0}, {4.0 / 3, -1, 0, 0},  {-5.0 / 2, 0, 0, 0},
        {4.0 / 3, 1, 0, 0},    {-1.0 / 12, 2, 0, 0},
    };
    expect_terms("return stencil { name = 'a', shape = points {{-2},{-1},{0},{1},{2}},\n"
                 "coefficients = derivative { axis = 'x', order = 2, accuracy = 4 } }",
                 5, second4);
    const double first4[][4] = {
        {1.0 / 12, 0, -2, 0}, {-2.0 / 3, 0, -1, 0}, {2.0 / 3, 0, 1, 0}, {-1.0 / 12, 0, 2, 0}};
    expect_terms("return stencil { name = 'a',\n"
                 "coefficients = derivative { axis = 'y', accuracy = 4 } }",
                 4, first4);
    const double fourth[][4] = {
        {6 * 16, 0, 0, 0}, {-4 * 16, -1, 0, 0}, {-4 * 16, 1, 0, 0}, {16, -2, 0, 0}, {16, 2, 0, 0}};
    expect_terms("return stencil { name = 'a',\n"
                 "coefficients = derivative { axis = 'x', order = 4, spacing = 0.5 } }",
                 5, fourth);
    const double spaced[][4] = {{-2 * (4 + 16 + 64), 0, 0, 0},
                                {4, -1, 0, 0},
                                {4, 1, 0, 0},
                                {16, 0, -1, 0},
                                {16, 0, 1, 0},
                                {64, 0, 0, -1},
                                {64, 0, 0, 1}};
    expect_terms("return stencil { name = 'a', coefficients =\n"
                 "laplacian { dims = 3, spacing = { x = 0.5, y = 0.25, z = 0.125 } } }",
                 7, spaced);
}

/* A field that is 1 in one cell: the value is the weight of that cell's tap. */
static int cell[AXES];

static double one_cell(int array, const int d[AXES]) {
    return array == 0 && memcmp(d, cell, sizeof cell) == 0;
}

static double weight_at(const model *m, int dx, int dy, const double *parameters) {
    cell[0] = dx;
    cell[1] = dy;
    return evaluate_output(m, 0, one_cell, parameters);
}

/* All differences that fit are exact for the powers they must be exact for. */
static void test_all_weights(void **state) {
    (void)state;
    for (int order = 1; order <= 16; order++)
        for (int accuracy = 2; (order + 1) / 2 + accuracy / 2 - 1 <= MAX_REACH; accuracy += 2) {
            char text[256];
            snprintf(text, sizeof text,
                     "return stencil { name = 'a', dtype = 'double', shape = star(1, 8),\n"
                     "coefficients = 3 * identity() +\n"
                     "derivative { axis = 'x', order = %d, accuracy = %d } }",
                     order, accuracy);
            loaded l;
            const model *m = load_model(&l, text);
            double weight[17];
            for (int d = -8; d <= 8; d++)
                weight[8 + d] = weight_at(m, d, 0, NULL) - (d == 0 ? 3 : 0);
            double factorial = 1;
            for (int i = 2; i <= order; i++)
                factorial *= i;
            for (int power = 0; power < order + accuracy; power++) {
                long double sum = 0, size = 0;
                for (int d = -8; d <= 8; d++) {
                    sum += weight[8 + d] * powl(d, power);
                    size += fabsl(weight[8 + d] * powl(d, power));
                }
                const double expected = power == order ? factorial : 0;
                assert_true(fabsl(sum - expected) <= 1e-15L * (size + 3));
            }
            job_end(l.job);
        }
}

/* Staggered ones too, round a place half a distance from the point; and the textbook's numbers. */
static void test_staggered_weights(void **state) {
    (void)state;
    const double fourth[][4] = {
        {1.0 / 24, -1, 0, 0}, {-9.0 / 8, 0, 0, 0}, {9.0 / 8, 1, 0, 0}, {-1.0 / 24, 2, 0, 0}};
    expect_terms("return stencil { name = 'a', shape = points {{-1},{0},{1},{2}},\n"
                 "coefficients = derivative { axis = 'x', accuracy = 4, stagger = 0.5 } }",
                 4, fourth);
    const double below[][4] = {{-4, 0, -1, 0}, {4, 0, 0, 0}};
    expect_terms("return stencil { name = 'a', shape = points {{0,-1},{0,0}},\n"
                 "coefficients = derivative { axis = 'y', stagger = -0.5, spacing = 0.25 } }",
                 2, below);
    for (int order = 1; order <= 14; order++)
        for (int accuracy = 2; order / 2 + accuracy / 2 <= MAX_REACH; accuracy += 2)
            for (int side = -1; side <= 1; side += 2) {
                char text[256];
                snprintf(text, sizeof text,
                         "return stencil { name = 'a', dtype = 'double', shape = star(1, 8),\n"
                         "coefficients = 3 * identity() + derivative { axis = 'x', order = %d,\n"
                         "accuracy = %d, stagger = %d / 2 } }",
                         order, accuracy, side);
                loaded l;
                const model *m = load_model(&l, text);
                double factorial = 1;
                for (int i = 2; i <= order; i++)
                    factorial *= i;
                for (int power = 0; power < order + accuracy; power++) {
                    long double sum = 0, size = 0;
                    for (int d = -8; d <= 8; d++) {
                        const double weight = weight_at(m, d, 0, NULL) - (d == 0 ? 3 : 0);
                        const long double term = weight * powl(d - side / 2.0L, power);
                        sum += term;
                        size += fabsl(term);
                    }
                    const double expected = power == order ? factorial : 0;
                    assert_true(fabsl(sum - expected) <= 1e-15L * (size + 3));
                }
                job_end(l.job);
            }
}

static void test_weight_tables_scale(void **state) {
    (void)state;
    loaded l;
    const model *m =
        load_model(&l, "local k = param 'k'\n"
                       "local w = -(identity() - k * laplacian { dims = 2 } / 2) + identity() * 3\n"
                       "return stencil { name = 'a', dtype = 'double', coefficients = w }");
    assert_int_equal(m->shape, SHAPE_STAR);
    assert_int_equal(m->dims, 2);
    assert_int_equal(m->parameter_count, 1);
    assert_false(m->parameters[0].has_value);
    const double k = 5;
    assert_true(weight_at(m, 0, 0, &k) == 2 - 10);
    assert_true(weight_at(m, 1, 0, &k) == 2.5);
    assert_true(weight_at(m, 0, -1, &k) == 2.5);
    job_end(l.job);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_order_of_star),     cmocka_unit_test(test_order_of_box),
    cmocka_unit_test(test_order_of_points),   cmocka_unit_test(test_zero_coefficient),
    cmocka_unit_test(test_classic_specs),     cmocka_unit_test(test_other_specs),
    cmocka_unit_test(test_known_weights),     cmocka_unit_test(test_all_weights),
    cmocka_unit_test(test_staggered_weights), cmocka_unit_test(test_weight_tables_scale),
};

TEST_GROUP(spec, NULL, NULL)
