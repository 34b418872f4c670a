/* Databases that are not what they should be: damaged, of another version, of another program, in
   the way, locked, read-only, on a full disk. A lookup goes without and says so once; storing sets
   aside what is damaged, leaves alone what is not ours, and says what is wrong. */
#define _GNU_SOURCE /* unshare */
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>

#include "tests/unit/results_scene.h"

enum { PAGE = 4096 };
static scene s;
static result_place p;

static int enter(void **state) {
    if (scratch_enter(state) != 0)
        return -1;
    setenv("XDG_DATA_HOME", scratch_root, 1);
    unsetenv("SG_DATABASE");
    p = place_of(64, 64, 64);
    scene_open_at(&s, NULL);
    s.path = scratch_path("stencilgen/results.db");
    return 0;
}

static int leave(void **state) {
    scene_close(&s);
    return scratch_leave(state);
}

/* As another process would. */
static void reopen(void) {
    char *path = s.path;
    s.path = NULL;
    scene_close(&s);
    scene_open_at(&s, NULL);
    s.path = path;
}

/* Many plans, so that there is more than one page of them; all in the file and none in its log. */
static void fill(void) {
    for (int i = 0; i < 100; i++) {
        char plan[32];
        sprintf(plan, "plan %d", i);
        assert_int_equal(put(&s, &p, plan, 1 + i), FAULT_NONE);
    }
    reopen();
    assert_true(finds(&s, &p, "plan 0"));
    reopen();
}

static int aside(void) {
    char *folder = scratch_path("stencilgen");
    const int count = count_files(folder, "results.db.damaged-");
    free(folder);
    return count;
}

/* Two lookups find nothing and warn once; what is stored then begins a new database. */
static void expect_set_aside(const char *says) {
    assert_true(finds(&s, &p, NULL));
    expect_warning(&s, 1, says);
    assert_non_null(strstr(s.last, "are not used: "));
    assert_true(finds(&s, &p, NULL));
    assert_int_equal(s.warnings, 1);
    assert_int_equal(aside(), 0);
    result_rows rows;
    assert_int_equal(list(&s, (result_filter){0}, &rows), FAULT_IO);
    expect_error(&s, "tuning results cannot be read: ");
    assert_int_equal(put(&s, &p, "new", 5), FAULT_NONE);
    expect_warning(&s, 2, "was set aside as ");
    assert_non_null(strstr(s.last, "results.db.damaged-1 and a new one begun"));
    assert_int_equal(aside(), 1);
    assert_true(finds(&s, &p, "new"));
    assert_int_equal(count_rows(&s, (result_filter){0}), 1);
    assert_int_equal(s.warnings, 2);
}

/* ---- damage -------------------------------------------------------------------------------- */

static void test_garbage(void **state) {
    (void)state;
    fill();
    char *noise = malloc(3 * PAGE);
    for (int i = 0; i < 3 * PAGE; i++)
        noise[i] = (char)(i * 2654435761u >> 11);
    write_content(s.path, noise, 3 * PAGE);
    free(noise);
    expect_set_aside("it is no database");
}

static void test_a_few_bytes(void **state) {
    (void)state;
    fill();
    write_content(s.path, "SQLite", 6);
    expect_set_aside("it is no database");
}

static void test_cut_off(void **state) {
    (void)state;
    fill();
    assert_int_equal(truncate(s.path, 2 * PAGE), 0);
    expect_set_aside("malformed");
}

static void test_an_empty_file_is_a_new_one(void **state) {
    (void)state;
    fill();
    assert_int_equal(truncate(s.path, 0), 0);
    assert_true(finds(&s, &p, NULL));
    assert_int_equal(put(&s, &p, "new", 1), FAULT_NONE);
    assert_int_equal(s.warnings, 0);
    assert_int_equal(aside(), 0);
}

/* Pages in the middle: what a lookup comes across, or a look through all of it. */
static void test_pages_of_noise(void **state) {
    (void)state;
    fill();
    struct stat facts;
    assert_int_equal(stat(s.path, &facts), 0);
    const int file = open(s.path, O_WRONLY);
    unsigned char noise[PAGE];
    memset(noise, 0xa5, sizeof noise);
    for (off_t at = PAGE; at < facts.st_size; at += PAGE)
        assert_int_equal(pwrite(file, noise, PAGE, at), PAGE);
    close(file);
    expect_set_aside("malformed");
}

static void test_tables_that_are_missing(void **state) {
    (void)state;
    fill();
    run_sql(s.path, "DROP TABLE result");
    assert_true(finds(&s, &p, NULL));
    assert_int_equal(s.warnings, 1);
    assert_int_equal(put(&s, &p, "new", 5), FAULT_NONE);
    expect_warning(&s, 2, "its tables are not what they were");
    assert_true(finds(&s, &p, "new"));
    assert_int_equal(aside(), 1);
}

/* While it is connected to: what is in memory may hide it for a while, and nothing is lost but what
   was damaged. */
static void test_damaged_while_open(void **state) {
    (void)state;
    fill();
    assert_int_equal(put(&s, &p, "before", 0.5), FAULT_NONE);
    const int file = open(s.path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(file, "none of it", 10), 10);
    close(file);
    assert_int_equal(put(&s, &p, "after", 0.25), FAULT_NONE);
    reopen();
    assert_int_equal(put(&s, &p, "later", 0.125), FAULT_NONE);
    assert_true(finds(&s, &p, "later"));
}

static void test_removed_while_open(void **state) {
    (void)state;
    fill();
    assert_int_equal(put(&s, &p, "before", 1), FAULT_NONE);
    char command[4200];
    sprintf(command, "rm -r %s/stencilgen", scratch_root);
    assert_int_equal(system(command), 0);
    assert_true(finds(&s, &p, NULL));
    assert_int_equal(put(&s, &p, "after", 1), FAULT_NONE);
    assert_int_equal(count_rows(&s, (result_filter){0}), 1);
    assert_int_equal(s.warnings, 0);
}

static void test_set_aside_twice(void **state) {
    (void)state;
    for (int i = 1; i <= 2; i++) {
        fill();
        write_content(s.path, "noise", 5);
        assert_int_equal(put(&s, &p, "new", 5), FAULT_NONE);
        assert_int_equal(aside(), i);
        reopen();
    }
}

/* A row that says nonsense is no reason to fail. */
static void test_rows_of_nonsense(void **state) {
    (void)state;
    fill();
    run_sql(
        s.path,
        "UPDATE result SET state = x'00ff', plan = plan || x'80', seconds = 'text', median = 'x';"
        "UPDATE place SET size = '1x2x3x4x5x6x7x8x9', steps = 'many'");
    assert_true(finds(&s, &p, NULL));
    result_rows rows;
    run_sql(s.path, "DELETE FROM result WHERE id > 1");
    assert_int_equal(list(&s, (result_filter){0}, &rows), FAULT_NONE);
    assert_int_equal(rows.list[0].result.state, RESULT_FAILED);
    run_sql(s.path, "UPDATE place SET size = '64x99999999999999999999x1'");
    assert_true(finds(&s, &p, NULL));
    run_sql(s.path, "UPDATE place SET size = '64x', steps = -5");
    assert_true(finds(&s, &p, NULL));
}

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

/* In a child that is nobody, for whom the modes of files count. */
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
    CHECK(strstr(s.error, "tuning results cannot be kept: ") != NULL);
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

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_garbage),
        IN_FOLDER(test_a_few_bytes),
        IN_FOLDER(test_cut_off),
        IN_FOLDER(test_an_empty_file_is_a_new_one),
        IN_FOLDER(test_pages_of_noise),
        IN_FOLDER(test_tables_that_are_missing),
        IN_FOLDER(test_damaged_while_open),
        IN_FOLDER(test_removed_while_open),
        IN_FOLDER(test_set_aside_twice),
        IN_FOLDER(test_rows_of_nonsense),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
