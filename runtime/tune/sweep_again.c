/* What a sweep times again: a fixed kernel now and then, which shows what else changes times; and
   the fastest against each other in the end, since of many timings the least is likely to be one
   that was lucky. Takes: a sweep with its evaluations. Makes: drifts, and the best of the finals.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/tune/sweep.h"

enum { MOST_FINALISTS = 5, ROUNDS = 5, LEAST_ROUNDS = 2 };
/* To the best: who is farther away does not lose by chance alone. More where times vary more, by
   the quartiles of the best or by the fixed kernel, up to the last number. */
#define CLOSE 0.03
#define STILL_CLOSE 0.5
#define MOST_OF_BUDGET 0.25

/* ---- building ------------------------------------------------------------------------------ */

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

/* ---- a fixed kernel ------------------------------------------------------------------------ */

void sweep_note_drift(job *j, sweep *s, const result_drift *d) {
    s->drifts = job_grow(j, s->drifts, (size_t)s->drift_count, sizeof *s->drifts);
    s->drifts[s->drift_count++] = results_shown_drift(d);
    s->drift = fmax(s->drift, fabs(d->seconds / d->first - 1));
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
    const result_drift d = {.plan = s->fixed.plan,
                            .evaluation = s->count,
                            .first = s->fixed_seconds,
                            .seconds = now.seconds,
                            .clock = now.clock,
                            .temperature = now.temperature,
                            .taken = results_now()};
    sweep_note_drift(j, s, &d);
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

/* ---- the finals ---------------------------------------------------------------------------- */

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

/* One timing of each, beginning with another one each time; what fails has no time. */
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

/* What the fixed kernel took while the others had their trials: the median of its first time and of
   those before the finals. */
static double usual_time(job *j, const sweep *s, int drifts) {
    double *times = job_array(j, (size_t)drifts + 1, sizeof *times), unused;
    int count = 0;
    times[count++] = s->fixed_seconds;
    for (int i = 0; i < drifts; i++)
        if (strcmp(s->drifts[i].plan, s->fixed.plan) == 0)
            times[count++] = s->drifts[i].seconds;
    return results_median(times, count, &unused);
}

/* Over the fixed kernel's time; NAN where one of the rounds failed. */
static double outcome(finals *f, int which) {
    double unused;
    for (int r = 0; r < f->rounds; r++)
        if (isnan(f->ratio[which][r]))
            return NAN;
    return results_median(f->ratio[which], f->rounds, &unused);
}

static void conclude(job *j, sweep *s, finals *f) {
    const double usual = usual_time(j, s, f->drifts);
    result_final list[MOST_FINALISTS];
    int count = 0;
    for (int i = 0; i < f->count; i++) {
        sg_evaluation *e = &s->done[f->of[i]];
        e->final_seconds = usual * outcome(f, i);
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
