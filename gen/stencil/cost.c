/* The written model of what a plan costs: docs/architecture.md explains each term.
   Takes: a plan that fits, a size. Makes: its estimate. */
#include "gen/stencil/plan.h"

#include <math.h>
#include <stdlib.h>

/* What the methods spend beside the expression itself, fitted to the sweep in docs/notebook.md:
   instructions for a point, a load and an element staged; cycles of waiting for a load, a warp of
   the block, the start of a block that stages and each of its steps; the share by which a block
   near an edge takes longer, for packs a cell of reach; and the exponent that joins the times. */
static const struct costs {
    double point, load, stage_walking, stage_tiled;
    double weight, asked; /* not measured: a weight from constant memory in a loop, and where a tap
                             of cached-halo lies */
    double load_cycles, warp_cycles, start_cycles, step_cycles;
    double edge_pack, edge_block;
    double overlap;
} costs = {79, 3.2, 1, 43, 4, 3, 87, 60, 1600, 1000, 0.23, 1.0, 2.65};

/* The rest is arithmetic: half the multiplications pair with an addition to one instruction, and a
   function is worth eight; a sector is 32 bytes, and one in four of those beyond a row's ends is
   not found in the caches; of a halo along the last axis a tenth is lost even when its slab fits
   half the L2; a grid of a few blocks is never charged more than `most_waste`. */
static const double pairs = 0.5, function_instructions = 8;
static const double sector_bytes = 32, sectors_missed = 0.25;
static const double slab_share = 0.5, halo_missed = 0.1;
static const double most_waste = 2.5;

static const double bytes_a_cycle = 128; /* of L1 or shared memory, a multiprocessor */
static const double lanes = 128;

static double points_of(const int extent[AXES]) {
    return (double)extent[0] * extent[1] * extent[2];
}

/* Elements that a block stages for each point it makes. */
static double staged_per_point(const plan *p) {
    double elements = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        if (!a->staged)
            continue;
        const bool halo = p->template_id != TEMPLATE_CACHED_HALO;
        double box = 1;
        for (int k = 0; k < AXES; k++)
            box *= p->per_block[k] + (halo ? a->low[k] + a->high[k] : 0);
        elements += box;
    }
    return elements / points_of(p->per_block);
}

/* Taps of arrays that are not staged: each is a load of its own cell. */
static double own_taps(const plan_facts *f, const plan *p) {
    double taps = 0;
    for (int i = 0; i < p->array_count; i++)
        if (!p->arrays[i].staged)
            taps += f->taps[p->arrays[i].array];
    return taps;
}

/* Taps of staged arrays that lie beyond a tile without its halo, for the mean point of it. */
static double beyond_tile(const plan_facts *f, const plan *p) {
    double taps = 0;
    for (int i = 0; i < f->nodes; i++) {
        const expr_node *n = expr_get(f->model->pool, i);
        if (!f->live[i] || n->op != EXPR_TAP || !p->arrays[p->kernel_array[n->index]].staged)
            continue;
        double inside = 1;
        for (int k = 0; k < AXES; k++) {
            const double d = p->axes[k] < 0 ? 0 : abs(n->d[p->axes[k]]);
            inside *= d < p->tile[k] ? 1 - d / p->tile[k] : 0;
        }
        taps += 1 - inside;
    }
    return taps;
}

/* Packs that a thread loads; each serves as many points as it has elements. */
static double packs(const plan_facts *f, const plan *p) {
    const double v = p->schedule.vector;
    double count = 0;
    for (int r = 0; r < f->row_count; r++)
        count += 1 + ceil(f->rows[r].low / v) + ceil(f->rows[r].high / v);
    return count;
}

/* Loads from global memory and traffic of shared memory, in elements a point. */
static void count_traffic(const plan_facts *f, plan *p) {
    plan_estimate *e = &p->estimate;
    const double taps = f->all_taps;
    const double staged = staged_per_point(p);
    if (!plan_stages(p)) {
        e->loads_per_point = p->template_id == TEMPLATE_PACKS ? packs(f, p) : taps;
        e->shared_per_point = 0;
        return;
    }
    if (p->template_id == TEMPLATE_CACHED_HALO) {
        const double beyond = beyond_tile(f, p);
        e->loads_per_point = staged + own_taps(f, p) + beyond;
        e->shared_per_point = staged + taps - beyond;
        return;
    }
    e->loads_per_point = staged + own_taps(f, p);
    e->shared_per_point = staged + (p->template_id == TEMPLATE_SUMS ? f->plane_taps : taps);
    if (p->template_id == TEMPLATE_WINDOW) {
        double window = 2 * f->model->output_count; /* results go through shared memory as well */
        for (int i = 0; i < p->array_count; i++)
            window += (p->walk + p->arrays[i].low[0] + p->arrays[i].high[0]) / (double)p->walk;
        e->shared_per_point = staged + window;
    } else if (p->template_id == TEMPLATE_REGISTER) {
        double column = 0; /* taps that registers serve */
        for (int i = 0; i < p->array_count; i++)
            column += p->arrays[i].staged ? p->low[2] + 1 + p->high[2] : 0;
        e->shared_per_point -= column < taps ? column : taps;
    }
}

static double count_instructions(const plan_facts *f, const plan *p) {
    const expr_count c = f->emitted;
    const plan_estimate *e = &p->estimate;
    const double arithmetic =
        (c.additions + pairs * c.multiplications + function_instructions * c.others) * lanes /
        p->target->fma_lanes[f->model->dtype];
    if (p->schedule.method == METHOD_NAIVE)
        return (costs.point + costs.load * e->loads_per_point) / p->schedule.vector + arithmetic;
    if (p->template_id == TEMPLATE_CONSTANT) /* a multiply-add a tap: nothing is factored */
        return costs.point + (costs.load + costs.weight) * e->loads_per_point +
               f->all_taps * lanes / p->target->fma_lanes[f->model->dtype];
    if (p->template_id == TEMPLATE_CACHED_HALO) /* every tap asks where it lies */
        return costs.point + arithmetic + e->shared_per_point + costs.load * e->loads_per_point +
               costs.asked * f->all_taps;
    const bool walking = p->template_id == TEMPLATE_COARSENED ||
                         p->template_id == TEMPLATE_REGISTER || p->template_id == TEMPLATE_SUMS;
    return 0.5 * costs.point + arithmetic + e->shared_per_point +
           (walking ? costs.stage_walking : costs.stage_tiled) * staged_per_point(p);
}

/* Seconds a point if waiting alone counted: what is in flight goes round once in a latency. */
static double waiting(const plan *p) {
    const plan_estimate *e = &p->estimate;
    const double threads = plan_threads(p);
    double cycles; /* from a block's start to its end */
    switch (p->template_id) {
    case TEMPLATE_COARSENED:
    case TEMPLATE_REGISTER:
    case TEMPLATE_SUMS:
        cycles = costs.start_cycles + (p->walk + p->low[2] + p->high[2]) * costs.step_cycles;
        break;
    case TEMPLATE_TILED:
    case TEMPLATE_WINDOW:
        cycles = costs.start_cycles + costs.step_cycles;
        break;
    case TEMPLATE_CACHED_HALO:
        cycles = costs.start_cycles + costs.step_cycles + costs.load_cycles * e->loads_per_point;
        break;
    default:
        cycles = (costs.load_cycles * e->loads_per_point + costs.warp_cycles * threads / 32) *
                 ceil(points_of(p->tile) / p->schedule.vector / threads);
        break;
    }
    return cycles / (points_of(p->per_block) * e->blocks_resident) /
           (p->target->clock * p->target->multiprocessors);
}

/* How much longer the whole takes because some blocks lie near an edge. */
static double edges(const plan *p, const int64_t size[AXES]) {
    double inner = 1;
    for (int k = 0; k < AXES; k++) {
        const double n = p->axes[k] < 0 ? 1 : (double)size[p->axes[k]];
        const double blocks = ceil(n / p->per_block[k]);
        const double at_edges =
            ceil((double)p->low[k] / p->per_block[k]) + ceil((double)p->high[k] / p->per_block[k]);
        inner *= blocks > at_edges ? (blocks - at_edges) / blocks : 0;
    }
    const bool single = p->template_id == TEMPLATE_NAIVE || p->template_id == TEMPLATE_CONSTANT;
    const double share = single                             ? 0
                         : p->template_id == TEMPLATE_PACKS ? costs.edge_pack * (p->high[0] + 1)
                                                            : costs.edge_block;
    return 1 + share * (1 - inner);
}

double plan_blocks(const plan *p, const int64_t size[AXES], double *covered) {
    double blocks = 1;
    *covered = 1;
    for (int k = 0; k < AXES; k++) {
        const double n = p->axes[k] < 0 ? 1 : (double)size[p->axes[k]];
        const double count = ceil(n / p->per_block[k]);
        *covered *= count * p->per_block[k] / n;
        blocks *= count;
    }
    return blocks;
}

/* The share of a wave of blocks, and of a block's lanes, that a size leaves without work. */
static double waste(const plan *p, const int64_t size[AXES]) {
    double covered;
    const double blocks = plan_blocks(p, size, &covered);
    const double waves =
        blocks / ((double)p->target->multiprocessors * p->estimate.blocks_resident);
    const double idle_lanes = 32.0 * ((plan_threads(p) + 31) / 32) / plan_threads(p);
    /* Half of the last wave's idle time is hidden by blocks that end early. */
    const double rounding = (1 + ceil(waves) / waves) / 2;
    return covered * idle_lanes * (rounding < most_waste ? rounding : most_waste);
}

/* Lines of 32 bytes that a row of the tile touches beyond its own, and halos that the L2 has lost
   by the time the neighbouring block asks. */
static double device_bytes(const model *m, const plan *p, const int64_t size[AXES]) {
    const double bytes = (double)dtype_words[m->dtype].bytes;
    double extra = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        const double sector = sector_bytes / bytes;
        const double row = p->per_block[0];
        extra += sectors_missed * (a->low[0] + a->high[0] > 0 ? sector / (row + sector) : 0);
        /* Blocks run in order of x, y, z: a halo along the last axis returns after a whole slab. */
        const double slab =
            (double)size[0] * (p->axes[1] == 1 ? (double)size[1] : 1) * p->per_block[2] * bytes;
        const double halo = (a->low[2] + a->high[2]) / (double)p->per_block[2];
        extra += slab > slab_share * p->target->l2_bytes ? halo : halo_missed * halo;
    }
    return model_bytes_per_point(m) + extra * bytes;
}

/* How many times the first-level cache is asked for a line of which a warp takes a part only,
   because the rows of the tile are shorter than a line. */
static double short_rows(const plan *p, double bytes) {
    const double row = p->per_block[0] * bytes;
    return row < bytes_a_cycle ? bytes_a_cycle / row : 1;
}

void plan_cost(const plan_facts *f, plan *p, const int64_t size[AXES]) {
    if (p->schedule.method == METHOD_STREAMED) {
        plan_cost_streamed(p, size);
        return;
    }
    const model *m = f->model;
    plan_estimate *e = &p->estimate;
    const target *t = p->target;
    const double bytes = (double)dtype_words[m->dtype].bytes;
    const double machine = t->clock * t->multiprocessors; /* multiprocessor cycles a second */
    count_traffic(f, p);
    e->blocks_resident = plan_resident(p);
    e->bytes_per_point = device_bytes(m, p, size);
    e->instructions_per_point = count_instructions(f, p);
    const struct {
        const char *what;
        double seconds; /* a point */
    } terms[] = {
        {"device memory", e->bytes_per_point / t->copy_rate},
        {"instructions", e->instructions_per_point / (lanes * machine)},
        {"the first-level cache", (e->loads_per_point + m->output_count) * bytes *
                                      short_rows(p, bytes) / (bytes_a_cycle * machine)},
        {"shared memory", e->shared_per_point * bytes / (bytes_a_cycle * machine)},
        {"waiting for memory", waiting(p)},
    };
    double sum = 0, longest = 0;
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        sum += pow(terms[i].seconds, costs.overlap); /* they overlap, but not perfectly */
        if (terms[i].seconds > longest) {
            longest = terms[i].seconds;
            e->bound = terms[i].what;
        }
    }
    double points = 1;
    for (int axis = 0; axis < m->dims; axis++)
        points *= (double)size[axis];
    e->seconds = pow(sum, 1 / costs.overlap) * points * edges(p, size) * waste(p, size);
}
