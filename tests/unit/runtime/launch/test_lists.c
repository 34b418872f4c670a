/* Programs of lists: what of a call is refused, what reaches a device that only records, and what
   the cpu device makes of it. */
#include "tests/unit/runtime/launch/fake_device.h"
#include "tests/unit/runtime/launch/lists_call.h"

#include <stdio.h>

#include "runtime/launch/context.h"
#include "tests/unit/group.h"
#include "tests/unit/miser.h"

/* Addresses that are never followed; far enough apart for all sizes here. */
static unsigned char *at(int which) {
    return (unsigned char *)(uintptr_t)((size_t)(which + 1) << 24);
}

/* 10 and 7 elements; the temporary memory takes 4·4 + 16 bytes and 17·8, each to be padded. */
static join_call *good_call(join_call *c) {
    join_of(c, 10, 7);
    for (int i = 0; i < JOIN_ARRAYS; i++)
        c->grids[i].data = at(i);
    c->arguments.temporary = at(JOIN_ARRAYS);
    c->arguments.temporary_bytes = 512;
    return c;
}

/* ---- what is refused ----------------------------------------------------------------------- */

#define REFUSALS                                                                                   \
    REFUSAL(c->arguments.struct_size = 0,                                                          \
            "struct_size of sg_arguments is 0; set it to sizeof(sg_arguments)")                    \
    REFUSAL(c->arguments.grid_count = 4, "'join' takes 5 grids, not 4")                            \
    REFUSAL(c->arguments.grids = NULL, "'join' takes 5 grids, not 0")                              \
    REFUSAL(c->arguments.end[0] = 5,                                                               \
            "'join' takes lists, which have no box: begin and end must be 0")                      \
    REFUSAL(c->arguments.begin[2] = -1,                                                            \
            "'join' takes lists, which have no box: begin and end must be 0")                      \
    REFUSAL(c->grids[JOIN_A].size[0] = -1, "'a': size -1 along x is negative")                     \
    REFUSAL(c->grids[JOIN_B].size[0] = INT64_MAX, "'b': its extent along x is out of range")       \
    REFUSAL((c->grids[JOIN_B].size[0] = INT64_C(1) << 60,                                          \
             c->grids[JOIN_OUTPUT].size[0] = (INT64_C(1) << 60) + 10),                             \
            "'b': its extent along x is out of range")                                             \
    REFUSAL(c->grids[JOIN_OUTPUT].size[0] = 18,                                                    \
            "'output' has size 18 along x instead of 17 (a_count is 10, b_count is 7)")            \
    REFUSAL(c->grids[JOIN_NEXT].size[0] = 9,                                                       \
            "'next' has size 9 along x instead of 10 (a_count is 10)")                             \
    REFUSAL(c->grids[JOIN_TOTAL].size[0] = 0, "'total' has size 0 along x instead of 1")           \
    REFUSAL(c->grids[JOIN_A].size[1] = 2, "'a' has size 2 along y instead of 1")                   \
    REFUSAL(c->grids[JOIN_A].size[2] = -1, "'a' has size -1 along z instead of 1")                 \
    REFUSAL(c->grids[JOIN_A].stride[0] = 2,                                                        \
            "'a': the stride along x is 2; it must be 1: a list is dense")                         \
    REFUSAL(c->grids[JOIN_TOTAL].data = NULL, "'total' has no data")                               \
    REFUSAL(c->grids[JOIN_B].data = at(JOIN_B) + 4,                                                \
            "'b': its address is not a multiple of its element's 8 bytes")                         \
    REFUSAL(c->grids[JOIN_B].data = (void *)(UINTPTR_MAX - 7),                                     \
            "'b': it leads out of the address space")                                              \
    REFUSAL(c->grids[JOIN_OUTPUT].data = at(JOIN_A) + 72,                                          \
            "'output' is written and overlaps 'a' in memory")                                      \
    REFUSAL(c->grids[JOIN_NEXT].data = at(JOIN_A) + 8,                                             \
            "'next' is written and overlaps 'a' in memory")                                        \
    REFUSAL(c->grids[JOIN_OUTPUT].data = at(JOIN_A),                                               \
            "'output' is written and overlaps 'a' in memory")                                      \
    REFUSAL(c->arguments.temporary = NULL,                                                         \
            "'join' needs 512 bytes of temporary memory for these sizes, not 0; "                  \
            "sg_temporary_bytes says how many")                                                    \
    REFUSAL(c->arguments.temporary_bytes = 511,                                                    \
            "'join' needs 512 bytes of temporary memory for these sizes, not 511; "                \
            "sg_temporary_bytes says how many")                                                    \
    REFUSAL(c->arguments.temporary = at(JOIN_ARRAYS) + 128,                                        \
            "the temporary memory does not begin at a multiple of 256 bytes")                      \
    REFUSAL(c->arguments.temporary = (void *)(UINTPTR_MAX - 255),                                  \
            "the temporary memory leads out of the address space")                                 \
    REFUSAL(c->grids[JOIN_B].data = at(JOIN_ARRAYS) + 504, "the temporary memory overlaps 'b'")    \
    REFUSAL(c->arguments.parameter_count = 1, "'join' takes 2 parameters, not 1")                  \
    REFUSAL(c->parameters[0] = 0.5, "parameter 'step' of 'join' is no number of the type int32")   \
    REFUSAL(c->parameters[0] = 0x1p31, "parameter 'step' of 'join' is no number of the type "      \
                                       "int32")

#define REFUSAL(change, text)                                                                      \
    if (which-- == 0) {                                                                            \
        change;                                                                                    \
        return text;                                                                               \
    }
static const char *spoil(join_call *c, int which) {
    REFUSALS return NULL;
}
#undef REFUSAL

static void refuses_with_a_text(void **state) {
    (void)state;
    join p;
    sg_kernel *k = fake_kernel(&join_lists(&p)->program);
    join_call c;
    const char *says;
    int count = 0;
    for (; (says = spoil(good_call(&c), count)) != NULL; count++) {
        assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_ERROR_USAGE);
        assert_string_equal(sg_error(k->context) + strlen("error: "), says);
    }
    assert_int_equal(count, 28);
    assert_int_equal(sg_launch(k, NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(fake_of(k)->launch_count, 0);
    assert_int_equal(fake_of(k)->fill_count, 0);
    assert_int_equal(sg_launch(k, &good_call(&c)->arguments, NULL), SG_OK);
    fake_end(k);
}

static void steps_are_for_stencils(void **state) {
    (void)state;
    join p;
    sg_kernel *k = fake_kernel(&join_lists(&p)->program);
    join_call c;
    assert_int_equal(sg_run(k, &good_call(&c)->arguments, 1, NULL, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(k->context), "error: 'join' is no stencil, of which alone several "
                                              "steps are run; sg_launch launches it");
    fake_end(k);
}

static void blocks_have_limits(void **state) {
    (void)state;
    join p;
    join_lists(&p);
    p.launches[1].lists.blocks[1].items = (program_extent){{0, -1}, 0};
    sg_kernel *k = fake_kernel(&p.program);
    join_call c;
    size_t bytes;
    join_of(&c, 65535, 0);
    assert_int_equal(sg_temporary_bytes(k, &c.arguments, &bytes), SG_OK);
    join_of(&c, 65536, 0);
    assert_int_equal(sg_temporary_bytes(k, &c.arguments, &bytes), SG_ERROR_USAGE);
    assert_string_equal(sg_error(k->context),
                        "error: 'join' would be launched with 65536 blocks along y, but at most "
                        "65535 are possible: split the data, or choose a schedule whose blocks "
                        "take more of them");
    fake_end(k);
}

/* ---- sizes and temporary memory ------------------------------------------------------------ */

static void expect_bytes(const sg_kernel *k, int64_t a, int64_t b, size_t expected) {
    join_call c;
    size_t bytes = 1;
    assert_int_equal(sg_temporary_bytes(k, &join_of(&c, a, b)->arguments, &bytes), SG_OK);
    assert_int_equal(bytes, expected);
}

static void tells_the_temporary_memory(void **state) {
    (void)state;
    join p;
    sg_kernel *k = fake_kernel(&join_lists(&p)->program);
    expect_bytes(k, 10, 7, 256 + 256);
    expect_bytes(k, 180, 0, 256 + 1536);
    expect_bytes(k, 181, 0, 512 + 1536);
    expect_bytes(k, 0, 33, 256 + 512);
    expect_bytes(k, 0, 0, 256);
    expect_bytes(k, INT64_C(6000000000), 1, 8000000256 + 48000000256); /* beyond 2^31 */
    join_call c;
    size_t bytes = 7;
    c = *join_of(&c, 3, 3);
    c.grids[JOIN_NEXT].size[0] = 2;
    assert_int_equal(sg_temporary_bytes(k, &c.arguments, &bytes), SG_ERROR_USAGE);
    assert_int_equal(sg_temporary_bytes(k, NULL, &bytes), SG_ERROR_USAGE);
    assert_int_equal(sg_temporary_bytes(k, &c.arguments, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_temporary_bytes(NULL, &c.arguments, &bytes), SG_ERROR_USAGE);
    assert_int_equal(bytes, 7);
    fake_end(k);
}

static void temporary_memory_has_limits(void **state) {
    (void)state;
    join p;
    join_lists(&p);
    p.temporaries[1].bytes = INT64_C(1) << 40;
    sg_kernel *k = fake_kernel(&p.program);
    join_call c;
    size_t bytes;
    join_of(&c, INT64_C(1) << 30, 0);
    assert_int_equal(sg_temporary_bytes(k, &c.arguments, &bytes), SG_ERROR_USAGE);
    assert_string_equal(sg_error(k->context),
                        "error: 'join': its temporary memory 'scratch' is out of range");
    fake_end(k);
}

/* offsets has one more than there are segments, and rows are known from an array with two sizes. */
static void sizes_are_found(void **state) {
    (void)state;
    join p;
    join_lists(&p);
    p.arrays[JOIN_A].lists.extent[0].plus = 1;
    p.sizes[1] = (program_size){"b_count", JOIN_OUTPUT, 0};
    sg_kernel *k = fake_kernel(&p.program);
    join_call c;
    good_call(&c);
    c.grids[JOIN_A].size[0] = 11;
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    int64_t sizes[2];
    memcpy(sizes, fake_of(k)->launches[0].arguments, sizeof sizes);
    assert_int_equal(sizes[0], 10);
    assert_int_equal(sizes[1], 7);
    c.grids[JOIN_A].size[0] = 0;
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(k->context),
                        "error: 'a' has size 0 along x, but needs at least 1");
    c.grids[JOIN_A].size[0] = 19;
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(k->context),
                        "error: 'output' has size 17 along x, but needs at least 18");
    fake_end(k);
}

/* ---- what reaches the device --------------------------------------------------------------- */

static void packs_as_program_h_says(void **state) {
    (void)state;
    join p;
    sg_kernel *k = fake_kernel(&join_lists(&p)->program);
    join_call c;
    good_call(&c);
    void *const stream = at(20);
    c.grids[JOIN_NEXT].data = at(JOIN_A); /* in place */
    c.grids[JOIN_A].size[1] = 1;
    assert_int_equal(sg_launch(k, &c.arguments, stream), SG_OK);
    const fake_device *d = fake_of(k);
    assert_int_equal(d->launch_count, 2);
    assert_int_equal(d->fill_count, 1);
    const fake_fill *f = &d->fills[0];
    assert_true(f->to == at(JOIN_ARRAYS) && f->byte == 0 && f->bytes == 32);
    assert_true(f->stream == stream && f->launches == 0);
    const uint64_t words[11] = {10,
                                7,
                                (uintptr_t)at(JOIN_A),
                                (uintptr_t)at(JOIN_B),
                                (uintptr_t)at(JOIN_OUTPUT),
                                (uintptr_t)at(JOIN_TOTAL),
                                (uintptr_t)at(JOIN_A),
                                (uintptr_t)at(JOIN_ARRAYS),
                                (uintptr_t)at(JOIN_ARRAYS) + 256,
                                3,
                                0x3fd0000000000000};
    for (int i = 0; i < 2; i++) {
        const fake_launch *l = &d->launches[i];
        assert_int_equal(l->which, i);
        assert_int_equal(l->bytes, sizeof words);
        assert_memory_equal(l->arguments, words, sizeof words);
        assert_ptr_equal(l->stream, stream);
        assert_int_equal(l->grid[0], 3); /* (17 − 1)/8 + 1, and the most for the first */
        assert_true(l->grid[1] == 1 && l->grid[2] == 1);
    }
    fake_end(k);
}

/* items, per_block, least, most, alone, cluster: blocks. */
static void counts_blocks(void **state) {
    (void)state;
    static const int64_t cases[][7] = {
        {0, 8, 1, 0, 0, 0, 1},   {0, 1, 1, 3, 0, 0, 1},   {1, 8, 0, 0, 0, 0, 1},
        {8, 8, 0, 0, 0, 0, 1},   {9, 8, 0, 0, 0, 0, 2},   {24, 8, 0, 3, 0, 0, 3},
        {25, 8, 0, 3, 0, 1, 3},  {17, 1, 1, 0, 0, 0, 17}, {INT64_C(1) << 40, 1, 0, 7, 0, 0, 7},
        {0, 8, 1, 0, 30, 0, 1},  {30, 8, 0, 0, 30, 0, 1}, {31, 8, 0, 0, 30, 0, 4},
        {31, 8, 1, 2, 30, 0, 2}, {0, 8, 1, 0, 30, 4, 4},  {30, 8, 0, 8, 30, 4, 4},
        {31, 8, 1, 8, 30, 4, 4}, {33, 8, 1, 8, 30, 4, 8}, {99, 8, 1, 8, 30, 4, 8},
        {33, 8, 1, 0, 0, 3, 6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        join p;
        join_lists(&p);
        p.launches[0].per_block[0] = (int)cases[i][1];
        p.launches[0].lists.blocks[0].least = cases[i][2] != 0;
        p.launches[0].lists.blocks[0].most = cases[i][3];
        p.launches[0].lists.blocks[0].alone = cases[i][4];
        p.launches[0].lists.blocks[0].cluster = (int)cases[i][5];
        p.launches[1].lists.blocks[0].most = 1;
        p.temporaries[1].fixed = 8;
        p.program.lists.temporary_count = 0;
        sg_kernel *k = fake_kernel(&p.program);
        join_call c;
        join_of(&c, cases[i][0], 0);
        for (int a = 0; a < JOIN_ARRAYS; a++)
            c.grids[a].data = (void *)((uintptr_t)(a + 1) << 44);
        assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
        assert_int_equal(fake_of(k)->launches[0].grid[0], cases[i][6]);
        fake_end(k);
    }
}

static void nothing_is_done_for_nothing(void **state) {
    (void)state;
    join p;
    join_lists(&p);
    p.launches[0].lists.blocks[0].least = false;
    sg_kernel *k = fake_kernel(&p.program);
    join_call c;
    join_of(&c, 0, 0);
    c.grids[JOIN_TOTAL].data = at(0);
    c.arguments.temporary = at(1);
    c.arguments.temporary_bytes = 256;
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK); /* the second alone */
    assert_int_equal(fake_of(k)->launch_count, 1);
    assert_int_equal(fake_of(k)->launches[0].which, 1);
    assert_int_equal(fake_of(k)->fill_count, 1);
    fake_end(k);
    p.launches[1].lists.blocks[0].least = false;
    k = fake_kernel(&p.program);
    expect_bytes(k, 0, 0, 0);
    c.arguments.temporary = NULL;
    assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    assert_int_equal(fake_of(k)->launch_count, 0);
    assert_int_equal(fake_of(k)->fill_count, 0);
    fake_end(k);
}

static void a_device_may_fail(void **state) {
    (void)state;
    join p;
    sg_kernel *k = fake_kernel(&join_lists(&p)->program);
    join_call c;
    fake_of(k)->fail_with = 77;
    assert_int_equal(sg_launch(k, &good_call(&c)->arguments, NULL), SG_ERROR_DEVICE);
    assert_string_equal(sg_error(k->context), "error: launching 'join' failed: FAKE_ERROR_77 (77)");
    assert_int_equal(fake_of(k)->launch_count, 0);
    fake_end(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refuses_with_a_text),         cmocka_unit_test(steps_are_for_stencils),
    cmocka_unit_test(blocks_have_limits),          cmocka_unit_test(tells_the_temporary_memory),
    cmocka_unit_test(temporary_memory_has_limits), cmocka_unit_test(sizes_are_found),
    cmocka_unit_test(packs_as_program_h_says),     cmocka_unit_test(counts_blocks),
    cmocka_unit_test(nothing_is_done_for_nothing), cmocka_unit_test(a_device_may_fail),
};

TEST_GROUP(lists, NULL, NULL)
