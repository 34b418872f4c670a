/* naive: a thread a point, or a pack of points along x. Neighbours come through the caches. */
#include "gen/stencil/search.h"

#include <math.h>

static bool loads_packs(const schedule *s) {
    return s->vector > 1;
}

/* ---- a point a thread ---------------------------------------------------------------------- */

static int64_t point_registers(const plan *p) {
    return 22 + plan_words(p) * block_least(p->facts->all_taps, 36) * 13 / 10;
}

static void point_traffic(plan *p) {
    p->estimate.loads_per_point = p->facts->all_taps;
}

static double instructions(const plan *p) {
    return (block_point_instructions() + block_load_instructions(p)) / p->schedule.vector +
           block_arithmetic(p);
}

static const block_form point_block = {.registers = point_registers,
                                       .traffic = point_traffic,
                                       .instructions = instructions,
                                       .spills = true};
/* How much of its time a point with many neighbours takes, whose loads share lines of the
   first-level cache. Boxes of 125 points with fixed sides, H200: 0.34 to 0.74 in 6 figures. */
static double shared_lines(const plan *p) {
    enum { MANY = 100 };
    static const double share = 0.58;
    return p->facts->all_taps >= MANY && model_all_fixed(p->facts->model) ? share : 1;
}

/* Each of a point's cells of 16 bits is converted. Without this, estimates are 0.3 to 1 of 24 times
   in 3D on an H200, 0.66 in the mean. */
static double converted(const plan *p) {
    static const double more = 1.5;
    return model_is_narrow(p->facts->model) && p->facts->model->dims == 3 ? more : 1;
}

static void point_cost(plan *p, const int64_t size[AXES]) {
    block_cost(p, size);
    p->estimate.seconds *= shared_lines(p) * converted(p);
}

static const form point_form = {.file = "naive.cu",
                                .awaits = true,
                                .narrow = true,
                                .plain = true,
                                .points = true,
                                .block = &point_block,
                                .cost = point_cost};

/* ---- a pack a thread ----------------------------------------------------------------------- */

/* Whole packs of a few rows stay in registers. Of many rows the compiler lets go what no tap reads,
   but the rest stays in use from the first point to the last, and what does not fit spills. What
   divisions and functions are made of stays too: 56 bytes of the acoustic wave with a sponge.
   Lines of few cells need so few that a multiprocessor may be full of threads, which waits least:
   5 and 7 points, 2^28 floats, H200: 0.997 of a copy by 2048 threads, 0.93 by 1536. */
static int64_t pack_registers(const plan *p) {
    enum { FEW = 60, FULL = 32, OF_FULL = 24 };
    const plan_facts *f = p->facts;
    const int vector = p->schedule.vector;
    const int64_t words = plan_words(p);
    int64_t whole = 0, read = 0;
    for (int r = 0; r < f->row_count; r++) {
        whole += round_up(f->rows[r].low, vector) + vector + round_up(f->rows[r].high, vector);
        read += f->rows[r].low + vector + f->rows[r].high;
    }
    const int64_t few = block_least(words * whole, FEW);
    const int64_t held = words * read > few ? words * read : few;
    const double calls = fmin(calls_slots(p, vector) / 8, 20) * (double)words * vector;
    if (f->model->dims == 1 && held <= OF_FULL && calls < 1)
        return FULL;
    return block_least(40 + (held > 28 ? held - 28 : 0) + 8 * (words - 1) + (int64_t)calls,
                       MAX_REGISTERS);
}

/* Packs that a thread loads; each serves as many points as it has elements. */
static void pack_traffic(plan *p) {
    const double v = p->schedule.vector;
    double packs = 0;
    for (int r = 0; r < p->facts->row_count; r++)
        packs += 1 + ceil(p->facts->rows[r].low / v) + ceil(p->facts->rows[r].high / v);
    p->estimate.loads_per_point = packs;
}

static void pack_macros(text *t, const plan *p, bool packs, bool only_written) {
    (void)packs, (void)only_written;
    text_printf(t, "#define PLAN_LINE %d // the grid has one axis\n", p->facts->model->dims == 1);
}

/* Rows of other threads come through the caches, late where these have them from memory: the wave
   of specs/acoustic.lua, 8 such rows, takes 528 µs at 8192x8192 on an H200 where the other terms
   say 369. A few rows are not late: Maxwell's equations take what the terms say. Several arrays
   take longer beyond sides that are not fixed (six waves of order 2 and 4). */
static void pack_cost(plan *p, const int64_t size[AXES]) {
    enum { FEW = 4 };
    static const double row = 0.1, beyond = 1.15;
    const int rows = larger(p->facts->row_count - p->array_count - FEW, 0);
    point_cost(p, size);
    if (p->facts->model->dims == 2) /* in 3D it was not measured */
        p->estimate.seconds *=
            (1 + row * rows * (1 - plan_in_cache(p, size))) *
            (p->array_count > 1 && !model_all_fixed(p->facts->model) ? beyond : 1);
}

/* A point at an edge is loaded, made and stored before the next: 7- and 5-point stars, H200, 64³ to
   256³ and 1024² to 4096², fixed sides, float and double. */
static double edge_cycles(const plan *p) {
    static const double point = 1100;
    return point * p->schedule.vector;
}

static const block_form pack_block = {.registers = pack_registers,
                                      .traffic = pack_traffic,
                                      .instructions = instructions,
                                      .edge_cycles = edge_cycles,
                                      .spills = true};
static const form pack_form = {.file = "packs.cu",
                               .awaits = true,
                               .narrow = true,
                               .points = true,
                               .plain = true,
                               .packs = true,
                               .block = &pack_block,
                               .cost = pack_cost,
                               .macros = pack_macros};

/* ---- the method ---------------------------------------------------------------------------- */

static const form *choose(const plan_facts *f, const schedule *s) {
    (void)f;
    return loads_packs(s) ? &pack_form : &point_form;
}

static void candidates(search *s) {
    static const int vectors[] = {1, 2, 4, 0}, narrow[] = {1, 2, 4, 8, 0}, none[] = {0};
    static const search_tiles tiles[AXES] = {
        {{256}, {512}, {1024}, {2048}},
        {{32, 8}, {64, 4}, {128, 2}, {128, 4}, {128, 8}, {256, 1}, {256, 2}, {256, 4}, {512, 2}},
        {{32, 4, 4},
         {64, 4, 1},
         {64, 2, 2},
         {64, 4, 2},
         {64, 4, 4},
         {128, 2, 1},
         {128, 4, 1},
         {8, 8, 8}}};
    const int *const packs = search_widest(s) > 4 ? narrow : vectors;
    search_blocks(s, tiles, none, packs);
    search_short(s, none, packs);
}

const method method_naive = {
    .name = "naive",
    .summary = "a thread a point, neighbours through the caches",
    .keys = SCHEDULE_VECTOR,
    .form = choose,
    .candidates = candidates,
};
