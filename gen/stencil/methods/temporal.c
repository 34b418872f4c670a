/* temporal: many steps between reading a grid and writing it, with the levels between in registers.
   For linear updates of one field 1D, 2D and 3D have a form each (here, temporal_pipeline.c,
   temporal_levels.c), 3D one more for stars (temporal_stars.c), and all else has another one
   (temporal_cascade.c); docs/architecture.md explains the terms of the written model. */
#include "gen/stencil/methods/temporal.h"

#include <math.h>

/* ---- registers and shared memory ------------------------------------------------------------- */

void temporal_begin(plan *p) {
    for (int k = 0; k < AXES; k++)
        p->tile[k] = p->per_block[k] = p->block[k] = 1;
}

/* The neighbouring lanes have everything that a lane's points reach. */
const char *temporal_check_lane(job *j, const plan *p, int k) {
    const int points = p->schedule.lane[k];
    if (points >= p->low[k] && points >= p->high[k])
        return NULL;
    return job_print(j, "lane: the shape reaches further than %s along %c",
                     text_count(j, points, "point"), axis_names[k]);
}

const char *temporal_lay_threads(job *j, plan *p) {
    plan_fused *f = &p->fused;
    f->lanes = f->width[0] / p->schedule.lane[0];
    const int threads = p->block[0] = f->lanes * (f->width[1] / p->schedule.lane[1]);
    return f->lanes > WARP || WARP % f->lanes != 0 || threads % WARP != 0 || threads > MAX_THREADS
               ? job_print(j,
                           "tile: %d threads a row and %d in all are not whole warps of up to %d",
                           f->lanes, threads, MAX_THREADS)
               : NULL;
}

/* The registers that a thread may have where at least one block is resident. */
int temporal_most_registers(const plan *p) {
    const int most = REGISTERS_PER_MULTIPROCESSOR / plan_threads(p) / 8 * 8;
    return most < MAX_REGISTERS ? most : MAX_REGISTERS;
}

/* Some registers that do not fit may lie in local memory, which costs time. */
const char *temporal_check_registers(job *j, plan *p, int64_t need) {
    enum { MOST_SPILLED = 64 };
    const int most = temporal_most_registers(p);
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

/* ---- its cost -------------------------------------------------------------------------------- */

/* Arithmetic and other instructions share the issue slots. Multiply-adds on few units hold their
   units for several slots, in which other instructions may be issued. */
double temporal_slots(const plan *p, double operations, double others) {
    const double hold = 128.0 / p->gpu->fma_lanes[p->facts->model->dtype];
    const double issued = operations + others;
    return fmax(hold * operations, issued);
}

/* Rows or planes that a block's first level takes for those it makes. */
double temporal_walked(const plan *p) {
    return p->walk + p->schedule.time * (double)(p->low[2] + p->high[2]);
}

/* Cycles of so many blocks that run at once on a multiprocessor. They hide each other's latency,
   but not perfectly. */
double temporal_run(const plan *p, const temporal_work *w, double blocks) {
    const double warps = blocks * plan_threads(p) / WARP, k = w->costs->hiding;
    const double issue = warps * w->slots / (TEMPORAL_SCHEDULERS * w->costs->efficiency);
    const double alone = w->latency + w->costs->start_cycles, shared = warps * w->banks;
    const double most = fmax(fmax(issue, alone), shared);
    return most * pow(pow(issue / most, k) + pow(alone / most, k) + pow(shared / most, k), 1 / k);
}

/* Whole waves, and a last one whose blocks have more of their multiprocessor. */
double temporal_waves(const plan *p, const temporal_work *w, double blocks) {
    const double resident = p->estimate.blocks_resident;
    const double slots = p->gpu->multiprocessors * resident;
    const double wave = temporal_run(p, w, resident), last = (w->costs->edge - 1) * wave;
    const double whole = floor(blocks / slots);
    const double left = ceil((blocks - whole * slots) / p->gpu->multiprocessors);
    return whole * wave + (left > 0 ? temporal_run(p, w, left) : 0) + last;
}

void temporal_cost(plan *p, const int64_t size[AXES], const temporal_work *w,
                   double (*makespan)(const plan *, const temporal_work *, double blocks)) {
    static const double launch = 3e-6; /* seconds from one launch to the next */
    const model *m = p->facts->model;
    const gpu *t = p->gpu;
    plan_estimate *e = &p->estimate;
    const double bytes = (double)model_cell_bytes(m), time = p->schedule.time;
    double covered;
    const double blocks = plan_blocks(p, size, &covered), warps = plan_threads(p) / WARP;
    const double points = model_grid_points(m, size);
    const double written = points * m->fields[m->outputs[0].field].levels;
    e->blocks_resident = plan_resident(p);
    const double updates = points * time, read = blocks * warps * w->loads;
    e->bytes_per_point = (read + written) * bytes / updates;
    e->loads_per_point = read / updates;
    e->shared_per_point = blocks * warps * w->shared / updates;
    e->instructions_per_point = blocks * warps * w->slots * WARP / updates;
    const double issue = (makespan != NULL ? makespan : temporal_waves)(p, w, blocks) / t->clock;
    const double memory = (read + written) * bytes / (gpu_copy_rate(t) * w->costs->memory);
    const double overlap = w->costs->overlap;
    e->bound = issue > memory ? "instructions" : "device memory";
    const double sum = pow(pow(issue, overlap) + pow(memory, overlap), 1 / overlap);
    e->edges = fused_has_images(m) ? w->images : 1;
    e->seconds = e->edges * temporal_apart(p, w, size) * sum + launch;
}

/* ---- 1D: a stretch of x in the registers of a warp ------------------------------------------- */

enum { LINE_WARPS = 4 }; /* of a block; they are independent of each other */

static size_t line_bytes(const plan *p) {
    return (size_t)LINE_WARPS * (size_t)p->fused.width[0] *
           dtype_words[p->facts->model->dtype].bytes;
}

/* A new value takes the register of a value that is no longer read, except for a few. */
static int64_t line_registers(const plan *p) {
    const int64_t lane = p->schedule.lane[0];
    return 32 + plan_words(p) * (lane + lane / 8 + p->low[0] + p->high[0]);
}

static const char *fit_line(job *j, plan *p) {
    temporal_begin(p);
    p->walk = 1;
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
    const char *refusal = temporal_check_lane(j, p, 0);
    if (refusal == NULL)
        refusal = temporal_check_registers(j, p, line_registers(p));
    return refusal != NULL ? refusal : plan_take_shared(j, p, (int64_t)line_bytes(p));
}

/* ---- its cost in 1D -------------------------------------------------------------------------- */

static const temporal_costs line_costs = {3, 20, 60, 60, 2000, 0.95, 50, 1.03, 8, 1, 4};

/* `lane` points a lane through all steps. */
static temporal_work line_work(const plan *p) {
    const schedule *s = &p->schedule;
    const double lane = s->lane[0], reach = p->low[0] + p->high[0];
    const expr_count emitted = p->facts->inside;
    const temporal_costs *c = &line_costs;
    const double operations = fmax(emitted.additions + 1, emitted.multiplications);
    const double moved = lane * plan_words(p) / TEMPORAL_PACK_WORDS;
    const double step =
        temporal_slots(p, lane * operations, TEMPORAL_SHUFFLE * plan_words(p) * reach + c->level);
    return (temporal_work){.costs = c,
                           .images = 1.15,
                           .slots = s->time * step + 6 * moved + 100,
                           .latency = s->time * (c->level_cycles + step),
                           .loads = lane * WARP,
                           .shared = 4 * lane * WARP};
}

static void cost_line(plan *p, const int64_t size[AXES]) {
    const temporal_work w = line_work(p);
    temporal_cost(p, size, &w, NULL);
}

/* ---- its form in 1D -------------------------------------------------------------------------- */

static void constants(text *t, const plan *p) {
    text_printf(t,
                "    static constexpr int time = %d;\n"
                "    static constexpr int lane_x = %d, halo_low_x = %d;\n",
                p->schedule.time, p->schedule.lane[0], p->fused.halo_low[0]);
    temporal_write_images(t, p);
}

static const form temporal_line = {.file = "line.cu",
                                   .barriers = true,
                                   .narrow = true,
                                   .points = true,
                                   .fit = fit_line,
                                   .cost = cost_line,
                                   .constants = constants,
                                   .fewer = fused_fewer_by_halves};

/* What is tried where the constraints leave it open. */
static const int lanes[] = {6, 10, 12, 14, 18, 20, 22, 26, 28, 30, 36, 44, 52, 60, 0};
static const int times[] = {8, 16, 24, 32, 48, 64, 96, 128, 0};

static void try_lines(search *s) {
    const model *m = s->facts->model;
    const int pack = search_widest_numbers(s);
    for (int l = 0; lanes[l] != 0; l++)
        for (int t = 0; times[t] != 0; t++) {
            schedule c = *s->wanted;
            c.time = search_given(c.time, times[t]);
            c.lane[0] = search_given(c.lane[0], lanes[l]);
            c.vector = search_given(c.vector, pack);
            if (search_is_useful(s, c.time) &&
                search_leave(s, &c, 0, WARP * c.lane[0],
                             round_up(c.time * m->low[0], pack) +
                                 round_up(c.time * m->high[0], pack)))
                search_fused(s, c);
        }
}

/* ---- waves by partial sums ------------------------------------------------------------------- */

/* Updates of one field in 2D and 3D with two levels, of which the older one is read at the point
   alone. templates/pipeline.cu and levels.cu say how a sum begins. */

/* The rows (or planes) of the older level that a step needs are there where the shape reaches as
   far above as below. */
static bool is_wave(const plan_facts *f) {
    const model *m = f->model;
    const int walked = m->dims - 1;
    if (m->dims < 2 || m->field_count != 1 || m->fields[0].levels != 2 || m->array_count != 2 ||
        !m->arrays[0].used || !m->arrays[1].used || model_is_narrow(m) ||
        m->low[walked] != m->high[walked])
        return false;
    for (int axis = 0; axis < m->dims; axis++)
        if (m->arrays[1].low[axis] != 0 || m->arrays[1].high[axis] != 0)
            return false;
    return true;
}

/* The older level's tap is moved to the row or plane that adds first to a sum. */
const model *temporal_wave_sums(job *j, const plan *p) {
    const model *m = p->facts->model;
    const expr_id root = m->outputs[0].value;
    int place[AXES] = {0};
    place[m->dims - 1] = -m->low[m->dims - 1];
    const expr_id moved = expr_tap(m->pool, 1, place);
    expr_id *to = job_array(j, (size_t)root + 1, sizeof *to);
    for (expr_id id = 0; id <= root; id++) {
        const expr_node *n = expr_get(m->pool, id);
        to[id] = n->op == EXPR_TAP && n->index == 1 ? moved : EXPR_NONE;
    }
    model *out = job_alloc(j, sizeof *out);
    *out = *m;
    out->outputs[0].value = expr_replaced(m->pool, root, to);
    return out;
}

/* ---- the method ------------------------------------------------------------------------------ */

/* Whether whoever sees a cell beyond a mirrored side sees the one inside, too, that it is an image
   of. */
static bool sees_images(const model *m, int axis, int side) {
    const int outwards = (side == 0 ? m->low : m->high)[axis];
    const int inwards = (side == 0 ? m->high : m->low)[axis];
    return m->sides[axis][side].kind != BOUNDARY_MIRROR || outwards <= inwards;
}

/* Whether levels can be partial sums: what 1D, 2D and 3D each have a form for. */
static bool keeps_sums(const plan_facts *f) {
    const model *m = f->model;
    if (m->field_count > 1 || m->output_count != 1 || m->fields[0].use != USE_INOUT ||
        (m->fields[0].levels > 1 && !is_wave(f)) || !f->linear)
        return false;
    for (int axis = 0; axis < m->dims && m->dims > 1; axis++)
        if (!sees_images(m, axis, 0) || !sees_images(m, axis, 1))
            return false;
    return true;
}

void temporal_write_images(text *t, const plan *p) {
    text_printf(t,
                "    static constexpr bool images = %s; // some cells beyond a side are images of "
                "others\n",
                fused_has_images(p->facts->model) ? "true" : "false");
}

void temporal_write_second(text *t, const plan *p) {
    if (temporal_carried(p) > 1)
        text_printf(t,
                    "    static constexpr int second = %d; // the grid of the last level but one\n",
                    fused_second_grid(p->facts->model, 0));
}

void temporal_needs(const plan *p, program_needs *n) {
    n->multiple = p->schedule.vector;
}

/* Grids so small that an image lies beyond the other side go another way. */
void temporal_need_images(plan *p) {
    const model *m = p->facts->model;
    for (int k = 0; k < AXES; k++)
        for (int side = 0; side < 2 && p->axes[k] >= 0; side++)
            if (m->sides[p->axes[k]][side].kind == BOUNDARY_MIRROR)
                p->least[k] = larger(p->least[k], 1 + (side == 0 ? p->low : p->high)[k]);
}

static const form *choose(const plan_facts *f, const schedule *s) {
    static const form *const forms[AXES] = {&temporal_line, &temporal_pipeline, &temporal_levels};
    if (!keeps_sums(f))
        return &temporal_cascade;
    return temporal_is_star(f) && temporal_has_pack_lanes(f, s) ? &temporal_stars
                                                                : forms[f->model->dims - 1];
}

/* Whether the cells of the field hold a number as the arithmetic has it. */
static bool holds(const model *m, double value) {
    const double number = dtype_round(m->dtype, value);
    return dtype_round(model_storage(m, 0), number) == number;
}

static const char *refuse(job *j, const plan_facts *f, const schedule *s) {
    const model *m = f->model;
    if (!keeps_sums(f))
        return temporal_refuse_cascade(f, s);
    if (!m->arrays[0].used)
        return "the update reads nothing";
    if (fused_refuse_sides(m) != NULL)
        return fused_refuse_sides(m);
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++)
            if (m->sides[axis][side].kind == BOUNDARY_CONSTANT &&
                !holds(m, m->sides[axis][side].value))
                return job_print(j,
                                 "it holds cells beyond a boundary as memory has them, and %s does "
                                 "not hold this constant",
                                 dtype_words[model_storage(m, 0)].name);
    if (s->stages > 1 && m->dims != 2)
        return "its time is a pipeline of stages only in 2D";
    if (s->lane[1] > 1 && m->dims != 3)
        return "a thread holds points along y only in 3D";
    return NULL;
}

static void candidates(search *s) {
    static void (*const by_dims[AXES])(search *) = {try_lines, temporal_try_pipelines,
                                                    temporal_try_levels};
    if (keeps_sums(s->facts))
        by_dims[s->facts->model->dims - 1](s);
    else
        temporal_try_cascades(s);
}

const method method_temporal = {
    .name = "temporal",
    .summary = "many steps between reading a grid and writing it, with the levels between in "
               "registers",
    .keys = SCHEDULE_COARSEN | SCHEDULE_VECTOR | SCHEDULE_TIME | SCHEDULE_LANE,
    .fused = true,
    .walks_open = true,
    .textbook_tile = 32,
    .walks = WALKS_PLANES,
    .refuse = refuse,
    .form = choose,
    .candidates = candidates,
};
