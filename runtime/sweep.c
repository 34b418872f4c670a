/* What a sweep knows of its trials. Needs both sides: the space and the search. */
#include "runtime/sweep.h"

#include <math.h>
#include <string.h>

#include "runtime/clock.h"

/* ---- what has been evaluated --------------------------------------------------------------- */

space_candidate sweep_candidate(const sweep *s, int candidate) {
    if (candidate == SWEEP_OUTSIDE)
        return (space_candidate){.plan = s->space->usual, .threads = -1};
    return s->space->candidates[candidate];
}

static void tell(sweep *s, int candidate, const result *r) {
    if (candidate == SWEEP_OUTSIDE)
        return;
    if (r->state == RESULT_RIGHT)
        search_tell(s->search, candidate, r->median);
    else
        search_tell_invalid(s->search, candidate);
}

void sweep_add(sweep *s, int candidate, const result *r, bool resumed) {
    const space_candidate c = sweep_candidate(s, candidate);
    const int which = s->count++;
    const bool right = r->state == RESULT_RIGHT;
    s->done[which] = (sg_evaluation){.struct_size = sizeof *s->done,
                                     .plan = c.plan,
                                     .state = result_state_words[r->state],
                                     .reason = job_copy(s->job, r->reason, strlen(r->reason)),
                                     .seconds = r->median,
                                     .spread = r->spread,
                                     .estimated_seconds = r->estimate,
                                     .registers = r->registers,
                                     .threads = c.threads,
                                     .shared_bytes = r->shared_bytes,
                                     .local_bytes = r->local_bytes,
                                     .occupancy = r->occupancy,
                                     .resumed = resumed,
                                     .final_seconds = NAN};
    tell(s, candidate, r);
    if (right && (s->best < 0 || r->median < s->done[s->best].seconds))
        s->best = which;
    if (candidate == s->space->usual_index) /* also SWEEP_OUTSIDE */
        s->usual = which;
    s->wrong += r->state == RESULT_WRONG;
    s->resumed += resumed;
}

static void resume_drifts(job *j, sweep *s) {
    const result_drifts all = results_drifts(j, s->results, s->id);
    for (size_t i = 0; i < all.count; i++)
        sweep_note_drift(j, s, &all.list[i]);
}

void sweep_resume(job *j, sweep *s) {
    const sg_tune_options *o = &s->options;
    const char *schedule = s->request.options.schedule;
    const char *what = job_print(
        j, "%s, seed %llu, %d candidates%s%s", search_words[o->search], (unsigned long long)o->seed,
        s->space->count, schedule != NULL ? ", schedule " : "", schedule != NULL ? schedule : "");
    if (!o->afresh)
        s->id = results_unfinished(j, s->results, &s->place, what);
    if (s->id == 0) {
        s->id = results_begin(j, s->results, &s->place, what, s->space->count);
        return;
    }
    const result_rows rows =
        results_list(j, s->results, &(result_filter){.place = &s->place, .sweep = s->id});
    for (size_t i = 0; i < rows.count; i++) {
        const int candidate = space_find(s->space, rows.list[i].result.plan);
        if (candidate >= 0 || strcmp(rows.list[i].result.plan, s->space->usual) == 0)
            sweep_add(s, candidate, &rows.list[i].result, true);
    }
    resume_drifts(j, s);
}

/* ---- progress ------------------------------------------------------------------------------ */

bool sweep_report(sweep *s, int building, const sg_evaluation *last) {
    const sg_tune_options *o = &s->options;
    const sg_tune_progress p = {
        .struct_size = sizeof p,
        .name = s->request.subject->name,
        .candidates = s->space->count,
        .evaluations = s->count,
        .most_evaluations = s->most,
        .seconds = clock_seconds() - s->begin,
        .budget = o->budget,
        .building = building,
        .last = last,
        .best = s->best >= 0 ? s->done[s->best].plan : NULL,
        .best_seconds = s->best >= 0 ? s->done[s->best].seconds : NAN,
        .usual_seconds = s->usual >= 0 ? s->done[s->usual].seconds : NAN,
        .finalists = s->finalists,
        .round = s->round,
        .rounds = s->rounds,
        .resumed = s->resumed,
    };
    if (!s->stopped && o->progress != NULL && o->progress(o->user, &p) != 0)
        s->stopped = true;
    return !s->stopped;
}

bool sweep_is_over(const sweep *s) {
    const double budget = s->options.budget;
    return s->stopped || (budget > 0 && s->count > s->resumed &&
                          clock_seconds() - s->begin > budget - sweep_finals_seconds(s));
}
