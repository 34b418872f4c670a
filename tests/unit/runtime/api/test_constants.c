/* Parameters that are compiled in: the kernel is the one of a spec with the numbers in place of
   the parameters. And how far the taps of each array reach. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

#include <math.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static sg_build_options with(const char *text, const sg_constant *constants, int count) {
    return (sg_build_options){.struct_size = sizeof(sg_build_options),
                              .text = text,
                              .source_only = 1,
                              .constants = constants,
                              .constant_count = count};
}

static sg_kernel *build_with(const char *text, const sg_constant *constants, int count) {
    const sg_build_options options = with(text, constants, count);
    sg_kernel *k = NULL;
    expect_ok(sg_build(context, "test.lua", &options, &k));
    return k;
}

static sg_kernel_info facts_of(const sg_kernel *k) {
    sg_kernel_info info = {.struct_size = sizeof info};
    expect_ok(sg_kernel_facts(k, &info));
    return info;
}

/* Two texts whose kernels are the same once the constants of the first are put in. */
static void expect_same(const char *text, const sg_constant *constants, int count,
                        const char *written) {
    sg_kernel *k = build_with(text, constants, count), *expected = build_with(written, NULL, 0);
    assert_string_equal(sg_kernel_text(k, SG_TEXT_MODEL), sg_kernel_text(expected, SG_TEXT_MODEL));
    assert_string_equal(sg_kernel_text(k, SG_TEXT_SOURCE),
                        sg_kernel_text(expected, SG_TEXT_SOURCE));
    sg_kernel_info a = facts_of(k), b = facts_of(expected);
    assert_string_equal(a.found, b.found); /* each is the kernel's own */
    a.found = b.found = NULL;
    assert_memory_equal(&a, &b, sizeof a);
    sg_release(k);
    sg_release(expected);
}

#define UPDATE(expression)                                                                         \
    "return stencil { name = 'a', dtype = 'double', dims = 1, update = function(u, p)\n"           \
    "  return " expression " end }\n"

static void a_constant_is_a_number_of_the_spec(void **state) {
    (void)state;
    static const sg_constant k[] = {{"k", 0.125}}, zero[] = {{"k", 0}}, two[] = {{"k", 2}},
                             both[] = {{"k", 0.5}, {"h", -4}};
    expect_same(UPDATE("u(0) + p.k * (u(1) - 2*u(0) + u(-1))"), k, 1,
                UPDATE("u(0) + 0.125 * (u(1) - 2*u(0) + u(-1))"));
    expect_same(UPDATE("u(0) + p.k * u(1)"), zero, 1, UPDATE("u(0) + 0 * u(1)"));
    expect_same(UPDATE("u(0) ^ p.k - param 'k'"), two, 1, UPDATE("u(0) ^ 2 - 2"));
    expect_same(UPDATE("where(lt(p.k, 1), u(1), sqrt(u(-1)))"), two, 1,
                UPDATE("where(lt(2, 1), u(1), sqrt(u(-1)))"));
    expect_same(UPDATE("u(0) * p.k / p.h + exp(p.k * p.h)"), both, 2,
                UPDATE("u(0) * 0.5 / -4 + exp(0.5 * -4)"));
    expect_same(UPDATE("u(0) * p.k + p.free * u(1)"), k, 1, UPDATE("u(0) * 0.125 + p.free * u(1)"));
    expect_same(UPDATE("u(0) + p.k * p.free"), zero, 1, UPDATE("u(0)"));
#define MASKED(k)                                                                                  \
    "return stencil { name = 'a', dims = 1, fields = { u = 'inout', c = 'in' },\n"                 \
    "  update = function(f, p) return f.u(1) + " k " * f.c(0) end }\n"
    expect_same(MASKED("p.k"), zero, 1, MASKED("0"));
    expect_same("return stencil { name = 'a', shape = star(2, 1),\n"
                "  coefficients = { 1 - 4 * param 'k', param 'k', param 'k', param 'k', 0.1 } }\n",
                k, 1,
                "return stencil { name = 'a', shape = star(2, 1),\n"
                "  coefficients = { 1 - 4 * 0.125, 0.125, 0.125, 0.125, 0.1 } }\n");
#define LID(k)                                                                                     \
    "return stencil { name = 'a', dims = 1, boundary = constant(" k "),\n"                         \
    "  fields = { u = 'inout', c = { use = 'in', boundary = { x = { 'zero', constant(" k           \
    ") } } } },\n"                                                                                 \
    "  update = function(f, p) return f.u(1) + f.c(-1) + f.c(1) end }\n"
    expect_same(LID("param 'k'"), k, 1, LID("0.125"));
    expect_same("return stencil { name = 'a',\n"
                "  coefficients = identity() + param 'k' * laplacian { dims = 3 } }\n",
                k, 1,
                "return stencil { name = 'a',\n"
                "  coefficients = identity() + 0.125 * laplacian { dims = 3 } }\n");
}

/* A linear form whose coefficients are numbers is factored; with a parameter there is less to do.
 */
static void constants_take_part_in_simplifications(void **state) {
    (void)state;
    static const sg_constant k[] = {{"k", 0.1}};
    const char *text = UPDATE("p.k * u(1) + 0.1 * u(-1) + 0.1 * u(0)");
    sg_kernel *loose = build_with(text, NULL, 0), *compiled = build_with(text, k, 1);
    assert_true(facts_of(compiled).emitted_operations < facts_of(loose).emitted_operations);
    assert_int_equal(facts_of(loose).parameters, 1);
    assert_int_equal(facts_of(compiled).parameters, 0);
    sg_release(loose);
    sg_release(compiled);
}

#define DECLARED                                                                                   \
    "return stencil { name = 'a', dtype = 'double', dims = 1, boundary = 'zero',\n"                \
    "  parameters = { k = 0.25, h = true, spare = 7 },\n"                                          \
    "  update = function(u, p) return u(0) * p.k + p.h end }\n"

static void other_parameters_stay(void **state) {
    (void)state;
    static const sg_constant k[] = {{"k", 3}}, spare[] = {{"spare", 1}};
    sg_kernel *a = build_with(DECLARED, k, 1);
    assert_int_equal(facts_of(a).parameters, 2);
    sg_parameter_info p = {.struct_size = sizeof p};
    expect_ok(sg_kernel_parameter(a, 0, &p));
    assert_string_equal(p.name, "h");
    assert_int_equal(p.has_default, 0);
    expect_ok(sg_kernel_parameter(a, 1, &p));
    assert_string_equal(p.name, "spare");
    assert_true(p.has_default && p.value == 7);
    sg_release(a);
    a = build_with(DECLARED, spare, 1);
    assert_int_equal(facts_of(a).parameters, 2);
    expect_ok(sg_kernel_parameter(a, 1, &p));
    assert_string_equal(p.name, "k");
    sg_release(a);
}

static double update_one(const sg_kernel *k, const double *parameters, int count) {
    double u[3] = {1, 2, 4}, next[3] = {0, 0, 0};
    const sg_grid grids[] = {{.data = u, .size = {3}}, {.data = next, .size = {3}}};
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .grids = grids,
                                    .grid_count = 2,
                                    .parameters = parameters,
                                    .parameter_count = count};
    expect_ok(sg_launch(k, &arguments, NULL));
    return next[2];
}

static void kernels_with_constants_run(void **state) {
    (void)state;
    static const sg_constant all[] = {{"spare", 1}, {"h", 0.5}, {"k", 3}};
    const double given[] = {0.5, 0};
    for (int count = 1; count <= 3; count += 2) {
        sg_build_options options = with(DECLARED, all + 3 - count, count);
        options.source_only = 0;
        sg_kernel *k;
        expect_ok(sg_build(context, NULL, &options, &k));
        if (count == 3)
            assert_int_equal(sg_kernel_parameter(k, 0,
                                                 &(sg_parameter_info){
                                                     .struct_size = sizeof(sg_parameter_info),
                                                 }),
                             SG_ERROR_USAGE);
        assert_true(update_one(k, count == 3 ? NULL : given, 3 - count) == 4 * 3 + 0.5);
        const sg_check_options check = {.struct_size = sizeof check, .size = {1000}};
        sg_check_result result = {.struct_size = sizeof result};
        expect_ok(sg_check(k, &check, &result));
        sg_release(k);
    }
}

/* ---- errors -------------------------------------------------------------------------------- */

static void expect_refusal(const char *text, const sg_constant *constants, int count,
                           sg_status status, const char *says) {
    const sg_build_options options = with(text, constants, count);
    sg_kernel *k = (sg_kernel *)&options;
    sg_explanation *e = (sg_explanation *)&options;
    assert_int_equal(sg_build(context, "test.lua", &options, &k), status);
    assert_string_equal(sg_error(context), says);
    assert_ptr_equal(k, &options);
    assert_int_equal(sg_explain(context, "test.lua", &options, &e), status);
    assert_string_equal(sg_error(context), says);
    assert_ptr_equal(e, &options);
}

static void wrong_constants_are_refused(void **state) {
    (void)state;
    static const sg_constant near_miss[] = {{"h", 1}, {"spara", 1}}, far[] = {{"velocity", 1}},
                             twice[] = {{"k", 1}, {"h", 1}, {"k", 1}}, nan[] = {{"k", NAN}},
                             infinite[] = {{"k", -INFINITY}}, nameless[] = {{"k", 1}, {NULL, 1}},
                             large[] = {{"k", 1e39}}, odd[] = {{"k\n", 1}};
    expect_refusal(DECLARED, near_miss, 2, SG_ERROR_USAGE,
                   "error: constant 'spara' is no parameter of 'a'; did you mean 'spare'?");
    expect_refusal(DECLARED, far, 1, SG_ERROR_USAGE,
                   "error: constant 'velocity' is no parameter of 'a'; known: h, k, spare");
    expect_refusal(HEAT7, far, 1, SG_ERROR_USAGE,
                   "error: constant 'velocity': 'heat7' has no parameters");
    expect_refusal(DECLARED, odd, 1, SG_ERROR_USAGE,
                   "error: constant 'k?' is no parameter of 'a'; did you mean 'k'?");
    expect_refusal(DECLARED, twice, 3, SG_ERROR_USAGE, "error: constant 'k' is given twice");
    expect_refusal(DECLARED, nan, 1, SG_ERROR_USAGE, "error: constant 'k' is not a number (NaN)");
    expect_refusal(DECLARED, infinite, 1, SG_ERROR_USAGE, "error: constant 'k' is infinite");
    expect_refusal(DECLARED, nameless, 2, SG_ERROR_USAGE, "error: constant 2 of 2 has no name");
    expect_refusal(DECLARED, NULL, 1, SG_ERROR_USAGE, "error: there are 1 constants at NULL");
    expect_refusal(DECLARED, large, -1, SG_ERROR_USAGE,
                   "error: there are -1 constants at their address");
    expect_refusal("return stencil { name = 'a', shape = star(1, 1),\n"
                   "  coefficients = { 0, param 'k', 0 } }\n",
                   large, 1, SG_ERROR_USAGE, "error: constant 'k': 1e+39 overflows float");
}

static void numbers_that_come_of_constants_are_checked(void **state) {
    (void)state;
    static const sg_constant zero[] = {{"k", 0}}, minus[] = {{"k", -1}, {"h", 2}},
                             large[] = {{"k", 1e30}};
    expect_refusal("\n" UPDATE("u(0) / p.k"), zero, 1, SG_ERROR_SPEC,
                   "test.lua:2: error: with k = 0: division by zero");
    expect_refusal(UPDATE("u(0) + sqrt(p.k) * p.h"), minus, 2, SG_ERROR_SPEC,
                   "test.lua:1: error: with k = -1, h = 2: the result of 'sqrt' on these numbers "
                   "is not finite");
    expect_refusal("return stencil { name = 'a', shape = star(1, 1),\n"
                   "  coefficients = { 0, 1e20 * param 'k', 0 } }\n",
                   large, 1, SG_ERROR_SPEC,
                   "test.lua:1: error: with k = 1e+30: coefficient 1e+50 overflows float");
}

#define TWO                                                                                        \
    "local k = param 'k'\n"                                                                        \
    "return { stencil { name = 'a', shape = star(1, 1), coefficients = { 0, 1 / k, k } },\n"       \
    "         stencil { name = 'b', shape = star(1, 1), coefficients = { 0, param 'q', k } } }\n"

static void constants_are_of_the_chosen_spec(void **state) {
    (void)state;
    static const sg_constant zero[] = {{"q", 1}, {"k", 0}};
    sg_build_options options = with(TWO, zero, 2);
    sg_kernel *k;
    options.index = 1;
    expect_ok(sg_build(context, "test.lua", &options, &k));
    assert_int_equal(facts_of(k).parameters, 0);
    sg_release(k);
    expect_refusal(TWO, zero + 1, 1, SG_ERROR_SPEC,
                   "test.lua:2: error: with k = 0: division by zero");
    expect_refusal(TWO, zero, 1, SG_ERROR_USAGE,
                   "error: constant 'q' is no parameter of 'a'; known: k");
    options.index = 2;
    assert_int_equal(sg_build(context, "test.lua", &options, &k), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context),
                        "error: test.lua returns 2 specs; there is none of index 2");
}

static void explaining_takes_constants(void **state) {
    (void)state;
    static const sg_constant k[] = {{"k", 0.1}};
    sg_build_options options = with(UPDATE("p.k * u(1) + 0.1 * u(-1) + 0.1 * u(0)"), k, 1);
    sg_explanation *e;
    expect_ok(sg_explain(context, NULL, &options, &e));
    assert_true(e->emitted_multiplications == 1);
    sg_explanation_free(e);
}

/* ---- reach --------------------------------------------------------------------------------- */

static void expect_reach(const sg_kernel *k, int index, const char *name, const int low[3],
                         const int high[3]) {
    sg_array_info a = {.struct_size = sizeof a};
    expect_ok(sg_kernel_array(k, index, &a));
    assert_string_equal(a.name, name);
    assert_memory_equal(a.low, low, sizeof a.low);
    assert_memory_equal(a.high, high, sizeof a.high);
}

static void arrays_tell_how_far_they_are_read(void **state) {
    (void)state;
    static const int none[3] = {0, 0, 0};
    sg_kernel *k = build_with(
        "return stencil { name = 'a', dims = 3, fields = { w = 'out', c = 'in',\n"
        "  u = { use = 'inout', levels = 2 } }, update = function(f)\n"
        "  return { u = f.u(0,-2,0) + f.u(0,1,0) + f.u.prev(0,0,3), w = f.c(4,0,0) } end }\n",
        NULL, 0);
    expect_reach(k, 0, "c", none, (const int[]){4, 0, 0});
    expect_reach(k, 1, "u", (const int[]){0, 2, 0}, (const int[]){0, 1, 0});
    expect_reach(k, 2, "u.prev", none, (const int[]){0, 0, 3});
    expect_reach(k, 3, "u.next", none, none);
    expect_reach(k, 4, "w", none, none);
    sg_release(k);
    k = build_with("return stencil { name = 'a', coefficients = identity() +\n"
                   "  derivative { axis = 'x', accuracy = 4 } }\n",
                   NULL, 0);
    expect_reach(k, 0, "u", (const int[]){2, 0, 0}, (const int[]){2, 0, 0});
    expect_reach(k, 1, "u.next", none, none);
    sg_release(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_constant_is_a_number_of_the_spec),
    cmocka_unit_test(constants_take_part_in_simplifications),
    cmocka_unit_test(other_parameters_stay),
    cmocka_unit_test(kernels_with_constants_run),
    cmocka_unit_test(wrong_constants_are_refused),
    cmocka_unit_test(numbers_that_come_of_constants_are_checked),
    cmocka_unit_test(constants_are_of_the_chosen_spec),
    cmocka_unit_test(explaining_takes_constants),
    cmocka_unit_test(arrays_tell_how_far_they_are_read),
};

TEST_GROUP(constants, open_cpu, close_context)
