/* The compiler of the cpu device, its temporary files, memory and clock, and their errors. */
#include "tests/unit/runtime/device/cpu/cpu_program.h"

#include "runtime/compile/compilers.h"
#include "tests/unit/group.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char plain_text[] = "struct Arguments { float *out; };\n"
                                 "extern \"C\" __global__ void kernel(const Arguments a) {\n"
                                 "    a.out[threadIdx.x] = 3;\n"
                                 "}\n";

static int entries(const char *folder) {
    int count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

/* Every test has a TMPDIR of its own, which must be empty at its end. */
typedef struct place {
    char folder[sizeof "/tmp/sg-test-cpu-XXXXXX"];
} place;

static int enter(void **state) {
    static place p;
    strcpy(p.folder, "/tmp/sg-test-cpu-XXXXXX");
    *state = &p;
    return mkdtemp(p.folder) == NULL || setenv("TMPDIR", p.folder, 1) != 0;
}

static int leave(void **state) {
    const place *p = *state;
    unsetenv("TMPDIR");
    unsetenv("SG_CXX");
    assert_int_equal(entries(p->folder), 0);
    return rmdir(p->folder);
}

/* Runs a body that must fail, and hands out its job to read the error from. */
typedef struct attempt {
    void (*body)(job *, device *);
    device *device;
} attempt;

static void try_body(job *j, void *argument) {
    attempt *a = argument;
    const char *why;
    a->device = device_cpu.open(j, &(device_options){.threads = 1}, &why);
    a->body(j, a->device);
}

static job *fails(fault expected, void (*body)(job *, device *)) {
    attempt a = {.body = body};
    job *j;
    assert_int_equal(job_run(&allocator_libc, try_body, &a, &j), expected);
    assert_non_null(a.device);
    a.device->ops->close(a.device);
    return j;
}

static void assert_says(const job *j, const char *text) {
    if (strstr(job_error(j), text) == NULL)
        fail_msg("\"%s\" is not in: %s", text, job_error(j));
}

static void compile_plain(job *j, device *d) {
    compile_on(j, d, make_program(j, plain_text, 1, 1, 1, 0, false));
}

/* ---- compiling ------------------------------------------------------------------------------- */

static void compile_wrong(job *j, device *d) {
    compile_on(j, d,
               make_program(j,
                            "struct Arguments { float *out; };\n"
                            "extern \"C\" __global__ void kernel(const Arguments a) {\n"
                            "    a.nowhere[0] = 1;\n"
                            "    undeclared = 2;\n"
                            "}\n",
                            1, 1, 1, 0, false));
}

static void test_errors_of_the_source(void **state) {
    (void)state;
    job *j = fails(FAULT_COMPILER, compile_wrong);
    assert_says(j, "-std=c++17");
    assert_says(j, "test.cu:3:");
    assert_says(j, "nowhere");
    assert_says(j, "test.cu:4:");
    assert_says(j, "undeclared");
    job_end(j);
}

static void compile_other_entry(job *j, device *d) {
    program *p = make_program(j, plain_text, 1, 1, 1, 0, false);
    p->launches[0].entry = "elsewhere";
    compile_on(j, d, p);
}

static void test_missing_entry(void **state) {
    (void)state;
    job *j = fails(FAULT_COMPILER, compile_other_entry);
    assert_says(j, "elsewhere");
    job_end(j);
}

static void test_missing_compiler(void **state) {
    (void)state;
    setenv("SG_CXX", "/nonexistent/c++", 1);
    job *j = fails(FAULT_COMPILER, compile_plain);
    assert_says(j, "/nonexistent/c++");
    assert_says(j, "install g++ or set SG_CXX");
    job_end(j);

    setenv("SG_CXX", "no-such-compiler", 1);
    j = fails(FAULT_COMPILER, compile_plain);
    assert_says(j, "no-such-compiler");
    job_end(j);

    setenv("SG_CXX", "/tmp", 1); /* may be entered, but not run */
    j = fails(FAULT_COMPILER, compile_plain);
    assert_says(j, "/tmp");
    job_end(j);
}

static void test_broken_compiler(void **state) {
    (void)state;
    setenv("SG_CXX", "false", 1);
    job *j = fails(FAULT_COMPILER, compile_plain);
    assert_says(j, "does not work");
    assert_says(j, "named by SG_CXX");
    assert_says(j, "It ends with exit code 1 and says nothing");
    job_end(j);
}

/* A compiler that says what it knows, and compiles nothing. */
static void write_compiler(const char *path, const char *macros) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "#!/bin/sh\ncase \"$*\" in *-dM*) printf '%s'; exit 0;; esac\n"
            "echo it compiles nothing\nexit 1\n",
            macros);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

/* Compilers take short vectors where there are long ones, and old ones do not know the flag. */
static void test_vectors(void **state) {
    static const struct {
        const char *macros;
        bool wide;
    } cases[] = {
        {"#define __GNUC__ 12\\n#define __AVX512F__ 1\\n", true},
        {"#define __GNUC__ 7\\n#define __AVX512F__ 1\\n", false},
        {"#define __GNUC__ 12\\n#define __AVX2__ 1\\n", false},
        {"#define __GNUC__ 4\\n#define __clang__ 1\\n#define __clang_major__ 14\\n"
         "#define __AVX512F__ 1\\n",
         true},
    };
    const place *p = *state;
    char path[sizeof p->folder + 8];
    snprintf(path, sizeof path, "%s/c++", p->folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_compiler(path, cases[i].macros);
        setenv("SG_CXX", path, 1);
        job *j = fails(FAULT_COMPILER, compile_plain);
        assert_says(j, "it compiles nothing");
        assert_int_equal(strstr(job_error(j), "-mprefer-vector-width=512") != NULL, cases[i].wide);
        job_end(j);
        unlink(path);
    }
}

static void test_empty_path(void **state) {
    (void)state;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    job *j = fails(FAULT_COMPILER, compile_plain);
    setenv("PATH", path, 1);
    free(path);
    assert_says(j, "no C++ compiler");
    job_end(j);
}

static void compiler_facts(job *j, device *d) {
    const char *why = NULL;
    const host_answer *a = host_ask(j, host_find(j, &why), &why);
    assert_non_null(a);
    assert_non_null(strstr(a->name, "++ "));
    assert_int_equal(access(a->program.path, X_OK), 0);
    const device_facts *f = d->ops->facts(d);
    assert_string_equal(f->device, "cpu");
    assert_string_equal(f->name, "cpu, 3 cores");
    assert_string_equal(f->arch, "cpu");
    assert_int_equal(f->multiprocessors, 3);
    assert_int_equal(f->driver, 0);
    compiler *c = d->ops->compiler(d);
    const program *p = make_program(j, plain_text, 1, 1, 1, 0, false);
    const binary b = c->ops->compile(c, j, p, "sm_90", BINARY_HOST);
    assert_string_equal(b.compiler, a->name);
    assert_int_equal(b.kind, BINARY_HOST);
    assert_int_equal(b.registers, -1);
    assert_true(b.seconds > 0 && b.seconds < 100);
}

static void test_facts(void **state) {
    (void)state;
    with_device(3, compiler_facts);
}

/* A device without a compiler still serves for everything else. */
static void copy_without_compiler(job *j, device *d) {
    void *memory = d->ops->alloc(d, j, 100);
    char out[100];
    d->ops->fill(d, j, memory, 5, sizeof out);
    d->ops->download(d, j, out, memory, sizeof out);
    assert_int_equal(out[99], 5);
    d->ops->free(d, memory);
}

static void test_device_without_compiler(void **state) {
    (void)state;
    setenv("SG_CXX", "/nonexistent/c++", 1);
    with_device(1, copy_without_compiler);
}

/* ---- files, children, descriptors ------------------------------------------------------------ */

static void compile_and_run(job *j, device *d) {
    module *m = build(j, d, make_program(j, plain_text, 4, 1, 1, 0, false));
    float *out = d->ops->alloc(d, j, 4 * sizeof *out);
    launch_on(d, m, 0, 1, 1, 1, &out, sizeof out);
    for (int i = 0; i < 4; i++)
        assert_true(out[i] == 3);
    d->ops->free(d, out);
    d->ops->unload(d, m);
}

static void compile_twice_and_count(job *j, device *d) {
    compile_and_run(j, d);
    const int before = entries("/proc/self/fd");
    compile_and_run(j, d);
    assert_int_equal(entries("/proc/self/fd"), before);
}

static void test_descriptors(void **state) {
    const place *p = *state;
    with_device(1, compile_twice_and_count);
    assert_int_equal(entries(p->folder), 0);
}

/* The application may have asked not to be notified of its children. */
static void test_ignored_children(void **state) {
    (void)state;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before, after;
    sigaction(SIGCHLD, &ignore, &before);
    with_device(1, compile_and_run);
    job *j = fails(FAULT_COMPILER, compile_wrong);
    assert_says(j, "nowhere");
    job_end(j);
    sigaction(SIGCHLD, &before, &after);
    assert_true(after.sa_handler == SIG_IGN);
}

/* The headers of the cpu device compile with the other compiler too. */
static void test_clang(void **state) {
    (void)state;
#if defined(SG_SANITIZE)
    skip(); /* its sanitizers are not those of this program */
#endif
    if (system("clang++ --version >/dev/null 2>&1") != 0) {
        print_message("there is no clang++\n");
        skip();
    }
    setenv("SG_CXX", "clang++", 1);
    with_device(1, compile_and_run);
}

static void test_no_temporary_folder(void **state) {
    const place *p = *state;
    setenv("TMPDIR", "/nonexistent/tmp", 1);
    job *j = fails(FAULT_IO, compile_plain);
    assert_says(j, "/nonexistent/tmp");
    assert_says(j, "TMPDIR");
    job_end(j);
    setenv("TMPDIR", p->folder, 1);
}

static void load_garbage(job *j, device *d) {
    static const char garbage[] = "this is no shared object";
    const program *p = make_program(j, plain_text, 1, 1, 1, 0, false);
    d->ops->load(d, j, p, (blob){garbage, sizeof garbage});
}

static void load_other(job *j, device *d) {
    program *p = make_program(j, plain_text, 1, 1, 1, 0, false);
    const blob b = compile_on(j, d, p);
    p->launch_count = 0;
    d->ops->load(d, j, p, b);
}

static void test_load_fails(void **state) {
    (void)state;
    job *j = fails(FAULT_DEVICE, load_garbage);
    assert_says(j, "cannot be loaded");
    job_end(j);
    j = fails(FAULT_DEVICE, load_other);
    assert_says(j, "another program");
    job_end(j);
}

/* ---- memory and time ------------------------------------------------------------------------- */

static void memory(job *j, device *d) {
    const size_t sizes[] = {0, 1, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (9 << 20) + 12345};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const size_t size = sizes[s];
        unsigned char *a = d->ops->alloc(d, j, size + 1), *b = d->ops->alloc(d, j, size + 1);
        unsigned char *host = malloc(size + 1);
        assert_int_equal((uintptr_t)a % 256, 0);
        for (size_t i = 0; i < size; i++)
            host[i] = (unsigned char)(i * 7 + i / 251);
        a[size] = b[size] = 99;
        d->ops->upload(d, j, a, host, size);
        d->ops->copy(d, j, &(device_copy){.to = b, .from = a, .bytes = size, .rows = 1}, NULL);
        memset(host, 0, size);
        d->ops->download(d, j, host, b, size);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(host[i], (unsigned char)(i * 7 + i / 251));
        d->ops->fill(d, j, a, 0x5A, size);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(a[i], 0x5A);
        assert_int_equal(a[size], 99);
        assert_int_equal(b[size], 99);
        d->ops->synchronize(d, j, NULL);
        d->ops->free(d, a);
        d->ops->free(d, b);
        free(host);
    }
    d->ops->free(d, d->ops->alloc(d, j, 0));
    d->ops->free(d, NULL);
}

static void test_memory(void **state) {
    (void)state;
    with_device(3, memory);
}

static void nap(job *j, void *argument) {
    (void)j;
    nanosleep(argument, NULL);
}

static void measure(job *j, device *d) {
    struct timespec t = {.tv_nsec = 50000000};
    const double seconds = d->ops->time(d, j, nap, &t);
    assert_true(seconds >= 0.05 && seconds < 5);
}

static void test_time(void **state) {
    (void)state;
    with_device(1, measure);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, enter, leave)

static const struct CMUnitTest tests[] = {
    IN_PLACE(test_errors_of_the_source),
    IN_PLACE(test_missing_entry),
    IN_PLACE(test_missing_compiler),
    IN_PLACE(test_broken_compiler),
    IN_PLACE(test_vectors),
    IN_PLACE(test_empty_path),
    IN_PLACE(test_facts),
    IN_PLACE(test_device_without_compiler),
    IN_PLACE(test_descriptors),
    IN_PLACE(test_ignored_children),
    IN_PLACE(test_clang),
    IN_PLACE(test_no_temporary_folder),
    IN_PLACE(test_load_fails),
    IN_PLACE(test_memory),
    IN_PLACE(test_time),
};

TEST_GROUP(host, NULL, NULL)
