/* What the edges of a grid cost blocks that make a tile each, and warps that walk. Takes: a plan, a
   size. Makes: terms of the models of block.c, streamed_cost.c and chained_cost.c. */
#include "gen/stencil/method.h"

#include <math.h>

/* How cells beyond the grid's sides are found. */
typedef enum edge_kind { EDGE_FIXED, EDGE_VALUES, EDGE_RULES } edge_kind;

static edge_kind kind_of_edges(const model *m) {
    edge_kind kind = EDGE_FIXED;
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++) {
            const int of = m->sides[axis][side].kind;
            if ((side == 0 ? m->low : m->high)[axis] == 0 || of == BOUNDARY_FIXED)
                continue;
            if (of != BOUNDARY_ZERO && of != BOUNDARY_CONSTANT)
                return EDGE_RULES;
            kind = EDGE_VALUES;
        }
    return kind;
}

/* The share by which a block near an edge takes longer, where it stages. */
static const double edge_block = 1.0;

double block_edge(const plan *p) {
    (void)p;
    return edge_block;
}

/* Set by ten small grids on an H200, where a block at an edge took 1.5 to 5 times as long. */
double block_tile_edge(const plan *p) {
    static const double others[] = {1, 1.5, 3};
    return edge_block * others[kind_of_edges(p->facts->model)];
}

double edges_share(const plan *p, const int64_t size[AXES]) {
    double inner = 1;
    for (int k = 0; k < AXES; k++) {
        const double n = p->axes[k] < 0 ? 1 : (double)size[p->axes[k]];
        const double blocks = ceil(n / p->per_block[k]);
        const double at_edges =
            ceil((double)p->low[k] / p->per_block[k]) + ceil((double)p->high[k] / p->per_block[k]);
        inner *= blocks > at_edges ? (blocks - at_edges) / blocks : 0;
    }
    return 1 - inner;
}

/* How much of that shows: in 2D, where a block makes all rows, their ends take no longer. 18 such
   grids on an H200. */
static double edge_shown(const plan *p, const int64_t size[AXES]) {
    static const double shares[] = {0, 0.1, 0.35};
    const model *m = p->facts->model;
    const int last = p->axes[2] < 0 ? 1 : 2;
    return m->dims == 2 && !p->form->bare_tile && size[1] <= p->per_block[last]
               ? shares[kind_of_edges(m)]
               : 1;
}

/* How much longer the whole grid takes because some blocks lie near an edge. */
double edges_longer(const plan *p, const int64_t size[AXES]) {
    const double share = p->form->block->edge != NULL ? p->form->block->edge(p) : 0;
    return 1 + share * edge_shown(p, size) * edges_share(p, size);
}

/* Whether threads read neighbours from global memory. */
static bool reads_memory(const plan *p) {
    return (!p->form->staged && !p->form->staged_all) || p->form->bare_tile;
}

/* Blocks whose threads make points at an edge one after the other, each with its own way to memory,
   hold their places while others end. A launch that has any takes about as long as one of them. */
double edges_seconds(const plan *p, const int64_t size[AXES], double waves) {
    static const double least = 0.8;
    const block_form *form = p->form->block;
    return form->edge_cycles == NULL
               ? 0
               : form->edge_cycles(p) / p->gpu->clock * fmax(waves * edges_share(p, size), least);
}

/* Whether their taps at an edge ask where they lie. */
static bool asks_at_edges(const plan *p) {
    return reads_memory(p) && !model_all_fixed(p->facts->model);
}

/* Instructions by which the warps at the grid's edges make a point longer, where a thread reads
   from global memory: all lanes of a warp wait for one whose taps ask where they lie. A thread of a
   pack makes such points one after the other. What `fixed` costs is in edges_seconds. */
double edges_instructions(const plan *p, const int64_t size[AXES]) {
    static const double taps[] = {0, 85, 150}, point = 100; /* 20 small grids on an H200 */
    if (!asks_at_edges(p))
        return 0;
    double inner = 1;
    int room = WARP; /* threads of a warp, which are laid along x, y, z */
    for (int k = 0; k < AXES; k++) {
        const int threads = p->block[k] < room ? p->block[k] : room;
        const double extent = threads * (k == 0 ? p->schedule.vector : 1);
        const double n = p->axes[k] < 0 ? 1 : (double)size[p->axes[k]], warps = ceil(n / extent);
        const double at_edges = ceil(p->low[k] / extent) + ceil(p->high[k] / extent);
        inner *= warps > at_edges ? (warps - at_edges) / warps : 0;
        room /= threads;
    }
    return (1 - inner) * (point + taps[kind_of_edges(p->facts->model)] * p->facts->all_taps);
}

/* Seconds that a thread takes for so many points, one after the other, whose taps ask where they
   lie. Six grids of 18 000 to 93 000 points on an H200: 0.6 to 0.9 µs a tap; on a line, where taps
   share lines of the cache, less; in the spare of `streamed`, where all sides are fixed, 0.2. */
double edges_points(const plan *p, double points) {
    static const double cycles = 1250, of_line = 250, fixed = 400;
    const model *m = p->facts->model;
    const double tap = m->dims == 1 ? of_line : model_all_fixed(m) ? fixed : cycles;
    return points * tap * p->facts->all_taps / p->gpu->clock;
}

double edges_alone(const plan *p) {
    return asks_at_edges(p) ? edges_points(p, p->schedule.vector) : 0;
}

/* The share of points that are made where all sides are fixed: threads that keep a cell load
   nothing. It counts along x where rows are short. In double it also counts in thin slabs, if
   threads make one plane; in float these take as long as with other sides. A grid all of whose
   cells are kept is copied (486871x1, 25 points, H200: 144 billion cells a second, 90 by
   `streamed`). */
double edges_made_share(const plan *p, const int64_t size[AXES]) {
    static const double least = 0.1, most_x = 0.85, most = 0.75;
    const model *m = p->facts->model;
    double share = 1;
    for (int axis = 0; axis < m->dims; axis++) {
        const int kept = m->low[axis] + m->high[axis];
        const double made = fmax((double)(size[axis] - kept) / (double)size[axis], least);
        const bool thin = m->dims == 3 && plan_words(p) > 1 && p->walk <= 1 && made < most;
        if (axis == 0 ? made < most_x : thin || size[axis] <= kept)
            share *= made;
    }
    return model_all_fixed(m) && reads_memory(p) ? fmax(share, least) : 1;
}

/* The cavity in float takes 437, 461, 468 and 483 µs with blocks of 1, 4, 8 and 16 warps. */
double edges_of_x(const plan *p, const int64_t size[AXES], double both) {
    const double share = fmin(2.0 * p->tile[0] / (double)size[0], 1);
    return 1 + both * share * (1 - 1 / ceil(plan_threads(p) / (double)WARP));
}
