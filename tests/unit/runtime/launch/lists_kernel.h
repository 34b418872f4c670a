/* Kernels of programs of lists on the cpu device, without a spec. Takes: a program, which outlives
   the kernel. Makes: a context with a kernel, as building would have made it. */
#ifndef TESTS_LISTS_KERNEL_H
#define TESTS_LISTS_KERNEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/launch/context.h"
#include "runtime/launch/launch.h"
#include "tests/unit/runtime/launch/lists_call.h"

typedef struct lists_making {
    sg_context *context;
    const program *program;
    sg_kernel *kernel;
} lists_making;

static inline void lists_make(job *j, void *argument) {
    lists_making *m = argument;
    sg_kernel *k = job_alloc(j, sizeof *k);
    k->context = m->context;
    k->job = j;
    k->program = m->program;
    for (int i = 0; i <= SG_TEXT_FAMILY; i++)
        k->texts[i] = "a text";
    k->texts[SG_TEXT_NAME] = m->program->name;
    k->texts[SG_TEXT_SOURCE] = m->program->source;
    k->texts[SG_TEXT_ARCH] = m->program->target;
    k->info = (sg_kernel_info){.struct_size = sizeof k->info,
                               .dims = 1,
                               .element_size = m->program->element_bytes,
                               .arrays = m->program->array_count,
                               .parameters = m->program->parameter_count,
                               .threads = 8,
                               .registers = -1,
                               .local_bytes = -1,
                               .blocks_resident = -1,
                               .occupancy = -1,
                               .size = {1000, 1, 1},
                               .kind = (sg_kind)m->program->kind};
    kernel_take(j, k, modules_hold(j, m->context, m->program, true, &k->info.origin));
    pthread_mutex_init(&k->lock, NULL);
    m->kernel = k;
}

static inline sg_kernel *lists_kernel_on(const program *p, int threads, sg_resize resize,
                                         void *user) {
    const sg_options options = {.struct_size = sizeof options,
                                .device = "cpu",
                                .threads = threads,
                                .cache = "none",
                                .resize = resize,
                                .resize_user = user};
    lists_making m = {.program = p};
    job *kept;
    if (sg_open(&m.context, &options) != SG_OK ||
        context_run(m.context, lists_make, &m, &kept) != SG_OK)
        fail_msg("%s", sg_error(m.context));
    return kernels_add(m.context, m.kernel);
}

static inline sg_kernel *lists_kernel_with(const program *p, sg_resize resize, void *user) {
    return lists_kernel_on(p, 2, resize, user);
}

static inline sg_kernel *lists_kernel(const program *p) {
    return lists_kernel_with(p, NULL, NULL);
}

static inline void lists_end(sg_kernel *k) {
    sg_context *c = k->context;
    sg_release(k);
    sg_close(c);
}

#endif
