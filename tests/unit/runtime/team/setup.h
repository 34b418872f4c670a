/* A rank's kernel, part and arrays of two grids of floats, all zeros. */
#ifndef SG_TESTS_TEAM_SETUP_H
#define SG_TESTS_TEAM_SETUP_H

#include <stdbool.h>

#include "tests/unit/runtime/team/heat.h"
#include "tests/unit/runtime/team/ranks.h"

typedef struct setup {
    sg_kernel *kernel;
    sg_team_part part;
    sg_grid grids[2];
    sg_arguments arguments;
} setup;

static inline bool set_rank(rank *r, setup *s, const char *spec, int64_t x, int64_t y, int64_t z) {
    const sg_build_options how = options_of(spec, x, y, z);
    *s = (setup){.part = {.struct_size = sizeof s->part, .global = {x, y, z}}};
    if (!good(r, sg_team_build(r->team, "test.lua", &how, NULL, &s->kernel)) ||
        !good(r, sg_team_arrange(r->team, s->kernel, &s->part)))
        return false;
    const size_t bytes = (size_t)(s->part.size[0] * s->part.size[1] * s->part.size[2]) * 4;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sg_alloc(r->context, bytes, &s->grids[i].data), SG_OK);
        memset(s->grids[i].data, 0, bytes);
        memcpy(s->grids[i].size, s->part.size, sizeof s->part.size);
    }
    s->arguments =
        (sg_arguments){.struct_size = sizeof s->arguments, .grids = s->grids, .grid_count = 2};
    return true;
}

static inline void end_rank(rank *r, setup *s) {
    for (int i = 0; i < 2; i++)
        sg_free(r->context, s->grids[i].data);
    sg_release(s->kernel);
}

static inline bool run_steps(rank *r, setup *s, int64_t steps) {
    return good(r, sg_team_run(r->team, s->kernel, &s->part, &s->arguments, steps, NULL, NULL));
}

#endif
