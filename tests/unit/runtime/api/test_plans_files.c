/* Plans files of SG_PLANS on GPUs: which lines a build takes. Needs: the stand-in for the
   driver. */
#include "gen/model/gpu.h"
#include "runtime/stencilgen.h"
#include "tests/unit/fake/fixture.h"
#include "tests/unit/group.h"

#include <stdio.h>
#include <unistd.h>

static const char spec[] = "return stencil { name = 'h', shape = star(2, 1), dtype = 'float',"
                           " coefficients = { 0.6, 0.1, 0.1, 0.1, 0.1 } }";
static const char scan_spec[] = "return scan { name = 's', dtype = 'int32' }";
static char path[] = "/tmp/plans-XXXXXX";
static int warnings;
static char warning[512];

static void hear(void *user, sg_log_level level, const char *line) {
    (void)user;
    assert_int_equal(level, SG_LOG_WARNING);
    warnings++;
    snprintf(warning, sizeof warning, "%s", line);
}

static void write_plans(const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Builds twice in a context, so that what is said once is said once. */
static void expect(bool is_h200, const char *text, const char *gpu, const char *plan,
                   const char *found) {
    reset(NULL);
    fake->is_h200 = is_h200;
    warnings = 0;
    sg_context *c;
    const sg_options here = {.struct_size = sizeof here,
                             .device = "cuda",
                             .cache = "none",
                             .database = "none",
                             .log = hear};
    assert_int_equal(sg_open(&c, &here), SG_OK);
    for (int i = 0; i < 2; i++) {
        const sg_build_options build = {.struct_size = sizeof build,
                                        .text = text,
                                        .source_only = 1,
                                        .gpu = gpu,
                                        .size = {4096, text == spec ? 4096 : 0}};
        sg_kernel *k;
        if (sg_build(c, i == 0 ? NULL : "other", &build, &k) != SG_OK)
            fail_msg("%s", sg_error(c));
        sg_kernel_info info = {.struct_size = sizeof info};
        assert_int_equal(sg_kernel_facts(k, &info), SG_OK);
        assert_string_equal(info.found, found);
        if (plan != NULL)
            assert_string_equal(sg_kernel_text(k, SG_TEXT_PLAN), plan);
        sg_release(k);
    }
    sg_close(c);
}

#define H100_HEAD "gpu Mine sm_90 multiprocessors=132 memory=3352GB/s\n"
#define H200_HEAD "gpu Mine sm_90 multiprocessors=132 memory=4800GB/s\n"
#define RATE                                                                                       \
    "stencil 2D 5 points radius 1 | float | 4096x4096 | 9999999 | tiled tile=32x8 vec=1 time=1\n"
#define SCAN                                                                                       \
    "scan 4 bytes | int32 | ..5000 | - | persistent threads=128 items=8 stages=1 blocks=2\n"

/* Scans were not measured on an H200: the model plans them there. */
static void test_shipped(void **state) {
    (void)state;
    expect(false, spec, NULL, NULL, "by the plans for the H100");
    expect(true, spec, NULL, NULL, "by the plans for the H200");
    expect(true, spec, "H100", NULL, "by the plans for the H100");
    expect(false, scan_spec, NULL, "persistent threads=256 items=4 stages=2 blocks=4",
           "by the plans for the H100");
    expect(true, scan_spec, NULL, "persistent threads=256 items=4 stages=2 blocks=4",
           "by the model");
}

/* A rate that no other plan can have is taken; on the board that it is of alone. */
static void test_given(void **state) {
    (void)state;
    setenv("SG_PLANS", path, 1);
    write_plans(H100_HEAD RATE SCAN);
    expect(false, spec, NULL, "tiled tile=32x8 vec=1 time=1", "by the plans for the Mine");
    expect(false, scan_spec, NULL, "persistent threads=128 items=8 stages=1 blocks=2",
           "by the plans for the Mine");
    assert_int_equal(warnings, 0);
    expect(true, spec, NULL, NULL, "by the plans for the H200");
    write_plans(H200_HEAD RATE SCAN);
    expect(true, spec, NULL, "tiled tile=32x8 vec=1 time=1", "by the plans for the Mine");
    expect(false, spec, NULL, NULL, "by the plans for the H100");
    unsetenv("SG_PLANS");
}

/* Lines that are skipped are told of once a context, and not more of them than anybody reads. */
static void test_damaged(void **state) {
    (void)state;
    char expected[512];
    setenv("SG_PLANS", path, 1);
    write_plans(H100_HEAD "scan 4 bytes | any | 5 | 1 | sorted\n" SCAN);
    expect(false, scan_spec, NULL, "persistent threads=128 items=8 stages=1 blocks=2",
           "by the plans for the Mine");
    assert_int_equal(warnings, 1);
    snprintf(expected, sizeof expected, "%s:2: this line is skipped: ", path);
    assert_memory_equal(warning, expected, strlen(expected));
    char many[1000] = "";
    for (int i = 0; i < 100; i++)
        strcat(many, "what\n");
    write_plans(many);
    expect(true, spec, NULL, NULL, "by the plans for the H200");
    assert_int_equal(warnings, 11);
    snprintf(expected, sizeof expected, "%s: 90 more lines are skipped", path);
    assert_string_equal(warning, expected);
    setenv("SG_PLANS", "/", 1);
    expect(true, spec, NULL, NULL, "by the plans for the H200");
    assert_string_equal(warning, "/, of SG_PLANS, cannot be read: it is no regular file");
    unsetenv("SG_PLANS");
}

/* A plan that lacks what all of its method have says nothing; the lines behind it do. */
static void test_incomplete(void **state) {
    (void)state;
    static const char *const plans[] = {"auto",
                                        "tile=32x8 vec=1 time=1",
                                        "tiled",
                                        "tiled tile=32x8 time=1",
                                        "tiled vec=1 time=1",
                                        "tiled tile=32x8 vec=1",
                                        "bulk tile=64 vec=1 time=1",
                                        "bulk coarsen=y16 vec=1 time=1",
                                        "temporal time=4",
                                        "temporal lane=2 time=4 vec=1"};
    char lines[4096] = H200_HEAD;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        strcat(lines, "stencil 2D 5 points radius 1 | float | 4096x4096 | 9999999 | ");
        strcat(strcat(lines, plans[i]), "\n");
    }
    setenv("SG_PLANS", path, 1);
    write_plans(lines);
    expect(true, spec, NULL, NULL, "by the plans for the H200");
    write_plans(strcat(lines, RATE));
    expect(true, spec, NULL, "tiled tile=32x8 vec=1 time=1", "by the plans for the Mine");
    unsetenv("SG_PLANS");
}

static int begin(void **state) {
    const int file = mkstemp(path);
    if (file >= 0)
        close(file);
    unsetenv("SG_PLANS");
    return file >= 0 ? set_up(state) : -1;
}

static int end(void **state) {
    (void)state;
    return unlink(path);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_shipped, settled),
                                          cmocka_unit_test_teardown(test_given, settled),
                                          cmocka_unit_test_teardown(test_damaged, settled),
                                          cmocka_unit_test_teardown(test_incomplete, settled)};

TEST_GROUP(plans_files, begin, end)
