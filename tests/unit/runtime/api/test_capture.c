/* Captures: on the cpu device, and over the stand-in for the CUDA driver, whose downloads arrive
   when their stream is waited for. Needs: FAKE_CUDA, the path of the stand-in. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

#include "tests/unit/runtime/api/gpu.h"

enum { COUNT = 100 };

static void what_is_taken_stays(void **state) {
    float *cells;
    sg_capture *c;
    void *memory;
    (void)state;
    expect_ok(sg_alloc(context, COUNT * sizeof(float), (void **)&cells));
    expect_ok(sg_capture_open(context, COUNT * sizeof(float), &c, &memory));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++)
            cells[i] = (float)(i + round);
        expect_ok(sg_capture_take(c, 0, cells, 40 * sizeof(float), NULL));
        expect_ok(sg_capture_take(c, 40 * sizeof(float), cells + 40, 60 * sizeof(float), NULL));
        memset(cells, 0, COUNT * sizeof(float)); /* as a later step */
        expect_ok(sg_capture_wait(c));
        for (int i = 0; i < COUNT; i++)
            assert_true(((float *)memory)[i] == (float)(i + round));
    }
    assert_int_equal(sg_capture_take(c, 8, cells, COUNT * sizeof(float), NULL), SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(context), "has no room for"));
    assert_int_equal(sg_capture_take(c, 0, NULL, 4, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context), "error: cannot copy 4 bytes from NULL");
    sg_capture_close(c);
    sg_free(context, cells);
}

static void nothing_is_no_capture(void **state) {
    sg_capture *c = NULL;
    void *memory;
    (void)state;
    assert_int_equal(sg_capture_open(NULL, 1, &c, &memory), SG_ERROR_USAGE);
    assert_int_equal(sg_capture_open(context, 1, NULL, &memory), SG_ERROR_USAGE);
    assert_int_equal(sg_capture_take(NULL, 0, memory, 1, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_capture_wait(NULL), SG_ERROR_USAGE);
    sg_capture_close(NULL);
    assert_null(c);
}

/* Nothing is waited for; a later step may overwrite what was taken; and the download goes behind
   the copy on a stream of its own. */
static void a_gpu_goes_on_meanwhile(void **state) {
    const sg_options options = {.struct_size = sizeof options, .device = "cuda"};
    fake_cuda_state *gpu = take_gpu();
    unsigned char cells[16];
    sg_context *c;
    sg_capture *capture;
    void *memory;
    char stream;
    (void)state;
    expect_ok(sg_open(&c, &options));
    expect_ok(sg_capture_open(c, sizeof cells, &capture, &memory));
    assert_int_equal(gpu->pinned, 1);
    assert_int_equal(gpu->streams, 1);
    memset(cells, 5, sizeof cells);
    gpu->order.count = 0;
    const int waits = gpu->waits;
    expect_ok(sg_capture_take(capture, 0, cells, sizeof cells, (sg_stream)(void *)&stream));
    assert_int_equal(gpu->waits, waits);
    assert_string_equal(gpu->order.what[0], "record");
    assert_ptr_equal(gpu->order.stream[0], &stream);
    assert_string_equal(gpu->order.what[1], "wait");
    assert_string_equal(gpu->order.what[2], "download");
    assert_ptr_equal(gpu->order.stream[2], gpu->order.stream[1]);
    assert_ptr_not_equal(gpu->order.stream[2], &stream);
    memset(cells, 9, sizeof cells);
    expect_ok(sg_capture_wait(capture));
    for (size_t i = 0; i < sizeof cells; i++)
        assert_int_equal(((unsigned char *)memory)[i], 5);
    sg_capture_close(capture);
    assert_int_equal(gpu->pinned, 0);
    assert_int_equal(gpu->allocations, 0);
    assert_int_equal(gpu->streams, 0);
    gpu->fail = "cuMemAlloc_v2"; /* then it waits */
    gpu->code = 2;
    expect_ok(sg_capture_open(c, sizeof cells, &capture, &memory));
    memset(cells, 6, sizeof cells);
    expect_ok(sg_capture_take(capture, 0, cells, sizeof cells, NULL));
    assert_memory_equal(memory, cells, sizeof cells);
    expect_ok(sg_capture_wait(capture));
    sg_capture_close(capture);
    gpu->fail = "cuMemHostAlloc";
    gpu->code = 2;
    assert_int_equal(sg_capture_open(c, 1000, &capture, &memory), SG_ERROR_MEMORY);
    assert_non_null(strstr(sg_error(c), "1000 bytes of host memory cannot be pinned"));
    sg_close(c);
    unsetenv("SG_CUDA_DRIVER");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_taken_stays),
    cmocka_unit_test(nothing_is_no_capture),
    cmocka_unit_test(a_gpu_goes_on_meanwhile),
};

TEST_GROUP(capture, open_cpu, close_context)
