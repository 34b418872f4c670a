/* Blocks that work together on the cpu device: atomic operations, memory order, waiting for
   blocks that came earlier, integers that wrap; and what a debug build reports of threads that
   would wait without end. NVRTC takes the same texts for every architecture. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/device/cpu/common_program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- atomic operations ----------------------------------------------------------------------- */

/* Every thread with number i of `count` changes each word once. */
static const char atomics_text[] =
    "struct Words {\n"
    "    int added, subtracted, least, greatest, swapped, claimed;\n"
    "    unsigned uadded, uleast, ugreatest, anded, ored, xored;\n"
    "    unsigned long long wadded, wleast, wgreatest, wanded, wored, wswapped;\n"
    "    long long lleast, lgreatest, ladded;\n"
    "    float fadded, fswapped;\n"
    "    double dadded;\n"
    "    unsigned long long exchanged;\n"
    "};\n"
    "struct Arguments { Words *words; int *seen; };\n" KERNEL "    Words *w = a.words;\n"
    "    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);\n"
    "    const unsigned u = static_cast<unsigned>(i);\n"
    "    const unsigned long long wide = static_cast<unsigned long long>(u) << 33;\n"
    "    a.seen[atomicAdd(&w->added, 1)] += 1;\n"
    "    atomicSub(&w->subtracted, i);\n"
    "    atomicMin(&w->least, -i);\n"
    "    atomicMax(&w->greatest, i - 7);\n"
    "    atomicAdd(&w->uadded, 0x80000001u);\n"
    "    atomicMin(&w->uleast, 4000000000u - u);\n"
    "    atomicMax(&w->ugreatest, 4000000000u + u);\n"
    "    atomicAnd(&w->anded, ~(1u << i % 29));\n"
    "    atomicOr(&w->ored, 1u << i % 31);\n"
    "    atomicXor(&w->xored, u);\n"
    "    atomicAdd(&w->wadded, wide);\n"
    "    atomicMin(&w->wleast, (1ull << 63) - wide);\n"
    "    atomicMax(&w->wgreatest, (1ull << 63) + wide);\n"
    "    atomicAnd(&w->wanded, ~(1ull << i % 60));\n"
    "    atomicOr(&w->wored, 1ull << i % 61);\n"
    "    atomicMin(&w->lleast, -(1ll << 40) * i);\n"
    "    atomicMax(&w->lgreatest, (1ll << 40) * i);\n"
    "    atomic_add(&w->ladded, -(1ll << 33));\n"
    "    atomic_add(&w->fadded, 0.5f);\n"
    "    atomicAdd(&w->dadded, 0.25 * i);\n"
    "    for (int seen = load_relaxed(&w->swapped);;) {\n"
    "        const int before = atomicCAS(&w->swapped, seen, seen + 3);\n"
    "        if (before == seen)\n"
    "            break;\n"
    "        seen = before;\n"
    "    }\n"
    "    for (float seen = load_relaxed(&w->fswapped);;) {\n"
    "        const float before = compare_and_swap(&w->fswapped, seen, seen + 2);\n"
    "        if (before == seen)\n"
    "            break;\n"
    "        seen = before;\n"
    "    }\n"
    "    for (unsigned long long seen = load_relaxed(&w->wswapped);;) {\n"
    "        const unsigned long long before = compare_and_swap(&w->wswapped, seen, seen + 5);\n"
    "        if (before == seen)\n"
    "            break;\n"
    "        seen = before;\n"
    "    }\n"
    "    if (atomicExch(&w->claimed, 1) == 0)\n"
    "        store_relaxed(&w->exchanged, wide + 1);\n"
    "}\n";

typedef struct words {
    int added, subtracted, least, greatest, swapped, claimed;
    unsigned uadded, uleast, ugreatest, anded, ored, xored;
    uint64_t wadded, wleast, wgreatest, wanded, wored, wswapped;
    int64_t lleast, lgreatest, ladded;
    float fadded, fswapped;
    double dadded;
    uint64_t exchanged;
} words;

static void atomics(job *j, device *d) {
    enum { THREADS = 96, BLOCKS = 64, COUNT = THREADS * BLOCKS };
    module *m = build(j, d, text_program(j, atomics_text, THREADS, 1, 1, 0));
    struct {
        words *words;
        int *seen;
    } a = {d->ops->alloc(d, j, sizeof *a.words), d->ops->alloc(d, j, COUNT * sizeof(int))};
    *a.words = (words){.uleast = UINT32_MAX,
                       .anded = UINT32_MAX,
                       .wleast = UINT64_MAX,
                       .wanded = UINT64_MAX,
                       .greatest = -100};
    d->ops->fill(d, j, a.seen, 0, COUNT * sizeof(int));
    launch_on(d, m, 0, BLOCKS, 1, 1, &a, sizeof a);
    const words *w = a.words;
    const int64_t sum = (int64_t)COUNT * (COUNT - 1) / 2, last = COUNT - 1;
    unsigned all = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(a.seen[i], 1); /* each thread got a number of its own */
        all ^= i;
    }
    assert_int_equal(w->added, COUNT);
    assert_int_equal(w->subtracted, -sum);
    assert_int_equal(w->least, -last);
    assert_int_equal(w->greatest, last - 7);
    assert_int_equal(w->uadded, COUNT * 0x80000001u);
    assert_int_equal(w->uleast, 4000000000u - last);
    assert_int_equal(w->ugreatest, 4000000000u + last);
    assert_int_equal(w->anded, 7u << 29);
    assert_int_equal(w->ored, UINT32_MAX >> 1);
    assert_int_equal(w->xored, all);
    assert_int_equal(w->wadded, (uint64_t)sum << 33);
    assert_int_equal(w->wleast, (UINT64_C(1) << 63) - ((uint64_t)last << 33));
    assert_int_equal(w->wgreatest, (UINT64_C(1) << 63) + ((uint64_t)last << 33));
    assert_int_equal(w->wanded, UINT64_C(15) << 60);
    assert_int_equal(w->wored, UINT64_MAX >> 3);
    assert_true(w->lleast == -(INT64_C(1) << 40) * last);
    assert_true(w->lgreatest == (INT64_C(1) << 40) * last);
    assert_true(w->ladded == -(INT64_C(1) << 33) * COUNT);
    assert_true(w->fadded == COUNT / 2);
    assert_true(w->dadded == (double)sum / 4);
    assert_int_equal(w->swapped, 3 * COUNT);
    assert_true(w->fswapped == 2 * COUNT);
    assert_int_equal(w->wswapped, 5 * COUNT);
    assert_true(w->exchanged % 2 == 1 && w->exchanged >> 33 < COUNT);
    d->ops->free(d, a.words);
    d->ops->free(d, a.seen);
    d->ops->unload(d, m);
}

static void test_atomics(void **state) {
    (void)state;
    with_device(1, atomics);
    with_device(4, atomics);
}

/* ---- waiting for earlier blocks -------------------------------------------------------------- */

/* Prefix sums in one pass. A block draws a number, sums its elements, waits for what all blocks of
   lower numbers add up to, publishes its own, and adds. A plain word travels with each. */
static const char chain_text[] =
    "struct Arguments {\n"
    "    unsigned *out; const unsigned *in; unsigned *counter; unsigned long long *sums;\n"
    "    unsigned *plain, *wrong;\n"
    "};\n"
    "__device__ unsigned scan_warp(unsigned value) {\n"
    "    for (int distance = 1; distance < warp_size; distance *= 2) {\n"
    "        const unsigned below = shuffle_up(value, distance);\n"
    "        if (lane() >= distance)\n"
    "            value += below;\n"
    "    }\n"
    "    return value;\n"
    "}\n" KERNEL "    unsigned *const shared = reinterpret_cast<unsigned *>(shared_bytes());\n"
    "    if (threadIdx.x == 0)\n"
    "        shared[0] = atomicAdd(a.counter, 1u);\n"
    "    __syncthreads();\n"
    "    const unsigned number = shared[0], at = number * blockDim.x + threadIdx.x;\n"
    "    __syncthreads();\n"
    "    unsigned value = scan_warp(a.in[at]);\n"
    "    if (lane() == warp_size - 1)\n"
    "        shared[warp()] = value;\n"
    "    __syncthreads();\n"
    "    unsigned before = 0, sum = 0;\n"
    "    for (int w = 0; w < static_cast<int>(blockDim.x) / warp_size; ++w) {\n"
    "        before += w < warp() ? shared[w] : 0;\n"
    "        sum += shared[w];\n"
    "    }\n"
    "    __syncthreads();\n"
    "    if (warp() == 0) {\n"
    "        unsigned long long prefix = 1;\n"
    "        if (number > 0) {\n"
    "            do {\n"
    "                prefix = load_acquire(&a.sums[number - 1]);\n"
    "                if (any_lane(prefix == 0))\n"
    "                    backoff();\n"
    "            } while (any_lane(prefix == 0));\n"
    "            if (a.plain[number - 1] != number - 1)\n"
    "                atomicAdd(a.wrong, 1u);\n"
    "        }\n"
    "        if (lane() == 0) {\n"
    "            a.plain[number] = number;\n"
    "            store_release(&a.sums[number], prefix + sum);\n"
    "            shared[0] = static_cast<unsigned>(prefix - 1);\n"
    "        }\n"
    "    }\n"
    "    __syncthreads();\n"
    "    a.out[at] = shared[0] + before + value;\n"
    "}\n";

typedef struct chain_arguments {
    uint32_t *out, *in, *counter;
    uint64_t *sums;
    uint32_t *plain, *wrong;
} chain_arguments;

/* Waiting threads yield the processor, which takes very long where ThreadSanitizer looks on and
   other programs run: there each of up to 40 threads has a few blocks. */
#if defined(SG_SANITIZE)
enum { CHAIN_BLOCKS = 80 };
#else
enum { CHAIN_BLOCKS = 1000 };
#endif

static void chain(job *j, device *d) {
    enum { THREADS = 64, BLOCKS = CHAIN_BLOCKS, COUNT = THREADS * BLOCKS };
    module *m = build(j, d, text_program(j, chain_text, THREADS, 1, 1, 16));
    const chain_arguments a = {
        .out = d->ops->alloc(d, j, COUNT * sizeof *a.out),
        .in = d->ops->alloc(d, j, COUNT * sizeof *a.in),
        .counter = d->ops->alloc(d, j, sizeof *a.counter),
        .sums = d->ops->alloc(d, j, BLOCKS * sizeof *a.sums),
        .plain = d->ops->alloc(d, j, BLOCKS * sizeof *a.plain),
        .wrong = d->ops->alloc(d, j, sizeof *a.wrong),
    };
    for (uint32_t i = 0; i < COUNT; i++)
        a.in[i] = i % 1013 * 17 % 101;
    for (int again = 0; again < 2; again++) {
        d->ops->fill(d, j, a.counter, 0, sizeof *a.counter);
        d->ops->fill(d, j, a.wrong, 0, sizeof *a.wrong);
        d->ops->fill(d, j, a.sums, 0, BLOCKS * sizeof *a.sums);
        d->ops->fill(d, j, a.plain, 0xFF, BLOCKS * sizeof *a.plain);
        launch_on(d, m, 0, BLOCKS, 1, 1, &a, sizeof a);
        uint32_t sum = 0;
        for (int i = 0; i < COUNT; i++) {
            sum += a.in[i];
            assert_int_equal(a.out[i], sum);
        }
        assert_int_equal(*a.wrong, 0);
    }
    void *const lists[] = {a.out, a.in, a.counter, a.sums, a.plain, a.wrong};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        d->ops->free(d, lists[i]);
    d->ops->unload(d, m);
}

/* One thread, some, and far more than there are cores. */
static void test_chain(void **state) {
    (void)state;
    with_device(1, chain);
    with_device(3, chain);
    with_device(40, chain);
}

/* The last block to be done adds up what the others left. */
static const char last_text[] =
    "struct Arguments { unsigned long long *sum; unsigned *partial, *done; };\n" KERNEL
    "    if (threadIdx.x == 0) {\n"
    "        a.partial[blockIdx.x] = blockIdx.x * 3 + 1;\n"
    "        __threadfence();\n"
    "        if (atomicAdd(a.done, 1u) + 1 == gridDim.x) {\n"
    "            __threadfence();\n"
    "            unsigned long long sum = 0;\n"
    "            for (unsigned b = 0; b < gridDim.x; ++b)\n"
    "                sum += a.partial[b];\n"
    "            *a.sum = sum;\n"
    "        }\n"
    "    }\n"
    "    __syncthreads();\n"
    "    __threadfence_block();\n"
    "}\n";

static void last_block(job *j, device *d) {
    enum { BLOCKS = 2000 };
    module *m = build(j, d, text_program(j, last_text, 3, 1, 1, 0));
    struct {
        uint64_t *sum;
        uint32_t *partial, *done;
    } a = {d->ops->alloc(d, j, 8), d->ops->alloc(d, j, BLOCKS * 4), d->ops->alloc(d, j, 4)};
    for (int again = 0; again < 10; again++) {
        *a.done = 0;
        launch_on(d, m, 0, BLOCKS, 1, 1, &a, sizeof a);
        assert_int_equal(*a.sum, 3 * BLOCKS * (BLOCKS - 1) / 2 + BLOCKS);
    }
    d->ops->free(d, a.sum);
    d->ops->free(d, a.partial);
    d->ops->free(d, a.done);
    d->ops->unload(d, m);
}

static void test_last_block(void **state) {
    (void)state;
    with_device(4, last_block);
}

/* ---- whole numbers --------------------------------------------------------------------------- */

static const char whole_text[] =
    "struct Arguments { long long *out; int least, greatest; long long wide; unsigned word; "
    "};\n" KERNEL "    a.out[0] = a.greatest + 1;\n"
    "    a.out[1] = a.least - 1;\n"
    "    a.out[2] = a.greatest * a.greatest;\n"
    "    a.out[3] = -a.least;\n"
    "    a.out[4] = a.wide * 2 + 1;\n"
    "    a.out[5] = magnitude(a.least);\n"
    "    a.out[6] = magnitude(a.least + 1);\n"
    "    a.out[7] = minimum(a.least, a.greatest) == a.least;\n"
    "    a.out[8] = maximum(a.word, 5u) == a.word && minimum(a.word, 5u) == 5;\n"
    "    a.out[9] = magnitude(a.word);\n"
    "    a.out[10] = magnitude(-a.wide);\n"
    "    a.out[11] = min(-5ll, a.wide) == -5 && max(1ull << 63, 5ull) == 1ull << 63;\n"
    "    const float nan = infinity<float>() - infinity<float>();\n"
    "    const float low = minimum(nan, 1.0f), high = maximum(1.0f, nan);\n"
    "    a.out[12] = low != low && high != high && minimum(2.0f, 1.0f) == 1.0f;\n"
    "}\n";

static void whole_numbers(job *j, device *d) {
    const int64_t expected[] = {INT32_MIN,  INT32_MAX, 1, INT32_MIN, -1, INT32_MIN, INT32_MAX, 1, 1,
                                4000000000, INT64_MAX, 1, 1};
    enum { COUNT = sizeof expected / sizeof expected[0] };
    struct {
        int64_t *out;
        int32_t least, greatest;
        int64_t wide;
        uint32_t word;
    } a = {d->ops->alloc(d, j, COUNT * 8), INT32_MIN, INT32_MAX, INT64_MAX, 4000000000u};
    module *m = build(j, d, text_program(j, whole_text, 1, 1, 1, 0));
    launch_on(d, m, 0, 1, 1, 1, &a, sizeof a);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(a.out[i], expected[i]);
    d->ops->free(d, a.out);
    d->ops->unload(d, m);
}

static void test_whole_numbers(void **state) {
    (void)state;
    with_device(1, whole_numbers);
}

/* ---- threads that would wait for ever -------------------------------------------------------- */

#if !defined(NDEBUG)

static const char *wrong_text;

static void run_wrong(job *j, device *d) {
    module *m = build(j, d, text_program(j, wrong_text, 64, 1, 1, 0));
    launch_on(d, m, 0, 2, 1, 1, &d, sizeof d);
    d->ops->unload(d, m);
}

/* In a process of its own: it must abort, and say why. */
static void expect_abort(const char *body, const char *said) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        job *j;
        cpu_test t = {.body = run_wrong, .threads = 1};
        char text[1024];
        snprintf(text, sizeof text, "struct Arguments { void *none; };\n%s%s}\n", KERNEL, body);
        wrong_text = text;
        job_run(&allocator_libc, in_job, &t, &j);
        _exit(0);
    }
    close(ends[1]);
    char printed[4096];
    size_t size = 0;
    for (ssize_t got; (got = read(ends[0], printed + size, sizeof printed - 1 - size)) > 0;)
        size += (size_t)got;
    printed[size] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || strstr(printed, said) == NULL)
        fail_msg("status %d; \"%s\" is not in: %s", status, said, printed);
}

static void test_mismatch(void **state) {
    (void)state;
    expect_abort("(void)a; if (lane() == 5) __syncthreads(); else warp_barrier();",
                 "thread 37 of block (0,0,0) is at a barrier of the block, lanes before it in its "
                 "warp at a barrier of the warp");
    expect_abort("(void)a; if (threadIdx.x == 33) ballot_lanes(true); else shuffle(1, 0);",
                 "thread 33 of block (0,0,0) is at a vote, lanes before it in its warp at a "
                 "shuffle");
    expect_abort("(void)a; if (lane() > 3) warp_barrier(); shuffle(1, 0);",
                 "thread 35 of block (0,0,0)");
    expect_abort("(void)a; __syncwarp(0x0000FFFFu);", "does not name all 32 lanes");
}

#else
static void test_mismatch(void **state) {
    (void)state;
    skip(); /* a release build does not look */
}
#endif

/* ---- NVRTC ----------------------------------------------------------------------------------- */

static void test_nvrtc(void **state) {
    (void)state;
    static const char *const texts[] = {atomics_text, chain_text, last_text, whole_text};
    compile_for_all(texts, sizeof texts / sizeof texts[0]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_atomics),    cmocka_unit_test(test_chain),
    cmocka_unit_test(test_last_block), cmocka_unit_test(test_whole_numbers),
    cmocka_unit_test(test_mismatch),   cmocka_unit_test(test_nvrtc),
};

TEST_GROUP(order, NULL, NULL)
