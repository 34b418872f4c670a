/* Files that appear whole or not at all: their places and modes, and what is refused before
   anything is written. */
#include "tests/unit/scratch_folder.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>

#include "base/io.h"
#include "tests/unit/group.h"

static int write_text(const char *path, const char *text, whole_rule rule) {
    whole_file w;
    int error = whole_file_begin(&w, AT_FDCWD, path, rule);
    if (error == 0)
        error = whole_file_write(&w, text, strlen(text));
    return error == 0 ? whole_file_commit(&w) : (whole_file_drop(&w), error);
}

static void expect_text(const char *path, const char *text) {
    content read;
    read_content(path, &read);
    assert_int_equal(read.size, strlen(text));
    assert_memory_equal(read.bytes, text, read.size);
}

static int mode_of(const char *path) {
    struct stat facts;
    assert_int_equal(lstat(path, &facts), 0);
    return (int)(facts.st_mode & (S_IFMT | 0777));
}

static void links_are_followed(void **state) {
    (void)state;
    char *chain = scratch_path("chain"), *target = scratch_path("sub/target");
    char *sub = scratch_path("sub"), *middle = scratch_path("sub/middle"),
         *loop = scratch_path("loop");
    assert_int_equal(mkdir(sub, 0755), 0);
    assert_int_equal(symlink("sub/middle", chain), 0);
    assert_int_equal(symlink("./target", middle), 0); /* from its own folder */
    assert_int_equal(symlink("loop", loop), 0);
    assert_int_equal(write_text(chain, "new", WHOLE_FILE_USUAL), 0);
    expect_text(target, "new");
    assert_int_equal(write_text(chain, "newer", WHOLE_FILE_USUAL), 0);
    expect_text(target, "newer");
    assert_true(S_ISLNK(mode_of(chain)) && S_ISLNK(mode_of(middle)));
    assert_int_equal(count_files(sub, ""), 2);
    assert_int_equal(write_text(loop, "new", WHOLE_FILE_USUAL), ELOOP);
    /* A private file replaces the link. */
    assert_int_equal(write_text(chain, "own", WHOLE_FILE_PRIVATE), 0);
    assert_int_equal(mode_of(chain), S_IFREG | 0600);
    expect_text(target, "newer");
    free(chain);
    free(target);
    free(sub);
    free(middle);
    free(loop);
}

static void modes_are_kept(void **state) {
    (void)state;
    char *path = scratch_path("file");
    const mode_t before = umask(027);
    assert_int_equal(write_text(path, "new", WHOLE_FILE_USUAL), 0);
    assert_int_equal(mode_of(path), S_IFREG | 0640);
    static const mode_t modes[] = {0600, 0604, 0666, 0755};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(write_text(path, "newer", WHOLE_FILE_USUAL), 0);
        assert_int_equal(mode_of(path), S_IFREG | modes[i]);
    }
    umask(0);
    assert_int_equal(write_text(path, "own", WHOLE_FILE_PRIVATE), 0);
    assert_int_equal(mode_of(path), S_IFREG | 0600);
    umask(before);
    free(path);
}

static void begin_text(whole_file *w, const char *path, const char *text) {
    assert_int_equal(whole_file_begin(w, AT_FDCWD, path, WHOLE_FILE_USUAL), 0);
    assert_int_equal(whole_file_write(w, text, strlen(text)), 0);
}

static void placed_files_can_be_taken_back(void **state) {
    (void)state;
    char *folder = scratch_path("placed");
    char *fresh = scratch_path("placed/fresh"), *old = scratch_path("placed/old");
    whole_file a, b;
    assert_int_equal(mkdir(folder, 0755), 0);
    for (int keep = 0; keep < 2; keep++) {
        assert_int_equal(write_text(old, "before", WHOLE_FILE_USUAL), 0);
        begin_text(&a, fresh, "new");
        begin_text(&b, old, "newer");
        assert_int_equal(whole_file_place(&a), 0);
        assert_int_equal(whole_file_place(&b), 0);
        expect_text(fresh, "new");
        expect_text(old, "newer");
        whole_file_settle(&a, keep == 1);
        whole_file_settle(&b, keep == 1);
        expect_text(old, keep == 1 ? "newer" : "before");
        assert_int_equal(count_files(folder, ""), keep == 1 ? 2 : 1);
    }
    expect_text(fresh, "new");
    /* What lies there now is no file any more. */
    begin_text(&a, fresh, "newest");
    assert_int_equal(unlink(fresh), 0);
    assert_int_equal(mkdir(fresh, 0755), 0);
    assert_int_equal(whole_file_place(&a), EISDIR);
    whole_file_settle(&a, false);
    assert_int_equal(mode_of(fresh) & S_IFMT, S_IFDIR);
    assert_int_equal(count_files(folder, ""), 2);
    free(folder);
    free(fresh);
    free(old);
}

/* A user other than the superuser, who may write anywhere. */
static int write_what_is_closed(void *unused) {
    (void)unused;
    char *kept = scratch_path("kept"), *closed = scratch_path("closed/file");
    char *others = scratch_path("sticky/others"), *open_only = scratch_path("unreadable/file");
    CHECK(geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    CHECK(write_text(kept, "new", WHOLE_FILE_USUAL) == EACCES);
    CHECK(write_text(closed, "new", WHOLE_FILE_USUAL) == EACCES);
    CHECK(write_text(others, "new", WHOLE_FILE_USUAL) ==
          (access(others, W_OK) == 0 ? EPERM : EACCES));
    CHECK(write_text(open_only, "new", WHOLE_FILE_USUAL) == 0);
    free(kept);
    free(closed);
    free(others);
    free(open_only);
    return 0;
}

static void what_is_closed_is_refused_at_the_beginning(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip(); /* it takes two users */
    char *kept = scratch_path("kept"), *closed = scratch_path("closed");
    char *sticky = scratch_path("sticky"), *others = scratch_path("sticky/others");
    char *unreadable = scratch_path("unreadable");
    assert_int_equal(chmod(scratch_root, 0777), 0);
    write_content(kept, "old", 3);
    assert_int_equal(chmod(kept, 0444), 0);
    assert_int_equal(mkdir(closed, 0755), 0);
    assert_int_equal(mkdir(sticky, 0755), 0);
    assert_int_equal(chmod(sticky, 01777), 0);
    write_content(others, "old", 3);
    assert_int_equal(chmod(others, 0666), 0);
    assert_int_equal(mkdir(unreadable, 0755), 0);
    assert_int_equal(chmod(unreadable, 0333), 0);
    assert_int_equal(in_child(write_what_is_closed, NULL), 0);
    expect_text(kept, "old");
    expect_text(others, "old");
    assert_int_equal(count_files(sticky, ""), 1);
    assert_int_equal(count_files(closed, ""), 0);
    free(kept);
    free(closed);
    free(sticky);
    free(others);
    free(unreadable);
}

static void long_names_and_paths(void **state) {
    (void)state;
    char name[NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    for (int length = 248; length <= NAME_MAX + 1; length++) {
        name[length] = '\0';
        char *path = scratch_path(name);
        const int error = write_text(path, "new", WHOLE_FILE_USUAL);
        assert_int_equal(error, length <= NAME_MAX ? 0 : ENAMETOOLONG);
        if (error == 0)
            expect_text(path, "new");
        free(path);
        name[length] = 'n';
    }
    /* A path with no room for a longer name. */
    char *path = malloc(PATH_MAX);
    int at = sprintf(path, "%s", scratch_root);
    while (at < PATH_MAX - 6)
        at += sprintf(path + at, "/.");
    sprintf(path + (at > PATH_MAX - 5 ? at - 2 : at), "/b");
    assert_int_equal(write_text(path, "new", WHOLE_FILE_USUAL), 0);
    free(path);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    char *none = scratch_path("none/file"), *ending = scratch_path("new/");
    assert_int_equal(write_text(scratch_root, "new", WHOLE_FILE_USUAL), EISDIR);
    assert_int_equal(write_text(none, "new", WHOLE_FILE_USUAL), ENOENT);
    assert_int_equal(write_text(ending, "new", WHOLE_FILE_USUAL), EISDIR);
    assert_int_equal(write_text("", "new", WHOLE_FILE_USUAL), ENOENT);
    assert_int_equal(write_text("/dev/null/file", "new", WHOLE_FILE_USUAL), ENOTDIR);
    assert_int_equal(write_text("/dev/null", "new", WHOLE_FILE_PRIVATE), ENXIO);
    assert_int_equal(write_text("/dev/null", "new", WHOLE_FILE_USUAL), 0);
    assert_true(S_ISCHR(mode_of("/dev/null")));
    assert_int_equal(count_files(scratch_root, ""), 0);
    free(none);
    free(ending);
}

static void what_fails_leaves_the_old_file(void **state) {
    (void)state;
    char *path = scratch_path("file");
    whole_file w;
    assert_int_equal(write_text(path, "old", WHOLE_FILE_USUAL), 0);
    assert_int_equal(whole_file_begin(&w, AT_FDCWD, path, WHOLE_FILE_USUAL), 0);
    assert_int_equal(count_files(scratch_root, whole_file_prefix), 1);
    assert_int_equal(whole_file_write(&w, "new", 3), 0);
    whole_file_drop(&w);
    whole_file_drop(&w);
    expect_text(path, "old");
    assert_int_equal(count_files(scratch_root, ""), 1);
    free(path);
}

/* The signal of a closed pipe does not end the process. */
static int write_to_closed_pipe(void *unused) {
    (void)unused;
    int ends[2];
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR && pipe(ends) == 0);
    close(ends[0]);
    CHECK(io_write_all(ends[1], "new", 3) == EPIPE);
    sigset_t pending;
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 0);
    return 0;
}

static void closed_pipes_are_errors(void **state) {
    (void)state;
    assert_int_equal(in_child(write_to_closed_pipe, NULL), 0);
}

static bool same(const char *one, const char *other) {
    whole_file a, b;
    char *first = scratch_path(one), *second = scratch_path(other);
    assert_int_equal(whole_file_begin(&a, AT_FDCWD, first, WHOLE_FILE_USUAL), 0);
    assert_int_equal(whole_file_begin(&b, AT_FDCWD, second, WHOLE_FILE_USUAL), 0);
    const bool result = whole_place_same(&a.place, &b.place);
    whole_file_drop(&a);
    whole_file_drop(&b);
    free(first);
    free(second);
    return result;
}

static void one_file_has_many_spellings(void **state) {
    (void)state;
    char *sub = scratch_path("sub"), *alias = scratch_path("alias"), *link = scratch_path("link");
    char *there = scratch_path("there"), *hard = scratch_path("hard");
    assert_int_equal(mkdir(sub, 0755), 0);
    assert_int_equal(symlink("sub", alias), 0);
    assert_int_equal(symlink("sub/new", link), 0);
    write_content(there, "old", 3);
    assert_int_equal(linkat(AT_FDCWD, there, AT_FDCWD, hard, 0), 0);
    assert_true(same("sub/new", "sub/new"));
    assert_true(same("sub/new", "sub/../sub/./new"));
    assert_true(same("sub/new", "alias/new"));
    assert_true(same("sub/new", "link"));
    assert_true(same("there", "hard"));
    assert_false(same("sub/new", "new"));
    assert_false(same("sub/new", "sub/New"));
    assert_false(same("there", "sub/there"));
    free(sub);
    free(alias);
    free(link);
    free(there);
    free(hard);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(links_are_followed),
    IN_FOLDER(modes_are_kept),
    IN_FOLDER(placed_files_can_be_taken_back),
    IN_FOLDER(what_is_closed_is_refused_at_the_beginning),
    IN_FOLDER(long_names_and_paths),
    IN_FOLDER(what_cannot_be_is_refused),
    IN_FOLDER(what_fails_leaves_the_old_file),
    IN_FOLDER(closed_pipes_are_errors),
    IN_FOLDER(one_file_has_many_spellings),
};

TEST_GROUP(whole_file, NULL, NULL)
