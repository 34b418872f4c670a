/* Decoupled look-back over many tiles. On the cpu device the predecessor of a tile has nearly
   always published its prefix. Here only every n-th tile, or group of tiles, publishes one, and
   the results must be the same. A launch must also not take what an earlier launch left in its
   temporary memory. A run has a drawn fifth of the steps with each operator. */
#include "tests/unit/draw.h"
#include "tests/unit/gen/lists/family_scene.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/launch/lists_kernel.h"

/* A scan in which only every step-th tile, of persistent ones every step-th group, publishes its
   prefix. */
static void open_sparse(scene *s, const char *text, const char *schedule, int step) {
    const bool groups = strncmp(schedule, "persistent", 10) == 0;
    const char *publishes = groups ? "publish(&own->prefix, " : "board.publish(mine, prefix, ";
    *s = (scene){.text = text, .schedule = schedule};
    if (job_run(&allocator_libc, scene_body, s, &s->job) != FAULT_NONE)
        fail_msg("%s", job_error(s->job));
    program *changed = job_alloc(s->job, sizeof *changed);
    *changed = *s->made->program;
    const char *at = strstr(changed->source, publishes);
    assert_non_null(at);
    assert_null(strstr(at + 1, publishes));
    changed->source = job_print(s->job, "%.*sif (%s %% %d == 0) %s", (int)(at - changed->source),
                                changed->source, groups ? "group" : "mine", step, at);
    s->kernel = lists_kernel(changed);
    context = s->kernel->context;
}

static void close_sparse(scene *s) {
    lists_end(s->kernel);
    job_end(s->job);
}

static const int steps[] = {1, 31, 33, 70, 1 << 20};
enum { STEPS = sizeof steps / sizeof steps[0] };

/* An operator that does not commute, the last element that is not 0, of which there is one in many
   tiles; in one word and in two, with sums in any order and in the tiles' own. */
static void test_order(void **state) {
    (void)state;
    static const char *const texts[] = {
        "dtype = 'int32', map = function(x) return where(gt(x, 2143000000), x, 0) end",
        "dtype = 'int64', map = function(x) return where(gt(x, 9200000000000000000), x, 0) end",
        "dtype = 'float', map = function(x) return where(gt(x, 0.998), x, 0) end",
        "dtype = 'float', map = function(x) return where(gt(x, 0.998), x, 0) end, "
        "deterministic = true",
        "dtype = 'double', map = function(x) return where(gt(x, 0.998), x, 0) end, "
        "deterministic = true",
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int k = 0; k < STEPS; k++) {
            if (!drawn(t + (uint64_t)k, 5))
                continue;
            char text[512];
            snprintf(text, sizeof text,
                     "return scan { name = 's', op = function(a, b) return where(eq(b, 0), a, b) "
                     "end, identity = 0, %s }",
                     texts[t]);
            scene s;
            open_sparse(&s, text, "look-back threads=32 items=1", steps[k]);
            for (uint64_t seed = 1; seed < 4; seed++)
                scene_expect(&s, 8000 + (int64_t)seed, 1, 0, false, seed);
            close_sparse(&s);
        }
}

/* Sums whose every element counts. */
static void test_sums(void **state) {
    (void)state;
    static const char *const texts[] = {
        "return scan { name = 's', dtype = 'int32', kind = 'exclusive', init = 5 }",
        "return scan { name = 's', dtype = 'int64' }",
        "return scan { name = 's', dtype = 'double', deterministic = true }",
        "return scan { name = 's', dtype = 'float' }",
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int k = 0; k < STEPS; k++) {
            if (!drawn(t + (uint64_t)k, 5))
                continue;
            scene s;
            open_sparse(&s, texts[t], "look-back threads=64 items=2", steps[k]);
            scene_expect(&s, 20000, 1, 1, true, (uint64_t)k + 1);
            close_sparse(&s);
        }
}

/* A deterministic sum does not depend on which prefixes were known: all bits are equal. */
static void test_bits(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    float *first = malloc(COUNT * sizeof *first);
    for (int k = 0; k < STEPS + 2; k++) {
        const bool groups = k >= STEPS;
        scene s;
        family_call call;
        open_sparse(&s, "return scan { name = 's', deterministic = true }",
                    !groups          ? "look-back threads=32 items=3"
                    : k % STEPS == 0 ? "persistent threads=32 items=4"
                                     : "persistent threads=32 items=4 stages=3 ahead=2 draw=2",
                    groups ? 1 + 31 * (k % STEPS) : steps[k]);
        const int64_t size[AXES] = {COUNT, 1, 1};
        s.subject->family->lists.draw(s.job, s.subject, s.made->program, size, 0, NULL, 3, &call);
        float *output = job_array(s.job, COUNT, sizeof *output);
        const sg_grid grids[] = {{.data = call.arrays[0], .size = {COUNT}},
                                 {.data = output, .size = {COUNT}}};
        sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2};
        expect_ok(sg_temporary_bytes(s.kernel, &a, &a.temporary_bytes));
        expect_ok(sg_alloc(context, a.temporary_bytes, &a.temporary));
        expect_ok(sg_launch(s.kernel, &a, NULL));
        if (k % STEPS == 0)
            memcpy(first, output, COUNT * sizeof *first);
        assert_memory_equal(output, first, COUNT * sizeof *first);
        sg_free(context, a.temporary);
        close_sparse(&s);
    }
    free(first);
}

/* Groups of tiles: one of the 32 before a tile's own knows its prefix. In any place of a group,
   with an operator that does not commute, and of doubles whose every rounding shows. */
static void test_groups(void **state) {
    (void)state;
    static const int group_steps[] = {5, 32};
    static const char *const texts[] = {
        "return scan { name = 's', op = function(a, b) return where(eq(b, 0), a, b) end, "
        "identity = 0, dtype = 'int32', map = function(x) return where(gt(x, 2143000000), x, 0) "
        "end }",
        "return scan { name = 's', dtype = 'double', kind = 'exclusive', init = 3 }",
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int k = 0; k < 2; k++) {
            scene s;
            open_sparse(&s, texts[t],
                        (t + (size_t)k) % 2 == 0
                            ? "persistent threads=32 items=4"
                            : "persistent threads=32 items=4 stages=3 ahead=2 draw=2",
                        group_steps[k]);
            for (int64_t n = 32 * 128; n < 200000; n = 3 * n + 41)
                scene_expect(&s, n, 1, k, k == 1, (uint64_t)n);
            close_sparse(&s);
        }
}

/* The arguments of a persistent scan without parameters, as its plan.h has them. */
typedef struct persistent_arguments {
    int64_t count;
    const void *input;
    void *output, *published, *groups;
    uint64_t parameter, tag;
} persistent_arguments;

/* What may happen to the words between two replays. */
typedef struct words {
    unsigned char *at, *before; /* as they are, and were before the first launch */
    size_t bytes;
} words;

static words words_of(job *j, const program_temporary *t, int64_t tiles) {
    words w = {.bytes = (size_t)(t->fixed + tiles * t->bytes)};
    w.at = (unsigned char *)(((uintptr_t)job_alloc(j, w.bytes + 32) + 31) / 32 * 32);
    w.before = job_alloc(j, w.bytes);
    for (size_t i = 0; i < w.bytes; i++)
        w.at[i] = (unsigned char)(SCENE_POISON + i * i % 31);
    memcpy(w.before, w.at, w.bytes);
    return w;
}

/* Nothing; the first word set back, as another kernel does that begins with a counter there; the
   first half set back, or the second; a part overwritten. */
static void happen(const words *w, int what) {
    const size_t half = w->bytes / 2;
    if (what == 1)
        memcpy(w->at, w->before, 16);
    if (what == 2)
        memcpy(w->at, w->before, half);
    if (what == 3)
        memcpy(w->at + half, w->before + half, w->bytes - half);
    if (what == 4)
        memset(w->at + w->bytes / 3, 0, w->bytes / 5);
}

/* Launches with a tag that was there before, as a replayed graph does, in the memory of the one
   before: none takes what that left for its own, whatever of it is still there. */
static void replay(scene *s, int64_t count) {
    enum { TILE = 128, TAG = 77, BLOCKS = 2 };
    const program *p = s->made->program;
    assert_int_equal(p->arguments_bytes, sizeof(persistent_arguments));
    const int64_t tiles = (count - 1) / TILE + 1;
    const words published = words_of(s->job, &p->lists.temporaries[0], tiles);
    const words groups = words_of(s->job, &p->lists.temporaries[1], (tiles - 1) / 32 + 1);
    int32_t *input = job_array(s->job, (size_t)count, sizeof *input);
    int32_t *output = job_array(s->job, (size_t)count, sizeof *output);
    const persistent_arguments a = {count, input, output, published.at, groups.at, 0, TAG};
    device *d = s->kernel->context->device;
    for (int run = 1; run <= 30; run++) {
        for (int64_t i = 0; i < count; i++)
            input[i] = (int32_t)(i * run % 11);
        int code;
        const int64_t blocks[] = {run % BLOCKS + 1, 1, 1};
        assert_int_equal(d->ops->launch(d, s->kernel->module, 0, blocks, &a, sizeof a, NULL, &code),
                         FAULT_NONE);
        int32_t sum = 0;
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(output[i], sum += input[i]);
        for (size_t i = 16; i < published.bytes; i += 16) { /* after the counter */
            uint64_t mark;
            memcpy(&mark, published.at + i, sizeof mark);
            assert_true(mark != TAG);
        }
        happen(&published, run % 5);
        happen(&groups, run / 5 % 5);
    }
}

static void test_replays(void **state) {
    (void)state;
    static const char *const schedules[] = {
        "persistent threads=32 items=4", "persistent threads=32 items=4 stages=3 ahead=2 draw=2"};
    for (int k = 0; k < 2; k++) {
        scene s;
        open_sparse(&s, "return scan { name = 's', dtype = 'int32' }", schedules[k], 1);
        replay(&s, 9000);     /* 71 tiles */
        replay(&s, 128 * 32); /* one group, a word for each two tiles */
        replay(&s, 128 * 20 - 5);
        replay(&s, 129);
        close_sparse(&s);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_order),  cmocka_unit_test(test_sums),    cmocka_unit_test(test_bits),
    cmocka_unit_test(test_groups), cmocka_unit_test(test_replays),
};

TEST_GROUP(look_back, NULL, NULL)
