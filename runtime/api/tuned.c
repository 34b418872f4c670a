/* What tuning has found for a build. Needs both sides: tuning results, and the planner, which says
   whether a plan will do here too. */
#include "runtime/api/tuned.h"

#include "gen/space/accept.h"
#include "runtime/api/place.h"

typedef struct asking {
    job *job;
    const build_request *request;
    family_request wanted;
} asking;

static bool fits(void *user, const char *plan) {
    const asking *a = user;
    return plan_accepted(a->job, a->request->subject, &a->wanted, plan);
}

const char *tuned_plan(job *j, const build_request *r, const char **found) {
    static const char nearest[] = "nearest ";
    result_place place;
    result_match match;
    results *known = r->context->results;
    *found = NULL;
    if (known == NULL || !results_exist(known) || !results_place_of(j, r, &place))
        return NULL;
    asking a = {.job = j, .request = r, .wanted = build_wanted(r)};
    results_find(j, known, &place, fits, &a, &match);
    *found = match.note;
    if (match.plan == NULL || plan_given(j, r->subject, &a.wanted, match.plan))
        return NULL;
    *found = match.how == RESULT_EXACT
                 ? "measured at this size"
                 : job_print(j, "measured at %s, the nearest", match.found + sizeof nearest - 1);
    return match.plan;
}

const char *untuned_plan(job *j, const build_request *r, const char *plan, const char *note) {
    const family_request wanted = build_wanted(r);
    if (plan_given(j, r->subject, &wanted, plan))
        return "given by the schedule";
    return note == NULL ? "by the model" : job_print(j, "by the model; %s", note);
}
