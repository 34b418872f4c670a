/* Schedules of scans. Takes: a scan, constraints and a GPU. Makes: threads, items and shared
   memory, or the reason why there are none. */
#include "gen/lists/scan/scan.h"
#include "gen/model/plans.h"

#include <stdnoreturn.h>
#include <string.h>

enum { UNIT = 1024 }; /* elements: tiles of runs are so many times some number */

static const word_row algorithms[SCAN_ALGORITHMS] = {
    [SCAN_AUTO] = {"auto", "the fastest of the others: persistent; on a processor runs"},
    [SCAN_LOOK_BACK] = {"look-back", "one pass: a tile adds up what those before it have published "
                                     "until one knows its prefix"},
    [SCAN_PERSISTENT] = {"persistent", "look-back by blocks that stay: each loads its next tiles "
                                       "while it scans one"},
    [SCAN_KOGGE_STONE] = {"kogge-stone", "tiles by adding at doubling distances; then the sums of "
                                         "tiles; then those are added"},
    [SCAN_DOUBLE_BUFFER] = {"double-buffer", "kogge-stone between two buffers that change places, "
                                             "with one barrier a step"},
    [SCAN_BRENT_KUNG] = {"brent-kung", "tiles by a tree of sums, up and down; then as kogge-stone"},
    [SCAN_RUNS] = {"runs", "for processors: a thread a block joins a tile, then scans several runs "
                           "of it side by side"},
};
/* The work of the algorithms, as `explain` says it. */
static const char *const notes[SCAN_ALGORITHMS] = {
    [SCAN_LOOK_BACK] = "about 2 N operations for a tile of N; every element crosses memory "
                       "twice: once read, once written",
    [SCAN_PERSISTENT] = "about 2 N operations for a tile of N; every element crosses memory "
                        "twice; no memory is set before the launch",
    [SCAN_KOGGE_STONE] = "N log2 N - (N - 1) operations in log2 N steps of two barriers for a "
                         "section of N; every element crosses memory four times",
    [SCAN_DOUBLE_BUFFER] = "N log2 N - (N - 1) operations in log2 N steps of one barrier for "
                           "a section of N; every element crosses memory four times",
    [SCAN_BRENT_KUNG] = "2 N - 2 - log2 N operations in 2 log2 N - 1 steps for a section of "
                        "N; every element crosses memory four times",
    [SCAN_RUNS] = "2 N operations; every element crosses memory twice, and is read once more from "
                  "a core's cache",
};
static const pattern_number numbers[] = {
    [SCAN_THREADS] = {"threads", "threads a block", 32, 1024, 0},
    [SCAN_ITEMS] = {"items", "elements a thread", 1, 64, 1},
    [SCAN_STAGES] = {"stages", "persistent: tiles of a block in shared memory", 1, 4, 1},
    [SCAN_BLOCKS] = {"blocks", "persistent: blocks a multiprocessor", 1, 32, 1},
    [SCAN_AHEAD] = {"ahead", "persistent: tiles that a block sums up before the first looks back",
                    1, 2, 1},
    [SCAN_DRAW] = {"draw", "persistent: blocks take tiles in turn (1) or draw them (2)", 1, 2, 1},
    [SCAN_RUN] = {"run", "runs: elements of a tile", UNIT, 1 << 24, UNIT},
};
const pattern_words scan_words = {.algorithms = algorithms,
                                  .algorithm_count = SCAN_ALGORITHMS,
                                  .numbers = numbers,
                                  .number_count = SCAN_NUMBERS,
                                  .notes = notes,
                                  .serial = 1u << SCAN_RUNS};

/* What tuning tries. */
static const space_group groups[] = {
    SPACE_GROUP(0, SCAN_LOOK_BACK, SPACE_THREADS(SCAN_THREADS),
                SPACE_LINE(SCAN_ITEMS, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 31)),
    SPACE_GROUP(0, SCAN_PERSISTENT, SPACE_THREADS(SCAN_THREADS),
                {SCAN_ITEMS, BY_STORED, {1, 2, 3, 4, 5, 6, 7, 8}}, SPACE_LINE(SCAN_STAGES, 1, 2, 3),
                SPACE_LINE(SCAN_BLOCKS, SPACE_OWN, 1, 2, 3, 4, 5, 6, 8),
                SPACE_LINE(SCAN_AHEAD, SPACE_OWN, 2), SPACE_LINE(SCAN_DRAW, SPACE_OWN, 2)),
    SPACE_GROUP(0, SCAN_KOGGE_STONE, SPACE_THREADS(SCAN_THREADS),
                SPACE_LINE(SCAN_ITEMS, 1, 2, 4, 8)),
    SPACE_GROUP(0, SCAN_DOUBLE_BUFFER, SPACE_THREADS(SCAN_THREADS),
                SPACE_LINE(SCAN_ITEMS, 1, 2, 4, 8)),
    SPACE_GROUP(0, SCAN_BRENT_KUNG, SPACE_THREADS(SCAN_THREADS), SPACE_LINE(SCAN_ITEMS, 2, 4, 8)),
    SPACE_GROUP(
        0, SCAN_RUNS,
        SPACE_LINE(SCAN_RUN, SPACE_OWN, 4 * UNIT, 15 * UNIT, 31 * UNIT, 63 * UNIT, 127 * UNIT)),
};
const space_table scan_space = {groups, sizeof groups / sizeof *groups};

/* Elements of a thread: an odd number, so that the threads of a warp meet different banks of shared
   memory; in the textbook's algorithms as the textbook has them. */
static int default_items(scan_algorithm algorithm, size_t element_bytes) {
    switch (algorithm) {
    case SCAN_LOOK_BACK:
        return element_bytes == 4 ? 15 : 9;
    case SCAN_BRENT_KUNG:
        return 2;
    default:
        return 1;
    }
}

/* `element`: bytes as scanned; `stored`: bytes in memory, which differ where they are narrow. */
static size_t shared_bytes(const scan_plan *p, size_t element, size_t stored) {
    const size_t threads = (size_t)p->threads, items = (size_t)p->items, runs = (size_t)p->runs;
    const size_t warps = threads / 32, packs = items * stored / 16;
    size_t tile = runs < items ? threads * items * element : 0;
    switch ((scan_algorithm)p->schedule.algorithm) {
    case SCAN_LOOK_BACK: /* struct Shared of look_back.cu, its last members at multiples of 8 */
        tile = warps * (32 * items + (items % 2 == 0 ? items : 0)) * element;
        return (tile + (warps + 1) * element + 7) / 8 * 8 + 8;
    case SCAN_PERSISTENT: /* struct Shared of persistent.cu */
        tile = warps * (32 * packs + (packs % 2 == 0 ? 4 * packs : 0)) * 16;
        return (size_t)p->stages * tile + ((warps + 1) * element + 19) / 16 * 16;
    case SCAN_DOUBLE_BUFFER:
        return tile + 2 * threads * runs * element;
    default:
        return tile + threads * runs * element;
    }
}

enum { SYSTEM_SHARED = 1024 }; /* bytes of it that the system takes for each block, from sm_80 on */

typedef struct fitter {
    job *job;
    const subject *subject;
    const gpu *gpu;
    size_t element; /* bytes, as it is scanned */
    size_t stored;  /* bytes, in memory */
    int64_t count;  /* to plan for */
    scan_plan plan;
} fitter;

static noreturn void refuse(const fitter *f, const char *why) {
    pattern_refuse(f->job, f->subject, &f->plan.schedule, "%s", why);
}

/* The numbers of a plan that was measured on the GPU, if it is a whole persistent one. */
static bool read_measured(const fitter *f, const plans_line *l, int number[SCAN_NUMBERS]) {
    pattern_schedule s = {0};
    pattern_schedule_parse(f->job, &scan_words, l->plan, "a plan", &s);
    bool whole = s.algorithm == SCAN_PERSISTENT;
    for (int i = SCAN_THREADS; i <= SCAN_BLOCKS; i++)
        whole = whole && s.number[i] > 0;
    for (int i = 0; i < SCAN_NUMBERS; i++)
        number[i] = s.number[i] > 0 ? s.number[i] : 1;
    return whole && number[SCAN_ITEMS] * (int)f->stored % 16 == 0;
}

/* The board on which lists of so many elements were measured; NULL: they were not. */
static const char *find_measured(const fitter *f, int number[SCAN_NUMBERS]) {
    const char *class = job_print(f->job, "scan %zu bytes", f->stored);
    const plans_line *l =
        plans_for_list(plans_known(f->job, f->gpu), class, f->subject->dtype, f->count);
    return l != NULL && read_measured(f, l, number) ? l->board->name : NULL;
}

/* Schedules where nothing was measured, by what was fastest on an H100 (plans/h100.plans), and for
   16 bits on an H200. Up to 32 tiles are one group, which is read at once, so tiles of short lists
   are as small as that allows. Of longer lists it counts how many rounds the blocks of all
   multiprocessors make. */
typedef struct usual {
    size_t stored; /* bytes of an element */
    int64_t count; /* the longest list; 0: any */
    int64_t each;  /* the most elements that a multiprocessor gets; 0: any */
    int number[SCAN_RUN];
} usual;

enum { USUAL = 256, GROUP = 32 * USUAL }; /* threads; those of a group */
static const usual usual_schedules[] = {
    {2, 4 * GROUP, 0, {USUAL, 16, 2, 4, 1, 1}},
    {2, 16 * GROUP, 0, {USUAL, 16, 2, 4, 2, 1}},
    {2, 0, 1 << 14, {USUAL, 32, 3, 3, 1, 1}},
    {2, 0, 3 << 14, {USUAL, 32, 2, 4, 1, 1}},
    {2, 0, 0, {512, 24, 3, 2, 2, 1}}, /* longer runs of a thread spill in bfloat16 */
    {4, 4 * GROUP, 0, {USUAL, 4, 2, 4, 1, 1}},
    {4, 8 * GROUP, 0, {USUAL, 8, 2, 4, 1, 1}},
    {4, 12 * GROUP, 0, {USUAL, 12, 2, 4, 1, 1}},
    {4, 0, 1 << 15, {USUAL, 20, 3, 3, 1, 1}},
    {4, 0, 1 << 19, {USUAL, 28, 2, 3, 2, 1}},
    {4, 0, 0, {512, 20, 2, 2, 2, 2}},
    {8, 2 * GROUP, 0, {USUAL, 2, 2, 4, 1, 1}},
    {8, 4 * GROUP, 0, {USUAL, 4, 2, 4, 1, 1}},
    {8, 6 * GROUP, 0, {USUAL, 6, 2, 4, 1, 1}},
    {8, 8 * GROUP, 0, {USUAL, 8, 2, 4, 1, 1}},
    {8, 10 * GROUP, 0, {USUAL, 10, 2, 4, 1, 1}},
    {8, 0, 1 << 15, {USUAL, 18, 2, 2, 1, 1}},
    {8, 0, 0, {512, 10, 2, 2, 2, 2}},
};

static void usual_numbers(const fitter *f, int number[SCAN_NUMBERS]) {
    const int64_t each = f->count / f->gpu->multiprocessors;
    const usual *u = usual_schedules;
    while (u->stored != f->stored || (u->count > 0 && f->count > u->count) ||
           (u->each > 0 && each > u->each))
        u++;
    memcpy(number, u->number, sizeof u->number);
}

/* How many blocks a multiprocessor holds, by its shared memory and with at most 1024 threads of 64
   registers each. */
static int room_for_blocks(const fitter *f) {
    const gpu *t = f->gpu;
    const int threads = f->plan.threads, shared = (int)f->plan.shared_bytes + SYSTEM_SHARED;
    int blocks = t->shared_per_multiprocessor / shared;
    if (blocks > t->threads_per_multiprocessor / threads)
        blocks = t->threads_per_multiprocessor / threads;
    if (blocks > 1024 / threads)
        blocks = 1024 / threads;
    return blocks > 1 ? blocks : 1;
}

/* Takes fewer stages, then fewer items, where both are free and a block would have too little
   shared memory. */
static void shrink_tile(fitter *f, bool free_stages, bool free_items) {
    scan_plan *p = &f->plan;
    const int pack = 16 / (int)f->stored;
    for (;;) {
        p->shared_bytes = shared_bytes(p, f->element, f->stored);
        if (p->shared_bytes <= (size_t)f->gpu->shared_per_block)
            return;
        if (free_stages && p->stages > 1)
            p->stages--;
        else if (free_items && p->items > 2 * pack)
            p->items -= 2 * pack;
        else
            return;
    }
}

/* Fills in what is free: what was measured, where nothing else is given; one stage before sm_80,
   which has no copies that run during the arithmetic. */
static void choose_persistent(fitter *f) {
    scan_plan *p = &f->plan;
    int usual[SCAN_NUMBERS];
    p->board = find_measured(f, usual);
    if (p->board == NULL)
        usual_numbers(f, usual);
    int *chosen = p->schedule.number;
    const bool free_stages = chosen[SCAN_STAGES] == 0, free_items = chosen[SCAN_ITEMS] == 0;
    const bool free = free_items && free_stages && chosen[SCAN_THREADS] == 0;
    chosen[SCAN_THREADS] = pattern_or(chosen[SCAN_THREADS], free_items ? usual[SCAN_THREADS] : 256);
    p->threads = chosen[SCAN_THREADS];
    p->items = free_items ? usual[SCAN_ITEMS] : chosen[SCAN_ITEMS];
    p->stages = !free_stages                         ? chosen[SCAN_STAGES]
                : strcmp(f->gpu->arch, "sm_75") == 0 ? chosen[SCAN_AHEAD] > 1 ? 2 : 1
                                                     : usual[SCAN_STAGES];
    shrink_tile(f, free_stages, free_items);
    chosen[SCAN_ITEMS] = p->items;
    chosen[SCAN_STAGES] = p->stages;
    if (chosen[SCAN_BLOCKS] == 0) {
        const int room = room_for_blocks(f), wanted = usual[SCAN_BLOCKS];
        chosen[SCAN_BLOCKS] = free && wanted < room ? wanted : room;
    }
    p->blocks = chosen[SCAN_BLOCKS];
    p->ahead = chosen[SCAN_AHEAD] != 0 ? chosen[SCAN_AHEAD]
               : free && p->stages > 1 ? usual[SCAN_AHEAD]
                                       : 1;
    p->draw = chosen[SCAN_DRAW] != 0 ? chosen[SCAN_DRAW] : free ? usual[SCAN_DRAW] : 1;
    if (p->ahead > 1) /* the plan names a number that is not 1 */
        chosen[SCAN_AHEAD] = p->ahead;
    if (p->draw > 1)
        chosen[SCAN_DRAW] = p->draw;
}

static void fit_persistent(fitter *f) {
    scan_plan *p = &f->plan;
    int *chosen = p->schedule.number;
    const int pack = 16 / (int)f->stored;
    if (chosen[SCAN_RUN] != 0)
        refuse(f, "run is a number of runs; leave it out");
    if (chosen[SCAN_ITEMS] % pack != 0)
        refuse(f, job_print(f->job,
                            "elements are read in packs of %d, so items must be a multiple of "
                            "that, not %d",
                            pack, chosen[SCAN_ITEMS]));
    choose_persistent(f);
    if (p->ahead > p->stages)
        refuse(f, "a block that is two tiles ahead has both in shared memory, so stages must be at "
                  "least 2");
    const gpu *t = f->gpu;
    if (p->blocks * p->threads > t->threads_per_multiprocessor)
        refuse(f, job_print(f->job,
                            "a multiprocessor of %s runs at most %d threads, not %d blocks of %d",
                            t->arch, t->threads_per_multiprocessor, p->blocks, p->threads));
    if (p->blocks > 1 && (size_t)p->blocks * (p->shared_bytes + SYSTEM_SHARED) >
                             (size_t)t->shared_per_multiprocessor)
        refuse(f, job_print(f->job,
                            "a multiprocessor of %s has %d bytes of shared memory, which are not "
                            "enough for %d blocks of %zu",
                            t->arch, t->shared_per_multiprocessor, p->blocks, p->shared_bytes));
}

static void fit_others(fitter *f) {
    scan_plan *p = &f->plan;
    int *chosen = p->schedule.number;
    for (int i = SCAN_STAGES; i < SCAN_NUMBERS; i++)
        if (chosen[i] != 0)
            refuse(f, job_print(f->job, "%s is a number of %s; leave it out", numbers[i].name,
                                i == SCAN_RUN ? "runs" : "persistent"));
    chosen[SCAN_THREADS] = pattern_or(chosen[SCAN_THREADS], 256);
    p->threads = chosen[SCAN_THREADS];
    chosen[SCAN_ITEMS] = pattern_or(
        chosen[SCAN_ITEMS], default_items((scan_algorithm)p->schedule.algorithm, f->element));
    p->items = chosen[SCAN_ITEMS];
    if (p->schedule.algorithm == SCAN_BRENT_KUNG) {
        p->runs = 2;
        if (p->items % 2 != 0)
            refuse(f, job_print(f->job,
                                "a thread has two runs of elements, so items must be even, not %d",
                                p->items));
    }
    p->shared_bytes = shared_bytes(p, f->element, f->stored);
}

/* A tile stays in the core's cache until it has been scanned, and cores have several. It is a
   little shorter than a power of two: the runs of a tile, which are read side by side, would else
   compete for the same few sets of the caches. */
static void fit_runs(fitter *f) {
    enum { TILES_A_CORE = 8, LEAST = 1 << 14, MOST = 1 << 18 }; /* bytes of a tile */
    int *chosen = f->plan.schedule.number;
    for (int i = 0; i < SCAN_NUMBERS; i++)
        if (chosen[i] != 0 && i != SCAN_RUN)
            refuse(f, job_print(f->job,
                                "a block is one thread with tiles of run elements; leave "
                                "out %s",
                                numbers[i].name));
    const int64_t element = (int64_t)f->element;
    const int64_t wanted = f->count / (TILES_A_CORE * (int64_t)f->gpu->multiprocessors);
    const processor *of = f->gpu->processor;
    const double room = of != NULL && of->core_cache / 4 < MOST ? of->core_cache / 4 : MOST;
    int run = LEAST / (int)element;
    while (run < wanted && (double)(2 * run * element) <= room)
        run *= 2;
    if (run > 4 * UNIT)
        run -= UNIT;
    f->plan.run = chosen[SCAN_RUN] = pattern_or(chosen[SCAN_RUN], run);
    f->plan.threads = 1;
}

/* Persistent, wherever the items that are asked for are whole packs. On a processor runs,
   unless the schedule has what only others have. */
static int best_algorithm(const fitter *f) {
    bool runs = f->gpu->processor != NULL || f->plan.schedule.number[SCAN_RUN] != 0;
    for (int i = 0; i < SCAN_RUN; i++)
        runs = runs && f->plan.schedule.number[i] == 0;
    if (runs)
        return SCAN_RUNS;
    const int items = f->plan.schedule.number[SCAN_ITEMS];
    return items * (int)f->stored % 16 == 0 ? SCAN_PERSISTENT : SCAN_LOOK_BACK;
}

scan_plan scan_fit(job *j, const subject *subject, const family_request *r) {
    const dtype stored = pattern_storage(&((const scan *)subject->model)->pattern);
    fitter f = {.job = j,
                .subject = subject,
                .gpu = r->gpu,
                .element = dtype_words[subject->dtype].bytes,
                .stored = dtype_words[stored].bytes,
                .count = r->size[0],
                .plan = {.schedule = pattern_wanted(j, subject, r->schedule), .runs = 1}};
    scan_plan *p = &f.plan;
    p->asked = p->schedule.algorithm != SCAN_AUTO;
    if (!p->asked)
        p->schedule.algorithm = best_algorithm(&f);
    f.gpu = p->gpu = pattern_board(&scan_words, &p->schedule, r->gpu);
    const scan_algorithm algorithm = p->schedule.algorithm;
    if (dtype_is_narrow(stored) && algorithm != SCAN_PERSISTENT && algorithm != SCAN_LOOK_BACK &&
        algorithm != SCAN_RUNS)
        refuse(&f, "it keeps elements as they are, and half and bfloat16 are converted; "
                   "persistent, look-back and runs do so");
    if (p->schedule.algorithm == SCAN_PERSISTENT)
        fit_persistent(&f);
    else if (p->schedule.algorithm == SCAN_RUNS)
        fit_runs(&f);
    else
        fit_others(&f);
    if (p->shared_bytes > (size_t)f.gpu->shared_per_block)
        refuse(&f, job_print(j,
                             "%d threads with %d items need %zu bytes of shared memory, but a "
                             "block of %s has at most %d",
                             p->threads, p->items, p->shared_bytes, f.gpu->arch,
                             f.gpu->shared_per_block));
    return *p;
}

double scan_depth(const program *p, int64_t count) {
    const program_launch *l = &p->launches[0];
    const double threads = l->block[0], tile = l->per_block[0], items = tile / threads;
    const double tiles = (double)count / tile + 1;
    if (l->block[0] == 1) { /* runs.cu: a run by lanes, the runs, the chain of tiles, and a run */
        const double chains = 8, run = tile / chains, lanes = 2048 / (double)p->element_bytes;
        return pattern_parts(run, lanes) + pattern_log2(lanes) + 1 + (chains + 2) * tiles + 2 * run;
    }
    if (l->lists.resident) /* a tree of the tiles of a group, and the chain of groups */
        return 2 * items + 5 + threads / 32 + 5 + tiles / 32 + 8;
    if (p->launch_count == 1) /* items, lanes, warps, the chain of tiles, what precedes a thread */
        return 2 * items + 5 + threads / 32 + 2 * tiles + 8;
    /* A tile, at the longest up and down a tree; a tile of sums; and the chain of those. */
    return 2 * (items + 2 * pattern_log2(2 * threads)) + tiles / tile + 8;
}
