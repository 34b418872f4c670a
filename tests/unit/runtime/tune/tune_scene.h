/* What tests of sweeps share: a cache for all tests of a program, and a spec of three candidates.
 */
#ifndef TESTS_TUNE_SCENE_H
#define TESTS_TUNE_SCENE_H

#include <signal.h>

#include "tests/unit/runtime/store/results_scene.h"

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
    " coefficients = { 0.5, 0.25, 0.25 }, schedule = { method = 'naive' },"
    " tune = { method = { 'naive' }, tile = { { x = 64 }, { x = 128 }, { x = 256 } } } }";

/* ---- sweeps ------------------------------------------------------------------------------ */

typedef struct run {
    const char *text, *schedule;
    int64_t size, steps;
    int evaluations;
    int stop_after; /* evaluations; 0: not */
    bool die;       /* there, instead */
    bool stop_in_finals;
    sg_search search;
    const sg_matrix *matrix;
    int calls, built, ended; /* of the callback */
    double best;
} run;

static inline int listen(void *user, const sg_tune_progress *p) {
    run *r = user;
    r->calls++;
    r->built += p->building;
    r->ended += p->last != NULL;
    if (p->last != NULL && p->struct_size != sizeof *p)
        abort();
    if (r->stop_in_finals && p->round > 1)
        return 1;
    if (r->stop_after > 0 && p->last != NULL && r->ended == r->stop_after) {
        if (r->die)
            raise(SIGKILL);
        return 1;
    }
    return 0;
}

static inline sg_status sweep(sg_context *c, run *r, sg_tuning **out) {
    const sg_build_options build = {.struct_size = sizeof build,
                                    .text = r->text,
                                    .schedule = r->schedule,
                                    .size = {r->size},
                                    .steps = r->steps,
                                    .matrix = r->matrix};
    const sg_tune_options options = {.struct_size = sizeof options,
                                     .build = &build,
                                     .search = r->search,
                                     .evaluations = r->evaluations,
                                     .progress = listen,
                                     .user = r};
    *out = NULL;
    return sg_tune(c, "spec", &options, out);
}

static inline sg_tuning *must_sweep(sg_context *c, run *r) {
    sg_tuning *t;
    if (sweep(c, r, &t) != SG_OK)
        fail_msg("%s", sg_error(c));
    return t;
}

static inline void expect_build(sg_context *c, const char *plan, const char *found) {
    const sg_build_options options = {
        .struct_size = sizeof options, .text = heat, .size = {5000}, .source_only = 1};
    sg_kernel *k;
    sg_kernel_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_build(c, "spec", &options, &k), SG_OK);
    assert_int_equal(sg_kernel_facts(k, &info), SG_OK);
    if (plan != NULL)
        assert_string_equal(sg_kernel_text(k, SG_TEXT_PLAN), plan);
    assert_string_equal(info.found, found);
    sg_release(k);
}

#endif
