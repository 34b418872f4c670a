/* chained: stages of a system, one after the other in one launch. A block walks the last axis with
   a tile and its halo; planes of the arrays and of each stage's results lie in shared memory, in
   rings. In each turn a plane arrives, and each stage makes the plane that lies its lag behind.
   templates/chained.cu has the picture; templates/chained_columns.cu
   has that of 2D grids, whose rows a thread keeps in registers. */
#include "gen/stencil/methods/chained.h"

/* ---- the plan -------------------------------------------------------------------------------- */

/* Rows, and their neighbours for as long as stages read them; pointers to all that is loaded and
   stored; an update's values. */
static int64_t strip_registers(const plan *p, const chain_layout *l) {
    const model_chain *c = chain_of(p);
    int held = 0, reach = 0, values = 6;
    for (int e = 0; e < c->stage_count; e++) {
        const expr_count n = c->stages[e].facts->emitted;
        values = larger(values, (int)(n.additions + n.multiplications) / 5);
    }
    for (int i = 0; i < c->source_count; i++) {
        held += l->slots[i] * l->points;
        if (l->widened[i] >= 0)
            reach += (l->slots[i] - l->widened[i]) * (l->reach[i][0] + l->reach[i][1]);
    }
    return 30 + 2 * (p->array_count + p->facts->model->output_count) +
           plan_words(p) * (held + reach / 2 + values * l->points);
}

int64_t chained_registers(const plan *p, const chain_layout *l) {
    const model_chain *c = chain_of(p);
    int taps = 0, held = p->array_count;
    for (int e = 0; e < c->stage_count; e++)
        taps = larger(taps, c->stages[e].facts->all_taps);
    for (int i = 0; i < c->source_count; i++)
        held += l->slots[i];
    if (has_strips(p))
        return strip_registers(p, l);
    if (has_columns(p)) /* pointers to all that is loaded and stored */
        return 30 + 2 * (p->array_count + p->facts->model->output_count) +
               plan_words(p) * (held + smaller(taps / 2 + 6, 24));
    return 40 + c->source_count + 6 * l->points + plan_words(p) * smaller(taps + 12, 56);
}

/* Refuses what the kind of plan has no place for. */
static const char *refuse_kind(job *j, const plan *p) {
    const schedule *s = &p->schedule;
    const int bytes = (int)dtype_words[p->facts->model->dtype].bytes;
    if (!has_columns(p))
        return s->vector * bytes == MAX_PACK_BYTES
                   ? NULL
                   : job_print(j, "it loads packs of 16 bytes: vec=%d", MAX_PACK_BYTES / bytes);
    if (p->facts->model->dims != 2)
        return job_print(j,
                         "a thread keeps a column of a 2D grid; in 3D it loads packs of 16 "
                         "bytes: vec=%d",
                         MAX_PACK_BYTES / bytes);
    const int lane = s->lane[0];
    if (has_strips(p) && ((lane & (lane - 1)) != 0 || lane * bytes > MAX_PACK_BYTES))
        return job_print(j,
                         "lane: with vec=1 a lane has a pack of columns, of %d bytes at most: %s",
                         MAX_PACK_BYTES, bytes == 4 ? "2 or 4" : "2");
    for (int axis = 0; axis < AXES; axis++)
        if (chain_of(p)->mirrored[axis])
            return job_print(j, "mirrored ends ask for planes in shared memory: vec=%d",
                             MAX_PACK_BYTES / bytes);
    return NULL;
}

/* Blocks of columns that a multiprocessor runs. Each of its four schedulers has a fourth of the
   registers, so 18 warps need those of 20: elastic waves in float take 1254 µs in blocks of six
   warps, 940 in those of 16 (8191², H200). */
static int resident(const plan *p) {
    const int warps = plan_threads(p) / WARP, all = plan_resident(p);
    const int each = REGISTERS_PER_MULTIPROCESSOR / 4 / (WARP * round_up(p->estimate.registers, 8));
    return has_columns(p) && !has_strips(p) ? smaller(all, larger(4 * each / warps, 1)) : all;
}

static const char *fit(job *j, plan *p) {
    const schedule *s = &p->schedule;
    const int bytes = (int)dtype_words[p->facts->model->dtype].bytes;
    chain_layout l;
    plan_set_walk(p, s->coarsen[plan_walk_axis(p)] > 0 ? s->coarsen[plan_walk_axis(p)] : 1);
    const char *kind = refuse_kind(j, p);
    if (kind != NULL)
        return kind;
    if (s->lane[0] > MOST_POINTS || s->lane[1] > 1)
        return job_print(j, "lane: a thread makes at most %d points of a plane", MOST_POINTS);
    if (s->stages > 1)
        return "stages: it makes each stage of the system once";
    chained_lay(p, &l);
    for (int k = 0; k < 2; k++)
        if (p->axes[k] >= 0 &&
            p->tile[k] < larger(l.halo_low[k], l.width[k] - l.halo_low[k] - p->tile[k]))
            return "tile: it is smaller than what the stages reach in all";
    if (l.elements * bytes > INT32_MAX / 2)
        return "tile: its planes are too large for shared memory";
    if (has_strips(p) && (l.strip <= 0 || p->tile[0] % l.strip != 0))
        return l.strip <= 0 ? "lane: the stages reach as far as a warp has columns"
                            : job_print(j,
                                        "tile: a warp stores %d columns, so it is a multiple of "
                                        "them",
                                        l.strip);
    const int threads = has_strips(p) ? p->tile[0] / l.strip * WARP
                                      : round_up((l.plane + l.points - 1) / l.points, WARP);
    if (threads > MAX_THREADS)
        return job_print(j, "tile: it needs %d threads; a block has at most %d, so take lane=%d",
                         threads, MAX_THREADS, (l.plane + MAX_THREADS - 1) / MAX_THREADS);
    p->block[0] = threads;
    p->block[1] = p->block[2] = 1;
    for (int i = 0; i < chain_of(p)->source_count && has_columns(p); i++)
        if (l.slots[i] > MOST_BACK)
            return "a thread would keep too many rows in registers";
    const int64_t need = chained_registers(p, &l);
    p->estimate.registers = need < MAX_REGISTERS ? (int)need : MAX_REGISTERS;
    while (p->estimate.registers > 32 &&
           threads * round_up(p->estimate.registers, 8) > REGISTERS_PER_MULTIPROCESSOR)
        p->estimate.registers -= 8;
    const char *refusal = plan_take_shared(j, p, l.elements * bytes);
    p->blocks = resident(p);
    return refusal;
}

static bool quick(const plan *p, bool packs) {
    const model_chain *c = chain_of(p);
    for (int e = 0; e < c->stage_count; e++)
        if (packs && c->stages[e].facts->quotients > 0)
            return true;
    return false;
}

/* Of single steps; several were not measured so. Where quotients bind the order only costs: shallow
   water in double takes 1.01 times as long. */
int chained_ordered_wave(const plan *p) {
    return has_strips(p) && p->schedule.time == 1 && !quick(p, true) ? plan_ordered_wave(p) : 0;
}

static const form form_chained = {.file = "chained.cu",
                                  .barriers = true,
                                  .one_way = true,
                                  .fit = fit,
                                  .cost = chained_cost,
                                  .constants = chained_constants,
                                  .definitions = chained_definitions};

static const form form_strips = {.file = "chained_strips.cu",
                                 .barriers = true,
                                 .one_way = true,
                                 .fit = fit,
                                 .cost = chained_strip_cost,
                                 .quick = quick,
                                 .constants = chained_constants,
                                 .definitions = chained_definitions};

static const form form_columns = {.file = "chained_columns.cu",
                                  .barriers = true,
                                  .one_way = true,
                                  .fit = fit,
                                  .cost = chained_column_cost,
                                  .constants = chained_constants,
                                  .definitions = chained_definitions};

/* ---- the method ------------------------------------------------------------------------------ */

static const form *choose(const plan_facts *f, const schedule *s) {
    (void)f;
    if (s->vector != 1)
        return &form_chained;
    return s->lane[0] > 1 ? &form_strips : &form_columns;
}

/* Strips of so many warps. Larger blocks and shorter walks than these were measured with single
   steps alone. */
enum { MOST_STEPS_WARPS = 4, LEAST_STEPS_ROWS = 48 };

static void try_strips(search *s, int lane, int warps, int rows) {
    const model *m = s->facts->model;
    schedule c = *s->wanted;
    c.time = search_given(c.time, 1);
    c.vector = search_given(c.vector, 1);
    c.lane[0] = search_given(c.lane[0], lane);
    c.coarsen[1] = search_given(c.coarsen[1], rows);
    if (c.vector != 1 || c.lane[0] <= 1)
        return;
    if (c.time > 1 && (warps > MOST_STEPS_WARPS || rows < LEAST_STEPS_ROWS))
        return;
    if (c.tile[0] == 0)
        c.tile[0] = warps * chained_strip(m, c.lane[0]);
    if (c.tile[0] > 0)
        search_fused(s, c);
}

/* Wider packs than two columns a lane are asked for: they need more registers, and were faster in
   no system. Many lengths of a walk, because blocks should fill whole waves; short ones of small
   blocks, whose neighbours run nearly at the same time. */
static void try_all_strips(search *s, int bytes) {
    static const int walks[] = {16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 0};
    const int most = s->wanted->lane[0] > 0 ? s->wanted->lane[0] : 2;
    for (int lane = 2; lane <= most && lane * bytes <= MAX_PACK_BYTES; lane *= 2)
        for (int warps = 2; warps <= 8; warps *= 2)
            for (const int *rows = warps > 2 ? walks + 1 : walks; *rows != 0; rows++)
                try_strips(s, lane, warps, *rows);
}

/* Planes of whole warps: what the halo leaves is the tile. */
static void candidates(search *s) {
    static const int wide[] = {128, 192, 256, 384, 512, 768, 1024, 0};
    static const int walks[] = {64, 128, 256, 0}; /* of columns */
    static const int boxes[][2] = {{64, 16},  {64, 24}, {64, 32}, {96, 16},
                                   {128, 16}, {32, 32}, {0, 0}};
    const model *m = s->facts->model;
    int low[2], high[2];
    if (m->chain == NULL) {
        search_refuse(s,
                      "it makes several stages of a system in one launch, and this is one update");
        return;
    }
    for (int k = 0; k < 2; k++)
        chained_halo(m->chain, k, &low[k], &high[k]);
    const bool flat = m->dims == 2;
    const int bytes = (int)dtype_words[m->dtype].bytes;
    /* Where columns serve, planes are at best as fast (elastic waves in double), and slower in
     * float.
     */
    const bool planes =
        !flat || (s->wanted->vector != 1 && (s->wanted->vector > 1 || s->wanted->lane[0] > 1 ||
                                             m->chain->mirrored[0] || m->chain->mirrored[1]));
    for (int i = 0; planes && (flat ? wide[i] : boxes[i][0]) != 0; i++)
        for (int points = 1; points <= MOST_POINTS; points *= 2) {
            schedule c = *s->wanted;
            c.time = search_given(c.time, 1);
            c.vector = search_given(c.vector, search_widest(s));
            c.lane[0] = search_given(c.lane[0], points);
            const int halo = round_up(low[0], c.vector) + round_up(high[0], c.vector);
            if (search_leave(s, &c, 0, flat ? wide[i] : boxes[i][0], halo) &&
                (flat || search_leave(s, &c, 1, boxes[i][1], low[1] + high[1])))
                search_fused(s, c);
        }
    for (int i = 0; flat && wide[i] != 0; i++)
        for (const int *rows = walks; *rows != 0; rows++) {
            schedule c = *s->wanted;
            c.time = search_given(c.time, 1);
            c.vector = search_given(c.vector, 1);
            c.lane[0] = search_given(c.lane[0], 1);
            c.coarsen[1] = search_given(c.coarsen[1], *rows);
            if (c.vector == 1 && c.lane[0] == 1 &&
                search_leave(s, &c, 0, wide[i], low[0] + high[0]))
                search_fused(s, c);
        }
    if (flat)
        try_all_strips(s, bytes);
}

const method method_chained = {
    .name = "chained",
    .summary = "stages of a system one after the other: a block walks the last axis, and planes of "
               "all that stages read lie in shared memory",
    .keys = SCHEDULE_COARSEN | SCHEDULE_VECTOR | SCHEDULE_LANE,
    .chains = true,
    .walks = WALKS_PLANES,
    .form = choose,
    .candidates = candidates,
};
