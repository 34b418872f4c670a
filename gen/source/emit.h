/* Expressions as CUDA statements.
   Takes: rewritten expressions. Makes: the body of a device function. */
#ifndef SG_GEN_SOURCE_EMIT_H
#define SG_GEN_SOURCE_EMIT_H

#include "gen/model/model.h"

/* ---- the interior: what conditions on positions are worth away from the edges ---------------- */

/* A larger grid along an axis may have positions that float rounds, and takes the way of points
   near the edges. */
enum { INTERIOR_MOST = 1 << 23, STEPS_MOST = 1 << 22 };

typedef struct interior {
    int margin[AXES]
              [2];  /* cells from the low and from the high end of the whole grid, by grid axis */
    int first_step; /* earlier steps of the run take the way of points near the edges */
    expr_id *side;  /* of each node that selects: the side that is taken there; EXPR_NONE */
    int *place; /* of each node that selects: its number among those that `Places` holds, from 1,
                   because it reads no array and is a constant there; 0 */
} interior;

/* NULL where nothing is gained. */
const interior *interior_find(job *, const model *, const expr_id *roots, int count);

/* Whether a node is computed in the interior, as expr_live says of the whole. */
bool *interior_live(job *, const expr_pool *, const interior *, const expr_id *roots, int count);

/* ---- statements ------------------------------------------------------------------------------ */
typedef struct emitter {
    const model *model;
    const int *axes; /* kernel axis → grid axis, or −1; NULL: taps are operands by name */
    const int *kernel_arrays; /* the model's array → the kernel's */
    bool steps;               /* the kernel makes several, and `at` counts them */
    const interior *interior; /* what statements ask `interior` and `places` for; NULL: nothing */
    bool quick;               /* `at` divides and takes roots (templates/arch/quotients.cuh) */
    bool inside;              /* points are in the interior: statements ask nothing */
    const char *const *names; /* of nodes that are computed before; NULL: none is. Then quick
                                 quotients are also those by constants */
    const int *uses; /* of nodes, where statements are a part of more; NULL: they are not */
    const struct emit_shared *shared; /* what quick points of a row share; NULL: nothing */
} emitter;

/* Whether some are needed for a root, apart from what has names. Those by constants count. */
bool emit_has_quotients(job *, const emitter *, expr_id root);

/* Writes statements that end in `targets[i] roots[i];`, such as "out[0] = …". */
void emit_statements(text *, const emitter *, const expr_id *roots, const char *const *targets,
                     int count);

/* The functions by which a kernel asks once, for several points, where they lie: interior_along
   and find_places, with the struct Places. */
void emit_places(text *, const emitter *, const interior *);
void emit_interior_along(text *, const emitter *, const interior *); /* the first of them alone */

/* One statement `target op ±weight·value;`. */
typedef enum emit_op { EMIT_DECLARE, EMIT_ADD } emit_op; /* "Real x =", "x +=" */
typedef struct emit_product {
    const char *target;
    emit_op op;
    bool negative;
    expr_id weight, value; /* weight EXPR_NONE: 1 */
    const char *named;     /* what stands for the value; NULL: it is written */
    const char *weighed;   /* … and for the weight */
} emit_product;
void emit_products(text *, const emitter *, const emit_product *, int count);

/* The product among the operands of a sum that is computed with it as one instruction; −1: none.
   The text says which, so that compilers do not choose, each place by itself: a point has the same
   bits wherever it is computed. `uses`: of each node, by the live ones and the roots. */
int emit_product_in(const model *, const int *uses, const expr_node *sum);
int *emit_uses(job *, const expr_pool *, const bool *live, const expr_id *roots, int count);

/* explicit.c: the roots in another pool, as nodes that compute, each operation by itself, what the
   statements compute: a multiply-add is one node. A pool that holds several models' roots so, and a
   model that is `arranged`, have the bits of each alone. `leaf` gives the node for one without
   operands. */
typedef struct emit_leaves {
    void *user;
    expr_id (*leaf)(void *user, const expr_node *);
} emit_leaves;
void emit_explicit(job *, const model *, const expr_id *roots, int count, const emit_leaves *,
                   expr_pool *to, expr_id *out);

/* ---- quotients.c: divisions and roots, behind which compilers put branches ------------------- */

/* The nodes that are not the same for all points. */
bool *emit_varying(job *, const expr_pool *);

/* A division by what varies, or a root of it; `by_constants`: of it by a constant, too, unless that
   is a power of two. */
bool emit_is_quotient(const expr_pool *, expr_id, const bool *varies, bool by_constants);
bool emit_is_reciprocal(const expr_pool *, const expr_node *division);

/* How many live nodes are divisions by what differs from point to point, or roots of it; `of_two`:
   those that divide other numbers than 1, by constants too. */
int emit_count_quotients(job *, const model *, const bool *live, bool of_two);

/* Quotients that points of a row have in common. Compilers find equal divisions by themselves, but
   not equal quick ones. Point i keeps them at at.numbers.row.name0[i + place], … */
enum { MOST_SHARED = 16 };
typedef struct emit_shared {
    const char *name;              /* of a row, before its number */
    int count, width[MOST_SHARED]; /* rows of them, and how much wider than the points one is */
    int *row, *place;              /* of each node; row −1: it is not shared */
    int *again; /* from this point of a row on, one before it has made it; INT_MAX: none has */
} emit_shared;

/* Of the live nodes; NULL where none are shared. */
const emit_shared *emit_find_shared(job *, const model *, const bool *live, const char *name);

/* carried.c: what each step along an axis has computed before, as a step later. */
enum { MOST_CARRIED = 32, MOST_NEIGHBOURS = 64 };
typedef struct carried_neighbour {
    expr_id node;  /* which is the same as … */
    int value, by; /* … this value of the point so far along x */
} carried_neighbour;
typedef struct carried {
    const model *model; /* the same outputs, computed as they stand */
    expr_id roots[MAX_FIELDS];
    const bool *live;   /* of its nodes: what the outputs are made of … */
    const bool *steady; /* … and what a step computes, where others are carried */
    int count, rows;    /* values; those of different points along x are one row */
    expr_id value[MOST_CARRIED], from[MOST_CARRIED]; /* which the step before computed as … */
    carried_neighbour neighbours[MOST_NEIGHBOURS];
    int neighbour_count;
    const char **names;
} carried;

/* How many points before and after the thread's own need a value anew. */
int carried_outside(const carried *, int value);

/* NULL where nothing is, or too much, or where places count. `roots`: the rewritten outputs. */
const carried *carried_find(job *, const model *, const expr_id *roots, int axis);
/* struct Carried, begin_carried and update_carried. `packs`: points of a thread are neighbours. */
void carried_write(text *, const carried *, const emitter *, bool packs);

/* A constant as CUDA reads it, in the model's dtype: "0.25f", "-1.0". */
void emit_constant(text *, dtype, double value);

/* placed.c: one output in two functions, `finish_inside` for points in the interior and
   `finish_layer` for the others, with the same bits. What the place along one axis alone decides is
   computed before, by along_x, along_y and along_z for structs of these names: kernels keep AlongX
   and AlongY of `points` points and `rows` rows in registers. interior_ends says in which cells of
   the last axis interior_along holds. finish_sums asks by itself. */
void emit_placed(text *, const emitter *, expr_id root);

/* ---- partial sums ---------------------------------------------------------------------------- */

/* The statements of add_plane in *out; returns how many. sum[o][k] belongs to output o of the point
   k − high planes away, and the last of an output's sums is new. `row`: the taps of this row of
   planes alone; NULL: all. Whoever calls looks at pool->limit. */
int sums_products(job *, const model *, const int *row, emit_product **out);

/* The weights of a form's terms, rewritten as products have them. */
const expr_id *sums_weights(job *, const model *, const linear_form *);

/* How many operations they are, for a point and all its planes; a multiply-add is one. */
double sums_operations(job *, const model *);

#endif
