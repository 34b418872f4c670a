/* rows: for processors. A block is one thread, which makes its tile row by row in plain loops, of
   which the host's compiler makes vectors. */
#include "gen/stencil/search.h"

#include <math.h>

enum {
    BUFFER_BYTES = 8192, /* of results that stay in the nearest cache, of all outputs */
    LEAST_RUN = 64,
    MOST_RUN = 1024,
};

const double rows_rate = 1;

int rows_run(const plan *p) {
    const model *m = p->facts->model;
    const int bytes = (int)model_cell_bytes(m) * m->output_count;
    const int run = BUFFER_BYTES / bytes / LEAST_RUN * LEAST_RUN;
    return run < LEAST_RUN ? LEAST_RUN : smaller(run, MOST_RUN);
}

void rows_lay_thread(plan *p) {
    for (int k = 0; k < AXES; k++)
        p->block[k] = 1;
    p->blocks = 1;
    p->estimate.registers = 128;
    p->estimate.blocks_resident = 1;
    p->estimate.loads_per_point = p->facts->all_taps;
}

static const char *fit(job *j, plan *p) {
    (void)j;
    rows_lay_thread(p);
    return NULL;
}

/* ---- its cost -------------------------------------------------------------------------------- */

static double extent(const plan *p, const int64_t size[AXES], int k) {
    return p->axes[k] < 0 ? 1 : (double)size[p->axes[k]];
}

/* Points of a block along an axis, where the grid may be smaller. */
static double span(const plan *p, const int64_t size[AXES], int k) {
    return fmin(p->tile[k], extent(p, size, k));
}

/* Bytes a point through memory: each array once, and again what a block reads of its neighbours' or
   does not keep in the core's cache until the next plane asks for it. */
static double traffic(const plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    const processor *of = p->gpu->processor;
    const double bytes = (double)model_cell_bytes(m);
    double held = 0, again = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        const double row = (span(p, size, 0) + a->low[0] + a->high[0]) * bytes;
        const double rows = span(p, size, 1) + a->low[1] + a->high[1];
        held += row * (a->low[2] + a->high[2] > 0 ? rows * (a->low[2] + 1 + a->high[2])
                                                  : a->low[1] + 1 + a->high[1]);
        for (int k = 1; k < AXES; k++)
            again += (a->low[k] + a->high[k]) / span(p, size, k) * bytes;
    }
    /* The cache keeps what was used last, and lets some of it go earlier. */
    static const double usable = 0.6;
    const double lost = fmin(held / (usable * of->core_cache), 2) - 1;
    double planes = 0;
    for (int i = 0; i < p->array_count; i++)
        planes += p->arrays[i].low[2] + p->arrays[i].high[2];
    return model_bytes_per_point(m) + again + (lost > 0 ? lost * planes * bytes : 0);
}

double rows_instructions(const plan *p) {
    const expr_count c = p->facts->inside;
    const expr_work calls = p->facts->calls[0][0]; /* vectors share nothing between their lanes */
    return p->facts->all_taps + fmax(c.additions, c.multiplications) / 2 + calls.units +
           calls.others + 2.0 * p->facts->model->output_count;
}

/* Seconds of a block's start, and of a run of a row: its rows are found, and its results stored. */
static const double block_start = 2e-7, run_start = 8e-9;

static void processor_cost(plan *p, const int64_t size[AXES]) {
    const processor *of = p->gpu->processor;
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    const double lanes = (double)of->vector_bytes / (double)dtype_words[m->dtype].bytes;
    double points = 1, blocks = 1;
    for (int k = 0; k < AXES; k++) {
        points *= extent(p, size, k);
        blocks *= ceil(extent(p, size, k) / p->tile[k]);
    }
    e->bytes_per_point = traffic(p, size);
    e->instructions_per_point = rows_instructions(p) / lanes;
    const double runs = ceil(span(p, size, 0) / rows_run(p)) / span(p, size, 0);
    const double arithmetic =
        (e->instructions_per_point / (rows_rate * of->clock) + runs * run_start) / of->cores;
    const double memory = e->bytes_per_point / of->copy_rate;
    /* Other programs delay a core: a worker then leaves blocks to the others. */
    const double rounds = ceil(blocks / of->cores) * of->cores / blocks + of->cores / (4 * blocks);
    e->bound = arithmetic > memory ? "instructions" : "memory";
    e->seconds = (hypot(arithmetic, memory) * points + blocks * block_start / of->cores) * rounds;
}

void rows_cost_on_gpu(plan *p, const int64_t size[AXES]) {
    enum { LATENCY = 500 };
    double covered;
    plan_blocks(p, size, &covered);
    plan_estimate *e = &p->estimate;
    e->bytes_per_point = model_bytes_per_point(p->facts->model);
    e->instructions_per_point = WARP * (2.0 * p->facts->all_taps + 8);
    e->bound = "waiting for memory";
    e->seconds = (double)size[0] * (double)size[1] * (double)size[2] * p->facts->all_taps *
                 LATENCY / (p->gpu->clock * p->gpu->multiprocessors);
}

static void cost(plan *p, const int64_t size[AXES]) {
    (p->gpu->processor != NULL ? processor_cost : rows_cost_on_gpu)(p, size);
}

/* ---- the method ------------------------------------------------------------------------------ */

static void constants(text *t, const plan *p) {
    text_printf(t,
                "    static constexpr int run = %d; // points between two stores\n"
                "    static constexpr int rows = %d;\n",
                rows_run(p), p->facts->row_count);
}

static const form form_rows = {.file = "rows.cu",
                               .plain = true,
                               .narrow = true,
                               .points = true,
                               .one_way = true,
                               .definitions = plan_write_rows,
                               .fit = fit,
                               .cost = cost,
                               .constants = constants};

/* What lies beyond the grid is copied into rows of cells. */
static const char *refuse(job *j, const plan_facts *f, const schedule *s) {
    (void)j, (void)s;
    const model *m = f->model;
    bool constant = false;
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < m->field_count; i++)
                constant |= model_side_of(m, i, axis, side)->kind == BOUNDARY_CONSTANT;
    if (constant && model_is_narrow(m))
        return "cells of 16 bits may not hold the constant of the boundary; naive serves";
    for (int i = 1; i < m->field_count; i++)
        if (model_storage(m, i) != model_storage(m, 0))
            return "the fields have cells of different types; naive serves";
    return NULL;
}

/* Whole rows of x, unless they are very long. */
static void candidates(search *s) {
    static const int none[] = {0}, one[] = {1, 0};
    static const search_tiles tiles[AXES] = {
        {{1024}, {4096}, {16384}, {65536}},
        {{65536, 4}, {65536, 16}, {65536, 64}, {4096, 16}, {4096, 64}, {2048, 256}},
        {{4096, 4, 4},
         {4096, 8, 16},
         {4096, 16, 16},
         {4096, 16, 64},
         {4096, 32, 32},
         {4096, 32, 128},
         {4096, 64, 128},
         {512, 16, 64},
         {512, 32, 128},
         {512, 64, 128}}};
    search_blocks(s, tiles, none, one);
}

const method method_rows = {
    .name = "rows",
    .summary =
        "for processors: a thread a block, rows in plain loops that compilers make vectors of",
    .serial = true,
    .refuse = refuse,
    .only = &form_rows,
    .candidates = candidates,
};
