/* The acoustic shot: what receivers hear of a source in 2D is known. The Green's function of
   (1/c²) d²p/dt² - Δp is H(t - r/c) / (2 pi sqrt(t² - r²/c²)): P. M. Morse, H. Feshbach, Methods of
   Theoretical Physics, section 7.3. */
#include "gallery.h"

static const double pi = 3.14159265358979323846;
static const double c = 2000, peak = 15, delay = 0.08; /* m/s, Hz, s: of the Ricker wavelet */

/* N. Ricker, Geophysics 18 (1953) 10. */
static double ricker(double t) {
    const double a = pow(pi * peak * (t - delay), 2);
    return (1 - 2 * a) * exp(-a);
}

/* The wavelet convolved with the Green's function; with tau = r/c cosh(s) the root goes away. */
static double exact(double r, double t) {
    enum { PARTS = 400 };
    if (c * t <= r)
        return 0;
    const double most = acosh(c * t / r);
    double sum = (ricker(t - r / c) + ricker(0)) / 2;
    for (int i = 1; i < PARTS; i++)
        sum += ricker(t - r / c * cosh(most * i / PARTS));
    return sum * most / PARTS / (2 * pi);
}

static double uniform(void *user, int64_t x, int64_t y) {
    (void)x;
    (void)y;
    return *(double *)user;
}

/* The distance of a trace from the exact one until `until` s, in the root mean square and as a part
   of the trace. The grid has `side` cells of h each way, the source in the middle, and the receiver
   r m away from it. */
static double error(gallery *g, double h, double dt, int side, double r, double until) {
    const int64_t steps = (int64_t)lround(until / dt);
    double speed = c, *series = calloc((size_t)steps * 2, sizeof *series), *trace = series + steps;
    const double middle = side / 2, source[] = {middle, middle},
                 receiver[] = {middle + r / h, middle};
    double off = 0, all = 0;
    assert_non_null(series);
    for (int64_t n = 0; n < steps; n++)
        series[n] = ricker((double)n * dt);
    const sg_points sets[] = {{.struct_size = sizeof(sg_points),
                               .name = "shot",
                               .count = 1,
                               .positions = source,
                               .series = series},
                              {.struct_size = sizeof(sg_points),
                               .name = "traces",
                               .count = 1,
                               .positions = receiver,
                               .traces = trace}};
    gallery_size(g, side, side);
    gallery_set(g, "h", h);
    gallery_set(g, "dt", dt);
    gallery_fill(g, "c", uniform, &speed);
    gallery_points(g, sets, 2, steps);
    for (int64_t n = 0; n < steps; n++) {
        const double known = exact(r, (double)(n + 1) * dt);
        off += pow(trace[n] - known, 2);
        all += pow(known, 2);
    }
    free(series);
    return sqrt(off / all);
}

/* Before anything comes back from the edges. */
static void order(void **state) {
    gallery g;
    (void)state;
    gallery_open(&g, "examples/gallery/acoustic.lua");
    gallery_set(&g, "h", 10);
    gallery_check(&g, 1);
    gallery_set(&g, "damping", 0);

    const double coarse = error(&g, 10, 0.002, 141, 400, 0.45),
                 fine = error(&g, 10, 0.001, 141, 400, 0.45);
    gallery_between("error 400 m away, dt 1 ms", fine, 0, 0.02);
    gallery_between("order in dt", log2(coarse / fine), 1.9, 2.1);

    const double wide = error(&g, 15, 0.0002, 81, 300, 0.4),
                 close = error(&g, 12, 0.0002, 101, 300, 0.4);
    gallery_between("order in h", log(wide / close) / log(15.0 / 12), 7, 8.5);
    gallery_close(&g);
}

/* The sponge lets little come back in a time in which the wave reaches the receiver again. */
static void sponge(void **state) {
    gallery g;
    (void)state;
    gallery_open(&g, "examples/gallery/acoustic.lua");
    gallery_between("error with a sponge", error(&g, 10, 0.001, 151, 200, 1.2), 0, 0.03);
    gallery_set(&g, "damping", 0);
    gallery_between("error without", error(&g, 10, 0.001, 151, 200, 1.2), 0.5, 10);
    gallery_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(order), cmocka_unit_test(sponge)};
    return cmocka_run_group_tests_name("acoustic", tests, NULL, NULL);
}
