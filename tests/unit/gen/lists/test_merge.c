/* Merges on the cpu device: own orders, many tiles a block, lists of unequal length, NaN, and lists
   that are not sorted at all. The cases have the product of algorithms, dtypes and sizes. */
#include "tests/unit/draw.h"
#include "tests/unit/gen/lists/family_scene.h"
#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

#include <math.h>

static const char *const algorithms[] = {"merge-path", "one-launch", "co-rank", "tiled",
                                         "circular"};
static const char *const dtypes[] = {"float", "double", "int32", "int64", "uint32"};
enum { ALGORITHMS = 5, DTYPES = 5 };

/* Random data of n elements, of which a has none, all, one, half or a third. */
static void expect_shares(scene *s, int64_t n, int kind, int offset) {
    const int64_t shares[] = {0, n, n > 0, n / 2, n / 3};
    for (int i = 0; i < 5; i++)
        scene_draw(s, shares[i], n - shares[i], kind, offset, false, (uint64_t)(n + i));
}

/* Blocks merge many tiles each, in one or two buffers: by a fixed number of tiles, and by as many
   blocks as run at once. Diagonals are searched in groups, and between those of a block's ends. */
static void test_shares(void **state) {
    (void)state;
    static const char *const schedules[] = {
        "one-launch threads=32 items=1 rounds=11 stages=1",
        "one-launch threads=64 items=2 rounds=7 stages=2",
        "one-launch threads=64 items=3 blocks=1 stages=1",
        "one-launch threads=128 items=1 blocks=1 stages=2",
        "merge-path threads=32 items=1 lanes=1 early=1",          /* several blocks of diagonals, */
        "merge-path threads=64 items=3 lanes=4 split=64 early=5", /* and of fewer */
    };
    for (size_t k = 0; k < sizeof schedules / sizeof *schedules; k++) {
        scene s;
        scene_open(&s, "return merge { name = 'm', keys = 'double', values = 'int32' }",
                   schedules[k]);
        for (int kind = 0; kind < DRAW_KINDS; kind++)
            if (drawn(k + (uint64_t)kind, 2))
                expect_shares(&s, 9001 + 1999 * kind, kind, kind);
        scene_close(&s);
    }
}

/* A strict weak order by the user: by the absolute value and a parameter, so that unlike keys are
   equal, and which comes first is seen. A run has a drawn half of the product. */
static void test_own_orders(void **state) {
    (void)state;
    for (int a = 0; a < ALGORITHMS; a++)
        for (int d = 0; d < DTYPES; d++) {
            if (!drawn((uint64_t)(a + d), 2))
                continue;
            char text[256];
            snprintf(text, sizeof text,
                     "return merge { name = 'm', keys = '%s', values = 'int64', algorithm = '%s', "
                     "order = function(a, b, p) return gt(abs(a) * p.s, abs(b) * p.s) end }",
                     dtypes[d], algorithms[a]);
            scene s;
            scene_open(&s, text, NULL);
            for (int64_t n = 1; n < 30000; n = 3 * n + 2)
                scene_draw(&s, n, 1, n % 2 ? DRAW_FEW : DRAW_RANDOM, 1, false, (uint64_t)n);
            scene_draw(&s, 5000, 1, DRAW_WILD, 1, false, 9);
            scene_close(&s);
        }
}

/* NaN is last where keys ascend and first where they descend; zeros are equal, so that those of a
   come first. */
static void test_nan(void **state) {
    (void)state;
    for (int down = 0; down < 2; down++) {
        scene s;
        scene_open(&s,
                   down ? "return merge { name = 'm', keys = 'double', order = 'descending' }"
                        : "return merge { name = 'm', keys = 'double' }",
                   NULL);
        double up[2][3] = {{-INFINITY, -0.0, NAN}, {0, INFINITY, NAN}};
        double reverse[2][3] = {{NAN, -0.0, -INFINITY}, {NAN, INFINITY, 0}};
        const double first[] = {-INFINITY, -0.0, 0, INFINITY, NAN, NAN};
        double *const lists[2] = {down ? reverse[0] : up[0], down ? reverse[1] : up[1]};
        double output[6];
        int64_t sizes[2] = {3, 3};
        void *arrays[3] = {lists[0], lists[1], NULL};
        const family_call call = {sizes, NULL, arrays};
        const family_verdict v = scene_run(&s, &call, 0, false);
        assert_int_equal(v.wrong, 0);
        assert_int_equal(v.undecidable, 0);
        const sg_grid grids[] = {{.data = lists[0], .size = {3}},
                                 {.data = lists[1], .size = {3}},
                                 {.data = output, .size = {6}}};
        void *temporary;
        sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 3};
        expect_ok(sg_temporary_bytes(s.kernel, &a, &a.temporary_bytes));
        expect_ok(sg_alloc(context, a.temporary_bytes, &temporary));
        a.temporary = temporary;
        expect_ok(sg_launch(s.kernel, &a, NULL));
        for (int i = 0; i < 6; i++) {
            const double wanted = first[down ? 5 - i : i];
            assert_true(output[i] == wanted || (isnan(output[i]) && isnan(wanted)));
        }
        assert_true(signbit(output[down ? 3 : 1])); /* of a */
        assert_false(signbit(output[down ? 4 : 2]) && !down);
        sg_free(context, temporary);
        scene_close(&s);
    }
}

/* Of lists that are not sorted, or not by a strict weak order, every output is still some input
   with its value, and nothing else is touched. */
static void test_unsorted(void **state) {
    (void)state;
    for (int a = 0; a < ALGORITHMS; a++)
        for (int own = 0; own < 2; own++) {
            char text[256], schedule[64];
            snprintf(text, sizeof text,
                     "return merge { name = 'm', keys = 'int32', values = 'int32'%s }",
                     own ? ", order = function(a, b) return ge(a, b) end" : "");
            snprintf(schedule, sizeof schedule, "%s threads=32 items=%s", algorithms[a],
                     a == 0 ? "1" : "3"); /* several blocks of diagonals */
            scene s;
            scene_open(&s, text, schedule);
            for (uint64_t seed = 1; seed < 11; seed++) {
                family_call call;
                const int64_t size[AXES] = {5000, 1, 1};
                s.subject->family->lists.draw(s.job, s.subject, s.made->program, size, 0, NULL,
                                              seed, &call);
                uint64_t random = seed;
                for (int list = 0; list < 2; list++)
                    for (int64_t i = 0; i < call.sizes[list]; i++) /* a key is its value */
                        ((int32_t *)call.arrays[list])[i] = ((int32_t *)call.arrays[2 + list])[i] =
                            (int32_t)draw_below(&random, 1000);
                sg_grid grids[6] = {{0}};
                scene_memory memory[6];
                for (int i = 0; i < 6; i++) {
                    grids[i].size[0] =
                        program_extent_of(&s.made->program->arrays[i].lists.extent[0], call.sizes);
                    memory[i] = scene_alloc((size_t)grids[i].size[0] * 4, 0);
                    grids[i].data = memory[i].data;
                    if (i < 4)
                        memcpy(memory[i].data, call.arrays[i], memory[i].bytes);
                }
                sg_arguments arguments = {
                    .struct_size = sizeof arguments, .grids = grids, .grid_count = 6};
                expect_ok(sg_temporary_bytes(s.kernel, &arguments, &arguments.temporary_bytes));
                scene_memory temporary = scene_alloc(arguments.temporary_bytes, 0);
                arguments.temporary = temporary.data;
                expect_ok(sg_launch(s.kernel, &arguments, NULL));
                for (int64_t i = 0; i < 5000; i++) {
                    const int32_t key = ((int32_t *)grids[4].data)[i];
                    assert_in_range(key, 0, 999);
                    assert_int_equal(((int32_t *)grids[5].data)[i], key);
                }
                for (int i = 0; i < 6; i++)
                    scene_check_guards(&memory[i]);
                scene_check_guards(&temporary);
            }
            scene_close(&s);
        }
}

/* The call by names, on the file of specs/. */
static void test_call(void **state) {
    (void)state;
    sg_kernel *k = NULL;
    expect_ok(sg_build(context, "specs/merge.lua", NULL, &k));
    const int32_t a[] = {1, 3, 3, 9}, b[] = {0, 3, 4};
    const float a_values[] = {10, 11, 12, 13}, b_values[] = {20, 21, 22};
    static const int32_t keys[] = {0, 1, 3, 3, 3, 4, 9};
    static const float values[] = {20, 10, 11, 12, 21, 22, 13};
    int32_t output[7];
    float output_values[7];
    sg_merge_arguments m = {.struct_size = sizeof m,
                            .a = a,
                            .b = b,
                            .a_count = 4,
                            .b_count = 3,
                            .output = output,
                            .a_values = a_values,
                            .b_values = b_values,
                            .output_values = output_values};
    expect_ok(sg_merge_bytes(k, 4, 3, &m.temporary_bytes));
    expect_ok(sg_alloc(context, m.temporary_bytes, &m.temporary));
    expect_ok(sg_merge(k, &m, NULL));
    assert_memory_equal(output, keys, sizeof keys);
    assert_memory_equal(output_values, values, sizeof values);
    m.b_count = 0;
    expect_ok(sg_merge(k, &m, NULL));
    assert_memory_equal(output, a, sizeof a);
    sg_free(context, m.temporary);
    sg_release(k);
}

static void test_plans(void **state) {
    (void)state;
    sg_kernel *k = NULL;
    const sg_build_options rounds = {.struct_size = sizeof rounds,
                                     .text = "return merge { name = 'm', algorithm = 'co-rank', "
                                             "schedule = { rounds = 2 } }"};
    assert_int_equal(sg_build(context, "t.lua", &rounds, &k), SG_ERROR_PLAN);
    assert_non_null(
        strstr(sg_error(context), "algorithm co-rank: it has no rounds; one-launch, tiled and"));
    const sg_build_options stages = {.struct_size = sizeof stages,
                                     .text = "return merge { name = 'm' }",
                                     .schedule = "merge-path stages=2"};
    assert_int_equal(sg_build(context, "t.lua", &stages, &k), SG_ERROR_PLAN);
    assert_non_null(strstr(sg_error(context), "merge-path: it has no stages; one-launch has"));
    const sg_build_options crowd = {.struct_size = sizeof crowd,
                                    .text = "return merge { name = 'm' }",
                                    .schedule = "one-launch threads=1024 items=1 blocks=32"};
    assert_int_equal(sg_build(context, "t.lua", &crowd, &k), SG_ERROR_PLAN);
    assert_non_null(strstr(sg_error(context), "32 blocks of 1024 threads, but a multi"));
    const sg_build_options large = {.struct_size = sizeof large,
                                    .text = "return merge { name = 'm', keys = 'double' }",
                                    .schedule = "tiled threads=1024 items=32"};
    assert_int_equal(sg_build(context, "t.lua", &large, &k), SG_ERROR_PLAN);
    assert_non_null(strstr(sg_error(context), "bytes of shared memory"));
    static const struct {
        int64_t size;
        const char *keys, *plan;
    } planned[] = {
        {1 << 10, "keys = 'int32'", "one-launch threads=64 items=5 stages=1 blocks=3"},
        {1 << 18, "keys = 'int32'", "one-launch threads=128 items=5 stages=1 blocks=5"},
        {1 << 22, "keys = 'int32'", "one-launch threads=256 items=11 stages=1 blocks=6"},
        {1 << 24, "keys = 'int32'",
         "merge-path threads=256 items=17 lanes=4 blocks=5 split=128 early=660"},
        {1 << 28, "keys = 'int32'",
         "merge-path threads=512 items=19 lanes=1 blocks=3 split=128 early=396"},
        {1 << 24, "keys = 'double'",
         "merge-path threads=256 items=15 lanes=4 blocks=4 split=128 early=528"},
        {1 << 24, "keys = 'float', values = 'int32'",
         "merge-path threads=256 items=7 lanes=8 blocks=6 split=256 early=792"},
        {1 << 24, "keys = 'int32', algorithm = 'one-launch', schedule = { threads = 32 }",
         "one-launch threads=32 items=11 stages=1 blocks=32"},
    };
    for (size_t i = 0; i < sizeof planned / sizeof *planned; i++) {
        char text[128];
        snprintf(text, sizeof text, "return merge { name = 'm', %s }", planned[i].keys);
        sg_build_options sized = {
            .struct_size = sizeof sized, .text = text, .size = {planned[i].size}, .source_only = 1};
        for (int again = 0; again < 2; again++) { /* the line parses back */
            expect_ok(sg_build(context, "t.lua", &sized, &k));
            assert_string_equal(sg_kernel_text(k, SG_TEXT_PLAN), planned[i].plan);
            sg_release(k);
            sized.schedule = planned[i].plan;
        }
    }
    sg_explanation *e;
    const sg_build_options plain = {
        .struct_size = sizeof plain, .text = "return merge { name = 'm' }", .size = {1 << 26}};
    expect_ok(sg_explain(context, "t.lua", &plain, &e));
    assert_int_equal(e->row_count, ALGORITHMS);
    for (int i = 0; i < e->row_count; i++) {
        assert_string_equal(e->rows[i].method, algorithms[i]);
        assert_non_null(e->rows[i].plan);
        assert_non_null(e->rows[i].note);
        assert_int_equal(e->rows[i].chosen, i == 0);
    }
    sg_explanation_free(e);
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const refused[][2] = {
        {"return merge { name = 'm', order = 3 }",
         "order: expected \"ascending\", \"descending\" or a function, got the number 3"},
        {"return merge { name = 'm', order = 'ascend' }",
         "order: expected one of ascending, descending, got the string 'ascend'; did you mean "
         "'ascending'?"},
        {"return merge { name = 'm', order = function(a, b) return a - b end }",
         "the value that order returns: expected a condition such as lt(a, b), got a number"},
        {"return merge { name = 'm', values = 'halb' }",
         "values: expected one of float, double, half, bfloat16, int32, int64, uint32, got the "
         "string 'halb'; did you mean 'half'?"},
        {"return merge { name = 'm', dtype = 'float' }",
         "unknown key 'dtype' in merge; known: name, keys, values, order, parameters, algorithm, "
         "schedule, tune"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect_error(refused[i][0], 1, refused[i][1]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_shares),   cmocka_unit_test(test_own_orders),
    cmocka_unit_test(test_nan),      cmocka_unit_test(test_unsorted),
    cmocka_unit_test(test_call),     cmocka_unit_test(test_plans),
    cmocka_unit_test(test_refusals),
};

TEST_GROUP(merge, open_cpu, close_context)
