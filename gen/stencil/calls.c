/* What divisions, roots, functions and choices cost on a GPU. Takes: the expressions of a point.
   Makes: their instructions, for points that are made alone or several of them along x at once.

   A pack shares what its points have in common: the quotient that a point reads on its right is
   what the next one has in its place. So do steps of a walk that are made together. Compilers see
   that, and here it decides whether stages are fused. So each node gets a canonical form, which
   forgets where along x and along the walk it reads, and that place. A block of points evaluates a
   form at as many places as its points, moved by each of the form's places, cover. Sums and
   products are cheap, and counted without this, but for stages that were put together: there whole
   results are shared. */
#include "gen/stencil/method.h"

#include "base/hash.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of float and double: instructions of the multiply-add units, of which boards have more or fewer,
   and others. Counted in what NVRTC 13.0 makes for sm_90: the usual path of those that branch. */
static const expr_work call_costs[EXPR_OP_COUNT][DTYPE_WIDE] = {
    [EXPR_DIVIDE] = {{6, 5}, {10, 13}}, [EXPR_SQRT] = {{5, 6}, {10, 17}},
    [EXPR_EXP] = {{4, 4}, {14, 17}},    [EXPR_LOG] = {{10, 10}, {22, 30}},
    [EXPR_SIN] = {{8, 12}, {16, 25}},   [EXPR_COS] = {{8, 12}, {16, 25}},
    [EXPR_TANH] = {{7, 5}, {20, 30}},   [EXPR_POW] = {{35, 25}, {40, 35}},
    [EXPR_FLOOR] = {{0, 1}, {0, 2}},    [EXPR_MIN] = {{0, 2}, {1, 3}},
    [EXPR_MAX] = {{0, 2}, {1, 3}},      [EXPR_LT] = {{1, 0}, {1, 0}},
    [EXPR_LE] = {{1, 0}, {1, 0}},       [EXPR_GT] = {{1, 0}, {1, 0}},
    [EXPR_GE] = {{1, 0}, {1, 0}},       [EXPR_EQ] = {{1, 0}, {1, 0}},
    [EXPR_NE] = {{1, 0}, {1, 0}},       [EXPR_ALL] = {{0, 1}, {0, 1}},
    [EXPR_ANY] = {{0, 1}, {0, 1}},      [EXPR_WHERE] = {{0, 1}, {0, 2}},
};

/* Axes along which forms are moved: x, and the last, along which kernels walk. */
enum { MOVED = 2 };

/* A node without its place along these axes, which is `at` of form: the least of its operands',
   which keep how far theirs are from it. All of it is hashed, so no byte of it may be left unset.
 */
typedef struct form_key {
    double value;
    int32_t op, index, still;
    int32_t form[3], beyond[3][MOVED];
} form_key;

/* Of a node. `same`: it is one number for all points along the axis. */
typedef struct place_of_node {
    int form, at[MOVED];
    bool same[MOVED];
} place_of_node;

typedef struct forms {
    form_key *keys;
    int *buckets, count; /* form + 1, or 0 */
    unsigned mask;
} forms;

static int form_of(forms *f, const form_key *key) {
    unsigned at = (unsigned)checksum_of(key, sizeof *key, 0) & f->mask;
    while (f->buckets[at] != 0 && memcmp(&f->keys[f->buckets[at] - 1], key, sizeof *key) != 0)
        at = (at + 1) & f->mask;
    if (f->buckets[at] == 0) {
        f->keys[f->count] = *key;
        f->buckets[at] = ++f->count;
    }
    return f->buckets[at] - 1;
}

/* The grid's axis, of those that forms are moved along; −1: x is the last. */
static int axis_of(const model *m, int moved) {
    return moved == 0 ? 0 : m->dims > 1 ? m->dims - 1 : -1;
}

/* What a tap or a position reads of its own. */
static void place_leaf(const model *m, const expr_node *n, place_of_node *made, form_key *key) {
    key->index = n->index;
    if (n->op == EXPR_TAP)
        for (int axis = 0; axis < AXES; axis++)
            if (axis != 0 && axis != axis_of(m, 1))
                key->still = n->d[axis];
    for (int k = 0; k < MOVED; k++) {
        const int axis = axis_of(m, k);
        const bool here = n->op == EXPR_POSITION && axis >= 0 && position_axis(n->index) == axis;
        const bool rest = here && n->index >= POSITION_REST;
        if (n->op == EXPR_TAP && axis >= 0) {
            made->at[k] = n->d[axis];
            made->same[k] = false;
        } else if (here && (n->index < POSITION_NX || rest)) {
            made->at[k] = rest ? -n->d[0] : n->d[0];
            made->same[k] = false;
        }
    }
    if (n->op == EXPR_POSITION && made->same[0] && made->same[1])
        key->value = n->d[0];
}

static place_of_node place_node(const model *m, forms *f, const expr_node *n,
                                const place_of_node *places) {
    const int operands = expr_words[n->op].operands;
    place_of_node made = {.same = {true, true}};
    form_key key;
    memset(&key, 0, sizeof key);
    key.op = n->op;
    key.value = n->op == EXPR_CONSTANT ? n->value : 0;
    if (operands == 0)
        place_leaf(m, n, &made, &key);
    for (int i = 0; i < operands; i++) {
        const place_of_node *p = &places[n->operand[i]];
        for (int k = 0; k < MOVED; k++) {
            if (!p->same[k] && (made.same[k] || p->at[k] < made.at[k]))
                made.at[k] = p->at[k];
            made.same[k] &= p->same[k];
        }
    }
    for (int i = 0; i < operands; i++) {
        const place_of_node *p = &places[n->operand[i]];
        key.form[i] = p->form;
        for (int k = 0; k < MOVED; k++)
            key.beyond[i][k] = p->same[k] ? 0 : p->at[k] - made.at[k];
    }
    made.form = form_of(f, &key);
    return made;
}

/* A division by a power of two is a product. */
static bool is_call(const expr_pool *p, const expr_node *n, dtype type) {
    const expr_work *w = &call_costs[n->op][type];
    const expr_node *by = n->op == EXPR_DIVIDE ? expr_get(p, n->operand[1]) : NULL;
    int exponent;
    return w->units + w->others > 0 &&
           (by == NULL || by->op != EXPR_CONSTANT || fabs(frexp(by->value, &exponent)) != 0.5);
}

/* A call of the update. */
typedef struct call {
    place_of_node at;
    expr_work work;
} call;

/* Calls of one form stand together. */
static int compare_calls(const void *a, const void *b) {
    const place_of_node *p = &((const call *)a)->at, *q = &((const call *)b)->at;
    return (p->form > q->form) - (p->form < q->form);
}

/* Of a sum or a product, as costs count them. */
static double arithmetic_of(expr_op op) {
    return op == EXPR_ADD || op == EXPR_SUBTRACT ? 1
           : op == EXPR_MULTIPLY                 ? 0.5
           : op == EXPR_FMA                      ? 1.5
                                                 : 0;
}

/* The calls of live nodes, or their sums and products; returns how many. */
static int list_calls(job *j, const model *m, const bool *live, bool arithmetic, call *calls) {
    const expr_pool *p = m->pool;
    const size_t nodes = (size_t)p->count;
    unsigned buckets = 16;
    while (buckets < 2 * nodes)
        buckets *= 2;
    forms f = {.keys = job_array(j, nodes + 1, sizeof *f.keys),
               .buckets = job_array(j, buckets, sizeof *f.buckets),
               .mask = buckets - 1};
    place_of_node *places = job_array(j, nodes + 1, sizeof *places);
    int count = 0;
    for (int i = 0; i < p->count; i++) {
        const expr_node *n = expr_get(p, i);
        if (!live[i])
            continue;
        places[i] = place_node(m, &f, n, places);
        if (arithmetic && arithmetic_of(n->op) > 0)
            calls[count++] = (call){places[i], {arithmetic_of(n->op), 0}};
        else if (!arithmetic && is_call(p, n, m->dtype))
            calls[count++] = (call){places[i], call_costs[n->op][m->dtype]};
    }
    return count;
}

/* Positions may lie farther away than taps. */
static int place_in(int at) {
    return larger(smaller(at, MAX_REACH), -MAX_REACH) + MAX_REACH;
}

/* At how many places a block of points evaluates a form, whose calls these are. A place is counted
   by a bit for each x of a row. */
static int places_of(const call *calls, int count, int points, int steps) {
    enum { ROWS = 2 * MAX_REACH + 1 + CALL_STEPS };
    static_assert(2 * MAX_REACH + (1 << (CALL_PACKS - 1)) <= 64, "a row's places have a bit each");
    uint64_t rows[ROWS] = {0};
    int found = 0;
    for (int i = 0; i < count; i++) {
        const place_of_node *p = &calls[i].at;
        const int wide = p->same[0] ? 1 : points, high = p->same[1] ? 1 : steps;
        const int x = p->same[0] ? 0 : place_in(p->at[0]), z = p->same[1] ? 0 : place_in(p->at[1]);
        for (int k = 0; k < high; k++)
            rows[z + k] |= ((UINT64_C(1) << wide) - 1) << x;
    }
    for (int z = 0; z < ROWS; z++)
        for (uint64_t row = rows[z]; row != 0; row &= row - 1)
            found++;
    return found;
}

/* Adds what these take of a point to `out`. */
static void add_shared(call *calls, int count, int steps, expr_work out[CALL_PACKS]) {
    qsort(calls, (size_t)count, sizeof *calls, compare_calls);
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && calls[end].at.form == calls[first].at.form; end++)
            ;
        if (calls[first].at.same[0] && calls[first].at.same[1]) /* once, before a walk */
            continue;
        for (int k = 0; k < CALL_PACKS; k++) {
            const int points = 1 << k;
            const double times =
                places_of(calls + first, end - first, points, steps) / (double)(points * steps);
            out[k].units += times * calls[first].work.units;
            out[k].others += times * calls[first].work.others;
        }
    }
}

void calls_count(job *j, const model *m, const bool *live, int steps, expr_work out[CALL_PACKS]) {
    call *calls = job_array(j, (size_t)m->pool->count + 1, sizeof *calls);
    add_shared(calls, list_calls(j, m, live, false, calls), steps, out);
}

void calls_sharing(job *j, const model *m, const bool *live, int steps, double out[CALL_PACKS]) {
    call *calls = job_array(j, (size_t)m->pool->count + 1, sizeof *calls);
    expr_work work[CALL_PACKS] = {{0, 0}};
    const int count = list_calls(j, m, live, true, calls);
    double all = 0;
    for (int i = 0; i < count; i++)
        all += calls[i].work.units;
    add_shared(calls, count, steps, work);
    for (int k = 0; k < CALL_PACKS; k++)
        out[k] = all > 0 ? work[k].units / all : 1;
}

expr_work calls_uniform(job *j, const model *m, const bool *live) {
    call *calls = job_array(j, (size_t)m->pool->count + 1, sizeof *calls);
    const int count = list_calls(j, m, live, false, calls);
    expr_work sum = {0, 0};
    for (int i = 0; i < count; i++)
        if (calls[i].at.same[0] && calls[i].at.same[1]) {
            sum.units += calls[i].work.units;
            sum.others += calls[i].work.others;
        }
    return sum;
}

double calls_slots(const plan *p, int together) {
    return calls_walked(p, together, 1);
}

double calls_walked(const plan *p, int together, int steps) {
    int k = 0;
    while (k < CALL_PACKS - 1 && 2 << k <= together)
        k++;
    const expr_work w = steps == 1   ? p->facts->calls[k]
                        : steps == 2 ? p->facts->walked[0][k]
                                     : p->facts->walked[1][k];
    return w.units * 4 * WARP / p->gpu->fma_lanes[p->facts->model->dtype] + w.others;
}

/* Set by the acoustic wave with a sponge on an H200: 340 µs with 4 warps a scheduler, 296 with 5;
   and, where calls are made together, by the dam break in float: 754 with 3, 832 with 4. In
   double, where the units have half the lanes and are busy all the time, that is 1655 with 3 and
   1832 with 5. */
double calls_waiting(const plan *p) {
    static const double few_warps = 3, few_quick = 1.5, enough = 5, many = 12; /* instructions */
    if (p->form->sums || calls_slots(p, p->schedule.vector) < many)
        return 1;
    const bool quick = p->form->quick != NULL && p->form->quick(p);
    const bool busy = p->gpu->fma_lanes[p->facts->model->dtype] < 4 * WARP; /* units of few lanes */
    const double warps = p->estimate.blocks_resident * ceil(plan_threads(p) / 32.0) / 4,
                 few = !quick ? few_warps
                       : busy ? 0
                              : few_quick;
    return warps >= enough ? 1 : (1 + few / (warps * warps)) / (1 + few / (enough * enough));
}
