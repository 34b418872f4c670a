/* A database where a user's lies, and many plans in it. */
#ifndef TESTS_RESULTS_USER_H
#define TESTS_RESULTS_USER_H

#include "tests/unit/runtime/store/results_scene.h"

enum { PAGE = 4096 }; /* bytes */

static scene s;
static result_place p;

static inline int enter(void **state) {
    if (scratch_enter(state) != 0)
        return -1;
    setenv("XDG_DATA_HOME", scratch_root, 1);
    unsetenv("SG_DATABASE");
    p = place_of(64, 64, 64);
    scene_open_at(&s, NULL);
    s.path = scratch_path("stencilgen/results.db");
    return 0;
}

static inline int leave(void **state) {
    scene_close(&s);
    return scratch_leave(state);
}

/* As another process would. */
static inline void reopen(void) {
    char *path = s.path;
    s.path = NULL;
    scene_close(&s);
    scene_open_at(&s, NULL);
    s.path = path;
}

/* Many plans, so that there is more than one page of them; all in the file and none in its log. */
static inline void fill(void) {
    for (int i = 0; i < 100; i++) {
        char plan[32];
        sprintf(plan, "plan %d", i);
        assert_int_equal(put(&s, &p, plan, 1 + i), FAULT_NONE);
    }
    reopen();
    assert_true(finds(&s, &p, "plan 0"));
    reopen();
}

static inline int aside(void) {
    char *folder = scratch_path("stencilgen");
    const int count = count_files(folder, "results.db.damaged-");
    free(folder);
    return count;
}

#endif
