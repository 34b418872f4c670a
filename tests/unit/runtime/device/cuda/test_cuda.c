/* The cuda device over a stand-in for the driver: what it asks for, and that it leaves the caller's
   current context alone. */
#include "tests/unit/fake/fixture.h"
#include "tests/unit/group.h"

static void check_facts(void **unused) {
    (void)unused;
    device *d = must_open();
    const device_facts *f = d->ops->facts(d);
    assert_string_equal(f->device, "cuda");
    assert_string_equal(f->name, "Fake GPU");
    assert_string_equal(f->arch, "sm_90");
    assert_int_equal(f->multiprocessors, 132);
    assert_int_equal(f->l2_cache, 50 << 20);
    assert_true(f->clock == 1.98e9 && f->memory_rate == 2e3 * 2619000 * 640);
    assert_int_equal(f->memory, (int64_t)80 << 30);
    assert_int_equal(f->driver, 13000);
    assert_string_equal(d->ops->code_name(d, OUT_OF_MEMORY), "CUDA_ERROR_OUT_OF_MEMORY");
    assert_string_equal(d->ops->code_name(d, 12345), "a CUDA error without a name");
    assert_int_equal(fake->retained, 1);
    d->ops->close(d);
}

static void check_absent(const char *expected, int index) {
    opened o = {.options = {.index = index}};
    job *j;
    assert_int_equal(job_run(&allocator_libc, open_device, &o, &j), FAULT_NONE);
    assert_null(o.device);
    assert_non_null(o.why);
    if (strstr(o.why, expected) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", expected, o.why);
    job_end(j);
}

static void check_no_gpu(void **unused) {
    (void)unused;
    fake->fail = "cuInit";
    fake->code = 100;
    check_absent("no GPU can be used: CUDA_ERROR_NO_DEVICE (100", 0);
    fake->fail = NULL;
    fake->device_count = 0;
    check_absent("CUDA_ERROR_NO_DEVICE (100", 0);
    fake->device_count = 2;
    check_absent("there is no GPU 2: the driver counts 2", 2);
    check_absent("there is no GPU -1", -1);
    static const char *const steps[] = {"cuDeviceGet",          "cuDeviceGetName",
                                        "cuDeviceGetAttribute", "cuDeviceTotalMem_v2",
                                        "cuDriverGetVersion",   "cuDevicePrimaryCtxRetain"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        fake->fail = steps[i];
        fake->code = UNKNOWN;
        check_absent("GPU 1 cannot be used: CUDA_ERROR_UNKNOWN (999", 1);
    }
}

static void check_no_driver(void **unused) {
    (void)unused;
    setenv("SG_CUDA_DRIVER", "none", 1);
    check_absent("is switched off by SG_CUDA_DRIVER", 0);
    setenv("SG_CUDA_DRIVER", "/nowhere/libcuda.so", 1);
    check_absent("/nowhere/libcuda.so", 0);
    setenv("SG_CUDA_DRIVER", FAKE_CUDA, 1);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void use_memory(job *j, void *argument) {
    device *d = argument;
    const device_ops *ops = d->ops;
    const char sent[] = "0123456789";
    char received[sizeof sent] = "";
    void *a = ops->alloc(d, j, sizeof sent), *b = ops->alloc(d, j, sizeof sent);
    void *empty = ops->alloc(d, j, 0);
    assert_non_null(empty);
    ops->upload(d, j, a, sent, sizeof sent);
    ops->copy(d, j, &(device_copy){.to = b, .from = a, .bytes = sizeof sent, .rows = 1},
              &callers_context);
    assert_ptr_equal(fake->launch.stream, &callers_context);
    ops->download(d, j, received, b, sizeof sent);
    assert_memory_equal(sent, received, sizeof sent);
    ops->fill(d, j, b, 0x1c3, 3);
    ops->download(d, j, received, b, 4);
    assert_memory_equal(received,
                        "\xc3\xc3\xc3"
                        "3",
                        4);
    ops->upload(d, j, a, sent, 0);
    ops->synchronize(d, j, &callers_context);
    assert_int_equal(fake->waits, 1);
    ops->free(d, a);
    ops->free(d, b);
    ops->free(d, empty);
    ops->free(d, NULL);
}

static void check_memory(void **unused) {
    (void)unused;
    device *d = must_open();
    job *j;
    assert_int_equal(job_run(&allocator_libc, use_memory, d, &j), FAULT_NONE);
    job_end(j);
    d->ops->close(d);
}

/* ---- rows ---------------------------------------------------------------------------------- */

enum { ROWS = 5, BYTES = 7, FROM_PITCH = 9, TO_PITCH = 12 };

static void expect_rows(const unsigned char *from, const unsigned char *to) {
    for (int i = 0; i < ROWS * TO_PITCH; i++)
        assert_int_equal(
            to[i], i % TO_PITCH < BYTES ? from[i / TO_PITCH * FROM_PITCH + i % TO_PITCH] : 0xee);
}

static void use_rows(job *j, void *argument) {
    device *d = argument;
    unsigned char from[ROWS * FROM_PITCH], to[ROWS * TO_PITCH];
    const device_copy c = {.to = to,
                           .from = from,
                           .bytes = BYTES,
                           .rows = ROWS,
                           .to_pitch = TO_PITCH,
                           .from_pitch = FROM_PITCH};
    for (int i = 0; i < ROWS * FROM_PITCH; i++)
        from[i] = (unsigned char)(i + 1);
    memset(to, 0xee, sizeof to);
    d->ops->copy(d, j, &c, &callers_context);
    expect_rows(from, to);
    assert_int_equal(fake->copies_of_rows, 1);
    assert_int_equal(fake->copies, 0);
    assert_ptr_equal(fake->launch.stream, &callers_context);

    fake->fail = "cuMemcpy2DAsync_v2"; /* it does not like the distance of the rows */
    fake->code = 1;
    memset(to, 0xee, sizeof to);
    d->ops->copy(d, j, &c, &callers_context);
    expect_rows(from, to);
    assert_int_equal(fake->copies, ROWS);
    fake->fail = NULL;

    device_copy none = c;
    none.rows = 0;
    d->ops->copy(d, j, &none, NULL);
    none = c;
    none.bytes = 0;
    d->ops->copy(d, j, &none, NULL);
    assert_int_equal(fake->copies_of_rows, 1);
    assert_int_equal(fake->copies, ROWS);
}

static void check_rows(void **unused) {
    (void)unused;
    in_device(use_rows);
}

/* ---- contexts ------------------------------------------------------------------------------ */

/* The call of the driver is made without another where the context is current already. */
static void launch_in_current(job *j, void *argument) {
    device *d = argument;
    const program p = two_launches();
    module *m = d->ops->load(d, j, &p, (blob){"", 0});
    const unsigned char arguments[24] = "";
    const int64_t grid[3] = {1, 1, 1};
    int code;
    fake->arguments_bytes = sizeof arguments;
    int pushes = fake->pushes;
    assert_int_equal(d->ops->launch(d, m, 0, grid, arguments, 24, NULL, &code), FAULT_NONE);
    assert_int_equal(fake->pushes, pushes + 1);
    fake->stack[fake->depth++] = fake_primary();
    pushes = fake->pushes;
    assert_int_equal(d->ops->launch(d, m, 0, grid, arguments, 24, NULL, &code), FAULT_NONE);
    assert_int_equal(fake->pushes, pushes);
    assert_int_equal(fake->depth, 2);
    assert_ptr_equal(fake->stack[1], fake_primary());
    fake->depth--;
    d->ops->unload(d, m);
}

static void check_current(void **unused) {
    (void)unused;
    in_device(launch_in_current);
}

static void check_adopted(void **unused) {
    (void)unused;
    in_adopted(use_memory);
}

static void check_not_adopted(void **unused) {
    (void)unused;
    static char adopted;
    static const char *const steps[] = {"cuCtxPushCurrent_v2", "cuCtxGetDevice"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        opened o = {.options = {.cuda_context = &adopted}};
        job *j;
        fake->fail = steps[i];
        fake->code = UNKNOWN;
        assert_int_equal(job_run(&allocator_libc, open_device, &o, &j), FAULT_NONE);
        assert_null(o.device);
        assert_string_equal(o.why, "the given CUDA context cannot be used: CUDA_ERROR_UNKNOWN "
                                   "(999: the driver does not know it)");
        job_end(j);
        assert_int_equal(fake->depth, 1);
    }
}

/* ---- timing -------------------------------------------------------------------------------- */

static void bare(job *j, void *argument) {
    (void)j;
    int *calls = argument;
    assert_int_equal(fake->depth, 1); /* what is timed finds the caller's context as well */
    assert_int_equal(fake->events, 2);
    ++*calls;
}

static void breaking(job *j, void *argument) {
    (void)argument;
    job_fail(j, FAULT_CHECK, NULL, 0, "broken");
}

static void take_time(job *j, void *argument) {
    device *d = argument;
    int calls = 0;
    const double seconds = d->ops->time(d, j, bare, &calls);
    assert_int_equal(calls, 1);
    assert_true(seconds > 0.01249 && seconds < 0.01251);
}

static void time_breaking(job *j, void *argument) {
    device *d = argument;
    d->ops->time(d, j, breaking, NULL);
}

static void check_time(void **unused) {
    (void)unused;
    device *d = must_open();
    job *j;
    assert_int_equal(job_run(&allocator_libc, take_time, d, &j), FAULT_NONE);
    job_end(j);
    assert_int_equal(fake->events, 0);
    assert_int_equal(job_run(&allocator_libc, time_breaking, d, &j), FAULT_CHECK);
    assert_int_equal(fake->events, 0);
    job_end(j);
    d->ops->close(d);
}

/* ---- compiling ----------------------------------------------------------------------------- */

static void check_compiler(void **unused) {
    (void)unused;
    compiler given;
    opened o = {.options = {.nvrtc = &given}};
    job *j;
    assert_int_equal(job_run(&allocator_libc, open_device, &o, &j), FAULT_NONE);
    job_end(j);
    assert_non_null(o.device);
    assert_ptr_equal(o.device->ops->compiler(o.device), &given);
    assert_int_equal(o.device->ops->binary, BINARY_CUBIN);
    o.device->ops->close(o.device);
}

static const struct CMUnitTest tests[] = {
    TEST(check_facts),   TEST(check_no_gpu),      TEST(check_no_driver), TEST(check_memory),
    TEST(check_time),    TEST(check_compiler),    TEST(check_rows),      TEST(check_current),
    TEST(check_adopted), TEST(check_not_adopted),
};

TEST_GROUP(cuda, set_up, NULL)
