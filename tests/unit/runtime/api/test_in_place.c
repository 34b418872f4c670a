/* Stencils whose new values lie in the memory of the field's oldest level: every method leaves the
   bytes that it leaves apart, also in a box, and what cannot be is refused. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

enum { ARRAYS = 6, CELLS = 40 * 23 * 9 };

typedef struct grids {
    float cells[ARRAYS][CELLS];
    sg_grid grid[ARRAYS];
    int final[ARRAYS];
} grids;

static sg_array_info array_of(const sg_kernel *k, int i) {
    sg_array_info info = {.struct_size = sizeof info};
    expect_ok(sg_kernel_array(k, i, &info));
    return info;
}

static int count_of(const sg_kernel *k) {
    sg_kernel_info info = {.struct_size = sizeof info};
    expect_ok(sg_kernel_facts(k, &info));
    assert_in_range(info.arrays, 1, ARRAYS);
    return info.arrays;
}

static void fill(const sg_kernel *k, grids *g, const int64_t size[3], bool in_place) {
    unsigned seed = 1;
    for (int i = 0; i < count_of(k); i++) {
        const int other = array_of(k, i).same_as;
        for (int c = 0; c < CELLS; c++) {
            seed = seed * 1664525u + 1013904223u;
            g->cells[i][c] = (float)(seed >> 8) / (1 << 24);
        }
        g->final[i] = i;
        g->grid[i] = (sg_grid){.data = g->cells[in_place && other >= 0 ? other : i],
                               .size = {size[0], size[1], size[2]}};
    }
}

static sg_status make(const sg_kernel *k, grids *g, const int64_t end[3], int64_t steps) {
    sg_arguments a = {
        .struct_size = sizeof a, .grids = g->grid, .grid_count = count_of(k), .end = {0}};
    if (end != NULL)
        for (int axis = 0; axis < 3; axis++)
            a.begin[axis] = end[axis] > 3 ? 2 : 0, a.end[axis] = end[axis];
    return steps == 1 ? sg_launch(k, &a, NULL) : sg_run(k, &a, steps, NULL, g->final);
}

/* The newest values of a field. */
static const void *newest(const sg_kernel *k, const grids *g, int written, int64_t steps) {
    const int reads = array_of(k, written).reads;
    return g->grid[steps == 1 || reads < 0 ? written : g->final[reads]].data;
}

/* How many arrays need no memory. */
static int compare(const sg_kernel *k, const int64_t size[3], const int64_t end[3], int64_t steps) {
    static grids apart, shared;
    int count = 0;
    fill(k, &apart, size, false);
    fill(k, &shared, size, true);
    expect_ok(make(k, &apart, end, steps));
    expect_ok(make(k, &shared, end, steps));
    const size_t bytes = (size_t)(size[0] * size[1] * size[2]) * sizeof(float);
    for (int i = 0; i < count_of(k); i++) {
        const sg_array_info info = array_of(k, i);
        count += info.same_as >= 0;
        if (info.role == SG_WRITE && end == NULL &&
            memcmp(newest(k, &apart, i, steps), newest(k, &shared, i, steps), bytes) != 0)
            fail_msg("%s by '%s', %d steps: '%s' differs", sg_kernel_text(k, SG_TEXT_MODEL),
                     sg_kernel_text(k, SG_TEXT_PLAN), (int)steps, info.name);
        for (int64_t z = 0; end != NULL && info.role == SG_WRITE && z < end[2]; z++)
            for (int64_t y = end[1] > 3 ? 2 : 0; y < end[1]; y++) {
                const int64_t at = (z * size[1] + y) * size[0] + 2;
                assert_memory_equal((const float *)newest(k, &apart, i, steps) + at,
                                    (const float *)newest(k, &shared, i, steps) + at,
                                    (size_t)(end[0] - 2) * sizeof(float));
            }
    }
    return count;
}

#define WAVE(rule)                                                                                 \
    "return stencil { name = 'w', fields = { u = { use = 'inout', levels = 2 }, c = 'in' }, "      \
    "boundary = '" rule "', update = function(f) return 2 * f.u(0,0,0) - f.u.prev(0,0,0) + "       \
    "f.c(0,0,0) * (f.u(1,0,0) + f.u(-2,0,0) + f.u(0,1,0) + f.u(0,0,-1) - 4 * f.u(0,0,0)) end }"
#define OWN                                                                                        \
    "return stencil { name = 'o', fields = { v = 'inout', p = 'in', e = 'out' }, boundary = "      \
    "'fixed', update = function(f) return { v = f.v(0,0,0) / 2 + f.p(1,0,0) - f.p(0,0,1), e = "    \
    "f.v(0,0,0) * f.p(0,0,0) } end }"

static void methods_write_in_place(void **state) {
    static const char *const specs[] = {WAVE("clamp"), WAVE("fixed"), WAVE("periodic"), OWN};
    static const char *const schedules[] = {
        "naive",
        "naive vec=4",
        "tiled",
        "coarsened",
        "register",
        "streamed",
        "streamed vec=4 coarsen=z2",
        "cached-halo",
    };
    static const int64_t sizes[][3] = {{40, 23, 9}, {37, 11, 5}, {3, 2, 1}}, end[3] = {17, 9, 1};
    (void)state;
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (size_t m = 0; m < sizeof schedules / sizeof *schedules; m++) {
            sg_kernel *k = build(specs[s], schedules[m]);
            for (int i = 0; i < 3; i++) {
                assert_int_equal(compare(k, sizes[i], NULL, 1), 1);
                assert_int_equal(compare(k, sizes[i], NULL, 4), 1);
            }
            assert_int_equal(compare(k, sizes[0], end, 1), 1);
            if (s == 3) /* which has no previous level */
                compare(k, sizes[0], end, 4);
            sg_release(k);
        }
}

static void expect_shared(const char *spec, const char *schedule, const int64_t size[3],
                          int64_t steps, int count) {
    sg_kernel *k = build(spec, schedule);
    assert_int_equal(compare(k, size, NULL, steps), count);
    sg_release(k);
}

static void linear_updates_write_in_place(void **state) {
    static const char linear[] =
        "return stencil { name = 'l', fields = { u = { use = 'inout', levels = 2 } }, boundary = "
        "'mirror', update = function(f) return f.u(0,0,0) / 2 + f.u(1,1,1) / 4 + f.u(0,-1,0) / 8 - "
        "f.u.prev(0,0,0) / 16 end }";
    static const char *const schedules[] = {"register", "streamed", "constant", "coarsened"};
    static const int64_t size[3] = {40, 23, 9};
    (void)state;
    for (size_t m = 0; m < sizeof schedules / sizeof *schedules; m++)
        expect_shared(linear, schedules[m], size, 3, 1);
}

/* Of these no array can lie in another's memory. */
static void neighbours_need_a_second_array(void **state) {
    static const char *const specs[] = {
        "return stencil { name = 'n', shape = star(2, 1), coefficients = { 0.5, 0.1, 0.1, 0.1, 0.1 "
        "} }",
        "return stencil { name = 'n', fields = { u = { use = 'inout', levels = 2 } }, update = "
        "function(f) return f.u(0,0) - f.u.prev(1,0) end }",
        /* another output would load u after it was stored */
        "return stencil { name = 'n', fields = { u = 'inout', w = 'out', p = 'in' }, update = "
        "function(f) return { u = f.p(1,0), w = f.u(0,0) } end }"};
    static const int64_t size[3] = {40, 23, 1};
    (void)state;
    for (int i = 0; i < 3; i++)
        expect_shared(specs[i], "naive", size, 2, 0);
    const char star[] = "return stencil { name = 't', shape = star(2, 1), coefficients = { 0.5, "
                        "0.1, 0.1, 0.1, 0.1 } }";
    expect_shared(star, "temporal", size, 8, 0);
}

static void what_cannot_be_is_refused(void **state) {
    static grids g;
    static const int64_t size[3] = {40, 23, 1}, end[3] = {17, 9, 1};
    const sg_build_options how = {.struct_size = sizeof how, .text = WAVE("clamp")};
    sg_kernel *k;
    (void)state;
    expect_ok(sg_build(context, "test.lua", &how, &k));
    fill(k, &g, size, true);
    assert_int_equal(make(k, &g, end, 2), SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(context), "overlaps"));
    g.grid[3].data = g.grid[1].data; /* u in place of u.prev */
    assert_int_equal(make(k, &g, NULL, 1), SG_ERROR_USAGE);
    sg_release(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(methods_write_in_place),
    cmocka_unit_test(linear_updates_write_in_place),
    cmocka_unit_test(neighbours_need_a_second_array),
    cmocka_unit_test(what_cannot_be_is_refused),
};

TEST_GROUP(in_place, open_cpu, close_context)
