/* A sweep under way: what is asked, what was tried, and what came of it. tune.c decides what
   happens when; sweep.c times again what was tried. */
#ifndef SG_RUNTIME_TUNE_SWEEP_H
#define SG_RUNTIME_TUNE_SWEEP_H

#include <stdint.h>

#include "base/job.h"
#include "gen/space/space.h"
#include "runtime/api/build.h"
#include "runtime/tune/search.h"
#include "runtime/tune/trial.h"

/* Candidates that are built before the first is timed; the same with those that may be asked for
   next. */
enum { SWEEP_AT_ONCE = 8, SWEEP_BUILT = 16 };

/* Stands for the plan that builds take if `tune` leaves it out: gains are compared with it. */
enum { SWEEP_OUTSIDE = -1 };

/* The public struct comes first, so that its address is that of the whole. */
typedef struct tuned {
    sg_tuning shown;
    job *job;
} tuned;

typedef struct sweep {
    job *job;
    const char *path;
    const sg_tune_options *given;
    sg_tune_options options;
    build_request request;
    trial_setting setting;
    worker *worker;   /* NULL: trials are made in this process */
    results *results; /* NULL: nothing is kept */
    result_place place;
    const space *space;
    search *search;
    int64_t id;          /* of the database */
    int owner;           /* an open file, locked while this process runs the sweep; −1 */
    bool *has;           /* SWEEP_OUTSIDE and candidates: whether it was evaluated */
    bool *built;         /* candidates that were, so that the cache has them */
    sg_evaluation *done; /* as many as there are candidates */
    int count, most;     /* evaluations made, and to be made */
    int best, usual;     /* of them */
    int wrong, resumed;
    double begin;
    trial trials[SWEEP_BUILT];
    int trial_count;
    trial fixed; /* the first that was right, which is timed again now and then */
    double fixed_seconds;
    sg_drift *drifts; /* what that showed, by former processes too */
    int drift_count;
    double drift;         /* the most of it */
    double again_seconds; /* of timing a kernel again, roughly; 0: unknown */
    int finalists, round, rounds;
    bool stopped;
    tuned *out;
} sweep;

/* A candidate by its number, which may be SWEEP_OUTSIDE. */
space_candidate sweep_candidate(const sweep *, int candidate);

/* Takes in the result of a trial, once for each candidate, and tells the search. */
void sweep_add(sweep *, int candidate, const result *, bool resumed);

/* Resumes the last unfinished sweep of this place with the same question that nobody else runs,
   or begins one. */
void sweep_resume(job *, sweep *);
void sweep_leave(sweep *); /* somebody else may be at it */

/* Builds the first of `trials`, whose plans are set, in parallel. */
void sweep_build(job *, sweep *, int count);

/* Builds the fixed kernel of a resumed sweep. */
void sweep_resume_fixed(job *, sweep *);

/* Times the fixed kernel again; NAN: it failed, or there is none. */
double sweep_time_fixed(job *, sweep *);

/* Times the fastest against each other if several differ little; the best of the sweep is the
   best of these. */
void sweep_finals(job *, sweep *);

/* Seconds that this would take now, more or less. */
double sweep_finals_seconds(const sweep *);

/* Tells the caller; false: the sweep is to stop. */
bool sweep_report(sweep *, int building, const sg_evaluation *last);

/* Whether no other trial may begin, so that the budget leaves time for the finals. */
bool sweep_is_over(const sweep *);

#endif
