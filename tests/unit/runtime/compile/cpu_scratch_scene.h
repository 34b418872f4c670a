/* What tests of the cpu device's scratch folders share: TMPDIR is a folder of the test's, in which
   files are laid and looked for, and a kernel is compiled. */
#ifndef TESTS_CPU_SCRATCH_SCENE_H
#define TESTS_CPU_SCRATCH_SCENE_H

#include "tests/unit/runtime/device/cpu/cpu_program.h"
#include "tests/unit/scratch_folder.h"

#include "runtime/compile/compilers.h"

static const char plain_text[] = "struct Arguments { float *out; };\n"
                                 "extern \"C\" __global__ void kernel(const Arguments a) {\n"
                                 "    a.out[threadIdx.x] = 3;\n"
                                 "}\n";

static inline int enter(void **state) {
    return scratch_enter(state) != 0 || setenv("TMPDIR", scratch_root, 1) != 0;
}

static inline int leave(void **state) {
    unsetenv("TMPDIR");
    unsetenv("SG_CXX");
    return scratch_leave(state);
}

static inline char *below(const char *folder, const char *name) {
    char *path = malloc(strlen(scratch_root) + strlen(folder) + strlen(name) + 3);
    sprintf(path, "%s/%s/%s", scratch_root, folder, name);
    return path;
}

static inline void lay(const char *folder, const char *name, const char *text) {
    char *path = below(folder, name);
    write_content(path, text, strlen(text));
    free(path);
}

static inline bool is_there(const char *folder, const char *name) {
    char *path = below(folder, name);
    const bool found = access(path, F_OK) == 0;
    free(path);
    return found;
}

static inline void make_folder(const char *name) {
    char *path = scratch_path(name);
    assert_int_equal(mkdir(path, 0700), 0);
    free(path);
}

/* ---- errors --------------------------------------------------------------------------------- */

static inline job *fails(fault expected, void (*body)(job *, void *)) {
    job *j;
    assert_int_equal(job_run(&allocator_libc, body, NULL, &j), expected);
    return j;
}

static inline void expect_error(void (*body)(job *, void *), const char *const *texts, int count) {
    job *j = fails(FAULT_IO, body);
    for (int i = 0; i < count; i++)
        if (strstr(job_error(j), texts[i]) == NULL)
            fail_msg("\"%s\" is not in: %s", texts[i], job_error(j));
    job_end(j);
}

static inline void open_and_close(job *j, void *unused) {
    (void)unused;
    scratch_place here = {.cache = NULL};
    scratch_close(j, scratch_open(j, &here));
}

static inline void sweep_by_opening(void) {
    job_end(fails(FAULT_NONE, open_and_close));
}

static inline void close_device(void *d) {
    device_cpu.close(d);
}

static inline void compile_body(job *j, void *unused) {
    (void)unused;
    const char *why;
    device *d = device_cpu.open(j, &(device_options){.threads = 1}, &why);
    job_defer(j, close_device, d);
    const program *p = make_program(j, plain_text, 1, 1, 1, 0, false);
    d->ops->unload(d, d->ops->load(d, j, p, compile_on(j, d, p)));
    job_keep(j, d);
    close_device(d);
}

#endif
