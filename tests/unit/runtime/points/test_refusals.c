/* What is refused of points, what kernels tell of their sets, and that GPUs compile them. */
#include "runtime/points/points.h"
#include "tests/unit/runtime/points/scene.h"

static scene a;

static void expect_refusal(sg_status status, sg_status wanted, const char *says) {
    if (status != wanted || strstr(sg_error(context), says) == NULL)
        print_error("%s: %s\n", sg_status_name(status), sg_error(context));
    assert_int_equal(status, wanted);
    assert_non_null(strstr(sg_error(context), says));
}

static void expect_closed(sg_status wanted, const char *says, int count) {
    sg_point_sets *points = (sg_point_sets *)&a;
    expect_refusal(sg_points_open(a.kernel, a.size, a.sets, count, &points), wanted, says);
    assert_ptr_equal(points, &a);
}

static void wrong_sets_are_refused(void **state) {
    (void)state;
    begin_scene(&a, 2, false, (const int64_t[]){6, 5, 1}, 6, 5);
    a.positions[SET_REC][2 * 4 + 1] = 4.0000001;
    expect_closed(SG_ERROR_DATA, "point 4 of 'rec' (the first is 0) is at (", SETS);
    a.positions[SET_REC][2 * 4 + 1] = NAN;
    expect_closed(SG_ERROR_DATA, "point 4 of 'rec'", SETS);
    a.positions[SET_REC][2 * 4 + 1] = 4;
    a.positions[SET_SHOT][0] = -1e-9;
    expect_closed(SG_ERROR_DATA, "outside of the grid: 0 to 5 and 0 to 4", SETS);
    a.positions[SET_SHOT][0] = 0;
    expect_closed(SG_ERROR_USAGE, "points 'rec_out' of 'scene' are missing", SETS - 1);
    a.sets[SET_REC].name = "shot";
    expect_closed(SG_ERROR_USAGE, "points 'shot' are given twice", SETS);
    a.sets[SET_REC].name = "recs";
    expect_closed(SG_ERROR_USAGE, "no points 'recs'; known: eddy, rec, rec_in, rec_out, shot",
                  SETS);
    a.sets[SET_REC].name = "rec";
    a.sets[SET_REC].traces = NULL;
    expect_closed(SG_ERROR_USAGE, "points 'rec' record: give one of traces and write", SETS);
    a.sets[SET_REC].traces = a.samples[SET_REC];
    a.sets[SET_SHOT].read = read_file;
    expect_closed(SG_ERROR_USAGE, "points 'shot' inject: give one of series and read", SETS);
    a.sets[SET_SHOT].read = NULL;
    a.sets[SET_SHOT].count = -1;
    expect_closed(SG_ERROR_USAGE, "points 'shot': there are -1", SETS);
    end_scene(&a);
}

static void wrong_runs_are_refused(void **state) {
    (void)state;
    file files[SETS];
    sg_point_sets *points = NULL;
    begin_scene(&a, 2, false, (const int64_t[]){6, 5, 1}, 6, 5);
    expect_refusal(sg_run(a.kernel, &a.arguments, 1, NULL, NULL), SG_ERROR_USAGE,
                   "'scene' has points: sg_run_points runs it");
    expect_refusal(sg_save(a.kernel, "/dev/null", NULL), SG_ERROR_USAGE, "has points");
    set_callbacks(&a, files);
    expect_ok(sg_points_open(a.kernel, (const int64_t[]){6, 5, 1}, a.sets, SETS, &points));
    a.arguments.step = -1;
    expect_refusal(sg_run_points(points, &a.arguments, 1, NULL, NULL), SG_ERROR_USAGE, "step -1");
    a.arguments.step = 0;
    expect_refusal(sg_run_points(points, &a.arguments, -1, NULL, NULL), SG_ERROR_USAGE, "-1");
    a.arguments.end[0] = a.arguments.end[1] = a.arguments.end[2] = 1;
    expect_refusal(sg_run_points(points, &a.arguments, 1, NULL, NULL), SG_ERROR_USAGE,
                   "points need the whole grid");
    memset(a.arguments.end, 0, sizeof a.arguments.end);
    for (int g = 0; g < ARRAYS; g++)
        a.grids[g].size[1] = 4;
    expect_refusal(sg_run_points(points, &a.arguments, 1, NULL, NULL), SG_ERROR_USAGE,
                   "size 4 along y, but its points are of one of 5");
    for (int g = 0; g < ARRAYS; g++)
        a.grids[g].size[1] = 5;
    files[SET_SHOT].fails_at = 1;
    expect_refusal(sg_run_points(points, &a.arguments, 1, NULL, NULL), SG_ERROR_IO,
                   "the function that reads the series of 'shot' failed at step 0");
    sg_points_close(points);
    sg_points_close(NULL);
    end_scene(&a);
}

static void kernels_know_their_sets(void **state) {
    (void)state;
    static const char *const names[SETS] = {"eddy", "rec", "rec_in", "rec_out", "shot"};
    begin_scene(&a, 1, true, (const int64_t[]){6, 1, 1}, 1, 5);
    for (int i = 0; i < SETS; i++) {
        sg_points_info info = {.struct_size = sizeof info};
        expect_ok(sg_kernel_points(a.kernel, i, &info));
        assert_string_equal(info.name, names[i]);
        assert_int_equal(info.injects, i == 0 || i == 4);
        assert_string_equal(info.field, i == 2 ? "c" : i == 3 ? "w" : "u");
        expect_refusal(sg_kernel_points(a.kernel, SETS, &info), SG_ERROR_USAGE, "index 5");
    }
    assert_non_null(strstr(sg_kernel_text(a.kernel, SG_TEXT_POINTS), "scene_inject"));
    end_scene(&a);
}

static void compile_for_gpus(job *j, void *kernel) {
    const sg_kernel *k = kernel;
    compile_program(j, context, context->nvrtc, k->points->program, BINARY_CUBIN, NULL);
}

/* No GPU is needed to compile for one. */
static void gpus_compile_them(void **state) {
    (void)state;
    sg_binary unused = {.struct_size = sizeof unused};
    for (int dims = 1; dims <= 3; dims++) {
        begin_scene(&a, dims, dims != 2, (const int64_t[]){6, 1, 1}, 1, 5);
        const sg_status nvrtc = sg_kernel_binary(a.kernel, SG_BINARY_CUBIN, &unused);
        if (nvrtc == SG_OK)
            expect_ok(context_run(context, compile_for_gpus, a.kernel, NULL));
        end_scene(&a);
        if (nvrtc != SG_OK)
            skip(); /* there is no NVRTC */
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(wrong_sets_are_refused),
    cmocka_unit_test(wrong_runs_are_refused),
    cmocka_unit_test(gpus_compile_them),
    cmocka_unit_test(kernels_know_their_sets),
};

TEST_GROUP(refusals, open_cpu, close_context)
