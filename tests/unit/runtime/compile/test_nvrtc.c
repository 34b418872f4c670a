/* NVRTC: opening it and not, what it makes of good and bad sources, and from several threads.
   Needs: FAKE_NVRTC, the path of a stand-in.
   Without an NVRTC on the machine only the first part can be tested; the rest is skipped and says
   so. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>

#include "runtime/compile/compilers.h"
#include "tests/unit/fake/nvrtc.h"
#include "tests/unit/group.h"

/* 100 floats a thread that are indexed while running live in local memory: 400 bytes. */
static const char source[] =
    "extern \"C\" __global__ void k(const float *a, float *b, int n) {\n"
    "    __shared__ float s[64];\n"
    "    float l[100];\n"
    "    for (int i = 0; i < 100; i++)\n"
    "        l[i] = a[i * n];\n"
    "    s[threadIdx.x] = l[n];\n"
    "    __syncthreads();\n"
    "    b[threadIdx.x] = s[63 - threadIdx.x] + l[n + 1];\n"
    "}\n"
    "extern \"C\" __global__ void small(float *b) { b[threadIdx.x] = 1; }\n";

typedef struct work {
    const char *path, *source, *arch;
    binary_kind kind;
    bool missing; /* out */
    binary result;
} work;

static void close_compiler(void *c) {
    ((compiler *)c)->ops->close(c);
}

static bool is_missing(job *j, const char *path) {
    const char *why = NULL;
    nvrtc *n = nvrtc_open(j, path, &why);
    nvrtc_close(n);
    return n == NULL;
}

static void compile(job *j, void *argument) {
    work *w = argument;
    w->missing = is_missing(j, w->path);
    compiler *c = nvrtc_compiler(j, w->path);
    job_defer(j, close_compiler, c);
    const program p = {.name = "heat", .source = w->source};
    w->result = c->ops->compile(c, j, &p, w->arch, w->kind);
    job_keep(j, c);
    close_compiler(c);
}

/* The caller ends the job. */
static job *must_compile(work *w) {
    job *j;
    const fault f = job_run(&allocator_libc, compile, w, &j);
    if (w->missing) {
        print_message("no NVRTC: %s\n", job_error_text(j));
        job_end(j);
        skip();
    }
    if (f != FAULT_NONE)
        fail_msg("%s", job_error(j));
    return j;
}

static void expect_error(work w, const char *const *expected) {
    job *j;
    const fault f = job_run(&allocator_libc, compile, &w, &j);
    if (w.missing && w.path == NULL) {
        job_end(j);
        skip();
    }
    assert_int_equal(f, FAULT_COMPILER);
    for (; *expected != NULL; expected++)
        if (strstr(job_error(j), *expected) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", *expected, job_error(j));
    job_end(j);
}

static void check_missing(void **unused) {
    (void)unused;
    const work given = {.path = "none"};
    expect_error(given, (const char *const[]){"NVRTC is switched off by the caller", NULL});
    const work nowhere = {.path = "/nowhere/libnvrtc.so"};
    expect_error(nowhere, (const char *const[]){"given by the caller cannot be used",
                                                "/nowhere/libnvrtc.so", "set SG_NVRTC", NULL});
    const work other = {.path = "libc.so.6"};
    expect_error(other, (const char *const[]){"libc.so.6", "it has no nvrtcVersion", NULL});
}

static void check_cubin(void **unused) {
    (void)unused;
    static const char *const archs[] = {"sm_80", "sm_90", "sm_90a"};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        work w = {.source = source, .arch = archs[i]};
        job *j = must_compile(&w);
        assert_true(w.result.data.size > 1000);
        assert_memory_equal(w.result.data.data, "\177ELF", 4);
        assert_in_range(w.result.registers, 16, 255);
        assert_int_equal(w.result.shared_bytes, 256);
        assert_int_equal(w.result.local_bytes, 400);
        assert_true(w.result.seconds > 0 && w.result.seconds < 600);
        assert_memory_equal(w.result.compiler, "NVRTC ", 6);
        assert_int_equal(w.result.kind, BINARY_CUBIN);
        job_end(j);
    }
}

static void check_no_shared(void **unused) {
    (void)unused;
    work w = {.source = strstr(source, "extern \"C\" __global__ void small"), .arch = "sm_90"};
    job *j = must_compile(&w);
    assert_in_range(w.result.registers, 1, 16);
    assert_int_equal(w.result.shared_bytes, 0);
    assert_int_equal(w.result.local_bytes, 0);
    job_end(j);
}

/* A kernel for sm_90 has what sm_90a alone has; one that cannot be made so is made without. */
static void check_alone(void **unused) {
    (void)unused;
#define ERROR_IF(condition)                                                                        \
    "#if " condition "\n#error no\n#endif\nextern \"C\" __global__ void k(int *p) { *p = 1; }\n"
#define ALONE "defined(__CUDA_ARCH_FEAT_SM90_ALL)"
    static const char *const ways[] = {ERROR_IF("defined(__CUDA_ARCH__) && !" ALONE),
                                       ERROR_IF(ALONE)};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        work w = {.source = ways[i], .arch = "sm_90"};
        job *j = must_compile(&w);
        assert_true(w.result.data.size > 500);
        job_end(j);
    }
    work ptx = {.source = ways[1], .arch = "sm_90", .kind = BINARY_PTX}; /* for later GPUs, too */
    job_end(must_compile(&ptx));
}

static void check_ptx(void **unused) {
    (void)unused;
    work w = {.source = source, .arch = "sm_90", .kind = BINARY_PTX};
    job *j = must_compile(&w);
    const char *ptx = w.result.data.data;
    assert_int_equal(strlen(ptx), w.result.data.size);
    assert_non_null(strstr(ptx, ".target sm_90"));
    assert_non_null(strstr(ptx, ".visible .entry k("));
    assert_int_equal(w.result.registers, -1);
    job_end(j);
}

static void check_bad_source(void **unused) {
    (void)unused;
    const work w = {.source = "__global__ void k() {\n    unknown = 1;\n    other = 2;\n}\n",
                    .arch = "sm_90"};
    expect_error(w, (const char *const[]){"NVRTC_ERROR_COMPILATION (6)", "heat.cu(2): error",
                                          "\"unknown\" is undefined", "heat.cu(3): error",
                                          "2 errors detected", NULL});
}

static void check_bad_arch(void **unused) {
    (void)unused;
    static const char *const archs[] = {"sm_10", "sm_", "sm_90x", "sm_900", "compute_90", "", "90"};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        const work w = {.source = source, .arch = archs[i]};
        expect_error(w, (const char *const[]){"cannot compile for", archs[i],
                                              "the architectures it knows are", "sm_80, ", NULL});
    }
}

/* ---- one compiler, many threads ------------------------------------------------------------- */

enum { THREADS = 8 };

typedef struct crowd {
    compiler *compiler;
    pthread_barrier_t start;
    const char *identity; /* before anything was opened */
    int local_bytes;      /* of what is compiled */
} crowd;

static void compile_in_crowd(job *j, void *argument) {
    crowd *c = argument;
    const program p = {.name = "heat", .source = source};
    pthread_barrier_wait(&c->start);
    const binary b = c->compiler->ops->compile(c->compiler, j, &p, "sm_90", BINARY_CUBIN);
    assert_int_equal(b.local_bytes, c->local_bytes);
    const char *identity = c->compiler->ops->identity(c->compiler, j, BINARY_CUBIN);
    if (identity == NULL || strcmp(identity, c->identity) != 0)
        job_fail(j, FAULT_CHECK, NULL, 0, "%s became %s", c->identity, identity);
}

static void *thread(void *argument) {
    job *j;
    const fault f = job_run(&allocator_libc, compile_in_crowd, argument, &j);
    if (f != FAULT_NONE)
        print_error("%s\n", job_error(j));
    job_end(j);
    return f == FAULT_NONE ? argument : NULL;
}

static void run_crowd(crowd *c) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&c->start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, thread, c), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, c);
    }
    pthread_barrier_destroy(&c->start);
}

static void crowd_body(job *j, void *argument) {
    crowd *c = argument;
    c->compiler = nvrtc_compiler(j, NULL);
    c->identity = c->compiler->ops->identity(c->compiler, j, BINARY_CUBIN);
    assert_non_null(c->identity);
    run_crowd(c);
    c->compiler->ops->close(c->compiler);
}

static void check_threads(void **unused) {
    (void)unused;
    work w = {.source = source, .arch = "sm_90"};
    job_end(must_compile(&w)); /* or skips */
    crowd c = {.local_bytes = 400};
    job *j;
    if (job_run(&allocator_libc, crowd_body, &c, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

/* ---- opened when it is needed, and once ------------------------------------------------------ */

static fake_nvrtc_state *fake(void) {
    void *handle = dlopen(FAKE_NVRTC, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle == NULL)
        return NULL;
    fake_nvrtc_function *find;
    void *address = dlsym(handle, "fake_nvrtc");
    memcpy(&find, &address, sizeof address);
    return find();
}

static void lazy_body(job *j, void *argument) {
    crowd *c = argument;
    c->compiler = nvrtc_compiler(j, FAKE_NVRTC);
    c->identity = c->compiler->ops->identity(c->compiler, j, BINARY_CUBIN);
    assert_non_null(c->identity);
    assert_null(fake());
    run_crowd(c);
    assert_int_equal(fake()->opened, 1);
    assert_int_equal(fake()->compiled, THREADS);
    assert_int_equal(fake()->alive, 0);
    c->compiler->ops->close(c->compiler);
}

static void check_lazy(void **unused) {
    (void)unused;
    crowd c = {.local_bytes = 0};
    job *j;
    if (job_run(&allocator_libc, lazy_body, &c, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(check_missing),   cmocka_unit_test(check_cubin),
    cmocka_unit_test(check_no_shared), cmocka_unit_test(check_ptx),
    cmocka_unit_test(check_alone),     cmocka_unit_test(check_bad_source),
    cmocka_unit_test(check_bad_arch),  cmocka_unit_test(check_threads),
    cmocka_unit_test(check_lazy),
};

TEST_GROUP(nvrtc, NULL, NULL)
