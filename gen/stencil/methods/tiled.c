/* tiled: a block's tile with its halo in shared memory. */
#include "gen/stencil/search.h"

static int64_t registers(const plan *p) {
    return 28 + 4 * plan_words(p);
}

static int64_t elements(const plan *p, const plan_array *a) {
    return block_box(p, a) * ((int64_t)p->tile[2] + a->low[2] + a->high[2]);
}

static const block_form block = {.registers = registers,
                                 .elements = elements,
                                 .traffic = block_staged_traffic,
                                 .instructions = block_staging,
                                 .cycles = block_tile_cycles,
                                 .edge = block_tile_edge};
static const form form_tiled = {.file = "tiled.cu",
                                .awaits = true,
                                .narrow = true,
                                .barriers = true,
                                .staged = true,
                                .points = true,
                                .block = &block};

static void candidates(search *s) {
    static const int one[] = {1, 0}, none[] = {0};
    static const search_tiles tiles[AXES] = {
        {{256}, {512}, {1024}, {2048}},
        {{32, 8}, {32, 32}, {64, 8}, {64, 16}, {128, 8}},
        {{32, 4, 4}, {32, 8, 2}, {32, 8, 4}, {16, 8, 8}, {8, 8, 8}}};
    search_blocks(s, tiles, none, one);
}

const method method_tiled = {
    .name = "tiled",
    .summary = "a block's tile with its halo in shared memory",
    .textbook_tile = 8,
    .only = &form_tiled,
    .candidates = candidates,
};
