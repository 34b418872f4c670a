/* Expressions as CUDA statements.
   Takes: rewritten expressions. Makes: the body of a device function. */
#ifndef SG_GEN_SOURCE_EMIT_H
#define SG_GEN_SOURCE_EMIT_H

#include "gen/model/model.h"

typedef struct emitter {
    const model *model;
    const int *axes; /* kernel axis → grid axis, or −1; NULL: taps are operands by name */
    const int *kernel_arrays; /* the model's array → the kernel's */
    bool steps;               /* the kernel makes several, and `at` counts them */
} emitter;

/* Writes statements that end in `targets[i] roots[i];`, such as "out[0] = …". */
void emit_statements(text *, const emitter *, const expr_id *roots, const char *const *targets,
                     int count);

/* One statement `target op ±weight·value;`. */
typedef enum emit_op { EMIT_DECLARE, EMIT_ADD } emit_op; /* "Real x =", "x +=" */
typedef struct emit_product {
    const char *target;
    emit_op op;
    bool negative;
    expr_id weight, value; /* weight EXPR_NONE: 1 */
    const char *named;     /* a variable in place of the value; NULL */
} emit_product;
void emit_products(text *, const emitter *, const emit_product *, int count);

/* A constant as CUDA reads it, in the model's dtype: "0.25f", "-1.0". */
void emit_constant(text *, dtype, double value);

/* ---- partial sums ---------------------------------------------------------------------------- */

/* The statements of add_plane in *out; returns how many. sum[o][k] belongs to output o of the point
   k − high planes away, and the last of an output's sums is new. Whoever calls looks at
   pool->limit. */
int sums_products(job *, const model *, emit_product **out);

/* How many operations they are, for a point and all its planes; a multiply-add is one. */
double sums_operations(job *, const model *);

#endif
