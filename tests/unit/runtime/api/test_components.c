/* Fields of several components: one array holds them all, given by the field's name; the same bytes
   as with an array for each; and what is refused. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

enum { NX = 7, NY = 5, PITCH = 9, PARTS = 11, STEPS = 3 };

/* Component i moves by i − 6 along x and is multiplied by i: more than 9 of them, since g[10]
   is not before g[2]. */
static const char spec[] =
    "return stencil { name = 'move', boundary = 'periodic',\n"
    "  fields = { g = { use = 'inout', components = 11 }, k = { use = 'in', components = 2 } },\n"
    "  update = function(f)\n"
    "    local r = {}\n"
    "    for i = 1, 11 do r[i] = f.g[i](6 - i, 0) * i + f.k[1](0, 0) - f.k[2](0, 1) end\n"
    "    return { g = r }\n"
    "  end }";

typedef float cells[PARTS][NY][PITCH];

static float drawn(int part, int y, int x) {
    return (float)((part * 37 + y * 11 + x * 5) % 64) / 64;
}

static void fill(float *to, int parts, int pitch) {
    for (int i = 0; i < parts * NY * pitch; i++)
        to[i] = -99;
    for (int p = 0; p < parts; p++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++)
                to[(p * NY + y) * pitch + x] = drawn(p, y, x);
}

/* The steps by hand, in double: the numbers are small multiples of 1/64, so floats hold them. */
static void make_steps(double g[PARTS][NY][NX]) {
    static double next[PARTS][NY][NX];
    for (int step = 0; step < STEPS; step++) {
        for (int p = 0; p < PARTS; p++)
            for (int y = 0; y < NY; y++)
                for (int x = 0; x < NX; x++)
                    next[p][y][x] = g[p][y][(x + 5 - p + 2 * NX) % NX] * (p + 1) +
                                    (double)drawn(0, y, x) - (double)drawn(1, (y + 1) % NY, x);
        memcpy(g, next, sizeof next);
    }
}

static void one_array_holds_all_components(void **state) {
    (void)state;
    static cells g, made;
    static float k[2][NY][NX];
    static double wanted[PARTS][NY][NX];
    fill(&g[0][0][0], PARTS, PITCH);
    for (int i = 0; i < PARTS * NY * PITCH; i++)
        (&made[0][0][0])[i] = -99;
    fill(&k[0][0][0], 2, NX);
    for (int p = 0; p < PARTS; p++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++)
                wanted[p][y][x] = (double)drawn(p, y, x);
    make_steps(wanted);
    const sg_array arrays[] = {{"g.next", {.data = made, .size = {NX, NY}, .stride = {1, PITCH}}},
                               {"k", {.data = k, .size = {NX, NY}}},
                               {"g", {.data = g, .size = {NX, NY}, .stride = {1, PITCH}}}};
    const sg_arguments a = {.struct_size = sizeof a, .arrays = arrays, .array_count = 3};
    sg_kernel *kernel = build(spec, "naive");
    int final[3];
    expect_ok(sg_run(kernel, &a, STEPS, NULL, final));
    expect_ok(sg_synchronize(context, NULL));
    assert_int_equal(final[1], 1);
    assert_int_equal(final[2], 0); /* after an odd number of steps */
    assert_int_equal(final[0], 2);
    for (int p = 0; p < PARTS; p++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < PITCH; x++)
                assert_true((double)made[p][y][x] == (x < NX ? wanted[p][y][x] : -99));
    sg_release(kernel);
}

static void expect_call_refused(sg_kernel *k, const sg_array *arrays, int count, const char *why) {
    const sg_arguments a = {.struct_size = sizeof a, .arrays = arrays, .array_count = count};
    assert_int_equal(sg_launch(k, &a, NULL), SG_ERROR_USAGE);
    if (strstr(sg_error(context), why) == NULL)
        fail_msg("'%s' is not in: %s", why, sg_error(context));
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    static cells g, made;
    static float k[2][NY][NX];
    const sg_grid of_g = {.data = g, .size = {NX, NY}}, next = {.data = made, .size = {NX, NY}},
                  of_k = {.data = k, .size = {NX, NY}};
    sg_kernel *kernel = build(spec, "naive");
    const sg_array missing[] = {{"g", of_g}, {"k", of_k}};
    expect_call_refused(kernel, missing, 2, "the array 'g[1].next' is missing");
    const sg_array twice[] = {{"g", of_g}, {"k", of_k}, {"g.next", next}, {"g[10]", of_g}};
    expect_call_refused(kernel, twice, 4, "the array 'g[10]' is given twice");
    const sg_array unknown[] = {{"g", of_g}, {"k", of_k}, {"g.next", next}, {"g[12]", of_g}};
    expect_call_refused(kernel, unknown, 4, "the array 'g[12]' is unknown");
    const sg_array strided[] = {
        {"g", {.data = g, .size = {NX, NY}, .stride = {1, -NX}}}, {"k", of_k}, {"g.next", next}};
    expect_call_refused(kernel, strided, 3, "'g' has components: its strides must grow");
    const sg_array same[] = {{"g", of_g}, {"k", of_k}, {"g.next", of_g}};
    expect_call_refused(kernel, same, 3, "overlaps");
    sg_release(kernel);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_array_holds_all_components),
    cmocka_unit_test(wrong_calls_are_refused),
};

TEST_GROUP(components, open_cpu, close_context)
