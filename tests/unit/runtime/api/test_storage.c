/* Arrays of 16 bits on the cpu device: the bits of conversions, fields stored in different types,
   and what is refused. */
#include <math.h>

#include "tests/unit/draw.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

enum { PATTERNS = 1 << 16 };

/* Runs a kernel of a field that is read and one that is written; both lie in memory of the host. */
static void launch(sg_kernel *k, void *read, void *written, int64_t count) {
    const sg_grid grids[] = {{.data = read, .size = {count}}, {.data = written, .size = {count}}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    expect_ok(sg_launch(k, &arguments, NULL));
    expect_ok(sg_synchronize(context, NULL));
}

static const char *converting(const char *from, const char *to) {
    static char text[512];
    snprintf(
        text, sizeof text,
        "return stencil { name = 'copy', dims = 1, fields = { a = { use = 'in', storage = '%s' }, "
        "b = { use = 'out', storage = '%s' } }, update = function(f) return f.a(0) end }",
        from, to);
    return text;
}

typedef void (*narrowing)(uint16_t *, const float *, size_t);
typedef void (*widening)(float *, const uint16_t *, size_t);
static const struct {
    const char *storage;
    narrowing narrow;
    widening widen;
} types[] = {{"half", sg_to_half, sg_from_half}, {"bfloat16", sg_to_bfloat16, sg_from_bfloat16}};

/* Each pattern as a float, the middle between it and the next, and the floats around both. */
static void floats_around(widening widen, float *out) {
    for (int i = 0; i < PATTERNS; i++) {
        const uint16_t pair[2] = {(uint16_t)i, (uint16_t)(i + 1)};
        float at[2];
        widen(at, pair, 2);
        const float middle = (float)(((double)at[0] + (double)at[1]) / 2);
        float *to = out + (size_t)4 * (size_t)i;
        to[0] = at[0];
        to[1] = middle;
        to[2] = nextafterf(middle, INFINITY);
        to[3] = nextafterf(middle, -INFINITY);
    }
}

static void kernels_round_like_the_library(void **state) {
    (void)state;
    static float from[4 * PATTERNS];
    static uint16_t made[4 * PATTERNS], wanted[4 * PATTERNS];
    for (int t = 0; t < 2; t++)
        for (int packs = 0; packs < 2; packs++) {
            if (!drawn((uint64_t)(t + packs), 2))
                continue;
            sg_kernel *k =
                build(converting("float", types[t].storage), packs ? "naive vec=4" : "naive vec=1");
            floats_around(types[t].widen, from);
            launch(k, from, made, 4 * PATTERNS);
            types[t].narrow(wanted, from, 4 * PATTERNS);
            assert_memory_equal(made, wanted, sizeof made);
            sg_release(k);
        }
}

static void kernels_read_all_patterns(void **state) {
    (void)state;
    static uint16_t from[PATTERNS];
    static float made[PATTERNS], wanted[PATTERNS];
    for (int t = 0; t < 2; t++) {
        sg_kernel *k = build(converting(types[t].storage, "float"), NULL);
        for (int i = 0; i < PATTERNS; i++)
            from[i] = (uint16_t)i;
        launch(k, from, made, PATTERNS);
        types[t].widen(wanted, from, PATTERNS);
        for (int i = 0; i < PATTERNS; i++)
            assert_true(isnan(wanted[i]) ? isnan(made[i])
                                         : memcmp(&made[i], &wanted[i], sizeof made[i]) == 0);
        sg_release(k);
    }
}

/* The sum is exact in float, so the result is the rounded sum, bit by bit; some overflow. */
static void sums_are_rounded_once(void **state) {
    (void)state;
    enum { COUNT = 1003 };
    static const char text[] =
        "return stencil { name = 'add', shape = star(1, 1), coefficients = { 1, 1, 1 }, "
        "boundary = 'zero', storage = 'half' }";
    static const char *const schedules[] = {"naive vec=1", "naive vec=8", "tiled", "register"};
    for (int s = 0; s < 4; s++) {
        sg_kernel *k = build(text, schedules[s]);
        uint16_t from[COUNT + 8], made[COUNT + 8];
        float wide[COUNT + 8];
        memset(made, 0xab, sizeof made);
        for (int i = 0; i < COUNT; i++)
            wide[i] = (float)(i * 7919 % 4001 - 2000) * (i % 100 < 2 ? 32 : 0.25F);
        sg_to_half(from, wide, COUNT);
        sg_from_half(wide, from, COUNT);
        launch(k, from, made, COUNT);
        int infinite = 0;
        for (int i = 0; i < COUNT; i++) {
            const float sum =
                wide[i] + (i > 0 ? wide[i - 1] : 0) + (i + 1 < COUNT ? wide[i + 1] : 0);
            uint16_t wanted;
            sg_to_half(&wanted, &sum, 1);
            assert_int_equal(made[i], wanted);
            infinite += (made[i] & 0x7fff) == 0x7c00;
        }
        assert_true(infinite > 0);
        for (int i = COUNT; i < COUNT + 8; i++)
            assert_int_equal(made[i], 0xabab);
        sg_release(k);
    }
}

static const char mixed[] =
    "return stencil { name = 'flow', boundary = { x = 'periodic', y = 'mirror' }, "
    "fields = { u = 'inout', c = { use = 'in', storage = 'half' }, "
    "d = { use = 'in', storage = 'bfloat16' } }, "
    "update = function(f) return f.u(0, 0) + f.c(1, 0) * (f.u(1, 0) - f.u(-1, 0)) / 8 + "
    "f.d(0, 1) * f.u(0, -1) / 4 end }";

/* At sizes of several tiles, of whole ones, and below one. */
static void expect_right(sg_kernel *k) {
    static const int64_t sizes[][2] = {{67, 23}, {64, 16}, {1, 1}, {3, 2}};
    for (int i = 0; i < 4; i++) {
        const sg_check_options options = {.struct_size = sizeof options,
                                          .size = {sizes[i][0], sizes[i][1]},
                                          .steps = i < 2 ? 3 : 1};
        sg_check_result r = {.struct_size = sizeof r};
        expect_ok(sg_check(k, &options, &r));
        assert_int_equal(r.wrong, 0);
        assert_int_equal(r.undecidable, 0);
    }
}

/* The same of the fields that are written, one of them by its previous level. */
static const char written[] =
    "return stencil { name = 'mixture', boundary = { x = { 'fixed', 'clamp' }, y = 'zero' }, "
    "fields = { u = 'inout', v = { use = 'inout', storage = 'half', levels = %d }, "
    "w = { use = 'out', storage = 'bfloat16' }, c = { use = 'in', storage = 'half' } }, "
    "update = function(f) return { u = f.u(0, 0) / 2 + f.c(1, 0) / 8 + f.v(0, -1) / 4, "
    "v = (f.v(1, 0) + f.v%s(0, 1)) / 4 + f.u(-1, 0) / 8, w = f.v(0, 0) * %s } end }";

/* A run has each schedule for one of the two, which is drawn. */
static void fields_of_different_storage_are_right(void **state) {
    (void)state;
    static const char *const schedules[] = {
        "naive vec=1", "naive vec=4", "tiled",    "register", "resident time=3 tile=16x8",
        "coarsened",   "cached-halo", "streamed", "constant"};
    for (int s = 0; s < 9; s++) {
        const bool resident = s == 4, linear = s == 8;
        char text[700];
        snprintf(text, sizeof text, written, resident ? 1 : 2, resident ? "" : ".prev",
                 linear ? "3" : "f.u(0, 1)");
        const char *const texts[] = {linear ? text : mixed, text};
        for (int i = 0; i < 2; i++) {
            if (!drawn((uint64_t)(s + i), 2))
                continue;
            sg_kernel *k = build(texts[i], schedules[s]);
            expect_right(k);
            sg_release(k);
        }
    }
}

/* A bound that granted a rounding to each step would be four times as large. */
static void fused_steps_are_rounded_once(void **state) {
    (void)state;
    sg_kernel *k = build("return stencil { name = 'heat', storage = 'half', boundary = 'zero', "
                         "shape = star(1, 1), coefficients = { 1/2, 1/4, 1/4 } }",
                         "temporal time=4");
    const sg_check_options options = {.struct_size = sizeof options, .size = {4096}, .seed = 1};
    sg_check_result r = {.struct_size = sizeof r};
    expect_ok(sg_check(k, &options, &r));
    assert_int_equal(r.steps, 4);
    assert_true(r.of_bound > 0.9);
    sg_release(k);
}

static void arrays_say_their_storage(void **state) {
    (void)state;
    sg_kernel *k = build(mixed, NULL);
    static const char *const names[] = {"c", "d", "u", "u.next"};
    static const char *const dtypes[] = {"half", "bfloat16", "float", "float"};
    for (int i = 0; i < 4; i++) {
        sg_array_info a = {.struct_size = sizeof a};
        expect_ok(sg_kernel_array(k, i, &a));
        assert_string_equal(a.name, names[i]);
        assert_string_equal(a.dtype, dtypes[i]);
        assert_int_equal(a.element_size, i < 2 ? 2 : 4);
    }
    sg_kernel_info info = {.struct_size = sizeof info};
    expect_ok(sg_kernel_facts(k, &info));
    assert_true(info.bytes_per_point == 2 + 2 + 4 + 4);
    sg_release(k);
}

static void expect_refused(const char *text, const char *schedule, const char *why) {
    const sg_build_options options = {
        .struct_size = sizeof options, .text = text, .schedule = schedule};
    sg_kernel *k = NULL;
    assert_int_not_equal(sg_build(context, "test.lua", &options, &k), SG_OK);
    if (strstr(sg_error(context), why) == NULL)
        fail_msg("%s", sg_error(context));
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
#define HEAT(more)                                                                                 \
    "return stencil { name = 'heat', shape = star(2, 1), coefficients = { 0.6, 0.1, 0.1, 0.1, "    \
    "0.1 }, " more " }"
    expect_refused(mixed, "overlapped", "the fields have cells of different types");
    expect_refused(HEAT("storage = 'half', dtype = 'double'"), NULL, "need dtype = \"float\"");
    expect_refused(HEAT("storage = 'int32'"), NULL, "storage");
    expect_refused("return merge { name = 'm', keys = 'half' }", NULL,
                   "keys: expected one of float, double, int32");
    expect_refused("return scan { name = 's', dtype = 'half' }", "kogge-stone",
                   "persistent, look-back and runs do so");
}

/* ---- systems --------------------------------------------------------------------------------- */

#define FLOW_1 "(f.u(1, 0) + f.u(-1, 0) + f.u(0, 1) - 3 * f.u(0, 0)) / 3"
#define FLOW_2 "f.u(0, 0) + f.c(0, 0) * f.lap(0, 0) / 8"
#define FLOW_3 "f.u(1, 0) * 0.7 - f.v(0, -1)"

static const char *flow(const char *storage, const char *boundary) {
    static char text[1024];
    snprintf(text, sizeof text,
             "return system { name = 'flow', storage = '%s', boundary = '%s', fields = { "
             "u = 'inout', v = 'inout', c = 'in', lap = 'scratch' }, stages = {\n"
             "{ update = function(f) return { lap = " FLOW_1 " } end },\n"
             "{ update = function(f) return { u = " FLOW_2 " } end, times = 2 },\n"
             "{ update = function(f) return { v = " FLOW_3 " } end } } }",
             storage, boundary);
    return text;
}

static void systems_stay_within_the_bound(void **state) {
    (void)state;
    static const char *const schedules[] = {NULL, "naive vec=8", "streamed vec=4", "register"};
    static const char *const boundaries[] = {"fixed", "periodic", "mirror", "zero"};
    for (int s = 0; s < 4; s++) {
        if (!drawn((uint64_t)(s + s / 2), 2)) /* one of each type */
            continue;
        sg_kernel *k = build(flow(types[s % 2].storage, boundaries[s]), schedules[s]);
        expect_right(k);
        sg_release(k);
    }
}

enum { NX = 37, NY = 11, CELLS = NX * NY, BEYOND = 16, FIELDS = 4 };
typedef uint16_t grid[CELLS + BEYOND];

/* Launches with these grids, as many as the kernel has. */
static void step(sg_kernel *k, uint16_t *const *cells, int count) {
    sg_grid grids[FIELDS + 1];
    for (int i = 0; i < count; i++)
        grids[i] = (sg_grid){.data = cells[i], .size = {NX, NY}};
    sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = count};
    expect_ok(sg_temporary_bytes(k, &a, &a.temporary_bytes));
    void *memory = NULL;
    if (a.temporary_bytes > 0)
        expect_ok(sg_alloc(context, a.temporary_bytes + BEYOND, &memory));
    memset(memory != NULL ? memory : grids, 0x7d, memory != NULL ? a.temporary_bytes + BEYOND : 0);
    a.temporary = memory;
    expect_ok(sg_launch(k, &a, NULL));
    expect_ok(sg_synchronize(context, NULL));
    for (size_t i = 0; memory != NULL && i < BEYOND; i++)
        assert_int_equal(((unsigned char *)memory)[a.temporary_bytes + i], 0x7d);
    sg_free(context, memory);
}

static sg_kernel *stage(const char *storage, const char *fields, const char *update) {
    char text[512];
    snprintf(text, sizeof text,
             "return stencil { name = 'stage', storage = '%s', boundary = 'periodic', fields = { "
             "%s }, update = function(f) return %s end }",
             storage, fields, update);
    return build(text, "naive vec=1");
}

/* A step of the system against a stencil for each stage: the same bytes. A run has one type. */
static void stages_round_as_stencils_do(void **state) {
    (void)state;
    static grid u, v, c, u_next, v_next, lap, first, second, wanted;
    for (int t = 0; t < 2; t++) {
        if (!drawn((uint64_t)t, 2))
            continue;
        const char *storage = types[t].storage;
        sg_kernel *whole = build(flow(storage, "periodic"), "naive vec=1");
        sg_kernel *one = stage(storage, "u = 'in', lap = 'out'", FLOW_1);
        sg_kernel *two = stage(storage, "u = 'inout', c = 'in', lap = 'in'", FLOW_2);
        sg_kernel *three = stage(storage, "u = 'in', v = 'inout'", FLOW_3);
        for (int i = 0; i < CELLS; i++) {
            const float numbers[] = {(float)(i * 7919 % 1001 - 500) / 331,
                                     (float)(i * 104729 % 997) / 77, (float)(i * 31 % 61) / 60};
            types[t].narrow(&u[i], &numbers[0], 1);
            types[t].narrow(&v[i], &numbers[1], 1);
            types[t].narrow(&c[i], &numbers[2], 1);
        }
        memset(u_next, 0xab, sizeof u_next);
        memset(v_next, 0xab, sizeof v_next);
        step(whole, (uint16_t *[]){c, u, u_next, v, v_next}, 5);
        step(one, (uint16_t *[]){lap, u}, 2);
        step(two, (uint16_t *[]){c, lap, u, first}, 4);
        step(two, (uint16_t *[]){c, lap, first, second}, 4);
        step(three, (uint16_t *[]){second, v, wanted}, 3);
        assert_memory_equal(u_next, second, CELLS * sizeof u[0]);
        assert_memory_equal(v_next, wanted, CELLS * sizeof u[0]);
        assert_memory_not_equal(u_next, u, CELLS * sizeof u[0]);
        for (int i = CELLS; i < CELLS + BEYOND; i++)
            assert_true(u_next[i] == 0xabab && v_next[i] == 0xabab);
        sg_release(whole);
        sg_release(one);
        sg_release(two);
        sg_release(three);
    }
}

static void systems_refuse_what_they_cannot(void **state) {
    (void)state;
#define TWO(keys, fields)                                                                          \
    "return system { name = 'two', " keys ", fields = { " fields " }, stages = { { update = "      \
    "function(f) return { u = f.u(0) } end }, { update = function(f) return { u = f.u(1) } end } " \
    "} }"
    expect_refused(TWO("storage = 'half'", "u = { use = 'inout', storage = 'bfloat16' }"), NULL,
                   "fields.u.storage: all fields of a system have the same storage");
    expect_refused(TWO("dims = 1", "u = { use = 'inout', storage = 'half' }"), NULL,
                   "fields.u.storage: all fields of a system have the same storage");
    expect_refused(TWO("storage = 'half', dtype = 'double'", "u = 'inout'"), NULL,
                   "need dtype = \"float\"");
    expect_refused(TWO("storage = 'half', boundary = 'periodic'", "u = 'inout'"), "1-2: naive",
                   "cells of 16 bits are rounded between them");
}

/* Kernels of points load numbers of the dtype; those of monitors convert. */
/* Numbers that all types hold, so that the results are exact: a point between two cells of v adds
   half of s + c·u to each. */
static void points_convert_cells(void **state) {
    (void)state;
    enum { NX = 5, NY = 3, CELLS = NX * NY, AT = NX + 1, STEPS = 3 };
    sg_kernel *k =
        build("return stencil { name = 'p', fields = { c = { use = 'in', storage = 'half' }, "
              "u = 'inout', v = { use = 'inout', storage = 'bfloat16' } }, points = { "
              "a = { field = 'v', inject = function(s, f) return s + f.c(0, 0) * f.u(0, 0) end }, "
              "b = { field = 'v', sample = true }, c = { field = 'c', sample = true }, "
              "d = { field = 'u', sample = true } }, "
              "update = function(f) return { u = f.u(0, 0), v = f.v(0, 0) } end }",
              NULL);
    uint16_t c[CELLS], v[2][CELLS] = {{0}};
    float u[2][CELLS], series[STEPS] = {1, 3, 0}, traces[3][STEPS], *const shot = series;
    for (int i = 0; i < CELLS; i++) {
        const float cell = (float)(i % NX);
        sg_to_half(&c[i], &cell, 1);
        u[0][i] = i % NX == 1 ? 1 : 0.5F;
    }
    const double place[] = {1.5, 1};
    sg_points sets[4];
    for (int i = 0; i < 4; i++) {
        sets[i] = (sg_points){.struct_size = sizeof *sets,
                              .name = (const char *[]){"a", "b", "c", "d"}[i],
                              .count = 1,
                              .positions = place};
        if (i == 0)
            sets[i].series = shot;
        else
            sets[i].traces = traces[i - 1];
    }
    sg_point_sets *points;
    const int64_t size[3] = {NX, NY, 1};
    expect_ok(sg_points_open(k, size, sets, 4, &points));
    void *const data[] = {c, u[0], u[1], v[0], v[1]};
    sg_grid grids[5];
    for (int i = 0; i < 5; i++)
        grids[i] = (sg_grid){.data = data[i], .size = {NX, NY}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 5};
    int final[5];
    expect_ok(sg_run_points(points, &arguments, STEPS, NULL, final));
    /* c·u is 1 in both cells. */
    const float wanted[3][STEPS] = {{1, 3, 3.5F}, {1.5F, 1.5F, 1.5F}, {0.75F, 0.75F, 0.75F}};
    assert_memory_equal(traces, wanted, sizeof traces);
    float made[CELLS];
    sg_from_bfloat16(made, data[final[3]], CELLS);
    for (int i = 0; i < CELLS; i++)
        assert_true(made[i] == (i == AT || i == AT + 1 ? 3.5F : 0));
    sg_points_close(points);
    sg_release(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(kernels_round_like_the_library),
    cmocka_unit_test(kernels_read_all_patterns),
    cmocka_unit_test(sums_are_rounded_once),
    cmocka_unit_test(fields_of_different_storage_are_right),
    cmocka_unit_test(fused_steps_are_rounded_once),
    cmocka_unit_test(arrays_say_their_storage),
    cmocka_unit_test(what_cannot_be_is_refused),
    cmocka_unit_test(systems_stay_within_the_bound),
    cmocka_unit_test(stages_round_as_stencils_do),
    cmocka_unit_test(systems_refuse_what_they_cannot),
    cmocka_unit_test(points_convert_cells),
};

TEST_GROUP(storage, open_cpu, close_context)
