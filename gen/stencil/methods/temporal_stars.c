/* temporal in 3D, of shapes that reach along the axes alone: a plane falls through all levels in
   one turn, since along z a level needs its own column only, and a level keeps 2 values of a point
   for each cell that the shape reaches (templates/stars.cu). */
#include "gen/stencil/methods/temporal.h"

#include "gen/source/emit.h"

#include <math.h>

enum {
    STAR_INPUT = 4, /* planes: two that are read, and two on their way */
    MOST_REACH = 2,
};

/* Whether each side of each axis is as far, and nothing lies elsewhere. */
bool temporal_is_star(const plan_facts *f) {
    const model *m = f->model;
    const int reach = m->low[0];
    if (m->dims != 3 || m->fields[0].levels > 1 || model_is_narrow(m) || f->corners ||
        !f->column_or_plane || reach < 1 || reach > MOST_REACH)
        return false;
    for (int axis = 0; axis < AXES; axis++)
        for (int side = 0; side < 2; side++)
            if ((side == 0 ? m->low : m->high)[axis] != reach)
                return false;
    return true;
}

/* Two values of a point for each level and cell that it reaches; and as many again for half of them
   at a time, as ptxas needs for patches of 8 to 16 points. */
static int64_t registers(const plan *p) {
    const schedule *s = &p->schedule;
    const int state = plan_words(p) * s->lane[0] * s->lane[1] * s->time * 2 * p->high[2];
    return 8 + 3 * state / 2;
}

static const char *fit(job *j, plan *p) {
    const char *refusal = temporal_lay_patches(j, p);
    if (refusal != NULL)
        return refusal;
    p->fused.input = STAR_INPUT;
    p->fused.keep = true;
    p->fused.apart = temporal_by_boxes(p);
    temporal_need_images(p);
    if (fused_has_images(p->facts->model)) /* no plane that one end keeps has images of the other */
        p->least[2] = larger(p->least[2], 2 * p->high[2]);
    refusal = temporal_check_registers(j, p, registers(p));
    return refusal != NULL ? refusal : plan_take_shared(j, p, temporal_boxes_bytes(p));
}

/* ---- its cost -------------------------------------------------------------------------------- */

/* Fitted to 180 figures of 7 and 13 points on an H200, float and double, of 2.5 to 57 million
   points and all boundaries. */
static const temporal_costs costs = {1, 1, 1, 440, 4700, 1.08, 1.6, 1.16, 40, 1.26, 2.35};

/* How many times as long where rows are no packs, by 70 figures of 13 problems on an H200. Of 29
   that were drawn afterwards the estimate is 0.99 of the time in the mean, with a deviation of
   0.09. Few steps take longer, as a launch takes as many rows for fewer updates. Of radius 1, where
   few registers are left beside what sides keep, some values lie in local memory, of which copies
   of single elements leave little in the first-level cache. */
static double apart(const plan *p) {
    enum { ROOM = 32, FEW = 128 };
    const int side = p->facts->model->sides[0][0].kind;
    const bool open = side == BOUNDARY_PERIODIC || side == BOUNDARY_CLAMP;
    const bool few_steps = p->schedule.time * p->high[2] < 4;
    const bool wide = plan_words(p) > 1;
    const int most = REGISTERS_PER_MULTIPROCESSOR / (plan_threads(p) * p->blocks);
    const bool full = !open && p->high[2] == 1 && (wide ? registers(p) + ROOM > most : most <= FEW);
    const double rows = wide ? 1.16 : open ? 1.12 : 0.98 + 0.1 * p->schedule.lane[1];
    return (few_steps ? 1.1 : 1) * (full ? 1.2 : 1) * rows;
}

/* A patch through all levels, for one plane. */
static temporal_work work_of(const plan *p) {
    const schedule *s = &p->schedule;
    const double patch = s->lane[0] * s->lane[1], reach = p->high[2];
    const double shuffles = TEMPORAL_SHUFFLE * plan_words(p) * 2 * reach * s->lane[1];
    const double packs = ceil(s->lane[0] * plan_words(p) / TEMPORAL_PACK_WORDS);
    const double stored = fmin(2 * reach, s->lane[1]);
    const double exchanged = packs * (2 * reach + stored);
    const double level = temporal_slots(p, patch * p->facts->all_taps, shuffles + exchanged + 1);
    const double turns = temporal_walked(p);
    return (temporal_work){
        .costs = &costs,
        .apart = apart(p),
        .images = 1.01,
        .slots =
            turns * (s->time * level + costs.turn + 4 * patch + costs.spill * p->fused.spilled),
        .latency = turns * (costs.turn_cycles + costs.level_cycles + s->time * level),
        .banks = turns * s->time * exchanged * TEMPORAL_PACK_WORDS,
        .loads = turns * patch * WARP,
        .shared = turns * s->time * exchanged * TEMPORAL_PACK_WORDS / plan_words(p) * WARP};
}

/* How many times as long where a multiprocessor has few warps, by the same. */
static double few_warps(const plan *p, const int64_t size[AXES]) {
    static const double enough = 12, power = 0.16;
    double covered;
    const double each = ceil(plan_blocks(p, size, &covered) / p->gpu->multiprocessors);
    const double warps = fmin(each, p->estimate.blocks_resident) * plan_threads(p) / WARP;
    return pow(fmax(enough / warps, 1), power);
}

static void cost(plan *p, const int64_t size[AXES]) {
    const temporal_work w = work_of(p);
    temporal_cost(p, size, &w, NULL);
    p->estimate.seconds *= few_warps(p, size);
    if (!p->fused.apart)
        temporal_cost_copies(p);
}

/* ---- the form -------------------------------------------------------------------------------- */

static void macros(text *t, const plan *p, bool packs, bool only_written) {
    (void)only_written;
    temporal_write_apart(t, p, packs);
}

/* The weights, cell by cell. */
static void definitions(text *t, const plan *p) {
    const model *m = p->facts->model;
    const emitter e = {
        .model = m, .axes = p->axes, .kernel_arrays = p->kernel_array, .steps = true};
    linear_form form;
    model_linear(m, 0, &form);
    const expr_id *weights = sums_weights(t->job, m, &form);
    text_add(t, "// The cells that the update reads, and their weights.\n"
                "template <int dx, int dy, int dz> struct Tap {\n"
                "    static constexpr bool is = false;\n};\n");
    for (int i = 0; i < form.count; i++) {
        const int *d = form.terms[i].d;
        const char *target = "return";
        text_printf(t,
                    "template <> struct Tap<%d, %d, %d> {\n"
                    "    static constexpr bool is = true;\n"
                    "    static __device__ __forceinline__ Real weight([[maybe_unused]] const "
                    "Arguments &arguments) {\n",
                    d[0], d[1], d[2]);
        emit_statements(t, &e, &weights[i], &target, 1);
        text_add(t, "    }\n};\n");
    }
    text_add(t, "\n");
}

const form temporal_stars = {.file = "stars.cu",
                             .barriers = true,
                             .sums = true,
                             .packs = true,
                             .needs = temporal_needs,
                             .fit = fit,
                             .cost = cost,
                             .macros = macros,
                             .constants = temporal_write_patches,
                             .definitions = definitions,
                             .box = temporal_box};
