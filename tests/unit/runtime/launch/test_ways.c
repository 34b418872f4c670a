/* Programs with several ways to make a step, on a device that only records: the way of each
   launch of sg_run, the arguments of its kernels, where the arrays end up, and what sg_launch
   refuses. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/launch/fake_device.h"

static program_array arrays[] = {
    {.name = "u", .grid.field = "u", .grid.reads = -1, .grid.previous = -1},
    {.name = "u.next", .grid.field = "u", .written = true, .grid.reads = 0, .grid.previous = -1},
    {.name = "d", .grid.field = "d", .written = true, .grid.reads = -1, .grid.previous = -1}};

/* A method that walks y: the kernel's last axis is the grid's second. */
#define WAY(n, x, y)                                                                               \
    {                                                                                              \
        .entry = "fused", .grid.axes = {0, -1, 1}, .per_block = {16, 1, 8}, .grid.vector = 1,      \
        .grid.steps = n, .grid.least = {                                                           \
            x,                                                                                     \
            0,                                                                                     \
            y                                                                                      \
        }                                                                                          \
    }
#define SINGLE                                                                                     \
    {                                                                                              \
        .entry = "single", .grid.axes = {0, 1, -1}, .per_block = {32, 8, 1}, .grid.vector = 1,     \
        .grid.steps = 1                                                                            \
    }
static program_launch plain[] = {WAY(8, 40, 20), WAY(4, 30, 10), WAY(2, 20, 5), SINGLE};
static program_launch resident[] = {WAY(8, 0, 0), SINGLE};

static program make(program_launch *launches, int count) {
    resident[0].grid.cooperative = true;
    return (program){.name = "heat",
                     .dims = 2,
                     .element_bytes = 4,
                     .arrays = arrays,
                     .array_count = 3,
                     .launches = launches,
                     .launch_count = count,
                     .grid.ways = true};
}

/* Addresses that are never followed, far apart. */
static void *const memory[3] = {(void *)(uintptr_t)0x1000000, (void *)(uintptr_t)0x2000000,
                                (void *)(uintptr_t)0x3000000};
static void *const temporary = (void *)(uintptr_t)0x4000000;
/* The words of two outputs of 40 by 20 floats: of 8 bytes, for rounds of odd and even number. */
enum { EXCHANGE = 2 * 40 * 20 * 2 * 8 };

typedef struct scene {
    sg_kernel *kernel;
    fake_device *device;
    sg_grid grids[3];
    sg_arguments arguments;
    int final[3];
} scene;

static void begin(scene *s, const program *p, int64_t nx, int64_t ny) {
    *s = (scene){.kernel = fake_kernel(p)};
    s->device = fake_of(s->kernel);
    for (int i = 0; i < 3; i++)
        s->grids[i] = (sg_grid){.data = memory[i], .size = {nx, ny, 1}};
    s->arguments =
        (sg_arguments){.struct_size = sizeof s->arguments, .grids = s->grids, .grid_count = 3};
}

static void run(scene *s, int64_t steps) {
    s->device->launch_count = s->device->fill_count = 0;
    assert_int_equal(sg_run(s->kernel, &s->arguments, steps, NULL, s->final), SG_OK);
}

static int told_steps(const fake_launch *l) {
    int32_t steps;
    memcpy(&steps, l->arguments + PROGRAM_OFFSET_STEPS, sizeof steps);
    return steps;
}

static void *grid_of(const fake_launch *l, int grid) {
    void *data;
    memcpy(&data, l->arguments + PROGRAM_OFFSET_GRIDS + PROGRAM_GRID_BYTES * grid, sizeof data);
    return data;
}

/* The launches were of these ways, 9 ending the list, and each read what the one before wrote. */
static void expect_ways(const scene *s, const char *ways) {
    const int count = (int)strlen(ways);
    const program *p = s->kernel->program;
    assert_int_equal(s->device->launch_count, count);
    for (int i = 0; i < count; i++) {
        const fake_launch *l = &s->device->launches[i];
        assert_int_equal(l->which, ways[i] - '0');
        assert_int_equal(told_steps(l), p->launches[l->which].grid.steps);
        assert_false(l->together);
        assert_ptr_equal(grid_of(l, 0), memory[i % 2]);
        assert_ptr_equal(grid_of(l, 1), memory[1 - i % 2]);
        assert_ptr_equal(grid_of(l, 2), memory[2]);
    }
    assert_int_equal(s->final[0], count % 2);
    assert_int_equal(s->final[1], 1 - count % 2);
    assert_int_equal(s->final[2], 2);
}

static void the_longest_ways_are_taken(void **state) {
    (void)state;
    const program p = make(plain, 4);
    static const struct {
        int64_t steps;
        const char *ways;
    } cases[] = {{0, ""},  {1, "3"},  {2, "2"},     {3, "23"},  {4, "1"},      {7, "123"},
                 {8, "0"}, {9, "03"}, {15, "0123"}, {16, "00"}, {31, "000123"}};
    scene s;
    begin(&s, &p, 40, 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(&s, cases[i].steps);
        expect_ways(&s, cases[i].ways);
    }
    fake_end(s.kernel);
}

/* Each way has a least grid of its own; the last takes any. */
static void small_grids_take_shorter_ways(void **state) {
    (void)state;
    const program p = make(plain, 4);
    static const struct {
        int64_t nx, ny;
        const char *ways;
    } cases[] = {{40, 20, "03"},   {39, 20, "113"},        {40, 19, "113"},    {29, 20, "22223"},
                 {40, 9, "22223"}, {1000, 4, "333333333"}, {1, 1, "333333333"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene s;
        begin(&s, &p, cases[i].nx, cases[i].ny);
        run(&s, 9);
        expect_ways(&s, cases[i].ways);
        fake_end(s.kernel);
    }
}

static void boxes_take_single_steps(void **state) {
    (void)state;
    static float cells[2][40 * 20];
    const program p = make(plain, 4);
    scene s;
    begin(&s, &p, 40, 20);
    for (int i = 0; i < 2; i++)
        s.grids[i].data = cells[i]; /* what is outside of the box is copied */
    memcpy(s.arguments.end, (int64_t[]){40, 19, 0}, sizeof s.arguments.end);
    run(&s, 5);
    assert_int_equal(s.device->launch_count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(s.device->launches[i].which, 3);
    assert_int_equal(s.device->copied, sizeof cells[0]);
    s.arguments.end[1] = 20; /* a box that is the grid */
    run(&s, 5);
    assert_int_equal(s.device->launch_count, 2);
    fake_end(s.kernel);
}

/* ---- sg_launch ----------------------------------------------------------------------------- */

static void expect_refused(const scene *s, const char *why) {
    const int before = s->device->launch_count;
    assert_int_equal(sg_launch(s->kernel, &s->arguments, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(s->kernel->context), why);
    assert_int_equal(s->device->launch_count, before);
}

static void a_launch_is_the_first_way(void **state) {
    (void)state;
    const program p = make(plain, 4);
    scene s;
    begin(&s, &p, 40, 20);
    assert_int_equal(sg_launch(s.kernel, &s.arguments, NULL), SG_OK);
    assert_int_equal(s.device->launch_count, 1);
    assert_int_equal(s.device->launches[0].which, 0);
    assert_int_equal(told_steps(&s.device->launches[0]), 8);
    assert_int_equal(s.device->launches[0].grid[0], 3);
    assert_int_equal(s.device->launches[0].grid[2], 3);
    memcpy(s.arguments.end, (int64_t[]){40, 19, 1}, sizeof s.arguments.end);
    expect_refused(&s, "error: a launch of 'heat' makes 8 steps of the whole grid, not of a box; "
                       "sg_run makes single steps there, and so does a kernel built with time=1");
    memset(s.arguments.end, 0, sizeof s.arguments.end);
    for (int i = 0; i < 3; i++)
        s.grids[i].size[1] = 19;
    expect_refused(&s, "error: a launch of 'heat' makes 8 steps of a grid with at least 20 cells "
                       "along y, not 19; sg_run makes fewer at a time there, or build it with "
                       "time=1 or for this size");
    for (int i = 0; i < 3; i++)
        s.grids[i].size[0] = 0; /* there is nothing to do */
    assert_int_equal(sg_launch(s.kernel, &s.arguments, NULL), SG_OK);
    assert_int_equal(s.device->launch_count, 1);
    fake_end(s.kernel);
}

/* ---- all steps in one launch ---------------------------------------------------------------- */

static size_t temporary_bytes(const scene *s) {
    size_t bytes = 99;
    assert_int_equal(sg_temporary_bytes(s->kernel, &s->arguments, &bytes), SG_OK);
    return bytes;
}

/* However many rounds a launch goes, its results are in the outputs. */
static void expect_together(scene *s, int64_t steps) {
    run(s, steps);
    const fake_launch *l = &s->device->launches[0];
    assert_int_equal(s->device->launch_count, 1);
    assert_true(l->together);
    assert_int_equal(l->which, 0);
    assert_int_equal(told_steps(l), steps);
    assert_ptr_equal(grid_of(l, 3), temporary);
    assert_int_equal(s->device->fill_count, 1);
    assert_ptr_equal(s->device->fills[0].to, temporary);
    assert_int_equal(s->device->fills[0].byte, 0);
    assert_int_equal(s->device->fills[0].bytes, EXCHANGE);
    assert_int_equal(s->device->fills[0].launches, 0);
    assert_int_equal(s->final[0], 1);
    assert_int_equal(s->final[1], 0);
    assert_int_equal(s->final[2], 2);
}

static void a_resident_kernel_makes_all_steps_at_once(void **state) {
    (void)state;
    const program p = make(resident, 2);
    scene s;
    begin(&s, &p, 40, 20); /* 3 blocks along x, 3 along y */
    s.device->together = 9;
    assert_int_equal(temporary_bytes(&s), EXCHANGE);
    s.arguments.temporary = temporary;
    s.arguments.temporary_bytes = EXCHANGE;
    expect_together(&s, 9);
    expect_together(&s, 16);
    expect_together(&s, 17);
    expect_together(&s, 1000);
    run(&s, 8); /* one round exchanges nothing */
    assert_false(s.device->launches[0].together);
    assert_int_equal(s.device->fill_count, 0);
    fake_end(s.kernel);
}

/* Not all blocks fit, or there is no memory for the exchange. */
static void else_it_makes_as_many_as_it_can(void **state) {
    (void)state;
    const program p = make(resident, 2);
    scene s;
    begin(&s, &p, 40, 20);
    for (int i = 0; i < 2; i++) {
        s.device->together = i == 0 ? 8 : 9;
        s.arguments.temporary = i == 0 ? temporary : NULL;
        s.arguments.temporary_bytes = EXCHANGE;
        assert_int_equal(temporary_bytes(&s), i == 0 ? 0 : EXCHANGE);
        run(&s, 21);
        assert_int_equal(s.device->launch_count, 3);
        for (int l = 0; l < 3; l++) {
            assert_false(s.device->launches[l].together);
            assert_int_equal(s.device->launches[l].which, 0);
            assert_int_equal(told_steps(&s.device->launches[l]), l < 2 ? 8 : 5);
        }
        assert_int_equal(s.final[0], 1);
        run(&s, 17); /* the step that is left is a single one */
        assert_int_equal(s.device->launches[2].which, 1);
    }
    assert_int_equal(sg_launch(s.kernel, &s.arguments, NULL), SG_OK);
    assert_int_equal(told_steps(&s.device->launches[3]), 8);
    fake_end(s.kernel);
}

static void memory_for_the_exchange_is_checked(void **state) {
    (void)state;
    const program p = make(resident, 2);
    scene s;
    begin(&s, &p, 40, 20);
    s.device->together = 9;
    s.arguments.temporary = (char *)temporary + 8;
    s.arguments.temporary_bytes = EXCHANGE;
    assert_int_equal(sg_run(s.kernel, &s.arguments, 20, NULL, NULL), SG_ERROR_USAGE);
    s.arguments.temporary = memory[1];
    assert_int_equal(sg_run(s.kernel, &s.arguments, 20, NULL, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(s.kernel->context),
                        "error: the temporary memory overlaps 'u.next'");
    s.arguments.temporary_bytes = EXCHANGE - 1; /* too little to be of use */
    assert_int_equal(sg_run(s.kernel, &s.arguments, 20, NULL, NULL), SG_OK);
    fake_end(s.kernel);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_longest_ways_are_taken),
    cmocka_unit_test(small_grids_take_shorter_ways),
    cmocka_unit_test(boxes_take_single_steps),
    cmocka_unit_test(a_launch_is_the_first_way),
    cmocka_unit_test(a_resident_kernel_makes_all_steps_at_once),
    cmocka_unit_test(else_it_makes_as_many_as_it_can),
    cmocka_unit_test(memory_for_the_exchange_is_checked),
};

TEST_GROUP(ways, NULL, NULL)
