/* What tests of the cpu device share. Takes: CUDA text with an Arguments struct of its own. Makes:
   an open device, a program of one launch, a loaded module, and a small kernel with barriers. */
#ifndef SG_TESTS_CPU_PROGRAM_H
#define SG_TESTS_CPU_PROGRAM_H

#include "runtime/device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct cpu_test {
    void (*body)(job *, device *);
    int threads;
} cpu_test;

static inline void in_job(job *j, void *argument) {
    const cpu_test *t = argument;
    const char *why = NULL;
    const device_options options = {.threads = t->threads};
    device *d = device_cpu.open(j, &options, &why);
    assert_non_null(d);
    t->body(j, d);
    d->ops->close(d);
}

/* Runs the body with a device of that many threads; its job must not fail. */
static inline void with_device(int threads, void (*body)(job *, device *)) {
    cpu_test t = {.body = body, .threads = threads};
    job *j;
    const fault f = job_run(&allocator_libc, in_job, &t, &j);
    if (f != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

/* A program of one launch; the caller may change the launch before it loads it. */
static inline program *make_program(job *j, const char *source, int x, int y, int z,
                                    size_t shared_bytes, bool barriers) {
    program *p = job_alloc(j, sizeof *p);
    p->name = "test";
    p->source = source;
    p->launches = job_alloc(j, sizeof *p->launches);
    p->launches[0] = (program_launch){
        .entry = "kernel", .block = {x, y, z}, .shared_bytes = shared_bytes, .barriers = barriers};
    p->launch_count = 1;
    return p;
}

static inline blob compile_on(job *j, device *d, const program *p) {
    compiler *c = d->ops->compiler(d);
    return c->ops->compile(c, j, p, "sm_90", d->ops->binary).data;
}

static inline module *build(job *j, device *d, const program *p) {
    return d->ops->load(d, j, p, compile_on(j, d, p));
}

static inline void launch_on(device *d, const module *m, int launch, int64_t x, int64_t y,
                             int64_t z, const void *arguments, size_t bytes) {
    const int64_t grid[3] = {x, y, z};
    int code = -1;
    assert_int_equal(d->ops->launch(d, m, launch, grid, arguments, bytes, NULL, &code), FAULT_NONE);
    assert_int_equal(code, 0);
}

#define ARGUMENTS "struct Arguments { float *out; const float *in; long long count; };\n"
#define KERNEL "extern \"C\" __global__ void kernel(const __grid_constant__ Arguments a) {\n"

typedef struct arguments {
    float *out;
    const float *in;
    int64_t count;
} arguments;

static inline float *floats(job *j, device *d, size_t count) {
    float *f = d->ops->alloc(d, j, count * sizeof *f);
    for (size_t i = 0; i < count; i++)
        f[i] = (float)(i % 1000) + 0.5f;
    return f;
}

/* Every block reverses its elements, through shared memory. */
static const char reverse_text[] = ARGUMENTS KERNEL
    "    float *tile = reinterpret_cast<float *>(sg_cpu_shared());\n"
    "    const unsigned n = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x;\n"
    "    const long long first = static_cast<long long>(blockIdx.x) * n;\n"
    "    tile[t] = a.in[first + t];\n"
    "    __syncthreads();\n"
    "    a.out[first + t] = tile[n - 1 - t];\n"
    "}\n";

#endif
