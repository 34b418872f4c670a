/* What a launch of temporal costs where planes fall through levels. Takes: a plan that fits. Makes:
   its estimate. */
#include "gen/stencil/methods/temporal.h"

#include <math.h>

/* The terms are counted from the emitted code. Launches take longer the more points a lane has, as
   fewer warps are resident: in float 1.05 times that with four, 1.5 with eight; and in 2D where it
   reaches further than a point. Fitted, with what edges cost, to 50 figures of an H200: Gray-Scott,
   waves and coefficient fields, 2D and 3D, float and double, from 301x277x355 to 8192x8192, of one
   to six waves of blocks; most are met to a fifth. In 3D they take longer on grids up to 384³, and
   still longer on those of less than `small` points, which single steps find in the L2: 225 figures
   of waves and coefficient fields, an H200. */
static double slower(const plan *p, double grid) {
    static const double doubles = 1.3, four = 1.05, volume = 1.37, volume_doubles = 1.1;
    static const double small = 4e6, far = 1.1;
    const double points = p->schedule.lane[0] * p->schedule.lane[1] / 4.0;
    if (p->facts->model->dims < 3)
        return (plan_words(p) > 1 ? doubles : four * sqrt(points)) *
               (p->facts->model->radius > 1 ? far : 1);
    return (plan_words(p) > 1 ? doubles * volume_doubles * pow(fmax(points, 1), 0.42)
                              : four * volume * sqrt(points)) *
           pow(fmax(small / grid, 1), 0.25);
}

static const temporal_costs costs = {12, 60, 60, 300, 3000, 0.8, 3, 1, 10, 0.95, 3};
/* The L2 delivers so many times what a copy moves. */
static const double l2_rate = 2.2;

/* A patch of one plane through all levels. */
static temporal_work cascade_work(const plan *p, const cascade *c) {
    const schedule *s = &p->schedule;
    const plan_facts *f = p->facts;
    const double words = plan_words(p), points = s->lane[0] * s->lane[1], time = s->time;
    const double packs = ceil(s->lane[0] * words / TEMPORAL_PACK_WORDS);
    double lines = 0, shuffles = 0, puts = 0;
    for (int i = 0; i < f->row_count; i++) {
        const plan_row *r = &f->rows[i];
        const bool still = cascade_output_of(p, p->kernel_array[r->array]) < 0;
        const int dy = cascade_row_dy(p, r), away = smaller(dy < 0 ? -dy : dy, s->lane[1]);
        lines += still ? s->lane[1] : away; /* that come from shared memory */
        shuffles += TEMPORAL_SHUFFLE * words * (r->low + r->high) * s->lane[1];
    }
    for (int o = 0; o < f->model->output_count; o++)
        puts += c->level[o].slots > 0 ? s->lane[1] : 0;
    const expr_count e = f->inside;
    const double operations = points * fmax(e.additions + 1, e.multiplications);
    const double level = temporal_slots(p, operations,
                                        points * calls_slots(p, s->lane[0]) + shuffles +
                                            lines * (packs + 4) + puts * packs + costs.level);
    const double moved = (p->array_count * 3 + f->model->output_count) * s->lane[1] * packs;
    const double turns = p->walk + time * (c->below[2] + c->lag);
    const double shared = time * (lines + puts) * packs + p->array_count * 2 * s->lane[1] * packs;
    return (temporal_work){
        .costs = &costs,
        .apart = f->model->dims == 2 ? 1.25 : 1.35,
        .slots = turns * (time * level + costs.turn + moved + costs.spill * p->fused.spilled),
        .latency = turns * (costs.turn_cycles + time * (costs.level_cycles + level)),
        .banks = turns * (shared * TEMPORAL_PACK_WORDS + shuffles * time / 2),
        .loads = turns * points * WARP * p->array_count,
        .shared = turns * shared * TEMPORAL_PACK_WORDS / words * WARP};
}

/* Instructions that a warp at an edge has beyond others, in times of those: conditions, which take
   no longer in double. */
static double edge(const plan *p) {
    static const double more = 2.2, of_volumes = 0.31;
    const model *m = p->facts->model;
    const double images = fused_has_images(m) ? m->radius : 1; /* copied for each cell of a reach */
    return more * images * (m->dims == 3 ? of_volumes : 1) / plan_words(p);
}

/* Warps stay with one of the schedulers of their multiprocessor: where no blocks follow that would
   make up for it, the one that has a warp more than others ends last. */
static double uneven(const plan *p, double blocks) {
    const double warps = blocks * plan_threads(p) / WARP;
    return ceil(warps / TEMPORAL_SCHEDULERS) * TEMPORAL_SCHEDULERS / warps;
}

/* Cycles of all blocks: whole waves, and those that are left. Where few are left, most edges were
   made before them. */
static double makespan(const plan *p, const temporal_work *w, const int64_t size[AXES],
                       double blocks) {
    const double machine = p->gpu->multiprocessors, wave = machine * p->estimate.blocks_resident;
    const double whole = ceil(blocks / wave) - 1;
    double left = ceil((blocks - whole * wave) / machine);
    if (whole == 0)
        left *= uneven(p, left);
    const double warps = plan_threads(p) / WARP / TEMPORAL_SCHEDULERS;
    const double more = edge(p) * w->slots / costs.efficiency, alone = more * fmax(warps, 1);
    return temporal_waves(p, w, whole * wave) +
           whole * wave * edges_share(p, size) / machine * more * warps +
           fmax(temporal_run(p, w, left) + left * machine / wave * alone, alone);
}

void cascade_cost(plan *p, const int64_t size[AXES]) {
    static const double launch = 3e-6; /* seconds from one launch to the next */
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    cascade c;
    cascade_lay(p, &c);
    const temporal_work w = cascade_work(p, &c);
    const double bytes = (double)dtype_words[m->dtype].bytes, time = p->schedule.time;
    const double points = model_grid_points(m, size);
    double covered, written = 0;
    const double blocks = plan_blocks(p, size, &covered), warps = plan_threads(p) / WARP;
    for (int o = 0; o < m->output_count; o++)
        written += m->fields[m->outputs[o].field].levels;
    e->blocks_resident = plan_resident(p);
    const double updates = points * time, read = blocks * warps * w.loads;
    const double moved = (p->array_count + written) * points * bytes;
    e->bytes_per_point = moved / updates;
    e->loads_per_point = read / updates;
    e->shared_per_point = blocks * warps * w.shared / updates;
    e->instructions_per_point = blocks * warps * w.slots * WARP / updates;
    const double issue = makespan(p, &w, size, blocks) / p->gpu->clock;
    const double rate = gpu_copy_rate(p->gpu) * costs.memory;
    const double memory = moved / rate, l2 = (read + written * points) * bytes / (rate * l2_rate);
    const double k = costs.overlap;
    e->bound = issue > fmax(memory, l2) ? "instructions" : memory > l2 ? "device memory" : "the L2";
    e->seconds = slower(p, points) * temporal_apart(p, &w, size) *
                     pow(pow(issue, k) + pow(memory, k) + pow(l2, k), 1 / k) +
                 launch;
}
