/* The search for a shared library, step by step: copies of one library under another name are laid
   out in a folder of the test's own as toolkits and Python packages are.
   Needs: FAKE_CUDA, the path of any library that has the function fake_cuda. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/device/loader.h"
#include "tests/unit/group.h"

static char root[] = "/tmp/sg [loader]* XXXXXX"; /* with what has a meaning in patterns */

static const char *const names[] = {"libsgtest.so.2", "libsgtest.so", NULL};
static const char *const symbols[] = {"fake_cuda", NULL};
static const library_wanted test_library = {.title = "the test library",
                                            .variable = "SG_TEST_LIBRARY",
                                            .names = names,
                                            .symbols = symbols,
                                            .toolkit = true,
                                            .cure = "write one"};

/* ---- files --------------------------------------------------------------------------------- */

SG_PRINTF(1, 2) static char *print(const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    char *out = malloc((size_t)vsnprintf(NULL, 0, format, list) + 1);
    assert_non_null(out);
    vsprintf(out, format, again);
    va_end(again);
    va_end(list);
    return out;
}

/* Makes the file root/folder/name: a library, or only what looks like one. Returns its path. */
static char *lay_out(const char *base, const char *folder, const char *name, bool good) {
    char *path = print("%s/%s/%s", base, folder, name);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *out = fopen(path, "wb"), *in = fopen(FAKE_CUDA, "rb");
    assert_non_null(out);
    assert_non_null(in);
    if (!good)
        fputs("this is not a library, though it is longer than a library's head\n", out);
    for (int c; good && (c = getc(in)) != EOF;)
        putc(c, out);
    fclose(in);
    assert_int_equal(fclose(out), 0);
    return path;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int set_up(void **unused) {
    (void)unused;
    static const char *const cleared[] = {"CUDA_PATH", "CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX",
                                          "SG_TEST_LIBRARY"};
    strcpy(root + strlen(root) - 6, "XXXXXX");
    if (mkdtemp(root) == NULL)
        return 1;
    for (size_t i = 0; i < sizeof cleared / sizeof *cleared; i++)
        unsetenv(cleared[i]);
    setenv("HOME", root, 1);
    return 0;
}

static int tear_down(void **unused) {
    (void)unused;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- looking ------------------------------------------------------------------------------- */

typedef struct look {
    const library_wanted *wanted;
    const char *path, *conf;
    bool found;
    library library;
    const char *why;
} look;

static void search(job *j, void *argument) {
    look *l = argument;
    l->found = library_open(j, l->wanted, l->path, &l->library, &l->why);
}

static void search_files(job *j, void *argument) {
    look *l = argument;
    l->found = library_find(j, l->wanted, l->path, l->conf, &l->library);
}

/* Looking at files alone: it opens none of them. */
static void expect_file(const library_wanted *wanted, const char *given, const char *conf,
                        const char *path, const char *reason) {
    look l = {.wanted = wanted, .path = given, .conf = conf};
    job *j;
    assert_int_equal(job_run(&allocator_libc, search_files, &l, &j), FAULT_NONE);
    assert_int_equal(l.found, path != NULL);
    if (l.found) {
        assert_null(l.library.handle);
        assert_string_equal(l.library.path, path);
        assert_string_equal(l.library.reason, reason);
        assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
    }
    job_end(j);
}

static void find_as(const library_wanted *wanted, const char *given, const char *path,
                    const char *reason) {
    look l = {.wanted = wanted, .path = given};
    job *j;
    if (path != NULL)
        expect_file(wanted, given, loader_conf, path, reason);
    assert_int_equal(job_run(&allocator_libc, search, &l, &j), FAULT_NONE);
    if (!l.found)
        fail_msg("%s", l.why);
    assert_string_equal(l.library.reason, reason);
    if (path != NULL)
        assert_string_equal(l.library.path, path);
    assert_non_null(library_symbol(&l.library, wanted->symbols[0]));
    assert_null(library_symbol(&l.library, "no_such_function"));
    dlclose(l.library.handle); /* so that no later test finds it loaded */
    job_end(j);
}

static void miss(const library_wanted *wanted, const char *given, const char *expected) {
    look l = {.wanted = wanted, .path = given};
    job *j;
    assert_int_equal(job_run(&allocator_libc, search, &l, &j), FAULT_NONE);
    assert_false(l.found);
    if (strstr(l.why, expected) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", expected, l.why);
    job_end(j);
}

/* ---- the steps ----------------------------------------------------------------------------- */

static void check_given(void **unused) {
    (void)unused;
    char *path = lay_out(root, "given", "other.name", true);
    char *broken = lay_out(root, "given", "broken.so", false);
    find_as(&test_library, path, path, "given by the caller");
    setenv("SG_TEST_LIBRARY", path, 1);
    find_as(&test_library, NULL, path, "given by SG_TEST_LIBRARY");
    find_as(&test_library, "", path, "given by SG_TEST_LIBRARY");
    /* What is given must work, even where a search would find another. */
    char *home = lay_out(root, "lib64", "libsgtest.so", true);
    setenv("CUDA_HOME", root, 1);
    setenv("SG_TEST_LIBRARY", broken, 1);
    miss(&test_library, NULL, "the test library as given by SG_TEST_LIBRARY cannot be used");
    miss(&test_library, NULL, broken);
    find_as(&test_library, path, path, "given by the caller");
    setenv("SG_TEST_LIBRARY", "none", 1);
    miss(&test_library, NULL, "the test library is switched off by SG_TEST_LIBRARY");
    miss(&test_library, "libsgtest-nowhere.so", "the system's loader does not know");
    setenv("SG_TEST_LIBRARY", "", 1);
    find_as(&test_library, NULL, home, "found under CUDA_HOME");
    free(path);
    free(broken);
    free(home);
}

static void check_loaded(void **unused) {
    (void)unused;
    static const char *const loaded[] = {"libc.so.6", NULL}, *const functions[] = {"malloc", NULL};
    library_wanted libc = test_library;
    libc.names = loaded;
    libc.symbols = functions;
    char *path = lay_out(root, "lib64", "libc.so.6", true);
    setenv("CUDA_HOME", root, 1); /* comes later in the order */
    find_as(&libc, NULL, NULL, "already loaded by this process");
    look l = {.wanted = &libc, .conf = "/dev/null"};
    job *j;
    assert_int_equal(job_run(&allocator_libc, search_files, &l, &j), FAULT_NONE);
    assert_true(l.found);
    assert_string_equal(l.library.reason, "already loaded by this process");
    assert_non_null(strstr(l.library.path, "libc"));
    assert_string_not_equal(l.library.path, path);
    job_end(j);
    free(path);
}

/* The file of a library that the system's loader finds; the caller frees it. */
static char *system_file(const library_wanted *wanted) {
    look l = {.wanted = wanted, .conf = loader_conf};
    job *j;
    assert_int_equal(job_run(&allocator_libc, search_files, &l, &j), FAULT_NONE);
    assert_true(l.found);
    assert_string_equal(l.library.reason, "found by the system's loader");
    char *path = realpath(l.library.path, NULL);
    assert_non_null(path);
    job_end(j);
    return path;
}

static void check_system(void **unused) {
    (void)unused;
    /* Part of glibc, and not loaded by any test. */
    static const char *const unloaded[] = {"libBrokenLocale.so.1", NULL};
    static const char *const functions[] = {"malloc", NULL}; /* found through what it needs */
    library_wanted system = test_library;
    system.names = unloaded;
    system.symbols = functions;
    char *path = lay_out(root, "lib/python3.11/site-packages/nvidia/a/lib", unloaded[0], true);
    setenv("VIRTUAL_ENV", root, 1); /* comes later in the order */
    char *file = system_file(&system);
    assert_null(dlopen(unloaded[0], RTLD_NOW | RTLD_NOLOAD));
    find_as(&system, NULL, NULL, "found by the system's loader");
    look l = {.wanted = &system};
    job *j;
    assert_int_equal(job_run(&allocator_libc, search, &l, &j), FAULT_NONE);
    char *opened = realpath(l.library.path, NULL);
    assert_string_equal(opened, file);
    dlclose(l.library.handle);
    job_end(j);
    free(opened);
    free(file);
    free(path);
}

static void check_folders(void **unused) {
    (void)unused;
    static const struct {
        const char *folder, *variable, *reason;
    } steps[] = {
        /* The later ones of the order first, so that each is found though those before it exist. */
        {".local/lib/python3.9/site-packages/nvidia/cu13/lib", NULL,
         "found among the user's Python packages"},
        {"lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib", "CONDA_PREFIX",
         "found among the Python packages of CONDA_PREFIX"},
        {"lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib", "VIRTUAL_ENV",
         "found among the Python packages of VIRTUAL_ENV"},
        {"targets/some-linux/lib", "CUDA_HOME", "found under CUDA_HOME"},
        {"lib", "CUDA_HOME", "found under CUDA_HOME"},
        {"lib64", "CUDA_HOME", "found under CUDA_HOME"},
        {"lib64", "CUDA_PATH", "found under CUDA_PATH"},
    };
    miss(&test_library, NULL, "the test library was not found: write one");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        free(lay_out(root, steps[i].folder, "libsgtest.so", true));
        if (steps[i].variable != NULL)
            setenv(steps[i].variable, root, 1);
        char *better = lay_out(root, steps[i].folder, "libsgtest.so.2", true);
        find_as(&test_library, NULL, better, steps[i].reason);
        free(better);
        library_wanted plain = test_library;
        plain.toolkit = false;
        miss(&plain, NULL, "the test library was not found: write one");
    }
}

/* Finds a library at a place seen from this program, whose folders up to `depth` are the test's. */
static void find_fetched(const char *above, int depth) {
    char *self = realpath("/proc/self/exe", NULL);
    assert_non_null(self);
    *strrchr(self, '/') = '\0';
    char *folder = print("%scuda/nvidia/sgtest%ld/lib", above, (long)getpid());
    char *path = lay_out(self, folder, "libsgtest.so", true);
    find_as(&test_library, NULL, path, "fetched by setup.sh");
    assert_int_equal(remove(path), 0);
    /* Folders in which other things lie, such as setup.sh's, stay. */
    for (int up = 0; up < depth; up++) {
        *strrchr(path, '/') = '\0';
        if (rmdir(path) != 0)
            break;
    }
    free(path);
    free(folder);
    free(self);
}

static void check_fetched(void **unused) {
    (void)unused;
    find_fetched("", 4);
    find_fetched("stencilgen/", 5);
    find_fetched("../lib/stencilgen/", 6);
    find_fetched("../lib64/stencilgen/", 6);
}

/* The path of the folder `cuda` next to a program; the caller frees it. */
static char *fetched_beside(const char *program) {
    char *folder = print("%.*s/cuda", (int)(strrchr(program, '/') - program), program);
    char *whole = realpath(folder, NULL);
    free(folder);
    return whole;
}

/* What setup.sh fetched for the command is there for the tests too. */
static void check_tests_find_fetched(void **unused) {
    (void)unused;
    const char *command = getenv("STENCILGEN");
    if (command == NULL)
        skip();
    char *self = realpath("/proc/self/exe", NULL);
    assert_non_null(self);
    char *here = fetched_beside(self), *there = fetched_beside(command);
    assert_non_null(here);
    assert_non_null(there);
    assert_string_equal(here, there);
    free(here);
    free(there);
    free(self);
}

static void check_passed_over(void **unused) {
    (void)unused;
    char *broken = lay_out(root, "lib64", "libsgtest.so.2", false);
    setenv("CUDA_PATH", root, 1);
    miss(&test_library, NULL, "the test library was not found (passed over: ");
    miss(&test_library, NULL, broken);
    char *good = lay_out(root, "lib64", "libsgtest.so", true);
    find_as(&test_library, NULL, good, "found under CUDA_PATH");
    static const char *const missing[] = {"fake_cuda", "from_a_later_release", NULL};
    library_wanted later = test_library;
    later.symbols = missing;
    miss(&later, good, "is too old or another library: it has no from_a_later_release");
    free(broken);
    free(good);
}

/* ---- ld.so.conf ---------------------------------------------------------------------------- */

/* Where such a file leads, in the order of the names and then of the folders. */
static void check_conf_leads(void **unused) {
    (void)unused;
    unsetenv("LD_LIBRARY_PATH");
    char *conf = print("%s/ld.so.conf", root);
    FILE *f = fopen(conf, "w");
    assert_non_null(f);
    fprintf(f, "%s/one\n%s/two\n", root, root);
    assert_int_equal(fclose(f), 0);
    expect_file(&test_library, NULL, conf, NULL, NULL);
    char *other = lay_out(root, "one", "libsgtest.so", true);
    expect_file(&test_library, NULL, conf, other, "found by the system's loader");
    expect_file(&test_library, "libsgtest.so", conf, other, "given by the caller");
    expect_file(&test_library, "libabsent.so", conf, NULL, NULL);
    char *better = lay_out(root, "two", "libsgtest.so.2", true);
    expect_file(&test_library, NULL, conf, better, "found by the system's loader");
    char *broken = lay_out(root, "one", "libsgtest.so.2", false);
    expect_file(&test_library, NULL, conf, better, "found by the system's loader");
    free(conf);
    free(other);
    free(better);
    free(broken);
}

static void preload(job *j, void *argument) {
    look *l = argument;
    assert_true(library_open(j, l->wanted, l->path, &l->library, &l->why));
    library_preload_beside(j, &l->library, "libsgbeside.so.1");
    library_preload_beside(j, &l->library, "libsgabsent.so.1");
}

static void check_preload(void **unused) {
    (void)unused;
    char *path = lay_out(root, "lib", "libsgtest.so", true);
    char *beside = lay_out(root, "lib", "libsgbeside.so.1", true);
    look l = {.wanted = &test_library, .path = path};
    job *j;
    assert_null(dlopen(beside, RTLD_NOW | RTLD_NOLOAD));
    assert_int_equal(job_run(&allocator_libc, preload, &l, &j), FAULT_NONE);
    assert_non_null(dlopen(beside, RTLD_NOW | RTLD_NOLOAD));
    job_end(j);
    free(path);
    free(beside);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
static const struct CMUnitTest tests[] = {
    TEST(check_given),       TEST(check_loaded),  TEST(check_system),
    TEST(check_folders),     TEST(check_fetched), TEST(check_tests_find_fetched),
    TEST(check_passed_over), TEST(check_preload), TEST(check_conf_leads),
};

TEST_GROUP(loader, NULL, NULL)
