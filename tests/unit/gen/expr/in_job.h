/* What tests of expressions share. */
#ifndef SG_TESTS_UNIT_GEN_EXPR_IN_JOB_H
#define SG_TESTS_UNIT_GEN_EXPR_IN_JOB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen/expr/expr.h"
#include "tests/unit/group.h"

#define NONE EXPR_NONE

static inline expr_id tap(expr_pool *p, int dx) {
    return expr_tap(p, 0, (const int[AXES]){dx, 0, 0});
}

/* Runs a test's body inside a job. */
static inline void in_job(void (*body)(job *, void *)) {
    job *j;
    assert_int_equal(job_run(&allocator_libc, body, NULL, &j), FAULT_NONE);
    job_end(j);
}

#endif
