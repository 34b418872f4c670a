/* Entries of the cache that are damaged, foreign or not to be trusted: they are not used, are told
   of and removed, and stored again. */
#include <math.h>

#include "tests/unit/group.h"
#include "tests/unit/runtime/cache/cache_scene.h"

enum { SMALL = 100, NOBODY = 65534 };

static scene s;

/* ---- damaged, foreign and suspicious entries ----------------------------------------------- */

/* The entry of number 1 is not used and gone; storing it again cures. */
static void expect_bad_entry(const char *path, const char *says) {
    const tally t = list(&s, true);
    assert_int_equal(t.entries, 1);
    assert_int_equal(t.troubled, 1);
    const int before = s.warnings;
    assert_int_equal(get(&s, 1, SMALL), ABSENT);
    expect_warning(&s, before + 1, says);
    if (strstr(s.last, t.trouble) == NULL)
        fail_msg("\"%s\" is not what verifying says: %s", s.last, t.trouble);
    struct stat facts;
    assert_int_equal(lstat(path, &facts), -1);
    assert_int_equal(get(&s, 1, SMALL), ABSENT);
    assert_int_equal(s.warnings, before + 1);
}

static void expect_cured(void) {
    assert_true(put(&s, 1, SMALL));
    assert_int_equal(get(&s, 1, SMALL), RIGHT);
    assert_int_equal(list(&s, true).troubled, 0);
}

static content entry;

static void test_truncated_at_every_length(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL);
    char *path = entry_path(&s, 1);
    read_content(path, &entry);
    for (size_t size = 0; size < entry.size; size++) {
        write_content(path, entry.bytes, size);
        expect_bad_entry(path, size < SEALED_HEADER ? "too short" : "shorter than it says");
    }
    entry.bytes[entry.size] = 0;
    write_content(path, entry.bytes, entry.size + 1);
    expect_bad_entry(path, "longer than it says");
    expect_cured();
    free(path);
    scene_close(&s);
}

static void test_every_flipped_bit(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL);
    char *path = entry_path(&s, 1);
    read_content(path, &entry);
    for (size_t bit = 0; bit < 8 * entry.size; bit++) {
        entry.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        write_content(path, entry.bytes, entry.size);
        entry.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        expect_bad_entry(path, "is not used and was removed: it");
    }
    expect_cured();
    free(path);
    scene_close(&s);
}

static void test_foreign_content(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL);
    char *path = entry_path(&s, 1), *other = entry_path(&s, 2);
    read_content(path, &entry);
    /* Another version. */
    entry.bytes[8]++;
    write_content(path, entry.bytes, entry.size);
    expect_bad_entry(path, "it is of format 2; this version of stencilgen has format 1");
    entry.bytes[8]--;
    /* An entry under another's name. */
    put(&s, 2, SMALL);
    assert_int_equal(rename(other, path), 0);
    expect_bad_entry(path, "another key");
    /* Another kind's name. */
    put(&s, 1, SMALL);
    char *host = strdup(path);
    strcpy(strrchr(host, '.'), ".so");
    assert_int_equal(rename(path, host), 0);
    assert_string_equal(list(&s, true).trouble, "it holds a binary of another kind");
    errand e = {.scene = &s, .number = 1, .size = SMALL, .kind = BINARY_HOST};
    assert_true(run_errand(get_body, &e));
    assert_int_equal(e.answer, ABSENT);
    expect_warning(&s, s.warnings, "another kind");
    /* What never was an entry. */
    static const char foreign[1000] = "\177ELF";
    write_content(path, foreign, sizeof foreign);
    expect_bad_entry(path, "it is not an entry of stencilgen's cache");
    write_content(path, "", 0);
    expect_bad_entry(path, "too short");
    /* Too large to be read at all. */
    write_content(path, entry.bytes, entry.size);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    expect_bad_entry(path, "larger than the cache may be");
    expect_cured();
    free(path);
    free(other);
    free(host);
    scene_close(&s);
}

typedef struct resealing {
    const char *path;
    blob payload;
} resealing;

static void reseal_body(job *j, void *argument) {
    const resealing *r = argument;
    const digest key = key_of_number(1);
    assert_null(sealed_write(j, AT_FDCWD, r->path, &cache_entry_kind, &key, r->payload));
}

/* A good seal around what is cut off: the reader behind it finds out. */
static void test_sealed_nonsense(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL);
    char *path = entry_path(&s, 1);
    read_content(path, &entry);
    for (size_t size = 0; size <= entry.size - SEALED_HEADER + 1; size++) {
        resealing r = {path, {entry.bytes + SEALED_HEADER, size}};
        if (size == entry.size - SEALED_HEADER)
            continue;
        job *j;
        assert_int_equal(job_run(&allocator_libc, reseal_body, &r, &j), FAULT_NONE);
        job_end(j);
        expect_bad_entry(path, "its content makes no sense");
    }
    free(path);
    scene_close(&s);
}

typedef struct oddity {
    const char *path;
    cache_entry entry;
} oddity;

static void write_oddity(job *j, void *argument) {
    const oddity *o = argument;
    const digest key = key_of_number(1);
    const blob payload = cache_entry_write(j, &o->entry);
    assert_null(sealed_write(j, AT_FDCWD, o->path, &cache_entry_kind, &key, payload));
}

static void expect_oddity(const char *path, cache_entry odd) {
    oddity o = {path, odd};
    job *j;
    assert_int_equal(job_run(&allocator_libc, write_oddity, &o, &j), FAULT_NONE);
    job_end(j);
    expect_bad_entry(path, "its content makes no sense");
}

/* A good seal around values that cannot be. */
static void test_impossible_values(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL); /* so that there is a folder */
    char *path = entry_path(&s, 1);
    const cache_entry good = {.title = "",
                              .binary = {.data = {"x", 1}, .compiler = "", .registers = -1}};
    cache_entry odd = good;
    odd.title = NULL;
    expect_oddity(path, odd);
    odd = good;
    odd.binary.compiler = NULL;
    expect_oddity(path, odd);
    odd = good;
    odd.binary.kind = BINARY_KINDS;
    expect_oddity(path, odd);
    odd = good;
    odd.binary.seconds = HUGE_VAL;
    expect_oddity(path, odd);
    odd = good;
    odd.binary.registers = -2;
    expect_oddity(path, odd);
    odd = good;
    odd.binary.shared_bytes = -2;
    expect_oddity(path, odd);
    odd = good;
    odd.binary.local_bytes = -2;
    expect_oddity(path, odd);
    odd = good;
    odd.binary.data.size = 0;
    expect_oddity(path, odd);
    free(path);
    scene_close(&s);
}

static void test_suspicious_files(void **state) {
    (void)state;
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL);
    char *path = entry_path(&s, 1), *away = scratch_path("away");
    /* A link, even to a good entry. */
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(symlink(away, path), 0);
    expect_bad_entry(path, "it is a symbolic link");
    assert_int_equal(access(away, F_OK), 0);
    assert_int_equal(symlink("nowhere", path), 0);
    expect_cured();
    /* A pipe, which nobody must wait for. */
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_bad_entry(path, "it is no regular file");
    /* A file that others may have written. */
    put(&s, 1, SMALL);
    assert_int_equal(chmod(path, 0620), 0);
    expect_bad_entry(path, "others may write to it");
    put(&s, 1, SMALL);
    assert_int_equal(chmod(path, 0602), 0);
    expect_bad_entry(path, "others may write to it");
    put(&s, 1, SMALL);
    assert_int_equal(chmod(path, 0644), 0); /* reading is harmless */
    assert_int_equal(get(&s, 1, SMALL), RIGHT);
    /* A folder, which stays. */
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(get(&s, 1, SMALL), ABSENT);
    expect_warning(&s, s.warnings, "it is no regular file");
    assert_true(put(&s, 1, SMALL));
    assert_int_equal(rmdir(path), 0);
    expect_cured();
    free(path);
    free(away);
    scene_close(&s);
}

static void test_entry_of_another_user(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    scene_open(&s, "cache", 0);
    put(&s, 1, SMALL);
    char *path = entry_path(&s, 1);
    assert_int_equal(chown(path, NOBODY, (gid_t)-1), 0);
    assert_int_equal(get(&s, 1, SMALL), ABSENT);
    expect_warning(&s, 1, "is not used: it belongs to another user");
    assert_int_equal(access(path, F_OK), 0); /* it is not ours to remove */
    assert_string_equal(list(&s, false).trouble, "it belongs to another user");
    expect_cured();
    free(path);
    scene_close(&s);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_truncated_at_every_length), IN_FOLDER(test_every_flipped_bit),
    IN_FOLDER(test_foreign_content),           IN_FOLDER(test_sealed_nonsense),
    IN_FOLDER(test_impossible_values),         IN_FOLDER(test_suspicious_files),
    IN_FOLDER(test_entry_of_another_user),
};

TEST_GROUP(entries, NULL, NULL)
