/* The model: what a spec says, checked, in plain C; and facts that follow from it.
   Takes: nothing (gen/spec makes it). Makes: its printed form, linear forms, factors of filters,
   runs of weights, and the conditions that decide what is computed. */
#ifndef SG_GEN_MODEL_MODEL_H
#define SG_GEN_MODEL_MODEL_H

#include "base/text.h"
#include "gen/expr/expr.h"

/* ---- what tuning tries ----------------------------------------------------------------------- */

enum { TUNING_KEYS = 20, TUNING_VALUES = 64, TUNING_COMBINATIONS = 1024 };

typedef struct tuning_key {
    const char *name;          /* as the spec spells it: "tile" */
    const char *const *values; /* "tile=32x8"; at least one, no two alike */
    int count;
} tuning_key;

/* A candidate has one of the values of every key. Keys that are not listed are the planner's. */
typedef struct tuning {
    tuning_key keys[TUNING_KEYS];
    int key_count;
} tuning;

/* ---- the model ------------------------------------------------------------------------------- */

/* A schedule. In a spec or an option, 0 leaves the choice to the planner. `tile` counts output
   points. A block makes tile × coarsen points. */
enum { LANE_AXES = 2 };
typedef struct schedule {
    int method; /* its index in the table of methods (gen/stencil/method.h); 0: `auto` */
    int tile[AXES];
    int coarsen[AXES];
    int vector; /* points along x that a thread loads and stores at once */
    int time;   /* steps fused into one launch */
    int passes; /* kernels of a separable filter: 1, or one an axis; 0 where it is not separable */
    int lane[LANE_AXES]; /* points that a thread holds along x and y, where steps are fused */
    int stages;          /* warps in the pipeline of time, where steps are fused in 2D */
} schedule;

/* What the spec says that a field holds. Checks draw such data; no kernel depends on it. */
typedef struct model_content {
    const double *values; /* of the dtype: the only values, or the ends of a range; NULL: not
                             said */
    int count;
    bool is_range;
} model_content;

typedef struct model_side {
    boundary kind;
    double value;          /* BOUNDARY_CONSTANT */
    const char *parameter; /* … whose value, given at launch, it is instead; NULL: it is `value` */
} model_side;

typedef struct model_field {
    const char *name; /* an identifier; "u" where the spec names none */
    field_use use;
    int levels;    /* 1, or 2 where the previous time level is kept (inout only) */
    dtype storage; /* of its cells, where they are narrow: see model_storage */
    model_content content;
    bool bounded[AXES];        /* along the axis, reads of the field have rules of their own: … */
    model_side sides[AXES][2]; /* … these */
} model_field;

typedef struct model_parameter {
    const char *name;
    bool has_value; /* the spec gives a default */
    double value;
} model_parameter;

/* One device array that a tap reads: a field at its current or its previous level. */
typedef struct model_array {
    int field;
    bool previous;
    bool used;                 /* some tap reads it */
    int low[AXES], high[AXES]; /* how far its taps reach: 0 … MAX_REACH each */
} model_array;

typedef struct model_output {
    int field;     /* an out or inout field; every such field has one output, in field order */
    expr_id value; /* as the spec wrote it, folded and shared but not rearranged; EXPR_NONE: a
                      function that is not given */
} model_output;

/* Points: a set of places, given for a run, where values are added to a field after each step, or
   its values recorded. */
enum { MAX_SETS = 16 };
typedef struct model_set {
    const char *name; /* an identifier */
    int field;
    int injects; /* the output of `injected` that is added; −1: the field is recorded */
} model_set;

/* A reduction over the grid, of the numbers that a map makes of the fields. */
typedef struct model_monitor {
    const char *name;  /* an identifier */
    const char *op;    /* of reduce: "max" */
    double identity;   /* of the op */
    struct model *map; /* from the fields that the spec reads, all of them in, to one array; with
                          the parameters of the whole model */
    struct subject *subject; /* the map as a spec of its own */
} model_monitor;

/* Stages that one launch makes one after the other, of the results of those before (made by
   gen/system/chain.c). A source is an array that is read, or a result that later stages read. */
enum { CHAIN_STAGES = 16, CHAIN_SOURCES = 2 * MAX_FIELDS + CHAIN_STAGES * 4 };
typedef struct chain_stage {
    const struct model *model;
    const struct plan_facts *facts; /* of the model */
    int from[2 * MAX_FIELDS];       /* of each of its arrays: the source; −1: it is not read */
    /* Of each of its outputs: the source of what `fixed` keeps, −1: zeros; the source that it
       makes, −1: no stage reads it; the output of the whole that it is stored as, or −1. */
    int old[MAX_FIELDS], makes[MAX_FIELDS], stored[MAX_FIELDS];
    int low[AXES], high[AXES]; /* how far beyond a block's cells it is made */
    int keeps[AXES][2];        /* cells of an end that `fixed` keeps */
} chain_stage;
typedef struct chain_source {
    int array;                 /* of the whole; −1: a result … */
    int stage, output;         /* … of this stage */
    model_side sides[AXES][2]; /* what readers find beyond; FIXED: nobody reads there */
    int low[AXES], high[AXES]; /* how far beyond a block's cells it is read */
} chain_source;
typedef struct model_chain {
    chain_stage stages[CHAIN_STAGES];
    chain_source sources[CHAIN_SOURCES]; /* arrays first */
    int stage_count, source_count;
    bool ring[AXES];     /* the grid is a ring */
    bool mirrored[AXES]; /* some end is a mirror, so cells are made as far below as above */
} model_chain;

typedef enum shape_kind {
    SHAPE_STAR,
    SHAPE_BOX,
    SHAPE_POINTS,
    SHAPE_CONVOLUTION, /* a dense filter from `image`, in, to `result`, out; no cell is fixed */
    SHAPE_UPDATE
} shape_kind;

typedef struct model {
    const char *name; /* an identifier */
    const char *file; /* the spec and the line of its stencil { … }, for messages only */
    int line;
    int dims; /* 1 … 3; 0: there is no grid, only functions whose operands the fields are
                 (gen/lists/pattern.h) */
    dtype dtype;
    shape_kind shape;          /* UPDATE: the update function's taps */
    int radius;                /* the largest reach */
    int points;                /* of the shape, or the distinct taps of the update */
    int low[AXES], high[AXES]; /* the shape's reach over all arrays, which decides what `fixed`
                                  keeps */
    model_side sides[AXES][2]; /* [axis][0 low, 1 high]; unused axes fixed. FIXED keeps cells of all
                                  that is written; fields may have other rules (model_side_of) */
    model_field fields[MAX_FIELDS];
    int field_count;
    model_array arrays[2 * MAX_FIELDS]; /* for each in or inout field: current, then previous */
    int array_count;
    model_parameter parameters[MAX_PARAMETERS]; /* sorted by name */
    int parameter_count;
    bool declared; /* the spec lists its parameters, and there are no others */
    model_output outputs[MAX_FIELDS];
    int output_count;
    const struct separable *separable; /* of a convolution; else NULL */
    model_set sets[MAX_SETS];          /* sorted by name */
    int set_count;
    struct model *injected; /* NULL, or what sets inject: a model without a grid of the same fields,
                               arrays and parameters, and one more array, the point's sample */
    model_monitor monitors[MAX_SETS]; /* sorted by name */
    int monitor_count;
    expr_pool *pool;
    unsigned positions;       /* those that the outputs hold, a bit each */
    const model_chain *chain; /* NULL, or what makes the outputs, whose values say nothing then */
    bool arranged;  /* its expressions are computed as they stand, each operation by itself: nothing
                       is rewritten, and no sum takes in a product but EXPR_FMA's */
    bool nonlinear; /* some output is not a weighted sum of taps: no textbook counts its work */
    double textbook_multiplications; /* n for n points with coefficients; of an update as written
                                        out */
    double textbook_additions;       /* n − 1; of an update as written out, functions included */
    schedule schedule;
    const struct tuning *tuning; /* what tuning tries; NULL: the planner's own values */
} model;

/* The type of a field's cells: the model's dtype, unless they are narrow. The most bytes of a cell
   of any field, and whether some field is narrow. */
dtype model_storage(const model *, int field);
size_t model_cell_bytes(const model *);
bool model_is_narrow(const model *);

/* The order of a kernel's grids: for each field its current values, its previous ones, its new
   ones, as far as it has them. How many there are before a field, or of all. */
int model_grids(const model *, int field);

/* Whether every side that the shape reaches over is fixed; whether some is, so that the boundary
   keeps cells. */
bool model_all_fixed(const model *);
bool model_keeps(const model *);

/* The values of the outputs; and the array of a field at a level, -1 where there is none. */
void model_roots(const model *, expr_id roots[MAX_FIELDS]);
/* The models that share the parameters of this one: what sets inject and the maps of monitors; NULL
   after the last. */
struct model *model_attached(const model *, int index);

int model_array_of(const model *, int field, bool previous);

/* Whether a launch may write an output where it reads a level of the output's field: neighbours
   read nothing there, and the output itself reads its own point, so that no compiler loads it after
   the store; or nothing reads that level. */
bool model_writes_in_place(job *, const model *, int output, bool previous);

/* Parameters, one each, as the dtype holds them. */
const double *model_rounded(job *, const model *, const double *parameters);

/* The textbook's count for a point, multiplications and additions together; 0: it has none. */
double model_textbook_operations(const model *);

/* The fewest bytes a point that must cross device memory: every array read once, every output
   written once. */
double model_bytes_per_point(const model *);
/* Points of a grid of this size. */
double model_grid_points(const model *, const int64_t size[AXES]);

/* An output as a linear combination: Σ weight·tap + rest, where weights and rest hold no tap. */
typedef struct linear_term {
    int array;
    int d[AXES];
    expr_id weight;
} linear_term;
typedef struct linear_form {
    linear_term *terms; /* sorted by array, then dz, dy, dx */
    int count;
    expr_id rest; /* EXPR_NONE for 0 */
} linear_form;

/* False where the output is not linear in the taps with the same weights for every point. New nodes
   are added to the model's pool. */
bool model_linear(const model *, int output, linear_form *out);

/* How much of a model is printed: all, or only what its kernels depend on. The latter leaves out
   the name and the defaults of parameters. */
typedef enum model_detail { MODEL_ALL, MODEL_MEANING } model_detail;

/* The model in canonical text, one fact a line; the same model gives the same bytes. */
void model_print(const model *, model_detail, text *);

/* The parameters and functions of a model without a grid, one fact a line. */
void model_print_functions(const model *, model_detail, text *);

/* A node in the notation of specs, on one line, and cut where it is long. */
void model_print_condition(const model *, expr_id, text *);

/* "3D star of radius 2, 13 points" */
void model_describe(const model *, text *);

/* "fixed", or "x periodic, y fixed/clamp" */
void model_describe_boundary(const model *, text *);

/* Whether two sides have the same rule, and whether all sides of a model have. */
bool model_same_side(const model_side *, const model_side *);
bool model_same_sides(const model *);

/* What reads of a field find beyond a side: the field's own rule, unless cells there are kept. */
const model_side *model_side_of(const model *, int field, int axis, int side);

/* Whether some field has a rule of its own; whether a side's value is a parameter. */
bool model_has_own_sides(const model *);
bool model_mirrors(const model *, int axis); /* at an end of it, some field */

/* Whether the model reads beyond the ends of an axis: sets *ring if the axis is periodic there,
 *else other. The same of all maps of its monitors. */
void model_find_ring(const model *, int axis, bool *ring, bool *other);
void model_find_rings_of_maps(const model *, int axis, bool *ring, bool *other);
bool model_has_given_sides(const model *);

/* The number of the parameter, −1 where there is none of the name. */
int model_parameter_named(const model *, const char *name);

/* ---- runs of weights ------------------------------------------------------------------------- */

/* Points d, d + (1,0,0), … of an array, which give weights[first], weights[first + 1], … times
   themselves to an output. No two runs touch, so that nothing in between is read. */
typedef struct weight_run {
    int output, array;
    int d[AXES];
    int first, count;
} weight_run;

enum { RUN_BYTES = 5 * 4 }; /* of one in constant memory */

typedef struct weight_runs {
    weight_run *list; /* by output, then array, dz, dy, dx */
    int count;
    double *weights;
    int weight_count;
    expr_id others[MAX_FIELDS]; /* of each output: what else is added to it; EXPR_NONE */
} weight_runs;

/* New nodes are added to the model's pool. */
weight_runs *runs_new(job *, const model *);

/* ---- separable filters ----------------------------------------------------------------------- */

/* How far a weight may be from the product of its factors, relative to it: 64 roundings of a
   double, which is what formulas such as the Gaussian's leave; a weight of 0 must be one
   exactly. */
#define SEPARABLE_TOLERANCE 0x1p-47

/* The factors along the first of the axes carry the size of the weights; the largest of each other
   axis is 1 or −1, so that what a pass rounds away never grows in the next. */
typedef struct separable {
    int count;                              /* the passes: axes with more than one weight; … */
    const char *why;                        /* … or 0, and why, as the end of a sentence */
    int axes[AXES];                         /* in the order of the passes */
    double factor[AXES][2 * MAX_REACH + 1]; /* by pass; from −low to high */
    double least; /* the product of the least |factor| of each pass but the first */
} separable;

/* Of a convolution; for other models `why` says that they are none. A filter is not separable that
   has one axis, a parameter, weights that are no such products, or factors too small for the dtype.
   New nodes are added to the model's pool. */
const separable *separable_new(job *, const model *);

/* What passes may round beyond what the whole filter may, relative to the magnitude of a result:
   the tolerance, two more roundings a pass, and second-order terms. */
double separable_rounding(const separable *, dtype);

/* Pass `k` as a convolution of its own along one axis, from the field `from` to the field `to`. The
   first pass has the boundary of the whole; the later ones read nothing outside, and are fixed. */
model *separable_pass(job *, const model *whole, const separable *, int k, const char *from,
                      const char *to);

/* ---- conditions ------------------------------------------------------------------------------ */

/* One condition and its evaluations in a check. Where rounding leaves open how a kernel decides,
   an evaluation is neither. */
typedef struct condition {
    expr_id node;
    int64_t yes, no, of;
} condition;

static inline bool condition_is_comparison(expr_op op) {
    return op >= EXPR_LT && op <= EXPR_NE;
}

/* Every comparison below the roots, and every `all` and `any` that stands in no other: in the
   pool's order, counts 0. Conditions on positions alone are left out: their sides are the spec's,
   whatever the data. Returns how many. */
int conditions_find(job *, const expr_pool *, const expr_id *roots, int count, condition **out);

/* A side of a condition that less than 1 % of the evaluations took. */
typedef struct condition_side {
    const char *condition; /* in the notation of specs */
    bool truth;            /* the side where it is true */
    int64_t taken, of;
} condition_side;

/* A list of sides, in a job. */
typedef struct condition_sides {
    condition_side *list;
    int count;
} condition_sides;

/* Adds those sides of the conditions of a model. */
void conditions_judge(job *, const model *, const condition *, int count, condition_sides *);

/* A copy that lives in the job. */
condition_sides conditions_copy(job *, const condition_sides *);

/* The radius, by how far taps reach. */
void model_set_radius(model *);

/* The size that is planned for by default: 512³, 8192² or 2^26 on a GPU, 128³, 1024² or 2^20 on the
 * cpu device. */
void model_default_size(int dims, bool gpu, int64_t size[AXES]);

/* ---- scaled sums ----------------------------------------------------------------------------- */

/* An update whose neighbours are all in one linear sum, of which it makes something by values at
   its own point alone: 2·u − u.prev + c·Σ weight·tap. A linear update is one, too, where it reads
   some array at the point alone: −u.prev + Σ weight·tap. */
typedef struct scaled_sum {
    model *sum;   /* the model with the sum as its output */
    model *point; /* … and with what is made of it: the sum is one array more, the last */
    bool in_sum[2 * MAX_FIELDS], at_point[2 * MAX_FIELDS]; /* the model's arrays that each reads */
} scaled_sum;

/* NULL where the model has several outputs, or is linear and reads all its arrays next to the
   point; and where its neighbours are in several sums, in none, or scaled one by one. Several ways
   may lead to the sum, and where the point lies may decide what is made of it. New nodes are added
   to the model's pool. */
scaled_sum *scaled_sum_new(job *, const model *);

#endif
