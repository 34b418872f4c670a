/* The table of families. */
#include "gen/families.h"

#include "gen/lists/draw.h"
#include "gen/lists/merge/merge.h"
#include "gen/lists/reduce/reduce.h"
#include "gen/lists/scan/scan.h"
#include "gen/lists/spmv/spmv.h"
#include "gen/space/space.h"
#include "gen/stencil/plan.h"
#include "gen/system/system.h"

#include <string.h>

/* A family of lists. */
#define LISTS(family, its_kind, about)                                                             \
    .name = #family, .kind = its_kind, .summary = about, .dims = pattern_dims,                     \
    .wanted = pattern_print_wanted, .plan = pattern_plan,                                          \
    .check_schedule = pattern_check_schedule, .space_agrees = space_agrees_lists,                  \
    .space_fill = space_fill_lists, .print = family##_print, .build = family##_build,              \
    .lists.words = &family##_words, .lists.space = &family##_space, .lists.draw = family##_draw,   \
    .lists.judge = family##_judge

const family families[FAMILY_COUNT] = {
    [FAMILY_STENCIL] = {.name = "stencil",
                        .kind = PROGRAM_GRID,
                        .summary = "a grid updated from the neighbours of each point",
                        .plans_classes = {"stencil #D # points radius #~ in 16 bits",
                                          "stencil #D # weights radius #"},
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
    [FAMILY_SYSTEM] = {.name = "system",
                       .kind = PROGRAM_GRID,
                       .summary = "several fields of a grid, updated in stages",
                       .dims = system_dims,
                       .print = system_print_subject,
                       .wanted = system_print_wanted,
                       .check_schedule = system_check_schedule,
                       .plan = system_plan,
                       .space_agrees = space_agrees_system,
                       .space_fill = space_fill_system,
                       .build = system_build,
                       .explain = system_explain,
                       .grid = {.model = system_whole, .system = system_of}},
    [FAMILY_REDUCE] = {LISTS(reduce, PROGRAM_REDUCE, "a list to one element"),
                       .explain = pattern_explain, .lists.kinds = draw_kinds, .lists.alike = true},
    [FAMILY_SCAN] = {LISTS(scan, PROGRAM_SCAN, "a list to its prefix sums"),
                     .explain = pattern_explain, .plans_classes = {"scan # bytes"},
                     .lists.kinds = draw_kinds, .lists.alike = true},
    [FAMILY_MERGE] = {LISTS(merge, PROGRAM_MERGE, "two sorted lists to one"),
                      .explain = pattern_explain, .lists.kinds = draw_kinds, .lists.alike = true},
    [FAMILY_SPMV] = {LISTS(spmv, PROGRAM_PRODUCT, "a sparse matrix times a vector"),
                     .explain = spmv_explain, .lists.kinds = spmv_kinds,
                     .lists.notes_new = spmv_notes_new, .lists.draw_given = spmv_draw_given,
                     .lists.judge_given = spmv_judge_given},
};

const family *family_named(const char *name) {
    for (int i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

bool family_plans_processors(const family *f) {
    return f->kind == PROGRAM_GRID || f->lists.words->serial != 0;
}

/* ---- lines of plans files ------------------------------------------------------------------- */

/* '#' of a pattern is a number; what follows '~' may be missing. */
static bool matches(const char *pattern, const char *class) {
    if (pattern == NULL)
        return false;
    for (; *pattern != '\0'; pattern++)
        if (*pattern == '~') {
            if (*class == '\0')
                return true;
        } else if (*pattern == '#') {
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
            (plans_line_has_key(l) || matches(f->plans_classes[0], l->class) ||
             matches(f->plans_classes[1], l->class)))
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
    fault f;
    job *own = job_inner(j, check_plan, &c, &f);
    const char *why = f != FAULT_NONE ? job_print(j, "%s", job_error_text(own)) : NULL;
    job_inner_end(j, own);
    return why;
}
