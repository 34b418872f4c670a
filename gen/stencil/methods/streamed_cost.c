/* What a launch of the method streamed costs: memory, instructions and waiting. Takes: a plan.
   Makes: its estimate. docs/architecture.md explains the terms. */
#include "gen/stencil/methods/streamed.h"

#include <math.h>

/* Instructions of a thread before its first plane, for each plane, and for a pack and an element
   loaded. Cycles that a step along the walk waits for the second-level cache: at least, and for
   each load. The share by which a walk of twice the planes is slower, because blocks drift apart,
   in 2D and for each plane that lies between a load in 3D and what neighbours read of it. What of
   the planes that blocks share is lost. How much of a wave a grid's first and last blocks cost. The
   exponent that joins the times, and that of the two memories. Fitted to 600 plans on an H100
   (bench/h100.sweeps, plans/h100.plans) and 33 on an H200; then, to 240 figures of small grids on
   an H200, what grids in the cache spare of a step's waiting and of what is fetched ahead. */
static const struct costs {
    double start, plane, pack, element;
    double wait, wait_load, drift_flat, drift, lost, ends;
    double overlap, memories;
    double begin_long; /* of memory, in planes: where long walks pay */
    double spilled;    /* instructions of a register that spills, of more than a few */
    double converted;  /* instructions of a number of 16 bits: 8 figures of half on an H200 ... */
    double converted_apart; /* ... and more where rows are no packs, ... */
    double plane_apart;     /* ... whose rows in 2D take this share (98 figures of half, H200) */
    double spared_wait, spared_ahead;
    double drift_ordered; /* where walks take turns */
} costs = {300, 45, 14,  2,  500, 37,   0.007, 0.0155, 0.004, 0.3,
           5,   7,  1.5, 20, 2.6, 0.38, 0.7,   0.375,  0.8,   0.065};

enum { FEW_SPILLED = 24 };

static const double lanes = 128, pairs = 0.5, sector_bytes = 32;

/* Whether the spare makes every point by itself (update_small in templates/stream.cuh): rows that
   are no packs are shorter than what a warp makes at once, or the grid is shorter than the shape.
 */
static bool makes_points(const plan *p, const int64_t size[AXES]) {
    const int together = p->block[0] % WARP == 0 ? WARP : p->block[0];
    return (plan_takes_spare(p, size) && size[0] < (int64_t)together * p->schedule.vector) ||
           !streamed_is_long(p, size);
}

/* Instructions of a point that is made by itself; each tap asks whether it lies outside. Taken from
   two measurements on an H200. */
static double point_instructions(const plan *p) {
    const double taps = p->facts->all_taps;
    return model_all_fixed(p->facts->model) ? 300 + 20 * taps : 600 + 120 * taps;
}

/* How many lanes there are for each that has points. Threads beyond the end of a row end at once,
   but not the lanes of a warp with others. */
static double idle_lanes(const plan *p, const int64_t size[AXES]) {
    const int64_t threads = p->block[0], all = (size[0] - 1) / p->schedule.vector + 1;
    const int64_t last = all % threads;
    int64_t used = all / threads * threads;
    if (threads % WARP == 0)
        used += (last + WARP - 1) / WARP * WARP;
    else if (last > 0)
        used += threads;
    const int block = plan_threads(p);
    return (double)used / (double)all * round_up(block, WARP) / block;
}

/* Instructions of a step that rows which are no packs take beyond those of packs: loads of single
   elements, more where a row of a block is shorter than a warp. Those of single updates were
   fitted, with costs.converted_apart, to 1175 figures of 132 grids on an H200; 16 other grids
   decided which terms were kept. What systems take is in kept_apart. */
static double elements_apart(const plan *p) {
    static const double single = 3.85, few_lanes = 0.28;
    const model *m = p->facts->model;
    const int threads = p->block[0];
    const bool is_single = !p->form->sums && !m->arranged;
    const double load = is_single && m->dtype != DTYPE_DOUBLE ? single : costs.element;
    const double lanes_apart =
        is_single && threads % WARP != 0 ? fmax(1, (double)WARP / threads) : 1;
    return load * (1 + few_lanes * (lanes_apart - 1)) * (p->streamed.packs + p->streamed.beside) *
           (p->schedule.vector - 1);
}

/* Of a step's numbers of 16 bits. In 2D, where rows are no packs, each point converts the cells
   next to it anew. */
static double converting(const plan *p, bool spare) {
    const plan_streamed *s = &p->streamed;
    const double number = costs.converted + (spare ? costs.converted_apart : 0);
    const int each = spare && p->axes[1] < 0 ? p->schedule.vector : 1;
    return number * (s->packs * p->schedule.vector + s->beside * each);
}

/* Of a thread's step along the walk. */
static double step_instructions(const plan *p, bool spare) {
    const plan_streamed *s = &p->streamed;
    const int most = REGISTERS_PER_MULTIPROCESSOR / round_up(plan_threads(p), WARP);
    const int spilled = larger(p->estimate.registers - most, 0);
    const bool narrow = model_is_narrow(p->facts->model);
    const double converted = narrow ? converting(p, spare) : 0;
    const double plane = costs.plane * (narrow && spare && p->axes[1] < 0 ? costs.plane_apart : 1);
    return plane + costs.pack * s->packs + costs.element * s->beside +
           (spare ? elements_apart(p) : 0) + converted + 2 * spilled +
           costs.spilled * larger(spilled - FEW_SPILLED, 0);
}

/* Points of rows that are no packs lie apart, and share nothing. */
static int shared_pack(const plan *p, bool spare) {
    return spare ? 0 : call_pack(p->schedule.vector);
}

/* The share of sums and products that packs and steps made together leave, or steps that share.
   What they share is computed before a walk, which costs as much as a step: shallow water in float,
   H200, 550 µs with walks of 8 rows, 519 with 16, 510 with 32. */
static double shared_share(const plan *p, bool spare) {
    const plan_facts *f = p->facts;
    const int pack = shared_pack(p, spare),
              steps = p->streamed.together == 4 ? 2 : p->streamed.together - 1;
    const double apart = f->model->arranged ? f->shared[steps][pack] : 1;
    if (!p->streamed.carries)
        return apart;
    const double share = f->carried_operations[pack] / f->apart_operations[pack];
    return apart * (share + 1.0 / p->walk);
}

static double calls_carried(const plan *p, bool spare) {
    const expr_work w = p->facts->carried_calls[shared_pack(p, spare)];
    return w.units * lanes / p->gpu->fma_lanes[p->facts->model->dtype] + w.others;
}

static double count_calls(const plan *p, bool spare) {
    return p->streamed.carries
               ? calls_carried(p, spare)
               : calls_walked(p, spare ? 1 : p->schedule.vector, p->streamed.together);
}

static double count_instructions(const plan *p, bool spare) {
    const expr_count c = p->facts->inside;
    const double points = (double)p->schedule.vector * p->streamed.lane_y;
    const double arithmetic =
        p->form->sums ? p->facts->sum_operations
                      : shared_share(p, spare) * (c.additions + pairs * c.multiplications);
    const double walk = p->form->sums ? 1 + (p->low[2] + p->high[2]) / (double)p->walk : 1;
    return walk * arithmetic * lanes / p->gpu->fma_lanes[p->facts->model->dtype] +
           (p->form->sums ? 0 : count_calls(p, spare) + plan_selection_instructions(p)) +
           (costs.start / p->walk + walk * step_instructions(p, spare)) / points;
}

/* Elements that a block asks the second-level cache for, for each point it makes: its tile with the
   rows around it in each plane, the planes before and behind; and its own rows once more, as they
   are fetched ahead, though less of what the cache has. */
static double asked(const plan *p, double kept) {
    const double sector = sector_bytes / (double)model_cell_bytes(p->facts->model);
    double sum = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        const double x = a->low[0] + a->high[0] > 0 ? 1 + 2 * sector / p->tile[0] : 1;
        const double y = (a->low[1] + a->high[1]) / (double)p->tile[1];
        const double z = (a->low[2] + a->high[2]) / (double)p->walk;
        const double all = p->facts->column_or_plane ? 1 + y + z : (1 + y) * (1 + z);
        sum += x * all + (p->streamed.ahead > 0 ? (1 + z) * (1 - costs.spared_ahead * kept) : 0);
    }
    return sum;
}

/* What crosses device memory beyond each element once: halos that the second-level cache has lost.
 */
static double lost(const plan *p, const int64_t size[AXES]) {
    const double walk = p->walk;
    double sum = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        sum += costs.lost * (a->low[2] + a->high[2]) / walk;
        const double rows = streamed_slab(p) / ((double)size[0] * walk);
        if (rows < (double)size[1])
            sum += (a->low[1] + a->high[1]) / fmax(rows, p->tile[1]);
    }
    return sum;
}

/* How many times as long device memory takes since blocks drift apart. */
static double drift(const plan *p) {
    static const double begin = 8;         /* rows, where walks take turns */
    static const double long_walks = 1.09; /* H200, separable filters of 7x7 to 11x11 */
    const double least = p->axes[1] < 0 ? 4 : 6, walk = p->walk;
    if (streamed_ordered_wave(p) > 0)
        return 1 + costs.drift_ordered * fmax(1 - begin / walk, 0);
    if (streamed_walks_long(p->facts)) /* the same from 8 to 250 rows; short ones begin often */
        return long_walks + costs.begin_long / walk;
    const bool sums = p->form->sums; /* read a plane's rows at once */
    const double share = p->axes[1] < 0 ? costs.drift_flat : sums ? 0 : costs.drift * p->high[2];
    return walk > least ? 1 + share * log2(walk / least) : 1;
}

/* How many times as long walks take where blocks fill the machine unevenly, and where a scheduler
   has few warps. Blocks of less than a wave are as long as a scheduler with one warp more than
   others; of a last wave that is not full about half is lost, as those that are left run faster,
   and a little where all end. Fitted by hand to 125 figures of filters of 7x7, 11x11 and 15x15
   floats (4096², 8192², tiles of 128 to 512, walks of 4 to 128 rows). */
static double crowd(const plan *p, double blocks) {
    static const double last_wave = 0.55, ending = 0.08, few_warps = 1.2;
    const double machine = p->gpu->multiprocessors, a_block = ceil(plan_threads(p) / 32.0);
    /* The compiler gives each scheduler's warps as many registers as there are for all of them. */
    const double most = 4 * ceil(p->estimate.blocks_resident * a_block / 4);
    const double resident = machine * floor(most / a_block), waves = blocks / resident;
    const double warps = fmin(blocks, resident) * a_block / (4 * machine);
    const double uneven = waves <= 1
                              ? ceil(warps) / warps
                              : 1 + last_wave * (ceil(waves) / waves - 1) + ending / (waves + 1);
    return uneven * (1 + few_warps / (warps * warps));
}

/* Rows so short that a block or two make one. */
static bool has_short_rows(const int64_t size[AXES]) {
    enum { SHORT = 384 };
    return size[0] <= SHORT;
}

/* How many times as long where rows are short, for each row of a thread beyond its first: fitted to
   10 problems with 47 to 319 points along x on an H100 (90 plans). */
static double narrow_rows(const plan *p, const int64_t size[AXES]) {
    static const double each = 0.05;
    return has_short_rows(size) ? 1 + each * (p->streamed.lane_y - 1) : 1;
}

/* Single updates in 3D on grids in the cache, fitted to 154 random problems with 33 to 330 points
   along x on an H200 (783 plans). How many times as long short rows take that are no packs, of
   these packs of several points, which lie apart, and more than one row of a thread; what of a tile
   that has no points costs, and how much blocks that are twice or half as large as the best. How
   many times as long rows of packs take, and many rows of a thread, where less is fetched ahead
   than the instructions say. */
static const struct {
    double all, packs, rows, idle, turn, cached_packs, cached_rows;
} small = {1.1, 1.12, 0.94, 0.55, 0.02, 1.04, 0.88};

/* How much of that is true of a plan and a size; and of its rows, which are short and no packs. */
static double smallness(const plan *p, const int64_t size[AXES]) {
    return p->axes[1] >= 0 && !p->facts->model->arranged ? plan_in_cache(p, size) : 0;
}
static double oddness(const plan *p, const int64_t size[AXES]) {
    enum { PACK = 4 };
    const int pack = smaller(MAX_PACK_BYTES / (int)model_cell_bytes(p->facts->model), PACK);
    return has_short_rows(size) && size[0] % pack != 0 ? smallness(p, size) : 0;
}

static double between(double none, double all, double share) {
    return none + (all - none) * share;
}

static double small_volume(const plan *p, const int64_t size[AXES]) {
    enum { FEW = 2 };
    const double odd = oddness(p, size);
    const double apart = plan_takes_spare(p, size) && !p->form->sums ? small.packs : 1;
    const double rows = p->streamed.lane_y > 1 ? small.rows : 1;
    const double cached =
        (odd > 0 ? 1 : small.cached_packs) * (p->streamed.lane_y > FEW ? small.cached_rows : 1);
    return between(1, small.all * apart * rows, odd) * between(1, cached, smallness(p, size));
}

/* How many times as long where rows are no packs and the registers of as many blocks as were
   planned are too few for what lies next to each point: 25-point star, float, 511x511x67, H200: 151
   billion updates a second by packs of 4, and 213 by packs of 2; 17-point star of halves: 194 by 8,
   237 by 4. In 2D stars of 16 bits that reach two cells or more are so by packs of 8 whatever the
   estimate says: radius 2, 8191², 415 by 8 and 594 by 4; with two levels 317 and 481. */
static double starved(const plan *p, const int64_t size[AXES]) {
    enum { WIDE = 8 };
    static const double few = 0.2, each = 3; /* shares of those that there are */
    static const double wide = 1.3;
    if (plan_takes_spare(p, size) && p->schedule.vector == WIDE && p->axes[1] < 0 &&
        !p->form->sums && larger(p->low[0], p->high[0]) > 1)
        return wide;
    const int threads = round_up(plan_threads(p), WARP) * p->blocks;
    const double have = smaller(REGISTERS_PER_MULTIPROCESSOR / threads, MAX_REGISTERS);
    const double missing = p->streamed.spare_registers / have - 1;
    return plan_takes_spare(p, size) && plan_words(p) == 1 ? 1 + each * fmax(missing - few, 0) : 1;
}

/* How many times as long a system takes where rows are no packs and a thread's points have more to
   keep apart: what steps share, or a way of their own at the ends of x. 5001x7001, float, H200, by
   packs of 1, 2 and 4: shallow water 484, 625 and 938 µs, the cavity 392, 341 and 483; shallow
   water that divides quickly 853 and 751 by packs of 1 and 2 (8191²). Single updates have no more
   than that: Cahn-Hilliard 271, 234 and 199 (8191²), the acoustic wave with a sponge 413 and 354 by
   packs of 2 and 4. */
static double kept_apart(const plan *p, const int64_t size[AXES]) {
    static const double shared = 0.65, quick = 0.1, ends = 0.33; /* of a point beyond the first */
    const double each = !p->facts->model->arranged ? 0
                        : p->streamed.carries      ? (p->form->quick(p, false) ? quick : shared)
                        : p->facts->ends_of_x      ? ends
                                                   : 0;
    return plan_takes_spare(p, size) ? 1 + each * (p->schedule.vector - 1) : 1;
}

static double edges(const plan *p, const int64_t size[AXES]) {
    return p->facts->ends_of_x ? edges_of_x(p, size, streamed_ordered_wave(p) > 0 ? 0.5 : 0.3) : 1;
}

/* How many times as long as if there were no first and last blocks. Those of less than a wave are
   all at work at once. */
static double ends(const plan *p, double blocks) {
    const double waves = blocks / ((double)p->gpu->multiprocessors * p->estimate.blocks_resident);
    return 1 + costs.ends * fmin(waves, 1) / (waves + 1);
}

/* How many times as long calls and selections of few warps take. Where walks take turns, half of
   that shows in float, and a quarter in double: the cavity on an H100, 1116 µs with 8 warps of a
   multiprocessor, and 1123 with 12. */
static double calls(const plan *p) {
    static const double half = 0.5, quarter = 0.25; /* exponents */
    const double shown = p->facts->model->dtype == DTYPE_DOUBLE ? quarter : half;
    return pow(calls_waiting(p), streamed_ordered_wave(p) > 0 ? shown : 1);
}

/* How many times as long the widest packs of 16 bits take in 2D where rows begin anywhere and there
   are several arrays: three waves of order 2 and a coefficient field took 1.2 to 1.7 times as long
   as was thought (H200). */
static double wide_apart(const plan *p, const int64_t size[AXES]) {
    static const double longer = 1.3;
    const bool widest =
        model_is_narrow(p->facts->model) && p->schedule.vector * 2 == MAX_PACK_BYTES;
    return widest && p->axes[1] < 0 && p->array_count > 1 && plan_takes_spare(p, size) ? longer : 1;
}

/* The share of blocks of a wave that a size leaves without work; and how far a block's size is
   from the best. */
static double waste(const plan *p, const int64_t size[AXES]) {
    double covered;
    const double blocks = plan_blocks(p, size, &covered);
    const double odd = oddness(p, size);
    /* Threads without work end at once. */
    const double idle = 1 + between(0.2, small.idle, odd) * (covered - 1);
    const double turn = between(0.01, small.turn, odd);
    const bool goes_far = streamed_walks_long(p->facts);
    const double best = goes_far         ? 64
                        : p->axes[1] < 0 ? 128
                                         : 256,
                 turns = fabs(log2(plan_threads(p) / best));
    const double full = goes_far ? crowd(p, blocks) : ends(p, blocks);
    return idle * full * edges(p, size) * calls(p) * narrow_rows(p, size) * starved(p, size) *
           kept_apart(p, size) * small_volume(p, size) * wide_apart(p, size) * (1 + turn * turns);
}

/* Seconds a point if waiting alone counted. The warps of a scheduler take turns: each issues the
   instructions of a step, and waits for its loads. */
static double waiting(const plan *p, const int64_t size[AXES], double instructions) {
    double covered;
    const double most = (double)p->estimate.blocks_resident * p->gpu->multiprocessors;
    const double blocks = fmin(plan_blocks(p, size, &covered), most);
    const double warps = blocks * ceil(plan_threads(p) / 32.0);
    const double points = (double)p->schedule.vector * p->streamed.lane_y;
    const double wait = (1 - costs.spared_wait * plan_in_cache(p, size)) *
                        (costs.wait + costs.wait_load * (p->streamed.packs + p->streamed.beside));
    const double before = p->form->sums ? p->low[2] + p->high[2] : 1;
    const double cycles = instructions * points + wait * (1 + before / p->walk);
    return cycles / (warps * WARP * points) / p->gpu->clock;
}

/* Seconds a point if memory alone counted: that of the device, or the second-level cache, through
   which all of it passes. Whichever is busier takes nearly all of the time. */
static double moving(plan *p, const int64_t size[AXES]) {
    plan_estimate *e = &p->estimate;
    const double bytes = (double)model_cell_bytes(p->facts->model);
    e->bytes_per_point = model_bytes_per_point(p->facts->model) + bytes * lost(p, size);
    const double kept = plan_in_cache(p, size), stored = bytes * p->facts->model->output_count;
    const double filled = (1 - kept) * (e->bytes_per_point - stored);
    const double device = e->bytes_per_point * drift(p) / gpu_copy_rate(p->gpu) * (1 - kept);
    const double cache = (bytes * asked(p, kept) + stored + filled) / gpu_l2_rate(p->gpu);
    e->bound = device > cache ? "device memory" : "the second-level cache";
    return pow(pow(device, costs.memories) + pow(cache, costs.memories), 1 / costs.memories);
}

/* How many times as long instructions take where multiprocessors have blocks of unlike number, or
   none, beyond what `waste` says of it. */
static double uneven(const plan *p, const int64_t size[AXES]) {
    double covered;
    const double blocks = plan_blocks(p, size, &covered), each = blocks / p->gpu->multiprocessors;
    return fmax(1, ceil(each) / each / ends(p, blocks));
}

/* How many times as long moving takes there. The memory that all share does not wait for a few, but
   each multiprocessor has its own way to the second-level cache: 7 points, float, 160³, H200, 280
   blocks 9.23 µs, 540 blocks 8.29. */
static double uneven_ways(const plan *p, const int64_t size[AXES]) {
    static const double half = 0.5; /* an exponent */
    return pow(uneven(p, size), half * plan_in_cache(p, size));
}

/* Seconds of a block's walk, step by step, where nothing else is on the way: a launch of few
   blocks. The second wave's walks begin after the first's; more waves are not so strictly in turns.
 */
static double walking(const plan *p, const int64_t size[AXES]) {
    static const double step = 175, load = 28; /* cycles */
    if (makes_points(p, size))
        return edges_points(p, (double)p->schedule.vector * p->streamed.lane_y * p->walk);
    double covered;
    const double blocks = plan_blocks(p, size, &covered);
    const double waves = blocks / ((double)p->gpu->multiprocessors * p->estimate.blocks_resident);
    const double steps = p->walk + fmin(p->low[2] + p->high[2], 2);
    return fmin(ceil(waves), 2) * steps * (step + load * (p->streamed.packs + p->streamed.beside)) /
           p->gpu->clock;
}

void streamed_cost(plan *p, const int64_t size[AXES]) {
    const gpu *t = p->gpu;
    plan_estimate *e = &p->estimate;
    const double machine = t->clock * t->multiprocessors;
    const double points = (double)p->schedule.vector * p->streamed.lane_y;
    e->blocks_resident = p->blocks;
    e->loads_per_point = (p->streamed.packs * p->schedule.vector + p->streamed.beside) / points;
    e->shared_per_point = 0;
    e->instructions_per_point = makes_points(p, size)
                                    ? point_instructions(p)
                                    : count_instructions(p, plan_takes_spare(p, size));
    const double issued = e->instructions_per_point * idle_lanes(p, size);
    const double moves = moving(p, size) * uneven_ways(p, size),
                 issues = issued / (lanes * machine) * uneven(p, size);
    const double waits = waiting(p, size, issued);
    if (issues > moves && issues > waits)
        e->bound = "instructions";
    else if (waits > moves)
        e->bound = "waiting for memory";
    const double sum =
        pow(moves, costs.overlap) + pow(issues, costs.overlap) + pow(waits, costs.overlap);
    const double all = model_grid_points(p->facts->model, size);
    e->seconds = pow(sum, 1 / costs.overlap) * all * waste(p, size);
    const double walk = walking(p, size);
    if (walk > e->seconds)
        e->bound = "a block's walk";
    static const double both = 4; /* an exponent */
    e->seconds = pow(pow(e->seconds, both) + pow(walk, both), 1 / both) + PLAN_BEGIN_SECONDS;
}
