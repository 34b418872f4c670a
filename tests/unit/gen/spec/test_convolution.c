/* convolution { ... }: the model that a filter becomes, and the errors of its weights. */
#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

#define WEIGHTS(list) "return convolution { name = 'a',\n weights = " list " }"

/* The weight of the term at (dx, dy, dz), which is a number; 0 where there is no term. */
static double weight_at(const model *m, int dx, int dy, int dz) {
    linear_form form;
    assert_true(model_linear(m, 0, &form));
    assert_int_equal(form.rest, EXPR_NONE);
    for (int i = 0; i < form.count; i++) {
        const linear_term *t = &form.terms[i];
        if (t->d[0] == dx && t->d[1] == dy && t->d[2] == dz) {
            assert_int_equal(expr_get(m->pool, t->weight)->op, EXPR_CONSTANT);
            return expr_get(m->pool, t->weight)->value;
        }
    }
    return 0;
}

static void expect_shape(const model *m, int dims, int points, const int low[AXES],
                         const int high[AXES], const char *description) {
    assert_int_equal(m->dims, dims);
    assert_int_equal(m->shape, SHAPE_CONVOLUTION);
    assert_int_equal(m->points, points);
    assert_memory_equal(m->low, low, sizeof m->low);
    assert_memory_equal(m->high, high, sizeof m->high);
    text t = text_new(m->pool->job);
    model_describe(m, &t);
    assert_string_equal(t.data, description);
}

/* Row 0 is at -1 and column 0 at -1, the middle of 2 and of 3; nothing is flipped. */
static void test_rows(void **state) {
    (void)state;
    loaded l;
    const model *m = load_model(&l, WEIGHTS("{ { 1, 2, 3 }, { 4, 0, 6 } }"));
    expect_shape(m, 2, 6, (int[]){1, 1, 0}, (int[]){1, 0, 0}, "2D convolution, 2x3 weights");
    assert_true(weight_at(m, -1, -1, 0) == 1);
    assert_true(weight_at(m, 1, -1, 0) == 3);
    assert_true(weight_at(m, -1, 0, 0) == 4);
    assert_true(weight_at(m, 0, 0, 0) == 0);
    assert_true(weight_at(m, 1, 0, 0) == 6);
    assert_int_equal(m->textbook_multiplications, 6);
    assert_int_equal(m->textbook_additions, 5);
    assert_string_equal(m->fields[0].name, "image");
    assert_int_equal(m->fields[0].use, USE_IN);
    assert_string_equal(m->fields[1].name, "result");
    assert_int_equal(m->fields[1].use, USE_OUT);
    for (int axis = 0; axis < AXES; axis++)
        assert_int_equal(m->sides[axis][1].kind, axis < 2 ? BOUNDARY_ZERO : BOUNDARY_FIXED);
    job_end(l.job);
}

static void test_dimensions(void **state) {
    (void)state;
    loaded l;
    const model *m = load_model(&l, WEIGHTS("{ 1, 2, 3, 4 }"));
    expect_shape(m, 1, 4, (int[]){2, 0, 0}, (int[]){1, 0, 0}, "1D convolution, 4 weights");
    assert_true(weight_at(m, -2, 0, 0) == 1);
    assert_true(weight_at(m, 1, 0, 0) == 4);
    job_end(l.job);
    m = load_model(&l, WEIGHTS("{ { { 1 }, { 2 } }, { { 3 }, { 4 } }, { { 5 }, { 6 } } }"));
    expect_shape(m, 3, 6, (int[]){0, 1, 1}, (int[]){0, 0, 1}, "3D convolution, 3x2x1 weights");
    assert_true(weight_at(m, 0, -1, -1) == 1);
    assert_true(weight_at(m, 0, 0, -1) == 2);
    assert_true(weight_at(m, 0, -1, 1) == 5);
    job_end(l.job);
    m = load_model(&l, WEIGHTS("{ { 2 } }"));
    expect_shape(m, 2, 1, (int[]){0, 0, 0}, (int[]){0, 0, 0}, "2D convolution, 1x1 weight");
    job_end(l.job);
    m = load_model(&l, "local w = {}\nfor i = 1, 17 do w[i] = i end\n"
                       "return convolution { name = 'a', weights = w, boundary = 'periodic' }");
    expect_shape(m, 1, 17, (int[]){8, 0, 0}, (int[]){8, 0, 0}, "1D convolution, 17 weights");
    job_end(l.job);
}

static void test_parameters(void **state) {
    (void)state;
    loaded l;
    const model *m = load_model(&l, "return convolution { name = 'a', parameters = { k = 0.5 },\n"
                                    "weights = { param 'k', 1 - 2 * param 'k', param 'k' } }");
    assert_int_equal(m->parameter_count, 1);
    assert_true(m->declared);
    assert_true(m->parameters[0].value == 0.5);
    job_end(l.job);
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *message;
    } cases[] = {
        {"return convolution { name = 'a', weigths = {} }", 1,
         "unknown key 'weigths' in convolution; did you mean 'weights'?"},
        {"return convolutoin { name = 'a' }", 1,
         "unknown name 'convolutoin'; did you mean 'convolution'?"},
        {"return convolution { name = 'a' }", 1,
         "weights: expected a list, or a list of rows, got nothing"},
        {WEIGHTS("{}"), 1, "weights: the list is empty"},
        {WEIGHTS("{ {} }"), 1, "weights[1]: the list is empty"},
        {WEIGHTS("{ { 1, 2 }, { 3 } }"), 1,
         "weights[2]: 1 entry, where the lists before it have 2"},
        {WEIGHTS("{ { { 1 }, { 2 } }, { { 3 } } }"), 1,
         "weights[2]: 1 entry, where the lists before it have 2"},
        {WEIGHTS("{ { 1, 2 }, 3 }"), 1,
         "weights[2]: expected a list, as the first is, got the number 3"},
        {WEIGHTS("{ 1, { 2 } }"), 1, "weights[2]: expected a number or a parameter, got a table"},
        {WEIGHTS("{ { 1, 'x' } }"), 1,
         "weights[1][2]: expected a number or a parameter, got the string 'x'"},
        {WEIGHTS("{ 1, lt(param 'k', 2) }"), 1,
         "weights[2]: expected a number or a parameter, got an expression"},
        {WEIGHTS("{ { { { 1 } } } }"), 1, "weights: lists are nested at most 3 deep, for 3D"},
        {WEIGHTS("{ 1, nil, 3 }"), 1, "weights: the list has holes (an entry is nil)"},
        {WEIGHTS("{ 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18 }"), 1,
         "weights: 18 weights along x; at most 17 reach 8 points to each side"},
        {WEIGHTS("{ 1e39 }"), 1, "weight 1e+39 overflows float"},
        {WEIGHTS("{ 0 / 0 }"), 1, "a number in an expression is not a number (NaN)"},
        {"return convolution { name = 'a', weights = { 1 }, boundary = 'fixed' }", 1,
         "boundary: fixed keeps a cell's value, and the result of a convolution has none before; "
         "use "
         "zero, constant(v), clamp, mirror or periodic"},
        {"return convolution { name = 'a', weights = { 1 }, boundary = { x = { 'zero', 'fixed' } } "
         "}",
         1,
         "boundary: fixed keeps a cell's value, and the result of a convolution has none before; "
         "use "
         "zero, constant(v), clamp, mirror or periodic"},
        {"return stencil { name = 'a', update = function(u)\n"
         "return convolution { name = 'b', weights = { 1 } } end }",
         2, "convolution cannot be called inside an update function"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(cases[i].text, cases[i].line, cases[i].message);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_rows),
    cmocka_unit_test(test_dimensions),
    cmocka_unit_test(test_parameters),
    cmocka_unit_test(test_errors),
};

TEST_GROUP(convolution, NULL, NULL)
