/* What tuning has found for a build. Needs both sides: tuning results, and the planner, which says
   whether a plan will do here too. */
#include "runtime/api/tuned.h"

#include "gen/space/space.h"
#include "runtime/api/place.h"
#include "runtime/api/plans.h"

typedef struct asking {
    job *job;
    const build_request *request;
    family_request wanted;
} asking;

static bool fits(void *user, const char *plan) {
    const asking *a = user;
    return plan_accepted(a->job, a->request->subject, &a->wanted, plan);
}

/* The database's; *note is what should be said where there is none, or NULL. */
static const char *find_result(job *j, const build_request *r, const char **found,
                               const char **note) {
    static const char nearest[] = "nearest ";
    result_place place;
    result_match match;
    results *known = r->context->results;
    *note = NULL;
    if (known == NULL || !results_exist(known) || !results_place_of(j, r, &place))
        return NULL;
    asking a = {.job = j, .request = r, .wanted = build_wanted(r)};
    results_find(j, known, &place, fits, &a, &match);
    *note = match.note;
    if (match.plan == NULL)
        return NULL;
    *found = match.how == RESULT_EXACT
                 ? "measured at this size"
                 : job_print(j, "measured at %s, the nearest", match.found + sizeof nearest - 1);
    return match.plan;
}

const char *tuned_plan(job *j, const build_request *r, const char **found) {
    const char *how, *note, *plan = find_result(j, r, &how, &note);
    const family_request wanted = build_wanted(r);
    if (plan == NULL)
        plan = plans_find(j, r, &how);
    if (plan == NULL || plan_given(j, r->subject, &wanted, plan)) {
        *found = note;
        return NULL;
    }
    *found = how;
    return plan;
}

const char *untuned_plan(job *j, const build_request *r, const family_build *made,
                         const char *note) {
    const family_request wanted = build_wanted(r);
    if (plan_given(j, r->subject, &wanted, made->plan))
        return "given by the schedule";
    const char *how =
        made->board != NULL ? job_print(j, "by the plans for the %s", made->board) : "by the model";
    return note == NULL ? how : job_print(j, "%s; %s", how, note);
}
