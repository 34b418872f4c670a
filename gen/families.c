/* The table of families, and stencils as one of them. */
#include "gen/families.h"

#include "gen/lists/draw.h"
#include "gen/lists/merge/merge.h"
#include "gen/lists/reduce/reduce.h"
#include "gen/lists/scan/scan.h"
#include "gen/lists/spmv/spmv.h"
#include "gen/stencil/stencil.h"

const family families[FAMILY_COUNT] = {
    [FAMILY_STENCIL] = {.name = "stencil",
                        .summary = "a grid updated from the neighbours of each point",
                        .dims = stencil_dims,
                        .print = stencil_print,
                        .build = stencil_build},
    [FAMILY_REDUCE] = {.name = "reduce",
                       .summary = "a list to one element",
                       .dims = pattern_dims,
                       .print = reduce_print,
                       .build = reduce_build,
                       .explain = reduce_explain,
                       .kinds = draw_kinds,
                       .alike = true,
                       .draw = reduce_draw,
                       .judge = reduce_judge},
    [FAMILY_SCAN] = {.name = "scan",
                     .summary = "a list to its prefix sums",
                     .dims = pattern_dims,
                     .print = scan_print,
                     .build = scan_build,
                     .explain = scan_explain,
                     .kinds = draw_kinds,
                     .alike = true,
                     .draw = scan_draw,
                     .judge = scan_judge},
    [FAMILY_MERGE] = {.name = "merge",
                      .summary = "two sorted lists to one",
                      .dims = pattern_dims,
                      .print = merge_print,
                      .build = merge_build,
                      .explain = merge_explain,
                      .kinds = draw_kinds,
                      .alike = true,
                      .draw = merge_draw,
                      .judge = merge_judge},
    [FAMILY_SPMV] = {.name = "spmv",
                     .summary = "a sparse matrix times a vector",
                     .dims = pattern_dims,
                     .print = spmv_print,
                     .build = spmv_build,
                     .explain = spmv_explain,
                     .kinds = spmv_kinds,
                     .draw = spmv_draw,
                     .judge = spmv_judge,
                     .draw_given = spmv_draw_given,
                     .judge_given = spmv_judge_given},
};
