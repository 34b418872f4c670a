/* What a launch of the method bulk costs. Takes: a plan that fits. Makes: its estimate. */
#include "gen/stencil/methods/bulk.h"

#include "gen/stencil/method.h"

#include <math.h>

/* From figures of an H200 (512³, 768³, 8192², 16384², float and double): the share of a copy that
   walks and tiles reach where nothing else binds, how terms overlap, and seconds until a block's
   first plane has arrived. Instructions of a point besides its sums, and of a pack that a thread
   reads. How much longer it takes where sums spill, where a multiprocessor has one block, which
   either waits for its tile or makes points, where the spare makes them, and where walks are cut
   (z512 of 768 planes: 1.1). The share of what lies beyond the grid that costs time, in 3D and
   (the last) in 2D; of what a wave of walks, or the last of several, leaves idle. Seconds a plane
   that blocks take to keep one pace, and that a multiprocessor takes for each of a block's planes.
   How much longer where there are few rows of warps, where few bytes are on their way, for written
   bytes, and in the second-level cache where it has all arrays; seconds of starts of a block of a
   2D tile; how much longer where threads have many points of a plane, so that warps are few. In 2D,
   for each array that is read at the point alone and each row that shapes reach below: how much
   longer, and seconds of starts if there is one (60 figures of waves and media, 2^20 to 2^24
   points). */
static const struct costs {
    double walk_share, tile_share, overlap, start, point, read, spilling, alone, spare, cut, beyond,
        one_wave, last_wave, pace, plane, few, in_flight, writing, hits, tile_start, beyond_flat,
        many, own, own_start;
} costs = {0.96, 1,       3,      3e-6, 4,    1,    1.3, 0.12,   4,   1.05, 0.15, 0.1,
           0.35, 0.54e-6, 0.3e-6, 1.5,  0.09, 0.08, 0.1, 1.9e-6, 0.8, 1.03, 0.02, 1.5e-6};

/* The same where rows begin anywhere, so that copies bring every `vector`-th one: how terms
   overlap; how much less a row of a tile takes, as no halo is a line, in 3D and in 2D, and the
   bytes by which its ends make it longer; what each halving of the walks costs; what a wave of
   walks leaves idle; what tiles in 2D take longer to begin; how much longer, in float and double,
   for each array that is read at the point alone and each plane that shapes reach above (40 figures
   of waves and media). Of 128 figures of an H200 at 511³, 513x511x259, 333³, 67x323x343 and
   16383x8191, stars of radius 1 to 4 and 27-point boxes, float and double. `few_narrow`: how much
   longer 2D tiles of cells of 16 bits take where warps are few (half, 8191², 5269x2439 and
   1630x2783, stars of radius 1 to 4 and boxes). */
static const struct row_costs {
    double overlap, share, flat_share, ends, cut, idle, pace, plane, start, own, own_double,
        few_narrow;
} row_costs = {4, 0.955, 0.99, 24, 1.045, 0.6, 0.75e-6, 0.37e-6, 3e-6, 0.018, 0.008, 0.5};

/* Where images are found: instructions in 3D, of each row that a thread reads and of each cell of
   it to the left and right of the thread's points; how many times the instructions in 2D (7x7
   filters, 4096² and 8192², compared with `streamed`); how much longer where the spare makes the
   points (333³, 7 points). H200. */
static const struct image_costs {
    double row, beside, flat, spare;
} image_costs = {3, 1.25, 1.12, 30};

static const double bytes_a_cycle = 128;
enum { BANK_BYTES = 4 }; /* a lane takes them at least */

static int packs_for(const plan *p, int elements) {
    return (elements + p->schedule.vector - 1) / p->schedule.vector;
}

/* What a thread reads of a plane: packs, or single cells where rows begin anywhere; the packs of
   its longest row; numbers that it converts. */
typedef struct asked {
    int packs, cells, longest, numbers;
} asked;

static asked count_asked(const plan *p) {
    const int vector = p->schedule.vector;
    asked a = {0, 0, 0, 0};
    for (int y = -p->low[1]; y < bulk_rows(p) + p->high[1]; y++) {
        const int before = a.packs;
        int low, high;
        for (int array = 0; array < p->summed; array++)
            if (bulk_asks(p, array, y, &low, &high)) {
                a.packs += packs_for(p, low) + 1 + packs_for(p, high);
                a.cells += vector * (low + 1 + high);
                a.numbers += low + vector + high;
            }
        a.longest = larger(a.longest, a.packs - before);
    }
    return a;
}

/* Whether rows of this size are copied although they begin anywhere; else the spare makes each
   point alone. */
static bool copies_rows(const plan *p, const int64_t size[AXES]) {
    static const double most = 0x7fff0000; /* as runtime/launch/launch.c */
    double rows = 1;
    for (int axis = 1; axis < p->facts->model->dims; axis++)
        rows *= (double)size[axis];
    return plan_takes_spare(p, size) && bulk_is_shifted(p) && rows < most &&
           rows >= p->schedule.vector;
}

/* How many times as long where rows begin anywhere and the lanes of a warp lie in two of them, so
   that it stores parts of sectors (16383x8191, H200, 5 points, float: 0.91 of a copy with tiles of
   128 columns, 0.77 with 64), and where a block's warps are no multiple of the multiprocessor's
   four parts. */
static double apart(const plan *p) {
    static const double two_rows = 1.12, uneven = 1.03;
    const int row = p->tile[0] / bulk_row_points(p);
    return row % WARP != 0 ? two_rows : bulk_readers(p) / WARP % BULK_PARTS != 0 ? uneven : 1;
}

/* Planes that a block reads for each that it makes, given the cells along the walked axis. */
static double planes_read(const plan *p, double cells) {
    const double made = fmin(p->walk, cells),
                 rows = bulk_is_flat(p) ? p->walk / bulk_groups(p) : made;
    return 1 + (bulk_depth(p) - 1) / fmin(rows, made);
}

/* How blocks fill the machine: in so many waves, so many at a time on a multiprocessor. How many
   times as long as if none idled: what each multiprocessor does by itself, and memory, which all
   share. What lies beyond the grid arrives without being read, so it costs memory little, but in
   2D. Where rows begin anywhere, or the grid is less than two thirds of a tile, what each
   multiprocessor does takes its time with it (tiles of 192 for 80 to 116 cells along x, H200: 1.1
   to 1.5 times as long as others). */
typedef struct filling {
    double waves, together, uneven, idle, covered;
} filling;

/* The share of what blocks leave idle that costs the memory's time. */
static double idle_share(const plan *p, double waves, bool rows) {
    return bulk_is_flat(p) ? costs.one_wave
           : rows          ? row_costs.idle
           : waves <= 1    ? costs.one_wave
                           : costs.last_wave;
}

static filling fill(const plan *p, const int64_t size[AXES], bool rows) {
    static const double far_beyond = 1.5; /* a tile's cells for each of the grid */
    double covered = 1, blocks = 1, longest = 1, lone = 1;
    for (int k = 0; k < AXES; k++) {
        if (p->axes[k] < 0)
            continue;
        const double cells = (double)size[p->axes[k]], parts = ceil(cells / p->per_block[k]);
        const double over = parts * p->per_block[k] / cells;
        blocks *= parts;
        if (k < 2 || bulk_is_flat(p)) {
            covered *= over;
            lone *= parts == 1 && over > far_beyond ? over : 1;
        } else if (rows) /* the last part of a walk is short, and ends early */
            longest = over;
    }
    const double each = blocks / p->gpu->multiprocessors;
    filling f = {.waves = each / p->estimate.blocks_resident,
                 .together = p->estimate.blocks_resident,
                 .covered = bulk_is_flat(p) ? 1
                            : rows          ? covered
                                            : lone};
    f.uneven = ceil(f.waves) / f.waves;
    if (f.waves <= 1) { /* all run at once, some multiprocessors with a block less */
        f.together = ceil(each);
        f.uneven = ceil(each) / each;
    }
    f.idle = (1 + (bulk_is_flat(p) ? costs.beyond_flat : costs.beyond) * (covered - 1)) *
             (1 + idle_share(p, f.waves, rows) * (f.uneven * longest - 1));
    return f;
}

/* Instructions of a point in 3D where threads find images (templates/bulk_near_edge.cuh): of each
   row that they read, and of each cell of it next to their points. Warps near an edge hold up the
   others, which keep their pace. */
static double finding(const plan *p) {
    double instructions = 0;
    for (int y = -p->low[1]; y < bulk_rows(p) + p->high[1]; y++)
        for (int array = 0; array < p->summed; array++) {
            int low, high;
            if (bulk_asks(p, array, y, &low, &high))
                instructions += image_costs.row + image_costs.beside * (low + high);
        }
    return instructions / (p->schedule.vector * bulk_rows(p));
}

/* Registers that a thread cannot do without: its sums, its longest row, and addresses; where it may
   find images, its distances from the edges and places of what comes from the other end. Kernels
   that spill a few bytes were much slower (25-point star, 768³, float: 0.90 of a copy with none,
   0.86 with 8 bytes, 0.75 with 16). */
static int64_t least_registers(const plan *p, bool finds) {
    enum { ADDRESSES = 8, IMAGES = 6, ENDS = 10 };
    const bool ends = finds && (bulk_has_ends(p, 0) || bulk_has_ends(p, 1));
    const int addresses = ADDRESSES + (finds ? IMAGES : 0) + (ends ? ENDS : 0);
    const int64_t points = (int64_t)p->schedule.vector * bulk_rows(p);
    const int row = larger(count_asked(p).longest, p->array_count - p->summed) * p->schedule.vector;
    return addresses +
           plan_words(p) * (points * p->facts->model->output_count * bulk_depth(p) + row);
}

static bool spills(const plan *p, bool finds) {
    return least_registers(p, finds) > bulk_registers(p);
}

/* How many times as long instructions take where a multiprocessor has too few warps, and rows of
   them, to hide what they wait for. */
static double few_warps(const plan *p, const filling *f) {
    enum { ENOUGH = 24 };
    const double warps = f->together * bulk_readers(p) / (double)WARP;
    return bulk_is_flat(p)           ? 1
           : p->schedule.lane[0] > 1 ? bulk_few_words(warps)
                                     : 1 + costs.few * fmax(ENOUGH / (warps * bulk_rows(p)) - 1, 0);
}

/* How many times as long instructions and shared memory take where blocks are not whole waves. 2D
   tiles of 16 bits are bound by them alone if there are warps enough, so that a wave that is not
   full is faster. */
static double turns(const plan *p, const filling *f, bool rows) {
    enum { ENOUGH = 20 };
    if (!rows || !bulk_is_flat(p) || !bulk_is_narrow(p))
        return f->uneven;
    const double warps = f->together * bulk_readers(p) / WARP;
    return sqrt(f->uneven) * (1 + row_costs.few_narrow * fmax(ENOUGH / warps - 1, 0));
}

/* How many times as long where a multiprocessor's four parts get warps unevenly, and where it has
   several blocks, each with a warp that asks for planes: 125-point box, 768³, float, H200, one
   block of 18 warps 2.46 ms, of 24 warps 2.20; three of 12 warps 2.35. Where rows begin anywhere,
   several blocks share the parts: 7 points, 511³, float, two of 6 warps 0.290, of 12 0.299. */
static double uneven_parts(const plan *p, const filling *f, bool rows) {
    static const double several = 1.05;
    const int warps = bulk_readers(p) / WARP * (rows ? (int)f->together : 1);
    return bulk_is_flat(p)
               ? 1
               : (double)round_up(warps, BULK_PARTS) / warps * (f->together > 1 ? several : 1);
}

/* The share of a launch's arrays that it reads. */
static double read_share(const model *m) {
    int read = 0;
    for (int i = 0; i < m->array_count; i++)
        read += m->arrays[i].used;
    return (double)read / (read + m->output_count);
}

/* How many times as long as a copy's bytes: reading is cheaper than writing. */
static double reading(const model *m) {
    return 1 + costs.writing * (1 - 2 * read_share(m));
}

/* How many times as long where few bytes are on their way to a multiprocessor. */
static double in_flight(const plan *p, const filling *f) {
    static const double enough = 173e3; /* bytes, if a launch only read */
    const double bytes = f->together * (double)((int64_t)p->shared_bytes - bulk_slot_bytes(p));
    return bulk_is_flat(p)
               ? 1
               : 1 + costs.in_flight * fmax(enough * read_share(p->facts->model) / bytes - 1, 0);
}

/* How many times as long where rows do not begin at sectors, or at lines, of memory: each is read
   by one sector or line more. 17-point wave, double, 1238x4343, H200: 0.95 of naive. */
static double unaligned(const plan *p, const int64_t size[AXES]) {
    static const double sector = 1.07, line = 1.01;
    const int64_t pitch = size[0] * bulk_cell_bytes(p);
    return pitch % 128 == 0 ? 1 : pitch % 32 != 0 ? sector : line;
}

/* The same, and all that differs besides, where they begin anywhere. */
static double anywhere(const plan *p, double parts) {
    const double share = bulk_is_flat(p) ? row_costs.flat_share : row_costs.share;
    const double own = plan_words(p) > 1 ? row_costs.own_double : row_costs.own;
    return apart(p) * (1 + own * (p->array_count - p->summed) * p->high[2]) *
           (share + row_costs.ends / (p->tile[0] * bulk_cell_bytes(p))) *
           (bulk_is_flat(p) ? 1 : pow(row_costs.cut, log2(parts)));
}

/* Seconds until planes arrive, wave by wave; the first begins where nothing else is on its way. */
static double starting(double waves) {
    return costs.start * (ceil(waves) - 0.5);
}

/* Seconds of a 2D grid that is no longer than a tile: of a thread's rows, one after the other, and
   until the images of all rows beyond its edges are in their places, in each block. 50 grids of 1
   to 13 rows on an H200. */
static double of_few_rows(const plan *p, const int64_t size[AXES], bool images, double waves) {
    static const double row = 180, image = 1000; /* cycles */
    const double all = (double)size[p->axes[2]];
    const int together = copies_rows(p, size) ? 1 : p->schedule.vector; /* cells that are put */
    const int across = (p->tile[0] + p->low[0] + p->high[0] + together - 1) / together;
    const double put = ceil((p->low[2] + p->high[2]) * across / (double)bulk_readers(p));
    const double made = fmin(p->walk / bulk_groups(p), all) + bulk_depth(p) - 1;
    const double cycles = made * row + (images ? put * image * fmax(waves, 1) : 0);
    return all <= p->walk ? cycles / p->gpu->clock : 0;
}

/* Seconds of walks of so many planes that would take `seconds` if nothing held them up. A plane
   takes at least what blocks need to agree on their pace; and each of a block's costs its
   multiprocessor a time of its own, whatever is in it: 7 points, float, 384³, H200, 0.35 µs with
   tiles of 128x8 and 64x16 and walks of 16 to 43 planes, where those of 128x16 take as long as
   memory does. */
static double in_pace(const plan *p, const filling *f, double planes, double seconds, bool rows) {
    static const double together = 6; /* an exponent */
    const double each = f->waves * p->estimate.blocks_resident;
    const double pace = rows ? row_costs.pace : costs.pace,
                 plane = rows ? row_costs.plane : costs.plane;
    return pow(pow(seconds, together) + pow(ceil(f->waves) * pace * planes, together) +
                   pow(each * plane * planes, together),
               1 / together);
}

/* `images`: what they cost is counted. */
static void wide_cost(plan *p, const int64_t size[AXES], bool images) {
    const model *m = p->facts->model;
    const gpu *g = p->gpu;
    plan_estimate *e = &p->estimate;
    const double bytes = bulk_cell_bytes(p), machine = g->clock * g->multiprocessors;
    const double points = (double)p->schedule.vector * bulk_rows(p);
    static const double many_points = 8;
    const double cells = (double)size[p->axes[2]], again = planes_read(p, cells);
    const double tile = (double)p->tile[0] * p->tile[1] * (bulk_is_flat(p) ? p->walk : 1);
    const int own = p->array_count - p->summed;
    const bool rows = copies_rows(p, size), finds = images && !bulk_is_flat(p) && !rows;
    const asked a = count_asked(p);
    const bool words = rows && bulk_is_narrow(p);
    plan spare = *p;
    if (words)
        bulk_widen_rows(&spare);
    const bulk_words w = words ? bulk_count_words(&spare) : (bulk_words){.longer = 1};
    const double reads = words ? w.turns : (rows ? a.cells : a.packs) / points;
    e->blocks_resident = plan_resident(p);
    const filling f = fill(p, size, rows);
    e->loads_per_point = (double)(rows ? bulk_shifted_bytes(p) : bulk_tile_bytes(p)) / bytes / tile;
    e->shared_per_point = e->loads_per_point + again * reads * (rows ? 1 : p->schedule.vector);
    e->bytes_per_point =
        model_bytes_per_point(m) +
        (bulk_is_flat(p) ? 0 : bytes * p->summed * (bulk_depth(p) - 1) / fmin(p->walk, cells));
    e->instructions_per_point =
        again *
        (p->facts->sum_operations * BULK_LANES / g->fma_lanes[m->dtype] +
         (words ? w.instructions : costs.point + costs.read * reads) + (finds ? finding(p) : 0)) *
        (images && bulk_is_flat(p) ? image_costs.flat : 1);
    const double share = bulk_is_flat(p) ? costs.tile_share : costs.walk_share;
    const double kept = plan_in_cache(p, size);
    const struct {
        const char *what;
        double seconds; /* a point */
    } terms[] = {
        {"device memory",
         (1 - kept) * reading(m) * e->bytes_per_point / gpu_copy_rate(g) / share * f.idle},
        {"the second-level cache", (e->loads_per_point + m->output_count) * bytes / gpu_l2_rate(g) *
                                       f.idle * (1 + costs.hits * kept)},
        {"instructions", e->instructions_per_point / (BULK_LANES * machine) *
                             turns(&spare, &f, rows) * f.covered * few_warps(&spare, &f) *
                             uneven_parts(&spare, &f, rows)},
        {"shared memory", e->shared_per_point * fmax(bytes, BANK_BYTES) /
                              (bytes_a_cycle * machine) * turns(&spare, &f, rows) * f.covered},
    };
    const double overlap = rows ? row_costs.overlap : costs.overlap;
    double longest = 0, sum = 0;
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        sum += pow(terms[i].seconds, overlap);
        if (terms[i].seconds > longest) {
            longest = terms[i].seconds;
            e->bound = terms[i].what;
        }
    }
    e->seconds = pow(sum, 1 / overlap) * model_grid_points(m, size);
    e->seconds *= (spills(p, finds) && !rows ? costs.spilling : 1) *
                  (points > many_points ? costs.many : 1) *
                  (bulk_is_flat(p) ? 1 + costs.alone / f.together / f.together : 1) *
                  (bulk_is_flat(p) ? 1 + costs.own * own * p->high[2] : 1) * w.longer;
    if (!bulk_is_flat(p) && !rows && f.waves > 1 && p->walk < cells)
        e->seconds *= costs.cut; /* although there are blocks enough */
    e->seconds *=
        rows ? anywhere(&spare, ceil(cells / p->walk)) : in_flight(p, &f) * unaligned(p, size);
    const double planes = fmin(p->walk, cells) + bulk_depth(p) - 1;
    if (!bulk_is_flat(p))
        e->seconds = in_pace(p, &f, planes, e->seconds, rows);
    if (plan_takes_spare(p, size) && !rows) /* it makes each point alone */
        e->seconds = bulk_is_narrow(p) ? bulk_alone(p, size)
                                       : e->seconds * (images ? image_costs.spare : costs.spare);
    if (bulk_is_flat(p))
        e->seconds += of_few_rows(p, size, images, f.waves) + costs.tile_start +
                      (rows ? row_costs.start : 0) + (own > 0 ? costs.own_start : 0);
    else
        e->seconds += starting(f.waves);
}

void bulk_cost(plan *p, const int64_t size[AXES]) {
    if (bulk_is_flat(p) || !bulk_is_narrow(p) || copies_rows(p, size)) {
        wide_cost(p, size, false);
        const double without = p->estimate.seconds;
        if (bulk_has_images(p))
            wide_cost(p, size, true);
        p->estimate.edges = p->estimate.seconds / without;
        return;
    }
    const asked a = count_asked(p);
    bulk_step s = {.readers = bulk_readers(p),
                   .rows = bulk_rows(p),
                   .packs = a.packs,
                   .conversions = a.numbers,
                   .bytes = bulk_tile_bytes(p),
                   .again = planes_read(p, (double)size[p->axes[2]])};
    p->estimate.blocks_resident = plan_resident(p);
    s.missing = larger(p->estimate.registers - bulk_registers(p), 0);
    s.waves = fill(p, size, false).waves;
    bulk_narrow_cost(p, &s, size);
    if (plan_takes_spare(p, size))
        p->estimate.seconds = bulk_alone(p, size);
    p->estimate.seconds += starting(s.waves);
}
