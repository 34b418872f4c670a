/* The limits of the cache: its size, and what it does when the disk, the descriptors or the memory
   run out. */
#define _GNU_SOURCE /* unshare */
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <time.h>

#include "base/io.h"
#include "tests/unit/group.h"
#include "tests/unit/miser.h"
#include "tests/unit/runtime/cache/cache_scene.h"

enum { SMALL = 100 };

static scene s;

/* ---- size ---------------------------------------------------------------------------------- */

static const char large_text[50000];
enum { BIG = 10000, ENTRY = BIG + 200 }; /* an entry takes a little more than its binary */

static void test_least_recently_used_goes_first(void **state) {
    (void)state;
    scene_open(&s, "cache", 8 * ENTRY);
    for (int i = 1; i <= 8; i++) {
        put(&s, i, BIG);
        age(&s, i, 1000 - i);
    }
    assert_int_equal(list(&s, true).entries, 8);
    assert_int_equal(get(&s, 1, BIG), RIGHT); /* used now */
    age(&s, 5, 2000);
    put(&s, 9, BIG);
    /* Seven eighths stay, so that not every store has to make room. */
    for (int i = 1; i <= 9; i++)
        assert_int_equal(get(&s, i, BIG), i == 5 || i == 2 ? ABSENT : RIGHT);
    const sg_cache_info info = facts(&s);
    assert_int_equal(info.entries, 7);
    assert_int_equal(info.most_bytes, 8 * ENTRY);
    assert_true(info.bytes <= 7 * ENTRY && info.bytes > 7 * BIG);
    assert_int_equal(s.warnings, 0);
    scene_close(&s);
}

static void test_entries_near_the_limit(void **state) {
    (void)state;
    scene_open(&s, "cache", 2 * ENTRY);
    put(&s, 1, SMALL);
    assert_true(put(&s, 2, 2 * ENTRY - 150)); /* more than seven eighths: it stays alone */
    assert_int_equal(get(&s, 2, 2 * ENTRY - 150), RIGHT);
    assert_int_equal(list(&s, true).entries, 1);
    assert_int_equal(s.warnings, 0);
    assert_true(put(&s, 3, 2 * ENTRY)); /* too large: what is there stays */
    expect_warning(&s, 1, "number 3 is not cached: its 204");
    assert_int_equal(get(&s, 3, 2 * ENTRY), ABSENT);
    assert_int_equal(get(&s, 2, 2 * ENTRY - 150), RIGHT);
    scene_close(&s);
}

static void negative_size(job *j, void *unused) {
    (void)unused;
    cache_open(j, "/tmp", -1, NULL);
}

static void test_size_of_the_options(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, negative_size, NULL, &j), FAULT_USAGE);
    assert_non_null(strstr(job_error(j), "cache_bytes is -1"));
    job_end(j);
    scene_open(&s, "cache", 0);
    assert_int_equal(facts(&s).most_bytes, 512 << 20);
    scene_close(&s);
}

static void test_other_files_stay(void **state) {
    (void)state;
    scene_open(&s, "cache", 2 * ENTRY);
    put(&s, 1, BIG);
    static const char *const names[] = {"README", "0123.cubin", ".stencilgen", "note.so"};
    char *upper = entry_path(&s, 77);
    for (char *c = strrchr(upper, '/'); *c != '.'; c++)
        *c = (char)(*c >= 'a' ? *c - 32 : *c);
    for (int i = 0; i < 5; i++) {
        char *path = i < 4 ? malloc(strlen(s.folder) + 100) : upper;
        if (i < 4)
            sprintf(path, "%s/%s", s.folder, names[i]);
        write_content(path, large_text, sizeof large_text);
        make_old(path, 1000000);
        free(path);
    }
    put(&s, 2, BIG);
    assert_int_equal(list(&s, true).entries, 2); /* theirs do not count */
    assert_int_equal(facts(&s).entries, 2);
    put(&s, 3, BIG);
    assert_int_equal(list(&s, true).entries, 1);
    assert_int_equal(count_files(s.folder, ""), 6);
    scene_close(&s);
}

static void test_unfinished_files(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL);
    char *path = malloc(strlen(s.folder) + 100);
    sprintf(path, "%s/%s12-ab", s.folder, whole_file_prefix);
    write_content(path, "sg-ca", 5);
    make_old(path, 3000);
    put(&s, 2, SMALL);
    assert_int_equal(access(path, F_OK), 0); /* it may yet be finished */
    assert_int_equal(list(&s, true).entries, 2);
    make_old(path, 3700);
    assert_int_equal(get(&s, 2, SMALL), RIGHT);
    assert_int_equal(access(path, F_OK), 0); /* finding looks at nothing else */
    put(&s, 3, SMALL);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(list(&s, true).entries, 3);
    free(path);
    scene_close(&s);
}

/* Others name files by checksums too, and begin names with a dot. */
static void test_files_that_only_look_like_ours_stay(void **state) {
    (void)state;
    scene_open(&s, "cache", 2 * ENTRY);
    char *alike = entry_path(&s, 77), *path = malloc(strlen(s.folder) + 100);
    put(&s, 1, BIG);
    write_content(alike, large_text, sizeof large_text);
    make_old(alike, 1000000);
    static const char *const names[] = {"12-ab", "rc", "12-ab-cd", ""};
    for (int i = 0; i < 4; i++) {
        sprintf(path, "%s/%s%s", s.folder, whole_file_prefix, names[i]);
        write_content(path, "precious", 8);
        make_old(path, 1000000);
    }
    assert_int_equal(symlink("12-ab", strcat(path, "link")), 0);
    put(&s, 2, BIG);
    assert_int_equal(get(&s, 1, BIG), RIGHT); /* the other file takes no room of the cache's */
    put(&s, 3, BIG);
    assert_int_equal(access(alike, F_OK), 0);
    assert_int_equal(count_files(s.folder, whole_file_prefix), 5);
    look l = {.scene = &s};
    job *j;
    assert_int_equal(job_run(&allocator_libc, clear_body, &l, &j), FAULT_NONE);
    job_end(j);
    assert_int_equal(l.entries, 1);
    assert_int_equal(count_files(s.folder, ""), 6);
    free(alike);
    free(path);
    scene_close(&s);
}

/* ---- full disks ---------------------------------------------------------------------------- */

static bool put_line(const char *path, const char *line) {
    const int file = open(path, O_WRONLY);
    const bool done = file >= 0 && write(file, line, strlen(line)) == (ssize_t)strlen(line);
    close(file);
    return done;
}

/* A file system of 64 KiB over the scratch folder, seen by this process alone. False where the
   system does not let us. */
static bool mount_small_disk(void) {
    const uid_t user = geteuid();
    const gid_t group = getegid();
    if (unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    char users[64], groups[64];
    sprintf(users, "0 %ld 1", (long)user);
    sprintf(groups, "0 %ld 1", (long)group);
    if (user != 0 &&
        !(put_line("/proc/self/uid_map", users) && put_line("/proc/self/setgroups", "deny") &&
          put_line("/proc/self/gid_map", groups)))
        return false;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", scratch_root, "tmpfs", 0, "size=64k,nr_inodes=30,mode=700") == 0;
}

enum { NO_DISK = 77 };

static int fill_small_disk(void *unused) {
    (void)unused;
    if (!mount_small_disk())
        return NO_DISK;
    scene_open(&s, "cache", 0);
    CHECK(put(&s, 1, SMALL) && s.warnings == 0);
    for (int i = 2; i < 10; i++)
        CHECK(put(&s, i, 20000));
    CHECK(s.warnings == 1 && strstr(s.last, "No space left on device") != NULL);
    CHECK(get(&s, 1, SMALL) == RIGHT && get(&s, 2, 20000) == RIGHT && get(&s, 9, 20000) == ABSENT);
    CHECK(count_files(s.folder, whole_file_prefix) == 0);
    /* Not even a folder can be made, nor an empty file. */
    char *path = malloc(strlen(s.folder) + 20);
    int files = 0;
    do
        sprintf(path, "%s/%d", s.folder, files);
    while (files++ < 30 && (close(creat(path, 0600)), access(path, F_OK)) == 0);
    CHECK(files > 1 && files < 30);
    CHECK(put(&s, 2, 20000) && put(&s, 3, 1));
    CHECK(get(&s, 2, 20000) == RIGHT && get(&s, 1, SMALL) == RIGHT);
    CHECK(list(&s, true).troubled == 0);
    free(path);
    scene_close(&s);
    scene_open(&s, "another", 0);
    CHECK(put(&s, 1, SMALL) && s.warnings == 1 && strstr(s.last, "No space left") != NULL);
    scene_close(&s);
    return 0;
}

static int fill_limited_files(void *unused) {
    (void)unused;
    const struct rlimit limit = {10000, 10000};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    scene_open(&s, "cache", 0);
    CHECK(put(&s, 1, SMALL) && s.warnings == 0);
    CHECK(put(&s, 2, 20000) && s.warnings == 1 && strstr(s.last, "File too large") != NULL);
    CHECK(get(&s, 1, SMALL) == RIGHT && get(&s, 2, 20000) == ABSENT);
    CHECK(count_files(s.folder, "") == 1);
    scene_close(&s);
    return 0;
}

static void test_full_disk(void **state) {
    (void)state;
    const int code = in_child(fill_small_disk, NULL);
    if (code == NO_DISK)
        print_message("a small file system cannot be mounted here; limited files must do\n");
    else
        assert_int_equal(code, 0);
    assert_int_equal(in_child(fill_limited_files, NULL), 0);
}

static int store_without_descriptors(void *unused) {
    (void)unused;
    scene_open(&s, "cache", 0);
    CHECK(put(&s, 1, SMALL));
    const int first = open("/dev/null", O_RDONLY);
    int last = first;
    for (int next; (next = open("/dev/null", O_RDONLY)) >= 0;)
        last = next;
    /* With none, one, two, … descriptors to use. */
    for (int spare = 0; spare < 5; spare++) {
        CHECK(put(&s, 2, SMALL) && get(&s, 2, SMALL) != WRONG && get(&s, 1, SMALL) != WRONG);
        list(&s, true);
        close(last - spare);
    }
    CHECK(put(&s, 3, SMALL) && get(&s, 3, SMALL) == RIGHT);
    CHECK(get(&s, 1, SMALL) == RIGHT); /* not removed for want of descriptors */
    CHECK(count_files(s.folder, whole_file_prefix) == 0);
    scene_close(&s);
    return 0;
}

static void test_no_descriptors(void **state) {
    (void)state;
    assert_int_equal(in_child(store_without_descriptors, NULL), 0);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void do_everything(job *j, void *argument) {
    errand e = {.scene = argument, .number = 1, .size = 20000};
    put_body(j, &e);
    get_body(j, &e);
    look l = {.scene = argument, .verify = true};
    list_body(j, &l);
    facts_body(j, &l);
    e.number = 2;
    get_body(j, &e);
    e.number = 1;
    drop_body(j, &e);
    clear_body(j, &l);
}

/* Each request for memory in turn is refused: an error, and nothing leaks or is left half-done. */
static void test_no_memory(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    int failures = 0;
    for (long n = 1;; n++) {
        miser m = {.refused = n};
        const allocator memory = {resize_miserly, &m};
        put(&s, 3, SMALL);
        job *j;
        const fault f = job_run(&memory, do_everything, &s, &j);
        assert_true(f == FAULT_NONE || f == FAULT_MEMORY);
        job_end(j);
        assert_int_equal(m.held, 0);
        assert_int_equal(list(&s, true).troubled, 0);
        assert_int_equal(count_files(s.folder, whole_file_prefix), 0);
        assert_int_equal(count_files("/proc/self/fd", ""), scratch_descriptors);
        failures += f == FAULT_MEMORY;
        if (m.count < n)
            break;
    }
    assert_true(failures > 20);
    scene_close(&s);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_least_recently_used_goes_first),
    IN_FOLDER(test_entries_near_the_limit),
    IN_FOLDER(test_size_of_the_options),
    IN_FOLDER(test_other_files_stay),
    IN_FOLDER(test_unfinished_files),
    IN_FOLDER(test_files_that_only_look_like_ours_stay),
    IN_FOLDER(test_full_disk),
    IN_FOLDER(test_no_descriptors),
    IN_FOLDER(test_no_memory),
};

TEST_GROUP(limits, NULL, NULL)
