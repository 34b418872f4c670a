/* What each boundary conserves under diffusion, as docs/spec.md has it: the sum of all cells, the
   sum in which points on an edge count half, or neither; and which values an edge keeps. */
#include <math.h>
#include <stdbool.h>

#include "tests/unit/runtime/api/api.h"

#include "base/random.h"
#include "tests/unit/group.h"

enum { NX = 13, NY = 9, CELLS = NX * NY, STEPS = 40 };

/* Sums of a grid: as cells, and as points of which those on an edge stand for half a cell. */
typedef struct sums {
    double cells, points;
} sums;

static sums add_up(const double *u) {
    sums s = {0, 0};
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            const double half_x = x == 0 || x == NX - 1 ? 0.5 : 1;
            const double half_y = y == 0 || y == NY - 1 ? 0.5 : 1;
            s.cells += u[y * NX + x];
            s.points += half_x * half_y * u[y * NX + x];
        }
    return s;
}

/* Diffuses u in place. */
static void diffuse(const char *boundary, int accuracy, double *u) {
    char text[256];
    snprintf(text, sizeof text,
             "return stencil { name = 'diffusion', dtype = 'double', boundary = %s,\n"
             "  coefficients = identity() + 0.15 * laplacian { dims = 2, accuracy = %d } }",
             boundary, accuracy);
    double next[CELLS];
    memcpy(next, u, sizeof next);
    sg_kernel *k = build(text, NULL);
    double *const buffers[2] = {u, next};
    const sg_grid grids[2] = {{.data = u, .size = {NX, NY}}, {.data = next, .size = {NX, NY}}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    int final[2];
    expect_ok(sg_run(k, &arguments, STEPS, NULL, final));
    expect_ok(sg_synchronize(context, NULL));
    memmove(u, buffers[final[0]], CELLS * sizeof *u);
    sg_release(k);
}

/* Numbers from 0 to 1, none of them an exact solution of anything. */
static void fill(double *u) {
    for (int i = 0; i < CELLS; i++)
        u[i] = random_unit(42, (uint64_t)i);
}

/* The sum is the same but for rounding; or else it is far from it. */
static void expect_sum(const char *boundary, const char *what, double before, double after,
                       bool kept) {
    const double change = fabs(after - before) / before;
    if (kept ? change > 1e-14 : change < 1e-4)
        fail_msg("%s: the sum of the %s changes by %.2e of it", boundary, what, change);
}

static const struct {
    const char *boundary;
    int accuracy;
    bool cells, points; /* whether that sum is conserved */
} cases[] = {
    {"'clamp'", 2, true, false},        {"'mirror'", 2, false, true},
    {"'periodic'", 2, true, false},     {"'zero'", 2, false, false},
    {"constant(0.2)", 2, false, false}, {"'fixed'", 2, false, false},
    {"'clamp'", 4, false, false},       {"'mirror'", 4, false, true},
    {"'periodic'", 4, true, false},
};

static void test_sums(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double u[CELLS];
        fill(u);
        const sums before = add_up(u);
        diffuse(cases[i].boundary, cases[i].accuracy, u);
        const sums after = add_up(u);
        expect_sum(cases[i].boundary, "cells", before.cells, after.cells, cases[i].cells);
        expect_sum(cases[i].boundary, "points", before.points, after.points, cases[i].points);
    }
}

static void test_fixed_keeps_the_edge(void **state) {
    (void)state;
    double before[CELLS], u[CELLS];
    fill(before);
    memcpy(u, before, sizeof u);
    diffuse("'fixed'", 2, u);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            const bool edge = x == 0 || x == NX - 1 || y == 0 || y == NY - 1;
            assert_int_equal(u[y * NX + x] == before[y * NX + x], edge);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sums),
    cmocka_unit_test(test_fixed_keeps_the_edge),
};

TEST_GROUP(conserved, open_cpu, close_context)
