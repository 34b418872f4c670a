/* What divisions, roots, functions and choices cost on a GPU. Takes: the expressions of a point.
   Makes: their instructions, for points that are made alone or several of them along x at once.

   A pack shares what its points have in common: the quotient that a point reads on its right is
   what the next one has in its place. So do steps of a walk that are made together. Compilers see
   that, and here it decides whether stages are fused. Calls of one form are moved copies of each
   other. A block of points evaluates a form at as many places as its points, moved by each of the
   form's places, cover. Sums and
   products are cheap, and counted without this, but for stages that were put together: there whole
   results are shared. */
#include "gen/stencil/method.h"

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

/* A division by a power of two is a product. */
static bool is_call(const expr_pool *p, const expr_node *n, dtype type) {
    const expr_work *w = &call_costs[n->op][type];
    const expr_node *by = n->op == EXPR_DIVIDE ? expr_get(p, n->operand[1]) : NULL;
    int exponent;
    return w->units + w->others > 0 &&
           (by == NULL || by->op != EXPR_CONSTANT || fabs(frexp(by->value, &exponent)) != 0.5);
}

/* A call of the update. Blocks of points are moved along x and along the axis that kernels walk:
   where it lies on these, and on the other one. */
typedef struct call {
    expr_id form; /* of all that are moved copies of it */
    int x, walk, still;
    bool moves_x, moves_walk;
    expr_work work;
} call;

/* Those that a block of points shares stand together. */
static int compare_calls(const void *a, const void *b) {
    const call *p = a, *q = b;
    if (p->form != q->form)
        return p->form > q->form ? 1 : -1;
    return p->still - q->still;
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
    const expr_translates t = expr_find_translates(p, j, live);
    const int walked = m->dims - 1; /* 1D: x, and nobody walks */
    int count = 0;
    for (int i = 0; i < p->count; i++) {
        const expr_node *n = expr_get(p, i);
        if (!live[i] || !(arithmetic ? arithmetic_of(n->op) > 0 : is_call(p, n, m->dtype)))
            continue;
        const expr_place *at = &t.place[i];
        calls[count++] = (call){
            .form = t.first[i],
            .x = at->at[0],
            .walk = walked > 0 ? at->at[walked] : 0,
            .still = walked > 1 ? at->at[1] : 0,
            .moves_x = at->moves[0],
            .moves_walk = walked > 0 && at->moves[walked],
            .work = arithmetic ? (expr_work){arithmetic_of(n->op), 0} : call_costs[n->op][m->dtype],
        };
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
        const call *c = &calls[i];
        const int wide = c->moves_x ? points : 1, high = c->moves_walk ? steps : 1;
        const int x = place_in(c->x), z = place_in(c->walk);
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
        for (end = first + 1; end < count && compare_calls(&calls[end], &calls[first]) == 0; end++)
            ;
        if (!calls[first].moves_x && !calls[first].moves_walk) /* once, before a walk */
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
        if (!calls[i].moves_x && !calls[i].moves_walk) {
            sum.units += calls[i].work.units;
            sum.others += calls[i].work.others;
        }
    return sum;
}

double calls_slots(const plan *p, int together) {
    return calls_walked(p, together, 1);
}

double calls_walked(const plan *p, int together, int steps) {
    const expr_work w = p->facts->calls[steps / 2][call_pack(together)];
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
    const bool quick = p->form->quick != NULL && p->form->quick(p, true);
    const bool busy = p->gpu->fma_lanes[p->facts->model->dtype] < 4 * WARP; /* units of few lanes */
    const double warps = p->estimate.blocks_resident * ceil(plan_threads(p) / 32.0) / 4,
                 few = !quick ? few_warps
                       : busy ? 0
                              : few_quick;
    return warps >= enough ? 1 : (1 + few / (warps * warps)) / (1 + few / (enough * enough));
}
