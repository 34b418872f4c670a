/* Where the system's loader looks: LD_LIBRARY_PATH, ld.so.conf with all that its form allows, and
   the usual folders. The files lie in a folder of the test's own. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/device/loader.h"
#include "tests/unit/group.h"

static char root[] = "/tmp/sg [conf]* XXXXXX"; /* with what has a meaning in patterns */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int set_up(void **unused) {
    (void)unused;
    strcpy(root + strlen(root) - 6, "XXXXXX");
    unsetenv("LD_LIBRARY_PATH");
    return mkdtemp(root) == NULL;
}

static int tear_down(void **unused) {
    (void)unused;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *in(job *j, const char *name) {
    return job_print(j, "%s/%s", root, name);
}

static const char *write_conf(job *j, const char *name, const char *content) {
    const char *path = in(j, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

/* `expected` ends with NULL, and the usual folders follow it. */
static void expect(job *j, const char *conf, const char *const *expected) {
    static const char *const usual[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib", NULL};
    const char *const *f = loader_folders(j, conf);
    for (; *expected != NULL; expected++, f++) {
        assert_non_null(*f);
        assert_string_equal(*f, *expected);
    }
    for (const char *const *u = usual; *u != NULL; u++, f++) {
        assert_non_null(*f);
        assert_string_equal(*f, *u);
    }
    assert_null(*f);
}

#define LIST(...)                                                                                  \
    (const char *const[]) {                                                                        \
        __VA_ARGS__, NULL                                                                          \
    }

static void lines(job *j, void *unused) {
    (void)unused;
    expect(j,
           write_conf(j, "ld.so.conf",
                      "# a comment\n\n  /first  # and one behind\n\t/second\t\r\n   \n"
                      "hwcap 1 nosegneg\nrelative\nincluded\n#/not\n/with spaces in it\n"
                      "/without/an/end"),
           LIST("/first", "/second", "/with spaces in it", "/without/an/end"));
    expect(j, write_conf(j, "empty", ""), LIST(NULL));
    expect(j, in(j, "absent"), LIST(NULL));
    expect(j, root, LIST(NULL)); /* a folder */
}

static void includes(job *j, void *unused) {
    (void)unused;
    write_conf(j, "part-b.conf", "/from/b\n");
    write_conf(j, "part-a.conf", "/from/a\ninclude deeper.conf\n/from/a/too\n");
    write_conf(j, "deeper.conf", "/deeper");
    /* One by its whole path: the name of the root means something else as a pattern. */
    char other[] = "/tmp/sg-conf-XXXXXX";
    const int file = mkstemp(other);
    assert_true(file >= 0);
    assert_int_equal(write(file, "/far\n", 5), 5);
    close(file);
    const char *text =
        job_print(j,
                  "include part-?.conf\n/between\n\tinclude nowhere/*.conf %s# more\n"
                  "include\tdeeper.conf  part-b.conf \ninclude \ninclude\n/last\n",
                  other);
    expect(j, write_conf(j, "ld.so.conf", text),
           LIST("/from/a", "/deeper", "/from/a/too", "/from/b", "/between", "/far", "/deeper",
                "/from/b", "/last"));
    remove(other);
}

/* A file that includes itself, and one that lists more than anyone has. */
static void limits(job *j, void *unused) {
    (void)unused;
    const char *const *f =
        loader_folders(j, write_conf(j, "ld.so.conf", "/a\ninclude ld.so.conf\n/b\n"));
    int count = 0;
    for (; f[count] != NULL; count++)
        assert_int_equal(f[count][0], '/');
    assert_in_range(count, 6, 100);
    f = loader_folders(j, write_conf(j, "ld.so.conf",
                                     "/a\ninclude ld.so.conf ld.so.conf ld.so.conf ld.so.conf\n"));
    for (count = 0; f[count] != NULL; count++)
        assert_int_equal(f[count][0], '/');
    assert_in_range(count, 6, 300);
}

static void library_path(job *j, void *unused) {
    (void)unused;
    const char *conf = write_conf(j, "ld.so.conf", "/listed\n");
    setenv("LD_LIBRARY_PATH", "/one:/two;:/three", 1);
    expect(j, conf, LIST("/one", "/two", ".", "/three", "/listed"));
    setenv("LD_LIBRARY_PATH", "", 1);
    expect(j, conf, LIST("/listed"));
    unsetenv("LD_LIBRARY_PATH");
}

static void matches(job *j, void *unused) {
    (void)unused;
    const char *b = write_conf(j, "b.x", ""), *a = write_conf(j, "a.x", "");
    const char *const *m = loader_matches(j, root, "/*.x");
    assert_string_equal(m[0], a);
    assert_string_equal(m[1], b);
    assert_null(m[2]);
    assert_null(loader_matches(j, root, "/*.y")[0]);
}

static void run(void (*body)(job *, void *)) {
    job *j;
    if (job_run(&allocator_libc, body, NULL, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

#define TEST(name)                                                                                 \
    static void check_##name(void **unused) {                                                      \
        (void)unused;                                                                              \
        run(name);                                                                                 \
    }
TEST(lines)
TEST(includes)
TEST(limits)
TEST(library_path)
TEST(matches)

#define ENTRY(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
static const struct CMUnitTest tests[] = {
    ENTRY(check_lines),        ENTRY(check_includes), ENTRY(check_limits),
    ENTRY(check_library_path), ENTRY(check_matches),
};

TEST_GROUP(loader_system, NULL, NULL)
