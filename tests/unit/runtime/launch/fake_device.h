/* A device that computes nothing: its memory is the host's, and it remembers what it was asked to
   launch. Takes: what the runtime asks of a device. Makes: a record for a test to look at, and
   kernels of a given program without building one. */
#ifndef TESTS_FAKE_DEVICE_H
#define TESTS_FAKE_DEVICE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "runtime/launch/context.h"
#include "runtime/launch/launch.h"

enum { FAKE_LAUNCHES = 1024, FAKE_FILLS = 16 };

typedef struct fake_launch {
    int which;
    int64_t grid[3];
    size_t bytes;
    unsigned char arguments[LAUNCH_BYTES];
    void *stream;
    bool together;
} fake_launch;

typedef struct fake_fill {
    void *to;
    int byte;
    size_t bytes;
    void *stream;
    int launches; /* before it */
} fake_fill;

typedef struct fake_device {
    device base;
    fake_launch launches[FAKE_LAUNCHES]; /* the first of them */
    fake_fill fills[FAKE_FILLS];         /* likewise */
    int launch_count, fill_count, copy_count;
    size_t copied;    /* bytes */
    int fail_with;    /* a code that launches fail with; 0: they succeed */
    int64_t together; /* how many blocks it runs at a time */
    int64_t resident; /* likewise, of a launch of lists */
    int map_count;
    device_map last_map; /* that it was asked for … */
    bool refuse_maps;    /* … and refused */
} fake_device;

static device *fake_open(job *j, const device_options *options, const char **why);

static void fake_close(device *d) {
    free(d);
}

static const device_facts *fake_facts(const device *d) {
    static const device_facts facts = {.device = "cpu", .name = "a fake", .arch = "cpu"};
    (void)d;
    return &facts;
}

static fault fake_launch_kernel(device *d, const module *m, int which, const int64_t grid[3],
                                const void *arguments, size_t bytes, void *stream, int *code) {
    fake_device *f = (fake_device *)d;
    assert_non_null(m);
    if (f->fail_with != 0) {
        *code = f->fail_with;
        return FAULT_DEVICE;
    }
    if (f->launch_count < FAKE_LAUNCHES) {
        fake_launch *l = &f->launches[f->launch_count];
        *l = (fake_launch){.which = which, .bytes = bytes, .stream = stream};
        memcpy(l->grid, grid, sizeof l->grid);
        memcpy(l->arguments, arguments, bytes);
    }
    f->launch_count++;
    return FAULT_NONE;
}

static fault fake_launch_together(device *d, const module *m, int which, const int64_t grid[3],
                                  const void *arguments, size_t bytes, void *stream, int *code) {
    fake_device *f = (fake_device *)d;
    assert_in_range(grid[0] * grid[1] * grid[2], 1, f->together);
    const fault failed = fake_launch_kernel(d, m, which, grid, arguments, bytes, stream, code);
    if (failed == FAULT_NONE && f->launch_count <= FAKE_LAUNCHES)
        f->launches[f->launch_count - 1].together = true;
    return failed;
}

static int64_t fake_together(device *d, const module *m, int which) {
    assert_non_null(m);
    assert_int_equal(which, 0);
    return ((fake_device *)d)->together;
}

static int64_t fake_resident(device *d, const module *m, int which) {
    assert_non_null(m);
    assert_in_range(which, 0, 63);
    return ((fake_device *)d)->resident;
}

static void fake_copy(device *d, job *j, const device_copy *c, void *stream) {
    fake_device *f = (fake_device *)d;
    (void)j;
    (void)stream;
    if (c->rows > 1) {
        assert_in_range(c->to_pitch, c->bytes, SIZE_MAX / 2);
        assert_in_range(c->from_pitch, c->bytes, SIZE_MAX / 2);
    }
    for (size_t row = 0; row < c->rows; row++)
        memcpy((char *)c->to + row * c->to_pitch, (const char *)c->from + row * c->from_pitch,
               c->bytes);
    f->copy_count++;
    f->copied += c->bytes * c->rows;
}

static fault fake_fill_async(device *d, void *to, int byte, size_t bytes, void *stream, int *code) {
    fake_device *f = (fake_device *)d;
    if (f->fail_with != 0) {
        *code = f->fail_with;
        return FAULT_DEVICE;
    }
    if (f->fill_count < FAKE_FILLS)
        f->fills[f->fill_count] = (fake_fill){to, byte, bytes, stream, f->launch_count};
    f->fill_count++;
    return FAULT_NONE;
}

static bool fake_map(device *d, const device_map *m, void *to) {
    fake_device *f = (fake_device *)d;
    memset(to, 0x5A, PROGRAM_MAP_BYTES);
    f->map_count++;
    f->last_map = *m;
    return !f->refuse_maps;
}

static const char *fake_code_name(const device *d, int code) {
    (void)d;
    return code == 77 ? "FAKE_ERROR_77" : "FAKE_ERROR_OTHER";
}

static void fake_unload(device *d, module *m) {
    (void)d;
    (void)m;
}

static const device_ops fake_ops = {.name = "cpu",
                                    .open = fake_open,
                                    .close = fake_close,
                                    .facts = fake_facts,
                                    .unload = fake_unload,
                                    .launch = fake_launch_kernel,
                                    .launch_together = fake_launch_together,
                                    .together = fake_together,
                                    .resident = fake_resident,
                                    .copy = fake_copy,
                                    .map = fake_map,
                                    .fill_async = fake_fill_async,
                                    .code_name = fake_code_name};

static device *fake_open(job *j, const device_options *options, const char **why) {
    (void)options;
    (void)why;
    fake_device *f = calloc(1, sizeof *f);
    if (f == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "no memory");
    f->base.ops = &fake_ops;
    return &f->base;
}

static fake_device *fake_of(const sg_kernel *k) {
    return (fake_device *)k->context->device;
}

/* A kernel of a program, as building would have made it. */
typedef struct fake_making {
    sg_context *context;
    const program *program;
    sg_kernel *kernel;
} fake_making;

static void fake_make(job *j, void *argument) {
    fake_making *m = argument;
    sg_kernel *k = job_alloc(j, sizeof *k);
    program *p = job_alloc(j, sizeof *p);
    *p = *m->program;
    p->arguments_bytes = program_arguments_bytes(p);
    k->context = m->context;
    k->job = j;
    k->program = p;
    k->module = (module *)k; /* the fake never looks into it */
    k->texts[SG_TEXT_DTYPE] = p->element_bytes == sizeof(float) ? "float" : "double";
    pthread_mutex_init(&k->lock, NULL);
    m->kernel = k;
}

static sg_kernel *fake_kernel(const program *p) {
    const device_ops *const kinds[] = {&fake_ops};
    fake_making m = {.program = p};
    job *j;
    assert_int_equal(context_open(&m.context, NULL, kinds, 1), SG_OK);
    assert_int_equal(job_run(&allocator_libc, fake_make, &m, &j), FAULT_NONE);
    return kernels_add(m.context, m.kernel);
}

static void fake_end(sg_kernel *k) {
    sg_context *c = k->context;
    sg_release(k);
    sg_close(c);
}

#endif
