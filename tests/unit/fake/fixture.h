/* What the tests of the cuda device share: it is opened over the stand-in for the driver, with a
   context of the caller's current, and after each test that is so again and nothing of ours lives.
   Needs: FAKE_CUDA, the path of the stand-in. */
#ifndef SG_TESTS_FAKE_FIXTURE_H
#define SG_TESTS_FAKE_FIXTURE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>

#include "base/job.h"
#include "runtime/device/device.h"
#include "tests/unit/fake/cuda.h"

enum { OUT_OF_MEMORY = 2, UNKNOWN = 999 };

static fake_cuda_state *fake;
static fake_cuda_primary_function *fake_primary;
static char callers_context; /* stands for a context of the caller's own */

/* Takes a stand-in for the driver from now on. */
static inline bool take_fake(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return false;
    fake_cuda_function *find;
    void *address = dlsym(handle, "fake_cuda");
    memcpy(&find, &address, sizeof address);
    fake = find();
    address = dlsym(handle, "fake_cuda_primary");
    memcpy(&fake_primary, &address, sizeof address);
    setenv("SG_CUDA_DRIVER", path, 1);
    return true;
}

static int set_up(void **unused) {
    (void)unused;
    return take_fake(FAKE_CUDA) ? 0 : 1;
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
    assert_int_equal(fake->streams, 0);
    assert_int_equal(fake->allocations, 0);
    return 0;
}

static program_launch launches[2] = {
    {.entry = "first", .block = {32, 8, 1}, .shared_bytes = 1000},
    {.entry = "second", .block = {64, 1, 2}, .shared_bytes = 100 * 1024},
};

static inline program two_launches(void) {
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

/* Runs the body with an open device; its job must not fail. */
static inline void in_device(void (*body)(job *, void *)) {
    device *d = must_open();
    job *j;
    if (job_run(&allocator_libc, body, d, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
    d->ops->close(d);
}

/* The same in a context of the caller's own: all work happens there, and it is neither retained nor
   released. */
static inline void in_adopted(void (*body)(job *, void *)) {
    static char adopted;
    opened o = {.options = {.index = 7, .cuda_context = &adopted}};
    job *j;
    fake->adopted = &adopted;
    assert_int_equal(job_run(&allocator_libc, open_device, &o, &j), FAULT_NONE);
    job_end(j);
    assert_non_null(o.device);
    assert_int_equal(fake->named, 41); /* the GPU of that context */
    assert_int_equal(fake->retained, 0);
    assert_int_equal(job_run(&allocator_libc, body, o.device, &j), FAULT_NONE);
    job_end(j);
    o.device->ops->close(o.device);
    assert_int_equal(fake->releases, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, reset, settled)

#endif
