/* A program of lists on the cpu device: two launches, one after the other and after the fill, with
   temporary memory that holds anything, and arrays of several types and extents. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/launch/lists_kernel.h"

#include <math.h>
#include <unistd.h>

enum { MOST = 600, GUARD = 64 };

/* Room for each array and the temporary memory, with guard cells around. */
typedef struct scene {
    sg_kernel *kernel;
    join_call call;
    int64_t cells[JOIN_ARRAYS][MOST];
    _Alignas(256) unsigned char temporary[8 * MOST + 1024];
    size_t bytes;
} scene;

enum { POISON = 0xa5 };

static bool is_poison(const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)from)[i] != POISON)
            return false;
    return true;
}

static void prepare(scene *s, int64_t a, int64_t b, bool in_place) {
    join_of(&s->call, a, b);
    memset(s->cells, POISON, sizeof s->cells);
    memset(s->temporary, POISON, sizeof s->temporary);
    for (int64_t i = 0; i < a; i++)
        s->cells[JOIN_A][GUARD + i] = INT64_C(0x100000000) + i;
    for (int64_t i = 0; i < b; i++)
        s->cells[JOIN_B][GUARD + i] = -i;
    for (int i = 0; i < JOIN_ARRAYS; i++)
        s->call.grids[i].data = &s->cells[i == JOIN_NEXT && in_place ? JOIN_A : i][GUARD];
    assert_int_equal(sg_temporary_bytes(s->kernel, &s->call.arguments, &s->bytes), SG_OK);
    assert_true(s->bytes <= sizeof s->temporary - 512);
    s->call.arguments.temporary = s->temporary + 256;
    s->call.arguments.temporary_bytes = s->bytes;
}

static void expect_guards(const scene *s, int which, int64_t count) {
    assert_true(is_poison(s->cells[which], sizeof(int64_t) * GUARD));
    assert_true(is_poison(&s->cells[which][GUARD + count],
                          sizeof(int64_t) * (size_t)(MOST - GUARD - count)));
}

static void launch_and_look(scene *s, int64_t a, int64_t b, bool in_place) {
    prepare(s, a, b, in_place);
    if (sg_launch(s->kernel, &s->call.arguments, NULL) != SG_OK)
        fail_msg("%s", sg_error(s->kernel->context));
    double total;
    memcpy(&total, &s->cells[JOIN_TOTAL][GUARD], sizeof total);
    assert_true(total == (double)(a + b) + 0.25);
    for (int64_t i = 0; i < a + b; i++)
        assert_int_equal(s->cells[JOIN_OUTPUT][GUARD + i],
                         3 * (i < a ? INT64_C(0x100000000) + i : a - i));
    for (int64_t i = 0; i < a; i++) {
        const int64_t before = INT64_C(0x100000000) + i;
        assert_int_equal(s->cells[in_place ? JOIN_A : JOIN_NEXT][GUARD + i], before + 1);
        assert_true(in_place || s->cells[JOIN_A][GUARD + i] == before);
    }
    expect_guards(s, JOIN_A, a);
    expect_guards(s, JOIN_B, b);
    expect_guards(s, JOIN_OUTPUT, a + b);
    expect_guards(s, JOIN_TOTAL, 1);
    expect_guards(s, JOIN_NEXT, in_place ? 0 : a);
    assert_true(is_poison(s->temporary, 256));
    assert_true(is_poison(s->temporary + 256 + s->bytes, 256));
}

static void joins_lists(void **state) {
    (void)state;
    join p;
    scene *s = aligned_alloc(256, (sizeof *s + 255) / 256 * 256);
    s->kernel = lists_kernel(&join_lists(&p)->program);
    static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, 16, 31, 100, 255};
    const int count = (int)(sizeof sizes / sizeof *sizes);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            for (int in_place = 0; in_place < 2; in_place++)
                launch_and_look(s, sizes[i], sizes[k], in_place);
    lists_end(s->kernel);
    free(s);
}

static void a_loaded_kernel_does_the_same(void **state) {
    (void)state;
    join p;
    char path[] = "/tmp/sg-lists-XXXXXX";
    sg_kernel *built = lists_kernel(&join_lists(&p)->program), *loaded;
    scene *s = aligned_alloc(256, (sizeof *s + 255) / 256 * 256);
    close(mkstemp(path));
    if (sg_save(built, path, "cpu") != SG_OK || sg_load(built->context, path, &loaded) != SG_OK)
        fail_msg("%s", sg_error(built->context));
    unlink(path);
    s->kernel = loaded;
    launch_and_look(s, 31, 100, false);
    launch_and_look(s, 100, 0, true);
    sg_check_result r = {.struct_size = sizeof r};
    assert_int_equal(sg_check(loaded, NULL, &r), SG_ERROR_USAGE);
    sg_release(loaded);
    lists_end(built);
    free(s);
}

/* Every type that a parameter may have, at the beginning of its 8 bytes. */
static const char numbers_text[] =
    "struct Arguments {\n"
    "    long long count;\n"
    "    double *out;\n"
    "    union { float value; long long room; } f;\n"
    "    double d;\n"
    "    union { int value; long long room; } i;\n"
    "    long long l;\n"
    "    union { unsigned value; long long room; } u;\n"
    "};\n"
    "extern \"C\" __global__ void numbers(const __grid_constant__ Arguments p) {\n"
    "    p.out[0] = p.f.value;\n"
    "    p.out[1] = p.d;\n"
    "    p.out[2] = p.i.value;\n"
    "    p.out[3] = p.l;\n"
    "    p.out[4] = p.u.value;\n"
    "}\n";

static void parameters_have_types(void **state) {
    (void)state;
    program_array array = {.name = "out",
                           .dtype = "double",
                           .element_bytes = 8,
                           .written = true,
                           .lists.same_as = -1,
                           .lists.extent = {{{0, -1}, 0}, ONE_CELL, ONE_CELL}};
    program_size size = {"count", 0, 0};
    program_parameter parameters[] = {{.name = "f", .dtype = "float"},
                                      {.name = "d", .dtype = "double"},
                                      {.name = "i", .dtype = "int32"},
                                      {.name = "l", .dtype = "int64"},
                                      {.name = "u", .dtype = "uint32"}};
    program_launch launch = {.entry = "numbers",
                             .per_block = {1, 1, 1},
                             .block = {1, 1, 1},
                             .lists.blocks = {{ONE_CELL}, {ONE_CELL}, {ONE_CELL}}};
    const program p = {.name = "numbers",
                       .source = numbers_text,
                       .target = "sm_90",
                       .kind = PROGRAM_LISTS,
                       .dims = 1,
                       .element_bytes = 8,
                       .arrays = &array,
                       .array_count = 1,
                       .lists.sizes = &size,
                       .lists.size_count = 1,
                       .parameters = parameters,
                       .parameter_count = 5,
                       .launches = &launch,
                       .launch_count = 1,
                       .arguments_bytes = 56};
    sg_kernel *k = lists_kernel(&p);
    double out[5] = {0};
    double given[] = {0.1, 0.1, -2147483648.0, 9007199254740992.0, 4294967295.0};
    const sg_grid grid = {.data = out, .size = {5}};
    const sg_arguments a = {.struct_size = sizeof a,
                            .grids = &grid,
                            .grid_count = 1,
                            .parameters = given,
                            .parameter_count = 5};
    assert_int_equal(sg_launch(k, &a, NULL), SG_OK);
    assert_true(out[0] == (double)0.1f && out[1] == 0.1);
    assert_memory_equal(out + 2, given + 2, 3 * sizeof *out);
    static const double wrong[5][3] = {{1e39, -1e300, 4e38},
                                       {0},
                                       {2147483648.0, -0.5, NAN},
                                       {0x1p63, 0.5, INFINITY},
                                       {-1, 4294967296.0, 1.5}};
    for (int i = 0; i < 5; i++)
        for (int n = 0; i != 1 && n < 3; n++) {
            const double right = given[i];
            given[i] = wrong[i][n];
            assert_int_equal(sg_launch(k, &a, NULL), SG_ERROR_USAGE);
            given[i] = right;
        }
    assert_int_equal(sg_launch(k, &a, NULL), SG_OK);
    lists_end(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(joins_lists),
    cmocka_unit_test(a_loaded_kernel_does_the_same),
    cmocka_unit_test(parameters_have_types),
};

TEST_GROUP(lists_run, NULL, NULL)
