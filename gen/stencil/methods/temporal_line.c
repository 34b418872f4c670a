/* temporal in 1D: a stretch of x in the registers of a warp. */
#include "gen/stencil/methods/temporal.h"

#include <math.h>

enum { LINE_WARPS = 4 }; /* of a block; they are independent of each other */

static size_t line_bytes(const plan *p) {
    return (size_t)LINE_WARPS * (size_t)p->fused.width[0] *
           dtype_words[p->facts->model->dtype].bytes;
}

/* A new value takes the register of a value that is no longer read, except for a few. */
static int64_t line_registers(const plan *p) {
    const int64_t lane = p->schedule.lane[0];
    return 32 + plan_words(p) * (lane + lane / 8 + p->low[0] + p->high[0]);
}

static const char *fit(job *j, plan *p) {
    temporal_begin(p);
    p->walk = 1;
    const schedule *s = &p->schedule;
    const int bytes = (int)dtype_words[p->facts->model->dtype].bytes, pack = MAX_PACK_BYTES / bytes;
    plan_fused *f = &p->fused;
    if (s->vector != pack)
        return job_print(j, "it loads packs of %d elements", pack);
    if (s->lane[0] % pack != 0 || s->lane[0] / pack % 2 == 0)
        return job_print(j, "lane=%d: a lane holds an odd number of packs of %d elements",
                         s->lane[0], pack);
    f->width[0] = WARP * s->lane[0];
    f->halo_low[0] = round_up(s->time * p->low[0], pack);
    f->halo_high[0] = f->width[0] - f->halo_low[0] - s->tile[0];
    if (f->halo_high[0] < s->time * p->high[0] || s->tile[0] % pack != 0)
        return job_print(
            j,
            "tile=%d: %d steps leave at most %d of the %d points of a warp, in packs "
            "of %d",
            s->tile[0], s->time,
            larger(f->width[0] - f->halo_low[0] - round_up(s->time * p->high[0], pack), 0),
            f->width[0], pack);
    p->tile[0] = s->tile[0];
    p->per_block[0] = LINE_WARPS * s->tile[0];
    p->block[0] = LINE_WARPS * WARP;
    const char *refusal = temporal_check_lane(j, p, 0);
    if (refusal == NULL)
        refusal = temporal_check_registers(j, p, line_registers(p));
    return refusal != NULL ? refusal : plan_take_shared(j, p, (int64_t)line_bytes(p));
}

/* ---- its cost -------------------------------------------------------------------------------- */

static const temporal_costs costs = {3, 20, 60, 60, 2000, 0.95, 50, 1.03, 8, 1, 4};

/* `lane` points a lane through all steps. */
static temporal_work line_work(const plan *p) {
    const schedule *s = &p->schedule;
    const double lane = s->lane[0], reach = p->low[0] + p->high[0];
    const expr_count emitted = p->facts->emitted;
    const temporal_costs *c = &costs;
    const double operations = fmax(emitted.additions + 1, emitted.multiplications);
    const double moved = lane * plan_words(p) / TEMPORAL_PACK_WORDS;
    const double step =
        temporal_slots(p, lane * operations, TEMPORAL_SHUFFLE * plan_words(p) * reach + c->level);
    return (temporal_work){.costs = c,
                           .slots = s->time * step + 6 * moved + 100,
                           .latency = s->time * (c->level_cycles + step),
                           .loads = lane * WARP,
                           .shared = 4 * lane * WARP};
}

static void cost(plan *p, const int64_t size[AXES]) {
    const temporal_work w = line_work(p);
    temporal_cost(p, size, &w, NULL);
}

/* ---- the form -------------------------------------------------------------------------------- */

static void constants(text *t, const plan *p, const program *program) {
    (void)program;
    text_printf(t,
                "    static constexpr int time = %d;\n"
                "    static constexpr int lane_x = %d, halo_low_x = %d;\n",
                p->schedule.time, p->schedule.lane[0], p->fused.halo_low[0]);
}

const form temporal_line = {.file = "line.cu",
                            .barriers = true,
                            .points = true,
                            .fit = fit,
                            .cost = cost,
                            .constants = constants,
                            .fewer = fused_fewer_by_halves};

/* What is tried where the constraints leave it open. */
static const int lanes[] = {6, 10, 12, 14, 18, 20, 22, 26, 28, 30, 36, 44, 52, 60, 0};
static const int times[] = {8, 16, 24, 32, 48, 64, 96, 128, 0};

void temporal_try_lines(search *s) {
    const model *m = s->facts->model;
    const int pack = search_widest(s);
    for (int l = 0; lanes[l] != 0; l++)
        for (int t = 0; times[t] != 0; t++) {
            schedule c = *s->wanted;
            c.time = search_given(c.time, times[t]);
            c.lane[0] = search_given(c.lane[0], lanes[l]);
            c.vector = search_given(c.vector, pack);
            if (search_is_useful(s, c.time) &&
                search_leave(s, &c, 0, WARP * c.lane[0],
                             round_up(c.time * m->low[0], pack) +
                                 round_up(c.time * m->high[0], pack)))
                search_fused(s, c);
        }
}
