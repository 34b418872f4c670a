/* Kernel files that are refused because they are damaged or foreign; and where a file cannot be
   written, nothing of it is left. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/saved.h"

#include <sys/resource.h>

/* ---- files that are none -------------------------------------------------------------------- */

static void damaged_files_are_refused(void **state) {
    (void)state;
    char *path = scratch_path("kernel");
    sg_context *c = open_on("cpu");
    sg_kernel *k;
    size_t size;
    make_small((small){.path = path, .kind = BINARY_HOST});
    unsigned char *bytes = read_whole(path, &size);
    assert_int_equal(sg_load(c, path, &k), SG_ERROR_DEVICE); /* the system's loader says no */
    for (size_t i = 0; i < 2 * size; i++) {
        bytes[i / 2] ^= i % 2 == 0 ? 0x01 : 0x80;
        write_whole(path, bytes, size);
        assert_int_equal(sg_load(c, path, &k), SG_ERROR_DATA);
        assert_non_null(strstr(sg_error(c), "error: the kernel cannot be loaded: it "));
        bytes[i / 2] ^= i % 2 == 0 ? 0x01 : 0x80;
    }
    for (size_t i = 0; i < size; i++) {
        write_whole(path, bytes, i);
        assert_int_equal(sg_load(c, path, &k), SG_ERROR_DATA);
    }
    write_whole(path, bytes, size + 1);
    expect_refusal(c, path, SG_ERROR_DATA,
                   ": error: the kernel cannot be loaded: it is longer than it says");
    sg_close(c);
    free(bytes);
    free(path);
}

static void a_real_file_is_no_more_patient(void **state) {
    (void)state;
    char *path = scratch_path("kernel");
    sg_context *c = open_on("cpu");
    sg_kernel *k = build_on(c, BLUR2, "naive"), *loaded;
    size_t size;
    expect_ok(c, sg_save(k, path, NULL));
    unsigned char *bytes = read_whole(path, &size);
    for (size_t i = 0; i < size; i += size / 97) {
        bytes[i] ^= 0x10;
        write_whole(path, bytes, size);
        assert_int_equal(sg_load(c, path, &loaded), SG_ERROR_DATA);
        bytes[i] ^= 0x10;
        write_whole(path, bytes, i);
        assert_int_equal(sg_load(c, path, &loaded), SG_ERROR_DATA);
    }
    write_whole(path, bytes, size);
    expect_ok(c, sg_load(c, path, &loaded));
    sg_release(loaded);
    sg_release(k);
    sg_close(c);
    free(bytes);
    free(path);
}

static void foreign_files_are_refused(void **state) {
    (void)state;
    char *path = scratch_path("kernel");
    sg_context *c = open_on("cpu");
    static const char lua[] =
        "return stencil { name = 'a', shape = star(1, 1) }  -- no kernel file";
    write_whole(path, lua, sizeof lua);
    expect_refusal(c, path, SG_ERROR_DATA,
                   ": error: the kernel cannot be loaded: it is not a kernel file of stencilgen");
    write_whole(path, "", 0);
    expect_refusal(
        c, path, SG_ERROR_DATA,
        ": error: the kernel cannot be loaded: it is too short to be a kernel file of stencilgen");
    make_small((small){.path = path, .kind = BINARY_HOST, .version = "stencilgen 0.0.0"});
    expect_refusal(c, path, SG_ERROR_DATA,
                   ": error: the kernel cannot be loaded: it was saved by another version of "
                   "stencilgen than " SG_VERSION);
    make_small((small){.path = path, .kind = BINARY_HOST, .other_format = 1});
    expect_refusal(c, path, SG_ERROR_DATA,
                   ": error: the kernel cannot be loaded: it is of format 12; this version of "
                   "stencilgen has format 11");
    make_small((small){.path = path, .kind = BINARY_HOST, .machine = "a PDP-11"});
    expect_refusal(c, path, SG_ERROR_DATA,
                   ": error: the kernel cannot be loaded: it was compiled for another processor "
                   "than this machine's");
    sg_close(c);
    free(path);
}

static void what_is_no_file_is_refused(void **state) {
    (void)state;
    char *path = scratch_path("nothing"), *pipe = scratch_path("pipe");
    sg_context *c = open_on("cpu");
    sg_kernel *k;
    expect_refusal(c, path, SG_ERROR_IO,
                   ": error: the kernel cannot be loaded: No such file or directory");
    expect_refusal(c, scratch_root, SG_ERROR_IO,
                   ": error: the kernel cannot be loaded: it is no regular file");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    expect_refusal(c, pipe, SG_ERROR_IO,
                   ": error: the kernel cannot be loaded: it is no regular file");
    expect_refusal(c, NULL, SG_ERROR_USAGE, "error: no path was given to load a kernel from");
    assert_int_equal(sg_load(NULL, path, &k), SG_ERROR_USAGE);
    assert_int_equal(sg_load(c, path, NULL), SG_ERROR_USAGE);
    sg_close(c);
    free(path);
    free(pipe);
}

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct writing {
    sg_kernel *kernel;
    sg_context *context;
    const char *path, *says;
} writing;

/* In place of assertions: this runs in children. */
static int save_fails(const writing *w) {
    CHECK(sg_save(w->kernel, w->path, NULL) == SG_ERROR_IO);
    if (strstr(sg_error(w->context), w->says) == NULL) {
        fprintf(stderr, "%s\n", sg_error(w->context));
        return 1;
    }
    return 0;
}

static int save_on_a_full_disk(void *argument) {
    const struct rlimit limit = {4096, 4096};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    return save_fails(argument);
}

static int save_as_somebody_else(void *argument) {
    CHECK(geteuid() != 0 || setuid(65534) == 0);
    return save_fails(argument);
}

static void what_cannot_be_written_leaves_nothing(void **state) {
    (void)state;
    char *path = scratch_path("kernel"), *folder = scratch_path("folder"),
         *deep = scratch_path("none/kernel"), *inside = scratch_path("folder/kernel");
    sg_context *c = open_on("cpu");
    sg_kernel *k = build_on(c, SHIFT2, "naive");
    writing w = {k, c, path, "error: cannot write "};
    assert_int_equal(in_child(save_on_a_full_disk, &w), 0);
    assert_int_equal(count_files(scratch_root, ""), 0);

    /* An older file stays as it is. */
    write_whole(path, "old", 3);
    assert_int_equal(in_child(save_on_a_full_disk, &w), 0);
    size_t size;
    unsigned char *bytes = read_whole(path, &size);
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "old", 3);
    free(bytes);
    assert_int_equal(count_files(scratch_root, ""), 1);

    assert_int_equal(mkdir(folder, 0555), 0);
    w.path = folder;
    assert_int_equal(save_fails(&w), 0); /* it is a folder */
    w.path = deep;
    w.says = "none/kernel: No such file or directory";
    assert_int_equal(save_fails(&w), 0);
    w.path = inside;
    w.says = "folder/kernel: Permission denied";
    assert_int_equal(in_child(save_as_somebody_else, &w), 0);
    assert_int_equal(count_files(folder, ""), 0);
    assert_int_equal(count_files(scratch_root, ""), 2);

    /* And is replaced where all goes well. */
    expect_ok(c, sg_save(k, path, NULL));
    sg_kernel *loaded;
    expect_ok(c, sg_load(c, path, &loaded));
    sg_release(loaded);
    sg_release(k);
    sg_close(c);
    free(path);
    free(folder);
    free(deep);
    free(inside);
}

static void saving_says_what_it_cannot_do(void **state) {
    (void)state;
    char *path = scratch_path("kernel");
    sg_context *c = open_on("cpu");
    sg_kernel *k = build_on(c, SHIFT2, "naive");
    assert_int_equal(sg_save(NULL, path, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_save(k, NULL, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(c), "error: no path was given to save 'shift' to");
    assert_int_equal(sg_save(k, path, "gpu"), SG_ERROR_USAGE);
    assert_string_equal(sg_error(c), "error: a kernel cannot be saved for the device 'gpu'; known "
                                     "are cuda and cpu");
    assert_int_equal(sg_save(k, path, ""), SG_ERROR_USAGE);
    assert_int_equal(count_files(scratch_root, ""), 0);
    sg_release(k);
    sg_close(c);

    /* A source alone is compiled for its file, if there is a compiler. */
    const sg_build_options options = {
        .struct_size = sizeof options, .text = SHIFT2, .source_only = 1};
    const hidden h = hide_compilers();
    c = open_on("none");
    expect_ok(c, sg_build(c, NULL, &options, &k));
    assert_int_equal(sg_save(k, path, "cpu"), SG_ERROR_COMPILER);
    assert_int_equal(count_files(scratch_root, ""), 0);
    sg_release(k);
    sg_close(c);
    show_compilers(h);
    free(path);
}

static const struct CMUnitTest tests[] = {
    TEST(damaged_files_are_refused),
    TEST(a_real_file_is_no_more_patient),
    TEST(foreign_files_are_refused),
    TEST(what_is_no_file_is_refused),
    TEST(what_cannot_be_written_leaves_nothing),
    TEST(saving_says_what_it_cannot_do),
};

TEST_GROUP(save_errors, NULL, NULL)
