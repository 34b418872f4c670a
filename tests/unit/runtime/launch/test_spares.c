/* Spares: which calls take them, and how their binaries travel. */
#include "tests/unit/runtime/launch/heat_call.h"

#include "runtime/device/device.h"
#include "tests/unit/group.h"

static program_launch launches[2];

/* The launch of heat, for packs of 4, and its spare. */
static program with_spare(void) {
    program p = heat();
    launches[0] = launches[1] = heat_launch;
    launches[0].grid.spare = 1;
    launches[0].grid.needs = (program_needs){
        .multiple = 4, .width = 4, .rows = true, .low = {-1, -1, -1}, .high = {-1, -1, -1}};
    launches[1].entry = "heat_any";
    p.launches = launches;
    p.launch_count = 2;
    p.grid.spare_count = 1;
    p.grid.spare_source = "";
    return p;
}

static int taken(const program *p, const call *c) {
    sg_kernel *k = fake_kernel(p);
    assert_int_equal(sg_launch(k, &c->arguments, NULL), SG_OK);
    assert_int_equal(fake_of(k)->launch_count, 1);
    const int which = fake_of(k)->launches[0].which;
    fake_end(k);
    return which;
}

static void calls_that_lack_something_take_the_spare(void **state) {
    (void)state;
    const program p = with_spare();
    call c;
    assert_int_equal(taken(&p, good_call(&c)), 0);
    good_call(&c)->grids[0].data = (char *)U + 4; /* no pack begins there */
    assert_int_equal(taken(&p, &c), 1);
    good_call(&c);
    c.grids[0].size[0] = c.grids[1].size[0] = 99; /* nor where rows begin */
    assert_int_equal(taken(&p, &c), 1);
    c.grids[0].stride[1] = c.grids[1].stride[1] = 100; /* rows begin well, but do not end so */
    assert_int_equal(taken(&p, &c), 1);
    good_call(&c);
    memcpy(c.arguments.begin, (int64_t[]){4, 0, 0}, sizeof c.arguments.begin);
    memcpy(c.arguments.end, (int64_t[]){98, 20, 10}, sizeof c.arguments.end);
    assert_int_equal(taken(&p, &c), 1);
    c.arguments.end[0] = 96;
    assert_int_equal(taken(&p, &c), 0);
    good_call(&c);
    c.grids[1].stride[1] = (int64_t)1 << 28; /* 1 GiB */
    c.grids[1].stride[2] = (int64_t)20 << 28;
    assert_int_equal(taken(&p, &c), 0);
    c.grids[1].stride[1] += 4;
    c.grids[1].stride[2] += 80;
    assert_int_equal(taken(&p, &c), 1);
}

static void small_grids_take_the_spare_where_they_wrap(void **state) {
    (void)state;
    const program p = with_spare();
    call c;
    launches[0].grid.needs.low[2] = 9;
    launches[0].grid.needs.high[2] = 9;
    assert_int_equal(taken(&p, good_call(&c)), 0);
    launches[0].grid.needs.low[2] = 10; /* 10 planes: one lies beyond */
    assert_int_equal(taken(&p, good_call(&c)), 1);
    launches[0].grid.needs.low[2] = 9;
    launches[0].grid.needs.high[2] = 10;
    assert_int_equal(taken(&p, good_call(&c)), 1);
}

static void pair_up(job *j, void *argument) {
    (void)argument;
    const blob first = {"first", 5}, second = {"the second", 10};
    const blob pair = binary_pair(j, first, second);
    assert_memory_equal(pair.data, "first", 5);
    const blob back = binary_second(pair);
    assert_int_equal(back.size, 10);
    assert_memory_equal(back.data, "the second", 10);
    assert_int_equal((uintptr_t)((const char *)back.data - (const char *)pair.data) % 64, 0);
    assert_int_equal(binary_second(first).size, 0);
    assert_int_equal(binary_second((blob){pair.data, pair.size - 1}).size, 0);
    char *bad = job_copy(j, pair.data, pair.size);
    memset(bad + pair.size - 16, 0xFF, 8); /* it begins nowhere */
    assert_int_equal(binary_second((blob){bad, pair.size}).size, 0);
}

static void binaries_travel_in_pairs(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, pair_up, NULL, &j), FAULT_NONE);
    job_end(j);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(calls_that_lack_something_take_the_spare),
    cmocka_unit_test(small_grids_take_the_spare_where_they_wrap),
    cmocka_unit_test(binaries_travel_in_pairs),
};

TEST_GROUP(spares, NULL, NULL)
