/* What planners know of GPUs: the table, what a driver says, and plans that follow from it. */
#include "gen/model/gpu.h"
#include "runtime/stencilgen.h"
#include "tests/unit/fake/fixture.h"
#include "tests/unit/gen/model/models.h"
#include "tests/unit/group.h"

#include <stdio.h>

static void test_table(void **state) {
    (void)state;
    static const struct {
        const char *asked, *name, *arch;
    } cases[] = {
        {"H200", "H200", "sm_90"},         {"h200", "H200", "sm_90"},
        {"rtx4090", "RTX 4090", "sm_89"},  {"RTX 4090", "RTX 4090", "sm_89"},
        {"rtx-3090", "RTX 3090", "sm_86"}, {"l40s", "L40S", "sm_89"},
        {"sm_90", "H100", "sm_90"},        {"sm_90a", "H100", "sm_90"},
        {"sm_89", "RTX 4090", "sm_89"},    {"t4", "T4", "sm_75"},
        {"a100", "A100", "sm_80"},         {"B200", "B200", "sm_100"},
        {"rtx5090", "RTX 5090", "sm_120"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gpu *g = gpu_find(cases[i].asked);
        assert_non_null(g);
        assert_string_equal(g->name, cases[i].name);
        assert_string_equal(g->arch, cases[i].arch);
    }
    static const char *const none[] = {"", "H20", "H2000", "sm_9", "sm_900", "4090"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(gpu_find(none[i]));
    for (int i = 0; gpu_at(i) != NULL; i++)
        assert_true(gpu_at(i)->multiprocessors > 0 && gpu_at(i)->clock > 1e9 &&
                    gpu_at(i)->memory_rate > 1e11 && gpu_at(i)->l2_bytes > 1e6);
}

static void described_body(job *j) {
    const gpu_facts facts = {78, 1.5e9, 2e12, 3e7, 9e9}, silent = {0};
    const gpu *g = gpu_described(j, "a board", "sm_90", &facts);
    assert_string_equal(g->name, "a board");
    assert_int_equal(g->multiprocessors, 78);
    assert_true(g->clock == 1.5e9 && g->memory_rate == 2e12 && g->l2_bytes == 3e7 &&
                g->memory == 9e9);
    assert_int_equal(g->shared_per_block, gpu_find("H100")->shared_per_block);
    g = gpu_described(j, "silent", "sm_80", &silent);
    assert_int_equal(g->multiprocessors, gpu_find("A100")->multiprocessors);
    assert_true(g->memory_rate == gpu_find("A100")->memory_rate);
    g = gpu_described(j, "newer", "sm_103",
                      &facts); /* as the nearest older, compiled as what it is */
    assert_string_equal(g->arch, "sm_103");
    assert_int_equal(g->shared_per_block, gpu_find("B200")->shared_per_block);
    assert_null(gpu_described(j, "older", "sm_70", &facts));
}

static void test_described(void **state) {
    (void)state;
    in_job(described_body);
}

/* The plan of a spec for the stand-in's board, or for one that is named. */
static void plan_for(bool is_h200, const char *name, char *out, size_t size) {
    static const char spec[] = "return stencil { name = 'h', shape = star(2, 1), dtype = 'float',"
                               " boundary = 'fixed', coefficients = { 0.6, 0.1, 0.1, 0.1, 0.1 } }";
    reset(NULL);
    fake->is_h200 = is_h200;
    sg_context *c;
    const sg_options here = {
        .struct_size = sizeof here, .device = "cuda", .cache = "none", .database = "none"};
    assert_int_equal(sg_open(&c, &here), SG_OK);
    const sg_build_options build = {.struct_size = sizeof build,
                                    .text = spec,
                                    .source_only = 1,
                                    .gpu = name,
                                    .size = {16384, 16384}};
    sg_kernel *k;
    assert_int_equal(sg_build(c, NULL, &build, &k), SG_OK);
    snprintf(out, size, "%s", sg_kernel_text(k, SG_TEXT_PLAN));
    sg_release(k);
    sg_close(c);
}

static void test_plans_differ(void **state) {
    (void)state;
    char h100[200], h200[200], named[200];
    plan_for(false, NULL, h100, sizeof h100);
    plan_for(true, NULL, h200, sizeof h200);
    assert_string_not_equal(h100, h200);
    plan_for(false, "h200", named, sizeof named);
    assert_string_equal(named, h200);
    plan_for(true, "H100", named, sizeof named);
    assert_string_equal(named, h100);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                          cmocka_unit_test(test_described),
                                          cmocka_unit_test_teardown(test_plans_differ, settled)};

TEST_GROUP(gpu, set_up, NULL)
