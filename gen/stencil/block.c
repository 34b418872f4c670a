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

void block_write_walk(text *t, const plan *p, const program *program) {
    (void)program;
    text_printf(t, "    static constexpr int walk = %d, walk_low = %d, walk_high = %d;\n", p->walk,
                p->low[2], p->high[2]);
}

/* ---- its cost ------------------------------------------------------------------------------ */

/* What methods spend in addition to the expression, fitted to the sweep in docs/notebook.md.
   Instructions: of a point, a load, and an element staged. Cycles of waiting: for a load, for a
   warp of the block, for the start of a block that stages, and for each of its steps. Then the
   share by which a block near an edge takes longer, for packs by each cell of reach; and the
   exponents that join the times, and those of the two memories, of which the busier takes nearly
   all. */
static const struct costs {
    double point, load, stage_walking, stage_tiled;
    double load_cycles, warp_cycles, start_cycles, step_cycles;
    double edge_pack, edge_block;
    double overlap, memories;
} costs = {79, 3.2, 1, 43, 87, 60, 1600, 1000, 0.23, 1.0, 2.65, 10};

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

/* How cells beyond the grid's sides are found. */
typedef enum edge_kind { EDGE_FIXED, EDGE_VALUES, EDGE_RULES } edge_kind;

static edge_kind kind_of_edges(const model *m) {
    edge_kind kind = EDGE_FIXED;
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++) {
            const int of = m->sides[axis][side].kind;
            if ((side == 0 ? m->low : m->high)[axis] == 0 || of == BOUNDARY_FIXED)
                continue;
            if (of != BOUNDARY_ZERO && of != BOUNDARY_CONSTANT)
                return EDGE_RULES;
            kind = EDGE_VALUES;
        }
    return kind;
}

double block_edge(const plan *p) {
    (void)p;
    return costs.edge_block;
}

/* Set by ten small grids on an H200, where a block at an edge took 1.5 to 5 times as long. */
double block_tile_edge(const plan *p) {
    static const double others[] = {1, 1.5, 3};
    return costs.edge_block * others[kind_of_edges(p->facts->model)];
}

double block_pack_edge(const plan *p) {
    return costs.edge_pack * (p->high[0] + 1);
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

/* How much longer the whole grid takes because some blocks lie near an edge. */
static double edges(const plan *p, const int64_t size[AXES]) {
    double inner = 1;
    for (int k = 0; k < AXES; k++) {
        const double n = p->axes[k] < 0 ? 1 : (double)size[p->axes[k]];
        const double blocks = ceil(n / p->per_block[k]);
        const double at_edges =
            ceil((double)p->low[k] / p->per_block[k]) + ceil((double)p->high[k] / p->per_block[k]);
        inner *= blocks > at_edges ? (blocks - at_edges) / blocks : 0;
    }
    const double share = p->form->block->edge != NULL ? p->form->block->edge(p) : 0;
    return 1 + share * (1 - inner);
}

/* Whether threads read neighbours from global memory. */
static bool reads_memory(const plan *p) {
    return (!p->form->staged && !p->form->staged_all) || p->form->bare_tile;
}

/* Whether their taps at an edge ask where they lie. */
static bool asks_at_edges(const plan *p) {
    return reads_memory(p) && !model_all_fixed(p->facts->model);
}

/* Instructions by which the warps at the grid's edges make a point longer, where a thread reads
   from global memory: all lanes of a warp wait for one whose taps ask where they lie. A thread of a
   pack makes such points one after the other. What `fixed` costs is in `edges`. */
static double edge_instructions(const plan *p, const int64_t size[AXES]) {
    static const double taps[] = {0, 85, 150}, point = 100; /* 20 small grids on an H200 */
    if (!asks_at_edges(p))
        return 0;
    double inner = 1;
    int room = WARP; /* threads of a warp, which are laid along x, y, z */
    for (int k = 0; k < AXES; k++) {
        const int threads = p->block[k] < room ? p->block[k] : room;
        const double extent = threads * (k == 0 ? p->schedule.vector : 1);
        const double n = p->axes[k] < 0 ? 1 : (double)size[p->axes[k]], warps = ceil(n / extent);
        const double at_edges = ceil(p->low[k] / extent) + ceil(p->high[k] / extent);
        inner *= warps > at_edges ? (warps - at_edges) / warps : 0;
        room /= threads;
    }
    return (1 - inner) * (point + taps[kind_of_edges(p->facts->model)] * p->facts->all_taps);
}

/* Seconds that a thread at an edge takes, however few there are: one tap after the other, each by a
   branch or a call. Six grids of 18 000 to 93 000 points on an H200: 0.6 to 0.9 µs a tap; on a
   line, where taps share lines of the cache, less. */
static double edge_alone(const plan *p) {
    static const double cycles = 1250, of_line = 250;
    return asks_at_edges(p) ? (p->facts->model->dims > 1 ? cycles : of_line) * p->schedule.vector *
                                  p->facts->all_taps / p->gpu->clock
                            : 0;
}

/* Where all sides are fixed, the share of a short row's points that are made: lanes that keep a
   cell wait for those that make points, and load nothing. */
static double made_share(const plan *p, const int64_t size[AXES]) {
    static const double least = 0.1, most = 0.85;
    const model *m = p->facts->model;
    const double share = fmax((double)(size[0] - m->low[0] - m->high[0]) / (double)size[0], least);
    return model_all_fixed(m) && reads_memory(p) && share < most ? share : 1;
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

void block_cost(plan *p, const int64_t size[AXES]) {
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
    e->instructions_per_point = p->form->block->instructions(p) + edge_instructions(p, size);
    /* Elements from a lane's to the next lane's, where each is loaded alone. */
    const double apart = plan_takes_spare(p, size) ? p->schedule.vector : 1;
    const double device = e->bytes_per_point / gpu_copy_rate(t);
    const double cache = (bytes * block_asked(p) + e->bytes_per_point) / gpu_l2_rate(t);
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
    double points = 1;
    for (int axis = 0; axis < m->dims; axis++)
        points *= (double)size[axis];
    static const double many = 12, staged = 1.2; /* of the acoustic wave: 1.23 to 1.42 */
    const double waits = p->schedule.vector > 1                         ? calls_waiting(p)
                         : p->form->staged && calls_slots(p, 1) >= many ? staged
                                                                        : 1;
    e->seconds =
        pow(sum, 1 / costs.overlap) * points * edges(p, size) * waste(p, size, waves) * waits;
    e->seconds *= sqrt(made_share(p, size)); /* 8 short grids on an H200 */
    const double start = starting(p, size), alone = edge_alone(p);
    if (start > e->seconds) {
        e->seconds = start;
        e->bound = "the start of blocks";
    }
    if (alone > e->seconds) {
        e->seconds = alone;
        e->bound = "a point at an edge";
    }
}
