/* The planner's search: schedules tried, plans kept, and the rates that correct their costs.
   Methods try their candidates through it, and planner.c compares them. Takes: the facts of a
   model, constraints, a GPU, a size. Makes: plans with their costs. */
#ifndef SG_GEN_STENCIL_SEARCH_H
#define SG_GEN_STENCIL_SEARCH_H

#include "gen/stencil/method.h"

/* ---- passes ---------------------------------------------------------------------------------- */

/* A separable filter as several kernels, one an axis, with grids between them. */
typedef struct passes {
    const plan_facts *whole;
    const separable *separable;
    const plan_facts *facts[AXES]; /* of each pass */
} passes;

passes *passes_new(job *, const plan_facts *whole);

/* ---- rates that were measured ---------------------------------------------------------------- */

/* The written model knows how a kernel's time changes with the size and the walk, but not what the
   compiler makes of one more point a lane. The rates of the GPU's plans (gen/model/plans.h) correct
   it. Of a model that no rates are known of there are none. `size` is what is planned for. */
typedef struct plan_measured plan_measured;
plan_measured *plan_measured_new(job *, const plan_facts *, const gpu *, const int64_t size[AXES]);

/* How many times as long as the model says a plan takes. The nearest measurement of the same
   schedule says so: nearest by the size and by the number of parts that blocks cut the walked axis
   into, as logarithms of ratios. The factor grows where these are not the very same; with another
   number of parts it is at least the schedule's mean. A schedule that was not measured gets the
   mean of its method at the nearest size, and more, so that it is not chosen for an error of the
   model. Where none of its method was measured the factor is 1, and more for several steps a
   launch, which are harder to foretell than the single steps that they replace. */
double plan_measured_factor(const plan_measured *, const plan *);

int plan_measured_count(const plan_measured *);

/* How far blocks walked in a measurement, from 0 on, of this plan's schedule at the size; 0: it is
   of another schedule or size. */
int plan_measured_walk(const plan_measured *, int number, const plan *);

/* The name of the board that the rates were measured on; NULL where there are none. */
const char *plan_measured_board(const plan_measured *);

/* ---- the search ------------------------------------------------------------------------------ */

/* A set of schedules. Zeroed, it is empty. */
typedef struct schedule_set {
    schedule *list;
    int *slots; /* an open hash table: an index into the list, plus 1; 0: free */
    int count, capacity;
} schedule_set;

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
    bool by_points; /* keeps only plans that make each point by itself, as the update is written */
    plan *single;   /* how one step is made where others are fused; NULL where none are */
    plan *best;
    schedule_set tried;          /* constraints may make several candidates the same */
    const char *refusal;         /* the first, of the method at hand */
    const plan_visitor *visitor; /* NULL: only the best counts; `which` of its constraints */
    int which;
};

/* Takes a plan with its cost by the model, corrects the cost, and keeps the plan if it is best.
   What is not kept goes back to the job, so that thousands of candidates take little memory. */
void search_keep(search *, plan *);
void search_refuse(search *, const char *refusal);

/* ---- what methods try their candidates by --------------------------------------------------- */

/* Tiles of a grid of so many axes, x first; a tile of 0 ends them. */
enum { SEARCH_TILES = 12 };
typedef int search_tiles[SEARCH_TILES][AXES];

/* One step a launch: every tile with every coarsening along the walked axis and every vector width,
   where the constraints leave them open. The lists end with 0; one of 0 alone leaves open how far
   blocks walk, and walks that fill the GPU are tried. `tiles` has an entry for each number of axes.
 */
void search_blocks(search *, const search_tiles *tiles, const int *coarsen, const int *vectors);

/* The same with `tiles` of the model's axes and so many rows a thread. */
void search_rows(search *, const search_tiles tiles, const int *coarsen, const int *vectors,
                 int rows);

/* The same with tiles that fit rows of x shorter than several blocks: these cut a row into equal
   parts, and take as many rows as make 128 threads or more. */
void search_short(search *, const int *coarsen, const int *vectors);

/* Several steps a launch: one schedule, complete but for how far it walks. */
void search_fused(search *, schedule);

int search_given(int wanted, int choice);        /* what the constraints say, else the choice */
bool search_is_useful(const search *, int time); /* no more steps than a run has */
int search_widest(const search *);               /* elements of the widest load … */
int search_widest_numbers(const search *);       /* … of numbers, which narrow cells are not */

/* Where the constraints leave the tile open, it is what the halo leaves of `width` points; false
   where nothing is left. */
bool search_leave(search *, schedule *, int axis, int width, int halo);

#endif
