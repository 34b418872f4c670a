/* For tests of the planner: specs, their plans under a schedule's constraints, and their programs.
 */
#ifndef TESTS_PLANNING_H
#define TESTS_PLANNING_H

#include "tests/unit/gen/spec/load_spec.h"

#include "gen/stencil/method.h"
#include "gen/stencil/plan.h"
#include "gen/stencil/source.h"

typedef struct planning {
    const char *schedule, *arch;
    int64_t size[3], steps;
    model *model;
    plan *plan;
    program *program;
    job *job;
} planning;

static inline void plan_body(job *j, void *argument) {
    planning *p = argument;
    schedule wanted = p->model->schedule;
    schedule_parse(j, p->schedule, NULL, &wanted);
    p->plan = plan_make(j, p->model, &wanted, gpu_find(p->arch), p->size, p->steps);
    p->program = source_make(j, p->model, p->plan);
}

static inline loaded the_spec(const char *text) {
    loaded l = load(text);
    assert_int_equal(l.fault, FAULT_NONE);
    return l;
}

static inline planning make(const loaded *l, const char *line, const char *arch) {
    planning p = {.schedule = line, .arch = arch, .model = l->spec->subjects[0]->expressions};
    model_default_size(p.model->dims, true, p.size);
    job_run(&allocator_libc, plan_body, &p, &p.job);
    return p;
}

#endif
