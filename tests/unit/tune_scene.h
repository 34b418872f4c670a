/* What tests of sweeps share: a cache for all tests of a program, and a spec of three candidates.
 */
#ifndef TESTS_TUNE_SCENE_H
#define TESTS_TUNE_SCENE_H

#include "tests/unit/results_scene.h"

static char kept[] = "/tmp/sg-test-tune-XXXXXX";

static inline int make_cache(void **state) {
    (void)state;
    return mkdtemp(kept) == NULL;
}

static inline int remove_cache(void **state) {
    (void)state;
    char command[sizeof "rm -rf " + sizeof kept];
    sprintf(command, "rm -rf %s", kept);
    return system(command);
}

static const char heat[] =
    "return stencil { name = 'heat', shape = star(1, 1),"
    " coefficients = { 0.5, 0.25, 0.25 },"
    " tune = { method = { 'naive' }, tile = { { x = 64 }, { x = 128 }, { x = 256 } } } }";

#endif
