/* The lid-driven cavity: velocities along the lines through the middle, against the table of U.
   Ghia, K. N. Ghia, C. T. Shin, J. Comput. Phys. 48 (1982) 387 (tables I and II), and their
   extremes against O. Botella, R. Peyret, Computers & Fluids 27 (1998) 421, which have seven digits
   and so show the order. (The table is itself of second order on 129 x 129 points: its v at Re 100
   is 0.009 off.) */
#include "gallery.h"

enum { POINTS = 15, EXTREMES = 3 };

typedef struct flow {
    double reynolds;
    double u[POINTS], v[POINTS];
    double extremes[EXTREMES]; /* the least u, the greatest and the least v */
} flow;

static const double heights[POINTS] = {0.9766, 0.9688, 0.9609, 0.9531, 0.8516,
                                       0.7344, 0.6172, 0.5000, 0.4531, 0.2813,
                                       0.1719, 0.1016, 0.0703, 0.0625, 0.0547};
static const double widths[POINTS] = {0.9688, 0.9609, 0.9531, 0.9453, 0.9063,
                                      0.8594, 0.8047, 0.5000, 0.2344, 0.2266,
                                      0.1563, 0.0938, 0.0781, 0.0703, 0.0625};

static const flow re100 = {100,
                           {0.84123, 0.78871, 0.73722, 0.68717, 0.23151, 0.00332, -0.13641,
                            -0.20581, -0.21090, -0.15662, -0.10150, -0.06434, -0.04775, -0.04192,
                            -0.03717},
                           {-0.05906, -0.07391, -0.08864, -0.10313, -0.16914, -0.22445, -0.24533,
                            0.05454, 0.17527, 0.17507, 0.16077, 0.12317, 0.10890, 0.10091, 0.09233},
                           {-0.2140424, 0.1795728, -0.2538030}};
static const flow re1000 = {
    1000,
    {0.65928, 0.57492, 0.51117, 0.46604, 0.33304, 0.18719, 0.05702, -0.06080, -0.10648, -0.27805,
     -0.38289, -0.29730, -0.22220, -0.20196, -0.18109},
    {-0.21388, -0.27669, -0.33714, -0.39188, -0.51550, -0.42665, -0.31966, 0.02526, 0.32235,
     0.33075, 0.37095, 0.32627, 0.30353, 0.29012, 0.27485},
    {-0.3885698, 0.3769447, -0.5270771}};

typedef struct lines {
    int64_t n;
    double *u, *v; /* n + 2 values at the faces nearest the middle; the first and last on walls */
} lines;

/* The value at s of a line of values at 0, h/2, 3h/2, …, 1. */
static double between(const double *line, int64_t n, double s) {
    const double place = s * (double)n + 0.5;
    const int64_t i = (int64_t)place < n ? (int64_t)place : n;
    const double from = i == 0 ? 0 : ((double)i - 0.5) / (double)n;
    const double to = i == n ? 1 : ((double)i + 0.5) / (double)n;
    return line[i] + (line[i + 1] - line[i]) * (s - from) / (to - from);
}

/* The least of sign times a line, by a parabola through three values. */
static double extreme(const double *line, int64_t n, double sign) {
    int64_t low = 2;
    for (int64_t i = 2; i < n; i++)
        if (sign * line[i] < sign * line[low])
            low = i;
    const double left = line[low - 1], here = line[low], right = line[low + 1];
    const double slope = (right - left) / 2, bend = right - 2 * here + left;
    return here - slope * slope / (2 * bend);
}

/* Runs until the flow is steady; n is even, so that faces lie in the middle. */
static lines run(gallery *g, int64_t n, double reynolds, double dt, double time) {
    lines l = {.n = n,
               .u = calloc((size_t)n + 2, sizeof(double)),
               .v = calloc((size_t)n + 2, sizeof(double))};
    assert_true(l.u != NULL && l.v != NULL);
    gallery_size(g, n, n);
    gallery_set(g, "Re", reynolds);
    gallery_set(g, "h", 1 / (double)n);
    gallery_set(g, "dt", dt);
    gallery_steps(g, (int64_t)ceil(time / dt));
    double *cells = gallery_cells(g);
    gallery_read(g, "u", cells);
    for (int64_t y = 0; y < n; y++)
        l.u[y + 1] = cells[y * n + n / 2];
    l.u[n + 1] = 1;
    gallery_read(g, "v", cells);
    memcpy(l.v + 1, cells + n / 2 * n, (size_t)n * sizeof *cells);
    free(cells);
    return l;
}

static void drop(lines *l) {
    free(l->u);
    free(l->v);
}

static double from_ghia(const lines *l, const flow *f) {
    double worst = 0;
    for (int i = 0; i < POINTS; i++) {
        worst = gallery_worse(worst, fabs(between(l->u, l->n, heights[i]) - f->u[i]));
        worst = gallery_worse(worst, fabs(between(l->v, l->n, widths[i]) - f->v[i]));
    }
    return worst;
}

static double from_extremes(const lines *l, const flow *f) {
    return gallery_worse(fabs(extreme(l->u, l->n, 1) - f->extremes[0]),
                         gallery_worse(fabs(extreme(l->v, l->n, -1) - f->extremes[1]),
                                       fabs(extreme(l->v, l->n, 1) - f->extremes[2])));
}

static void cavity(void **state) {
    gallery g;
    (void)state;
    gallery_open(&g, "examples/gallery/cavity.lua");
    gallery_set(&g, "h", 0.1);
    gallery_set(&g, "dt", 0.01);
    gallery_check(&g);

    lines coarse = run(&g, 32, 100, 0.01, 25), fine = run(&g, 64, 100, 0.004, 25);
    gallery_between("Re 100: from Ghia's table", from_ghia(&fine, &re100), 0, 0.01);
    gallery_between("Re 100: extremes, off by", from_extremes(&fine, &re100), 0, 2e-3);
    gallery_between("Re 100: order",
                    log2(from_extremes(&coarse, &re100) / from_extremes(&fine, &re100)), 1.6, 2.4);
    drop(&coarse);
    drop(&fine);
    lines thick = run(&g, 64, 97, 0.004, 25); /* the check finds 3 % more viscosity */
    gallery_between("Re 97: extremes, off by", from_extremes(&thick, &re100), 2.5e-3, 1);
    drop(&thick);

    lines fast = run(&g, 64, 1000, 0.0025, 40);
    gallery_between("Re 1000: from Ghia's table", from_ghia(&fast, &re1000), 0, 0.025);
    drop(&fast);
    gallery_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cavity)};
    return cmocka_run_group_tests_name("cavity", tests, NULL, NULL);
}
