/* Life: the glider gun that R. W. Gosper found in 1970 has period 30, and each period sends out one
   glider of five cells, which moves by one cell along both axes in four generations. */
#include "examples/pgm.h"
#include "gallery.h"

enum { NX = 100, NY = 75, GUN_X = 38, GUN_Y = 11, PERIOD = 30, GLIDER = 5 };

static double pixel(void *image, int64_t x, int64_t y) {
    return ((const grey *)image)->samples[y * NX + x];
}

static void load(gallery *g) {
    char path[4096];
    grey image = {0};
    snprintf(path, sizeof path, "%s/examples/gallery/gun.pgm", getenv("SOURCE"));
    const char *wrong = read_pgm(path, &image);
    if (wrong != NULL)
        fail_msg("%s %s", path, wrong);
    assert_true(image.width == NX && image.height == NY);
    gallery_fill(g, "cell", pixel, &image);
    free(image.samples);
}

static int population(const double *cells) {
    double sum = 0;
    for (int i = 0; i < NX * NY; i++)
        sum += cells[i];
    return (int)sum;
}

/* Whether the gun looks the same in both; its first glider has left this box by then. */
static bool same_gun(const double *a, const double *b) {
    for (int y = 0; y < GUN_Y; y++)
        if (memcmp(a + y * NX, b + y * NX, GUN_X * sizeof *a) != 0)
            return false;
    return true;
}

/* Whether the gliders of `a`, which are below the gun, are in `b` where four periods carry them. */
static bool gliders_moved(const double *a, const double *b) {
    const int far = 4 * PERIOD / 4;
    for (int y = GUN_Y + 4; y + far < NY; y++)
        for (int x = 0; x + far < NX; x++)
            if (a[y * NX + x] != b[(y + far) * NX + x + far])
                return false;
    return true;
}

/* How many of the first 8 periods end as they must; *between: generations inside of the first
   period that look like the gun. */
static int right_periods(gallery *g, int *between) {
    double *start = gallery_cells(g), *now = gallery_cells(g), *fourth = gallery_cells(g);
    int right = 0;
    load(g);
    gallery_read(g, "cell", start);
    *between = 0;
    for (int generation = 1; generation <= 8 * PERIOD; generation++) {
        const int period = generation / PERIOD;
        gallery_steps(g, 1);
        gallery_read(g, "cell", now);
        if (generation % PERIOD != 0) {
            *between += generation < PERIOD && same_gun(start, now);
            continue;
        }
        if (period == 4)
            memcpy(fourth, now, (size_t)g->count * sizeof *now);
        right += same_gun(start, now) && population(now) == population(start) + GLIDER * period &&
                 (period != 8 || gliders_moved(fourth, now));
    }
    free(start);
    free(now);
    free(fourth);
    return right;
}

static void glider_gun(void **state) {
    gallery g;
    int between;
    (void)state;
    gallery_open(&g, "examples/gallery/life.lua");
    gallery_check(&g);
    gallery_size(&g, NX, NY);
    assert_int_equal(right_periods(&g, &between), 8);
    assert_int_equal(between, 0);

    gallery_set(&g, "born", 2); /* the check finds other rules */
    assert_int_equal(right_periods(&g, &between), 0);
    gallery_set(&g, "born", 3);
    gallery_set(&g, "kept", 1);
    assert_int_equal(right_periods(&g, &between), 0);
    gallery_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(glider_gun)};
    return cmocka_run_group_tests_name("life", tests, NULL, NULL);
}
