/* The cpu device runs CUDA text as a GPU would: indices, barriers, shared memory, threads that end
   early, many blocks. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/device/cpu/cpu_program.h"

#include <math.h>

/* ---- barriers -------------------------------------------------------------------------------- */

static void reverse(job *j, device *d) {
    enum { X = 32, Y = 8, BLOCK = X * Y, BLOCKS = 100, COUNT = BLOCK * BLOCKS };
    module *m = build(j, d, make_program(j, reverse_text, X, Y, 1, BLOCK * sizeof(float), true));
    float *in = floats(j, d, COUNT), *out = floats(j, d, COUNT);
    launch_on(d, m, 0, BLOCKS, 1, 1, &(arguments){out, in, COUNT}, sizeof(arguments));
    for (int i = 0; i < COUNT; i++)
        assert_true(out[i] == in[i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK]);
    d->ops->free(d, in);
    d->ops->free(d, out);
    d->ops->unload(d, m);
}

static void test_reverse(void **state) {
    (void)state;
    with_device(3, reverse);
}

static const char prefix_text[] = ARGUMENTS
    "__device__ __noinline__ float neighbour(const float *sums, unsigned distance) {\n"
    "    return threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;\n"
    "}\n" KERNEL "    float *sums = reinterpret_cast<float *>(sg_cpu_shared());\n"
    "    const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
    "    sums[threadIdx.x] = a.in[at];\n"
    "    __syncthreads();\n"
    "    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {\n"
    "        const float more = neighbour(sums, distance);\n"
    "        __syncthreads();\n"
    "        sums[threadIdx.x] += more;\n"
    "        __syncthreads();\n"
    "    }\n"
    "    a.out[at] = sums[threadIdx.x];\n"
    "}\n";

/* Values are small whole numbers, so that sums are exact in any order. */
static void prefix_sum(job *j, device *d) {
    const int sizes[] = {1, 2, 7, 256, 1024};
    const int blocks = 9;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const int n = sizes[s], count = n * blocks;
        program *p = make_program(j, prefix_text, n, 1, 1, (size_t)n * sizeof(float), true);
        module *m = build(j, d, p);
        float *in = floats(j, d, (size_t)count), *out = floats(j, d, (size_t)count);
        for (int i = 0; i < count; i++)
            in[i] = (float)(i % 17);
        launch_on(d, m, 0, blocks, 1, 1, &(arguments){out, in, count}, sizeof(arguments));
        float sum = 0;
        for (int i = 0; i < count; i++) {
            sum = i % n == 0 ? in[i] : sum + in[i];
            assert_true(out[i] == sum);
        }
        d->ops->free(d, in);
        d->ops->free(d, out);
        d->ops->unload(d, m);
    }
}

static void test_prefix_sum(void **state) {
    (void)state;
    with_device(2, prefix_sum);
}

/* Thread t passes (t * 5 + block) % 7 barriers and ends. At each it says which it has passed;
   behind it, it counts the threads that it ought to find there. */
static const char early_text[] =
    ARGUMENTS "__device__ int barriers_of(int t) { return (t * 5 + static_cast<int>(blockIdx.x)) % "
              "7; }\n" KERNEL "    int *passed = reinterpret_cast<int *>(sg_cpu_shared());\n"
              "    const int n = static_cast<int>(blockDim.x), t = static_cast<int>(threadIdx.x);\n"
              "    int wrong = 0;\n"
              "    for (int k = 0; k < barriers_of(t); ++k) {\n"
              "        passed[k * n + t] = k;\n"
              "        __syncthreads();\n"
              "        for (int other = 0; other < n; ++other)\n"
              "            wrong += barriers_of(other) > k ? passed[k * n + other] != k\n"
              "                                            : passed[k * n + other] != -1;\n"
              "    }\n"
              "    a.out[static_cast<long long>(blockIdx.x) * n + t] = static_cast<float>(wrong);\n"
              "}\n";

static void early_end(job *j, device *d) {
    const int sizes[] = {1, 2, 3, 7, 50};
    enum { BLOCKS = 21 };
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const int n = sizes[s];
        program *p = make_program(j, early_text, n, 1, 1, (size_t)n * 7 * sizeof(int), true);
        module *m = build(j, d, p);
        float *out = floats(j, d, (size_t)n * BLOCKS);
        launch_on(d, m, 0, BLOCKS, 1, 1, &(arguments){out, NULL, 0}, sizeof(arguments));
        for (int i = 0; i < n * BLOCKS; i++)
            assert_true(out[i] == 0);
        d->ops->free(d, out);
        d->ops->unload(d, m);
    }
}

static void test_early_end(void **state) {
    (void)state;
    with_device(2, early_end);
}

/* ---- indices --------------------------------------------------------------------------------- */

static const char indices_text[] =
    "struct Arguments { unsigned *out; };\n" KERNEL
    "    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;\n"
    "    const unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;\n"
    "#if BARRIER\n"
    "    __syncthreads();\n"
    "#endif\n"
    "    a.out[(z * height + y) * width + x] +=\n"
    "        threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x +\n"
    "        10000 * blockIdx.y + 100000 * blockIdx.z + 1000000 * (gridDim.z * blockDim.z);\n"
    "}\n";

static void indices(job *j, device *d) {
    enum { BX = 5, BY = 3, BZ = 2, GX = 3, GY = 7, GZ = 5 };
    const size_t bytes = sizeof(unsigned) * BX * BY * BZ * GX * GY * GZ;
    for (int barriers = 0; barriers < 2; barriers++) {
        const char *text = job_print(j, "#define BARRIER %d\n%s", barriers, indices_text);
        module *m = build(j, d, make_program(j, text, BX, BY, BZ, 0, barriers != 0));
        unsigned *out = d->ops->alloc(d, j, bytes);
        d->ops->fill(d, j, out, 0, bytes);
        launch_on(d, m, 0, GX, GY, GZ, &out, sizeof out);
        for (unsigned z = 0, i = 0; z < BZ * GZ; z++)
            for (unsigned y = 0; y < BY * GY; y++)
                for (unsigned x = 0; x < BX * GX; x++, i++)
                    assert_int_equal(out[i], x % BX + 10 * (y % BY) + 100 * (z % BZ) +
                                                 1000 * (x / BX) + 10000 * (y / BY) +
                                                 100000 * (z / BZ) + 1000000 * (GZ * BZ));
        d->ops->free(d, out);
        d->ops->unload(d, m);
    }
}

static void test_indices(void **state) {
    (void)state;
    with_device(3, indices);
}

static const char mark_text[] =
    "struct Arguments { unsigned char *out; long long first; };\n" KERNEL
    "    const long long block = static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x;\n"
    "    a.out[(block - a.first) * blockDim.x + threadIdx.x] += 1;\n"
    "}\n";

/* More blocks along an axis than 16 bits count, on every axis but z. */
static void many_blocks(job *j, device *d) {
    struct {
        unsigned char *out;
        int64_t first;
    } a = {0};
    const int64_t shapes[][2] = {{70001, 3}, {3, 70001}, {200003, 1}};
    module *m = build(j, d, make_program(j, mark_text, 2, 1, 1, 0, false));
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        const int64_t count = shapes[s][0] * shapes[s][1] * 2;
        a.out = d->ops->alloc(d, j, (size_t)count);
        d->ops->fill(d, j, a.out, 7, (size_t)count);
        launch_on(d, m, 0, shapes[s][0], shapes[s][1], 1, &a, sizeof a);
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(a.out[i], 8);
        d->ops->free(d, a.out);
    }
    d->ops->unload(d, m);
}

static void test_many_blocks(void **state) {
    (void)state;
    with_device(4, many_blocks);
}

static void grid_limits(job *j, device *d) {
    module *m = build(j, d, make_program(j, mark_text, 2, 1, 1, 0, false));
    struct {
        unsigned char *out;
        int64_t first;
    } a = {0};
    /* No block, so that the null pointer is never used. */
    launch_on(d, m, 0, 0, 5, 5, &a, sizeof a);
    const int64_t wide[3] = {INT64_C(1) << 32, 1, 1}, huge[3] = {UINT32_MAX, UINT32_MAX, 2};
    int code = 0;
    assert_int_equal(d->ops->launch(d, m, 0, wide, &a, sizeof a, NULL, &code), FAULT_DEVICE);
    assert_non_null(strstr(d->ops->code_name(d, code), "4294967295"));
    assert_int_equal(d->ops->launch(d, m, 0, huge, &a, sizeof a, NULL, &code), FAULT_DEVICE);
    assert_int_not_equal(code, 0);
    d->ops->unload(d, m);
}

static void test_grid_limits(void **state) {
    (void)state;
    with_device(2, grid_limits);
}

/* ---- shared memory --------------------------------------------------------------------------- */

/* Each block says how many of its floats and doubles were NaN at first, then leaves numbers. */
static const char poison_text[] = ARGUMENTS KERNEL
    "    float *words = reinterpret_cast<float *>(sg_cpu_shared());\n"
    "    double *wide = reinterpret_cast<double *>(sg_cpu_shared());\n"
    "    int unset = 0;\n"
    "    for (int i = 0; i < 100; ++i)\n"
    "        unset += (words[i] != words[i]) + (wide[i / 2] != wide[i / 2]);\n"
    "#if BARRIER\n"
    "    __syncthreads();\n"
    "#endif\n"
    "    if (threadIdx.x + 1 == blockDim.x)\n"
    "        for (int i = 0; i < 100; ++i)\n"
    "            words[i] = 1;\n"
    "    a.out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(unset) +\n"
    "        (reinterpret_cast<unsigned long long>(words) % 128 != 0 ? 1000.0f : 0.0f);\n"
    "}\n";

static void poison(job *j, device *d) {
    enum { BLOCK = 4, BLOCKS = 500 };
    for (int barriers = 0; barriers < 2; barriers++) {
        const char *text = job_print(j, "#define BARRIER %d\n%s", barriers, poison_text);
        program *p = make_program(j, text, BLOCK, 1, 1, 100 * sizeof(float), barriers != 0);
        module *m = build(j, d, p);
        float *out = floats(j, d, BLOCK * BLOCKS);
        launch_on(d, m, 0, BLOCKS, 1, 1, &(arguments){out, NULL, 0}, sizeof(arguments));
        for (int i = 0; i < BLOCK * BLOCKS; i++)
            assert_true(out[i] == 200);
        d->ops->free(d, out);
        d->ops->unload(d, m);
    }
}

static void test_poison(void **state) {
    (void)state;
    with_device(2, poison);
}

/* ---- mathematics ----------------------------------------------------------------------------- */

#define CALLS(f)                                                                                   \
    "sqrt" f "(x), exp" f "(x), log" f "(x), sin" f "(x), cos" f "(x), tanh" f "(x), floor" f      \
    "(-x), fabs" f "(-x), pow" f "(x, y), fmin" f "(x, y), fmax" f "(x, y), fma" f "(x, y, x)"

static const char functions_text[] =
    "struct Arguments { double *out; double x, y; };\n" KERNEL "    {\n"
    "        const double x = a.x, y = a.y;\n"
    "        const double values[] = {" CALLS(
        "") "};\n"
            "        for (int i = 0; i < 12; ++i)\n"
            "            a.out[i] = values[i];\n"
            "    }\n"
            "    a.out[24] = min(-3, 5) + max(-3, 5) + min(7u, 9u) + max(7u, 9u) +\n"
            "                min(-1LL, 2LL) + max(1LL << 40, 2LL);\n"
            "    {\n"
            "        const float x = static_cast<float>(a.x), y = static_cast<float>(a.y);\n"
            "        const float values[] = {" CALLS(
                "f") "};\n"
                     "        for (int i = 0; i < 12; ++i)\n"
                     "            a.out[12 + i] = static_cast<double>(values[i]);\n"
                     "    }\n"
                     "}\n";

static void functions(job *j, device *d) {
    const double x = 1.7, y = 0.6;
    const double expected[12] = {sqrt(x),   exp(x),  log(x),    sin(x),     cos(x),     tanh(x),
                                 floor(-x), fabs(x), pow(x, y), fmin(x, y), fmax(x, y), x * y + x};
    struct {
        double *out, x, y;
    } a = {d->ops->alloc(d, j, 25 * sizeof(double)), x, y};
    module *m = build(j, d, make_program(j, functions_text, 1, 1, 1, 0, false));
    launch_on(d, m, 0, 1, 1, 1, &a, sizeof a);
    for (int i = 0; i < 12; i++) {
        assert_true(fabs(a.out[i] - expected[i]) <= 1e-14 * fabs(expected[i]));
        assert_true(fabs(a.out[12 + i] - expected[i]) <= 1e-6 * fabs(expected[i]));
    }
    assert_true(a.out[24] == -3 + 5 + 7 + 9 - 1 + (double)(INT64_C(1) << 40));
    d->ops->free(d, a.out);
    d->ops->unload(d, m);
}

static void test_functions(void **state) {
    (void)state;
    with_device(1, functions);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_reverse),     cmocka_unit_test(test_prefix_sum),
    cmocka_unit_test(test_early_end),   cmocka_unit_test(test_indices),
    cmocka_unit_test(test_many_blocks), cmocka_unit_test(test_grid_limits),
    cmocka_unit_test(test_poison),      cmocka_unit_test(test_functions),
};

TEST_GROUP(cpu, NULL, NULL)
