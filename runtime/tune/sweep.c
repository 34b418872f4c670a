/* What a sweep knows of its trials, and what it times again: a fixed kernel now and then, which
   shows what else changes times, and at the end the fastest against each other, because the
   smallest of many timings is likely to be a lucky one. */
#define _GNU_SOURCE /* F_OFD_SETLK */

#include "runtime/tune/sweep.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* At most one process runs a sweep: it holds a lock, which the system releases when the process
   ends in any way. The lock is the byte of the sweep's number in an empty file next to the
   database, "results.db-sweeps". It belongs to an open file (F_OFD_SETLK), so it works between
   threads, between containers that share a home, and on network file systems between machines. */

typedef enum ownership {
    OWNERSHIP_TAKEN,
    OWNERSHIP_BUSY,   /* somebody else is at the sweep */
    OWNERSHIP_UNKNOWN /* the file system has no such locks: the first is believed */
} ownership;

/* Close *file to release the sweep; −1: it was not taken. */
static ownership sweep_owner_take(job *j, const char *database, int64_t sweep, int *file) {
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = sweep, .l_len = 1};
    *file = open(job_print(j, "%s-sweeps", database),
                 O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
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
static bool has(const sweep *s, int candidate) {
    _Static_assert(SWEEP_OUTSIDE == -1, "candidates begin one place after it");
    return s->has[candidate + 1];
}

void sweep_add(sweep *s, int candidate, const result *r, bool resumed) {
    const space_candidate c = sweep_candidate(s, candidate);
    assert(!has(s, candidate));
    s->has[candidate + 1] = true;
    const int which = s->count++;
    const bool right = r->state == RESULT_RIGHT;
    s->done[which] = (sg_evaluation){.struct_size = sizeof *s->done,
                                     .plan = c.plan,
                                     .state = result_state_words[r->state],
                                     .reason = job_string(s->job, r->reason),
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

/* Rows of plans that are no candidates are not of this sweep; of several rows of a candidate the
   first counts. */
static void resume_results(job *j, sweep *s) {
    const result_rows rows =
        results_list(j, s->results, &(result_filter){.place = &s->place, .sweep = s->id});
    for (size_t i = 0; i < rows.count; i++) {
        const result *r = &rows.list[i].result;
        const int candidate = space_find(s->space, r->plan);
        const bool outside = candidate < 0 && strcmp(r->plan, s->space->usual) == 0;
        const bool timed = r->state != RESULT_RIGHT || !isnan(r->median);
        if ((candidate >= 0 || outside) && timed && !has(s, candidate))
            sweep_add(s, candidate, r, true);
    }
}

static void note_drift(job *j, sweep *s, const sg_drift *d) {
    s->drifts = job_grow(j, s->drifts, (size_t)s->drift_count, sizeof *s->drifts);
    s->drifts[s->drift_count++] = *d;
    s->drift = fmax(s->drift, fabs(d->seconds / d->first_seconds - 1));
}

static void resume_drifts(job *j, sweep *s) {
    const result_drifts all = results_drifts(j, s->results, s->id);
    for (size_t i = 0; i < all.count; i++)
        note_drift(j, s, &all.list[i]);
}

/* Whether this process now runs the sweep. It may have ended before it was taken. */
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

/* Takes the last unfinished sweep with the same question that nobody runs. */
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

/* ---- timing again ---------------------------------------------------------------------------- */

enum { MOST_FINALISTS = 5, ROUNDS = 5, LEAST_ROUNDS = 2 };
/* How close to the best a finalist must be: others do not lose by chance alone. More if times
   vary more, by the quartiles of the best or by the fixed kernel, up to STILL_CLOSE. */
#define CLOSE 0.03
#define STILL_CLOSE 0.5
#define MOST_OF_BUDGET 0.25

typedef struct building {
    sweep *sweep;
    bool ok[SWEEP_BUILT];
} building;

static void build_one(void *argument, int64_t index, int worker) {
    building *b = argument;
    (void)worker;
    b->ok[index] = trial_build(&b->sweep->setting, &b->sweep->trials[index]);
}

void sweep_build(job *j, sweep *s, int count) {
    building b = {.sweep = s};
    s->trial_count = count;
    workers_run(context_workers(j, s->request.context), count, build_one, &b);
    for (int i = 0; i < count; i++)
        if (!b.ok[i])
            job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
}

static retiming time_again(job *j, sweep *s, trial *t) {
    const double begin = clock_seconds();
    const retiming r =
        s->worker != NULL ? worker_again(j, s->worker, t) : trial_again(&s->setting, t);
    s->again_seconds = clock_seconds() - begin;
    return r;
}

double sweep_time_fixed(job *j, sweep *s) {
    if (s->fixed.kernel == NULL)
        return NAN;
    const retiming now = time_again(j, s, &s->fixed);
    if (isnan(now.seconds))
        return NAN;
    const sg_drift d = {.struct_size = sizeof d,
                        .plan = s->fixed.plan,
                        .evaluation = s->count,
                        .first_seconds = s->fixed_seconds,
                        .seconds = now.seconds,
                        .clock = now.clock,
                        .temperature = now.temperature,
                        .taken = results_now()};
    note_drift(j, s, &d);
    if (s->results != NULL)
        results_add_drift(j, s->results, s->id, &d);
    return now.seconds;
}

void sweep_resume_fixed(job *j, sweep *s) {
    int first = 0;
    while (first < s->count && isnan(s->done[first].seconds))
        first++;
    if (first == s->count)
        return;
    s->fixed = (trial){.plan = s->done[first].plan};
    s->fixed_seconds = s->done[first].seconds;
    if (!trial_build(&s->setting, &s->fixed))
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
}

typedef struct finals {
    int of[MOST_FINALISTS]; /* evaluations, the fastest first */
    int count, rounds;
    int drifts; /* of the sweep, before */
    double seconds[MOST_FINALISTS][ROUNDS], ratio[MOST_FINALISTS][ROUNDS]; /* to the fixed one */
} finals;

/* The fastest few of those that are close. */
static void choose(const sweep *s, finals *f) {
    f->count = 0;
    if (s->best < 0)
        return;
    const double varies = fmax(s->drift, s->done[s->best].spread);
    const double close = fmin(fmax(CLOSE, varies), STILL_CLOSE);
    const double most = (1 + close) * s->done[s->best].seconds;
    for (int i = 0; i < s->count; i++) {
        const sg_evaluation *e = &s->done[i];
        int at = f->count;
        if (!(e->seconds <= most)) /* also NAN */
            continue;
        for (; at > 0 && s->done[f->of[at - 1]].seconds > e->seconds; at--)
            if (at < MOST_FINALISTS)
                f->of[at] = f->of[at - 1];
        if (at < MOST_FINALISTS)
            f->of[at] = i;
        f->count += f->count < MOST_FINALISTS;
    }
}

double sweep_finals_seconds(const sweep *s) {
    finals f;
    choose(s, &f);
    const double all = f.count < 2 ? 0 : ROUNDS * (f.count + 1) * s->again_seconds;
    return fmin(all, MOST_OF_BUDGET * s->options.budget);
}

static bool goes_on(sweep *s) {
    const double budget = s->options.budget;
    return sweep_report(s, 0, NULL) && (budget <= 0 || clock_seconds() - s->begin <= budget);
}

/* One timing of each, beginning with another one each time; a failure has no time. */
static bool run_round(job *j, sweep *s, finals *f) {
    const double fixed = sweep_time_fixed(j, s);
    for (int k = 0; k < f->count; k++) {
        const int i = (k + f->rounds) % f->count;
        if (isnan(fixed) || !goes_on(s))
            return false;
        f->seconds[i][f->rounds] =
            s->trials[i].kernel != NULL ? time_again(j, s, &s->trials[i]).seconds : NAN;
        f->ratio[i][f->rounds] = f->seconds[i][f->rounds] / fixed;
    }
    f->rounds++;
    return goes_on(s);
}

/* The fixed kernel's time during the trials: the median of its first time and of those before
   the finals. */
static double usual_time(job *j, const sweep *s, int drifts) {
    double *times = job_array(j, (size_t)drifts + 1, sizeof *times);
    int count = 0;
    times[count++] = s->fixed_seconds;
    for (int i = 0; i < drifts; i++)
        if (strcmp(s->drifts[i].plan, s->fixed.plan) == 0)
            times[count++] = s->drifts[i].seconds;
    return results_median(j, times, count, NULL);
}

/* Relative to the fixed kernel's time; NAN: a round failed. */
static double outcome(job *j, const finals *f, int which) {
    for (int r = 0; r < f->rounds; r++)
        if (isnan(f->ratio[which][r]))
            return NAN;
    return results_median(j, f->ratio[which], f->rounds, NULL);
}

static void conclude(job *j, sweep *s, finals *f) {
    const double usual = usual_time(j, s, f->drifts);
    result_final list[MOST_FINALISTS];
    int count = 0;
    for (int i = 0; i < f->count; i++) {
        sg_evaluation *e = &s->done[f->of[i]];
        e->final_seconds = usual * outcome(j, f, i);
        if (isnan(e->final_seconds))
            continue;
        list[count++] = (result_final){e->plan, e->final_seconds, f->seconds[i], f->rounds};
        if (count == 1 || e->final_seconds < s->done[s->best].final_seconds)
            s->best = f->of[i];
    }
    s->finalists = count;
    if (s->results == NULL || count == 0)
        return;
    results_finals(j, s->results, s->id, list, count);
    atomic_fetch_add(&s->request.context->sweeps, 1);
}

void sweep_finals(job *j, sweep *s) {
    finals f = {.rounds = 0};
    choose(s, &f);
    if (f.count < 2 || s->stopped)
        return;
    f.drifts = s->drift_count;
    s->finalists = f.count;
    s->rounds = ROUNDS;
    for (int i = 0; i < f.count; i++)
        s->trials[i] = (trial){.plan = s->done[f.of[i]].plan};
    sweep_build(j, s, f.count);
    for (s->round = 1; s->round <= ROUNDS && run_round(j, s, &f); s->round++)
        ;
    for (int i = 0; i < f.count; i++)
        trial_end(&s->trials[i]);
    s->trial_count = s->round = 0;
    s->rounds = f.rounds;
    if (f.rounds >= LEAST_ROUNDS && !s->stopped)
        conclude(j, s, &f);
    else
        s->finalists = s->rounds = 0;
}
