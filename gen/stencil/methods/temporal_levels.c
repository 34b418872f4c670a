/* temporal in 3D: a thread takes a patch of points through all levels of a plane, between two
   barriers. */
#include "gen/stencil/methods/temporal.h"

#include <math.h>

enum {
    LEVELS_INPUT = 3,  /* planes; of a wave one more, which it reads twice */
    BOXES_POINTS = 12, /* of a lane, at most */
    BOXES_INPUT = 4,   /* by boxes: neighbouring warps may be in turns next to each other */
    MAX_PATCH = 32,    /* points of a lane; a bit for each */
    MOST_EXTENT = 256, /* of a box along an axis */
    MBARRIER_BYTES = 8,
};

/* Elements. */
static int widest_pack(const model *m) {
    return MAX_PACK_BYTES / (int)dtype_words[m->dtype].bytes;
}

/* Rows of a patch that a level stores for the neighbouring patches; all rows where these fill
   it. */
static int stored_rows(const plan *p) {
    const int lane = p->schedule.lane[1], read = p->low[1] + p->high[1];
    return !p->fused.keep || read >= lane ? lane : read;
}

/* Of the ring, the levels and rows on their way to memory. */
static size_t patch_bytes(const plan *p) {
    const plan_fused *f = &p->fused;
    const int64_t plane = (int64_t)f->width[0] * f->width[1];
    const int64_t level = plane / p->schedule.lane[1] * stored_rows(p);
    const int64_t patches = f->width[1] / p->schedule.lane[1];
    const int64_t elements = temporal_carried(p) * f->input * plane +
                             2 * (p->schedule.time - 1) * level + f->width[0] * patches;
    return (size_t)elements * dtype_words[p->facts->model->dtype].bytes;
}

/* Registers for the sums of all levels and for what each level has in flight. They are fitted, like
   the registers of planes that are kept, to what the compiler needs under limits of 128 to 255,
   spills included, for patches of 2 to 6 rows and up to 6 levels. */
static int64_t levels_registers(const plan *p) {
    const schedule *s = &p->schedule;
    const double depth = p->low[2] + p->high[2];
    const double points = s->lane[0] * s->lane[1] * s->time, state = plan_words(p) * points;
    const double older = temporal_carried(p) > 1 ? state * (0.5 + 1.0 / s->time) : 0;
    return (int64_t)(40 + state * (1.2 * depth + 0.5) + older +
                     (p->fused.corners ? 0.2 * points : 0));
}
static int64_t kept_registers(const plan *p) {
    const schedule *s = &p->schedule;
    const int values = plan_words(p) * s->lane[0] * s->lane[1] * (s->time - 1);
    return (int64_t)((plan_words(p) == 1 ? 0.85 : 0.3) * values);
}

/* A warp stores single elements row by row: a bit for each row of its patches, and for each of a
   lane's elements of a row (templates/patch_walk.cuh). */
static int stored_bits(const plan *p) {
    const plan_fused *f = &p->fused;
    return (f->width[0] + WARP - 1) / WARP + WARP / f->lanes * p->schedule.lane[1];
}

/* Whether the packs of a lane's points are those that `vec` says: then kernels of rows of packs,
   and spares for other rows, ask no plane which rows it has. */
static bool by_packs(const plan *p) {
    return p->schedule.vector == smaller(p->schedule.lane[0], widest_pack(p->facts->model));
}

/* Levels keep their own planes where that leaves enough registers; else they read them again. A
   wave reads the level before the one below from shared memory, which has all of its rows then. */
static int64_t choose_keep(plan *p) {
    const int64_t need = levels_registers(p), kept = kept_registers(p);
    p->fused.keep = temporal_carried(p) == 1 && need + kept <= temporal_most_registers(p);
    return need + (p->fused.keep ? kept : 0);
}

const char *temporal_lay_patches(job *j, plan *p) {
    temporal_begin(p);
    plan_set_walk(p, p->schedule.coarsen[2]);
    const schedule *s = &p->schedule;
    plan_fused *f = &p->fused;
    const char *refusal = temporal_check_lane(j, p, 0);
    if (refusal == NULL)
        refusal = temporal_check_lane(j, p, 1);
    if (refusal != NULL)
        return refusal;
    const int pack = widest_pack(p->facts->model);
    if (s->lane[0] > pack && s->lane[0] % pack != 0)
        return job_print(j, "lane: %d points along x are no whole packs of %d", s->lane[0], pack);
    for (int k = 0; k < LANE_AXES; k++) {
        const int step = k == 0 ? s->lane[0] : 1; /* whole lanes of x are stored */
        f->halo_low[k] = round_up(s->time * p->low[k], step);
        f->halo_high[k] = round_up(s->time * p->high[k], step);
        f->width[k] = s->tile[k] + f->halo_low[k] + f->halo_high[k];
        if (f->width[k] % s->lane[k] != 0)
            return job_print(j,
                             "tile: %d points along %c and %d for the halo are no multiple of "
                             "lane, %d",
                             s->tile[k], axis_names[k], f->halo_low[k] + f->halo_high[k],
                             s->lane[k]);
    }
    refusal = temporal_lay_threads(j, p);
    if (refusal != NULL)
        return refusal;
    /* Single elements are copied row by row; a bit for each of a thread's. */
    const int threads = p->block[0], rows = threads / f->width[0];
    if (rows == 0 || f->width[1] > rows * MAX_PATCH || s->lane[0] * s->lane[1] > MAX_PATCH)
        return job_print(j,
                         "tile: %d threads copy a plane of %dx%d points, each at most %d, and hold "
                         "a patch of at most %d",
                         threads, f->width[0], f->width[1], MAX_PATCH, MAX_PATCH);
    if (stored_bits(p) > MAX_PATCH)
        return job_print(
            j, "lane: the patches of a warp have %d rows and parts of a row, and at most %d",
            stored_bits(p), MAX_PATCH);
    for (int k = 0; k < LANE_AXES; k++)
        p->tile[k] = p->per_block[k] = s->tile[k];
    return NULL;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

bool temporal_has_pack_lanes(const plan_facts *f, const schedule *s) {
    const int pack = widest_pack(f->model);
    return s->lane[0] == pack && s->vector == pack;
}

/* What lies outside of the grid comes as zeros, which nothing uses where cells are kept or copied;
   tiles that go on at the other side are copied by threads. */
bool temporal_by_boxes(const plan *p) {
    const model *m = p->facts->model;
    for (int axis = 0; axis < AXES; axis++)
        for (int side = 0; side < 2; side++)
            if (m->sides[axis][side].kind == BOUNDARY_CONSTANT)
                return false;
    return gpu_has_bulk(p->gpu) && p->fused.width[1] <= MOST_EXTENT;
}

int64_t temporal_boxes_bytes(const plan *p) {
    const int64_t words = 2 * p->fused.input + 2 * (plan_threads(p) / WARP);
    return (int64_t)patch_bytes(p) + words * MBARRIER_BYTES;
}

bool temporal_box(const plan *p, const plan_array *a, int box[AXES]) {
    (void)a;
    box[0] = p->fused.width[0];
    box[1] = p->fused.width[1];
    box[2] = 1;
    return p->fused.apart;
}

/* By 31 figures of stars and waves on an H200 whose planes threads copied. */
void temporal_cost_copies(plan *p) {
    static const double longer = 1.3;
    p->estimate.seconds *= longer;
    p->estimate.edges *= longer;
}

void temporal_write_apart(text *t, const plan *p, bool packs) {
    text_printf(t,
                "#define PLAN_APART %d // warps wait for the warps next to them, not for a block\n"
                "#define PLAN_BOXES %d // bulk copies bring planes of several steps\n",
                p->fused.apart, p->fused.apart && packs);
}

/* Lays out the planes of waves and of shapes with corners by boxes, where these serve them; false:
   they do not, or a multiprocessor has no room. Lanes of more points spill: 19 points in float,
   lane=4x4 time=4, make 541 billion updates a second with 152 bytes of spills, else 649 with 72
   (H200, 768³). */
static bool take_boxes(plan *p) {
    const schedule *s = &p->schedule;
    p->fused.input = BOXES_INPUT;
    return s->lane[0] * s->lane[1] <= BOXES_POINTS &&
           (p->facts->corners || temporal_carried(p) > 1) && !model_is_narrow(p->facts->model) &&
           temporal_has_pack_lanes(p->facts, s) && temporal_by_boxes(p) &&
           temporal_boxes_bytes(p) <= p->gpu->shared_per_block;
}

static const char *fit(job *j, plan *p) {
    const char *refusal = temporal_lay_patches(j, p);
    if (refusal != NULL)
        return refusal;
    p->fused.corners = p->facts->corners;
    temporal_need_images(p);
    refusal = temporal_check_registers(j, p, choose_keep(p));
    if (refusal != NULL)
        return refusal;
    p->fused.apart = take_boxes(p);
    if (p->fused.apart)
        return plan_take_shared(j, p, temporal_boxes_bytes(p));
    p->fused.input = LEVELS_INPUT + temporal_carried(p) - 1;
    return plan_take_shared(j, p, (int64_t)patch_bytes(p));
}

/* ---- its cost -------------------------------------------------------------------------------- */

static const temporal_costs costs = {1, 1, 1, 1046, 44500, 1.325, 1.525, 1.2, 25, 1.26, 2.35};
/* Of waves: fitted to 65 figures of radius 1 and 2 on an H200, float and double, of 2 to 134
   million points. */
static const temporal_costs wave_costs = {1, 1, 1, 1250, 0, 0.56, 2.8, 1.02, 25, 0.85, 4};

/* A patch through all levels, for one plane, between two barriers. */
static temporal_work levels_work(const plan *p) {
    const schedule *s = &p->schedule;
    const bool wave = temporal_carried(p) > 1;
    const temporal_costs *c = wave ? &wave_costs : &costs;
    const double patch = s->lane[0] * s->lane[1];
    const double beside = p->low[1] + p->high[1];
    const double rows = s->lane[1] + (p->fused.corners ? beside : 0);
    const double shuffles = TEMPORAL_SHUFFLE * plan_words(p) * (p->low[0] + p->high[0]) * rows;
    const double packs = ceil(s->lane[0] * plan_words(p) / TEMPORAL_PACK_WORDS);
    /* What a level has not kept it reads again before all else; that counts twice where it reads
       little else. Waves read two planes together, which takes no longer. */
    const double again = p->fused.keep ? 0 : (p->fused.corners || wave ? 1 : 2) * s->lane[1];
    const double exchanged = packs * (beside + again + s->lane[1]);
    /* Points above one another share their sums over the rows between them. */
    const bool shares = p->fused.corners && (plan_words(p) == 1 || p->high[2] == 1);
    const double own = shares ? 0.4 : 1, high = s->lane[1];
    const double operations = patch * p->facts->sum_operations *
                              (own + (1 - own) * (high + beside) / (high * (1 + beside)));
    const double level = temporal_slots(p, operations, shuffles + exchanged + c->level);
    const double planes = temporal_walked(p) + s->time;
    /* Warps that copy their own rows: 12 waves, drawn on an H200, take 1.03 times what this says.
     */
    static const double own_rows = 1.2;
    return (temporal_work){
        .costs = c,
        .images = wave ? 1 : 1.15,
        .apart = p->fused.apart ? own_rows : 1.35 + 0.08 * larger(s->lane[1] - 2, 0),
        .slots = planes * (s->time * level + c->turn + 4 * patch + c->spill * p->fused.spilled),
        .latency = planes * (c->turn_cycles + c->level_cycles + s->time * level),
        .banks = planes * s->time * exchanged * TEMPORAL_PACK_WORDS,
        .loads = temporal_carried(p) * temporal_walked(p) * patch * WARP,
        .shared = planes * s->time * exchanged * TEMPORAL_PACK_WORDS / plan_words(p) * WARP};
}

static void cost(plan *p, const int64_t size[AXES]) {
    static const double boxes = 1.2, narrow_boxes = 2; /* by 8 plans on an H200, one in 16 bits */
    const temporal_work w = levels_work(p);
    temporal_cost(p, size, &w, NULL);
    if (temporal_carried(p) > 1 && !p->fused.apart)
        temporal_cost_copies(p);
    if (p->fused.corners)
        p->estimate.seconds *= model_is_narrow(p->facts->model) ? narrow_boxes : boxes;
}

/* ---- the form -------------------------------------------------------------------------------- */

/* Whether each warp takes the loop for sides of y that its own rows need; else all warps of a block
   take the one that some of them need. The loops of all blocks of a multiprocessor are read at
   once, and those of more multiply-adds a turn do not fit into the instruction cache: 7 points,
   tile=24x72 lane=4x5 time=4, two blocks, 192x213x341, make 482 billion updates a second on an
   H200, and 996 where all warps of a block take one loop. */
static bool each_warp(const plan *p) {
    enum { MOST_TERMS = 500 };
    const schedule *s = &p->schedule;
    return s->lane[0] * s->lane[1] * s->time * p->facts->all_taps * plan_resident(p) <= MOST_TERMS;
}

void temporal_write_patches(text *t, const plan *p) {
    const schedule *s = &p->schedule;
    const plan_fused *f = &p->fused;
    text_printf(t,
                "    static constexpr int time = %d;\n"
                "    static constexpr int lane_x = %d, lane_y = %d, lanes = %d;\n"
                "    static constexpr int ring = %d, halo_x = %d, walk = %d;\n"
                "    static constexpr bool keep = %s, corners = %s, copy_packs = true;\n",
                s->time, s->lane[0], s->lane[1], f->lanes, f->input, f->halo_low[0], p->walk,
                f->keep ? "true" : "false", f->corners ? "true" : "false");
    text_printf(
        t,
        "    static constexpr bool each_warp = %s; // else a whole block sees to its sides of y\n"
        "    static constexpr int carried = %d; // levels that a step reads\n",
        each_warp(p) ? "true" : "false", temporal_carried(p));
    temporal_write_images(t, p);
    temporal_write_second(t, p);
}

static void macros(text *t, const plan *p, bool packs, bool only_written) {
    (void)only_written;
    temporal_write_apart(t, p, packs);
}

const form temporal_levels = {.file = "levels.cu",
                              .barriers = true,
                              .narrow = true,
                              .sums = true,
                              .packs = true,
                              .packs_of = by_packs,
                              .needs = temporal_needs,
                              .sums_of = temporal_wave_sums,
                              .fit = fit,
                              .cost = cost,
                              .macros = macros,
                              .constants = temporal_write_patches,
                              .box = temporal_box};

/* What is tried where the constraints leave it open. */
static const int times[] = {2, 3, 4, 5, 6, 8, 0};
static const int row_lanes[] = {8, 16, 32, 0}; /* that share a row */
static const int threads_all[] = {128, 192, 256, 384, 512, 768, 1024, 0};
static const int patch_rows[] = {2, 3, 4, 5, 6, 8, 0}; /* of a patch; each is a pack along x */

/* 3D: by the points of a lane, the lanes of a row, and the threads. */
static void try_patch(search *s, int rows, int lanes, int threads) {
    const model *m = s->facts->model;
    const int lane[LANE_AXES] = {search_widest_numbers(s), rows};
    for (int t = 0; times[t] != 0; t++) {
        schedule c = *s->wanted;
        c.time = search_given(c.time, times[t]);
        for (int k = 0; k < LANE_AXES; k++)
            c.lane[k] = search_given(c.lane[k], lane[k]);
        const int wide = search_widest_numbers(s);
        c.vector = search_given(c.vector, c.lane[0] < wide ? c.lane[0] : wide);
        if (search_is_useful(s, c.time) &&
            search_leave(s, &c, 0, lanes * c.lane[0],
                         round_up(c.time * m->low[0], c.lane[0]) +
                             round_up(c.time * m->high[0], c.lane[0])) &&
            search_leave(s, &c, 1, threads / lanes * c.lane[1], c.time * (m->low[1] + m->high[1])))
            search_fused(s, c);
    }
}

void temporal_try_levels(search *s) {
    for (int r = 0; patch_rows[r] != 0; r++)
        for (int l = 0; row_lanes[l] != 0; l++)
            for (int t = 0; threads_all[t] != 0; t++)
                try_patch(s, patch_rows[r], row_lanes[l], threads_all[t]);
}
