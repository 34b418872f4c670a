/* Whether a plan will do: by the comparisons that `tune` makes of its values, and then by planning.
   A text that is no schedule at all ends a job of its own. */
#include "gen/space/accept.h"

#include <string.h>

#include "gen/space/build.h"

typedef struct attempt {
    const subject *subject;
    const family_request *request;
    const char *plan;
    bool accepted;
    job *job;
} attempt;

static void try_plan(job *j, void *argument) {
    attempt *a = argument;
    const subject *s = a->subject;
    const space_builder b = {.job = j, .subject = s, .request = a->request};
    family_request r = *a->request;
    r.schedule = a->plan;
    a->accepted =
        s->family->space_agrees(&b, a->plan) && strcmp(s->family->plan(j, s, &r), a->plan) == 0;
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
    s->family->wanted(j, s, r->schedule, &line);
    return strcmp(line.data, plan) == 0;
}
