/* A sweep under way: what is asked, what was tried, and what that showed.
   Takes: results of trials. Makes: evaluations, what the search is told, progress. tune.c says what
   happens when, sweep_again.c times again what was tried. */
#ifndef SG_RUNTIME_TUNE_SWEEP_H
#define SG_RUNTIME_TUNE_SWEEP_H

#include <stdint.h>

#include "base/job.h"
#include "gen/space/space.h"
#include "runtime/api/build.h"
#include "runtime/tune/search.h"
#include "runtime/tune/worker.h"

/* Candidates that are built before the first of them is timed, and with those that may be asked for
   next. */
enum { SWEEP_AT_ONCE = 8, SWEEP_BUILT = 16 };

/* The plan that builds take where `tune` leaves it out, so that gains are over it nevertheless. */
enum { SWEEP_OUTSIDE = -1 };

/* The public struct comes first, so that a pointer to it is one to the whole. */
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
    int owner;           /* an open file, whose lock says that this one is at it; −1 */
    bool *has;           /* SWEEP_OUTSIDE and the candidates that were evaluated */
    bool *built;         /* candidates that were, so that the cache has them */
    sg_evaluation *done; /* as many as there are candidates */
    int count, most;     /* evaluations made, and to be made */
    int best, usual;     /* of them */
    int wrong, resumed;
    double begin;
    trial trials[SWEEP_BUILT];
    int trial_count;
    trial fixed; /* the first that was right, which is timed again and again */
    double fixed_seconds;
    sg_drift *drifts; /* what that showed, by former processes too */
    int drift_count;
    double drift;         /* the most of it */
    double again_seconds; /* what timing a kernel again takes, more or less; 0: unknown */
    int finalists, round, rounds;
    bool stopped;
    tuned *out;
} sweep;

/* Of a candidate's number, which may be SWEEP_OUTSIDE. */
space_candidate sweep_candidate(const sweep *, int candidate);

/* Whether the candidate was evaluated. */
bool sweep_has(const sweep *, int candidate);

/* What came of a trial, of each candidate once: the sweep and its search know of it from now on. */
void sweep_add(sweep *, int candidate, const result *, bool resumed);

/* Keeps what timing a kernel again has shown. */
void sweep_note_drift(job *, sweep *, const result_drift *);

/* Takes up the last sweep of this place with the same question that has not ended and that nobody
   is at, or begins one. */
void sweep_resume(job *, sweep *);
void sweep_leave(sweep *); /* somebody else may be at it */

/* Builds the first of `trials`, whose plans are set, several at a time. */
void sweep_build(job *, sweep *, int count);

/* Of a sweep that was resumed the fixed kernel is the same as before. */
void sweep_resume_fixed(job *, sweep *);

/* Times the fixed kernel again, where there is one; NAN where that failed, or there is none. */
double sweep_time_fixed(job *, sweep *);

/* Times the fastest against each other, where there are several that differ little; the best is the
   best of that from then on. */
void sweep_finals(job *, sweep *);

/* Seconds that this would take now, more or less. */
double sweep_finals_seconds(const sweep *);

/* Tells the caller; false where the sweep is to stop. */
bool sweep_report(sweep *, int building, const sg_evaluation *last);

/* Whether no other trial is to begin: the budget has room for the finals. */
bool sweep_is_over(const sweep *);

/* Who is at a sweep: at most one, which is alive. Takes: a database's path, a sweep's number.
   Makes: a lock that the system takes back when its holder ends, however it does.

   The lock is one byte, that of the sweep's number, of an empty file beside the database,
   "results.db-sweeps". It belongs to an open file (F_OFD_SETLK), so that it holds between threads
   of one process too, between containers that share a home, and on network file systems between
   machines. Numbers of processes would say less: in another container they are others. */

typedef enum ownership {
    OWNERSHIP_TAKEN,
    OWNERSHIP_BUSY,   /* somebody else is at the sweep */
    OWNERSHIP_UNKNOWN /* this file system has no such locks; whoever comes first is believed */
} ownership;

/* *file is to be closed when the sweep is left; −1 where it is not taken. */
ownership sweep_owner_take(job *, const char *database, int64_t sweep, int *file);

#endif
