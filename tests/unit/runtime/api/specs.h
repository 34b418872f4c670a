/* Specs that several tests build. */
#ifndef TESTS_SPECS_H
#define TESTS_SPECS_H

#define HEAT7                                                                                      \
    "return stencil { name = 'heat7', shape = star(3, 1), dtype = 'float', boundary = 'fixed',\n"  \
    "  coefficients = { 0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 } }\n"

/* One cell to the right, exactly. */
#define SHIFT2                                                                                     \
    "return stencil { name = 'shift', shape = points { {0,0}, {1,0} }, dtype = 'float',\n"         \
    "  boundary = 'clamp', coefficients = { 0, 1 } }\n"

#define BLUR2                                                                                      \
    "return stencil { name = 'blur', shape = box(2, 1), dtype = 'double',\n"                       \
    "  boundary = { x = 'periodic', y = { 'mirror', 'zero' } },\n"                                 \
    "  coefficients = { 1/16, 2/16, 1/16, 2/16, 4/16, 2/16, 1/16, 2/16, 1/16 } }\n"

#define WAVE2                                                                                      \
    "return stencil { name = 'wave', dims = 2, dtype = 'float', boundary = 'zero',\n"              \
    "  fields = { u = { use = 'inout', levels = 2 }, c = 'in' },\n"                                \
    "  update = function(f, p)\n"                                                                  \
    "    local u = f.u\n"                                                                          \
    "    local l = u(1,0) + u(-1,0) + u(0,1) + u(0,-1) - 4 * u(0,0)\n"                             \
    "    return 2 * u(0,0) - u.prev(0,0) + p.dt * f.c(0,0) * l\n"                                  \
    "  end }\n"

/* An out field and an inout one, and a parameter with a default and one without. */
#define SLOPE1                                                                                     \
    "return stencil { name = 'slope', dims = 1, dtype = 'double', boundary = 'fixed',\n"           \
    "  parameters = { k = 0.25, h = true },\n"                                                     \
    "  fields = { u = 'inout', d = 'out' },\n"                                                     \
    "  update = function(f, p)\n"                                                                  \
    "    return { u = f.u(0) + p.k * (f.u(1) - f.u(-1)), d = (f.u(1) - f.u(-1)) / p.h }\n"         \
    "  end }\n"

/* Two passes: 3 columns, 2 rows. */
#define FILTER2                                                                                    \
    "return convolution { name = 'filter', dtype = 'float', boundary = 'clamp',\n"                 \
    "  weights = { { 1, 2, 1 }, { 3, 6, 3 } }, schedule = { passes = 2 } }\n"

/* Two stages, one of them repeated, and a scratch field of which `fixed` leaves cells 0. */
#define RELAX1                                                                                     \
    "return system { name = 'relax', dtype = 'float',\n"                                           \
    "  fields = { u = 'inout', r = 'scratch' }, stages = {\n"                                      \
    "    { update = function(f) return { r = f.u(1) - f.u(-1) } end },\n"                          \
    "    { times = 3, update = function(f) return { u = f.u(0) + f.r(1) / 8 } end } } }\n"

#endif
