/* The cuda device against a stand-in for the driver: what it asks for, how it fails, and that it
   leaves the caller's current context alone. Needs: FAKE_CUDA, the path of the stand-in. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>

#include "base/job.h"
#include "runtime/device.h"
#include "tests/unit/fake/cuda.h"

enum { OUT_OF_MEMORY = 2, UNKNOWN = 999 };

static fake_cuda_state *fake;
static char callers_context; /* stands for a context of the caller's own */

static int set_up(void **unused) {
    (void)unused;
    void *handle = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return 1;
    fake_cuda_function *find;
    void *address = dlsym(handle, "fake_cuda");
    memcpy(&find, &address, sizeof address);
    fake = find();
    setenv("SG_CUDA_DRIVER", FAKE_CUDA, 1);
    return 0;
}

static int reset(void **unused) {
    (void)unused;
    *fake = (fake_cuda_state){.device_count = 2, .stack = {&callers_context}, .depth = 1};
    return 0;
}

/* After each test the caller's context is current again, and nothing of ours lives. */
static int settled(void **unused) {
    (void)unused;
    assert_int_equal(fake->depth, 1);
    assert_ptr_equal(fake->stack[0], &callers_context);
    assert_int_equal(fake->homeless, 0);
    assert_int_equal(fake->retained, 0);
    assert_int_equal(fake->modules, 0);
    assert_int_equal(fake->events, 0);
    assert_int_equal(fake->allocations, 0);
    return 0;
}

static program_launch launches[2] = {
    {.entry = "first", .block = {32, 8, 1}, .shared_bytes = 1000},
    {.entry = "second", .block = {64, 1, 2}, .shared_bytes = 100 * 1024},
};

static program two_launches(void) {
    return (program){.name = "heat",
                     .source = "extern \"C\" __global__ void first() {}\n",
                     .target = "sm_90",
                     .launches = launches,
                     .launch_count = 2,
                     .arguments_bytes = 24};
}

/* ---- opening ------------------------------------------------------------------------------- */

typedef struct opened {
    device_options options;
    device *device;
    const char *why;
} opened;

static void open_device(job *j, void *argument) {
    opened *o = argument;
    o->device = device_cuda.open(j, &o->options, &o->why);
}

/* The device outlives the job that opened it. */
static device *must_open(void) {
    opened o = {.device = NULL};
    job *j;
    assert_int_equal(job_run(&allocator_libc, open_device, &o, &j), FAULT_NONE);
    job_end(j);
    assert_non_null(o.device);
    return o.device;
}

static void check_facts(void **unused) {
    (void)unused;
    device *d = must_open();
    const device_facts *f = d->ops->facts(d);
    assert_string_equal(f->device, "cuda");
    assert_string_equal(f->name, "Fake GPU");
    assert_string_equal(f->arch, "sm_90");
    assert_int_equal(f->multiprocessors, 132);
    assert_int_equal(f->l2_cache, 50 << 20);
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
    ops->copy(d, j, b, a, sizeof sent, &callers_context);
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

/* ---- failing ------------------------------------------------------------------------------- */

typedef struct attempt {
    device *device;
    int kind;
} attempt;

static void nothing(job *j, void *argument) {
    (void)j;
    (void)argument;
}

static void time_nothing(device *d, job *j) {
    d->ops->time(d, j, nothing, NULL);
}

static device *owner; /* of the module that unload is for */

static void unload(void *m) {
    owner->ops->unload(owner, m);
}

static void load_both(device *d, job *j) {
    const program p = two_launches();
    module *m = d->ops->load(d, j, &p, (blob){"", 0});
    d->ops->unload(d, m);
}

static void ask_function(device *d, job *j) {
    const program p = two_launches();
    module *m = d->ops->load(d, j, &p, (blob){"", 0});
    job_defer(j, unload, m);
    d->ops->function(d, j, m, 0);
    job_keep(j, m);
    unload(m);
}

static void do_alloc(device *d, job *j) {
    d->ops->free(d, d->ops->alloc(d, j, 4096));
}

static void do_moves(device *d, job *j) {
    char a[8] = "", b[8] = "";
    d->ops->upload(d, j, a, b, 8);
    d->ops->download(d, j, a, b, 8);
    d->ops->copy(d, j, a, b, 8, NULL);
    d->ops->fill(d, j, a, 0, 8);
    d->ops->synchronize(d, j, NULL);
}

static const struct {
    void (*act)(device *, job *);
    const char *symbol, *expected;
} failures[] = {
    {do_alloc, "cuMemAlloc_v2",
     "Fake GPU: allocating 4096 bytes failed, 12345 of 67890 are free: CUDA_ERROR_OUT_OF_MEMORY "
     "(2: out of memory)"},
    {do_alloc, "cuCtxPushCurrent_v2", "CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)"},
    {do_moves, "cuMemcpyHtoD_v2", "copying 8 bytes to the GPU failed: CUDA_ERROR_OUT_OF_MEMORY"},
    {do_moves, "cuMemcpyDtoH_v2", "copying 8 bytes from the GPU failed"},
    {do_moves, "cuMemcpyDtoDAsync_v2", "copying 8 bytes within the GPU failed"},
    {do_moves, "cuMemsetD8_v2", "filling memory failed"},
    {do_moves, "cuStreamSynchronize", "waiting for the GPU failed"},
    {do_moves, "cuCtxPushCurrent_v2", "copying 8 bytes to the GPU failed"},
    {time_nothing, "cuEventCreate", "starting the clock failed"},
    {time_nothing, "cuEventRecord", "starting the clock failed"},
    {time_nothing, "cuEventSynchronize", "running on the GPU failed"},
    {time_nothing, "cuEventElapsedTime", "running on the GPU failed"},
    {load_both, "cuModuleLoadDataEx",
     "loading the binary of heat failed: CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)\n"
     "the fake linker's log"},
    {load_both, "cuModuleGetFunction", "loading the kernel first with 1000 bytes"},
    {load_both, "cuFuncSetAttribute", "loading the kernel second with 102400 bytes"},
    {load_both, "cuFuncGetAttribute", "loading the kernel first with 1000 bytes"},
    {ask_function, "cuOccupancyMaxActiveBlocksPerMultiprocessor", "asking how many blocks fit"},
};

static void try_one(job *j, void *argument) {
    const attempt *a = argument;
    failures[a->kind].act(a->device, j);
}

static void check_failures(void **unused) {
    (void)unused;
    device *d = must_open();
    owner = d;
    for (int i = 0; i < (int)(sizeof failures / sizeof *failures); i++) {
        attempt a = {d, i};
        job *j;
        fake->fail = NULL;
        assert_int_equal(job_run(&allocator_libc, try_one, &a, &j), FAULT_NONE);
        job_end(j);
        fake->fail = failures[i].symbol;
        fake->code = OUT_OF_MEMORY;
        fake->good_calls = 0;
        assert_int_equal(job_run(&allocator_libc, try_one, &a, &j), FAULT_DEVICE);
        if (strstr(job_error(j), failures[i].expected) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", failures[i].expected, job_error(j));
        job_end(j);
        assert_int_equal(fake->depth, 1);
        assert_int_equal(fake->events, 0);
        assert_int_equal(fake->modules, 0);
    }
    fake->fail = NULL;
    d->ops->close(d);
}

/* ---- kernels ------------------------------------------------------------------------------- */

static void use_kernels(job *j, void *argument) {
    device *d = argument;
    const program p = two_launches();
    module *m = d->ops->load(d, j, &p, (blob){"", 0});
    assert_int_equal(fake->dynamic_shared, 100 * 1024);
    const function_facts first = d->ops->function(d, j, m, 0);
    assert_int_equal(first.registers, 40);
    assert_int_equal(first.local_bytes, 16);
    assert_int_equal(first.blocks_resident, 8);
    assert_int_equal(d->ops->function(d, j, m, 1).blocks_resident, 16);

    const unsigned char arguments[24] = "the argument struct";
    const int64_t grid[3] = {INT32_MAX, UINT16_MAX, 3};
    int code = -1;
    fake->arguments_bytes = sizeof arguments;
    assert_int_equal(d->ops->launch(d, m, 1, grid, arguments, 24, &callers_context, &code),
                     FAULT_NONE);
    assert_int_equal(code, 0);
    assert_string_equal(fake->launch.entry, "second");
    const unsigned grid_seen[3] = {INT32_MAX, UINT16_MAX, 3}, block_seen[3] = {64, 1, 2};
    assert_memory_equal(fake->launch.grid, grid_seen, sizeof grid_seen);
    assert_memory_equal(fake->launch.block, block_seen, sizeof block_seen);
    assert_int_equal(fake->launch.shared_bytes, 100 * 1024);
    assert_ptr_equal(fake->launch.stream, &callers_context);
    assert_memory_equal(fake->launch.arguments, arguments, sizeof arguments);

    fake->fail = "cuLaunchKernel";
    fake->code = UNKNOWN;
    assert_int_equal(d->ops->launch(d, m, 0, grid, arguments, 24, NULL, &code), FAULT_DEVICE);
    assert_int_equal(code, UNKNOWN);
    fake->fail = NULL;
    d->ops->unload(d, m);
}

static void check_kernels(void **unused) {
    (void)unused;
    device *d = must_open();
    job *j;
    assert_int_equal(job_run(&allocator_libc, use_kernels, d, &j), FAULT_NONE);
    job_end(j);
    d->ops->close(d);
}

static void load_absent(job *j, void *argument) {
    device *d = argument;
    program_launch absent = {.entry = "absent", .block = {1, 1, 1}};
    program p = two_launches();
    p.launches = &absent;
    p.launch_count = 1;
    d->ops->load(d, j, &p, (blob){"", 0});
}

static void check_absent_kernel(void **unused) {
    (void)unused;
    device *d = must_open();
    job *j;
    assert_int_equal(job_run(&allocator_libc, load_absent, d, &j), FAULT_DEVICE);
    assert_non_null(strstr(job_error_text(j), "loading the kernel absent"));
    assert_non_null(strstr(job_error_text(j), "(500: the driver does not know it)"));
    job_end(j);
    d->ops->close(d);
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

static void compile(job *j, void *argument) {
    device *d = argument;
    const program p = two_launches();
    const blob cubin = d->ops->compile(d, j, &p);
    assert_true(cubin.size > 4);
    assert_memory_equal(cubin.data, "\177ELF", 4);
}

static void check_no_compiler(void **unused) {
    (void)unused;
    opened o = {.options = {.nvrtc = "none"}};
    job *j;
    assert_int_equal(job_run(&allocator_libc, open_device, &o, &j), FAULT_NONE);
    job_end(j);
    assert_non_null(o.device);
    assert_int_equal(job_run(&allocator_libc, compile, o.device, &j), FAULT_COMPILER);
    assert_string_equal(job_error_text(j), "NVRTC is switched off by the caller");
    job_end(j);
    o.device->ops->close(o.device);
}

static void *compile_in_thread(void *d) {
    job *j;
    const fault f = job_run(&allocator_libc, compile, d, &j);
    static const char missing[] = "NVRTC was not found";
    const bool fine = f == FAULT_NONE || strncmp(job_error_text(j), missing, strlen(missing)) == 0;
    job_end(j);
    return fine ? d : NULL;
}

static void check_threads(void **unused) {
    (void)unused;
    device *d = must_open();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_in_thread, d), 0);
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, d);
    }
    d->ops->close(d);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, reset, settled)
    const struct CMUnitTest tests[] = {
        TEST(check_facts),       TEST(check_no_gpu),  TEST(check_no_driver),     TEST(check_memory),
        TEST(check_failures),    TEST(check_kernels), TEST(check_absent_kernel), TEST(check_time),
        TEST(check_no_compiler), TEST(check_threads),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
