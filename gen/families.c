/* The table of families. */
#include "gen/families.h"

#include "gen/lists/draw.h"
#include "gen/lists/merge/merge.h"
#include "gen/lists/reduce/reduce.h"
#include "gen/lists/scan/scan.h"
#include "gen/lists/spmv/spmv.h"
#include "gen/space/build.h"
#include "gen/stencil/stencil.h"

#include <string.h>

const family families[FAMILY_COUNT] = {
    [FAMILY_STENCIL] = {.name = "stencil",
                        .kind = KIND_GRID,
                        .summary = "a grid updated from the neighbours of each point",
                        .dims = stencil_dims,
                        .print = stencil_print,
                        .wanted = stencil_print_wanted,
                        .plan = stencil_plan,
                        .space_agrees = space_agrees_stencil,
                        .space_fill = space_fill_stencil,
                        .build = stencil_build,
                        .explain = stencil_explain,
                        .grid = {.model = stencil_model}},
    [FAMILY_REDUCE] =
        {.name = "reduce",
         .kind = KIND_REDUCE,
         .summary = "a list to one element",
         .dims = reduce_dims,
         .print = reduce_print,
         .wanted = pattern_print_wanted,
         .plan = pattern_plan,
         .space_agrees = space_agrees_lists,
         .space_fill = space_fill_reduce,
         .build = reduce_build,
         .explain = reduce_explain,
         .lists = {.kinds = draw_kinds, .alike = true, .draw = reduce_draw, .judge = reduce_judge}},
    [FAMILY_SCAN] =
        {.name = "scan",
         .kind = KIND_SCAN,
         .summary = "a list to its prefix sums",
         .dims = scan_dims,
         .print = scan_print,
         .wanted = pattern_print_wanted,
         .plan = pattern_plan,
         .space_agrees = space_agrees_lists,
         .space_fill = space_fill_scan,
         .build = scan_build,
         .explain = scan_explain,
         .lists = {.kinds = draw_kinds, .alike = true, .draw = scan_draw, .judge = scan_judge}},
    [FAMILY_MERGE] =
        {.name = "merge",
         .kind = KIND_MERGE,
         .summary = "two sorted lists to one",
         .dims = merge_dims,
         .print = merge_print,
         .wanted = pattern_print_wanted,
         .plan = pattern_plan,
         .space_agrees = space_agrees_lists,
         .space_fill = space_fill_merge,
         .build = merge_build,
         .explain = merge_explain,
         .lists = {.kinds = draw_kinds, .alike = true, .draw = merge_draw, .judge = merge_judge}},
    [FAMILY_SPMV] = {.name = "spmv",
                     .kind = KIND_PRODUCT,
                     .summary = "a sparse matrix times a vector",
                     .dims = spmv_dims,
                     .print = spmv_print,
                     .wanted = pattern_print_wanted,
                     .plan = pattern_plan,
                     .space_agrees = space_agrees_lists,
                     .space_fill = space_fill_spmv,
                     .build = spmv_build,
                     .explain = spmv_explain,
                     .lists = {.kinds = spmv_kinds,
                               .draw = spmv_draw,
                               .judge = spmv_judge,
                               .draw_given = spmv_draw_given,
                               .judge_given = spmv_judge_given}},
};

const family *family_named(const char *name) {
    for (int i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}
