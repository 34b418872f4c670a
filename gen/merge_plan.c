/* Schedules of merges. Takes: a merge, constraints and a target. Makes: threads, items, the other
   numbers of the algorithm and memory, or the reason why there are none. */
#include "gen/merge.h"

static const method_word algorithms[MERGE_ALGORITHMS] = {
    [MERGE_AUTO] = {"auto", "the fastest of the others: one-launch where every tile has a "
                            "multiprocessor, else merge-path"},
    [MERGE_PATH] = {"merge-path", "tiles of equal size by diagonals, merged in shared memory, "
                                  "stored by consecutive threads"},
    [MERGE_ONE_LAUNCH] = {"one-launch", "the same in one launch: blocks search the diagonals of "
                                        "their tiles, and merge one after another"},
    [MERGE_CO_RANK] = {"co-rank", "every thread finds its range by co-rank, and merges from global "
                                  "memory"},
    [MERGE_TILED] = {"tiled", "tiles of both lists in shared memory, loaded anew each round"},
    [MERGE_CIRCULAR] = {"circular", "circular buffers in shared memory: nothing is loaded twice"},
};
static const pattern_number numbers[] = {
    [MERGE_THREADS] = {"threads", "threads a block", 32, 1024, 0},
    [MERGE_ITEMS] = {"items", "outputs a thread and round", 1, 32, 1},
    [MERGE_ROUNDS] = {"rounds", "tiles that a block merges one after another", 1, 64, 1},
    [MERGE_LANES] = {"lanes", "merge-path: lanes that search a diagonal together", 1, 32, 0},
    [MERGE_STAGES] = {"stages", "one-launch: tiles of a block in shared memory at once", 1, 2, 1},
    [MERGE_BLOCKS] = {"blocks", "merge-path, one-launch: blocks that a multiprocessor shall hold",
                      1, 32, 1},
};
const pattern_words merge_words = {algorithms, MERGE_ALGORITHMS, NULL, 0, numbers, 6};

/* Which algorithms have a number, a bit each, and how a refusal says so. */
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
};

static bool has_number(const merge_plan *p, int number) {
    return has[number].algorithms >> p->schedule.algorithm & 1;
}

/* stage_bytes of templates/merge/tile.cuh. */
static size_t stage_bytes(const merge_plan *p, const merge *g, size_t element) {
    enum { SLOT_PACK = 4, FRONT = 16 };
    const size_t tile = (size_t)p->threads * (size_t)p->items;
    const size_t slots = (tile + 2 * (size_t)p->items + 4 * SLOT_PACK) / SLOT_PACK * SLOT_PACK;
    return FRONT + slots * (element + (g->has_values ? dtype_words[g->values].bytes : 0));
}

/* What the templates have in shared memory. */
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

static int or_one(int number) {
    return number > 0 ? number : 1;
}

/* 4-byte words of an output: of its key and its value. */
static int words_of(const merge *g, size_t element) {
    return (int)(element + (g->has_values ? dtype_words[g->values].bytes : 0)) / 4;
}

/* Outputs that the plan is for. */
static int64_t planned(const family_request *r) {
    return r->size[0] + (r->size[1] > 1 ? r->size[1] : 0);
}

enum { USUAL_THREADS = 256, PATH_ITEMS = 11, SPLIT_THREADS = 128 };

/* Where each tile has a multiprocessor for itself, two launches cannot be faster than one: they
   take the second one longer, and the search in the first has log2 of the shorter list's length
   steps instead of log33, each a load that waits for the one before. What the one launch loads
   besides for its searches nobody waits for. */
static bool is_small(const merge_plan *p, const family_request *r) {
    const int *number = p->schedule.number;
    const int threads = number[MERGE_THREADS] > 0 ? number[MERGE_THREADS] : USUAL_THREADS;
    const int items = number[MERGE_ITEMS] > 0 ? number[MERGE_ITEMS] : PATH_ITEMS;
    return number[MERGE_LANES] == 0 && number[MERGE_ROUNDS] == 0 &&
           planned(r) <= (int64_t)r->target->multiprocessors * threads * items;
}

/* Odd items, so that the threads of a warp meet different banks of shared memory; with values as
   many as leave registers for several blocks. Of few outputs every multiprocessor gets some: each
   item is a step more of every thread's own chain of loads from shared memory. */
static int usual_items(const merge_plan *p, const merge *g, size_t element,
                       const family_request *r) {
    if (p->schedule.algorithm == MERGE_PATH)
        return element == 4 ? PATH_ITEMS : 7;
    if (p->schedule.algorithm != MERGE_ONE_LAUNCH)
        return 8;
    static const int by_words[] = {0, 15, 11, 7, 7};
    const int most = by_words[words_of(g, element)];
    int items = 5;
    while (items < most && planned(r) > (int64_t)r->target->multiprocessors * p->threads * items)
        items += 2;
    return items;
}

/* As many blocks as a multiprocessor has threads, shared memory and registers for: a thread takes
   about 24 beside its outputs, and some for an order of the spec's own and for values of another
   size than keys; at least 40. But no more than about the plan has tiles for: they leave more
   registers. */
static int resident_blocks(const merge_plan *p, const merge *g, size_t element,
                           const family_request *r) {
    enum { REGISTERS = 65536, BESIDE = 24, SOME = 8, LEAST = 40, GRAIN = 8, RESERVED = 1024 };
    const target *t = r->target;
    const bool mixed = g->has_values && dtype_words[g->values].bytes != element;
    const int wanted = BESIDE + p->items * words_of(g, element) +
                       (g->order == MERGE_OWN ? SOME : 0) + (mixed ? SOME : 0);
    const int a_thread = wanted > LEAST ? (wanted + GRAIN - 1) / GRAIN * GRAIN : LEAST;
    const int64_t tiles = planned(r) / ((int64_t)p->threads * p->items * t->multiprocessors) + 2;
    int blocks = t->threads_per_multiprocessor / p->threads;
    if (blocks > REGISTERS / a_thread / p->threads)
        blocks = REGISTERS / a_thread / p->threads;
    if (blocks > t->shared_per_multiprocessor / ((int)p->shared_bytes + RESERVED))
        blocks = t->shared_per_multiprocessor / ((int)p->shared_bytes + RESERVED);
    if (blocks > tiles)
        blocks = tiles > 3 ? (int)tiles : blocks > 3 ? 3 : blocks;
    return blocks > 1 ? blocks : 1;
}

static void choose(merge_plan *p, const merge *g, size_t element, const family_request *r) {
    const bool one_launch = p->schedule.algorithm == MERGE_ONE_LAUNCH;
    const bool path = p->schedule.algorithm == MERGE_PATH;
    int *number = p->schedule.number;
    if (number[MERGE_THREADS] == 0)
        number[MERGE_THREADS] = path || one_launch ? USUAL_THREADS : 128;
    p->threads = number[MERGE_THREADS];
    const int usual[] = {
        [MERGE_ITEMS] = usual_items(p, g, element, r),
        [MERGE_ROUNDS] = one_launch ? 0 : 4,
        [MERGE_LANES] = 1,
        [MERGE_STAGES] = 1,
        [MERGE_BLOCKS] = 0,
    };
    for (int i = MERGE_ITEMS; i < merge_words.number_count; i++)
        if (number[i] == 0 && has_number(p, i))
            number[i] = usual[i];
    p->items = number[MERGE_ITEMS];
    p->split_threads = SPLIT_THREADS;
    p->rounds = or_one(number[MERGE_ROUNDS]);
    p->lanes = or_one(number[MERGE_LANES]);
    p->stages = or_one(number[MERGE_STAGES]);
    p->shared_bytes = shared_bytes(p, g, element);
    if (number[MERGE_BLOCKS] == 0 && one_launch)
        number[MERGE_BLOCKS] = resident_blocks(p, g, element, r);
    p->blocks = or_one(number[MERGE_BLOCKS]);
    p->resident = one_launch && number[MERGE_ROUNDS] == 0;
    p->most_blocks = p->resident ? (int64_t)p->blocks * r->target->multiprocessors : 0;
}

merge_plan merge_fit(job *j, const subject *subject, const family_request *r) {
    const merge *g = subject->model;
    const size_t element = dtype_words[subject->dtype].bytes;
    merge_plan p = {.schedule = g->pattern.wanted};
    if (r->schedule != NULL)
        pattern_schedule_parse(j, &merge_words, r->schedule, "schedule", &p.schedule);
    p.asked = p.schedule.algorithm != MERGE_AUTO;
    if (!p.asked)
        p.schedule.algorithm = is_small(&p, r) ? MERGE_ONE_LAUNCH : MERGE_PATH;
    const char *name = algorithms[p.schedule.algorithm].name;
    for (int i = 0; i < merge_words.number_count; i++)
        if (p.schedule.number[i] != 0 && !has_number(&p, i))
            job_fail(j, FAULT_PLAN, subject->file, subject->line, "algorithm %s: it has no %s; %s",
                     name, numbers[i].name, has[i].who);
    choose(&p, g, element, r);
    if (p.shared_bytes > (size_t)r->target->shared_per_block)
        job_fail(j, FAULT_PLAN, subject->file, subject->line,
                 "algorithm %s: %d threads with %d items need %zu bytes of shared memory, but a "
                 "block of %s has at most %d",
                 name, p.threads, p.items, p.shared_bytes, r->target->arch,
                 r->target->shared_per_block);
    if (p.blocks * p.threads > r->target->threads_per_multiprocessor)
        job_fail(j, FAULT_PLAN, subject->file, subject->line,
                 "algorithm %s: %d blocks of %d threads, but a multiprocessor of %s holds at most "
                 "%d threads",
                 name, p.blocks, p.threads, r->target->arch, r->target->threads_per_multiprocessor);
    return p;
}
