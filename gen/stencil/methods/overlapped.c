/* overlapped: for processors, several steps a launch. A block is one thread, which keeps its tile
   with a halo for all steps in a cache of its core. */
#include "gen/stencil/search.h"

#include <math.h>
#include <string.h>

/* The box of a block, in elements. */
static double box_of(const plan *p, int left) {
    double box = 1;
    for (int k = 0; k < AXES; k++)
        box *= p->tile[k] + left * (double)(p->low[k] + p->high[k]);
    return box;
}

static const char *fit(job *j, plan *p) {
    const int64_t bytes = (int64_t)dtype_words[p->facts->model->dtype].bytes;
    rows_lay_thread(p);
    return plan_take_shared(j, p, fused_lay_boxes(p) * bytes);
}

/* ---- its cost -------------------------------------------------------------------------------- */

/* Seconds of a block's start, and of the start of a row in a step. */
static const double block_start = 5e-7, row_start = 1.2e-8;

/* A block loads its boxes, makes the steps and stores the tile, one after the other. */
static void processor_cost(plan *p, const int64_t size[AXES]) {
    const processor *of = p->gpu->processor;
    const model *m = p->facts->model;
    plan_estimate *e = &p->estimate;
    const double bytes = (double)dtype_words[m->dtype].bytes;
    const double lanes = of->vector_bytes / bytes;
    const double point = rows_instructions(p) / lanes / (rows_rate * of->clock);
    double blocks = 1, steps = 0, made = 0;
    for (int k = 0; k < AXES; k++) {
        const double n = p->axes[k] < 0 ? 1 : (double)size[p->axes[k]];
        blocks *= ceil(n / p->tile[k]);
    }
    for (int left = 0; left < p->schedule.time; left++) {
        const double row = p->tile[0] + left * (double)(p->low[0] + p->high[0]);
        const double box = box_of(p, left), rows = box / row;
        made += box;
        steps += box * point + rows * (row_start + lanes / 2 * point);
    }
    const double moved =
        (p->array_count * box_of(p, p->schedule.time) + m->output_count * box_of(p, 0)) *
        (double)model_cell_bytes(m);
    const double own = of->copy_rate / of->cores;
    const double rounds = ceil(blocks / of->cores);
    e->bytes_per_point = moved / (box_of(p, 0) * p->schedule.time);
    e->instructions_per_point =
        rows_instructions(p) / lanes * made / (box_of(p, 0) * p->schedule.time);
    e->shared_per_point = p->facts->all_taps + m->output_count;
    e->bound = steps > moved / own ? "instructions" : "memory";
    e->seconds = rounds * (steps + moved / own + block_start);
}

static void cost(plan *p, const int64_t size[AXES]) {
    if (p->gpu->processor != NULL)
        processor_cost(p, size);
    else
        rows_cost_on_gpu(p, size);
}

/* ---- the method ------------------------------------------------------------------------------ */

static void constants(text *t, const plan *p) {
    const plan_facts *f = p->facts;
    fused_write_round(t, p);
    text_printf(t,
                "    static constexpr bool star = %s; // every tap lies on an axis\n"
                "    static constexpr int run = %d; // points between two stores\n",
                f->column_or_plane && !f->corners ? "true" : "false", rows_run(p));
}

static const form form_overlapped = {.file = "overlapped.cu",
                                     .places = true,
                                     .narrow = true,
                                     .points = true,
                                     .positions = true,
                                     .one_way = true,
                                     .fit = fit,
                                     .cost = cost,
                                     .constants = constants,
                                     .definitions = fused_write_levels,
                                     .fewer = fused_fewer_by_halves};

static const char *refuse(job *j, const plan_facts *f, const schedule *s) {
    (void)j, (void)s;
    const model *m = f->model;
    for (int i = 1; i < m->field_count; i++)
        if (model_storage(m, i) != model_storage(m, 0))
            return "the fields have cells of different types, and it stores rows of one type";
    for (int i = 0; i < m->field_count; i++)
        if (m->fields[i].levels > 1)
            return "it makes several steps of fields that keep no previous level";
    return fused_refuse(m);
}

/* Boxes that caches of half a megabyte to two hold, of which the halo takes its part; and one that
   fits shared memory. */
static void candidates(search *s) {
    static const int boxes[AXES][10][AXES] = {{{2048}, {8192}, {32768}},
                                              {{64, 32},
                                               {256, 32},
                                               {256, 64},
                                               {256, 128},
                                               {512, 64},
                                               {512, 128},
                                               {512, 256},
                                               {1024, 64},
                                               {1024, 128}},
                                              {{16, 16, 16},
                                               {32, 32, 32},
                                               {64, 24, 24},
                                               {64, 32, 32},
                                               {64, 48, 48},
                                               {128, 24, 24},
                                               {128, 32, 32},
                                               {128, 40, 40},
                                               {256, 24, 24},
                                               {256, 32, 32}}};
    static const int times[] = {2, 3, 4, 6, 8, 12, 16, 32, 64, 0};
    const model *m = s->facts->model;
    for (int i = 0; i < 10 && boxes[m->dims - 1][i][0] != 0; i++)
        for (int t = 0; times[t] != 0; t++) {
            schedule c = *s->wanted;
            c.time = search_given(c.time, times[t]);
            c.vector = search_given(c.vector, 1);
            bool some = search_is_useful(s, c.time);
            for (int axis = 0; axis < m->dims && some; axis++)
                some = search_leave(s, &c, axis, boxes[m->dims - 1][i][axis],
                                    2 * c.time * larger(m->low[axis], m->high[axis]));
            if (some)
                search_fused(s, c);
        }
}

const method method_overlapped = {
    .name = "overlapped",
    .summary =
        "for processors, several steps a launch: each block keeps its tile and a halo in a cache",
    .keys = SCHEDULE_TIME,
    .serial = true,
    .fused = true,
    .refuse = refuse,
    .only = &form_overlapped,
    .candidates = candidates,
};
