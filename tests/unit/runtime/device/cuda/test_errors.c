/* The cuda device when a function of the driver fails: the text of the error, and that nothing
   unfinished stays behind. */
#include "tests/unit/fake/fixture.h"
#include "tests/unit/group.h"

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
    d->ops->copy(d, j, &(device_copy){.to = a, .from = b, .bytes = 8, .rows = 1}, NULL);
    d->ops->copy(
        d, j,
        &(device_copy){.to = a, .from = b, .bytes = 2, .rows = 2, .to_pitch = 4, .from_pitch = 4},
        NULL);
    d->ops->fill(d, j, a, 0, 8);
    d->ops->synchronize(d, j, NULL);
}

static void mark(device *d, job *j) {
    void *m = d->ops->mark(d, j, NULL);
    d->ops->unmark(d, m);
}

static device *marked; /* whose mark unmark_one ends */

static void unmark_one(void *m) {
    marked->ops->unmark(marked, m);
}

static void ask_mark(device *d, job *j) {
    void *m = d->ops->mark(d, j, NULL);
    marked = d;
    job_defer(j, unmark_one, m);
    d->ops->passed(d, j, m);
    job_keep(j, m);
    unmark_one(m);
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
    {do_moves, "cuMemcpy2DAsync_v2", "copying 4 bytes within the GPU failed"},
    {do_moves, "cuMemsetD8_v2", "filling memory failed"},
    {do_moves, "cuStreamSynchronize", "waiting for the GPU failed"},
    {do_moves, "cuCtxPushCurrent_v2", "copying 8 bytes to the GPU failed"},
    {mark, "cuEventCreate", "marking a stream failed"},
    {mark, "cuEventRecord", "marking a stream failed"},
    {ask_mark, "cuEventQuery", "asking for a mark failed: CUDA_ERROR_OUT_OF_MEMORY"},
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

static const struct CMUnitTest tests[] = {TEST(check_failures)};

TEST_GROUP(errors, set_up, NULL)
