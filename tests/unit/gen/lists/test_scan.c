/* Scans on the cpu device: own operators, special values, plans. The cases have the product of
   operators, dtypes, algorithms and sizes. A run has a drawn half of the products here. */
#include "tests/unit/draw.h"
#include "tests/unit/gen/lists/family_scene.h"
#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

#include <math.h>

static const char *const algorithms[] = {"look-back",     "persistent", "kogge-stone",
                                         "double-buffer", "brent-kung", "runs"};
static const char *const dtypes[] = {"float", "double", "int32", "int64", "uint32"};
enum { ALGORITHMS = 6, DTYPES = 5 };

/* Small tiles; a block of runs is one thread. */
static void print_schedule(char *out, size_t size, int algorithm, int threads) {
    if (strcmp(algorithms[algorithm], "runs") == 0)
        snprintf(out, size, "runs run=1024");
    else
        snprintf(out, size, "%s threads=%d", algorithms[algorithm], threads);
}

static const char *scan_text(const char *dtype, const char *more) {
    static char text[512];
    snprintf(text, sizeof text, "return scan { name = 's', dtype = '%s', %s }", dtype, more);
    return text;
}

/* An operator that does not commute: the last element that is not 0. */
static void test_own_operators(void **state) {
    (void)state;
    for (int a = 0; a < ALGORITHMS; a++)
        for (int kind = 0; kind < 2; kind++)
            for (int d = (a + kind) % 2; d < DTYPES; d += 2) {
                if (!drawn((uint64_t)(d / 2 + a / 2), 2))
                    continue;
                char schedule[64], more[256];
                print_schedule(schedule, sizeof schedule, a, 64);
                snprintf(more, sizeof more,
                         "op = function(a, b) return where(eq(b, 0), a, b) end, identity = 0, "
                         "map = function(x) return where(gt(x, 0.0), x, 0) end, kind = '%s', "
                         "init = 3, deterministic = %s",
                         kind ? "exclusive" : "inclusive", a == 0 && kind ? "true" : "false");
                scene s;
                scene_open(&s, scan_text(dtypes[d], more), schedule);
                for (int64_t n = 1; n < 20000; n = 3 * n + 5)
                    scene_expect(&s, n, 1, (int)n % 3, n % 2 == 0, (uint64_t)n);
                scene_close(&s);
            }
}

/* NaN and infinities reach the results that they should and no others. */
static void test_special_values(void **state) {
    (void)state;
    static const char *const ops[] = {"sum", "product", "min", "max", "any"};
    for (int o = 0; o < 5; o++)
        for (int a = 0; a < ALGORITHMS; a++) {
            if (!drawn((uint64_t)(o + a), 2))
                continue;
            char more[64], schedule[64];
            snprintf(more, sizeof more, "op = '%s'", ops[o]);
            print_schedule(schedule, sizeof schedule, a, 32);
            scene s;
            scene_open(&s, scan_text(a % 2 ? "double" : "float", more), schedule);
            for (int kind = 0; kind < 4; kind++) {
                family_call call;
                const int64_t size[AXES] = {1000, 1, 1};
                s.subject->family->lists.draw(s.job, s.subject, s.made->program, size, 0, NULL, 5,
                                              &call);
                const dtype type = s.subject->dtype;
                const double special[] = {NAN, INFINITY, -INFINITY, -0.0};
                pattern_set(type, call.arrays[0], 517, (pattern_value){.real = special[kind]});
                if (kind == 1)
                    pattern_set(type, call.arrays[0], 801, (pattern_value){.real = -INFINITY});
                const family_verdict v = scene_run(&s, &call, 0, false);
                if (v.wrong != 0)
                    fail_msg("%s %s: %s", s.text, s.made->plan, v.first_wrong);
                assert_true(v.undecidable == 0);
            }
            scene_close(&s);
        }
}

/* The verdict is sharp: one output that is off by a little more than rounding allows, or finite
   instead of infinite, is reported as wrong, and no other is. */
static void test_verdicts(void **state) {
    (void)state;
    static const struct {
        const char *dtype, *more;
        double at, wrong; /* an input, 0 where it stays; what the output becomes, 0: a little off */
    } cases[] = {
        {"float", "op = 'sum'", 0, 0},
        {"double", "op = 'product'", 0, 0},
        {"float", "op = 'max'", 0, 0},
        {"int64", "op = 'sum', kind = 'exclusive'", 0, 0},
        {"float", "op = function(a, b) return max(a, b) end, identity = -math.huge", 0, 0},
        {"float", "op = 'sum'", INFINITY, 5},
        {"double", "op = 'product'", INFINITY, 5},
        {"double", "op = 'sum'", NAN, 5},
        {"double", "op = 'sum'", 0, INFINITY},
        {"double", "op = 'min'", 0, NAN},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        scene s;
        scene_open(&s, scan_text(cases[c].dtype, cases[c].more), NULL);
        const dtype type = s.subject->dtype;
        const program *p = s.made->program;
        const int64_t size[AXES] = {300, 1, 1};
        family_call before, after;
        s.subject->family->lists.draw(s.job, s.subject, p, size, 0, NULL, 4, &before);
        if (cases[c].at != 0)
            pattern_set(type, before.arrays[0], 100, (pattern_value){.real = cases[c].at});
        after = before;
        after.arrays = job_array(s.job, 2, sizeof *after.arrays);
        draw_array(s.job, p, 1, &after);
        const sg_grid grids[] = {{.data = before.arrays[0], .size = {300}},
                                 {.data = after.arrays[1], .size = {300}}};
        sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2};
        expect_ok(sg_temporary_bytes(s.kernel, &a, &a.temporary_bytes));
        expect_ok(sg_alloc(context, a.temporary_bytes, &a.temporary));
        expect_ok(sg_launch(s.kernel, &a, NULL));
        sg_free(context, a.temporary);
        family_verdict v;
        s.subject->family->lists.judge(s.job, s.subject, p, &before, &after, &v);
        assert_int_equal(v.wrong, 0);
        pattern_value one = pattern_get(type, after.arrays[1], 200);
        if (type >= DTYPE_REALS)
            one.whole++;
        else
            one.real = cases[c].wrong != 0 ? cases[c].wrong : one.real * 1.01 + 0.01;
        pattern_set(type, after.arrays[1], 200, one);
        s.subject->family->lists.judge(s.job, s.subject, p, &before, &after, &v);
        if (v.wrong != 1 || strncmp(v.first_wrong, "output at 200: ", 15) != 0)
            fail_msg("case %d: %lld wrong; %s", (int)c, (long long)v.wrong, v.first_wrong);
        scene_close(&s);
    }
}

/* Parameters in map and init, and the caller's in place of defaults. */
static void test_parameters(void **state) {
    (void)state;
    scene s;
    scene_open(&s,
               "return scan { name = 's', dtype = 'float', kind = 'exclusive', init = param 'b', "
               "map = function(x, p) return p.k * x * x end, parameters = { k = 2, b = 0.5 } }",
               NULL);
    scene_expect(&s, 10000, 1, 1, true, 3);
    family_call call;
    const int64_t size[AXES] = {3000, 1, 1};
    s.subject->family->lists.draw(s.job, s.subject, s.made->program, size, 0, NULL, 5, &call);
    call.parameters[0] = -4;
    call.parameters[1] = 0.25;
    assert_true(scene_run(&s, &call, 0, false).wrong == 0);
    scene_close(&s);
}

/* Deterministic float sums have the same bits on every run, with many blocks at a time. */
static void test_deterministic(void **state) {
    (void)state;
    scene s;
    scene_open(&s, scan_text("float", "deterministic = true"), "look-back threads=32 items=3");
    enum { COUNT = 50000 };
    float *input, *output, *first = malloc(COUNT * sizeof *first);
    void *memory[3];
    expect_ok(sg_alloc(context, COUNT * sizeof(float), &memory[0]));
    expect_ok(sg_alloc(context, COUNT * sizeof(float), &memory[1]));
    input = memory[0];
    output = memory[1];
    uint64_t seed = 9;
    for (int i = 0; i < COUNT; i++)
        input[i] = (float)draw_real(&seed);
    const sg_grid grids[] = {{.data = input, .size = {COUNT}}, {.data = output, .size = {COUNT}}};
    sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2};
    expect_ok(sg_temporary_bytes(s.kernel, &a, &a.temporary_bytes));
    expect_ok(sg_alloc(context, a.temporary_bytes, &memory[2]));
    a.temporary = memory[2];
    for (int run = 0; run < 20; run++) {
        expect_ok(sg_launch(s.kernel, &a, NULL));
        if (run == 0)
            memcpy(first, output, COUNT * sizeof *first);
        assert_memory_equal(output, first, COUNT * sizeof *first);
    }
    for (int i = 0; i < 3; i++)
        sg_free(context, memory[i]);
    free(first);
    scene_close(&s);
}

/* The call by names, on the file of specs/, in place; a scan of nothing. */
static void test_call(void **state) {
    (void)state;
    sg_kernel *k = NULL;
    expect_ok(sg_build(context, "specs/scan.lua", NULL, &k));
    enum { COUNT = 10000 };
    void *list;
    sg_scan_arguments a = {.struct_size = sizeof a, .count = COUNT};
    expect_ok(sg_scan_bytes(k, COUNT, &a.temporary_bytes));
    expect_ok(sg_alloc(context, a.temporary_bytes, &a.temporary));
    expect_ok(sg_alloc(context, COUNT * sizeof(int32_t), &list));
    for (int i = 0; i < COUNT; i++)
        ((int32_t *)list)[i] = i % 7 - 2;
    a.input = a.output = list;
    expect_ok(sg_scan(k, &a, NULL));
    int32_t sum = 0;
    for (int i = 0; i < COUNT; sum += i % 7 - 2, i++)
        assert_int_equal(((int32_t *)list)[i], sum);
    a.count = 0;
    expect_ok(sg_scan(k, &a, NULL));
    sg_free(context, a.temporary);
    sg_free(context, list);
    sg_release(k);
}

/* Impossible plans are refused with a reason; each of the others has a row. */
static void test_plans(void **state) {
    (void)state;
    const sg_build_options odd = {.struct_size = sizeof odd,
                                  .text = "return scan { name = 's', algorithm = 'brent-kung', "
                                          "schedule = { items = 3 } }"};
    sg_kernel *k = NULL;
    assert_int_equal(sg_build(context, "t.lua", &odd, &k), SG_ERROR_PLAN);
    assert_non_null(strstr(sg_error(context), "items must be even, not 3"));
    const sg_build_options large = {.struct_size = sizeof large,
                                    .text = "return scan { name = 's', dtype = 'double' }",
                                    .schedule = "threads=1024 items=32"};
    assert_int_equal(sg_build(context, "t.lua", &large, &k), SG_ERROR_PLAN);
    assert_non_null(strstr(sg_error(context), "bytes of shared memory"));
    /* A number of runs chooses them, on a GPU too. */
    static const char *const by_run[] = {"return scan { name = 's' }",
                                         "return reduce { name = 's' }"};
    for (int i = 0; i < 2; i++) {
        const sg_build_options runs = {.struct_size = sizeof runs,
                                       .text = by_run[i],
                                       .schedule = "run=4096",
                                       .arch = "sm_90",
                                       .source_only = 1};
        expect_ok(sg_build(context, "t.lua", &runs, &k));
        assert_string_equal(sg_kernel_text(k, SG_TEXT_PLAN), "runs run=4096");
        sg_release(k);
    }
    static const char *const refused[][2] = {
        {"persistent items=6", "items must be a multiple of that, not 6"},
        {"look-back stages=2", "stages is a number of persistent; leave it out"},
        {"kogge-stone blocks=1", "blocks is a number of persistent; leave it out"},
        {"look-back threads=64 draw=1", "draw is a number of persistent; leave it out"},
        {"persistent stages=1 ahead=2", "stages must be at least 2"},
        {"persistent threads=1024 blocks=3", "runs at most 2048 threads, not 3 blocks of 1024"},
        {"persistent items=28 stages=2 blocks=4", "not enough for 4 blocks of 57392"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const sg_build_options o = {.struct_size = sizeof o,
                                    .text = "return scan { name = 's' }",
                                    .schedule = refused[i][0],
                                    .arch = "sm_90"};
        assert_int_equal(sg_build(context, "t.lua", &o, &k), SG_ERROR_PLAN);
        if (strstr(sg_error(context), refused[i][1]) == NULL)
            fail_msg("%s", sg_error(context));
    }
    static const char *const chosen[][2] = {{"sm_90", "persistent"}, {NULL, "runs"}};
    for (int c = 0; c < 2; c++) {
        sg_explanation *e;
        const sg_build_options plain = {.struct_size = sizeof plain,
                                        .text = "return scan { name = 's' }",
                                        .arch = chosen[c][0]};
        expect_ok(sg_explain(context, "t.lua", &plain, &e));
        assert_int_equal(e->row_count, ALGORITHMS);
        for (int i = 0; i < e->row_count; i++) {
            assert_string_equal(e->rows[i].method, algorithms[i]);
            assert_non_null(e->rows[i].plan);
            assert_non_null(e->rows[i].note);
            assert_int_equal(e->rows[i].chosen, strcmp(algorithms[i], chosen[c][1]) == 0);
        }
        sg_explanation_free(e);
    }
}

typedef struct planned {
    const char *dtype;
    int64_t size;
    const char *arch, *schedule, *plan;
} planned;

static void planned_body(job *j, void *argument) {
    const planned *c = argument;
    const char *text = job_print(j, "return scan { name = 's', dtype = '%s' }", c->dtype);
    const subject *s = spec_load(j, "test.lua", text, NULL)->subjects[0];
    const family_request r = {
        .schedule = c->schedule, .gpu = gpu_find(c->arch), .size = {c->size, 1, 1}};
    assert_string_equal(s->family->build(j, s, &r)->plan, c->plan);
}

/* The size to plan for says how large a tile is and how many there are on a multiprocessor; smaller
 * ones where there is too little shared memory, and another algorithm for odd items. */
static void test_planned_sizes(void **state) {
    (void)state;
    static planned cases[] = {
        {"float", 100, "sm_90", NULL, "persistent threads=256 items=4 stages=2 blocks=4"},
        {"int32", 32768, "sm_90", NULL, "persistent threads=256 items=4 stages=2 blocks=4"},
        {"uint32", 65536, "sm_90", NULL, "persistent threads=256 items=8 stages=2 blocks=4"},
        {"uint32", 65537, "sm_90", NULL, "persistent threads=256 items=12 stages=2 blocks=4"},
        {"float", 1 << 20, "sm_90", NULL, "persistent threads=256 items=20 stages=3 blocks=3"},
        {"int32", 1 << 24, "sm_90", NULL,
         "persistent threads=256 items=28 stages=2 blocks=3 ahead=2"},
        {"int32", 1 << 28, "sm_90", NULL,
         "persistent threads=512 items=20 stages=2 blocks=2 ahead=2 draw=2"},
        {"double", 4096, "sm_90", NULL, "persistent threads=256 items=2 stages=2 blocks=4"},
        {"int64", 1 << 16, "sm_90", NULL, "persistent threads=256 items=10 stages=2 blocks=3"},
        {"double", 1 << 20, "sm_90", NULL, "persistent threads=256 items=18 stages=2 blocks=2"},
        {"double", 1 << 28, "sm_90", NULL,
         "persistent threads=512 items=10 stages=2 blocks=2 ahead=2 draw=2"},
        {"double", 1 << 28, "sm_86", NULL,
         "persistent threads=512 items=10 stages=2 blocks=1 ahead=2 draw=2"},
        {"int32", 1 << 28, "sm_75", NULL,
         "persistent threads=512 items=20 stages=1 blocks=1 draw=2"},
        {"float", 1 << 28, "sm_75", "threads=1024",
         "persistent threads=1024 items=12 stages=1 blocks=1"},
        {"float", 1 << 28, "sm_90", "ahead=2 draw=2",
         "persistent threads=512 items=20 stages=2 blocks=2 ahead=2 draw=2"},
        {"float", 1 << 28, "sm_90", "items=15", "look-back threads=256 items=15"},
        {"double", 1 << 28, "sm_90", "items=10",
         "persistent threads=256 items=10 stages=2 blocks=4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        job *j;
        if (job_run(&allocator_libc, planned_body, &cases[i], &j) != FAULT_NONE)
            fail_msg("%s", job_error(j));
        job_end(j);
    }
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const refused[][2] = {
        {"return scan { name = 's', op = 'and' }", "op: and is for whole numbers, not for float"},
        {"return scan { name = 's', op = function(a, b) return a + b end }",
         "identity is missing: the element e with op(e, a) = op(a, e) = a"},
        {"return scan { name = 's', identity = 0 }",
         "identity is for an op that is a function; sum has its own"},
        {"return scan { name = 's', deterministic = 1 }",
         "deterministic: expected true or false, got the number 1"},
        {"return scan { name = 's', kind = 'both' }",
         "kind: expected one of inclusive, exclusive, got the string 'both'"},
        {"return scan { name = 's', dtype = 'int64', init = 9007199254740993 }",
         "init: whole numbers beyond 2^53 cannot be given exactly"},
        {"return scan { name = 's', dtype = 'int32', op = function(a, b) return a + b end, "
         "identity = 0.5 }",
         "identity 0.5 is not whole, as int32 is"},
        {"return scan { name = 's', dtype = 'int32', init = 0.5 }",
         "constant 0.5 is not whole, as int32 is"},
        {"return scan { name = 's', op = 3 }",
         "op: expected an operator's name or a function, got the number 3"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect_error(refused[i][0], 1, refused[i][1]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_own_operators), cmocka_unit_test(test_special_values),
    cmocka_unit_test(test_verdicts),      cmocka_unit_test(test_parameters),
    cmocka_unit_test(test_deterministic), cmocka_unit_test(test_call),
    cmocka_unit_test(test_plans),         cmocka_unit_test(test_planned_sizes),
    cmocka_unit_test(test_refusals),
};

TEST_GROUP(scan, open_cpu, close_context)
