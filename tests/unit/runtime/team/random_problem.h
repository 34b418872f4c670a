/* Random problems of a team: every boundary, 1D to 3D, stars and boxes of radius 1 to 4, several
   fields, levels and positions, systems, float, double and 16 bits, odd sizes down to parts of one
   cell, schedules of one step and of several, with ghost cells for one launch and for more. Takes:
   a seed, and how many ranks there are. Makes: a problem of same.h. */
#ifndef SG_TESTS_TEAM_RANDOM_PROBLEM_H
#define SG_TESTS_TEAM_RANDOM_PROBLEM_H

#include "tests/unit/runtime/api/random_system.h"
#include "tests/unit/runtime/team/same.h"

enum { RP_TEXT = 1 << 16 };

typedef struct random_problem {
    problem problem;
    random_system dice;      /* and the system, where it is one */
    int dims, radius, leans; /* taps lie: -1: below the point; 1: above; 0: on both sides */
    bool half;
    char text[RP_TEXT];
    size_t length;
} random_problem;

static inline void rp_print(random_problem *r, const char *format, ...) {
    va_list list;
    va_start(list, format);
    r->length += (size_t)vsnprintf(r->text + r->length, sizeof r->text - r->length, format, list);
    va_end(list);
}

static inline int rp_below(random_problem *r, int n) {
    return rs_below(&r->dice, n);
}

static inline void rp_boundary(random_problem *r) {
    static const char *const words[] = {"'fixed'", "'zero'",   "constant(0.375)",
                                        "'clamp'", "'mirror'", "'periodic'"};
    if (rp_below(r, 2) == 0) {
        rp_print(r, "boundary = %s", words[rp_below(r, 6)]);
        return;
    }
    rp_print(r, "boundary = { ");
    for (int axis = 0; axis < r->dims; axis++)
        if (rp_below(r, 3) == 0)
            rp_print(r, "%c = 'periodic', ", "xyz"[axis]);
        else
            rp_print(r, "%c = { %s, %s }, ", "xyz"[axis], words[rp_below(r, 5)],
                     words[rp_below(r, 5)]);
    rp_print(r, "}");
}

/* An offset along each axis, no longer than the radius. */
static inline void rp_tap(random_problem *r, const char *field) {
    rp_print(r, "f.%s(", field);
    for (int axis = 0; axis < r->dims; axis++) {
        const int to = rp_below(r, 3) == 0 ? 0 : rp_below(r, 2 * r->radius + 1) - r->radius;
        rp_print(r, "%s%d", axis > 0 ? ", " : "", r->leans == 0 ? to : r->leans * abs(to));
    }
    rp_print(r, ")");
}

static inline void rp_sum(random_problem *r, const char *const *fields, int count) {
    for (int i = 0; i < 4; i++) {
        rp_print(r, "%s%s * ", i > 0 ? " + " : "", i % 2 > 0 ? "0.25" : "0.125");
        rp_tap(r, fields[rp_below(r, count)]);
    }
}

static inline void rp_linear(random_problem *r, const char *kind) {
    const bool is_box = strcmp(kind, "box") == 0;
    int points = 1;
    rp_print(r, "return stencil { name = 's', shape = %s(%d, %d), coefficients = ", kind, r->dims,
             r->radius);
    for (int axis = 0; axis < r->dims; axis++)
        points *= 2 * r->radius + 1;
    rp_print(r, is_box ? "{ " : "identity() + 0.05 * laplacian { dims = %d, accuracy = %d }",
             r->dims, 2 * r->radius);
    for (int i = 0; is_box && i < points; i++)
        rp_print(r, "%d/%d, ", 1 + rp_below(r, 7), 4 * points);
    rp_print(r, is_box ? "}, " : ", ");
}

static inline void rp_update(random_problem *r, int kind) {
    static const char *const names[] = {"u", "v", "c", "u.prev"};
    const bool levels = kind == 3;
    rp_print(r,
             "return stencil { name = 's', fields = { u = { use = 'inout'%s }, v = 'inout', c = "
             "'in', w = 'out' }, parameters = { k = 0.1 }, update = function(f, p, at) return { u "
             "= p.k * f.u(%s) + ",
             levels ? ", levels = 2" : "", "0,0,0" + 6 - 2 * r->dims);
    rp_sum(r, names, levels ? 4 : 3);
    rp_print(r, ", v = ");
    rp_sum(r, names, 3);
    if (kind == 4)
        rp_print(r, " + at.x / 64 + at.step / 8");
    rp_print(r, ", w = ");
    rp_sum(r, names, 3);
    rp_print(r, " } end, ");
}

static inline void rp_system(random_problem *r, uint64_t seed) {
    rs_new(&r->dice, seed, seed % 2 == 0 ? "float" : "double");
    r->dims = r->dice.dims;
    r->problem.spec = r->dice.text;
    r->problem.schedule = seed % 3 == 0 ? NULL : "naive";
}

static inline void rp_stencil(random_problem *r, int kind) {
    static const char *const types[] = {"dtype = 'float'", "dtype = 'double'",
                                        "dtype = 'float', storage = 'half'",
                                        "dtype = 'float', storage = 'bfloat16'"};
    static const char *const schedules[] = {
        "naive",       "naive",     "streamed",        "register",   NULL,   "tiled",
        "temporal",    "resident",  "resident time=3", "overlapped", "bulk", "bulk",
        "cached-halo", "coarsened", "constant",        "rows"};
    const int type = rp_below(r, 8);
    r->dims = 1 + rp_below(r, 3);
    r->radius = 1 + rp_below(r, r->dims == 3 && kind == 1 ? 2 : 4);
    r->half = type > 5;
    r->leans = rp_below(r, 2) * (rp_below(r, 3) - 1);
    if (kind < 2)
        rp_linear(r, kind == 0 ? "star" : "box");
    else
        rp_update(r, kind);
    rp_print(r, "%s, ", types[type < 4 ? 0 : type - 4 + (type < 6)]);
    rp_boundary(r);
    rp_print(r, " }");
    r->problem.spec = r->text;
    r->problem.schedule = schedules[rp_below(r, sizeof schedules / sizeof *schedules)];
}

/* So many ranks along the axes, or any number up to 4 along each. */
static inline void rp_ranks(random_problem *r, int ranks) {
    int *grid = r->problem.ranks;
    for (int axis = 0; axis < 3; axis++)
        grid[axis] = axis >= r->dims || ranks > 0 ? 1 : 1 + rp_below(r, 4);
    for (int factor = 2; ranks > 1; factor++)
        for (; ranks % factor == 0; ranks /= factor)
            grid[rp_below(r, r->dims)] *= factor;
}

static inline void rp_new(random_problem *r, uint64_t seed, int ranks) {
    *r = (random_problem){.problem = {.steps = 0}};
    r->dice.state = seed * 0x9E3779B97F4A7C15u + 12345;
    const int kind = rp_below(r, 6);
    r->radius = 3;
    if (kind == 5)
        rp_system(r, seed);
    else
        rp_stencil(r, kind);
    const bool several =
        kind != 5 && r->problem.schedule != NULL && strchr("tro", r->problem.schedule[0]) != NULL;
    r->problem.steps = 1 + rp_below(r, several ? 9 : 5);
    r->problem.launches = rp_below(r, 4) == 0 ? 2 + rp_below(r, 2) : rp_below(r, 2);
    rp_ranks(r, ranks);
    for (int axis = 0; axis < 3; axis++) {
        const int parts = r->problem.ranks[axis], least = rp_below(r, 4) == 0 ? 1 : r->radius;
        r->problem.size[axis] =
            axis >= r->dims ? 1 : parts * least + rp_below(r, r->dims == 1 ? 200 : 20);
    }
}

#endif
