/* The reference's values: hand-computed cells, and every boundary on small grids against an
   evaluator of the test's own that works cell by cell. */
#include "gen/reference/reference.h"
#include "tests/unit/gen/model/models.h"
#include "tests/unit/group.h"

#include <math.h>
#include <stdlib.h>

/* Evaluates the cells from `at` on along an axis. */
typedef struct result {
    double *values, *bounds;
    bool *kept;
} result;

static result run(job *j, const model *m, const double *parameters, const reference_array *arrays,
                  const int64_t size[AXES], const int64_t at[AXES], int along, int count) {
    const reference *r = reference_new(j, m, parameters);
    const size_t cells = (size_t)count * (size_t)m->output_count;
    result out = {job_array(j, cells, sizeof(double)), job_array(j, cells, sizeof(double)),
                  job_array(j, (size_t)count, sizeof(bool))};
    /* Scratch is taken as large as it is asked for, so that the sanitizer sees an overrun. */
    void *scratch = calloc(1, reference_scratch(r, count));
    reference_cells(r, arrays, size, NULL, at, along, count, scratch, out.values, out.bounds,
                    out.kept);
    free(scratch);
    return out;
}

static const int64_t origin[AXES] = {0, 0, 0};

static void check_line(job *j, boundary low, boundary high, const double expected[5]) {
    static const float cells[] = {1, 2, 4, 8, 16};
    model *m = new_model(j, 1, DTYPE_FLOAT);
    set_sides(m, low, high);
    m->sides[0][0].value = 3;
    m->sides[0][1].value = 5;
    m->outputs[0].value = add(m, times(m, u(m, -2, 0, 0), constant(m, 100)), u(m, 1, 0, 0));
    finish_model(j, m);
    const reference_array array = {cells, {1, 5, 5}, NULL};
    const int64_t size[AXES] = {5, 1, 1};
    const result r = run(j, m, NULL, &array, size, origin, 0, 5);
    for (int i = 0; i < 5; i++) {
        assert_true(r.values[i] == expected[i]);
        assert_true(r.bounds[i] >= 0 && r.bounds[i] < 1e-3);
        if (r.kept[i])
            assert_true(r.bounds[i] == 0 && r.values[i] == (double)cells[i]);
    }
}

static void hand_body(job *j) {
    check_line(j, BOUNDARY_FIXED, BOUNDARY_FIXED, (const double[]){1, 2, 108, 216, 16});
    check_line(j, BOUNDARY_ZERO, BOUNDARY_ZERO, (const double[]){2, 4, 108, 216, 400});
    check_line(j, BOUNDARY_CONSTANT, BOUNDARY_CONSTANT, (const double[]){302, 304, 108, 216, 405});
    check_line(j, BOUNDARY_CLAMP, BOUNDARY_CLAMP, (const double[]){102, 104, 108, 216, 416});
    check_line(j, BOUNDARY_MIRROR, BOUNDARY_MIRROR, (const double[]){402, 204, 108, 216, 408});
    check_line(j, BOUNDARY_PERIODIC, BOUNDARY_PERIODIC, (const double[]){802, 1604, 108, 216, 401});
    check_line(j, BOUNDARY_FIXED, BOUNDARY_PERIODIC, (const double[]){1, 2, 108, 216, 401});
    check_line(j, BOUNDARY_MIRROR, BOUNDARY_FIXED, (const double[]){402, 204, 108, 216, 16});
}

static void test_by_hand(void **state) {
    (void)state;
    in_job(hand_body);
}

/* Walks from a cell outside to the cell that it reads, by the rule of the side it is beyond, one
   application at a time; false where the rule gives *value. */
static bool walk(const model_side sides[2], int64_t n, int64_t *i, double *value) {
    if (*i >= 0 && *i < n)
        return true;
    const bool low = *i < 0;
    const model_side *side = &sides[low ? 0 : 1];
    const int64_t beyond = low ? -*i : *i - (n - 1); /* steps past the edge cell */
    if (side->kind == BOUNDARY_ZERO || side->kind == BOUNDARY_CONSTANT) {
        *value = side->kind == BOUNDARY_ZERO ? 0 : (double)(float)side->value;
        return false;
    }
    if (side->kind == BOUNDARY_PERIODIC)
        *i += low ? n : -n;
    else if (side->kind == BOUNDARY_MIRROR && n > 1)
        *i = low ? beyond : n - 1 - beyond;
    else
        *i = low ? 0 : n - 1;
    return walk(sides, n, i, value);
}

static double read_tap(const model *m, const float *cells, const int64_t size[AXES],
                       const int64_t stride[AXES], const int64_t at[AXES], const int d[AXES]) {
    int64_t where[AXES];
    for (int axis = 0; axis < AXES; axis++) {
        double value;
        where[axis] = at[axis] + d[axis];
        if (!walk(m->sides[axis], size[axis], &where[axis], &value))
            return value;
    }
    return cells[where[0] * stride[0] + where[1] * stride[1] + where[2] * stride[2]];
}

/* Some cell of the box that the shape spans is outside, on a fixed side. */
static bool expect_kept(const model *m, const int64_t size[AXES], const int64_t at[AXES]) {
    for (int axis = 0; axis < m->dims; axis++)
        for (int d = -m->low[axis]; d <= m->high[axis]; d++) {
            const int64_t i = at[axis] + d;
            if (i < 0 && m->sides[axis][0].kind == BOUNDARY_FIXED)
                return true;
            if (i >= size[axis] && m->sides[axis][1].kind == BOUNDARY_FIXED)
                return true;
        }
    return false;
}

enum { TAPS = 6, CELLS = 4096 };

typedef struct grid {
    int64_t size[AXES], stride[AXES];
    float cells[CELLS];
    int d[TAPS][AXES];
} grid;

static void compare_cell(const model *m, const grid *g, const int64_t at[AXES], const result *r,
                         int64_t lane) {
    double expected = 0;
    for (int t = 0; t < TAPS; t++)
        expected += (1 << t) * read_tap(m, g->cells, g->size, g->stride, at, g->d[t]);
    const bool kept = expect_kept(m, g->size, at);
    if (kept)
        expected = read_tap(m, g->cells, g->size, g->stride, at, (const int[AXES]){0});
    assert_int_equal(r->kept[lane], kept);
    assert_true(r->values[lane] == expected); /* small whole numbers: exact */
    assert_true(kept ? r->bounds[lane] == 0 : r->bounds[lane] > 0);
}

static void compare_lines(job *j, const model *m, const grid *g, int along) {
    const reference_array array = {g->cells, {g->stride[0], g->stride[1], g->stride[2]}, NULL};
    const int a = (along + 1) % AXES, b = (along + 2) % AXES;
    for (int64_t line = 0; line < g->size[a] * g->size[b]; line++) {
        int64_t at[AXES] = {0};
        at[a] = line % g->size[a];
        at[b] = line / g->size[a];
        const result r = run(j, m, NULL, &array, g->size, at, along, (int)g->size[along]);
        for (int64_t i = 0; i < g->size[along]; i++) {
            at[along] = i;
            compare_cell(m, g, at, &r, i);
        }
    }
}

static void random_grid(job *j, boundary low, boundary high, uint64_t *state) {
    grid *g = job_alloc(j, sizeof *g);
    model *m = new_model(j, 1 + random_below(state, AXES), DTYPE_FLOAT);
    static const int sizes[] = {1, 2, 3, 5, 9};
    for (int axis = 0; axis < AXES; axis++)
        g->size[axis] = axis < m->dims ? sizes[random_below(state, 5)] : 1;
    g->stride[0] = 1 + random_below(state, 2);
    g->stride[1] = g->stride[0] * g->size[0] + random_below(state, 3);
    g->stride[2] = g->stride[1] * g->size[1] + random_below(state, 3);
    for (int i = 0; i < CELLS; i++)
        g->cells[i] = (float)(1 + random_below(state, 1000));
    set_sides(m, low, high);
    for (int axis = 1; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++)
            m->sides[axis][side].kind = (boundary)random_below(state, BOUNDARY_COUNT);
    for (int axis = 0; axis < AXES; axis++)
        for (int side = 0; side < 2; side++)
            m->sides[axis][side].value = random_below(state, 100);
    expr_id sum = constant(m, 0);
    for (int t = 0; t < TAPS; t++) {
        for (int axis = 0; axis < m->dims; axis++)
            g->d[t][axis] = random_below(state, 2 * MAX_REACH + 1) - MAX_REACH;
        sum = add(m, sum, times(m, constant(m, 1 << t), expr_tap(m->pool, 0, g->d[t])));
    }
    m->outputs[0].value = sum;
    finish_model(j, m);
    for (int along = 0; along < AXES; along++)
        compare_lines(j, m, g, along);
}

static void boundaries_body(job *j) {
    uint64_t state = 5;
    for (int low = 0; low < BOUNDARY_COUNT; low++)
        for (int high = 0; high < BOUNDARY_COUNT; high++)
            for (int round = 0; round < 12; round++)
                random_grid(j, (boundary)low, (boundary)high, &state);
}

static void test_boundaries(void **state) {
    (void)state;
    in_job(boundaries_body);
}

/* A value rounded to the dtype: the kernel cannot hold 0.1. */
static void constant_body(job *j) {
    model *m = new_model(j, 1, DTYPE_FLOAT);
    set_sides(m, BOUNDARY_CONSTANT, BOUNDARY_CONSTANT);
    m->sides[0][0].value = m->sides[0][1].value = 0.1;
    m->outputs[0].value = u(m, 1, 0, 0);
    finish_model(j, m);
    const float cell = 7;
    const reference_array array = {&cell, {1, 1, 1}, NULL};
    const result r = run(j, m, NULL, &array, (const int64_t[]){1, 1, 1}, origin, 0, 1);
    assert_true(r.values[0] == (double)0.1F && r.bounds[0] == 0);
}

/* Rows longer than the reference works at a time, from any start, are those of the whole. */
static void pieces_body(job *j) {
    enum { LONG = 1000 };
    double *cells = job_array(j, LONG, sizeof *cells);
    uint64_t state = 3;
    for (int i = 0; i < LONG; i++)
        cells[i] = random_unit(&state);
    model *m = new_model(j, 1, DTYPE_DOUBLE);
    set_sides(m, BOUNDARY_PERIODIC, BOUNDARY_FIXED);
    m->outputs[0].value = add(m, op1(m, EXPR_EXP, u(m, -3, 0, 0)), u(m, 8, 0, 0));
    finish_model(j, m);
    const reference_array array = {cells, {1, LONG, LONG}, NULL};
    const int64_t size[AXES] = {LONG, 1, 1};
    const result whole = run(j, m, NULL, &array, size, origin, 0, LONG);
    for (int i = 0; i < LONG; i++) {
        const double expected = exp(cells[(i + LONG - 3) % LONG]) + cells[i + 8 < LONG ? i + 8 : 0];
        assert_true(whole.kept[i] == (i + 8 >= LONG));
        assert_true(fabs(whole.values[i] - (whole.kept[i] ? cells[i] : expected)) < 1e-15 * 4);
    }
    for (int start = 0; start < LONG; start += 37)
        for (int count = 1; start + count <= LONG; count += 83) {
            const result part =
                run(j, m, NULL, &array, size, (const int64_t[]){start, 0, 0}, 0, count);
            assert_memory_equal(part.values, whole.values + start, (size_t)count * sizeof(double));
            assert_memory_equal(part.bounds, whole.bounds + start, (size_t)count * sizeof(double));
            assert_memory_equal(part.kept, whole.kept + start, (size_t)count * sizeof(bool));
        }
}

static void test_rows(void **state) {
    (void)state;
    in_job(constant_body);
    in_job(pieces_body);
}

/* u inout with two levels, c in, o out: outputs, arrays and parameters find each other. */
static void fields_body(job *j) {
    model *m = new_model(j, 1, DTYPE_FLOAT);
    set_sides(m, BOUNDARY_FIXED, BOUNDARY_CLAMP);
    m->fields[0].levels = 2;
    m->fields[1] = (model_field){.name = "c", .use = USE_IN, .levels = 1};
    m->fields[2] = (model_field){.name = "o", .use = USE_OUT, .levels = 1};
    m->field_count = 3;
    m->arrays[1] = (model_array){.field = 0, .previous = true};
    m->arrays[2] = (model_array){.field = 1};
    m->array_count = 3;
    m->parameters[0].name = "k";
    m->parameter_count = 1;
    const expr_id k = expr_parameter(m->pool, 0);
    const expr_id wave = op2(m, EXPR_SUBTRACT, times(m, k, u(m, -1, 0, 0)), tap_of(m, 1, 0, 0, 0));
    m->outputs[0] = (model_output){0, wave};
    m->outputs[1] = (model_output){2, add(m, wave, tap_of(m, 2, 1, 0, 0))};
    m->output_count = 2;
    finish_model(j, m);
    const float now[] = {1, 2, 3}, before[] = {10, 20, 30}, c[] = {100, 200, 300};
    const reference_array arrays[] = {
        {now, {1, 3, 3}, NULL}, {before, {1, 3, 3}, NULL}, {c, {1, 3, 3}, NULL}};
    const result r =
        run(j, m, (const double[]){0.5}, arrays, (const int64_t[]){3, 1, 1}, origin, 0, 3);
    assert_true(r.kept[0] && !r.kept[1] && !r.kept[2]);
    assert_true(r.values[0] == 1 && r.values[1] == -19.5 && r.values[2] == -29);
    assert_true(r.values[4] == 280.5 && r.values[5] == 271);
    assert_true(r.bounds[0] == 0 && r.bounds[3] == 0);
}

/* Outputs that hold no tap, or are a tap, or the same expression twice. */
static void plain_outputs_body(job *j) {
    model *m = new_model(j, 1, DTYPE_FLOAT);
    for (int i = 1; i < 4; i++)
        m->fields[i] = (model_field){.name = "o", .use = USE_OUT, .levels = 1};
    m->field_count = m->output_count = 4;
    const expr_id tap = u(m, 0, 0, 0), square = times(m, tap, tap);
    m->outputs[0] = (model_output){0, tap};
    m->outputs[1] = (model_output){1, constant(m, 2.5)};
    m->outputs[2] = (model_output){2, square};
    m->outputs[3] = (model_output){3, square};
    finish_model(j, m);
    const float cells[] = {3, NAN};
    const reference_array array = {cells, {1, 2, 2}, NULL};
    const result r = run(j, m, NULL, &array, (const int64_t[]){2, 1, 1}, origin, 0, 2);
    const double expected[] = {3, NAN, 2.5, 2.5, 9, NAN, 9, NAN};
    for (int i = 0; i < 8; i++) {
        assert_true(r.values[i] == expected[i] || (isnan(r.values[i]) && isnan(expected[i])));
        assert_true(r.bounds[i] >= 0 && r.bounds[i] < 1e-5);
    }
}

static void test_fields(void **state) {
    (void)state;
    in_job(fields_body);
    in_job(plain_outputs_body);
}

/* Deep chains, to the left and to the right, need few rows at a time. */
static void deep_body(job *j) {
    for (int right = 0; right < 2; right++) {
        model *m = new_model(j, 1, DTYPE_DOUBLE);
        expr_id x = u(m, 0, 0, 0);
        double expected = 1;
        for (int i = 0; i < 19000; i++) {
            const expr_id term = op1(m, EXPR_ABS, add(m, u(m, 0, 0, 0), constant(m, i)));
            x = right ? add(m, term, x) : add(m, x, term);
            expected += 1 + i;
        }
        m->outputs[0].value = x;
        finish_model(j, m);
        assert_true(reference_scratch(reference_new(j, m, NULL), 1) < 64 * 1024);
        const double cell = 1;
        const reference_array array = {&cell, {1, 1, 1}, NULL};
        const result r = run(j, m, NULL, &array, (const int64_t[]){1, 1, 1}, origin, 0, 1);
        assert_true(r.values[0] == expected && r.bounds[0] < 1e-3);
    }
}

static void test_deep(void **state) {
    (void)state;
    in_job(deep_body);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_by_hand), cmocka_unit_test(test_boundaries), cmocka_unit_test(test_rows),
    cmocka_unit_test(test_fields),  cmocka_unit_test(test_deep),
};

TEST_GROUP(reference, NULL, NULL)
