/* Databases that cannot be used: of another version, of another program, in the way, locked,
   read-only, on a full disk. They are left alone; a lookup does without and warns once, and
   storing reports the fault. */
#define _GNU_SOURCE /* unshare */
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "tests/unit/group.h"
#include "tests/unit/runtime/store/results_user.h"

/* ---- not ours ------------------------------------------------------------------------------ */

/* Nothing is stored, and what is there stays as it is. */
static void expect_refused(const char *says) {
    char *folder = scratch_path("stencilgen");
    const int files = count_files(folder, "");
    assert_true(finds(&s, &p, NULL));
    expect_warning(&s, 1, says);
    assert_int_equal(put(&s, &p, "new", 5), FAULT_IO);
    expect_error(&s, "tuning results cannot be kept: ");
    expect_error(&s, says);
    assert_int_equal(count_files(folder, ""), files);
    assert_string_equal(examine(&s).trouble, strstr(s.error, ": it ") != NULL
                                                 ? strstr(s.error, ": it ") + 2
                                                 : strstr(s.error, "kept: ") + 6);
    free(folder);
}

static void test_a_newer_version(void **state) {
    (void)state;
    put(&s, &p, "plan", 1);
    reopen();
    run_sql(s.path, "PRAGMA user_version = 99; CREATE TABLE more (x)");
    static content before, after;
    read_content(s.path, &before);
    expect_refused("a newer version of stencilgen made it (version 99 of its tables");
    read_content(s.path, &after);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.bytes, after.bytes, before.size);
}

static void test_another_programs(void **state) {
    (void)state;
    char *folder = scratch_path("stencilgen");
    mkdir(folder, 0700);
    free(folder);
    run_sql(s.path, "CREATE TABLE history (url TEXT)");
    chmod(s.path, 0600);
    expect_refused("it is another program's database");
}

static void test_a_folder_in_its_place(void **state) {
    (void)state;
    fill();
    unlink(s.path);
    mkdir(s.path, 0700);
    expect_refused("it is a folder");
}

static void test_a_link_in_its_place(void **state) {
    (void)state;
    fill();
    char *other = scratch_path("other.db");
    rename(s.path, other);
    assert_int_equal(symlink(other, s.path), 0);
    free(other);
    expect_refused("it is a symbolic link");
}

static void test_a_pipe_in_its_place(void **state) {
    (void)state;
    fill();
    unlink(s.path);
    assert_int_equal(mkfifo(s.path, 0600), 0);
    assert_int_equal(put(&s, &p, "new", 5), FAULT_IO);
    expect_error(&s, "it is no regular file");
}

static void test_open_to_all(void **state) {
    (void)state;
    fill();
    chmod(s.path, 0666);
    expect_refused("others may write to it; chmod go-w cures that");
}

/* A file that was named by mistake is not moved. */
static void test_a_file_that_was_given(void **state) {
    (void)state;
    scene given;
    scene_open(&given, "thesis.txt");
    write_content(given.path, "Chapter 1\n", 10);
    assert_true(finds(&given, &p, NULL));
    expect_warning(&given, 1, "it is no database");
    assert_int_equal(put(&given, &p, "new", 5), FAULT_IO);
    expect_error(&given, "it is no database");
    assert_int_equal(count_files(scratch_root, ""), 1);
    static content after;
    read_content(given.path, &after);
    assert_int_equal(after.size, 10);
    scene_close(&given);
}

/* One of ours is set aside there as well. */
static void test_a_database_that_was_given(void **state) {
    (void)state;
    scene given;
    scene_open(&given, "own.db");
    for (int i = 0; i < 50; i++) {
        char plan[32];
        sprintf(plan, "plan %d", i);
        assert_int_equal(put(&given, &p, plan, 1), FAULT_NONE);
    }
    scene_close(&given);
    scene_open(&given, "own.db");
    assert_int_equal(truncate(given.path, 3 * PAGE), 0);
    assert_int_equal(put(&given, &p, "new", 5), FAULT_NONE);
    expect_warning(&given, 1, "own.db.damaged-1");
    scene_close(&given);
}

/* ---- locked, read-only, full --------------------------------------------------------------- */

static void test_locked(void **state) {
    (void)state;
    fill();
    sqlite3 *other;
    assert_int_equal(sqlite3_open(s.path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    results_wait(s.results, 20, 50);
    assert_true(finds(&s, &p, "plan 0")); /* readers wait for nobody */
    assert_int_equal(put(&s, &p, "new", 0.5), FAULT_IO);
    expect_error(&s, "another process keeps it locked");
    assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(put(&s, &p, "new", 0.5), FAULT_NONE);
    /* No process of ours takes it for itself; then a build goes without, in no time. */
    reopen();
    assert_int_equal(
        sqlite3_exec(other, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL),
        SQLITE_OK);
    results_wait(s.results, 20, 50);
    sqlite3_close(other);
    assert_true(finds(&s, &p, "new"));
    assert_int_equal(aside(), 0);
}

static int hold_folder(void *argument) {
    (void)argument;
    char *folder = scratch_path("stencilgen");
    const int file = open(folder, O_RDONLY | O_DIRECTORY);
    CHECK(flock(file, LOCK_EX) == 0);
    char *ready = scratch_path("ready");
    close(open(ready, O_WRONLY | O_CREAT, 0600));
    pause();
    return 0;
}

static void test_a_folder_that_is_held(void **state) {
    (void)state;
    fill();
    char *ready = scratch_path("ready");
    const pid_t child = start_child(hold_folder, NULL);
    while (access(ready, F_OK) != 0)
        usleep(1000);
    results_wait(s.results, 5, 20);
    assert_true(finds(&s, &p, NULL));
    expect_warning(&s, 1, "another process keeps it locked");
    assert_int_equal(put(&s, &p, "new", 0.5), FAULT_IO);
    expect_error(&s, "another process keeps it locked");
    kill(child, SIGKILL);
    wait_for(child);
    assert_int_equal(put(&s, &p, "new", 0.5), FAULT_NONE);
    free(ready);
}

/* In a child of the user `nobody`, to whom the modes of files apply. */
static int read_as_nobody(void *unused) {
    (void)unused;
    CHECK(geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    scene_open_at(&s, NULL);
    s.path = scratch_path("stencilgen/results.db");
    CHECK(finds(&s, &p, "plan 0"));
    CHECK(s.warnings == 0);
    const results_facts f = examine(&s);
    CHECK(f.results == 100);
    CHECK(f.trouble != NULL && strstr(f.trouble, "read-only") != NULL);
    CHECK(put(&s, &p, "new", 0.5) == FAULT_IO);
    CHECK(strstr(s.error, "tuning results cannot be kept: it or its folder is read-only, so the "
                          "file cannot be written") != NULL);
    CHECK(finds(&s, &p, "plan 0"));
    scene_close(&s);
    return 0;
}

/* A database of the administrator's, for all users of a machine. */
static void test_read_only_folder(void **state) {
    (void)state;
    fill();
    char *folder = scratch_path("stencilgen");
    chmod(s.path, 0444);
    chmod(folder, 0555);
    char *path = s.path;
    s.path = NULL;
    scene_close(&s);
    s.path = path;
    assert_int_equal(in_child(read_as_nobody, NULL), 0);
    chmod(folder, 0700);
    free(folder);
    free(s.path);
    scene_open_at(&s, NULL);
    s.path = scratch_path("stencilgen/results.db");
}

static void mount_small(void) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", scratch_root, "tmpfs", 0, "size=2m,mode=0755") != 0)
        _exit(77);
}

static int fill_disk(void *unused) {
    (void)unused;
    mount_small();
    scene_open_at(&s, NULL);
    fault f = FAULT_NONE;
    int kept = 0;
    for (; kept < 10000 && f == FAULT_NONE; kept++) {
        char plan[300];
        sprintf(plan, "%0290d", kept);
        f = put(&s, &p, plan, 1 + kept);
    }
    CHECK(f == FAULT_IO);
    CHECK(strstr(s.error, "results.db: error: tuning results cannot be kept: ") != NULL);
    CHECK(strstr(s.error, "full") != NULL || strstr(s.error, "No space") != NULL);
    CHECK(kept > 20);
    CHECK(find(&s, &p).how == RESULT_EXACT);
    scene_close(&s);
    scene_open_at(&s, NULL);
    CHECK(find(&s, &p).how == RESULT_EXACT);
    CHECK(s.warnings == 0);
    scene_close(&s);
    return 0;
}

static void test_full_disk(void **state) {
    (void)state;
    const int code = in_child(fill_disk, NULL);
    if (code == 77)
        skip();
    assert_int_equal(code, 0);
}

/* A limit on the size of files is an error like a full disk, and no end of the process. */
static int store_limited(void *unused) {
    (void)unused;
    const struct rlimit limit = {200000, 200000};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    scene_open_at(&s, NULL);
    int failures = 0;
    for (int i = 0; i < 3000 && failures < 3; i++)
        failures += put(&s, &p, "another plan", 0.5) == FAULT_IO;
    CHECK(failures == 3);
    CHECK(finds(&s, &p, "another plan") || s.warnings > 0);
    scene_close(&s);
    return 0;
}

static void test_limited_files(void **state) {
    (void)state;
    fill();
    assert_int_equal(in_child(store_limited, NULL), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_a_newer_version),
    IN_FOLDER(test_another_programs),
    IN_FOLDER(test_a_folder_in_its_place),
    IN_FOLDER(test_a_link_in_its_place),
    IN_FOLDER(test_a_pipe_in_its_place),
    IN_FOLDER(test_open_to_all),
    IN_FOLDER(test_a_file_that_was_given),
    IN_FOLDER(test_a_database_that_was_given),
    IN_FOLDER(test_locked),
    IN_FOLDER(test_a_folder_that_is_held),
    IN_FOLDER(test_read_only_folder),
    IN_FOLDER(test_full_disk),
    IN_FOLDER(test_limited_files),
};

TEST_GROUP(refused, NULL, NULL)
