/* Expressions over taps, parameters and constants: a pool of hash-consed nodes.
   Takes: operations, one node at a time. Makes: nodes whose operands come before them, so that
   every pass over an expression is a loop over the pool and nothing recurses. */
#ifndef SG_GEN_EXPR_EXPR_H
#define SG_GEN_EXPR_EXPR_H

#include "base/dtype.h"
#include "base/job.h"

#include <stddef.h>

/* ---- words of specs and plans ---------------------------------------------------------------- */

enum {
    AXES = 3,
    MAX_REACH = 8,
    MAX_FIELDS = 32,
    MAX_ARRAYS = 64, /* of a kernel: current, previous and new values of fields */
    MAX_PARAMETERS = 64,
    MAX_NAME = 63
};

/* A word, and one sentence for documentation and `explain`. */
typedef struct word_row {
    const char *name;
    const char *summary;
} word_row;

typedef enum boundary {
    BOUNDARY_FIXED,
    BOUNDARY_ZERO,
    BOUNDARY_CONSTANT,
    BOUNDARY_CLAMP,
    BOUNDARY_MIRROR,
    BOUNDARY_PERIODIC,
    BOUNDARY_COUNT
} boundary;
extern const word_row boundary_words[BOUNDARY_COUNT];
const char **word_names(job *, const word_row *, int count); /* the names alone */

typedef enum field_use { USE_IN, USE_OUT, USE_INOUT, USE_COUNT } field_use;
extern const char *const use_words[USE_COUNT];

extern const char axis_names[AXES]; /* 'x', 'y', 'z' */

/* What `at` holds: the cell's place in the whole grid, the whole grid's sizes, the step of the
   run. */
typedef enum position {
    POSITION_X, /* one for each axis */
    POSITION_NX = POSITION_X + AXES,
    POSITION_STEP = POSITION_NX + AXES,
    POSITION_COUNT,
    POSITION_REST = POSITION_COUNT, /* one for each axis: the cells beyond this one. Specs do not
                                       have it; stages that are put together do */
    POSITION_ALL = POSITION_REST + AXES
} position;
extern const word_row position_words[POSITION_ALL];

/* The axis of a place or of a size. */
static inline int position_axis(int which) {
    return which >= POSITION_REST ? which - POSITION_REST : which % AXES;
}

/* Whether it differs from point to point. */
static inline bool position_is_place(int which) {
    return which < POSITION_NX || which >= POSITION_REST;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

typedef int32_t expr_id; /* index into the pool; EXPR_NONE for no operand */
enum { EXPR_NONE = -1 };

typedef enum expr_op {
    EXPR_CONSTANT,  /* value */
    EXPR_PARAMETER, /* index into the model's parameters */
    EXPR_TAP,       /* the model's array `index` at the offset d */
    EXPR_POSITION, /* the position `index` of the point or of the step, plus d[0]: a whole number */
    EXPR_ADD,
    EXPR_SUBTRACT,
    EXPR_MULTIPLY,
    EXPR_DIVIDE,
    EXPR_NEGATE,
    EXPR_MIN, /* a NaN in either operand gives NaN */
    EXPR_MAX,
    EXPR_ABS,
    EXPR_SQRT,
    EXPR_EXP,
    EXPR_LOG,
    EXPR_SIN,
    EXPR_COS,
    EXPR_TANH,
    EXPR_POW,
    EXPR_FLOOR,
    EXPR_LT, /* conditions: two numbers give a truth value */
    EXPR_LE,
    EXPR_GT,
    EXPR_GE,
    EXPR_EQ,
    EXPR_NE,
    EXPR_ALL, /* truth values to truth value */
    EXPR_ANY,
    EXPR_NOT,
    EXPR_WHERE, /* (condition, number, number): the first number where the condition is true, else
                   the second */
    EXPR_FMA,   /* a·b + c, rounded once; specs do not have it */
    EXPR_OP_COUNT
} expr_op;

typedef struct expr_word {
    const char *name; /* of the spec function, or of the operator in messages */
    int operands;
    bool takes_truth; /* the operands are truth values (of WHERE: the first) */
    bool gives_truth;
    bool function;       /* callable by this name in specs */
    int operations;      /* what the textbook's count charges for it */
    const char *summary; /* of a function, for the documentation */
} expr_word;
extern const expr_word expr_words[EXPR_OP_COUNT];

/* Sums and products: the same bits with their operands exchanged. */
bool expr_is_exchangeable(expr_op);

/* An operation on plain numbers; truth values are 1 and 0. */
double expr_evaluate(expr_op, double a, double b, double c);

typedef struct expr_node {
    expr_op op;
    expr_id operand[3];
    double value;       /* CONSTANT */
    int index;          /* PARAMETER, TAP, POSITION */
    int d[AXES];        /* TAP: offset (dx, dy, dz), unused axes 0; POSITION: d[0] is added to it */
    int depth;          /* 1 + the deepest operand's */
    double written_out; /* operations if every shared part were written out each time */
} expr_node;

enum { EXPR_MAX_NODES = 1 << 17, EXPR_MAX_DEPTH = 20000, EXPR_MAX_OPERATIONS = 1000000 };

typedef struct expr_pool {
    job *job;
    expr_node *nodes;
    int count, capacity;
    expr_id *buckets; /* open addressing by hash; a power of two */
    int bucket_count;
    bool ordered;      /* min(a, b) and min(b, a) are two nodes: their zeros may differ in sign */
    const char *limit; /* the sentence that says which limit was passed; NULL so far */
} expr_pool;

expr_pool *expr_pool_new(job *);

/* A step of a hash. */
static inline uint64_t expr_mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Each returns a node and shares an equal one that is already there (a+b and b+a are equal, and the
   first one made is kept). Constants are folded and neutral elements removed. x*0 is 0, also where
   x might be infinite. An operation on constants whose result is not finite stays an operation.
   When a limit is passed, the function sets pool->limit and returns operand a (or any node); the
   caller looks at the limit when it suits. */
expr_id expr_constant(expr_pool *, double value);
expr_id expr_parameter(expr_pool *, int index);
expr_id expr_tap(expr_pool *, int array, const int d[AXES]);
expr_id expr_position(expr_pool *, position);
expr_id expr_position_plus(expr_pool *, position, int added);
expr_id expr_make(expr_pool *, expr_op, expr_id a, expr_id b, expr_id c);

/* Forgets the nodes from number `count` on. */
void expr_pool_truncate(expr_pool *, int count);

static inline const expr_node *expr_get(const expr_pool *p, expr_id id) {
    return &p->nodes[id];
}

/* Whether a leaf differs from point to point: taps, and the places of points. */
static inline bool expr_varies(const expr_node *n) {
    return n->op == EXPR_TAP || (n->op == EXPR_POSITION && position_is_place(n->index));
}

/* live[i] says whether node i is reached from one of the roots: an array of pool->count. */
bool *expr_live(const expr_pool *, job *, const expr_id *roots, int count);

/* translates.c: nodes that are moved copies of each other. Arrays of pool->count; what is not live
   stands for itself. */
typedef struct expr_place {
    int at[AXES];
    bool moves[AXES]; /* along the other axes it is one number for all points */
} expr_place;
typedef struct expr_translates {
    expr_id *first;    /* of all copies, the first live one */
    expr_place *place; /* that of copies differs by how far they are moved */
    bool *bent;        /* it is not linear in what differs from point to point */
} expr_translates;
expr_translates expr_find_translates(const expr_pool *, job *, const bool *live);

/* Above 0: b lies further along the axes than its copy a, of which the last one decides. */
int expr_further(const expr_translates *, expr_id a, expr_id b);

/* Raises each count to the most among the moved copies of its node. */
void expr_level(const expr_id *first, int nodes, int *counts);

/* The root with to[id] in the place of each node that has one, which is not EXPR_NONE. `to` has a
   place for each node up to the root, and is filled with what becomes of them. */
expr_id expr_replaced(expr_pool *, expr_id root, expr_id *to);

/* Operations of one evaluation. `shared`: every live operation node counts once. `written out`:
   nothing is shared, as the textbook counts. */
typedef struct expr_count {
    double multiplications; /* and divisions */
    double additions;       /* and subtractions, negations */
    double others;          /* functions, comparisons, selections */
} expr_count;
expr_count expr_count_shared(const expr_pool *, job *, const expr_id *roots, int count);
expr_count expr_count_live(const expr_pool *, const bool *live);
expr_count expr_count_written_out(const expr_pool *, job *, const expr_id *roots, int count);

/* ---- fewer operations ------------------------------------------------------------------------ */

/* out[i] is the rewritten roots[i]. Coefficients are equal when they are after rounding to the
   dtype. Those of opposite sign are factored too: c·a − c·b = c·(a − b). The caller looks at
   pool->limit. */
void optimise(job *, expr_pool *, dtype, const expr_id *roots, int count, expr_id *out);

#endif
