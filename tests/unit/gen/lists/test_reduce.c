/* Reductions on the cpu device: segments, own operators, two inputs, special values, refusals. The
   cases have the product of operators, dtypes, algorithms and sizes. A run has a drawn third of the
   products here. */
#include "tests/unit/draw.h"
#include "tests/unit/gen/lists/family_scene.h"
#include "tests/unit/group.h"

#include <math.h>

static const char *const algorithms[] = {"one-pass", "interleaved", "coalesced", "shared",
                                         "coarsened"};
static const char *const dtypes[] = {"float", "double", "int32", "int64", "uint32"};
enum { ALGORITHMS = 5, DTYPES = 5 };

/* The last element that is not 0: associative, and its order counts. */
#define LAST                                                                                       \
    "op = function(a, b) return where(eq(b, 0), a, b) end, identity = 0, map = function(x) "       \
    "return "                                                                                      \
    "where(gt(x, 0), x, 0) end"

static const char *reduce_text(const char *dtype, const char *more) {
    static char text[512];
    snprintf(text, sizeof text, "return reduce { name = 'r', dtype = '%s', %s }", dtype, more);
    return text;
}

/* Segments of any length, by warps and by blocks, where the order counts and where it does not. */
static void test_segments(void **state) {
    (void)state;
    static const char *const more[] = {"segmented = true", "segmented = true, op = 'argmax'",
                                       "segmented = true, " LAST};
    static const int64_t segments[] = {1, 2, 7, 100, 3000};
    for (int m = 0; m < 3; m++)
        for (int d = 0; d < DTYPES; d++) {
            if (!drawn((uint64_t)(m + d), 3))
                continue;
            scene s;
            scene_open(&s, reduce_text(dtypes[d], more[m]), "threads=64 blocks=6");
            for (size_t k = 0; k < sizeof segments / sizeof *segments; k++)
                for (int64_t n = 0; n < 30000; n = 5 * n + 3)
                    scene_expect(&s, n, segments[k], (int)(n % 3), false, (uint64_t)n + k);
            for (uint64_t seed = 1; seed < 8; seed++)
                scene_expect(&s, 2000, 1, 0, false, seed);
            scene_close(&s);
        }
}

/* A length of 1 says nothing of segments; a negative one says how many there are, and so one, too.
 */
static void test_numbers_of_segments(void **state) {
    (void)state;
    scene s;
    scene_open(&s, reduce_text("int32", "segmented = true"), NULL);
    static const int64_t wanted[][2] = {{-1, 1}, {-7, 7}, {0, 0}, {7, 7}, {600, 600}};
    bool others = false;
    for (uint64_t seed = 1; seed < 9; seed++) {
        family_call call;
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            const int64_t size[AXES] = {500, wanted[i][0], 1};
            s.subject->family->lists.draw(s.job, s.subject, s.made->program, size, 0, NULL, seed,
                                          &call);
            assert_int_equal(call.sizes[1], wanted[i][1]);
        }
        const int64_t drawn[AXES] = {500, 1, 1};
        s.subject->family->lists.draw(s.job, s.subject, s.made->program, drawn, 0, NULL, seed,
                                      &call);
        others |= call.sizes[1] > 3;
    }
    assert_true(others);
    scene_expect(&s, 3001, -1, 1, false, 5);
    scene_close(&s);
}

static const char *const own[] = {
    LAST,
    "op = function(a, b) return a + b end, identity = 0, commutative = true",
    "op = function(a, b) return max(a, b) end, identity = 0, map = function(x) return abs(x) end",
};

static void test_own_operators(void **state) {
    (void)state;
    for (int o = 0; o < 3; o++)
        for (int a = 0; a < ALGORITHMS; a++)
            for (int d = 0; d < DTYPES; d++) {
                if ((o != 1 && strcmp(algorithms[a], "coalesced") == 0) || (o + a + d) % 2 != 0 ||
                    !drawn((uint64_t)((o + a + d) / 2 + d), 3))
                    continue;
                char schedule[64];
                snprintf(schedule, sizeof schedule, "%s threads=64", algorithms[a]);
                scene s;
                scene_open(&s, reduce_text(dtypes[d], own[o]), schedule);
                for (int64_t n = 0; n < 20000; n = 3 * n + 5)
                    scene_expect(&s, n, 1, (int)n % 3, false, (uint64_t)n);
                scene_close(&s);
            }
}

/* Two inputs, parameters, maps with functions, whole numbers that wrap. */
static void test_maps(void **state) {
    (void)state;
    static const struct {
        const char *dtype, *more;
    } maps[] = {
        {"float", "inputs = 2, map = function(x, y) return x * y end"},
        {"double", "inputs = 2, map = function(x, y, p) return p.k * (x - y) ^ 2 end, parameters = "
                   "{ k = 2 }"},
        {"int32", "inputs = 2, op = 'max', map = function(x, y) return x * y + 1 end"},
        {"uint32", "inputs = 2, op = 'argmin', map = function(x, y) return x - y end"},
        {"float", "op = 'argmax', map = function(x) return sin(7 * x) end"},
        {"double", "op = 'min', map = function(x) return exp(x) / 3 end"},
        {"float", "op = 'product', map = function(x) return 1 + x / 65536 end"},
        {"float", "op = 'all', map = function(x) return where(lt(x, 2), 1, 0) end"},
    };
    for (size_t m = 0; m < sizeof maps / sizeof *maps; m++)
        for (int a = 0; a < ALGORITHMS; a++) {
            if (!drawn(m + (uint64_t)a, 3))
                continue;
            char schedule[64];
            snprintf(schedule, sizeof schedule, "%s threads=64", algorithms[a]);
            scene s;
            scene_open(&s, reduce_text(maps[m].dtype, maps[m].more), schedule);
            for (int64_t n = 0; n < 30000; n = 5 * n + 3)
                scene_expect(&s, n, 1, (int)n % 5, false, (uint64_t)n + 1);
            scene_close(&s);
        }
}

/* Kernels of float that several calls of a test take, each built once. */
typedef struct shelf {
    scene scenes[8];
    char words[8][64]; /* the text behind the dtype */
    int count;
} shelf;

static scene *from_shelf(shelf *all, const char *op, const char *schedule) {
    int i = 0;
    while (i < all->count && strcmp(all->words[i], op) != 0)
        i++;
    if (i < all->count)
        return &all->scenes[i];
    assert_in_range(all->count, 0, 7);
    char more[64];
    snprintf(more, sizeof more, "op = '%s'", op);
    snprintf(all->words[i], sizeof all->words[i], "%s", op);
    scene_open(&all->scenes[i], reduce_text("float", more), schedule);
    all->count++;
    return &all->scenes[i];
}

static void clear_shelf(shelf *all) {
    for (int i = 0; i < all->count; i++)
        scene_close(&all->scenes[i]);
    all->count = 0;
}

/* One call with chosen data: the bits of result and index. */
typedef struct outcome {
    double result;
    int64_t index;
} outcome;

static outcome reduce_floats(shelf *all, const char *op, const char *schedule, const float *input,
                             int64_t count) {
    scene *s = from_shelf(all, op, schedule);
    void *data, *result, *index, *temporary;
    size_t bytes;
    expect_ok(sg_alloc(context, (size_t)count * sizeof *input + 1, &data));
    expect_ok(sg_alloc(context, sizeof(float), &result));
    expect_ok(sg_alloc(context, sizeof(int64_t), &index));
    expect_ok(sg_reduce_bytes(s->kernel, count, 0, &bytes));
    expect_ok(sg_alloc(context, bytes + 1, &temporary));
    memcpy(data, input, (size_t)count * sizeof *input);
    const bool places = strncmp(op, "arg", 3) == 0;
    const sg_reduce_arguments a = {.struct_size = sizeof a,
                                   .input = data,
                                   .count = count,
                                   .result = result,
                                   .index = places ? index : NULL,
                                   .temporary = temporary,
                                   .temporary_bytes = bytes};
    expect_ok(sg_reduce(s->kernel, &a, NULL));
    expect_ok(sg_synchronize(context, NULL));
    const outcome out = {*(float *)result, places ? *(int64_t *)index : 0};
    sg_free(context, data);
    sg_free(context, result);
    sg_free(context, index);
    sg_free(context, temporary);
    return out;
}

/* NaN, ties, infinities and empty lists as the documentation describes them, with the numbers
   written out instead of the reference. */
static void test_special_values(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    static float x[COUNT];
    static shelf all; /* of an algorithm */
    for (int a = 0; a < ALGORITHMS; a++) {
        if (!drawn((uint64_t)a, 2))
            continue;
        for (int i = 0; i < COUNT; i++)
            x[i] = (float)(i % 7);
        outcome o = reduce_floats(&all, "argmin", algorithms[a], x, COUNT);
        assert_true(o.result == 0 && o.index == 0);
        o = reduce_floats(&all, "argmax", algorithms[a], x, COUNT);
        assert_true(o.result == 6 && o.index == 6);
        x[2500] = -INFINITY;
        o = reduce_floats(&all, "argmin", algorithms[a], x, COUNT);
        assert_true(isinf(o.result) && o.index == 2500);
        x[1700] = x[2900] = NAN;
        o = reduce_floats(&all, "argmin", algorithms[a], x, COUNT);
        assert_true(isnan(o.result) && o.index == 1700);
        o = reduce_floats(&all, "argmax", algorithms[a], x, COUNT);
        assert_true(isnan(o.result) && o.index == 1700);
        assert_true(isnan(reduce_floats(&all, "min", algorithms[a], x, COUNT).result));
        assert_true(isnan(reduce_floats(&all, "max", algorithms[a], x, COUNT).result));
        assert_true(reduce_floats(&all, "any", algorithms[a], x, COUNT).result == 1);
        assert_true(reduce_floats(&all, "all", algorithms[a], x, COUNT).result == 0);
        for (int i = 0; i < COUNT; i++)
            x[i] = INFINITY;
        o = reduce_floats(&all, "argmin", algorithms[a], x, COUNT);
        assert_true(isinf(o.result) && o.index == 0);
        o = reduce_floats(&all, "argmin", algorithms[a], x, 0);
        assert_true(o.result == (double)INFINITY && o.index == -1);
        o = reduce_floats(&all, "argmax", algorithms[a], x, 0);
        assert_true(o.result == -(double)INFINITY && o.index == -1);
        assert_true(reduce_floats(&all, "sum", algorithms[a], x, 0).result == 0);
        assert_true(reduce_floats(&all, "product", algorithms[a], x, 0).result == 1);
        clear_shelf(&all);
    }
}

/* Sums of floats have the same bits on every run, in whatever order blocks end; and whatever the
   alignment of the input. */
static void test_deterministic(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    for (int a = 0; a < ALGORITHMS; a++) {
        float *data = malloc((COUNT + 4) * sizeof *data), first = 0;
        scene s;
        scene_open(&s, reduce_text("float", "op = 'sum'"), algorithms[a]);
        size_t bytes;
        void *temporary;
        expect_ok(sg_reduce_bytes(s.kernel, COUNT, 0, &bytes));
        expect_ok(sg_alloc(context, bytes, &temporary));
        for (int run = 0; run < 12; run++) {
            float *input = data + run % 4, result = NAN;
            for (int i = 0; i < COUNT; i++)
                input[i] = sinf((float)i);
            const sg_reduce_arguments r = {.struct_size = sizeof r,
                                           .input = input,
                                           .count = COUNT,
                                           .result = &result,
                                           .temporary = temporary,
                                           .temporary_bytes = bytes};
            expect_ok(sg_reduce(s.kernel, &r, NULL));
            if (run == 0)
                first = result;
            assert_memory_equal(&result, &first, sizeof first);
        }
        sg_free(context, temporary);
        scene_close(&s);
        free(data);
    }
}

/* Offsets out of range spoil results and nothing else. */
static void test_wild_offsets(void **state) {
    (void)state;
    scene s;
    scene_open(&s, reduce_text("int64", "segmented = true"), NULL);
    int64_t input[100], result[6];
    for (int i = 0; i < 100; i++)
        input[i] = 1;
    const int64_t offsets[] = {-5, 10, INT64_MIN, INT64_MAX, 3, 1000, 90};
    const sg_reduce_arguments r = {.struct_size = sizeof r,
                                   .input = input,
                                   .count = 100,
                                   .offsets = offsets,
                                   .segments = 6,
                                   .result = result};
    expect_ok(sg_reduce(s.kernel, &r, NULL));
    const int64_t expected[] = {10, 0, 100, 0, 97, 0};
    assert_memory_equal(result, expected, sizeof expected);
    scene_close(&s);
}

static shelf judged;

/* The verdict on three elements, the second of which is given. */
static int64_t count_wrong(const char *op, double second, double result, int64_t index) {
    scene *s = from_shelf(&judged, op, NULL);
    float input[] = {1, (float)second, 3}, results[] = {(float)result};
    int64_t count = 3;
    void *before[] = {input, NULL, NULL}, *after[] = {NULL, results, &index};
    const family_call given = {&count, NULL, before}, made = {&count, NULL, after};
    family_verdict v;
    s->subject->family->lists.judge(s->job, s->subject, s->made->program, &given, &made, &v);
    assert_int_equal(v.undecidable, 0);
    assert_true((v.wrong > 0) == (v.first_wrong[0] != '\0'));
    return v.wrong;
}

static void test_verdicts(void **state) {
    (void)state;
    assert_int_equal(count_wrong("sum", 2, 6, 0), 0);
    assert_int_equal(count_wrong("sum", 2, 6.0001, 0), 1);
    assert_int_equal(count_wrong("sum", 2, NAN, 0), 1);
    assert_int_equal(count_wrong("sum", INFINITY, INFINITY, 0), 0);
    assert_int_equal(count_wrong("sum", INFINITY, 5, 0), 1);
    assert_int_equal(count_wrong("sum", INFINITY, NAN, 0), 1);
    assert_int_equal(count_wrong("sum", NAN, NAN, 0), 0);
    assert_int_equal(count_wrong("sum", NAN, 5, 0), 1);
    assert_int_equal(count_wrong("product", 2, 6, 0), 0);
    assert_int_equal(count_wrong("product", 2, 6.00001, 0), 1);
    assert_int_equal(count_wrong("product", 0, 1e-30, 0), 1);
    assert_int_equal(count_wrong("product", INFINITY, 1e30, 0), 1);
    assert_int_equal(count_wrong("min", 2, 1.0000001, 0), 1);
    assert_int_equal(count_wrong("min", NAN, 1, 0), 1);
    assert_int_equal(count_wrong("min", -INFINITY, 1, 0), 1);
    assert_int_equal(count_wrong("all", 0, 0, 0), 0);
    assert_int_equal(count_wrong("all", 0, 1, 0), 1);
    assert_int_equal(count_wrong("any", 0, 0, 0), 1);
    assert_int_equal(count_wrong("argmin", 1, 1, 0), 0);
    assert_int_equal(count_wrong("argmin", 1, 1, 1), 1);
    assert_int_equal(count_wrong("argmax", 1, 1, 0), 2);
    assert_int_equal(count_wrong("argmax", NAN, NAN, 1), 0);
    assert_int_equal(count_wrong("argmax", NAN, NAN, 2), 1);
    clear_shelf(&judged);
}

static void refuse_body(job *j, void *argument) {
    const char *const *text = argument;
    const subject *s = spec_load(j, "test.lua", text[0], NULL)->subjects[0];
    const family_request request = {
        .schedule = text[1], .gpu = gpu_find("sm_90"), .size = {1 << 20, 1, 1}};
    s->family->build(j, s, &request);
}

static void refuse_old_body(job *j, void *argument) {
    const subject *s = spec_load(j, "test.lua", argument, NULL)->subjects[0];
    const family_request request = {
        .schedule = "cluster=4", .gpu = gpu_find("sm_80"), .size = {1 << 20, 1, 1}};
    s->family->build(j, s, &request);
}

static void test_clusters_need_an_architecture(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, refuse_old_body, "return reduce { name = 'r' }", &j),
                     FAULT_PLAN);
    assert_non_null(
        strstr(job_error_text(j), "clusters of blocks need sm_90 or newer, and this is sm_80"));
    job_end(j);
}

static void assert_refused(const char *more, const char *schedule, const char *message) {
    char text[512];
    snprintf(text, sizeof text, "return reduce { name = 'r', %s }", more);
    const char *texts[] = {text, schedule};
    job *j;
    assert_int_not_equal(job_run(&allocator_libc, refuse_body, texts, &j), FAULT_NONE);
    if (strstr(job_error_text(j), message) == NULL)
        fail_msg("%s: '%s' instead of '%s'", text, job_error_text(j), message);
    job_end(j);
}

static void test_refusals(void **state) {
    (void)state;
    assert_refused(
        LAST, "coalesced",
        "algorithm coalesced: it changes the order of the elements, so the operator must "
        "commute");
    assert_refused("op = 'sum', segmented = true", "shared",
                   "algorithm shared: segments are reduced by one-pass and runs alone");
    assert_refused("op = 'sum'", "shared items=4",
                   "algorithm shared: a thread takes 2 elements, not 4");
    assert_refused("op = 'sum'", "coarsened blocks=4", "leave out blocks");
    assert_refused("op = 'sum'", "shared cluster=4",
                   "leave out blocks, share, alone, cluster and run");
    assert_refused("op = 'sum'", "cluster=3", "cluster must be a power of two, not 3");
    assert_refused("op = 'sum'", "cluster=8 blocks=100",
                   "blocks must be a multiple of cluster=8, not 100");
    assert_refused("op = 'sum', segmented = true", "share=4", "leave out share, alone and cluster");
    assert_refused("op = 'sum'", "items=6", "items must be a multiple of that, not 6");
    assert_refused("op = 'and'", NULL, "op: and is for whole numbers, not for float");
    assert_refused("op = 'argmix'", NULL, "did you mean 'argmin'?");
    assert_refused("op = 'argmin', identity = 0", NULL,
                   "identity is for an op that is a function; argmin has its own");
    assert_refused("inputs = 2", NULL, "map is missing");
    assert_refused("inputs = 3", NULL, "inputs: expected a whole number from 1 to 2");
    assert_refused("segmented = 1", NULL, "segmented: expected true or false");
    assert_refused("op = function(a, b) return a end", NULL, "identity is missing");
    assert_refused("segment = true", NULL, "did you mean 'segmented'?");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_segments),       cmocka_unit_test(test_numbers_of_segments),
    cmocka_unit_test(test_own_operators),  cmocka_unit_test(test_maps),
    cmocka_unit_test(test_special_values), cmocka_unit_test(test_deterministic),
    cmocka_unit_test(test_wild_offsets),   cmocka_unit_test(test_verdicts),
    cmocka_unit_test(test_refusals),       cmocka_unit_test(test_clusters_need_an_architecture),
};

TEST_GROUP(reduce, open_cpu, close_context)
