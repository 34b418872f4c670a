/* Modules of the cpu device beside each other: several launches in one, larger ones loaded later or
   too large to load, and launches from several threads. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/device/cpu/cpu_program.h"

#include <pthread.h>

static const char several_text[] = ARGUMENTS
    "extern \"C\" __global__ void __launch_bounds__(64) first(const __grid_constant__ Arguments a) "
    "{\n"
    "    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (at < a.count)\n"
    "        a.out[at] = 2 * a.in[at];\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(8) second(const __grid_constant__ Arguments a) "
    "{\n"
    "    float *tile = reinterpret_cast<float *>(sg_cpu_shared());\n"
    "    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    tile[threadIdx.x] = a.out[at];\n"
    "    __syncthreads();\n"
    "    a.out[at] = tile[threadIdx.x ^ 1] + 1;\n"
    "}\n";

static void several_launches(job *j, device *d) {
    enum { COUNT = 1000 };
    program *p = make_program(j, several_text, 64, 1, 1, 0, false);
    program_launch launches[2] = {
        {.entry = "first", .block = {64, 1, 1}},
        {.entry = "second", .block = {8, 1, 1}, .shared_bytes = 32, .barriers = true}};
    p->launches = launches;
    p->launch_count = 2;
    module *m = build(j, d, p);
    float *in = floats(j, d, COUNT), *out = floats(j, d, COUNT);
    const arguments a = {out, in, COUNT};
    launch_on(d, m, 0, COUNT / 64 + 1, 1, 1, &a, sizeof a);
    launch_on(d, m, 1, COUNT / 8, 1, 1, &a, sizeof a);
    for (int i = 0; i < COUNT; i++)
        assert_true(out[i] == 2 * in[i ^ 1] + 1);
    const function_facts f = d->ops->function(d, j, m, 1);
    assert_int_equal(f.registers, -1);
    assert_int_equal(f.local_bytes, -1);
    assert_int_equal(f.blocks_resident, -1);
    assert_true(f.occupancy == -1);
    d->ops->free(d, in);
    d->ops->free(d, out);
    d->ops->unload(d, m);
}

static void test_several_launches(void **state) {
    (void)state;
    with_device(2, several_launches);
}

/* Loading a kernel with larger blocks must not disturb one loaded before. */
static void larger_later(job *j, device *d) {
    enum { COUNT = 512 };
    module *small = build(j, d, make_program(j, reverse_text, 8, 1, 1, 32, true));
    module *large = NULL;
    float *in = floats(j, d, COUNT), *out = floats(j, d, COUNT);
    const arguments a = {out, in, COUNT};
    for (int round = 0; round < 2; round++) {
        launch_on(d, small, 0, COUNT / 8, 1, 1, &a, sizeof a);
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] == in[i / 8 * 8 + 7 - i % 8]);
        if (large == NULL)
            large = build(j, d, make_program(j, reverse_text, 16, 16, 1, 1024, true));
        launch_on(d, large, 0, COUNT / 256, 1, 1, &a, sizeof a);
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] == in[i / 256 * 256 + 255 - i % 256]);
    }
    d->ops->free(d, in);
    d->ops->free(d, out);
    d->ops->unload(d, large);
    d->ops->unload(d, small);
}

static void load_too_large(job *j, void *argument) {
    device *d = argument;
    build(j, d, make_program(j, reverse_text, 8, 1, 1, SIZE_MAX / 4, true));
}

/* Nor must one that cannot be loaded, because there is no memory for its blocks. */
static void too_large_later(job *j, device *d) {
    enum { COUNT = 64 };
    module *small = build(j, d, make_program(j, reverse_text, 8, 1, 1, 32, true));
    float *in = floats(j, d, COUNT), *out = floats(j, d, COUNT);
    job *other;
    assert_int_equal(job_run(&allocator_libc, load_too_large, d, &other), FAULT_MEMORY);
    assert_non_null(strstr(job_error(other), "out of memory for the stacks"));
    job_end(other);
    launch_on(d, small, 0, COUNT / 8, 1, 1, &(arguments){out, in, COUNT}, sizeof(arguments));
    for (int i = 0; i < COUNT; i++)
        assert_true(out[i] == in[i / 8 * 8 + 7 - i % 8]);
    d->ops->free(d, in);
    d->ops->free(d, out);
    d->ops->unload(d, small);
}

static void test_too_large_later(void **state) {
    (void)state;
    with_device(2, too_large_later);
}

static void test_larger_later(void **state) {
    (void)state;
    with_device(2, larger_later);
}

typedef struct launcher {
    device *device;
    const module *module;
    int block;
    float *in, *out;
    int wrong;
} launcher;

enum { LAUNCHES = 200, LAUNCH_COUNT = 256 * 8 };

static void *launch_often(void *argument) {
    launcher *l = argument;
    const arguments a = {l->out, l->in, LAUNCH_COUNT};
    const int64_t grid[3] = {LAUNCH_COUNT / l->block, 1, 1};
    for (int k = 0; k < LAUNCHES; k++) {
        int code;
        memset(l->out, 0, LAUNCH_COUNT * sizeof(float));
        device *d = l->device;
        l->wrong += d->ops->launch(d, l->module, 0, grid, &a, sizeof a, NULL, &code) != FAULT_NONE;
        for (int i = 0; i < LAUNCH_COUNT; i++) {
            const int first = i / l->block * l->block;
            l->wrong += l->out[i] != l->in[first + l->block - 1 - (i - first)];
        }
    }
    return NULL;
}

static void two_threads(job *j, device *d) {
    launcher l[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        const int block = i == 0 ? 32 : 256;
        program *p = make_program(j, reverse_text, block, 1, 1, (size_t)block * 4, true);
        l[i] = (launcher){.device = d, .block = block, .module = build(j, d, p)};
        l[i].in = floats(j, d, LAUNCH_COUNT);
        l[i].out = floats(j, d, LAUNCH_COUNT);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_often, &l[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(l[i].wrong, 0);
        d->ops->free(d, l[i].in);
        d->ops->free(d, l[i].out);
        d->ops->unload(d, (module *)l[i].module);
    }
}

static void test_two_threads(void **state) {
    (void)state;
    with_device(3, two_threads);
}

/* Rows few and long, many and short, and bunches of them whose last is smaller. */
static void copy_rows(job *j, device *d) {
    static const size_t shapes[][2] = {{3, 5}, {2, (1 << 20) + 9}, {5000, 3}, {300, 20000}, {1, 1}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const size_t rows = shapes[s][0], bytes = shapes[s][1], pitch = bytes + 7,
                     apart = bytes + 2;
        unsigned char *to = d->ops->alloc(d, j, rows * pitch);
        unsigned char *from = d->ops->alloc(d, j, rows * apart);
        d->ops->fill(d, j, to, 0xee, rows * pitch);
        for (size_t i = 0; i < rows * apart; i++)
            from[i] = (unsigned char)(i * 7 + i / 251);
        const device_copy c = {.to = to,
                               .from = from,
                               .bytes = bytes,
                               .rows = rows,
                               .to_pitch = pitch,
                               .from_pitch = apart};
        d->ops->copy(d, j, &c, NULL);
        size_t wrong = 0;
        for (size_t row = 0; row < rows; row++)
            for (size_t i = 0; i < pitch; i++)
                wrong += to[row * pitch + i] != (i < bytes ? from[row * apart + i] : 0xee);
        assert_int_equal(wrong, 0);
        d->ops->free(d, to);
        d->ops->free(d, from);
    }
}

static void test_copy_rows(void **state) {
    (void)state;
    with_device(3, copy_rows);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_several_launches), cmocka_unit_test(test_larger_later),
    cmocka_unit_test(test_too_large_later),  cmocka_unit_test(test_two_threads),
    cmocka_unit_test(test_copy_rows),
};

TEST_GROUP(modules, NULL, NULL)
