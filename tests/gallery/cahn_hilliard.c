/* Cahn-Hilliard: the sum of c stays, the free energy never rises, and small waves of wavenumber q
   grow at the rate M q² (1 - 3 c0² - kappa q²): J. W. Cahn, Acta Metall. 9 (1961) 795. */
#include "gallery.h"

static const double pi = 3.14159265358979323846;

/* Between -0.1 and 0.1, the same in every run. */
static double noise(void *user, int64_t x, int64_t y) {
    uint32_t *seed = user;
    (void)x;
    (void)y;
    *seed = *seed * 1664525u + 1013904223u;
    return 0.2 * ((double)*seed / 4294967296.0 - 0.5);
}

static double sum(const double *c, int64_t n) {
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += c[i];
    return total;
}

/* The free energy that the scheme itself has, with kappa = h = 1. */
static double energy(const double *c, int64_t nx, int64_t ny) {
    double total = 0;
    for (int64_t y = 0; y < ny; y++)
        for (int64_t x = 0; x < nx; x++) {
            const double here = c[y * nx + x];
            const double dx = c[y * nx + (x + 1) % nx] - here;
            const double dy = c[(y + 1) % ny * nx + x] - here;
            total += pow(here * here - 1, 2) / 4 + (dx * dx + dy * dy) / 2;
        }
    return total;
}

static void mass_and_energy(void **state) {
    enum { NX = 61, NY = 48, STEPS = 4000, EVERY = 40 };
    gallery g;
    uint32_t seed = 1;
    (void)state;
    gallery_open(&g, "examples/gallery/cahn_hilliard.lua");
    gallery_check(&g);
    gallery_size(&g, NX, NY);
    double *c = gallery_cells(&g);
    gallery_fill(&g, "c", noise, &seed);
    gallery_read(&g, "c", c);
    const double mass = sum(c, g.count), first = energy(c, NX, NY);
    double last = first, drift = 0;
    for (int step = EVERY; step <= STEPS; step += EVERY) {
        gallery_steps(&g, EVERY);
        gallery_read(&g, "c", c);
        const double now = energy(c, NX, NY);
        drift = gallery_worse(drift, fabs(sum(c, g.count) - mass) / (double)g.count);
        if (now > last)
            fail_msg("the energy rose from %.15g to %.15g before step %d", last, now, step);
        last = now;
    }
    /* Each step rounds c by a unit or so, in either direction. */
    gallery_between("drift of the mean", drift, 0, 1e-14);
    gallery_between("energy left", last / first, 0.1, 0.7); /* it separated, and is still at it */
    free(c);
    gallery_close(&g);
}

typedef struct wave {
    double mean, q_h; /* of c; phase a cell */
} wave;

static double ripple(void *user, int64_t x, int64_t y) {
    const wave *w = user;
    (void)y;
    return w->mean + 1e-5 * cos(w->q_h * (double)x);
}

/* The rate at which a wave with n cells a wavelength grows, as a multiple of Cahn's. */
static double growth(gallery *g, double q, double mean, int n) {
    const double h = 2 * pi / q / n, dt = pow(h, 4) / 64,
                 rate = q * q * (1 - 3 * mean * mean - q * q);
    const int64_t steps = (int64_t)ceil(1 / dt);
    wave w = {.mean = mean, .q_h = 2 * pi / n};
    gallery_set(g, "h", h);
    gallery_set(g, "dt", dt);
    gallery_size(g, n, 1);
    double *c = gallery_cells(g), left = 0;
    gallery_fill(g, "c", ripple, &w);
    gallery_steps(g, steps);
    gallery_read(g, "c", c);
    for (int x = 0; x < n; x++)
        left += c[x] * cos(w.q_h * x) * 2 / n;
    free(c);
    return log(left / 1e-5) / ((double)steps * dt) / rate;
}

static void growth_rates(void **state) {
    static const struct {
        double q, mean;
    } waves[] = {{0.5, 0}, {0.6, 0.2}, {1.2, 0}, {0.8, 0.7}}; /* two that grow, two that decay */
    gallery g;
    (void)state;
    gallery_open(&g, "examples/gallery/cahn_hilliard.lua");
    for (size_t i = 0; i < sizeof waves / sizeof *waves; i++) {
        const double q = waves[i].q, mean = waves[i].mean;
        const double coarse = growth(&g, q, mean, 20) - 1, fine = growth(&g, q, mean, 40) - 1;
        gallery_between("error of the rate", fabs(fine), 0, 0.01);
        gallery_between("order", log2(coarse / fine), 1.9, 2.1);
    }
    gallery_set(&g, "kappa", 1.04); /* the check finds 4 % more of it */
    gallery_between("rate with kappa 4 % off", fabs(growth(&g, 0.5, 0, 40) - 1), 0.01, 1);
    gallery_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mass_and_energy),
                                       cmocka_unit_test(growth_rates)};
    return cmocka_run_group_tests_name("cahn_hilliard", tests, NULL, NULL);
}
