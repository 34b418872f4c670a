/* The reference: a model evaluated on the host in float64, with a bound on what rounding may do.
   Takes: a model and arrays of its dtype. Makes: the value of each cell, nearly as in exact
   arithmetic, and how far a correct kernel of that dtype may be from it. Thread safe.
   Method: running error analysis (N. Higham, Accuracy and Stability of Numerical Algorithms,
   2nd ed., section 3.3), with magnitudes in place of values so that any order of the sums is
   covered. */
#ifndef SG_GEN_REFERENCE_REFERENCE_H
#define SG_GEN_REFERENCE_REFERENCE_H

#include "gen/expr/expr.h"
#include "gen/model/model.h"

/* ---- one step -------------------------------------------------------------------------------- */

typedef struct reference reference; /* lives in the job that it was made in; evaluation does not
                                       change it */

/* `parameters`: one value each, already rounded to the dtype. */
reference *reference_new(job *, const model *, const double *parameters);

typedef struct reference_array {
    const void *data;     /* cell (0,0,0), of its field's storage; doubles where there are bounds */
    int64_t stride[AXES]; /* in elements */
    const double *bounds; /* how far a kernel's value of each cell may be from ours, in the same
                             layout; NULL: the data are exactly what the kernel has */
} reference_array;

/* What positions are made of: the place of cell (0,0,0) in the whole grid, the whole grid's sizes,
   and the step. `stays`: a later step of the same launch reads the results, and no storage rounds
   them before. */
typedef struct reference_place {
    int64_t origin[AXES], global[AXES], step;
    bool stays;
} reference_place;

/* Evaluates the cells x0 … x0+count−1 of row (y, z) of a grid of this size. `arrays`: one for each
   of the model's arrays. For every output o it writes values[o*count + i] and bounds[o*count + i].
   A cell that `fixed` keeps has its own bits and the bound 0; `kept` (count entries, may be NULL)
   says which cells those are. (An out field is not written there; its value is given as 0.) A bound
   of infinity means that the cell cannot be judged: a comparison too close to call, a division by
   nearly 0, an overflow. Bounds are never NaN. A value that is NaN or infinite, with a finite
   bound, is what the kernel must have too. `scratch` has reference_scratch(r, count) bytes, which
   are 0 at first: the sides of conditions are counted there. `place` NULL: the grid is the whole
   grid, and the step the first. */
size_t reference_scratch(const reference *, int count);
void reference_row(const reference *, const reference_array *arrays, const int64_t size[AXES],
                   const reference_place *place, int64_t x0, int64_t y, int64_t z, int count,
                   void *scratch, double *values, double *bounds, bool *kept);

/* The same for cells at … along another axis. It serves where few cells of each row are asked for,
   because cells that lie next to each other along `axis` are worked through many at a time. */
void reference_cells(const reference *, const reference_array *arrays, const int64_t size[AXES],
                     const reference_place *place, const int64_t at[AXES], int along, int count,
                     void *scratch, double *values, double *bounds, bool *kept);

/* The time of a cell of whole rows, in operations of a few nanoseconds each. */
double reference_work(const reference *, const int64_t size[AXES]);

/* The conditions of the model with counts 0; and adding what a scratch has counted to such a list.
   Cells that `fixed` keeps are not counted. */
int reference_conditions(job *, const reference *, condition **out);
void reference_count(const reference *, const void *scratch, condition *sums);

/* ---- several steps --------------------------------------------------------------------------- */

/* An inout field is a ring of grids: one for each level, and the one being written. */
typedef struct reference_field {
    int output, levels;
    int read[2]; /* of the model's arrays: current and previous; −1 */
    double *ring[3], *bounds[3];
} reference_field;

typedef struct reference_steps {
    const reference *reference;
    const model *model;
    int64_t size[AXES], begin[AXES], end[AXES]; /* the box that is updated */
    int64_t along;                              /* pieces of a row */
    int64_t done;
    reference_place place;                  /* of the next step */
    reference_array arrays[2 * MAX_FIELDS]; /* what the next step reads */
    reference_field fields[MAX_FIELDS];
    int field_count;
} reference_steps;

/* The memory for steps of a grid of so many cells. */
size_t reference_steps_bytes(const model *, int64_t points);

/* `arrays`, one for each of the model's, and `memory` outlive it; that may be NULL where no step is
 * made. The grid is the whole grid, unless s->place is set anew. */
void reference_steps_open(reference_steps *, const reference *, const model *,
                          const int64_t size[AXES], const int64_t begin[AXES],
                          const int64_t end[AXES], const reference_array *arrays, void *memory);

/* One step is all of its pieces, in any order, and then a turn. */
int64_t reference_steps_pieces(const reference_steps *);
size_t reference_steps_scratch(const reference_steps *);
void reference_steps_piece(const reference_steps *, int64_t piece, void *scratch);
void reference_steps_turn(reference_steps *);

/* ---- the numbers that expressions compare with ----------------------------------------------- */

enum { REACH_ARRAYS = 2 * MAX_FIELDS, REACH_NUMBERS = 64 };

/* In the order of finding, each once. What there is no room for is left out. */
typedef struct reach_numbers {
    int count;
    double value[REACH_NUMBERS];
} reach_numbers;

void reach_note(reach_numbers *, double value);

/* Adds a number as the dtype has it: for one that is not whole, the whole numbers next to it;
   nothing where it overflows. */
void reach_note_as(dtype, reach_numbers *, double value);

typedef struct reach_found {
    reach_numbers arrays[REACH_ARRAYS];
    uint64_t tied; /* a set of arrays whose cells are compared with each other */
} reach_found;

/* Searches all that is below the roots. `wanted` (NULL: none) are numbers that the first root is to
   come to. `parameters`, one each, are rounded to the dtype. */
reach_found *reach_search(job *, const model *, const expr_id *roots, int count,
                          const double *parameters, const reach_numbers *wanted);

/* ---- rows: internal to gen/reference --------------------------------------------------------- */

/* Loops have this fixed length, so that compilers vectorise them, and a row stays in the first
   cache. */
enum { LANES = 128 };

/* `value` is the float64 result. A kernel's result is within `error` of it; infinity or NaN there
   means that nothing can be said. `magnitude` is at least |value|, with sums taken over absolute
   values: rounding errors are relative to it, in whatever order the kernel adds. A value that is
   NaN for certain has magnitude 0 and a finite error. A truth value is 0 or 1, and its error is 0
   where the kernel must agree, else infinity. */
typedef struct row {
    double value[LANES];
    double magnitude[LANES];
    double error[LANES];
} row;

typedef struct scalar {
    double value, magnitude, error;
} scalar;

/* What one operation of the dtype may do: round by `unit`, relative, and by `tiny` where the result
   is subnormal. Beyond `largest` it may overflow. */
typedef struct rounding {
    double unit, tiny, largest;
    double exact; /* up to which multiples of a grain are added without rounding, in any order */
} rounding;

enum { STEP_SCALE = EXPR_OP_COUNT }; /* row · constant */

/* One instruction: an expr_op or STEP_SCALE. EXPR_CONSTANT fills a row with `constant`. EXPR_TAP
   and EXPR_POSITION are the caller's. */
typedef struct step {
    int code;
    int to, from[3];     /* rows */
    double terms[2];     /* ADD, SUBTRACT: how many terms each operand sums up */
    scalar constant;     /* CONSTANT, SCALE */
    bool distributed;    /* DIVIDE: the divisor is the same for all cells */
    bool as_written;     /* DIVIDE: no cell is divided, so no kernel takes a reciprocal */
    bool never_negative; /* the first operand, whatever is rounded */
    int position;        /* POSITION */
    bool exactly;        /* a comparison depends on it: an error of 0 is worth finding */
    int condition;       /* whose sides are counted: its number + 1; 0: none */
    int tap;             /* TAP */
} step;

/* `to` is none of the operands. */
void row_apply(const rounding *, const step *, row *to, const row *a, const row *b, const row *c);

typedef struct tap {
    int array;
    int d[AXES];
} tap;

/* ---- a reference ----------------------------------------------------------------------------- */

struct reference {
    const model *m;
    model_side (*sides)[AXES][2]; /* of each array, with the values that parameters give */
    rounding rounding;
    step *steps;
    int step_count;
    tap *taps;
    int rows;                /* alive at once */
    double more;             /* error of a separable filter in passes, relative to the magnitude */
    double most;             /* magnitude beyond which a pass may overflow */
    int outputs[MAX_FIELDS]; /* the row of each output */
    int current[MAX_FIELDS]; /* the array with its field's current values, −1 for an out field */
    condition *conditions;   /* counts 0: those are in the scratch */
    const scalar **settled;  /* of each: the same for all cells; NULL: it is not */
    int condition_count;
};

/* The value of a cell inside the grid, and the bound on it. */
double tap_cell(const model *, const reference_array *, int which, const int64_t at[AXES],
                double *bound);

#endif
