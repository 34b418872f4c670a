/* Cooperative launches on the cpu device: with a worker for each block all run at once, so blocks
   hand each other their halos, round by round. The reference checks what they leave. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

enum { WORKERS = 8, STEPS = 7 }; /* of rounds of two steps or three, the last of one */

static int open_many(void **state) {
    (void)state;
    const sg_options options = {.struct_size = sizeof options, .device = "cpu", .threads = WORKERS};
    expect_ok(sg_open(&context, &options));
    return 0;
}

/* What all blocks hand each other is in memory that the launch asks for: of each float and level of
   a cell two words of 8 bytes. A layer for the older level alone would be less. */
static void expect_together(const sg_kernel *k, const int64_t size[3], int count) {
    sg_grid grids[3] = {0};
    for (int i = 0; i < count; i++)
        memcpy(grids[i].size, size, sizeof grids[i].size);
    const sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = count};
    size_t bytes = 0;
    expect_ok(sg_temporary_bytes(k, &a, &bytes));
    const int64_t levels = count - 1;
    assert_true(bytes >= (size_t)(16 * levels * size[0] * size[1] * size[2]));
}

typedef struct round_case {
    const char *shape, *boundary, *schedule;
    int64_t size[3];
    int dims, radius;
} round_case;

/* Of at most as many blocks as there are workers. Last tiles of few cells, through which mirrors
   lead to cells of other blocks; rows of the box that no column makes; boxes that begin amid the
   cells that a fixed side keeps. */
static const round_case round_cases[] = {
    {"star(1, 3)", "periodic", "resident tile=16 time=2", {100, 1, 1}, 1, 3},
    {"star(2, 1)", "clamp", "resident tile=16x8 time=2", {30, 17, 1}, 2, 1},
    {"star(2, 2)", "mirror", "resident tile=16x8 time=2", {18, 26, 1}, 2, 2},
    {"star(2, 1)", "periodic", "resident tile=16x8 time=3", {29, 19, 1}, 2, 1},
    {"star(2, 1)", "zero", "resident tile=16x8 time=2", {17, 25, 1}, 2, 1},
    {"star(3, 1)", "mirror", "resident tile=16x8x8 time=2", {23, 9, 13}, 3, 1},
    {"star(3, 1)", "fixed", "resident tile=16x8x8 time=2", {17, 16, 9}, 3, 1},
    {"star(2, 3)", "fixed", "resident tile=16x4 time=2", {20, 15, 1}, 2, 3},
};

static void check_rounds(const char *text, const round_case *r, int grids) {
    sg_kernel *k = build(text, r->schedule);
    expect_together(k, r->size, grids);
    sg_check_options how = {.struct_size = sizeof how, .steps = STEPS};
    memcpy(how.size, r->size, sizeof how.size);
    sg_check_result result = {.struct_size = sizeof result};
    expect_ok(sg_check(k, &how, &result));
    assert_int_equal(result.steps, STEPS);
    sg_release(k);
}

static void blocks_hand_over_their_halos(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof round_cases / sizeof round_cases[0]; i++) {
        const round_case *r = &round_cases[i];
        char text[256];
        snprintf(text, sizeof text,
                 "return stencil { name = 'rounds', shape = %s, boundary = '%s', coefficients = "
                 "identity() + 0.05 * laplacian { dims = %d, accuracy = %d } }",
                 r->shape, r->boundary, r->dims, 2 * r->radius);
        check_rounds(text, r, 2);
    }
}

/* Of a wave both levels. */
static const round_case wave_cases[] = {
    {"0,0", "mirror", "resident tile=16x8 time=2", {30, 17, 1}, 2, 1},
    {"0,0", "fixed", "resident tile=16x4 time=2", {20, 15, 1}, 2, 3},
    {"0,0", "zero", "resident tile=16x8 time=3", {30, 17, 1}, 2, 2},
    {"0,0,0", "clamp", "resident tile=16x8x8 time=2", {17, 9, 13}, 3, 1},
};

static void blocks_hand_over_two_levels(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wave_cases / sizeof wave_cases[0]; i++) {
        const round_case *r = &wave_cases[i];
        char text[512];
        snprintf(
            text, sizeof text,
            "return stencil { name = 'rounds', fields = { u = { use = 'inout', levels = 2 } }, "
            "boundary = '%s', update = function(f) return 1.5 * f.u(%s) - 0.75 * f.u.prev(%s) "
            "+ 0.05 * apply(laplacian { dims = %d, accuracy = %d }, f.u) end }",
            r->boundary, r->shape, r->shape, r->dims, 2 * r->radius);
        check_rounds(text, r, 3);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(blocks_hand_over_their_halos),
    cmocka_unit_test(blocks_hand_over_two_levels),
};

TEST_GROUP(rounds, open_many, close_context)
