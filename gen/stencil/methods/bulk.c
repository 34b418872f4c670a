/* bulk: bulk copies bring tiles with their halos to shared memory, and each plane adds to partial
   sums in registers. In 3D a block walks the last axis; all blocks of a wave walk at one pace, so
   that halos are still in the L2 where a neighbour asks for them. In 2D a block's tile comes at
   once. Copies of tensors by the hardware: PTX ISA, cp.async.bulk.tensor. */
#include "gen/stencil/methods/bulk.h"

#include "gen/stencil/search.h"

#include <string.h>

enum {
    THREAD_POINTS = 32, /* a bit each in the template */
    PACE_PLANES = 2,    /* as Pace of templates/arch/bulk.cuh */
    PACE_WAVES = 4,     /* that may be under way at a time */
    MOST_PACED = 4096   /* planes of a walk, so that the counts stay small */
};

/* ---- what a thread reads of a plane --------------------------------------------------------- */

bool bulk_asks(const plan *p, int array, int y, int *low, int *high) {
    const plan_facts *f = p->facts;
    bool any = false;
    *low = *high = 0;
    for (const plan_row *r = f->rows; r < f->rows + f->row_count; r++) {
        const int row = y - (f->model->dims == 3 ? r->dy : 0);
        if (p->kernel_array[r->array] != array || row < 0 || row >= bulk_rows(p))
            continue;
        any = true;
        *low = larger(*low, r->low);
        *high = larger(*high, r->high);
    }
    return any;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static const char *lay_threads(job *j, plan *p) {
    const int rows = bulk_rows(p), line = bulk_line_bytes(p) / bulk_cell_bytes(p);
    if (p->schedule.vector * bulk_cell_bytes(p) != MAX_PACK_BYTES)
        return job_print(j, "it reads packs of 16 bytes: vec=%d",
                         MAX_PACK_BYTES / bulk_cell_bytes(p));
    if (p->tile[0] % line != 0)
        return job_print(j, "tile: x=%d must be a multiple of %d", p->tile[0], line);
    if (p->tile[1] % rows != 0)
        return job_print(j, "tile: y=%d must be a multiple of coarsen=y%d", p->tile[1], rows);
    if (rows * p->schedule.vector > THREAD_POINTS)
        return job_print(j, "a thread makes at most %d points of a plane: coarsen=y%d at most",
                         THREAD_POINTS, THREAD_POINTS / p->schedule.vector);
    const int64_t readers =
        (int64_t)(p->tile[0] / p->schedule.vector) * (p->tile[1] / rows) * bulk_groups(p);
    if (readers % WARP != 0)
        return job_print(j, "the tile needs %lld threads, which are not whole warps",
                         (long long)readers);
    if (readers > MAX_THREADS - WARP)
        return job_print(j,
                         "a block has at most %d threads; take a smaller tile, or more rows a "
                         "thread",
                         MAX_THREADS - WARP);
    p->block[0] = bulk_threads(p, false);
    p->block[1] = p->block[2] = 1;
    return NULL;
}

static const char *check_boxes(job *j, const plan *p) {
    for (int i = 0; i < p->array_count; i++) {
        int box[AXES];
        bulk_lay_box(p, &p->arrays[i], box);
        for (int k = 0; k < AXES; k++)
            if (box[k] > BULK_MOST_EXTENT)
                return job_print(j,
                                 "the tile with its halo is %dx%dx%d cells, and bulk copies take "
                                 "at most %d along an axis",
                                 box[0], box[1], box[2], BULK_MOST_EXTENT);
    }
    return NULL;
}

/* Registers of a thread: addresses and coordinates, its points of the plane, and the sums. */
static int64_t registers(const plan *p) {
    const int64_t points = (int64_t)p->schedule.vector * bulk_rows(p);
    return 22 + plan_words(p) * points * (1 + p->facts->model->output_count * bulk_depth(p));
}

static const char *fit(job *j, plan *p) {
    if (!gpu_has_bulk(p->gpu))
        return job_print(j, "bulk copies of tensors need sm_90 or newer, and this is %s",
                         p->gpu->arch);
    const char *refusal = bulk_lay_arrays(j, p);
    if (refusal == NULL)
        refusal = lay_threads(j, p);
    if (refusal == NULL)
        refusal = check_boxes(j, p);
    if (refusal == NULL)
        refusal = bulk_check_rows(j, p);
    if (refusal != NULL)
        return refusal;
    const int64_t need = registers(p), threads = plan_threads(p);
    if (need > MAX_REGISTERS || need * threads > REGISTERS_PER_MULTIPROCESSOR)
        return job_print(j,
                         "%lld threads would need about %lld registers each; take a smaller tile, "
                         "or fewer rows a thread",
                         (long long)threads, (long long)need);
    p->estimate.registers = (int)need;
    return plan_take_shared(j, p, bulk_take_room(p, INT64_MAX, false));
}

/* ---- the method ----------------------------------------------------------------------------- */

static void macros(text *t, const plan *p, bool packs, bool only_written) {
    (void)only_written;
    text_printf(t,
                "#define PLAN_FLAT %d // there is no axis y\n"
                "#define PLAN_SCALED %d // sums are scaled by what their point reads\n"
                "#define PLAN_IMAGES %d // cells beyond an edge are not zeros\n",
                bulk_is_flat(p), p->facts->scaled != NULL,
                (packs || (bulk_is_flat(p) && bulk_is_shifted(p))) && bulk_has_images(p));
    if (packs && (bulk_has_ends(p, 0) || bulk_has_ends(p, 1)))
        text_add(t, "#define PLAN_ENDS 1 // planes come with cells from the grid's other end\n");
    if (!packs && bulk_is_shifted(p))
        text_printf(t, "#define PLAN_SHIFTED %d // rows begin anywhere; planes in shared memory\n",
                    bulk_shifted_slots(p, (int64_t)p->shared_bytes));
    if (!packs && bulk_is_shifted(p) && bulk_menders(p) > 0)
        text_printf(t, "#define PLAN_MENDERS %d // warps that put cells from beyond an edge\n",
                    bulk_menders(p));
    if (bulk_handed(p) > 0)
        text_printf(t,
                    "#define PLAN_HANDED %d // registers of threads that make points\n"
                    "#define PLAN_KEPT %d // of those that hand theirs over to them\n",
                    bulk_handed(p), BULK_KEPT);
}

/* The last row, counted from a point's own, that adds to a sum which the plane completes. */
static int completing_row(const plan *p) {
    const plan_facts *f = p->facts;
    int last = -p->low[1];
    if (f->model->dims < 3)
        return 0;
    for (const plan_row *r = f->rows; r < f->rows + f->row_count; r++)
        if (r->dz == p->high[2] && r->dy > last)
            last = r->dy;
    return last;
}

static void constants(text *t, const plan *p) {
    const int slots = bulk_slots(p);
    text_printf(
        t,
        "    static constexpr int summed = %d; // arrays that sums read, before the others\n"
        "    static constexpr int walk = %d; // planes that a block makes\n"
        "    static constexpr int lane_y = %d, row_points = %d; // rows of a thread, and points of "
        "one\n"
        "    static constexpr int completes_y = %d; // the row that completes a sum, from its own\n"
        "    static constexpr int readers = %d; // threads that make points\n"
        "    static constexpr int barriers = %lld; // where they lie in shared memory\n"
        "    static constexpr int line_bytes = %d; // of memory, at which rows begin\n",
        p->summed, p->walk, bulk_rows(p), bulk_row_points(p), completing_row(p), bulk_readers(p),
        (long long)(((int64_t)p->shared_bytes - slots * BULK_SLOT_BYTES) / bulk_cell_bytes(p)),
        bulk_line_bytes(p));
    if (bulk_is_narrow(p))
        text_printf(t, "    static constexpr int adjacent = %d; // of those points\n",
                    bulk_adjacent(p));
    if (bulk_is_narrow(p) && !bulk_is_flat(p))
        text_printf(t, "    static constexpr int held = %d; // planes, until they are complete\n",
                    bulk_held(p));
    if (bulk_is_flat(p)) {
        text_printf(t,
                    "    static constexpr int planes = %d; // that a block reads\n"
                    "    static constexpr int groups = %d; // of threads, which share them\n",
                    p->walk + bulk_depth(p) - 1, bulk_groups(p));
        return;
    }
    if (bulk_has_ends(p, 0) || bulk_has_ends(p, 1))
        text_printf(
            t, "    static constexpr bool ends_x = %s, ends_y = %s; // of which axes they come\n",
            bulk_has_ends(p, 0) ? "true" : "false", bulk_has_ends(p, 1) ? "true" : "false");
    if (bulk_menders(p) > 0 || bulk_has_images(p))
        text_printf(t, "    static constexpr bool corners = %s; // are read: beyond both axes\n",
                    p->facts->corners ? "true" : "false");
    const int planes = smaller(p->walk, MOST_PACED) + bulk_depth(p) - 1;
    text_printf(t,
                "    static constexpr int ring = %d; // planes in shared memory\n"
                "    static constexpr int wave = %d; // blocks that run at a time\n"
                "    static constexpr int pace_waves = %d, pace_groups = %d; // of planes\n",
                slots, p->gpu->multiprocessors * plan_resident(p), PACE_WAVES,
                (planes + PACE_PLANES - 1) / PACE_PLANES);
}

static void definitions(text *t, const plan *p) {
    text_add(t,
             "// What the thread's points read of row y of an array's plane, 0 being the first of "
             "theirs: nothing where\n// `last` is before `first`, else so far below and above.\n"
             "template <int array, int y> struct Asks;\n");
    for (int array = 0; array < p->summed; array++)
        for (int y = -p->low[1]; y < bulk_rows(p) + p->high[1]; y++) {
            int low, high;
            const bool any = bulk_asks(p, array, y, &low, &high);
            text_printf(t,
                        "template <> struct Asks<%d, %d> { static constexpr int first = 0, "
                        "last = %d, low = %d, high = %d; };\n",
                        array, y, any ? 0 : -1, low, high);
        }
    text_add(t, "\n");
}

/* In 3D, where blocks keep one pace. */
static bool abreast(const plan *p) {
    return !bulk_is_flat(p);
}

/* Cells of 16 bits are added to a sum in one order, whichever of a thread's rows it is. */
static int lane(const plan *p) {
    return bulk_is_narrow(p) ? 1 : bulk_rows(p);
}

static const form sums_form = {.file = "bulk.cu",
                               .awaits = true,
                               .barriers = true,
                               .staged = true,
                               .staged_all = true,
                               .sums = true,
                               .rows = true,
                               .points = true,
                               .packs = true,
                               .one_way = true,
                               .narrow = true,
                               .scales = true,
                               .fit = fit,
                               .at_size = bulk_take_size,
                               .spare = bulk_make_spare,
                               .cost = bulk_cost,
                               .macros = macros,
                               .constants = constants,
                               .definitions = definitions,
                               .needs = bulk_needs,
                               .lane = lane,
                               .abreast = abreast,
                               .box = bulk_lay_box,
                               .box_more = bulk_lay_ends,
                               .rows_of_pack = bulk_lay_rows};

static bool has_one_storage(const model *m) {
    bool one = true;
    for (int f = 1; f < m->field_count; f++)
        one &= model_storage(m, f) == model_storage(m, 0);
    return one;
}

/* Whether what a boundary keeps of each written field is fetched, because a tap reads it. */
static bool reads_what_it_keeps(const plan_facts *f) {
    const model *m = f->model;
    for (int o = 0; o < m->output_count; o++) {
        bool read = m->fields[m->outputs[o].field].use != USE_INOUT;
        for (int i = 0; i < m->array_count; i++)
            read |= m->arrays[i].used && !m->arrays[i].previous &&
                    (f->scaled == NULL || f->scaled->in_sum[i]) &&
                    m->arrays[i].field == m->outputs[o].field;
        if (!read)
            return false;
    }
    return true;
}

static const char *refuse(job *j, const plan_facts *f, const schedule *s) {
    (void)j;
    return f->model->dims < 2           ? "it walks the last of several axes"
           : !has_one_storage(f->model) ? "its copies bring cells of one type"
           : !f->linear && f->scaled == NULL
               ? "it keeps partial sums, and the update is neither linear nor one linear sum that "
                 "its own point scales"
           : f->scaled != NULL && model_is_narrow(f->model)
               ? "it converts cells of half and bfloat16 only where the update is linear"
           : !reads_what_it_keeps(f) ? "a field is written whose own values no tap reads"
           : s->passes > 1           ? "it makes filters in one pass"
           : s->coarsen[f->model->dims - 1] > MOST_PACED ? "it walks at most 4096 cells"
                                                         : bulk_refuse_images(f->model);
}

/* 3D: as few parts of the walked axis as there are, because each reads a halo of its own. */
static void candidates(search *s) {
    static const search_tiles wide[AXES] = {{{512}}, /* refused */
                                            {{128}, {192}, {64}, {96}},
                                            {{192, 24},
                                             {192, 12},
                                             {192, 16},
                                             {192, 8},
                                             {192, 32},
                                             {128, 32},
                                             {128, 24},
                                             {128, 16},
                                             {128, 8}}};
    /* Where rows begin anywhere: 20 rows with their halo are five of each of four copies. */
    static const search_tiles whole_copies[AXES] = {{{512}}, {{128}}, {{128, 18}}};
    static const search_tiles of_16_bits[AXES] = {
        {{512}}, {{192}}, {{192, 32}, {192, 48}, {128, 48}, {96, 64}}};
    static const search_tiles small[AXES] = {{{512}},
                                             {{32}},
                                             {{96, 48},
                                              {96, 24},
                                              {96, 12},
                                              {64, 48},
                                              {64, 32},
                                              {64, 24},
                                              {64, 16},
                                              {64, 8},
                                              {32, 32},
                                              {32, 16}}};
    /* Of far shapes: a fourth of a block hands registers over to threads of three rows. */
    static const search_tiles three_rows = {{192, 24}, {96, 24}};
    const int vectors[] = {search_widest(s), 0};
    if (s->facts->model->dims == 2) {
        static const int rows[] = {64, 32, 16, 0};
        search_blocks(s, wide, rows, vectors);
        if (s->size[0] <= wide[1][2][0]) /* a warp a block hides little */
            search_blocks(s, small, rows, vectors);
        return;
    }
    enum { PARTS = 6, FAR = 8 }; /* planes */
    int walks[PARTS + 1] = {0}, count = 0;
    for (int parts = 1; parts <= PARTS; parts++) {
        const int64_t cells = (s->size[2] + parts - 1) / parts;
        if (cells <= MOST_PACED && (count == 0 || cells < walks[count - 1]))
            walks[count++] = (int)cells;
    }
    if (count == 0)
        walks[count++] = MOST_PACED;
    search_blocks(s, wide, walks, vectors);
    search_blocks(s, small, walks, vectors);
    if (s->facts->model->low[2] + s->facts->model->high[2] >= FAR)
        search_rows(s, three_rows, walks, vectors, 3);
    if (s->size[0] % search_widest(s) != 0)
        search_blocks(s, whole_copies, walks, vectors);
    if (dtype_is_narrow(model_storage(s->facts->model, 0)))
        search_blocks(s, of_16_bits, walks, vectors);
}

const method method_bulk = {
    .name = "bulk",
    .summary =
        "bulk copies bring tiles to shared memory (sm_90 on), and each plane adds to partial "
        "sums in registers; in 3D a block walks the last axis",
    .keys = SCHEDULE_COARSEN | SCHEDULE_ROWS | SCHEDULE_VECTOR,
    .textbook_tile = 32,
    .walks = WALKS_PLANES,
    .refuse = refuse,
    .only = &sums_form,
    .candidates = candidates,
};
