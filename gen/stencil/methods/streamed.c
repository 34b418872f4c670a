/* streamed: threads walk the last axis with packs of x, and the neighbours along the walk in
   registers. What a thread does and holds; streamed_cost.c has what that costs. */
#include "gen/stencil/methods/streamed.h"

#include "gen/source/emit.h"

enum { AHEAD = 2, LONG_WALK = 16 };

/* ---- the plan -------------------------------------------------------------------------------- */

static const char *lay_thread(job *j, plan *p) {
    const schedule *s = &p->schedule;
    const int rows = p->axes[1] == 1 && s->coarsen[1] > 0 ? s->coarsen[1] : 1;
    if (p->tile[1] % rows != 0)
        return job_print(j, "tile: y=%d must be a multiple of coarsen=y%d", p->tile[1], rows);
    p->block[0] = p->tile[0] / s->vector;
    p->block[1] = p->tile[1] / rows;
    p->block[2] = 1;
    if ((int64_t)p->block[0] * p->block[1] > MAX_THREADS)
        return job_print(j, "a block has at most %d threads; take a smaller tile, or a larger vec",
                         MAX_THREADS);
    if (p->block[0] < larger(p->low[0], p->high[0]))
        return job_print(j, "tile=%d: x must be at least vec=%d times the reach along x, %d",
                         p->tile[0], s->vector, larger(p->low[0], p->high[0]));
    p->streamed.lane_y = rows;
    return NULL;
}

/* Quotients and roots of a row of points are made together, if no steps are: shallow water in float
   has 128 registers then instead of 240. Few of them are not worth the second way. Where steps
   leave values to the next one, the second way is another walk: the dam break takes 459 instead of
   581 µs (H200, 8192²), and 585 instead of 844 where rows are no packs (8191²); shallow water 467
   instead of 504. Quotients of two numbers ask more: fluxes by harmonic means take 234 instead of
   220, at 8191² 288 instead of 243. */
bool streamed_has_quotients(const plan *p) {
    enum { SOME = 4 };
    const bool few = p->facts->quotients < SOME || p->streamed.together > 1;
    return !few && (!p->streamed.carries || p->facts->quick_steps);
}
bool streamed_quick(const plan *p, bool packs) {
    return streamed_has_quotients(p) && (p->streamed.carries || (packs && p->schedule.vector > 1));
}

/* Whether a step leaves to the next one what both compute: where that saves more than its registers
   cost. */
static bool sharing_pays(const plan_facts *f, const gpu *g, int vector) {
    static const double worth = 10; /* instructions a point */
    const double rate = 4.0 * WARP / g->fma_lanes[f->model->dtype];
    if (f->carried == NULL)
        return false;
    const int k = call_pack(vector);
    const double units = f->apart_operations[k] - f->carried_operations[k] + f->calls[0][k].units -
                         f->carried_calls[k].units;
    return units * rate + f->calls[0][k].others - f->carried_calls[k].others >= worth * rate;
}

static bool carries(const plan *p) {
    return !p->form->sums && p->walk > 1 && sharing_pays(p->facts, p->gpu, p->schedule.vector);
}

/* Steps that are made at once, where that saves divisions, roots or functions: the quotient that a
   row reads above it is what the next row has in its place. Sums and products alone pay for no
   registers: the cavity in double takes 1.35 times as long with two steps. */
static int together_of(const plan *p) {
    static const double worth = 20, more = 5; /* instructions a point */
    const int points = p->schedule.vector;
    const double rate = 4.0 * WARP / p->gpu->fma_lanes[p->facts->model->dtype];
    if (p->streamed.carries || p->form->sums || model_is_narrow(p->facts->model) ||
        p->walk < CALL_STEPS)
        return 1;
    const double apart = calls_slots(p, points), two = calls_walked(p, points, 2),
                 four = calls_walked(p, points, 4);
    return apart - two < worth * rate ? 1 : two - four < more * rate ? 2 : 4;
}

/* How many points a slab has: as many as leave the planes that two blocks share in the second-level
   cache until the second reads them. Long walks share few. */
int streamed_slab(const plan *p) {
    static const double share = 0.30517578125; /* 16 of an H100's 52.4 MB */
    if (p->walk > LONG_WALK)
        return INT32_MAX;
    return (int)(share * p->gpu->l2_bytes / (double)model_cell_bytes(p->facts->model));
}

/* What steps along the walk have in common. Returns the registers of a thread. */
static int plan_steps(job *j, plan *p, bool carries_values) {
    p->streamed.packs = p->streamed.beside = 0;
    p->streamed.carries = carries_values;
    p->streamed.together = together_of(p);
    return streamed_registers(j, p);
}

static const char *fit(job *j, plan *p) {
    const char *refusal = lay_thread(j, p);
    if (refusal != NULL)
        return refusal;
    int need = plan_steps(j, p, carries(p));
    if (need > MAX_REGISTERS && p->streamed.carries)
        need = plan_steps(j, p, false);
    if (need > MAX_REGISTERS)
        return job_print(j,
                         "a thread would need about %d registers and has %d; take fewer rows a "
                         "thread or a smaller vec",
                         need, MAX_REGISTERS);
    p->streamed.ahead = AHEAD;
    p->streamed.fetched = p->streamed.lane_y;
    p->estimate.registers = need;
    p->streamed.spare_registers = streamed_spare_registers(p, need);
    p->blocks = streamed_resident(p, need);
    p->streamed.needs = streamed_needs(p);
    return NULL;
}

/* ---- the method ------------------------------------------------------------------------------ */

/* A row reaches farther to the left or right than packs pay for what lies there cell by cell. */
static bool reaches_far(const plan_facts *f) {
    enum { NEAR = 2 };
    for (const plan_row *r = f->rows; r < f->rows + f->row_count; r++)
        if (r->low > NEAR || r->high > NEAR)
            return true;
    return false;
}

static bool gives_zeros(const model *m) {
    bool gives = false;
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++)
            gives |= m->sides[axis][side].kind == BOUNDARY_ZERO;
    return gives;
}

/* Whether what lies outside the grid, as far as threads read it, is a bit of a mask each, and is
   not loaded: zeros and what nobody uses along x, zeros and cells of the grid along the others.
   H200, zero sides: 1.1 to 1.7 times as fast in 3D, 1.15 in 2D; fixed ones 1.05. Not where it
   loses: sums in 2D (0.89 to 0.98) and in 16 bits (0.67 to 1.1), short fixed rows in 2D (0.98). */
static bool has_masks(const plan *p) {
    enum { BITS = 32 };
    const model *m = p->facts->model;
    const bool flat = p->axes[1] < 0, sums = p->form->sums;
    const int reach = p->low[0] + p->high[0], rows = p->low[1] + p->streamed.lane_y + p->high[1];
    bool masks = !model_has_own_sides(m) && !p->is_pass && reach <= BITS && rows <= BITS;
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++) {
            const int kind = m->sides[axis][side].kind;
            masks &= kind == BOUNDARY_ZERO || kind == BOUNDARY_FIXED ||
                     (axis > 0 && kind != BOUNDARY_CONSTANT);
        }
    const bool loses =
        sums ? flat || model_is_narrow(m) : flat && !gives_zeros(m) && !reaches_far(p->facts);
    return masks && !loses;
}

/* Whether zeros stand for what lies left and right in rows or planes other than a point's own. */
static bool shares_sides(const plan_facts *f) {
    if (!gives_zeros(f->model))
        return false;
    for (const plan_row *r = f->rows; r < f->rows + f->row_count; r++)
        if ((r->dy != 0 || r->dz != 0) && r->low + r->high > 0)
            return true;
    return false;
}

/* Blocks whose walks take turns. In 2D; in 3D slabs of rows do the like. Single linear updates do
   not gain, and where quotients bind the order only costs: the dam break in double 971 µs instead
   of 923. */
int streamed_ordered_wave(const plan *p) {
    return p->axes[1] < 0 && !p->facts->linear && !streamed_has_quotients(p) ? plan_ordered_wave(p)
                                                                             : 0;
}

/* Whether results are computed before it is asked whether their row lies in the box: compilers move
   what only a branch uses into it, so that no row hides what another waits for. 19-point star,
   float, four single points: 244 instructions a plane instead of 279. Where a row of several points
   has a branch for each, or registers are all taken, kernels are as long with it. */
static bool computes_first(const plan *p, bool packs) {
    return p->axes[1] >= 0 && (packs || p->schedule.vector == 1) && streamed_has_registers(p);
}

/* `packs`: what lies next to packs comes by packs where the shape reaches far; of a row alone some
   points may be stored where rows are no packs, or where what is written is not read. */
static void macros(text *t, const plan *p, bool packs, bool only_written) {
    text_printf(t,
                "#define PLAN_WIDE_SIDES %d // what lies next to packs comes by packs\n"
                "#define PLAN_MASKS %d // what lies outside is a bit each, and not loaded\n",
                packs && reaches_far(p->facts) && p->schedule.vector > 1, has_masks(p));
    if (has_masks(p))
        text_printf(t,
                    "#define PLAN_SHARED_SIDES %d // of rows, which points of others read\n"
                    "#define PLAN_AROUND %d // walks begin before their points\n",
                    shares_sides(p->facts), p->form->sums || p->streamed.carries);
    text_printf(t, "#define PLAN_HOLDS_KEPT %d // what a fixed boundary keeps\n",
                streamed_holds_kept(p));
    text_printf(t, "#define PLAN_SOME_POINTS %d // of a row alone may be stored\n",
                !packs || only_written);
    text_printf(t, "#define PLAN_HELD_SIDES %d // for planes that are still to come\n",
                streamed_holds_sides(t, p));
    text_printf(
        t, "#define PLAN_COMPUTED %d // results, before it is asked whether their row is stored\n",
        computes_first(p, packs));
    write_walk_order(t, streamed_ordered_wave(p));
    text_printf(t, "#define PLAN_FLAT %d // there is no axis y\n", p->axes[1] < 0);
    if (p->is_pass)
        text_add(t,
                 "#define PLAN_PASS 1 // it makes rows before the first one, for the next pass\n");
    if (p->streamed.folds && !packs)
        text_add(t, "#define PLAN_SHORT 1 // grids shorter than the shape are no exception\n");
    text_printf(t, "#define PLAN_NEEDS %d // registers, so that blocks do not crowd each other\n",
                packs ? p->streamed.needs : 0);
    if (p->streamed.together > 1)
        text_printf(t, "#define PLAN_TOGETHER %d // steps along the walk that are made at once\n",
                    p->streamed.together);
}

static void constants(text *t, const plan *p) {
    text_printf(t,
                "    static constexpr int lane_y = %d, walk = %d, ahead = %d, fetched = %d;\n"
                "    static constexpr int slab = %d; // points that are walked through together\n"
                "    static constexpr bool flat = %s; // as PLAN_FLAT\n",
                p->streamed.lane_y, p->walk, p->streamed.ahead, p->streamed.fetched,
                streamed_slab(p), p->axes[1] < 0 ? "true" : "false");
}

/* One rule must lead into the grid from wherever the shape reaches (templates/stream.cuh). */
static void needs(const plan *p, program_needs *n) {
    n->multiple = p->schedule.vector;
    n->width = p->schedule.vector;
    n->rows = p->axes[1] >= 0;
    for (int k = 0; k < AXES; k++)
        for (int side = 0; side < 2 && p->axes[k] >= 0; side++) {
            const int kind = p->facts->model->sides[p->axes[k]][side].kind;
            if (kind != BOUNDARY_MIRROR && kind != BOUNDARY_PERIODIC)
                continue;
            n->low[k] = p->low[k];
            n->high[k] = p->high[k] + (k == 1 ? p->streamed.lane_y - 1 : 0);
        }
}

static const form planes_form = {.file = "streamed.cu",
                                 .awaits = true,
                                 .narrow = true,
                                 .points = true,
                                 .plain = true,
                                 .packs = true,
                                 .one_way = true,
                                 .macros = macros,
                                 .definitions = streamed_write_lines,
                                 .quick = streamed_quick,
                                 .needs = needs,
                                 .fit = fit,
                                 .at_size = streamed_take_size,
                                 .cost = streamed_cost,
                                 .constants = constants};
/* For linear updates that reach along x in several planes. Small grids are made point by point. */
static const form sums_form = {.file = "streamed_sums.cu",
                               .awaits = true,
                               .narrow = true,
                               .sums = true,
                               .points = true,
                               .plain = true,
                               .packs = true,
                               .one_way = true,
                               .macros = macros,
                               .definitions = streamed_write_lines,
                               .needs = needs,
                               .fit = fit,
                               .at_size = streamed_take_size,
                               .cost = streamed_cost,
                               .constants = constants};

static const form *choose(const plan_facts *f, const schedule *s) {
    (void)s;
    return streamed_adds_planes(f) ? &sums_form : &planes_form;
}

/* Whether fields lead to different cells beyond a side; a value leads to none. */
static bool leads_apart(const model *m) {
    bool apart = false;
    for (int i = 0; i < m->array_count; i++)
        for (int axis = 0; axis < m->dims; axis++)
            for (int side = 0; side < 2; side++) {
                const model_array *a = &m->arrays[i];
                apart |= (side == 0 ? a->low : a->high)[axis] > 0 &&
                         m->sides[axis][side].kind == BOUNDARY_MIRROR &&
                         model_side_of(m, a->field, axis, side)->kind == BOUNDARY_CLAMP;
            }
    return apart;
}

static const char *refuse(job *j, const plan_facts *f, const schedule *s) {
    (void)j, (void)s;
    if (leads_apart(f->model))
        return "it finds the cells beyond an end once for all fields, and one field is mirrored "
               "there, and another clamped";
    return f->model->dims > 1
               ? NULL
               : "it walks the last of several axes; a grid of one axis is streamed by the method "
                 "naive with vec";
}

static void candidates(search *s) {
    static const int up_to_4[] = {1, 2, 4, 0}, up_to_8[] = {1, 2, 4, 8, 0},
                     flat[] = {3, 4, 5, 6, 8, 0}, deep[] = {4, 6, 8, 64, 0},
                     of_16_bits[] = {4, 6, 8, 16, 64, 0};
    static const search_tiles tiles[AXES] = {
        {{512}}, /* refused */
        {{128}, {256}, {512}, {1024}},
        {{64, 4}, {64, 8}, {128, 4}, {128, 8}, {256, 4}, {256, 8}}};
    const bool narrow = model_is_narrow(s->facts->model);
    const int *vectors = narrow ? up_to_8 : up_to_4;
    const int *walks = s->facts->model->dims < 3 ? flat : narrow ? of_16_bits : deep;
    search_blocks(s, tiles, walks, vectors);
    search_short(s, walks, vectors);
    const int pack[] = {MAX_PACK_BYTES / (int)model_cell_bytes(s->facts->model), 0};
    static const int farther[] = {16, 32, 0}, /* what steps share is computed before a walk, too */
        of_waves[] = {16, 0};
    if (s->facts->model->dims == 2 && !s->facts->linear && plan_shares_rows(s->facts->model)) {
        const bool pays = sharing_pays(s->facts, s->gpu, pack[0]);
        search_blocks(s, tiles, pays ? farther : of_waves, pays ? vectors : pack);
    }
    if (!streamed_walks_long(s->facts))
        return;
    /* The planes before a walk's first and after its last add to sums that nobody takes: the more
       of them the shape reaches, the longer walks pay. With packs of 16 bytes: they load least. */
    static const search_tiles wide[AXES] = {{{0}}, {{128}, {256}, {512}}, {{0}}};
    static const int far[] = {12, 16, 32, 48, 64, 96, 128, 0};
    search_blocks(s, wide, far, pack);
    static const int by_waves[] = {0};
    search_blocks(s, wide, by_waves, pack);
}

const method method_streamed = {
    .name = "streamed",
    .summary = "threads walk the last axis with packs of x and the neighbours along the walk in "
               "registers",
    .keys = SCHEDULE_COARSEN | SCHEDULE_ROWS | SCHEDULE_VECTOR,
    .textbook_tile = 32,
    .walks = WALKS_PLANES,
    .refuse = refuse,
    .form = choose,
    .candidates = candidates,
};
