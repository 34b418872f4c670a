/* resident: many steps in one launch. Each block keeps its tile in shared memory, and blocks
   exchange halos. This file has a block's box, its columns of points, and what they cost
   (docs/architecture.md explains each term). */
#include "gen/stencil/search.h"

#include <math.h>

enum {
    LEAST_WALK = 2, /* points of a column, which share the rows between them */
    MOST_WALK = 8,
    HELD_CELLS = 8,    /* of a thread's halo: templates/halo.cuh */
    FEW_THREADS = 768, /* more columns are taken only where they would be longer than that */
};

/* Fields whose previous level changes, too. */
static int count_seconds(const model *m) {
    return fused_seconds(m, m->output_count);
}

static int quotient_up(int n, int by) {
    return (n + by - 1) / by;
}

/* The columns of a box: whole rows along x, else what steps can make. */
static int count_columns(const plan *p, int walk) {
    const int *halo = p->fused.round_halo;
    const int height = p->tile[1] + 2 * halo[1] - p->low[1] - p->high[1];
    const int depth = p->tile[2] + 2 * halo[2] - p->low[2] - p->high[2];
    return (p->tile[0] + 2 * halo[0]) * height * quotient_up(depth, walk);
}

/* A thread makes a column, and columns are as short as there are threads for; else each thread
   makes several. */
static void lay_columns(plan *p) {
    const model *m = p->facts->model;
    const int words = plan_words(p);
    const int taps = p->facts->all_taps < 40 ? p->facts->all_taps : 40;
    const int need = 48 + words * (taps + 2 * LEAST_WALK) * m->output_count;
    p->estimate.registers = need < 128 ? need : 128;
    int most = REGISTERS_PER_MULTIPROCESSOR / p->estimate.registers / WARP * WARP;
    most = most < MAX_THREADS ? most : MAX_THREADS;
    p->walk = LEAST_WALK;
    while (p->walk < MOST_WALK &&
           count_columns(p, p->walk) > (most < FEW_THREADS ? most : FEW_THREADS))
        p->walk++;
    const int columns = count_columns(p, p->walk);
    p->block[0] = quotient_up(quotient_up(columns, quotient_up(columns, most)), WARP) * WARP;
}

static const char *fit(job *j, plan *p) {
    const model *m = p->facts->model;
    /* columns at a box's ends read a little before and behind it */
    const int64_t elements = fused_lay_boxes(p) + p->low[0] + p->high[0];
    const int64_t bytes = elements * (int64_t)dtype_words[m->dtype].bytes;
    const char *refusal = plan_take_shared(j, p, bytes);
    if (refusal != NULL)
        return refusal;
    lay_columns(p);
    p->blocks = plan_resident(p);
    return NULL;
}

/* ---- its cost -------------------------------------------------------------------------------- */

/* Loads a tap, as the points of a column share them; cycles of a warp's access to shared memory;
   instructions of a column in addition to its points; cycles of a step that do not depend on the
   number of warps, and of each instruction of a thread; seconds of an exchange, and of an element
   of the halo: held, or found anew each round where a thread has many, which takes longer beyond
   sides with images; how many times as long an element of doubles takes; seconds from one launch to
   the next. The first two are of an H100 (256² and 64³, with and without their exchanges), the
   others were fitted to 249 figures of 57 grids on an H200. */
static const struct costs {
    double loads, access, column, step, instruction, exchange, element, found, found_images, wide,
        launch;
} costs = {0.75, 0.9, 13.5, 280, 1, 0.96e-6, 0.26e-9, 0.7e-9, 1.2e-9, 1.75, 3e-6};

static const double schedulers = 4;

/* What the steps of a round cost a block, in cycles. */
typedef struct round_work {
    double busy;         /* of a multiprocessor, which its blocks share */
    double latency;      /* of a block; other blocks may be busy meanwhile */
    double instructions; /* of all warps */
} round_work;

/* Columns with a cell that a step makes, where `left` steps follow in the round. */
static double touched(const plan *p, int left) {
    const int *halo = p->fused.round_halo;
    const double height = p->tile[1] + left * (double)(p->low[1] + p->high[1]);
    const double depth = p->tile[2] + left * (double)(p->low[2] + p->high[2]);
    const int deepest = p->tile[2] + 2 * halo[2] - p->low[2] - p->high[2];
    const double most = ceil((double)deepest / p->walk), mean = (depth - 1) / p->walk + 1;
    return (p->tile[0] + 2.0 * halo[0]) * height * (mean < most ? mean : most);
}

static round_work make_round(const plan *p) {
    const model *m = p->facts->model;
    const expr_count c = p->facts->inside;
    const double words = plan_words(p);
    const double more = c.additions > c.multiplications ? c.additions : c.multiplications;
    const double operations = (more + 1) * words + calls_slots(p, 1);
    const double accesses = p->facts->all_taps * costs.loads + m->output_count;
    const double each = p->walk * (operations + accesses) + costs.column;
    round_work w = {0};
    for (int left = 0; left < p->schedule.time; left++) {
        const double columns = touched(p, left), warps = columns / WARP;
        const double shared = warps * p->walk * accesses * words * costs.access;
        const double issued = warps * each / schedulers;
        w.busy += shared > issued ? shared : issued;
        w.latency += costs.step + ceil(columns / plan_threads(p)) * each * costs.instruction;
        w.instructions += warps * each;
    }
    return w;
}

/* Of an element of a halo of so many. */
static double element_seconds(const plan *p, double halo) {
    const model *m = p->facts->model;
    const bool held = halo <= HELD_CELLS * plan_threads(p);
    const double found = fused_has_images(m) ? costs.found_images : costs.found;
    return (held ? costs.element : found) * (plan_words(p) > 1 ? costs.wide : 1);
}

/* How many times as long steps take in 3D: 16 figures of an H200. */
static double in_volumes(const plan *p) {
    static const double one = 1.15, several = 1.8, doubles = 1.2; /* arrays */
    return p->array_count == 1 ? one : plan_words(p) > 1 ? doubles : several;
}

/* Where not all blocks are resident, each round is a launch of its own, which loads and stores the
   tiles. */
static void cost(plan *p, const int64_t size[AXES]) {
    const gpu *t = p->gpu;
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    const double time = p->schedule.time;
    const double stored = (double)model_cell_bytes(m);
    double box = 1, tile = 1, points = 1, blocks = 1;
    for (int k = 0; k < AXES; k++) {
        const double extent = p->axes[k] < 0 ? 1 : (double)size[p->axes[k]];
        box *= p->tile[k] + 2 * p->fused.round_halo[k];
        tile *= p->tile[k];
        points *= extent;
        blocks *= ceil(extent / p->per_block[k]);
    }
    e->blocks_resident = plan_resident(p);
    const double wave = (double)t->multiprocessors * e->blocks_resident;
    const double share = ceil(blocks / t->multiprocessors);
    const round_work w = make_round(p);
    const bool together = blocks <= wave;
    /* A coefficient field of 2048x2048 takes 17.7 µs a step on an H200, Gray-Scott 19.6: 1.9 and
       1.3 times what the terms say. 50 more in 2D: floats 1.55 times, doubles 1.25. */
    static const double rounds_apart = 1.55, doubles = 1.25;
    const double apart = plan_words(p) > 1 ? doubles : rounds_apart;
    const double cycles = (share * w.busy + ceil(blocks / wave) * w.latency) *
                          (together ? 1 : apart) * (m->dims == 3 ? in_volumes(p) : 1);
    const double staged =
        blocks * p->array_count * box + points * (m->output_count + count_seconds(m));
    const double halo = box - tile, element = element_seconds(p, halo);
    e->seconds =
        cycles / t->clock +
        (together ? costs.exchange + share * (m->output_count + count_seconds(m)) * halo * element
                  : costs.launch + staged * stored / gpu_copy_rate(t));
    e->bytes_per_point = together ? 0 : staged * stored / (points * time);
    e->loads_per_point = e->bytes_per_point / stored;
    e->shared_per_point = (p->facts->all_taps * costs.loads + m->output_count) * box / tile;
    e->instructions_per_point = w.instructions * WARP * blocks / (points * time);
    e->bound = share * w.busy / t->clock > e->seconds / 2 ? "instructions" : "waiting for others";
}

/* ---- the method ------------------------------------------------------------------------------ */

static void constants(text *t, const plan *p) {
    const plan_facts *f = p->facts;
    const int seconds = count_seconds(f->model);
    fused_write_round(t, p);
    text_printf(t,
                "    static constexpr int walk = %d, words = %d; // words: the last grid\n"
                "    static constexpr int messages = %d; // of a cell\n"
                "    static constexpr bool star = %s; // every tap lies on an axis\n",
                p->walk, model_grids(f->model, f->model->field_count) + seconds,
                f->model->output_count + seconds,
                f->column_or_plane && !f->corners ? "true" : "false");
}

static const form form_resident = {.file = "resident.cu",
                                   .barriers = true,
                                   .places = true,
                                   .narrow = true,
                                   .points = true,
                                   .positions = true,
                                   .cooperative = true,
                                   .fit = fit,
                                   .cost = cost,
                                   .constants = constants,
                                   .definitions = fused_write_levels,
                                   .fewer = fused_fewer_by_halves};

/* Columns lie along the last axis. */
static int last(int dims) {
    return dims == 2 ? 1 : -1;
}

/* Whether boxes hold the current level, and the previous one is read at its own point, if at all.
 */
static bool is_wave(const model *m, int field) {
    const int newest = model_array_of(m, field, false), before = model_array_of(m, field, true);
    bool reaches = false;
    for (int axis = 0; axis < AXES && before >= 0 && m->arrays[before].used; axis++)
        reaches |= m->arrays[before].low[axis] > 0 || m->arrays[before].high[axis] > 0;
    return newest >= 0 && m->arrays[newest].used && !reaches;
}

static const char *refuse(job *j, const plan_facts *f, const schedule *s) {
    (void)j, (void)s;
    const model *m = f->model;
    for (int o = 0; o < m->output_count; o++) {
        const int field = m->outputs[o].field;
        if (m->fields[field].levels > 1 && !is_wave(m, field))
            return "of a field with two levels a step reads the current one, and of the previous "
                   "one its own point alone";
    }
    if (count_seconds(m) > 0 && model_is_narrow(m))
        return "it makes steps of two levels in float and double";
    return fused_refuse(m);
}

/* Tiles that give every multiprocessor about one block, and some others. */
static void candidates(search *s) {
    static const int tiles[AXES][8][AXES] = {
        {{256}, {512}, {1024}, {2048}, {4096}},
        {{32, 8}, {32, 16}, {64, 8}, {32, 32}, {64, 16}, {64, 32}, {64, 64}},
        {{16, 8, 8}, {16, 16, 8}, {32, 8, 8}, {16, 16, 16}, {32, 16, 8}, {32, 16, 16}}};
    static const int times[] = {2, 3, 4, 6, 8, 12, 16, 0};
    const int dims = s->facts->model->dims;
    for (int i = 0; i < 8 && tiles[dims - 1][i][0] != 0; i++)
        for (int t = 0; times[t] != 0; t++) {
            schedule c = *s->wanted;
            c.time = search_given(c.time, times[t]);
            c.vector = search_given(c.vector, 1);
            for (int axis = 0; axis < dims; axis++)
                c.tile[axis] = search_given(c.tile[axis], tiles[dims - 1][i][axis]);
            if (search_is_useful(s, c.time))
                search_fused(s, c);
        }
}

const method method_resident = {
    .name = "resident",
    .summary = "many steps in one launch: each block keeps its tile in shared memory and exchanges "
               "halos",
    .keys = SCHEDULE_TIME,
    .fused = true,
    .textbook_tile = 32,
    .last = last,
    .refuse = refuse,
    .only = &form_resident,
    .candidates = candidates,
};
