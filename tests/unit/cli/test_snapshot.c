/* Snapshots: pictures read back by libpng, files by their bytes, and a disk that is slow. */
#include "tests/unit/group.h"
#include "tests/unit/scratch_folder.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef SG_PNG
#include <png.h>
#endif

#include "base/random.h"
#include "cli/command.h"
#include "cli/files/datafile.h"
#include "cli/files/records.h"

enum { NX = 37, NY = 11, CELLS = NX * NY };

static float field[CELLS];

static int give(void *user, int item, uint64_t first, size_t count, const snapshot_room *to) {
    assert_int_equal(item, 3);
    memcpy(to->memory, (const float *)user + first, count * sizeof(float));
    return EXIT_DONE;
}

static void fill(void) {
    uint64_t state = random_fresh();
    for (int i = 0; i < CELLS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        field[i] = (float)((double)(state >> 40) / (1 << 24) * 7 - 3);
    }
}

static snapshot_files files_of(const char *pattern) {
    snapshot_files f = {
        .pattern = pattern,
        .item = 3,
        .is_png = snapshot_is_png(pattern),
        .array = {.name = "u", .type = DTYPE_FLOAT, .dims = 2, .size = {NX, NY, 1}}};
    f.is_image = f.is_png;
    colours_of("viridis", f.colours);
    snapshot_frame(&f);
    return f;
}

static const char *in_folder(const char *name) {
    return phrase("%s/%s", scratch_root, name);
}

/* ---- colours --------------------------------------------------------------------------------- */

/* Some colours of matplotlib's own tables (matplotlib/lib/matplotlib/_cm_listed.py). */
static void maps_are_those_of_matplotlib(void **state) {
    (void)state;
    static const struct {
        const char *map;
        int index;
        double colour[3];
    } known[] = {{"viridis", 0, {0.267004, 0.004874, 0.329415}},
                 {"viridis", 128, {0.127568, 0.566949, 0.550556}},
                 {"viridis", 255, {0.993248, 0.906157, 0.143936}},
                 {"plasma", 0, {0.050383, 0.029803, 0.527975}},
                 {"plasma", 128, {0.798216, 0.280197, 0.469538}},
                 {"plasma", 255, {0.940015, 0.975158, 0.131326}},
                 {"magma", 128, {0.716387, 0.214982, 0.475290}},
                 {"magma", 255, {0.987053, 0.991438, 0.749504}},
                 {"inferno", 128, {0.735683, 0.215906, 0.330245}},
                 {"inferno", 255, {0.988362, 0.998364, 0.644924}},
                 {"grey", 0, {0, 0, 0}},
                 {"grey", 77, {77 / 255.0, 77 / 255.0, 77 / 255.0}}};
    unsigned char colours[COLOURS][3];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(colours_of(known[i].map, colours));
        for (int c = 0; c < 3; c++)
            if (fabs(colours[known[i].index][c] / 255.0 - known[i].colour[c]) > 0.025)
                fail_msg("%s %d: colour %d is %d", known[i].map, known[i].index, c,
                         colours[known[i].index][c]);
    }
    assert_false(colours_of("jet", colours));
    assert_string_equal(colours_name(0), "viridis");
}

/* ---- pictures -------------------------------------------------------------------------------- */

#ifdef SG_PNG
/* Red, green and blue of every pixel, by libpng's simple interface. */
static unsigned char *read_png(const char *path, int *width, int *height) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    image.format = PNG_FORMAT_RGB;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    *width = (int)image.width;
    *height = (int)image.height;
    return pixels;
}

/* Compares with the nearest colour of the scale from low to high. */
static void expect_picture(const char *path, double low, double high) {
    unsigned char colours[COLOURS][3];
    int width, height;
    unsigned char *pixels = read_png(path, &width, &height);
    assert_true(width == NX && height == NY);
    colours_of("viridis", colours);
    for (int i = 0; i < CELLS; i++) {
        const double place = ((double)field[i] - low) / (high - low) * 255;
        const long colour = isnan(place) ? 0 : lround(fmin(fmax(place, 0), 255));
        assert_memory_equal(pixels + 3 * i, colours[colour], 3);
    }
    free(pixels);
}

static void pictures_hold_every_pixel(void **state) {
    (void)state;
    const char *pattern = in_folder("p-%04d.png");
    snapshot_files f = files_of(pattern);
    snapshots *s;
    float low, high;
    fill();
    low = high = field[0];
    for (int i = 0; i < CELLS; i++) {
        low = fminf(low, field[i]);
        high = fmaxf(high, field[i]);
    }
    assert_int_equal(snapshots_begin(&s, NULL, &f, 1), EXIT_DONE);
    assert_int_equal(snapshots_take(s, 10, give, field), EXIT_DONE);
    assert_int_equal(snapshots_end(s), EXIT_DONE);
    expect_picture(in_folder("p-0010.png"), (double)low, (double)high);
    assert_int_equal(f.written, 1);

    /* A fixed scale; values beyond it, and NaN */
    f = files_of(pattern);
    f.has_scale = true;
    f.scale = (pgm_scale){-1, 1.5};
    field[17] = NAN;
    assert_int_equal(snapshots_begin(&s, NULL, &f, 1), EXIT_DONE);
    assert_int_equal(snapshots_take(s, 20, give, field), EXIT_DONE);
    assert_int_equal(snapshots_end(s), EXIT_DONE);
    expect_picture(in_folder("p-0020.png"), -1, 1.5);
}

/* All pictures of a run have the scale of its first one. */
static void later_pictures_have_the_first_scale(void **state) {
    (void)state;
    snapshot_files f = files_of(in_folder("q-%d.png"));
    snapshots *s;
    fill();
    field[0] = -4;
    field[1] = 5;
    assert_int_equal(snapshots_begin(&s, NULL, &f, 1), EXIT_DONE);
    assert_int_equal(snapshots_take(s, 1, give, field), EXIT_DONE);
    field[0] = 100;
    assert_int_equal(snapshots_take(s, 2, give, field), EXIT_DONE);
    assert_int_equal(snapshots_end(s), EXIT_DONE);
    expect_picture(in_folder("q-2.png"), -4, 5);
    assert_int_equal(f.written, 2);
    assert_int_equal(f.last, 2);
}

static bool put_little(void *user, const void *bytes, size_t count) {
    (void)bytes;
    size_t *room = user;
    if (count > *room)
        return false;
    *room -= count;
    return true;
}

static void a_picture_that_finds_no_room_ends(void **state) {
    (void)state;
    static unsigned char samples[CELLS];
    unsigned char colours[COLOURS][3];
    colours_of("grey", colours);
    for (size_t room = 0; room < 900; room += 50) {
        size_t left = room;
        assert_false(picture_write(NX, NY, samples, colours, put_little, &left));
    }
    size_t enough = 1 << 16;
    assert_true(picture_write(NX, NY, samples, colours, put_little, &enough));
}
#endif

/* ---- the thread ------------------------------------------------------------------------------ */

typedef struct reader {
    const char *path;
    unsigned char bytes[1 << 12];
    size_t count;
} reader;

static void *read_all(void *argument) {
    reader *r = argument;
    FILE *file = fopen(r->path, "rb");
    r->count = file != NULL ? fread(r->bytes, 1, sizeof r->bytes, file) : 0;
    if (file != NULL)
        fclose(file);
    return NULL;
}

/* Pipes that nobody reads yet are the slowest disk: two snapshots are taken without waiting. */
static void the_run_does_not_wait_for_two_snapshots(void **state) {
    (void)state;
    const char *paths[3] = {in_folder("s-1.npy"), in_folder("s-2.npy"), in_folder("s-3.npy")};
    reader readers[3];
    pthread_t threads[3];
    snapshot_files f = files_of(in_folder("s-%d.npy"));
    snapshots *s;
    fill();
    for (int i = 0; i < 3; i++)
        assert_int_equal(mkfifo(paths[i], 0600), 0);
    alarm(60);
    assert_int_equal(snapshots_begin(&s, NULL, &f, 1), EXIT_DONE);
    assert_int_equal(snapshots_take(s, 1, give, field), EXIT_DONE);
    const float first = field[0];
    field[0] = 77; /* the run goes on */
    assert_int_equal(snapshots_take(s, 2, give, field), EXIT_DONE);
    for (int i = 0; i < 3; i++) {
        readers[i] = (reader){.path = paths[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
    }
    assert_int_equal(snapshots_take(s, 3, give, field), EXIT_DONE);
    assert_int_equal(snapshots_end(s), EXIT_DONE);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    alarm(0);
    for (int i = 0; i < 3; i++) {
        float got[CELLS];
        assert_int_equal(readers[i].count, 128 + sizeof got);
        memcpy(got, readers[i].bytes + 128, sizeof got);
        assert_true(got[0] == (i == 0 ? first : 77.0f));
        assert_memory_equal(got + 1, field + 1, sizeof got - sizeof *got);
    }
}

static void a_file_that_fails_is_an_error_of_the_run(void **state) {
    (void)state;
    snapshot_files f = files_of(in_folder("gone/u-%d.npy"));
    snapshots *s;
    fill();
    assert_int_equal(snapshot_try(&f, 1), EXIT_DATA); /* no such folder */
    assert_int_equal(mkdir(in_folder("gone"), 0700), 0);
    assert_int_equal(snapshots_begin(&s, NULL, &f, 1), EXIT_DONE);
    assert_int_equal(snapshots_take(s, 1, give, field), EXIT_DONE);
    assert_int_equal(snapshots_end(s), EXIT_DONE);
    assert_int_equal(snapshots_begin(&s, NULL, &f, 1), EXIT_DONE);
    assert_int_equal(unlink(in_folder("gone/u-1.npy")), 0);
    assert_int_equal(rmdir(in_folder("gone")), 0);
    complaint_take();
    assert_int_equal(snapshots_take(s, 2, give, field), EXIT_DONE);
    assert_int_equal(snapshots_end(s), EXIT_DATA);
    assert_non_null(strstr(complaint_take(), "gone/u-2.npy: error: cannot write"));
}

static void names_have_one_number(void **state) {
    (void)state;
    static const char *const bad[] = {"u.png",        "u-%s.png",    "u-%d-%d.png", "u-%%%d.png",
                                      "u-%6d.png",    "u-%0d.png",   "u-%ld.png",   "u-%0999d.png",
                                      "u-%06d.jpg",   "u-%06d",      "u-%x.npy",    "%n%06d.npy",
                                      "u-%06d.png/x", "u-%-06d.npy", "u-%06i.npy",  "u-%"};
    char name[SNAPSHOT_NAME];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (snapshot_judge(bad[i]) != EXIT_USAGE)
            fail_msg("%s is allowed", bad[i]);
    assert_int_equal(snapshot_judge("a.b/u-%06d.npy"), EXIT_DONE);
    snapshot_name("a.b/u-%06d.npy", 1234, name);
    assert_string_equal(name, "a.b/u-001234.npy");
    snapshot_name("%d.vti", 12345678901, name);
    assert_string_equal(name, "12345678901.vti");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(maps_are_those_of_matplotlib),
#ifdef SG_PNG
    cmocka_unit_test(pictures_hold_every_pixel),
    cmocka_unit_test(later_pictures_have_the_first_scale),
    cmocka_unit_test(a_picture_that_finds_no_room_ends),
#endif
    cmocka_unit_test(the_run_does_not_wait_for_two_snapshots),
    cmocka_unit_test(a_file_that_fails_is_an_error_of_the_run),
    cmocka_unit_test(names_have_one_number),
};

TEST_GROUP(snapshot, scratch_enter, scratch_leave)
