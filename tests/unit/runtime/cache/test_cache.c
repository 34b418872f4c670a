/* The cache of one process: what is stored is found and listed, and nothing that is wrong with the
   folder fails the caller's work. */
#define _DEFAULT_SOURCE /* setgroups */
#include <grp.h>

#include "base/io.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/cache/cache_scene.h"

enum { SMALL = 100, NOBODY = 65534 };

static scene s;
static content entry;

/* ---- storing and finding ------------------------------------------------------------------- */

static void test_finds_what_was_stored(void **state) {
    (void)state;
    scene_open(&s, "new/deep/cache", 0);
    assert_int_equal(get(&s, 1, SMALL), ABSENT);
    assert_true(put(&s, 1, SMALL));
    assert_true(put(&s, 2, 1 << 20));
    assert_true(put(&s, 3, 1));
    assert_int_equal(get(&s, 1, SMALL), RIGHT);
    assert_int_equal(get(&s, 2, 1 << 20), RIGHT);
    assert_int_equal(get(&s, 3, 1), RIGHT);
    assert_int_equal(get(&s, 4, SMALL), ABSENT);
    assert_true(put(&s, 1, SMALL + 1)); /* the later one counts */
    assert_int_equal(get(&s, 1, SMALL + 1), RIGHT);
    assert_int_equal(s.warnings, 0);
    struct stat made;
    for (int up = 0; up < 3; up++) {
        assert_int_equal(stat(s.folder, &made), 0);
        assert_int_equal(made.st_mode & 0777, 0700);
        *strrchr(s.folder, '/') = '\0';
    }
    scene_close(&s);
}

static void test_kinds_are_apart(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    errand e = {.scene = &s, .number = 1, .size = SMALL, .kind = BINARY_HOST};
    assert_true(run_errand(put_body, &e));
    assert_int_equal(get(&s, 1, SMALL), ABSENT);
    assert_true(run_errand(get_body, &e));
    assert_int_equal(e.answer, RIGHT);
    assert_int_equal(s.warnings, 0);
    scene_close(&s);
}

static void test_drops(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    assert_true(run_errand(drop_body, &(errand){.scene = &s, .number = 1}));
    assert_int_equal(s.warnings, 0);
    put(&s, 1, SMALL);
    put(&s, 2, SMALL);
    assert_true(run_errand(drop_body, &(errand){.scene = &s, .number = 1}));
    expect_warning(&s, 1, "the driver refused it");
    assert_int_equal(get(&s, 1, SMALL), ABSENT);
    assert_int_equal(get(&s, 2, SMALL), RIGHT);
    scene_close(&s);
}

/* ---- where the folder is ------------------------------------------------------------------- */

/* A path in which '@' stands for the scratch folder; NULL of NULL. For the caller to free. */
static char *expand(const char *path) {
    if (path == NULL || path[0] != '@')
        return path != NULL ? strdup(path) : NULL;
    char *whole = malloc(sizeof scratch_root + strlen(path));
    sprintf(whole, "%s%s", scratch_root, path + 1);
    return whole;
}

static void set(const char *name, const char *value) {
    char *whole = expand(value);
    if (whole != NULL)
        setenv(name, whole, 1);
    else
        unsetenv(name);
    free(whole);
}

/* The folder chosen under these variables (NULL: unset), and why it is not used. */
static void expect_folder(const char *asked, const char *sg, const char *xdg, const char *home,
                          const char *folder, const char *trouble) {
    set("SG_CACHE", sg);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    char *given = expand(asked), *wanted = expand(folder);
    scene_open_at(&s, given, 0);
    free(given);
    const sg_cache_info info = facts(&s);
    assert_string_equal(info.folder, wanted);
    free(wanted);
    assert_int_equal(info.trouble == NULL, trouble == NULL);
    if (trouble != NULL && strstr(info.trouble, trouble) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", info.trouble, trouble);
    scene_close(&s);
}

static void test_choice_of_folder(void **state) {
    (void)state;
    char *before = getenv("HOME") != NULL ? strdup(getenv("HOME")) : NULL;
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(scratch_root), 0);
    expect_folder("@/a", "@/b", "@/c", "@", "@/a", NULL);
    expect_folder(NULL, "@/b", "@/c", "@", "@/b", NULL);
    expect_folder("", "", "@/c", "@", "@/c/stencilgen", NULL);
    expect_folder(NULL, NULL, "c", "@", "@/.cache/stencilgen", NULL);
    expect_folder(NULL, NULL, NULL, "@", "@/.cache/stencilgen", NULL);
    expect_folder(NULL, NULL, NULL, NULL, "", "SG_CACHE names another place");
    expect_folder(NULL, NULL, "", "", "", "SG_CACHE names another place");
    expect_folder(NULL, NULL, NULL, "home", "", "SG_CACHE names another place");
    expect_folder(NULL, "none", "@/c", "@", "", "switched off by SG_CACHE");
    expect_folder("none", "@/b", "@/c", "@", "", "switched off");
    expect_folder("a/b", "@/b", NULL, NULL, "@/a/b", NULL); /* from here, for good */
    expect_folder(NULL, "b", NULL, NULL, "@/b", NULL);
    assert_int_equal(count_files(scratch_root, ""), 0); /* nothing was made yet */
    assert_int_equal(chdir(here), 0);
    set("SG_CACHE", NULL);
    set("HOME", before);
    free(before);
}

static void test_works_without_a_folder(void **state) {
    (void)state;
    char *before = getenv("HOME") != NULL ? strdup(getenv("HOME")) : NULL;
    set("SG_CACHE", NULL);
    set("XDG_CACHE_HOME", NULL);
    set("HOME", NULL);
    scene_open_at(&s, NULL, 0);
    assert_true(put(&s, 1, SMALL));
    assert_int_equal(get(&s, 1, SMALL), ABSENT);
    assert_true(put(&s, 2, SMALL));
    expect_warning(&s, 1, "there is no home folder"); /* once a context */
    assert_int_equal(list(&s, true).entries, 0);
    scene_close(&s);
    scene_open_at(&s, "none", 0); /* whoever asked for it needs no warning */
    assert_true(put(&s, 1, SMALL));
    assert_int_equal(get(&s, 1, SMALL), ABSENT);
    assert_int_equal(s.warnings, 0);
    scene_close(&s);
    set("HOME", before);
    free(before);
}

/* Puts and gets, twice, with one warning that says this. */
static void expect_unusable(const char *says) {
    for (int i = 0; i < 2; i++) {
        assert_true(put(&s, 1, SMALL));
        assert_int_equal(get(&s, 1, SMALL), ABSENT);
    }
    expect_warning(&s, 1, says);
    assert_non_null(strstr(s.last, s.folder));
    const sg_cache_info info = facts(&s);
    assert_non_null(info.trouble);
    assert_non_null(strstr(s.last, info.trouble));
    assert_int_equal(list(&s, true).entries, 0);
}

static void test_no_folder_at_all(void **state) {
    (void)state;
    char *file = scratch_path("file");
    write_content(file, "x", 1);
    scene_open(&s, "file", 0);
    expect_unusable("Not a directory");
    scene_close(&s);
    scene_open(&s, "file/deeper/cache", 0);
    expect_unusable("Not a directory");
    scene_close(&s);
    scene_open_at(&s, "/proc/stencilgen/cache", 0);
    s.folder = strdup("/proc/stencilgen/cache");
    assert_true(put(&s, 1, SMALL));
    expect_warning(&s, 1, "/proc/stencilgen/cache");
    scene_close(&s);
    assert_int_equal(count_files(scratch_root, ""), 1);
    free(file);
}

static void test_folder_that_others_may_write_to(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL);
    static const mode_t modes[] = {0770, 0707, 0777};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chmod(s.folder, modes[i]), 0);
        char *folder = strdup(s.folder);
        scene_close(&s);
        scene_open_at(&s, folder, 0);
        s.folder = folder;
        expect_unusable("others may write to it; chmod go-w cures that");
    }
    assert_int_equal(chmod(s.folder, 0755), 0);
    assert_int_equal(get(&s, 1, SMALL), RIGHT);
    scene_close(&s);
}

static void test_folder_of_another_user(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL);
    assert_int_equal(chown(s.folder, NOBODY, (gid_t)-1), 0);
    expect_unusable("it belongs to another user");
    scene_close(&s);
}

/* Root may write anywhere, so the child becomes somebody else. */
static int use_read_only_folder(void *unused) {
    (void)unused;
    if (geteuid() == 0)
        CHECK(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    scene_open(&s, "open/cache", 0);
    CHECK(put(&s, 1, SMALL) && s.warnings == 0);
    CHECK(chmod(s.folder, 0500) == 0);
    CHECK(put(&s, 2, SMALL) && s.warnings == 1 && strstr(s.last, "Permission denied") != NULL);
    CHECK(get(&s, 1, SMALL) == RIGHT && get(&s, 2, SMALL) == ABSENT && s.warnings == 1);
    CHECK(put(&s, 2, SMALL) && s.warnings == 1); /* once a context */
    const sg_cache_info info = facts(&s);
    CHECK(info.trouble != NULL && strcmp(info.trouble, "Permission denied") == 0);
    CHECK(info.entries == 1 && list(&s, true).entries == 1);
    CHECK(chmod(s.folder, 0000) == 0);
    CHECK(get(&s, 1, SMALL) == ABSENT && put(&s, 2, SMALL));
    CHECK(facts(&s).trouble != NULL);
    CHECK(chmod(s.folder, 0700) == 0);
    CHECK(get(&s, 1, SMALL) == RIGHT && count_files(s.folder, "") == 1);
    scene_close(&s);
    /* A home that is read-only, where there is no cache yet. */
    char *home = scratch_path("open/home");
    CHECK(mkdir(home, 0500) == 0);
    scene_open(&s, "open/home/.cache/stencilgen", 0);
    CHECK(facts(&s).trouble != NULL);
    CHECK(put(&s, 1, SMALL) && put(&s, 2, SMALL) && get(&s, 1, SMALL) == ABSENT);
    CHECK(s.warnings == 1 && strstr(s.last, "Permission denied") != NULL);
    scene_close(&s);
    free(home);
    return 0;
}

static void test_read_only_folder(void **state) {
    (void)state;
    char *open = scratch_path("open");
    assert_int_equal(mkdir(open, 0777), 0);
    assert_int_equal(chmod(open, 0777), 0);
    assert_int_equal(in_child(use_read_only_folder, NULL), 0);
    free(open);
}

/* ---- listing and clearing ------------------------------------------------------------------ */

static void test_list(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    assert_int_equal(list(&s, false).entries, 0);
    for (int i = 1; i <= 4; i++) {
        put(&s, i, SMALL * i);
        age(&s, i, 100 * i);
    }
    age(&s, 3, 10);
    tally t = list(&s, false);
    assert_int_equal(t.entries, 4);
    assert_int_equal(t.troubled, 0);
    assert_string_equal(t.text, "number 3, test 1.0"); /* the one used last comes first */
    char *path = entry_path(&s, 3);
    assert_string_equal(t.first, strrchr(path, '/') + 1);
    assert_int_equal(t.bytes, facts(&s).bytes);
    /* The last byte of the content: only verifying reads so far. */
    read_content(path, &entry);
    entry.bytes[entry.size - 1] ^= 1;
    write_content(path, entry.bytes, entry.size);
    assert_int_equal(list(&s, false).troubled, 0);
    t = list(&s, true);
    assert_int_equal(t.troubled, 1);
    assert_string_equal(t.trouble, "it is damaged: its checksum is not that of its content");
    assert_int_equal(access(path, F_OK), 0); /* verifying removes nothing */
    write_content(path, "", 0);
    t = list(&s, false);
    assert_int_equal(t.troubled, 1);
    assert_string_equal(t.text, "");
    assert_int_equal(s.warnings, 0);
    free(path);
    scene_close(&s);
}

static void expect_cleared(int64_t entries, int64_t bytes) {
    look l = {.scene = &s, .entries = -1, .bytes = -1};
    job *j;
    assert_int_equal(job_run(&allocator_libc, clear_body, &l, &j), FAULT_NONE);
    job_end(j);
    assert_int_equal(l.entries, entries);
    assert_int_equal(l.bytes, bytes);
}

static void test_clear(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    expect_cleared(0, 0);
    assert_int_equal(access(s.folder, F_OK), -1);
    put(&s, 1, SMALL);
    put(&s, 2, SMALL);
    char *other = malloc(strlen(s.folder) + 100), *stale = malloc(strlen(s.folder) + 100);
    sprintf(other, "%s/note", s.folder);
    sprintf(stale, "%s/%s1", s.folder, whole_file_prefix);
    write_content(other, "mine", 4);
    write_content(stale, "sg-cache", 8);
    const int64_t bytes = facts(&s).bytes;
    assert_true(bytes > 2 * SMALL);
    expect_cleared(2, bytes);
    assert_int_equal(count_files(s.folder, ""), 2);
    make_old(stale, 4000);
    expect_cleared(0, 0);
    assert_int_equal(count_files(s.folder, ""), 1);
    assert_int_equal(access(other, F_OK), 0);
    free(other);
    free(stale);
    scene_close(&s);
    scene_open_at(&s, "none", 0);
    expect_cleared(0, 0);
    scene_close(&s);
}

static void test_cannot_clear(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL);
    assert_int_equal(chmod(s.folder, 0777), 0);
    look l = {.scene = &s, .entries = -1};
    job *j;
    assert_int_equal(job_run(&allocator_libc, clear_body, &l, &j), FAULT_IO);
    assert_non_null(strstr(job_error(j), "the cache cannot be cleared: others may write to it"));
    assert_string_equal(job_error_file(j), s.folder);
    assert_int_equal(l.entries, -1);
    job_end(j);
    assert_int_equal(chmod(s.folder, 0700), 0);
    assert_int_equal(get(&s, 1, SMALL), RIGHT);
    scene_close(&s);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_finds_what_was_stored),
    IN_FOLDER(test_kinds_are_apart),
    IN_FOLDER(test_drops),
    IN_FOLDER(test_choice_of_folder),
    IN_FOLDER(test_works_without_a_folder),
    IN_FOLDER(test_no_folder_at_all),
    IN_FOLDER(test_folder_that_others_may_write_to),
    IN_FOLDER(test_folder_of_another_user),
    IN_FOLDER(test_read_only_folder),
    IN_FOLDER(test_list),
    IN_FOLDER(test_clear),
    IN_FOLDER(test_cannot_clear),
};

TEST_GROUP(cache, NULL, NULL)
