/* chained: stages of a system, one after the other in one launch. A block walks the last axis with
   a tile and its halo; planes of the arrays and of each stage's results lie in shared memory, in
   rings. In each turn a plane arrives, and each stage makes the plane that lies its lag behind.
   templates/chained.cu has the picture. */
#include "gen/stencil/search.h"

#include "gen/source/emit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { AHEAD = 3, MOST_POINTS = 8, MOST_BACK = 64 };

/* How the planes lie. By kernel axes. */
typedef struct chain_layout {
    int lag[CHAIN_STAGES];                          /* planes behind the one that arrives */
    int slots[CHAIN_SOURCES], place[CHAIN_SOURCES]; /* rings, and where they begin */
    int halo_low[2], width[2], plane, points;
    int before, behind,
        turns; /* planes loaded before and after a block's own; turns after the last */
    int64_t elements;
    int late[CHAIN_SOURCES]; /* columns: turns after which an array's row is first read */
    int exchange[CHAIN_SOURCES][MOST_BACK]; /* columns: of a row so far back, plus 1; 0: none */
    int exchanges;
} chain_layout;

static const model_chain *chain_of(const plan *p) {
    return p->facts->model->chain;
}

/* In 2D, a thread may keep a column's rows in registers; such a plan loads single elements. */
static bool has_columns(const plan *p) {
    return p->schedule.vector <= 1;
}

static int along(const plan *p, const int of[AXES], int k) {
    return p->axes[k] < 0 ? 0 : of[p->axes[k]];
}

/* How far a stage reads its array i along a kernel axis. */
static void reach(const plan *p, const chain_stage *s, int i, int k, int *low, int *high) {
    const model_array *a = &s->model->arrays[i];
    *low = along(p, a->low, k);
    *high = along(p, a->high, k);
    if (p->axes[k] >= 0 && chain_of(p)->mirrored[p->axes[k]])
        *low = *high = larger(*low, *high);
}

static int source_lag(const model_chain *c, const chain_layout *l, int source) {
    const chain_source *s = &c->sources[source];
    return s->array >= 0 ? l->late[source] : l->lag[s->stage];
}

/* A result is read in the turn after it was made. */
static int lag_after(const model_chain *c, const chain_layout *l, int source, int high) {
    return source_lag(c, l, source) + (c->sources[source].array < 0) + high;
}

static void lay_lags(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int e = 0; e < c->stage_count; e++) {
        const chain_stage *s = &c->stages[e];
        int low, high;
        for (int i = 0; i < s->model->array_count; i++)
            if (s->from[i] >= 0) {
                reach(p, s, i, 2, &low, &high);
                l->lag[e] = larger(l->lag[e], lag_after(c, l, s->from[i], high));
            }
        for (int o = 0; o < s->model->output_count; o++)
            if (s->old[o] >= 0)
                l->lag[e] = larger(l->lag[e], lag_after(c, l, s->old[o], 0));
    }
}

static void hold(const plan *p, chain_layout *l, int source, int planes) {
    const model_chain *c = chain_of(p);
    const int lag = source_lag(c, l, source);
    const int ahead = c->sources[source].array >= 0 && !has_columns(p) ? AHEAD : 0;
    l->slots[source] = larger(l->slots[source], planes - lag + 1 + ahead);
}

static void lay_rings(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int e = 0; e < c->stage_count; e++) {
        const chain_stage *s = &c->stages[e];
        int low, high;
        for (int i = 0; i < s->model->array_count; i++)
            if (s->from[i] >= 0) {
                reach(p, s, i, 2, &low, &high);
                hold(p, l, s->from[i], l->lag[e] + low);
            }
        for (int o = 0; o < s->model->output_count; o++)
            if (s->old[o] >= 0)
                hold(p, l, s->old[o], l->lag[e]);
    }
    for (int i = 0; i < c->source_count && !has_columns(p); i++) {
        l->place[i] = (int)l->elements;
        l->elements += (int64_t)l->slots[i] * l->plane;
    }
}

/* Rows of arrays are loaded when a stage first reads them. */
static void lay_late(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    int late[CHAIN_SOURCES];
    for (int i = 0; i < c->source_count; i++)
        late[i] = INT32_MAX;
    for (int e = 0; e < c->stage_count; e++) {
        const chain_stage *s = &c->stages[e];
        int low, high;
        for (int i = 0; i < s->model->array_count; i++)
            if (s->from[i] >= 0) {
                reach(p, s, i, 2, &low, &high);
                late[s->from[i]] = smaller(late[s->from[i]], l->lag[e] - high);
            }
        for (int o = 0; o < s->model->output_count; o++)
            if (s->old[o] >= 0)
                late[s->old[o]] = smaller(late[s->old[o]], l->lag[e]);
    }
    for (int i = 0; i < c->source_count; i++)
        l->late[i] = c->sources[i].array >= 0 && late[i] < INT32_MAX ? late[i] : 0;
}

/* The turns after which a stage reads a row of a source. */
static int back_of(const plan *p, const chain_layout *l, int e, const plan_row *row, int *source) {
    *source = chain_of(p)->stages[e].from[row->array];
    return l->lag[e] - source_lag(chain_of(p), l, *source) - row->dy;
}

/* The rows that threads read of each other's columns. */
static void lay_exchanges(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int e = 0; e < c->stage_count; e++) {
        const plan_facts *f = c->stages[e].facts;
        for (int r = 0; r < f->row_count; r++) {
            int source;
            const int back = back_of(p, l, e, &f->rows[r], &source);
            if (f->rows[r].low + f->rows[r].high > 0 && back < MOST_BACK &&
                l->exchange[source][back] == 0)
                l->exchange[source][back] = ++l->exchanges;
        }
    }
    l->elements = 2 * (int64_t)l->exchanges * round_up(l->plane, WARP);
}

static void lay(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    *l = (chain_layout){.plane = 1};
    for (int k = 0; k < 2; k++) {
        int low = 0, high = 0;
        for (int i = 0; i < c->source_count; i++) {
            low = larger(low, along(p, c->sources[i].low, k));
            high = larger(high, along(p, c->sources[i].high, k));
        }
        const int step = k == 0 ? p->schedule.vector : 1;
        l->halo_low[k] = round_up(low, step);
        l->width[k] = round_up(l->halo_low[k] + p->tile[k] + high, step);
        l->plane *= l->width[k];
    }
    lay_lags(p, l);
    if (has_columns(p))
        lay_late(p, l);
    lay_rings(p, l);
    if (has_columns(p))
        lay_exchanges(p, l);
    for (int i = 0; i < c->source_count; i++)
        if (c->sources[i].array >= 0) {
            l->before = larger(l->before, along(p, c->sources[i].low, 2));
            l->behind = larger(l->behind, along(p, c->sources[i].high, 2));
        }
    for (int e = 0; e < c->stage_count; e++) /* one may read no array */
        l->before = larger(l->before, along(p, c->stages[e].low, 2));
    for (int e = 0; e < c->stage_count; e++)
        for (int o = 0; o < c->stages[e].model->output_count; o++)
            if (c->stages[e].stored[o] >= 0)
                l->turns = larger(l->turns, l->lag[e]);
    l->points = larger(p->schedule.lane[0], 1);
}

/* ---- the plan ----------------------------------------------------------------------------------
 */

static int64_t registers_of(const plan *p, const chain_layout *l) {
    const model_chain *c = chain_of(p);
    int taps = 0, held = p->array_count;
    for (int e = 0; e < c->stage_count; e++)
        taps = larger(taps, c->stages[e].facts->all_taps);
    for (int i = 0; i < c->source_count; i++)
        held += l->slots[i];
    if (has_columns(p)) /* pointers to all that is loaded and stored */
        return 30 + 2 * (p->array_count + p->facts->model->output_count) +
               plan_words(p) * (held + smaller(taps / 2 + 6, 24));
    return 40 + c->source_count + 6 * l->points + plan_words(p) * smaller(taps + 12, 56);
}

/* Refuses what the kind of plan has no place for. */
static const char *refuse_kind(job *j, const plan *p) {
    const schedule *s = &p->schedule;
    const int bytes = (int)dtype_words[p->facts->model->dtype].bytes;
    if (!has_columns(p))
        return s->vector * bytes == MAX_PACK_BYTES
                   ? NULL
                   : job_print(j, "it loads packs of 16 bytes: vec=%d", MAX_PACK_BYTES / bytes);
    if (p->facts->model->dims != 2)
        return job_print(j,
                         "a thread keeps a column of a 2D grid; in 3D it loads packs of 16 "
                         "bytes: vec=%d",
                         MAX_PACK_BYTES / bytes);
    if (s->lane[0] > 1)
        return "lane: with vec=1 a thread has one column";
    for (int axis = 0; axis < AXES; axis++)
        if (chain_of(p)->mirrored[axis])
            return job_print(j, "mirrored ends ask for planes in shared memory: vec=%d",
                             MAX_PACK_BYTES / bytes);
    return NULL;
}

static const char *fit(job *j, plan *p) {
    const schedule *s = &p->schedule;
    const int bytes = (int)dtype_words[p->facts->model->dtype].bytes;
    chain_layout l;
    plan_set_walk(p, s->coarsen[plan_walk_axis(p)] > 0 ? s->coarsen[plan_walk_axis(p)] : 1);
    const char *kind = refuse_kind(j, p);
    if (kind != NULL)
        return kind;
    if (s->lane[0] > MOST_POINTS || s->lane[1] > 1)
        return job_print(j, "lane: a thread makes at most %d points of a plane", MOST_POINTS);
    if (s->stages > 1)
        return "stages: it makes each stage of the system once";
    lay(p, &l);
    for (int k = 0; k < 2; k++)
        if (p->axes[k] >= 0 &&
            p->tile[k] < larger(l.halo_low[k], l.width[k] - l.halo_low[k] - p->tile[k]))
            return "tile: it is smaller than what the stages reach in all";
    if (l.elements * bytes > INT32_MAX / 2)
        return "tile: its planes are too large for shared memory";
    const int threads = round_up((l.plane + l.points - 1) / l.points, WARP);
    if (threads > MAX_THREADS)
        return job_print(j, "tile: it needs %d threads; a block has at most %d, so take lane=%d",
                         threads, MAX_THREADS, (l.plane + MAX_THREADS - 1) / MAX_THREADS);
    p->block[0] = threads;
    p->block[1] = p->block[2] = 1;
    for (int i = 0; i < chain_of(p)->source_count && has_columns(p); i++)
        if (l.slots[i] > MOST_BACK)
            return "a thread would keep too many rows in registers";
    const int64_t need = registers_of(p, &l);
    p->estimate.registers = need < MAX_REGISTERS ? (int)need : MAX_REGISTERS;
    while (p->estimate.registers > 32 &&
           threads * round_up(p->estimate.registers, 8) > REGISTERS_PER_MULTIPROCESSOR)
        p->estimate.registers -= 8;
    const char *refusal = plan_take_shared(j, p, l.elements * bytes);
    p->blocks = plan_resident(p);
    return refusal;
}

/* ---- its cost
 * ------------------------------------------------------------------------------------ */

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
        const expr_work calls = s->facts->calls[0];
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
   hide. Set by elastic waves, the cavity, shallow water and Maxwell's equations on an H200. */
static const struct column_costs {
    double turn, array, output, call, apart;
} column_costs = {40, 6, 4, 6, 0.5};

static double column_slots(const plan *p) {
    const model_chain *c = chain_of(p);
    double slots = column_costs.turn + column_costs.array * p->array_count +
                   column_costs.output * p->facts->model->output_count;
    for (int e = 0; e < c->stage_count; e++) {
        const plan_facts *f = c->stages[e].facts;
        const expr_work calls = f->calls[0];
        slots += f->emitted.additions + pairs * f->emitted.multiplications + f->row_count +
                 column_costs.call * (calls.units + calls.others);
    }
    return slots;
}

/* Blocks of a last wave that is not full leave memory idle too. */
static void column_cost(plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    chain_layout l;
    lay(p, &l);
    const double bytes = (double)dtype_words[m->dtype].bytes, machine = p->gpu->multiprocessors;
    const double all = (double)size[0] * (double)size[1];
    double covered;
    const double blocks = plan_blocks(p, size, &covered);
    const double walk = fmin(p->walk, (double)size[1]);
    const double turns = walk + l.before + l.turns, rows = walk + l.before + l.behind;
    e->blocks_resident = plan_resident(p);
    const double resident = fmin(e->blocks_resident, ceil(blocks / machine));
    const double waves = ceil(blocks / (machine * resident));
    const double idle = fmin(waves * machine * resident / blocks, 2);
    const double threads = plan_threads(p);
    const double issue =
        blocks * turns * threads * column_slots(p) * idle / (lanes * machine * p->gpu->clock);
    const double loaded = blocks * rows * l.plane * p->array_count;
    const double moved = (loaded + m->output_count * all) * bytes;
    const double memory = moved / gpu_copy_rate(p->gpu) * idle;
    e->bytes_per_point = (p->array_count + m->output_count) * bytes;
    e->loads_per_point = loaded / all;
    e->shared_per_point = blocks * turns * threads * l.exchanges / all;
    e->instructions_per_point = blocks * turns * threads * column_slots(p) / all;
    e->bound = memory > issue ? "device memory" : "instructions";
    e->seconds = memory + column_costs.apart * issue + 3e-6;
}

/* The share of the last wave that has no blocks makes memory idle too. */
static void cost(plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    chain_layout l;
    lay(p, &l);
    const work w = work_of(p, &l);
    const double bytes = (double)dtype_words[m->dtype].bytes;
    const double warps = plan_threads(p) / (double)WARP, machine = p->gpu->multiprocessors;
    double covered, points = 1;
    const double blocks = plan_blocks(p, size, &covered);
    for (int axis = 0; axis < m->dims; axis++)
        points *= (double)size[axis];
    const double walk = fmin(p->walk, (double)size[m->dims - 1]);
    const double turns = walk + l.before + l.turns, planes = walk + l.before + l.behind;
    e->blocks_resident = plan_resident(p);
    const double resident = fmin(e->blocks_resident, ceil(blocks / machine));
    const double waves = ceil(blocks / (machine * resident));
    const double idle = fmin(waves * machine * resident / blocks, 2);
    const double issue = resident * warps * w.slots / 4, banks = resident * warps * w.shared / 128;
    const double busy = waves * turns * fmax(fmax(issue, banks), w.cycles) / p->gpu->clock;
    const double moved = (p->array_count + m->output_count) * points * bytes;
    const double loaded = blocks * planes * l.plane * p->array_count;
    const double memory = moved / gpu_copy_rate(p->gpu) * idle;
    const double l2 = (loaded * bytes + moved) / gpu_l2_rate(p->gpu), k = costs.overlap;
    e->bytes_per_point = moved / points;
    e->loads_per_point = loaded / points;
    e->shared_per_point = blocks * turns * warps * w.shared / bytes / points;
    e->instructions_per_point = blocks * turns * warps * w.slots * WARP / points;
    e->bound = memory > fmax(busy, l2) ? "device memory" : l2 > busy ? "the L2" : "instructions";
    e->seconds = pow(pow(busy, k) + pow(memory, k) + pow(l2, k), 1 / k) + 3e-6;
}

/* ---- plan.h ------------------------------------------------------------------------------------
 */

static void constants(text *t, const plan *p, const program *program) {
    (void)program;
    const model_chain *c = chain_of(p);
    chain_layout l;
    lay(p, &l);
    text_printf(t,
                "    static constexpr int walk = %d, vector = %d, points = %d, ahead = %d;\n"
                "    static constexpr int width = %d, height = %d, halo_x = %d, halo_y = %d;\n"
                "    static constexpr int before = %d, behind = %d, turns = %d; // planes around "
                "those that are stored\n"
                "    static constexpr int stages = %d, sources = %d;\n",
                p->walk, p->schedule.vector, l.points, AHEAD, l.width[0], l.width[1], l.halo_low[0],
                l.halo_low[1], l.before, l.behind, l.turns, c->stage_count, c->source_count);
    if (has_columns(p))
        text_printf(t,
                    "    static constexpr int exchanges = %d; // rows that threads read of each "
                    "other's columns\n",
                    l.exchanges);
    for (int k = 0; k < AXES; k++)
        text_printf(t, "    static constexpr bool ring_%c = %s;\n", axis_names[k],
                    p->axes[k] >= 0 && c->ring[p->axes[k]] ? "true" : "false");
}

static void write_value(text *t, const model *m, const model_side *s) {
    if (s->parameter != NULL)
        text_printf(t, "a.parameter[%d]", model_parameter_named(m, s->parameter));
    else
        emit_constant(t, m->dtype, s->kind == BOUNDARY_CONSTANT ? s->value : 0);
}

static void write_rules(text *t, const plan *p) {
    const model_chain *c = chain_of(p);
    const model *m = p->facts->model;
    text_add(t, "// What readers of a source find beyond an end.\n"
                "template <int source, int axis, int side> struct Rule {\n"
                "    static constexpr Boundary kind = Boundary::fixed; // nothing: nobody reads "
                "there\n"
                "    static __device__ __forceinline__ Real beyond(const Arguments &) {\n"
                "        return 0;\n    }\n};\n");
    for (int i = 0; i < c->source_count; i++)
        for (int k = 0; k < AXES; k++)
            for (int side = 0; side < 2 && p->axes[k] >= 0; side++) {
                const model_side *s = &c->sources[i].sides[p->axes[k]][side];
                if (s->kind == BOUNDARY_FIXED)
                    continue;
                text_printf(t,
                            "template <> struct Rule<%d, %d, %d> {\n"
                            "    static constexpr Boundary kind = Boundary::%s;\n"
                            "    static __device__ __forceinline__ Real beyond(const Arguments "
                            "&a) {\n        return ",
                            i, k, side, boundary_words[s->kind].name);
                write_value(t, m, s);
                text_add(t, ";\n    }\n};\n");
            }
}

static void write_sources(text *t, const plan *p, const chain_layout *l) {
    const model_chain *c = chain_of(p);
    const bool columns = has_columns(p);
    text_add(t, columns ? "// The rows of a source that a thread keeps: the arrays, and then what "
                          "stages make; lag: how many\n// turns after the row that arrives.\n"
                        : "// The planes of a source: the arrays, and then what stages make; lag: "
                          "how many turns after\n// the plane that arrives.\n");
    text_add(t, "template <int source> struct Ring;\n");
    for (int i = 0; i < c->source_count; i++) {
        text_printf(t, "template <> struct Ring<%d> { static constexpr int ", i);
        if (columns)
            text_printf(t, "depth = %d, ", larger(l->slots[i], 1));
        else
            text_printf(t, "place = %d, slots = %d, ", l->place[i], l->slots[i]);
        text_printf(t, "lag = %d; };\n", source_lag(c, l, i));
    }
}

/* Rows that go through shared memory, as threads read them of each other's columns. */
static void write_exchanges(text *t, const plan *p, const chain_layout *l) {
    const model_chain *c = chain_of(p);
    text_add(t, "// Rows that are put into shared memory: a source's, so many turns after its "
                "newest.\ntemplate <int exchange> struct Exchange;\n"
                "template <int source, int back> constexpr int exchange_of = 0;\n");
    for (int i = 0; i < c->source_count; i++)
        for (int back = 0; back < MOST_BACK; back++)
            if (l->exchange[i][back] > 0)
                text_printf(t,
                            "template <> struct Exchange<%d> { static constexpr int source = %d, "
                            "back = %d; };\ntemplate <> constexpr int exchange_of<%d, %d> = %d;\n",
                            l->exchange[i][back] - 1, i, back, i, back, l->exchange[i][back] - 1);
}

static void write_reads(text *t, const plan *p) {
    const model_chain *c = chain_of(p);
    text_add(t, "// The source of a stage's array.\ntemplate <int stage, int array> constexpr int "
                "source_of = 0;\n");
    for (int e = 0; e < c->stage_count; e++)
        for (int i = 0; i < c->stages[e].model->array_count; i++)
            if (c->stages[e].from[i] >= 0)
                text_printf(t, "template <> constexpr int source_of<%d, %d> = %d; // %s\n", e, i,
                            c->stages[e].from[i],
                            c->stages[e].model->fields[c->stages[e].model->arrays[i].field].name);
    text_add(t, "// What becomes of a stage's result: the source that it makes, the output that is "
                "stored, and the\n// source of what a fixed boundary keeps; -1: none.\n"
                "template <int stage, int result> struct Result;\n");
    for (int e = 0; e < c->stage_count; e++)
        for (int o = 0; o < c->stages[e].model->output_count; o++)
            text_printf(t,
                        "template <> struct Result<%d, %d> { static constexpr int makes = %d, "
                        "output = %d, old = %d; };\n",
                        e, o, c->stages[e].makes[o], c->stages[e].stored[o], c->stages[e].old[o]);
}

/* A stage: which columns and planes are made, and its update. */
static void write_stage(text *t, const plan *p, const chain_layout *l, int e) {
    const chain_stage *s = &chain_of(p)->stages[e];
    const char *targets[MAX_FIELDS];
    int arrays[2 * MAX_FIELDS], reach_low = 0, reach_high = 0, low, high;
    for (int i = 0; i < 2 * MAX_FIELDS; i++)
        arrays[i] = i;
    for (int i = 0; i < s->model->array_count; i++)
        if (s->from[i] >= 0) {
            reach(p, s, i, 2, &low, &high);
            reach_low = larger(reach_low, low);
            reach_high = larger(reach_high, high);
        }
    for (int o = 0; o < s->model->output_count; o++)
        targets[o] = job_print(t->job, "out[%d] =", o);
    text_printf(
        t, "template <> struct Stage<%d> {\n    static constexpr int lag = %d, results = %d;\n", e,
        l->lag[e], s->model->output_count);
    for (int k = 0; k < 2; k++)
        text_printf(t,
                    "    static constexpr int first_%c = %d, end_%c = %d; // of the tile with its "
                    "halo\n",
                    axis_names[k], l->halo_low[k] - along(p, s->low, k), axis_names[k],
                    l->halo_low[k] + p->tile[k] + along(p, s->high, k));
    text_printf(t,
                "    static constexpr int before = %d, behind = %d; // planes\n"
                "    static constexpr int low_z = %d, high_z = %d;  // that it reads\n",
                along(p, s->low, 2), along(p, s->high, 2), reach_low, reach_high);
    for (int k = 0; k < AXES; k++)
        text_printf(t, "    static constexpr int keeps_low_%c = %d, keeps_high_%c = %d;\n",
                    axis_names[k], p->axes[k] < 0 ? 0 : s->keeps[p->axes[k]][0], axis_names[k],
                    p->axes[k] < 0 ? 0 : s->keeps[p->axes[k]][1]);
    text_printf(t,
                "    template <class At>\n    static __device__ __forceinline__ void update(const "
                "At &at, const Arguments &arguments, Real (&out)[%d]) {\n",
                s->model->output_count);
    /* Places lie in the grid, but for those of a ring. */
    model placed = *s->model;
    memcpy(placed.sides, p->facts->model->sides, sizeof placed.sides);
    const emitter of = {&placed, p->axes, arrays, false, NULL};
    emit_statements(t, &of, s->facts->roots, targets, s->model->output_count);
    text_add(t, "    }\n};\n");
}

static void definitions(text *t, const plan *p) {
    chain_layout l;
    lay(p, &l);
    write_sources(t, p, &l);
    if (has_columns(p))
        write_exchanges(t, p, &l);
    write_rules(t, p);
    write_reads(t, p);
    text_add(t,
             "// A stage: the columns and planes that it makes, what a fixed boundary keeps, and a "
             "point's update.\ntemplate <int stage> struct Stage;\n");
    for (int e = 0; e < chain_of(p)->stage_count; e++)
        write_stage(t, p, &l, e);
    text_add(t, "\n");
}

static const form form_chained = {.file = "chained.cu",
                                  .barriers = true,
                                  .one_way = true,
                                  .fit = fit,
                                  .cost = cost,
                                  .constants = constants,
                                  .definitions = definitions};

static const form form_columns = {.file = "chained_columns.cu",
                                  .barriers = true,
                                  .one_way = true,
                                  .fit = fit,
                                  .cost = column_cost,
                                  .constants = constants,
                                  .definitions = definitions};

/* ---- the method
 * ---------------------------------------------------------------------------------- */

static const form *choose(const plan_facts *f, const schedule *s) {
    (void)f;
    return s->vector == 1 ? &form_columns : &form_chained;
}

static int walk(int dims) {
    return dims > 1 ? dims - 1 : -1;
}

/* Planes of whole warps: what the halo leaves is the tile. */
static void candidates(search *s) {
    static const int wide[] = {128, 192, 256, 384, 512, 768, 1024, 0};
    static const int walks[] = {64, 128, 256, 0}; /* of columns */
    static const int boxes[][2] = {{64, 16},  {64, 24}, {64, 32}, {96, 16},
                                   {128, 16}, {32, 32}, {0, 0}};
    const model *m = s->facts->model;
    int low[2], high[2];
    for (int k = 0; k < 2 && m->chain != NULL; k++) {
        low[k] = high[k] = 0;
        for (int i = 0; i < m->chain->source_count; i++) {
            low[k] = larger(low[k], m->chain->sources[i].low[k]);
            high[k] = larger(high[k], m->chain->sources[i].high[k]);
        }
    }
    const bool flat = m->dims == 2;
    for (int i = 0; m->chain != NULL && (flat ? wide[i] : boxes[i][0]) != 0; i++)
        for (int points = 1; points <= MOST_POINTS; points *= 2) {
            schedule c = *s->wanted;
            c.time = search_given(c.time, 1);
            c.vector = search_given(c.vector, search_widest(s));
            c.lane[0] = search_given(c.lane[0], points);
            const int halo = round_up(low[0], c.vector) + round_up(high[0], c.vector);
            if (search_leave(s, &c, 0, flat ? wide[i] : boxes[i][0], halo) &&
                (flat || search_leave(s, &c, 1, boxes[i][1], low[1] + high[1])))
                search_fused(s, c);
        }
    for (int i = 0; m->chain != NULL && flat && wide[i] != 0; i++)
        for (const int *rows = walks; *rows != 0; rows++) {
            schedule c = *s->wanted;
            c.time = search_given(c.time, 1);
            c.vector = search_given(c.vector, 1);
            c.lane[0] = search_given(c.lane[0], 1);
            c.coarsen[1] = search_given(c.coarsen[1], *rows);
            if (c.vector == 1 && search_leave(s, &c, 0, wide[i], low[0] + high[0]))
                search_fused(s, c);
        }
    if (m->chain == NULL)
        search_refuse(s,
                      "it makes several stages of a system in one launch, and this is one update");
}

const method method_chained = {
    .name = "chained",
    .summary = "stages of a system one after the other: a block walks the last axis, and planes of "
               "all that stages read lie in shared memory",
    .keys = SCHEDULE_COARSEN | SCHEDULE_VECTOR | SCHEDULE_LANE,
    .chains = true,
    .walk = walk,
    .form = choose,
    .candidates = candidates,
};
