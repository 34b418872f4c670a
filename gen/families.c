/* The table of families. */
#include "gen/families.h"

#include "gen/lists/draw.h"
#include "gen/lists/merge/merge.h"
#include "gen/lists/reduce/reduce.h"
#include "gen/lists/scan/scan.h"
#include "gen/lists/spmv/spmv.h"
#include "gen/space/space.h"
#include "gen/stencil/stencil.h"

#include <string.h>

/* What all families of lists take from gen/lists and gen/space. */
#define LISTS                                                                                      \
    .dims = pattern_dims, .wanted = pattern_print_wanted, .plan = pattern_plan,                    \
    .check_schedule = pattern_check_schedule, .space_agrees = space_agrees_lists,                  \
    .space_fill = space_fill_lists

const family families[FAMILY_COUNT] = {
    [FAMILY_STENCIL] = {.name = "stencil",
                        .kind = PROGRAM_GRID,
                        .summary = "a grid updated from the neighbours of each point",
                        .plans_class = "stencil #D # points radius #",
                        .dims = stencil_dims,
                        .print = stencil_print,
                        .wanted = stencil_print_wanted,
                        .check_schedule = stencil_check_schedule,
                        .plan = stencil_plan,
                        .space_agrees = space_agrees_stencil,
                        .space_fill = space_fill_stencil,
                        .build = stencil_build,
                        .explain = stencil_explain,
                        .grid = {.model = stencil_model}},
    [FAMILY_REDUCE] = {LISTS, .name = "reduce", .kind = PROGRAM_REDUCE,
                       .summary = "a list to one element", .print = reduce_print,
                       .build = reduce_build, .explain = reduce_explain,
                       .lists = {.words = &reduce_words,
                                 .space = &reduce_space,
                                 .kinds = draw_kinds,
                                 .alike = true,
                                 .draw = reduce_draw,
                                 .judge = reduce_judge}},
    [FAMILY_SCAN] = {LISTS, .name = "scan", .kind = PROGRAM_SCAN,
                     .summary = "a list to its prefix sums", .plans_class = "scan # bytes",
                     .print = scan_print, .build = scan_build, .explain = scan_explain,
                     .lists = {.words = &scan_words,
                               .space = &scan_space,
                               .kinds = draw_kinds,
                               .alike = true,
                               .draw = scan_draw,
                               .judge = scan_judge}},
    [FAMILY_MERGE] = {LISTS, .name = "merge", .kind = PROGRAM_MERGE,
                      .summary = "two sorted lists to one", .print = merge_print,
                      .build = merge_build, .explain = merge_explain,
                      .lists = {.words = &merge_words,
                                .space = &merge_space,
                                .kinds = draw_kinds,
                                .alike = true,
                                .draw = merge_draw,
                                .judge = merge_judge}},
    [FAMILY_SPMV] = {LISTS, .name = "spmv", .kind = PROGRAM_PRODUCT,
                     .summary = "a sparse matrix times a vector", .print = spmv_print,
                     .build = spmv_build, .explain = spmv_explain,
                     .lists = {.words = &spmv_words,
                               .space = &spmv_space,
                               .kinds = spmv_kinds,
                               .draw = spmv_draw,
                               .judge = spmv_judge,
                               .notes_new = spmv_notes_new,
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

static const family *family_of(const plans_line *l) {
    const size_t length = strcspn(l->class, " ");
    for (int i = 0; i < FAMILY_COUNT; i++) {
        const family *f = &families[i];
        if (strlen(f->name) == length && memcmp(f->name, l->class, length) == 0 &&
            (plans_line_has_key(l) ||
             (f->plans_class != NULL && matches(f->plans_class, l->class))))
            return f;
    }
    return NULL;
}

typedef struct checking {
    const family *family;
    const char *plan;
} checking;

static void check_plan(job *j, void *argument) {
    const checking *c = argument;
    c->family->check_schedule(j, c->family, c->plan);
}

const char *plans_line_flaw(job *j, const plans_line *l) {
    checking c = {family_of(l), l->plan};
    if (c.family == NULL)
        return job_print(j, "there is no class '%s'", l->class);
    job *own;
    const fault f = job_run(job_allocator(j), check_plan, &c, &own);
    if (f == FAULT_MEMORY)
        job_fail_as(j, own);
    const char *why = NULL;
    if (f != FAULT_NONE)
        why = job_print(j, "%s", job_error_text(own));
    job_end(own);
    return why;
}
