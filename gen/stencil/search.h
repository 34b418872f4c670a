/* The planner's search: schedules tried, plans kept. Methods try their candidates through it;
 * planner.c compares. */
#ifndef SG_GEN_STENCIL_SEARCH_H
#define SG_GEN_STENCIL_SEARCH_H

#include "gen/stencil/measured.h"
#include "gen/stencil/method.h"
#include "gen/stencil/passes.h"
#include "gen/stencil/schedule.h"

/* Schedules without those alike; grows as it must. Zeroed, it is empty. */
typedef struct schedule_set {
    schedule *list;
    int *slots; /* an open hash table: an index into the list, plus 1; 0: free */
    int count, capacity;
} schedule_set;
bool schedule_set_add(job *, schedule_set *, const schedule *); /* false where it is there */

typedef struct search search;
struct search {
    job *job;
    const plan_facts *facts;
    const passes *passes;
    const plan_measured *measured;
    const schedule *wanted; /* the constraints, and whose candidates are tried */
    int method;
    const gpu *gpu;
    const int64_t *size;
    int64_t steps;
    plan *single; /* how one step is made where others are fused; NULL where none are */
    plan *best;
    schedule_set tried;          /* what constraints leave of several candidates may be the same */
    const char *refusal;         /* the first, of the method at hand */
    const plan_visitor *visitor; /* NULL: only the best counts; `which` of its constraints */
    int which;
};

/* Of a plan with its cost by the model, which is corrected: it becomes the best if it is. */
void search_keep(search *, plan *);
void search_refuse(search *, const char *refusal);

/* ---- what methods try their candidates by --------------------------------------------------- */

/* Tiles of a grid of so many axes, x first; a tile of 0 ends them. */
enum { SEARCH_TILES = 12 };
typedef int search_tiles[SEARCH_TILES][AXES];

/* One step a launch: every tile with every coarsening along the walked axis and every vector width,
   where the constraints leave them open. The lists end with 0. `tiles` has an entry for each number
   of axes. */
void search_blocks(search *, const search_tiles *tiles, const int *coarsen, const int *vectors);

/* Several steps a launch: one schedule, complete but for how far it walks. */
void search_fused(search *, schedule);

int search_given(int wanted, int choice);        /* what the constraints say, else the choice */
bool search_is_useful(const search *, int time); /* no more steps than a run has */
int search_widest(const search *);               /* elements of the widest load */

/* A tile that the constraints leave open is what is left of `width` points; false where nothing is.
 */
bool search_leave(search *, schedule *, int axis, int width, int halo);

#endif
