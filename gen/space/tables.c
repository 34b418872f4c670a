/* The values of the tables. */
#include "gen/space/tables.h"

#include "gen/lists/merge/merge.h"
#include "gen/lists/reduce/reduce.h"
#include "gen/lists/scan/scan.h"
#include "gen/lists/spmv/spmv.h"

#define THREADS(n)                                                                                 \
    {                                                                                              \
        n, ONE, {                                                                                  \
            64, 128, 256, 512, 1024                                                                \
        }                                                                                          \
    }
#define USUAL_THREADS(n)                                                                           \
    {                                                                                              \
        n, ONE, {                                                                                  \
            128, 256, 512                                                                          \
        }                                                                                          \
    }

static const space_group reduce_groups[] = {
    {0,
     REDUCE_ONE_PASS,
     {{REDUCE_THREADS, ONE, {128, 256, 512, 1024}},
      {REDUCE_ITEMS, PACK, {1, 2, 4, 8}},
      {REDUCE_BLOCKS, PROCESSOR, {OWN, 1, 2, 3, 4, 6, 8}},
      {REDUCE_ALONE, TILE, {OWN, 1, 4}},
      {REDUCE_SHARE, HALF, {OWN, 2, 4}},
      {REDUCE_CLUSTER, ONE, {OWN, 4, 8}}}},
    {0,
     REDUCE_COARSENED,
     {{REDUCE_THREADS, ONE, {128, 256, 512, 1024}}, {REDUCE_ITEMS, ONE, {4, 8, 16, 32}}}},
    {0, REDUCE_SHARED, {{REDUCE_THREADS, ONE, {128, 256, 512, 1024}}}},
    {0, REDUCE_COALESCED, {{REDUCE_THREADS, ONE, {256, 1024}}}},
    {0, REDUCE_INTERLEAVED, {{REDUCE_THREADS, ONE, {256, 1024}}}},
};

static const space_group scan_groups[] = {
    {0,
     SCAN_LOOK_BACK,
     {THREADS(SCAN_THREADS), {SCAN_ITEMS, ONE, {3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 31}}}},
    {0,
     SCAN_PERSISTENT,
     {THREADS(SCAN_THREADS),
      {SCAN_ITEMS, PACK, {1, 2, 3, 4, 5, 6, 7, 8}},
      {SCAN_STAGES, ONE, {1, 2, 3}},
      {SCAN_BLOCKS, ONE, {OWN, 1, 2, 3, 4, 5, 6, 8}},
      {SCAN_AHEAD, ONE, {OWN, 2}},
      {SCAN_DRAW, ONE, {OWN, 2}}}},
    {0, SCAN_KOGGE_STONE, {THREADS(SCAN_THREADS), {SCAN_ITEMS, ONE, {1, 2, 4, 8}}}},
    {0, SCAN_DOUBLE_BUFFER, {THREADS(SCAN_THREADS), {SCAN_ITEMS, ONE, {1, 2, 4, 8}}}},
    {0, SCAN_BRENT_KUNG, {THREADS(SCAN_THREADS), {SCAN_ITEMS, ONE, {2, 4, 8}}}},
};

static const space_group merge_groups[] = {
    {0,
     MERGE_PATH,
     {THREADS(MERGE_THREADS),
      {MERGE_ITEMS, ONE, {5, 7, 9, 11, 13, 15, 17, 19, 21}},
      {MERGE_LANES, ONE, {1, 4, 8, 32}},
      {MERGE_BLOCKS, ONE, {OWN, 2, 3, 4, 6, 8}}}},
    {0,
     MERGE_ONE_LAUNCH,
     {THREADS(MERGE_THREADS),
      {MERGE_ITEMS, ONE, {5, 7, 9, 11, 13, 15, 17, 19, 21}},
      {MERGE_STAGES, ONE, {1, 2}},
      {MERGE_ROUNDS, ONE, {OWN, 1, 4, 8, 16}},
      {MERGE_BLOCKS, ONE, {OWN, 2, 3, 4, 5, 6, 8}}}},
    {0, MERGE_CO_RANK, {USUAL_THREADS(MERGE_THREADS), {MERGE_ITEMS, ONE, {4, 8, 16}}}},
    {0,
     MERGE_TILED,
     {USUAL_THREADS(MERGE_THREADS),
      {MERGE_ITEMS, ONE, {4, 8, 16}},
      {MERGE_ROUNDS, ONE, {1, 4, 16}}}},
    {0,
     MERGE_CIRCULAR,
     {USUAL_THREADS(MERGE_THREADS),
      {MERGE_ITEMS, ONE, {4, 8, 16}},
      {MERGE_ROUNDS, ONE, {1, 4, 16}}}},
};

static const space_group spmv_groups[] = {
    {FORMAT_CSR, SPMV_THREAD, {THREADS(SPMV_THREADS)}},
    {FORMAT_CSR, SPMV_WARP, {THREADS(SPMV_THREADS), {SPMV_LANES, ONE, {2, 4, 8, 16, 32}}}},
    {FORMAT_CSR,
     SPMV_BALANCED,
     {USUAL_THREADS(SPMV_THREADS),
      {SPMV_ITEMS, ONE, {3, 5, 7, 9, 11, 15}},
      {SPMV_RUN, ONE, {OWN, 1, 4, 16}},
      {SPMV_CACHE, ONE, {OWN, 1, 2, 4}}}},
    {FORMAT_COO, 0, {USUAL_THREADS(SPMV_THREADS), {SPMV_ITEMS, ONE, {3, 5, 7, 9, 11, 15}}}},
    {FORMAT_CSC, 0, {USUAL_THREADS(SPMV_THREADS), {SPMV_LANES, ONE, {4, 8, 16, 32}}}},
    {FORMAT_ELL,
     0,
     {THREADS(SPMV_THREADS),
      {SPMV_PASSES, ONE, {OWN, 1, 2, 4}},
      {SPMV_CACHE, ONE, {OWN, 1, 2, 4}}}},
    {FORMAT_HYB, 0, {USUAL_THREADS(SPMV_THREADS), {SPMV_ITEMS, ONE, {5, 7, 11}}}},
    {FORMAT_JDS, 0, {THREADS(SPMV_THREADS)}},
    {FORMAT_DIA, 0, {THREADS(SPMV_THREADS), {SPMV_ITEMS, ONE, {1, 2, 4, 8}}}},
    {FORMAT_BCSR,
     SPMV_WARP,
     {USUAL_THREADS(SPMV_THREADS), {SPMV_ROWS, ONE, {2, 3, 4}}, {SPMV_COLUMNS, ONE, {2, 3, 4}}}},
    {FORMAT_BCSR,
     SPMV_THREAD,
     {USUAL_THREADS(SPMV_THREADS), {SPMV_ROWS, ONE, {2, 3, 4}}, {SPMV_COLUMNS, ONE, {2, 3, 4}}}},
    {FORMAT_PKT, 0, {USUAL_THREADS(SPMV_THREADS), {SPMV_PACKET, ONE, {OWN, 1024, 2048, 4096}}}},
    {FORMAT_SELL,
     0,
     {THREADS(SPMV_THREADS),
      {SPMV_SLICE, ONE, {32, 64}},
      {SPMV_SIGMA, ONE, {OWN, 64, 256, 4096, 65536}},
      {SPMV_CACHE, ONE, {OWN, 1, 2, 4}}}},
    {FORMAT_STENCIL,
     0,
     {THREADS(SPMV_THREADS),
      {SPMV_ITEMS, ONE, {1, 2, 3, 4}},
      {SPMV_APART, ONE, {OWN, 32}},
      {SPMV_AHEAD, ONE, {OWN, 1, 4, 16, 64, 256}}}},
};

#define FILL(family)                                                                               \
    void space_fill_##family(space_builder *b) {                                                   \
        static const space_table table = {family##_groups,                                         \
                                          sizeof family##_groups / sizeof *family##_groups};       \
        space_fill_lists(b, &table);                                                               \
    }
FILL(reduce)
FILL(scan)
FILL(merge)
FILL(spmv)
