/* Several steps on a device that only records: which buffer each step reads and writes, what is
   copied so that cells keep their value, and errors that belong to a thread. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/launch/fake_device.h"

static program_array wave_arrays[] = {
    {.name = "c", .grid.field = "c", .grid.reads = -1, .grid.previous = -1},
    {.name = "u", .grid.field = "u", .grid.reads = -1, .grid.previous = -1},
    {.name = "u.prev", .grid.field = "u", .grid.reads = -1, .grid.previous = -1},
    {.name = "u.next", .grid.field = "u", .written = true, .grid.reads = 1, .grid.previous = 2}};
static program_array heat_arrays[] = {
    {.name = "u", .grid.field = "u", .grid.reads = -1, .grid.previous = -1},
    {.name = "u.next", .grid.field = "u", .written = true, .grid.reads = 0, .grid.previous = -1},
    {.name = "d", .grid.field = "d", .written = true, .grid.reads = -1, .grid.previous = -1}};
static program_launch launches = {
    .grid.axes = {0, 1, 2}, .per_block = {32, 8, 4}, .grid.vector = 1};

static program make(program_array *arrays, int count) {
    return (program){.name = "steps",
                     .dims = 2,
                     .element_bytes = 4,
                     .arrays = arrays,
                     .array_count = count,
                     .launches = &launches,
                     .launch_count = 1};
}

enum { NX = 5, NY = 4, PITCH = 7, CELLS = PITCH * NY };
#define SENTINEL 99.0f

typedef struct scene {
    float memory[4][CELLS];
    sg_grid grids[4];
    sg_arguments arguments;
} scene;

/* Array a holds 100·a + its cell's number; between rows there are sentinels. */
static void fill(scene *s, int count) {
    *s = (scene){.arguments = {.struct_size = sizeof s->arguments, .grid_count = count}};
    s->arguments.grids = s->grids;
    for (int a = 0; a < 4; a++) {
        for (int i = 0; i < CELLS; i++)
            s->memory[a][i] = i % PITCH < NX ? (float)(100 * a + i) : SENTINEL;
        s->grids[a] = (sg_grid){.data = s->memory[a], .size = {NX, NY, 0}, .stride = {1, PITCH, 0}};
    }
}

static int array_at(const scene *s, const fake_launch *l, int grid) {
    void *data;
    memcpy(&data, l->arguments + PROGRAM_OFFSET_GRIDS + PROGRAM_GRID_BYTES * grid, sizeof data);
    for (int a = 0; a < 4; a++)
        if (data == s->memory[a])
            return a;
    return -1;
}

static void two_buffers_swap(void **state) {
    (void)state;
    const program p = make(heat_arrays, 3);
    sg_kernel *k = fake_kernel(&p);
    scene s;
    int final[3];
    fill(&s, 3);
    assert_int_equal(sg_run(k, &s.arguments, 3, NULL, final), SG_OK);
    assert_int_equal(fake_of(k)->launch_count, 3);
    for (int step = 0; step < 3; step++) {
        const fake_launch *l = &fake_of(k)->launches[step];
        assert_int_equal(array_at(&s, l, 0), step % 2);
        assert_int_equal(array_at(&s, l, 1), 1 - step % 2);
        assert_int_equal(array_at(&s, l, 2), 2);
    }
    assert_int_equal(final[0], 1);
    assert_int_equal(final[1], 0);
    assert_int_equal(final[2], 2);
    assert_int_equal(fake_of(k)->copy_count, 0);
    fake_end(k);
}

static void three_buffers_rotate(void **state) {
    (void)state;
    static const int roles[5][3] = {{1, 2, 3}, {3, 1, 2}, {2, 3, 1}, {1, 2, 3}, {3, 1, 2}};
    const program p = make(wave_arrays, 4);
    sg_kernel *k = fake_kernel(&p);
    for (int steps = 0; steps < 5; steps++) {
        scene s;
        int final[4];
        fill(&s, 4);
        fake_of(k)->launch_count = 0;
        assert_int_equal(sg_run(k, &s.arguments, steps, NULL, final), SG_OK);
        assert_int_equal(fake_of(k)->launch_count, steps);
        for (int step = 0; step < steps; step++)
            for (int role = 0; role < 3; role++)
                assert_int_equal(array_at(&s, &fake_of(k)->launches[step], role + 1),
                                 roles[step][role]);
        assert_int_equal(final[0], 0);
        for (int role = 0; role < 3; role++)
            assert_int_equal(final[role + 1], roles[steps][role]);
    }
    fake_end(k);
}

/* `final` counts the arrays as the caller lists them. */
static void final_is_in_the_order_of_the_call(void **state) {
    (void)state;
    static const int of_kernel[4] = {2, 0, 3, 1}; /* of each array of the call */
    const program p = make(wave_arrays, 4);
    sg_kernel *k = fake_kernel(&p);
    for (int steps = 0; steps < 5; steps++) {
        scene s;
        sg_array arrays[4];
        int by_order[4], final[4];
        fill(&s, 4);
        for (int i = 0; i < 4; i++)
            arrays[i] = (sg_array){wave_arrays[of_kernel[i]].name, s.grids[of_kernel[i]]};
        const sg_arguments named = {
            .struct_size = sizeof named, .arrays = arrays, .array_count = 4};
        assert_int_equal(sg_run(k, &s.arguments, steps, NULL, by_order), SG_OK);
        assert_int_equal(sg_run(k, &named, steps, NULL, final), SG_OK);
        for (int i = 0; i < 4; i++)
            assert_ptr_equal(arrays[final[i]].grid.data, s.grids[by_order[of_kernel[i]]].data);
    }
    fake_end(k);
}

static void expect_copy_of(const scene *s, int array, int of) {
    for (int i = 0; i < CELLS; i++)
        assert_true(s->memory[array][i] == (i % PITCH < NX ? (float)(100 * of + i) : SENTINEL));
}

static void a_box_keeps_the_other_cells(void **state) {
    (void)state;
    const program p = make(wave_arrays, 4);
    sg_kernel *k = fake_kernel(&p);
    scene s;
    for (int steps = 1; steps <= 4; steps++) {
        fill(&s, 4);
        fake_of(k)->copied = 0;
        s.arguments.begin[0] = 1;
        memcpy(s.arguments.end, (int64_t[]){NX, NY, 0}, sizeof s.arguments.end);
        assert_int_equal(sg_run(k, &s.arguments, steps, NULL, NULL), SG_OK);
        /* The second step needs what the first one read as the previous level no more. */
        expect_copy_of(&s, 0, 0);
        expect_copy_of(&s, 1, 1);
        expect_copy_of(&s, 2, steps == 1 ? 2 : 1);
        expect_copy_of(&s, 3, 1);
        assert_int_equal(fake_of(k)->copied, (steps == 1 ? 1 : 2) * NX * NY * sizeof(float));
    }
    fake_end(k);
}

static void dense_arrays_are_copied_at_once(void **state) {
    (void)state;
    const program p = make(heat_arrays, 3);
    sg_kernel *k = fake_kernel(&p);
    scene s;
    fill(&s, 3);
    for (int i = 0; i < 3; i++)
        s.grids[i].stride[1] = 0;
    memcpy(s.arguments.end, (int64_t[]){NX, NY - 1, 0}, sizeof s.arguments.end);
    assert_int_equal(sg_run(k, &s.arguments, 2, NULL, NULL), SG_OK);
    assert_int_equal(fake_of(k)->copy_count, 1);
    assert_int_equal(fake_of(k)->copied, NX * NY * sizeof(float));
    assert_memory_equal(s.memory[1], s.memory[0], NX * NY * sizeof(float));
    fake_end(k);
}

/* Padded rows go in one copy, and padded planes in one copy each. */
static void padded_arrays_are_copied_by_rows(void **state) {
    (void)state;
    enum { X = 3, Y = 2, Z = 4, PITCH_X = 5, PLANES = 3, CELLS_3D = PITCH_X * PLANES * Z };
    program p = make(heat_arrays, 2);
    p.dims = 3;
    for (int planes = Y; planes <= PLANES; planes++) {
        float memory[2][CELLS_3D];
        sg_grid grids[2];
        for (int a = 0; a < 2; a++) {
            for (int i = 0; i < CELLS_3D; i++)
                memory[a][i] = a == 0 ? (float)i : SENTINEL;
            grids[a] = (sg_grid){
                .data = memory[a], .size = {X, Y, Z}, .stride = {1, PITCH_X, PITCH_X * planes}};
        }
        const sg_arguments arguments = {
            .struct_size = sizeof arguments, .grids = grids, .grid_count = 2, .end = {1, 1, 1}};
        sg_kernel *k = fake_kernel(&p);
        assert_int_equal(sg_run(k, &arguments, 1, NULL, NULL), SG_OK);
        for (int i = 0; i < PITCH_X * planes * Z; i++) {
            const int x = i % PITCH_X, y = i / PITCH_X % planes;
            assert_true(memory[1][i] == (x < X && y < Y ? (float)i : SENTINEL));
        }
        assert_int_equal(fake_of(k)->copy_count, planes == Y ? 1 : Z);
        assert_int_equal(fake_of(k)->copied, X * Y * Z * sizeof(float));
        fake_end(k);
    }
}

static void strides_of_both_arrays_are_followed(void **state) {
    (void)state;
    const program p = make(heat_arrays, 3);
    sg_kernel *k = fake_kernel(&p);
    for (int flipped = 0; flipped < 2; flipped++) { /* this one is upside down */
        scene s;
        fill(&s, 3);
        s.grids[flipped].data = s.memory[flipped] + PITCH * (NY - 1);
        s.grids[flipped].stride[1] = -PITCH;
        memcpy(s.arguments.end, (int64_t[]){1, 1, 0}, sizeof s.arguments.end);
        assert_int_equal(sg_run(k, &s.arguments, 1, NULL, NULL), SG_OK);
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < PITCH; x++)
                assert_true(s.memory[1][PITCH * (NY - 1 - y) + x] ==
                            (x < NX ? (float)(PITCH * y + x) : SENTINEL));
    }
    fake_end(k);
}

/* One step may read overlapping arrays; several write each of them in turn. */
static void buffers_of_a_rotation_must_not_overlap(void **state) {
    (void)state;
    const program p = make(wave_arrays, 4);
    sg_kernel *k = fake_kernel(&p);
    scene s;
    fill(&s, 4);
    s.grids[2].data = s.grids[1].data;
    assert_int_equal(sg_launch(k, &s.arguments, NULL), SG_OK);
    assert_int_equal(sg_run(k, &s.arguments, 1, NULL, NULL), SG_OK);
    assert_int_equal(sg_run(k, &s.arguments, 0, NULL, NULL), SG_OK);
    assert_int_equal(sg_run(k, &s.arguments, 2, NULL, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(k->context), "error: 'u' is written and overlaps 'u.prev' in "
                                              "memory");
    assert_int_equal(sg_run(k, &s.arguments, -1, NULL, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(k->context), "error: -1 steps cannot be run");
    fake_end(k);
}

/* ---- errors and threads -------------------------------------------------------------------- */

typedef struct thread_case {
    sg_kernel *kernel;
    char before[64], after[64];
} thread_case;

static void note(char to[64], const char *text) {
    strncpy(to, text, 63);
}

static void *fail_elsewhere(void *argument) {
    thread_case *t = argument;
    note(t->before, sg_error(t->kernel->context));
    sg_launch(t->kernel, NULL, NULL);
    note(t->after, sg_error(t->kernel->context));
    return NULL;
}

static void errors_belong_to_their_thread(void **state) {
    (void)state;
    const program p = make(heat_arrays, 3);
    thread_case t = {.kernel = fake_kernel(&p)};
    scene s;
    pthread_t thread;
    fill(&s, 3);
    assert_int_equal(sg_run(t.kernel, &s.arguments, -1, NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &t), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(t.before, "");
    assert_string_equal(t.after, "error: 'steps' needs arguments");
    assert_string_equal(sg_error(t.kernel->context), "error: -1 steps cannot be run");
    fake_end(t.kernel);
}

static void a_context_that_failed_to_open_says_why(void **state) {
    (void)state;
    sg_context *c;
    const sg_options options = {.struct_size = sizeof options, .device = "abacus"};
    assert_int_equal(sg_open(&c, &options), SG_ERROR_USAGE);
    assert_non_null(c);
    assert_string_equal(sg_error(c),
                        "error: unknown device 'abacus'; there are auto, cuda, cpu and none");
    void *memory = &c;
    assert_int_equal(sg_alloc(c, 1, &memory), SG_ERROR_USAGE);
    assert_ptr_equal(memory, &c);
    assert_string_equal(sg_error(c), "error: the context has no device, because opening it failed");
    sg_close(c);
    sg_close(NULL);
}

static void option_structs_may_be_older_and_newer(void **state) {
    (void)state;
    const program p = make(heat_arrays, 3);
    sg_kernel *k = fake_kernel(&p);
    struct {
        sg_device_info known;
        int64_t unknown;
    } newer = {.known.struct_size = sizeof newer, .unknown = 5};
    assert_int_equal(sg_device(k->context, &newer.known), SG_OK);
    assert_string_equal(newer.known.name, "a fake");
    assert_int_equal(newer.unknown, 5);
    sg_device_info older = {.struct_size = offsetof(sg_device_info, name), .name = "untouched"};
    assert_int_equal(sg_device(k->context, &older), SG_OK);
    assert_string_equal(older.device, "cpu");
    assert_string_equal(older.name, "untouched");

    scene s;
    fill(&s, 3);
    struct {
        sg_arguments known;
        int64_t unknown;
    } arguments = {.known = s.arguments};
    arguments.known.struct_size = sizeof arguments;
    assert_int_equal(sg_launch(k, &arguments.known, NULL), SG_OK);
    arguments.unknown = 1;
    assert_int_equal(sg_launch(k, &arguments.known, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(k->context),
                        "error: sg_arguments has a member set that this "
                        "version of the library (" SG_VERSION ") does not know");
    fake_end(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(two_buffers_swap),
    cmocka_unit_test(three_buffers_rotate),
    cmocka_unit_test(final_is_in_the_order_of_the_call),
    cmocka_unit_test(a_box_keeps_the_other_cells),
    cmocka_unit_test(dense_arrays_are_copied_at_once),
    cmocka_unit_test(padded_arrays_are_copied_by_rows),
    cmocka_unit_test(strides_of_both_arrays_are_followed),
    cmocka_unit_test(buffers_of_a_rotation_must_not_overlap),
    cmocka_unit_test(errors_belong_to_their_thread),
    cmocka_unit_test(a_context_that_failed_to_open_says_why),
    cmocka_unit_test(option_structs_may_be_older_and_newer),
};

TEST_GROUP(run, NULL, NULL)
