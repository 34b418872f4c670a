/* Arrays of 16 bits on the cpu device: the bits of conversions, fields stored in different types,
   and what is refused. */
#include <math.h>

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

static void fields_of_different_storage_are_right(void **state) {
    (void)state;
    static const char *const schedules[] = {"naive vec=1", "naive vec=4", "tiled",   "register",
                                            "coarsened",   "cached-halo", "streamed"};
    static const int64_t sizes[][3] = {{67, 23}, {64, 16}, {1, 1}, {3, 2}};
    for (int s = 0; s < 7; s++) {
        sg_kernel *k = build(mixed, schedules[s]);
        for (int i = 0; i < 4; i++) {
            const sg_check_options options = {.struct_size = sizeof options,
                                              .size = {sizes[i][0], sizes[i][1]},
                                              .steps = i < 2 ? 3 : 1};
            sg_check_result r = {.struct_size = sizeof r};
            expect_ok(sg_check(k, &options, &r));
            assert_int_equal(r.wrong, 0);
            assert_int_equal(r.undecidable, 0);
        }
        sg_release(k);
    }
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
    static const char *const moving[] = {"temporal time=4", "resident time=4", "ring"};
    for (int i = 0; i < 3; i++)
        expect_refused(HEAT("storage = 'half', boundary = 'periodic'"), moving[i],
                       "cells of half and bfloat16 are converted");
    expect_refused(HEAT("storage = 'half', dtype = 'double'"), NULL, "need dtype = \"float\"");
    expect_refused(HEAT("storage = 'int32'"), NULL, "storage");
    expect_refused("return stencil { name = 'two', fields = { u = { use = 'inout', storage = "
                   "'half' }, v = 'inout' }, update = function(f) return { u = f.v(0), v = f.u(0) "
                   "} end }",
                   NULL, "cells of different types");
    expect_refused("return merge { name = 'm', keys = 'half' }", NULL,
                   "keys: expected one of float, double, int32");
    expect_refused("return scan { name = 's', dtype = 'half' }", "persistent", "look-back");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(kernels_round_like_the_library),
    cmocka_unit_test(kernels_read_all_patterns),
    cmocka_unit_test(sums_are_rounded_once),
    cmocka_unit_test(fields_of_different_storage_are_right),
    cmocka_unit_test(arrays_say_their_storage),
    cmocka_unit_test(what_cannot_be_is_refused),
};

TEST_GROUP(storage, open_cpu, close_context)
