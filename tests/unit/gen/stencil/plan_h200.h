/* For tests of the planner: plans for an H200 of which no rates are known. */
#ifndef TESTS_PLAN_H200_H
#define TESTS_PLAN_H200_H

#include "tests/unit/gen/spec/load_spec.h"

#include "gen/model/plans.h"
#include "gen/stencil/method.h"

/* Sizes. */
#define FLAT(n)                                                                                    \
    { n, n, 1 }
#define CUBE(n)                                                                                    \
    { n, n, n }

typedef struct planning {
    const model *model;
    const char *schedule;
    int64_t size[AXES], steps;
    plan *plan;
} planning;

static inline void planning_body(job *j, void *argument) {
    planning *p = argument;
    schedule wanted = {.method = 0};
    schedule_parse(j, p->schedule, NULL, &wanted);
    static const plans none;
    gpu *board = job_alloc(j, sizeof *board);
    *board = *gpu_find("H200");
    board->plans = &none;
    p->plan = plan_make(j, p->model, &wanted, board, p->size, p->steps);
}

/* Stars of the heat equation, and boxes of weights of which no two are alike. */
static inline job *make(planning *p, loaded *l, const char *shape, const char *dtype,
                        const char *boundary) {
    static char text[512];
    char kind[8], weights[128];
    int dims, radius, points = 1;
    assert_int_equal(sscanf(shape, "%7[a-z](%d, %d)", kind, &dims, &radius), 3);
    for (int axis = 0; axis < dims; axis++)
        points *= 2 * radius + 1;
    if (strcmp(kind, "star") == 0)
        snprintf(weights, sizeof weights,
                 "identity() + 0.05 * laplacian { dims = %d, accuracy = %d }", dims, 2 * radius);
    else
        snprintf(weights, sizeof weights, "{} for i = 1, %d do w[i] = i / %d end", points,
                 points * (points + 1) / 2);
    snprintf(text, sizeof text,
             "local w = %s\nreturn stencil { name = 's', shape = %s, dtype = '%s', "
             "boundary = '%s', coefficients = w }",
             weights, shape, dtype, boundary);
    p->model = load_model(l, text);
    job *j;
    if (job_run(&allocator_libc, planning_body, p, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    return j;
}

#endif
