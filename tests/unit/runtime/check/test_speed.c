/* Measurements and explanations of kernels on the cpu device. */
#include <math.h>

#include "gen/model/model.h"
#include "runtime/check/check.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

static void speed_is_measured(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, NULL);
    const sg_speed_options options = {
        .struct_size = sizeof options, .size = {32, 32, 32}, .repeats = 4};
    sg_speed s = {.struct_size = sizeof s};
    expect_ok(sg_measure(k, &options, &s));
    assert_int_equal(s.repeats, 4);
    assert_int_equal(s.size[1], 32);
    assert_true(s.fastest > 0 && s.fastest <= s.seconds && s.seconds <= s.slowest);
    assert_true(fabs(s.points * s.seconds - 32768) < 1e-6 * 32768);
    assert_true(fabs(s.bytes - 8 * s.points) < 1e-6 * s.bytes);
    assert_true(s.copy_bytes > 0);
    assert_true(fabs(s.of_copy - s.bytes / s.copy_bytes) < 1e-9);
    assert_int_equal(s.steps, 1);
    sg_release(k);
}

static void runs_are_measured(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, NULL);
    sg_speed_options options = {
        .struct_size = sizeof options, .size = {32, 32, 32}, .repeats = 4, .steps = 7};
    sg_speed s = {.struct_size = sizeof s};
    expect_ok(sg_measure(k, &options, &s));
    assert_int_equal(s.steps, 7);
    assert_true(fabs(s.points * s.seconds - 7 * 32768) < 1e-6 * 7 * 32768);
    assert_true(fabs(s.bytes - 8 * s.points) < 1e-6 * s.bytes);
    options.steps = -1;
    assert_int_equal(sg_measure(k, &options, &s), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context), "error: -1 steps cannot be run");
    sg_release(k);
}

/* Arrays that are timed hold what the spec says of their fields: of a stencil and of a system. */
static void what_is_timed_is_what_fields_hold(void **state) {
    (void)state;
    static const char *const specs[] = {
        "return stencil { name = 'held', shape = star(2, 1), fields = { u = { use = 'inout', range "
        "= "
        "{ 2, 3 } }, s = { use = 'in', values = { 0, 1 } }, v = 'in' }, update = function(f) "
        "return "
        "{ u = f.u(1, 0) * f.s(0, 0) + f.v(0, 0) } end }",
        "return system { name = 'held', fields = { u = { use = 'inout', range = { 2, 3 } }, s = { "
        "use "
        "= 'in', values = { 0, 1 } }, v = 'in', t = 'scratch' }, stages = { { update = function(f) "
        "return { t = f.u(1, 0) * f.s(0, 0) } end }, { update = function(f) return { u = f.t(0, 0) "
        "+ "
        "f.v(0, 0) } end } } }"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        sg_kernel *k = build(specs[i], NULL);
        const sample u = measure_sample(k, sg_kernel_find_array(k, "u"));
        const sample s = measure_sample(k, sg_kernel_find_array(k, "s"));
        const sample v = measure_sample(k, sg_kernel_find_array(k, "v"));
        assert_true(u.low == 2 && u.high == 3 && u.of_values == 0);
        assert_int_equal(s.count, 2);
        assert_int_equal(s.of_values, SAMPLE_PARTS);
        assert_true(sample_is_plain(&v));
        sg_release(k);
    }
}

static bool is_about(double value, double expected) {
    return fabs(value - expected) < 0.005;
}

static void explanations_agree_with_the_textbook(void **state) {
    (void)state;
    sg_explanation *e;
    const sg_build_options options = {.struct_size = sizeof options, .text = HEAT7};
    expect_ok(sg_explain(context, "heat7.lua", &options, &e));
    assert_string_equal(e->name, "heat7");
    assert_string_equal(e->arch, "sm_90");
    assert_int_equal(e->row_count, 13);
    assert_true(e->textbook_operations == 13);
    assert_true(e->emitted_multiplications + e->emitted_additions + e->emitted_others ==
                e->emitted_operations);
    static const struct {
        const char *method;
        double tile, intensity, limit;
    } expected[] = {{"naive", 0, 0.46, 0.46},      {"tiled", 8, 1.37, 3.25},
                    {"coarsened", 32, 2.68, 3.25}, {"register", 32, 2.68, 3.25},
                    {"constant", 0, 0.46, 0.46},   {"cached-halo", 8, 1.37, 3.25}};
    int chosen = 0;
    for (int i = 0; i < (int)(sizeof expected / sizeof expected[0]); i++) {
        const sg_method_row *row = &e->rows[i];
        assert_string_equal(row->method, expected[i].method);
        assert_true(row->textbook_tile == expected[i].tile);
        assert_true(is_about(row->textbook_operations_per_byte, expected[i].intensity));
        assert_true(is_about(row->textbook_limit, expected[i].limit));
        assert_non_null(row->plan);
        assert_null(row->refusal);
        assert_true(row->threads > 0 && row->registers > 0 && row->estimated_seconds > 0);
        assert_true(row->loads_bytes_per_point > 0);
        assert_true((row->shared_bytes > 0) == (expected[i].tile > 0));
    }
    for (int i = 0; i < e->row_count; i++) {
        chosen += e->rows[i].chosen;
        assert_true((e->rows[i].plan == NULL) != (e->rows[i].refusal == NULL));
    }
    assert_int_equal(chosen, 1);
    sg_explanation_free(e);
    sg_explanation_free(NULL);
}

/* A shared plane serves a box only for linear updates. */
static void explanations_hold_refusals(void **state) {
    (void)state;
    sg_explanation *e;
    const sg_build_options options = {
        .struct_size = sizeof options,
        .text = "return stencil { name = 'm', dims = 3, dtype = 'float', boundary = 'zero',\n"
                "  update = function(u) return max(u(1,1,1), u(-1,-1,-1)) end }"};
    expect_ok(sg_explain(context, "max.lua", &options, &e));
    const sg_method_row *row = &e->rows[3];
    assert_string_equal(row->method, "register");
    assert_null(row->plan);
    assert_non_null(row->refusal);
    assert_memory_equal(row->refusal, "method register", 15);
    assert_int_equal(row->chosen, 0);
    sg_explanation_free(e);
    sg_explanation *const before = e;
    const sg_build_options broken = {.struct_size = sizeof broken, .text = "return {}"};
    assert_int_equal(sg_explain(context, "empty.lua", &broken, &e), SG_ERROR_SPEC);
    assert_ptr_equal(e, before);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(speed_is_measured),
    cmocka_unit_test(runs_are_measured),
    cmocka_unit_test(what_is_timed_is_what_fields_hold),
    cmocka_unit_test(explanations_agree_with_the_textbook),
    cmocka_unit_test(explanations_hold_refusals),
};

TEST_GROUP(speed, open_cpu, close_context)
