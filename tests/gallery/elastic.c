/* Elastic waves: what a point force in 2D does is known in closed form (G. Eason, J. Fulton,
   I. N. Sneddon, Phil. Trans. R. Soc. A 248 (1956) 575). On the axis of the force and across it,
   the displacement by an impulse of 1 N s/m is

       (t² / sqrt(t² - a²) - sqrt(t² - b²)) / (2 pi rho r²)

   with a = r/vp, b = r/vs on the axis, a = r/vs, b = r/vp across, and roots that are 0 while
   negative: P arrives first on the axis, and the greater part of S across. */
#include "gallery.h"

static const double pi = 3.14159265358979323846;
static const double vp = 3000, vs = 1800, rho = 2200; /* m/s, kg/m³ */
static const double peak = 12, delay = 0.1;           /* Hz, s: of the Ricker wavelet */

static double ricker(double t) {
    const double a = pow(pi * peak * (t - delay), 2);
    return (1 - 2 * a) * exp(-a);
}

/* Its derivative. */
static double ricker_slope(double t) {
    const double b = pow(pi * peak, 2), s = t - delay;
    return (4 * b * b * s * s * s - 6 * b * s) * exp(-b * s * s);
}

/* The integral over u of slope(t - first cosh u) times first² cosh² u, or sinh² u. */
static double integral(double t, double first, bool cosines) {
    enum { PARTS = 1000 };
    if (t <= first)
        return 0;
    const double most = acosh(t / first);
    double sum = 0; /* by midpoints */
    for (int i = 0; i < PARTS; i++) {
        const double u = most * (i + 0.5) / PARTS;
        sum += ricker_slope(t - first * cosh(u)) * pow(first * (cosines ? cosh(u) : sinh(u)), 2);
    }
    return sum * most / PARTS;
}

/* The velocity along the force, r m from it, on its axis or across. */
static double exact(double r, double t, bool on_axis) {
    const double p = r / vp, s = r / vs;
    return (integral(t, on_axis ? p : s, true) - integral(t, on_axis ? s : p, false)) /
           (2 * pi * rho * r * r);
}

enum { RECEIVERS = 4 }; /* two on the axis, two across */
static const double distances[] = {240, 400};

typedef struct shot {
    int64_t steps;
    double dt;
    double *traces; /* [steps][RECEIVERS]; row n is of the time (n + 1/2) dt */
} shot;

static shot fire(gallery *g, double h, double dt) {
    const int64_t half = (int64_t)lround(880 / h), side = 2 * half + 1;
    shot s = {.steps = (int64_t)lround(0.43 / dt), .dt = dt};
    double *series = calloc((size_t)s.steps, sizeof *series), at[RECEIVERS][2];
    const double source[] = {(double)half, (double)half};
    s.traces = calloc((size_t)s.steps * RECEIVERS, sizeof *s.traces);
    assert_true(series != NULL && s.traces != NULL);
    for (int64_t n = 0; n < s.steps; n++)
        series[n] = ricker((double)n * dt);
    for (int i = 0; i < RECEIVERS; i++) {
        at[i][0] = (double)half + (i < 2 ? 0 : distances[i - 2] / h);
        at[i][1] = (double)half + (i < 2 ? distances[i] / h : 0);
    }
    (void)source;
    gallery_size(g, side, side);
    gallery_set(g, "h", h);
    gallery_set(g, "dt", dt);
    for (int64_t n = 0; n < s.steps; n++) {
        gallery_steps(g, 1);
        gallery_put(g, "vy", half, half,
                    gallery_at(g, "vy", half, half) + series[n] * dt / (rho * h * h));
        for (int i = 0; i < RECEIVERS; i++)
            s.traces[n * RECEIVERS + i] = gallery_at(g, "vy", (int64_t)at[i][0], (int64_t)at[i][1]);
    }
    free(series);
    return s;
}

/* The distance of a receiver's trace from the exact one: root mean squares, as a part of it. */
static double error(const shot *s, int receiver) {
    double off = 0, all = 0;
    for (int64_t n = 0; n < s->steps; n++) {
        const double known =
            exact(distances[receiver % 2], ((double)n + 0.5) * s->dt, receiver < 2);
        off += pow(s->traces[n * RECEIVERS + receiver] - known, 2);
        all += pow(known, 2);
    }
    return sqrt(off / all);
}

/* When the trace is lowest, by a parabola through three samples: the wavelet's middle, 90° on. */
static double arrival(const shot *s, int receiver) {
    int64_t low = 1;
    for (int64_t n = 1; n + 1 < s->steps; n++)
        if (s->traces[n * RECEIVERS + receiver] < s->traces[low * RECEIVERS + receiver])
            low = n;
    const double *a = s->traces + low * RECEIVERS + receiver;
    const double before = a[-RECEIVERS], after = a[RECEIVERS];
    return s->dt * ((double)low + (before - after) / (2 * (before - 2 * *a + after)));
}

static double speed(const shot *s, int receiver) {
    return (distances[1] - distances[0]) / (arrival(s, receiver + 1) - arrival(s, receiver));
}

static void point_force(void **state) {
    gallery g;
    (void)state;
    gallery_open(&g, "examples/gallery/elastic.lua");
    gallery_check(&g);
    /* The errors of space and time have opposite signs, so each is looked at where it is the
       greater one: P's is that of time, S's, whose waves are shorter, with small steps that of
       space. */
    shot fine = fire(&g, 10, 0.001), long_steps = fire(&g, 10, 0.002);
    shot narrow = fire(&g, 10, 0.0005), wide = fire(&g, 16, 0.0005);
    for (int i = 0; i < RECEIVERS; i++)
        gallery_between(i < 2 ? "error on the axis" : "error across", error(&fine, i), 0, 0.015);
    gallery_between("order in dt", log2(error(&long_steps, 1) / error(&fine, 1)), 1.8, 2.4);
    gallery_between("order in h", log(error(&wide, 3) / error(&narrow, 3)) / log(1.6), 3.6, 4.4);
    gallery_between("speed of P, of vp", speed(&fine, 0) / vp, 0.99, 1.01);
    gallery_between("speed of S, of vs", speed(&fine, 2) / vs, 0.99, 1.01);

    gallery_set(&g, "vp", 1.03 * vp); /* the check finds 3 % more of each speed */
    shot fast = fire(&g, 10, 0.001);
    gallery_between("error with vp 3 % off", error(&fast, 1), 0.2, 1);
    gallery_set(&g, "vp", vp);
    gallery_set(&g, "vs", 1.03 * vs);
    shot fast_s = fire(&g, 10, 0.001);
    gallery_between("error with vs 3 % off", error(&fast_s, 3), 0.2, 1);
    free(fine.traces);
    free(long_steps.traces);
    free(narrow.traces);
    free(wide.traces);
    free(fast.traces);
    free(fast_s.traces);
    gallery_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(point_force)};
    return cmocka_run_group_tests_name("elastic", tests, NULL, NULL);
}
