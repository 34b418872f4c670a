/* Lattice Boltzmann: a channel driven by a force has Poiseuille's profile, but for a slip at the
   walls. With halfway bounce-back and one relaxation time the slip is 16 (tau - 1/2)² - 3 over 3 H²
   of the greatest speed, in a channel of H cells: of second order, and none where (tau - 1/2)² is
   3/16. I. Ginzburg, D. d'Humières, Phys. Rev. E 68 (2003) 066614; X. He, Q. Zou, L. Luo, M. Dembo,
   J. Stat. Phys. 87 (1997) 115. */
#include "gallery.h"

enum { NX = 3 };
static const double gx = 1e-6;

static double wall(void *user, int64_t x, int64_t y) {
    (void)user;
    (void)x;
    return y == 0; /* the lattice is periodic, so this row is the wall above too */
}

/* The greatest difference from Poiseuille's profile, as a part of its greatest speed. */
static double distance(gallery *g, int64_t width, double tau) {
    const double nu = (tau - 0.5) / 3, most = gx * (double)(width * width) / (8 * nu);
    double *u, worst = 0;
    gallery_size(g, NX, width + 1);
    gallery_fill(g, "solid", wall, NULL);
    /* The slowest part decays as exp(-pi² nu t/width²): 28 such times leave 1e-12 of it. */
    gallery_steps(g, (int64_t)(28 * (double)(width * width) / (9.87 * nu)));
    u = gallery_cells(g);
    gallery_read(g, "ux", u);
    for (int64_t i = NX; i < g->count; i++) {
        const double y = (double)(i / NX) - 0.5, h = (double)width;
        worst = gallery_worse(worst, fabs(u[i] - 4 * most * y * (h - y) / (h * h)));
    }
    free(u);
    return worst / most;
}

static void poiseuille(void **state) {
    gallery g;
    (void)state;
    gallery_open(&g, "examples/gallery/d2q9.lua");
    gallery_check(&g);
    gallery_set(&g, "gx", gx);

    gallery_set(&g, "tau", 0.8);
    const double coarse = distance(&g, 8, 0.8), fine = distance(&g, 16, 0.8);
    const double slip = (3 - 16 * 0.3 * 0.3) / (3 * 16 * 16);
    gallery_between("order", log2(coarse / fine), 1.99, 2.01);
    gallery_between("slip with 16 cells, of the theory's", fine / slip, 0.999, 1.001);

    const double none = 0.5 + sqrt(3.0) / 4;
    gallery_set(&g, "tau", none);
    gallery_between("distance where there is no slip", distance(&g, 7, none), 0, 1e-9);

    gallery_set(&g, "tau", 1.01 * none); /* the check finds 1 % more relaxation */
    gallery_between("distance with tau 1 % off", distance(&g, 7, none), 1e-3, 1);
    gallery_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(poiseuille)};
    return cmocka_run_group_tests_name("d2q9", tests, NULL, NULL);
}
