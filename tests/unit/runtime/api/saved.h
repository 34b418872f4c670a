/* What tests of saved kernels share: contexts and kernels on them, whole files, files that are
   right but for one thing, and hiding the compilers of the machine. */
#ifndef TESTS_SAVED_H
#define TESTS_SAVED_H

#include "tests/unit/scratch_folder.h"

#include "runtime/device/device.h"
#include "runtime/stencilgen.h"
#include "tests/unit/runtime/api/kernel_files.h"

/* ---- contexts and kernels ------------------------------------------------------------------- */

static inline sg_context *open_on(const char *device) {
    const sg_options options = {
        .struct_size = sizeof options, .device = device, .threads = 2, .cache = "none"};
    sg_context *c;
    if (sg_open(&c, &options) != SG_OK)
        fail_msg("%s", sg_error(c));
    return c;
}

static inline sg_kernel *build_on(sg_context *c, const char *text, const char *schedule) {
    const sg_build_options options = {
        .struct_size = sizeof options, .text = text, .schedule = schedule};
    sg_kernel *k;
    if (sg_build(c, "test.lua", &options, &k) != SG_OK)
        fail_msg("%s", sg_error(c));
    return k;
}

#define expect_ok(c, call)                                                                         \
    do {                                                                                           \
        if ((call) != SG_OK)                                                                       \
            fail_msg("%s", sg_error(c));                                                           \
    } while (0)

/* `says` is all of the text behind the path. */
static inline void expect_refusal(sg_context *c, const char *path, sg_status status,
                                  const char *says) {
    sg_kernel *untouched = (sg_kernel *)&untouched, *k = untouched;
    const sg_status got = sg_load(c, path, &k);
    const char *text = sg_error(c);
    if (path != NULL && strncmp(text, path, strlen(path)) == 0)
        text += strlen(path);
    if (got != status || strcmp(text, says) != 0)
        print_error("%s\n", sg_error(c));
    assert_int_equal(got, status);
    assert_string_equal(text, says);
    assert_ptr_equal(k, untouched);
}

static inline void write_whole(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* For the caller to free. */
static inline unsigned char *read_whole(const char *path, size_t *size) {
    struct stat facts;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &facts), 0);
    *size = (size_t)facts.st_size;
    unsigned char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* A file whose binary no device would load, but of which all else is right. */
typedef struct small {
    const char *path, *machine, *target, *version;
    binary_kind kind;
    int other_format;
} small;

static inline void write_small(job *j, void *argument) {
    const small *s = argument;
    kernel_file *f = file_of(j, HEAT7, "naive", s->kind, true);
    const blob piece = digest_piece(s->version != NULL ? s->version : "stencilgen " SG_VERSION);
    const digest key = digest_of(&piece, 1);
    sealed_kind kind = kernel_file_kind;
    kind.version += (uint32_t)s->other_format;
    if (s->machine != NULL)
        f->machine = s->machine;
    else if (s->kind == BINARY_HOST)
        f->machine = host_machine(j);
    if (s->target != NULL)
        f->texts[SG_TEXT_ARCH] = s->target;
    const char *why = sealed_write(j, AT_FDCWD, s->path, &kind, &key, kernel_file_write(j, f));
    if (why != NULL)
        job_fail(j, FAULT_IO, NULL, 0, "%s", why);
}

static inline void make_small(small s) {
    job *j;
    if (job_run(&allocator_libc, write_small, &s, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

/* Where no compiler is to be found. */
typedef struct hidden {
    char *path, *cxx;
} hidden;

static inline hidden hide_compilers(void) {
    const hidden h = {strdup(getenv("PATH")), getenv("SG_CXX") ? strdup(getenv("SG_CXX")) : NULL};
    setenv("PATH", "", 1);
    setenv("SG_CXX", "/nonexistent", 1);
    return h;
}

static inline void show_compilers(hidden h) {
    setenv("PATH", h.path, 1);
    if (h.cxx != NULL)
        setenv("SG_CXX", h.cxx, 1);
    else
        unsetenv("SG_CXX");
    free(h.path);
    free(h.cxx);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_enter, scratch_leave)

#endif
