/* ring: a block walks the last axis with a ring of planes in shared memory, which asynchronous
   copies fill. Each plane adds to partial sums in registers. The method serves linear updates whose
   shape reaches far: shared memory gives what streamed would ask the caches for. */
#include "gen/stencil/search.h"

#include <math.h>
#include <string.h>

enum { MOST_SLOTS = 4, LEAST_SLOTS = 2 };

static int lane_rows(const plan *p) {
    return p->tile[1] / p->block[1];
}

static int depth(const plan *p) {
    return p->low[2] + 1 + p->high[2];
}

static int packs_for(const plan *p, int elements) {
    return (elements + p->schedule.vector - 1) / p->schedule.vector;
}

/* Cells of a plane of the tile with its halo, in whole packs along x. */
static int64_t box_cells(const plan *p, const plan_array *a) {
    const int packs = packs_for(p, a->low[0]) + packs_for(p, a->high[0]);
    return ((int64_t)p->tile[0] + packs * p->schedule.vector) *
           ((int64_t)p->tile[1] + a->low[1] + a->high[1]);
}

/* ---- what a thread reads of a plane --------------------------------------------------------- */

/* Row y of an array, where 0 is the thread's first row, as far as any of the thread's points reads
   it; false where none does. */
static bool ask_line(const plan *p, int array, int y, int *low, int *high) {
    const plan_facts *f = p->facts;
    bool any = false;
    *low = *high = 0;
    for (const plan_row *r = f->rows; r < f->rows + f->row_count; r++) {
        const int row = y - (f->model->dims == 3 ? r->dy : 0);
        if (p->kernel_array[r->array] != array || row < 0 || row >= lane_rows(p))
            continue;
        any = true;
        *low = larger(*low, r->low);
        *high = larger(*high, r->high);
    }
    return any;
}

/* Packs that a thread reads of a plane. */
static int count_packs(const plan *p) {
    int packs = 0, low, high;
    for (int array = 0; array < p->array_count; array++)
        for (int y = -p->low[1]; y < lane_rows(p) + p->high[1]; y++)
            if (ask_line(p, array, y, &low, &high))
                packs += packs_for(p, low) + 1 + packs_for(p, high);
    return packs;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static const char *lay_thread(job *j, plan *p) {
    const schedule *s = &p->schedule;
    const int rows = p->axes[1] == 1 && s->coarsen[1] > 0 ? s->coarsen[1] : 1;
    if (p->tile[1] % rows != 0)
        return job_print(j, "tile: y=%d must be a multiple of coarsen=y%d", p->tile[1], rows);
    p->block[0] = p->tile[0] / s->vector;
    p->block[1] = p->tile[1] / rows;
    p->block[2] = 1;
    return (int64_t)p->block[0] * p->block[1] <= MAX_THREADS
               ? NULL
               : job_print(j,
                           "a block has at most %d threads; take a smaller tile, a larger vec, or "
                           "more rows a thread",
                           MAX_THREADS);
}

/* As many slots as leave room for as many blocks as registers do, and at least two: the plane at
   hand and one on its way. Returns the bytes. */
static int64_t lay_ring(plan *p) {
    enum { RESERVED = 1024 }; /* bytes of shared memory that the driver takes of every block */
    const int64_t bytes = (int64_t)dtype_words[p->facts->model->dtype].bytes;
    int64_t cells = 0, first = 0;
    for (int i = 0; i < p->array_count; i++)
        cells += box_cells(p, &p->arrays[i]);
    const int64_t room = p->gpu->shared_per_multiprocessor / p->blocks - RESERVED;
    int slots = MOST_SLOTS;
    while (slots > LEAST_SLOTS &&
           (slots * cells * bytes > room || slots * cells * bytes > p->gpu->shared_per_block))
        slots--;
    for (int i = 0; i < p->array_count; i++) {
        p->arrays[i].shared = first < INT32_MAX ? (int)first : 0;
        first += slots * box_cells(p, &p->arrays[i]);
    }
    return slots * cells * bytes;
}

/* Registers of a thread: a base for addresses and coordinates, the sums, the thread's own points of
   the plane, and one more row. */
static int64_t registers(const plan *p) {
    const plan_facts *f = p->facts;
    const int64_t points = (int64_t)p->schedule.vector * lane_rows(p);
    const int64_t sums = points * f->model->output_count * depth(p);
    const int64_t row = (packs_for(p, p->low[0]) + packs_for(p, p->high[0])) * p->schedule.vector;
    return 34 + plan_words(p) * (sums + points + row);
}

static const char *fit(job *j, plan *p) {
    const char *refusal = lay_thread(j, p);
    if (refusal != NULL)
        return refusal;
    const int64_t need = registers(p);
    if (need > MAX_REGISTERS)
        return job_print(j,
                         "a thread would need about %lld registers and has %d; take fewer rows a "
                         "thread or a smaller vec",
                         (long long)need, MAX_REGISTERS);
    p->estimate.registers = (int)need;
    p->blocks = plan_resident_by_registers(p);
    return plan_take_shared(j, p, lay_ring(p));
}

/* ---- its cost ------------------------------------------------------------------------------- */

/* Instructions of a thread: for a pack of results and one of their points, which move the ring and
   store, and for a pack that it reads; and the share of its turns in which a scheduler has a warp
   to issue. From 24 figures of stars of radius 2 to 4 (float and double, 512³ and 768³) on an H200,
   where profiles show it issuing in 0.68 of its turns and waiting for memory in few. */
static const struct costs { double pack, point, read, issued; } costs = {145, 28, 3, 0.68};

static const double lanes = 128, bytes_a_cycle = 128;

/* Elements that a block brings for each point that it makes. */
static double brought(const plan *p) {
    const double points = (double)p->tile[0] * p->tile[1] * p->walk;
    double sum = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        sum += (double)box_cells(p, a) * (p->walk + a->low[2] + a->high[2]) / points;
    }
    return sum;
}

/* How many times as long as blocks in whole waves of lanes that all have work. */
static double slower(const plan *p, const int64_t size[AXES]) {
    double covered;
    const double blocks = plan_blocks(p, size, &covered);
    const double waves = blocks / ((double)p->gpu->multiprocessors * p->estimate.blocks_resident);
    return covered * (waves < 1 ? 1 / waves : (1 + ceil(waves) / waves) / 2);
}

static void cost(plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    const gpu *g = p->gpu;
    plan_estimate *e = &p->estimate;
    const double bytes = (double)dtype_words[m->dtype].bytes,
                 machine = g->clock * g->multiprocessors;
    const double points = (double)p->schedule.vector * lane_rows(p);
    const double walk = 1 + (depth(p) - 1) / (double)p->walk;
    e->blocks_resident = plan_resident(p);
    e->loads_per_point = brought(p);
    e->shared_per_point = brought(p) + walk * count_packs(p) * p->schedule.vector / points;
    e->bytes_per_point =
        model_bytes_per_point(m) + bytes * p->array_count * (depth(p) - 1) / (double)p->walk;
    e->instructions_per_point =
        walk * (p->facts->sum_operations * lanes / g->fma_lanes[m->dtype] + costs.point +
                costs.pack / p->schedule.vector + costs.read * count_packs(p) / points);
    const struct {
        const char *what;
        double seconds; /* a point */
    } terms[] = {
        {"device memory", e->bytes_per_point / gpu_copy_rate(g)},
        {"instructions", e->instructions_per_point / (lanes * machine * costs.issued)},
        {"shared memory", e->shared_per_point * bytes / (bytes_a_cycle * machine)},
    };
    double longest = 0, all = 1;
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
        if (terms[i].seconds > longest) {
            longest = terms[i].seconds;
            e->bound = terms[i].what;
        }
    for (int axis = 0; axis < m->dims; axis++)
        all *= (double)size[axis];
    e->seconds = longest * all * slower(p, size);
}

/* ---- the method ----------------------------------------------------------------------------- */

static void constants(text *t, const plan *p, const program *program) {
    (void)program;
    int64_t cells = 0;
    for (int i = 0; i < p->array_count; i++)
        cells += box_cells(p, &p->arrays[i]);
    const int64_t slot = cells * (int64_t)dtype_words[p->facts->model->dtype].bytes;
    text_printf(t,
                "    static constexpr int walk = %d, vector = %d;\n"
                "    static constexpr int lane_y = %d; // rows of a thread\n"
                "    static constexpr int ring = %d; // planes in shared memory\n",
                p->walk, p->schedule.vector, lane_rows(p),
                slot > 0 ? (int)((int64_t)p->shared_bytes / slot) : LEAST_SLOTS);
}

static void definitions(text *t, const plan *p) {
    text_add(t,
             "// What the thread's points read of row y of an array's plane, 0 being the first of "
             "theirs: nothing where\n// `last` is before `first`, else so far below and above.\n"
             "template <int array, int y> struct Asks;\n");
    for (int array = 0; array < p->array_count; array++)
        for (int y = -p->low[1]; y < lane_rows(p) + p->high[1]; y++) {
            int low, high;
            const bool any = ask_line(p, array, y, &low, &high);
            text_printf(t,
                        "template <> struct Asks<%d, %d> { static constexpr int first = 0, "
                        "last = %d, low = %d, high = %d; };\n",
                        array, y, any ? 0 : -1, low, high);
        }
    text_add(t, "\n");
}

static const form sums_form = {.file = "ring.cu",
                               .barriers = true,
                               .staged = true,
                               .staged_all = true,
                               .sums = true,
                               .fit = fit,
                               .cost = cost,
                               .constants = constants,
                               .definitions = definitions};

static const form *choose(const plan_facts *f, const schedule *s) {
    (void)f, (void)s;
    return &sums_form;
}

static int walk(int dims) {
    return dims > 1 ? dims - 1 : -1;
}

static const char *refuse(job *j, const plan_facts *f, const schedule *s) {
    (void)j, (void)s;
    return f->model->dims < 2 ? "it walks the last of several axes"
           : !f->linear       ? "it keeps partial sums, and the update is not linear"
                              : NULL;
}

static void candidates(search *s) {
    static const int walks[] = {32, 64, 96, 0};
    static const search_tiles tiles[AXES] = {{{512}}, /* refused */
                                             {{256}, {512}, {1024}},
                                             {{64, 16}, {64, 32}, {128, 16}}};
    const int vectors[] = {search_widest(s), 0};
    search_blocks(s, tiles, walks, vectors);
}

const method method_ring = {
    .name = "ring",
    .summary = "a block walks the last axis with a ring of planes in shared memory, filled by "
               "asynchronous copies, and partial sums in registers",
    .keys = SCHEDULE_COARSEN | SCHEDULE_ROWS | SCHEDULE_VECTOR,
    .textbook_tile = 32,
    .walk = walk,
    .refuse = refuse,
    .form = choose,
    .candidates = candidates,
};
