/* register: a block walks the last axis with one plane in shared memory, and each thread has the
   neighbours along that axis in registers. Linear updates that leave both a point's column and its
   plane keep partial sums instead. In 1D each thread holds a window of x. */
#include "gen/stencil/search.h"

/* How many columns of points a thread has. */
static int64_t columns(const plan *p) {
    return (int64_t)((p->tile[0] + p->block[0] - 1) / p->block[0]) *
           ((p->tile[1] + p->block[1] - 1) / p->block[1]);
}

static int depth(const plan *p) {
    return p->low[2] + 1 + p->high[2];
}

/* ---- a column in registers ----------------------------------------------------------------- */

static int64_t column_registers(const plan *p) {
    int64_t held = 0;
    for (int i = 0; i < p->array_count; i++)
        held += p->arrays[i].staged ? columns(p) * (plan_words(p) * depth(p) + 2) : 0;
    return 36 + held + 2 * columns(p) * p->facts->model->output_count;
}

static void column_traffic(plan *p) {
    const double taps = p->facts->all_taps;
    double column = 0; /* taps that registers serve */
    for (int i = 0; i < p->array_count; i++)
        column += p->arrays[i].staged ? depth(p) : 0;
    p->estimate.loads_per_point = block_staged(p) + block_own_taps(p);
    p->estimate.shared_per_point = block_staged(p) + taps - (column < taps ? column : taps);
}

static const block_form column_block = {.registers = column_registers,
                                        .elements = block_box,
                                        .traffic = column_traffic,
                                        .instructions = block_walk_staging,
                                        .cycles = block_walk_cycles,
                                        .edge = block_edge};
static const form column_form = {.file = "register.cu",
                                 .awaits = true,
                                 .narrow = true,
                                 .barriers = true,
                                 .staged = true,
                                 .points = true,
                                 .block = &column_block,
                                 .constants = block_write_walk};

/* ---- partial sums -------------------------------------------------------------------------- */

static int64_t sum_registers(const plan *p) {
    return 30 + columns(p) * p->facts->model->output_count * (plan_words(p) * depth(p) + 2);
}

static void sum_traffic(plan *p) {
    p->estimate.loads_per_point = block_staged(p) + block_own_taps(p);
    p->estimate.shared_per_point = block_staged(p) + p->facts->plane_taps;
}

static const block_form sum_block = {.registers = sum_registers,
                                     .elements = block_box,
                                     .traffic = sum_traffic,
                                     .instructions = block_walk_staging,
                                     .cycles = block_walk_cycles,
                                     .edge = block_edge};
static const form sum_form = {.file = "sums.cu",
                              .awaits = true,
                              .narrow = true,
                              .barriers = true,
                              .staged = true,
                              .staged_all = true,
                              .sums = true,
                              .block = &sum_block,
                              .constants = block_write_walk};

/* ---- a window of x ------------------------------------------------------------------------- */

/* Shared memory leaves out one element in 33, so that threads a window apart do not meet in a
   bank. */
static int padded(int64_t i) {
    return (int)(i + (i >> 5));
}

static int64_t window_registers(const plan *p) {
    int64_t held = 0;
    for (int i = 0; i < p->array_count; i++)
        held += p->walk + p->arrays[i].low[0] + p->arrays[i].high[0];
    return 26 + plan_words(p) * held;
}

static int64_t window_elements(const plan *p, const plan_array *a) {
    return padded((int64_t)p->per_block[0] + a->low[0] + a->high[0]) + 1;
}

static void window_traffic(plan *p) {
    double window = 2 * p->facts->model->output_count; /* results go through shared memory too */
    for (int i = 0; i < p->array_count; i++)
        window += (p->walk + p->arrays[i].low[0] + p->arrays[i].high[0]) / (double)p->walk;
    p->estimate.loads_per_point = block_staged(p) + block_own_taps(p);
    p->estimate.shared_per_point = block_staged(p) + window;
}

/* The window is a divisor of the coarsening. */
static const char *window_fit(job *j, plan *p) {
    enum { MAX_WINDOW = 16 };
    const int coarsen = p->schedule.coarsen[0];
    p->walk = MAX_WINDOW;
    while (coarsen % p->walk != 0)
        p->walk--;
    p->tile[0] /= p->walk;
    p->result_pitch = padded(p->per_block[0]) + 1;
    return block_fit(j, p);
}

static void window_constants(text *t, const plan *p) {
    text_printf(t, "    static constexpr int walk = %d, results = %d, result_pitch = %d;\n",
                p->walk, p->results, p->result_pitch);
}

static const block_form window_block = {.registers = window_registers,
                                        .elements = window_elements,
                                        .traffic = window_traffic,
                                        .instructions = block_staging,
                                        .cycles = block_tile_cycles,
                                        .edge = block_edge};
static const form window_form = {.file = "window.cu",
                                 .awaits = true,
                                 .narrow = true,
                                 .barriers = true,
                                 .staged = true,
                                 .staged_all = true,
                                 .points = true,
                                 .block = &window_block,
                                 .fit = window_fit,
                                 .constants = window_constants};

/* ---- the method ---------------------------------------------------------------------------- */

static const form *choose(const plan_facts *f, const schedule *s) {
    (void)s;
    return f->model->dims == 1 ? &window_form : f->column_or_plane ? &column_form : &sum_form;
}

static const char *refuse(job *j, const plan_facts *f, const schedule *s) {
    (void)j;
    return choose(f, s) == &sum_form && !f->linear
               ? "one plane in shared memory serves a shape off its column and plane only where "
                 "partial sums can be kept, so for linear updates"
               : NULL;
}

static void candidates(search *s) {
    static const int one[] = {1, 0}, few[] = {2, 4, 8, 0}, many[] = {8, 16, 32, 64, 0};
    static const search_tiles tiles[AXES] = {{{128}, {256}, {512}},
                                             {{64}, {128}, {256}, {512}},
                                             {{32, 4}, {32, 8}, {32, 16}, {32, 32}, {64, 8}}};
    search_blocks(s, tiles, s->facts->model->dims == 1 ? few : many, one);
}

const method method_register = {
    .name = "register",
    .summary = "a block walks the last axis with one plane in shared memory and the neighbours "
               "along it in registers",
    .keys = SCHEDULE_COARSEN,
    .textbook_tile = 32,
    .walks = WALKS_LAST,
    .refuse = refuse,
    .form = choose,
    .candidates = candidates,
};
