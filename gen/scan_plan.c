/* Schedules of scans. Takes: a scan, constraints and a target. Makes: threads, items and shared
   memory, or the reason why there are none. */
#include "gen/scan.h"

static const method_word algorithms[SCAN_ALGORITHMS] = {
    [SCAN_AUTO] = {"auto", "the fastest of the others: look-back"},
    [SCAN_LOOK_BACK] = {"look-back", "one pass: a tile adds up what those before it have published "
                                     "until one knows its prefix"},
    [SCAN_KOGGE_STONE] = {"kogge-stone", "tiles by adding at doubling distances; then the sums of "
                                         "tiles; then those are added"},
    [SCAN_DOUBLE_BUFFER] = {"double-buffer", "kogge-stone between two buffers that change places, "
                                             "with one barrier a step"},
    [SCAN_BRENT_KUNG] = {"brent-kung", "tiles by a tree of sums, up and down; then as kogge-stone"},
};
static const pattern_number numbers[] = {
    [SCAN_THREADS] = {"threads", "threads a block", 32, 1024, 0},
    [SCAN_ITEMS] = {"items", "elements a thread", 1, 32, 1},
};
const pattern_words scan_words = {algorithms, SCAN_ALGORITHMS, NULL, 0, numbers, 2};

/* Elements of a thread: odd, so that the threads of a warp meet different banks of shared memory;
   as the textbook has them in its own. */
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

static size_t shared_bytes(const scan_plan *p, size_t element) {
    const size_t threads = (size_t)p->threads, items = (size_t)p->items, runs = (size_t)p->runs;
    const size_t warps = threads / 32;
    size_t tile = runs < items ? threads * items * element : 0;
    switch ((scan_algorithm)p->schedule.algorithm) {
    case SCAN_LOOK_BACK: /* struct Shared of look_back.cu, its last members at multiples of 8 */
        tile = warps * (32 * items + (items % 2 == 0 ? items : 0)) * element;
        return (tile + (warps + 1) * element + 7) / 8 * 8 + 8;
    case SCAN_DOUBLE_BUFFER:
        return tile + 2 * threads * runs * element;
    default:
        return tile + threads * runs * element;
    }
}

scan_plan scan_fit(job *j, const subject *subject, const family_request *r) {
    const scan *s = subject->model;
    scan_plan p = {.schedule = s->pattern.wanted, .runs = 1};
    if (r->schedule != NULL)
        pattern_schedule_parse(j, &scan_words, r->schedule, "schedule", &p.schedule);
    p.asked = p.schedule.algorithm != SCAN_AUTO;
    if (!p.asked)
        p.schedule.algorithm = SCAN_LOOK_BACK;
    const scan_algorithm algorithm = (scan_algorithm)p.schedule.algorithm;
    const size_t element = dtype_words[subject->dtype].bytes;
    int *chosen = p.schedule.number;
    if (chosen[SCAN_THREADS] == 0)
        chosen[SCAN_THREADS] = 256;
    if (chosen[SCAN_ITEMS] == 0)
        chosen[SCAN_ITEMS] = default_items(algorithm, element);
    p.threads = chosen[SCAN_THREADS];
    p.items = chosen[SCAN_ITEMS];
    if (algorithm == SCAN_BRENT_KUNG) {
        p.runs = 2;
        if (p.items % 2 != 0)
            job_fail(j, FAULT_PLAN, subject->file, subject->line,
                     "algorithm brent-kung: a thread has two runs of elements, so items must be "
                     "even, not %d",
                     p.items);
    }
    p.shared_bytes = shared_bytes(&p, element);
    if (p.shared_bytes > (size_t)r->target->shared_per_block)
        job_fail(j, FAULT_PLAN, subject->file, subject->line,
                 "algorithm %s: %d threads with %d items need %zu bytes of shared memory, but a "
                 "block of %s has at most %d",
                 algorithms[algorithm].name, p.threads, p.items, p.shared_bytes, r->target->arch,
                 r->target->shared_per_block);
    return p;
}

static double log2_up(double n) {
    int steps = 0;
    for (; n > 1; n /= 2)
        steps++;
    return steps;
}

double scan_depth(const program *p, int64_t count) {
    const program_launch *l = &p->launches[0];
    const double threads = l->block[0], tile = l->per_block[0], items = tile / threads;
    const double tiles = (double)count / tile + 1;
    if (p->launch_count == 1) /* items, lanes, warps, the chain of tiles, what precedes a thread */
        return 2 * items + 5 + threads / 32 + 2 * tiles + 8;
    /* A tile, at the longest up and down a tree; a tile of sums; and the chain of those. */
    return 2 * (items + 2 * log2_up(2 * threads)) + tiles / tile + 8;
}
