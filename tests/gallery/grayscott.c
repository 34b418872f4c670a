/* Gray-Scott: which homogeneous states there are, and whether they are stable, as theory says.
   (1, 0) always is: u - 1 and v decay as F and F + k. Two more exist where F > 4 (F + k)²; of these
   the one with the smaller u is stable to homogeneous changes where k < v² and F < v², and a wave
   of wavenumber q grows where the Jacobian, with the diffusion of q, has a positive eigenvalue. J.
   E. Pearson, Science 261 (1993) 189; J. D. Murray, Mathematical Biology II, chapter 2. */
#include "gallery.h"

static const double pi = 3.14159265358979323846;

typedef struct wave {
    double mean, amplitude, phase;
} wave;

static double ripple(void *user, int64_t x, int64_t y) {
    const wave *w = user;
    (void)y;
    return w->mean + w->amplitude * cos(w->phase * (double)x);
}

typedef struct medium {
    double F, k, Du, Dv; /* a step, and cells² a step */
} medium;

static void use(gallery *g, const medium *m) {
    gallery_set(g, "F", m->F);
    gallery_set(g, "k", m->k);
    gallery_set(g, "Du", m->Du);
    gallery_set(g, "Dv", m->Dv);
}

/* The share of the wave with n cells a wavelength in a field; n = 0: the mean. */
static double share(gallery *g, const char *field, int n) {
    double *cells = gallery_cells(g), sum = 0;
    gallery_read(g, field, cells);
    for (int64_t i = 0; i < g->count; i++)
        sum += cells[i] * (n == 0 ? 1 : 2 * cos(2 * pi / n * (double)i));
    sum /= (double)g->count;
    free(cells);
    return sum;
}

/* The state with the smaller u. */
static void pattern_state(const medium *m, double *u, double *v) {
    const double s = m->F + m->k;
    *u = (1 - sqrt(1 - 4 * s * s / m->F)) / 2;
    *v = m->F * (1 - *u) / s;
}

/* The greater eigenvalue of the Jacobian at that state for a wave whose Laplacian is -l, and the
   first component of its eigenvector, whose second is 1. */
static double eigenvalue(const medium *m, double l, double *first) {
    double u, v;
    pattern_state(m, &u, &v);
    const double a = -v * v - m->F - m->Du * l, b = -2 * u * v, c = v * v;
    const double d = 2 * u * v - m->F - m->k - m->Dv * l;
    const double greater = (a + d) / 2 + sqrt((a - d) * (a - d) / 4 + b * c);
    *first = (greater - d) / c;
    return greater;
}

/* By how much a small wave with n cells a wavelength grows in a step: the logarithm. */
static double growth(gallery *g, const medium *m, int n, int64_t steps, double *theory) {
    const double phase = 2 * pi / n, amplitude = 1e-3;
    double u, v, first;
    pattern_state(m, &u, &v);
    *theory = log1p(eigenvalue(m, 2 - 2 * cos(phase), &first));
    wave wu = {u, amplitude * first, phase}, wv = {v, amplitude, phase};
    gallery_size(g, n, 1);
    gallery_fill(g, "u", ripple, &wu);
    gallery_fill(g, "v", ripple, &wv);
    gallery_steps(g, steps);
    return log(share(g, "v", n) / amplitude) / (double)steps;
}

static void trivial_state(void **state) {
    const medium pearson = {.F = 0.037, .k = 0.06, .Du = 0.2, .Dv = 0.1};
    gallery g;
    (void)state;
    gallery_open(&g, "specs/grayscott.lua");
    gallery_check(&g);
    gallery_size(&g, 8, 8);
    wave u = {.mean = 1 - 1e-2}, v = {.mean = 1e-2};
    gallery_fill(&g, "u", ripple, &u);
    gallery_fill(&g, "v", ripple, &v);
    use(&g, &pearson);
    assert_true(pearson.F < 4 * pow(pearson.F + pearson.k, 2)); /* there is no other state */
    gallery_steps(&g, 100);
    const double slow = share(&g, "v", 0);
    gallery_steps(&g, 20);
    gallery_between("v's decay, of F + k",
                    log(share(&g, "v", 0) / slow) / 20 / log1p(-pearson.F - pearson.k), 0.999,
                    1.001);
    gallery_close(&g);
}

/* How far all cells together are from the state, as a multiple of the beginning. */
static double homogeneous(gallery *g, const medium *m, int64_t steps) {
    double u, v;
    pattern_state(m, &u, &v);
    wave wu = {.mean = u + 1e-3}, wv = {.mean = v};
    use(g, m);
    gallery_size(g, 5, 3);
    gallery_fill(g, "u", ripple, &wu);
    gallery_fill(g, "v", ripple, &wv);
    gallery_steps(g, steps);
    return hypot(share(g, "u", 0) - u, share(g, "v", 0) - v) / 1e-3;
}

/* Diffusion makes waves grow that are stable without: Turing's instability, at Dv = Du/4. */
static void other_state(void **state) {
    const medium turing = {.F = 0.05, .k = 0.06, .Du = 0.2, .Dv = 0.05};
    const medium hopf = {.F = 0.02, .k = 0.05, .Du = 0.2, .Dv = 0.1}; /* v² < k */
    static const int waves[] = {8, 12, 16};                           /* the last one decays */
    gallery g;
    (void)state;
    gallery_open(&g, "specs/grayscott.lua");
    gallery_between("stable state: distance", homogeneous(&g, &turing, 500), 0, 0.3);
    gallery_between("unstable state: distance", homogeneous(&g, &hopf, 200), 3, 1000);

    use(&g, &turing);
    for (int i = 0; i < 3; i++) {
        double theory;
        const double rate = growth(&g, &turing, waves[i], 100, &theory);
        assert_true((theory > 0) == (waves[i] < 16));
        gallery_between("rate of a wave, of the theory's", rate / theory, 0.98, 1.02);
    }
    double theory;
    gallery_set(&g, "Dv", 1.03 * turing.Dv); /* the check finds 3 % more diffusion */
    const double rate = growth(&g, &turing, 8, 100, &theory);
    gallery_between("with Dv 3 % off", rate / theory, 0.8, 0.97);
    gallery_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trivial_state),
                                       cmocka_unit_test(other_state)};
    return cmocka_run_group_tests_name("grayscott", tests, NULL, NULL);
}
