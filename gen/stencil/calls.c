/* What divisions, roots, functions and choices cost on a GPU. Takes: the expressions of a point.
   Makes: their instructions, for points that are made alone or several of them along x at once.

   A pack shares what its points have in common: the quotient that a point reads on its right is
   what the next one has in its place. Compilers see that, and here it decides whether stages are
   fused. So each node gets a canonical form, which forgets where along x it reads, and that place.
   A pack of v points evaluates a form at as many places as v successive ones of each of its nodes
   cover. Sums and products are cheap, and counted without this. */
#include "gen/stencil/plan.h"

#include "base/hash.h"

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

/* A node without its place along x, which is `x` of form: the least of its operands', which keep
   how far theirs are from it. All of it is hashed, so no byte of it may be left unset. */
typedef struct form_key {
    double value;
    int32_t op, index, dy, dz;
    int32_t form[3], beyond[3];
} form_key;

/* Of a node. `same`: it is one number for all points along x. */
typedef struct place_of_node {
    int form, x;
    bool same;
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

static place_of_node place_node(forms *f, const expr_node *n, const place_of_node *places) {
    const int operands = expr_words[n->op].operands;
    place_of_node made = {.same = true};
    form_key key;
    memset(&key, 0, sizeof key);
    key.op = n->op;
    key.value = n->op == EXPR_CONSTANT ? n->value : 0;
    key.index = operands == 0 ? n->index : 0;
    if (n->op == EXPR_TAP || (n->op == EXPR_POSITION && n->index == POSITION_X))
        made = (place_of_node){.x = n->d[0]};
    else if (n->op == EXPR_POSITION && n->index == POSITION_REST)
        made = (place_of_node){.x = -n->d[0]};
    else if (n->op == EXPR_POSITION)
        key.value = n->d[0];
    if (n->op == EXPR_TAP) {
        key.dy = n->d[1];
        key.dz = n->d[2];
    }
    for (int k = 0; k < operands; k++) {
        const place_of_node *p = &places[n->operand[k]];
        if (!p->same && (made.same || p->x < made.x))
            made.x = p->x;
        made.same &= p->same;
    }
    for (int k = 0; k < operands; k++) {
        const place_of_node *p = &places[n->operand[k]];
        key.form[k] = p->form;
        key.beyond[k] = p->same ? 0 : p->x - made.x;
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

/* Calls of one form stand together, in order of x. */
static int compare_calls(const void *a, const void *b) {
    const place_of_node *p = &((const call *)a)->at, *q = &((const call *)b)->at;
    return p->form != q->form ? (p->form > q->form) - (p->form < q->form)
                              : (p->x > q->x) - (p->x < q->x);
}

/* The calls of live nodes; returns how many. */
static int list_calls(job *j, const model *m, const bool *live, call *calls) {
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
        places[i] = place_node(&f, n, places);
        if (is_call(p, n, m->dtype))
            calls[count++] = (call){places[i], call_costs[n->op][m->dtype]};
    }
    return count;
}

void calls_count(job *j, const model *m, const bool *live, expr_work out[CALL_PACKS]) {
    call *calls = job_array(j, (size_t)m->pool->count + 1, sizeof *calls);
    const int count = list_calls(j, m, live, calls);
    qsort(calls, (size_t)count, sizeof *calls, compare_calls);
    for (int k = 0; k < CALL_PACKS; k++) {
        const int points = 1 << k;
        for (int i = 0; i < count; i++) {
            const call *c = &calls[i];
            const bool begins = i == 0 || calls[i - 1].at.form != c->at.form;
            const int apart = begins ? points : smaller(c->at.x - calls[i - 1].at.x, points);
            const double times = (c->at.same ? 1.0 : apart) / points;
            out[k].units += times * c->work.units;
            out[k].others += times * c->work.others;
        }
    }
}

double calls_slots(const plan *p, int together) {
    int k = 0;
    while (k < CALL_PACKS - 1 && 2 << k <= together)
        k++;
    const expr_work w = p->facts->calls[k];
    return w.units * 4 * WARP / p->gpu->fma_lanes[p->facts->model->dtype] + w.others;
}
