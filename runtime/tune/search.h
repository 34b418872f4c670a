/* The search for the fastest of a list of candidates, each of which is expensive to measure.
   Takes: numbers that tell candidates apart, estimates where there are some, and what was measured
   so far. Makes: which candidates to measure next. It compiles nothing and times nothing, so that
   it can be replayed on recorded sweeps.

   Guided, the default: the logarithm of a measured time is the logarithm of the estimate (where
   there is one), and a Gaussian process over the candidates' numbers on top of it, which learns
   what the estimate is wrong about. What is measured next is what promises most: the candidate of
   the largest expected improvement on the fastest so far.
   D. Jones, M. Schonlau, W. Welch, Efficient global optimization of expensive black-box functions,
   J. Global Optimization 13 (1998); C. Rasmussen, C. Williams, Gaussian Processes for Machine
   Learning (2006), chapters 2 and 5; candidates that were asked for and not yet told count as if
   they had taken what is expected of them: D. Ginsbourger, R. Le Riche, L. Carraro, Kriging is
   well-suited to parallelize optimization (2010), "kriging believer"; for tuning GPU kernels so:
   F. Willemsen, R. van Nieuwpoort, B. van Werkhoven, Bayesian optimization for auto-tuning GPU
   kernels (2021). */
#ifndef SG_RUNTIME_TUNE_SEARCH_H
#define SG_RUNTIME_TUNE_SEARCH_H

#include "base/job.h"

typedef enum search_kind {
    SEARCH_GUIDED,
    SEARCH_EXHAUSTIVE, /* in their order */
    SEARCH_RANDOM,
    SEARCH_KINDS
} search_kind;
extern const char *const search_words[SEARCH_KINDS]; /* "guided" … */

enum { SEARCH_AXES = 20 };

typedef struct search_candidates {
    int count, axis_count;
    const int *values;       /* count rows of axis_count; 0: does not apply */
    const bool *named;       /* by axis: values stand for words, and have no order */
    const double *estimates; /* by candidate, seconds in any unit; NULL, or 0 where there is none */
    int first;               /* to be measured before all others: what a build takes; −1: none */
} search_candidates;

typedef struct search search;

/* The lists must live as long as the job; `seed` decides what chance has a part in. */
search *search_new(job *, search_kind, const search_candidates *, uint64_t seed);

/* Up to `wanted` candidates to measure next, best first, none of which was asked for or told
   before; returns how many: fewer where no more are left. So a caller may compile several ahead of
   timing them one at a time; what it learns meanwhile counts from the next call on. */
int search_ask(search *, int wanted, int *out);

/* How many to ask for at once, at most `most`: so few of guided that what was learnt from the first
   decides on the others. With 8 at a time a search of 10 or 20 evaluations would ask for half of
   them knowing next to nothing. */
int search_at_once(const search *, int most);

/* It was asked for, but is not measured now: whoever asks next may get it again. */
void search_return(search *, int candidate);

/* A candidate took so many seconds (a step), or is invalid: it did not compile, gave wrong
   results, or did not end. Also for candidates that nobody asked for, such as those of an earlier
   run that is resumed. Told twice, the last counts. */
void search_tell(search *, int candidate, double seconds);
void search_tell_invalid(search *, int candidate);

/* The fastest told so far, −1 before the first. */
int search_best(const search *);
int search_told(const search *); /* how many were told, invalid ones included */

/* What is expected of a candidate now, in seconds: the measured time where it was told; 0 where
   nothing is known. Of guided alone. */
double search_expected(search *, int candidate);

/* What a search believes of candidates that were not measured: a Gaussian process over the
   logarithm of their times. Takes: candidates, and what some of them took. Makes: for each the mean
   and the spread of what it may take. The method and its sources stand in runtime/tune/search.h. */

typedef struct search_model search_model;

/* Holds at most `most` observations at a time. */
search_model *search_model_new(job *, const search_candidates *, int most);

/* Begins anew from `count` observations, fewer than `most`: candidates, and the logarithms of their
   seconds. Chooses how far measurements speak for their neighbours along each axis by what they
   say of each other. */
void search_model_fit(search_model *, const int *candidates, const double *logs, int count);

/* One more: the candidate took what is expected of it. */
void search_model_suppose(search_model *, int candidate);

/* Of the logarithm of a candidate's seconds. Without an observation the mean is the estimate's, or
   how far it is from the usual candidate. */
double search_model_mean(const search_model *, int candidate);
double search_model_spread(const search_model *, int candidate);

/* How alike two candidates are, from 0 to 1, by the scales that fit has chosen. */
double search_model_likeness(const search_model *, int a, int b);

/* A space as a search takes it. Takes: gen/space/space.h. Makes: what runtime/tune/search.h asks
 * for. */

struct space;

/* In the job's memory; the usual plan is the first to be measured. */
search_candidates *search_candidates_of(job *, const struct space *);

#endif
