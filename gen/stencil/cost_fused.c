/* The written model of several steps a pass: docs/architecture.md explains each term.
   Takes: a plan that fits, a size. Makes: its estimate, of a whole launch. */
#include "gen/stencil/plan.h"

#include <math.h>

/* Of one template: instructions of a lane for a level of a row (or patch) and for a turn between
   two barriers; cycles that a level takes at least, because each instruction waits for the one
   before, those of a turn, and those before a block's first result; the share of issue slots that
   is used at best; how well blocks hide each other's latency (an exponent); how much longer than
   others the blocks at an edge take; instructions of a row (or patch) for a register that lies in
   local memory; the share of the copy rate, and how well memory and the rest hide each other (an
   exponent). Fitted to sweeps: docs/notebook.md. */
typedef struct costs {
    double level, turn;
    double level_cycles, turn_cycles, start_cycles;
    double efficiency, hiding, edge, spill;
    double memory, overlap;
} costs;
static const costs line_costs = {3, 20, 60, 60, 2000, 0.95, 50, 1.03, 8, 1, 4};
static const costs pipeline_costs = {31, 74, 1, 593, 52000, 1.22, 1.84, 1.052, 17.8, 1, 4};
static const costs levels_costs = {1, 1, 1, 1046, 44500, 1.325, 1.525, 1.2, 25, 1.26, 2.35};

/* Of all: instructions for a shuffle of a word; seconds from one launch to the next; how many times
   as long a wave takes whose blocks do not end together. */
static const double shuffle = 2, launch = 3e-6, alone_at_last = 1.1;

/* Of parts that taper, over their mean: templates/strips.cuh. */
static const double longest_part = 1.7;

enum { banks = 32 };
static const double lanes = 128, schedulers = 4, warp = 32, pack_words = 4;

/* What one warp does for a block's walk. */
typedef struct work {
    const costs *costs;
    double slots;         /* of one scheduler: to issue, or until the multiply-add units are free */
    double latency;       /* cycles that it takes alone */
    double banks;         /* cycles that it keeps the multiprocessor's shared memory busy */
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
    return fmax(hold * operations, issued);
}

/* 1D: `lane` points a lane through all steps. */
static work line_work(const plan *p) {
    const schedule *s = &p->schedule;
    const double lane = s->lane[0], reach = p->low[0] + p->high[0];
    const expr_count emitted = p->facts->emitted;
    const costs *c = &line_costs;
    const double operations = fmax(emitted.additions + 1, emitted.multiplications);
    const double moved = lane * words(p) / pack_words;
    const double step = slots_of(p, lane * operations, shuffle * words(p) * reach + c->level);
    return (work){.costs = c,
                  .slots = s->time * step + 6 * moved + 100,
                  .latency = s->time * (c->level_cycles + step),
                  .loads = lane * warp,
                  .shared = 4 * lane * warp};
}

/* Rows or planes that a block's first level takes for those it makes. */
static double walked(const plan *p) {
    return p->walk + p->schedule.time * (double)(p->low[2] + p->high[2]);
}

/* 32-bit words that a lane reads at once of those that lie side by side, and how many lanes of a
   warp meet in a bank. */
static double pack_of(int lane_words) {
    return lane_words % 4 == 0 ? 4 : lane_words % 2 == 0 ? 2 : 1;
}
static double conflicts(int lane_words) {
    int ways = 1;
    while (ways < banks && lane_words % (2 * ways) == 0)
        ways *= 2;
    return fmax(ways / pack_of(lane_words), 1);
}

/* 2D: a row of `lane` points a lane through the levels of a stage. */
static work pipeline_work(const plan *p) {
    const schedule *s = &p->schedule;
    const costs *c = &pipeline_costs;
    const double lane = s->lane[0], levels = (double)s->time / s->stages;
    const double shuffles = shuffle * words(p) * (p->low[0] + p->high[0]);
    const double level = slots_of(p, lane * p->facts->sum_operations, shuffles + c->level);
    const int each = s->lane[0] * (int)words(p);
    const double ring = 2 * each / pack_of(each); /* taken and handed on */
    const double turns = walked(p) + s->stages * p->fused.rows;
    const double row =
        levels * level + ring + c->turn / p->fused.rows + c->spill * p->fused.spilled;
    return (work){.costs = c,
                  .slots = turns * row,
                  .latency =
                      turns * (levels * (c->level_cycles + level) + c->turn_cycles / p->fused.rows),
                  .banks = turns * each * (2 * conflicts(each) + 2.0 / s->stages),
                  .loads = walked(p) * lane * warp / s->stages,
                  .shared = turns * 2 * lane * warp};
}

/* 3D: a patch of points a thread through all levels, one plane between two barriers. */
static work levels_work(const plan *p) {
    const schedule *s = &p->schedule;
    const costs *c = &levels_costs;
    const double patch = s->lane[0] * s->lane[1];
    const double beside = p->low[1] + p->high[1];
    const double rows = s->lane[1] + (p->fused.corners ? beside : 0);
    const double shuffles = shuffle * words(p) * (p->low[0] + p->high[0]) * rows;
    const double packs = ceil(s->lane[0] * words(p) / pack_words);
    /* What a level has not kept it reads again, before all else: that counts twice where it reads
       little beside. */
    const double again = p->fused.keep ? 0 : (p->fused.corners ? 1 : 2) * s->lane[1];
    const double exchanged = packs * (beside + again + s->lane[1]);
    /* Points above one another share what they add up of the rows between them. */
    const double own = p->fused.corners ? 0.4 : 1, high = s->lane[1];
    const double operations = patch * p->facts->sum_operations *
                              (own + (1 - own) * (high + beside) / (high * (1 + beside)));
    const double level = slots_of(p, operations, shuffles + exchanged + c->level);
    const double planes = walked(p) + s->time;
    return (work){.costs = c,
                  .slots = planes *
                           (s->time * level + c->turn + 4 * patch + c->spill * p->fused.spilled),
                  .latency = planes * (c->turn_cycles + c->level_cycles + s->time * level),
                  .banks = planes * s->time * exchanged * pack_words,
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

/* Cycles of so many blocks that run at once on a multiprocessor. They hide each other's latency,
   but not perfectly. */
static double run(const plan *p, const work *w, double blocks) {
    const double warps = blocks * plan_threads(p) / warp, k = w->costs->hiding;
    const double issue = warps * w->slots / (schedulers * w->costs->efficiency);
    const double alone = w->latency + w->costs->start_cycles, shared = warps * w->banks;
    const double most = fmax(fmax(issue, alone), shared);
    return most * pow(pow(issue / most, k) + pow(alone / most, k) + pow(shared / most, k), 1 / k);
}

/* Cycles from the first block's start to the last one's end: whole waves, and what is left, whose
   blocks have more of their multiprocessor. Pipelines of more than a wave taper: their blocks end
   at about the same time. */
static double makespan(const plan *p, const work *w, double blocks) {
    const double resident = p->estimate.blocks_resident;
    const double slots = p->target->multiprocessors * resident;
    const double wave = run(p, w, resident), last = (w->costs->edge - 1) * wave;
    const double hold = lanes / p->target->fma_lanes[p->facts->model->dtype];
    if (p->template_id == TEMPLATE_PIPELINE && blocks > slots)
        return fmax(blocks / slots, longest_part) * wave + last;
    /* Where units are few, the older blocks of a multiprocessor have them first, and the younger
       ones end alone. */
    if (p->template_id == TEMPLATE_PIPELINE && hold > 1 && resident > 1)
        return alone_at_last * wave + last;
    const double waves = floor(blocks / slots);
    const double left = ceil((blocks - waves * slots) / p->target->multiprocessors);
    return waves * wave + (left > 0 ? run(p, w, left) : 0) + last;
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
    double covered;
    const double blocks = plan_blocks(p, size, &covered), warps = plan_threads(p) / warp;
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
    const double memory = (read + points) * bytes / (t->copy_rate * w.costs->memory);
    const double overlap = w.costs->overlap;
    e->bound = issue > memory ? "instructions" : "device memory";
    e->seconds = pow(pow(issue, overlap) + pow(memory, overlap), 1 / overlap) + launch;
}
