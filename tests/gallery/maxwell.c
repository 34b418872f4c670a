/* A cavity's modes: with perfectly conducting walls a by b apart, E_z rings at the frequencies
   c/2 sqrt((m/a)² + (n/b)²). J. D. Jackson, Classical Electrodynamics, section 8.7. */
#include "gallery.h"

static const double pi = 3.14159265358979323846;
static const double a = 1, b = 0.75; /* in units of light's way in a unit of time */

/* A pulse that excites many modes. */
static double pulse(void *user, int64_t x, int64_t y) {
    const double h = *(double *)user, dx = (double)x * h - 0.31 * a, dy = (double)y * h - 0.27 * b;
    return x == 0 || y == 0 ? 0 : exp(-(dx * dx + dy * dy) / 0.005);
}

/* How strong a frequency is in a signal, through a Hann window. */
static double strength(const double *signal, int64_t count, double dt, double frequency) {
    double re = 0, im = 0;
    for (int64_t n = 0; n < count; n++) {
        const double window = 1 - cos(2 * pi * (double)n / (double)count);
        const double phase = 2 * pi * frequency * dt * (double)n;
        re += window * signal[n] * cos(phase);
        im += window * signal[n] * sin(phase);
    }
    return hypot(re, im);
}

/* The frequency of the peak within 2 % of a guess, by golden sections. */
static double find_peak(const double *signal, int64_t count, double dt, double guess) {
    const double golden = (sqrt(5) - 1) / 2;
    double low = 0.98 * guess, high = 1.02 * guess;
    while (high - low > 1e-7 * guess) {
        const double l = high - golden * (high - low), r = low + golden * (high - low);
        if (strength(signal, count, dt, l) > strength(signal, count, dt, r))
            high = r;
        else
            low = l;
    }
    return (low + high) / 2;
}

enum { MODES = 3 };

/* The relative errors of the frequencies with n cells along x, of what is heard in one point. */
static void errors(gallery *g, int64_t n, double courant, double *out) {
    static const int modes[MODES][2] = {{1, 1}, {2, 1}, {1, 2}};
    double h = a / (double)n;
    const double dt = 0.5 * h; /* what the step is meant to be */
    const int64_t ny = (int64_t)lround(b / h), count = (int64_t)lround(40 / dt);
    double *signal = calloc((size_t)count, sizeof *signal);
    assert_non_null(signal);
    gallery_size(g, n, ny);
    gallery_set(g, "courant", courant);
    gallery_fill(g, "ez", pulse, &h);
    for (int64_t i = 0; i < count; i++) {
        signal[i] = gallery_at(g, "ez", n * 5 / 8, ny * 5 / 8);
        gallery_steps(g, 1);
    }
    for (int i = 0; i < MODES; i++) {
        const double exact = hypot(modes[i][0] / a, modes[i][1] / b) / 2;
        out[i] = find_peak(signal, count, dt, exact) / exact - 1;
    }
    free(signal);
}

static void modes_of_a_cavity(void **state) {
    gallery g;
    double coarse[MODES], fine[MODES], off[MODES];
    (void)state;
    gallery_open(&g, "examples/gallery/maxwell.lua");
    gallery_check(&g);
    errors(&g, 24, 0.5, coarse);
    errors(&g, 48, 0.5, fine);
    errors(&g, 48, 0.505, off); /* the check finds 1 % more speed of light */
    for (int i = 0; i < MODES; i++) {
        gallery_between("error of a frequency", fabs(fine[i]), 0, 1e-3);
        gallery_between("order", log2(coarse[i] / fine[i]), 1.9, 2.1);
        gallery_between("error with 1 % more speed", fabs(off[i]), 9e-3, 1);
    }
    gallery_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(modes_of_a_cavity)};
    return cmocka_run_group_tests_name("maxwell", tests, NULL, NULL);
}
