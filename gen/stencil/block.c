/* Methods of one step a launch whose blocks make a tile each: threads, registers, shared memory,
   and the written model of what these cost (docs/architecture.md explains each term). Takes: a plan
   with its schedule, form and axes. Makes: the rest of it, or the reason why there is none. */
#include "gen/stencil/method.h"

#include <math.h>

/* ---- the plan ------------------------------------------------------------------------------ */

/* A thread makes one point (or pack) while the block has room for more threads; then several. */
static void lay_threads(plan *p, int most) {
    const schedule *s = &p->schedule;
    int points[AXES] = {p->tile[0] / s->vector, p->tile[1], p->tile[2]};
    if (p->facts->model->dims == 1 && plan_walk_axis(p) == 0 && s->coarsen[0] > 1)
        points[0] = s->tile[0];
    int room = most;
    for (int k = 0; k < AXES; k++) {
        const int limit = k == 2 && room > 64 ? 64 : room; /* a block's z has at most 64 threads */
        p->block[k] = points[k] < limit ? points[k] : limit;
        room /= p->block[k];
    }
}

int64_t block_box(const plan *p, const plan_array *a) {
    return ((int64_t)p->tile[0] + a->low[0] + a->high[0]) *
           ((int64_t)p->tile[1] + a->low[1] + a->high[1]);
}

/* Places the staged arrays one after the other. Returns the bytes, which may be more than there
   are. */
static int64_t lay_shared(plan *p) {
    int64_t elements = 0;
    for (int i = 0; i < p->array_count; i++) {
        plan_array *a = &p->arrays[i];
        if (!a->staged)
            continue;
        a->shared = elements < INT32_MAX ? (int)elements : 0;
        elements += p->form->block->elements(p, a);
    }
    if (p->result_pitch > 0) { /* results are staged too */
        p->results = (int)elements;
        elements += (int64_t)p->result_pitch * p->facts->model->output_count;
    }
    return elements * (int64_t)dtype_words[p->facts->model->dtype].bytes;
}

const char *block_fit(job *j, plan *p) {
    enum { MAX_PACK_ROWS = 48 }; /* windows that a thread can hold in registers */
    const block_form *form = p->form->block;
    int64_t need = 0;
    for (int most = MAX_THREADS; most >= 128; most /= 2) {
        lay_threads(p, most);
        need = form->registers(p);
        if (need * round_up(plan_threads(p), WARP) <= REGISTERS_PER_MULTIPROCESSOR)
            break;
    }
    if (need > MAX_REGISTERS && !form->spills)
        return job_print(j,
                         "a thread would need about %lld registers and has %d; take a "
                         "smaller tile or less coarsening",
                         (long long)need, MAX_REGISTERS);
    p->estimate.registers = need < MAX_REGISTERS ? (int)need : MAX_REGISTERS;
    p->blocks = plan_resident_by_registers(p); /* code for edges spills rather than taking more
                                                  registers */
    const char *refusal = plan_take_shared(j, p, form->elements != NULL ? lay_shared(p) : 0);
    if (refusal != NULL)
        return refusal;
    if (p->schedule.vector > 1 && p->facts->row_count > MAX_PACK_ROWS)
        return job_print(j, "vec=%d: the shape has more rows than a thread can hold",
                         p->schedule.vector);
    return NULL;
}

void block_write_walk(text *t, const plan *p) {
    text_printf(t, "    static constexpr int walk = %d, walk_low = %d, walk_high = %d;\n", p->walk,
                p->low[2], p->high[2]);
}

/* ---- its cost ------------------------------------------------------------------------------ */

/* What methods spend in addition to the expression, fitted to the sweep in docs/notebook.md.
   Instructions: of a point, a load, and an element staged. Cycles of waiting: for a load, for a
   warp of the block, for the start of a block that stages, and for each of its steps. Then the
   exponents that join the times, and those of the two memories: 5 tells H200s, where the cache is
   hardly faster than memory, from H100s. */
static const struct costs {
    double point, load, stage_walking, stage_tiled;
    double load_cycles, warp_cycles, start_cycles, step_cycles;
    double overlap, memories;
} costs = {79, 3.2, 1, 43, 87, 60, 1600, 1000, 2.65, 5};

/* The rest is arithmetic. Half the multiplications pair with an addition to one instruction. A
   sector is 32 bytes, and one in four of the sectors beyond a row's ends
   is not found in the caches. Of a halo along the last axis a tenth is lost even when its slab fits
   half the L2. */
static const double pairs = 0.5;
static const double sector_bytes = 32, sectors_missed = 0.25;
static const double slab_share = 0.5, halo_missed = 0.1;

static const double bytes_a_cycle = 128; /* of L1 or shared memory, a multiprocessor */
static const double lanes = 128;

static double points_of(const int extent[AXES]) {
    return (double)extent[0] * extent[1] * extent[2];
}

double block_staged(const plan *p) {
    double elements = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        double box = 1;
        for (int k = 0; k < AXES; k++)
            box *= p->per_block[k] + (p->form->bare_tile ? 0 : a->low[k] + a->high[k]);
        elements += a->staged ? box : 0;
    }
    return elements / points_of(p->per_block);
}

double block_own_taps(const plan *p) {
    double taps = 0;
    for (int i = 0; i < p->array_count; i++)
        if (!p->arrays[i].staged)
            taps += p->facts->taps[p->arrays[i].array];
    return taps;
}

void block_staged_traffic(plan *p) {
    p->estimate.loads_per_point = block_staged(p) + block_own_taps(p);
    p->estimate.shared_per_point = block_staged(p) + p->facts->all_taps;
}

double block_point_instructions(void) {
    return costs.point;
}

double block_load_instructions(const plan *p) {
    return costs.load * p->estimate.loads_per_point;
}

double block_arithmetic(const plan *p) {
    const expr_count c = p->facts->inside;
    const double once =
        p->facts->uniform.units * lanes / p->gpu->fma_lanes[p->facts->model->dtype] +
        p->facts->uniform.others;
    return once / p->schedule.vector +
           (c.additions + pairs * c.multiplications) * lanes /
               p->gpu->fma_lanes[p->facts->model->dtype] +
           calls_slots(p, p->schedule.vector) + plan_selection_instructions(p);
}

static double staging(const plan *p, double element) {
    return 0.5 * costs.point + block_arithmetic(p) + p->estimate.shared_per_point +
           element * block_staged(p);
}

double block_staging(const plan *p) {
    return staging(p, costs.stage_tiled);
}

double block_walk_staging(const plan *p) {
    return staging(p, costs.stage_walking);
}

double block_tile_cycles(const plan *p) {
    (void)p;
    return costs.start_cycles + costs.step_cycles;
}

double block_walk_cycles(const plan *p) {
    return costs.start_cycles + (p->walk + p->low[2] + p->high[2]) * costs.step_cycles;
}

double block_load_cycles(const plan *p) {
    return costs.load_cycles * p->estimate.loads_per_point;
}

/* How many times its blocks fill all multiprocessors. */
static double waves_of(const plan *p, const int64_t size[AXES]) {
    double covered;
    return plan_blocks(p, size, &covered) /
           ((double)p->gpu->multiprocessors * p->estimate.blocks_resident);
}

/* Seconds a point if waiting alone counted: everything in flight is renewed once in a latency. */
static double waiting(const plan *p, double waves) {
    const double threads = plan_threads(p);
    const double cycles = p->form->block->cycles != NULL
                              ? p->form->block->cycles(p)
                              : (block_load_cycles(p) + costs.warp_cycles * threads / WARP) *
                                    ceil(points_of(p->tile) / p->schedule.vector / threads);
    return cycles / (points_of(p->per_block) * p->estimate.blocks_resident * fmin(waves, 1)) /
           (p->gpu->clock * p->gpu->multiprocessors);
}

/* How much longer it takes because a size leaves a part of the last wave of blocks, and of a
   block's lanes, without work. */
static double waste(const plan *p, const int64_t size[AXES], double waves) {
    double covered;
    plan_blocks(p, size, &covered);
    const double idle_lanes = 32.0 * ((plan_threads(p) + 31) / 32) / plan_threads(p);
    /* Half of the last wave's idle time is hidden by blocks that end early. */
    const double rounding = waves > 1 ? (1 + ceil(waves) / waves) / 2 : 1;
    return covered * idle_lanes * rounding;
}

/* Lines of 32 bytes that a row of the tile touches beyond its own, and halos that the L2 has lost
   by the time the neighbouring block asks. */
static double device_bytes(const model *m, const plan *p, const int64_t size[AXES]) {
    const double bytes = (double)model_cell_bytes(m);
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
        extra += slab > slab_share * p->gpu->l2_bytes ? halo : halo_missed * halo;
    }
    return model_bytes_per_point(m) + extra * bytes;
}

/* How many times the first-level cache is asked for a line of which a warp takes only a part,
   because the rows of the tile are shorter than a line. */
static double short_rows(const plan *p, double bytes) {
    const double row = p->per_block[0] * bytes;
    return row < bytes_a_cycle ? bytes_a_cycle / row : 1;
}

/* Elements that a block asks the second-level cache for, for each point: its tile with the rows
   around it. */
static double block_asked(const plan *p) {
    const double sector = sector_bytes / (double)model_cell_bytes(p->facts->model);
    double sum = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        double share[AXES];
        for (int k = 0; k < AXES; k++)
            share[k] = (a->low[k] + a->high[k]) / (double)p->per_block[k];
        const double x = share[0] > 0 ? 1 + 2 * sector / p->per_block[0] : 1;
        sum += x * (p->facts->column_or_plane ? 1 + share[1] + share[2]
                                              : (1 + share[1]) * (1 + share[2]));
    }
    return sum;
}

/* Seconds that starting the blocks takes, whatever they do. On an H200 2^19 blocks of 64 threads
   took 0.324 ms; half as many blocks of 128 threads took 0.274 ms, which is the time of their
   memory. */
static double starting(const plan *p, const int64_t size[AXES]) {
    static const double cycles = 161; /* from the start of one block to the next on a
                                         multiprocessor */
    double covered;
    return cycles * plan_blocks(p, size, &covered) / (p->gpu->clock * p->gpu->multiprocessors);
}

static void cost_within(plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    const gpu *t = p->gpu;
    const double bytes = (double)model_cell_bytes(m); /* but in shared memory */
    p->form->block->traffic(p);
    e->blocks_resident = plan_resident(p);
    /* Cycles a second of the multiprocessors that have a block. */
    const double waves = waves_of(p, size);
    const double machine = t->clock * t->multiprocessors * fmin(waves * e->blocks_resident, 1);
    e->bytes_per_point = device_bytes(m, p, size);
    e->instructions_per_point = p->form->block->instructions(p) + edges_instructions(p, size);
    /* Elements from a lane's to the next lane's, where each is loaded alone. */
    const double apart = plan_takes_spare(p, size) ? p->schedule.vector : 1;
    const double points = model_grid_points(m, size);
    const double kept = plan_in_cache(p, size);
    const double filled = (1 - kept) * (e->bytes_per_point - bytes * m->output_count);
    const double device = e->bytes_per_point / gpu_copy_rate(t) * (1 - kept);
    const double passed = bytes * block_asked(p) + bytes * m->output_count + filled;
    const double cache = passed / gpu_l2_rate(t) + edges_seconds(p, size, waves) / points;
    const struct {
        const char *what;
        double seconds; /* a point */
    } terms[] = {
        {device > cache ? "device memory" : "the second-level cache",
         pow(pow(device, costs.memories) + pow(cache, costs.memories), 1 / costs.memories)},
        {"instructions", e->instructions_per_point / (lanes * machine)},
        {"the first-level cache", (e->loads_per_point + m->output_count) * bytes * apart *
                                      short_rows(p, bytes) / (bytes_a_cycle * machine)},
        {"shared memory",
         e->shared_per_point * (double)dtype_words[m->dtype].bytes / (bytes_a_cycle * machine)},
        {"waiting for memory", waiting(p, waves)},
    };
    double sum = 0, longest = 0;
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        sum += pow(terms[i].seconds, costs.overlap); /* they overlap, but not perfectly */
        if (terms[i].seconds > longest) {
            longest = terms[i].seconds;
            e->bound = terms[i].what;
        }
    }
    static const double many = 12, staged = 1.2; /* of the acoustic wave: 1.23 to 1.42 */
    const double waits = p->schedule.vector > 1                         ? calls_waiting(p)
                         : p->form->staged && calls_slots(p, 1) >= many ? staged
                                                                        : 1;
    e->seconds = pow(sum, 1 / costs.overlap) * points * edges_longer(p, size) *
                 waste(p, size, waves) * waits;
    e->seconds *= sqrt(edges_made_share(p, size)); /* 8 short grids on an H200 */
    e->seconds += PLAN_BEGIN_SECONDS;
    const double start = starting(p, size), alone = edges_alone(p);
    if (start > e->seconds) {
        e->seconds = start;
        e->bound = "the start of blocks";
    }
    if (alone > e->seconds) {
        e->seconds = alone;
        e->bound = "a point at an edge";
    }
}

/* Blocks make no more rows and planes than there are. */
void block_cost(plan *p, const int64_t size[AXES]) {
    plan within = *p;
    for (int k = 1; k < AXES; k++)
        if (p->axes[k] > 0 && size[p->axes[k]] < p->per_block[k])
            within.per_block[k] = (int)size[p->axes[k]];
    if (p->axes[2] > 0)
        within.walk = smaller(p->walk, within.per_block[2]);
    cost_within(&within, size);
    p->estimate = within.estimate;
}
