/* Sealed files: written whole or not at all, read back whole or not at all. */
#include <sys/resource.h>

#include "base/hash.h"
#include "base/io.h"
#include "runtime/files/sealed.h"
#include "tests/unit/group.h"
#include "tests/unit/miser.h"
#include "tests/unit/scratch_folder.h"

static const sealed_kind kind = {.magic = {'t', 'e', 's', 't', 0, 1, 2, 3},
                                 .version = 7,
                                 .title = "a file of this test",
                                 .secret = true};
static const digest key = {.bytes = {1, 2, 3, [31] = 9}};
static const char words[] = "what is inside";
static const blob payload = {words, sizeof words};

static void run(void (*body)(job *, void *), void *argument) {
    job *j;
    assert_int_equal(job_run(&allocator_libc, body, argument, &j), FAULT_NONE);
    job_end(j);
}

/* ---- the checksum -------------------------------------------------------------------------- */

/* What Python's package xxhash 3 says of the bytes i² + 7i. */
static void test_checksum(void **state) {
    (void)state;
    static const struct {
        size_t size;
        uint64_t seed, wanted;
    } cases[] = {
        {0, 0, 0xEF46DB3751D8E999},  {0, 1, 0xD5AFBA1336A3BE4B},   {1, 0, 0xE934A84ADB052768},
        {3, 0, 0xBB3A592908A981A8},  {4, 0, 0x798A8B758DE10B9C},   {7, 5, 0x912DACC0AF1F8806},
        {8, 0, 0x628B254FD17D4862},  {12, 0, 0x043665C447D22A2A},  {31, 0, 0xFF266226C2DE2379},
        {32, 0, 0xAD211363E6D6BE0F}, {33, 9, 0x581475D5B4513D5D},  {63, 0, 0xE91F43E8D0AE523E},
        {64, 0, 0x81C939FDB6A47468}, {100, 0, 0xE43CD255BDE054F5}, {199, -1, 0xC48F5CB556DFBCF4},
    };
    unsigned char bytes[200];
    for (int i = 0; i < 200; i++)
        bytes[i] = (unsigned char)(i * i + 7 * i);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(checksum_of(bytes, cases[i].size, cases[i].seed) == cases[i].wanted);
    assert_true(checksum_of("abc", 3, 0) == 0x44BC2CF5AD770999);
}

/* ---- bytes --------------------------------------------------------------------------------- */

typedef struct opening {
    const void *bytes;
    size_t size;
    const sealed_kind *kind;
    const digest *key;
    const char *says; /* NULL: it is good */
} opening;

static void check_open(job *j, void *argument) {
    const opening *o = argument;
    char *exact = malloc(o->size > 0 ? o->size : 1);
    memcpy(exact, o->bytes, o->size);
    const char *why = NULL;
    digest found = {{0}};
    const blob inside = sealed_open(j, (blob){exact, o->size}, o->kind, o->key, &found, &why);
    if (o->says == NULL) {
        assert_null(why);
        assert_int_equal(inside.size, sizeof words);
        assert_string_equal(inside.data, words);
        assert_true(digest_equal(&found, &key));
    } else {
        assert_non_null(why);
        assert_null(inside.data);
        if (strstr(why, o->says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", why, o->says);
    }
    free(exact);
}

static void opens(const void *bytes, size_t size, const sealed_kind *k, const digest *of,
                  const char *says) {
    run(check_open, &(opening){bytes, size, k, of, says});
}

static content whole;

static void seal_whole(job *j, void *unused) {
    (void)unused;
    const blob b = sealed_bytes(j, &kind, &key, payload);
    assert_int_equal(b.size, SEALED_HEADER + sizeof words);
    memcpy(whole.bytes, b.data, b.size);
    whole.size = b.size;
}

static void test_opens(void **state) {
    (void)state;
    run(seal_whole, NULL);
    opens(whole.bytes, whole.size, &kind, &key, NULL);
    opens(whole.bytes, whole.size, &kind, NULL, NULL);
}

static void test_refuses_what_is_not_ours(void **state) {
    (void)state;
    run(seal_whole, NULL);
    sealed_kind other = kind;
    other.magic[7]++;
    opens(whole.bytes, whole.size, &other, &key, "it is not a file of this test");
    other = kind;
    other.version = 8;
    opens(whole.bytes, whole.size, &other, &key, "of format 7; this version of stencilgen has");
    digest another = key;
    another.bytes[31]++;
    opens(whole.bytes, whole.size, &kind, &another, "another key");
    opens("", 0, &kind, &key, "too short to be a file of this test");
    static const char zeros[1000];
    opens(zeros, sizeof zeros, &kind, NULL, "it is not a file of this test");
    whole.bytes[whole.size] = 0;
    opens(whole.bytes, whole.size + 1, &kind, &key, "longer than it says");
}

static void test_refuses_every_truncation(void **state) {
    (void)state;
    run(seal_whole, NULL);
    for (size_t size = 0; size < whole.size; size++)
        opens(whole.bytes, size, &kind, NULL,
              size < SEALED_HEADER ? "too short" : "shorter than it says");
}

static void test_refuses_every_flipped_bit(void **state) {
    (void)state;
    run(seal_whole, NULL);
    for (size_t bit = 0; bit < 8 * whole.size; bit++) {
        whole.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        opens(whole.bytes, whole.size, &kind, NULL, "it is");
        whole.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    opens(whole.bytes, whole.size, &kind, NULL, NULL);
}

static void check_glance(job *j, void *unused) {
    (void)unused;
    const char *why;
    const blob start = {whole.bytes, SEALED_HEADER + 4};
    const blob inside = sealed_glance(j, start, whole.size, &kind, &key, NULL, &why);
    assert_null(why);
    assert_int_equal(inside.size, 4);
    assert_memory_equal(inside.data, words, 4);
    sealed_glance(j, start, whole.size + 1, &kind, &key, NULL, &why);
    assert_string_equal(why, "it is longer than it says");
    sealed_glance(j, (blob){whole.bytes, SEALED_HEADER - 1}, whole.size, &kind, &key, NULL, &why);
    assert_non_null(why);
}

static void test_glance(void **state) {
    (void)state;
    run(seal_whole, NULL);
    run(check_glance, NULL);
}

/* ---- files --------------------------------------------------------------------------------- */

typedef struct writing {
    int folder;
    const char *name;
    blob payload;
    const char *says;
} writing;

static void write_file(job *j, void *argument) {
    writing *w = argument;
    const char *why = sealed_write(j, w->folder, w->name, &kind, &key, w->payload);
    w->says = why != NULL ? strdup(why) : NULL;
}

/* NULL, or what went wrong, for the caller to free. */
static char *written(int folder, const char *name, blob inside) {
    writing w = {folder, name, inside, NULL};
    run(write_file, &w);
    return (char *)w.says;
}

static void expect_refusal(int folder, const char *name, const char *says) {
    char *why = written(folder, name, payload);
    assert_non_null(why);
    if (strstr(why, says) == NULL || strstr(why, name) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", why, says);
    free(why);
}

static void expect_file(const char *path) {
    content read;
    read_content(path, &read);
    opens(read.bytes, read.size, &kind, &key, NULL);
}

static int open_root(void) {
    const int folder = open(scratch_root, O_RDONLY | O_DIRECTORY);
    assert_true(folder >= 0);
    return folder;
}

static void test_writes(void **state) {
    (void)state;
    const int folder = open_root();
    char *path = scratch_path("a file"), *link = scratch_path("link");
    const mode_t before = umask(0);
    assert_null(written(folder, "a file", payload));
    umask(before);
    expect_file(path);
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    /* Again, by a path, over what was there. */
    write_content(path, "old", 3);
    assert_null(written(AT_FDCWD, path, payload));
    expect_file(path);
    /* A link is replaced, not followed. */
    assert_int_equal(symlink("elsewhere", link), 0);
    assert_null(written(folder, "link", payload));
    assert_int_equal(lstat(link, &facts), 0);
    assert_true(S_ISREG(facts.st_mode));
    assert_int_equal(count_files(scratch_root, ""), 2);
    free(path);
    free(link);
    close(folder);
}

/* What is not secret goes by the usual rule. */
static void write_openly(job *j, void *argument) {
    writing *w = argument;
    sealed_kind open_kind = kind;
    open_kind.secret = false;
    assert_null(sealed_write(j, w->folder, w->name, &open_kind, &key, w->payload));
}

static void test_writes_openly(void **state) {
    (void)state;
    writing w = {open_root(), "link", payload, NULL};
    char *target = scratch_path("target"), *link = scratch_path("link");
    struct stat facts;
    assert_int_equal(symlink("target", link), 0);
    run(write_openly, &w);
    expect_file(target);
    assert_int_equal(chmod(target, 0600), 0);
    run(write_openly, &w);
    expect_file(target);
    assert_int_equal(stat(target, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    assert_int_equal(lstat(link, &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_int_equal(count_files(scratch_root, ""), 2);
    free(target);
    free(link);
    close(w.folder);
}

static void test_does_not_write(void **state) {
    (void)state;
    const int folder = open_root();
    char *pipe = scratch_path("pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(mkdirat(folder, "sub", 0700), 0);
    expect_refusal(folder, "pipe", "it is no regular file");
    expect_refusal(folder, "sub", "it is no regular file");
    expect_refusal(folder, "none/file", "No such file or directory");
    expect_refusal(folder, "pipe/file", "Not a directory");
    assert_int_equal(count_files(scratch_root, ""), 2);
    free(pipe);
    close(folder);
}

/* ---- full disks ---------------------------------------------------------------------------- */

static char large[1 << 18];

static int write_beyond_limit(void *unused) {
    (void)unused;
    const struct rlimit limit = {1 << 16, 1 << 16};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    char *path = scratch_path("kept");
    char *why = written(AT_FDCWD, path, (blob){large, sizeof large});
    CHECK(why != NULL && strstr(why, "File too large") != NULL);
    CHECK(count_files(scratch_root, "") == 1);
    CHECK(written(AT_FDCWD, path, payload) == NULL);
    free(why);
    free(path);
    return 0;
}

/* A limit on the size of files; its signal, which would end the process, is not provoked. */
static void test_limit_of_file_size(void **state) {
    (void)state;
    char *path = scratch_path("kept");
    assert_null(written(AT_FDCWD, path, payload));
    assert_int_equal(in_child(write_beyond_limit, NULL), 0);
    expect_file(path);
    free(path);
}

/* ---- memory -------------------------------------------------------------------------------- */

typedef struct tight {
    int folder;
    size_t used; /* before the write, of the job's first block */
} tight;

static void write_tightly(job *j, void *argument) {
    const tight *t = argument;
    job_alloc(j, t->used);
    const char *why = sealed_write(j, t->folder, "file", &kind, &key, payload);
    if (why != NULL)
        job_fail(j, FAULT_IO, NULL, 0, "%s", why);
}

/* A job asks for memory in blocks. The first two requests, for the job and its first block, are
   granted, and the block is filled more and more, so that each allocation of the write in turn is
   the one that needs a second block. */
static void test_no_memory_while_writing(void **state) {
    (void)state;
    enum { BLOCK = 16 * 1024, WRITE = 1024, STEP = 16 };
    tight t = {.folder = open_root()};
    int failures = 0;
    for (t.used = BLOCK - WRITE; t.used < BLOCK; t.used += STEP) {
        miser m = {.refused = 3, .for_good = true};
        const allocator memory = {resize_miserly, &m};
        job *j;
        const fault f = job_run(&memory, write_tightly, &t, &j);
        assert_true(f == FAULT_NONE || f == FAULT_MEMORY);
        failures += f == FAULT_MEMORY;
        assert_int_equal(count_files(scratch_root, whole_file_prefix), 0);
        job_end(j);
        assert_int_equal(m.held, 0);
    }
    assert_true(failures > 1 && failures < WRITE / STEP);
    close(t.folder);
}

typedef struct reading {
    int file;
    size_t size;
    const char *says;
    bool good;
} reading;

static void read_file(job *j, void *argument) {
    reading *r = argument;
    const char *why = NULL;
    digest found;
    assert_int_equal(lseek(r->file, 0, SEEK_SET), 0);
    const blob inside = sealed_read(j, r->file, r->size, &kind, &key, &found, &why);
    r->good = why == NULL;
    if (r->good) {
        assert_int_equal(inside.size, sizeof large);
        assert_memory_equal(inside.data, large, sizeof large);
        assert_int_equal(((const char *)inside.data)[inside.size], '\0');
        assert_true(digest_equal(&found, &key));
    } else if (r->says == NULL || strstr(why, r->says) == NULL) {
        fail_msg("it says \"%s\"", why);
    }
}

/* As sealed_open does, and where the file is not as long as it was a moment ago. */
static void test_reads(void **state) {
    (void)state;
    char *path = scratch_path("file");
    assert_null(written(AT_FDCWD, path, (blob){large, sizeof large}));
    reading r = {.file = open(path, O_RDWR), .size = SEALED_HEADER + sizeof large};
    run(read_file, &r);
    assert_true(r.good);
    r.says = "longer than it says";
    r.size++;
    run(read_file, &r);
    assert_false(r.good);
    r.says = "shorter than it says";
    r.size -= 2;
    run(read_file, &r);
    assert_false(r.good);
    r.size++;
    assert_int_equal(ftruncate(r.file, 1000), 0);
    run(read_file, &r);
    assert_false(r.good);
    r.says = "too short";
    assert_int_equal(ftruncate(r.file, SEALED_HEADER - 1), 0);
    run(read_file, &r);
    assert_false(r.good);
    close(r.file);
    r.says = "it cannot be read: ";
    r.file = open(path, O_WRONLY);
    run(read_file, &r);
    assert_false(r.good);
    close(r.file);
    free(path);
}

/* A file that only claims to be large does not exhaust the memory, nor does a large foreign one. */
static void test_reads_no_more_than_a_header_of_foreign_files(void **state) {
    (void)state;
    char *path = scratch_path("file");
    write_content(path, "MZ", 2);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    reading r = {.file = open(path, O_RDONLY), .size = (size_t)1 << 40, .says = "it is not a file"};
    miser m = {.refused = 3, .for_good = true};
    const allocator memory = {resize_miserly, &m};
    job *j;
    assert_int_equal(job_run(&memory, read_file, &r, &j), FAULT_NONE);
    job_end(j);
    close(r.file);
    free(path);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
static int fill_large(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof large; i++)
        large[i] = (char)(i * i);
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_checksum),
    cmocka_unit_test(test_opens),
    cmocka_unit_test(test_refuses_what_is_not_ours),
    cmocka_unit_test(test_refuses_every_truncation),
    cmocka_unit_test(test_refuses_every_flipped_bit),
    cmocka_unit_test(test_glance),
    IN_FOLDER(test_writes),
    IN_FOLDER(test_writes_openly),
    IN_FOLDER(test_does_not_write),
    IN_FOLDER(test_limit_of_file_size),
    IN_FOLDER(test_no_memory_while_writing),
    IN_FOLDER(test_reads),
    IN_FOLDER(test_reads_no_more_than_a_header_of_foreign_files),
};

TEST_GROUP(sealed, fill_large, NULL)
