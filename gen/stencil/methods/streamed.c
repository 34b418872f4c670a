/* streamed: threads walk the last axis with packs of x, and the neighbours along the walk in
   registers. What a thread does and holds, and what that costs; docs/architecture.md explains the
   terms. */
#include "gen/stencil/search.h"

#include <math.h>
#include <string.h>

enum { AHEAD = 2, LONG_WALK = 16 };

/* ---- rows of the shape ----------------------------------------------------------------------- */

/* The plane of a row, along the axis that is walked. */
static int plane_of(const plan_facts *f, const plan_row *r) {
    return f->model->dims == 3 ? r->dz : r->dy;
}

/* Whether neighbours along x are read in several planes, and would have to stay in registers. */
static bool reaches_in_planes(const plan_facts *f) {
    for (const plan_row *r = f->rows; r < f->rows + f->row_count; r++)
        for (const plan_row *q = f->rows; q < r; q++)
            if (r->low + r->high > 0 && q->low + q->high > 0 && r->array == q->array &&
                plane_of(f, r) != plane_of(f, q))
                return true;
    return false;
}

static bool adds_planes(const plan_facts *f) {
    return f->linear && reaches_in_planes(f);
}

/* Sums of many planes: in 2D from 6 on. */
static bool walks_long(const plan_facts *f) {
    return f->model->dims == 2 && adds_planes(f) && f->model->low[1] + f->model->high[1] > 4;
}

static int find_rows(const plan *p, plan_row *rows) {
    const plan_facts *f = p->facts;
    const bool sums = p->form->sums;
    int count = 0;
    for (int i = 0; i < f->row_count; i++) {
        plan_row r = f->rows[i], *same = NULL;
        r.dz = sums ? 0 : plane_of(f, &f->rows[i]); /* sums take a plane at a time */
        r.dy = f->model->dims == 3 ? r.dy : 0;
        for (int k = 0; k < count; k++)
            if (rows[k].array == r.array && rows[k].dy == r.dy && rows[k].dz == r.dz)
                same = &rows[k];
        if (same == NULL)
            same = &rows[count++], *same = r;
        same->low = larger(same->low, r.low);
        same->high = larger(same->high, r.high);
    }
    return count;
}

/* What a thread loads of a line, which is an array at one offset in y from the thread's first row.
   Returns the elements that it holds of it from plane to plane. */
static int add_line(plan *p, const plan_row *rows, int count, int array, int y) {
    int first = 0, last = 0, low = 0, high = 0, planes = 0;
    bool used = false;
    for (int r = 0; r < count; r++) {
        const int row = y - rows[r].dy;
        if (rows[r].array != array || row < 0 || row >= p->streamed.lane_y)
            continue;
        first = used ? smaller(first, rows[r].dz) : rows[r].dz;
        last = used ? larger(last, rows[r].dz) : rows[r].dz;
        low = larger(low, rows[r].low);
        high = larger(high, rows[r].high);
        planes += rows[r].low + rows[r].high > 0;
        used = true;
    }
    if (!used)
        return 0;
    const int depth = last - first + 1, beside = planes > 0 ? low + high : 0;
    p->streamed.packs++;
    p->streamed.beside += beside;
    return depth * p->schedule.vector + beside * (planes > 1 ? depth : 1);
}

/* The same of all lines, and of the sums. */
static int add_lines(job *j, plan *p) {
    plan_row *rows = job_array(j, (size_t)p->facts->row_count, sizeof *rows);
    const int count = find_rows(p, rows);
    const model *m = p->facts->model;
    int held = 0;
    for (int array = 0; array < m->array_count; array++)
        for (int y = -p->low[1]; y < p->streamed.lane_y + p->high[1]; y++)
            held += add_line(p, rows, count, array, y);
    if (p->form->sums)
        held += m->output_count * (p->low[2] + 1 + p->high[2]) * p->schedule.vector *
                p->streamed.lane_y;
    return held;
}

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

/* Registers of a thread: a base for addresses and coordinates, and what it holds, some of it twice
   while the next plane arrives. Fitted to what the assembler needed before it spilled. */
static int registers(job *j, plan *p) {
    const int words = plan_words(p);
    const int base = p->axes[1] < 0 ? 41 : 33; /* flat ones fill a multiprocessor anyway */
    return base + words * add_lines(j, p) * 132 / 100;
}

/* How many points a slab has: as many as leave the planes that two blocks share in the second-level
   cache until the second reads them. Long walks share few. */
static int slab_of(const plan *p) {
    static const double share = 0.30517578125; /* 16 of an H100's 52.4 MB */
    if (p->walk > LONG_WALK)
        return INT32_MAX;
    return (int)(share * p->gpu->l2_bytes / (double)model_cell_bytes(p->facts->model));
}

static const char *fit(job *j, plan *p) {
    const char *refusal = lay_thread(j, p);
    if (refusal != NULL)
        return refusal;
    const int need = registers(j, p);
    if (need > MAX_REGISTERS)
        return job_print(j,
                         "a thread would need about %d registers and has %d; take fewer rows a "
                         "thread or a smaller vec",
                         need, MAX_REGISTERS);
    p->streamed.ahead = AHEAD;
    p->streamed.slab = slab_of(p);
    p->estimate.registers = need;
    p->blocks = plan_resident_by_registers(p);
    return NULL;
}

/* ---- its cost -------------------------------------------------------------------------------- */

/* Fitted by hand to the sweep in docs/notebook.md: instructions of a thread before its first
   plane, for each plane, and for a pack and an element loaded; the second-level cache's rate over
   that of a copy; the share by which a walk of twice the planes is slower, because blocks drift
   apart, in 2D and for each plane that lies between a load in 3D and what neighbours read of it;
   what of the planes that blocks share is lost; and the exponent that joins the times. */
static const struct costs {
    double start, plane, pack, element;
    double cache_rate, drift_flat, drift, lost;
    double overlap;
    double begin_long; /* of memory, in planes: where long walks pay */
} costs = {300, 45, 14, 2, 2.4, 0.03, 0.016, 0.03, 5, 1.5};

static const double lanes = 128, pairs = 0.5, function_instructions = 8, sector_bytes = 32;

static double count_instructions(const plan *p) {
    const plan_streamed *s = &p->streamed;
    const expr_count c = p->facts->emitted;
    const double points = (double)p->schedule.vector * s->lane_y;
    const double arithmetic =
        p->form->sums ? p->facts->sum_operations
                      : c.additions + pairs * c.multiplications + function_instructions * c.others;
    const double walk = p->form->sums ? 1 + (p->low[2] + p->high[2]) / (double)p->walk : 1;
    return walk * arithmetic * lanes / p->gpu->fma_lanes[p->facts->model->dtype] +
           (costs.start / p->walk +
            walk * (costs.plane + costs.pack * s->packs + costs.element * s->beside)) /
               points;
}

/* Elements that a block asks the second-level cache for, for each point it makes: its tile with the
   halo in each plane, and the planes before and behind. */
static double asked(const plan *p) {
    const double sector = sector_bytes / (double)model_cell_bytes(p->facts->model);
    double sum = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        const double row = p->tile[0];
        const double x = a->low[0] + a->high[0] > 0 ? 1 + 2 * sector / row : 1;
        const double y = 1 + (a->low[1] + a->high[1]) / (double)p->tile[1];
        sum += x * y * (1 + (a->low[2] + a->high[2]) / (double)p->walk);
    }
    return sum;
}

/* What crosses device memory beyond each element once: halos that the second-level cache has lost.
 */
static double lost(const plan *p, const int64_t size[AXES]) {
    const double walk = p->walk;
    double sum = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        sum += costs.lost * (a->low[2] + a->high[2]) / walk;
        const double rows = p->streamed.slab / ((double)size[0] * walk);
        if (p->streamed.slab > 0 && rows < (double)size[1])
            sum += (a->low[1] + a->high[1]) / fmax(rows, p->tile[1]);
    }
    return sum;
}

/* How many times as long device memory takes since blocks drift apart. */
static double drift(const plan *p) {
    const double least = p->axes[1] < 0 ? 4 : 6, walk = p->walk;
    if (walks_long(p->facts)) /* none that shows from 8 to 96 rows; short ones begin often */
        return 1 + costs.begin_long / walk;
    const bool sums = p->form->sums; /* read a plane's rows at once */
    const double share = p->axes[1] < 0 ? costs.drift_flat : sums ? 0 : costs.drift * p->high[2];
    return walk > least ? 1 + share * log2(walk / least) : 1;
}

/* Of a step along the walk whose rows come from the second-level cache (64³ in 64 steps). */
static const double step_cycles = 780;

/* How many times as long walks take where blocks fill the machine unevenly, and where a scheduler
   has few warps. Blocks of less than a wave are as long as a scheduler with one warp more than
   others; of a last wave that is not full about half is lost, as those that are left run faster,
   and a little where all end. Fitted by hand to 125 figures of filters of 7x7, 11x11 and 15x15
   floats (4096², 8192², tiles of 128 to 512, walks of 4 to 128 rows). */
static double crowd(const plan *p, double blocks) {
    static const double last_wave = 0.55, ending = 0.08, few_warps = 1.2;
    const double machine = p->gpu->multiprocessors, a_block = ceil(plan_threads(p) / 32.0);
    /* The compiler gives each scheduler's warps as many registers as there are for all of them. */
    const double most = 4 * ceil(p->estimate.blocks_resident * a_block / 4);
    const double resident = machine * floor(most / a_block), waves = blocks / resident;
    const double warps = fmin(blocks, resident) * a_block / (4 * machine);
    const double uneven = waves <= 1
                              ? ceil(warps) / warps
                              : 1 + last_wave * (ceil(waves) / waves - 1) + ending / (waves + 1);
    return uneven * (1 + few_warps / (warps * warps));
}

/* The share of lanes, and of the blocks of a wave, that a size leaves without work; and how far a
   block's size is from the best. */
static double waste(const plan *p, const int64_t size[AXES]) {
    double covered;
    const double blocks = plan_blocks(p, size, &covered);
    const double resident = (double)p->gpu->multiprocessors * p->estimate.blocks_resident;
    const double idle = 1 + 0.3 * (covered - 1); /* threads without work end at once */
    const bool goes_far = walks_long(p->facts);
    const double best = goes_far         ? 64
                        : p->axes[1] < 0 ? 128
                                         : 256,
                 turns = fabs(log2(plan_threads(p) / best));
    const double full = goes_far ? crowd(p, blocks) : 1 + 0.08 * resident / (blocks + resident);
    return idle * full * (1 + 0.01 * turns);
}

/* Stars of radius 3 and 4 on an H200 take 1.2 to 1.5 times what the terms above say (float and
   double, 512³ and 768³): the planes that a thread holds leave few blocks to wait for memory. Other
   methods are as little known at such a reach on other boards, where none is corrected. */
static double deep(const plan *p) {
    enum { KNOWN_REACH = 3, MOST_KNOWN_BLOCKS = 3 };
    const bool known = strcmp(p->gpu->arch, "sm_90") == 0 && p->facts->model->dims == 3 &&
                       !p->form->sums && p->low[2] >= KNOWN_REACH && p->high[2] >= KNOWN_REACH;
    return known ? 1.1 + 0.4 / fmin(p->estimate.blocks_resident, MOST_KNOWN_BLOCKS) : 1;
}

static void cost(plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    const gpu *t = p->gpu;
    plan_estimate *e = &p->estimate;
    const double bytes = (double)model_cell_bytes(m);
    const double machine = t->clock * t->multiprocessors;
    const double points = (double)p->schedule.vector * p->streamed.lane_y;
    e->blocks_resident = plan_resident(p);
    e->loads_per_point = (p->streamed.packs * p->schedule.vector + p->streamed.beside) / points;
    e->shared_per_point = 0;
    e->instructions_per_point = count_instructions(p);
    e->bytes_per_point = model_bytes_per_point(m) + bytes * lost(p, size);
    const struct {
        const char *what;
        double seconds; /* a point */
    } terms[] = {
        {"device memory", e->bytes_per_point * drift(p) / gpu_copy_rate(t)},
        {"instructions", e->instructions_per_point / (lanes * machine)},
        {"the second-level cache",
         bytes * (asked(p) + m->output_count) / (costs.cache_rate * gpu_copy_rate(t))},
    };
    double sum = 0, longest = 0;
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        sum += pow(terms[i].seconds, costs.overlap);
        if (terms[i].seconds > longest) {
            longest = terms[i].seconds;
            e->bound = terms[i].what;
        }
    }
    double all = 1;
    for (int axis = 0; axis < m->dims; axis++)
        all *= (double)size[axis];
    e->seconds = pow(sum, 1 / costs.overlap) * all * waste(p, size) * deep(p);
    /* A launch is never shorter than a block's walk, step by step: few blocks of a small grid. */
    const double steps = p->walk + p->low[2] + p->high[2];
    const double alone = steps * step_cycles / t->clock;
    if (alone > e->seconds) {
        e->seconds = alone;
        e->bound = "a block's walk";
    }
}

/* ---- the method ------------------------------------------------------------------------------ */

/* What the rows of the shape ask of a line: its planes; in how many of them the shape reaches along
   x, the last of these, and how far at most. */
typedef struct line_needs {
    int first, last, sides, plane, low, high;
} line_needs;

/* Of the line that lies y rows from the thread's first. */
static line_needs ask(const plan *p, const plan_row *rows, int count, int array, int y) {
    line_needs a = {.first = 1 << 20, .last = -(1 << 20)};
    int low_at[2 * MAX_REACH + 1] = {0}, high_at[2 * MAX_REACH + 1] = {0};
    for (int r = 0; r < count; r++) {
        const int lane = y - rows[r].dy, dz = rows[r].dz;
        if (p->kernel_array[rows[r].array] != array || lane < 0 || lane >= p->streamed.lane_y)
            continue;
        a.first = dz < a.first ? dz : a.first;
        a.last = dz > a.last ? dz : a.last;
        low_at[dz + MAX_REACH] = larger(low_at[dz + MAX_REACH], rows[r].low);
        high_at[dz + MAX_REACH] = larger(high_at[dz + MAX_REACH], rows[r].high);
    }
    for (int dz = a.first; dz <= a.last; dz++) {
        const int below = low_at[dz + MAX_REACH], above = high_at[dz + MAX_REACH];
        if (below > 0 || above > 0) {
            a.sides++;
            a.plane = dz;
        }
        a.low = larger(a.low, below);
        a.high = larger(a.high, above);
    }
    return a;
}

/* Calls of each line that is read. */
static void for_lines(text *t, const plan *p,
                      void (*write)(text *, void *, int array, int y, const line_needs *),
                      void *to) {
    plan_row *rows = job_array(t->job, (size_t)p->facts->row_count, sizeof *rows);
    const int count = find_rows(p, rows);
    for (int array = 0; array < p->array_count; array++)
        for (int y = -p->low[1]; y < p->streamed.lane_y + p->high[1]; y++) {
            const line_needs a = ask(p, rows, count, array, y);
            if (a.first <= a.last)
                write(t, to, array, y, &a);
        }
}

static void write_ask(text *t, void *to, int array, int y, const line_needs *a) {
    (void)to;
    text_printf(t,
                "template <> struct Asks<%d, %d> { static constexpr int first = %d, last = %d, "
                "sides = %d, plane = %d, low = %d, high = %d; };\n",
                array, y, a->first, a->last, a->sides, a->plane, a->low, a->high);
}

static void write_name(text *t, void *to, int array, int y, const line_needs *a) {
    bool *more = to;
    (void)a;
    text_printf(t, "%sHeldLine<%d, %d>", *more ? ", " : "", array, y);
    *more = true;
}

static void find_held(text *t, void *to, int array, int y, const line_needs *a) {
    bool *held = to;
    (void)t, (void)array, (void)y;
    *held |= a->sides > 1;
}

static void write_lines(text *t, const plan *p) {
    bool more = false;
    text_add(t, "// The lines of y (0: the thread's first row) that a thread reads: the first and "
                "last plane; in how\n// many planes the shape reaches along x, the last of these, "
                "and how far.\ntemplate <int array, int y> struct Asks;\n");
    for_lines(t, p, write_ask, NULL);
    text_add(
        t, "template <int array, int y> struct HeldLine;\ntemplate <class... Each> struct LinesOf;"
           "\nusing HeldLines = LinesOf<");
    for_lines(t, p, write_name, &more);
    text_add(t, ">;\n\n");
}

/* `packs`: what lies beside packs comes by packs where the shape reaches far; of a row alone some
   points may be stored where rows are no packs, or where what is written is not read. */
static void macros(text *t, const plan *p, bool packs, bool only_written) {
    bool wide = false;
    for (int r = 0; r < p->facts->row_count; r++)
        wide |= p->facts->rows[r].low > 2 || p->facts->rows[r].high > 2;
    text_printf(t, "#define PLAN_WIDE_SIDES %d // what lies beside packs comes by packs\n",
                packs && wide && p->schedule.vector > 1);
    text_printf(t, "#define PLAN_SOME_POINTS %d // of a row alone may be stored\n",
                !packs || only_written);
    bool held = false;
    for_lines(t, p, find_held, &held);
    text_printf(t, "#define PLAN_HELD_SIDES %d // for planes that are still to come\n", held);
    text_printf(t, "#define PLAN_FLAT %d // there is no axis y\n", p->axes[1] < 0);
}

static void constants(text *t, const plan *p, const program *program) {
    (void)program;
    text_printf(t,
                "    static constexpr int lane_y = %d, walk = %d, ahead = %d;\n"
                "    static constexpr int slab = %d; // points that are walked through together\n"
                "    static constexpr bool flat = %s; // as PLAN_FLAT\n",
                p->streamed.lane_y, p->walk, p->streamed.ahead, p->streamed.slab,
                p->axes[1] < 0 ? "true" : "false");
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
                                 .narrow = true,
                                 .points = true,
                                 .plain = true,
                                 .packs = true,
                                 .one_way = true,
                                 .macros = macros,
                                 .definitions = write_lines,
                                 .needs = needs,
                                 .fit = fit,
                                 .cost = cost,
                                 .constants = constants};
/* For linear updates that reach along x in several planes. Small grids are made point by point. */
static const form sums_form = {.file = "streamed_sums.cu",
                               .narrow = true,
                               .sums = true,
                               .points = true,
                               .plain = true,
                               .packs = true,
                               .one_way = true,
                               .macros = macros,
                               .definitions = write_lines,
                               .needs = needs,
                               .fit = fit,
                               .cost = cost,
                               .constants = constants};

static const form *choose(const plan_facts *f, const schedule *s) {
    (void)s;
    return adds_planes(f) ? &sums_form : &planes_form;
}

static int walk(int dims) {
    return dims > 1 ? dims - 1 : -1;
}

static const char *refuse(job *j, const plan_facts *f, const schedule *s) {
    (void)j, (void)s;
    return f->model->dims > 1
               ? NULL
               : "it walks the last of several axes; a grid of one axis is streamed by the method "
                 "naive with vec";
}

static void candidates(search *s) {
    static const int vectors[] = {1, 2, 4, 0}, flat[] = {3, 4, 5, 6, 8, 0},
                     deep[] = {4, 6, 8, 64, 0};
    static const search_tiles tiles[AXES] = {
        {{512}}, /* refused */
        {{128}, {256}, {512}, {1024}},
        {{64, 4}, {64, 8}, {128, 4}, {128, 8}, {256, 4}, {256, 8}}};
    search_blocks(s, tiles, s->facts->model->dims == 3 ? deep : flat, vectors);
    if (!walks_long(s->facts))
        return;
    /* The planes before a walk's first and after its last add to sums that nobody takes: the more
       of them the shape reaches, the longer walks pay. With packs of 16 bytes: they load least. */
    static const search_tiles wide[AXES] = {{{0}}, {{128}, {256}, {512}}, {{0}}};
    static const int far[] = {12, 16, 32, 48, 64, 96, 128, 0};
    const int pack[] = {MAX_PACK_BYTES / (int)model_cell_bytes(s->facts->model), 0};
    search_blocks(s, wide, far, pack);
}

const method method_streamed = {
    .name = "streamed",
    .summary = "threads walk the last axis with packs of x and the neighbours along the walk in "
               "registers",
    .keys = SCHEDULE_COARSEN | SCHEDULE_ROWS | SCHEDULE_VECTOR,
    .textbook_tile = 32,
    .walk = walk,
    .refuse = refuse,
    .form = choose,
    .candidates = candidates,
};
