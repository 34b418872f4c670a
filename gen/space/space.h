/* The space of candidates: every complete schedule of a spec that is worth building and timing for
   a GPU, a size and a number of steps. A candidate that the planner refuses is not in it. Takes: a
   subject and a request, as a build does. Makes: candidates as lines of text, each with its numbers
   and, of stencils, the planner's estimate. Needs neither a GPU nor a compiler. */
#ifndef SG_GEN_SPACE_SPACE_H
#define SG_GEN_SPACE_SPACE_H

#include "gen/lists/pattern.h"
#include "gen/model/family.h"
#include "gen/model/model.h"

enum { SPACE_AXES = 20 };

/* One number that candidates differ in: an axis of charts, a feature of the search. */
typedef struct space_axis {
    const char *name; /* "tile.x", "coarsen.z", "threads"; "method", "algorithm", "format" */
    const char *const *words; /* what the values of the last three stand for; NULL: numbers */
    int word_count;
} space_axis;

typedef struct space_candidate {
    const char *plan; /* complete, "register tile=32x8 coarsen=z16 vec=1 time=1": a build says so of
                         its plan, and makes it again from it as a `schedule`; no two candidates
                         have the same */
    double estimate;  /* seconds a step by the planner's model, corrected by what was measured of
                         such plans; 0 where the family has no model */
    int values[SPACE_AXES]; /* by the space's axes; 0: does not apply */
    int threads;            /* a block */
    size_t shared_bytes;    /* a block; of several launches the most */
} space_candidate;

/* A value of the spec's `tune` that no candidate has. */
typedef struct space_note {
    const char *value, *why; /* "coarsen=z7", the first refusal */
} space_note;

/* One of several methods or algorithms in the spec's `tune`, and the keys there that it does not
   have: it is tried without them. */
typedef struct space_without {
    const char *name, *keys; /* "tiled", "coarsen, vector" */
} space_without;

typedef struct space {
    space_axis axes[SPACE_AXES]; /* those that at least one candidate has */
    int axis_count;
    space_candidate *candidates; /* in the planner's order: the same request gives the same list */
    int count;                   /* at least 1 */
    const char *usual;           /* the plan that a build with `auto` makes, under the spec's and
                                    the caller's constraints, but not those of `tune` */
    int usual_index;             /* −1: `tune` leaves it out */
    space_note *notes;
    int note_count;
    space_without *without;
    int without_count;
} space;

/* Of stencils and convolutions: what the planner compares, with every walk that it considers; and
   several steps a launch where the request has several steps or the constraints ask for them. Of
   families of lists: the family's table. The spec's `schedule` and the request's constrain both.
   Values of `tune` take the place of the planner's own for their keys. Where `tune` lists several
   methods (or algorithms, or formats), a key that one of them does not have is not asked of it; a
   value that it cannot take leaves it out. Where a matrix decides the format (spmv), candidates are
   those for the request's matrix. Everything lives in the job. Fails with FAULT_PLAN, and the
   spec's file and line, where no candidate is left. */
space *space_make(job *, const subject *, const family_request *);

/* The index of the candidate with this plan, −1. */
int space_find(const space *, const char *plan);

/* ---- plans that were found elsewhere, such as in tuning results ------------------------------ */

/* Whether a build of the request under this schedule makes exactly this plan, and the plan
   contradicts neither the spec's schedule nor the request's. Any text may be asked about. Fails
   only for lack of memory. */
bool plan_accepted(job *, const subject *, const family_request *, const char *plan);

/* Whether the spec's schedule and the request's leave nothing of this plan open. */
bool plan_given(job *, const subject *, const family_request *, const char *plan);

/* ---- a space under construction -------------------------------------------------------------- */

typedef struct space_builder {
    job *job;
    const subject *subject;
    const family_request *request;
    space *space;
    int capacity, *slots; /* by the candidates' plans: an open hash table, as in
                             gen/stencil/search.c */
    const tuning *tuning; /* NULL: none */
    int allowed[TUNING_KEYS][TUNING_VALUES], allowed_count[TUNING_KEYS]; /* by the constraints */
    int combinations;                                                    /* of allowed values */
    bool served[TUNING_KEYS][TUNING_VALUES];                             /* some candidate has it */
    const char *why[TUNING_KEYS][TUNING_VALUES];                         /* the first refusal */
    const char *refusal;                                                 /* the first of all */
    const char *trying; /* whose candidates space_add and space_refuse get: a method's name … */
    unsigned lacking;   /* … and the keys, by bits, that it does not have */
} space_builder;

/* The values of a combination as a line of a schedule, without those that are `lacking`; "" where
   there is no `tune`. */
const char *space_combination(const space_builder *, int which, unsigned lacking);

/* Whether a combination is the first of those that differ only in what is lacking. */
bool space_is_first(const space_builder *, int which, unsigned lacking);

/* Whether `tune` lists several values of a key, "method". */
bool space_has_several(const space_builder *, const char *key);

/* A candidate that meets a combination; it is kept where its plan is new. Texts are the job's. */
void space_add(space_builder *, int which, const space_candidate *);
void space_refuse(space_builder *, int which, const char *why);

/* Names an axis; returns its index. */
int space_axis_add(space *, const char *name, const char *const *words, int word_count);

/* Slots of the families' rows. */
bool space_agrees_stencil(const space_builder *, const char *value);
void space_fill_stencil(space_builder *);
bool space_agrees_system(const space_builder *, const char *value);

/* Whether no number differs that both have. */
bool space_schedules_agree(const schedule *given, const schedule *tried);
void space_fill_system(space_builder *);
bool space_agrees_lists(const space_builder *, const char *value);
void space_fill_lists(space_builder *);

#endif
