/* temporal in 2D: the warps of a block are a pipeline of time, and rows go through shared memory
   from one warp to the next. */
#include "gen/stencil/methods/temporal.h"

#include <math.h>

enum {
    PIPELINE_ROWS = 2,  /* between two barriers, at most, of words */
    BULK_ROWS = 4,      /* the same where bulk copies bring and take them */
    PIPELINE_INPUT = 3, /* slots of so many rows that the first stage loads ahead */
    MAX_STAGES = 32,
    MBARRIER_BYTES = 8, /* a slot's */
    LONG_ROW = 25,      /* operations of a point from which on rows are taken one by one */
    MOST_WEIGHTS = 28,  /* doubles for which there are uniform registers */
};

/* Whether bulk copies bring rows and take them: of packs of 16 bytes, which cells are that
   arithmetic has as they are. */
static bool by_bulk(const plan *p) {
    const model *m = p->facts->model;
    return gpu_has_bulk(p->gpu) && model_storage(m, 0) == m->dtype &&
           p->schedule.vector * (int)dtype_words[m->dtype].bytes == MAX_PACK_BYTES;
}

/* Whether they also bring rows that begin anywhere, and what lies about them in packs: a row is
   then made up to a pack further on than it is taken, and what falls off its end must be halo. */
static bool is_shifted(const plan *p) {
    const int pack = MAX_PACK_BYTES / (int)dtype_words[p->facts->model->dtype].bytes;
    return by_bulk(p) && p->schedule.time * p->high[0] >= pack - 1;
}

static size_t pipeline_bytes(const plan *p, int stages) {
    const plan_fused *f = &p->fused;
    const model *m = p->facts->model;
    const size_t loaded = (size_t)f->input * model_cell_bytes(m);
    const size_t made = 2 * (size_t)stages * dtype_words[m->dtype].bytes;
    const size_t rows = (size_t)temporal_carried(p) * (size_t)f->rows;
    return PLAN_STRIP_BYTES + rows * (loaded + made) * (size_t)f->width[0] +
           (is_shifted(p) ? rows * (size_t)f->input * MAX_PACK_BYTES : 0);
}

/* For each level of a point, its sums and about one more register, which its row is made of.
   Addresses and what else a lane keeps take fewer registers than rows that are taken at once (of
   doubles: see take_turns), and distant neighbours keep more of those rows alive. */
static int64_t pipeline_registers(const plan *p) {
    const int64_t lane = p->schedule.lane[0], levels = p->schedule.time / p->schedule.stages;
    const int64_t at_once = plan_words(p) > 1 ? p->fused.rows : 1;
    const int64_t beside =
        (at_once - 1) * (larger(p->low[0], p->high[0]) - 1) + temporal_carried(p) - 1;
    return larger(20, 14 * (int)at_once) +
           plan_words(p) * lane *
               (levels * (p->low[2] + p->high[2] + 1) + (beside > 0 ? beside : 0));
}

/* Only the first and the last strip meet an edge, and they know where it lies in them. */
static const char *check_strips(job *j, const plan *p) {
    const model *m = p->facts->model;
    const int reach = larger(p->low[0], p->high[0]);
    const int fewest = 2 * (p->schedule.time + 1) * reach + p->schedule.vector;
    if (m->sides[0][0].kind == BOUNDARY_PERIODIC || p->schedule.tile[0] >= fewest)
        return NULL;
    return job_print(j, "tile=%d: strips of fewer than %d points meet edges in unknown places",
                     p->schedule.tile[0], fewest);
}

/* The more warps meet at a barrier, the more work there must be between two barriers. */
static int usual_rows(const plan *p) {
    return smaller((p->schedule.stages + 1) / 2, PIPELINE_ROWS * (int)plan_words(p));
}
/* More rows between two barriers, as far as all resident blocks have room for them. */
static void widen_turns(plan *p) {
    const int stages = p->schedule.stages, most = stages < BULK_ROWS ? stages : BULK_ROWS;
    const int64_t room = gpu_shared_room(p->gpu, p->blocks);
    while (by_bulk(p) && p->fused.rows < most) {
        p->fused.rows++;
        if ((int64_t)pipeline_bytes(p, stages) <= room)
            continue;
        p->fused.rows--;
        return;
    }
}

static const char *fit(job *j, plan *p) {
    temporal_begin(p);
    plan_set_walk(p, p->schedule.coarsen[1]);
    const schedule *s = &p->schedule;
    plan_fused *f = &p->fused;
    if (s->stages > MAX_STAGES || s->time % s->stages != 0)
        return job_print(j,
                         "stages=%d: time=%d must be a multiple of it, and it must be at most %d",
                         s->stages, s->time, MAX_STAGES);
    f->width[0] = WARP * s->lane[0];
    f->halo_low[0] = s->time * p->low[0];
    f->halo_high[0] = s->time * p->high[0];
    if (s->tile[0] + f->halo_low[0] + f->halo_high[0] != f->width[0])
        return job_print(j, "tile=%d: %d steps leave %d of the %d points of a warp", s->tile[0],
                         s->time, larger(f->width[0] - f->halo_low[0] - f->halo_high[0], 0),
                         f->width[0]);
    if (s->tile[0] % s->vector != 0 || f->halo_low[0] % s->vector != 0)
        return job_print(j, "vec=%d: the tile and the halo before it must be multiples of it",
                         s->vector);
    f->rows = usual_rows(p);
    f->input = PIPELINE_INPUT;
    p->tile[0] = p->per_block[0] = s->tile[0];
    p->block[0] = WARP;
    p->block[2] = s->stages;
    if (p->facts->model->sides[0][0].kind != BOUNDARY_PERIODIC)
        p->least[0] = s->tile[0] + (s->time + 1) * larger(p->low[0], p->high[0]) + s->vector;
    temporal_need_images(p);
    const char *refusal = temporal_check_lane(j, p, 0);
    if (refusal == NULL)
        refusal = check_strips(j, p);
    if (refusal == NULL)
        refusal = temporal_check_registers(j, p, pipeline_registers(p));
    if (refusal != NULL)
        return refusal;
    widen_turns(p);
    return plan_take_shared(j, p, (int64_t)pipeline_bytes(p, s->stages));
}

/* ---- its cost -------------------------------------------------------------------------------- */

static const temporal_costs costs = {31, 74, 1, 593, 52000, 1.22, 1.84, 1.052, 17.8, 1, 4};

/* Of doubles where GPUs have bulk copies, by 291 figures of an H200, 2048x2048 to 16384x16384.
   Instructions of a register that spills, mostly in turns at the ends of a walk. How many times as
   long where blocks hide each other's barriers, where more than two leave few registers to long
   rows, and where stages make one step. An exponent of how unevenly stages lie on schedulers. */
static const struct {
    double spill, hidden, crowded, one_step, uneven;
} doubles = {4, 0.9, 1.2, 0.92, 0.3};

static bool has_figures_of_doubles(const plan *p) {
    return plan_words(p) > 1 && gpu_has_bulk(p->gpu);
}

enum { BANKS = 32 };

/* The neighbouring 32-bit words that a lane reads at once, and how many lanes of a warp meet in a
   bank. */
static double pack_of(int lane_words) {
    return lane_words % 4 == 0 ? 4 : lane_words % 2 == 0 ? 2 : 1;
}
static double conflicts(int lane_words) {
    int ways = 1;
    while (ways < BANKS && lane_words % (2 * ways) == 0)
        ways *= 2;
    return fmax(ways / pack_of(lane_words), 1);
}

/* A row of `lane` points a lane through the levels of a stage. */
static temporal_work pipeline_work(const plan *p) {
    const schedule *s = &p->schedule;
    const temporal_costs *c = &costs;
    const double lane = s->lane[0], levels = (double)s->time / s->stages;
    const double shuffles = TEMPORAL_SHUFFLE * plan_words(p) * (p->low[0] + p->high[0]);
    const double level = temporal_slots(p, lane * p->facts->sum_operations, shuffles + c->level);
    const int each = s->lane[0] * (int)plan_words(p);
    /* rows taken from and handed to another warp */
    const double ring = temporal_carried(p) * 2 * each / pack_of(each);
    /* Fitted before turns were widened, and right about which plan is faster ever since. */
    const int rows = usual_rows(p);
    const double turns = temporal_walked(p) + s->stages * rows;
    const double spill = has_figures_of_doubles(p) ? doubles.spill : c->spill;
    const double row = levels * level + ring + c->turn / rows + spill * p->fused.spilled;
    return (temporal_work){
        .costs = c,
        .apart = 1.25,
        .images = 1.06,
        .slots = turns * row,
        .latency = turns * (levels * (c->level_cycles + level) + c->turn_cycles / rows),
        .banks = temporal_carried(p) * turns * each * (2 * conflicts(each) + 2.0 / s->stages),
        .loads = temporal_carried(p) * temporal_walked(p) * lane * WARP / s->stages,
        .shared = temporal_carried(p) * turns * 2 * lane * WARP};
}

/* Where there is more than a wave, the parts of the walk taper, so that blocks end at about the
   same time. Where units are few, the older blocks of a multiprocessor have them first, and the
   younger ones end alone. */
static double makespan(const plan *p, const temporal_work *w, double blocks) {
    static const double longest_part = 1.95; /* over their mean: templates/strips.cuh */
    static const double alone_at_last = 1.1;
    const double resident = p->estimate.blocks_resident;
    const double slots = p->gpu->multiprocessors * resident;
    const double wave = temporal_run(p, w, resident), last = (w->costs->edge - 1) * wave;
    const double hold = 128.0 / p->gpu->fma_lanes[p->facts->model->dtype];
    if (blocks > slots)
        return fmax(blocks / slots, longest_part) * wave + last;
    if (hold > 1 && resident > 1)
        return alone_at_last * wave + last;
    return temporal_waves(p, w, blocks);
}

static double share_of_doubles(const plan *p) {
    const double stages = p->schedule.stages, blocks = plan_resident(p);
    const double most = ceil(stages / TEMPORAL_SCHEDULERS) * TEMPORAL_SCHEDULERS;
    const bool crowded = blocks > 2 && p->facts->sum_operations >= LONG_ROW;
    return (blocks > 1 ? doubles.hidden : 1) * (crowded ? doubles.crowded : 1) *
           (p->schedule.time == p->schedule.stages ? doubles.one_step : 1) *
           pow(most / stages, doubles.uneven);
}

static void cost(plan *p, const int64_t size[AXES]) {
    /* By 22 figures of an H200; and where cells of 16 bits come one by one, some of them from the
       other end of a row that is no packs, by five: 1 to 1.8. */
    static const double waves = 1.2, one_by_one = 1.5;
    const model *m = p->facts->model;
    const temporal_work w = pipeline_work(p);
    temporal_cost(p, size, &w, makespan);
    p->estimate.seconds *= temporal_carried(p) > 1 ? waves : 1;
    p->estimate.seconds *= has_figures_of_doubles(p) ? share_of_doubles(p) : 1;
    if (model_is_narrow(m) && m->sides[0][0].kind == BOUNDARY_PERIODIC && size[0] % 2 != 0)
        p->estimate.seconds *= one_by_one;
}

/* ---- the form -------------------------------------------------------------------------------- */

/* Rows that a lane takes at once: rows one after the other need fewer registers. */
static void write_at_once(text *t, const plan *p) {
    const bool wide = plan_words(p) > 1;
    const int usual = wide ? usual_rows(p) : 1, most = by_bulk(p) ? p->fused.rows : usual;
    const int at_once = wide && (!by_bulk(p) || p->facts->sum_operations < LONG_ROW) ? most : 1;
    text_add(t, "    static constexpr int at_once = ");
    if (at_once != usual && !is_shifted(p))
        text_printf(t, "packs ? %d : %d", at_once, usual);
    else
        text_printf(t, "%d", at_once);
    text_add(t, "; // rows whose steps are made together\n");
}

/* Whether weights lie in a table, from which they are loaded into uniform registers once for all
   rows. As numbers in the text they take 50 of the 643 instructions of a row of 11 points a lane.
   Box of 25 points, 8448², H200: 459 to 476 billion updates a second in four runs, 458 and 461
   without. */
static bool has_table(const plan *p) {
    const double operations = p->facts->sum_operations;
    return by_bulk(p) && plan_words(p) > 1 && operations >= LONG_ROW && operations <= MOST_WEIGHTS;
}

static void macros(text *t, const plan *p, bool packs, bool only_written) {
    (void)only_written;
    const bool bulk = packs ? by_bulk(p) : is_shifted(p);
    if (bulk)
        text_add(t, "#define PLAN_BULK 1 // bulk copies bring rows and take them\n");
    if (bulk && !packs)
        text_add(t, "#define PLAN_SHIFTED 1 // rows begin anywhere in a pack\n");
    if (bulk)
        text_add(t, "#include \"arch/bulk_rows.cuh\"\n");
}

static void constants(text *t, const plan *p) {
    const schedule *s = &p->schedule;
    text_printf(
        t,
        "    static constexpr int time = %d;\n"
        "    static constexpr int stages = %d, lane_x = %d;\n"
        "    static constexpr int rows = %d, input_slots = %d;\n"
        "    static constexpr int strip_bytes = %d, barriers = %d; // where they lie, before the "
        "end\n"
        "    static constexpr int walk = %d, walk_low = %d, walk_high = %d;\n"
        "    static constexpr int wave = %d; // blocks that run at once\n"
        "    static constexpr int carried = %d; // rows from step to step: of so many levels\n",
        s->time, s->stages, s->lane[0], p->fused.rows, p->fused.input, PLAN_STRIP_BYTES,
        PLAN_STRIP_BYTES - MBARRIER_BYTES * p->fused.input, p->walk, p->low[2], p->high[2],
        plan_resident(p) * p->gpu->multiprocessors, temporal_carried(p));
    write_at_once(t, p);
    if (!plan_has_packs(p))
        text_printf(t, "    static constexpr int vector = %d;\n", s->vector);
    temporal_write_second(t, p);
    temporal_write_images(t, p);
}

/* Launches of fewer steps leave out warps. */
static int levels_of(const plan *p) {
    return p->schedule.time / p->schedule.stages;
}

static int fewer(const plan *p, int steps) {
    steps -= levels_of(p);
    return steps > 1 ? steps : 1;
}

static int together(const plan *p, int rest) {
    return rest - rest % levels_of(p);
}

static void shorten(const plan *p, program_launch *l) {
    l->block[2] = l->grid.steps / levels_of(p);
    l->shared_bytes = pipeline_bytes(p, l->block[2]);
}

const form temporal_pipeline = {.file = "pipeline.cu",
                                .barriers = true,
                                .narrow = true,
                                .sums = true,
                                .packs = true,
                                .packs_of = by_bulk,
                                .macros = macros,
                                .needs = temporal_needs,
                                .sums_of = temporal_wave_sums,
                                .fit = fit,
                                .cost = cost,
                                .constants = constants,
                                .tables = has_table,
                                .fewer = fewer,
                                .together = together,
                                .shorten = shorten};

/* What is tried where the constraints leave it open. */
static const int lanes[] = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24, 0};
static const int stages[] = {1, 2, 4, 6, 8, 0};
static const int levels[] = {1, 2, 3, 4, 6, 8, 0};

/* The widest loads for which every strip begins at a whole pack. */
static int widest(const search *s, int tile, int halo) {
    int vector = search_widest_numbers(s);
    while (vector > 1 && (tile % vector != 0 || halo % vector != 0))
        vector /= 2;
    return vector;
}

/* Where rows are no packs, also single loads, after which no row has to be shifted. H200, star of
   radius 1, float, billions of updates a second by single loads and by packs: 2047x2047 1268 and
   1056, 4095x3001 with periodic sides 1271 and 993, 8191x8191 2801 and 2804. Waves keep packs:
   4095x3001 1228 and 1237, of order 4 in double 452 and 527. */
static void try_loads(search *s, schedule c, int vector) {
    const bool apart = s->size[0] % vector != 0 && s->facts->model->fields[0].levels == 1;
    c.vector = search_given(c.vector, vector);
    search_fused(s, c);
    if (apart && s->wanted->vector == 0) {
        c.vector = 1;
        search_fused(s, c);
    }
}

void temporal_try_pipelines(search *s) {
    const model *m = s->facts->model;
    for (int l = 0; lanes[l] != 0; l++)
        for (int g = 0; stages[g] != 0; g++)
            for (int t = 0; levels[t] != 0; t++) {
                schedule c = *s->wanted;
                c.lane[0] = search_given(c.lane[0], lanes[l]);
                c.stages = search_given(c.stages, stages[g]);
                c.time = search_given(c.time, c.stages * levels[t]);
                const int before = c.time * m->low[0];
                if (!search_is_useful(s, c.time) ||
                    !search_leave(s, &c, 0, WARP * c.lane[0], before + c.time * m->high[0]))
                    continue;
                try_loads(s, c, widest(s, c.tile[0], before));
            }
}
