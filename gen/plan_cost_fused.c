/* The written model of several steps a pass: docs/architecture.md explains each term.
   Takes: a plan that fits, a size. Makes: its estimate, of a whole launch. */
#include "gen/plan.h"

#include <math.h>

/* To be fitted to the sweep in bench/: instructions of a lane for a level of a row (or patch), for
   a turn between two barriers, and for a shuffle of a word; cycles that a level of a row takes at
   least, because each instruction waits for the one before, and those of a turn; the share of
   issue slots that is used at best; cycles before a block's first result; how many times as long
   a block at an edge takes; seconds from one launch to the next; and the exponent that joins
   arithmetic and memory. */
static const struct costs {
    double level, turn, shuffle;
    double level_cycles, turn_cycles;
    double efficiency;
    double start_cycles;
    double edge;
    double launch;
    double overlap;
    double column_loads, step_cycles,
        exchange; /* resident: loads a tap, as columns share them; cycles
                     of a step's barrier; seconds of an exchange */
} costs = {3, 20, 2, 60, 60, 0.95, 2000, 4, 3e-6, 4, 0.7, 350, 1.2e-6};

static const double lanes = 128, schedulers = 4, warp = 32, pack_words = 4;

/* What one warp does for a block's walk. */
typedef struct work {
    double slots;         /* of one scheduler: to issue, or until the multiply-add units are free */
    double latency;       /* cycles that it takes alone */
    double loads, shared; /* elements that it reads from global memory, and exchanges */
} work;

static double words(const plan *p) {
    return (double)dtype_words[p->facts->model->dtype].bytes / 4;
}

/* Arithmetic and other instructions share the issue slots; multiply-adds of few units hold theirs
   for several, in which others may be issued. */
static double slots_of(const plan *p, double operations, double others) {
    const double hold = lanes / p->target->fma_lanes[p->facts->model->dtype];
    const double issued = operations + others;
    return hold * operations > issued ? hold * operations : issued;
}

/* 1D: `lane` points a lane through all steps. */
static work line_work(const plan *p) {
    const schedule *s = &p->schedule;
    const double lane = s->lane[0], reach = p->low[0] + p->high[0];
    const expr_count c = p->facts->emitted;
    const double operations =
        c.additions + 1 > c.multiplications ? c.additions + 1 : c.multiplications;
    const double moved = lane * words(p) / pack_words;
    const double step =
        slots_of(p, lane * operations, costs.shuffle * words(p) * reach + costs.level);
    return (work){.slots = s->time * step + 6 * moved + 100,
                  .latency = s->time * (costs.level_cycles + step),
                  .loads = lane * warp,
                  .shared = 4 * lane * warp};
}

/* Rows or planes that a block's first level takes for those it makes. */
static double walked(const plan *p) {
    return p->walk + p->schedule.time * (double)(p->low[2] + p->high[2]);
}

/* 2D: a row of `lane` points a lane through the levels of a stage. */
static work pipeline_work(const plan *p) {
    const schedule *s = &p->schedule;
    const double lane = s->lane[0], levels = (double)s->time / s->stages;
    const double shuffles = costs.shuffle * words(p) * (p->low[0] + p->high[0]);
    const double level = slots_of(p, lane * p->facts->sum_operations, shuffles + costs.level);
    const double ring = 2 * lane * words(p) / pack_words; /* taken and handed on */
    const double turns = walked(p) + s->stages * p->fused.rows;
    const double row = levels * level + ring + costs.turn / p->fused.rows;
    return (work){.slots = turns * row,
                  .latency = turns * (levels * (costs.level_cycles + level) +
                                      costs.turn_cycles / p->fused.rows),
                  .loads = walked(p) * lane * warp / s->stages,
                  .shared = turns * 2 * lane * warp};
}

/* 3D: a patch of points a thread through all levels, one plane between two barriers. */
static work levels_work(const plan *p) {
    const schedule *s = &p->schedule;
    const double patch = s->lane[0] * s->lane[1];
    const double beside = p->low[1] + p->high[1];
    const double rows = s->lane[1] + (p->fused.corners ? beside : 0);
    const double shuffles = costs.shuffle * words(p) * (p->low[0] + p->high[0]) * rows;
    const double packs = ceil(s->lane[0] * words(p) / pack_words);
    const double exchanged = packs * (beside + (p->fused.keep ? 0 : s->lane[1]) + s->lane[1]);
    const double level =
        slots_of(p, patch * p->facts->sum_operations, shuffles + exchanged + costs.level);
    const double planes = walked(p) + s->time;
    return (work){.slots = planes * (s->time * level + costs.turn + 4 * patch),
                  .latency = planes * (costs.turn_cycles + costs.level_cycles + s->time * level),
                  .loads = walked(p) * patch * warp,
                  .shared = planes * s->time * exchanged * pack_words / words(p) * warp};
}

static work work_of(const plan *p) {
    switch (p->template_id) {
    case TEMPLATE_LINE:
        return line_work(p);
    case TEMPLATE_PIPELINE:
        return pipeline_work(p);
    default:
        return levels_work(p);
    }
}

static double blocks_of(const plan *p, const int64_t size[AXES]) {
    double blocks = 1;
    for (int k = 0; k < AXES; k++)
        blocks *= p->axes[k] < 0 ? 1 : ceil((double)size[p->axes[k]] / p->per_block[k]);
    return blocks;
}

/* Cycles from the first block's start to the last one's end: whole waves, and what is left, whose
   blocks have more of their multiprocessor. */
static double makespan(const plan *p, const work *w, double blocks) {
    const double warps = plan_threads(p) / warp, resident = p->estimate.blocks_resident;
    const double each = warps * w->slots / (schedulers * costs.efficiency); /* if alone */
    const double slots = p->target->multiprocessors * resident;
    const double waves = floor(blocks / slots);
    const double left = ceil((blocks - waves * slots) / p->target->multiprocessors);
    const double alone = w->latency + costs.start_cycles;
    double cycles = waves * (resident * each > alone ? resident * each : alone);
    if (left > 0)
        cycles += left * each > alone ? left * each : alone;
    return cycles + (costs.edge - 1) * w->latency;
}

void plan_cost_fused(plan *p, const int64_t size[AXES]) {
    if (p->template_id == TEMPLATE_RESIDENT) {
        plan_cost_resident(p, size);
        return;
    }
    const model *m = p->facts->model;
    const target *t = p->target;
    plan_estimate *e = &p->estimate;
    const double bytes = (double)dtype_words[m->dtype].bytes, time = p->schedule.time;
    const work w = work_of(p);
    const double blocks = blocks_of(p, size), warps = plan_threads(p) / warp;
    double points = 1;
    for (int axis = 0; axis < m->dims; axis++)
        points *= (double)size[axis];
    e->blocks_resident = plan_resident(p);
    const double updates = points * time, read = blocks * warps * w.loads;
    e->bytes_per_point = (read + points) * bytes / updates;
    e->loads_per_point = read / updates;
    e->shared_per_point = blocks * warps * w.shared / updates;
    e->instructions_per_point = blocks * warps * w.slots * warp / updates;
    const double issue = makespan(p, &w, blocks) / t->clock;
    const double memory = (read + points) * bytes / t->copy_rate;
    e->bound = issue > memory ? "instructions" : "device memory";
    e->seconds = pow(pow(issue, costs.overlap) + pow(memory, costs.overlap), 1 / costs.overlap) +
                 costs.launch;
}
