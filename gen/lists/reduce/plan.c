/* Schedules of reductions. Takes: a reduction, constraints and a GPU or processor. Makes: threads,
   items, blocks and memory, or the reason why there are none. */
#include "gen/lists/reduce/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const word_row algorithms[REDUCE_ALGORITHMS] = {
    [REDUCE_AUTO] = {"auto", "the fastest of the others: one-pass; on a processor runs"},
    [REDUCE_ONE_PASS] = {"one-pass", "one launch: the last block waits for the others' "
                                     "results and joins them; segments to warps or blocks"},
    [REDUCE_INTERLEAVED] = {"interleaved", "a block's tree in global memory, of neighbours at "
                                           "doubling strides: its threads diverge"},
    [REDUCE_COALESCED] = {"coalesced", "a block's tree in global memory at halving strides: its "
                                       "threads and accesses stay together"},
    [REDUCE_SHARED] = {"shared", "a block's tree in shared memory"},
    [REDUCE_COARSENED] = {"coarsened",
                          "several elements a thread before the tree in shared memory"},
    [REDUCE_RUNS] = {"runs", "for processors: a thread a block, a run of elements in plain loops "
                             "that compilers make vectors of"},
};
/* The work of the algorithms, as `explain` says it. */
static const char *const notes[REDUCE_ALGORITHMS] = {
    [REDUCE_ONE_PASS] = "N - 1 operations, all but a few for each thread without barriers; "
                        "every element is read once, a partial result a block",
    [REDUCE_INTERLEAVED] = "N - 1 operations in log2 N steps of a barrier each for a block of "
                           "N; all its warps stay busy until a warp has 1 lane at work; about "
                           "3 N accesses to global memory",
    [REDUCE_COALESCED] = "N - 1 operations in log2 N steps of a barrier each for a block of "
                         "N; half of its warps drop out at each step; about 3 N accesses to "
                         "global memory",
    [REDUCE_SHARED] = "N - 1 operations in log2 N steps of a barrier each for a block of N; "
                      "N + 1 accesses to global memory",
    [REDUCE_COARSENED] = "N - 1 operations for a block of N, of which all but threads - 1 "
                         "without barriers and with all lanes at work; N + 1 accesses to "
                         "global memory",
    [REDUCE_RUNS] = "N - 1 operations, in vectors, without barriers; every element is read once, "
                    "a partial result a block",
};
static const pattern_number numbers[] = {
    [REDUCE_THREADS] = {"threads", "threads a block", 32, 1024, 0},
    [REDUCE_ITEMS] = {"items", "elements that a thread takes at once", 1, 64, 1},
    [REDUCE_BLOCKS] = {"blocks", "one-pass, and runs of segments: blocks at most", 1, 65535, 1},
    [REDUCE_SHARE] = {"share", "one-pass: a block for so many elements a thread", 1, 1024, 1},
    [REDUCE_ALONE] = {"alone", "one-pass: elements that one block takes", 1, 1 << 24, 1},
    [REDUCE_CLUSTER] = {"cluster", "one-pass: blocks that meet in shared memory", 1, 8, 0},
    [REDUCE_RUN] = {"run", "runs: elements of a block", 1024, 1 << 24, 0},
};
const pattern_words reduce_words = {
    .algorithms = algorithms,
    .algorithm_count = REDUCE_ALGORITHMS,
    .numbers = numbers,
    .number_count = sizeof numbers / sizeof *numbers,
    .notes = notes,
    .serial = 1u << REDUCE_RUNS,
};

/* What tuning tries. */
static const space_group groups[] = {
    SPACE_GROUP(0, REDUCE_ONE_PASS, SPACE_LINE(REDUCE_THREADS, 128, 256, 512, 1024),
                {REDUCE_ITEMS, BY_PACK, {1, 2, 4, 8}},
                {REDUCE_BLOCKS, BY_PROCESSOR, {SPACE_OWN, 1, 2, 3, 4, 6, 8}},
                {REDUCE_ALONE, BY_TILE, {SPACE_OWN, 1, 4}},
                {REDUCE_SHARE, BY_HALF, {SPACE_OWN, 2, 4}},
                SPACE_LINE(REDUCE_CLUSTER, SPACE_OWN, 4, 8)),
    SPACE_GROUP(0, REDUCE_COARSENED, SPACE_LINE(REDUCE_THREADS, 128, 256, 512, 1024),
                SPACE_LINE(REDUCE_ITEMS, 4, 8, 16, 32)),
    SPACE_GROUP(0, REDUCE_SHARED, SPACE_LINE(REDUCE_THREADS, 128, 256, 512, 1024)),
    SPACE_GROUP(0, REDUCE_COALESCED, SPACE_LINE(REDUCE_THREADS, 256, 1024)),
    SPACE_GROUP(0, REDUCE_INTERLEAVED, SPACE_LINE(REDUCE_THREADS, 256, 1024)),
    SPACE_GROUP(0, REDUCE_RUNS,
                SPACE_LINE(REDUCE_RUN, SPACE_OWN, 4096, 1 << 14, 1 << 16, 1 << 18, 1 << 20),
                {REDUCE_BLOCKS, BY_PROCESSOR, {SPACE_OWN, 4, 16, 256}}),
};
const space_table reduce_space = {groups, sizeof groups / sizeof *groups};

typedef struct fitter {
    job *job;
    const subject *subject;
    const reduce *reduce;
    const gpu *gpu;
    int64_t count; /* elements that are planned for */
    reduce_plan plan;
} fitter;

static noreturn void refuse(const fitter *f, const char *why) {
    pattern_refuse(f->job, f->subject, &f->plan.schedule, "%s", why);
}

/* The number of blocks for a count that is known only at launch. Several blocks cost the time from
   a block's last element until another block has seen its result, about 0.45 µs on an H100; one
   block takes longer to load. So one block takes as many elements as it can have in flight at once;
   the same again in one more round takes as long. Of more elements each thread has a pack or two,
   `share`, which take no longer to arrive than one does; instead there are more blocks to wait for.
   This is as measured. Where the order counts, a warp takes its elements by the items of all
   lanes. */
static void fit_blocks(fitter *f, int share) {
    int *chosen = f->plan.schedule.number;
    const int pack = 16 / (int)dtype_words[f->subject->dtype].bytes;
    const int items = chosen[REDUCE_ITEMS];
    const int few = items < share * pack ? items : share * pack;
    if (f->reduce->segmented &&
        (chosen[REDUCE_SHARE] != 0 || chosen[REDUCE_ALONE] != 0 || chosen[REDUCE_CLUSTER] != 0))
        refuse(f, "segments say how many blocks there are; leave out share, alone and cluster");
    const int cluster = f->plan.cluster;
    if (cluster > 1 && atoi(f->gpu->arch + strlen("sm_")) < 90)
        refuse(f, job_print(f->job, "clusters of blocks need sm_90 or newer, and this is %s",
                            f->gpu->arch));
    if (chosen[REDUCE_BLOCKS] % cluster != 0)
        refuse(f, job_print(f->job, "blocks must be a multiple of cluster=%d, not %d", cluster,
                            chosen[REDUCE_BLOCKS]));
    chosen[REDUCE_SHARE] =
        pattern_or(chosen[REDUCE_SHARE], operator_commutes(&f->reduce->op) ? few : items);
    chosen[REDUCE_ALONE] =
        pattern_or(chosen[REDUCE_ALONE], cluster * chosen[REDUCE_THREADS] * items);
    if (f->reduce->segmented)
        chosen[REDUCE_SHARE] = chosen[REDUCE_ALONE] = 0;
}

/* As many blocks a multiprocessor as there are for it, if registers are shared out so. It may have
   room for fewer blocks of this many threads. */
static int fit_resident(const fitter *f) {
    const int *chosen = f->plan.schedule.number;
    const int room = f->gpu->threads_per_multiprocessor / chosen[REDUCE_THREADS];
    const int wanted = (chosen[REDUCE_BLOCKS] - 1) / f->gpu->multiprocessors + 1;
    const int most =
        room < f->gpu->blocks_per_multiprocessor ? room : f->gpu->blocks_per_multiprocessor;
    return wanted < most ? wanted : most > 0 ? most : 1;
}

/* What is left out, by sweeps of sums of bench/reduce.schedules on an H100: threads; packs of 16
   bytes that a thread has in flight at once; packs that it has at least where there are several
   blocks; blocks a multiprocessor. Lists that one block takes at once are fastest with few threads,
   whose tree is short. Longer lists that lie in the L2 are spread over all multiprocessors, by
   small blocks whose trees are short too: of 2^16 elements 128 threads took 1.48 to 1.76 µs, 256
   took 1.52 to 2.01 and 512 took 1.77 to 2.47 (int32 to double). Lists from memory have as many
   bytes in flight as registers allow, and very long lists have the fewest blocks. Items with places
   and pairs of inputs need twice the registers. */
typedef struct choice {
    int threads, packs, share, blocks;
} choice;

static choice choose(const fitter *f) {
    static const int64_t kilobyte = 1024, megabyte = 1024 * 1024;
    const reduce *r = f->reduce;
    const bool wide = r->places || r->inputs == 2;
    const int64_t element = (int64_t)dtype_words[f->subject->dtype].bytes;
    const int64_t bytes = f->count * element * r->inputs;
    const bool is_short = element == 4;
    const int share = is_short ? 1 : 2;
    if (r->segmented)
        return (choice){256, wide ? 2 : 4, share, 8};
    if (!operator_commutes(&r->op))
        return (choice){256, wide ? 2 : 4, share, 4};
    if (bytes <= 16 * kilobyte && is_short)
        return (choice){256, wide ? 2 : 4, share, 4};
    if (bytes > 512 * megabyte)
        return (choice){1024, wide ? 2 : is_short ? 4 : 8, share, 1};
    if (!wide && bytes > 32 * kilobyte && bytes <= (is_short ? 1 : 2) * megabyte) {
        if (bytes <= 64 * kilobyte && !is_short) /* by one block */
            return (choice){512, 8, share, 2};
        if (bytes <= 96 * kilobyte && is_short)
            return (choice){256, 4, 2, 1};
        if (bytes <= 768 * kilobyte)
            return (choice){128, is_short ? 4 : 8, share, 1};
        return (choice){256, is_short ? 2 : 4, share, 1};
    }
    if (bytes > 32 * kilobyte && bytes <= 16 * megabyte && is_short)
        return (choice){512, 2, share, 2};
    return (choice){512, wide ? 2 : 4, share, 2};
}

static void fit_one_pass(fitter *f) {
    int *chosen = f->plan.schedule.number;
    if (chosen[REDUCE_RUN] != 0)
        refuse(f, "run is a number of runs; leave it out");
    const int pack = 16 / (int)dtype_words[f->subject->dtype].bytes;
    const choice best = choose(f);
    chosen[REDUCE_THREADS] = pattern_or(chosen[REDUCE_THREADS], best.threads);
    chosen[REDUCE_ITEMS] = pattern_or(chosen[REDUCE_ITEMS], best.packs * pack);
    if (chosen[REDUCE_ITEMS] % pack != 0)
        refuse(f, job_print(f->job,
                            "elements are read in packs of %d, so items must be a multiple of "
                            "that, not %d",
                            pack, chosen[REDUCE_ITEMS]));
    f->plan.cluster = chosen[REDUCE_CLUSTER] > 1 ? chosen[REDUCE_CLUSTER] : 1;
    if (chosen[REDUCE_BLOCKS] == 0) {
        const int cluster = f->plan.cluster;
        const int threads = best.blocks * best.threads, own = chosen[REDUCE_THREADS];
        const int all = f->gpu->multiprocessors * (own < threads ? threads / own : 1);
        chosen[REDUCE_BLOCKS] = all < cluster ? cluster : all / cluster * cluster;
    }
    const size_t warps = (size_t)chosen[REDUCE_THREADS] / 32;
    fit_blocks(f, best.share);
    f->plan.shared_bytes = warps * f->plan.item_bytes;
    if (!f->reduce->segmented)
        f->plan.shared_bytes = ((warps * f->plan.item_bytes + 7) / 8 * 8 + 8 +
                                (f->plan.item_bytes > 8 ? 16 : 8) * (size_t)f->plan.cluster + 15) /
                               16 * 16;
    f->plan.resident = fit_resident(f);
}

static void fit_textbook(fitter *f) {
    const reduce *r = f->reduce;
    const reduce_algorithm algorithm = (reduce_algorithm)f->plan.schedule.algorithm;
    int *chosen = f->plan.schedule.number;
    if (r->segmented)
        refuse(f, "segments are reduced by one-pass and runs alone");
    if (algorithm == REDUCE_COALESCED && !operator_commutes(&r->op))
        refuse(f, "it changes the order of the elements, so the operator must commute; if op(a, b) "
                  "= op(b, a), say commutative = true, else use interleaved or shared");
    if (chosen[REDUCE_BLOCKS] != 0 || chosen[REDUCE_SHARE] != 0 || chosen[REDUCE_ALONE] != 0 ||
        chosen[REDUCE_CLUSTER] != 0 || chosen[REDUCE_RUN] != 0)
        refuse(f, "the length says how many blocks there are; leave out blocks, share, alone, "
                  "cluster and run");
    chosen[REDUCE_THREADS] = pattern_or(chosen[REDUCE_THREADS], 256);
    chosen[REDUCE_ITEMS] = pattern_or(chosen[REDUCE_ITEMS], algorithm == REDUCE_COARSENED ? 8 : 2);
    if (algorithm != REDUCE_COARSENED && chosen[REDUCE_ITEMS] != 2)
        refuse(f, job_print(f->job, "a thread takes 2 elements, not %d; coarsened takes more",
                            chosen[REDUCE_ITEMS]));
    const bool global = algorithm == REDUCE_INTERLEAVED || algorithm == REDUCE_COALESCED;
    const int threads = chosen[REDUCE_THREADS];
    f->plan.pitch = global ? threads : 1;
    f->plan.shared_bytes = global ? 0 : (size_t)threads * f->plan.item_bytes;
}

/* Cores take runs in turn: so many a core even out what delays one of them, and a run is long
   enough for its start not to count. */
static int usual_run(const fitter *f) {
    enum { RUNS_A_CORE = 16, LEAST = 1 << 14, MOST = 1 << 18 }; /* bytes of a run */
    const int64_t element = (int64_t)dtype_words[f->subject->dtype].bytes;
    const int64_t wanted = f->count / (RUNS_A_CORE * (int64_t)f->gpu->multiprocessors);
    int run = LEAST / (int)element;
    while (run < wanted && run * element < MOST)
        run *= 2;
    return run;
}

static void fit_runs(fitter *f) {
    enum { SHARES_A_CORE = 64 }; /* of segments, which may be of any lengths */
    int *chosen = f->plan.schedule.number;
    const bool segmented = f->reduce->segmented;
    const int own = segmented ? REDUCE_BLOCKS : REDUCE_RUN;
    for (int i = 0; i < reduce_words.number_count; i++)
        if (chosen[i] != 0 && i != own)
            refuse(f, job_print(f->job, "a block is one thread%s; leave out %s",
                                segmented ? " that takes whole segments" : " with a run",
                                numbers[i].name));
    if (segmented) {
        const int usual = SHARES_A_CORE * f->gpu->multiprocessors, most = numbers[own].most;
        chosen[own] = pattern_or(chosen[own], usual < most ? usual : most);
    } else {
        chosen[own] = pattern_or(chosen[own], usual_run(f));
    }
    f->plan.run = chosen[REDUCE_RUN];
}

/* On a processor runs, unless the schedule has what only others have. */
static int best_algorithm(const fitter *f) {
    const int *given = f->plan.schedule.number;
    bool runs = f->gpu->processor != NULL || given[REDUCE_RUN] != 0;
    for (int i = 0; i < reduce_words.number_count; i++)
        runs = runs && (given[i] == 0 || i == (f->reduce->segmented ? REDUCE_BLOCKS : REDUCE_RUN));
    return runs ? REDUCE_RUNS : REDUCE_ONE_PASS;
}

reduce_plan reduce_fit(job *j, const subject *subject, const family_request *request) {
    const reduce *r = subject->model;
    fitter f = {
        .job = j, .subject = subject, .reduce = r, .gpu = request->gpu, .count = request->size[0]};
    reduce_plan *p = &f.plan;
    p->schedule = pattern_wanted(j, subject, request->schedule);
    p->asked = p->schedule.algorithm != REDUCE_AUTO;
    if (!p->asked)
        p->schedule.algorithm = best_algorithm(&f);
    f.gpu = p->gpu = pattern_board(&reduce_words, &p->schedule, request->gpu);
    p->item_bytes = r->places ? 16 : dtype_words[subject->dtype].bytes;
    if (p->schedule.algorithm == REDUCE_ONE_PASS)
        fit_one_pass(&f);
    else if (p->schedule.algorithm == REDUCE_RUNS)
        fit_runs(&f);
    else
        fit_textbook(&f);
    p->threads = pattern_or(p->schedule.number[REDUCE_THREADS], 1);
    p->items = p->schedule.number[REDUCE_ITEMS];
    p->blocks = p->schedule.number[REDUCE_BLOCKS];
    p->share = p->schedule.number[REDUCE_SHARE];
    p->alone = p->schedule.number[REDUCE_ALONE];
    return *p;
}

/* ---- depth --------------------------------------------------------------------------------- */

/* Of n elements that a thread joins: rows of lanes, and the halves of the lanes; or few, one after
   the other. lanes.cuh has their numbers. */
static double runs_depth(const program *p, double n) {
    const double lanes = 2048 / (double)p->element_bytes, few = 32;
    return fmin(n, few) + pattern_parts(n, lanes) + pattern_log2(fmin(n, lanes)) + 1;
}

/* Elements of a thread one after another, then the tree of a block, then the tree of the blocks. In
   one-pass a thread has `pack` sums of its packs, the elements at the ends, and a tree of those. A
   block has a tree of the lanes and one of the warps, at most 5 steps each. Of the blocks' results
   a lane of one warp takes some, at most 4, or a thread takes all, before trees of those. */
double reduce_depth(const reduce *r, const program *p, int64_t count, int64_t length) {
    const program_launch *l = &p->launches[0];
    const double threads = l->block[0], tile = l->per_block[0],
                 pack = 16.0 / (double)p->element_bytes;
    const double block = 10, all = (double)count;
    if (l->block[0] == 1)
        return runs_depth(p, r->segmented ? (double)length : tile) +
               (r->segmented ? 0 : runs_depth(p, pattern_parts(all, tile)));
    if (p->launch_count == 2) {
        const double blocks = pattern_parts(all, tile);
        return tile / threads + pattern_log2(threads) + pattern_parts(blocks, threads) + block + 2;
    }
    if (r->segmented) /* a warp at least */
        return pattern_parts((double)length / pack, 32) + 1 + pattern_log2(pack) + block + 2;
    /* one block of a cluster takes alone what it can have in flight at once */
    const double blocks =
        l->lists.blocks[0].cluster > 1 && all <= tile ? 1 : (double)program_blocks(l, 0, &count);
    return pattern_parts(all / pack, blocks * threads) + 1 + pattern_log2(pack) + block + 2 +
           fmin(pattern_parts(blocks, 32), 4) + pattern_parts(blocks, threads) + block + 1;
}
