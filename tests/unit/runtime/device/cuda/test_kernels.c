/* Kernels of the cuda device over a stand-in for the driver: which calls load and launch them. */
#include "tests/unit/fake/fixture.h"
#include "tests/unit/group.h"

static void use_kernels(job *j, void *argument) {
    device *d = argument;
    const program p = two_launches();
    module *m = d->ops->load(d, j, &p, (blob){"", 0});
    assert_int_equal(fake->dynamic_shared, 100 * 1024);
    const function_facts first = d->ops->function(d, j, m, 0);
    assert_int_equal(first.registers, 40);
    assert_int_equal(first.local_bytes, 16);
    assert_int_equal(first.blocks_resident, 7);
    assert_true(first.occupancy == 7 * 256 / 2048.0);
    const function_facts second = d->ops->function(d, j, m, 1);
    assert_int_equal(second.blocks_resident, 15);
    assert_true(second.occupancy == 15 * 128 / 2048.0);

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

static void check_adopted(void **unused) {
    (void)unused;
    in_adopted(use_kernels);
}

/* Blocks that are to wait for each other, of a kernel that two launches share. */
static void use_together(job *j, void *argument) {
    device *d = argument;
    program_launch ways[2] = {launches[1], launches[1]};
    program p = two_launches();
    p.launches = ways;
    p.grid.ways = ways[0].grid.cooperative = true;
    ways[1].shared_bytes = 60 * 1024;
    module *m = d->ops->load(d, j, &p, (blob){"", 0});
    assert_int_equal(fake->dynamic_shared, 100 * 1024); /* what both have enough of */
    const unsigned char arguments[24] = "";
    const int64_t grid[3] = {5, 6, 7};
    int code;
    fake->arguments_bytes = sizeof arguments;
    assert_int_equal(d->ops->together(d, m, 0), fake->not_cooperative ? 0 : (2048 / 128 - 1) * 132);
    assert_int_equal(d->ops->together(d, m, 1), 0); /* nobody said that it should */
    fake->order.count = 0;
    assert_int_equal(d->ops->launch_together(d, m, 0, grid, arguments, 24, NULL, &code),
                     FAULT_NONE);
    assert_string_equal(fake->order.what[0], "kernels together");
    const unsigned grid_seen[3] = {5, 6, 7};
    assert_memory_equal(fake->launch.grid, grid_seen, sizeof grid_seen);
    assert_int_equal(fake->launch.shared_bytes, 100 * 1024);
    fake->fail = "cuLaunchCooperativeKernel";
    fake->code = UNKNOWN;
    assert_int_equal(d->ops->launch_together(d, m, 0, grid, arguments, 24, NULL, &code),
                     FAULT_DEVICE);
    assert_int_equal(code, UNKNOWN);
    fake->fail = NULL;
    d->ops->unload(d, m);
}

static void check_together(void **unused) {
    (void)unused;
    for (int without = 0; without < 2; without++) {
        fake->not_cooperative = without;
        in_device(use_together);
    }
}

static void expect_as(device *d, const module *m, int which, int64_t blocks, const char *what) {
    const unsigned char arguments[24] = "";
    const int64_t grid[3] = {blocks, 1, 1};
    int code;
    fake->arguments_bytes = sizeof arguments;
    fake->order.count = 0;
    assert_int_equal(d->ops->launch(d, m, which, grid, arguments, 24, NULL, &code), FAULT_NONE);
    assert_string_equal(fake->order.what[0], what);
    const unsigned grid_seen[3] = {(unsigned)blocks, 1, 1};
    assert_memory_equal(fake->launch.grid, grid_seen, sizeof grid_seen);
    assert_memory_equal(fake->launch.block, launches[which].block, sizeof fake->launch.block);
    assert_int_equal(fake->launch.shared_bytes, launches[which].shared_bytes);
}

/* Of a launch of resident blocks one that has as many as it may is one of blocks together. */
static void expect_launch(device *d, const module *m, int which, int64_t blocks, bool together) {
    expect_as(d, m, which, blocks, together ? "kernels together" : "kernel");
}

/* As many blocks as the driver says fit, of a launch that says that it needs to know. */
static void use_resident(job *j, void *argument) {
    device *d = argument;
    program_launch both[2] = {launches[0], launches[1]};
    program p = two_launches();
    p.kind = PROGRAM_LISTS;
    p.launches = both;
    p.lists.tagged = true;
    both[0].lists.resident = true;
    module *m = d->ops->load(d, j, &p, (blob){"", 0});
    assert_int_equal(d->ops->resident(d, m, 0), (2048 / 256 - 1) * 132);
    assert_int_equal(d->ops->resident(d, m, 1), 1); /* nobody said that it should */
    expect_launch(d, m, 0, (2048 / 256 - 1) * 132 - 1, false);
    expect_launch(d, m, 0, (2048 / 256 - 1) * 132, !fake->not_cooperative);
    expect_launch(d, m, 1, (2048 / 256 - 1) * 132, false);
    d->ops->unload(d, m);
    both[0].lists.blocks[0].most = 264;
    m = d->ops->load(d, j, &p, (blob){"", 0});
    expect_launch(d, m, 0, 263, false);
    expect_launch(d, m, 0, 264, !fake->not_cooperative);
    d->ops->unload(d, m);
    p.lists.tagged = false; /* resident for other reasons: they do not wait for each other */
    m = d->ops->load(d, j, &p, (blob){"", 0});
    expect_launch(d, m, 0, 264, false);
    fake->fail = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
    fake->code = UNKNOWN;
    d->ops->unload(d, m);
    d->ops->load(d, j, &p, (blob){"", 0});
}

static void check_resident(void **unused) {
    (void)unused;
    for (int without = 0; without < 2; without++) {
        fake->not_cooperative = without;
        device *d = must_open();
        job *j;
        assert_int_equal(job_run(&allocator_libc, use_resident, d, &j), FAULT_DEVICE);
        assert_non_null(strstr(job_error_text(j), "loading the kernel"));
        job_end(j);
        fake->fail = NULL;
        d->ops->close(d);
    }
}

/* A launch that may begin early does, where the driver can capture it in a graph. */
static const char *early;
static void use_early(job *j, void *argument) {
    device *d = argument;
    program_launch both[2] = {launches[0], launches[1]};
    program p = two_launches();
    p.launches = both;
    both[1].early = true;
    module *m = d->ops->load(d, j, &p, (blob){"", 0}); /* of a grid */
    expect_as(d, m, 1, 17, early);
    d->ops->unload(d, m);
    p.kind = PROGRAM_LISTS;
    m = d->ops->load(d, j, &p, (blob){"", 0});
    expect_as(d, m, 0, 17, "kernel");
    expect_as(d, m, 1, 17, early);
    d->ops->unload(d, m);
    p.lists.tagged = both[1].lists.resident =
        true; /* blocks that wait for each other need to be together more */
    both[1].lists.blocks[0].most = 17;
    m = d->ops->load(d, j, &p, (blob){"", 0});
    expect_as(d, m, 1, 16, early);
    expect_as(d, m, 1, 17, "kernels together");
    d->ops->unload(d, m);
}

static void check_early(void **unused) {
    (void)unused;
    early = "kernel early";
    in_device(use_early);
    fake->driver = 12020;
    early = "kernel";
    in_device(use_early);
    fake->driver = 0;
}

/* Drivers before CUDA 11.8 have no such launches at all. */
static void check_older(void **unused) {
    assert_true(take_fake(FAKE_CUDA_OLDER));
    reset(unused);
    early = "kernel";
    in_device(use_early);
    settled(unused);
    assert_true(take_fake(FAKE_CUDA));
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

static const struct CMUnitTest tests[] = {
    TEST(check_kernels), TEST(check_adopted), TEST(check_together),      TEST(check_resident),
    TEST(check_early),   TEST(check_older),   TEST(check_absent_kernel),
};

TEST_GROUP(kernels, set_up, NULL)
