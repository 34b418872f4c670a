/* What the forms of the method temporal share: registers, shared memory, and the time of blocks
   that run at once. Only methods/temporal*.c include it. */
#ifndef SG_GEN_STENCIL_METHODS_TEMPORAL_H
#define SG_GEN_STENCIL_METHODS_TEMPORAL_H

#include "gen/stencil/search.h"

/* The costs of one template, fitted to sweeps (docs/notebook.md). Instructions of a lane: for a
   level of a row (or patch), and for a turn between two barriers. Cycles: what a level takes at
   least, because each instruction waits for the one before; what a turn takes; and those before a
   block's first result. Then the share of issue slots that is used at best; how well blocks hide
   each other's latency (an exponent); how much longer than others the blocks at an edge take;
   instructions of a row (or patch) for a register that lies in local memory. Then the share of the
   copy rate, and how well memory and the rest hide each other (an exponent). */
typedef struct temporal_costs {
    double level, turn;
    double level_cycles, turn_cycles, start_cycles;
    double efficiency, hiding, edge, spill;
    double memory, overlap;
} temporal_costs;
/* Instructions for a shuffle of a word, and the words of the widest load. */
#define TEMPORAL_SHUFFLE 2.0
#define TEMPORAL_PACK_WORDS 4.0
#define TEMPORAL_SCHEDULERS 4.0 /* of a multiprocessor */

/* What one warp does for a block's walk. */
typedef struct temporal_work {
    const temporal_costs *costs;
    double slots;         /* of one scheduler: to issue, or until the multiply-add units are free */
    double latency;       /* cycles that it takes alone */
    double banks;         /* cycles that it keeps the multiprocessor's shared memory busy */
    double loads, shared; /* elements that it reads from global memory, and exchanges */
    double apart;  /* how many times as long where rows are no packs, by 36 figures of stars, boxes
                      and waves on an H200 at 301x277x355, 384x384x384, 3001x4001 and 4096x4096;
                      where 3D stars and waves have warps that copy their own rows, by others */
    double images; /* how many times as long where there are images, by the same; pipelines by 20
                      figures of 4096x4096 and 8192x8192, stars and waves in 3D by all figures of
                      theirs */
} temporal_work;

/* The forms of 2D and 3D, and that of all models which these do not serve; and their candidates. */
extern const form temporal_pipeline, temporal_levels, temporal_stars, temporal_cascade;
void temporal_try_pipelines(search *);
void temporal_try_levels(search *);
void temporal_try_cascades(search *);
const char *temporal_refuse_cascade(const plan_facts *, const schedule *);

/* A plan of which nothing is laid out yet gets one point and one thread along every axis. */
void temporal_begin(plan *);

/* In 2D and 3D cells beyond a mirrored side are copied from inside: the sizes that this takes. */
void temporal_need_images(plan *);
/* Constants of plan.h: `images`, by which templates leave out what no boundary asks for; and the
   grid of the older level, where a step reads two. */
void temporal_write_images(text *, const plan *);
void temporal_write_second(text *, const plan *);
void temporal_needs(const plan *, program_needs *); /* whole packs */

/* Levels that a step reads: of a wave two. */
static inline int temporal_carried(const plan *p) {
    return p->facts->model->fields[0].levels;
}

/* What the two forms of 3D by partial sums share: a block's threads and tile, and the constants of
   plan.h. */
const char *temporal_lay_patches(job *, plan *);
void temporal_write_patches(text *, const plan *);

/* Whether the form of stars serves an update of partial sums. */
bool temporal_is_star(const plan_facts *);

/* Both have warps wait for their neighbours alone, and planes come by boxes where rows are packs,
   unless a side is constant (`apart` of plan_fused). temporal_has_pack_lanes: a lane's points of a
   row are one pack, as boxes leave them; temporal_boxes_bytes: with the barriers of
   templates/arch/neighbours.cuh. */
bool temporal_has_pack_lanes(const plan_facts *, const schedule *);
bool temporal_by_boxes(const plan *);
int64_t temporal_boxes_bytes(const plan *);
bool temporal_box(const plan *, const plan_array *, int box[AXES]);
void temporal_write_apart(text *, const plan *, bool packs);
/* Of an estimate: threads copy what boxes bring elsewhere. */
void temporal_cost_copies(plan *);

/* Of an update of two levels, the model of its sums. */
const model *temporal_wave_sums(job *, const plan *);

/* Each returns NULL, or the refusal. Registers beyond those that a thread may have
   (temporal_most_registers) lie in local memory, which costs time; too many of them are refused. */
const char *temporal_check_lane(job *, const plan *, int axis);
const char *temporal_lay_threads(job *, plan *); /* those of a plane of fused.width */
int temporal_most_registers(const plan *);
const char *temporal_check_registers(job *, plan *, int64_t need);

/* Issue slots of a scheduler for so many multiply-adds and other instructions. */
double temporal_slots(const plan *, double operations, double others);

/* Rows or planes that a block's first level takes for those it makes. */
double temporal_walked(const plan *);

/* How many times as long a launch takes because rows are no packs; and because they begin with
   cells of their other end (six plans on an H200: 1.25 to 1.5), unless warps copy their own rows.
 */
static inline double temporal_apart(const plan *p, const temporal_work *w,
                                    const int64_t size[AXES]) {
    static const double from_other_end = 1.3;
    const model *m = p->facts->model;
    const bool cells = m->dims > 1 && size[0] % p->schedule.vector != 0;
    const bool ends = m->dims > 1 && !p->fused.apart && m->sides[0][0].kind == BOUNDARY_PERIODIC &&
                      !plan_rows_are_packs(m, size);
    return (cells ? w->apart : 1) * (ends ? from_other_end : 1);
}

/* Fills the estimate of a launch. `makespan` gives the cycles from the first block's start to the
   last one's end; NULL: whole waves of blocks, one after the other. */
void temporal_cost(plan *, const int64_t size[AXES], const temporal_work *,
                   double (*makespan)(const plan *, const temporal_work *, double blocks));

/* Cycles of so many blocks: all of them in waves; and those that run at once on a
   multiprocessor. */
double temporal_waves(const plan *, const temporal_work *, double blocks);
double temporal_run(const plan *, const temporal_work *, double blocks);

/* ---- what the two files of the cascade share ---------------------------------------------------
 */

/* What of one output's levels lies in shared memory. */
typedef struct cascade_level {
    int array;  /* the kernel's, of its current values */
    int slots;  /* planes of each level; 0: no neighbour of y is read */
    int back;   /* how many planes before the newest one a level puts */
    int images; /* planes before the grid that others stand for, in shared memory */
    int place;  /* in elements */
} cascade_level;

typedef struct cascade {
    int below[AXES], above[AXES]; /* what each step takes from the halo */
    int lag, window, ahead;
    int slots[2 * MAX_FIELDS], place[2 * MAX_FIELDS]; /* of the arrays */
    cascade_level level[MAX_FIELDS];
    int tables;
    int64_t elements;
} cascade;

/* Where all lies; the widths of the plan's tile are known. */
void cascade_lay(const plan *, cascade *);
/* The output that makes an array's values; −1: none does. */
int cascade_output_of(const plan *, int array);

/* A row of taps along the kernel's axis y. */
static inline int cascade_row_dy(const plan *p, const plan_row *r) {
    return p->axes[1] < 0 ? 0 : r->dy;
}

void cascade_cost(plan *, const int64_t size[AXES]);

#endif
