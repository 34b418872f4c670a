/* The data of checks: they follow what a spec says of its fields, and include the numbers that
   conditions compare with. */
#include "tests/unit/gen/spec/load_spec.h"

#include <math.h>

#include "gen/lists/draw.h"
#include "gen/lists/reduce/reduce.h"
#include "gen/reference/reference.h"
#include "tests/unit/group.h"

enum { DRAWN = 20000 };

static bool can_draw(const sample *s, double value) {
    for (int i = 0; i < s->count && s->of_values > 0; i++)
        if (s->values[i] == value)
            return true;
    return false;
}

static void sample_model(loaded *l, const char *text, const double *parameters, sample *out) {
    const model *m = load_model(l, text);
    reach_arrays(l->job, m, parameters, out);
}

#define UPDATE(fields, returned)                                                                   \
    "return stencil { name = 'a', fields = { " fields " },\n"                                      \
    "update = function(f, p) return " returned " end }"

static void expect_numbers(const char *text, int array, const double *expected, int count) {
    loaded l;
    sample all[2 * MAX_FIELDS];
    const double parameters[] = {2.5, 2.5};
    sample_model(&l, text, parameters, all);
    for (int i = 0; i < count; i++)
        if (!can_draw(&all[array], expected[i]))
            fail_msg("%s\n%.17g is never drawn", text, expected[i]);
    job_end(l.job);
}
#define EXPECT(text, array, ...)                                                                   \
    expect_numbers(text, array, (const double[]){__VA_ARGS__},                                     \
                   sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void comparisons_are_reached(void **state) {
    (void)state;
    EXPECT(UPDATE("u = 'inout'", "where(eq(f.u(0), 1), 2, f.u(1))"), 0, 1.0,
           (double)nextafterf(1, 2), (double)nextafterf(1, 0));
    EXPECT(UPDATE("u = 'inout'", "where(lt(0.1, f.u(0)), 2, f.u(1))"), 0, (double)0.1f,
           (double)nextafterf(0.1f, 1), (double)nextafterf(0.1f, 0));
    EXPECT(UPDATE("u = 'inout'", "where(gt(f.u(0), p.k), 2, f.u(1))"), 0, 2.5);
    EXPECT(UPDATE("u = 'inout', m = 'in'", "where(eq(f.m(0), 7), 2, f.u(1))"), 0, 7.0);
    EXPECT(UPDATE("u = 'inout'", "where(gt(2 * f.u(0) - 1, 3), 2, f.u(1))"), 0, 2.0);
    EXPECT(UPDATE("u = 'inout'", "where(lt(abs(f.u(0)), 0.25), 2, f.u(1))"), 0, 0.25, -0.25);
    EXPECT(UPDATE("u = 'inout'", "where(lt(f.u(0) ^ 2, 9), 2, f.u(1))"), 0, 3.0, -3.0);
    EXPECT(UPDATE("u = 'inout'", "where(lt(f.u(0) / 4, 2), 2, f.u(1))"), 0, 8.0);
    EXPECT(UPDATE("u = 'inout'", "where(lt(-f.u(0), 2), 2, f.u(1))"), 0, -2.0);
    EXPECT(UPDATE("u = 'inout'", "where(lt(f.u(1) + f.u(-1), 6), 2, f.u(1))"), 0, 3.0);
    EXPECT(UPDATE("u = 'inout'", "max(min(f.u(0), 40), -3)"), 0, 40.0, -3.0);
    EXPECT(UPDATE("u = { use = 'inout', levels = 2 }", "where(gt(f.u.prev(0), 5), 1, f.u(0))"), 1,
           5.0);
}

/* The data of a linear update are those of earlier versions. */
static void others_are_plain(void **state) {
    (void)state;
    loaded l;
    sample all[2 * MAX_FIELDS];
    sample_model(&l, UPDATE("u = 'inout', c = 'in'", "f.u(0) + 3 * f.c(0) * f.u(1)"), NULL, all);
    assert_true(sample_is_plain(&all[0]) && sample_is_plain(&all[1]));
    job_end(l.job);
    sample_model(&l, UPDATE("u = 'inout', c = 'in'", "where(gt(f.c(0), 3), f.u(0), f.u(1))"), NULL,
                 all);
    assert_true(!sample_is_plain(&all[0]) && sample_is_plain(&all[1]));
    job_end(l.job);
}

static void thresholds_have_both_sides(void **state) {
    (void)state;
    loaded l;
    sample all[2 * MAX_FIELDS];
    sample_model(&l, UPDATE("u = 'inout'", "where(gt(f.u(0), 1e30), 1, f.u(0))"), NULL, all);
    int above = 0, usual = 0;
    uint64_t seed = 7;
    for (int i = 0; i < DRAWN; i++) {
        const double v = sample_real(&all[0], random_next(&seed));
        assert_true(fabs(v) <= 3.4028234663852886e38);
        above += v > 1e30;
        usual += fabs(v) <= 1;
    }
    assert_true(above > DRAWN / 20 && usual > DRAWN / 3);
    job_end(l.job);
}

static void cells_are_equal(void **state) {
    (void)state;
    static const char *const texts[] = {
        UPDATE("u = 'inout', m = 'in'", "where(eq(f.u(0), f.m(0)), 2, f.u(1))"),
        UPDATE("u = 'inout', m = { use = 'in', values = { 4, 9 } }",
               "where(eq(f.u(0), f.m(0)), 2, f.u(1))"),
        UPDATE("u = 'inout', m = { use = 'in', range = { 4, 9 } }",
               "where(eq(f.u(0), f.m(0)), 2, f.u(1))"),
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        loaded l;
        sample all[2 * MAX_FIELDS];
        sample_model(&l, texts[t], NULL, all);
        int equal = 0;
        uint64_t seed = 7;
        for (int i = 0; i < DRAWN; i++) {
            const double u = sample_real(&all[0], random_next(&seed));
            equal += u == sample_real(&all[1], random_next(&seed));
        }
        if (equal < DRAWN / 100)
            fail_msg("%s\n%d of %d are equal", texts[t], equal, DRAWN);
        job_end(l.job);
    }
}

static void fields_hold_what_they_say(void **state) {
    (void)state;
    loaded l;
    sample all[2 * MAX_FIELDS];
    sample_model(&l,
                 UPDATE("m = { use = 'in', values = { 1, 0, 1, -0.5 } },"
                        "c = { use = 'in', range = { 1500, 4500 } },"
                        "u = { use = 'inout', levels = 2, values = { 3 } }",
                        "where(gt(f.c(0), 1e9), f.u(0), f.m(0) + f.u.prev(0))"),
                 NULL, all);
    uint64_t seed = 7;
    int ends = 0;
    for (int i = 0; i < DRAWN; i++) {
        const double c = sample_real(&all[0], random_next(&seed));
        const double m = sample_real(&all[1], random_next(&seed));
        assert_true(c >= 1500 && c <= 4500);
        assert_true(m == 0 || m == 1 || m == -0.5);
        assert_true(sample_real(&all[2], random_next(&seed)) == 3);
        assert_true(sample_real(&all[3], random_next(&seed)) == 3);
        ends += c == 1500 || c == 4500;
    }
    assert_true(ends > DRAWN / 20);
    job_end(l.job);
}

/* The ranges stand in the text of the model, but are no part of its meaning. */
static void contents_are_no_meaning(void **state) {
    (void)state;
    loaded a, b;
    const model *said = load_model(
        &a,
        UPDATE("u = { use = 'inout', range = { -1, 4 } }, m = { use = 'in', values = { 2, 0 } }",
               "f.u(0) * f.m(0)"));
    const model *silent = load_model(&b, UPDATE("u = 'inout', m = 'in'", "f.u(0) * f.m(0)"));
    text all = text_new(a.job), said_meaning = text_new(a.job), meaning = text_new(b.job);
    model_print(said, MODEL_ALL, &all);
    assert_non_null(strstr(all.data, "fields m in values { 0, 2 }, u inout range { -1, 4 }\n"));
    model_print(said, MODEL_MEANING, &said_meaning);
    model_print(silent, MODEL_MEANING, &meaning);
    assert_string_equal(said_meaning.data, meaning.data);
    job_end(a.job);
    job_end(b.job);
}

/* ---- lists --------------------------------------------------------------------------------- */

static void elements_are_reached(void **state) {
    (void)state;
    loaded l = load("return reduce { name = 'r', dtype = 'uint32', op = 'sum',\n"
                    "map = function(a) return where(eq(a, 0), 1, where(gt(3 * a, 7), 2, 0)) end }");
    assert_int_equal(l.fault, FAULT_NONE);
    const reduce *r = l.spec->subjects[0]->model;
    sample numbers[2];
    reach_operands(l.job, &r->pattern, -1, REDUCE_MAP, NULL, numbers);
    assert_true(can_draw(&numbers[0], 0) && can_draw(&numbers[0], 1));
    assert_true(can_draw(&numbers[0], 2) && can_draw(&numbers[0], 3));
    assert_false(can_draw(&numbers[0], -1));
    uint64_t seed = 3;
    int zero = 0;
    for (int i = 0; i < DRAWN; i++)
        zero += draw_sampled(DTYPE_UINT32, &numbers[0], &seed).whole == 0;
    assert_true(zero > DRAWN / 100);
    job_end(l.job);

    l = load("return reduce { name = 'r', dtype = 'int32', identity = 0,\n"
             "map = function(a) return a - 10 end,\n"
             "op = function(a, b) return where(eq(a, 5), b, where(gt(a, b), a, b)) end }");
    assert_int_equal(l.fault, FAULT_NONE);
    r = l.spec->subjects[0]->model;
    reach_operands(l.job, &r->pattern, REDUCE_OP, REDUCE_MAP, NULL, numbers);
    assert_true(can_draw(&numbers[0], 15)); /* behind the map */
    assert_true(numbers[0].of_ties > 0);
    job_end(l.job);
}

/* ---- what the reference can decide --------------------------------------------------------- */

static double count_yes(const char *text, const float *cells, int count, int which) {
    loaded l;
    const model *m = load_model(&l, text);
    const reference *r = reference_new(l.job, m, NULL);
    const int64_t size[AXES] = {count, 1, 1};
    reference_array arrays[2 * MAX_FIELDS] = {{cells, {1, count, count}, NULL}};
    double *values = job_array(l.job, 2 * (size_t)count, sizeof *values);
    void *scratch = job_alloc(l.job, reference_scratch(r, count));
    reference_row(r, arrays, size, NULL, 0, 0, 0, count, scratch, values, values + count, NULL);
    condition *all;
    assert_true(reference_conditions(l.job, r, &all) > which);
    reference_count(r, scratch, all);
    const double yes = (double)all[which].yes;
    assert_true(all[which].yes + all[which].no <= all[which].of);
    job_end(l.job);
    return yes;
}

/* A kernel has the nearest float of a constant that no float holds; counts are exact. */
static void equality_is_decided(void **state) {
    (void)state;
    const float cells[] = {0, 1, 1, 1, 0.1f, 0.5f, 0.25f, 2};
#define PERIODIC(returned)                                                                         \
    "return stencil { name = 'a', boundary = 'periodic',\nupdate = function(u) return " returned   \
    " end }"
    assert_true(count_yes(PERIODIC("where(eq(u(0), 0.1), 1, u(0))"), cells, 8, 0) == 1);
    assert_true(count_yes(PERIODIC("where(eq(u(-1) + u(0) + u(1), 3), 1, 0)"), cells, 8, 0) == 2);
    assert_true(count_yes(PERIODIC("where(eq(2 * u(0), 0.5), 1, 0)"), cells, 8, 0) == 1);
    assert_true(count_yes(PERIODIC("where(eq(u(0) * u(1), 1), 1, 0)"), cells, 8, 0) == 2);
    assert_true(count_yes(PERIODIC("where(eq(0.3 * u(0), 0.3), 1, 0)"), cells, 8, 0) == 0);
    assert_true(count_yes(PERIODIC("where(invert(any(eq(u(0), 1), gt(u(0), 1))), 1, 0)"), cells, 8,
                          2) == 4);
    const float kept[] = {1, 0, 1};
    assert_true(count_yes("return stencil { name = 'a', boundary = 'fixed',\n"
                          "update = function(u) return where(eq(u(0), 1), u(1), u(-1)) end }",
                          kept, 3, 0) == 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(comparisons_are_reached),    cmocka_unit_test(others_are_plain),
    cmocka_unit_test(thresholds_have_both_sides), cmocka_unit_test(cells_are_equal),
    cmocka_unit_test(fields_hold_what_they_say),  cmocka_unit_test(contents_are_no_meaning),
    cmocka_unit_test(elements_are_reached),       cmocka_unit_test(equality_is_decided),
};

TEST_GROUP(reach, NULL, NULL)
