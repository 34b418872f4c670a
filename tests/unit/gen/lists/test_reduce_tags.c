/* One-pass reductions in temporary memory that nobody prepares: twice in the same memory, with a
   tag that was there before as a CUDA graph replays it, and in memory that holds words of other
   launches; and how many blocks there are for a count. */
#include "runtime/launch/context.h"
#include "tests/unit/gen/lists/family_scene.h"
#include "tests/unit/group.h"

/* What blocks publish: base/program.h, templates/arch/marked_words.cuh. */
typedef struct word {
    uint64_t mark, value;
} word;

enum { COUNT = 40000, WORDS = 2 * 400 };

typedef struct setting {
    const char *spec, *schedule;
    int blocks, words; /* for COUNT elements; of a block */
} setting;

/* An operator that commutes and one that does not, items of one word and of two, more partials
   than threads and fewer. */
#define LAST "op = function(a, b) return where(eq(b, 0), a, b) end, identity = 0"
static const setting settings[] = {
    {"op = 'sum'", "threads=256 items=8 share=4 alone=100 blocks=400", 40, 1},
    {"op = 'sum'", "threads=32 items=4 share=4 alone=1 blocks=400", 313, 1},
    {"op = 'argmax'", "threads=64 items=4 blocks=7", 7, 2},
    {"op = 'argmin'", "threads=32 items=4 share=4 blocks=400", 313, 2},
    {LAST, "threads=32 items=4 blocks=400", 313, 1},
    {LAST, "threads=128 items=8 blocks=3", 3, 1},
    {"op = 'sum'", "threads=64 items=4 share=4 cluster=4 blocks=400", 160, 1},
    {LAST, "threads=64 items=4 cluster=8 blocks=24", 24, 1},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

typedef struct play {
    sg_kernel *kernel;
    const setting *setting;
    int64_t *input;
    word *memory;
    size_t bytes;
} play;

static void open_play(play *p, const setting *s) {
    char text[256];
    snprintf(text, sizeof text, "return reduce { name = 'r', dtype = 'int64', %s }", s->spec);
    *p = (play){.kernel = build(text, s->schedule), .setting = s};
    void *memory, *input;
    expect_ok(sg_alloc(context, WORDS * sizeof(word), &memory));
    expect_ok(sg_alloc(context, COUNT * sizeof(int64_t), &input));
    expect_ok(sg_reduce_bytes(p->kernel, COUNT, 0, &p->bytes));
    assert_true(p->bytes <= WORDS * sizeof(word));
    p->memory = memory;
    p->input = input;
}

static void close_play(play *p) {
    sg_free(context, p->memory);
    sg_free(context, p->input);
    sg_release(p->kernel);
}

/* Elements that depend on the round, and what they come to. */
static void expect_round(play *p, int64_t count, int round) {
    int64_t result = -1, index = -1, sum = 0, least = 0, most = 0;
    for (int64_t i = 0; i < count; i++) {
        p->input[i] = (i * 7919 + round * 104729) % 1000003;
        sum += p->input[i];
        least = p->input[i] < p->input[least] ? i : least;
        most = p->input[i] > p->input[most] ? i : most;
    }
    p->input[count - 1] |= 1; /* not 0, which LAST does not see */
    sum += p->input[count - 1] - (((count - 1) * 7919 + round * 104729) % 1000003);
    least = p->input[count - 1] < p->input[least] ? count - 1 : least;
    most = p->input[count - 1] > p->input[most] ? count - 1 : most;
    const bool places = strstr(p->setting->spec, "arg") != NULL;
    const sg_reduce_arguments a = {.struct_size = sizeof a,
                                   .input = p->input,
                                   .count = count,
                                   .result = &result,
                                   .index = places ? &index : NULL,
                                   .temporary = p->memory,
                                   .temporary_bytes = p->bytes};
    expect_ok(sg_reduce(p->kernel, &a, NULL));
    expect_ok(sg_synchronize(context, NULL));
    if (places) {
        const int64_t at = strstr(p->setting->spec, "argmax") != NULL ? most : least;
        assert_int_equal(result, p->input[at]);
        assert_int_equal(index, at);
    } else if (strstr(p->setting->spec, "sum") != NULL) {
        assert_int_equal(result, sum);
    } else {
        assert_int_equal(result, p->input[count - 1]);
    }
}

/* The tag that the next launch draws. */
static uint64_t next_tag(void) {
    const uint64_t tags = atomic_load(&context->tags), tag = context_tag(context);
    atomic_store(&context->tags, tags);
    return tag;
}

/* Launches of other data with one tag: as soon as a word of a launch were left, the next might take
   it for its own. None is left, and as many as there should be were there. */
static void replays_are_right(void **state) {
    (void)state;
    for (int s = 0; s < SETTINGS; s++) {
        play p;
        open_play(&p, &settings[s]);
        const uint64_t tag = next_tag(), tags = atomic_load(&context->tags);
        memset(p.memory, 0xa5, WORDS * sizeof(word));
        for (int round = 0; round < 12; round++) {
            atomic_store(&context->tags, tags);
            expect_round(&p, COUNT, round);
            int erased = 0;
            for (int i = 0; i < WORDS; i++) {
                assert_true(p.memory[i].mark != tag);
                erased += p.memory[i].mark == 0;
            }
            assert_int_equal(erased, (settings[s].blocks - 1) * settings[s].words);
        }
        close_play(&p);
    }
}

/* Nothing in the memory passes for what a launch publishes: words of other tags with values that
   would show, zeros, the words of a larger and a smaller launch. */
static void any_memory_will_do(void **state) {
    (void)state;
    for (int s = 0; s < SETTINGS; s++) {
        play p;
        open_play(&p, &settings[s]);
        for (int round = 0; round < 8; round++) {
            const uint64_t tag = next_tag();
            for (int i = 0; i < WORDS; i++)
                p.memory[i] = (word){round % 4 == 0   ? 0
                                     : round % 4 == 1 ? tag ^ (1ull << (i % 64))
                                     : round % 4 == 2 ? tag - 1
                                                      : (uint64_t)i,
                                     UINT64_C(0x123456789abcdef0)};
            expect_round(&p, COUNT, round);
            expect_round(&p, COUNT / 3, round);
            expect_round(&p, COUNT - 5, round + 1);
        }
        close_play(&p);
    }
}

/* One block up to `alone`, then one for `share` elements a thread, up to `blocks`. */
static void blocks_fit_the_count(void **state) {
    (void)state;
    static const struct {
        const char *schedule;
        int64_t count;
        int blocks;
    } cases[] = {
        {"", 0, 1},
        {"", 1 << 12, 1},
        {"", (1 << 12) + 1, 3},
        {"", 1 << 16, 32},
        {"", 1 << 19, 256},
        {"", 1 << 26, 264},
        {"threads=64 items=4 share=8 alone=1000 blocks=9", 1000, 1},
        {"threads=64 items=4 share=8 alone=1000 blocks=9", 1001, 2},
        {"threads=64 items=4 share=8 alone=1000 blocks=9", 1025, 3},
        {"threads=64 items=4 share=8 alone=1000 blocks=9", 100000, 9},
        {"threads=64 items=4 share=4 cluster=4 blocks=16", 1024, 4},
        {"threads=64 items=4 share=4 cluster=4 blocks=16", 1025, 8},
        {"threads=64 items=4 share=4 cluster=4 blocks=16", 100000, 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene s;
        scene_open(&s, "return reduce { name = 'r', dtype = 'float' }", cases[i].schedule);
        const program_launch *l = &s.made->program->launches[0];
        assert_int_equal(program_blocks(l, 0, &cases[i].count), cases[i].blocks);
        scene_close(&s);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(replays_are_right),
    cmocka_unit_test(any_memory_will_do),
    cmocka_unit_test(blocks_fit_the_count),
};

TEST_GROUP(reduce_tags, open_cpu, close_context)
