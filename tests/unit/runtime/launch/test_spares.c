/* Spare kernels: which calls take them, and how their binaries are kept. */
#include "tests/unit/runtime/launch/heat_call.h"

#include "runtime/device/device.h"
#include "tests/unit/group.h"

static program_launch launches[2];

/* The launch of heat, for packs of 4, and its spare. */
static program with_spare(void) {
    program p = heat();
    launches[0] = launches[1] = heat_launch;
    launches[0].grid.spare = 1;
    launches[0].grid.needs = (program_needs){.multiple = 4,
                                             .cells = 1,
                                             .width = 4,
                                             .rows = true,
                                             .low = {-1, -1, -1},
                                             .high = {-1, -1, -1}};
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

static void grids_whose_rows_end_within_a_pack_take_the_spare(void **state) {
    (void)state;
    const program p = with_spare();
    call c;
    good_call(&c);
    c.grids[0].size[0] = c.grids[1].size[0] = 99;
    c.grids[0].stride[1] = c.grids[1].stride[1] = 100;
    memcpy(c.arguments.end, (int64_t[]){96, 20, 10}, sizeof c.arguments.end);
    assert_int_equal(taken(&p, &c), 0);
    launches[0].grid.needs.cells = 4;
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

/* The same, where both fetch the grid by bulk copies: by boxes, and by every fourth row. */
enum { EVERY = 4 };
static program with_rows(void) {
    program p = with_spare();
    launches[0].grid.needs = (program_needs){.multiple = 1, .cells = 1, .low = {-1, -1, -1}};
    launches[0].grid.map_count = 1;
    launches[0].grid.maps[0] = (program_map){.box = {40, 10, 1}};
    launches[1].grid.map_count = p.grid.map_count = EVERY;
    for (int i = 0; i < EVERY; i++)
        launches[1].grid.maps[i] = (program_map){.box = {40, 3, 1}, .every = EVERY, .first = i};
    return p;
}

/* Launches the spare, whose arguments say whether it has maps. The last one is *map. */
static bool has_maps(const program *p, const call *c, bool refuse, device_map *map) {
    int32_t aligned;
    sg_kernel *k = fake_kernel(p);
    fake_of(k)->refuse_maps = refuse;
    assert_int_equal(sg_launch(k, &c->arguments, NULL), SG_OK);
    assert_int_equal(fake_of(k)->launches[0].which, 1);
    memcpy(&aligned, fake_of(k)->launches[0].arguments + PROGRAM_OFFSET_STEPS - sizeof aligned,
           sizeof aligned);
    *map = fake_of(k)->map_count > 0 ? fake_of(k)->last_map : (device_map){.data = NULL};
    fake_end(k);
    return aligned;
}

/* Each map of the spare: `rows` of so many cells in all, of 4 bytes. */
static void expect_rows(const program *p, const call *c, int64_t cells, int64_t pitch,
                        int64_t rows) {
    const char *const data = c->grids[0].data;
    for (int i = 0; i < EVERY; i++) {
        device_map map;
        launches[1].grid.map_count = i + 1;
        assert_true(has_maps(p, c, false, &map));
        const int64_t lead = (int64_t)(uintptr_t)(data + 4 * i * pitch) % 16 / 4;
        assert_ptr_equal(map.data, data + 4 * (i * pitch - lead));
        assert_int_equal(map.element_bytes, 4);
        assert_int_equal(map.size[0], lead + cells);
        assert_int_equal(map.size[1], rows / EVERY + (i < rows % EVERY));
        assert_int_equal(map.size[2], 1);
        assert_int_equal(map.stride[1], EVERY * pitch);
        assert_memory_equal(map.box, ((int[]){40, 3, 1}), sizeof map.box);
    }
}

static void spares_see_every_fourth_row(void **state) {
    (void)state;
    const program p = with_rows();
    call c;
    device_map map;
    assert_int_equal(taken(&p, good_call(&c)), 0);
    good_call(&c)->grids[0].data = (char *)U + 4;
    assert_false(has_maps(&p, &c, true, &map));
    expect_rows(&p, &c, 100, 100, 200);
    good_call(&c)->grids[0].stride[1] = 103; /* rows and planes are padded */
    c.grids[0].stride[2] = 22 * 103;
    expect_rows(&p, &c, 100, 103, 9 * 22 + 20);
}

static void spares_without_rows_after_each_other_have_no_maps(void **state) {
    (void)state;
    const program p = with_rows();
    call c;
    device_map map;
    const struct {
        int64_t pitch, plane;
    } strides[] = {{-103, 2060}, {99, 1980}, {103, 2061}, {103, -2060}};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        good_call(&c)->grids[0].stride[1] = strides[i].pitch;
        c.grids[0].stride[2] = strides[i].plane;
        assert_false(has_maps(&p, &c, false, &map));
    }
    good_call(&c)->grids[0].data = (char *)U + 4; /* a map would have no row */
    c.grids[0].size[1] = c.grids[1].size[1] = 1;
    c.grids[0].stride[2] = 100;
    c.grids[0].size[2] = c.grids[1].size[2] = 3;
    assert_false(has_maps(&p, &c, false, &map));
    c.grids[0].size[2] = c.grids[1].size[2] = 4;
    assert_true(has_maps(&p, &c, false, &map));
    good_call(&c)->grids[0].stride[1] = 103;
    c.grids[0].data = (void *)(uintptr_t)0x10000000000; /* away from what is written */
    c.grids[0].stride[2] = (0x7fff0000 - 19) / 9 * (int64_t)103;
    assert_true(has_maps(&p, &c, false, &map)); /* the last row is as far as copies count */
    c.grids[0].stride[2] += 103;
    assert_false(has_maps(&p, &c, false, &map));
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
    cmocka_unit_test(grids_whose_rows_end_within_a_pack_take_the_spare),
    cmocka_unit_test(small_grids_take_the_spare_where_they_wrap),
    cmocka_unit_test(spares_see_every_fourth_row),
    cmocka_unit_test(spares_without_rows_after_each_other_have_no_maps),
    cmocka_unit_test(binaries_travel_in_pairs),
};

TEST_GROUP(spares, NULL, NULL)
