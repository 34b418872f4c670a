/* Schedules of merges. Takes: a merge, constraints and a GPU. Makes: threads, items, the other
   numbers of the algorithm and memory, or the reason why there are none. */
#include "gen/lists/merge/merge.h"

#include <stdlib.h>
#include <string.h>

static const word_row algorithms[MERGE_ALGORITHMS] = {
    [MERGE_AUTO] = {"auto", "the fastest of the others: one-launch where a block merges few tiles, "
                            "else merge-path"},
    [MERGE_PATH] = {"merge-path", "tiles of equal size by diagonals, merged in shared memory, "
                                  "stored by consecutive threads"},
    [MERGE_ONE_LAUNCH] = {"one-launch", "the same in one launch: blocks search the diagonals of "
                                        "their tiles, and merge one after another"},
    [MERGE_CO_RANK] = {"co-rank", "every thread finds its range by co-rank, and merges from global "
                                  "memory"},
    [MERGE_TILED] = {"tiled", "tiles of both lists in shared memory, loaded anew each round"},
    [MERGE_CIRCULAR] = {"circular", "circular buffers in shared memory: nothing is loaded twice"},
};
/* The work of the algorithms, as `explain` says it. */
static const char *const notes[MERGE_ALGORITHMS] = {
    [MERGE_PATH] = "a search of log33 min(m, n) rounds every 32 tiles and a few steps from "
                   "there a tile, while the first tiles are merged, one of log2 T a "
                   "thread; every key loaded once and stored "
                   "once, by consecutive threads",
    [MERGE_ONE_LAUNCH] = "a search of log33 min(m, n) rounds a block and one of log33 wT for w "
                         "tiles, one of log2 T steps a thread; every key loaded once and "
                         "stored once, in one launch",
    [MERGE_CO_RANK] = "a search of log2 min(m, n) steps a thread in global memory, then a "
                      "comparison an output; neighbouring threads load and store apart",
    [MERGE_TILED] = "2 T keys loaded for every T outputs: half of what is loaded is used, the "
                    "rest is loaded again",
    [MERGE_CIRCULAR] = "T keys loaded for every T outputs: nothing is loaded twice",
};
static const pattern_number numbers[] = {
    [MERGE_THREADS] = {"threads", "threads a block", 32, 1024, 0},
    [MERGE_ITEMS] = {"items", "outputs a thread and round", 1, 32, 1},
    [MERGE_ROUNDS] = {"rounds", "tiles that a block merges one after another", 1, 64, 1},
    [MERGE_LANES] = {"lanes", "merge-path: lanes that search a diagonal together", 1, 32, 0},
    [MERGE_STAGES] = {"stages", "one-launch: tiles of a block in shared memory at once", 1, 2, 1},
    [MERGE_BLOCKS] = {"blocks", "merge-path, one-launch: blocks that a multiprocessor is to hold",
                      1, 32, 1},
    [MERGE_SPLIT] = {"split", "merge-path: threads of a block of the first launch", 64, 1024, 0},
    [MERGE_EARLY] = {"early",
                     "merge-path, from sm_90 on: blocks that do not wait for the first launch", 1,
                     1 << 20, 1},
};
const pattern_words merge_words = {.algorithms = algorithms,
                                   .algorithm_count = MERGE_ALGORITHMS,
                                   .numbers = numbers,
                                   .number_count = 8,
                                   .notes = notes};

/* What tuning tries. */
static const space_group groups[] = {
    SPACE_GROUP(0, MERGE_PATH, SPACE_THREADS(MERGE_THREADS),
                SPACE_LINE(MERGE_ITEMS, 5, 7, 9, 11, 13, 15, 17, 19, 21),
                SPACE_LINE(MERGE_LANES, 1, 4, 8, 32),
                SPACE_LINE(MERGE_BLOCKS, SPACE_OWN, 2, 3, 4, 6, 8)),
    SPACE_GROUP(0, MERGE_ONE_LAUNCH, SPACE_THREADS(MERGE_THREADS),
                SPACE_LINE(MERGE_ITEMS, 5, 7, 9, 11, 13, 15, 17, 19, 21),
                SPACE_LINE(MERGE_STAGES, 1, 2), SPACE_LINE(MERGE_ROUNDS, SPACE_OWN, 1, 4, 8, 16),
                SPACE_LINE(MERGE_BLOCKS, SPACE_OWN, 2, 3, 4, 5, 6, 8)),
    SPACE_GROUP(0, MERGE_CO_RANK, SPACE_USUAL_THREADS(MERGE_THREADS),
                SPACE_LINE(MERGE_ITEMS, 4, 8, 16)),
    SPACE_GROUP(0, MERGE_TILED, SPACE_USUAL_THREADS(MERGE_THREADS),
                SPACE_LINE(MERGE_ITEMS, 4, 8, 16), SPACE_LINE(MERGE_ROUNDS, 1, 4, 16)),
    SPACE_GROUP(0, MERGE_CIRCULAR, SPACE_USUAL_THREADS(MERGE_THREADS),
                SPACE_LINE(MERGE_ITEMS, 4, 8, 16), SPACE_LINE(MERGE_ROUNDS, 1, 4, 16)),
};
const space_table merge_space = {groups, sizeof groups / sizeof *groups};

enum { EARLY_GENERATION = 90 }; /* the first on which a launch may begin before another has ended */

/* Which algorithms have a number, one bit each, and how a refusal says so. */
static const struct {
    unsigned algorithms;
    const char *who;
} has[] = {
    [MERGE_THREADS] = {~0u, ""},
    [MERGE_ITEMS] = {~0u, ""},
    [MERGE_ROUNDS] = {1u << MERGE_ONE_LAUNCH | 1u << MERGE_TILED | 1u << MERGE_CIRCULAR,
                      "one-launch, tiled and circular have"},
    [MERGE_LANES] = {1u << MERGE_PATH, "merge-path has"},
    [MERGE_STAGES] = {1u << MERGE_ONE_LAUNCH, "one-launch has"},
    [MERGE_BLOCKS] = {1u << MERGE_PATH | 1u << MERGE_ONE_LAUNCH, "merge-path and one-launch have"},
    [MERGE_SPLIT] = {1u << MERGE_PATH, "merge-path has"},
    [MERGE_EARLY] = {1u << MERGE_PATH, "merge-path has, from sm_90 on"},
};

static int generation(const gpu *t) { /* 90: sm_90 */
    return atoi(t->arch + strlen("sm_"));
}

static bool has_number(const merge_plan *p, int number, const gpu *t) {
    return (has[number].algorithms >> p->schedule.algorithm & 1) != 0 &&
           (number != MERGE_EARLY || generation(t) >= EARLY_GENERATION);
}

/* stage_bytes of templates/merge/tile.cuh. */
static size_t stage_bytes(const merge_plan *p, const merge *g, size_t element) {
    enum { SLOT_PACK = 4, FRONT = 16 };
    const size_t tile = (size_t)p->threads * (size_t)p->items;
    size_t slots = (tile + 2 * (size_t)p->items + 4 * SLOT_PACK) / SLOT_PACK * SLOT_PACK;
    if (g->has_values && dtype_is_narrow(g->values))
        slots = (slots + SLOT_PACK) / (2 * SLOT_PACK) * (2 * SLOT_PACK);
    return FRONT + slots * (element + (g->has_values ? dtype_words[g->values].bytes : 0));
}

/* What the templates keep in shared memory. */
static size_t shared_bytes(const merge_plan *p, const merge *g, size_t element) {
    const size_t tile = (size_t)p->threads * (size_t)p->items;
    switch ((merge_algorithm)p->schedule.algorithm) {
    case MERGE_CO_RANK:
        return 0;
    case MERGE_PATH:
        return stage_bytes(p, g, element);
    case MERGE_ONE_LAUNCH: /* and the co-ranks */
        return (size_t)p->stages * stage_bytes(p, g, element) + ((size_t)p->threads / 32 + 1) * 8;
    default:
        return 2 * tile * element + 16;
    }
}

/* 4-byte words of an output: of its key and its value, which take a register each at least. */
static int words_of(const merge *g, size_t element) {
    return (int)(element + 3 + (g->has_values ? dtype_words[g->values].bytes : 0)) / 4;
}

/* Outputs that the plan is for. */
static int64_t planned(const family_request *r) {
    return r->size[0] + (r->size[1] > 1 ? r->size[1] : 0);
}

/* ---- what was fastest ------------------------------------------------------------------------ */

/* The fastest by sweeps of bench/merge.schedules on an H100 (docs/notebook.md): from 2^12 to 2^28
   outputs of int32 and double keys and of pairs of 4 + 4 bytes, with random keys and with all of a
   before b. Other GPUs and types go by the bytes of an output. Items are odd, so that the threads
   of a warp meet different banks of shared memory. */
typedef struct shape {
    int threads, items;
    int most; /* tiles a multiprocessor up to which it is taken; 0: it is the last one */
} shape;
enum { MOST_WORDS = 4 };

/* one-launch: more items lengthen every thread's chain of loads from shared memory, and more tiles
   take more searches. */
static const shape small_keys[] = {{64, 5, 3},   {128, 5, 4}, {128, 7, 4},
                                   {128, 11, 4}, {256, 7, 4}, {256, 11, 0}};
static const shape small_others[] = {{64, 5, 3}, {128, 5, 4}, {128, 7, 5}, {256, 7, 0}};

/* merge-path, by words_of. While blocks run in few waves, small tiles keep the last wave short.
   Once there are many waves, larger tiles take fewer searches. */
static const shape path_keys[2][MOST_WORDS + 1] = {
    {[1] = {256, 17, 0}, [2] = {256, 15, 0}},
    {[1] = {512, 19, 0}, [2] = {512, 13, 0}},
};
static const shape path_pairs[2][MOST_WORDS + 1] = {
    {[2] = {256, 7, 0}, [3] = {256, 11, 0}, [4] = {256, 7, 0}},
    {[2] = {512, 15, 0}, [3] = {256, 11, 0}, [4] = {256, 7, 0}},
};
enum { MANY_WAVES = 32 };

/* Tiles of each resident block up to which one launch is faster than two. One launch saves a launch
   and a search, about 4 us; but its blocks search for their tiles in turn, and the tiles lie far
   apart in the lists. One launch was faster with 3 and with 3.8 tiles, slower with 5.9 and with
   7.5. */
enum { ONE_LAUNCH_TILES = 4 };

/* Lanes that search a diagonal of merge-path together save rounds, but ask about more places.
   Blocks wait for the rounds that the path's corners take. While there are few waves, rounds count
   (2^24 doubles with few values: 111, 105, 104, 103 us with 1, 2, 4, 8 lanes; random: 103, 103,
   105, 106). With many waves, places count (2^28 int32: 752 us with 1 lane, 761 with 4). Pairs take
   longer, so searches may too: with 8 lanes few values are 0.5 us faster, and others are not
   slower. A block's ends are searched for in the whole lists, so a block should have many
   diagonals; but the more it has, the worse is a guess between them. With 8 lanes 32 diagonals were
   0.5 to 1.3 us faster than 16. With 4 lanes 16, 32 and 64 diagonals, and with one lane 64, 128 and
   256, were within a hundredth. */
enum { KEYS_LANES = 4, PAIRS_LANES = 8, DIAGONALS = 32, LEAST_SPLIT = 128 };

static shape small_shape(int words, const family_request *r) {
    const shape *at = words == 1 ? small_keys : small_others;
    while (at->most > 0 &&
           planned(r) > (int64_t)r->gpu->multiprocessors * at->most * at->threads * at->items)
        at++;
    return *at;
}

/* An H100 holds two blocks of each large shape. */
static bool has_many_waves(const merge *g, size_t element, const family_request *r) {
    const shape large = (g->has_values ? path_pairs : path_keys)[1][words_of(g, element)];
    return planned(r) / MANY_WAVES >
           (int64_t)2 * r->gpu->multiprocessors * large.threads * large.items;
}

static shape path_shape(const merge *g, size_t element, const family_request *r) {
    const bool many = has_many_waves(g, element, r);
    return (g->has_values ? path_pairs : path_keys)[many][words_of(g, element)];
}

static int usual_lanes(const merge *g, size_t element, const family_request *r) {
    if (has_many_waves(g, element, r))
        return 1;
    return g->has_values ? PAIRS_LANES : KEYS_LANES;
}

static shape usual_shape(const merge_plan *p, const merge *g, size_t element,
                         const family_request *r) {
    switch ((merge_algorithm)p->schedule.algorithm) {
    case MERGE_PATH:
        return path_shape(g, element, r);
    case MERGE_ONE_LAUNCH:
        return small_shape(words_of(g, element), r);
    default:
        return (shape){128, 8, 0};
    }
}

/* As many blocks as a multiprocessor has threads, shared memory and registers for. A thread takes
   about 24 registers in addition to its outputs, and some more for the spec's own order, for values
   of another size than keys, and from sm_100 on; at least 40. There are not many more blocks than
   the plan has tiles for, because fewer blocks leave more registers. With many waves the compiler
   does with fewer: 2^28 int32 keys take 542, 555 and 543 us (random, apart, few) with three blocks
   of 40 registers on an H200, and 632, 614 and 605 with two of 48. */
static int resident_blocks(const merge_plan *p, const merge *g, size_t element,
                           const family_request *r) {
    enum {
        REGISTERS = 65536,
        BESIDE = 24,
        BESIDE_MANY = 21,
        SOME = 16,
        MIXED = 24,
        LEAST = 40,
        GRAIN = 8
    };
    const gpu *t = r->gpu;
    const bool mixed = g->has_values && dtype_words[g->values].bytes != element;
    const int wanted = (has_many_waves(g, element, r) ? BESIDE_MANY : BESIDE) +
                       p->items * words_of(g, element) + (g->order == MERGE_OWN ? SOME : 0) +
                       (mixed ? MIXED : 0) + (generation(t) >= 100 ? SOME : 0);
    const int a_thread = wanted > LEAST ? (wanted + GRAIN - 1) / GRAIN * GRAIN : LEAST;
    const int64_t tiles = planned(r) / ((int64_t)p->threads * p->items * t->multiprocessors) + 2;
    int blocks = t->threads_per_multiprocessor / p->threads;
    if (blocks > REGISTERS / a_thread / p->threads)
        blocks = REGISTERS / a_thread / p->threads;
    blocks = smaller(blocks, gpu_blocks_with(t, p->shared_bytes));
    if (blocks > tiles)
        blocks = tiles > 3 ? (int)tiles : blocks > 3 ? 3 : blocks;
    if (blocks > numbers[MERGE_BLOCKS].most) /* which is what a multiprocessor holds */
        blocks = numbers[MERGE_BLOCKS].most;
    return blocks > 1 ? blocks : 1;
}

/* Threads and items: those that are asked for, else the usual ones, and fewer where a GPU has
   little shared memory. */
static void choose_tile(merge_plan *p, const merge *g, size_t element, const family_request *r) {
    enum { LEAST_THREADS = 64 };
    const gpu *t = r->gpu;
    const shape usual = usual_shape(p, g, element, r);
    int *number = p->schedule.number;
    p->threads = pattern_or(number[MERGE_THREADS], usual.threads);
    p->items = pattern_or(number[MERGE_ITEMS], usual.items);
    p->stages = pattern_or(number[MERGE_STAGES], 1);
    while (number[MERGE_THREADS] == 0 && p->threads > LEAST_THREADS &&
           gpu_blocks_with(t, shared_bytes(p, g, element)) < 2)
        p->threads /= 2;
    while (number[MERGE_ITEMS] == 0 && p->items > 2 &&
           shared_bytes(p, g, element) > (size_t)t->shared_per_block)
        p->items -= 2;
    number[MERGE_THREADS] = p->threads;
    number[MERGE_ITEMS] = p->items;
    p->shared_bytes = shared_bytes(p, g, element);
}

static void choose(merge_plan *p, const merge *g, size_t element, const family_request *r) {
    const bool one_launch = p->schedule.algorithm == MERGE_ONE_LAUNCH;
    int *number = p->schedule.number;
    choose_tile(p, g, element, r);
    const int resident = resident_blocks(p, g, element, r);
    const int lanes = pattern_or(number[MERGE_LANES], usual_lanes(g, element, r));
    const int usual[] = {
        [MERGE_ROUNDS] = one_launch ? 0 : 4,
        [MERGE_LANES] = lanes,
        [MERGE_STAGES] = 1,
        [MERGE_BLOCKS] = resident,
        [MERGE_SPLIT] = lanes * DIAGONALS > LEAST_SPLIT ? lanes * DIAGONALS : LEAST_SPLIT,
        [MERGE_EARLY] = pattern_or(number[MERGE_BLOCKS], resident) * r->gpu->multiprocessors,
    };
    for (int i = MERGE_ROUNDS; i < merge_words.number_count; i++)
        if (number[i] == 0 && has_number(p, i, r->gpu))
            number[i] = usual[i];
    p->rounds = pattern_or(number[MERGE_ROUNDS], 1);
    p->lanes = pattern_or(number[MERGE_LANES], 1);
    p->blocks = pattern_or(number[MERGE_BLOCKS], 1);
    p->split = pattern_or(number[MERGE_SPLIT], 1);
    p->early = number[MERGE_EARLY];
    p->resident = one_launch && number[MERGE_ROUNDS] == 0;
    p->most_blocks = p->resident ? (int64_t)p->blocks * r->gpu->multiprocessors : 0;
}

/* Whether one launch is faster. */
static bool is_small(const merge_plan *p, const merge *g, size_t element, const family_request *r) {
    merge_plan one = *p;
    one.schedule.algorithm = MERGE_ONE_LAUNCH;
    for (int i = 0; i < merge_words.number_count; i++)
        if (one.schedule.number[i] != 0 && (i == MERGE_ROUNDS || !has_number(&one, i, r->gpu)))
            return false;
    choose(&one, g, element, r);
    return planned(r) <= ONE_LAUNCH_TILES * one.most_blocks * one.threads * one.items;
}

merge_plan merge_fit(job *j, const subject *subject, const family_request *r) {
    const merge *g = subject->model;
    const size_t element = dtype_words[subject->dtype].bytes;
    merge_plan p = {.schedule = pattern_wanted(j, subject, r->schedule)};
    p.asked = p.schedule.algorithm != MERGE_AUTO;
    if (!p.asked)
        p.schedule.algorithm = is_small(&p, g, element, r) ? MERGE_ONE_LAUNCH : MERGE_PATH;
    for (int i = 0; i < merge_words.number_count; i++)
        if (p.schedule.number[i] != 0 && !has_number(&p, i, r->gpu))
            pattern_refuse(j, subject, &p.schedule, "it has no %s; %s", numbers[i].name,
                           has[i].who);
    choose(&p, g, element, r);
    if (p.shared_bytes > (size_t)r->gpu->shared_per_block)
        pattern_refuse(j, subject, &p.schedule,
                       "%d threads with %d items need %zu bytes of shared memory, but a "
                       "block of %s has at most %d",
                       p.threads, p.items, p.shared_bytes, r->gpu->arch, r->gpu->shared_per_block);
    if (p.blocks * p.threads > r->gpu->threads_per_multiprocessor)
        pattern_refuse(j, subject, &p.schedule,
                       "%d blocks of %d threads, but a multiprocessor of %s holds at "
                       "most %d threads",
                       p.blocks, p.threads, r->gpu->arch, r->gpu->threads_per_multiprocessor);
    return p;
}
