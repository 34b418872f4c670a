/* The table of families. */
#include "gen/families.h"

#include "gen/lists/draw.h"
#include "gen/lists/merge/merge.h"
#include "gen/lists/reduce/reduce.h"
#include "gen/lists/scan/scan.h"
#include "gen/lists/spmv/spmv.h"
#include "gen/space/build.h"
#include "gen/stencil/schedule.h"
#include "gen/stencil/stencil.h"

#include <string.h>

const family families[FAMILY_COUNT] = {
    [FAMILY_STENCIL] = {.name = "stencil",
                        .kind = PROGRAM_GRID,
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
         .kind = PROGRAM_REDUCE,
         .summary = "a list to one element",
         .dims = pattern_dims,
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
         .kind = PROGRAM_SCAN,
         .summary = "a list to its prefix sums",
         .dims = pattern_dims,
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
         .kind = PROGRAM_MERGE,
         .summary = "two sorted lists to one",
         .dims = pattern_dims,
         .print = merge_print,
         .wanted = pattern_print_wanted,
         .plan = pattern_plan,
         .space_agrees = space_agrees_lists,
         .space_fill = space_fill_merge,
         .build = merge_build,
         .explain = merge_explain,
         .lists = {.kinds = draw_kinds, .alike = true, .draw = merge_draw, .judge = merge_judge}},
    [FAMILY_SPMV] = {.name = "spmv",
                     .kind = PROGRAM_PRODUCT,
                     .summary = "a sparse matrix times a vector",
                     .dims = pattern_dims,
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

/* ---- lines of plans files ------------------------------------------------------------------- */

typedef struct parsing {
    int family;
    const char *plan;
} parsing;

static void parse_plan(job *j, void *argument) {
    static const pattern_words *const words[FAMILY_COUNT] = {[FAMILY_REDUCE] = &reduce_words,
                                                             [FAMILY_SCAN] = &scan_words,
                                                             [FAMILY_MERGE] = &merge_words,
                                                             [FAMILY_SPMV] = &spmv_words};
    const parsing *p = argument;
    if (words[p->family] == NULL) {
        schedule s = {.method = 0};
        schedule_parse(j, p->plan, "the plan", &s);
    } else {
        pattern_schedule s = {0};
        pattern_schedule_parse(j, words[p->family], p->plan, "the plan", &s);
    }
}

/* '#' of a pattern is a number. */
static bool matches(const char *pattern, const char *class) {
    for (; *pattern != '\0'; pattern++)
        if (*pattern == '#') {
            const size_t digits = strspn(class, "0123456789");
            if (digits == 0)
                return false;
            class += digits;
        } else if (*pattern != *class ++) {
            return false;
        }
    return *class == '\0';
}

static int family_of(const plans_line *l) {
    static const char *const classes[FAMILY_COUNT] = {
        [FAMILY_STENCIL] = "stencil #D # points radius #", [FAMILY_SCAN] = "scan # bytes"};
    const size_t length = strcspn(l->class, " ");
    for (int f = 0; f < FAMILY_COUNT; f++)
        if (strlen(families[f].name) == length && memcmp(families[f].name, l->class, length) == 0)
            return plans_line_has_key(l) || (classes[f] != NULL && matches(classes[f], l->class))
                       ? f
                       : FAMILY_COUNT;
    return FAMILY_COUNT;
}

const char *plans_line_flaw(job *j, const plans_line *l) {
    parsing p = {family_of(l), l->plan};
    if (p.family == FAMILY_COUNT)
        return job_print(j, "there is no class '%s'", l->class);
    job *own;
    const fault f = job_run(job_allocator(j), parse_plan, &p, &own);
    if (f == FAULT_MEMORY)
        job_fail_as(j, own);
    const char *why = NULL;
    if (f != FAULT_NONE)
        why = job_print(j, "%s", job_error_text(own));
    job_end(own);
    return why;
}
