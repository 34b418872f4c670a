/* coarsened: a block walks the last axis with the planes that it needs in a ring in shared memory.
   In 1D there are no planes: the tile is wider by that factor. */
#include "gen/stencil/search.h"

extern const method method_tiled;

static int64_t registers(const plan *p) {
    return 28 + plan_words(p) * block_least(p->facts->all_taps, 36) * 19 / 20;
}

static int64_t elements(const plan *p, const plan_array *a) {
    return block_box(p, a) * (p->low[2] + 1 + p->high[2]);
}

static const block_form block = {.registers = registers,
                                 .elements = elements,
                                 .traffic = block_staged_traffic,
                                 .instructions = block_walk_staging,
                                 .cycles = block_walk_cycles,
                                 .edge = block_edge};
static const form planes = {.file = "coarsened.cu",
                            .awaits = true,
                            .narrow = true,
                            .barriers = true,
                            .staged = true,
                            .points = true,
                            .block = &block,
                            .constants = block_write_walk};

static const form *choose(const plan_facts *f, const schedule *s) {
    (void)s;
    return f->model->dims == 1 ? method_tiled.only : &planes;
}

static void candidates(search *s) {
    static const int one[] = {1, 0}, few[] = {2, 4, 8, 0}, many[] = {8, 16, 32, 64, 0};
    static const search_tiles tiles[AXES] = {
        {{128}, {256}, {512}}, {{64}, {128}, {256}, {512}}, {{32, 8}, {32, 16}, {32, 32}, {64, 8}}};
    search_blocks(s, tiles, s->facts->model->dims == 1 ? few : many, one);
}

const method method_coarsened = {
    .name = "coarsened",
    .summary = "a block walks the last axis with the planes it needs in shared memory",
    .keys = SCHEDULE_COARSEN,
    .textbook_tile = 32,
    .walks = WALKS_LAST,
    .form = choose,
    .candidates = candidates,
};
