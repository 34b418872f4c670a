/* Programs of lists on the cuda device, over a stand-in for the driver: fills and kernels reach the
   caller's stream in their order, by calls that a stream which is being captured takes. */
#include "tests/unit/fake/fixture.h"

#include "runtime/launch/launch.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/launch/lists_call.h"

/* Like a kernel that was built. */
typedef struct scene {
    join program;
    sg_context context;
    sg_kernel kernel;
    join_call call;
    int64_t cells[5][16];
    _Alignas(256) unsigned char temporary[1024];
    launch launch;
} scene;

static scene *prepare(job *j, device *d) {
    scene *s = job_alloc(j, sizeof *s + 256);
    s = (scene *)(((uintptr_t)s + 255) / 256 * 256);
    join_lists(&s->program);
    s->context.device = d;
    s->kernel = (sg_kernel){.context = &s->context, .program = &s->program.program};
    s->kernel.module = d->ops->load(d, j, s->kernel.program, (blob){"", 0});
    join_of(&s->call, 10, 6);
    for (int i = 0; i < JOIN_ARRAYS; i++)
        s->call.grids[i].data = s->cells[i];
    s->call.arguments.temporary = s->temporary;
    s->call.arguments.temporary_bytes = sizeof s->temporary;
    memset(s->temporary, 0xee, sizeof s->temporary);
    fake->arguments_bytes = s->kernel.program->arguments_bytes;
    assert_true(launch_check(NULL, &s->kernel, &s->call.arguments, false, &s->launch));
    return s;
}

static void send_in_order(job *j, void *argument) {
    device *d = argument;
    scene *s = prepare(j, d);
    int code = -1;
    s->program.temporaries[1].fill = 0x7f; /* a second one */
    assert_int_equal(launch_send(&s->kernel, &s->launch, &callers_context, &code), FAULT_NONE);
    static const char *const order[] = {"fill", "fill", "kernel", "kernel"};
    assert_int_equal(fake->order.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(fake->order.what[i], order[i]);
        assert_ptr_equal(fake->order.stream[i], &callers_context);
    }
    assert_string_equal(fake->launch.entry, "finish");
    assert_int_equal(fake->fills, 2);
    assert_int_equal(fake->waits, 0);
    for (int i = 0; i < 1024; i++)
        assert_int_equal(s->temporary[i], i < 32 ? 0 : i >= 256 && i < 256 + 128 ? 0x7f : 0xee);
    d->ops->unload(d, s->kernel.module);
}

static void check_order(void **unused) {
    (void)unused;
    device *d = must_open();
    job *j;
    assert_int_equal(job_run(&allocator_libc, send_in_order, d, &j), FAULT_NONE);
    job_end(j);
    d->ops->close(d);
}

static void fail_each(job *j, void *argument) {
    device *d = argument;
    scene *s = prepare(j, d);
    static const struct {
        const char *symbol;
        int good_calls, sent;
    } cases[] = {{"cuMemsetD8Async", 0, 0},
                 {"cuLaunchKernel", 0, 1},
                 {"cuLaunchKernel", 1, 2},
                 {"cuCtxPushCurrent_v2", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = 0;
        fake->order.count = 0;
        fake->fail = cases[i].symbol;
        fake->good_calls = cases[i].good_calls;
        fake->code = UNKNOWN;
        assert_int_equal(launch_send(&s->kernel, &s->launch, NULL, &code), FAULT_DEVICE);
        assert_int_equal(code, UNKNOWN);
        assert_int_equal(fake->order.count, cases[i].sent);
        fake->fail = NULL;
    }
    d->ops->unload(d, s->kernel.module);
}

static void check_failures(void **unused) {
    (void)unused;
    device *d = must_open();
    job *j;
    assert_int_equal(job_run(&allocator_libc, fail_each, d, &j), FAULT_NONE);
    job_end(j);
    d->ops->close(d);
}

static const struct CMUnitTest tests[] = {TEST(check_order), TEST(check_failures)};

TEST_GROUP(lists, set_up, NULL)
