/* What a launch of the method chained costs. Takes: a plan. Makes: its estimate. */
#include "gen/stencil/methods/chained.h"

#include <math.h>

/* Instructions of a thread in a turn, of a stage's point, of a tap and of an element loaded; cycles
   of a turn that a block waits, and for each instruction and each arithmetic one at half rate that
   it makes one after the other. The exponent that joins the times. Fitted to elastic waves of 8192²
   in float and double with 1 to 8 points a thread, on an H200. */
static const struct costs {
    double turn, point, tap, load, wait, serial, slow, overlap;
} costs = {260, 80, 3, 3, 700, 1.65, 13, 4};

static const double lanes = 128, pairs = 0.5;

/* Of a warp in a turn: issue slots, bytes of shared memory, and cycles from a barrier to the next.
 */
typedef struct work {
    double slots, shared, cycles;
} work;

static work work_of(const plan *p, const chain_layout *l) {
    const model_chain *c = chain_of(p);
    const dtype type = p->facts->model->dtype;
    const double bytes = (double)dtype_words[type].bytes, points = l->points;
    const double rate = lanes / p->gpu->fma_lanes[type];
    work w = {.slots = costs.turn, .cycles = costs.wait};
    for (int e = 0; e < c->stage_count; e++) {
        const chain_stage *s = &c->stages[e];
        const expr_count n = s->facts->emitted;
        const expr_work calls = s->facts->calls[0][0];
        double made = 0;
        for (int o = 0; o < s->model->output_count; o++)
            made += s->makes[o] >= 0;
        const double units = n.additions + pairs * n.multiplications + calls.units;
        const double slots = costs.point + units * rate + n.others + calls.others +
                             costs.tap * (s->facts->all_taps + made + s->model->output_count);
        w.slots += points * slots;
        w.cycles += points * (costs.serial * slots + costs.slow * (rate - 1) * units);
        w.shared += points * (s->facts->all_taps + made) * bytes * WARP;
    }
    w.slots += costs.load * p->array_count * points;
    w.shared += points * p->array_count * bytes * WARP;
    return w;
}

/* Of columns: instructions of a turn, an array and a stored output, and how many times as long
   calls take, which nothing else hides; the share of the instructions' time that memory does not
   hide. How much longer a scheduler's few warps take, for the square of their number, and the share
   that is left of the estimate with many; and for each register of a thread that spills. Set by
   elastic waves, the cavity, shallow water and Maxwell's equations on an H200. */
static const struct column_costs {
    double turn, array, output, call, apart, few, many, spilled;
} column_costs = {40, 6, 4, 6, 0.5, 1.9, 0.87, 0.02};

static double column_slots(const plan *p) {
    const model_chain *c = chain_of(p);
    double slots = column_costs.turn + column_costs.array * p->array_count +
                   column_costs.output * p->facts->model->output_count;
    for (int e = 0; e < c->stage_count; e++) {
        const plan_facts *f = c->stages[e].facts;
        const expr_work calls = f->calls[0][0];
        slots += f->emitted.additions + pairs * f->emitted.multiplications + f->row_count +
                 column_costs.call * (calls.units + calls.others);
    }
    return slots;
}

/* The walks of all blocks: planes that each loads, and its turns, in which it may make none. */
typedef struct walks {
    double points, blocks, turns, planes, machine, resident, waves;
    double idle; /* how many times as long for a last wave that is not full: memory idles too */
} walks;

static walks walks_of(plan *p, const chain_layout *l, const int64_t size[AXES]) {
    const int dims = p->facts->model->dims;
    double covered;
    walks w = {.points = model_grid_points(p->facts->model, size),
               .blocks = plan_blocks(p, size, &covered),
               .machine = p->gpu->multiprocessors};
    const double walk = fmin(p->walk, (double)size[dims - 1]);
    w.turns = walk + l->before + l->turns;
    w.planes = walk + l->before + l->behind;
    p->estimate.blocks_resident = p->blocks;
    w.resident = fmin(p->estimate.blocks_resident, ceil(w.blocks / w.machine));
    w.waves = ceil(w.blocks / (w.machine * w.resident));
    w.idle = fmin(w.waves * w.machine * w.resident / w.blocks, 2);
    return w;
}

void chained_column_cost(plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    chain_layout l;
    chained_lay(p, &l);
    const walks w = walks_of(p, &l, size);
    const double bytes = (double)dtype_words[m->dtype].bytes;
    const double threads = plan_threads(p);
    const double issue = w.blocks * w.turns * threads * column_slots(p) * w.idle /
                         (lanes * w.machine * p->gpu->clock);
    const double loaded = w.blocks * w.planes * l.plane * p->array_count;
    const double moved = (loaded + m->output_count * w.points) * bytes;
    const double memory = moved / gpu_copy_rate(p->gpu) * w.idle;
    e->bytes_per_point = (p->array_count + m->output_count) * bytes;
    e->loads_per_point = loaded / w.points;
    e->shared_per_point = w.blocks * w.turns * threads * l.exchanges / w.points;
    e->instructions_per_point = w.blocks * w.turns * threads * column_slots(p) / w.points;
    e->bound = memory > issue ? "device memory" : "instructions";
    const double each = w.resident * threads / WARP / 4; /* warps of a scheduler */
    const int64_t spilled = chained_registers(p, &l) - e->registers;
    e->seconds = (memory + column_costs.apart * issue) * column_costs.many *
                     (1 + column_costs.few / (each * each)) *
                     (1 + column_costs.spilled * (double)(spilled > 0 ? spilled : 0)) +
                 3e-6;
}

/* Of strips. How many times as long as a copy memory takes, and how much longer for each doubling
   of a walk, since warps drift apart. Instructions of a warp in a turn; for an array or a stored
   output, a row of a point that is kept, and a shuffle; how many times as long calls take. How much
   longer the few warps of a scheduler take, for the fourth power of their number, and for each
   register of a thread that spills. The exponent that joins memory and instructions, and the share
   of an idle last wave that shows. Fitted to 95 launches of 1 to 8 steps of elastic waves, the
   cavity, shallow water and Maxwell's equations on an H200, float and double: 7 % rms. `copy` is 4
   % above the fit, which was low for single steps, where other methods are as fast. Where walks
   take turns, memory takes `ordered` of that, walks drift from 16 rows on, and an end of a block
   costs more, whose neighbour may run at another time: elastic waves in double, 32 rows, 1442, 1427
   and 1405 µs with 2, 4 and 8 warps, and 16 rows 1414 with 2. `wide`, `narrow`: where the two
   points of a lane are no pack, doubles and floats: elastic waves at 5001x7001 968 and 609 µs. */
static const struct strip_costs {
    double copy, drift, turn, array, row, shuffle, call, few, spilled, join, idle, ordered, end,
        wide, narrow;
} strip_costs = {1.27, 0.067, 40, 3, 1.1, 0.7, 2, 1.7, 0.004, 6, 0.37, 0.89, 0.09, 1.2, 1.5};

static const double short_walk = 32, short_ordered = 16;

enum { STRIP_TURNS = 4 }; /* turns that are made together */

/* Of a warp in a turn: instructions, and those of them that the multiply-add units make, at the
   rate of the usual ones. */
static double strip_slots(const plan *p, const chain_layout *l, double *units) {
    const model_chain *c = chain_of(p);
    const dtype type = p->facts->model->dtype;
    double shuffles = 0, rows = 0, arithmetic = 0, others = 0;
    for (int i = 0; i < c->source_count; i++) {
        rows += l->slots[i] * l->points;
        if (l->widened[i] >= 0)
            shuffles += l->reach[i][0] + l->reach[i][1];
    }
    const int pack = call_pack(l->points);
    for (int e = 0; e < c->stage_count; e++) {
        const plan_facts *f = c->stages[e].facts;
        const expr_work calls = f->calls[2][pack]; /* four turns are made together */
        arithmetic += l->points * (f->emitted.additions + pairs * f->emitted.multiplications +
                                   strip_costs.call * calls.units);
        others += l->points * strip_costs.call * calls.others;
    }
    *units = arithmetic * lanes / p->gpu->fma_lanes[type];
    return strip_costs.turn + strip_costs.array * (p->array_count + p->facts->model->output_count) +
           plan_words(p) * (strip_costs.shuffle * shuffles + strip_costs.row * rows) + arithmetic +
           others;
}

/* What a launch's instructions take, in seconds, if every scheduler had warps enough. */
static double strip_issue(const plan *p, const chain_layout *l, const walks *w, double *slots) {
    double units;
    *slots = strip_slots(p, l, &units);
    const double warps = plan_threads(p) / (double)WARP;
    const double rate = lanes / p->gpu->fma_lanes[p->facts->model->dtype];
    const double busy = rate > 1 ? pow(pow(*slots, 4) + pow(units, 4), 0.25) : *slots;
    const double turns = STRIP_TURNS * ceil(w->turns / STRIP_TURNS);
    return w->blocks * turns * warps * busy / (4 * w->machine * p->gpu->clock);
}

/* Of single steps: the fit has several as they are. */
static double strip_edges(const plan *p, const int64_t size[AXES]) {
    const model_chain *c = chain_of(p);
    bool ends = false;
    for (int e = 0; e < c->stage_count && p->schedule.time == 1; e++)
        ends |= c->stages[e].facts->ends_of_x;
    return ends ? edges_of_x(p, size, 0.5) : 1;
}

/* How many times as long where a lane's two points are no pack. Of single steps, as above. */
static double strip_apart(const plan *p, const int64_t size[AXES]) {
    const bool packs = size[0] % p->schedule.lane[0] == 0 || p->schedule.time > 1;
    return packs ? 1 : plan_words(p) > 1 ? strip_costs.wide : strip_costs.narrow;
}

/* Strips overlap, and what neighbours load too comes from the L2. */
void chained_strip_cost(plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    chain_layout l;
    chained_lay(p, &l);
    const walks w = walks_of(p, &l, size);
    const double bytes = (double)dtype_words[m->dtype].bytes;
    const double warps = plan_threads(p) / (double)WARP;
    double slots;
    const double all = strip_issue(p, &l, &w, &slots);
    const double each = w.resident * warps / 4; /* warps of a scheduler */
    const int64_t spilled = chained_registers(p, &l) - e->registers;
    const double issue = all * (1 + strip_costs.few / pow(each, 4)) *
                         (1 + strip_costs.spilled * (double)(spilled > 0 ? spilled : 0));
    const double loaded = w.blocks * w.planes * warps * l.width[0] * p->array_count;
    const bool ordered = chained_ordered_wave(p) > 0;
    const double drift = strip_costs.drift * log2(p->walk / (ordered ? short_ordered : short_walk));
    const double order = ordered ? strip_costs.ordered * (1 + strip_costs.end / warps) : 1;
    const double memory = strip_costs.copy * order * (1 + fmax(drift, 0)) *
                          (p->array_count + m->output_count) * w.points * bytes /
                          gpu_copy_rate(p->gpu);
    const double l2 = (loaded + m->output_count * w.points) * bytes / gpu_l2_rate(p->gpu);
    const double k = strip_costs.join;
    e->bytes_per_point = (p->array_count + m->output_count) * bytes;
    e->loads_per_point = loaded / w.points;
    e->instructions_per_point = w.blocks * w.turns * warps * slots * WARP / w.points;
    e->bound = issue > fmax(memory, l2) ? "instructions" : memory > l2 ? "device memory" : "the L2";
    e->seconds = pow(pow(memory, k) + pow(l2, k) + pow(issue, k), 1 / k) *
                     (1 + strip_costs.idle * (w.idle - 1)) * strip_edges(p, size) *
                     strip_apart(p, size) +
                 3e-6;
}

void chained_cost(plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    chain_layout l;
    chained_lay(p, &l);
    const work of = work_of(p, &l);
    const walks w = walks_of(p, &l, size);
    const double bytes = (double)dtype_words[m->dtype].bytes;
    const double warps = plan_threads(p) / (double)WARP;
    const double issue = w.resident * warps * of.slots / 4,
                 banks = w.resident * warps * of.shared / 128;
    const double busy = w.waves * w.turns * fmax(fmax(issue, banks), of.cycles) / p->gpu->clock;
    const double moved = (p->array_count + m->output_count) * w.points * bytes;
    const double loaded = w.blocks * w.planes * l.plane * p->array_count;
    const double memory = moved / gpu_copy_rate(p->gpu) * w.idle;
    const double l2 = (loaded * bytes + moved) / gpu_l2_rate(p->gpu), k = costs.overlap;
    e->bytes_per_point = moved / w.points;
    e->loads_per_point = loaded / w.points;
    e->shared_per_point = w.blocks * w.turns * warps * of.shared / bytes / w.points;
    e->instructions_per_point = w.blocks * w.turns * warps * of.slots * WARP / w.points;
    e->bound = memory > fmax(busy, l2) ? "device memory" : l2 > busy ? "the L2" : "instructions";
    e->seconds = pow(pow(busy, k) + pow(memory, k) + pow(l2, k), 1 / k) + 3e-6;
}
