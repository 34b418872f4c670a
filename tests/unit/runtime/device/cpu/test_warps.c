/* Warps: every operation of templates/arch/warps.cuh and cooperation.cuh and of cpu_cuda.h on the
   cpu device against what its lanes ought to read, for blocks of any size; and NVRTC takes the same
   texts for every architecture. */
#include "tests/unit/draw.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/device/cpu/common_program.h"

enum { LANES = 32 };
/* The largest block. ThreadSanitizer compares a clock of all threads of a block wherever these
   change, and what it looks for lies between blocks. */
#if defined(SG_FIBER_TSAN)
enum { MOST_THREADS = 160 };
#else
enum { MOST_THREADS = 1024 };
#endif
static const uint64_t nobody = UINT64_MAX;

static uint64_t hash(uint64_t x) {
    x = (x ^ x >> 31) * UINT64_C(0x7FB5D329728EA185);
    x = (x ^ x >> 27) * UINT64_C(0x81DADEF4BC2DD44D);
    return x ^ x >> 33;
}

#define HASH                                                                                       \
    "using u64 = unsigned long long;\n"                                                            \
    "__device__ u64 hash(u64 x) {\n"                                                               \
    "    x = (x ^ x >> 31) * 0x7FB5D329728EA185ull;\n"                                             \
    "    x = (x ^ x >> 27) * 0x81DADEF4BC2DD44Dull;\n"                                             \
    "    return x ^ x >> 33;\n"                                                                    \
    "}\n"

/* ---- shuffles and votes ---------------------------------------------------------------------- */

/* Values of a thread are made of hash(seed + 1024·block + thread). Each thread writes one word for
   each operation. */
static const char operations_text[] = HASH
    "struct Arguments { u64 *out; u64 seed; };\n"
    "__device__ u64 narrow(unsigned w) { return w * 0x100000001ull; }\n"
    "__device__ u64 bits(int v) { return narrow(static_cast<unsigned>(v)); }\n"
    "__device__ u64 bits(unsigned v) { return narrow(v); }\n"
    "__device__ u64 bits(long long v) { return static_cast<u64>(v); }\n"
    "__device__ u64 bits(u64 v) { return v; }\n"
    "__device__ u64 bits(float v) { unsigned w; memcpy(&w, &v, 4); return narrow(w); }\n"
    "__device__ u64 bits(double v) { u64 w; memcpy(&w, &v, 8); return w; }\n"
    "__device__ void make(u64 h, int &v) { v = static_cast<int>(static_cast<unsigned>(h)); }\n"
    "__device__ void make(u64 h, unsigned &v) { v = static_cast<unsigned>(h); }\n"
    "__device__ void make(u64 h, long long &v) { v = static_cast<long long>(h); }\n"
    "__device__ void make(u64 h, u64 &v) { v = h; }\n"
    "__device__ void make(u64 h, float &v) { unsigned w = unsigned(h); memcpy(&v, &w, 4); }\n"
    "__device__ void make(u64 h, double &v) { memcpy(&v, &h, 8); }\n"
    "template <class T> __device__ u64 *shuffles(u64 *out, u64 h) {\n"
    "    T v;\n"
    "    make(h, v);\n"
    "    *out++ = bits(shuffle(v, (lane() * 7 + 3) % 32));\n"
    "    for (unsigned d = 1; d < 32; d += 5) {\n"
    "        *out++ = bits(shuffle_up(v, d));\n"
    "        *out++ = bits(shuffle_down(v, d));\n"
    "        *out++ = bits(shuffle_xor(v, static_cast<int>(d)));\n"
    "    }\n"
    "    return out;\n"
    "}\n"
    "template <class T> __device__ u64 *parts(u64 *out, u64 h) {\n"
    "    T v;\n"
    "    make(h, v);\n"
    "    for (int width = 2; width <= 32; width *= 2) {\n"
    "        *out++ = bits(__shfl_sync(0xFFFFFFFFu, v, lane() + 5, width));\n"
    "        *out++ = bits(__shfl_up_sync(0xFFFFFFFFu, v, 3, width));\n"
    "        *out++ = bits(__shfl_down_sync(0xFFFFFFFFu, v, 3, width));\n"
    "        *out++ = bits(__shfl_xor_sync(0xFFFFFFFFu, v, 6, width));\n"
    "    }\n"
    "    return out;\n"
    "}\n" KERNEL
    "    const u64 thread = blockIdx.x * 1024 + threadIdx.x, h = hash(a.seed + thread);\n"
    "    u64 *out = a.out + (blockIdx.x * blockDim.x + threadIdx.x) * 256;\n"
    "    out = shuffles<int>(out, h);\n"
    "    out = shuffles<u64>(out, h);\n"
    "    warp_barrier();\n"
    "    if (warp() % 2 == 0)\n"
    "        out = shuffles<float>(out, h);\n"
    "    else\n"
    "        out = shuffles<unsigned>(out, h);\n"
    "    __syncthreads();\n"
    "    out = shuffles<double>(out, h);\n"
    "    out = parts<int>(out, h);\n"
    "    out = parts<unsigned>(out, h);\n"
    "    __syncthreads();\n"
    "    out = parts<long long>(out, h);\n"
    "    out = parts<double>(out, h);\n"
    "    *out++ = ballot_lanes(h >> 40 & 1);\n"
    "    *out++ = any_lane((h >> 50 & 31) == 0) * 2 + any_lane(false);\n"
    "    *out++ = every_lane((h >> 50 & 31) != 0) * 2 + every_lane(true);\n"
    "    *out++ = static_cast<u64>(lane() + 32 * warp());\n"
    "    const int whole = static_cast<int>(h >> (h >> 58) / 2);\n"
    "    const long long wide = static_cast<long long>(h >> (h >> 58));\n"
    "    *out++ = __popc(static_cast<unsigned>(whole)) + 100 * __popcll(wide);\n"
    "    *out++ = __ffs(whole) + 100 * __ffsll(wide) + 10000 * __ffs(0) + __ffsll(0);\n"
    "    *out++ = __clz(whole) + 100 * __clzll(wide) + 10000 * __clz(0) + 1000000 * __clzll(0);\n"
    "}\n";

/* What the host believes of one block. */
typedef struct expectation {
    int threads;
    uint64_t value[1024];
    const uint64_t *out; /* of the thread that is looked at */
    int at, thread;
} expectation;

static void expect(expectation *e, uint64_t expected) {
    if (e->out[e->at] != expected)
        fail_msg("word %d of thread %d of %d: %llx instead of %llx", e->at, e->thread, e->threads,
                 (unsigned long long)e->out[e->at], (unsigned long long)expected);
    e->at++;
}

/* The word of another lane, of so many bytes. */
static void expect_from(expectation *e, int lane, int bytes) {
    const int thread = e->thread / LANES * LANES + lane;
    const uint64_t value = thread < e->threads ? e->value[thread] : nobody;
    expect(e, bytes == 4 ? (value & UINT32_MAX) * UINT64_C(0x100000001) : value);
}

static void expect_shuffles(expectation *e, int bytes) {
    const int lane = e->thread % LANES;
    expect_from(e, (lane * 7 + 3) % LANES, bytes);
    for (int d = 1; d < LANES; d += 5) {
        expect_from(e, lane < d ? lane : lane - d, bytes);
        expect_from(e, lane + d < LANES ? lane + d : lane, bytes);
        expect_from(e, lane ^ d, bytes);
    }
}

static void expect_parts(expectation *e, int bytes) {
    const int lane = e->thread % LANES;
    for (int width = 2; width <= LANES; width *= 2) {
        const int first = lane / width * width, end = first + width;
        expect_from(e, first + (lane + 5) % width, bytes);
        expect_from(e, lane - 3 < first ? lane : lane - 3, bytes);
        expect_from(e, lane + 3 < end ? lane + 3 : lane, bytes);
        expect_from(e, (lane ^ 6) < end ? lane ^ 6 : lane, bytes);
    }
}

static int leading(uint64_t word, int bits) {
    int count = 0;
    while (count < bits && (word >> (bits - 1 - count) & 1) == 0)
        count++;
    return count;
}

static int first_set(uint64_t word, int bits) {
    for (int i = 0; i < bits; i++)
        if ((word >> i & 1) != 0)
            return i + 1;
    return 0;
}

static int set_bits(uint64_t word, int bits) {
    int count = 0;
    for (int i = 0; i < bits; i++)
        count += (int)(word >> i & 1);
    return count;
}

static void expect_votes(expectation *e) {
    const int first = e->thread / LANES * LANES;
    uint64_t votes = 0;
    bool anyone = false;
    for (int t = first; t < first + LANES && t < e->threads; t++) {
        votes |= (e->value[t] >> 40 & 1) << (t - first);
        anyone |= (e->value[t] >> 50 & 31) == 0;
    }
    expect(e, votes);
    expect(e, anyone ? 2 : 0);
    expect(e, anyone ? 1 : 3);
    expect(e, (uint64_t)e->thread);
    const uint64_t h = e->value[e->thread];
    const uint64_t whole = (uint32_t)(h >> (h >> 58) / 2), wide = h >> (h >> 58);
    expect(e, (uint64_t)(set_bits(whole, 32) + 100 * set_bits(wide, 64)));
    expect(e, (uint64_t)(first_set(whole, 32) + 100 * first_set(wide, 64)));
    expect(e, (uint64_t)(leading(whole, 32) + 100 * leading(wide, 64) + 64320000));
}

static void expect_block(expectation *e, const uint64_t *out) {
    for (e->thread = 0; e->thread < e->threads; e->thread++) {
        e->out = out + e->thread * 256;
        e->at = 0;
        expect_shuffles(e, 4);
        expect_shuffles(e, 8);
        expect_shuffles(e, 4);
        expect_shuffles(e, 8);
        expect_parts(e, 4);
        expect_parts(e, 4);
        expect_parts(e, 8);
        expect_parts(e, 8);
        expect_votes(e);
        assert_true(e->at <= 256);
    }
}

static void operations(job *j, device *d) {
    enum { BLOCKS = 5 };
    /* Of the middle ones, and of random ones, a run has a drawn half. */
    const int sizes[] = {1, MOST_THREADS, 2, 31, 32, 33, 64, 0, 0, 0, 0};
    expectation *e = job_alloc(j, sizeof *e);
    struct {
        uint64_t *out, seed;
    } a = {.seed = 12345};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        if (s > 1 && !drawn(s, 2))
            continue;
        e->threads = sizes[s] > 0 ? sizes[s] : (int)(hash(s) % MOST_THREADS) + 1;
        const size_t bytes = (size_t)e->threads * BLOCKS * 256 * sizeof *a.out;
        module *m = build(j, d, text_program(j, operations_text, e->threads, 1, 1, 0));
        a.out = d->ops->alloc(d, j, bytes);
        d->ops->fill(d, j, a.out, 0xEE, bytes);
        launch_on(d, m, 0, BLOCKS, 1, 1, &a, sizeof a);
        for (int b = 0; b < BLOCKS; b++) {
            for (int t = 0; t < e->threads; t++)
                e->value[t] = hash(a.seed + (uint64_t)(b * 1024 + t));
            expect_block(e, a.out + (size_t)b * (size_t)e->threads * 256);
        }
        d->ops->free(d, a.out);
        d->ops->unload(d, m);
    }
}

static void test_operations(void **state) {
    (void)state;
    with_device(2, operations);
}

/* ---- lanes that end -------------------------------------------------------------------------- */

/* Thread t takes part in hash(t + block) % 9 rounds and ends. In each round the lanes vote and read
   each other, on even rounds of a warp's number behind a barrier of the block. */
static const char ending_text[] = HASH
    "struct Arguments { u64 *out; };\n"
    "__device__ int rounds(unsigned thread, unsigned block) {\n"
    "    return static_cast<int>(hash(thread + 1000 * block) % 9);\n"
    "}\n" KERNEL "    const int mine = rounds(threadIdx.x, blockIdx.x);\n"
    "    u64 wrong = 0;\n"
    "    for (int r = 0; r < mine; ++r) {\n"
    "        unsigned alive = 0;\n"
    "        for (unsigned k = 0; k < 32; ++k) {\n"
    "            const unsigned t = warp() * 32 + k;\n"
    "            alive |= static_cast<unsigned>(t < blockDim.x && rounds(t, blockIdx.x) > r) << "
    "k;\n"
    "        }\n"
    "        const bool other_lives = (alive >> (lane() ^ 1) & 1) != 0;\n"
    "        for (int k = 0; k < 2; ++k) {\n"
    "            const int other = shuffle_xor(1000 * k + r * 32 + lane(), 1);\n"
    "            wrong += other != (other_lives ? 1000 * k + r * 32 + (lane() ^ 1) : -1);\n"
    "        }\n"
    "        wrong += ballot_lanes(true) != alive;\n"
    "        if (r % 2 == 0)\n"
    "            __syncthreads();\n"
    "        const int other = shuffle_xor(r * 32 + lane(), 1);\n"
    "        wrong += other != (other_lives ? r * 32 + (lane() ^ 1) : -1);\n"
    "        wrong += !every_lane(lane() < 32);\n"
    "    }\n"
    "    a.out[blockIdx.x * blockDim.x + threadIdx.x] = wrong;\n"
    "}\n";

static void ending(job *j, device *d) {
    const int sizes[] = {1, 2, 32, 45, 200, 256};
    enum { BLOCKS = 40 };
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const size_t count = (size_t)sizes[s] * BLOCKS;
        module *m = build(j, d, text_program(j, ending_text, sizes[s], 1, 1, 0));
        uint64_t *out = d->ops->alloc(d, j, count * sizeof *out);
        d->ops->fill(d, j, out, 0xEE, count * sizeof *out);
        launch_on(d, m, 0, BLOCKS, 1, 1, &out, sizeof out);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(out[i], 0);
        d->ops->free(d, out);
        d->ops->unload(d, m);
    }
}

static void test_ending(void **state) {
    (void)state;
    with_device(3, ending);
}

/* ---- whole blocks ---------------------------------------------------------------------------- */

/* Prefix sums of a block by shuffles: within the warps, then over the warps' sums. The warps take
   part in different numbers of operations. */
static const char scan_text[] =
    "struct Arguments { long long *out; const long long *in; };\n"
    "__device__ long long scan_warp(long long value) {\n"
    "    for (int distance = 1; distance < warp_size; distance *= 2) {\n"
    "        const long long below = shuffle_up(value, distance);\n"
    "        if (lane() >= distance)\n"
    "            value += below;\n"
    "    }\n"
    "    return value;\n"
    "}\n" KERNEL "    long long *sums = reinterpret_cast<long long *>(shared_bytes());\n"
    "    const int warps = static_cast<int>(blockDim.x) / warp_size;\n"
    "    const Index at = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
    "    long long value = scan_warp(a.in[at]);\n"
    "    if (lane() == warp_size - 1)\n"
    "        sums[warp()] = value;\n"
    "    __syncthreads();\n"
    "    if (warp() == 0) {\n"
    "        const long long sum = scan_warp(lane() < warps ? sums[lane()] : 0);\n"
    "        if (lane() < warps)\n"
    "            sums[lane()] = sum;\n"
    "    }\n"
    "    __syncthreads();\n"
    "    if (warp() > 0)\n"
    "        value += sums[warp() - 1];\n"
    "    a.out[at] = value;\n"
    "}\n";

static void block_scan(job *j, device *d) {
    enum { BLOCKS = 7 };
    struct {
        int64_t *out, *in;
    } a;
    for (int threads = LANES; threads <= MOST_THREADS;
         threads = threads * 2 + (threads == 64) * LANES) {
        const size_t count = (size_t)threads * BLOCKS;
        program *p = text_program(j, scan_text, threads, 1, 1, LANES * sizeof(int64_t));
        module *m = build(j, d, p);
        a.out = d->ops->alloc(d, j, count * sizeof *a.out);
        a.in = d->ops->alloc(d, j, count * sizeof *a.in);
        for (size_t i = 0; i < count; i++)
            a.in[i] = (int64_t)(hash(i) % 1000);
        launch_on(d, m, 0, BLOCKS, 1, 1, &a, sizeof a);
        int64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum = (i % (size_t)threads == 0 ? 0 : sum) + a.in[i];
            assert_int_equal(a.out[i], sum);
        }
        d->ops->free(d, a.out);
        d->ops->free(d, a.in);
        d->ops->unload(d, m);
    }
}

static void test_block_scan(void **state) {
    (void)state;
    with_device(2, block_scan);
}

/* A warp is 32 consecutive threads, x fastest, in blocks of several axes. */
static const char axes_text[] =
    "struct Arguments { unsigned *out; };\n" KERNEL
    "    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
    "    a.out[t] = __shfl_sync(0xFFFFFFFFu, t, 0);\n"
    "}\n";

static void axes(job *j, device *d) {
    enum { X = 5, Y = 7, Z = 4, COUNT = X * Y * Z };
    module *m = build(j, d, text_program(j, axes_text, X, Y, Z, 0));
    unsigned *out = d->ops->alloc(d, j, COUNT * sizeof *out);
    launch_on(d, m, 0, 1, 1, 1, &out, sizeof out);
    for (unsigned t = 0; t < COUNT; t++)
        assert_int_equal(out[t], t / LANES * LANES);
    d->ops->free(d, out);
    d->ops->unload(d, m);
}

static void test_axes(void **state) {
    (void)state;
    with_device(1, axes);
}

/* ---- NVRTC ----------------------------------------------------------------------------------- */

static void test_nvrtc(void **state) {
    (void)state;
    static const char *const texts[] = {operations_text, ending_text, scan_text, axes_text};
    compile_for_all(texts, sizeof texts / sizeof texts[0]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_operations), cmocka_unit_test(test_ending),
    cmocka_unit_test(test_block_scan), cmocka_unit_test(test_axes),
    cmocka_unit_test(test_nvrtc),
};

TEST_GROUP(warps, NULL, NULL)
