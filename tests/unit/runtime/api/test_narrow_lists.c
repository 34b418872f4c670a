/* Reductions and scans of 16 bits on the cpu device, against plain loops in float64: sums in any
   order of float additions, the rounding of what is stored, extremes bit by bit, infinities and
   NaN. */
#include <math.h>

#include "base/random.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

enum { MOST = 70001, GUARD = 8, POISON = 0xabab };
static const int counts[] = {0, 1, 2, 31, 1001, 4096, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };

static const struct {
    const char *name;
    void (*narrow)(uint16_t *, const float *, size_t);
    void (*widen)(float *, const uint16_t *, size_t);
    double unit; /* relative error of rounding a normal number */
} types[] = {{"half", sg_to_half, sg_from_half, 0x1p-11},
             {"bfloat16", sg_to_bfloat16, sg_from_bfloat16, 0x1p-8}};
enum { TYPES = 2 };

/* Lists with one element before them, so that packs do not begin at their first. */
static uint16_t x[1 + MOST], y[1 + MOST], made[1 + MOST + GUARD];
static float wide_x[MOST], wide_y[MOST], wide_made[MOST];

static void draw(int type, uint64_t seed) {
    for (int i = 0; i < MOST; i++) {
        wide_x[i] = (float)((double)(random_bits(seed, 2 * (uint64_t)i) >> 11) * 0x1p-52 - 1);
        wide_y[i] = (float)((double)(random_bits(seed, 2 * (uint64_t)i + 1) >> 11) * 0x1p-52 - 1);
    }
    types[type].narrow(x + 1, wide_x, MOST);
    types[type].widen(wide_x, x + 1, MOST);
    types[type].narrow(y + 1, wide_y, MOST);
    types[type].widen(wide_y, y + 1, MOST);
}

static sg_kernel *build_list(const char *family, const char *keys, int type, const char *schedule) {
    char text[512];
    snprintf(text, sizeof text, "return %s { name = 'n', dtype = '%s', %s }", family,
             types[type].name, keys);
    return build(text, schedule);
}

static float reduce(sg_kernel *k, int count, bool two, int64_t *index) {
    float result[2] = {-77, -77};
    sg_reduce_arguments a = {.struct_size = sizeof a,
                             .input = x + 1,
                             .second = two ? y + 1 : NULL,
                             .count = count,
                             .result = result,
                             .index = index};
    expect_ok(sg_reduce_bytes(k, count, 0, &a.temporary_bytes));
    expect_ok(sg_alloc(context, a.temporary_bytes, &a.temporary));
    expect_ok(sg_reduce(k, &a, NULL));
    sg_free(context, a.temporary);
    assert_true(result[1] == -77); /* one float is written */
    return result[0];
}

/* ---- reductions ------------------------------------------------------------------------------ */

static const char *const algorithms[] = {"auto", "one-pass threads=64 items=12 blocks=3",
                                         "coarsened", "interleaved"};
enum { ALGORITHMS = 4 };

/* A sum of n floats in any order is off by at most (n - 1) u of the sum of magnitudes; the map of a
   dot product rounds once more. */
static void expect_sum(float got, double wanted, double magnitude, int count) {
    const double bound = 1.01 * count * 0x1p-24 * magnitude;
    if (!(fabs(got - wanted) <= bound))
        fail_msg("%d elements: %.9g instead of %.9g", count, (double)got, wanted);
}

static void sums_and_dot_products(void **state) {
    (void)state;
    for (int t = 0; t < TYPES; t++)
        for (int a = t; a < ALGORITHMS; a += TYPES) {
            sg_kernel *sum = build_list("reduce", "op = 'sum'", t, algorithms[a]);
            sg_kernel *dot = build_list(
                "reduce", "op = 'sum', inputs = 2, map = function(x, y) return x * y end", t,
                algorithms[a]);
            draw(t, (uint64_t)(10 + t));
            for (int c = 0; c < COUNTS; c++) {
                double sums = 0, size = 0, dots = 0, dot_size = 0;
                for (int i = 0; i < counts[c]; i++) {
                    sums += wide_x[i];
                    size += fabsf(wide_x[i]);
                    dots += (double)wide_x[i] * wide_y[i];
                    dot_size += fabs((double)wide_x[i] * wide_y[i]);
                }
                expect_sum(reduce(sum, counts[c], false, NULL), sums, size, counts[c]);
                expect_sum(reduce(dot, counts[c], true, NULL), dots, dot_size, counts[c]);
            }
            sg_release(sum);
            sg_release(dot);
        }
}

/* The sum of 60000 ones and more fits neither half nor bfloat16, but the result is a float. */
static void results_are_floats(void **state) {
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        sg_kernel *k = build_list("reduce", "op = 'sum'", t, NULL);
        for (int i = 0; i < MOST; i++)
            wide_x[i] = 1;
        types[t].narrow(x + 1, wide_x, MOST);
        assert_true(reduce(k, MOST, false, NULL) == MOST);
        sg_array_info info = {.struct_size = sizeof info};
        expect_ok(sg_kernel_array(k, 0, &info));
        assert_string_equal(info.dtype, types[t].name);
        assert_int_equal(info.element_size, 2);
        expect_ok(sg_kernel_array(k, 1, &info));
        assert_string_equal(info.dtype, "float");
        assert_int_equal(info.element_size, 4);
        sg_release(k);
    }
}

static void extremes_and_their_places(void **state) {
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        sg_kernel *max = build_list("reduce", "op = 'max'", t, NULL);
        sg_kernel *argmax = build_list("reduce", "op = 'argmax'", t, NULL);
        draw(t, (uint64_t)(20 + t));
        for (int c = 0; c < COUNTS; c++) {
            float most = -INFINITY;
            int64_t at = -1, got = -77;
            for (int i = 0; i < counts[c]; i++)
                if (wide_x[i] > most) {
                    most = wide_x[i];
                    at = i;
                }
            assert_true(reduce(max, counts[c], false, NULL) == most);
            assert_true(reduce(argmax, counts[c], false, &got) == most);
            assert_int_equal(got, at);
        }
        sg_release(max);
        sg_release(argmax);
    }
}

static void put(int type, int at, float value) {
    types[type].narrow(x + 1 + at, &value, 1);
}

static void reductions_of_infinities_and_nan(void **state) {
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        sg_kernel *sum = build_list("reduce", "op = 'sum'", t, NULL);
        sg_kernel *max = build_list("reduce", "op = 'max'", t, NULL);
        sg_kernel *argmax = build_list("reduce", "op = 'argmax'", t, NULL);
        int64_t at = -77;
        draw(t, (uint64_t)(30 + t));
        put(t, 500, INFINITY);
        assert_true(reduce(sum, 1001, false, NULL) == INFINITY);
        assert_true(reduce(max, 1001, false, NULL) == INFINITY);
        assert_true(reduce(argmax, 1001, false, &at) == INFINITY && at == 500);
        put(t, 900, -INFINITY);
        assert_true(isnan(reduce(sum, 1001, false, NULL)));
        assert_true(reduce(max, 1001, false, NULL) == INFINITY);
        put(t, 777, NAN);
        assert_true(isnan(reduce(sum, 1001, false, NULL)));
        assert_true(isnan(reduce(max, 1001, false, NULL)));
        assert_true(isnan(reduce(argmax, 1001, false, &at)) && at == 777);
        sg_release(sum);
        sg_release(max);
        sg_release(argmax);
    }
}

/* ---- scans ----------------------------------------------------------------------------------- */

/* Leaves the output in `made`, which begins one element into its memory, and in wide_made. */
static void scan(sg_kernel *k, int type, int count) {
    memset(made, POISON & 0xff, sizeof made);
    sg_scan_arguments a = {
        .struct_size = sizeof a, .input = x + 1, .output = made + 1, .count = count};
    expect_ok(sg_scan_bytes(k, count, &a.temporary_bytes));
    expect_ok(sg_alloc(context, a.temporary_bytes, &a.temporary));
    expect_ok(sg_scan(k, &a, NULL));
    sg_free(context, a.temporary);
    assert_int_equal(made[0], POISON);
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(made[1 + count + i], POISON);
    types[type].widen(wide_made, made + 1, (size_t)count);
}

static void running_sums_are_rounded_once(void **state) {
    (void)state;
    static const char *const schedules[] = {
        "look-back threads=64 items=3", "persistent threads=64 items=24 stages=3 ahead=2", NULL};
    for (int t = 0; t < TYPES; t++)
        for (int way = 0; way < 6; way++) {
            const int exclusive = way % 2;
            sg_kernel *k = build_list(
                "scan", exclusive ? "op = 'sum', kind = 'exclusive', init = 3" : "op = 'sum'", t,
                schedules[way / 2]);
            draw(t, (uint64_t)(40 + t));
            for (int c = 0; c < COUNTS; c++) {
                scan(k, t, counts[c]);
                double sum = exclusive ? 3 : 0, size = sum;
                for (int i = 0; i < counts[c]; i++) {
                    const double before = sum;
                    sum += wide_x[i];
                    size += fabsf(wide_x[i]);
                    const double wanted = exclusive ? before : sum;
                    const double error = 1.01 * (i + 1) * 0x1p-24 * size;
                    const double bound = error + types[t].unit * (fabs(wanted) + error) + 0x1p-25;
                    if (!(fabs(wide_made[i] - wanted) <= bound))
                        fail_msg("%d of %d: %.9g instead of %.9g", i, counts[c],
                                 (double)wide_made[i], wanted);
                }
            }
            sg_release(k);
        }
}

/* Whole numbers, whose sums are exact in float: each output is the rounded sum, bit by bit, and
   half overflows on the way. Then an infinity and a NaN, which stay until the end. */
static void exact_sums_infinities_and_nan(void **state) {
    (void)state;
    enum { COUNT = 1001 };
    for (int way = 0; way < 2 * TYPES; way++) {
        const int t = way / 2;
        sg_kernel *k =
            build_list("scan", "op = 'sum'", t, way % 2 ? "persistent threads=32 items=8" : NULL);
        for (int i = 0; i < COUNT; i++)
            wide_x[i] = (float)(i % 100 + 33);
        wide_x[900] = INFINITY;
        wide_x[950] = NAN;
        types[t].narrow(x + 1, wide_x, COUNT);
        scan(k, t, COUNT);
        float sum = 0;
        int infinite = 0;
        for (int i = 0; i < COUNT; i++) {
            uint16_t wanted;
            sum += wide_x[i];
            types[t].narrow(&wanted, &sum, 1);
            assert_true(isnan(sum) ? isnan(wide_made[i]) : made[1 + i] == wanted);
            infinite += isinf(wide_made[i]);
        }
        assert_true(t == 0 ? infinite > 50 : infinite == 50);
        sg_release(k);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_and_dot_products),
    cmocka_unit_test(results_are_floats),
    cmocka_unit_test(extremes_and_their_places),
    cmocka_unit_test(reductions_of_infinities_and_nan),
    cmocka_unit_test(running_sums_are_rounded_once),
    cmocka_unit_test(exact_sums_infinities_and_nan),
};

TEST_GROUP(narrow_lists, open_cpu, close_context)
