/* What tests of formats share: bodies of jobs that must succeed, or fail in one way, and comparing
   entries. */
#ifndef TESTS_FORMAT_SCENE_H
#define TESTS_FORMAT_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "matrix/layout.h"
#include "tests/unit/matrix/matrices.h"

/* Runs a body that must not fail, or must fail with `wanted` and a text that holds `part`. */
static inline void run(void (*body)(job *, void *), void *argument) {
    job *j;
    const fault f = job_run(&allocator_libc, body, argument, &j);
    if (f != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

/* Has no pieces beyond 2^30 bytes. */
static inline void *resize_small(void *user, void *old, size_t old_size, size_t size) {
    return size >> 30 != 0 ? NULL : allocator_libc.resize(user, old, old_size, size);
}
static const allocator small = {resize_small, NULL};

static inline void refuses(void (*body)(job *, void *), void *argument, fault wanted,
                           const char *part) {
    job *j;
    assert_int_equal(job_run(&small, body, argument, &j), wanted);
    if (strstr(job_error(j), part) == NULL)
        fail_msg("'%s' is not in '%s'", part, job_error(j));
    job_end(j);
}

static inline void same_entries(const matrix *a, const matrix *b, const char *what) {
    if (a->rows != b->rows || a->columns != b->columns || a->entries != b->entries)
        fail_msg("%s: %dx%d with %d entries", what, (int)b->rows, (int)b->columns, (int)b->entries);
    for (int64_t i = 0; i < a->entries; i++)
        if (a->row[i] != b->row[i] || a->column[i] != b->column[i] || a->value[i] != b->value[i])
            fail_msg("%s: entry %d is (%d, %d) %g", what, (int)i, (int)b->row[i], (int)b->column[i],
                     b->value[i]);
}

#endif
