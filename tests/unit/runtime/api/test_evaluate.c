/* Fields from expressions, compared with C's own arithmetic. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

#include <math.h>

/* More than the cells that are evaluated at a time. */
enum { NX = 2053, NY = 3, NZ = 5, CELLS = NX * NY * NZ };
static const int64_t size[3] = {NX, NY, NZ};
static double out[CELLS + 2];

static void poison(void) {
    for (int i = 0; i < CELLS + 2; i++)
        out[i] = -777;
}

static double drop(double x, double y, double z) {
    return sqrt((x - 1000) * (x - 1000) + (y - 1) * (y - 1)) < 30.5 ? 0.25 + z / NZ : -x * y;
}

static void expect_near(double got, double wanted) {
    if (!(fabs(got - wanted) <= 1e-14))
        fail_msg("%.17g instead of %.17g", got, wanted);
}

static void every_cell_has_its_value(void **state) {
    (void)state;
    static const int64_t boxes[][2][3] = {
        {{0, 0, 0}, {NX, NY, NZ}}, {{1, 0, 0}, {1026, 3, 4}}, {{5, 1, 2}, {6, 2, 3}}};
    for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
        const int64_t *low = boxes[b][0], *end = boxes[b][1];
        poison();
        expect_ok(sg_evaluate_field(
            context, "u", "where(lt(hypot(x - 1000, y - 1), 30.5), 0.25 + z / nz, -x * y)", size,
            b == 0 ? NULL : low, b == 0 ? NULL : end, out + 1));
        const double *at = out + 1;
        for (int64_t z = low[2]; z < end[2]; z++)
            for (int64_t y = low[1]; y < end[1]; y++)
                for (int64_t x = low[0]; x < end[0]; x++, at++)
                    expect_near(*at, drop((double)x, (double)y, (double)z));
        assert_true(out[0] == -777 && *at == -777);
    }
}

static void constants_extents_and_functions(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        double first, last; /* of the cells 0 and 3 of a grid of 4 */
    } cases[] = {{"0.5", 0.5, 0.5},         {"nx + 10 * ny + 100 * nz", 114, 114},
                 {"x + y + z", 0, 3},       {"y", 0, 0},
                 {"sin(pi * x / 6)", 0, 1}, {"x^2 - 1 -- a comment", -1, 8},
                 {"x\n+\n1", 1, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double four[4];
        expect_ok(sg_evaluate_field(context, NULL, cases[i].expression, (int64_t[]){4, 1, 1}, NULL,
                                    NULL, four));
        expect_near(four[0], cases[i].first);
        expect_near(four[3], cases[i].last);
    }
}

static void errors_name_the_expression(void **state) {
    (void)state;
    static const struct {
        const char *expression, *says;
    } cases[] = {
        {"w + 1", "u:1: error: unknown name 'w'"},
        {"x +", "u:1: error: unexpected symbol near the end"},
        {"x +\nhypo(x, y)", "u:2: error: unknown name 'hypo'"},
        {"lt(x, 3)", "u:1: error: "},
        {"", "u:"},
        {"io.open('x')", "u:1: error: 'io' is not available"},
        {"f.x(1)", "u:1: error: "},
        /* What would make another spec of the one that the library writes. */
        {"0 end, fields = { value = 'out', q = 'in' }, update = function(f) return f.q(0)",
         "u:1: error: "},
        {"0 end, parameters = { a = 1 }, update = function(f, p) return p.a", "u:1: error: "},
        {"0 end } end do return stencil { update = function(u) return u(0)", "u:1: error: "}};
    poison();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sg_status status =
            sg_evaluate_field(context, "u", cases[i].expression, size, NULL, NULL, out);
        if (strncmp(sg_error(context), cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("%s: %s", cases[i].expression, sg_error(context));
        assert_int_equal(status, SG_ERROR_SPEC);
    }
    assert_true(out[0] == -777);
}

static void refuses_boxes_outside(void **state) {
    (void)state;
    const int64_t begin[3] = {0, 0, 0}, end[3] = {NX, NY + 1, NZ};
    assert_int_equal(sg_evaluate_field(context, "u", "x", size, begin, end, out), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context), "error: the box from 0 to 4 along y is not inside the "
                                           "grid, which has 3 cells there");
    assert_int_equal(sg_evaluate_field(context, "u", NULL, size, NULL, NULL, out), SG_ERROR_USAGE);
    assert_int_equal(sg_evaluate_field(context, "u", "x", size, NULL, NULL, NULL), SG_ERROR_USAGE);
    const int64_t none[3] = {NX, 0, NZ};
    expect_ok(sg_evaluate_field(context, "u", "x", none, NULL, NULL, NULL));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_cell_has_its_value),
    cmocka_unit_test(constants_extents_and_functions),
    cmocka_unit_test(errors_name_the_expression),
    cmocka_unit_test(refuses_boxes_outside),
};

TEST_GROUP(evaluate, open_cpu, close_context)
