/* cached-halo: a block's tile in shared memory, its halo through the caches. */
#include "gen/stencil/search.h"

#include <stdlib.h>

static int64_t registers(const plan *p) {
    return 32 + plan_words(p) * block_least(p->facts->all_taps, 36);
}

static int64_t elements(const plan *p, const plan_array *a) {
    (void)a;
    return (int64_t)p->tile[0] * p->tile[1] * p->tile[2];
}

/* Taps of staged arrays that lie beyond the tile, for the tile's mean point. */
static double beyond_tile(const plan *p) {
    const plan_facts *f = p->facts;
    double taps = 0;
    for (int i = 0; i < f->nodes; i++) {
        const expr_node *n = expr_get(f->model->pool, i);
        if (!f->live[i] || n->op != EXPR_TAP || !p->arrays[p->kernel_array[n->index]].staged)
            continue;
        double inside = 1;
        for (int k = 0; k < AXES; k++) {
            const double d = p->axes[k] < 0 ? 0 : abs(n->d[p->axes[k]]);
            inside *= d < p->tile[k] ? 1 - d / p->tile[k] : 0;
        }
        taps += 1 - inside;
    }
    return taps;
}

static void traffic(plan *p) {
    const double beyond = beyond_tile(p);
    p->estimate.loads_per_point = block_staged(p) + block_own_taps(p) + beyond;
    p->estimate.shared_per_point = block_staged(p) + p->facts->all_taps - beyond;
}

/* Every tap tests where it lies (the cost of that is not measured). */
static double instructions(const plan *p) {
    static const double asked = 3;
    return block_point_instructions() + block_arithmetic(p) + p->estimate.shared_per_point +
           block_load_instructions(p) + asked * p->facts->all_taps;
}

static double cycles(const plan *p) {
    return block_tile_cycles(p) + block_load_cycles(p);
}

static const block_form block = {.registers = registers,
                                 .elements = elements,
                                 .traffic = traffic,
                                 .instructions = instructions,
                                 .cycles = cycles,
                                 .edge = block_edge};
static const form form_tile = {.file = "cached_halo.cu",
                               .awaits = true,
                               .narrow = true,
                               .barriers = true,
                               .staged = true,
                               .bare_tile = true,
                               .points = true,
                               .block = &block};

static void candidates(search *s) {
    static const int one[] = {1, 0}, none[] = {0};
    static const search_tiles tiles[AXES] = {
        {{256}, {512}, {1024}},
        {{32, 8}, {32, 32}, {64, 8}, {64, 16}, {128, 8}},
        {{32, 4, 4}, {32, 8, 2}, {32, 8, 4}, {16, 8, 8}, {8, 8, 8}}};
    search_blocks(s, tiles, none, one);
}

const method method_cached_halo = {
    .name = "cached-halo",
    .summary = "a block's tile in shared memory, its halo through the caches",
    .textbook_tile = 8,
    .only = &form_tile,
    .candidates = candidates,
};
