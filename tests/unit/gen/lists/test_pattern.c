/* What patterns share: schedules as text, functions on plain numbers and in CUDA. */
#include "tests/unit/gen/model/models.h"

#include <math.h>

#include "gen/lists/pattern.h"
#include "tests/unit/group.h"

static const word_row algorithms[] = {{"auto", ""}, {"shared", ""}, {"coarsened", ""}};
static const word_row formats[] = {{"auto", ""}, {"csr", ""}, {"sell", ""}};
static const pattern_number numbers[] = {{"threads", "threads a block", 32, 1024, 0},
                                         {"items", "elements a thread", 1, 64, 1},
                                         {"sigma", "rows sorted together", 32, 4096, 32}};
static const pattern_words words = {algorithms, 3, formats, 3, numbers, 3, NULL, 0};

/* ---- schedules ----------------------------------------------------------------------------- */

typedef struct attempt {
    const char *line;
    pattern_schedule out;
} attempt;

static void parse_body(job *j, void *argument) {
    attempt *a = argument;
    pattern_schedule_parse(j, &words, a->line, "option", &a->out);
}

static void assert_refused(const char *line, const char *message) {
    attempt a = {.line = line};
    job *j;
    assert_int_equal(job_run(&allocator_libc, parse_body, &a, &j), FAULT_USAGE);
    assert_string_equal(job_error_text(j), message);
    job_end(j);
}

static void round_trip_body(job *j) {
    uint64_t state = 11;
    for (int i = 0; i < 500; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const unsigned r = (unsigned)(state >> 33);
        const pattern_schedule s = {(int)(r % 3),
                                    (int)(r / 3 % 3),
                                    {r & 64 ? 32 << r / 128 % 6 : 0,
                                     r & 1024 ? (int)(r / 2048 % 64 + 1) : 0,
                                     r & 32 ? 32 * (int)(r / 4096 % 128 + 1) : 0}};
        text t = text_new(j);
        pattern_schedule_print(&words, &s, &t);
        pattern_schedule again = {0};
        pattern_schedule_parse(j, &words, t.data, "test", &again);
        assert_memory_equal(&again, &s, sizeof s);
    }
    text t = text_new(j);
    pattern_schedule_print(&words, &(pattern_schedule){2, 1, {64, 0, 128}}, &t);
    assert_string_equal(t.data, "sell shared threads=64 sigma=128");
    pattern_schedule over = {1, 1, {64, 2, 0}};
    pattern_schedule_parse(j, &words, "  items=5 \t method=coarsened", "test", &over);
    assert_memory_equal(&over, &((pattern_schedule){1, 2, {64, 5, 0}}), sizeof over);
}

static void test_round_trip(void **state) {
    (void)state;
    in_job(round_trip_body);
}

static void test_refusals(void **state) {
    (void)state;
    assert_refused("sharred",
                   "option: unknown word 'sharred' in a schedule; did you mean 'shared'?");
    assert_refused("qqqqqq",
                   "option: unknown word 'qqqqqq' in a schedule; this family takes auto, csr, "
                   "sell, shared, coarsened, threads=…, items=…, sigma=…");
    assert_refused("threads=100", "option: threads must be a power of two, not 100");
    assert_refused("threads=2048", "option: threads takes whole numbers from 32 to 1024, not 2048");
    assert_refused("sigma=100", "option: sigma must be a multiple of 32, not 100");
    assert_refused("items=", "option: items takes whole numbers from 1 to 64, not ''");
    assert_refused("items=3x", "option: items takes whole numbers from 1 to 64, not '3x'");
    assert_refused("items=99999999999",
                   "option: items takes whole numbers from 1 to 64, not '99999999999'");
    assert_refused("items=1 items=1", "option: a schedule gives its items once");
    assert_refused("csr sell", "option: a schedule gives its format once");
    assert_refused("shared coarsened", "option: a schedule gives its algorithm once");
}

/* ---- functions ----------------------------------------------------------------------------- */

/* A pattern with the operands a and b and one function. */
static pattern *new_pattern(job *j, dtype type) {
    pattern *p = job_alloc(j, sizeof *p);
    model *m = new_model(j, 0, type);
    m->fields[0] = (model_field){.name = "a", .use = USE_IN, .levels = 1};
    m->fields[1] = (model_field){.name = "b", .use = USE_IN, .levels = 1};
    m->fields[2] = (model_field){.name = "op", .use = USE_OUT, .levels = 1};
    m->field_count = 3;
    m->arrays[1] = (model_array){.field = 1};
    m->array_count = 2;
    m->parameters[0] = (model_parameter){.name = "k"};
    m->parameter_count = 1;
    m->outputs[0].field = 2;
    p->functions = m;
    return p;
}

static expr_id two(model *m, expr_op op, expr_id a, expr_id b) {
    return expr_make(m->pool, op, a, b, EXPR_NONE);
}

/* a*k + b in each dtype: rounded twice, or wrapping. */
static pattern_value multiply_add(job *j, dtype type, double k, pattern_value a, pattern_value b) {
    pattern *p = new_pattern(j, type);
    model *m = p->functions;
    const expr_id product =
        two(m, EXPR_MULTIPLY, tap_of(m, 0, 0, 0, 0), expr_parameter(m->pool, 0));
    m->outputs[0].value = two(m, EXPR_ADD, product, tap_of(m, 1, 0, 0, 0));
    const pattern_value operands[] = {a, b};
    return pattern_apply(pattern_machine_new(j, p, 0, &k), operands);
}

static void apply_body(job *j) {
    const pattern_value real = multiply_add(
        j, DTYPE_FLOAT, 3, (pattern_value){.real = (double)0.1f}, (pattern_value){.real = 1});
    volatile float product = 0.1f * 3.0f;
    volatile float sum = product + 1.0f;
    assert_true(real.real == (double)sum);
    assert_true(
        multiply_add(j, DTYPE_DOUBLE, 3, (pattern_value){.real = 0.5}, (pattern_value){.real = 1})
            .real == 2.5);
    const pattern_value big = {.whole = INT32_MAX}, one = {.whole = 1};
    assert_int_equal(multiply_add(j, DTYPE_INT32, 1, big, one).whole, INT32_MIN);
    assert_int_equal(multiply_add(j, DTYPE_INT64, 1, big, one).whole, (int64_t)INT32_MAX + 1);
    assert_int_equal(
        multiply_add(j, DTYPE_UINT32, 2, (pattern_value){.whole = UINT32_MAX}, one).whole,
        UINT32_MAX);
}

static void test_apply(void **state) {
    (void)state;
    in_job(apply_body);
}

/* Elements survive the way into an array and out again, at the ends of every dtype. */
static void elements_body(job *j) {
    (void)j;
    for (int type = 0; type < DTYPE_COUNT; type++) {
        char array[16];
        const double ends[] = {dtype_words[type].least, dtype_words[type].largest, 0, 1};
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
            const pattern_value v = type < DTYPE_REALS ? (pattern_value){.real = ends[i]}
                                                       : (pattern_value){.whole = (int64_t)ends[i]};
            _Alignas(8) char place[16];
            pattern_set((dtype)type, place, 1, v);
            memcpy(array, place, sizeof array);
            const pattern_value got = pattern_get((dtype)type, place, 1);
            if (type < DTYPE_REALS)
                assert_true(got.real == v.real);
            else
                assert_true(got.whole == v.whole);
        }
    }
}

static void test_elements(void **state) {
    (void)state;
    in_job(elements_body);
}

static void assert_written(job *j, dtype type, double constant_, const char *wanted) {
    pattern *p = new_pattern(j, type);
    model *m = p->functions;
    const expr_id sum = two(m, EXPR_ADD, tap_of(m, 0, 0, 0, 0), constant(m, constant_));
    m->outputs[0].value = two(m, EXPR_MAX, sum, tap_of(m, 1, 0, 0, 0));
    text t = text_new(j);
    pattern_write_function(&t, p, 0, "Real", "combine");
    const char *expected = job_print(
        j,
        "__device__ __forceinline__ Real combine([[maybe_unused]] const Arguments &arguments, "
        "[[maybe_unused]] Real a, [[maybe_unused]] Real b) {\n    return maximum(%s, b);\n}\n",
        wanted);
    assert_string_equal(t.data, expected);
    assert_true(pattern_operations(j, p, 0) == 2);
}

static void written_body(job *j) {
    assert_written(j, DTYPE_FLOAT, 0.5, "a + 0.5f");
    assert_written(j, DTYPE_DOUBLE, 2, "a + 2.0");
    assert_written(j, DTYPE_INT32, -7, "wrapping_add(a, -7)");
    assert_written(j, DTYPE_INT32, INT32_MIN, "wrapping_add(a, (-2147483647 - 1))");
    assert_written(j, DTYPE_INT64, -0x1p63, "wrapping_add(a, (-9223372036854775807LL - 1))");
    assert_written(j, DTYPE_UINT32, UINT32_MAX, "a + 4294967295u");
}

static void test_written(void **state) {
    (void)state;
    in_job(written_body);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refusals),
    cmocka_unit_test(test_apply),      cmocka_unit_test(test_elements),
    cmocka_unit_test(test_written),
};

TEST_GROUP(pattern, NULL, NULL)
