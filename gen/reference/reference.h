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

typedef struct reference reference; /* lives in the job it was made in; not changed by evaluation */

/* `parameters`: one value each, already rounded to the dtype. */
reference *reference_new(job *, const model *, const double *parameters);

typedef struct reference_array {
    const void *data;     /* cell (0,0,0), of the model's dtype; doubles where there are bounds */
    int64_t stride[AXES]; /* in elements */
    const double *bounds; /* how far a kernel's value of each cell may be from ours, likewise; NULL:
                             the data are what the kernel has */
} reference_array;

/* Cells x0 … x0+count−1 of row (y, z) of a grid of this size. `arrays`: one for each of the model's
   arrays. For every output o, writes values[o*count + i] and bounds[o*count + i]; bound 0 and the
   cell's own bits for a cell that `fixed` keeps; `kept` (count entries, may be NULL) says which
   those are (an out field is not written there; its value is given as 0). A bound of infinity: the
   cell cannot be judged (a comparison too close to call, a division by nearly 0, an overflow).
   Bounds are never NaN; a value that is NaN, or infinite, with a finite bound is what the kernel
   must have too. `scratch` has reference_scratch(r, count) bytes, which are 0 at first: the sides
   of conditions are counted there. */
size_t reference_scratch(const reference *, int count);
void reference_row(const reference *, const reference_array *arrays, const int64_t size[AXES],
                   int64_t x0, int64_t y, int64_t z, int count, void *scratch, double *values,
                   double *bounds, bool *kept);

/* The same for cells at … along another axis, as where few cells of each row are asked for: cells
   are worked through many at a time, and these side by side. */
void reference_cells(const reference *, const reference_array *arrays, const int64_t size[AXES],
                     const int64_t at[AXES], int along, int count, void *scratch, double *values,
                     double *bounds, bool *kept);

/* How long a cell of whole rows takes, in operations: a few nanoseconds each. */
double reference_work(const reference *, const int64_t size[AXES]);

/* The conditions of the model with counts 0, and what has been counted in a scratch added to such a
   list. Cells that `fixed` keeps are not counted. */
int reference_conditions(job *, const reference *, condition **out);
void reference_count(const reference *, const void *scratch, condition *sums);

/* ---- several steps --------------------------------------------------------------------------- */

/* An inout field is a ring of grids: those of its levels, and the one being written. */
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
    reference_array arrays[2 * MAX_FIELDS]; /* what the next step reads */
    reference_field fields[MAX_FIELDS];
    int field_count;
} reference_steps;

/* The memory for steps of a grid of so many cells. */
size_t reference_steps_bytes(const model *, int64_t points);

/* `arrays`, one for each of the model's, and `memory` outlive it; that may be NULL where no step is
 * made. */
void reference_steps_open(reference_steps *, const reference *, const model *,
                          const int64_t size[AXES], const int64_t begin[AXES],
                          const int64_t end[AXES], const reference_array *arrays, void *memory);

/* One step is each of its pieces, in any order, and then a turn. */
int64_t reference_steps_pieces(const reference_steps *);
size_t reference_steps_scratch(const reference_steps *);
void reference_steps_piece(const reference_steps *, int64_t piece, void *scratch);
void reference_steps_turn(reference_steps *);

/* ---- the numbers that expressions compare with ----------------------------------------------- */

enum { REACH_ARRAYS = 2 * MAX_FIELDS, REACH_NUMBERS = 64 };

/* In the order of finding, each once; more than there is room for are left out. */
typedef struct reach_numbers {
    int count;
    double value[REACH_NUMBERS];
} reach_numbers;

void reach_note(reach_numbers *, double value);

/* As the dtype has it; the whole numbers next to one that is not; nothing where it overflows. */
void reach_note_as(dtype, reach_numbers *, double value);

typedef struct reach_found {
    reach_numbers arrays[REACH_ARRAYS];
    uint32_t tied; /* a set of arrays: cells of them are compared with each other */
} reach_found;

/* Of all that is below the roots; and such that the first root comes to the numbers in `wanted`
   (NULL: none). `parameters`, one each, are rounded to the dtype. */
reach_found *reach_search(job *, const model *, const expr_id *roots, int count,
                          const double *parameters, const reach_numbers *wanted);

/* ---- rows: internal to gen/reference --------------------------------------------------------- */

/* Loops have this fixed length, so that compilers vectorise them; a row stays in the first cache.
 */
enum { LANES = 128 };

/* `value` is the float64 result. A kernel's result is within `error` of it; infinity or NaN there
   means that nothing can be said. `magnitude` is at least |value|, with sums taken over absolute
   values: what rounding errors are relative to, in whatever order the kernel adds. A value that is
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
   is subnormal; beyond `largest` it may overflow. */
typedef struct rounding {
    double unit, tiny, largest;
    double exact; /* up to which multiples of a grain are added without rounding, in any order */
} rounding;

enum { STEP_SCALE = EXPR_OP_COUNT }; /* row · constant */

/* One instruction: an expr_op or STEP_SCALE. EXPR_CONSTANT fills a row with `constant`. EXPR_TAP is
   the caller's. */
typedef struct step {
    int code;
    int to, from[3];     /* rows */
    double terms[2];     /* ADD, SUBTRACT: how many terms each operand sums up */
    scalar constant;     /* CONSTANT, SCALE */
    bool distributed;    /* DIVIDE: the divisor is the same for all cells */
    bool never_negative; /* the first operand, whatever is rounded */
    bool exactly;        /* a comparison depends on it: an error of 0 is worth finding */
    int condition;       /* whose sides are counted: its number + 1; 0: none */
    int tap;             /* TAP */
} step;

/* `to` is none of the operands. */
void row_apply(const rounding *, const step *, row *to, const row *a, const row *b, const row *c);

/* ---- taps ------------------------------------------------------------------------------------ */

typedef struct tap {
    int array;
    int d[AXES];
} tap;

/* `count` cells from `at` on, one after another along an axis; at most LANES. Lanes beyond the last
   get 0. */
typedef struct stretch {
    const int64_t *size;
    int64_t at[AXES];
    int along;
    int count;
} stretch;

void tap_read(const model *, const tap *, const reference_array *arrays, const stretch *, row *to);

/* A cell inside the grid, and the bound on it. */
double tap_cell(const model *, const reference_array *, const int64_t at[AXES], double *bound);

#endif
