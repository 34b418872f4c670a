/* Compilations of the cpu device that are interrupted, meet limits and full folders, or would
   run in a folder that others can write to. */
#define _GNU_SOURCE /* unshare */
#include "tests/unit/runtime/compile/cpu_scratch_scene.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "runtime/stencilgen.h"
#include "tests/unit/group.h"

enum { NOBODY = 65534, CANNOT = 77 };

/* ---- signals -------------------------------------------------------------------------------- */

/* A compiler that says when it has begun, and then takes its time in a child of its own. */
static void make_slow_compiler(void) {
    char *path = scratch_path("slow"), *begun = scratch_path("begun"), text[512];
    sprintf(text,
            "#!/bin/sh\ncase \" $* \" in *\" -E \"*) exec c++ \"$@\" ;; esac\n"
            "echo half >\"$TMPDIR/cca1B2c3.s\"\nsleep 1234 &\necho $! >%s.new\n"
            "mv %s.new %s\nwait\n",
            begun, begun, begun);
    write_content(path, text, strlen(text));
    assert_int_equal(chmod(path, 0700), 0);
    setenv("SG_CXX", path, 1);
    free(path);
    free(begun);
}

static void end_by_signal(int number) {
    sg_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

static int compile_in_child(void *handled) {
    if (handled != NULL)
        signal(SIGTERM, end_by_signal);
    job *j;
    return job_run(&allocator_libc, compile_body, NULL, &j);
}

/* The number of the compiler's own child, once there is one. */
static pid_t wait_for_begin(void) {
    char *path = scratch_path("begun");
    int number = 0;
    FILE *file = NULL;
    for (int i = 0; i < 10000 && (file = fopen(path, "r")) == NULL; i++)
        usleep(2000);
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &number), 1);
    fclose(file);
    unlink(path);
    free(path);
    return number;
}

static bool ends(pid_t process) {
    for (int i = 0; i < 1000; i++) {
        char path[64], state = 'Z';
        sprintf(path, "/proc/%d/stat", (int)process);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            return true;
        const int got = fscanf(file, "%*d (%*[^)]) %c", &state);
        fclose(file);
        if (got != 1 || state == 'Z')
            return true;
        usleep(2000);
    }
    return false;
}

static void test_a_signal_ends_the_compiler(void **state) {
    (void)state;
    make_slow_compiler();
    const pid_t child = start_child(compile_in_child, "handled");
    const pid_t compiler = wait_for_begin();
    assert_int_equal(count_files(scratch_root, SCRATCH_PREFIX), 1);
    kill(child, SIGTERM);
    assert_int_equal(wait_for(child), 128 + SIGTERM);
    assert_true(ends(compiler));
    assert_int_equal(count_files(scratch_root, SCRATCH_PREFIX), 0);
}

/* Nobody can clean up after SIGKILL but the next. As long as the compiler runs, the folder is in
   use. */
static void test_killed_while_it_compiles(void **state) {
    (void)state;
    make_slow_compiler();
    const pid_t child = start_child(compile_in_child, NULL);
    const pid_t compiler = wait_for_begin();
    kill(child, SIGKILL);
    assert_int_equal(wait_for(child), 128 + SIGKILL);
    sweep_by_opening();
    assert_int_equal(count_files(scratch_root, SCRATCH_PREFIX), 1);
    kill(compiler, SIGKILL);
    assert_true(ends(compiler));
    for (int i = 0; i < 1000 && count_files(scratch_root, SCRATCH_PREFIX) > 0; i++) {
        sweep_by_opening(); /* the shell that waits for it ends too */
        usleep(2000);
    }
    assert_int_equal(count_files(scratch_root, SCRATCH_PREFIX), 0);
}

/* A child of fork has a copy of the table, which is not its own. */
static int abandon_in_child(void *unused) {
    (void)unused;
    sg_abandon();
    return 0;
}

static void fork_and_look(job *j, void *unused) {
    (void)unused;
    scratch *s = scratch_open(j, NULL);
    assert_int_equal(in_child(abandon_in_child, NULL), 0);
    assert_int_equal(count_files(scratch_root, SCRATCH_PREFIX), 1);
    scratch_close(j, s);
}

static void test_a_fork_abandons_nothing(void **state) {
    (void)state;
    job_end(fails(FAULT_NONE, fork_and_look));
    assert_int_equal(count_files(scratch_root, ""), 0);
}

/* ---- limits and full folders ---------------------------------------------------------------- */

/* Whether the body fails so, and leaves nothing behind. */
static int says(void (*body)(job *, void *), fault expected, const char *first,
                const char *second) {
    job *j;
    const fault f = job_run(&allocator_libc, body, NULL, &j);
    const char *text = f == FAULT_NONE ? "" : job_error(j);
    const bool said = strstr(text, first) != NULL && strstr(text, second) != NULL;
    if (!said)
        fprintf(stderr, "fault %d: %s\n", (int)f, text);
    CHECK(f == expected && said);
    CHECK(count_files(scratch_root, SCRATCH_PREFIX) == 0);
    job_end(j);
    return 0;
}

static void write_much(job *j, void *unused) {
    (void)unused;
    static const char nothing[20000];
    scratch *s = scratch_open(j, NULL);
    scratch_write(j, s, SCRATCH_OBJECT, &(scratch_piece){nothing, sizeof nothing}, 1);
    scratch_close(j, s);
}

static int limit_files(void *unused) {
    (void)unused;
    const struct rlimit limit = {12000, 12000}; /* which not even the compiler's answer keeps */
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(says(write_much, FAULT_IO, "no room for temporary files in this folder (TMPDIR)",
               "raise the file-size limit (ulimit -f)") == 0);
    return says(compile_body, FAULT_COMPILER, "the C++ compiler",
                "cannot run: raise the file-size limit (ulimit -f)");
}

static void test_limited_files(void **state) {
    (void)state;
    assert_int_equal(in_child(limit_files, NULL), 0);
}

/* Compilers get the limit's signal as it usually is, though the application ignores it. */
static int ignore_the_limit(void *unused) {
    (void)unused;
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    char *path = scratch_path("tell"), *told = scratch_path("told"), text[512];
    sprintf(text, "#!/bin/sh\ngrep SigIgn /proc/self/status >%s\nexec c++ \"$@\"\n", told);
    write_content(path, text, strlen(text));
    chmod(path, 0700);
    setenv("SG_CXX", path, 1);
    job *j;
    CHECK(job_run(&allocator_libc, compile_body, NULL, &j) == FAULT_NONE);
    job_end(j);
    unsigned long long ignored = 0;
    FILE *file = fopen(told, "r");
    CHECK(file != NULL && fscanf(file, "SigIgn: %llx", &ignored) == 1);
    fclose(file);
    CHECK((ignored >> (SIGXFSZ - 1) & 1) == 0 && (ignored >> (SIGTERM - 1) & 1) == 0);
    return 0;
}

static void test_signals_of_compilers(void **state) {
    (void)state;
    assert_int_equal(in_child(ignore_the_limit, NULL), 0);
}

static int fill_disk(void *size) {
    char how[64];
    sprintf(how, "size=%s,mode=700", (const char *)size);
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", scratch_root, "tmpfs", 0, how) != 0)
        return CANNOT;
    return says(compile_body, FAULT_IO, "no room for temporary files in this folder (TMPDIR)",
                scratch_root);
}

static void test_full_folders(void **state) {
    (void)state;
    /* No room for the source, the assembler's text. */
    char *const sizes[] = {"4k", "16k", "24k", "36k"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const int code = in_child(fill_disk, sizes[i]);
        if (code == CANNOT)
            skip();
        assert_int_equal(code, 0);
    }
}

/* ---- where ---------------------------------------------------------------------------------- */

static void test_folders_of_others_are_refused(void **state) {
    (void)state;
    char *tmp = scratch_path("tmp"), *inner = below("tmp", "inner");
    const char *writable[] = {"(TMPDIR)", "others may write to", tmp, "TMPDIR name a folder"};
    assert_int_equal(mkdir(tmp, 0700), 0);
    assert_int_equal(mkdir(inner, 0700), 0);
    setenv("TMPDIR", tmp, 1);
    static const mode_t modes[] = {0777, 0770, 0702};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chmod(tmp, modes[i]), 0);
        setenv("TMPDIR", tmp, 1);
        expect_error(open_and_close, writable, 4);
        expect_error(compile_body, writable, 4);
        setenv("TMPDIR", inner, 1); /* which may be put elsewhere */
        expect_error(open_and_close, writable, 4);
    }
    assert_int_equal(chmod(tmp, 01777), 0);
    sweep_by_opening();
    assert_int_equal(chmod(tmp, 0755), 0);
    sweep_by_opening();
    if (geteuid() == 0) {
        const char *others[] = {"(TMPDIR)", "belongs to another user", tmp};
        assert_int_equal(chown(tmp, NOBODY, NOBODY), 0);
        setenv("TMPDIR", tmp, 1);
        expect_error(open_and_close, others, 3);
        expect_error(compile_body, others, 3);
    }
    free(tmp);
    free(inner);
}

/* A name that a compiler would take for an option. */
static void test_odd_names(void **state) {
    (void)state;
    static const char *const names[] = {"-tmp", "-o", "a b", "it's \"$HOME\"", "."};
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(scratch_root), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], ".") != 0)
            make_folder(names[i]);
        setenv("TMPDIR", names[i], 1);
        job_end(fails(FAULT_NONE, compile_body));
    }
    assert_int_equal(count_files(scratch_root, SCRATCH_PREFIX), 0);
    assert_int_equal(chdir(here), 0);
}

/* Where `cache` says; then where TMPDIR does. */
static void open_in_both(job *j, void *unused) {
    (void)unused;
    char *cache = scratch_path("cache");
    scratch_place here = {.cache = cache};
    scratch *s = scratch_open(j, &here);
    assert_int_equal(count_files(cache, SCRATCH_PREFIX), 1);
    assert_int_equal(strncmp(s->folder, cache, strlen(cache)), 0);
    scratch_close(j, s);
    assert_int_equal(count_files(cache, ""), 0);
    assert_int_equal(chmod(cache, 0777), 0);
    s = scratch_open(j, &here);
    assert_int_equal(count_files(cache, ""), 0);
    assert_int_equal(count_files(scratch_root, SCRATCH_PREFIX), 1);
    scratch_close(j, s);
    here.cache = "/dev/null/cache";
    scratch_close(j, scratch_open(j, &here));
    free(cache);
}

static void test_in_the_cache(void **state) {
    (void)state;
    job_end(fails(FAULT_NONE, open_in_both));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_a_signal_ends_the_compiler),
    IN_FOLDER(test_killed_while_it_compiles),
    IN_FOLDER(test_a_fork_abandons_nothing),
    IN_FOLDER(test_limited_files),
    IN_FOLDER(test_signals_of_compilers),
    IN_FOLDER(test_full_folders),
    IN_FOLDER(test_folders_of_others_are_refused),
    IN_FOLDER(test_odd_names),
    IN_FOLDER(test_in_the_cache),
};

TEST_GROUP(interrupted, NULL, NULL)
