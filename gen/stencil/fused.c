/* Schedules of several steps a pass made into plans: what a lane, a warp and a block hold,
   registers and shared memory. Takes: a plan with its schedule and template. Makes: the rest of it,
   but for its cost; or the reason why it cannot be. */
#include "gen/model/limits.h"
#include "gen/stencil/plan.h"

enum {
    LINE_WARPS = 4,     /* of a block in 1D; they have nothing to do with each other */
    PIPELINE_ROWS = 2,  /* between two barriers, at most, of words */
    PIPELINE_INPUT = 3, /* slots of so many rows that the first stage loads ahead */
    LEVELS_INPUT = 3,   /* planes */
    MAX_STAGES = 32,
    MAX_PATCH = 32, /* points of a lane in 3D; a bit for each */
    MOST_SPILLED = 64,
};

bool plan_is_fused(template_id t) {
    return t == TEMPLATE_LINE || t == TEMPLATE_PIPELINE || t == TEMPLATE_LEVELS ||
           t == TEMPLATE_RESIDENT;
}

static int words(const model *m) {
    return (int)dtype_words[m->dtype].bytes / 4;
}

/* ---- what is refused ----------------------------------------------------------------------- */

static const char *check_model(job *j, const plan_facts *f) {
    const model *m = f->model;
    if (m->field_count > 1 || m->output_count != 1 || m->fields[0].use != USE_INOUT)
        return "it makes several steps of one field, which is read and written, and there are "
               "others";
    if (m->fields[0].levels > 1)
        return "it makes several steps of a field that keeps no previous level";
    if (!m->arrays[0].used)
        return "the update reads nothing";
    if (!f->linear)
        return "it keeps partial sums, which linear updates have, and this one is not linear";
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++) {
            const boundary kind = m->sides[axis][side].kind;
            if ((kind == BOUNDARY_CLAMP || kind == BOUNDARY_MIRROR) &&
                (side == 0 ? m->low : m->high)[axis] > 0)
                return job_print(j,
                                 "cells beyond a boundary must keep their values for several steps "
                                 "or be those of the other side, and those of %s do not",
                                 boundary_words[kind].name);
        }
    return NULL;
}

static const char *check_schedule(job *j, const model *m, const schedule *s) {
    if (s->time < 2)
        return "it makes at least two steps a pass";
    if (s->stages > 1 && m->dims != 2)
        return "only in 2D is its time a pipeline of stages";
    if (s->lane[1] > 1 && m->dims != 3)
        return "only in 3D does a thread hold points along y";
    const int bytes = (int)dtype_words[m->dtype].bytes * s->vector;
    if ((s->vector & (s->vector - 1)) != 0 || bytes > MAX_PACK_BYTES)
        return job_print(j, "vec=%d: packs have a power of two elements and at most %d bytes",
                         s->vector, MAX_PACK_BYTES);
    return NULL;
}

/* The lanes beside have all that a lane's points reach. */
static const char *check_lane(job *j, const plan *p, int k) {
    const int points = p->schedule.lane[k];
    if (points >= p->low[k] && points >= p->high[k])
        return NULL;
    return job_print(j, "lane: %d points along %c are fewer than the shape reaches", points,
                     axis_names[k]);
}

/* What a thread may have where a block is resident at all. */
static int most_registers(const plan *p) {
    const int most = REGISTERS_PER_MULTIPROCESSOR / plan_threads(p) / 8 * 8;
    return most < MAX_REGISTERS ? most : MAX_REGISTERS;
}

/* Some that do not fit may lie in local memory, which costs. */
static const char *check_registers(job *j, plan *p, int64_t need) {
    const int most = most_registers(p);
    if (need > most + MOST_SPILLED)
        return job_print(j,
                         "%d threads would need about %lld registers each; take fewer points a "
                         "lane, or fewer steps",
                         plan_threads(p), (long long)need);
    p->fused.spilled = need > most ? (int)need - most : 0;
    p->estimate.registers = (int)need - p->fused.spilled;
    p->blocks = plan_resident_by_registers(p);
    return NULL;
}

static const char *check_shared(job *j, plan *p, size_t bytes) {
    if (bytes > (size_t)p->target->shared_per_block)
        return job_print(j, "it needs %zu bytes of shared memory a block, and %s has %d", bytes,
                         p->target->arch, p->target->shared_per_block);
    p->shared_bytes = bytes;
    return NULL;
}

/* ---- 1D: a stretch of x in the registers of a warp ------------------------------------------ */

static size_t line_bytes(const plan *p) {
    return (size_t)LINE_WARPS * (size_t)p->fused.width[0] *
           dtype_words[p->facts->model->dtype].bytes;
}

/* A new value takes the register of one that is no longer read, but for a few. */
static int64_t line_registers(const plan *p) {
    const int64_t lane = p->schedule.lane[0];
    return 32 + words(p->facts->model) * (lane + lane / 8 + p->low[0] + p->high[0]);
}

static const char *fit_line(job *j, plan *p) {
    const schedule *s = &p->schedule;
    const int bytes = (int)dtype_words[p->facts->model->dtype].bytes, pack = MAX_PACK_BYTES / bytes;
    plan_fused *f = &p->fused;
    if (s->vector != pack)
        return job_print(j, "it loads packs of %d elements", pack);
    if (s->lane[0] % pack != 0 || s->lane[0] / pack % 2 == 0)
        return job_print(j, "lane=%d: a lane holds an odd number of packs of %d elements",
                         s->lane[0], pack);
    f->width[0] = WARP * s->lane[0];
    f->halo_low[0] = round_up(s->time * p->low[0], pack);
    f->halo_high[0] = f->width[0] - f->halo_low[0] - s->tile[0];
    if (f->halo_high[0] < s->time * p->high[0] || s->tile[0] % pack != 0)
        return job_print(
            j,
            "tile=%d: %d steps leave at most %d of the %d points of a warp, in packs "
            "of %d",
            s->tile[0], s->time,
            larger(f->width[0] - f->halo_low[0] - round_up(s->time * p->high[0], pack), 0),
            f->width[0], pack);
    p->tile[0] = s->tile[0];
    p->per_block[0] = LINE_WARPS * s->tile[0];
    p->block[0] = LINE_WARPS * WARP;
    const char *refusal = check_lane(j, p, 0);
    if (refusal == NULL)
        refusal = check_registers(j, p, line_registers(p));
    return refusal != NULL ? refusal : check_shared(j, p, line_bytes(p));
}

/* ---- 2D: warps as a pipeline of time ------------------------------------------------------- */

size_t plan_pipeline_bytes(const plan *p, int stages) {
    const plan_fused *f = &p->fused;
    const size_t rows = (size_t)(f->input + 2 * stages) * (size_t)f->rows;
    return PLAN_STRIP_BYTES +
           rows * (size_t)f->width[0] * dtype_words[p->facts->model->dtype].bytes;
}

/* For each level of a point its sums, and about one more that its row is made of. Addresses and
   what else a lane keeps are fewer than what rows taken at once need (doubles: see take_turns), and
   neighbours further off keep more of those rows alive. */
static int64_t pipeline_registers(const plan *p) {
    const int64_t lane = p->schedule.lane[0], levels = p->schedule.time / p->schedule.stages;
    const int64_t at_once = words(p->facts->model) > 1 ? p->fused.rows : 1;
    const int64_t beside = (at_once - 1) * (larger(p->low[0], p->high[0]) - 1);
    return larger(20, 14 * (int)at_once) +
           words(p->facts->model) * lane *
               (levels * (p->low[2] + p->high[2] + 1) + (beside > 0 ? beside : 0));
}

/* The first and the last strip know where the edges lie in them, and no other meets one. */
static const char *check_strips(job *j, const plan *p) {
    const model *m = p->facts->model;
    const int reach = larger(p->low[0], p->high[0]);
    const int fewest = 2 * (p->schedule.time + 1) * reach + p->schedule.vector;
    if (m->sides[0][0].kind == BOUNDARY_PERIODIC || p->schedule.tile[0] >= fewest)
        return NULL;
    return job_print(j, "tile=%d: strips of fewer than %d points meet edges in unknown places",
                     p->schedule.tile[0], fewest);
}

static const char *fit_pipeline(job *j, plan *p) {
    const schedule *s = &p->schedule;
    plan_fused *f = &p->fused;
    if (s->stages > MAX_STAGES || s->time % s->stages != 0)
        return job_print(j, "stages=%d: time=%d is to be a multiple of it, and it at most %d",
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
    /* The more warps meet at a barrier, the more work there must be between two of them. */
    const int rows = (s->stages + 1) / 2, most = PIPELINE_ROWS * words(p->facts->model);
    f->rows = rows < most ? rows : most;
    f->input = PIPELINE_INPUT;
    p->tile[0] = p->per_block[0] = s->tile[0];
    p->block[0] = WARP;
    p->block[2] = s->stages;
    if (p->facts->model->sides[0][0].kind != BOUNDARY_PERIODIC)
        p->least[0] = s->tile[0] + (s->time + 1) * larger(p->low[0], p->high[0]) + s->vector;
    const char *refusal = check_lane(j, p, 0);
    if (refusal == NULL)
        refusal = check_strips(j, p);
    if (refusal == NULL)
        refusal = check_registers(j, p, pipeline_registers(p));
    return refusal != NULL ? refusal : check_shared(j, p, plan_pipeline_bytes(p, s->stages));
}

/* ---- 3D: all levels of a plane between two barriers ------------------------------------------ */

/* Rows of a patch that a level stores for the patches beside it; all where they fill it. */
static int stored_rows(const plan *p) {
    const int lane = p->schedule.lane[1], read = p->low[1] + p->high[1];
    return !p->fused.keep || read >= lane ? lane : read;
}

static size_t levels_bytes(const plan *p) {
    const plan_fused *f = &p->fused;
    const int64_t plane = (int64_t)f->width[0] * f->width[1];
    const int64_t level = plane / p->schedule.lane[1] * stored_rows(p);
    const int64_t patches = f->width[1] / p->schedule.lane[1];
    const int64_t elements =
        f->input * plane + 2 * (p->schedule.time - 1) * level + f->width[0] * patches;
    return (size_t)elements * dtype_words[p->facts->model->dtype].bytes;
}

/* The sums of all levels, and what is under way of each: fitted, like the registers of planes that
   are kept, to what the compiler needs under limits of 128 to 255, spills included, for patches of
   2 to 6 rows and up to 6 levels. */
static int64_t levels_registers(const plan *p) {
    const schedule *s = &p->schedule;
    const double depth = p->low[2] + p->high[2];
    const double points = s->lane[0] * s->lane[1] * s->time,
                 state = words(p->facts->model) * points;
    return (int64_t)(40 + state * (1.2 * depth + 0.5) + (p->fused.corners ? 0.2 * points : 0));
}
static int64_t kept_registers(const plan *p) {
    const schedule *s = &p->schedule;
    const int values = words(p->facts->model) * s->lane[0] * s->lane[1] * (s->time - 1);
    return (int64_t)((words(p->facts->model) == 1 ? 0.85 : 0.3) * values);
}

/* Levels keep their own planes where that leaves enough registers; else they read them again. */
static int64_t choose_keep(plan *p) {
    const int64_t need = levels_registers(p), kept = kept_registers(p);
    p->fused.keep = need + kept <= most_registers(p);
    return need + (p->fused.keep ? kept : 0);
}

static const char *fit_levels(job *j, plan *p) {
    const schedule *s = &p->schedule;
    plan_fused *f = &p->fused;
    const char *refusal = check_lane(j, p, 0);
    if (refusal == NULL)
        refusal = check_lane(j, p, 1);
    if (refusal != NULL)
        return refusal;
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
    f->lanes = f->width[0] / s->lane[0];
    const int threads = f->lanes * (f->width[1] / s->lane[1]);
    if (f->lanes > WARP || WARP % f->lanes != 0 || threads % WARP != 0 || threads > MAX_THREADS)
        return job_print(j, "tile: %d threads a row and %d in all are not whole warps of up to %d",
                         f->lanes, threads, MAX_THREADS);
    /* Single elements are copied row by row; a bit for each of a thread's. */
    const int rows = threads / f->width[0];
    if (rows == 0 || f->width[1] > rows * MAX_PATCH || s->lane[0] * s->lane[1] > MAX_PATCH)
        return job_print(j,
                         "tile: %d threads copy a plane of %dx%d points, each at most %d, and hold "
                         "a patch of at most %d",
                         threads, f->width[0], f->width[1], MAX_PATCH, MAX_PATCH);
    f->input = LEVELS_INPUT;
    f->corners = p->facts->corners;
    p->block[0] = threads;
    for (int k = 0; k < LANE_AXES; k++)
        p->tile[k] = p->per_block[k] = s->tile[k];
    refusal = check_registers(j, p, choose_keep(p));
    return refusal != NULL ? refusal : check_shared(j, p, levels_bytes(p));
}

/* ---- all ----------------------------------------------------------------------------------- */

void plan_walk_fused(plan *p, int walk) {
    const int axis = plan_walk_axis(p->schedule.method, p->facts->model->dims);
    p->walk = walk;
    if (axis < 0)
        return;
    p->schedule.coarsen[axis] = walk;
    p->per_block[2] = walk;
}

const char *plan_fit_fused(job *j, plan *p) {
    const model *m = p->facts->model;
    for (int k = 0; k < AXES; k++)
        p->tile[k] = p->per_block[k] = p->block[k] = 1;
    if (p->template_id == TEMPLATE_RESIDENT)
        return plan_fit_resident(j, p);
    const char *refusal = check_model(j, p->facts);
    if (refusal == NULL)
        refusal = check_schedule(j, m, &p->schedule);
    if (refusal == NULL)
        refusal = p->template_id == TEMPLATE_LINE       ? fit_line(j, p)
                  : p->template_id == TEMPLATE_PIPELINE ? fit_pipeline(j, p)
                                                        : fit_levels(j, p);
    if (refusal == NULL)
        plan_walk_fused(p, m->dims > 1 ? p->schedule.coarsen[m->dims - 1] : 1);
    return refusal;
}
