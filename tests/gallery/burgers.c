/* Burgers' equations in 2D: the Cole-Hopf transform makes exact solutions of solutions of the heat
   equation: (u, v) = -2 nu ∇phi/phi. C. A. J. Fletcher, Int. J. Numer. Methods Fluids 3 (1983) 213.
   Here phi = 1 + a exp(-2 nu k² t) cos kx cos ky, on one period. */
#include "gallery.h"

static const double k = 2 * 3.14159265358979323846; /* 1/m: the square has sides of 1 m */
static const double a = 0.7, nu = 0.02, duration = 0.3;

typedef struct place {
    double h, time;
    bool v;
} place;

static double exact(void *user, int64_t i, int64_t j) {
    const place *p = user;
    const double x = k * p->h * (double)i, y = k * p->h * (double)j;
    const double b = a * exp(-2 * nu * k * k * p->time);
    const double slope = p->v ? cos(x) * sin(y) : sin(x) * cos(y);
    return 2 * nu * k * b * slope / (1 + b * cos(x) * cos(y));
}

/* The greatest error of u and v after `duration`, as a part of the greatest speed. */
static double error(gallery *g, int64_t n) {
    const double h = 1 / (double)n;
    const int64_t steps = (int64_t)ceil(duration * 8 * nu / (h * h));
    place at = {.h = h};
    gallery_size(g, n, n);
    gallery_set(g, "h", h);
    gallery_set(g, "dt", duration / (double)steps);
    double *cells = gallery_cells(g), worst = 0, most = 0;
    gallery_fill(g, "u", exact, &at);
    at.v = true;
    gallery_fill(g, "v", exact, &at);
    gallery_steps(g, steps);
    at.time = duration;
    for (int field = 0; field < 2; field++) {
        at.v = field == 1;
        gallery_read(g, at.v ? "v" : "u", cells);
        for (int64_t i = 0; i < g->count; i++) {
            const double value = exact(&at, i % n, i / n);
            worst = gallery_worse(worst, fabs(cells[i] - value));
            most = gallery_worse(most, fabs(value));
        }
    }
    free(cells);
    return worst / most;
}

static void cole_hopf(void **state) {
    gallery g;
    (void)state;
    gallery_open(&g, "examples/gallery/burgers.lua");
    gallery_set(&g, "h", 0.1);
    gallery_set(&g, "dt", 0.01);
    gallery_check(&g);

    gallery_set(&g, "nu", nu);
    const double coarse = error(&g, 48), fine = error(&g, 96);
    gallery_between("error with 96 x 96 cells", fine, 0, 2e-3);
    gallery_between("order", log2(coarse / fine), 1.9, 2.1);

    gallery_set(&g, "nu", 1.03 * nu); /* the check finds 3 % more viscosity */
    gallery_between("error with 3 % more viscosity", error(&g, 96), 4e-3, 1);
    gallery_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cole_hopf)};
    return cmocka_run_group_tests_name("burgers", tests, NULL, NULL);
}
