/* Whether a plan will do: by the comparisons that `tune` makes of its values, and then by planning.
   A text that is no schedule at all ends a job of its own. */
#include "gen/space/accept.h"

#include <string.h>

#include "gen/families.h"
#include "gen/lists/merge/merge.h"
#include "gen/lists/reduce/reduce.h"
#include "gen/lists/scan/scan.h"
#include "gen/lists/spmv/spmv.h"
#include "gen/space/build.h"
#include "gen/stencil/plan.h"
#include "gen/stencil/schedule.h"
#include "gen/stencil/stencil.h"

typedef struct attempt {
    const subject *subject;
    const family_request *request;
    const char *plan;
    bool accepted;
    job *job;
} attempt;

static bool is_stencil(const subject *s) {
    return s->family == &families[FAMILY_STENCIL];
}

static void try_plan(job *j, void *argument) {
    attempt *a = argument;
    const subject *s = a->subject;
    const space_builder b = {.job = j, .subject = s, .request = a->request};
    text line = text_new(j);
    if (is_stencil(s)) {
        const model *m = s->model;
        const family_request *r = a->request;
        if (!space_agrees_stencil(&b, a->plan))
            return;
        const plan *made = plan_make(j, m, stencil_wanted(j, s, a->plan), r->gpu, r->size,
                                     r->steps > 1 ? r->steps : 1);
        schedule_print(&made->schedule, m->dims, &line);
    } else if (space_agrees_lists(&b, a->plan)) {
        family_row row = {.plan = NULL};
        pattern_try(j, s, a->request, a->plan, &row);
        text_add(&line, row.plan != NULL ? row.plan : "");
    }
    a->accepted = strcmp(line.data, a->plan) == 0;
}

static void end_attempt(void *argument) {
    job_end(((attempt *)argument)->job);
}

bool plan_accepted(job *j, const subject *s, const family_request *r, const char *plan) {
    attempt a = {.subject = s, .request = r, .plan = plan};
    const fault f = job_run(job_allocator(j), try_plan, &a, &a.job);
    if (f == FAULT_MEMORY)
        job_fail_as(j, a.job);
    end_attempt(&a);
    return f == FAULT_NONE && a.accepted;
}

bool plan_given(job *j, const subject *s, const family_request *r, const char *plan) {
    text line = text_new(j);
    if (is_stencil(s)) {
        schedule_print(stencil_wanted(j, s, r->schedule), ((const model *)s->model)->dims, &line);
    } else {
        const pattern *p = s->model;
        pattern_schedule wanted = p->wanted;
        pattern_schedule_parse(j, p->words, r->schedule, "schedule", &wanted);
        pattern_schedule_print(p->words, &wanted, &line);
    }
    return strcmp(line.data, plan) == 0;
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
