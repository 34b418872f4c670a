/* Which of the cpu device's scratch folders a sweep removes, and what it leaves alone. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/compile/cpu_scratch_scene.h"

#include <signal.h>
#include <time.h>

enum { DAY = 86400 };

/* ---- what a sweep removes ------------------------------------------------------------------- */

/* A folder as a process leaves it that was killed. */
static char *left_behind(void) {
    char *name = malloc(PENDING_NAME);
    scratch_begin(name);
    sprintf(name + SCRATCH_BEGIN, "abc%03d", count_files(scratch_root, ""));
    make_folder(name);
    lay(name, SCRATCH_SOURCE, "text");
    lay(name, "cca1B2c3.s", "text");
    lay(name, "kernel-0a1b2c.o", "text");
    return name;
}

static void make_old(const char *name, long seconds) {
    char *path = scratch_path(name);
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
    free(path);
}

/* Whoever calls a folder what they like keeps it, however old it is. */
static void test_folders_of_users_stay(void **state) {
    (void)state;
    static const char *const names[] = {
        "stencilgen-backup",         "stencilgen-master",
        "stencilgen-abcdef",         "stencilgen-scratch",
        "stencilgen-scratch-backup", "stencilgen-scratch-results",
        "stencilgen-scratch-a23456", "stencilgen-scratch-my-files-of-2026"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        make_folder(names[i]);
        lay(names[i], SCRATCH_SOURCE, "precious");
        make_old(names[i], 2 * DAY);
    }
    sweep_by_opening();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_true(is_there(names[i], SCRATCH_SOURCE));
    assert_int_equal(count_files(scratch_root, ""), sizeof names / sizeof names[0]);
}

static void test_left_behind_goes_at_once(void **state) {
    (void)state;
    free(left_behind());
    free(left_behind());
    sweep_by_opening();
    assert_int_equal(count_files(scratch_root, ""), 0);
}

/* Also where all else says that the folder is ours. */
static void test_anything_else_in_it_keeps_it(void **state) {
    (void)state;
    char *name = left_behind();
    lay(name, "notes.txt", "precious");
    sweep_by_opening();
    assert_true(is_there(name, "notes.txt") && is_there(name, SCRATCH_SOURCE));
    free(name);
}

static void rename_to(const char *name, const char *other) {
    char *from = scratch_path(name), *to = scratch_path(other);
    assert_int_equal(rename(from, to), 0);
    free(from);
    free(to);
}

static void test_renamed_linked_and_opened_to_others(void **state) {
    (void)state;
    char *name = left_behind(), *open_to_all = left_behind(), *path = scratch_path(open_to_all);
    rename_to(name, "stencilgen-scratch-backup");
    chmod(path, 0755);
    char *linked = left_behind(), *link = scratch_path("stencilgen-scratch-linked");
    rename_to(linked, "elsewhere");
    assert_int_equal(symlink("elsewhere", link), 0);
    sweep_by_opening();
    assert_true(is_there("stencilgen-scratch-backup", SCRATCH_SOURCE));
    assert_true(is_there(open_to_all, SCRATCH_SOURCE));
    assert_true(is_there("elsewhere", SCRATCH_SOURCE));
    free(name);
    free(open_to_all);
    free(path);
    free(linked);
    free(link);
}

/* Locks of another machine, which shares the file system, may not be seen. */
static void test_of_another_machine(void **state) {
    (void)state;
    char *fresh = left_behind(), *old = left_behind();
    char *names[] = {fresh, old};
    for (int i = 0; i < 2; i++) {
        char was[PENDING_NAME];
        strcpy(was, names[i]);
        names[i][SCRATCH_BEGIN - 2] ^= 1; /* another start of another machine */
        rename_to(was, names[i]);
    }
    make_old(old, 2 * DAY);
    sweep_by_opening();
    assert_true(is_there(fresh, SCRATCH_SOURCE));
    assert_false(is_there(old, ""));
    free(fresh);
    free(old);
}

static void hold_open(job *j, void *unused) {
    (void)unused;
    scratch_place here = {.cache = NULL};
    const scratch *s = scratch_open(j, &here);
    scratch_write(j, s, SCRATCH_SOURCE, &(scratch_piece){"text", 4}, 1);
    kill(getppid(), SIGUSR1);
    for (;;)
        pause();
}

static int hold_in_child(void *unused) {
    (void)unused;
    job *j;
    return job_run(&allocator_libc, hold_open, NULL, &j);
}

static void test_in_use_stays(void **state) {
    (void)state;
    sigset_t told, before;
    sigemptyset(&told);
    sigaddset(&told, SIGUSR1);
    sigprocmask(SIG_BLOCK, &told, &before);
    const pid_t child = start_child(hold_in_child, NULL);
    const int number = sigwaitinfo(&told, NULL);
    assert_int_equal(number, SIGUSR1);
    DIR *listing = opendir(scratch_root);
    char name[256] = "";
    for (const struct dirent *e; (e = readdir(listing)) != NULL;)
        if (strncmp(e->d_name, SCRATCH_PREFIX, strlen(SCRATCH_PREFIX)) == 0)
            strcpy(name, e->d_name);
    closedir(listing);
    make_old(name, 10 * DAY);
    sweep_by_opening();
    assert_true(is_there(name, SCRATCH_SOURCE));
    kill(child, SIGKILL);
    assert_int_equal(wait_for(child), 128 + SIGKILL);
    sweep_by_opening();
    assert_int_equal(count_files(scratch_root, ""), 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_folders_of_users_stay),
    IN_FOLDER(test_left_behind_goes_at_once),
    IN_FOLDER(test_anything_else_in_it_keeps_it),
    IN_FOLDER(test_renamed_linked_and_opened_to_others),
    IN_FOLDER(test_of_another_machine),
    IN_FOLDER(test_in_use_stays),
};

TEST_GROUP(scratch, NULL, NULL)
