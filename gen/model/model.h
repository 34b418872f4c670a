/* The model: what a spec says, checked, in plain C.
   Takes: nothing (gen/spec makes it). Makes: its printed form, and facts derived from it. */
#ifndef SG_GEN_MODEL_MODEL_H
#define SG_GEN_MODEL_MODEL_H

#include "base/text.h"
#include "gen/expr/expr.h"

/* A schedule; in a spec or an option 0 leaves the choice to the planner. `tile`
   counts output points. A block makes tile × coarsen points. */
enum { LANE_AXES = 2 };
typedef struct schedule {
    int method; /* its index in the table of methods (gen/stencil/method.h); 0: `auto` */
    int tile[AXES];
    int coarsen[AXES];
    int vector; /* points along x that a thread loads and stores at once */
    int time;   /* steps fused into one pass */
    int passes; /* kernels of a separable filter, one an axis, or 1; 0 where it is not separable */
    int lane[LANE_AXES]; /* points that a thread holds along x and y, of the method temporal */
    int stages;          /* of temporal in 2D: warps in the pipeline of time */
} schedule;

/* What the spec says that a field holds. Checks draw such data; no kernel depends on it. */
typedef struct model_content {
    const double *values; /* of the dtype: these alone, or the ends of a range; NULL: not said */
    int count;
    bool is_range;
} model_content;

typedef struct model_field {
    const char *name; /* an identifier; "u" where the spec names none */
    field_use use;
    int levels; /* 1, or 2 where the previous time level is kept (inout only) */
    model_content content;
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

typedef struct model_side {
    boundary kind;
    double value; /* BOUNDARY_CONSTANT */
} model_side;

typedef struct model_output {
    int field;     /* an out or inout field; every such field has one output, in field order */
    expr_id value; /* as the spec wrote it, folded and shared, not otherwise rearranged; EXPR_NONE:
                      a function that is not given */
} model_output;

typedef enum shape_kind {
    SHAPE_STAR,
    SHAPE_BOX,
    SHAPE_POINTS,
    SHAPE_CONVOLUTION, /* a dense filter from `image`, in, to `result`, out; nothing is fixed */
    SHAPE_UPDATE
} shape_kind;

typedef struct model {
    const char *name; /* an identifier */
    const char *file; /* the spec and the line of its stencil { … }, for messages only */
    int line;
    int dims; /* 1 … 3; 0: no grid but functions, whose operands the fields are
                 (gen/lists/pattern.h) */
    dtype dtype;
    shape_kind shape;          /* UPDATE: the update function's taps */
    int radius;                /* the largest reach */
    int points;                /* of the shape, or distinct taps of the update */
    int low[AXES], high[AXES]; /* the shape's reach, over all arrays; what `fixed` goes by */
    model_side sides[AXES][2]; /* [axis][0 low, 1 high]; unused axes fixed */
    model_field fields[MAX_FIELDS];
    int field_count;
    model_array arrays[2 * MAX_FIELDS]; /* for each in or inout field: current, then previous */
    int array_count;
    model_parameter parameters[MAX_PARAMETERS]; /* sorted by name */
    int parameter_count;
    bool declared; /* the spec lists them, and there are no others */
    model_output outputs[MAX_FIELDS];
    int output_count;
    const struct separable *separable; /* of a convolution: gen/model/separable.h; else NULL */
    expr_pool *pool;
    bool nonlinear; /* some output is no sum of taps with weights: no textbook counts its work */
    double textbook_multiplications; /* n for n points with coefficients, else as written out */
    double textbook_additions;       /* n − 1, else as written out, functions included */
    schedule schedule;
    const struct tuning
        *tuning; /* gen/model/tuning.h: what tuning tries; NULL: the planner's own values */
} model;

/* What the textbook counts for a point: multiplications and additions together; 0: it does not. */
double model_textbook_operations(const model *);

/* Bytes a point must cross device memory at least: every array read once, every output written
   once. */
double model_bytes_per_point(const model *);

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

/* False where the output is not linear in the taps with weights that are the same for every point.
   New nodes are added to the model's pool. */
bool model_linear(const model *, int output, linear_form *out);

/* How much of a model is printed: all, or only what its kernels depend on, which leaves out its
   name and the values that its parameters have where nothing is said at launch. */
typedef enum model_detail { MODEL_ALL, MODEL_MEANING } model_detail;

/* The model in canonical text, one fact a line; the same model gives the same bytes. */
void model_print(const model *, model_detail, text *);

/* Parameters and functions of a model without a grid, a fact a line. */
void model_print_functions(const model *, model_detail, text *);

/* A node of its pool in the notation of specs, on one line and cut where it is long. */
void model_print_condition(const model *, expr_id, text *);

/* "3D star of radius 2, 13 points" */
void model_describe(const model *, text *);

/* "fixed", or "x periodic, y fixed/clamp" */
void model_describe_boundary(const model *, text *);

/* Whether two sides have the same rule, and whether all sides have. */
bool model_same_side(const model_side *, const model_side *);
bool model_same_sides(const model *);

/* The size that is planned for by default: 512³, 8192² or 2^26 on a GPU, 128³, 1024² or 2^20 on the
 * cpu device. */
void model_default_size(int dims, bool gpu, int64_t size[AXES]);

#endif
