/* Updates, fields, parameters and the other keys of specs, and the Lua they are written in. */
#include <locale.h>

#include "gen/stencil/method.h"
#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

/* u = 10 + 2x + 3y, other arrays 100 more each, so that what a spec computes can be foretold. */
static double plane(int array, const int d[AXES]) {
    return 10 + 2 * d[0] + 3 * d[1] + 100 * array;
}

static double value_of(const char *text, int output) {
    loaded l;
    const model *m = load_model(&l, text);
    const double parameters[] = {0.5, 4, 0, 0};
    const double value = evaluate_output(m, output, plane, parameters);
    job_end(l.job);
    return value;
}

#define UPDATE2(expression)                                                                        \
    "return stencil { name = 'a', dtype = 'double', dims = 2,\n"                                   \
    "update = function(u, p) return " expression " end }"

static void test_operators(void **state) {
    (void)state;
    assert_true(value_of(UPDATE2("u(1,0) - 2*u(0,0) + u(-1,0)"), 0) == 0);
    assert_true(value_of(UPDATE2("u(0,0) + p.k * (u(1,0) - u(0,0)) / p.q"), 0) == 10.25);
    assert_true(value_of(UPDATE2("-u(0,1) ^ 2"), 0) == -169);
    assert_true(value_of(UPDATE2("2 / u(0,0)"), 0) == 0.2);
    assert_true(value_of(UPDATE2("min(u(1,1), 20, u(-1,0)) + max(1, u(0,1))"), 0) == 21);
    assert_true(value_of(UPDATE2("abs(-u(0,0)) + sqrt(u(0,2)) + floor(u(0,0) / 4)"), 0) == 16);
    assert_true(value_of(UPDATE2("exp(log(u(0,0))) - sin(u(0,0))^2 - cos(u(0,0))^2"), 0) > 8.99);
    assert_true(value_of(UPDATE2("where(lt(u(0,0), 11), 1, 2)"), 0) == 1);
    assert_true(value_of(UPDATE2("where(ge(u(0,0), 11), 1, 2)"), 0) == 2);
    assert_true(value_of(UPDATE2("where(all(gt(u(0,0), 9), le(u(0,0), 10), true), 1, 2)"), 0) == 1);
    assert_true(value_of(UPDATE2("where(any(eq(u(0,0), 9), false), 1, 2)"), 0) == 2);
    assert_true(value_of(UPDATE2("where(invert(ne(u(0,0), 9)), 1, 2)"), 0) == 2);
    assert_true(value_of(UPDATE2("u(0,0) * tanh(0) + pow(2, 10)"), 0) == 1024);
    assert_true(value_of(UPDATE2("min(3, 2) + where(lt(1, 2), 5, 6)"), 0) == 7);
    assert_true(value_of(UPDATE2("apply(laplacian { dims = 2 } + identity(), u)"), 0) == 10);
    assert_true(value_of(UPDATE2("apply(p.k * derivative { axis = 'y' }, u)"), 0) == 1.5);
}

/* A spec that names no fields has one, u, which its functions are given, and which they may also
   read by its name. */
static void test_the_field_itself(void **state) {
    static const char text[] =
        "return stencil { name = 'a', dtype = 'double', dims = 2,\n"
        "update = function(u) return u(1,0) + u.u(0,1) end,\n"
        "monitors = { r = { op = 'max', map = function(f) return f.u(1,0) - f(0,0) end } },\n"
        "points = { s = { field = 'u', inject = function(s, f) return s * f.u(0,0) end } } }";
    static const char named[] = "return stencil { name = 'a', fields = { u = 'inout' }, update = "
                                "function(f) return f.u.u(0) end }";
    loaded l;
    (void)state;
    const model *m = load_model(&l, text);
    assert_true(evaluate_output(m, 0, plane, NULL) == 25);
    assert_true(evaluate_output(m->monitors[0].map, 0, plane, NULL) == 2);
    assert_int_equal(m->injected->output_count, 1);
    job_end(l.job);
    l = load(named);
    assert_int_equal(l.fault, FAULT_SPEC);
    assert_non_null(strstr(job_error(l.job), "unknown key 'u' of a field; known: prev"));
    job_end(l.job);
}

static void test_fields(void **state) {
    (void)state;
    const char *text = "return stencil { name = 'a', dtype = 'double',\n"
                       "fields = { w = 'out', c = 'in', u = { use = 'inout', levels = 2 } },\n"
                       "update = function(f, p)\n"
                       "  local u = f.u\n"
                       "  return { u = 2*u(0,0) - u.prev(0,1), w = f.c(1,0) }\n"
                       "end }";
    loaded l;
    const model *m = load_model(&l, text);
    assert_int_equal(m->field_count, 3);
    assert_string_equal(m->fields[0].name, "c");
    assert_string_equal(m->fields[1].name, "u");
    assert_string_equal(m->fields[2].name, "w");
    assert_int_equal(m->array_count, 3);
    assert_true(m->arrays[0].field == 0 && m->arrays[1].field == 1 && m->arrays[2].field == 1);
    assert_true(!m->arrays[1].previous && m->arrays[2].previous);
    assert_int_equal(m->output_count, 2);
    assert_int_equal(m->outputs[0].field, 1);
    assert_int_equal(m->outputs[1].field, 2);
    assert_true(m->arrays[0].high[0] == 1 && m->arrays[0].low[0] == 0 && m->arrays[2].high[1] == 1);
    assert_true(m->high[0] == 1 && m->high[1] == 1 && m->low[0] == 0 && m->low[1] == 0);
    assert_int_equal(m->shape, SHAPE_UPDATE);
    assert_int_equal(m->points, 3);
    job_end(l.job);
    assert_true(value_of(text, 0) == 2 * 110 - 213);
    assert_true(value_of(text, 1) == 12);
}

/* A single written field stands in a table too, as several do. */
static void test_table_of_one_field(void **state) {
    (void)state;
    assert_true(
        value_of(
            "return stencil { name = 'a', dtype = 'double', fields = { c = 'in', u = 'inout' },\n"
            "update = function(f) return { u = f.u(1,0) - f.c(0,0) } end }",
            0) == 102);
    assert_true(value_of(UPDATE2("{ u = u(1,0) }"), 0) == 12);
}

/* A tap that folds away still counts for the reach, but its array is not read. */
static void test_reach_of_folded_taps(void **state) {
    (void)state;
    loaded l;
    const model *m =
        load_model(&l, "return stencil { name = 'a', fields = { u = 'inout', c = 'in' },\n"
                       "shape = star(3, 1),\n"
                       "update = function(f) return f.u(0,0,0) + 0 * f.c(0,5,-2) end }");
    assert_false(m->arrays[0].used);
    assert_true(m->arrays[1].used);
    const int low[AXES] = {1, 1, 2}, high[AXES] = {1, 5, 1};
    assert_memory_equal(m->low, low, sizeof low);
    assert_memory_equal(m->high, high, sizeof high);
    assert_int_equal(m->radius, 5);
    assert_int_equal(m->points, 1);
    assert_int_equal(m->dims, 3);
    assert_int_equal(expr_get(m->pool, m->outputs[0].value)->op, EXPR_TAP);
    job_end(l.job);
}

static void test_parameters(void **state) {
    (void)state;
    loaded l;
    const model *m =
        load_model(&l, "return stencil { name = 'a', parameters = { z = 3, k = true, B = 0.1 },\n"
                       "update = function(u, p) return u(0) * p.k + p.z end }");
    assert_int_equal(m->parameter_count, 3);
    assert_string_equal(m->parameters[0].name, "B");
    assert_string_equal(m->parameters[1].name, "k");
    assert_string_equal(m->parameters[2].name, "z");
    assert_true(m->parameters[0].has_value && m->parameters[0].value == 0.1);
    assert_false(m->parameters[1].has_value);
    assert_true(m->parameters[2].value == 3);
    job_end(l.job);
    m = load_model(&l, "local z, a = param 'z', param 'a'\n"
                       "return stencil { name = 'a', shape = star(1, 1),\n"
                       "coefficients = { z, a * z, 1 - a } }");
    assert_int_equal(m->parameter_count, 2);
    assert_string_equal(m->parameters[0].name, "a");
    assert_string_equal(m->parameters[1].name, "z");
    job_end(l.job);
}

static void test_boundary(void **state) {
    (void)state;
    loaded l;
    const model *m =
        load_model(&l, "return stencil { name = 'a', shape = star(3, 0), coefficients = { 1 },\n"
                       "boundary = { x = 'periodic', z = { constant(2.5), 'mirror' } } }");
    assert_int_equal(m->sides[0][0].kind, BOUNDARY_PERIODIC);
    assert_int_equal(m->sides[0][1].kind, BOUNDARY_PERIODIC);
    assert_int_equal(m->sides[1][0].kind, BOUNDARY_FIXED);
    assert_int_equal(m->sides[2][0].kind, BOUNDARY_CONSTANT);
    assert_true(m->sides[2][0].value == 2.5);
    assert_int_equal(m->sides[2][1].kind, BOUNDARY_MIRROR);
    job_end(l.job);
    for (int kind = 0; kind < BOUNDARY_COUNT; kind++) {
        if (kind == BOUNDARY_CONSTANT)
            continue;
        char text[256];
        snprintf(text, sizeof text,
                 "return stencil { name = 'a', shape = star(2, 0), coefficients = { 1 },\n"
                 "boundary = '%s' }",
                 boundary_words[kind].name);
        m = load_model(&l, text);
        assert_true((int)m->sides[1][1].kind == kind && m->sides[2][0].kind == BOUNDARY_FIXED);
        job_end(l.job);
    }
}

static void test_schedule(void **state) {
    (void)state;
    loaded l;
    const model *m = load_model(
        &l, "return stencil { name = 'a', dtype = 'double', shape = star(3, 1),\n"
            "coefficients = { 1, 1, 1, 1, 1, 1, 1 },\n"
            "schedule = { method = 'register', tile = { x = 32, y = 8 }, coarsen = { z = 16 },\n"
            "             vector = 4, time = 2 } }");
    const schedule *s = &m->schedule;
    assert_int_equal(m->dtype, DTYPE_DOUBLE);
    assert_int_equal(s->method, method_find("register", 8));
    assert_true(s->tile[0] == 32 && s->tile[1] == 8 && s->tile[2] == 0);
    assert_true(s->coarsen[0] == 0 && s->coarsen[2] == 16 && s->vector == 4 && s->time == 2);
    job_end(l.job);
}

/* The written-out count: u*v^2 in both outputs is counted twice. */
static void test_textbook_count_of_update(void **state) {
    (void)state;
    loaded l;
    const model *m =
        load_model(&l, "return stencil { name = 'a', fields = { u = 'inout', v = 'inout' },\n"
                       "update = function(f)\n"
                       "  local r = f.u(0) * f.v(0) / 3\n"
                       "  return { u = f.u(0) - r, v = max(f.v(0) + r, 0) }\n"
                       "end }");
    assert_true(m->textbook_multiplications == 4);
    assert_true(m->textbook_additions == 3);
    assert_true(m->nonlinear && model_textbook_operations(m) == 0);
    assert_int_equal(m->pool->count, 9); /* and shared: u v 3 * / - + 0 max */
    job_end(l.job);
}

static void test_linear_updates(void **state) {
    (void)state;
    static const struct {
        const char *returned;
        bool nonlinear;
    } cases[] = {
        {"u(0) + p.k * (u(1) - 2 * u(0) + u(-1)) / 3 - 4", false},
        {"-u(1) * p.k ^ 2", false},
        {"where(gt(p.k, 1), 2, 3) * u(0)", false},
        {"u(0) * u(1)", true},
        {"p.k / u(0)", true},
        {"max(u(0), 0)", true},
        {"where(gt(u(0), 1), 2, 3)", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        loaded l;
        char text[256];
        snprintf(text, sizeof text,
                 "return stencil { name = 'a', update = function(u, p) return %s end }",
                 cases[i].returned);
        assert_true(load_model(&l, text)->nonlinear == cases[i].nonlinear);
        job_end(l.job);
    }
}

static void test_several_specs(void **state) {
    (void)state;
    loaded l =
        load("local list = {}\n"
             "for _, r in ipairs { 1, 2, 3 } do\n"
             "  table.insert(list, stencil {\n"
             "    name = 's' .. r, coefficients = laplacian { dims = 2, accuracy = 2*r } })\n"
             "end\n"
             "return list");
    assert_int_equal(l.fault, FAULT_NONE);
    assert_int_equal(l.spec->count, 3);
    assert_string_equal(l.spec->subjects[2]->expressions->name, "s3");
    assert_int_equal(l.spec->subjects[2]->expressions->radius, 3);
    assert_int_equal(l.spec->subjects[0]->expressions->line, 3);
    job_end(l.job);
}

/* What differs from plain Lua: order of pairs, digits, the names of types. */
static void test_base_functions(void **state) {
    (void)state;
    loaded l;
    const char *text =
        "local t = { zz = 1, [2.5] = 1, a = 1, [-1] = 1, [1] = 1, ['a\\0b'] = 1, [math.huge] = 1,\n"
        "  [9007199254740993] = 1, [9007199254740992] = 1, [2^63] = 1, [math.maxinteger] = 1 }\n"
        "local keys = {}\n"
        "for k, v in pairs(t) do t[k] = nil table.insert(keys, k) end\n"
        "assert(table.concat(keys, ' ') == '-1 1 2.5 9007199254740992 9007199254740993 '\n"
        "  .. '9223372036854775807 9.223372036854776e+18 inf a a\\0b zz', table.concat(keys, ' "
        "'))\n"
        "assert(tostring(1/3) == '0.3333333333333333' and tostring(0.1) == '0.1')\n"
        "assert(tostring(1e15) == '1e+15' and tostring(2.0) == '2.0' and tostring(0/0) == 'nan')\n"
        "assert(tonumber(tostring(0.1 + 0.2)) == 0.1 + 0.2)\n"
        "assert(tonumber('0x10') == 16 and tonumber('1,5') == nil and tonumber({}) == nil)\n"
        "assert(tostring({}) == 'table' and tostring(star) == 'function')\n"
        "assert(type(star(1, 1)) == 'shape' and type(param 'k') == 'expression' and type(nil) == "
        "'nil')\n"
        "assert(select('#', 1, nil) == 2 and select(-1, 1, 7) == 7 and select(2, 1, 8, 9) == 8)\n"
        "assert(math.floor(2.5) == 2 and math.max(1, 3, 2) == 3 and math.tointeger(3.0) == 3)\n"
        "assert(math.exp(1) == 0x1.5bf0a8b145769p+1 and math.pi > 3.14 and math.log(0) == "
        "-math.huge)\n"
        "local sum = 0\n"
        "for i, v in ipairs { 1, 2, 3, nil, 5 } do sum = sum + v end\n"
        "assert(sum == 6)\n"
        "return stencil { name = 'a', shape = star(1, 0), coefficients = { 1 } }";
    load_model(&l, text);
    job_end(l.job);
}

static const char *printed(job *j, const model *m) {
    text t = text_new(j);
    model_print(m, MODEL_ALL, &t);
    return t.data;
}

/* The same models on every run and in every locale; Lua's hash tables are seeded by the run. */
static void test_deterministic(void **state) {
    (void)state;
    const char *text = "local p = {}\n"
                       "for i = 1, 30 do p['k' .. i] = i / 7 end\n"
                       "local f = {}\n"
                       "for i = 1, 12 do f['f' .. i] = 'in' end\n"
                       "f.u = 'inout'\n"
                       "return stencil { name = 'a', parameters = p, fields = f,\n"
                       "update = function(f, p)\n"
                       "  local sum = f.u(0) * 0.1\n"
                       "  for name, v in pairs(f) do sum = sum + v(0) end\n"
                       "  return sum * p.k7 + tonumber(tostring(1/3)) + tonumber('0.5')\n"
                       "end }";
    loaded first;
    const model *m = load_model(&first, text);
    const char *expected = printed(first.job, m);
    assert_non_null(strstr(expected, "0.3333333333333333"));
    const bool comma = setlocale(LC_ALL, "comma") != NULL;
    for (int i = 0; i < 10; i++) {
        loaded l;
        m = load_model(&l, text);
        assert_string_equal(printed(l.job, m), expected);
        job_end(l.job);
    }
    if (comma) { /* and the caller's locale is as it was */
        char shown[8];
        snprintf(shown, sizeof shown, "%.1f", 0.5);
        assert_string_equal(shown, "0,5");
        setlocale(LC_ALL, "C");
    } else
        print_message("no locale with a decimal comma\n");
    job_end(first.job);
}

static void test_text_forms(void **state) {
    (void)state;
    loaded l;
    const model *m = load_model(&l, "\xef\xbb\xbf#!/usr/bin/env stencilgen\n\n"
                                    "return stencil {\n"
                                    "  name = 'a', dims = 3, coefficients = identity() }\r\n");
    assert_int_equal(m->line, 3);
    assert_int_equal(m->dims, 3);
    assert_string_equal(m->file, "test.lua");
    job_end(l.job);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_operators),          cmocka_unit_test(test_fields),
    cmocka_unit_test(test_table_of_one_field), cmocka_unit_test(test_reach_of_folded_taps),
    cmocka_unit_test(test_parameters),         cmocka_unit_test(test_boundary),
    cmocka_unit_test(test_schedule),           cmocka_unit_test(test_textbook_count_of_update),
    cmocka_unit_test(test_linear_updates),     cmocka_unit_test(test_several_specs),
    cmocka_unit_test(test_the_field_itself),   cmocka_unit_test(test_base_functions),
    cmocka_unit_test(test_deterministic),      cmocka_unit_test(test_text_forms),
};

TEST_GROUP(update, NULL, NULL)
