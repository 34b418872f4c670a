/* What blocks need to work together in one launch: a tag that no launch before had, at the end of
   the arguments, and no more blocks than the device runs at a time. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/launch/fake_device.h"
#include "tests/unit/runtime/launch/lists_kernel.h"

#include <pthread.h>

/* ---- tags ---------------------------------------------------------------------------------- */

static join_call *call_of(join_call *c) {
    join_of(c, 100, 0);
    for (int i = 0; i < JOIN_ARRAYS; i++)
        c->grids[i].data = (void *)((uintptr_t)(i + 1) << 20);
    c->arguments.temporary = (void *)((uintptr_t)1 << 30);
    c->arguments.temporary_bytes = 4096;
    return c;
}

static join *tagged(join *p, int parameters) {
    join_lists(p);
    p->program.lists.tagged = true;
    p->program.parameter_count = parameters;
    p->program.arguments_bytes = 8 * (size_t)(2 + JOIN_ARRAYS + 2 + (parameters > 0 ? 2 : 1) + 1);
    return p;
}

static uint64_t tag_of(const fake_launch *l) {
    uint64_t tag;
    memcpy(&tag, l->arguments + l->bytes - sizeof tag, sizeof tag);
    return tag;
}

/* Both launches of a call have one, every call has another; all else is as it would be without. */
static void each_call_has_a_tag(void **state) {
    (void)state;
    for (int parameters = 0; parameters <= 2; parameters += 2) {
        join p;
        sg_kernel *k = fake_kernel(&tagged(&p, parameters)->program);
        join_call c;
        call_of(&c)->arguments.parameter_count = parameters;
        for (int i = 0; i < 3; i++)
            assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
        const fake_launch *l = fake_of(k)->launches;
        assert_int_equal(fake_of(k)->launch_count, 6);
        for (int i = 0; i < 6; i++) {
            assert_int_equal(l[i].bytes, p.program.arguments_bytes);
            assert_true(tag_of(&l[i]) != 0);
            assert_memory_equal(l[i].arguments, l[0].arguments, l[i].bytes - 8);
            for (int other = 0; other < i; other++)
                assert_true((tag_of(&l[i]) == tag_of(&l[other])) == (i / 2 == other / 2));
        }
        fake_end(k);
    }
}

enum { CREW = 4, DRAWN = 5000 };

typedef struct drawer {
    pthread_t thread;
    sg_context *context;
    uint64_t tags[DRAWN];
} drawer;

static void *draw(void *argument) {
    drawer *d = argument;
    for (int i = 0; i < DRAWN; i++)
        d->tags[i] = context_tag(d->context);
    return NULL;
}

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of two contexts, each from several threads. */
static void tags_are_never_drawn_twice(void **state) {
    (void)state;
    static drawer crew[CREW];
    static uint64_t all[CREW * DRAWN];
    join p;
    sg_kernel *kernels[2] = {fake_kernel(&tagged(&p, 2)->program), fake_kernel(&p.program)};
    for (int i = 0; i < CREW; i++) {
        crew[i].context = kernels[i % 2]->context;
        assert_int_equal(pthread_create(&crew[i].thread, NULL, draw, &crew[i]), 0);
    }
    for (int i = 0; i < CREW; i++) {
        pthread_join(crew[i].thread, NULL);
        memcpy(&all[i * DRAWN], crew[i].tags, sizeof crew[i].tags);
    }
    qsort(all, CREW * DRAWN, sizeof all[0], by_value);
    assert_true(all[0] != 0);
    for (int i = 1; i < CREW * DRAWN; i++)
        assert_true(all[i - 1] != all[i]);
    fake_end(kernels[0]);
    fake_end(kernels[1]);
}

/* ---- resident blocks ----------------------------------------------------------------------- */

static void no_more_blocks_than_are_resident(void **state) {
    (void)state;
    static const int64_t cases[][2] = {{1, 1}, {2, 2}, {13, 13}, {14, 13}, {1000, 13}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        join p;
        join_lists(&p);
        p.launches[1].lists.resident = true;
        sg_kernel *k = fake_kernel(&p.program);
        join_call c;
        fake_of(k)->resident = cases[i][0];
        assert_int_equal(sg_launch(k, &call_of(&c)->arguments, NULL), SG_OK);
        assert_int_equal(fake_of(k)->launches[0].grid[0], 3); /* its own most */
        assert_int_equal(fake_of(k)->launches[1].grid[0], cases[i][1]);
        fake_end(k);
    }
}

/* Every block says that it is there and waits until all are, by words that hold anything before;
   the last thread to leave tells how many. */
static const char waiting_text[] =
    "struct Arguments {\n"
    "    long long a_count, b_count;\n"
    "    const long long *a, *b;\n"
    "    long long *output;\n"
    "    double *total;\n"
    "    long long *next;\n"
    "    unsigned *counter;\n"
    "    unsigned long long *there;\n"
    "    long long parameter[2];\n"
    "    unsigned long long tag;\n"
    "};\n"
    "extern \"C\" __global__ void wait(const __grid_constant__ Arguments p) {\n"
    "    if (threadIdx.x != 0)\n"
    "        return;\n"
    "    __atomic_store_n(&p.there[blockIdx.x], p.tag, __ATOMIC_RELEASE);\n"
    "    for (unsigned i = 0; i < gridDim.x; i++)\n"
    "        while (__atomic_load_n(&p.there[i], __ATOMIC_ACQUIRE) != p.tag)\n"
    "            __nanosleep(40);\n"
    "    if (blockIdx.x == 0)\n"
    "        p.total[0] = gridDim.x;\n"
    "}\n";

static void resident_blocks_may_wait_for_each_other(void **state) {
    (void)state;
    static unsigned char temporary[8192] __attribute__((aligned(256)));
    join p;
    tagged(&p, 2);
    p.program.source = waiting_text;
    p.program.launch_count = 1;
    p.launches[0].entry = "wait";
    p.launches[0].lists.blocks[0].most = 0;
    p.launches[0].lists.resident = true;
    for (int workers = 1; workers <= 5; workers += 2) {
        sg_kernel *k = lists_kernel_on(&p.program, workers, NULL, NULL);
        memset(temporary, 0xa5, sizeof temporary);
        for (int i = 0; i < 40; i++) {
            const int64_t count = i % 2 == 0 ? 300 : 9; /* 38 blocks, and 2 */
            static int64_t cells[JOIN_ARRAYS][300];
            join_call c;
            join_of(&c, count, 0);
            for (int a = 0; a < JOIN_ARRAYS; a++)
                c.grids[a].data = cells[a];
            c.arguments.temporary = temporary;
            c.arguments.temporary_bytes = sizeof temporary;
            if (sg_launch(k, &c.arguments, NULL) != SG_OK)
                fail_msg("%s", sg_error(k->context));
            const int64_t blocks = (count - 1) / 8 + 1;
            double there;
            memcpy(&there, cells[JOIN_TOTAL], sizeof there);
            assert_true(there == (double)(blocks < workers ? blocks : workers));
        }
        lists_end(k);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_call_has_a_tag),
    cmocka_unit_test(tags_are_never_drawn_twice),
    cmocka_unit_test(no_more_blocks_than_are_resident),
    cmocka_unit_test(resident_blocks_may_wait_for_each_other),
};

TEST_GROUP(tags, NULL, NULL)
