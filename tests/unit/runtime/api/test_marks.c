/* Marks on streams: on the cpu device, and over the stand-in for the CUDA driver. Needs: FAKE_CUDA,
   the path of the stand-in. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

#include "tests/unit/runtime/api/gpu.h"

static void a_mark_of_the_cpu_is_passed(void **state) {
    (void)state;
    sg_mark *mark = NULL;
    int passed = -1;
    expect_ok(sg_mark_stream(context, NULL, &mark));
    expect_ok(sg_mark_passed(mark, &passed));
    assert_true(passed > 0);
    sg_mark_free(mark);
}

static void nothing_is_no_mark(void **state) {
    (void)state;
    sg_mark *mark = NULL;
    int passed = 7;
    sg_mark_free(NULL);
    assert_int_equal(sg_mark_stream(NULL, NULL, &mark), SG_ERROR_USAGE);
    assert_int_equal(sg_mark_stream(context, NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_mark_passed(NULL, &passed), SG_ERROR_USAGE);
    assert_null(mark);
    assert_int_equal(passed, 7);
}

static sg_context *open_gpu(void) {
    const sg_options options = {.struct_size = sizeof options, .device = "cuda"};
    sg_context *c;
    expect_ok(sg_open(&c, &options));
    return c;
}

static void a_mark_is_passed_when_the_work_is_over(void **state) {
    (void)state;
    fake_cuda_state *gpu = take_gpu();
    sg_context *c = open_gpu();
    sg_mark *mark;
    int passed = -1;
    char stream;
    expect_ok(sg_mark_stream(c, (sg_stream)(void *)&stream, &mark));
    assert_ptr_equal(gpu->marked, &stream);
    gpu->busy = 1;
    expect_ok(sg_mark_passed(mark, &passed));
    assert_int_equal(passed, 0);
    gpu->busy = 0;
    expect_ok(sg_mark_passed(mark, &passed));
    assert_int_equal(passed, 1);
    assert_int_equal(gpu->waits, 0);
    sg_close(c); /* the mark keeps it alive */
    expect_ok(sg_mark_passed(mark, &passed));
    sg_mark_free(mark);
    assert_int_equal(gpu->events, 0);
    assert_int_equal(gpu->retained, 0);
}

static void a_failure_leaves_nothing_behind(void **state) {
    (void)state;
    fake_cuda_state *gpu = take_gpu();
    sg_context *c = open_gpu();
    sg_mark *mark = NULL;
    gpu->fail = "cuEventRecord";
    gpu->code = 2;
    assert_int_equal(sg_mark_stream(c, NULL, &mark), SG_ERROR_DEVICE);
    assert_non_null(strstr(sg_error(c), "marking a stream failed"));
    assert_null(mark);
    gpu->fail = NULL;
    sg_close(c);
    assert_int_equal(gpu->events, 0);
    assert_int_equal(gpu->retained, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_mark_of_the_cpu_is_passed),
    cmocka_unit_test(nothing_is_no_mark),
    cmocka_unit_test(a_mark_is_passed_when_the_work_is_over),
    cmocka_unit_test(a_failure_leaves_nothing_behind),
};

TEST_GROUP(marks, open_cpu, close_context)
