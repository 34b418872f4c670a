/* Small specs of heat, and how they are built, for tests of teams. */
#ifndef SG_TESTS_TEAM_HEAT_H
#define SG_TESTS_TEAM_HEAT_H

#include "runtime/stencilgen.h"

static const char heat[] = "return stencil { name = 'heat', shape = star(2, 1), dtype = 'float', "
                           "coefficients = identity() + 0.05 * laplacian { dims = 2, accuracy = 2 }"
                           ", boundary = 'zero' }";
static const char wide[] = "return stencil { name = 'wide', shape = star(1, 4), dtype = 'float', "
                           "coefficients = identity() + 0.05 * laplacian { dims = 1, accuracy = 8 }"
                           ", boundary = 'zero' }";

static inline sg_build_options options_of(const char *spec, int64_t x, int64_t y, int64_t z) {
    return (sg_build_options){.struct_size = sizeof(sg_build_options),
                              .text = spec,
                              .schedule = "naive",
                              .size = {x, y, z}};
}

#endif
