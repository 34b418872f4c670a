/* Schedules, and the plan: a complete schedule for a model, and why it was chosen. Takes: a model,
   constraints, a GPU and a size. Makes: a plan, or a reason why there is none. Fails with
   FAULT_PLAN and `method NAME …: reason`. */
#ifndef SG_GEN_STENCIL_PLAN_H
#define SG_GEN_STENCIL_PLAN_H

#include "gen/model/family.h"
#include "gen/model/gpu.h"
#include "gen/model/model.h"

/* ---- schedules ------------------------------------------------------------------------------- */

/* The one table of schedule keys of stencils, and schedules as one line of text: `register
   tile=32x8 coarsen=z16 vec=4 time=1`. Specs, schedule lines, `tune`, options and the documents'
   test read the table. */
typedef enum schedule_kind {
    SCHEDULE_WORD,    /* a method; `method=` may be left out */
    SCHEDULE_SIZES,   /* 32x8: a number an axis, x first */
    SCHEDULE_FACTORS, /* z16,y2: an axis and a number */
    SCHEDULE_NUMBER
} schedule_kind;

typedef struct schedule_key {
    const char *word; /* in specs, options and reports */
    const char *line; /* in lines, which also take the word */
    schedule_kind kind;
    int axes;      /* how many numbers it has: one an axis, x first */
    unsigned who;  /* the bit of method.keys that has it; 0: every method */
    size_t offset; /* of its numbers, or the method's index, in a schedule */
    const char *example, *summary;
} schedule_key;

enum { SCHEDULE_KEYS = 8 };
extern const schedule_key schedule_keys[SCHEDULE_KEYS];

/* Bits of method.keys: the keys that not every method has, and coarsening along y of a method that
   walks z. */
enum {
    SCHEDULE_COARSEN = 1,
    SCHEDULE_ROWS = 2,
    SCHEDULE_VECTOR = 4,
    SCHEDULE_TIME = 8,
    SCHEDULE_LANE = 16,
};

/* "the methods A and B have": the methods that have a bit. */
const char *schedule_who_has(job *, unsigned who);

int *schedule_numbers(schedule *, const schedule_key *);

/* A line; free entries are left out, so that the empty schedule prints as `auto`. */
void schedule_print(const schedule *, int dims, text *);

/* Parses such a line (words in any order, the method optional) over `out`, which keeps what the
   line does not say. Fails with FAULT_USAGE and a message that names `where`. Accepts what
   schedule_print writes. */
void schedule_parse(job *, const char *line, const char *where, schedule *out);

/* ---- plans ----------------------------------------------------------------------------------- */

typedef struct form form; /* gen/stencil/method.h */

/* What planners ask of a model again and again. */
typedef struct plan_row {
    int array; /* the model's */
    int dy, dz, low, high;
} plan_row;
/* Instructions of multiply-add units, and others. */
typedef struct expr_work {
    double units, others;
} expr_work;
enum { CALL_PACKS = 5, CALL_STEPS = 4 }; /* of 1, 2, 4, 8 and 16 points; steps at once */

/* The index of packs of so many points in tables of CALL_PACKS. */
static inline int call_pack(int points) {
    int pack = 0;
    while (pack + 1 < CALL_PACKS && 2 << pack <= points)
        pack++;
    return pack;
}
typedef struct plan_facts {
    const model *model;
    expr_id roots[MAX_FIELDS]; /* the outputs' expressions, rewritten for fewer operations */
    expr_count emitted;        /* operations of a point by these expressions … */
    expr_count inside; /* … and of one that no condition on its place singles out, which is
                          what costs count */
    bool two_ways;     /* points away from the edges have a way of their own … */
    bool ends_of_x;    /* … and those near the ends of x the other one */
    int selections;    /* by places, which code asks for also away from the edges */
    expr_work calls[3][CALL_PACKS]; /* of divisions, functions and choices, for a point of a pack,
                                       where 1, 2 and 4 steps of a walk are made together */
    expr_work uniform;              /* of those that are the same for all points: once a thread */
    double shared[3][CALL_PACKS];  /* of stages put together: the share of sums and products that is
                                      left in packs, for the same steps */
    const struct carried *carried; /* what steps of a walk share; NULL: nothing */
    double carried_operations[CALL_PACKS], apart_operations[CALL_PACKS]; /* sums and products of a
                                     point with that, and without: as costs count them */
    expr_work carried_calls[CALL_PACKS];
    bool quick_steps; /* they divide nothing but 1, and may be made again after they have stored */
    plan_row *carried_rows; /* as rows: of what such a step reads */
    int carried_row_count;
    int quotients;            /* divisions by what differs from point to point, and roots of it */
    int nodes;                /* nodes of the pool before that … */
    const bool *live;         /* … and which of them the outputs are made of */
    double sum_operations;    /* of one point by partial sums; 0 where it has none to keep */
    const scaled_sum *scaled; /* NULL where the update is none */
    bool linear;              /* every output is linear, with the same weights for every point */
    bool corners;             /* some tap has an offset along x and along y */
    bool column_or_plane; /* every tap lies in its point's column of the last axis or its plane */
    int taps[2 * MAX_FIELDS]; /* distinct taps, by the model's array */
    int all_taps, plane_taps; /* the latter counts taps after they are moved into one plane of the
                                 last axis */
    plan_row *rows;           /* distinct rows of x that taps read, for methods that load packs */
    int row_count;
    const weight_runs *runs; /* of the weights, where linear; else NULL */
} plan_facts;
plan_facts *plan_facts_new(job *, const model *);

/* What divisions, roots, functions and choices take of a point, of the live nodes: adds to `out`,
   for packs of 1, 2, 4 … points along x. */
void calls_count(job *, const model *, const bool *live, int steps, expr_work out[CALL_PACKS]);
/* The share of sums and products that is left where packs, and steps of a walk, share them. */
void calls_sharing(job *, const model *, const bool *live, int steps, double out[CALL_PACKS]);
expr_work calls_uniform(job *, const model *, const bool *live);

/* One array as the kernel sees it; arrays that no tap reads are left out. Reaches are along kernel
   axes. */
typedef struct plan_array {
    int array; /* the model's */
    int low[AXES], high[AXES];
    bool staged; /* has a place in shared memory */
    int shared;  /* where its place begins, in elements */
} plan_array;

/* What a plan is expected to cost, by the written model in docs/architecture.md. */
typedef struct plan_estimate {
    double seconds;          /* for the size planned for */
    double bytes_per_point;  /* through device memory */
    double loads_per_point;  /* elements read from global memory or the caches */
    double shared_per_point; /* elements stored to and loaded from shared memory */
    double instructions_per_point;
    int registers;       /* a thread */
    int blocks_resident; /* a multiprocessor */
    const char *bound;   /* what limits: "device memory", "instructions" … */
    double edges; /* how many times as long as with a fixed boundary, which the rates of plans files
                     are of; 0: as long */
} plan_estimate;

/* Of templates that make several steps a launch: what a block (in 1D: a warp) holds of the levels'
   rows or planes, with its halo for all steps. By kernel axes x and y. */
enum { PLAN_STRIP_BYTES = 128 }; /* what a block of a 2D pipeline notes in shared memory */
typedef struct plan_fused {
    int width[LANE_AXES];
    int halo_low[LANE_AXES], halo_high[LANE_AXES]; /* the part of the width that is not output */
    int round_halo[AXES]; /* of rounds: the halo below and above the tile for the steps of a
                             round */
    int lanes;            /* 3D: threads that share a row */
    int rows;             /* 2D: rows between two barriers */
    int input;    /* slots of the ring that is loaded ahead, of `rows` rows (2D) or a plane */
    int spilled;  /* registers of a thread that lie in local memory */
    bool keep;    /* 3D: a level's newest plane stays in registers */
    bool apart;   /* 3D: warps wait for those next to them alone, and boxes bring planes of packs */
    bool corners; /* 3D: some tap leaves its point's row and column in the plane */
} plan_fused;

/* Of methods whose threads walk with packs of x. What a thread has: rows along y, and planes that
   it fetches ahead of need. What it loads of each plane: packs, and elements next to the packs. */
typedef struct plan_streamed {
    int lane_y, ahead;
    int fetched; /* of those rows so many are fetched ahead */
    int packs, beside;
    bool carries; /* steps share what they compute … */
    int together; /* … or are made at once, for what their points have in common */
    int needs;    /* registers that a thread takes at least, so that no more blocks are resident; 0:
                     those that it happens to need */
    int spare_registers; /* what a thread would need where rows are no packs */
    bool folds;          /* it is planned for a grid shorter than the shape, where one rule does not
                            lead into the grid, but several of the same axis do */
} plan_streamed;

typedef struct plan {
    const plan_facts *facts; /* the facts of the model planned for */
    schedule schedule;       /* complete: an entry that is 0 does not apply to the method */
    const form *form;        /* the template of its method */
    const gpu *gpu;
    int axes[AXES];  /* kernel axis → grid axis, −1: an axis of extent 1 */
    int block[AXES]; /* threads */
    int blocks;      /* of a multiprocessor, so that the compiler keeps to the registers which that
                        leaves each thread */
    int tile[AXES];  /* output points of a block along each kernel axis, at once … */
    int walk;        /* … and so many times along the last kernel axis (of a window: the only
                        one) */
    int per_block[AXES];       /* points of a block along each kernel axis, in all */
    int low[AXES], high[AXES]; /* the shape's reach along kernel axes */
    plan_array arrays[2 * MAX_FIELDS];
    int array_count;
    int kernel_array[2 * MAX_FIELDS]; /* the model's array → index into arrays, −1 */
    int summed;                       /* the first of arrays: sums read them; the others are read at
                                         a point alone, of which a sum's array may be one, too */
    int at_point[2 * MAX_FIELDS];     /* the model's array → index among the others, −1 */
    int results, result_pitch;        /* window: where results are staged, in elements */
    plan_fused fused;
    plan_streamed streamed;
    int least[AXES]; /* cells that a grid must have along kernel axes; smaller grids take another
                        plan; 0: any */
    size_t shared_bytes;
    struct plan
        *pass[AXES]; /* of a filter in passes: each kernel's plan, by a model of its own … */
    int pass_count;  /* … else 0. Everything else is the first pass's, but for the schedule, the
                        facts, shared_bytes (the most) and the estimate (the sum) */
    struct plan *single; /* of a plan with time > 1: how the remaining steps are made, one by one */
    bool is_pass;        /* it is a pass of another plan … */
    int from, to;        /* … with the grids of the arguments that it reads and writes */
    plan_estimate estimate;
    const char *reason; /* why this plan, in a sentence or two */
    const char *board;  /* the board whose rates corrected the estimates; NULL: none did */
} plan;

/* `wanted` has the constraints: the spec's and then the caller's. The plan is for `size`, and for a
   run of `steps`. Steps are fused where there are several, or where the constraints say so. */
plan *plan_make(job *, const model *, const schedule *wanted, const gpu *, const int64_t size[AXES],
                int64_t steps);

/* A single step of those that launches of several steps leave. Where the constraints leave the
   method open, it makes each point by the update as it is written, so that every size, and so every
   part of a team's grid, gets the same bytes. */
plan *plan_make_rest(job *, const model *, const schedule *wanted, const gpu *,
                     const int64_t size[AXES]);

/* What plan_make compares. candidate: a plan that meets wanted[which], and the seconds a step that
   it is thought to take, also where a run's last steps need other launches. refused: the first
   reason why a method has fewer candidates. */
typedef struct plan_visitor {
    void *user;
    void (*candidate)(void *user, int which, const plan *, double seconds);
    void (*refused)(void *user, int which, int method, const char *why);
} plan_visitor;

/* Shows every plan that the planner thinks of under any of `count` constraints, always in the same
   order. Plans that differ in how far blocks walk are several. Plans that a grid of this size, or a
   run of so many steps, has no use for are left out. */
void plan_visit(job *, const model *, const schedule *wanted, int count, const gpu *,
                const int64_t size[AXES], int64_t steps, const plan_visitor *);

/* Whether all entries are set that every plan of its method has: a line of a file may lack some. */
bool plan_schedule_is_whole(const schedule *, int dims);
/* The two halves of plan_make, for one method and a schedule whose entries that apply are set.
   plan_fit returns NULL and sets *refusal where the method cannot serve. plan_cost fills
   plan->estimate, and what the size decides of the kernel. */
plan *plan_fit(job *, const plan_facts *, const schedule *, const gpu *, const char **refusal);
void plan_cost(plan *, const int64_t size[AXES]);

/* The grid axis that the method walks, −1: none; and setting how far a block walks, where that is
   chosen last. */
int plan_walk_axis(const plan *);
void plan_set_walk(plan *, int walk);

/* Gives the plan's blocks so many bytes of shared memory; NULL, or the refusal. */
const char *plan_take_shared(job *, plan *, int64_t bytes);

/* The blocks that cover a grid; *covered is how many times the grid's points they have. */
double plan_blocks(const plan *, const int64_t size[AXES], double *covered);

/* The share of what a launch reads that the second-level cache has of the launch before, where
   steps follow each other. */
double plan_in_cache(const plan *, const int64_t size[AXES]);
/* Whether of most arrays a walk along the last axis reads several rows that the next one reads,
 * too. */
bool plan_shares_rows(const model *);
/* Of a plan in 2D that fits: blocks that run at a time, where walks next to each other should be
   made one after the other; else 0. */
int plan_ordered_wave(const plan *);

/* From the start of a launch until its blocks are at work, whatever they do. */
#define PLAN_BEGIN_SECONDS 0.7e-6

/* Issue slots of a point's divisions, functions and choices, where a thread makes so many points
   along x together. Multiply-adds take more of them where the board has fewer units. */
double calls_slots(const plan *, int together);
/* The same, where so many steps of a walk are made at once: 1, 2 or 4. */
double calls_walked(const plan *, int together, int steps);
/* How many times as long kernels of divisions, functions and choices take, whose schedulers have
   too few warps to hide them. */
double calls_waiting(const plan *);

/* Operations of one point as they are emitted, over all passes. */
expr_count plan_emitted(const plan *);

/* Whether each row of a grid begins with a whole pack, if its first one does. */
static inline bool plan_rows_are_packs(const model *m, const int64_t size[AXES]) {
    return size[0] * (int64_t)model_cell_bytes(m) % MAX_PACK_BYTES == 0;
}

static inline int plan_threads(const plan *p) {
    return p->block[0] * p->block[1] * p->block[2];
}

/* Blocks that a multiprocessor holds at once: by threads and registers, and by its shared memory
   too. */
int plan_resident_by_registers(const plan *);
int plan_resident(const plan *);

/* ---- slots of the family's row (stencil.c) --------------------------------------------------- */

/* The spec's constraints of a stencil, and then those of a line (NULL: none). */
schedule *stencil_wanted(job *, const subject *, const char *line);
family_build *stencil_build(job *, const subject *, const family_request *);
void stencil_check_schedule(job *, const family *, const char *line);
void stencil_print_wanted(job *, const subject *, const char *line, text *);
const char *stencil_plan(job *, const subject *, const family_request *);
void stencil_explain(job *, const subject *, const family_request *, family_explanation *);
const model *stencil_model(const subject *);
int stencil_dims(const subject *);
void stencil_print(const subject *, model_detail, text *);

#endif
