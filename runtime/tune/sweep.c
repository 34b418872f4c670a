/* A byte of a file for each sweep, locked. */
#define _GNU_SOURCE /* F_OFD_SETLK */

#include "runtime/tune/sweep.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static int open_beside(job *j, const char *database) {
    enum { HOW = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };
    return open(job_print(j, "%s-sweeps", database), HOW, 0600);
}

ownership sweep_owner_take(job *j, const char *database, int64_t sweep, int *file) {
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = sweep, .l_len = 1};
    *file = open_beside(j, database);
    if (*file < 0)
        return OWNERSHIP_UNKNOWN;
    int error = 0;
    while (fcntl(*file, F_OFD_SETLK, &byte) != 0 && (error = errno) == EINTR)
        error = 0;
    if (error == 0)
        return OWNERSHIP_TAKEN;
    close(*file);
    *file = -1;
    return error == EAGAIN || error == EACCES ? OWNERSHIP_BUSY : OWNERSHIP_UNKNOWN;
}

/* What a sweep knows of its trials. Needs both sides: the space and the search. */

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

/* SWEEP_OUTSIDE has a place too, the first. */
bool sweep_has(const sweep *s, int candidate) {
    _Static_assert(SWEEP_OUTSIDE == -1, "candidates begin one place after it");
    return s->has[candidate + 1];
}

void sweep_add(sweep *s, int candidate, const result *r, bool resumed) {
    const space_candidate c = sweep_candidate(s, candidate);
    assert(!sweep_has(s, candidate));
    s->has[candidate + 1] = true;
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

/* What a database says: rows of plans that are no candidates are not of this sweep, a second row of
   one candidate says nothing that counts, and what was right was timed. */
static void resume_results(job *j, sweep *s) {
    const result_rows rows =
        results_list(j, s->results, &(result_filter){.place = &s->place, .sweep = s->id});
    for (size_t i = 0; i < rows.count; i++) {
        const result *r = &rows.list[i].result;
        const int candidate = space_find(s->space, r->plan);
        const bool outside = candidate < 0 && strcmp(r->plan, s->space->usual) == 0;
        const bool timed = r->state != RESULT_RIGHT || !isnan(r->median);
        if ((candidate >= 0 || outside) && timed && !sweep_has(s, candidate))
            sweep_add(s, candidate, r, true);
    }
}

static void resume_drifts(job *j, sweep *s) {
    const result_drifts all = results_drifts(j, s->results, s->id);
    for (size_t i = 0; i < all.count; i++)
        sweep_note_drift(j, s, &all.list[i]);
}

/* Whether the sweep is this one's from now on. It may have come to its end before it was taken. */
static bool take(job *j, sweep *s, int64_t id, const char *what, bool unfinished) {
    switch (sweep_owner_take(j, results_path(s->results), id, &s->owner)) {
    case OWNERSHIP_BUSY:
        return false;
    case OWNERSHIP_UNKNOWN:
        break;
    case OWNERSHIP_TAKEN:
        if (!unfinished || results_unfinished(j, s->results, &s->place, what, id + 1) == id)
            break;
        sweep_leave(s);
        return false;
    }
    s->id = id;
    return true;
}

void sweep_leave(sweep *s) {
    if (s->owner >= 0)
        close(s->owner);
    s->owner = -1;
}

/* The last sweep that was asked the same, was not ended, and that nobody is at. */
static bool take_up(job *j, sweep *s, const char *what) {
    int64_t id = INT64_MAX;
    while ((id = results_unfinished(j, s->results, &s->place, what, id)) > 0) {
        if (take(j, s, id, what, true))
            return true;
        logger_say(&s->request.context->logger, j, SG_LOG_WARNING,
                   "%s: another process is at sweep %lld, which asks the same; its kernels and "
                   "those of this one make each other's times longer",
                   s->place.name, (long long)id);
    }
    return false;
}

void sweep_resume(job *j, sweep *s) {
    const sg_tune_options *o = &s->options;
    const char *schedule = s->request.options.schedule;
    const char *what = job_print(
        j, "%s, seed %llu, %d candidates%s%s", search_words[o->search], (unsigned long long)o->seed,
        s->space->count, schedule != NULL ? ", schedule " : "", schedule != NULL ? schedule : "");
    while (s->id == 0) {
        if (!o->afresh && take_up(j, s, what)) {
            resume_results(j, s);
            resume_drifts(j, s);
        } else { /* where another one looks for a sweep meanwhile, it may take the new one up */
            take(j, s, results_begin(j, s->results, &s->place, what, s->space->count), what, false);
        }
    }
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
