/* Shallow water: the wave of a broken dam over a wet bed, which J. J. Stoker solved (Water Waves,
   Interscience 1957, section 10.8): a rarefaction runs up, a shock runs down, and between them
   depth and speed are constant. */
#include "gallery.h"

static const double g0 = 9.81, deep = 2, shallow = 1; /* m/s², m, m */
static const double length = 20, duration = 1;        /* m, s; the dam is in the middle */

typedef struct wave {
    double depth, speed, shock; /* between the two waves, m and m/s; of the shock, m/s */
} wave;

/* The speed of the water behind a shock that raises it from `shallow` to h. */
static double behind_shock(double h) {
    return (h - shallow) * sqrt(g0 / 2 * (1 / h + 1 / shallow));
}

/* Where the rarefaction, u + 2c = const, meets the shock; by bisection. */
static wave stoker(void) {
    double low = shallow, high = deep;
    for (int i = 0; i < 100; i++) {
        const double h = (low + high) / 2;
        if (2 * (sqrt(g0 * deep) - sqrt(g0 * h)) > behind_shock(h))
            low = h;
        else
            high = h;
    }
    const double h = (low + high) / 2, u = behind_shock(h);
    return (wave){.depth = h, .speed = u, .shock = h * u / (h - shallow)};
}

/* Depth and speed at x from the dam. */
static void exact(const wave *w, double x, double time, double *h, double *u) {
    const double s = x / time, c = sqrt(g0 * deep);
    if (s < -c) {
        *h = deep;
        *u = 0;
    } else if (s < w->speed - sqrt(g0 * w->depth)) {
        *h = pow((2 * c - s) / 3, 2) / g0;
        *u = 2 * (c + s) / 3;
    } else if (s < w->shock) {
        *h = w->depth;
        *u = w->speed;
    } else {
        *h = shallow;
        *u = 0;
    }
}

typedef struct dam {
    int64_t n;
    bool along_y;
} dam;

static double behind_dam(void *user, int64_t x, int64_t y) {
    const dam *d = user;
    return (d->along_y ? y : x) < d->n / 2 ? deep : shallow;
}

/* The mean error of the depth on n cells, m; *momentum that of the momentum, m²/s; *mass what the
   water gained, as a part of it. */
static double error(gallery *g, int64_t n, bool along_y, double *momentum, double *mass) {
    const wave w = stoker();
    const double dx = length / (double)n;
    const int64_t steps = (int64_t)ceil(duration * 6 / (0.8 * dx)); /* waves run at most at 6 m/s */
    dam d = {.n = n, .along_y = along_y};
    gallery_size(g, along_y ? 2 : n, along_y ? n : 2);
    gallery_set(g, "r", duration / (double)steps / dx);
    gallery_fill(g, "h", behind_dam, &d);
    gallery_steps(g, steps);
    double *h = gallery_cells(g), *m = gallery_cells(g), sum = 0, off = 0, water = 0;
    gallery_read(g, "h", h);
    gallery_read(g, along_y ? "my" : "mx", m);
    for (int64_t i = 0; i < g->count; i++) {
        const int64_t along = along_y ? i / 2 : i % n;
        double depth, speed;
        exact(&w, ((double)along + 0.5) * dx - length / 2, duration, &depth, &speed);
        sum += fabs(h[i] - depth);
        off += fabs(m[i] - depth * speed);
        water += h[i];
    }
    free(h);
    free(m);
    *momentum = off / (double)g->count;
    *mass = water / (double)g->count / ((deep + shallow) / 2) - 1;
    return sum / (double)g->count;
}

static void against_stoker(void **state) {
    gallery g;
    double m[4], mass;
    (void)state;
    gallery_open(&g, "examples/gallery/dam_break.lua");
    gallery_set(&g, "r", 0.05);
    gallery_check(&g);

    const double coarse = error(&g, 200, false, &m[0], &mass);
    const double fine = error(&g, 1600, false, &m[1], &mass);
    gallery_between("change of mass", fabs(mass), 0, 1e-13);
    gallery_between("error of the depth with 1600 cells, m", fine, 0, 2.2e-3);
    gallery_between("order, depth", log2(coarse / fine) / 3, 0.75, 1.05);
    gallery_between("order, momentum", log2(m[0] / m[1]) / 3, 0.75, 1.05);
    const double turned = error(&g, 200, true, &m[2], &mass);
    gallery_between("along y, depth", turned / coarse, 1 - 1e-10, 1 + 1e-10);
    gallery_between("along y, momentum", m[2] / m[0], 1 - 1e-10, 1 + 1e-10);

    gallery_set(&g, "g", 1.03 * g0); /* the check finds 3 % more gravity */
    gallery_between("error with 3 % more gravity", error(&g, 1600, false, &m[3], &mass), 3e-3, 1);
    gallery_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_stoker)};
    return cmocka_run_group_tests_name("dam_break", tests, NULL, NULL);
}
