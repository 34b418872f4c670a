/* What the two halves of the planner's search share: plan.c tries the methods of one step a pass,
   plan_search_fused.c those of several. */
#ifndef SG_GEN_STENCIL_SEARCH_H
#define SG_GEN_STENCIL_SEARCH_H

#include "gen/stencil/measured.h"
#include "gen/stencil/passes.h"

/* Schedules without those alike; grows as it must. Zeroed, it is empty. */
typedef struct schedule_set {
    schedule *list;
    int *slots; /* an open hash table: an index into the list, plus 1; 0: free */
    int count, capacity;
} schedule_set;
bool schedule_set_add(job *, schedule_set *, const schedule *); /* false where it is in it */

typedef struct search {
    job *job;
    const plan_facts *facts;
    const passes *passes;
    const plan_measured *measured;
    const schedule *wanted;
    const target *target;
    const int64_t *size;
    int64_t steps;
    plan *single; /* how one step is made where others are fused; NULL where none are */
    plan *best;
    schedule_set tried;          /* what constraints leave of several candidates may be the same */
    const char *refusal;         /* the first, of the method at hand */
    const plan_visitor *visitor; /* NULL: only the best counts; `which` of its constraints */
    int which;
} search;

/* False where it was tried before. */
bool search_is_new(search *, const schedule *);

/* Of a plan with its cost by the model, which is corrected: it becomes the best if it is. */
void search_keep(search *, plan *);
void search_refuse(search *, const char *refusal);

/* Tries every candidate of a method whose plans make several steps a launch. */
void search_fused(search *, method);

#endif
