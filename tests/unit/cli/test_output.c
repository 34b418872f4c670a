/* Files that appear whole or not at all: what lies in the folder at each moment, and after a
 * signal. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "tests/unit/group.h"

/* Another call of the command, which does not know the files that came before. */
static output *begin(const char *path) {
    output_set alone = {0};
    output *o;
    output_begin(&o, &alone, path);
    return o;
}

static bool write_at_once(const char *path, const char *text) {
    output *o = begin(path);
    return o != NULL && output_finish(o, text, strlen(text));
}

typedef struct place {
    char folder[sizeof "/tmp/stencilgen-XXXXXX"];
    text path; /* of "file" in it */
} place;

static int make_place(void **state) {
    place *p = must_alloc(1, sizeof *p);
    memcpy(p->folder, "/tmp/stencilgen-XXXXXX", sizeof p->folder);
    if (mkdtemp(p->folder) == NULL)
        return -1;
    p->path = new_text();
    text_printf(&p->path, "%s/file", p->folder);
    *state = p;
    return 0;
}

static int remove_place(void **state) {
    place *p = *state;
    text command = new_text();
    text_printf(&command, "rm -rf %s", p->folder);
    const int code = system(command.data);
    free(p);
    return code;
}

static int count_files(const place *p) {
    int count = 0;
    DIR *folder = opendir(p->folder);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

static void expect_content(const char *path, const char *wanted) {
    char text[64] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, wanted);
}

static void test_appears_at_the_end(void **state) {
    const place *p = *state;
    output *o = begin(p->path.data);
    assert_non_null(o);
    assert_true(output_write(o, "new", 3));
    assert_int_not_equal(access(p->path.data, F_OK), 0);
    assert_int_equal(count_files(p), 1);
    assert_true(output_commit(o));
    expect_content(p->path.data, "new");
    assert_int_equal(count_files(p), 1);
}

static void test_leaves_the_old_file_when_dropped(void **state) {
    const place *p = *state;
    assert_true(write_at_once(p->path.data, "old"));
    output *o = begin(p->path.data);
    assert_true(output_write(o, "new", 3));
    output_drop(o);
    expect_content(p->path.data, "old");
    assert_int_equal(count_files(p), 1);
}

static void test_keeps_permissions(void **state) {
    const place *p = *state;
    struct stat status;
    const mode_t mask = umask(027);
    assert_true(write_at_once(p->path.data, "old"));
    umask(mask);
    assert_int_equal(stat(p->path.data, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(chmod(p->path.data, 0604), 0);
    assert_true(write_at_once(p->path.data, "new"));
    assert_int_equal(stat(p->path.data, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0604);
}

static void test_writes_through_a_link(void **state) {
    const place *p = *state;
    text link = new_text();
    struct stat status;
    text_printf(&link, "%s/link", p->folder);
    assert_true(write_at_once(p->path.data, "old"));
    assert_int_equal(symlink("file", link.data), 0);
    assert_true(write_at_once(link.data, "new"));
    expect_content(p->path.data, "new");
    assert_int_equal(lstat(link.data, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

/* The error would be printed, which is noise here. */
static void hush(void) {
    const int nowhere = open("/dev/null", O_WRONLY);
    assert_true(nowhere >= 0);
    dup2(nowhere, STDERR_FILENO);
}

static void test_fails_without_a_trace(void **state) {
    const place *p = *state;
    const int error = dup(STDERR_FILENO);
    text path = new_text();
    hush();
    assert_null(begin(p->folder));
    text_printf(&path, "%s/none/file", p->folder);
    assert_null(begin(path.data));
    assert_false(write_at_once("/dev/full", "new"));
    dup2(error, STDERR_FILENO);
    close(error);
    assert_int_equal(count_files(p), 0);
}

/* Stopped by `number` between two writes. */
static void stop_child(const place *p, int number) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (number != 0)
            signal(number, SIG_DFL); /* under nohup it would be ignored */
        output_guard_signals();
        output_set all = {0};
        output *o, *other;
        text second = new_text();
        text_printf(&second, "%s/second", p->folder);
        if (output_begin(&other, &all, second.data) != 0 ||
            output_begin(&o, &all, p->path.data) != 0 || !output_write(o, "new", 3))
            _exit(1);
        if (number == 0)
            exit(0); /* as where memory ran out */
        raise(number);
        _exit(2);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), number);
}

static void test_signals_leave_nothing(void **state) {
    const place *p = *state;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, 0};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        stop_child(p, numbers[i]);
        assert_int_equal(count_files(p), 0);
    }
}

static void test_two_that_are_one(void **state) {
    const place *p = *state;
    const int error = dup(STDERR_FILENO);
    output_set all = {0};
    output *one, *other;
    text link = new_text();
    text_printf(&link, "%s/link", p->folder);
    assert_int_equal(symlink("file", link.data), 0);
    assert_int_equal(output_begin(&one, &all, p->path.data), 0);
    hush();
    assert_int_equal(output_begin(&other, &all, link.data), 2);
    assert_null(other);
    assert_true(output_finish(one, "new", 3));
    assert_int_equal(output_begin(&other, &all, link.data), 2); /* also when the first is written */
    dup2(error, STDERR_FILENO);
    close(error);
    expect_content(p->path.data, "new");
    assert_int_equal(count_files(p), 2);
    assert_int_equal(output_begin(&one, &all, "/dev/null"), 0);
    assert_int_equal(output_begin(&other, &all, "/dev/null"), 0);
    output_drop(one);
    output_drop(other);
}

static void test_paths(void **state) {
    (void)state;
    static const struct {
        const char *folder, *wanted;
    } cases[] = {{NULL, "a.cu"}, {"b", "b/a.cu"}, {"b/", "b/a.cu"}, {"/", "/a.cu"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = output_path(cases[i].folder, "a", ".cu");
        assert_string_equal(path, cases[i].wanted);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_appears_at_the_end, make_place, remove_place),
    cmocka_unit_test_setup_teardown(test_leaves_the_old_file_when_dropped, make_place,
                                    remove_place),
    cmocka_unit_test_setup_teardown(test_keeps_permissions, make_place, remove_place),
    cmocka_unit_test_setup_teardown(test_writes_through_a_link, make_place, remove_place),
    cmocka_unit_test_setup_teardown(test_fails_without_a_trace, make_place, remove_place),
    cmocka_unit_test_setup_teardown(test_signals_leave_nothing, make_place, remove_place),
    cmocka_unit_test_setup_teardown(test_two_that_are_one, make_place, remove_place),
    cmocka_unit_test(test_paths),
};

TEST_GROUP(output, NULL, NULL)
