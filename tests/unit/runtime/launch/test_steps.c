/* Launches on memory as programs lay it out: strides, boxes, several steps, several threads; on the
   cpu device. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

#include <pthread.h>

static void *upload(const void *from, size_t bytes) {
    void *memory;
    expect_ok(sg_alloc(context, bytes, &memory));
    expect_ok(sg_upload(context, memory, from, bytes));
    return memory;
}

enum { NX = 37, NY = 11, PITCH = 43, CELLS = PITCH * NY };
#define OLD (-7.0f)

typedef struct strided {
    float host[CELLS];
    float *memory;
    sg_grid grid;
    int pitch, flipped;
} strided;

static int at(const strided *s, int x, int y) {
    return (s->flipped ? NY - 1 - y : y) * s->pitch + x;
}

static void make_strided(strided *s, int pitch, int flipped) {
    s->pitch = pitch;
    s->flipped = flipped;
    s->memory = upload(s->host, sizeof s->host);
    s->grid = (sg_grid){.data = s->memory + at(s, 0, 0),
                        .size = {NX, NY, 1},
                        .stride = {1, flipped ? -pitch : pitch, 0}};
}

static void expect_shifted(const strided *in, const strided *out, const int64_t begin[3],
                           const int64_t end[3]) {
    float expected[CELLS];
    for (int i = 0; i < CELLS; i++)
        expected[i] = OLD;
    for (int y = (int)begin[1]; y < end[1]; y++)
        for (int x = (int)begin[0]; x < end[0]; x++)
            expected[at(out, x, y)] = in->host[at(in, x < NX - 1 ? x + 1 : x, y)];
    assert_memory_equal(out->host, expected, sizeof expected);
}

/* Padding and cells outside the box must be left alone, whatever the strides. */
static void launch_shifted(const sg_kernel *k, int in_pitch, int in_flipped, int out_pitch,
                           int out_flipped, const int64_t begin[3], const int64_t end[3]) {
    static strided in, out;
    for (int i = 0; i < CELLS; i++) {
        in.host[i] = (float)(i % 251) - 100;
        out.host[i] = OLD;
    }
    make_strided(&in, in_pitch, in_flipped);
    make_strided(&out, out_pitch, out_flipped);
    const sg_grid grids[] = {in.grid, out.grid};
    sg_arguments arguments = {.struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    memcpy(arguments.begin, begin, sizeof arguments.begin);
    memcpy(arguments.end, end, sizeof arguments.end);
    expect_ok(sg_launch(k, &arguments, NULL));
    expect_ok(sg_synchronize(context, NULL));
    expect_ok(sg_download(context, out.host, out.memory, sizeof out.host));
    expect_shifted(&in, &out, begin, end);
    sg_free(context, in.memory);
    sg_free(context, out.memory);
}

static void launches_follow_strides_and_boxes(void **state) {
    (void)state;
    static const int64_t boxes[][2][3] = {
        {{0, 0, 0}, {NX, NY, 1}}, {{3, 2, 0}, {NX - 5, NY - 1, 1}}, {{36, 10, 0}, {37, 11, 1}}};
    static const char *const methods[] = {"naive", "tiled", "coarsened", "register"};
    for (int m = 0; m < 4; m++) {
        sg_kernel *k = build(SHIFT2, methods[m]);
        for (int b = 0; b < 3; b++) {
            launch_shifted(k, NX, 0, NX, 0, boxes[b][0], boxes[b][1]);
            launch_shifted(k, PITCH, 0, NX + 3, 0, boxes[b][0], boxes[b][1]);
            launch_shifted(k, PITCH, 1, NX, 0, boxes[b][0], boxes[b][1]);
            launch_shifted(k, NX + 3, 1, PITCH, 1, boxes[b][0], boxes[b][1]);
        }
        sg_release(k);
    }
}

typedef struct heat_case {
    void *memory[2];
    sg_grid grids[2];
    sg_arguments arguments;
    size_t bytes;
} heat_case;

static void make_heat(heat_case *h, int nx, int ny, int nz) {
    const size_t cells = (size_t)nx * (size_t)ny * (size_t)nz;
    float *start = calloc(cells, sizeof *start);
    assert_non_null(start);
    for (size_t i = 0; i < cells; i++)
        start[i] = (float)(i * 7919 % 1009) / 1009 - 0.5f;
    *h = (heat_case){.bytes = cells * sizeof *start,
                     .arguments = {.struct_size = sizeof h->arguments, .grid_count = 2}};
    for (int i = 0; i < 2; i++) {
        h->memory[i] = upload(start, h->bytes);
        h->grids[i] = (sg_grid){.data = h->memory[i], .size = {nx, ny, nz}};
    }
    h->arguments.grids = h->grids;
    free(start);
}

static void *fetch(const void *memory, size_t bytes) {
    void *host = malloc(bytes);
    assert_non_null(host);
    expect_ok(sg_download(context, host, memory, bytes));
    return host;
}

static void end_heat(heat_case *h) {
    sg_free(context, h->memory[0]);
    sg_free(context, h->memory[1]);
}

static void steps_are_launches_bit_for_bit(void **state) {
    (void)state;
    enum { STEPS = 5 };
    sg_kernel *k = build(HEAT7, NULL);
    heat_case a, b;
    int final[2];
    make_heat(&a, 19, 13, 9);
    make_heat(&b, 19, 13, 9);
    expect_ok(sg_run(k, &a.arguments, STEPS, NULL, final));
    for (int step = 0; step < STEPS; step++) {
        expect_ok(sg_launch(k, &b.arguments, NULL));
        const sg_grid swap = b.grids[0];
        b.grids[0] = b.grids[1];
        b.grids[1] = swap;
    }
    assert_int_equal(final[0], 1);
    void *from_run = fetch(a.grids[final[0]].data, a.bytes);
    void *from_launches = fetch(b.grids[0].data, b.bytes);
    void *start = fetch(a.grids[final[1]].data, a.bytes);
    assert_memory_equal(from_run, from_launches, a.bytes);
    assert_memory_not_equal(from_run, start, a.bytes);
    free(from_run);
    free(from_launches);
    free(start);
    expect_ok(sg_run(k, &a.arguments, 0, NULL, final));
    assert_int_equal(final[0], 0);
    end_heat(&a);
    end_heat(&b);
    sg_release(k);
}

/* The wave equation on a box: three buffers rotate, and cells outside keep their value in all. */
static void rotation_keeps_cells_outside_the_box(void **state) {
    (void)state;
    enum { STEPS = 4, WX = 21, WY = 12, WAVE = WX * WY };
    sg_kernel *k = build(WAVE2, NULL);
    float host[4][WAVE]; /* c, u, u.prev, u.next */
    sg_grid grids[4], single[4];
    const double dt = 0.125;
    sg_arguments arguments = {.struct_size = sizeof arguments,
                              .grids = grids,
                              .grid_count = 4,
                              .parameters = &dt,
                              .parameter_count = 1,
                              .begin = {2, 3, 0},
                              .end = {WX - 4, WY - 2, 1}};
    for (int a = 0; a < 4; a++) {
        for (int i = 0; i < WAVE; i++)
            host[a][i] = (float)((i + 1) * (a + 3) % 17) / 17;
        grids[a] = (sg_grid){.data = upload(host[a], sizeof host[a]), .size = {WX, WY, 1}};
        single[a] = grids[a];
        single[a].data = upload(host[a], sizeof host[a]);
    }
    int final[4];
    expect_ok(sg_run(k, &arguments, STEPS, NULL, final));
    arguments.grids = single;
    for (int step = 0; step < STEPS; step++) {
        void *now = fetch(single[1].data, sizeof host[0]);
        expect_ok(sg_upload(context, single[3].data, now, sizeof host[0]));
        free(now);
        expect_ok(sg_launch(k, &arguments, NULL));
        const sg_grid oldest = single[2];
        single[2] = single[1];
        single[1] = single[3];
        single[3] = oldest;
    }
    for (int a = 0; a < 3; a++) {
        void *from_run = fetch(grids[final[a]].data, sizeof host[0]);
        void *from_launches = fetch(single[a].data, sizeof host[0]);
        assert_memory_equal(from_run, from_launches, sizeof host[0]);
        free(from_run);
        free(from_launches);
    }
    for (int a = 0; a < 4; a++) {
        sg_free(context, grids[a].data);
        sg_free(context, single[a].data);
    }
    sg_release(k);
}

/* ---- threads --------------------------------------------------------------------------- */

static void *launch_often(void *argument) {
    const sg_kernel *k = argument;
    heat_case h;
    make_heat(&h, 17, 9, 8);
    for (int i = 0; i < 20; i++)
        if (sg_launch(k, &h.arguments, NULL) != SG_OK)
            return argument;
    end_heat(&h);
    return NULL;
}

static void a_kernel_is_launched_from_many_threads(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_often, k), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    sg_release(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(launches_follow_strides_and_boxes),
    cmocka_unit_test(steps_are_launches_bit_for_bit),
    cmocka_unit_test(rotation_keeps_cells_outside_the_box),
    cmocka_unit_test(a_kernel_is_launched_from_many_threads),
};

TEST_GROUP(steps, open_cpu, close_context)
