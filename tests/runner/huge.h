/* Grids of more than 2^31 cells along an axis, of which only the cells that a small box needs are
   ever touched. Takes: a subject, a place whose box is small. Makes: what is wrong, or NULL. */
#ifndef TESTS_RUNNER_HUGE_H
#define TESTS_RUNNER_HUGE_H

#include "tests/runner/scene.h"

/* On the cpu device the arrays are address space alone, without memory behind it. On a GPU they are
   allocated whole where `allowed`; else, or where they do not fit, *skipped says why. */
const char *huge_run(job *, const test_subject *, const place *, uint64_t seed, bool allowed,
                     const char **skipped);

#endif
