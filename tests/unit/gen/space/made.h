/* What tests of the space of candidates share. Takes: the text of a spec, a schedule, a GPU, a
   size. Makes: the space, in a job of its own. */
#ifndef TESTS_UNIT_SPACE_MADE_H
#define TESTS_UNIT_SPACE_MADE_H

#include "gen/families.h"
#include "gen/model/plans.h"
#include "gen/space/space.h"
#include "matrix/format.h"
#include "tests/unit/gen/spec/load_spec.h"

typedef struct made {
    job *job;
    fault fault;
    const char *text, *schedule, *arch;
    int64_t size[AXES], steps;
    const matrix *matrix;
    const subject *subject;
    family_request request;
    space *space;
} made;

/* The GPU with the plans that are known of it, as a build of the library has it: else each
   candidate would read all plans files. */
static inline const gpu *gpu_with_plans(job *j, const char *arch) {
    gpu *g = job_alloc(j, sizeof *g);
    *g = *gpu_find(arch);
    g->plans = plans_known(j, g);
    return g;
}

static inline void make_body(job *j, void *argument) {
    made *m = argument;
    m->subject = spec_load(j, "test.lua", m->text, NULL)->subjects[0];
    m->request = (family_request){.schedule = m->schedule,
                                  .gpu = gpu_with_plans(j, m->arch),
                                  .steps = m->steps,
                                  .matrix = m->matrix};
    memcpy(m->request.size, m->size, sizeof m->size);
    m->space = space_make(j, m->subject, &m->request);
}

static inline made make_for(const char *text, const char *schedule, const char *arch, int64_t x,
                            int64_t y, int64_t z, int64_t steps) {
    made m = {.text = text, .schedule = schedule, .arch = arch, .size = {x, y, z}, .steps = steps};
    m.fault = job_run(&allocator_libc, make_body, &m, &m.job);
    if (m.fault != FAULT_NONE && m.fault != FAULT_PLAN)
        print_error("%s\n", job_error(m.job));
    return m;
}

#define STAR(dims, more)                                                                           \
    "return stencil { name = 's', shape = star(" #dims                                             \
    ", 1), coefficients = identity() + 0.1 * laplacian { dims = " #dims ", accuracy = 2 }, " more  \
    " }"

#endif
