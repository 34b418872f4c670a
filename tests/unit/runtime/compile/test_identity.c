/* What binaries depend on: the identity of a compiler changes with its file, its path and what it
   is told, stays as it is otherwise, and is told without opening or running anything. Needs:
   FAKE_CUDA, the path of any library. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/compile/compilers.h"
#include "runtime/device/device.h"
#include "runtime/files/paths.h"
#include "tests/unit/group.h"

/* Every test has a folder of its own, and paths in it are made in the job of the test. */
typedef struct place {
    job *job;
    char folder[sizeof "/tmp/sg-test-identity-XXXXXX"];
    void (*body)(struct place *);
} place;

static const char *in(const place *p, const char *name) {
    return job_print(p->job, "%s/%s", p->folder, name);
}

static const char *lay_out(const place *p, const char *name, const char *content, size_t size) {
    const char *path = in(p, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(content, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

static const char *write_text(const place *p, const char *name, const char *content) {
    return lay_out(p, name, content, strlen(content));
}

static const char *copy_library(const place *p, const char *from, const char *name) {
    struct stat facts;
    assert_int_equal(stat(from, &facts), 0);
    FILE *f = fopen(from, "rb");
    assert_non_null(f);
    char *content = job_alloc(p->job, (size_t)facts.st_size);
    assert_int_equal(fread(content, 1, (size_t)facts.st_size, f), facts.st_size);
    fclose(f);
    return lay_out(p, name, content, (size_t)facts.st_size);
}

static void set_time(const char *path, long nanoseconds) {
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000, .tv_nsec = nanoseconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void in_job(job *j, void *argument) {
    place *p = argument;
    p->job = j;
    p->body(p);
}

static void in_place(void (*body)(place *)) {
    static const char *const variables[] = {"SG_CXX", "SG_NVRTC", "CUDA_PATH", "CPATH"};
    place p = {.folder = "/tmp/sg-test-identity-XXXXXX", .body = body};
    job *j;
    assert_non_null(mkdtemp(p.folder));
    const fault f = job_run(&allocator_libc, in_job, &p, &j);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    nftw(p.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (f != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

static void assert_differs(const char *a, const char *b) {
    assert_non_null(a);
    assert_non_null(b);
    assert_string_not_equal(a, b);
}

/* ---- files --------------------------------------------------------------------------------- */

static void files(place *p) {
    const char *path = write_text(p, "file", "content");
    set_time(path, 1);
    const char *first = file_identity(p->job, path);
    assert_non_null(strstr(first, path));
    assert_string_equal(file_identity(p->job, path), first);
    assert_int_equal(symlink(path, in(p, "link")), 0);
    assert_string_equal(file_identity(p->job, in(p, "link")), first);
    set_time(path, 2);
    assert_differs(file_identity(p->job, path), first);
    set_time(path, 1);
    assert_string_equal(file_identity(p->job, path), first);
    write_text(p, "file", "content and more");
    set_time(path, 1);
    assert_differs(file_identity(p->job, path), first);
    /* Another file of the same size and time in its place. */
    write_text(p, "other", "CONTENT");
    set_time(in(p, "other"), 1);
    assert_int_equal(rename(in(p, "other"), path), 0);
    assert_differs(file_identity(p->job, path), first);
    assert_null(file_identity(p->job, in(p, "absent")));
    assert_string_equal(file_text(p->job, path, 100), "CONTENT");
    assert_string_equal(file_text(p->job, path, 3), "CON");
    assert_null(file_text(p->job, in(p, "absent"), 3));
    assert_null(file_text(p->job, p->folder, 3));
}

static void test_files(void **state) {
    (void)state;
    in_place(files);
}

/* ---- NVRTC --------------------------------------------------------------------------------- */

static const char *of_nvrtc(place *p, const char *path, binary_kind kind) {
    compiler *c = nvrtc_compiler(p->job, path);
    const char *identity = c->ops->identity(c, p->job, kind);
    c->ops->close(c);
    return identity;
}

static void nvrtc_guess(place *p) {
    const char *path = copy_library(p, FAKE_CUDA, "libnvrtc.so.13");
    set_time(path, 1);
    const char *first = of_nvrtc(p, path, BINARY_CUBIN);
    assert_non_null(strstr(first, path));
    assert_string_equal(of_nvrtc(p, path, BINARY_CUBIN), first);
    assert_differs(of_nvrtc(p, path, BINARY_PTX), first); /* other options */
    setenv("SG_NVRTC", path, 1);
    assert_string_equal(of_nvrtc(p, NULL, BINARY_CUBIN), first);
    set_time(path, 2);
    assert_differs(of_nvrtc(p, path, BINARY_CUBIN), first);
    const char *other = copy_library(p, FAKE_CUDA, "libnvrtc.so.12");
    set_time(other, 2);
    assert_differs(of_nvrtc(p, path, BINARY_CUBIN), of_nvrtc(p, other, BINARY_CUBIN));
    assert_null(of_nvrtc(p, "none", BINARY_CUBIN));
    assert_null(of_nvrtc(p, in(p, "absent"), BINARY_CUBIN));
    setenv("SG_NVRTC", "none", 1);
    assert_null(of_nvrtc(p, NULL, BINARY_CUBIN));
    /* All that was done without opening any of them. */
    assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
    assert_null(dlopen(other, RTLD_NOW | RTLD_NOLOAD));
}

static void test_nvrtc_guess(void **state) {
    (void)state;
    in_place(nvrtc_guess);
}

static void compile_empty(job *j, void *argument) {
    compiler *c = argument;
    const program p = {.name = "empty", .source = "extern \"C\" __global__ void k() {}\n"};
    c->ops->compile(c, j, &p, "sm_90", BINARY_CUBIN);
}

/* False where there is no NVRTC. */
static bool can_compile(compiler *c) {
    job *j;
    const fault f = job_run(&allocator_libc, compile_empty, c, &j);
    if (f != FAULT_NONE)
        print_message("%s\n", job_error(j));
    job_end(j);
    return f == FAULT_NONE;
}

/* A library that comes first and turns out to be of no use: the identity becomes that of the one
   that compiles. This must come before NVRTC is loaded, which would then be found first. */
static void nvrtc_passed_over(place *p) {
    assert_int_equal(mkdir(in(p, "lib64"), 0700), 0);
    const char *decoy = copy_library(p, FAKE_CUDA, "lib64/libnvrtc.so.13");
    setenv("CUDA_PATH", p->folder, 1);
    compiler *c = nvrtc_compiler(p->job, NULL);
    const char *guess = c->ops->identity(c, p->job, BINARY_CUBIN);
    assert_non_null(strstr(guess, decoy));
    if (can_compile(c)) {
        const char *opened = c->ops->identity(c, p->job, BINARY_CUBIN);
        assert_non_null(opened);
        assert_null(strstr(opened, decoy));
    }
    c->ops->close(c);
}

static void test_nvrtc_passed_over(void **state) {
    (void)state;
    in_place(nvrtc_passed_over);
}

/* What is open compiles on, whatever becomes of its file. What a later compiler finds open then is
   not what its path leads to. */
static void nvrtc_opened(place *p) {
    const char *path = copy_library(p, FAKE_NVRTC, "libnvrtc.so.13");
    set_time(path, 1);
    compiler *c = nvrtc_compiler(p->job, path);
    const char *before = c->ops->identity(c, p->job, BINARY_CUBIN);
    assert_non_null(before);
    assert_true(can_compile(c));
    assert_string_equal(c->ops->identity(c, p->job, BINARY_CUBIN), before);
    set_time(path, 2);
    assert_string_equal(c->ops->identity(c, p->job, BINARY_CUBIN), before);
    const char *newer = copy_library(p, FAKE_NVRTC, "newer");
    assert_int_equal(rename(newer, path), 0);
    assert_string_equal(c->ops->identity(c, p->job, BINARY_CUBIN), before);

    compiler *later = nvrtc_compiler(p->job, path);
    assert_differs(later->ops->identity(later, p->job, BINARY_CUBIN), before);
    assert_true(can_compile(later));
    assert_null(later->ops->identity(later, p->job, BINARY_CUBIN));
    c->ops->close(c);
    later->ops->close(later);
}

static void test_nvrtc_opened(void **state) {
    (void)state;
    in_place(nvrtc_opened);
}

/* ---- the host compiler --------------------------------------------------------------------- */

static const char *of_host(place *p) {
    compiler *c = host_compiler(p->job);
    const char *identity = c->ops->identity(c, p->job, BINARY_HOST);
    c->ops->close(c);
    return identity;
}

static const char script[] = "#!/bin/sh\necho run >>\"$0.runs\"\nexec c++ \"$@\"\n";

static void host_identity(place *p) {
    const char *path = write_text(p, "compiler", script);
    setenv("SG_CXX", path, 1);
    const char *first = of_host(p);
    if (host_machine(p->job) == NULL) {
        assert_null(first); /* then nothing is cached */
        return;
    }
    assert_non_null(strstr(first, host_machine(p->job)));
    assert_string_equal(of_host(p), first);
    set_time(path, 1);
    assert_differs(of_host(p), first);
    first = of_host(p);
    assert_int_equal(symlink(path, in(p, "alias")), 0);
    setenv("SG_CXX", in(p, "alias"), 1);
    assert_differs(of_host(p), first);
    setenv("SG_CXX", path, 1);
    assert_string_equal(of_host(p), first);
    setenv("CPATH", "/nowhere", 1);
    assert_differs(of_host(p), first);
    setenv("SG_CXX", in(p, "absent"), 1);
    assert_null(of_host(p));
    assert_int_not_equal(access(in(p, "compiler.runs"), F_OK), 0); /* it was never run */
}

static void test_host_identity(void **state) {
    (void)state;
    in_place(host_identity);
}

static long runs_of(const place *p) {
    const char *text = file_text(p->job, in(p, "compiler.runs"), 10000);
    return text == NULL ? 0 : (long)strlen(text) / (long)strlen("run\n");
}

static binary compile_host(compiler *c, job *j) {
    static program_launch launch = {.entry = "kernel", .block = {1, 1, 1}};
    const program p = {.name = "empty",
                       .source = "struct Arguments { int x; };\n"
                                 "extern \"C\" __global__ void kernel(const Arguments) {}\n",
                       .launches = &launch,
                       .launch_count = 1};
    return c->ops->compile(c, j, &p, "sm_90", BINARY_HOST);
}

static void compile_in_job(job *j, void *c) {
    compile_host(c, j);
}

static void *compile_in_thread(void *c) {
    job *j;
    const fault f = job_run(&allocator_libc, compile_in_job, c, &j);
    if (f != FAULT_NONE)
        print_error("%s\n", job_error(j));
    job_end(j);
    return f == FAULT_NONE ? c : NULL;
}

/* Asked once by eight threads that compile at once, and again when it has become another. */
static void host_asked(place *p) {
    enum { THREADS = 8 };
    setenv("SG_CXX", write_text(p, "compiler", script), 1);
    compiler *c = host_compiler(p->job);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_in_thread, c), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, c);
    }
    assert_int_equal(runs_of(p), THREADS + 1);
    assert_non_null(strstr(compile_host(c, p->job).compiler, "++ "));
    assert_int_equal(runs_of(p), THREADS + 2);
    set_time(in(p, "compiler"), 5);
    compile_host(c, p->job);
    assert_int_equal(runs_of(p), THREADS + 4);
    c->ops->close(c);
}

static void test_host_asked(void **state) {
    (void)state;
    in_place(host_asked);
}

/* ---- the processor ------------------------------------------------------------------------- */

static void machines(place *p) {
    const char *path = write_text(p, "cpuinfo",
                                  "processor\t: 0\nvendor_id\t: Some\nmodel\t\t: 7\n"
                                  "cpu MHz\t\t: 2300.000\nflags\t\t: fpu avx\n\n"
                                  "processor\t: 1\nvendor_id\t: Other\nflags\t\t: fpu\n\n");
    assert_string_equal(machine_text(p->job, path, "x86_64"),
                        "x86_64; vendor_id: Some; model: 7; flags: fpu avx");
    path = write_text(p, "cpuinfo",
                      "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n"
                      "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\nprocessor\t: 1\n");
    assert_string_equal(machine_text(p->job, path, "aarch64"),
                        "aarch64; Features: fp asimd; CPU implementer: 0x41; CPU part: 0xd0c");
    path = write_text(p, "cpuinfo", "processor\t: 0\nvendor_id\t: Some\n\n");
    assert_null(machine_text(p->job, path, "x86_64"));
    path = write_text(p, "cpuinfo", "flags\t\t: fpu\nvendor_id\t: cut in the mid");
    assert_null(machine_text(p->job, path, "x86_64"));
    assert_null(machine_text(p->job, in(p, "absent"), "x86_64"));
}

static void test_machines(void **state) {
    (void)state;
    in_place(machines);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_files),
    cmocka_unit_test(test_nvrtc_guess),
    cmocka_unit_test(test_nvrtc_passed_over),
    cmocka_unit_test(test_nvrtc_opened),
    cmocka_unit_test(test_host_identity),
    cmocka_unit_test(test_host_asked),
    cmocka_unit_test(test_machines),
};

TEST_GROUP(identity, NULL, NULL)
