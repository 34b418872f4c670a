/* Rows: LANES cells of one node of an expression, with magnitudes and error bounds.
   Takes: a model, its arrays and a place, or the operands' rows. Makes: the node's row, by running
   error analysis. Internal to the reference. */
#ifndef SG_GEN_REFERENCE_ROWS_H
#define SG_GEN_REFERENCE_ROWS_H

#include "gen/expr/expr.h"
#include "gen/reference/reference.h"

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
